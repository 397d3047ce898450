//! An earlier frame of a character in the place of what the last tick left of it: in its palette,
//! and in what is drawn. The next tick puts everything back before it reads any of it.

use super::Crowd;
use super::draw::{DrawGroup, InstanceRecord, Page};
use super::observe::CharacterFrame;
use super::slots::Slots;
use super::world::World;
use crate::index::CharacterId;
use crate::math::Mat3x4;
use std::ops::Range;

/// What was there before.
#[derive(Debug, Default)]
pub(crate) struct StandIn {
    page: u32,
    /// Where in the page, and what.
    saved: Vec<(usize, Vec<Mat3x4>)>,
}

impl StandIn {
    /// Puts the palettes back. Gives what the renderer has to be told of.
    fn put_back(self, slots: &mut Slots) -> (u32, Vec<Range<u32>>) {
        let Some(page) = slots.pages.get_mut(self.page as usize) else {
            return (self.page, Vec::new());
        };
        let put = |(at, matrices): (usize, Vec<Mat3x4>)| {
            let range = at..at + matrices.len();
            page.matrices.get_mut(range.clone())?.copy_from_slice(&matrices);
            Some(range.start as u32..range.end as u32)
        };
        (self.page, self.saved.into_iter().filter_map(put).collect())
    }
}

impl Page {
    /// Has the renderer know that a palette was written, if it does not yet.
    fn touch(&mut self, range: Range<u32>) {
        let after = self.dirty.partition_point(|dirty| dirty.start <= range.start);
        let known = after.checked_sub(1).and_then(|before| self.dirty.get_mut(before));
        match known.filter(|known| known.end > range.start) {
            // The rows of a cut one may be all that is known.
            Some(known) => known.end = known.end.max(range.end),
            None => self.dirty.insert(after, range),
        }
    }
}

/// Has the renderer know of palettes that were put back, once it is known what else a tick wrote.
pub(crate) fn touch(slots: &mut Slots, (page, ranges): (u32, Vec<Range<u32>>)) {
    if let Some(page) = slots.pages.get_mut(page as usize) {
        ranges.into_iter().for_each(|range| page.touch(range));
    }
}

impl World {
    /// Before a tick: everybody is as the last tick left it.
    pub fn put_back(&mut self) {
        if let Some(stand_in) = self.stand_in.take() {
            self.put_back = Some(stand_in.put_back(&mut self.slots));
        }
    }
}

impl Crowd {
    /// Has what is drawn show a character as it was drawn in an earlier frame, where it was then,
    /// until the next tick. Whoever shares its palette shows its pose too, in its own place. False
    /// for a frame in which nobody saw it, and for a character that holds no palette now.
    pub fn show_as(&mut self, frame: &CharacterFrame) -> bool {
        self.world.show_as(frame).is_some()
    }
}

impl World {
    fn show_as(&mut self, frame: &CharacterFrame) -> Option<()> {
        // Twice between two ticks: the first is gone.
        if let Some(first) = self.stand_in.take() {
            let ranges = first.put_back(&mut self.slots);
            touch(&mut self.slots, ranges);
        }
        let (record, palettes) = frame.drawn()?;
        let id = self.resolve(frame.who).ok()?;
        let kind = self.characters.kinds[id.get()];
        let at = self.characters.slots[self.holder(id).get()];
        let leases = self.slots.leases.get(at.page as usize).filter(|l| l.kind == kind)?;
        let slot = at.slot as usize;
        let length = leases.palette_len;
        let (newer, older) = (leases.palette_at(slot), leases.palette_before(slot));
        let mixed = palettes.len() == 2 * length && newer != older;
        let mut written = vec![(newer, palettes.get(..length)?)];
        if mixed {
            written.push((older, palettes.get(length..)?));
        }
        let page = self.slots.pages.get_mut(at.page as usize)?;
        let mut stand_in = StandIn { page: at.page, saved: Vec::with_capacity(written.len()) };
        for (at, palette) in written {
            let matrices = page.matrices.get_mut(at..at + length)?;
            stand_in.saved.push((at, matrices.to_vec()));
            matrices.copy_from_slice(palette);
            page.touch(at as u32..(at + length) as u32);
        }
        self.stand_in = Some(stand_in);
        // Whoever shares the palettes is told that they are whole now.
        let whole = |offset: u32| offset == newer as u32 || mixed && offset == older as u32;
        for group in self.groups.iter().filter(|group| group.page == at.page) {
            let (camera, shadow) = (&group.camera, &group.shadow);
            let all = camera.start.min(shadow.start)..camera.end.max(shadow.end);
            for record in &mut self.instances[all.start as usize..all.end as usize] {
                let before = whole(record.before_offset);
                record.cut &= !(u32::from(whole(record.palette_offset)) * InstanceRecord::CUT);
                record.cut &= !(u32::from(before) * InstanceRecord::BEFORE_CUT);
            }
        }
        let mut record = *record;
        record.palette_offset = newer as u32;
        record.before_offset = if mixed { older as u32 } else { newer as u32 };
        record.weight = if mixed { record.weight } else { 1.0 };
        match self.record(at.page, CharacterId(record.id)).map(|(_, index)| index) {
            Some(index) => self.instances[index] = record,
            None => {
                let end = self.instances.len() as u32;
                self.instances.push(record);
                let (camera, shadow) = (end..end + 1, end..end + 1);
                self.groups.push(DrawGroup { kind, page: at.page, camera, shadow });
            }
        }
        Some(())
    }
}
