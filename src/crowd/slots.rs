//! Palette slots: pages of matrices, and who holds which part of them.

use super::characters::SlotAddress;
use super::draw::Page;
use super::playback::Playback;
use crate::index::{CharacterId, CharacterKind};
use crate::math::Mat3x4;
use crate::math::huge::reserve_huge;
use crate::motion::GroundMotion;
use crate::task::PoseState;
use bytemuck::Zeroable;

/// Slots whose bits share a word.
pub(crate) const WORD: usize = 64;

/// One bit per slot for 64 slots, on a cache line of its own, because workers write it.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
pub(crate) struct SlotWord {
    /// Somebody holds it.
    pub leased: u64,
    /// Its holder evaluates this frame.
    pub due: u64,
    /// Its holder had no slot until this frame.
    pub entered: u64,
    /// Its holder is in the camera's frustum.
    pub camera: u64,
    /// Its holder is in the shadow map's frustum.
    pub shadow: u64,
    /// Its holder is far enough for the first bones alone.
    pub cut: u64,
}

/// The slots of one page, all of one kind. What their holders are evaluated with lies in the order
/// of the slots, so that workers take neighbouring slots as plain slices.
#[derive(Debug)]
pub(crate) struct Leases {
    pub kind: CharacterKind,
    /// Only clocks run: a slot has neither matrices nor poses.
    pub ticking: bool,
    /// Matrices of one slot.
    pub palette_len: usize,
    pub words: Vec<SlotWord>,
    /// Who holds each slot; meaningless where it is not leased.
    pub owners: Vec<CharacterId>,
    /// The holders' clocks.
    pub playback: Vec<Playback>,
    /// What each holder's root did in its last evaluation.
    pub roots: Vec<Covered>,
    /// The frame of each holder's last evaluation, counted as gates count them.
    pub evaluated_at: Vec<u32>,
    /// Words of one holder's row.
    pub row: usize,
    /// The holders' rows: what a graph and its driver keep. Empty for kinds without a graph.
    pub rows: Vec<u32>,
    /// Poses that the holders keep from frame to frame. Empty for kinds without a graph.
    pub poses: Vec<PoseState>,
    /// What a slot's poses begin as.
    blank: PoseState,
    keeps_poses: bool,
    /// Bytes of a slot.
    bytes: usize,
    /// Slots that the page may have.
    capacity: usize,
    used: usize,
    /// No slot below this word is free.
    full_below: usize,
}

/// What a root did from one evaluation to the next.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Covered {
    /// The ground that it covered, model units.
    pub ground: GroundMotion,
    /// World seconds that it took.
    pub seconds: f32,
}

/// All pages. A page belongs to one kind; there are as many as it takes, and they never shrink.
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
    /// Words of its row.
    pub row: usize,
    /// Its poses, if it keeps any.
    pub poses: Option<PoseState>,
}

impl SlotShape {
    /// Bytes that one slot takes.
    pub fn bytes(&self) -> usize {
        let poses = self.poses.as_ref().map_or(0, |p| size_of::<PoseState>() + p.heap_bytes());
        Slots::bytes_per_slot(self.palette_len) + self.row * size_of::<u32>() + poses
    }

    /// What a slot holds in which clocks alone run.
    fn without_pose(&self) -> Self {
        Self { palette_len: 0, row: self.row, poses: None }
    }
}

/// Bytes of a slot beside its matrices.
const ROW: usize =
    size_of::<CharacterId>() + size_of::<Playback>() + size_of::<Covered>() + size_of::<u32>();

impl Slots {
    pub fn new(page_matrices: u32, limit: u64) -> Self {
        Self { page_matrices: page_matrices as usize, limit, ..Self::default() }
    }

    /// Bytes that one slot takes of a kind that keeps neither a row nor poses.
    pub const fn bytes_per_slot(palette_len: usize) -> usize {
        palette_len * size_of::<Mat3x4>() + ROW + size_of::<SlotWord>() / WORD
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

    fn at_mut(&mut self, at: SlotAddress) -> &mut Leases {
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
        let leases = match at.page & SlotAddress::TICKING {
            0 => &self.leases[at.page as usize],
            flag => &self.ticking[(at.page ^ flag) as usize],
        };
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
        let capacity = (self.page_matrices / shape.palette_len.max(1)).max(1);
        self.pages.push(Page::default());
        self.leases.push(Leases::new(kind, shape, capacity));
    }

    /// Grows a page to at least `slots` slots.
    fn grow(&mut self, page: usize, slots: usize) -> bool {
        let Self { leases, pages, held, limit, .. } = self;
        leases[page].grow(Some(&mut pages[page]), slots, (held, *limit))
    }
}

impl Leases {
    fn new(kind: CharacterKind, shape: &SlotShape, capacity: usize) -> Self {
        Self {
            kind,
            ticking: false,
            palette_len: shape.palette_len,
            words: Vec::new(),
            owners: Vec::new(),
            playback: Vec::new(),
            roots: Vec::new(),
            evaluated_at: Vec::new(),
            row: shape.row,
            rows: Vec::new(),
            poses: Vec::new(),
            blank: shape.poses.as_ref().map(PoseState::twin).unwrap_or_default(),
            bytes: shape.bytes(),
            keeps_poses: shape.poses.is_some(),
            capacity,
            used: 0,
            full_below: 0,
        }
    }

    /// Grows to at least `slots` slots, a quarter more than there are when that is not over the
    /// limits. False when the memory limit (`held`, and how much may be) forbids even `slots`.
    fn grow(
        &mut self,
        page: Option<&mut Page>,
        slots: usize,
        (held, limit): (&mut u64, u64),
    ) -> bool {
        let has = self.words.len();
        let most = self.capacity.div_ceil(WORD);
        let words = |slots: usize| slots.div_ceil(WORD).clamp(has, most);
        let bytes = |words: usize| ((words - has) * WORD * self.bytes) as u64;
        let (generous, needed) = (words(slots.max(has * WORD * 5 / 4)), words(slots));
        let allowed = |words: &usize| held.saturating_add(bytes(*words)) <= limit;
        let Some(words) = [generous, needed].into_iter().find(allowed) else { return false };
        if let Some(page) = page {
            let rows = (words * WORD).min(self.capacity) * self.palette_len;
            let more = rows.saturating_sub(page.matrices.len());
            if reserve_huge(&mut page.matrices, more).is_err() {
                return false;
            }
            page.matrices.resize(rows, Mat3x4::zeroed());
            // At worst every second slot is written.
            let ranges = words * WORD / 2 + 1;
            page.dirty.reserve(ranges.saturating_sub(page.dirty.len()));
        }
        *held += bytes(words);
        self.words.resize(words, SlotWord::default());
        self.owners.resize(words * WORD, CharacterId(u32::MAX));
        self.roots.resize(words * WORD, Covered::default());
        self.evaluated_at.resize(words * WORD, 0);
        self.playback.resize(words * WORD, Playback::IDLE);
        self.rows.resize(words * WORD * self.row, 0);
        if self.keeps_poses {
            let blank = &self.blank;
            self.poses.resize_with(words * WORD, || blank.twin());
        }
        true
    }

    /// Gives a free slot to a character, whose clocks move in.
    fn give(&mut self, slot: usize, owner: CharacterId, (playback, row): (&Playback, &[u32])) {
        self.words[slot / WORD].leased |= 1 << (slot % WORD);
        self.used += 1;
        self.owners[slot] = owner;
        self.playback[slot] = *playback;
        self.row_mut(slot).copy_from_slice(row);
        // Nobody has seen the poses that the last holder kept.
        if let Some(poses) = self.poses.get_mut(slot) {
            poses.clear();
        }
    }

    /// A holder's row.
    pub fn row_mut(&mut self, slot: usize) -> &mut [u32] {
        &mut self.rows[slot * self.row..][..self.row]
    }

    fn lowest_free(&mut self) -> Option<usize> {
        let from = self.full_below;
        let word = self.words[from..].iter().position(|w| w.leased != u64::MAX)? + from;
        self.full_below = word;
        let slot = word * WORD + (!self.words[word].leased).trailing_zeros() as usize;
        (slot < self.capacity).then_some(slot)
    }
}

#[cfg(test)]
mod tests;
