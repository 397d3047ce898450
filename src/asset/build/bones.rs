//! Which nodes become bones.
//!
//! Bones are the joints of all skins that are shown, the animated nodes that carry rigid meshes, the
//! animated ancestors of either, and every plain node between two bones. What lies above the topmost
//! bones is then constant and is folded into one matrix each.

use super::super::error::{counted, object, quoted};
use super::super::exact::{Evaluator, rest_matrix, rest_trs};
use super::super::source::{NodeTransform, Source};
use super::error::BuildError;
use crate::index::NodeIndex;
use crate::math::Trs;
use crate::pose::{Skeleton, SkeletonError};
use glam::{DAffine3, DMat3, Vec3};

/// The unordered skeleton: bones in the file's hierarchy order, parents first.
pub(super) struct BoneSet {
    /// The glTF node of each bone.
    pub nodes: Vec<NodeIndex>,
    /// Parents as positions in `nodes`.
    pub parents: Vec<Option<usize>>,
    /// What lies above a root bone; identity for the others.
    pub model_from_root_parent: Vec<DAffine3>,
    /// Local transforms at rest.
    pub rest: Vec<Trs>,
    /// The same as the file has them, shear included.
    pub rest_matrix: Vec<DAffine3>,
    /// `model_from_node` of every node of the file, at rest, shear included.
    pub model_from_node: Vec<DAffine3>,
    /// For every node of the file, the bone that it is.
    pub bone_of_node: Vec<Option<usize>>,
    /// Carries the rigid meshes that nothing moves.
    still_carrier: Option<usize>,
}

/// Where a rigid mesh hangs.
pub(super) struct Carrier {
    /// The bone, as a position in [`BoneSet::nodes`].
    pub bone: usize,
    /// The mesh's place on it.
    pub bone_from_mesh: DAffine3,
}

/// True for every node of the file that the scene shows.
pub(super) fn shown_nodes(source: &Source) -> Vec<bool> {
    let mut shown = vec![false; source.nodes.len()];
    let mut stack = source.scene_roots.clone();
    while let Some(node) = stack.pop() {
        if !std::mem::replace(&mut shown[node.get()], true) {
            stack.extend_from_slice(&source.nodes[node.get()].children);
        }
    }
    shown
}

/// True when some primitive of a node's mesh follows the node itself and not a skin.
pub(super) fn has_rigid_part(source: &Source, node: NodeIndex) -> bool {
    let node = &source.nodes[node.get()];
    let Some(mesh) = node.mesh else { return false };
    let primitives = &source.meshes[mesh as usize].primitives;
    node.skin.is_none() && !primitives.is_empty()
        || primitives.iter().any(|p| p.influences.is_empty())
}

impl BoneSet {
    /// Chooses the bones and folds what is constant above them.
    ///
    /// # Errors
    /// [`BuildError::RestOverflow`] when the hierarchy multiplies out to numbers that are not finite;
    /// [`SkeletonError::TooMany`] bones.
    pub fn choose(source: &Source, warnings: &mut Vec<String>) -> Result<Self, BuildError> {
        let evaluator = Evaluator::new(source);
        let model_from_node = evaluator.rest();
        let order = evaluator.order();
        let animated = animated_nodes(source);
        let mut is_bone = joints(source);
        let mut still: Vec<NodeIndex> = Vec::new();
        let shown = shown_nodes(source);
        for node in (0..source.nodes.len() as u32).map(NodeIndex) {
            if !shown[node.get()] || !has_rigid_part(source, node) {
                continue;
            }
            let nearest = ancestors(source, node).find(|n| is_bone[n.get()] || animated[n.get()]);
            match nearest {
                Some(nearest) => is_bone[nearest.get()] = true,
                None => still.push(node),
            }
        }
        // One of the nodes that never move carries the meshes of all of them.
        let still_node = still
            .iter()
            .copied()
            .find(|n| is_invertible(&model_from_node[n.get()]))
            .or(still.first().copied());
        if let Some(node) = still_node {
            is_bone[node.get()] = true;
        }
        close(source, order, &animated, &mut is_bone);

        let mut set = Self {
            nodes: Vec::new(),
            parents: Vec::new(),
            model_from_root_parent: Vec::new(),
            rest: Vec::new(),
            rest_matrix: Vec::new(),
            model_from_node,
            bone_of_node: vec![None; source.nodes.len()],
            still_carrier: None,
        };
        let mut sheared = Sheared::default();
        for &node in order.iter().filter(|n| is_bone[n.get()]) {
            set.push(source, node, animated[node.get()], &mut sheared)?;
        }
        sheared.report(warnings);
        if set.nodes.len() > Skeleton::MAX {
            let (bones, limit) = (set.nodes.len(), Skeleton::MAX);
            return Err(SkeletonError::TooMany { bones, palette: bones, limit }.into());
        }
        set.still_carrier = still_node.and_then(|n| set.bone_of_node[n.get()]);
        Ok(set)
    }

    fn push(
        &mut self,
        source: &Source,
        node: NodeIndex,
        animated: bool,
        sheared: &mut Sheared,
    ) -> Result<(), BuildError> {
        let n = &source.nodes[node.get()];
        let parent = n.parent.and_then(|p| self.bone_of_node[p.get()]);
        let above = match (parent, n.parent) {
            (None, Some(p)) => self.model_from_node[p.get()],
            _ => DAffine3::IDENTITY,
        };
        let mut matrix = rest_matrix(&n.rest);
        let (mut above, mut rest) = (above, rest_trs(&n.rest).to_trs());
        if let NodeTransform::Matrix(_) = n.rest {
            let kept = rest_trs(&n.rest).to_affine();
            let lost = relative_difference(&matrix, &kept);
            if lost > 1e-5 {
                if parent.is_none() && !animated {
                    (above, rest) = (above * matrix, Trs::IDENTITY);
                    matrix = DAffine3::IDENTITY;
                } else {
                    sheared.add(&n.name, lost);
                }
            }
        }
        let finite = self.model_from_node[node.get()].as_affine3a().is_finite()
            && above.as_affine3a().is_finite();
        if !finite {
            return Err(BuildError::RestOverflow { object: object("node", node, Some(&n.name)) });
        }
        self.bone_of_node[node.get()] = Some(self.nodes.len());
        self.nodes.push(node);
        self.parents.push(parent);
        self.model_from_root_parent.push(above);
        self.rest.push(rest);
        self.rest_matrix.push(matrix);
        Ok(())
    }

    /// What carries the rigid mesh of `node`; `None` when the node is not shown.
    pub fn carrier(&self, source: &Source, node: NodeIndex) -> Option<Carrier> {
        let mut bone_from_mesh = DAffine3::IDENTITY;
        for n in ancestors(source, node) {
            if let Some(bone) = self.bone_of_node[n.get()] {
                return Some(Carrier { bone, bone_from_mesh });
            }
            bone_from_mesh = rest_matrix(&source.nodes[n.get()].rest) * bone_from_mesh;
        }
        let bone = self.still_carrier?;
        let model_from_bone = self.model_from_node[self.nodes[bone].get()];
        let bone_from_model = if is_invertible(&model_from_bone) {
            model_from_bone.inverse()
        } else {
            DAffine3::ZERO
        };
        Some(Carrier { bone, bone_from_mesh: bone_from_model * bone_from_mesh })
    }

    /// A bone's origin in the rest pose.
    pub fn origin(&self, bone: usize) -> Vec3 {
        self.model_from_node[self.nodes[bone].get()].translation.as_vec3()
    }

    /// The inverse of a bone's model matrix at rest; zero where it collapses space.
    pub fn bone_from_model(&self, bone: usize) -> DAffine3 {
        let m = self.model_from_node[self.nodes[bone].get()];
        if is_invertible(&m) { m.inverse() } else { DAffine3::ZERO }
    }
}

/// A node, its parent, and so on up to a root.
fn ancestors(source: &Source, node: NodeIndex) -> impl Iterator<Item = NodeIndex> + '_ {
    std::iter::successors(Some(node), |n| source.nodes[n.get()].parent)
}

fn animated_nodes(source: &Source) -> Vec<bool> {
    let mut animated = vec![false; source.nodes.len()];
    for channel in source.animations.iter().flat_map(|a| &a.channels) {
        animated[channel.node.get()] = true;
    }
    animated
}

/// Joints of the skins that a shown mesh wears (wherever the joints are), joints in the shown scene,
/// and all joints of a file that draws nothing.
fn joints(source: &Source) -> Vec<bool> {
    let shown = shown_nodes(source);
    let mut worn = vec![false; source.skins.len()];
    let mut draws = false;
    for (node, _) in source.nodes.iter().zip(&shown).filter(|(_, shown)| **shown) {
        draws |= node.mesh.is_some();
        if let (Some(_), Some(skin)) = (node.mesh, node.skin) {
            worn[skin as usize] = true;
        }
    }
    let mut is_joint = vec![false; source.nodes.len()];
    for (skin, worn) in source.skins.iter().zip(worn) {
        for joint in &skin.joints {
            is_joint[joint.get()] |= worn || !draws || shown[joint.get()];
        }
    }
    is_joint
}

/// Adds every animated ancestor of a bone, then every node between two bones.
fn close(source: &Source, order: &[NodeIndex], animated: &[bool], is_bone: &mut [bool]) {
    let mut below = is_bone.to_vec();
    for node in order.iter().rev() {
        if below[node.get()] {
            is_bone[node.get()] |= animated[node.get()];
            if let Some(parent) = source.nodes[node.get()].parent {
                below[parent.get()] = true;
            }
        }
    }
    let mut above = vec![false; source.nodes.len()];
    for node in order {
        let parent = source.nodes[node.get()].parent;
        above[node.get()] = parent.is_some_and(|p| above[p.get()] || is_bone[p.get()]);
        is_bone[node.get()] |= above[node.get()] && below[node.get()];
    }
}

/// True when a matrix can be undone without losing more than a float's digits.
fn is_invertible(m: &DAffine3) -> bool {
    let DMat3 { x_axis, y_axis, z_axis } = m.matrix3;
    let volume = x_axis.length() * y_axis.length() * z_axis.length();
    let inverse = m.inverse();
    m.matrix3.determinant().abs() > 1e-9 * volume && inverse.as_affine3a().is_finite()
}

/// Largest difference of two matrices' linear parts, relative to the first's largest number.
fn relative_difference(a: &DAffine3, b: &DAffine3) -> f64 {
    let (a, b) = (a.matrix3.to_cols_array(), b.matrix3.to_cols_array());
    let size = a.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
    let difference = a.iter().zip(b).fold(0.0_f64, |m, (x, y)| m.max((x - y).abs()));
    if size > 0.0 { difference / size } else { 0.0 }
}

/// Collects bones whose matrix can't be kept, for one warning.
#[derive(Default)]
struct Sheared {
    bones: usize,
    worst: f64,
    name: String,
}

impl Sheared {
    fn add(&mut self, name: &str, lost: f64) {
        self.bones += 1;
        if lost > self.worst {
            (self.worst, self.name) = (lost, name.to_owned());
        }
    }

    fn report(self, warnings: &mut Vec<String>) {
        if self.bones > 0 {
            warnings.push(format!(
                "{} with a sheared matrix, of which only translation, rotation and scale are \
                 kept; the worst is {} ({:.2} % of its size lost)",
                counted(self.bones, "bone"),
                quoted(&self.name),
                self.worst * 100.0
            ));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{self, Tree};
    use super::*;
    use glam::Mat4;

    fn choose(source: &Source) -> (BoneSet, Vec<String>) {
        let mut warnings = Vec::new();
        let set = BoneSet::choose(source, &mut warnings).unwrap();
        (set, warnings)
    }

    #[test]
    fn plain_nodes_between_joints_and_animated_ancestors_are_bones_and_the_rest_is_folded() {
        // 0 still -> 1 animated -> 2 plain -> 3 joint -> 4 plain -> 5 joint -> 6 plain
        let mut source = Tree::chain(7).joints(&[3, 5]).source();
        source.animations.push(testing::slide(1));
        let (set, warnings) = choose(&source);
        assert_eq!(set.nodes.iter().map(|n| n.0).collect::<Vec<_>>(), [1, 2, 3, 4, 5]);
        assert_eq!(set.parents, [None, Some(0), Some(1), Some(2), Some(3)]);
        assert_eq!(set.model_from_root_parent[0].translation.y, 1.0);
        assert!(warnings.is_empty());
    }

    #[test]
    fn a_rigid_mesh_hangs_from_its_nearest_bone_by_the_constant_between() {
        let mut source = Tree::chain(4).joints(&[0]).mesh(3).source();
        let (set, _) = choose(&source);
        let carrier = set.carrier(&source, NodeIndex(3)).unwrap();
        assert_eq!((set.nodes.len(), carrier.bone), (1, 0));
        assert_eq!(carrier.bone_from_mesh.translation.y, 3.0);

        source.animations.push(testing::slide(2));
        let (set, _) = choose(&source);
        let carrier = set.carrier(&source, NodeIndex(3)).unwrap();
        assert_eq!(set.nodes.iter().map(|n| n.0).collect::<Vec<_>>(), [0, 1, 2]);
        assert_eq!((carrier.bone, carrier.bone_from_mesh.translation.y), (2, 1.0));
    }

    #[test]
    fn meshes_that_nothing_moves_share_one_bone() {
        let source = Tree::chain(1).root().root().mesh(0).mesh(1).mesh(2).source();
        let (set, _) = choose(&source);
        assert_eq!(set.nodes, [NodeIndex(0)]);
        for node in 0..3 {
            let c = set.carrier(&source, NodeIndex(node)).unwrap();
            let model = set.model_from_node[0] * c.bone_from_mesh;
            assert!(model.abs_diff_eq(set.model_from_node[node as usize], 1e-12));
        }
    }

    #[test]
    fn a_sheared_still_root_keeps_its_shear_and_a_sheared_child_says_so() {
        let shear = Mat4::from_rotation_x(0.5)
            * Mat4::from_scale(Vec3::new(1.0, 3.0, 1.0))
            * Mat4::from_rotation_x(0.7);
        let mut source = Tree::chain(2).joints(&[0, 1]).source();
        source.nodes[0].rest = NodeTransform::Matrix(shear);
        let (set, warnings) = choose(&source);
        let model =
            set.model_from_root_parent[0] * rest_trs(&NodeTransform::Trs(set.rest[0])).to_affine();
        assert!(model.abs_diff_eq(DAffine3::from_mat4(shear.as_dmat4()), 1e-6));
        assert!(warnings.is_empty());
        source.nodes[1].rest = NodeTransform::Matrix(shear);
        let (_, warnings) = choose(&source);
        assert!(warnings[0].contains("sheared") && warnings[0].contains("node_1"), "{warnings:?}");
    }

    #[test]
    fn joints_outside_the_scene_count_only_when_a_shown_mesh_wears_them() {
        let mut source = Tree::chain(2).root().joints(&[0, 1]).source();
        source.scene_roots = vec![NodeIndex(2)];
        assert_eq!(choose(&source).0.nodes.len(), 2, "nothing is drawn: a library of joints");
        let mut source = Tree::chain(2).root().joints(&[0, 1]).mesh(2).source();
        source.scene_roots = vec![NodeIndex(2)];
        assert_eq!(choose(&source).0.nodes, [NodeIndex(2)]);
        source.nodes[2].skin = Some(0);
        source.meshes[0].primitives[0].influences = vec![vec![(0, 1.0)]; 3];
        assert_eq!(choose(&source).0.nodes, [NodeIndex(0), NodeIndex(1)]);
    }

    #[test]
    fn an_overflowing_hierarchy_names_its_node() {
        let mut source = Tree::chain(2).joints(&[0, 1]).source();
        for node in &mut source.nodes {
            node.rest = NodeTransform::Trs(Trs { scale: Vec3::splat(1e30), ..Trs::IDENTITY });
        }
        let e = BoneSet::choose(&source, &mut Vec::new()).err().unwrap().to_string();
        assert!(e.contains("node 1") && e.contains("overflows"), "{e}");
    }
}
