//! The slots of one page, and what their holders are evaluated with.

use super::characters::Place;
use super::draw::Page;
use super::follow::FollowWord;
use super::playback::Playback;
use super::slots::SlotShape;
use crate::index::{CharacterId, CharacterKind};
use crate::math::Mat3x4;
use crate::math::huge::reserve_huge;
use crate::motion::GroundMotion;
use crate::pose::Pose;
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
    /// The second of its two palettes is the newer one.
    pub second: u64,
    /// Its holder falls, lies or gets up.
    pub fallen: u64,
}

/// One bit per slot for 64 slots: which of their first palettes, and which of their second ones, were
/// written as the rows of a cut one.
pub(crate) type CutWord = [u64; 2];

/// The slots of one page, all of one kind. What their holders are evaluated with lies in the order
/// of the slots, so that workers take neighbouring slots as plain slices.
#[derive(Debug)]
pub(crate) struct Leases {
    pub kind: CharacterKind,
    /// Only clocks run: a slot has neither matrices nor poses.
    pub ticking: bool,
    /// Matrices of one palette.
    pub palette_len: usize,
    /// A slot has two palettes, which are written by turns.
    pub interpolates: bool,
    pub words: Vec<SlotWord>,
    /// Which palettes are cut; whoever writes one says so.
    pub cut: Vec<CutWord>,
    /// Rows of a cut palette.
    pub cut_len: usize,
    /// Who holds each slot; meaningless where it is not leased.
    pub owners: Vec<CharacterId>,
    /// The holders' clocks.
    pub playback: Vec<Playback>,
    /// What following means for the holders. Empty while nobody follows.
    pub follow: Vec<FollowWord>,
    /// Poses of those holders who are followed by another kind, in the order of their slots: of this
    /// frame, and as many as its words say.
    pub kept: Vec<Pose>,
    /// What each holder's root did in its last evaluation.
    pub roots: Vec<Covered>,
    /// The frame of each holder's last evaluation, counted as gates count them.
    pub evaluated_at: Vec<u32>,
    /// Frames from the evaluation before to that one, at least one.
    pub gaps: Vec<u8>,
    /// Where each holder was before its last evaluation moved it. Empty where nothing is
    /// interpolated.
    pub before: Vec<Place>,
    /// Words of one holder's row.
    pub row: usize,
    /// The holders' rows: what a graph and its driver keep. Empty for kinds without a graph.
    pub rows: Vec<u32>,
    /// Poses that the holders keep from frame to frame. Empty for kinds without a graph.
    pub poses: Vec<PoseState>,
    /// What a slot's poses begin as.
    pub blank: PoseState,
    pub keeps_poses: bool,
    /// Bytes of a slot.
    pub bytes: usize,
    /// Slots that the page may have.
    pub capacity: usize,
    pub used: usize,
    /// No slot below this word is free.
    pub full_below: usize,
}

/// What a root did from one evaluation to the next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Covered {
    /// The ground that it covered, model units.
    pub ground: GroundMotion,
    /// World seconds that it took.
    pub seconds: f32,
    /// World seconds for which it has been seen, or [`Covered::UNSEEN`].
    pub seen: f32,
}

impl Covered {
    /// Nobody saw it.
    const UNSEEN: f32 = -1.0;

    /// What a holder begins with.
    pub const NOTHING: Self =
        Self { ground: GroundMotion::IDENTITY, seconds: 0.0, seen: Self::UNSEEN };

    /// What follows upon this.
    pub fn next(&self, ground: GroundMotion, seconds: f32, seen: bool) -> Self {
        let seen = match seen {
            false => Self::UNSEEN,
            true if self.seen == Self::UNSEEN => 0.0,
            true => self.seen + seconds,
        };
        Self { ground, seconds, seen }
    }
}

impl Leases {
    pub fn new(kind: CharacterKind, shape: &SlotShape, capacity: usize) -> Self {
        Self {
            kind,
            ticking: false,
            palette_len: shape.palette_len,
            words: Vec::new(),
            cut: Vec::new(),
            cut_len: shape.cut.as_ref().map_or(shape.palette_len, |cut| cut.count()),
            owners: Vec::new(),
            playback: Vec::new(),
            follow: Vec::new(),
            kept: Vec::new(),
            roots: Vec::new(),
            evaluated_at: Vec::new(),
            gaps: Vec::new(),
            interpolates: shape.interpolates,
            before: Vec::new(),
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
    pub fn grow(
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
            let rows = (words * WORD).min(self.capacity) * self.stride();
            let more = rows.saturating_sub(page.matrices.len());
            if reserve_huge(&mut page.matrices, more).is_err() {
                return false;
            }
            page.matrices.resize(rows, Mat3x4::zeroed());
            // At worst every second slot is written; or one of the two palettes of each, or the rows
            // of one.
            let apart = self.interpolates || self.cut_len < self.palette_len;
            let ranges = if apart { words * WORD } else { words * WORD / 2 + 1 };
            page.dirty.reserve(ranges.saturating_sub(page.dirty.len()));
        }
        *held += bytes(words);
        self.words.resize(words, SlotWord::default());
        self.cut.resize(words, CutWord::default());
        self.owners.resize(words * WORD, CharacterId(u32::MAX));
        self.roots.resize(words * WORD, Covered::NOTHING);
        self.evaluated_at.resize(words * WORD, 0);
        self.gaps.resize(words * WORD, 1);
        if self.interpolates {
            self.before.resize(words * WORD, Place::NOWHERE);
        }
        self.playback.resize(words * WORD, Playback::IDLE);
        self.rows.resize(words * WORD * self.row, 0);
        if self.keeps_poses {
            let blank = &self.blank;
            self.poses.resize_with(words * WORD, || blank.twin());
        }
        true
    }

    /// Gives a free slot to a character, whose clocks move in.
    pub fn give(&mut self, slot: usize, owner: CharacterId, (playback, row): (&Playback, &[u32])) {
        self.words[slot / WORD].leased |= 1 << (slot % WORD);
        self.used += 1;
        self.owners[slot] = owner;
        self.playback[slot] = *playback;
        self.roots[slot] = Covered::NOTHING;
        self.row_mut(slot).copy_from_slice(row);
        // Nobody has seen the poses that the last holder kept.
        if let Some(poses) = self.poses.get_mut(slot) {
            poses.clear();
        }
    }

    /// Matrices of one slot.
    pub fn stride(&self) -> usize {
        self.palette_len << usize::from(self.interpolates)
    }

    /// Where in its page the newer palette of a slot begins.
    pub fn palette_at(&self, slot: usize) -> usize {
        let second = self.words[slot / WORD].second >> (slot % WORD) & 1;
        slot * self.stride() + second as usize * self.palette_len
    }

    /// Where the one before it begins; the same where there is but one.
    pub fn palette_before(&self, slot: usize) -> usize {
        let at = self.palette_at(slot);
        let start = slot * self.stride();
        if self.interpolates { 2 * start + self.palette_len - at } else { at }
    }

    /// Whether the newer palette of a slot is cut, and the one before it.
    pub fn are_cut(&self, slot: usize) -> [bool; 2] {
        let (word, bit) = (slot / WORD, slot % WORD);
        let newer = (self.words[word].second >> bit & 1) as usize;
        let before = if self.interpolates { 1 - newer } else { newer };
        [newer, before].map(|at| self.cut[word][at] >> bit & 1 == 1)
    }

    /// Rows of the newer palette of a slot.
    pub fn rows(&self, slot: usize) -> usize {
        if self.are_cut(slot)[0] { self.cut_len } else { self.palette_len }
    }

    /// A holder's row.
    pub fn row_mut(&mut self, slot: usize) -> &mut [u32] {
        &mut self.rows[slot * self.row..][..self.row]
    }

    pub fn lowest_free(&mut self) -> Option<usize> {
        let from = self.full_below;
        let word = self.words[from..].iter().position(|w| w.leased != u64::MAX)? + from;
        self.full_below = word;
        let slot = word * WORD + (!self.words[word].leased).trailing_zeros() as usize;
        (slot < self.capacity).then_some(slot)
    }
}
