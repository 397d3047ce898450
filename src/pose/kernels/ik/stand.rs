//! Standing on ground that is not level: two feet, and the hips above them.

use super::foot::{Ground, follow, plant};
use super::frame::{Frame, Joint, hangs_below};
use super::two_bone::{Limb, Posed};
use super::{arc, by_class};
use crate::index::{BoneCount, BoneIndex};
use crate::pose::kernels::bone::{BoneSpace, translate_bone};
use crate::pose::kernels::weight;
use crate::pose::{GroundPatch, Pose, Rig};
use glam::{Vec3, Vec3A};

/// Who stands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stance {
    /// What is lowered where a foot would not reach the ground; both legs hang on it.
    pub hips: BoneIndex,
    /// Thigh, shin and foot of each leg.
    pub legs: [Limb; 2],
    /// How much of the ground is taken, 0..=1: at 0 the character stands on the level plane.
    pub alpha: f32,
}

/// A leg that the pose has not stretched farther is not stretched beyond this part of its length:
/// near its end the knee would snap.
const STRETCH: f32 = 0.985;
/// A foot that is lifted by more than this part of its leg begins to forget the ground's slope, and
/// has forgotten it when it is lifted by twice as much more.
const LIFTED: f32 = 0.25;

/// Where a foot goes.
#[derive(Clone, Copy, Debug)]
struct Step {
    /// What the ankle is moved by.
    offset: Vec3,
    /// The ground's normal.
    normal: Vec3,
    /// How far the hips have to come down, zero or less.
    drop: f32,
}

/// Stands a pose that was made for level ground on a [`GroundPatch`]: each foot is carried, as it
/// is posed over the level plane, onto the plane that touches the ground below its middle (halfway
/// from the ankle to the first bone that hangs on it, else the ankle), and the hips come down by as
/// much as the leg that is short of its foothold needs. So a sole that was on the level plane is on
/// the ground, a foot in the air is as high above it, and one that stood still on the plane stands
/// still.
///
/// Nothing for bones that are not active, legs that are none or do not hang below the hips, and
/// ground that is not finite.
pub fn stand(rig: &Rig, pose: &mut Pose, stance: &Stance, ground: &GroundPatch, active: BoneCount) {
    let awake = active.min(rig.bone_count()).contains(stance.hips);
    let hangs = |leg: &Limb| hangs_below(rig, leg.root, stance.hips);
    if awake && weight(stance.alpha) > 0.0 && ground.is_finite() && stance.legs.iter().all(hangs) {
        by_class!(rig, stand_on(rig, pose, stance, ground, active));
    }
}

fn stand_on<F: Frame>(
    rig: &Rig,
    pose: &mut Pose,
    stance: &Stance,
    ground: &GroundPatch,
    active: BoneCount,
) {
    let Stance { hips, legs, alpha } = *stance;
    let [Some(left), Some(right)] = legs.map(|leg| Posed::<F>::of(rig, pose, leg, active)) else {
        return;
    };
    let posed = [left, right].map(|leg| (leg, leg.places()));
    let steps = posed.each_ref().map(|(leg, places)| {
        let foot = places.above_end.below(&leg.end);
        let toes = rig.skeleton().first_child(leg.bones.end).filter(|toes| active.contains(*toes));
        let toes = toes.map(|bone| foot.point(Joint::of::<F>(rig, pose, bone).translation));
        let joints = [places.root, places.mid, places.end].map(Vec3::from);
        step(joints, toes.map(Vec3::from), ground, weight(alpha))
    });
    let drop = steps.iter().map(|step| step.drop).fold(0.0, f32::min);
    let lowered = Vec3::Y * drop;
    if drop < 0.0 {
        translate_bone(rig, pose, hips, BoneSpace::Component, lowered, 1.0, active);
    }
    // The hips have taken the feet along.
    let grounds = steps.map(|Step { offset, normal, .. }| Ground {
        offset: offset - lowered,
        normal,
        alpha: 1.0,
    });
    let [left, right] =
        posed.map(|(leg, places)| (leg.shifted(lowered.into()), places.shifted(lowered.into())));
    plant(pose, &left.0, &left.1, &grounds[0]);
    let apart = legs[1].end != legs[0].root && !hangs_below(rig, legs[1].end, legs[0].root);
    if apart {
        plant(pose, &right.0, &right.1, &grounds[1]);
    } else {
        // No biped: the second leg hangs on the first, or is the same.
        follow::<F>(rig, pose, legs[1], &grounds[1], active);
    }
}

#[inline(always)]
fn step(
    [hip, knee, ankle]: [Vec3; 3],
    toes: Option<Vec3>,
    ground: &GroundPatch,
    alpha: f32,
) -> Step {
    let length = hip.distance(knee) + knee.distance(ankle);
    let height = ankle.y - ground.origin.y;
    let lifted = (height / length - LIFTED) / (2.0 * LIFTED);
    // Not-a-number, of a leg without length, counts as standing.
    let stands = alpha * (1.0 - lifted.max(0.0)).max(0.0);
    let middle = toes.map_or(ankle, |toes| ankle.midpoint(toes));
    let slope = stands * ground.slope_at(middle);
    let normal = Vec3::new(-slope.x, 1.0, -slope.y).normalize_or(Vec3::Y);
    let level = middle.with_y(ground.origin.y);
    let foothold = level + Vec3::Y * (alpha * ground.rise(middle));
    let target = foothold + arc(Vec3A::Y, normal.into()) * (ankle - level);

    let reach = hip.distance(ankle).max(STRETCH * length);
    let across = (hip - target) * Vec3::new(1.0, 0.0, 1.0);
    let down = (reach * reach - across.length_squared()).max(0.0).sqrt();
    let drop = (target.y + down - hip.y).min(0.0).max(-0.5 * length);
    Step { offset: target - ankle, normal, drop }
}
