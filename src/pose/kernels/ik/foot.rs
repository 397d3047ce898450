//! Putting a foot on the ground below it.

use super::frame::Frame;
use super::two_bone::{Limb, Posed, Reach};
use super::{arc, by_class, fade};
use crate::index::BoneCount;
use crate::pose::kernels::weight;
use crate::pose::{Pose, Rig};
use glam::{Vec3, Vec3A};

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

impl Ground {
    /// True where the ground is the one that the animation was made for.
    fn is_as_animated(&self) -> bool {
        let Vec3 { x, y, z } = self.normal;
        self.offset == Vec3::ZERO && x == 0.0 && z == 0.0 && y >= 0.0
    }
}

/// Moves the ankle by the offset as [`two_bone`](super::two_bone::two_bone) would (keeping the
/// knee's bend) and turns the foot with the ground. Nothing where that would do nothing, and nothing,
/// to the bit, where the offset is zero and the normal points up.
pub fn foot_ik(rig: &Rig, pose: &mut Pose, leg: Limb, ground: &Ground, active: BoneCount) {
    let finite = ground.offset.is_finite() && ground.normal.is_finite();
    if finite && weight(ground.alpha) > 0.0 && !ground.is_as_animated() {
        by_class!(rig, stand(rig, pose, leg, ground, active));
    }
}

fn stand<F: Frame>(rig: &Rig, pose: &mut Pose, bones: Limb, ground: &Ground, active: BoneCount) {
    let alpha = weight(ground.alpha);
    let Some(mut leg) = Posed::<F>::of(rig, pose, bones, active) else { return };
    let places = leg.places();
    let foot = places.above_end.below(&leg.end);
    let target = Vec3::from(places.end) + ground.offset;
    if !leg.solve(&places, &Reach { target, pole: Vec3::NAN, soften: 0.0, alpha }) {
        return;
    }
    // The leg's turn carried the foot along: undo that, then follow the ground.
    let slope = arc(Vec3A::Y, ground.normal.into());
    let level = leg.solved_above_end().restored(&leg.end, &foot, slope);
    leg.store(pose, bones);
    pose.set_rotation(bones.end, fade(leg.end.rotation, level, alpha).to_array());
}
