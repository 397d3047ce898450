//! Turning one bone towards a point.

use super::frame::{Frame, Joint};
use super::{arc, by_class, fade};
use crate::index::{BoneCount, BoneIndex};
use crate::pose::kernels::weight;
use crate::pose::{Pose, Rig};
use glam::{Quat, Vec3, Vec3A};
use std::f32::consts::PI;

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
    let finite = gaze.target.is_finite() && gaze.forward.is_finite();
    let awake = active.min(rig.bone_count()).contains(gaze.bone);
    if awake && finite && weight(gaze.alpha) > 0.0 {
        by_class!(rig, look(rig, pose, gaze));
    }
}

fn look<F: Frame>(rig: &Rig, pose: &mut Pose, gaze: &Gaze) {
    let bone = gaze.bone;
    let joint = Joint::of::<F>(rig, pose, bone);
    let above = F::above(rig, pose, bone);
    let looks = above.below(&joint).direction(rig, bone, gaze.forward.into());
    let turn = arc(looks, Vec3A::from(gaze.target) - above.point(joint.translation));
    let solved = above.turned(joint.rotation, limited(turn, gaze.limit));
    let rotation = fade(joint.rotation, solved, weight(gaze.alpha));
    pose.set_rotation(bone, rotation.to_array());
}

/// A rotation of at most half a turn, or as much of it as the limit leaves.
fn limited(turn: Quat, limit: f32) -> Quat {
    // No limit, or one that nothing exceeds.
    if limit.is_nan() || limit >= PI {
        return turn;
    }
    let (sine, cosine) = (0.5 * limit.max(0.0)).sin_cos();
    // Half the angle, by its cosine; and by its sine, which tells small angles apart.
    let own = turn.xyz().length();
    if turn.w >= cosine && own <= sine {
        return turn;
    }
    let axis = turn.xyz().try_normalize().unwrap_or_default();
    Quat::from_vec4((axis * sine).extend(cosine))
}
