//! Phases 3 and 4, by turns: a worker records the task lists of a chunk of characters and executes
//! them before it takes the next chunk.

use super::characters::{Place, bits, walked};
use super::draw::Page;
use super::feet::ground_patch;
use super::graph::GraphStep;
use super::kind::Kind;
use super::notify::{Notifies, NotifyEvent};
use super::playback::Playback;
use super::replay::{Replay, Spool};
use super::slots::{Covered, Leases, SlotWord, Slots, WORD};
use super::watch::Watcher;
use crate::graph::VmScratch;
use crate::index::CharacterId;
use crate::math::Mat3x4;
use crate::motion::{Fired, GroundMotion, Terrain};
use crate::pose::GroundPatch;
use crate::profile::{Phase, PhaseTimes};
use crate::task::validate::Validator;
use crate::task::{Context, ExecuteStats, PoseState, TaskList, Worker, WorkerOptions};
use rayon::prelude::*;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Lists that one worker records before it executes them, at most.
const CHUNK: u32 = WORD as u32;
/// The fewest that are worth a job of their own: one batch of the resolve kernel.
const LEAST_CHUNK: u32 = 8;

/// Notifies of one evaluation that there is room for from the start.
const FIRED: usize = 64;

/// One worker's own memory: pose buffers and the task lists of one chunk.
#[derive(Debug)]
pub(crate) struct Scratch {
    pub worker: Worker,
    lists: Vec<TaskList>,
    /// Notifies that were fired in this tick.
    heard: Vec<NotifyEvent>,
    validator: Validator,
    /// Interprets graphs.
    vm: VmScratch,
    /// What is recorded of this tick.
    spool: Spool,
    /// Evaluated in this tick by the first bones alone.
    cut: u32,
}

/// What the workers did since they were last asked.
#[derive(Clone, Debug, Default)]
pub(crate) struct CrewStats {
    pub tasks: ExecuteStats,
    /// Bytes of their pose memory.
    pub pose_bytes: u64,
    /// Characters that were posed by their first bones alone.
    pub cut: u32,
}

/// The scratch of every thread of the pool. A thread locks its own, so nobody ever waits.
#[derive(Debug, Default)]
pub(crate) struct Crew(Vec<Mutex<Scratch>>);

impl Crew {
    /// For lists of up to so many tasks.
    pub fn new(threads: usize, options: WorkerOptions, tasks: usize) -> Self {
        let list = |_| {
            let mut list = TaskList::default();
            list.reserve(tasks);
            list
        };
        let scratch = || Scratch {
            worker: Worker::new(options),
            lists: (0..CHUNK).map(list).collect(),
            heard: Vec::with_capacity(Notifies::ROOM),
            validator: Validator::default(),
            spool: Spool::default(),
            cut: 0,
            vm: VmScratch::with_room(FIRED),
        };
        Self((0..threads).map(|_| Mutex::new(scratch())).collect())
    }

    /// The current thread's scratch.
    fn mine(&self) -> MutexGuard<'_, Scratch> {
        let thread = rayon::current_thread_index().unwrap_or(0) % self.0.len().max(1);
        self.0[thread].lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn all(&mut self) -> impl Iterator<Item = &mut Scratch> {
        self.0.iter_mut().map(|s| s.get_mut().unwrap_or_else(PoisonError::into_inner))
    }

    /// Changes how everybody executes.
    pub fn set_options(&mut self, options: WorkerOptions) {
        self.all().for_each(|s| s.worker.set_options(options));
    }

    /// Makes room for lists of so many tasks.
    pub fn reserve_tasks(&mut self, tasks: usize) {
        self.all().flat_map(|s| &mut s.lists).for_each(|list| list.reserve(tasks));
    }

    /// What the workers heard in this tick; whoever takes it leaves the lists empty.
    pub fn heard(&mut self) -> impl Iterator<Item = &mut Vec<NotifyEvent>> {
        self.all().map(|s| &mut s.heard)
    }

    /// What the workers recorded in this tick; whoever takes it leaves it empty.
    pub fn spools(&mut self) -> impl Iterator<Item = &mut Spool> {
        self.all().map(|s| &mut s.spool)
    }

    /// Makes room for recording.
    pub fn reserve_spools(&mut self, characters: usize) {
        self.spools().for_each(|spool| spool.reserve(characters));
    }

    /// The workers' totals since they were last taken.
    pub fn take_stats(&mut self) -> CrewStats {
        let mut sum = CrewStats::default();
        for scratch in self.all() {
            sum.tasks.add(&scratch.worker.take_stats());
            sum.pose_bytes += scratch.worker.heap_bytes() as u64;
            sum.cut += std::mem::take(&mut scratch.cut);
        }
        sum
    }
}

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
    pub times: &'a PhaseTimes,
    /// Somebody looks at some of the lists.
    pub watched: Option<&'a Watcher>,
}

/// Some neighbouring slots of one page.
struct Run<'a> {
    words: &'a [SlotWord],
    owners: &'a [CharacterId],
    playback: &'a mut [Playback],
    roots: &'a mut [Covered],
    /// Words of each slot's row.
    row: usize,
    rows: &'a mut [u32],
    poses: &'a mut [PoseState],
    matrices: &'a mut [Mat3x4],
}

impl Evaluation<'_> {
    /// Evaluates everybody who is due. Gives their number.
    pub fn run(&self, slots: &mut Slots) -> u32 {
        let due: u32 = slots.leases.iter().flat_map(|l| &l.words).map(|w| w.due.count_ones()).sum();
        let threads = self.crew.0.len() as u32;
        // Several chunks for each thread, so that they end together.
        let chunk = (due / (4 * threads.max(1))).clamp(LEAST_CHUNK, CHUNK);
        let Slots { leases, pages, .. } = slots;
        leases.par_iter_mut().zip(pages.par_iter_mut()).for_each(|(leases, page)| {
            self.page(leases, page, chunk);
        });
        due
    }

    fn page(&self, leases: &mut Leases, page: &mut Page, chunk: u32) {
        let kind = &self.kinds[leases.kind.get()];
        let run = Run {
            words: &leases.words,
            owners: &leases.owners,
            playback: &mut leases.playback,
            roots: &mut leases.roots,
            row: leases.row,
            rows: &mut leases.rows,
            poses: &mut leases.poses,
            matrices: &mut page.matrices,
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
        let (a, b) = run.halve(kind.palette_len());
        match b {
            Some(b) => {
                rayon::join(|| self.divide(kind, a, chunk), || self.divide(kind, b, chunk));
            }
            // One word: at most as many as there are lists.
            None => self.chunk(kind, a),
        }
    }

    /// The ground where a character will be when this frame is drawn.
    fn ground(&self, kind: &Kind, id: CharacterId, motion: GroundMotion) -> Option<GroundPatch> {
        let Place::Standing { position, heading, scale, .. } = *self.places.get(id.get())? else {
            return None;
        };
        let step = motion.scaled(kind.scale * scale);
        let (position, heading) = walked((position, heading), step);
        Some(ground_patch(kind, self.terrain, (position, heading, scale)))
    }

    fn chunk(&self, kind: &Kind, run: Run<'_>) {
        let mut scratch = self.crew.mine();
        let Scratch { worker, lists, vm, heard, validator, spool, cut } = &mut *scratch;
        let (words, is) = (run.words, |bits: u64, slot: usize| bits >> (slot % WORD) & 1 == 1);
        let due = || {
            let words = words.iter().enumerate();
            words.flat_map(|(w, word)| bits(word.due).map(move |bit| (w * WORD + bit, word)))
        };
        // Lists of one cut are resolved together.
        let mut numbers = [0u32; 2];
        let mut count = |list: &TaskList| numbers[usize::from(list.cut().is_some())] += 1;
        let palette_len = kind.palette_len();
        self.times.worker(Phase::Record, || {
            for ((slot, word), list) in due().zip(lists.iter_mut()) {
                let entered = is(word.entered, slot);
                let owner = run.owners[slot];
                let playback = &mut run.playback[slot];
                let was = playback.now;
                let seconds = (self.now - was) as f32;
                if let Some(ground) = self.replay.take(owner, list) {
                    playback.now = self.now;
                    run.roots[slot] = Covered { ground, seconds };
                    list.sweep();
                    count(list);
                    continue;
                }
                let before = &run.matrices[slot * palette_len..][..palette_len];
                let row = &mut run.rows[slot * run.row..][..run.row];
                let mut bring = |until: f64, played: bool| {
                    let mut fire = |fired| heard.push(NotifyEvent::new(owner, fired, heard.len()));
                    // What was jumped over is not told.
                    let fire: Option<&mut dyn FnMut(_)> =
                        if played { Some(&mut fire) } else { None };
                    match &kind.graph {
                        None => simple(kind, playback, until, entered, fire, list),
                        Some(graph) => {
                            let dt = until - std::mem::replace(&mut playback.now, until);
                            let step = GraphStep { dt, entered, before };
                            let recorded = graph.record(kind, row, &step, fire, vm, list);
                            debug_assert!(recorded.is_ok(), "{recorded:?}");
                            recorded.unwrap_or_default()
                        }
                    }
                };
                let ground = match self.jumped {
                    None => bring(self.now, true),
                    // Whoever skipped frames has not yet played the time before the jump.
                    Some(jumped) if !entered && jumped != was => {
                        bring(jumped, true).then(bring(self.now, false))
                    }
                    Some(_) => bring(self.now, false),
                };
                run.roots[slot] = Covered { ground, seconds };
                if let Some(graph) = &kind.graph
                    && !graph.feet.is_empty()
                    && !self.terrain.is_flat()
                {
                    list.set_ground(self.ground(kind, owner, ground));
                }
                if is(word.cut, slot) {
                    list.set_cut(kind.low_detail);
                }
                count(list);
                if self.replay.records() {
                    spool.push(owner, ground, list);
                }
            }
        });
        self.times.worker(Phase::Execute, || {
            for (cut, _) in [false, true].into_iter().zip(numbers).filter(|(_, n)| *n > 0) {
                let (mut matrices, mut at) = (&mut *run.matrices, 0);
                let mut batch = worker.batch();
                let lists = due().zip(lists.iter_mut()).filter(|(_, l)| l.cut().is_some() == cut);
                for ((slot, _), list) in lists {
                    let (palette, rest) =
                        matrices[(slot - at) * palette_len..].split_at_mut(palette_len);
                    (matrices, at) = (rest, slot + 1);
                    let mut watched = self.watched.and_then(|w| w.capture(run.owners[slot]));
                    let capture = watched.as_deref_mut();
                    let mut nothing = PoseState::default();
                    let executed = match (run.poses.get_mut(slot), capture) {
                        (None, None) => batch.execute(&kind.rig, list, palette),
                        (kept, capture) => {
                            let state = kept.unwrap_or(&mut nothing);
                            let mut context = Context { masks: kind.masks(), state, capture };
                            batch.execute_with(&kind.rig, list, &mut context, palette)
                        }
                    };
                    debug_assert_eq!(executed, Ok(()), "a slot is as long as its kind's palette");
                }
                batch.finish();
            }
        });
        *cut += numbers[1];
        if let Some(watcher) = self.watched.filter(|w| w.validates()) {
            let executed = due().zip(lists.iter()).map(|((slot, _), list)| {
                (run.owners[slot], list, &run.matrices[slot * palette_len..][..palette_len])
            });
            watcher.validate(kind, validator, executed);
        }
    }
}

/// Brings simple playback to the present and records it. Gives the ground that was covered.
fn simple(
    kind: &Kind,
    playback: &mut Playback,
    now: f64,
    entered: bool,
    fire: Option<&mut dyn FnMut(Fired)>,
    list: &mut TaskList,
) -> GroundMotion {
    // What happened out of sight is not told.
    let motion = playback.advance_to(kind, now, fire.filter(|_| !entered));
    list.clear();
    let recorded = playback.record(kind, list);
    debug_assert_eq!(recorded, Ok(()), "a stack of clips fits a list");
    list.sweep();
    // Whoever comes into view goes on from where it was left.
    if entered { GroundMotion::IDENTITY } else { motion }
}

impl<'a> Run<'a> {
    /// The first and the second half of the words; one word is not halved.
    fn halve(self, palette_len: usize) -> (Self, Option<Self>) {
        let middle = self.words.len() / 2;
        if middle == 0 {
            return (self, None);
        }
        let (words, later_words) = self.words.split_at(middle);
        let slots = middle * WORD;
        let (owners, later_owners) = self.owners.split_at(slots);
        let (playback, later_playback) = self.playback.split_at_mut(slots);
        let (roots, later_roots) = self.roots.split_at_mut(slots);
        let row = self.row;
        let (rows, later_rows) = self.rows.split_at_mut(slots * row);
        let kept = slots.min(self.poses.len());
        let (poses, later_poses) = self.poses.split_at_mut(kept);
        let (matrices, later_matrices) = self.matrices.split_at_mut(slots * palette_len);
        let later = Run {
            words: later_words,
            owners: later_owners,
            playback: later_playback,
            roots: later_roots,
            row,
            rows: later_rows,
            poses: later_poses,
            matrices: later_matrices,
        };
        (Run { words, owners, playback, roots, row, rows, poses, matrices }, Some(later))
    }
}

#[cfg(test)]
mod tests {
    use crate::crowd::slots::WORD;
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
