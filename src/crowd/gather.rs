//! Phase 7: instance records of what is visible, grouped by page.

use super::characters::{BLOCK, Characters, Place, bits, world_from_model};
use super::color::Colors;
use super::draw::{DrawGroup, InstanceRecord};
use super::follow::{FollowWord, Following};
use super::kind::Kind;
use super::leases::{Leases, SlotWord, WORD};
use super::ride::Ride;
use super::slots::Slots;
use crate::index::CharacterId;
use crate::motion::Terrain;
use crate::profile::{Phase, PhaseTimes};
use bytemuck::Zeroable;
use glam::Vec2;
use std::ops::Range;

/// Slot words that one job takes.
const WORDS_PER_JOB: usize = 8;

/// What the records of one page are made of.
pub(crate) struct Gather<'a> {
    pub characters: &'a Characters,
    pub following: &'a Following,
    pub kinds: &'a [Kind],
    pub rides: &'a [Ride],
    pub terrain: Terrain,
    /// Which frame this is, as gates count them.
    pub frame: u32,
    pub times: &'a PhaseTimes,
    /// What everybody is coloured by, if by anything.
    pub colors: Option<&'a Colors>,
}

/// Position (x, z), heading and individual scale of somebody, and the share of the newer pose.
type Drawn = ((Vec2, f32, f32), f32);

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

/// How many records there are of some words, their holders' and of those who share their palettes.
fn counts(words: &[SlotWord], follow: &[FollowWord]) -> [usize; 3] {
    SEEN.map(|by| {
        let own = words.iter().map(|w| w.seen(by).count_ones());
        own.chain(follow.iter().map(|word| word.doubles[by as usize])).sum::<u32>() as usize
    })
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
            let [camera, both, shadow] = counts(&leases.words, &leases.follow);
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
            self.fill(slots, leases, 0..leases.words.len(), [first, second, third]);
        }
        instances.truncate(end);
    }

    /// Fills the records of some words, halving them until they are a job.
    fn fill(
        &self,
        slots: &Slots,
        leases: &Leases,
        words: Range<usize>,
        records: [&mut [InstanceRecord]; 3],
    ) {
        if words.len() <= WORDS_PER_JOB {
            if records.iter().any(|r| !r.is_empty()) {
                self.times.worker(Phase::Gather, || {
                    for (by, records) in SEEN.into_iter().zip(records) {
                        self.write(slots, leases, words.clone(), (by, records));
                    }
                });
            }
            return;
        }
        let middle = words.start + words.len() / 2;
        let (words, later_words) = (words.start..middle, middle..words.end);
        let follow = leases.follow.get(words.clone()).unwrap_or_default();
        let counts = counts(&leases.words[words.clone()], follow);
        let [(a, later_a), (b, later_b), (c, later_c)] = {
            let [a, b, c] = records;
            [a.split_at_mut(counts[0]), b.split_at_mut(counts[1]), c.split_at_mut(counts[2])]
        };
        rayon::join(
            || self.fill(slots, leases, words, [a, b, c]),
            || self.fill(slots, leases, later_words, [later_a, later_b, later_c]),
        );
    }

    fn write(
        &self,
        slots: &Slots,
        leases: &Leases,
        words: Range<usize>,
        (by, records): (Seen, &mut [InstanceRecord]),
    ) {
        let kind = &self.kinds[leases.kind.get()];
        let mut records = records.iter_mut();
        for w in words {
            let own = leases.words[w].seen(by);
            let shared = leases.follow.get(w).map_or(0, |word| word.shared);
            for bit in bits(own | shared) {
                let slot = w * WORD + bit;
                let owner = leases.owners[slot];
                let [newer, before] = leases.are_cut(slot);
                let cut = u32::from(newer) * InstanceRecord::CUT
                    + u32::from(before) * InstanceRecord::BEFORE_CUT;
                let mut drawn = |id: CharacterId, (place, weight): Drawn| {
                    let Some(record) = records.next() else { return };
                    let ground = self.terrain.height(place.0);
                    *record = InstanceRecord {
                        world_from_model: world_from_model(kind, place, ground),
                        palette_offset: leases.palette_at(slot) as u32,
                        tint: self.tint(id, by, (leases, slot)),
                        id: id.0,
                        ground,
                        before_offset: leases.palette_before(slot) as u32,
                        weight,
                        fade: 0.0,
                        cut,
                    };
                };
                if own >> bit & 1 == 1 {
                    drawn(owner, self.of_holder(slots, leases, slot));
                }
                if shared >> bit & 1 == 1 {
                    let leader = self.of_slot(leases, slot, owner);
                    for double in self.following.doubles(owner).filter(|id| self.is_seen(*id, by)) {
                        drawn(double, self.beside(double, leader));
                    }
                }
            }
        }
    }

    fn tint(&self, id: CharacterId, by: Seen, (leases, slot): (&Leases, usize)) -> u32 {
        let Some(colors) = self.colors else { return self.characters.tints[id.get()] };
        let counted = !matches!(by, Seen::Shadow);
        let kind = &self.kinds[leases.kind.get()];
        colors.tint(id, counted, self.characters, kind, (leases, slot))
    }

    fn is_seen(&self, id: CharacterId, by: Seen) -> bool {
        let block = &self.characters.blocks[id.get() / BLOCK];
        let is = |mask: u64| mask >> (id.get() % BLOCK) & 1 == 1;
        match by {
            Seen::Camera => is(block.camera & !block.shadow),
            Seen::Both => is(block.camera & block.shadow),
            Seen::Shadow => is(block.shadow & !block.camera),
        }
    }

    /// Where the holder of a slot is drawn.
    fn of_holder(&self, slots: &Slots, leases: &Leases, slot: usize) -> Drawn {
        let id = leases.owners[slot];
        let Place::Following { leader, .. } = self.characters.places[id.get()] else {
            return self.of_slot(leases, slot, id);
        };
        let (_, weight) = self.of_slot(leases, slot, id);
        let at = self.characters.slots[leader.get()];
        let (leader, _) = match slots.leases.get(at.page as usize) {
            Some(leases) => self.of_slot(leases, at.slot as usize, leader),
            None => (self.place(leader).resolve(self.rides, &[]), 1.0),
        };
        self.beside(id, (leader, weight))
    }

    /// Where somebody is drawn who follows somebody drawn there.
    fn beside(&self, id: CharacterId, (leader, weight): Drawn) -> Drawn {
        match *self.place(id) {
            Place::Following { beside, scale, .. } => (beside.of(leader, scale), weight),
            _ => (leader, weight),
        }
    }

    /// Where somebody with a slot is drawn who follows nobody.
    fn of_slot(&self, leases: &Leases, slot: usize, id: CharacterId) -> Drawn {
        let place = self.place(id);
        if !leases.interpolates {
            return (place.resolve(self.rides, &[]), 1.0);
        }
        // Where the next evaluation comes as long after as the last one did, the newer pose is
        // reached just before.
        let frames = self.frame.wrapping_sub(leases.evaluated_at[slot]) + 1;
        let weight = (frames as f32 / f32::from(leases.gaps[slot])).min(1.0);
        (place.after(&leases.before[slot], weight).resolve(self.rides, &[]), weight)
    }

    fn place(&self, id: CharacterId) -> &Place {
        &self.characters.places[id.get()]
    }
}

/// Lists what was written this frame in each page: neighbouring whole slots as one range, ascending.
pub(crate) fn mark_dirty(slots: &mut Slots) {
    for (leases, page) in slots.leases.iter().zip(&mut slots.pages) {
        page.dirty.clear();
        for w in 0..leases.words.len() {
            let mut due = leases.written(w);
            while due != 0 {
                let first = due.trailing_zeros();
                let slot = w * WORD + first as usize;
                let [cut, _] = leases.are_cut(slot);
                // Palettes that are written by turns are not neighbours, nor are the rows of cut ones.
                let whole = due & !leases.cut[w][0];
                let count = match leases.interpolates || cut {
                    true => 1,
                    false => (whole >> first).trailing_ones(),
                };
                due &= u64::MAX.checked_shl(first + count).unwrap_or(0);
                let start = leases.palette_at(slot);
                let end = start + leases.rows(slot) + (count as usize - 1) * leases.palette_len;
                match page.dirty.last_mut() {
                    Some(last) if last.end as usize == start && !cut => last.end = end as u32,
                    _ => page.dirty.push(start as u32..end as u32),
                }
            }
        }
    }
}
