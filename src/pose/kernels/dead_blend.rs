//! Dead blending: the old pose goes on by itself for a while, and fades into the new one.
//!
//! D. Holden, *Dead Blending*, 2023: extrapolate from the seam with a velocity that decays
//! exponentially, and blend to the target over the duration.

use super::history::{Channel, History, Seam, bone_pose, rotation_vector, set_bone_pose};
use crate::index::{BoneCount, BoneIndex};
use crate::pose::{Pose, Rig};
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
        let none = Channel::default();
        let (turn, shift, stretch) = match older {
            Some((older, dt)) => (
                rate(rotation_vector(newer.rotation * older.rotation.conjugate()), dt),
                rate(newer.translation - older.translation, dt),
                rate(newer.scale - older.scale, dt),
            ),
            None => (none, none, none),
        };
        Seam {
            rotation: newer.rotation,
            translation: newer.translation,
            scale: newer.scale,
            turn,
            shift,
            stretch,
        }
    });
}

/// Blends from the extrapolated seam to `pose`, `elapsed` seconds into a transition of `duration`
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
    let s = elapsed / duration;
    let weight = s * s * (3.0 - 2.0 * s);
    // The integral of a velocity that halves every half-life.
    let rate = std::f32::consts::LN_2 / HALF_LIFE;
    let reach = (1.0 - (-rate * elapsed).exp()) / rate;
    let moved = |c: &Channel| c.direction * (c.v0 * reach);
    for (bone, seam) in history.captured.iter().enumerate().take(active.get()) {
        let bone = BoneIndex(bone as u16);
        let mut value = bone_pose(rig, pose, bone);
        let turned = Quat::from_scaled_axis(moved(&seam.turn)) * seam.rotation;
        value.rotation = turned.lerp(value.rotation, weight);
        value.translation = (seam.translation + moved(&seam.shift)).lerp(value.translation, weight);
        value.scale = (seam.scale + moved(&seam.stretch)).lerp(value.scale, weight);
        set_bone_pose(rig, pose, bone, &value);
    }
}
