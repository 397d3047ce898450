//! Phases 3 and 4, by turns: a worker records the task lists of a chunk of characters and executes
//! them before it takes the next chunk.

use super::characters::Place;
use super::color::Colors;
use super::crew::{CHUNK, Crew, Scratch};
use super::follow::FollowWord;
use super::kind::Kind;
use super::leases::{Covered, CutWord, Leases, SlotWord, WORD};
use super::playback::Playback;
use super::ragdoll::Falls;
use super::record::{Tools, due, is};
use super::replay::Replay;
use super::slots::Slots;
use super::watch::Watcher;
use crate::index::CharacterId;
use crate::math::Mat3x4;
use crate::motion::Terrain;
use crate::pose::{Detail, PaletteView, Pose};
use crate::profile::{Phase, PhaseTimes};
use crate::task::{Context, PoseState};
use rayon::prelude::*;

/// The fewest that are worth a job of their own: one batch of the resolve kernel.
const LEAST_CHUNK: u32 = 8;

/// What every chunk is evaluated with.
pub(crate) struct Evaluation<'a> {
    pub kinds: &'a [Kind],
    pub crew: &'a Crew,
    /// World time that the clocks are brought to.
    pub now: f64,
    /// Where the time after this one was jumped over, not played.
    pub jumped: Option<f64>,
    /// Where everybody was before this frame.
    pub places: &'a [Place],
    pub terrain: Terrain,
    pub replay: &'a Replay,
    /// Who falls, lies or gets up.
    pub falls: &'a Falls,
    pub times: &'a PhaseTimes,
    /// Somebody looks at some of the lists.
    pub watched: Option<&'a Watcher>,
    /// Somebody wants to know how many tasks each takes.
    pub colors: Option<&'a Colors>,
}

/// Some neighbouring slots of one page.
pub(super) struct Run<'a> {
    /// Nothing is executed.
    pub ticking: bool,
    pub palette_len: usize,
    /// Matrices of one slot.
    pub stride: usize,
    pub words: &'a [SlotWord],
    /// Which palettes are cut, and how many rows that leaves of each.
    pub cut: &'a mut [CutWord],
    pub cut_len: usize,
    pub owners: &'a [CharacterId],
    pub playback: &'a mut [Playback],
    pub roots: &'a mut [Covered],
    /// Words of each slot's row.
    pub row: usize,
    pub rows: &'a mut [u32],
    pub poses: &'a mut [PoseState],
    /// What following means for the holders; empty while nobody follows.
    pub follow: &'a [FollowWord],
    /// The poses that are kept of them.
    pub kept: &'a mut [Pose],
    pub matrices: &'a mut [Mat3x4],
}

impl Evaluation<'_> {
    /// Evaluates everybody who is due. Gives the number of those who were posed, and of those whose
    /// clocks alone ran.
    pub fn run(&self, slots: &mut Slots) -> (u32, u32) {
        let due = |leases: &[Leases]| -> u32 {
            leases.iter().flat_map(|l| &l.words).map(|w| w.due.count_ones()).sum()
        };
        let (posed, ticked) = (due(&slots.leases), due(&slots.ticking));
        // Several chunks for each thread, so that they end together.
        let chunk = (posed + ticked) / (4 * self.crew.threads().max(1) as u32);
        let chunk = chunk.clamp(LEAST_CHUNK, CHUNK);
        let Slots { leases, pages, ticking, .. } = slots;
        leases.par_iter_mut().zip(pages.par_iter_mut()).for_each(|(leases, page)| {
            self.page(leases, &mut page.matrices, chunk);
        });
        ticking.par_iter_mut().for_each(|leases| self.page(leases, &mut [], chunk));
        (posed, ticked)
    }

    fn page(&self, leases: &mut Leases, matrices: &mut [Mat3x4], chunk: u32) {
        let kind = &self.kinds[leases.kind.get()];
        let run = Run {
            ticking: leases.ticking,
            palette_len: leases.palette_len,
            stride: leases.stride(),
            words: &leases.words,
            cut: &mut leases.cut,
            cut_len: leases.cut_len,
            owners: &leases.owners,
            playback: &mut leases.playback,
            roots: &mut leases.roots,
            row: leases.row,
            rows: &mut leases.rows,
            poses: &mut leases.poses,
            follow: &leases.follow,
            kept: &mut leases.kept,
            matrices,
        };
        self.divide(kind, run, chunk);
    }

    /// Halves a run until its parts are chunks.
    fn divide(&self, kind: &Kind, run: Run<'_>, chunk: u32) {
        let due: u32 = run.words.iter().map(|w| w.due.count_ones()).sum();
        if due == 0 {
            return;
        }
        if due <= chunk {
            return self.chunk(kind, run);
        }
        let (a, b) = run.halve();
        match b {
            Some(b) => {
                rayon::join(|| self.divide(kind, a, chunk), || self.divide(kind, b, chunk));
            }
            // One word: at most as many as there are lists.
            None => self.chunk(kind, a),
        }
    }

    fn chunk(&self, kind: &Kind, mut run: Run<'_>) {
        let mut scratch = self.crew.mine();
        let Scratch { worker, lists, vm, heard, validator, spool, cut, .. } = &mut *scratch;
        let words = run.words;
        let Run { palette_len, stride, ticking, .. } = run;
        let newer = |word: &SlotWord, slot| usize::from(is(word.second, slot)) * palette_len;
        let numbers = self.times.worker(Phase::Record, || {
            self.record(kind, &mut run, lists, Tools { vm, heard, spool })
        });
        if ticking {
            return;
        }
        if run.cut_len < palette_len {
            for ((slot, word), list) in due(words).zip(lists.iter()) {
                let palette = &mut run.cut[slot / WORD][usize::from(is(word.second, slot))];
                let bit = 1 << (slot % WORD);
                *palette = *palette & !bit | if kind.detail(list) == Detail::Cut { bit } else { 0 };
            }
        }
        if let Some(colors) = self.colors {
            for ((slot, _), list) in due(words).zip(lists.iter()) {
                colors.note(run.owners[slot], list.reachable_count());
            }
        }
        // Lists of one cut are resolved together.
        self.times.worker(Phase::Execute, || {
            for (cut, _) in [false, true].into_iter().zip(numbers).filter(|(_, n)| *n > 0) {
                let (mut matrices, mut at) = (&mut *run.matrices, 0);
                let mut batch = worker.batch();
                let lists = due(words)
                    .zip(lists.iter_mut())
                    .filter(|(_, l)| l.cut().is_some() == cut && !l.is_staged());
                for ((slot, word), list) in lists {
                    let (own, rest) = matrices[(slot - at) * stride..].split_at_mut(stride);
                    (matrices, at) = (rest, slot + 1);
                    let rows = match kind.detail(list) {
                        Detail::Whole => palette_len,
                        Detail::Cut => run.cut_len,
                    };
                    let palette = &mut own[newer(word, slot)..][..rows];
                    let mut watched = self.watched.and_then(|w| w.capture(run.owners[slot]));
                    let capture = watched.as_deref_mut();
                    let kept = kept_pose(run.follow, run.kept, slot);
                    let mut nothing = PoseState::default();
                    let mut fall = self.fall(word, slot, run.owners[slot]);
                    let state = match &mut fall {
                        Some(fall) => Some(&mut fall.state),
                        None => run.poses.get_mut(slot),
                    };
                    let executed = match (state, capture, kept) {
                        (None, None, None) => batch.execute(&kind.rig, list, palette),
                        (state, capture, kept) => {
                            let state = state.unwrap_or(&mut nothing);
                            let mut context = Context { masks: kind.masks(), state, capture, kept };
                            batch.execute_with(&kind.rig, list, &mut context, palette)
                        }
                    };
                    debug_assert_eq!(executed, Ok(()), "a slot is as long as its kind's palette");
                }
                batch.finish();
            }
        });
        if words.iter().any(|word| word.fallen != 0) {
            self.times.worker(Phase::Execute, || {
                let mut batch = worker.batch();
                for ((slot, _), list) in due(words).zip(lists.iter_mut()) {
                    if list.is_staged() {
                        self.suspend(kind, run.owners[slot], list, &mut batch);
                    }
                }
            });
        }
        *cut += numbers[1];
        if let Some(watcher) = self.watched.filter(|w| w.validates()) {
            let stand =
                due(words).zip(lists.iter()).filter(|((slot, word), _)| !is(word.fallen, *slot));
            let executed = stand.map(|((slot, word), list)| {
                let at = slot * stride + newer(word, slot);
                let matrices = &run.matrices[at..][..palette_len];
                let view = match kind.rig.cut_rows() {
                    Some(rows) if kind.detail(list) == Detail::Cut => {
                        PaletteView::cut(matrices, rows)
                    }
                    _ => PaletteView::whole(matrices),
                };
                (run.owners[slot], list, view)
            });
            watcher.validate(kind, validator, executed);
        }
    }
}

/// Where the pose of a slot's holder is to be kept, if it is, of those that some words keep.
fn kept_pose<'a>(follow: &[FollowWord], kept: &'a mut [Pose], slot: usize) -> Option<&'a mut Pose> {
    let word = follow.get(slot / WORD)?;
    let before = word.kept_before - follow[0].kept_before;
    kept.get_mut(before as usize + word.rank(slot % WORD)?)
}

impl<'a> Run<'a> {
    /// The first and the second half of the words; one word is not halved.
    fn halve(self) -> (Self, Option<Self>) {
        let middle = self.words.len() / 2;
        if middle == 0 {
            return (self, None);
        }
        let (words, later_words) = self.words.split_at(middle);
        let (cut, later_cut) = self.cut.split_at_mut(middle);
        let slots = middle * WORD;
        let (owners, later_owners) = self.owners.split_at(slots);
        let (playback, later_playback) = self.playback.split_at_mut(slots);
        let (roots, later_roots) = self.roots.split_at_mut(slots);
        let Self { ticking, palette_len, cut_len, stride, row, .. } = self;
        let (rows, later_rows) = self.rows.split_at_mut(slots * row);
        let kept = slots.min(self.poses.len());
        let (poses, later_poses) = self.poses.split_at_mut(kept);
        let (follow, later_follow) = self.follow.split_at(middle.min(self.follow.len()));
        let kept: u32 = follow.iter().map(|word| word.keeps.count_ones()).sum();
        let (kept, later_kept) = self.kept.split_at_mut(kept as usize);
        let (matrices, later_matrices) = self.matrices.split_at_mut(slots * stride);
        let later = Run {
            ticking,
            palette_len,
            stride,
            words: later_words,
            cut: later_cut,
            cut_len,
            owners: later_owners,
            playback: later_playback,
            roots: later_roots,
            row,
            rows: later_rows,
            poses: later_poses,
            follow: later_follow,
            kept: later_kept,
            matrices: later_matrices,
        };
        let first = Run {
            ticking,
            palette_len,
            stride,
            words,
            cut,
            cut_len,
            owners,
            playback,
            roots,
            row,
            rows,
            poses,
            follow,
            kept,
            matrices,
        };
        (first, Some(later))
    }
}

#[cfg(test)]
mod tests {
    use crate::crowd::leases::WORD;
    use crate::crowd::testing::{CROWD, SKY, crowd, tick};

    #[test]
    fn everybody_who_is_evaluated_is_brought_to_the_worlds_time() {
        for threads in [1, 3] {
            let mut crowd = crowd(200, threads);
            // Some time that nobody sees, then some that is seen.
            for target in [CROWD, SKY, SKY, SKY, SKY, SKY, SKY, SKY, SKY, CROWD, CROWD] {
                let evaluated = tick(&mut crowd, target).evaluated as usize;
                let mut found = 0;
                for leases in &crowd.world.slots.leases {
                    for (slot, playback) in leases.playback.iter().enumerate() {
                        if leases.words[slot / WORD].due >> (slot % WORD) & 1 == 1 {
                            assert_eq!(playback.now, crowd.world.now, "slot {slot}");
                            found += 1;
                        }
                    }
                }
                assert_eq!(found, evaluated);
            }
        }
    }
}
