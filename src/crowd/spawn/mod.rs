//! Who comes and who goes.
//!
//! A layout has a place for everybody who is to be there at once, and for some more where characters
//! come and go all the time. A place is a row of every column, of one kind for good: whoever comes
//! takes a free one and its id, whoever goes leaves both behind. So nothing grows however many have
//! come, and nobody has to be moved. What tells one character from the next with the same id is its
//! generation ([`CharacterHandle`]).
//!
//! Comings and goings happen between two ticks, when the last one has been drawn: a character that
//! has gone is in the picture of the tick before and in none after, and one that has come is culled,
//! and evaluated if it is in view, before it is drawn.

mod origin;
mod population;
mod resize;
mod turnover;

pub(crate) use origin::Origin;
pub(crate) use population::Population;
pub(crate) use turnover::Turnover;

use super::config::{CrowdConfig, CrowdKind};
use super::error::CrowdError;
use super::layout::shares;
use super::world::World;
use super::{Crowd, characters::bits};
use crate::index::{CharacterId, CharacterKind};

/// How characters come to be there.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub enum Spawning {
    /// All at once, before the first tick.
    #[default]
    Instant,
    /// Nobody is there at first. So many come in a second that is played, until all have.
    Gradual {
        /// Characters a second; finite, not negative. Zero: none come by themselves.
        per_second: f32,
    },
    /// All are there from the start. In a second that is played so many go, and as many of the same
    /// kinds come, elsewhere.
    Cycle {
        /// Characters a second; finite, not negative.
        per_second: f32,
    },
}

impl Spawning {
    /// Characters that come in a second.
    pub fn per_second(self) -> f32 {
        match self {
            Self::Instant => 0.0,
            Self::Gradual { per_second } | Self::Cycle { per_second } => per_second,
        }
    }

    /// Places that stay free beside `count` characters of a kind, so that whoever comes need not
    /// stand where somebody has just gone.
    fn spare(self, count: u32) -> u32 {
        match self {
            Self::Cycle { .. } if count > 0 => (count / 16).max(1),
            _ => 0,
        }
    }

    /// Bytes that lists of free places hold for each place, whether or not it is one.
    pub(super) fn list_bytes(self) -> usize {
        if self == Self::Instant { 0 } else { size_of::<CharacterId>() }
    }

    pub(super) fn check(self) -> Result<(), CrowdError> {
        let value = self.per_second();
        if value.is_finite() && value >= 0.0 {
            return Ok(());
        }
        let what = "the number of characters that come in a second".to_owned();
        Err(CrowdError::OutOfRange { what, value, range: "finite and not negative" })
    }
}

/// One character for as long as it is there: an id, and how many have had that before it.
///
/// An id is passed on, a handle is not: those of characters that have gone are refused. Generations
/// begin anew after 2^32 holders of one id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CharacterHandle {
    pub(super) id: CharacterId,
    pub(super) generation: u32,
}

impl CharacterHandle {
    /// Its id.
    pub fn id(self) -> CharacterId {
        self.id
    }

    /// How many had that id before it.
    pub fn generation(self) -> u32 {
        self.generation
    }
}

/// How many are there, and how many have come and gone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PopulationStats {
    /// Characters that are there.
    pub here: u32,
    /// Characters that have come, but for those who were there from the start.
    pub spawned: u64,
    /// Characters that have gone.
    pub despawned: u64,
}

/// How many of each kind are to be there, and how many places each has.
pub(super) fn places(config: &CrowdConfig, kinds: &[CrowdKind]) -> (Vec<u32>, Vec<u32>) {
    let weights: Vec<f32> = kinds.iter().map(|kind| kind.weight).collect();
    let wanted = shares(&weights, config.count);
    let places = wanted.iter().map(|n| n.saturating_add(config.spawning.spare(*n))).collect();
    (wanted, places)
}

impl World {
    /// Where characters come and go.
    pub fn turnover(&mut self) -> Turnover<'_> {
        Turnover {
            characters: &mut self.characters,
            slots: &mut self.slots,
            sequences: &mut self.sequences,
            following: &mut self.following,
            notifies: &mut self.notifies,
            population: &mut self.population,
            kinds: &self.kinds,
            rides: &self.rides,
            replay: &self.replay,
            times: &self.times,
            terrain: self.terrain,
            now: self.now,
        }
    }

    /// Refuses an id that nobody has.
    pub fn check_present(&self, id: CharacterId) -> Result<(), CrowdError> {
        let places = self.characters.kinds.len() as u32;
        match self.characters.is_present(id) {
            true => Ok(()),
            false if id.0 < places => Err(CrowdError::Absent { id: id.0 }),
            false => Err(CrowdError::NoCharacter { id: id.0, count: places }),
        }
    }

    fn handle(&self, id: CharacterId) -> CharacterHandle {
        CharacterHandle { id, generation: self.characters.generations[id.get()] }
    }

    /// The id of a character that is still there.
    pub fn resolve(&self, handle: CharacterHandle) -> Result<CharacterId, CrowdError> {
        let CharacterHandle { id, generation } = handle;
        let now = self.characters.generations.get(id.get());
        match now {
            None => {
                Err(CrowdError::NoCharacter { id: id.0, count: self.characters.kinds.len() as u32 })
            }
            Some(now) if *now == generation && self.characters.is_present(id) => Ok(id),
            Some(now) => Err(CrowdError::Gone { id: id.0, generation, now: *now }),
        }
    }
}

impl Crowd {
    /// Has another character come before the next tick: of a kind, or of the one that is furthest
    /// from its share. It gets a free place that the layout has for its kind, drawn by the crowd's
    /// seed, and looks, plays and walks unlike whoever had that place before.
    ///
    /// # Errors
    /// [`CrowdError::NoVacancy`] when every place is taken, [`CrowdError::NoKind`] for a kind that
    /// there is not, [`CrowdError::Recorded`] in a replay, whose comings are recorded.
    pub fn spawn(&mut self, kind: Option<CharacterKind>) -> Result<CharacterHandle, CrowdError> {
        if self.world.replay.plays() {
            return Err(CrowdError::Recorded);
        }
        let kinds = self.world.kinds.len();
        if let Some(CharacterKind(kind)) = kind.filter(|kind| kind.get() >= kinds) {
            return Err(CrowdError::NoKind { kind, kinds });
        }
        let id = self.world.turnover().spawn(kind);
        id.map(|id| self.world.handle(id)).ok_or_else(|| {
            let kind = kind.map(|kind| self.world.kinds[kind.get()].name.clone());
            CrowdError::NoVacancy { kind, places: self.capacity() }
        })
    }

    /// Has a character go before the next tick. Spans of its notifies end, and are told so in that
    /// tick; sequences lose it from their casts, and one that loses its last member stops; its
    /// palette, clocks and place are anybody's.
    ///
    /// # Errors
    /// [`CrowdError::Gone`] for one that has gone already, [`CrowdError::NoCharacter`] for an id
    /// that the crowd never has, [`CrowdError::Recorded`] in a replay.
    pub fn despawn(&mut self, character: CharacterHandle) -> Result<(), CrowdError> {
        let id = self.world.resolve(character)?;
        if self.world.replay.plays() {
            return Err(CrowdError::Recorded);
        }
        self.world.turnover().despawn(id);
        Ok(())
    }

    /// Whoever has an id now; `None` where nobody has it.
    pub fn handle(&self, id: CharacterId) -> Option<CharacterHandle> {
        self.world.characters.is_present(id).then(|| self.world.handle(id))
    }

    /// Whether a character is still there.
    pub fn is_here(&self, character: CharacterHandle) -> bool {
        self.world.resolve(character).is_ok()
    }

    /// Everybody who is there, in the order of ids.
    pub fn characters(&self) -> impl Iterator<Item = CharacterHandle> + '_ {
        let blocks = self.world.characters.blocks.iter().zip(0u32..);
        let ids = blocks.flat_map(|(block, b)| {
            bits(block.present)
                .map(move |i| CharacterId(b * super::characters::BLOCK as u32 + i as u32))
        });
        ids.map(|id| self.world.handle(id))
    }

    /// Places that the crowd has; ids are below.
    pub fn capacity(&self) -> u32 {
        self.world.characters.kinds.len() as u32
    }

    /// The kind of whoever has, had or will have an id: that never changes.
    pub fn kind_of(&self, id: CharacterId) -> Option<CharacterKind> {
        self.world.characters.kinds.get(id.get()).copied()
    }

    /// A kind's name; `None` for one that there is not.
    pub fn kind_name(&self, kind: CharacterKind) -> Option<&str> {
        self.world.kinds.get(kind.get()).map(|kind| kind.name.as_str())
    }

    /// How many are there, and how many have come and gone.
    pub fn population(&self) -> PopulationStats {
        self.world.population.stats()
    }

    /// How many of a kind are there; zero for one that there is not.
    pub fn count_of(&self, kind: CharacterKind) -> u32 {
        self.world.population.count_of(kind)
    }
}

#[cfg(test)]
mod tests;
