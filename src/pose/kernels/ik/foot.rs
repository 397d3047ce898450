//! Putting a foot on the ground below it.

use super::two_bone::{Limb, Reach, two_bone};
use super::{arc, fade, turn_in_model};
use crate::index::BoneCount;
use crate::pose::kernels::weight;
use crate::pose::{Pose, Rig};
use glam::Vec3;

/// The ground under a foot, relative to the ground that the animation was made for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ground {
    /// How far the ankle moves, model space: usually up or down.
    pub offset: Vec3,
    /// The ground's normal, model space; the foot turns as +Y turns to it.
    pub normal: Vec3,
    /// How much of it is taken, 0..=1.
    pub alpha: f32,
}

/// Moves the ankle by the offset through [`two_bone`] (keeping the knee's bend) and turns the foot
/// with the ground. Nothing where [`two_bone`] would do nothing.
pub fn foot_ik(rig: &Rig, pose: &mut Pose, leg: Limb, ground: &Ground, active: BoneCount) {
    let alpha = weight(ground.alpha);
    let finite = ground.offset.is_finite() && ground.normal.is_finite();
    if !active.contains(leg.end) || !finite || alpha == 0.0 {
        return;
    }
    let model =
        |pose: &Pose| rig.model_from_parent(pose, leg.end) * rig.local(pose, leg.end).to_affine();
    let before = model(pose);
    let target = Vec3::from(before.translation) + ground.offset;
    let reach = Reach { target, pole: Vec3::NAN, soften: 0.0, alpha };
    two_bone(rig, pose, leg, &reach, active);

    // The leg's turn carried the foot along: undo that, then follow the ground.
    let ankle = rig.local(pose, leg.end).rotation;
    let (was, is) = (direction(&before), direction(&model(pose)));
    let above = rig.model_from_parent(pose, leg.end);
    let level = was * is.inverse();
    turn_in_model(rig, pose, leg.end, &above, arc(Vec3::Y, ground.normal) * level);
    fade(rig, pose, leg.end, ankle, alpha);
}

fn direction(model: &glam::Affine3A) -> glam::Quat {
    crate::math::Trs::from_affine(model).rotation
}
