//! Joints and weights of all sets into one list of influences per vertex.

use super::accessor::Accessors;
use super::json::{Primitive, Root};
use super::json_types::Index;
use super::layout::Component;
use super::warnings::Warnings;
use crate::asset::error::{Fault, counted};

/// What a vertex's list takes: its header and an allocation with four entries.
const BYTES_PER_VERTEX: u128 = 24 + 48;

/// The skin with the fewest joints that a mesh is shown with: what its joints have to fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SkinUse {
    pub skin: usize,
    pub joints: usize,
}

/// For each mesh, the smallest skin of the nodes that show it.
pub(super) fn smallest_skins(root: &Root) -> Vec<Option<SkinUse>> {
    let mut smallest: Vec<Option<SkinUse>> = vec![None; root.meshes.len()];
    for node in root.nodes.iter() {
        let (Some(mesh), Some(skin)) = (node.mesh, node.skin) else {
            continue;
        };
        let (skin, joints) = match root.skins.get(skin.index()) {
            Some(json) => (skin.index(), json.joints.len()),
            None => continue,
        };
        if let Some(entry) = smallest.get_mut(mesh.index())
            && entry.is_none_or(|entry| joints < entry.joints)
        {
            *entry = Some(SkinUse { skin, joints });
        }
    }
    smallest
}

/// Reads every JOINTS_n with its WEIGHTS_n; empty when the primitive has none.
///
/// A vertex gets its joints with a weight above zero, each once, weights summing to one. One whose
/// weights sum to nothing follows the first joint that it names.
///
/// # Errors
/// A set with one half missing, types that glTF forbids, numbers that are not finite, a joint with
/// weight that the smallest skin doesn't have.
pub(super) fn read(
    json: &Primitive,
    name: &str,
    skin: Option<SkinUse>,
    vertices: usize,
    accessors: &Accessors,
    warnings: &mut Warnings,
) -> Result<Vec<Vec<(u16, f32)>>, Fault> {
    let sets = sets(json, name)?;
    if sets.is_empty() {
        return Ok(Vec::new());
    }
    let mut read_sets = Vec::with_capacity(sets.len());
    for (set, joints, weights) in sets {
        read_sets.push((
            read_joints(joints, set, name, accessors)?,
            read_weights(weights, set, name, accessors)?,
        ));
    }

    accessors.budget().take_decoded(vertices as u128 * BYTES_PER_VERTEX, || {
        format!("the influences of {name}")
    })?;
    let mut all = Vec::with_capacity(vertices);
    let mut weightless = 0usize;
    let mut negative = 0usize;
    let mut sum_off = 0usize;
    let mut vertex_influences: Vec<(u16, f64)> = Vec::new();
    for vertex in 0..vertices {
        vertex_influences.clear();
        let mut sum = 0.0;
        for (joints, weights) in &read_sets {
            for (&joint, &weight) in joints[vertex].iter().zip(&weights[vertex]) {
                negative += usize::from(weight < 0.0);
                // Unused slots hold any number; only a joint that moves the vertex has to exist.
                if weight <= 0.0 {
                    continue;
                }
                let joint = check(joint, skin, vertex, name)?;
                sum += f64::from(weight);
                match vertex_influences.iter_mut().find(|(known, _)| *known == joint) {
                    Some((_, total)) => *total += f64::from(weight),
                    None => vertex_influences.push((joint, f64::from(weight))),
                }
            }
        }
        // The threshold below which a sum is taken for no weight at all.
        if sum < 1e-6 {
            weightless += 1;
            let first = read_sets[0].0[vertex][0];
            let joint = check(first, skin, vertex, name).unwrap_or(0);
            all.push(vec![(joint, 1.0)]);
            continue;
        }
        sum_off += usize::from((sum - 1.0).abs() > 0.01);
        let whole = |&(joint, weight): &(u16, f64)| (joint, (weight / sum) as f32);
        // A weight that vanishes in f32 moves nothing.
        all.push(vertex_influences.iter().map(whole).filter(|&(_, weight)| weight > 0.0).collect());
    }
    let mut warn = |count: usize, what: &str| {
        if count > 0 {
            warnings.push(format!("{name}: {count} of its {vertices} vertices {what}"));
        }
    };
    warn(weightless, "have no weight; they follow the first joint that they name");
    warn(sum_off, "have weights that do not sum to one; they were scaled");
    if negative > 0 {
        warnings.push(format!("{name}: {} below zero dropped", counted(negative, "weight")));
    }
    Ok(all)
}

/// Numbers and accessors of the sets, in order.
fn sets(json: &Primitive, name: &str) -> Result<Vec<(u32, Index, Index)>, Fault> {
    let number = |semantic: &str, prefix: &str| -> Option<u32> {
        semantic.strip_prefix(prefix)?.parse().ok()
    };
    let mut sets = Vec::new();
    for (semantic, &accessor) in &json.attributes {
        if let Some(set) = number(semantic, "JOINTS_") {
            let Some(&weights) = json.attributes.get(&format!("WEIGHTS_{set}")) else {
                let object = format!("{name}: {semantic}");
                return Err(Fault::Missing { object, property: "WEIGHTS set of the same number" });
            };
            sets.push((set, accessor, weights));
        } else if let Some(set) = number(semantic, "WEIGHTS_")
            && !json.attributes.contains_key(&format!("JOINTS_{set}"))
        {
            let object = format!("{name}: {semantic}");
            return Err(Fault::Missing { object, property: "JOINTS set of the same number" });
        }
    }
    sets.sort_unstable_by_key(|&(set, ..)| set);
    Ok(sets)
}

fn read_joints(
    index: Index,
    set: u32,
    name: &str,
    accessors: &Accessors,
) -> Result<Vec<[u32; 4]>, Fault> {
    let used_as = format_args!("JOINTS_{set} of {name}");
    let expected = "VEC4 of u8 or u16";
    accessors.checked_layout(index, used_as, expected, |layout| {
        matches!(layout.component, Component::U8 | Component::U16)
    })?;
    accessors.integers(index, expected, used_as)
}

fn read_weights(
    index: Index,
    set: u32,
    name: &str,
    accessors: &Accessors,
) -> Result<Vec<[f32; 4]>, Fault> {
    let used_as = format_args!("WEIGHTS_{set} of {name}");
    let expected = "VEC4 of f32 or of normalized u8 or u16";
    // Without `normalized` the integers only have another sum, and weights are divided by theirs.
    accessors.checked_layout(index, used_as, expected, |layout| {
        layout.components() == 4
            && !layout.is_matrix()
            && matches!(layout.component, Component::F32 | Component::U8 | Component::U16)
    })?;
    accessors.floats(index, expected, used_as)
}

/// The joint as an index into the skin's joints.
fn check(joint: u32, skin: Option<SkinUse>, vertex: usize, name: &str) -> Result<u16, Fault> {
    let SkinUse { skin, joints } = match skin {
        Some(skin) => skin,
        // Shown without a skin, the joints mean nothing.
        None => return Ok(joint as u16),
    };
    match u16::try_from(joint) {
        Ok(index) if (joint as usize) < joints => Ok(index),
        _ => Err(Fault::Joint { object: name.to_owned(), vertex, joint, skin, joints }),
    }
}

#[cfg(test)]
mod tests {
    use crate::asset::gltf::fixture::{F32, Fixture, U8, U16};
    use serde_json::json;

    /// The first vertex's influences with these joints and weights for all vertices.
    fn first(joints: &[u16], weights: &[f32]) -> Result<Vec<(u16, f32)>, String> {
        file(joints, weights).read().map(|s| s.meshes[0].primitives[0].influences[0].clone())
    }

    fn file(joints: &[u16], weights: &[f32]) -> Fixture {
        let mut file = Fixture::character();
        for (set, (joints, weights)) in joints.chunks(4).zip(weights.chunks(4)).enumerate() {
            let joints = file.accessor(&joints.repeat(4), U16, "VEC4");
            let weights = file.accessor(&weights.repeat(4), F32, "VEC4");
            let attributes = &mut file.primitive()["attributes"];
            attributes[format!("JOINTS_{set}")] = json!(joints);
            attributes[format!("WEIGHTS_{set}")] = json!(weights);
        }
        file
    }

    #[test]
    fn repeated_joints_of_all_sets_are_merged() {
        let merged =
            first(&[1, 0, 1, 0, 0, 1, 0, 0], &[0.125, 0.25, 0.125, 0.0, 0.25, 0.25, 0.0, 0.0]);
        assert_eq!(merged.unwrap(), [(1, 0.5), (0, 0.5)]);
    }

    #[test]
    fn weights_are_divided_by_their_sum() {
        assert_eq!(first(&[0, 1, 0, 0], &[0.5, 1.5, 0.0, 0.0]).unwrap(), [(0, 0.25), (1, 0.75)]);
        file(&[0, 1, 0, 0], &[0.5, 1.5, 0.0, 0.0]).warned(&["4 of its 4 vertices", "sum to one"]);
        // The largest numbers still have a sum.
        assert_eq!(first(&[0, 1, 0, 0], &[f32::MAX, f32::MAX, 0.0, 0.0]).unwrap()[0], (0, 0.5));
    }

    #[test]
    fn a_vertex_without_weight_follows_the_first_joint_it_names() {
        assert_eq!(first(&[1, 0, 0, 0], &[0.0; 4]).unwrap(), [(1, 1.0)]);
        assert_eq!(first(&[65535, 0, 0, 0], &[0.0; 4]).unwrap(), [(0, 1.0)]);
        file(&[1, 0, 0, 0], &[0.0; 4]).warned(&["4 of its 4 vertices have no weight"]);
    }

    #[test]
    fn joints_past_the_skin_are_refused_only_with_weight() {
        assert_eq!(first(&[0, 65535, 2, 255], &[1.0, 0.0, 0.0, 0.0]).unwrap(), [(0, 1.0)]);
        let message = first(&[0, 2, 0, 0], &[0.5, 0.5, 0.0, 0.0]).unwrap_err();
        assert!(message.contains("vertex 0 is moved by joint 2, but skin 0 has 2 joints"));
        // A second node that shows the mesh with a smaller skin.
        let mut file = file(&[0, 1, 0, 0], &[0.5, 0.5, 0.0, 0.0]);
        file.push("skins", json!({ "joints": [1] }));
        file.push("nodes", json!({ "mesh": 0, "skin": 1 }));
        file.refused(&["moved by joint 1, but skin 1 has 1 joints"]);
    }

    #[test]
    fn negative_weights_are_dropped_and_nan_refused() {
        assert_eq!(first(&[0, 1, 0, 0], &[-0.5, 0.5, 0.0, 0.0]).unwrap(), [(1, 1.0)]);
        file(&[0, 1, 0, 0], &[-0.5, 0.5, 0.0, 0.0]).warned(&["4 weights below zero"]);
        let message = first(&[0, 1, 0, 0], &[f32::NAN, 0.5, 0.0, 0.0]).unwrap_err();
        assert!(message.contains("WEIGHTS_0") && message.contains("NaN"), "{message}");
    }

    #[test]
    fn weights_of_all_integer_formats_are_read() {
        let mut file = Fixture::character();
        let bytes = file.accessor(&[51u8, 204, 0, 0].repeat(4), U8, "VEC4");
        let shorts = file.accessor(&[13107u16, 52428, 0, 0].repeat(4), U16, "VEC4");
        for accessor in [bytes, shorts] {
            for normalized in [true, false] {
                file.json["accessors"][accessor]["normalized"] = json!(normalized);
                file.primitive()["attributes"]["WEIGHTS_0"] = json!(accessor);
                let source = file.read().unwrap();
                let influences = &source.meshes[0].primitives[0].influences[0];
                assert!((influences[0].1 - 0.2).abs() < 1e-6, "{influences:?}");
            }
        }
    }

    #[test]
    fn half_a_set_and_joints_of_other_formats_are_refused() {
        let mut file = Fixture::character();
        file.primitive()["attributes"].as_object_mut().unwrap().remove("WEIGHTS_0");
        file.refused(&["JOINTS_0 has no WEIGHTS"]);
        let mut file = Fixture::character();
        file.primitive()["attributes"].as_object_mut().unwrap().remove("JOINTS_0");
        file.refused(&["WEIGHTS_0 has no JOINTS"]);
        let mut file = Fixture::character();
        let floats = file.accessor(&[0.0f32; 16], F32, "VEC4");
        file.primitive()["attributes"]["JOINTS_0"] = json!(floats);
        file.refused(&["JOINTS_0", "VEC4 of f32", "VEC4 of u8 or u16"]);
    }
}
