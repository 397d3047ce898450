//! Dead blending: the old pose goes on by itself for a while, and fades into the new one.
//!
//! D. Holden, *Dead Blending*, 2023: extrapolate from the seam with a velocity that decays
//! exponentially, and blend to the target over the duration.

use super::blend::{Part, each_group};
use super::enter;
use super::history::{History, rotation_vector};
use super::quat::{nlerp, normalized, product};
use super::seam::{Channel, ChannelGroup, Seam, Seams};
use crate::index::BoneCount;
use crate::math::Lanes;
use crate::pose::buffer::Rest;
use crate::pose::streams::{GROUP, LINE, Line, blocks_for};
use crate::pose::{Pose, Rig};
use fearless_simd::prelude::*;
use fearless_simd::{Simd, f32x8};
use glam::{Quat, Vec3};

/// Seconds in which the extrapolated velocity halves.
pub const HALF_LIFE: f32 = 0.1;

/// Captures the history's newest pose and its velocities. With an empty history the transition
/// snaps; with one pose it stands still and fades.
pub fn capture(rig: &Rig, history: &mut History, active: BoneCount) {
    history.capture(rig, active, |_, newer, older| {
        let rate = |change: Vec3, dt: f32| {
            let v0 = change.length() / dt;
            let usable = v0 > 1e-9 && v0.is_finite();
            let direction = if usable { change.normalize_or_zero() } else { Vec3::ZERO };
            Channel { direction, x0: 0.0, v0: if usable { v0 } else { 0.0 } }
        };
        older.map_or(Seam::default(), |(older, dt)| Seam {
            turn: rate(rotation_vector(newer.rotation * older.rotation.conjugate()), dt),
            shift: rate(newer.translation - older.translation, dt),
            stretch: rate(newer.scale - older.scale, dt),
        })
    });
    history.keep_pose(rig);
}

/// Blends from the extrapolated seam to `pose`, `elapsed` seconds into a transition of `duration`
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
    let seams = &history.seams;
    let active = active.min(seams.posed);
    let running = elapsed >= 0.0 && elapsed < duration;
    if !running || active.get() == 0 {
        return;
    }
    let s = elapsed / duration;
    // The integral of a velocity that halves every half-life.
    let rate = std::f32::consts::LN_2 / HALF_LIFE;
    let at = At {
        reach: (1.0 - (-rate * elapsed).exp()) / rate,
        weight: s * s * (3.0 - 2.0 * s),
        end: active.get(),
    };
    enter!(lanes, scalar(rest, seams, pose, active, at), simd => {
        vector(simd, rest, seams, pose, active, at)
    });
    pose.moved.insert_all(&seams.pose.moved);
    pose.scaled.insert_all(&seams.pose.scaled);
}

/// How far a transition is.
#[derive(Clone, Copy, Debug)]
struct At {
    /// Seconds that the velocity at the seam would have needed to get as far.
    reach: f32,
    /// Weight of the target.
    weight: f32,
    /// Bones that have a seam; the others are at the target already.
    end: usize,
}

impl At {
    /// The weights of `N` bones from `first` on.
    #[inline(always)]
    fn weights<const N: usize>(self, first: usize) -> [f32; N] {
        std::array::from_fn(|lane| if first + lane < self.end { self.weight } else { 1.0 })
    }
}

/// The velocities of a group of translations or scales.
#[inline(always)]
fn velocities(seams: &Seams, (part, group): (Part, usize)) -> &ChannelGroup {
    match part {
        Part::Translation => &seams.shifts[group],
        Part::Scale => &seams.stretches[group],
    }
}

fn scalar(rest: Rest<'_>, seams: &Seams, pose: &mut Pose, active: BoneCount, at: At) {
    let moved = |c: Channel| c.v0 * at.reach;
    let blocks = blocks_for(active.get());
    let from = seams.pose.rotations.iter().zip(&seams.turns);
    for (block, (to, (from, turns))) in pose.rotations[..blocks].iter_mut().zip(from).enumerate() {
        let weights: [f32; LINE] = at.weights(block * LINE);
        for (lane, weight) in weights.into_iter().enumerate() {
            let turn = turns.get(lane);
            let turn = Quat::from_axis_angle(turn.direction, moved(turn));
            let from = turn * Quat::from_array(from.get(lane));
            let target = Quat::from_array(to.get(lane)).normalize();
            to.set(lane, from.lerp(target, weight).to_array());
        }
    }
    each_group(rest, pose, &seams.pose, active, |place, to, target, from| {
        let weights: [f32; GROUP] = at.weights(place.1 * GROUP);
        let velocities = velocities(seams, place);
        for (lane, weight) in weights.into_iter().enumerate() {
            let velocity = velocities.get(lane);
            let from = Vec3::from_array(from.get(lane)) + velocity.direction * moved(velocity);
            let target = Vec3::from_array(target.get(lane));
            to.set(lane, from.lerp(target, weight).to_array());
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
    let from = seams.pose.rotations.iter().zip(&seams.turns);
    for (block, (to, (from, turns))) in pose.rotations[..blocks].iter_mut().zip(from).enumerate() {
        let weights = Line(at.weights(block * LINE));
        for lane in (0..LINE).step_by(S::f32s::LEN) {
            let turn = turns.rotations(simd, lane, |_, v0| v0 * at.reach);
            let from = product(turn, from.load(simd, lane));
            let target = normalized(simd, to.load(simd, lane));
            let weight = S::f32s::from_slice(simd, &weights.0[lane..lane + S::f32s::LEN]);
            to.store::<S>(lane, nlerp(simd, from, target, weight));
        }
    }
    each_group(rest, pose, &seams.pose, active, |place, to, target, from| {
        let near = f32x8::simd_from(simd, at.weights(place.1 * GROUP));
        let far = f32x8::splat(simd, 1.0) - near;
        let moved = velocities(seams, place).vectors(simd, |_, v0| v0 * at.reach);
        for (((to, target), from), moved) in to.0.iter_mut().zip(&target.0).zip(&from.0).zip(moved)
        {
            let from = f32x8::load_array_ref(simd, from) + moved;
            let target = f32x8::load_array_ref(simd, target);
            target.mul_add(near, from * far).store_array(to);
        }
    });
}
