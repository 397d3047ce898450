//! Inertialization: the new pose at once, plus the difference to the old one, which dies away.
//!
//! D. Bollo, *Inertialization: High-Performance Animation Transitions in Gears of War*, GDC 2018.
//! Each channel's offset has a direction, a magnitude and a velocity at the seam, and falls to zero
//! along the quintic that ends at rest.

use super::history::{BonePose, Channel, History, Seam, bone_pose, rotation_vector, set_bone_pose};
use crate::index::{BoneCount, BoneIndex};
use crate::pose::{Pose, Rig};
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
        Seam { turn, shift, stretch, ..Seam::default() }
    });
}

/// Adds the captured offsets as they are `elapsed` seconds into a transition of `duration`
/// seconds; nothing once it is over, or where a number is not one.
pub fn apply(
    rig: &Rig,
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
    for (bone, seam) in history.captured.iter().enumerate().take(active.get()) {
        let bone = BoneIndex(bone as u16);
        let mut value = bone_pose(rig, pose, bone);
        let offset = |c: &Channel| c.direction * quintic(c.x0, c.v0, duration, elapsed);
        value.rotation = Quat::from_scaled_axis(offset(&seam.turn)) * value.rotation;
        value.translation += offset(&seam.shift);
        value.scale += offset(&seam.stretch);
        set_bone_pose(rig, pose, bone, &value);
    }
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
