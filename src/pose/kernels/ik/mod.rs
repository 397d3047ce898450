//! Solvers that turn bones so that another bone gets somewhere. Targets are in model space.
//!
//! A solver walks up from its upper bone once, and from there down its own bones only; what it does
//! not read of a pose costs nothing. It is written once for both classes of rig (`frame.rs`).

pub mod fabrik;
pub mod foot;
pub(super) mod frame;
pub mod look_at;
pub mod stand;
pub mod two_bone;

use frame::by_class;
use glam::{Quat, Vec3A};

/// Shorter than this, in model units, is no direction.
const NO_LENGTH: f32 = 1e-6;

/// The shortest rotation from one direction to another; none where either is no direction.
#[inline(always)]
fn arc(from: Vec3A, to: Vec3A) -> Quat {
    // Half way there is where the turn's axis and half its cosine come from; exact for the smallest
    // turns too, which the dot product can't tell from none.
    let lengths = from.length() * to.length();
    let (axis, w) = (from.cross(to), lengths + from.dot(to));
    // Lengths of which no square leaves the range of floats.
    if w > 1e-4 * lengths && lengths > 1e-15 && lengths < 1e15 {
        return Quat::from_vec4(axis.extend(w)).normalize();
    }
    rare_arc(from, to)
}

/// Opposite directions, and lengths that have to be got out of the way first.
#[cold]
fn rare_arc(from: Vec3A, to: Vec3A) -> Quat {
    match (from.try_normalize(), to.try_normalize()) {
        (Some(from), Some(to)) => {
            let (axis, w) = (from.cross(to), 1.0 + from.dot(to));
            match w > 1e-4 {
                true => Quat::from_vec4(axis.extend(w)).normalize(),
                false => Quat::from_rotation_arc(from.into(), to.into()),
            }
        }
        _ => Quat::IDENTITY,
    }
}

/// Takes part of what a solver did: `alpha` of 0 is the rotation before, 1 the solved one.
#[inline(always)]
fn fade(before: Quat, solved: Quat, alpha: f32) -> Quat {
    if alpha < 1.0 { before.lerp(solved, alpha) } else { solved }
}
