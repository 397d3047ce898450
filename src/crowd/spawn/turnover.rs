//! One character comes, one goes, and those who are due do.

use super::Population;
use crate::crowd::characters::{BLOCK, Characters, SlotAddress};
use crate::crowd::follow::{Change, Following};
use crate::crowd::kind::Kind;
use crate::crowd::notify::Notifies;
use crate::crowd::replay::Replay;
use crate::crowd::ride::Ride;
use crate::crowd::sequence::Sequences;
use crate::crowd::slots::Slots;
use crate::index::{CharacterId, CharacterKind};
use crate::motion::Terrain;
use crate::profile::{Phase, PhaseTimes};

/// The parts of a world that comings and goings change.
pub(crate) struct Turnover<'a> {
    pub characters: &'a mut Characters,
    pub slots: &'a mut Slots,
    pub sequences: &'a mut Sequences,
    pub following: &'a mut Following,
    pub notifies: &'a mut Notifies,
    pub population: &'a mut Population,
    pub kinds: &'a [Kind],
    pub rides: &'a [Ride],
    /// Where a recording is played, it says who comes and who goes, and notifies are not told.
    pub replay: &'a Replay,
    pub times: &'a PhaseTimes,
    pub terrain: Terrain,
    /// World time, seconds.
    pub now: f64,
}

impl Turnover<'_> {
    /// Between two frames: whoever is to come or go by now does.
    pub fn step(&mut self, seconds: f64, played: bool) {
        let (times, replay) = (self.times, self.replay);
        let moves = match replay.plays() {
            true => replay.comings().next().is_some() || !replay.goings().is_empty(),
            false => self.population.moves() && played && seconds > 0.0,
        };
        if moves {
            times.time(Phase::Serial, || {
                times.worker(Phase::Serial, || match replay.plays() {
                    true => self.repeat(),
                    false => self.advance(seconds),
                });
            });
        }
    }

    /// Those come and go who did when it was recorded.
    fn repeat(&mut self) {
        let replay = self.replay;
        replay.goings().iter().for_each(|id| self.despawn(*id));
        for (id, generation) in replay.comings() {
            self.characters.generations[id.get()] = generation;
            self.come(id);
        }
    }

    /// Those who are due after so many seconds come, and those whose places they take go.
    fn advance(&mut self, seconds: f64) {
        let due = self.population.take_due(seconds, self.characters.kinds.len());
        for _ in 0..due {
            let complete = self.population.is_complete();
            let came = match complete {
                true if self.population.cycles() => self.exchange(),
                true => None,
                false => self.population.next_kind().and_then(|kind| self.spawn(Some(kind))),
            };
            if came.is_none() {
                return self.population.forgive();
            }
        }
    }

    /// Somebody goes and another one of the kind comes, elsewhere if there is an elsewhere. `None`
    /// where everybody has only just come.
    fn exchange(&mut self) -> Option<CharacterId> {
        let goes = self.characters.draw_settled(&mut self.population.random)?;
        let kind = self.characters.kinds[goes.get()];
        let elsewhere = self.population.take_vacancy(kind);
        self.despawn(goes);
        let id = elsewhere.or_else(|| self.population.take_vacancy(kind))?;
        self.come(id);
        Some(id)
    }

    /// Somebody of a kind, or of the one that is furthest from its share, comes to a free place.
    /// `None` where there is none.
    pub fn spawn(&mut self, kind: Option<CharacterKind>) -> Option<CharacterId> {
        let kind = kind.or_else(|| self.population.neediest())?;
        let id = self.population.take_vacancy(kind)?;
        self.come(id);
        Some(id)
    }

    /// Somebody comes to a place that is free and in no list of those.
    pub fn come(&mut self, id: CharacterId) {
        let Self { characters, kinds, rides, terrain, now, .. } = self;
        characters.appear(id, kinds, rides, *terrain, *now);
        characters.blocks[id.get() / BLOCK].came |= 1 << (id.get() % BLOCK);
        self.population.came(characters.kinds[id.get()]);
    }

    /// Somebody goes, and leaves nothing behind but its place.
    pub fn despawn(&mut self, id: CharacterId) {
        let at = id.get();
        self.sequences.lose(id);
        let Self { following, characters, slots, kinds, rides, .. } = self;
        Change { following, characters, slots, kinds, rides }.lose(id);
        let Self { characters, slots, kinds, notifies, .. } = self;
        let kind_id = characters.kinds[at];
        let kind = &kinds[kind_id.get()];
        let address = std::mem::replace(&mut characters.slots[at], SlotAddress::NONE);
        if address != SlotAddress::NONE {
            characters.playback[at] = slots.release(address, characters.rows.of_mut(at));
        }
        if !self.replay.plays() {
            let fire = |fired| notifies.end(id, fired);
            match &kind.graph {
                Some(graph) => graph.stop(characters.rows.of_mut(at), fire),
                None => characters.playback[at].stop(kind, fire),
            }
            self.population.give_vacancy(kind_id, id);
        }
        characters.disappear(id);
        let (block, bit) = (&mut characters.blocks[at / BLOCK], 1u64 << (at % BLOCK));
        // Who has come and gone between two ticks was never there.
        if block.came & bit == 0 {
            block.gone |= bit;
        }
        block.came &= !bit;
        self.population.went(kind_id);
    }
}
