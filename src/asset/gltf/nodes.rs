//! Nodes into a forest with finite transforms, and the roots of the scene that is shown.

use super::json::{Node, Root};
use super::json_types::Index;
use super::warnings::Warnings;
use crate::asset::error::{Fault, object};
use crate::asset::source::{NodeTransform, SourceNode};
use crate::index::NodeIndex;
use crate::math::Trs;
use glam::{Affine3A, Mat4, Quat, Vec3, Vec4};

/// Reads all nodes. `animated[i]` tells whether a channel drives node `i`.
///
/// # Errors
/// References out of range, nodes with two parents or among their own ancestors, numbers that are
/// not finite.
pub(super) fn read(
    root: &Root,
    animated: &[bool],
    warnings: &mut Warnings,
) -> Result<Vec<SourceNode>, Fault> {
    let parents = parents(root)?;
    check_cycles(root, &parents)?;
    root.nodes
        .iter()
        .enumerate()
        .map(|(at, json)| {
            let user = || name(root, at);
            if let Some(mesh) = json.mesh {
                mesh.of(&root.meshes, "meshes", &user, "mesh")?;
            }
            if let Some(skin) = json.skin {
                skin.of(&root.skins, "skins", &user, "skin")?;
            }
            let animated = animated.get(at).copied().unwrap_or(false);
            Ok(SourceNode {
                name: match &json.name {
                    Some(name) if !name.is_empty() => name.clone(),
                    _ => format!("node_{at}"),
                },
                parent: parents[at],
                children: json.children.iter().map(|child| NodeIndex(child.0 as u32)).collect(),
                rest: transform(json, animated, &user, warnings)?,
                mesh: json.mesh.map(|mesh| mesh.0 as u32),
                skin: json.skin.map(|skin| skin.0 as u32),
            })
        })
        .collect()
}

/// The roots of the default scene, else of the first, else every node without a parent.
///
/// # Errors
/// References out of range.
pub(super) fn scene_roots(root: &Root, nodes: &[SourceNode]) -> Result<Vec<NodeIndex>, Fault> {
    let scene = match root.scene {
        Some(scene) => scene.of(&root.scenes, "scenes", &|| "the file".into(), "scene")?,
        None if root.scenes.is_empty() => {
            let parentless = (0u32..).zip(nodes).filter(|(_, node)| node.parent.is_none());
            return Ok(parentless.map(|(at, _)| NodeIndex(at)).collect());
        }
        None => (0, &root.scenes[0]),
    };
    let user = || object("scene", scene.0, None);
    let mut listed = vec![false; nodes.len()];
    let mut roots = Vec::new();
    for index in &scene.1.nodes {
        let (at, _) = index.of(nodes, "nodes", &user, "nodes")?;
        if !std::mem::replace(&mut listed[at], true) {
            roots.push(NodeIndex(at as u32));
        }
    }
    Ok(roots)
}

/// What to call a node in a message.
pub(super) fn name(root: &Root, at: usize) -> String {
    object("node", at, root.nodes.get(at).and_then(|node| node.name.as_deref()))
}

fn parents(root: &Root) -> Result<Vec<Option<NodeIndex>>, Fault> {
    let mut parents: Vec<Option<NodeIndex>> = vec![None; root.nodes.len()];
    for (at, node) in root.nodes.iter().enumerate() {
        for child in &node.children {
            let (child, _) = child.of(&root.nodes, "nodes", &|| name(root, at), "children")?;
            if let Some(first) = parents[child] {
                let object = name(root, child);
                return Err(Fault::TwoParents { object, first: first.get(), second: at });
            }
            // MAX_NODES keeps indices far below u32.
            parents[child] = Some(NodeIndex(at as u32));
        }
    }
    Ok(parents)
}

/// With at most one parent each, a node that no root reaches lies on a cycle or below one.
fn check_cycles(root: &Root, parents: &[Option<NodeIndex>]) -> Result<(), Fault> {
    let mut reached = vec![false; parents.len()];
    let mut open: Vec<usize> = (0..parents.len()).filter(|&node| parents[node].is_none()).collect();
    while let Some(node) = open.pop() {
        reached[node] = true;
        open.extend(root.nodes[node].children.iter().map(|child| child.index()));
    }
    let Some(lost) = reached.iter().position(|reached| !reached) else {
        return Ok(());
    };
    // Up the chain until a node comes again: that one is on the cycle itself.
    let mut seen = vec![false; parents.len()];
    let mut node = lost;
    while !std::mem::replace(&mut seen[node], true) {
        node = parents[node].map_or(node, NodeIndex::get);
    }
    Err(Fault::NodeCycle { object: name(root, node) })
}

fn transform(
    json: &Node,
    animated: bool,
    user: &dyn Fn() -> String,
    warnings: &mut Warnings,
) -> Result<NodeTransform, Fault> {
    let finite = |numbers: &[f32], property| finite(numbers, user, property);
    if let Some(matrix) = &json.matrix {
        finite(matrix, "matrix")?;
        if json.translation.is_some() || json.rotation.is_some() || json.scale.is_some() {
            warnings.push(format!(
                "{} has a matrix and separate properties; the matrix is used",
                user()
            ));
        }
        let matrix =
            affine(Mat4::from_cols_array(matrix), warnings, || format!("the matrix of {}", user()));
        if animated {
            warnings.push(format!(
                "{} is animated, but has a matrix; it was split into translation, rotation, scale",
                user()
            ));
            let trs = Trs::from_affine(&Affine3A::from_mat4(matrix));
            return Ok(NodeTransform::Trs(trs));
        }
        return Ok(NodeTransform::Matrix(matrix));
    }
    let translation = json.translation.unwrap_or([0.0; 3]);
    let rotation = json.rotation.unwrap_or([0.0, 0.0, 0.0, 1.0]);
    let scale = json.scale.unwrap_or([1.0; 3]);
    finite(&translation, "translation")?;
    finite(&rotation, "rotation")?;
    finite(&scale, "scale")?;
    Ok(NodeTransform::Trs(Trs {
        translation: Vec3::from(translation),
        rotation: unit(rotation).unwrap_or_else(|| {
            warnings.push(format!("{} has a rotation of length zero; it was dropped", user()));
            Quat::IDENTITY
        }),
        scale: Vec3::from(scale),
    }))
}

/// A rotation of unit length; exporters round. `None` when it has no direction.
fn unit(rotation: [f32; 4]) -> Option<Quat> {
    // In f64, where the squares of all f32 are numbers.
    let q = glam::DVec4::from(rotation.map(f64::from));
    let length = q.length();
    if length < 1e-12 {
        return None;
    }
    // A rotation that is already unit to rounding stays as it was written.
    let q = if (length - 1.0).abs() > 1e-6 { q / length } else { q };
    Some(Quat::from_vec4(q.as_vec4()))
}

/// The last row of an affine matrix is 0, 0, 0, 1; rounding is put right without a word.
pub(super) fn affine(
    mut matrix: Mat4,
    warnings: &mut Warnings,
    what: impl FnOnce() -> String,
) -> Mat4 {
    let last = matrix.row(3);
    if !last.abs_diff_eq(Vec4::W, 1e-3) {
        warnings.push(format!(
            "{} has the last row {:?}, which was taken for 0, 0, 0, 1",
            what(),
            last.to_array()
        ));
    }
    matrix.x_axis.w = 0.0;
    matrix.y_axis.w = 0.0;
    matrix.z_axis.w = 0.0;
    matrix.w_axis.w = 1.0;
    matrix
}

/// Refuses numbers that aren't finite.
pub(super) fn finite(
    numbers: &[f32],
    user: &dyn Fn() -> String,
    property: &'static str,
) -> Result<(), Fault> {
    match numbers.iter().find(|number| !number.is_finite()) {
        Some(&value) => Err(Fault::NotFinite { object: user(), property, value }),
        None => Ok(()),
    }
}

/// For each node, whether a channel drives its translation, rotation or scale.
pub(super) fn animated(root: &Root) -> Vec<bool> {
    let mut animated = vec![false; root.nodes.len()];
    for channel in root.animations.iter().flat_map(|animation| &animation.channels) {
        let moves = matches!(channel.target.path.as_str(), "translation" | "rotation" | "scale");
        let node = channel.target.node.map(Index::index);
        if let Some(flag) = node.filter(|_| moves).and_then(|node| animated.get_mut(node)) {
            *flag = true;
        }
    }
    animated
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::asset::gltf::fixture::Fixture;
    use serde_json::{Value, json};

    fn file(nodes: Value) -> Fixture {
        let mut file = Fixture::empty();
        file.json["nodes"] = nodes;
        file
    }

    #[test]
    fn parents_and_names_are_filled_in() {
        let nodes = json!([{ "children": [2] }, { "name": "a" }, { "name": "a", "children": [1] }]);
        let source = file(nodes).read().unwrap();
        let parents: Vec<_> = source.nodes.iter().map(|n| n.parent.map(|p| p.0)).collect();
        assert_eq!(parents, [None, Some(2), Some(0)]);
        let names: Vec<_> = source.nodes.iter().map(|n| n.name.as_str()).collect();
        assert_eq!(names, ["node_0", "a", "a"]);
        assert_eq!(source.scene_roots, [NodeIndex(0)]);
    }

    #[test]
    fn two_parents_and_cycles_of_any_length_are_refused_by_name() {
        let twice = json!([{ "children": [2] }, { "children": [2] }, { "name": "x" }]);
        file(twice).refused(&["node 2 \"x\" has two parents: node 0 and node 1"]);
        file(json!([{ "children": [1, 1] }, {}])).refused(&["node 1", "node 0 and node 0"]);
        file(json!([{ "children": [0] }])).refused(&["node 0 is its own ancestor"]);
        let below = json!([{ "children": [1] }, {}, { "children": [3] }, { "children": [4] },
            { "children": [2, 5] }, { "children": [6] }, {}]);
        let message = file(below).refused(&["is its own ancestor"]);
        // Nodes 5 and 6 hang below the cycle, but aren't on it.
        assert!(["node 2", "node 3", "node 4"].iter().any(|node| message.starts_with(node)));
    }

    #[test]
    fn a_chain_of_many_thousand_nodes_is_no_cycle_and_no_stack_overflow() {
        let mut nodes: Vec<Value> = (1..50_000).map(|i| json!({ "children": [i] })).collect();
        nodes.push(json!({}));
        assert_eq!(file(json!(nodes)).read().unwrap().nodes.len(), 50_000);
    }

    #[test]
    fn references_out_of_range_are_refused() {
        file(json!([{ "children": [1] }])).refused(&["node 0: children is 1", "nodes has 1"]);
        file(json!([{ "mesh": 0 }])).refused(&["node 0: mesh is 0", "meshes has 0"]);
        file(json!([{ "skin": 7 }])).refused(&["node 0: skin is 7"]);
        let mut scene = file(json!([{}]));
        scene.json["scenes"] = json!([{ "nodes": [3] }]);
        scene.refused(&["scene 0: nodes is 3"]);
        scene.json["scenes"] = json!([{}]);
        scene.json["scene"] = json!(1);
        scene.refused(&["scene is 1"]);
    }

    #[test]
    fn the_default_scene_wins_then_the_first_then_every_parentless_node() {
        let mut file = file(json!([{}, { "children": [2] }, {}]));
        let roots = |file: &Fixture| -> Vec<u32> {
            file.read().unwrap().scene_roots.iter().map(|root| root.0).collect()
        };
        assert_eq!(roots(&file), [0, 1]);
        file.json["scenes"] = json!([{ "nodes": [1] }, { "nodes": [0, 0] }]);
        assert_eq!(roots(&file), [1]);
        file.json["scene"] = json!(1);
        assert_eq!(roots(&file), [0]);
        file.json["scenes"] = json!([{ "nodes": [1] }, {}]);
        assert_eq!(roots(&file), [0u32; 0]);
    }

    #[test]
    fn transforms_are_finite_unit_and_affine() {
        let rest = |node: Value| file(json!([node])).read().map(|source| source.nodes[0].rest);
        let NodeTransform::Trs(trs) = rest(json!({ "rotation": [0, 0, 0, 2] })).unwrap() else {
            panic!("not TRS")
        };
        assert_eq!(trs, Trs::IDENTITY);
        let tiny = rest(json!({ "rotation": [1e-30, 0, 0, 0], "scale": [0, 1, -1] })).unwrap();
        let NodeTransform::Trs(trs) = tiny else { panic!("not TRS") };
        assert_eq!((trs.rotation, trs.scale), (Quat::IDENTITY, Vec3::new(0.0, 1.0, -1.0)));
        for (key, value) in [
            ("translation", json!([1e39, 0, 0])),
            ("scale", json!([0, -1e39, 0])),
            ("rotation", json!([0, 0, 0, 1e300])),
            ("matrix", json!([1e39, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1])),
        ] {
            let message = rest(json!({ key: value })).unwrap_err();
            assert!(message.contains(&format!("node 0: {key} holds")), "{message}");
        }
        // A rotation near the largest f32 is still a direction.
        let NodeTransform::Trs(trs) = rest(json!({ "rotation": [3e38, 0, 0, 0] })).unwrap() else {
            panic!("not TRS")
        };
        assert_eq!(trs.rotation, Quat::from_xyzw(1.0, 0.0, 0.0, 0.0));
    }

    #[test]
    fn a_matrix_keeps_its_shear_and_loses_its_projection() {
        let matrix = json!([1, 0, 0, 0.5, 1, 1, 0, 0, 0, 0, 1, 0, 5, 6, 7, 1]);
        let file = file(json!([{ "matrix": matrix, "translation": [1, 2, 3] }]));
        file.warned(&["node 0", "last row", "0.5"]);
        let source = file.warned(&["node 0", "separate properties"]);
        let NodeTransform::Matrix(matrix) = source.nodes[0].rest else { panic!("no matrix") };
        assert_eq!(matrix.y_axis, Vec4::new(1.0, 1.0, 0.0, 0.0));
        assert_eq!(matrix.row(3), Vec4::W);
    }

    #[test]
    fn a_matrix_that_is_animated_is_split() {
        let mut file = Fixture::character();
        file.json["nodes"][2] =
            json!({ "matrix": [2, 0, 0, 0, 0, 2, 0, 0, 0, 0, 2, 0, 1, 2, 3, 1] });
        let source = file.warned(&["node 2", "split"]);
        let NodeTransform::Trs(trs) = source.nodes[2].rest else { panic!("not split") };
        assert_eq!((trs.translation, trs.scale), (Vec3::new(1.0, 2.0, 3.0), Vec3::splat(2.0)));
    }
}
