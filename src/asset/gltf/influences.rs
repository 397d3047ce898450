//! Joints and weights of all sets into one list of influences per vertex.

use super::accessor::{Accessors, Component};
use super::json::{Primitive, Root};
use super::json_types::Index;
use super::warnings::Warnings;
use crate::asset::error::Fault;

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
            warnings.push(format!("{name}: {count} of {vertices} vertices {what}"));
        }
    };
    warn(weightless, "have no weight; they follow the first joint that they name");
    warn(sum_off, "have weights that do not sum to one; they were scaled");
    if negative > 0 {
        warnings.push(format!("{name}: {negative} negative weights were dropped"));
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
    accessors.expect(index, used_as, expected, |layout| {
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
    accessors.expect(index, used_as, expected, |layout| {
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
