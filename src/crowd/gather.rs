//! Phase 7: instance records of what is visible, grouped by page.

use super::characters::{Characters, bits, world_from_model};
use super::draw::{DrawGroup, InstanceRecord};
use super::kind::Kind;
use super::leases::{Leases, SlotWord, WORD};
use super::ride::Ride;
use super::slots::Slots;
use crate::index::CharacterId;
use crate::motion::Terrain;
use crate::profile::{Phase, PhaseTimes};
use bytemuck::Zeroable;

/// Slot words that one job takes.
const WORDS_PER_JOB: usize = 8;

/// What the records of one page are made of.
pub(crate) struct Gather<'a> {
    pub characters: &'a Characters,
    pub kinds: &'a [Kind],
    pub rides: &'a [Ride],
    pub terrain: Terrain,
    /// Which frame this is, as gates count them.
    pub frame: u32,
    pub times: &'a PhaseTimes,
}

/// Who sees an instance; the order of records within a group.
#[derive(Clone, Copy)]
enum Seen {
    Camera,
    Both,
    Shadow,
}

const SEEN: [Seen; 3] = [Seen::Camera, Seen::Both, Seen::Shadow];

impl SlotWord {
    fn seen(&self, by: Seen) -> u64 {
        match by {
            Seen::Camera => self.camera & !self.shadow,
            Seen::Both => self.camera & self.shadow,
            Seen::Shadow => self.shadow & !self.camera,
        }
    }
}

fn counts(words: &[SlotWord]) -> [usize; 3] {
    SEEN.map(|by| words.iter().map(|w| w.seen(by).count_ones() as usize).sum())
}

impl Gather<'_> {
    /// Writes all records and one group for each page with anything visible.
    pub fn run(
        &self,
        slots: &Slots,
        instances: &mut Vec<InstanceRecord>,
        groups: &mut Vec<DrawGroup>,
    ) {
        groups.clear();
        let mut end = 0;
        for (page, leases) in slots.leases.iter().enumerate() {
            let [camera, both, shadow] = counts(&leases.words);
            let (start, seen) = (end, camera + both + shadow);
            if seen == 0 {
                continue;
            }
            end += seen;
            let at = |offset: usize| (start + offset) as u32;
            groups.push(DrawGroup {
                kind: leases.kind,
                page: page as u32,
                camera: at(0)..at(camera + both),
                shadow: at(camera)..at(seen),
            });
            if instances.len() < end {
                instances.resize(end, InstanceRecord::zeroed());
            }
            let (first, rest) = instances[start..end].split_at_mut(camera);
            let (second, third) = rest.split_at_mut(both);
            self.fill(leases, (0, &leases.words), [first, second, third]);
        }
        instances.truncate(end);
    }

    /// Fills the records of some words, halving them until they are a job.
    fn fill(
        &self,
        leases: &Leases,
        (first, words): (usize, &[SlotWord]),
        records: [&mut [InstanceRecord]; 3],
    ) {
        if words.len() <= WORDS_PER_JOB {
            if records.iter().any(|r| !r.is_empty()) {
                self.times.worker(Phase::Gather, || {
                    for (by, records) in SEEN.into_iter().zip(records) {
                        self.write(leases, (first, words), by, records);
                    }
                });
            }
            return;
        }
        let middle = words.len() / 2;
        let (words, later_words) = words.split_at(middle);
        let counts = counts(words);
        let [(a, later_a), (b, later_b), (c, later_c)] = {
            let [a, b, c] = records;
            [a.split_at_mut(counts[0]), b.split_at_mut(counts[1]), c.split_at_mut(counts[2])]
        };
        rayon::join(
            || self.fill(leases, (first, words), [a, b, c]),
            || self.fill(leases, (first + middle, later_words), [later_a, later_b, later_c]),
        );
    }

    fn write(
        &self,
        leases: &Leases,
        (first, words): (usize, &[SlotWord]),
        by: Seen,
        records: &mut [InstanceRecord],
    ) {
        let kind = &self.kinds[leases.kind.get()];
        let slots = words
            .iter()
            .enumerate()
            .flat_map(|(w, word)| bits(word.seen(by)).map(move |bit| (first + w) * WORD + bit));
        for (slot, record) in slots.zip(records) {
            let CharacterId(id) = leases.owners[slot];
            let place = &self.characters.places[id as usize];
            let (place, weight) = if leases.interpolates {
                // Where the next evaluation comes as long after as the last one did, the newer
                // pose is reached just before.
                let frames = self.frame.wrapping_sub(leases.evaluated_at[slot]) + 1;
                let weight = (frames as f32 / f32::from(leases.gaps[slot])).min(1.0);
                (place.after(&leases.before[slot], weight).resolve(self.rides), weight)
            } else {
                (place.resolve(self.rides), 1.0)
            };
            let ground = self.terrain.height(place.0);
            *record = InstanceRecord {
                world_from_model: world_from_model(kind, place, ground),
                palette_offset: leases.palette_at(slot) as u32,
                tint: self.characters.tints[id as usize],
                id,
                ground,
                before_offset: leases.palette_before(slot) as u32,
                weight,
                unused: [0; 2],
            };
        }
    }
}

/// Lists what was written this frame in each page: neighbouring slots as one range, ascending.
pub(crate) fn mark_dirty(slots: &mut Slots) {
    for (leases, page) in slots.leases.iter().zip(&mut slots.pages) {
        page.dirty.clear();
        for (w, word) in leases.words.iter().enumerate() {
            let mut due = word.due;
            while due != 0 {
                let first = due.trailing_zeros();
                // Palettes that are written by turns are not neighbours.
                let run = (due >> first).trailing_ones();
                let count = if leases.interpolates { 1 } else { run };
                due &= u64::MAX.checked_shl(first + count).unwrap_or(0);
                let start = leases.palette_at(w * WORD + first as usize);
                let end = start + count as usize * leases.palette_len;
                match page.dirty.last_mut() {
                    Some(last) if last.end as usize == start => last.end = end as u32,
                    _ => page.dirty.push(start as u32..end as u32),
                }
            }
        }
    }
}
