//! Transitions in double precision, in the bones' own local space.

use crate::pose::kernels::dead_blend::HALF_LIFE;
use crate::pose::testing::DTrs;
use crate::task::Transition;
use glam::{DQuat, DVec3};

/// What a transition remembers.
#[derive(Clone, Default)]
pub(super) struct History {
    newer: Vec<DTrs>,
    older: Vec<DTrs>,
    frames: usize,
    dt: f64,
    /// Of the newer and the older.
    cuts: [usize; 2],
    seams: Vec<Seam>,
}

/// One bone where a transition set out from: the newest pose, and the one `dt` before it.
#[derive(Clone)]
struct Seam {
    /// The pose to go to when the transition began.
    target: DTrs,
    newer: DTrs,
    older: Option<(DTrs, f64)>,
}

impl History {
    fn capture(&mut self, target: &[DTrs], active: usize) {
        let known = match self.frames {
            0 => 0,
            1 => active.min(self.cuts[0]),
            _ => active.min(self.cuts[0]).min(self.cuts[1]),
        };
        let seam = |bone: usize| Seam {
            target: target[bone],
            newer: self.newer[bone],
            older: (self.frames > 1).then(|| (self.older[bone], self.dt)),
        };
        self.seams = (0..known).map(seam).collect();
    }

    fn remember(&mut self, pose: &[DTrs], active: usize, dt: f32) {
        self.older = std::mem::replace(&mut self.newer, pose.to_vec());
        self.cuts = [active, self.cuts[0]];
        self.dt = f64::from(dt);
        self.frames = if self.frames > 0 && dt > 0.0 { 2 } else { 1 };
    }
}

/// Bollo 2018: each channel's offset dies along a quintic.
pub(super) fn inertialize(h: &mut History, pose: &mut [DTrs], t: &Transition, active: usize) {
    if t.capture {
        h.capture(pose, active);
    }
    let (elapsed, duration) = (f64::from(t.elapsed), f64::from(t.duration));
    if elapsed >= 0.0 && elapsed < duration {
        for (bone, seam) in pose[..active].iter_mut().zip(&h.seams) {
            let Seam { target, newer, older } = seam;
            let target_turn = target.rotation.normalize();
            let turn = |p: &DTrs| p.rotation.normalize() * target_turn.conjugate();
            let turned = decayed(
                rotation_vector(turn(newer)),
                |along| older.as_ref().map(|(p, dt)| (twist(turn(p), along), *dt)),
                (elapsed, duration),
            );
            let linear = |value: fn(&DTrs) -> DVec3| {
                let before = |along: DVec3| {
                    let of = |p: &DTrs| (value(p) - value(target)).dot(along);
                    older.as_ref().map(|(p, dt)| (of(p), *dt))
                };
                decayed(value(newer) - value(target), before, (elapsed, duration))
            };
            bone.rotation = DQuat::from_scaled_axis(turned) * bone.rotation.normalize();
            bone.translation += linear(|p| p.translation);
            bone.scale += linear(|p| p.scale);
        }
    }
    h.remember(pose, active, t.dt);
}

/// What is left of an offset `t` seconds into a transition of `t1`; `before` is its size along the
/// same direction earlier, and how much earlier.
fn decayed(
    offset: DVec3,
    before: impl Fn(DVec3) -> Option<(f64, f64)>,
    (t, t1): (f64, f64),
) -> DVec3 {
    let x0 = offset.length();
    if x0 < 1e-7 {
        return DVec3::ZERO;
    }
    let direction = offset / x0;
    let v0 = before(direction).map_or(0.0, |(x, dt)| (x0 - x) / dt).min(0.0);
    let t1 = if v0 < 0.0 { t1.min(-5.0 * x0 / v0) } else { t1 };
    if t >= t1 {
        return DVec3::ZERO;
    }
    let a0 = ((-8.0 * v0 * t1 - 20.0 * x0) / t1.powi(2)).max(0.0);
    let a = -(a0 * t1.powi(2) + 6.0 * v0 * t1 + 12.0 * x0) / (2.0 * t1.powi(5));
    let b = (3.0 * a0 * t1.powi(2) + 16.0 * v0 * t1 + 30.0 * x0) / (2.0 * t1.powi(4));
    let c = -(3.0 * a0 * t1.powi(2) + 12.0 * v0 * t1 + 20.0 * x0) / (2.0 * t1.powi(3));
    let x = a * t.powi(5) + b * t.powi(4) + c * t.powi(3) + 0.5 * a0 * t.powi(2) + v0 * t + x0;
    direction * x
}

/// Holden 2023: the old pose goes on with a velocity that halves every half-life.
pub(super) fn dead_blend(h: &mut History, pose: &mut [DTrs], t: &Transition, active: usize) {
    if t.capture {
        h.capture(pose, active);
    }
    let (elapsed, duration) = (f64::from(t.elapsed), f64::from(t.duration));
    if elapsed >= 0.0 && elapsed < duration {
        let rate = std::f64::consts::LN_2 / f64::from(HALF_LIFE);
        let seconds = (1.0 - (-rate * elapsed).exp()) / rate;
        let s = elapsed / duration;
        let weight = 3.0 * s.powi(2) - 2.0 * s.powi(3);
        for (bone, Seam { newer, older, .. }) in pose[..active].iter_mut().zip(&h.seams) {
            let from = newer.rotation.normalize();
            let (mut turn, mut shift, mut stretch) = (DVec3::ZERO, DVec3::ZERO, DVec3::ZERO);
            if let Some((older, dt)) = older {
                turn = rotation_vector(from * older.rotation.normalize().conjugate()) / *dt;
                shift = (newer.translation - older.translation) / *dt;
                stretch = (newer.scale - older.scale) / *dt;
            }
            let turned = DQuat::from_scaled_axis(turn * seconds) * from;
            let to = bone.rotation.normalize();
            let to = if turned.dot(to) < 0.0 { -to } else { to };
            bone.rotation = (turned * (1.0 - weight) + to * weight).normalize();
            let moved = newer.translation + shift * seconds;
            bone.translation = moved.lerp(bone.translation, weight);
            bone.scale = (newer.scale + stretch * seconds).lerp(bone.scale, weight);
        }
    }
    h.remember(pose, active, t.dt);
}

fn rotation_vector(q: DQuat) -> DVec3 {
    (if q.w < 0.0 { -q } else { q }).to_scaled_axis()
}

fn twist(q: DQuat, axis: DVec3) -> f64 {
    let angle = 2.0 * q.xyz().dot(axis).atan2(q.w);
    let turn = std::f64::consts::TAU;
    angle - turn * (angle / turn).round()
}
