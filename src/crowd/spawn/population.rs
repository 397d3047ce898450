//! How many of each kind are there, which places are free, and when somebody is due.

use super::{PopulationStats, Spawning};
use crate::crowd::characters::Characters;
use crate::crowd::random::Random;
use crate::index::{CharacterId, CharacterKind};

/// The stream of what decides who comes where and who goes.
const STREAM: u64 = 5 << 32;

/// Who is there and who is to come.
#[derive(Debug, Default)]
pub(crate) struct Population {
    spawning: Spawning,
    /// Of each kind, how many are to be there.
    wanted: Vec<u32>,
    /// Of each kind, how many are.
    here: Vec<u32>,
    /// Of each kind, the places where nobody is. A replay does not ask, and they are empty.
    vacancies: Vec<Vec<CharacterId>>,
    pub random: Random,
    /// Comings that are owed, a fraction of one after every tick.
    due: f64,
    spawned: u64,
    despawned: u64,
    /// Since the last tick ended.
    changes: [u32; 2],
}

impl Population {
    /// For places where nobody is. Gives those too who are there from the start: of each kind as
    /// many as are wanted, drawn by the seed where there are more places.
    pub fn new(
        spawning: Spawning,
        wanted: Vec<u32>,
        characters: &Characters,
    ) -> (Self, Vec<CharacterId>) {
        let mut random = Random::new(characters.seed, STREAM);
        let mut vacancies: Vec<Vec<CharacterId>> = vec![Vec::new(); wanted.len()];
        for (kind, id) in characters.kinds.iter().zip(0..) {
            vacancies[kind.get()].push(CharacterId(id));
        }
        let mut first = Vec::new();
        if !matches!(spawning, Spawning::Gradual { .. }) {
            for (free, wanted) in vacancies.iter_mut().zip(&wanted) {
                if free.len() as u32 > *wanted {
                    shuffle(free, &mut random);
                }
                let stay = free.len() - *wanted as usize;
                first.extend(free.drain(stay..));
            }
            first.sort_unstable();
            // One by one comes nobody, unless somebody asks for it.
            if spawning == Spawning::Instant {
                vacancies.iter_mut().for_each(Vec::shrink_to_fit);
            }
        }
        let here = vec![0; wanted.len()];
        let mut this = Self { spawning, wanted, here, vacancies, random, ..Self::default() };
        first.iter().for_each(|id| this.here[characters.kinds[id.get()].get()] += 1);
        (this, first)
    }

    /// Characters that a crowd was made for.
    pub fn asked(&self) -> u32 {
        self.wanted.iter().sum()
    }

    /// From now on so many of each kind are to be there.
    pub fn ask_for(&mut self, wanted: Vec<u32>) {
        self.wanted = wanted;
    }

    /// True when characters come by themselves.
    pub fn moves(&self) -> bool {
        self.spawning.per_second() > 0.0
    }

    /// True when they go by themselves too.
    pub fn cycles(&self) -> bool {
        matches!(self.spawning, Spawning::Cycle { .. })
    }

    /// True when nobody is missing.
    pub fn is_complete(&self) -> bool {
        self.here.iter().sum::<u32>() >= self.asked()
    }

    /// How many are due after so many seconds that were played: at most as many as there are places.
    pub fn take_due(&mut self, seconds: f64, places: usize) -> usize {
        self.due += seconds * f64::from(self.spawning.per_second());
        let whole = self.due.floor().min(places as f64);
        self.due = (self.due - whole).min(1.0);
        whole as usize
    }

    /// Whom nobody waits for is not owed.
    pub fn forgive(&mut self) {
        self.due = 0.0;
    }

    /// The kind that is furthest from its share, of those with a free place.
    pub fn neediest(&self) -> Option<CharacterKind> {
        let missing = |k: usize| {
            let (wanted, here) = (f64::from(self.wanted[k]), f64::from(self.here[k]));
            (wanted - here) / wanted.max(1.0)
        };
        let free = (0..self.wanted.len()).filter(|&k| !self.vacancies[k].is_empty());
        // The first of equals.
        let most = free.max_by(|&a, &b| missing(a).total_cmp(&missing(b)).then(b.cmp(&a)))?;
        Some(CharacterKind(most as u16))
    }

    /// The kind that lacks most, of those that lack anybody.
    pub fn next_kind(&self) -> Option<CharacterKind> {
        self.neediest().filter(|kind| self.here[kind.get()] < self.wanted[kind.get()])
    }

    /// Takes a free place of a kind, drawn by lot.
    pub fn take_vacancy(&mut self, kind: CharacterKind) -> Option<CharacterId> {
        let free = &mut self.vacancies[kind.get()];
        (!free.is_empty()).then(|| free.swap_remove(self.random.below(free.len())))
    }

    /// A place is free.
    pub fn give_vacancy(&mut self, kind: CharacterKind, id: CharacterId) {
        self.vacancies[kind.get()].push(id);
    }

    /// From now on others say who comes where.
    pub fn close(&mut self) {
        self.vacancies.iter_mut().for_each(Vec::clear);
    }

    /// Somebody has come.
    pub fn came(&mut self, kind: CharacterKind) {
        self.here[kind.get()] += 1;
        self.spawned += 1;
        self.changes[0] += 1;
    }

    /// Somebody has gone.
    pub fn went(&mut self, kind: CharacterKind) {
        self.here[kind.get()] -= 1;
        self.despawned += 1;
        self.changes[1] += 1;
    }

    /// How many have come and gone since this was last asked.
    pub fn take_changes(&mut self) -> [u32; 2] {
        std::mem::take(&mut self.changes)
    }

    pub fn count_of(&self, kind: CharacterKind) -> u32 {
        self.here.get(kind.get()).copied().unwrap_or(0)
    }

    pub fn stats(&self) -> PopulationStats {
        let Self { spawned, despawned, .. } = *self;
        PopulationStats { here: self.here.iter().sum(), spawned, despawned }
    }

    /// Bytes of the lists of free places.
    pub fn heap_bytes(&self) -> u64 {
        let of = |free: &Vec<CharacterId>| (free.capacity() * size_of::<CharacterId>()) as u64;
        self.vacancies.iter().map(of).sum()
    }
}

/// Fisher and Yates, "Statistical tables", 1938, in Durstenfeld's order (1964).
fn shuffle(ids: &mut [CharacterId], random: &mut Random) {
    for last in (1..ids.len()).rev() {
        ids.swap(last, random.below(last + 1));
    }
}
