//! Putting a foot on the ground below it.

use super::frame::Frame;
use super::two_bone::{Limb, Places, Posed, Reach};
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
    if weight(ground.alpha) > 0.0 && !ground.is_as_animated() {
        by_class!(rig, follow(rig, pose, leg, ground, active));
    }
}

/// [`foot_ik`] with the frame of the rig's class.
pub(super) fn follow<F: Frame>(
    rig: &Rig,
    pose: &mut Pose,
    bones: Limb,
    ground: &Ground,
    active: BoneCount,
) {
    if let Some(leg) = Posed::<F>::of(rig, pose, bones, active) {
        plant(pose, &leg, &leg.places(), ground);
    }
}

/// [`foot_ik`] for a leg of the pose whose places are known.
#[inline(always)]
pub(super) fn plant<F: Frame>(
    pose: &mut Pose,
    leg: &Posed<F>,
    places: &Places<F>,
    ground: &Ground,
) {
    let Ground { offset, normal, alpha } = *ground;
    if !offset.is_finite() || !normal.is_finite() || ground.is_as_animated() {
        return;
    }
    let (mut leg, alpha) = (*leg, weight(alpha));
    let foot = places.above_end.below(&leg.end);
    let target = Vec3::from(places.end) + offset;
    if !leg.solve(places, &Reach { target, pole: Vec3::NAN, soften: 0.0, alpha }) {
        return;
    }
    // The leg's turn carried the foot along: undo that, then follow the ground.
    let slope = arc(Vec3A::Y, normal.into());
    let level = leg.solved_above_end().restored(&leg.end, &foot, slope);
    leg.store(pose);
    pose.set_rotation(leg.bones.end, fade(leg.end.rotation, level, alpha).to_array());
}
