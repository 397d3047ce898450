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
