//! Two bones and what hangs on them: arms and legs.
//!
//! The middle joint's place follows from the law of cosines; a reach that nears the limb's length
//! can be softened (exponential approach, as in A. Nicholas, *Inverse Kinematics: Soft IK*, 2009),
//! so that the joint does not snap straight.

use super::frame::{Between, Frame, Joint};
use super::{NO_LENGTH, arc, by_class, fade};
use crate::index::{BoneCount, BoneIndex};
use crate::pose::kernels::weight;
use crate::pose::{Pose, Rig};
use glam::{Vec3, Vec3A};

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
    by_class!(rig, reach_for(rig, pose, limb, reach, active));
}

fn reach_for<F: Frame>(rig: &Rig, pose: &mut Pose, bones: Limb, reach: &Reach, active: BoneCount) {
    if weight(reach.alpha) == 0.0 {
        return;
    }
    let Some(mut limb) = Posed::<F>::of(rig, pose, bones, active) else { return };
    let places = limb.places();
    if limb.solve(&places, reach) {
        limb.store(pose);
    }
}

/// A limb of a pose: its three bones, what they hang on and what lies between them.
#[derive(Clone, Copy)]
pub(super) struct Posed<F> {
    pub(super) bones: Limb,
    above: F,
    root: Joint,
    upper: Between<F>,
    mid: Joint,
    lower: Between<F>,
    pub(super) end: Joint,
}

/// Where a limb is in the model: its joints, and the frames that its middle and its end hang on.
#[derive(Clone, Copy)]
pub(super) struct Places<F> {
    pub(super) root: Vec3A,
    pub(super) mid: Vec3A,
    pub(super) end: Vec3A,
    above_mid: F,
    pub(super) above_end: F,
}

impl<F: Frame> Places<F> {
    /// The places after something above the limb was moved in the model.
    #[inline(always)]
    pub(super) fn shifted(&self, by: Vec3A) -> Self {
        Self {
            root: self.root + by,
            mid: self.mid + by,
            end: self.end + by,
            above_mid: self.above_mid.shifted(by),
            above_end: self.above_end.shifted(by),
        }
    }
}

impl<F: Frame> Posed<F> {
    /// The limb after something above it was moved in the model.
    #[inline(always)]
    pub(super) fn shifted(&self, by: Vec3A) -> Self {
        Self { above: self.above.shifted(by), ..*self }
    }

    /// `None` for bones that are not active or do not hang on one another.
    #[inline(always)]
    pub(super) fn of(rig: &Rig, pose: &Pose, bones: Limb, active: BoneCount) -> Option<Self> {
        let Limb { root, mid, end } = bones;
        let active = active.min(rig.bone_count());
        if ![root, mid, end].into_iter().all(|bone| active.contains(bone)) {
            return None;
        }
        Some(Self {
            bones,
            upper: Between::of(rig, pose, mid, root)?,
            lower: Between::of(rig, pose, end, mid)?,
            above: F::above(rig, pose, root),
            root: Joint::of::<F>(rig, pose, root),
            mid: Joint::of::<F>(rig, pose, mid),
            end: Joint::of::<F>(rig, pose, end),
        })
    }

    #[inline(always)]
    fn above_mid(&self) -> F {
        self.upper.below(self.above.below(&self.root))
    }

    #[inline(always)]
    fn above_end(&self, above_mid: &F) -> F {
        self.lower.below(above_mid.below(&self.mid))
    }

    #[inline(always)]
    pub(super) fn places(&self) -> Places<F> {
        let above_mid = self.above_mid();
        let above_end = self.above_end(&above_mid);
        Places {
            root: self.above.point(self.root.translation),
            mid: above_mid.point(self.mid.translation),
            end: above_end.point(self.end.translation),
            above_mid,
            above_end,
        }
    }

    /// Turns root and middle; false when nothing was done.
    #[inline(always)]
    pub(super) fn solve(&mut self, places: &Places<F>, reach: &Reach) -> bool {
        let Places { root: a, mid: b, end: c, .. } = *places;
        let Some((knee, tip)) = solve(a, b, c, reach) else { return false };
        let alpha = weight(reach.alpha);
        let (root, mid) = (self.root.rotation, self.mid.rotation);
        let turn = arc(b - a, knee - a);
        self.root.rotation = self.above.turned(root, turn);

        let above_mid = places.above_mid.swung(turn, a, || self.above_mid());
        let above_end = places.above_end.swung(turn, a, || self.above_end(&above_mid));
        let b = above_mid.point(self.mid.translation);
        let c = above_end.point(self.end.translation);
        let solved = above_mid.turned(mid, arc(c - b, tip - b));
        self.root.rotation = fade(root, self.root.rotation, alpha);
        self.mid.rotation = fade(mid, solved, alpha);
        true
    }

    /// The frame that the end hangs on, after the limb was solved.
    #[inline(always)]
    pub(super) fn solved_above_end(&self) -> F {
        self.above_end(&self.above_mid())
    }

    #[inline(always)]
    pub(super) fn store(&self, pose: &mut Pose) {
        pose.set_rotation(self.bones.root, self.root.rotation.to_array());
        pose.set_rotation(self.bones.mid, self.mid.rotation.to_array());
    }
}

/// Where the middle joint and the end go.
#[inline(always)]
fn solve(a: Vec3A, b: Vec3A, c: Vec3A, reach: &Reach) -> Option<(Vec3A, Vec3A)> {
    if !reach.target.is_finite() {
        return None;
    }
    let target = Vec3A::from(reach.target);
    let (upper, lower) = (a.distance(b), b.distance(c));
    let length = upper + lower;
    if upper < NO_LENGTH || lower < NO_LENGTH || !length.is_finite() {
        return None;
    }
    // A target on the root has no direction of its own: the limb folds where it points.
    let along = (target - a).try_normalize().or((c - a).try_normalize())?;
    let wanted = softened(a.distance(target), length, weight(reach.soften));
    let distance = wanted.clamp((upper - lower).abs(), length);

    let across = |v: Vec3A| {
        let v = v - along * v.dot(along);
        if v.length() > 1e-4 * length { v.try_normalize() } else { None }
    };
    let pole = if reach.pole.is_finite() { across(Vec3A::from(reach.pole) - a) } else { None };
    let bend = pole.or(across(b - a)).unwrap_or_else(|| any_across(along));
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

#[cold]
fn any_across(along: Vec3A) -> Vec3A {
    along.any_orthonormal_vector()
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
