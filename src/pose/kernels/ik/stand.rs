//! Standing on ground that is not level: two feet, and the hips above them.

use super::foot::{Ground, foot_ik};
use super::two_bone::Limb;
use super::{arc, is_below, joint};
use crate::index::{BoneCount, BoneIndex};
use crate::pose::kernels::bone::{BoneSpace, translate_bone};
use crate::pose::kernels::weight;
use crate::pose::{GroundPatch, Pose, Rig};
use glam::Vec3;

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
/// much as the leg that is short of its foothold needs. So a sole that was on
/// the level plane is on the ground, a foot in the air is as high above it, and one that stood
/// still on the plane stands still.
///
/// Nothing for bones that are not active, legs that do not hang below the hips, and ground that is
/// not finite.
pub fn stand(rig: &Rig, pose: &mut Pose, stance: &Stance, ground: &GroundPatch, active: BoneCount) {
    let Stance { hips, legs, alpha } = *stance;
    let alpha = weight(alpha);
    let awake = |leg: &Limb| {
        [hips, leg.root, leg.mid, leg.end].into_iter().all(|bone| active.contains(bone))
    };
    let hangs = |leg: &Limb| leg.root != hips && is_below(rig, leg.root, hips);
    if alpha == 0.0 || !ground.is_finite() || !legs.iter().all(|leg| awake(leg) && hangs(leg)) {
        return;
    }
    let steps = legs.map(|leg| step(rig, pose, leg, ground, alpha, active));
    let drop = steps.iter().map(|step| step.drop).fold(0.0, f32::min);
    if drop < 0.0 {
        translate_bone(rig, pose, hips, BoneSpace::Component, Vec3::Y * drop, 1.0, active);
    }
    for (leg, Step { offset, normal, .. }) in legs.into_iter().zip(steps) {
        // The hips have taken the foot along.
        let offset = offset - Vec3::Y * drop;
        foot_ik(rig, pose, leg, &Ground { offset, normal, alpha: 1.0 }, active);
    }
}

fn step(
    rig: &Rig,
    pose: &Pose,
    leg: Limb,
    ground: &GroundPatch,
    alpha: f32,
    active: BoneCount,
) -> Step {
    let place = |bone| joint(rig, pose, bone, &rig.model_from_parent(pose, bone));
    let [hip, knee, ankle] = [leg.root, leg.mid, leg.end].map(place);
    let length = hip.distance(knee) + knee.distance(ankle);
    let height = ankle.y - ground.origin.y;
    let lifted = (height / length - LIFTED) / (2.0 * LIFTED);
    // Not-a-number, of a leg without length, counts as standing.
    let stands = alpha * (1.0 - lifted.max(0.0)).max(0.0);
    let middle = toes(rig, leg.end)
        .filter(|toes| active.contains(*toes))
        .map_or(ankle, |toes| ankle.midpoint(place(toes)));
    let slope = stands * ground.slope_at(middle);
    let normal = Vec3::new(-slope.x, 1.0, -slope.y).normalize_or(Vec3::Y);
    let level = middle.with_y(ground.origin.y);
    let foothold = level + Vec3::Y * (alpha * ground.rise(middle));
    let target = foothold + arc(Vec3::Y, normal) * (ankle - level);

    let reach = hip.distance(ankle).max(STRETCH * length);
    let across = (hip - target) * Vec3::new(1.0, 0.0, 1.0);
    let down = (reach * reach - across.length_squared()).max(0.0).sqrt();
    let drop = (target.y + down - hip.y).min(0.0).max(-0.5 * length);
    Step { offset: target - ankle, normal, drop }
}

/// The first bone that hangs on a foot.
fn toes(rig: &Rig, foot: BoneIndex) -> Option<BoneIndex> {
    let after = foot.get() + 1;
    let parents = rig.skeleton().parents().get(after..)?;
    let child = parents.iter().position(|parent| *parent == Some(foot))?;
    BoneIndex::try_from(after + child).ok()
}
