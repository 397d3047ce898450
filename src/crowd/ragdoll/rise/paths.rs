//! The ways of hips, feet and hands, and what bends knees and elbows.

use super::curve::{Curve, STEPS, between, smooth};
use super::{GATHERS, Path, Sole, gathered, straight};
use crate::math::Trs;
use crate::pose::kernels::ik::two_bone::Limb;
use glam::{Affine3A, Quat, Vec3};

/// When hands are put down, and when they are taken away.
const LEANS_ON: (f32, f32) = (0.04, 0.4);
const LETS_GO: (f32, f32) = (0.44, 0.8);
/// Who faces up by more than the first sits up before the hips leave the ground, the more the nearer to
/// the second; and when they leave it then.
const SITS_UP: (f32, f32) = (-0.2, 0.5);
const LATE: (f32, f32) = (0.2, 0.6);
/// The shares in which knees turn to where they are drawn up.
const TUCKS: (f32, f32) = (0.0, 0.2);
/// Radians that a knee or an elbow turns in a step at most, about the line that its limb ends on.
const MOST_TURN: f32 = 0.25;
/// How near to its root a limb's end comes on the way, of the limb's length: nearer, it would turn
/// about it in no time.
const NEAREST: f32 = 0.36;
/// How far a knee has to stick out to say which way it bends, of the thigh's length.
const STICKS_OUT: f32 = 0.04;
/// How often a hand's way is averaged over three steps.
const CALMED: usize = 3;
/// The share until which legs may be as folded as they lie.
const UNFOLDS: f32 = 0.3;

impl Sole {
    /// Of a foot that lies and stands in some way.
    pub fn new(ends: [&Affine3A; 2], lands: (f32, f32)) -> Self {
        let [lies, Trs { rotation, scale, .. }] = ends.map(Trs::from_affine);
        Self { rotations: [lies.rotation, rotation], scale, lands }
    }
}

/// The share of getting up that a step is at.
pub fn share_of(step: usize) -> f32 {
    step as f32 / STEPS as f32
}

/// The way of an arm's end: with the arm, but for leaning on the ground for a while; around the
/// shoulder rather than by it, and without haste.
pub fn leaning(joints: &[[Vec3; 3]], hand: Vec3) -> Curve {
    let from_shoulder = |(step, [shoulder, elbow, end]): (usize, &[Vec3; 3])| {
        let share = share_of(step);
        let leans = between(LEANS_ON, share) * (1.0 - between(LETS_GO, share));
        let length = shoulder.distance(*elbow) + elbow.distance(*end);
        let least = NEAREST * length * (3.0 * leans).min(1.0);
        let away = end.lerp(hand, leans) - shoulder;
        away.normalize_or(Vec3::NEG_Y) * away.length().max(least)
    };
    let mut away: Vec<Vec3> = joints.iter().enumerate().map(from_shoulder).collect();
    for _ in 0..CALMED {
        let was = away.clone();
        for (at, three) in away.iter_mut().skip(1).zip(was.windows(3)) {
            *at = (three[0] + three[1] * 2.0 + three[2]) / 4.0;
        }
    }
    Curve(joints.iter().zip(away).map(|([shoulder, ..], away)| *shoulder + away).collect())
}

/// How far hips have to be raised at each step for no leg to be folded up tighter than it can be
/// unfolded in time, that goes to some ends.
pub fn too_short(joints: &[Vec<[Vec3; 3]>], ends: &[Curve]) -> Vec<f32> {
    let mut short = vec![0.0f32; STEPS + 1];
    for (joints, ends) in joints.iter().zip(ends) {
        for (step, ([root, mid, tip], end)) in joints.iter().zip(&ends.0).enumerate() {
            let length = root.distance(*mid) + mid.distance(*tip);
            let least = NEAREST * length * smooth(share_of(step) / UNFOLDS);
            let across = (*root - *end).with_y(0.0).length_squared();
            let up = (least * least - across).max(0.0).sqrt();
            short[step] = short[step].max(end.y + up - root.y);
        }
    }
    short
}

/// A limb's way to some ends, as far as it reaches, with its middle joint bent as is `wanted` at a step
/// with its joints: about the line from its root to its end it turns by no more than so much a step, so
/// that no knee is ever thrown over.
pub fn driven(
    limb: Limb,
    joints: &[[Vec3; 3]],
    mut ends: Curve,
    wanted: impl Fn(usize, &[Vec3; 3]) -> Vec3,
) -> Path {
    let mut bends: Vec<Vec3> = Vec::with_capacity(joints.len());
    for (step, (at, end)) in joints.iter().zip(&mut ends.0).enumerate() {
        let [root, mid, tip] = *at;
        let length = root.distance(mid) + mid.distance(tip);
        *end = root + (*end - root).clamp_length_max(length);
        let along = (*end - root).normalize_or(Vec3::NEG_Y);
        let across = |v: Vec3| {
            let flat = v.reject_from_normalized(along);
            (flat.length() > 0.02 * v.length()).then(|| flat.normalize())
        };
        let wanted = across(wanted(step, at));
        let before = bends.last().and_then(|bend| across(*bend));
        let bend = match (before, wanted) {
            (Some(before), Some(wanted)) => {
                let angle = before.cross(wanted).dot(along).atan2(before.dot(wanted));
                Quat::from_axis_angle(along, angle.clamp(-MOST_TURN, MOST_TURN)) * before
            }
            (some, other) => some.or(other).unwrap_or_else(|| along.any_orthonormal_vector()),
        };
        bends.push(bend);
    }
    Path { limb, ends, bends: Curve(bends), sole: None }
}

/// A direction between those of lying, drawing up, crouching and standing.
pub fn way([lies, tucked, crouches, stands]: [Vec3; 4], share: f32) -> Vec3 {
    let tucked = lies.lerp(tucked, between(TUCKS, share));
    let gathered = tucked.lerp(crouches, between((TUCKS.1, GATHERS.1), share));
    gathered.lerp(stands, straight(share))
}

/// What keeps the hips where they lie until the trunk has come up above them: for somebody who faces up
/// by so much, from 1 to -1, and whose hips go some way to where it crouches.
pub fn sits(faces_up: f32, way: Vec3) -> Curve {
    let sits = smooth((faces_up - SITS_UP.0) / (SITS_UP.1 - SITS_UP.0));
    let at = |step: usize| {
        let share = share_of(step);
        let late = between(LATE, share) - gathered(share);
        way * (sits * late * (1.0 - straight(share)))
    };
    Curve((0..=STEPS).map(at).collect())
}

/// The way that a knee sticks out of its leg; where it hardly does, another one.
pub fn bent([hip, knee, ankle]: &[Vec3; 3], or: Vec3) -> Vec3 {
    let along = (*ankle - hip).normalize_or(Vec3::NEG_Y);
    let out = (*knee - hip).reject_from_normalized(along);
    if out.length() > STICKS_OUT * hip.distance(*knee) { out.normalize() } else { or }
}

/// The way that the knee is drawn up which lies that way: over the ground, and outward where it would
/// be below.
pub fn tucked(lies: Vec3, aside: Vec3) -> Vec3 {
    let outward = aside.with_y(0.0).normalize_or_zero();
    let below = (-lies.y).max(0.0);
    (lies.with_y(lies.y.max(0.0)) + outward * below + Vec3::Y * 0.3).normalize_or(Vec3::Y)
}

/// Raises a curve by as much as is asked for at a step, and less and less in so many before and after
/// it; neither of its ends.
pub fn raise(curve: &mut Curve, by: &[f32], ease: usize) {
    for (step, at) in curve.0.iter_mut().enumerate() {
        let near = |(other, by): (usize, &f32)| {
            smooth(1.0 - step.abs_diff(other) as f32 / ease as f32) * by.max(0.0)
        };
        let most = by.iter().enumerate().map(near).fold(0.0, f32::max);
        at.y += most * smooth(step.min(STEPS - step) as f32 / 2.0);
    }
}
