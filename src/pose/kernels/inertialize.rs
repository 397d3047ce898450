//! Inertialization: the new pose at once, plus the difference to the old one, which dies away.
//!
//! D. Bollo, *Inertialization: High-Performance Animation Transitions in Gears of War*, GDC 2018.
//! Each channel's offset has a direction, a magnitude and a velocity at the seam, and falls to zero
//! along the quintic that ends at rest.

use super::enter;
use super::history::{BonePose, History, bone_pose, rotation_vector};
use super::quat::{normalized, product};
use super::seam::{Channel, Seam, Seams};
use crate::index::BoneCount;
use crate::math::Lanes;
use crate::pose::buffer::Rest;
use crate::pose::streams::{GROUP, LINE, blocks_for};
use crate::pose::{Pose, Rig};
use fearless_simd::prelude::*;
use fearless_simd::{Simd, f32x8};
use glam::{Quat, Vec3};

/// Captures the offsets between the history's newest pose and `source`, the pose to go to. With an
/// empty history there is none, and the transition snaps; with one pose there is no velocity.
pub fn capture(rig: &Rig, history: &mut History, source: &Pose, active: BoneCount) {
    history.capture(rig, active, |bone, newer, older| {
        let target = bone_pose(rig, source, bone);
        let older = older.as_ref();
        let turn = |p: &BonePose| p.rotation * target.rotation.conjugate();
        let vector = |value: fn(&BonePose) -> Vec3| {
            let offset = value(&newer) - value(&target);
            let before = older.map(|(p, dt)| (value(p) - value(&target), *dt));
            channel(offset, |along| before.map(|(b, dt)| (b.dot(along), dt)))
        };
        let shift = vector(|p| p.translation);
        let stretch = vector(|p| p.scale);
        let turn = channel(rotation_vector(turn(&newer)), |along| {
            older.map(|(p, dt)| (twist(turn(p), along), *dt))
        });
        Seam { turn, shift, stretch }
    });
}

/// Adds the captured offsets as they are `elapsed` seconds into a transition of `duration`
/// seconds; nothing once it is over, or where a number is not one.
pub fn apply(
    lanes: Lanes,
    rest: Rest<'_>,
    history: &History,
    pose: &mut Pose,
    active: BoneCount,
    elapsed: f32,
    duration: f32,
) {
    let running = elapsed >= 0.0 && elapsed < duration;
    if !running {
        return;
    }
    // An endless one times no velocity is no number.
    let at = At { t: elapsed, t1: duration.min(f32::MAX) };
    let seams = &history.seams;
    let active = active.min(seams.bones);
    enter!(lanes, scalar(rest, seams, pose, active, at), simd => {
        vector(simd, rest, seams, pose, active, at)
    });
}

/// `t` seconds into a transition of `t1`.
#[derive(Clone, Copy, Debug)]
struct At {
    t: f32,
    t1: f32,
}

fn scalar(rest: Rest<'_>, seams: &Seams, pose: &mut Pose, active: BoneCount, at: At) {
    let left = |c: Channel| quintic(c.x0, c.v0, at.t1, at.t);
    let blocks = blocks_for(active.get());
    for (to, turns) in pose.rotations[..blocks].iter_mut().zip(&seams.turns) {
        for lane in 0..LINE {
            let rotation = Quat::from_array(to.get(lane)).normalize();
            let turn = turns.get(lane);
            let turned = Quat::from_axis_angle(turn.direction, left(turn)) * rotation;
            to.set(lane, turned.to_array());
        }
    }
    seams.each_offset(rest, pose, active, |to, channels| {
        for lane in 0..GROUP {
            let channel = channels.get(lane);
            let value = Vec3::from_array(to.get(lane)) + channel.direction * left(channel);
            to.set(lane, value.to_array());
        }
    });
}

#[inline(always)]
fn vector<S: Simd>(
    simd: S,
    rest: Rest<'_>,
    seams: &Seams,
    pose: &mut Pose,
    active: BoneCount,
    at: At,
) {
    let blocks = blocks_for(active.get());
    for (to, turns) in pose.rotations[..blocks].iter_mut().zip(&seams.turns) {
        for lane in (0..LINE).step_by(S::f32s::LEN) {
            let turn = turns.rotations(simd, lane, |x0, v0| quintics(simd, x0, v0, at));
            let turned = product(turn, normalized(simd, to.load(simd, lane)));
            to.store::<S>(lane, turned);
        }
    }
    seams.each_offset(rest, pose, active, |to, channels| {
        let offset = channels.vectors(simd, |x0, v0| quintics(simd, x0, v0, at));
        for (to, offset) in to.0.iter_mut().zip(offset) {
            (f32x8::load_array_ref(simd, to) + offset).store_array(to);
        }
    });
}

/// An offset as direction, magnitude and velocity; `before` gives the magnitude that the pose
/// before had along the same direction, and how long ago.
fn channel(offset: Vec3, before: impl Fn(Vec3) -> Option<(f32, f32)>) -> Channel {
    let x0 = offset.length();
    if !(x0 > 1e-7 && x0.is_finite()) {
        return Channel::default();
    }
    let direction = offset / x0;
    let v0 = before(direction).map_or(0.0, |(x, dt)| (x0 - x) / dt);
    Channel { direction, x0, v0: if v0.is_finite() { v0 } else { 0.0 } }
}

/// The angle that `q` turns about an axis, in -pi..=pi.
fn twist(q: Quat, axis: Vec3) -> f32 {
    let angle = 2.0 * Vec3::new(q.x, q.y, q.z).dot(axis).atan2(q.w);
    let turn = std::f32::consts::TAU;
    angle - turn * (angle / turn).round()
}

/// The offset `t` seconds after it was `x0 >= 0` and changed by `v0` a second, at rest at `t1`.
///
/// A velocity away from the target counts as zero; one towards it that would overshoot shortens
/// the transition to `-5 * x0 / v0` (Bollo 2018).
pub fn quintic(x0: f32, v0: f32, t1: f32, t: f32) -> f32 {
    let v0 = v0.min(0.0);
    let t1 = if v0 < 0.0 { t1.min(-5.0 * x0 / v0) } else { t1 };
    let running = t < t1;
    if !running {
        return 0.0;
    }
    // In units of the duration, so that no power of it can vanish.
    let (s, v) = (t / t1, v0 * t1);
    let a0 = (-8.0 * v - 20.0 * x0).max(0.0);
    let a = -0.5 * (a0 + 6.0 * v + 12.0 * x0);
    let b = 0.5 * (3.0 * a0 + 16.0 * v + 30.0 * x0);
    let c = -0.5 * (3.0 * a0 + 12.0 * v + 20.0 * x0);
    ((((a * s + b) * s + c) * s + 0.5 * a0) * s + v) * s + x0
}

/// [`quintic`] in every lane.
#[inline(always)]
fn quintics<V: SimdFloat<S, Element = f32>, S: Simd>(simd: S, x0: V, v0: V, at: At) -> V {
    let splat = |x: f32| V::simd_from(simd, x);
    let (zero, t1) = (splat(0.0), splat(at.t1));
    let v0 = v0.min(zero);
    let t1 = v0.simd_lt(zero).select((x0 * -5.0 / v0).min(t1), t1);
    let (s, v) = (splat(at.t) / t1, v0 * t1);
    let a0 = (v * -8.0 - x0 * 20.0).max(zero);
    let a = (a0 + v * 6.0 + x0 * 12.0) * -0.5;
    let b = (a0 * 3.0 + v * 16.0 + x0 * 30.0) * 0.5;
    let c = (a0 * 3.0 + v * 12.0 + x0 * 20.0) * -0.5;
    let x = a.mul_add(s, b).mul_add(s, c).mul_add(s, a0 * 0.5).mul_add(s, v).mul_add(s, x0);
    splat(at.t).simd_lt(t1).select(x, zero)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_offset_starts_where_it_was_and_ends_at_rest() {
        for (x0, v0) in [(1.0, 0.0), (1.0, -0.5), (0.3, -9.0), (2.0, 4.0)] {
            let at = |t: f32| quintic(x0, v0, 0.4, t);
            assert!((at(0.0) - x0).abs() < 1e-6);
            assert_eq!(at(0.4), 0.0);
            assert!(at(0.399).abs() < 1e-4, "{x0} {v0}: {}", at(0.399));
            let slope = (at(1e-3) - at(0.0)) / 1e-3;
            assert!((slope - v0.min(0.0)).abs() < 0.1 * v0.abs() + 0.1 * x0, "{slope} {v0}");
            assert!((0..40).all(|i| at(i as f32 * 0.01) >= -1e-5), "no overshoot");
        }
    }

    #[test]
    fn nothing_is_added_without_an_offset_or_a_duration() {
        assert_eq!(quintic(0.0, -1.0, 0.4, 0.1), 0.0);
        assert_eq!(quintic(1.0, 0.0, 0.0, 0.0), 0.0);
        assert_eq!(quintic(1.0, 0.0, f32::NAN, 0.1), 0.0);
    }
}
