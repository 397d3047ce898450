//! The finished skeleton beside its source: what resampling and measuring need of both.

use super::super::character::Primitive;
use super::super::exact::{ExactTrs, NodeCurves, rest_trs};
use super::super::source::Source;
use super::bones::BoneSet;
use crate::index::{BoneIndex, NodeIndex};
use crate::math::Trs;
use crate::pose::Skeleton;
use glam::{Affine3A, DAffine3, Mat3A, Vec3A};
use std::collections::HashMap;

/// A bone's place in the source.
pub(super) struct SourceBone {
    pub node: NodeIndex,
    pub rest: ExactTrs,
    pub rest_matrix: DAffine3,
}

/// A skeleton and where each of its bones came from.
pub(super) struct SourceRig<'a> {
    pub skeleton: &'a Skeleton,
    pub bones: Vec<SourceBone>,
    model_from_root_parent: Vec<DAffine3>,
}

impl<'a> SourceRig<'a> {
    /// `order` are positions in `set`, in the skeleton's order.
    pub fn new(source: &Source, set: &BoneSet, order: &[usize], skeleton: &'a Skeleton) -> Self {
        let bone = |&old: &usize| SourceBone {
            node: set.nodes[old],
            rest: rest_trs(&source.nodes[set.nodes[old].get()].rest),
            rest_matrix: set.rest_matrix[old],
        };
        Self {
            skeleton,
            bones: order.iter().map(bone).collect(),
            model_from_root_parent: order.iter().map(|&o| set.model_from_root_parent[o]).collect(),
        }
    }

    /// The curves of each bone; `None` where the clip does not move it.
    pub fn curves<'c>(
        &self,
        of_node: &HashMap<NodeIndex, NodeCurves<'c>>,
    ) -> Vec<Option<NodeCurves<'c>>> {
        self.bones.iter().map(|bone| of_node.get(&bone.node).copied()).collect()
    }

    /// One bone's local transform at `seconds` of its curves.
    pub fn local(&self, bone: usize, curves: Option<&NodeCurves<'_>>, seconds: f64) -> Trs {
        match curves {
            Some(curves) => curves.sample(&self.bones[bone].rest, seconds).to_trs(),
            None => self.skeleton.rest()[bone],
        }
    }

    /// Model matrices of the source's own curves at `seconds`, into `model`.
    pub fn exact_model(
        &self,
        curves: &[Option<NodeCurves<'_>>],
        seconds: f64,
        model: &mut Vec<DAffine3>,
    ) {
        model.clear();
        for (i, (bone, parent)) in self.bones.iter().zip(self.skeleton.parents()).enumerate() {
            let local = match &curves[i] {
                Some(curves) => curves.sample(&bone.rest, seconds).to_affine(),
                None => bone.rest_matrix,
            };
            let parent = parent.map_or(self.model_from_root_parent[i], |p| model[p.get()]);
            model.push(parent * local);
        }
    }
}

/// Model matrices of local transforms, into `model`.
pub(super) fn compose(
    skeleton: &Skeleton,
    local: impl Fn(usize) -> Trs,
    model: &mut Vec<Affine3A>,
) {
    model.clear();
    for (bone, parent) in skeleton.parents().iter().enumerate() {
        let parent = match parent {
            Some(parent) => model[parent.get()],
            None => skeleton.model_from_root_parent(BoneIndex(bone as u16)),
        };
        model.push(parent * local(bone).to_affine());
    }
}

/// Palette matrices (`model_from_mesh`) of model matrices, into `palette`.
pub(super) fn palette_of(skeleton: &Skeleton, model: &[Affine3A], palette: &mut Vec<Affine3A>) {
    palette.clear();
    palette.extend(skeleton.palette().iter().map(|e| model[e.bone.get()] * e.bone_from_mesh));
}

/// A box in a space of its own, as centre and half its extent.
#[derive(Clone, Copy, Debug)]
pub(super) struct LocalBox {
    pub center: Vec3A,
    pub half: Vec3A,
}

impl LocalBox {
    /// The smallest box around points; `None` without any.
    pub fn of_points(points: impl Iterator<Item = Vec3A>) -> Option<Self> {
        let start = (Vec3A::INFINITY, Vec3A::NEG_INFINITY);
        let (min, max) = points.fold(start, |(min, max), p| (min.min(p), max.max(p)));
        (min.x <= max.x).then(|| Self { center: (min + max) * 0.5, half: (max - min) * 0.5 })
    }

    /// The smallest axis-aligned box around the transformed box.
    #[inline]
    pub fn transformed(&self, m: &Affine3A) -> Self {
        let Mat3A { x_axis, y_axis, z_axis } = m.matrix3;
        let half =
            x_axis.abs() * self.half.x + y_axis.abs() * self.half.y + z_axis.abs() * self.half.z;
        Self { center: m.transform_point3a(self.center), half }
    }

    /// Its corners.
    pub fn corners(&self) -> [Vec3A; 8] {
        std::array::from_fn(|i| {
            let sign = |bit: usize| if i & bit == 0 { -1.0 } else { 1.0 };
            self.center + self.half * Vec3A::new(sign(1), sign(2), sign(4))
        })
    }
}

/// For each palette entry the box, in mesh space, of the vertices that follow it.
pub(super) fn influence_boxes(
    skeleton: &Skeleton,
    primitives: &[Primitive],
) -> Vec<Option<LocalBox>> {
    let mut min = vec![Vec3A::INFINITY; skeleton.palette_len()];
    let mut max = vec![Vec3A::NEG_INFINITY; skeleton.palette_len()];
    for v in primitives.iter().flat_map(|p| &p.vertices) {
        let position = Vec3A::from(v.position);
        for (joint, weight) in v.joints.iter().zip(v.weights) {
            if weight > 0.0 {
                let entry = usize::from(*joint);
                min[entry] = min[entry].min(position);
                max[entry] = max[entry].max(position);
            }
        }
    }
    min.into_iter()
        .zip(max)
        .map(|(min, max)| LocalBox::of_points([min, max].into_iter().filter(|p| p.is_finite())))
        .collect()
}
