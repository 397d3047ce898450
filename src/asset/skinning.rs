//! Linear blend skinning on the CPU: for import, tests and tools. The frame's skinning is a shader's.

use super::character::{CharacterAsset, Primitive, Vertex};
use crate::math::Bounds;
use crate::pose::Skeleton;
use glam::{Affine3A, Vec3A};

/// `model_from_mesh` of every palette entry, for the model matrices of a pose (one per bone).
pub fn palette(skeleton: &Skeleton, model_from_bone: &[Affine3A]) -> Vec<Affine3A> {
    skeleton.palette().iter().map(|e| model_from_bone[e.bone.get()] * e.bone_from_mesh).collect()
}

/// A vertex in model space: the weighted mean of where its palette matrices put it.
#[inline]
pub fn skin(vertex: &Vertex, palette: &[Affine3A]) -> Vec3A {
    blend(vertex.position.into(), &vertex.joints, &vertex.weights, palette)
}

/// All vertices of a primitive in model space, in its own order.
pub fn skin_primitive(primitive: &Primitive, palette: &[Affine3A]) -> Vec<Vec3A> {
    primitive.vertices.iter().map(|v| skin(v, palette)).collect()
}

/// Model-space bounds of a character's vertices at rest: how tall it stands, and where its soles
/// are. [`Bounds::EMPTY`] without vertices.
pub fn rest_bounds(asset: &CharacterAsset) -> Bounds {
    let skeleton = &asset.skeleton;
    let palette = palette(skeleton, &skeleton.model_from_bone(skeleton.rest()));
    let vertices = asset.primitives.iter().flat_map(|p| &p.vertices);
    Bounds::of_points(vertices.map(|v| skin(v, &palette).into()))
}

/// The weighted mean of a position's images; influences end at the first zero weight.
#[inline]
pub(super) fn blend(
    position: Vec3A,
    joints: &[u16; 4],
    weights: &[f32; 4],
    palette: &[Affine3A],
) -> Vec3A {
    let mut sum = Vec3A::ZERO;
    for (&joint, &weight) in joints.iter().zip(weights) {
        if weight == 0.0 {
            break;
        }
        sum += weight * palette[usize::from(joint)].transform_point3a(position);
    }
    sum
}
