//! Turning one bone towards a point.

use super::{arc, below, fade, joint, turn_in_model};
use crate::index::{BoneCount, BoneIndex};
use crate::pose::kernels::weight;
use crate::pose::{Pose, Rig};
use glam::{Quat, Vec3, Vec3A};

/// A bone and what it is to look at.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gaze {
    /// The bone that turns.
    pub bone: BoneIndex,
    /// The direction it looks in, in its own space; need not be of unit length.
    pub forward: Vec3,
    /// Model space.
    pub target: Vec3,
    /// The most that it turns, radians; not-a-number is no limit.
    pub limit: f32,
    /// How much of the turn is taken, 0..=1.
    pub alpha: f32,
}

/// Turns the bone by the shortest rotation. Nothing for a bone that is not active, a direction
/// without length, and a target on the joint or not finite.
pub fn look_at(rig: &Rig, pose: &mut Pose, gaze: &Gaze, active: BoneCount) {
    let Gaze { bone, forward, target, limit, alpha } = *gaze;
    let alpha = weight(alpha);
    if !active.contains(bone) || !target.is_finite() || !forward.is_finite() || alpha == 0.0 {
        return;
    }
    let above = rig.model_from_parent(pose, bone);
    let looks = Vec3::from(below(rig, pose, bone, &above).matrix3 * Vec3A::from(forward));
    let turn = arc(looks, target - joint(rig, pose, bone, &above));
    let (axis, angle) = turn.to_axis_angle();
    let limit = if limit.is_nan() { f32::INFINITY } else { limit.max(0.0) };
    let turn = if angle > limit { Quat::from_axis_angle(axis, limit) } else { turn };
    let before = rig.local(pose, bone).rotation;
    turn_in_model(rig, pose, bone, &above, turn);
    fade(rig, pose, bone, before, alpha);
}
