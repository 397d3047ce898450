//! Colours that tell characters apart by what is done for them. While nobody asks for any, a
//! character keeps its own.

use super::characters::{BLOCK, Characters};
use super::kind::Kind;
use super::leases::{Leases, WORD};
use super::tint::linear;
use super::{Crowd, UpdateMode};
use crate::graph::MachineId;
use crate::index::CharacterId;
use std::sync::atomic::{AtomicU8, AtomicU32, Ordering};

/// What the colour of a character tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ColorBy {
    /// How often it is evaluated.
    Rate,
    /// With how many of its bones.
    SkeletonLod,
    /// What it does while nobody sees it.
    Mode,
    /// In which state the largest machine of its graph is.
    State,
    /// Whether it was evaluated in this frame.
    Evaluated,
    /// How many tasks it takes a frame.
    Cost,
}

/// One colour and whom it tells of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColorKey<'a> {
    /// What those have in common who have it.
    pub name: &'a str,
    /// sRGB.
    pub color: [u8; 3],
    /// How many of them the camera saw in the last tick.
    pub count: u32,
}

/// From what costs little to what costs much, sRGB.
pub const HEAT: [[u8; 3]; 6] =
    [[72, 108, 222], [46, 168, 178], [96, 186, 84], [244, 208, 63], [246, 140, 52], [222, 54, 60]];
/// What is out of the ordinary, sRGB.
const APART: [u8; 3] = [196, 110, 220];
/// What there is nothing to tell of, sRGB.
const PLAIN: [u8; 3] = [168, 168, 172];
/// Colours that are as far apart as so many can be, sRGB.
const MANY: [[u8; 3]; 12] = [
    [72, 108, 222],
    [246, 140, 52],
    [96, 186, 84],
    [222, 54, 60],
    [148, 96, 208],
    [150, 104, 84],
    [240, 130, 200],
    [244, 208, 63],
    [46, 168, 178],
    [40, 110, 60],
    [176, 220, 110],
    [130, 30, 70],
];

/// Tasks a frame below which a cost has each of [`HEAT`]'s colours but the last.
const COSTS: [(f32, &str); HEAT.len() - 1] =
    [(1.0, "under 1"), (2.0, "1"), (4.0, "2 or 3"), (8.0, "4 to 7"), (12.0, "8 to 11")];

/// An instance's tint ([`InstanceRecord::tint`](super::InstanceRecord::tint)) for a colour, sRGB,
/// that is to be seen instead of its own: without alpha.
pub fn color_tint(color: [u8; 3]) -> u32 {
    linear(color) & 0x00ff_ffff
}

#[derive(Debug, Default)]
struct Bucket {
    name: String,
    color: [u8; 3],
    tint: u32,
    count: AtomicU32,
}

/// What characters are coloured by, and how many have each colour.
#[derive(Debug)]
pub(crate) struct Colors {
    by: ColorBy,
    buckets: Vec<Bucket>,
    /// Of each kind, its largest machine, and the bucket of each of its states.
    states: Vec<Option<(MachineId, Vec<usize>)>>,
    /// Of each character, tasks of its last list.
    tasks: Vec<AtomicU8>,
}

impl Colors {
    fn new(by: ColorBy, kinds: &[Kind], places: usize) -> Self {
        let mut this = Self { by, buckets: Vec::new(), states: Vec::new(), tasks: Vec::new() };
        let mut add = |name: &str, color| {
            let (name, tint) = (name.to_owned(), color_tint(color));
            this.buckets.push(Bucket { name, color, tint, count: AtomicU32::new(0) });
            this.buckets.len() - 1
        };
        match by {
            ColorBy::Rate => {
                for (name, heat) in
                    [("every frame", 5), ("every 2nd", 3), ("every 3rd", 1), ("every 4th", 0)]
                {
                    add(name, HEAT[heat]);
                }
            }
            ColorBy::SkeletonLod => {
                add("all bones", HEAT[4]);
                add("first bones alone", HEAT[0]);
                add("has no bone to spare", PLAIN);
            }
            ColorBy::Mode => {
                add("while it is seen", HEAT[2]);
                add("always", HEAT[5]);
                add("its clocks always", HEAT[3]);
                add("follows somebody", APART);
            }
            ColorBy::Evaluated => {
                add("in this frame", HEAT[5]);
                add("before", HEAT[0]);
            }
            ColorBy::Cost => {
                for ((_, name), color) in COSTS.iter().zip(HEAT) {
                    add(name, color);
                }
                add("12 and more", HEAT[HEAT.len() - 1]);
                this.tasks.resize_with(places, AtomicU8::default);
            }
            ColorBy::State => {
                add("no machine", PLAIN);
                let mut names: Vec<&str> = Vec::new();
                for kind in kinds {
                    let program = kind.graph.as_ref().map(|graph| graph.bound.program());
                    let machines = program.map_or(&[][..], |program| &program.machines);
                    let of = |at: &usize| machines[*at].states.len();
                    // The first of equals.
                    let largest = (0..machines.len()).rev().max_by_key(of);
                    this.states.push(largest.map(|at| {
                        let states = machines[at].states.iter().map(|state| {
                            let known = names.iter().position(|name| *name == state.name);
                            1 + known.unwrap_or_else(|| {
                                names.push(&state.name);
                                names.len() - 1
                            })
                        });
                        (MachineId(at as u16), states.collect())
                    }));
                }
                for (name, color) in names.iter().zip(MANY.iter().cycle()) {
                    add(name, *color);
                }
            }
        }
        this
    }

    /// A tick begins.
    pub fn begin(&mut self) {
        self.buckets.iter_mut().for_each(|bucket| *bucket.count.get_mut() = 0);
    }

    /// A character's list has so many tasks that are executed.
    pub fn note(&self, id: CharacterId, tasks: usize) {
        if let Some(kept) = self.tasks.get(id.get()) {
            kept.store(tasks.min(usize::from(u8::MAX)) as u8, Ordering::Relaxed);
        }
    }

    /// The tint of a character that is drawn from a slot, its own or its leader's. One that the
    /// camera sees is counted.
    pub fn tint(
        &self,
        id: CharacterId,
        counted: bool,
        characters: &Characters,
        kind: &Kind,
        (leases, slot): (&Leases, usize),
    ) -> u32 {
        let at = self.bucket(id, characters, kind, (leases, slot));
        let Some(bucket) = self.buckets.get(at) else { return color_tint(PLAIN) };
        if counted {
            bucket.count.fetch_add(1, Ordering::Relaxed);
        }
        bucket.tint
    }

    fn bucket(
        &self,
        id: CharacterId,
        characters: &Characters,
        kind: &Kind,
        (leases, slot): (&Leases, usize),
    ) -> usize {
        let (block, i) = (&characters.blocks[id.get() / BLOCK], id.get() % BLOCK);
        let owner = leases.owners[slot];
        match self.by {
            ColorBy::Rate => block.rates.far.iter().map(|far| (far >> i & 1) as usize).sum(),
            ColorBy::SkeletonLod if kind.low_detail.is_none() => 2,
            ColorBy::SkeletonLod => (block.rates.cut >> i & 1) as usize,
            ColorBy::Mode if characters.follows(id) => 3,
            ColorBy::Mode => match block.update_mode(i) {
                UpdateMode::TickWhenRendered => 0,
                UpdateMode::AlwaysTickPose => 1,
                UpdateMode::AlwaysTickClocks => 2,
            },
            ColorBy::State => self.state(kind, leases, slot).unwrap_or(0),
            ColorBy::Evaluated => {
                let written = leases.written(slot / WORD) >> (slot % WORD) & 1 == 1;
                usize::from(!written)
            }
            // Whoever shares a palette takes none itself.
            ColorBy::Cost if owner != id => 0,
            ColorBy::Cost => {
                let tasks = self.tasks.get(id.get()).map_or(0, |kept| kept.load(Ordering::Relaxed));
                let each = f32::from(tasks) / f32::from(leases.gaps[slot].max(1));
                COSTS.iter().position(|(below, _)| each < *below).unwrap_or(COSTS.len())
            }
        }
    }

    fn state(&self, kind: &Kind, leases: &Leases, slot: usize) -> Option<usize> {
        let (machine, buckets) = self.states.get(leases.kind.get())?.as_ref()?;
        let bound = &kind.graph.as_ref()?.bound;
        let row = &leases.rows[slot * leases.row..][..leases.row];
        let state = bound.state(row.get(..bound.words())?, *machine)?;
        buckets.get(state.get()).copied()
    }
}

impl Crowd {
    /// Colours everybody by something from the next tick on, or as they are. To be said again when
    /// a graph has been replaced: states are told apart by what it names.
    pub fn color_by(&mut self, by: Option<ColorBy>) {
        let (kinds, places) = (&self.world.kinds, self.world.characters.kinds.len());
        self.world.colors = by.map(|by| Colors::new(by, kinds, places));
    }

    /// What the colours of the last tick tell; nothing while everybody is as they are.
    pub fn colors(&self) -> impl Iterator<Item = ColorKey<'_>> {
        let buckets = self.world.colors.iter().flat_map(|colors| &colors.buckets);
        buckets.map(|bucket| ColorKey {
            name: &bucket.name,
            color: bucket.color,
            count: bucket.count.load(Ordering::Relaxed),
        })
    }
}

#[cfg(test)]
mod tests;
