//! Characters that fall down and get up: what is between the two halves of their lists.
//!
//! Who falls keeps its pose for one frame (how fast it moves is told by two) and falls in the next:
//! the first half of its list ends with its pose in a snapshot, its bodies begin there and are
//! stepped, what has become of them is written into the snapshot, and the second half of the list
//! goes on from that. While it is down nothing else is in its list; its clocks stand still, its root
//! moves nothing and its driver waits. Its place follows its bodies. When they have come to rest it
//! lies a while, then its animation begins anew, and waits until it has got up into its first pose
//! (`rise/`).
//!
//! It is evaluated in every frame and with all its bones, however far away it is. Whoever gives its
//! slot back, because nobody has seen it for the grace time, stands when it is seen again; time that
//! is jumped over ends a fall too. What bodies do is in no recording, so nobody falls while one is made
//! or played.

mod fall;
mod halves;
mod place;
mod reach;
mod rise;
mod simulate;
mod wishes;

pub(crate) use fall::{Fall, Surface, Wish, still};
pub(crate) use simulate::Simulation;
pub(crate) use wishes::Wishes;

use super::Crowd;
use super::characters::{BLOCK, Characters, Place, SlotAddress, sphere_center};
use super::error::CrowdError;
use super::kind::Kind;
use super::leases::WORD;
use super::slots::Slots;
use crate::index::{BoneIndex, CharacterId};
use glam::{Affine3A, Vec3};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Everybody who falls, lies or gets up.
#[derive(Debug, Default)]
pub(crate) struct Falls {
    /// In the order of ids.
    ids: Vec<CharacterId>,
    /// One for each. A worker locks what it evaluates, so nobody ever waits.
    falls: Vec<Mutex<Fall>>,
    /// Followers of those, and how far they reach, metres; in the order of ids.
    spread: Vec<(CharacterId, f32)>,
    pub wishes: Wishes,
}

/// Somebody who is down, for whoever looks.
#[derive(Clone, Debug)]
pub struct Fallen {
    /// Nothing of it moves any more.
    pub at_rest: bool,
    /// How far its lowest point is above the ground, world metres; negative below.
    pub clearance: f32,
    /// Bones with bodies, and where these have their joints, world metres.
    pub bodies: Vec<(BoneIndex, Affine3A)>,
}

/// Numbers of one tick.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct FallCounts {
    /// Fall or lie.
    pub down: u32,
    /// Of those, whose bodies moved.
    pub moving: u32,
    /// Stood up.
    pub risen: u32,
}

fn own(fall: &mut Mutex<Fall>) -> &mut Fall {
    fall.get_mut().unwrap_or_else(PoisonError::into_inner)
}

impl Falls {
    /// Nobody yet.
    pub fn new(wishes: Wishes) -> Self {
        Self { wishes, ..Self::default() }
    }

    /// Nobody does.
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// A character's fall.
    pub fn of(&self, id: CharacterId) -> Option<MutexGuard<'_, Fall>> {
        let at = self.ids.binary_search(&id).ok()?;
        Some(self.falls[at].lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The sphere that holds the bodies of somebody who is down, world metres.
    pub fn sphere(&self, id: CharacterId) -> Option<(Vec3, f32)> {
        Some(self.of(id)?.ragdoll()?.sphere())
    }

    /// The bodies of somebody who is down, as capsules; world metres.
    pub fn capsules(&self, id: CharacterId) -> Vec<(Vec3, Vec3, f32)> {
        let Some(fall) = self.of(id) else { return Vec::new() };
        let ragdoll = fall.ragdoll();
        ragdoll.map_or(Vec::new(), |r| (0..).map_while(|number| r.capsule(number)).collect())
    }

    /// True for somebody whose root moves it no more: its bodies do, or nothing.
    pub fn hold(&self, id: CharacterId) -> bool {
        self.of(id).is_some_and(|fall| fall.holds())
    }

    /// Nobody falls, nor will.
    pub fn is_idle(&self) -> bool {
        self.ids.is_empty() && self.wishes.is_empty()
    }

    fn each(&mut self) -> impl Iterator<Item = &mut Fall> {
        self.falls.iter_mut().map(own)
    }

    /// Begins falls that are wished for, ends those that time jumped over, and has everybody evaluate
    /// who falls. Before the gate: who holds no slot yet falls another time.
    pub fn begin(
        &mut self,
        seconds: f32,
        played: bool,
        (characters, slots, kinds): (&mut Characters, &mut Slots, &[Kind]),
        lift: f32,
    ) {
        if !played {
            self.end(|_, _| true, (characters, slots, kinds), lift);
        }
        let Self { ids, falls, wishes, .. } = self;
        let places = &characters.places;
        let stands = |id: CharacterId| match places[id.get()] {
            // Others find their way home by themselves.
            Place::Standing { position, .. }
                if kinds[characters.kinds[id.get()].get()].graph.is_none() =>
            {
                Some((characters.generations[id.get()], position))
            }
            _ => None,
        };
        wishes.each(if played { seconds } else { 0.0 }, stands, |wish| {
            let id = wish.id;
            let at = characters.slots[id.get()];
            let posed = at != SlotAddress::NONE && at.page & SlotAddress::TICKING == 0;
            let kind = characters.kinds[id.get()];
            let of = &kinds[kind.get()];
            let Err(number) = ids.binary_search(&id) else { return false };
            // Who follows has its leader's poses.
            if !posed || of.bodies.is_none() || characters.follows(id) {
                return false;
            }
            let poses = slots.at_mut(at).poses.get_mut(at.slot as usize);
            let state = poses.map(std::mem::take).unwrap_or_default();
            let place = characters.places[id.get()];
            let generation = characters.generations[id.get()];
            let fall = Fall::new(wish, (kind, of), (at, generation), place, state);
            ids.insert(number, id);
            falls.insert(number, Mutex::new(fall));
            true
        });
        for id in ids {
            characters.blocks[id.get() / BLOCK].rates.hurry(1 << (id.get() % BLOCK));
        }
    }

    /// Lets go of whoever has no slot any more, and marks the slots of the others. After the gate.
    pub fn mark(
        &mut self,
        characters: &mut Characters,
        slots: &mut Slots,
        kinds: &[Kind],
        lift: f32,
    ) {
        if self.each().any(|fall| !fall.holds_slot(characters)) {
            self.end(
                |fall, characters| !fall.holds_slot(characters),
                (characters, slots, kinds),
                lift,
            );
        }
        for fall in self.each() {
            let slot = fall.at.slot as usize;
            let leases = slots.at_mut(fall.at);
            fall.kept = leases.kept_pose(slot).map(|_| fall.kept.take().unwrap_or_default());
            let word = &mut leases.words[slot / WORD];
            word.fallen |= 1 << (slot % WORD);
            word.cut &= !word.fallen;
        }
    }

    /// Brings characters and their slots to what their bodies say.
    pub fn land(&mut self, characters: &mut Characters, slots: &mut Slots, surface: &Surface<'_>) {
        // A lane carries who lies on it until its place is found anew.
        const CARRIED: f32 = 0.2;
        let lift = surface.terrain.max_height();
        for fall in self.each().filter(|fall| fall.holds()) {
            characters.places[fall.id.get()] = fall.place;
            if !fall.list.is_staged() {
                continue;
            }
            let kind = &surface.kinds[fall.kind.get()];
            let leases = &mut slots.leases[fall.at.page as usize];
            let slot = fall.at.slot as usize;
            if let Some((kept, pose)) = leases.kept_pose_mut(slot).zip(fall.kept.as_mut()) {
                std::mem::swap(kept, pose);
            }
            let at = leases.palette_at(slot);
            let page = &mut slots.pages[fall.at.page as usize];
            page.matrices[at..][..fall.palette.len()].copy_from_slice(&fall.palette);
            let id = fall.id;
            characters.place_sphere(id, kind, surface.rides);
            if let Some(ragdoll) = fall.ragdoll() {
                let center = sphere_center(kind, fall.place.resolve(surface.rides, &[]), 0.0);
                let (middle, radius) = ragdoll.sphere();
                let stands = kind.radius * fall.place.scale();
                let lies = center.distance(middle) + radius;
                // It gets up in the sphere that it lies in.
                characters.set_radius(id, lies.max(stands) + CARRIED + lift);
            }
        }
    }

    /// A frame is over.
    pub fn next(
        &mut self,
        seconds: f32,
        (characters, slots): (&mut Characters, &mut Slots),
        surface: &Surface<'_>,
    ) -> FallCounts {
        let mut counts = FallCounts::default();
        for fall in self.each() {
            counts.down += u32::from(fall.is_staged());
            counts.moving += u32::from(fall.moves());
            fall.place = characters.places[fall.id.get()];
            let rose = fall.rises();
            fall.next(seconds, surface);
            counts.risen += u32::from(rose && fall.is_over());
            if fall.begins_to_rise() && surface.kinds[fall.kind.get()].graph.is_none() {
                // Nobody slides home whom nothing else takes there.
                fall.place.settle();
                characters.places[fall.id.get()].settle();
            }
        }
        let lift = surface.terrain.max_height();
        self.end(|fall, _| fall.is_over(), (characters, slots, surface.kinds), lift);
        counts
    }

    /// Ends some falls: their poses go back to their slots, and their spheres are those of who stands.
    pub fn end(
        &mut self,
        which: impl Fn(&Fall, &Characters) -> bool,
        (characters, slots, kinds): (&mut Characters, &mut Slots, &[Kind]),
        lift: f32,
    ) {
        let mut at = 0;
        while at < self.falls.len() {
            if !which(own(&mut self.falls[at]), characters) {
                at += 1;
                continue;
            }
            let id = self.ids.remove(at);
            let fall = self.falls.remove(at).into_inner().unwrap_or_else(PoisonError::into_inner);
            let kind = &kinds[fall.kind.get()];
            if fall.is_there(characters) {
                characters.set_radius(id, kind.radius * fall.place.scale() + lift);
            }
            let (leases, slot) = (slots.at_mut(fall.at), fall.at.slot as usize);
            let holds = fall.holds_slot(characters);
            let mut state = fall.into_state();
            if leases.keeps_poses
                && let Some(kept) = leases.poses.get_mut(slot)
            {
                // A slot that is somebody else's by now has nobody's poses.
                if !holds {
                    state.clear();
                }
                *kept = state;
            }
        }
    }
}

impl Crowd {
    /// Lets a character fall down from the next tick on, its top pushed by so many world metres a
    /// second; it gets up when it has lain a while. False where it can't: it holds no palette slot,
    /// it follows somebody, it is down already, or its kind has no bodies.
    ///
    /// # Errors
    /// [`CrowdError::Absent`] for an id that nobody has, [`CrowdError::NoCharacter`] for one that the
    /// crowd never has, [`CrowdError::NoFalls`] during a recording or a replay.
    pub fn knock_down(&mut self, id: CharacterId, push: Vec3) -> Result<bool, CrowdError> {
        self.world.check_present(id)?;
        if self.world.replay.records() || self.world.replay.plays() {
            return Err(CrowdError::NoFalls);
        }
        let world = &mut self.world;
        let at = world.characters.slots[id.get()];
        let posed = at != SlotAddress::NONE && at.page & SlotAddress::TICKING == 0;
        let bodies = world.kinds[world.characters.kinds[id.get()].get()].bodies.is_some();
        let own = posed && !world.characters.follows(id);
        let falls = own && bodies && world.falls.of(id).is_none();
        if falls {
            let push = if push.is_finite() { push } else { Vec3::ZERO };
            world.falls.wishes.ask(id, push);
        }
        Ok(falls)
    }

    /// What there is to know of somebody who is down; `None` for anybody else.
    pub fn fallen(&self, id: CharacterId) -> Option<Fallen> {
        let fall = self.world.falls.of(id).filter(|f| f.is_there(&self.world.characters))?;
        let ragdoll = fall.ragdoll()?;
        Some(Fallen {
            at_rest: ragdoll.at_rest(),
            clearance: ragdoll.clearance(),
            bodies: (0..).map_while(|number| ragdoll.body(number)).collect(),
        })
    }
}
