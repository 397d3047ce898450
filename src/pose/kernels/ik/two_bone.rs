//! Two bones and what hangs on them: arms and legs.
//!
//! The middle joint's place follows from the law of cosines; a reach that nears the limb's length
//! can be softened (exponential approach, as in A. Nicholas, *Inverse Kinematics: Soft IK*, 2009),
//! so that the joint does not snap straight.

use super::{NO_LENGTH, arc, fade, is_below, model_between, turn_in_model};
use crate::index::{BoneCount, BoneIndex};
use crate::pose::kernels::weight;
use crate::pose::{Pose, Rig};
use glam::Vec3;

/// The bones of a limb: `end` hangs on `mid`, `mid` on `root`, other bones may lie between.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limb {
    /// Upper bone.
    pub root: BoneIndex,
    /// Lower bone.
    pub mid: BoneIndex,
    /// What is to get to the target.
    pub end: BoneIndex,
}

/// Where a limb is to go.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reach {
    /// For the end's joint, model space.
    pub target: Vec3,
    /// The middle joint bends towards this point (model space); not-a-number keeps its bend.
    pub pole: Vec3,
    /// Part of the limb's length, in 0..=1, over which its reach is softened; 0 is hard.
    pub soften: f32,
    /// How much of the solution is taken, 0..=1.
    pub alpha: f32,
}

/// Turns root and middle so that the end's joint gets to the target, or as near as the limb
/// reaches. Nothing for bones that are not active or do not hang on one another, limbs without
/// length, and targets that are not finite.
pub fn two_bone(rig: &Rig, pose: &mut Pose, limb: Limb, reach: &Reach, active: BoneCount) {
    let Limb { root, mid, end } = limb;
    let chain = is_below(rig, end, mid) && is_below(rig, mid, root) && end != mid && mid != root;
    let awake = [root, mid, end].into_iter().all(|b| active.contains(b));
    let alpha = weight(reach.alpha);
    if !chain || !awake || !reach.target.is_finite() || alpha == 0.0 {
        return;
    }
    let before = [root, mid].map(|b| rig.local(pose, b).rotation);
    let above = rig.model_from_parent(pose, root);
    let place =
        |pose: &Pose, bone| Vec3::from(model_between(rig, pose, bone, root, &above).translation);
    let (a, b, c) = (place(pose, root), place(pose, mid), place(pose, end));
    let Some((knee, tip)) = solve(a, b, c, reach) else { return };

    turn_in_model(rig, pose, root, &above, arc(b - a, knee - a));
    let (b, c) = (place(pose, mid), place(pose, end));
    let parent = rig.model_from_parent(pose, mid);
    turn_in_model(rig, pose, mid, &parent, arc(c - b, tip - b));
    for (bone, before) in [root, mid].into_iter().zip(before) {
        fade(rig, pose, bone, before, alpha);
    }
}

/// Where the middle joint and the end go.
fn solve(a: Vec3, b: Vec3, c: Vec3, reach: &Reach) -> Option<(Vec3, Vec3)> {
    let (upper, lower) = (a.distance(b), b.distance(c));
    let length = upper + lower;
    if upper < NO_LENGTH || lower < NO_LENGTH || !length.is_finite() {
        return None;
    }
    // A target on the root has no direction of its own: the limb folds where it points.
    let along = (reach.target - a).try_normalize().or((c - a).try_normalize())?;
    let wanted = softened(a.distance(reach.target), length, weight(reach.soften));
    let distance = wanted.clamp((upper - lower).abs(), length);

    let across = |v: Vec3| {
        let v = v - along * v.dot(along);
        if v.length() > 1e-4 * length { v.try_normalize() } else { None }
    };
    let pole = if reach.pole.is_finite() { across(reach.pole - a) } else { None };
    let bend = pole.or(across(b - a)).unwrap_or_else(|| along.any_orthonormal_vector());
    let x = if distance < NO_LENGTH {
        0.0
    } else {
        (upper * upper - lower * lower + distance * distance) / (2.0 * distance)
    };
    let x = x.clamp(-upper, upper);
    // Heron's formula in Kahan's form: nothing for a limb that is straight or folded, where the root
    // of a difference of squares would leave half of the digits as a bend.
    let (apart, difference) = (length - distance, upper - lower);
    let sides = (length + distance) * apart * (distance - difference) * (distance + difference);
    let height = match distance < NO_LENGTH {
        true => upper,
        false => sides.max(0.0).sqrt() / (2.0 * distance),
    };
    Some((a + along * x + bend * height, a + along * distance))
}

/// The distance that is reached for: beyond the softened part it nears the length exponentially.
fn softened(distance: f32, length: f32, soften: f32) -> f32 {
    let part = length * soften;
    let hard = length - part;
    if part <= 0.0 || distance <= hard {
        return distance;
    }
    hard + part * (1.0 - (-(distance - hard) / part).exp())
}
