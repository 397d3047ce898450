//! A character at rest, as far as its meshes' preparation looks at it.

use super::layout::ContactVertex;
use crate::asset::CharacterAsset;
use crate::math::Mat3x4;
use glam::{Affine3A, Vec2, Vec3};

/// The share of the height that counts as near the ground.
const LOW: f32 = 0.3;

/// The rest pose's palette, and where it puts the vertices.
#[derive(Clone, Debug)]
pub(super) struct RestPose {
    pub(super) palette: Vec<Mat3x4>,
    mirrored: Vec<bool>,
    /// Model space; empty without vertices.
    points: Vec<Vec3>,
    min: Vec3,
    max: Vec3,
    /// Of a sphere around the model's origin, metres.
    pub(super) radius: f32,
}

impl RestPose {
    pub(super) fn of(asset: &CharacterAsset) -> Self {
        let skeleton = &asset.skeleton;
        let model = skeleton.model_from_bone(skeleton.rest());
        let matrices = skeleton.palette().iter().map(|e| model[e.bone.get()] * e.bone_from_mesh);
        let mut rest = Self {
            mirrored: matrices.clone().map(|m| m.matrix3.determinant() < 0.0).collect(),
            palette: matrices.map(|m| Mat3x4::from_affine(&m)).collect(),
            points: Vec::new(),
            min: Vec3::INFINITY,
            max: Vec3::NEG_INFINITY,
            radius: 0.0,
        };
        let vertices = asset.primitives.iter().flat_map(|p| &p.vertices);
        let points = vertices.map(|v| rest.posed(v.position, v.joints, v.weights));
        rest.points = points.filter(|p| p.is_finite()).collect();
        for p in &rest.points {
            rest.min = rest.min.min(*p);
            rest.max = rest.max.max(*p);
            rest.radius = rest.radius.max(p.length());
        }
        rest
    }

    /// Where a vertex is, model space.
    pub(super) fn posed(&self, position: [f32; 3], joints: [u16; 4], weights: [f32; 4]) -> Vec3 {
        let mut p = Vec3::ZERO;
        for (&joint, &weight) in joints.iter().zip(&weights) {
            if weight > 0.0
                && let Some(m) = self.palette.get(usize::from(joint))
            {
                p += m.transform_point(Vec3::from(position)) * weight;
            }
        }
        p
    }

    /// True when a palette matrix turns triangles inside out.
    pub(super) fn is_mirrored(&self, joint: u16) -> bool {
        self.mirrored.get(usize::from(joint)).copied().unwrap_or(false)
    }

    /// Metres; 0 without vertices.
    pub(super) fn height(&self) -> f32 {
        (self.max.y - self.min.y).max(0.0)
    }

    /// The quad under the character that holds its contact shade: around what is near the ground,
    /// and wider by its softness, in `cells` times `cells` parts, column by column. `None` without
    /// vertices or bones.
    pub(super) fn contact_quad(&self, cells: u16) -> Option<Vec<ContactVertex>> {
        let (floor, height) = (self.min.y, self.height());
        let low = self.points.iter().filter(|p| p.y - floor <= height * LOW);
        let low = low.map(|p| Vec2::new(p.x, p.z));
        let min = low.clone().reduce(Vec2::min)?;
        let max = low.reduce(Vec2::max)?;
        let (center, half) = ((min + max) * 0.5, (max - min) * 0.5);
        let half = half * 1.25 + Vec2::splat(height * 0.14);
        let middle = Vec3::new(center.x, floor + height * 0.5, center.y);
        let first = self.palette.first()?.to_affine();
        // A matrix without inverse leaves the shade where it is at rest.
        let singular = first.matrix3.determinant().abs() < 1e-12;
        let mesh_from_model = if singular { Affine3A::IDENTITY } else { first.inverse() };
        let point = |x: f32, z: f32| ContactVertex {
            position: [center.x + half.x * x, floor, center.y + half.y * z],
            corner: [x, z],
            middle: middle.into(),
            middle_in_mesh: mesh_from_model.transform_point3(middle).into(),
        };
        let along = move |i: u16| f32::from(i) / f32::from(cells) * 2.0 - 1.0;
        let column = |i: u16| (0..=cells).map(move |j| point(along(i), along(j)));
        Some((0..=cells).flat_map(column).collect())
    }
}
