//! Solvers that turn bones so that another bone gets somewhere. Targets are in model space.

pub mod fabrik;
pub mod foot;
pub mod look_at;
pub mod stand;
pub mod two_bone;

use crate::index::BoneIndex;
use crate::pose::{Pose, Rig};
use glam::{Affine3A, Quat, Vec3, Vec3A};

/// Shorter than this, in model units, is no direction.
const NO_LENGTH: f32 = 1e-6;

/// Turns a bone about its own joint by a rotation that is given in model space; `above` is the
/// model matrix of its parent. A mirrored parent turns the other way round.
fn turn_in_model(rig: &Rig, pose: &mut Pose, bone: BoneIndex, above: &Affine3A, by: Quat) {
    let (axis, angle) = by.to_axis_angle();
    let inverse = above.matrix3.inverse();
    let local_axis = Vec3::from((inverse * Vec3A::from(axis)).normalize_or_zero());
    let angle = angle.copysign(angle * above.matrix3.determinant());
    if local_axis == Vec3::ZERO || !local_axis.is_finite() || !angle.is_finite() {
        return;
    }
    let turn = Quat::from_axis_angle(local_axis, angle);
    let before = rig.local(pose, bone).rotation;
    rig.set_local_rotation(pose, bone, (turn * before).normalize());
}

/// The shortest rotation from one direction to another; none where either is no direction.
fn arc(from: Vec3, to: Vec3) -> Quat {
    match (from.try_normalize(), to.try_normalize()) {
        (Some(from), Some(to)) => {
            // Half way there is where the turn's axis and half its cosine come from; exact for the
            // smallest turns too, which the dot product can't tell from none.
            let (axis, w) = (from.cross(to), 1.0 + from.dot(to));
            match w > 1e-4 {
                true => Quat::from_xyzw(axis.x, axis.y, axis.z, w).normalize(),
                false => Quat::from_rotation_arc(from, to),
            }
        }
        _ => Quat::IDENTITY,
    }
}

/// Puts back part of what a solver did: `alpha` of 0 is the rotation before, 1 the solved one.
fn fade(rig: &Rig, pose: &mut Pose, bone: BoneIndex, before: Quat, alpha: f32) {
    let solved = rig.local(pose, bone).rotation;
    rig.set_local_rotation(pose, bone, before.lerp(solved, alpha));
}

/// Where a bone's joint is, given its parent's model matrix.
fn joint(rig: &Rig, pose: &Pose, bone: BoneIndex, above: &Affine3A) -> Vec3 {
    above.transform_point3(rig.local(pose, bone).translation)
}

/// A bone's model matrix, given its parent's.
fn below(rig: &Rig, pose: &Pose, bone: BoneIndex, above: &Affine3A) -> Affine3A {
    *above * rig.local(pose, bone).to_affine()
}

/// True when walking up from `bone` meets `ancestor`, which may be the bone itself.
fn is_below(rig: &Rig, bone: BoneIndex, ancestor: BoneIndex) -> bool {
    let mut at = Some(bone);
    while let Some(bone) = at {
        if bone == ancestor {
            return true;
        }
        at = rig.skeleton().parents().get(bone.get()).copied().flatten();
    }
    false
}

/// A model matrix of `bone` and of everything between it and `from`, whose parent's is `above`.
fn model_between(
    rig: &Rig,
    pose: &Pose,
    bone: BoneIndex,
    from: BoneIndex,
    above: &Affine3A,
) -> Affine3A {
    let mut matrix = Affine3A::IDENTITY;
    let mut at = Some(bone);
    while let Some(bone) = at {
        matrix = rig.local(pose, bone).to_affine() * matrix;
        if bone == from {
            break;
        }
        at = rig.skeleton().parents().get(bone.get()).copied().flatten();
    }
    *above * matrix
}
