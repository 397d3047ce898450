//! Palette slots: pages of matrices, and who holds which part of them.

use super::characters::{Place, SlotAddress};
use super::draw::Page;
use super::leases::{Covered, CutWord, Leases, SlotWord, WORD};
use super::playback::Playback;
use crate::index::{CharacterId, CharacterKind};
use crate::math::Mat3x4;
use crate::pose::CutRows;
use crate::task::PoseState;
use std::sync::Arc;

/// All pages. A page belongs to one kind; there are as many as it takes, and they never shrink
/// ([`Slots::drop_pages`] forgets them all).
#[derive(Debug, Default)]
pub(crate) struct Slots {
    pub pages: Vec<Page>,
    /// One per page.
    pub leases: Vec<Leases>,
    /// Of those whose clocks run while nobody needs their poses: at most one per kind.
    pub ticking: Vec<Leases>,
    page_matrices: usize,
    /// Bytes that pages may take.
    limit: u64,
    held: u64,
}

/// What a slot of a kind holds.
#[derive(Debug)]
pub(crate) struct SlotShape {
    pub palette_len: usize,
    /// What there is of a palette while its holder is cut, where that is less.
    pub cut: Option<Arc<CutRows>>,
    /// Words of its row.
    pub row: usize,
    /// Its poses, if it keeps any.
    pub poses: Option<PoseState>,
    /// It has two palettes, the last one and the one before.
    pub interpolates: bool,
}

impl SlotShape {
    /// Bytes that one slot takes.
    pub fn bytes(&self) -> usize {
        let poses = self.poses.as_ref().map_or(0, |p| size_of::<PoseState>() + p.heap_bytes());
        Slots::bytes_per_slot(self.palette_len, self.interpolates)
            + self.row * size_of::<u32>()
            + poses
    }

    /// What a slot holds in which clocks alone run.
    fn without_pose(&self) -> Self {
        Self { palette_len: 0, cut: None, row: self.row, poses: None, interpolates: false }
    }
}

/// Bytes of a slot beside its matrices.
const ROW: usize = size_of::<CharacterId>()
    + size_of::<Playback>()
    + size_of::<Covered>()
    + size_of::<u32>()
    + size_of::<u8>();

impl Slots {
    pub fn new(page_matrices: u32, limit: u64) -> Self {
        Self { page_matrices: page_matrices as usize, limit, ..Self::default() }
    }

    /// Bytes that one slot takes of a kind that keeps neither a row nor poses.
    pub const fn bytes_per_slot(palette_len: usize, interpolates: bool) -> usize {
        let of_one = palette_len * size_of::<Mat3x4>();
        let palettes = if interpolates { 2 * of_one + size_of::<Place>() } else { of_one };
        palettes + ROW + (size_of::<SlotWord>() + size_of::<CutWord>()) / WORD
    }

    /// Bytes of matrices in all pages.
    pub fn palette_bytes(&self) -> u64 {
        self.pages.iter().map(|p| size_of_val(p.matrices.as_slice()) as u64).sum()
    }

    /// Slots that are held.
    pub fn used(&self) -> usize {
        self.leases.iter().map(|l| l.used).sum()
    }

    /// Makes room for `more` slots of a kind at once, as far as the memory limit allows: many who
    /// come into view together should not make pages grow step by step.
    pub fn reserve(&mut self, kind: CharacterKind, shape: &SlotShape, mut more: usize) {
        for page in 0.. {
            if more == 0 {
                return;
            }
            if page == self.leases.len() {
                self.add_page(kind, shape);
            }
            let leases = &self.leases[page];
            if leases.kind == kind {
                let take = more.min(leases.capacity - leases.used);
                let has_room = leases.words.len() * WORD >= leases.used + take;
                if !has_room && !self.grow(page, self.leases[page].used + take) {
                    return;
                }
                more -= take;
            }
        }
    }

    /// Gives the lowest free slot of a kind to a character, whose clocks move in. `None` when the
    /// memory limit is reached.
    pub fn lease(
        &mut self,
        kind: CharacterKind,
        shape: &SlotShape,
        owner: CharacterId,
        (playback, row): (&Playback, &[u32]),
    ) -> Option<SlotAddress> {
        let page = self.page_with_room(kind, shape);
        let slot = match self.leases[page].lowest_free() {
            Some(slot) => slot,
            None => {
                let wanted = self.leases[page].used + 1;
                if !self.grow(page, wanted) {
                    return None;
                }
                self.leases[page].lowest_free()?
            }
        };
        self.leases[page].give(slot, owner, (playback, row));
        Some(SlotAddress { page: page as u32, slot: slot as u32 })
    }

    /// Gives a slot without matrices to a character, whose clocks move in. `None` when the memory
    /// limit is reached.
    pub fn tick(
        &mut self,
        kind: CharacterKind,
        shape: &SlotShape,
        owner: CharacterId,
        state: (&Playback, &[u32]),
    ) -> Option<SlotAddress> {
        let Self { ticking, held, limit, .. } = self;
        let at = ticking.iter().position(|l| l.kind == kind).unwrap_or_else(|| {
            let mut leases = Leases::new(kind, &shape.without_pose(), usize::MAX);
            leases.ticking = true;
            ticking.push(leases);
            ticking.len() - 1
        });
        let leases = &mut ticking[at];
        let slot = match leases.lowest_free() {
            Some(slot) => slot,
            None => {
                if !leases.grow(None, leases.used + 1, (held, *limit)) {
                    return None;
                }
                leases.lowest_free()?
            }
        };
        leases.give(slot, owner, state);
        Some(SlotAddress { page: at as u32 | SlotAddress::TICKING, slot: slot as u32 })
    }

    /// All slots, with matrices or without.
    pub fn all(&mut self) -> impl Iterator<Item = &mut Leases> {
        self.leases.iter_mut().chain(&mut self.ticking)
    }

    /// Slots without matrices that there are of a kind, held or not.
    pub fn ticking_of(&self, kind: CharacterKind) -> usize {
        self.ticking.iter().filter(|l| l.kind == kind).map(|l| l.owners.len()).sum()
    }

    /// The leases that an address is in.
    pub fn at(&self, at: SlotAddress) -> &Leases {
        match at.page & SlotAddress::TICKING {
            0 => &self.leases[at.page as usize],
            flag => &self.ticking[(at.page ^ flag) as usize],
        }
    }

    /// The same, to be written.
    pub fn at_mut(&mut self, at: SlotAddress) -> &mut Leases {
        match at.page & SlotAddress::TICKING {
            0 => &mut self.leases[at.page as usize],
            flag => &mut self.ticking[(at.page ^ flag) as usize],
        }
    }

    /// Slots that the pages of a kind have, held or not.
    pub fn slots_of(&self, kind: CharacterKind) -> usize {
        self.leases.iter().filter(|l| l.kind == kind).map(|l| l.owners.len()).sum()
    }

    /// Bytes that pages take, and that they may take.
    pub fn held_and_limit(&self) -> (u64, u64) {
        (self.held, self.limit)
    }

    /// The most matrices that a page may have.
    pub fn page_matrices(&self) -> u32 {
        self.page_matrices as u32
    }

    /// Forgets all pages, in which nobody holds a slot any more.
    pub fn drop_pages(&mut self) {
        debug_assert_eq!(self.used(), 0, "every slot was given back");
        let bytes = |leases: &Leases| (leases.owners.len() * leases.bytes) as u64;
        self.held -= self.leases.iter().map(bytes).sum::<u64>();
        self.leases.clear();
        self.pages.clear();
    }

    /// Gives the slots of a kind other rows and poses, of which nobody keeps any; `pass_on` gets
    /// each holder, its old row and its new one, which is zero.
    pub fn reshape(
        &mut self,
        kind: CharacterKind,
        shape: &SlotShape,
        mut pass_on: impl FnMut(CharacterId, &mut [u32], &mut [u32]),
    ) {
        let Self { leases, ticking, held, .. } = self;
        for leases in leases.iter_mut().chain(ticking).filter(|l| l.kind == kind) {
            let slots = leases.owners.len();
            let length = std::mem::replace(&mut leases.row, shape.row);
            let mut rows = std::mem::replace(&mut leases.rows, vec![0; slots * shape.row]);
            for slot in 0..slots {
                if leases.words[slot / WORD].leased >> (slot % WORD) & 1 == 1 {
                    let old = &mut rows[slot * length..][..length];
                    pass_on(leases.owners[slot], old, leases.row_mut(slot));
                }
            }
            let ticking = leases.ticking.then(|| shape.without_pose());
            let shape = ticking.as_ref().unwrap_or(shape);
            leases.blank = shape.poses.as_ref().map(PoseState::twin).unwrap_or_default();
            leases.keeps_poses = shape.poses.is_some();
            leases.poses.clear();
            if leases.keeps_poses {
                leases.poses.resize_with(slots, || leases.blank.twin());
            }
            *held -= (slots * leases.bytes) as u64;
            leases.bytes = shape.bytes();
            *held += (slots * leases.bytes) as u64;
        }
    }

    /// The row of a slot's holder.
    pub fn row(&self, at: SlotAddress) -> &[u32] {
        let leases = self.at(at);
        &leases.rows[at.slot as usize * leases.row..][..leases.row]
    }

    /// Takes a slot back, and the clocks and the row out of it.
    pub fn release(&mut self, at: SlotAddress, row: &mut [u32]) -> Playback {
        let (leases, slot) = (self.at_mut(at), at.slot as usize);
        leases.words[slot / WORD].leased &= !(1 << (slot % WORD));
        leases.used -= 1;
        leases.full_below = leases.full_below.min(slot / WORD);
        row.copy_from_slice(leases.row_mut(slot));
        leases.playback[slot]
    }

    /// The first page of a kind that is not full; a new one if there is none.
    fn page_with_room(&mut self, kind: CharacterKind, shape: &SlotShape) -> usize {
        let found = self.leases.iter().position(|l| l.kind == kind && l.used < l.capacity);
        found.unwrap_or_else(|| {
            self.add_page(kind, shape);
            self.leases.len() - 1
        })
    }

    fn add_page(&mut self, kind: CharacterKind, shape: &SlotShape) {
        let stride = shape.palette_len << usize::from(shape.interpolates);
        let capacity = (self.page_matrices / stride.max(1)).max(1);
        let palette_len = shape.palette_len as u32;
        let cut = shape.cut.clone();
        self.pages.push(Page { palette_len, cut, ..Page::default() });
        self.leases.push(Leases::new(kind, shape, capacity));
    }

    /// Grows a page to at least `slots` slots.
    fn grow(&mut self, page: usize, slots: usize) -> bool {
        let Self { leases, pages, held, limit, .. } = self;
        leases[page].grow(Some(&mut pages[page]), slots, (held, *limit))
    }
}

#[cfg(test)]
mod tests;
