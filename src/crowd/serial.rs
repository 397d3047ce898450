//! Phase 6, one thread: what the roots covered moves the characters.

use super::characters::{Characters, Place, bits};
use super::kind::Kind;
use super::ride::Ride;
use super::slots::{Slots, WORD};
use crate::motion::GroundMotion;
use crate::motion::ground::rotate;

/// How fast a place is drawn back to where it belongs, per second: a stander to its spot, a rider
/// along and across its lane and to the lane's direction. Slow, because feet slide by it.
const HOMING: Homing = Homing { standing: 0.15, along: 0.1, across: 0.3, yaw: 0.5 };

struct Homing {
    standing: f32,
    along: f32,
    across: f32,
    yaw: f32,
}

/// Applies the root motion of everybody who was evaluated. `dt` is the world time of the step.
pub(crate) fn apply_root_motion(
    characters: &mut Characters,
    slots: &Slots,
    kinds: &[Kind],
    rides: &[Ride],
    dt: f32,
) {
    for leases in &slots.leases {
        let kind = &kinds[leases.kind.get()];
        if kind.clips.iter().all(|clip| clip.root.is_none()) {
            continue;
        }
        for (w, word) in leases.words.iter().enumerate() {
            // Whoever has just come into view has not moved, not even on its lane.
            for slot in bits(word.due & !word.entered).map(|bit| w * WORD + bit) {
                let id = leases.owners[slot];
                let motion = leases.roots[slot];
                if apply(&mut characters.places[id.get()], motion, kind.scale, rides, dt) {
                    characters.place_sphere(id, kind, rides);
                }
            }
        }
    }
}

/// Moves one character; true when its bounding sphere has to follow.
fn apply(
    place: &mut Place,
    motion: GroundMotion,
    kind_scale: f32,
    rides: &[Ride],
    dt: f32,
) -> bool {
    let drawn = |rate: f32| 1.0 - (-rate * dt.abs()).exp();
    match place {
        Place::Standing { position, heading, home, scale } => {
            if motion == GroundMotion::IDENTITY && position == home {
                return false;
            }
            let step = motion.scaled(kind_scale * *scale);
            *position += rotate(step.translation(), *heading);
            *position += (*home - *position) * drawn(HOMING.standing);
            *heading = (*heading + step.yaw).rem_euclid(std::f32::consts::TAU);
            true
        }
        Place::Riding { ride, s, home_s, lateral, home_lateral, yaw, scale } => {
            let ride = &rides[*ride as usize];
            let step = motion.scaled(kind_scale * *scale);
            let along = rotate(step.translation(), *yaw - ride.course);
            // The lane has already carried it.
            *s += along.y - ride.speed * dt;
            *s += (*home_s - *s) * drawn(HOMING.along);
            // Left of somebody who walks it is outward, unless the lane is reversed.
            *lateral += if ride.reversed { -along.x } else { along.x };
            *lateral += (*home_lateral - *lateral) * drawn(HOMING.across);
            *yaw += step.yaw;
            *yaw -= *yaw * drawn(HOMING.yaw);
            false
        }
    }
}
