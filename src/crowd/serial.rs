//! Phase 6, one thread: what the roots covered moves the characters, and drivers decide what is next.

use super::characters::{Characters, Place, bits, walked};
use super::driver::Surroundings;
use super::graph::{KindGraph, STRAY};
use super::kind::Kind;
use super::leases::{Covered, Leases, WORD};
use super::ragdoll::Falls;
use super::record::is;
use super::ride::Ride;
use super::slots::Slots;
use crate::index::CharacterId;
use crate::motion::ground::rotate;
use crate::motion::{GroundMotion, Terrain};
use glam::Vec3;

/// How fast a place is drawn back to where it belongs, per second: a stander to its spot, a rider
/// along and across its lane and to the lane's direction. Slow, because feet slide by it.
const HOMING: Homing = Homing { standing: 0.15, along: 0.1, across: 0.3, yaw: 0.5 };

struct Homing {
    standing: f32,
    along: f32,
    across: f32,
    yaw: f32,
}

/// What the serial phase works with.
pub(crate) struct Serial<'a> {
    pub kinds: &'a [Kind],
    pub rides: &'a [Ride],
    pub terrain: Terrain,
    /// Whose bodies say where they are.
    pub falls: &'a Falls,
    /// The camera.
    pub eye: Vec3,
}

impl Serial<'_> {
    /// Applies the root motion of everybody who was evaluated, and asks drivers what is next.
    pub fn run(&self, characters: &mut Characters, slots: &mut Slots) {
        for leases in slots.all() {
            keep_places(leases, characters);
            let kind = &self.kinds[leases.kind.get()];
            if kind.graph.is_some() || kind.recorded.is_some() {
                self.free(characters, leases, kind);
            } else if kind.clips.iter().any(|clip| clip.root.is_some()) {
                self.simple(characters, leases, kind);
            }
        }
    }

    fn simple(&self, characters: &mut Characters, leases: &Leases, kind: &Kind) {
        for (w, word) in leases.words.iter().enumerate() {
            // Whoever has just come into view has not moved, not even on its lane.
            for slot in bits(word.due & !word.entered).map(|bit| w * WORD + bit) {
                let id = leases.owners[slot];
                if is(word.fallen, slot) && self.falls.hold(id) {
                    continue;
                }
                let covered = leases.roots[slot];
                let place = &mut characters.places[id.get()];
                if apply(place, covered, kind.scale, self.rides) {
                    characters.place_sphere(id, kind, self.rides);
                }
            }
        }
    }

    /// Characters that go where their drivers want, or wanted when they were recorded.
    fn free(&self, characters: &mut Characters, leases: &mut Leases, kind: &Kind) {
        for w in 0..leases.words.len() {
            let word = leases.words[w];
            for (slot, bit) in bits(word.due).map(|bit| (w * WORD + bit, bit)) {
                let id = leases.owners[slot];
                if is(word.fallen, slot) && self.falls.hold(id) {
                    continue;
                }
                if let Some(graph) = &kind.graph {
                    self.drive(characters, (leases, slot), kind, graph);
                }
                if word.entered >> bit & 1 == 1 {
                    continue;
                }
                let Place::Standing { position, heading, scale, .. } =
                    &mut characters.places[id.get()]
                else {
                    continue;
                };
                let step = leases.roots[slot].ground.scaled(kind.scale * *scale);
                if step == GroundMotion::IDENTITY {
                    continue;
                }
                (*position, *heading) = walked((*position, *heading), step);
                characters.place_sphere(id, kind, self.rides);
            }
        }
    }

    /// Asks a character's driver what it wants.
    fn drive(
        &self,
        characters: &Characters,
        (leases, slot): (&mut Leases, usize),
        kind: &Kind,
        graph: &KindGraph,
    ) {
        let id = leases.owners[slot];
        let Place::Standing { position, heading, home, scale } = characters.places[id.get()] else {
            return;
        };
        let around = Surroundings {
            eye: self.eye,
            neighbour: &|| self.head(id, characters),
            position,
            ground: &|| self.terrain.height(position),
            heading,
            home,
            stray: STRAY,
            scale: kind.scale * scale,
            pivot: kind.pivot,
        };
        graph.drive(leases.row_mut(slot), &around);
    }

    /// About where the head of somebody's neighbour is, if it has one.
    fn head(&self, of: CharacterId, characters: &Characters) -> Option<Vec3> {
        let id = (of.get() + 1) % characters.kinds.len();
        characters.is_present(CharacterId(id as u32)).then_some(())?;
        let kind = &self.kinds[characters.kinds[id].get()];
        let (position, _, scale) = characters.places[id].resolve(self.rides, &characters.places);
        let height = (kind.center.y + 0.5 * kind.radius) * scale;
        Some(Vec3::new(position.x, self.terrain.height(position) + height, position.y))
    }
}

/// Where the serial phase would have a character of a kind whose root did this.
pub(crate) fn moved(kind: &Kind, place: Place, covered: Covered, rides: &[Ride]) -> Place {
    let mut place = place;
    match &mut place {
        Place::Standing { position, heading, scale, .. } if kind.graph.is_some() => {
            let step = covered.ground.scaled(kind.scale * *scale);
            (*position, *heading) = walked((*position, *heading), step);
        }
        _ if kind.clips.iter().any(|clip| clip.root.is_some()) => {
            apply(&mut place, covered, kind.scale, rides);
        }
        _ => {}
    }
    place
}

/// Keeps where those are who are about to be moved.
fn keep_places(leases: &mut Leases, characters: &Characters) {
    if !leases.interpolates {
        return;
    }
    for (w, word) in leases.words.iter().enumerate() {
        for slot in bits(word.due).map(|bit| w * WORD + bit) {
            leases.before[slot] = characters.places[leases.owners[slot].get()];
        }
    }
}

/// What drawing something in at a rate per second leaves after some seconds. Being exact for what
/// moves steadily, it comes to the same in one large step as in many small ones.
struct Drawn {
    /// Of how far it was off.
    kept: f32,
    /// Of how far it moved meanwhile.
    gained: f32,
}

impl Drawn {
    fn new(rate: f32, seconds: f32) -> Self {
        let x = rate * seconds;
        let lost = -(-x).exp_m1();
        Self { kept: 1.0 - lost, gained: if x > 0.0 { lost / x } else { 1.0 } }
    }

    fn after<T>(&self, off: T, moved: T) -> T
    where
        T: std::ops::Mul<f32, Output = T> + std::ops::Add<Output = T>,
    {
        off * self.kept + moved * self.gained
    }
}

/// Moves one character; true when its bounding sphere has to follow.
fn apply(place: &mut Place, covered: Covered, kind_scale: f32, rides: &[Ride]) -> bool {
    let Covered { ground: motion, seconds, .. } = covered;
    let drawn = |rate: f32| Drawn::new(rate, seconds.abs());
    match place {
        Place::Standing { position, heading, home, scale } => {
            if motion == GroundMotion::IDENTITY && position == home {
                return false;
            }
            let step = motion.scaled(kind_scale * *scale);
            let (to, turned) = walked((*position, *heading), step);
            let homing = drawn(HOMING.standing);
            *position = *home + homing.after(*position - *home, to - *position);
            *heading = turned;
            true
        }
        Place::Riding { ride, s, home_s, lateral, home_lateral, yaw, scale } => {
            let ride = &rides[*ride as usize];
            let step = motion.scaled(kind_scale * *scale);
            let along = rotate(step.translation(), *yaw - ride.course);
            // The lane has already carried it.
            let ahead = along.y - ride.speed * seconds;
            *s = *home_s + drawn(HOMING.along).after(*s - *home_s, ahead);
            // Left of somebody who walks it is outward, unless the lane is reversed.
            let outward = if ride.reversed { -along.x } else { along.x };
            *lateral =
                *home_lateral + drawn(HOMING.across).after(*lateral - *home_lateral, outward);
            *yaw = drawn(HOMING.yaw).after(*yaw, step.yaw);
            false
        }
        // Its leader moves it.
        Place::Following { .. } => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::crowd::leases::WORD;
    use crate::crowd::testing::{CROWD, crowd, tick};
    use crate::crowd::world::World;
    use glam::Vec2;
    use std::f32::consts::{FRAC_PI_2, TAU};

    const DT: f32 = 0.5;

    fn motion(x: f32, z: f32, yaw: f32) -> Covered {
        Covered::NOTHING.next(GroundMotion { x, z, yaw }, DT, true)
    }

    /// What is left of what was covered meanwhile.
    fn gained(rate: f32) -> f32 {
        (1.0 - left(rate)) / (rate * DT)
    }

    /// What is left of a distance that is drawn in for [`DT`] at a rate.
    fn left(rate: f32) -> f32 {
        (-rate * DT).exp()
    }

    #[test]
    fn who_stands_goes_where_its_root_goes_turns_with_it_and_is_drawn_home() {
        let (home, heading) = (Vec2::new(3.0, -2.0), FRAC_PI_2);
        let start = |position| Place::Standing { position, heading, home, scale: 1.5 };
        let mut place = start(home);
        assert!(!apply(&mut place, motion(0.0, 0.0, 0.0), 2.0, &[]), "nothing moves");
        assert_eq!(place, start(home));
        // A quarter turn to the left takes +Z to +X.
        assert!(apply(&mut place, motion(0.0, 0.2, 0.3), 2.0, &[]));
        let Place::Standing { position, heading, .. } = place else { panic!("{place:?}") };
        let gone = Vec2::new(0.2 * 2.0 * 1.5, 0.0) * gained(HOMING.standing);
        assert!(position.distance(home + gone) < 1e-5, "{position} {gone}");
        assert!((heading - FRAC_PI_2 - 0.3).abs() < 1e-6);
        let mut place = start(home + Vec2::X);
        assert!(apply(&mut place, motion(0.0, 0.0, 0.0), 2.0, &[]));
        let Place::Standing { position, .. } = place else { panic!("{place:?}") };
        assert!(position.distance(home + Vec2::X * left(HOMING.standing)) < 1e-5);
        let mut place = start(home);
        apply(&mut place, Covered { seconds: 0.0, ..motion(0.0, 0.0, -TAU) }, 1.0, &[]);
        let Place::Standing { heading, .. } = place else { panic!("{place:?}") };
        assert!((heading - FRAC_PI_2).abs() < 1e-5, "a heading stays within one turn");
    }

    #[test]
    fn who_rides_is_moved_against_its_lane_and_drawn_back_to_its_place() {
        let lanes = [
            Ride::new(Vec2::ZERO, 10.0, 4.0, 1.2),
            Ride::new(Vec2::ZERO, 10.0, 4.0, 1.2).reversed(true),
        ];
        for (ride, outward) in [(0, 1.0), (1, -1.0)] {
            let start = Place::Riding {
                ride,
                s: 5.0,
                home_s: 5.0,
                lateral: 0.5,
                home_lateral: 0.5,
                yaw: 0.0,
                scale: 1.0,
            };
            let after = |forward: f32, left: f32, yaw: f32| {
                let mut place = start;
                assert!(!apply(&mut place, motion(left, forward, yaw), 2.0, &lanes));
                let Place::Riding { s, lateral, yaw, .. } = place else { panic!("{place:?}") };
                (s, lateral, yaw)
            };
            // The lane's own speed is no motion against it.
            let (s, lateral, yaw) = after(0.5 * 1.2 * DT, 0.0, 0.0);
            assert!((s - 5.0).abs() < 1e-5 && lateral == 0.5 && yaw == 0.0, "{s}");
            let (s, ..) = after(0.0, 0.0, 0.0);
            assert!((s - (5.0 - 1.2 * DT * gained(HOMING.along))).abs() < 1e-5, "left behind: {s}");
            let (_, lateral, yaw) = after(0.3, 0.1, 0.4);
            let aside = outward * 0.2 * gained(HOMING.across);
            // Left of who walks the lane is outward, unless it is walked the other way round.
            assert!((lateral - 0.5 - aside).abs() < 1e-5, "{lateral}");
            assert!((yaw - 0.4 * gained(HOMING.yaw)).abs() < 1e-5, "{yaw}");
        }
    }

    #[test]
    fn who_has_just_come_into_view_stays_where_it_is() {
        let mut crowd = crowd(50, 1);
        tick(&mut crowd, CROWD);
        let world = &mut crowd.world;
        for kind in &mut world.kinds {
            let track = crate::motion::RootTrack::measure(
                &[glam::Affine3A::IDENTITY, glam::Affine3A::from_translation(glam::Vec3::Z)],
                &glam::Affine3A::IDENTITY,
                1.0,
                crate::motion::RootLock::Planar,
            );
            kind.clips.iter_mut().for_each(|clip| clip.root = Some(track.clone()));
        }
        for leases in &mut world.slots.leases {
            leases.roots.fill(motion(0.0, 1.0, 0.0));
            leases.words.iter_mut().for_each(|word| word.entered = word.due & 0x5555);
        }
        let before = world.characters.places.clone();
        let World { characters, slots, kinds, rides, terrain, .. } = world;
        let falls = &Falls::default();
        let serial = Serial { kinds, rides, terrain: *terrain, falls, eye: Vec3::ZERO };
        serial.run(characters, slots);
        for leases in &slots.leases {
            for (w, word) in leases.words.iter().enumerate() {
                for bit in bits(word.due) {
                    let id = leases.owners[w * WORD + bit].get();
                    let stayed = characters.places[id] == before[id];
                    assert_eq!(stayed, word.entered >> bit & 1 == 1, "character {id}");
                }
            }
        }
    }
}
