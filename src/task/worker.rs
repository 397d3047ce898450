//! One thread's scratch, and the batch that lists are executed in.

use super::execute::{self, Context, Half, Pending, Run};
use super::pool::{Buffer, PosePool};
use super::state::{NO_MASKS, PoseState};
use super::{ExecuteStats, TaskError, TaskList, zones};
use crate::index::BoneCount;
use crate::math::{Lanes, Mat3x4};
use crate::pose::kernels::mesh_additive::MeshScratch;
use crate::pose::kernels::resolve::{self, BATCH, ResolveScratch};
use crate::pose::{Detail, Pose, Rig};
use crate::profile;
use std::time::Instant;

/// One list in this many is timed task by task.
const TIMED_LISTS: u64 = 64;

/// How lists are executed. Neither switch changes a bit of any palette.
#[derive(Clone, Copy, Debug)]
pub struct WorkerOptions {
    /// The kernels' instructions.
    pub lanes: Lanes,
    /// Skip what the output does not depend on.
    pub prune: bool,
    /// Let the last reader of a buffer write into it.
    pub steal: bool,
}

impl Default for WorkerOptions {
    fn default() -> Self {
        Self { lanes: Lanes::best(), prune: true, steal: true }
    }
}

/// Buffers that most lists have in use at once, at most.
const USUAL_BUFFERS: usize = 4;

/// One thread's scratch: pose buffers, use counts, resolve slots, totals. Lists of any rig may
/// follow one another.
#[derive(Debug)]
pub struct Worker {
    pub(super) options: WorkerOptions,
    pub(super) pool: PosePool,
    /// Each task's result.
    pub(super) results: Vec<Pending>,
    pub(super) mesh: MeshScratch,
    pub(super) stats: ExecuteStats,
    /// Whether a profiler wants a zone per list and task; asked when a batch opens.
    pub(super) listening: bool,
    /// A fault that a test wants to see found.
    #[cfg(test)]
    pub(crate) plant: super::tests::Plant,
    scratch: ResolveScratch,
}

impl Worker {
    /// A worker without buffers; they come with the first lists.
    pub fn new(options: WorkerOptions) -> Self {
        Self {
            options,
            pool: PosePool::default(),
            results: Vec::new(),
            mesh: MeshScratch::default(),
            stats: ExecuteStats::default(),
            listening: false,
            #[cfg(test)]
            plant: super::tests::Plant::None,
            scratch: ResolveScratch::default(),
        }
    }

    /// Makes room for lists of a rig: a batch of finished poses, and what a list has in use beside
    /// them unless it is an unusual one. Who comes late to what is rare need not allocate then.
    pub fn reserve(&mut self, rig: &Rig) {
        let buffers: [_; BATCH + USUAL_BUFFERS] =
            std::array::from_fn(|_| self.pool.acquire(rig.shape()));
        buffers.into_iter().rev().for_each(|buffer| self.pool.release(buffer));
        self.pool.high_water = 0;
    }

    /// How it executes.
    pub fn options(&self) -> WorkerOptions {
        self.options
    }

    /// Changes how it executes, from the next batch on.
    pub fn set_options(&mut self, options: WorkerOptions) {
        self.options = options;
    }

    /// Opens a batch. Finished poses wait in it until eight of one rig and cut can be resolved
    /// together; [`Batch::finish`] resolves the rest.
    pub fn batch<'a>(&mut self) -> Batch<'_, 'a> {
        self.listening = profile::listening();
        #[cfg(test)]
        {
            self.listening |= self.plant == super::tests::Plant::Listener;
        }
        Batch { worker: self, waiting: Waiting::default(), nothing: PoseState::default() }
    }

    fn is_timed(&self) -> bool {
        self.stats.lists.is_multiple_of(TIMED_LISTS)
    }

    /// The totals since they were last taken.
    pub fn take_stats(&mut self) -> ExecuteStats {
        std::mem::take(&mut self.stats)
    }

    /// Bytes of heap memory of the pose buffers and the resolve slots.
    pub fn heap_bytes(&self) -> usize {
        self.pool.heap_bytes() + self.scratch.heap_bytes()
    }
}

/// Lists being executed by one worker. A palette is complete when the batch is finished (or
/// dropped), not when `execute` returns.
#[derive(Debug)]
pub struct Batch<'w, 'a> {
    worker: &'w mut Worker,
    waiting: Waiting<'a>,
    /// What a list that keeps nothing keeps.
    nothing: PoseState,
}

/// Finished poses of one rig, cut and detail that are not resolved yet.
#[derive(Debug, Default)]
struct Waiting<'a> {
    rig: Option<&'a Rig>,
    active: BoneCount,
    detail: Detail,
    count: usize,
    /// A list that was timed waits in here, so its resolve is timed as well.
    timed: bool,
    buffers: [Option<Buffer>; BATCH],
    palettes: [&'a mut [Mat3x4]; BATCH],
}

impl<'a> Batch<'_, 'a> {
    /// Executes a list that keeps nothing from frame to frame; the palette is written now or when
    /// the batch is finished. It is as long as the rig's, or, for a list that animates the
    /// low-detail bones at most, as there are [`CutRows`](crate::pose::CutRows): then these are
    /// written.
    ///
    /// # Errors
    /// [`TaskError::Palette`] when the palette has another length. Nothing is executed then.
    pub fn execute(
        &mut self,
        rig: &'a Rig,
        list: &mut TaskList,
        palette: &'a mut [Mat3x4],
    ) -> Result<(), TaskError> {
        let Self { worker, waiting, nothing } = self;
        let mut context = Context { masks: &NO_MASKS, state: nothing, capture: None, kept: None };
        waiting.run(worker, rig, list, Half::Whole, &mut context, palette)
    }

    /// Executes a list with its program's masks and its character's kept poses.
    ///
    /// # Errors
    /// As [`Batch::execute`].
    pub fn execute_with(
        &mut self,
        rig: &'a Rig,
        list: &mut TaskList,
        context: &mut Context<'_>,
        palette: &'a mut [Mat3x4],
    ) -> Result<(), TaskError> {
        self.waiting.run(self.worker, rig, list, Half::Whole, context, palette)
    }

    /// Executes the part of a list that comes before the physics step. What the rest of it reads
    /// stays with the character, so that any worker may go on.
    pub fn execute_before_physics(
        &mut self,
        rig: &'a Rig,
        list: &mut TaskList,
        context: &mut Context<'_>,
    ) {
        let (active, timed) = (list.active(rig.bone_count()), self.worker.is_timed());
        let ground = list.ground();
        let mut run = Run { rig, active, half: Half::Before, timed, ground, context };
        execute::run(self.worker, list, &mut run);
    }

    /// Executes the rest of a list whose first part was executed with the same character's state.
    ///
    /// # Errors
    /// As [`Batch::execute`].
    pub fn execute_after_physics(
        &mut self,
        rig: &'a Rig,
        list: &mut TaskList,
        context: &mut Context<'_>,
        palette: &'a mut [Mat3x4],
    ) -> Result<(), TaskError> {
        self.waiting.run(self.worker, rig, list, Half::After, context, palette)
    }

    /// Resolves what still waits.
    pub fn finish(mut self) {
        self.waiting.flush(self.worker);
    }
}

impl Drop for Batch<'_, '_> {
    fn drop(&mut self) {
        self.waiting.flush(self.worker);
    }
}

impl<'a> Waiting<'a> {
    fn run(
        &mut self,
        worker: &mut Worker,
        rig: &'a Rig,
        list: &mut TaskList,
        half: Half,
        context: &mut Context<'_>,
        palette: &'a mut [Mat3x4],
    ) -> Result<(), TaskError> {
        let (len, needed) = (palette.len(), rig.palette_len());
        let active = list.active(rig.bone_count());
        let detail = rig.detail_of(len, active).ok_or(TaskError::Palette { len, needed })?;
        let same = self.rig.is_some_and(|r| std::ptr::eq(r, rig))
            && (self.active, self.detail) == (active, detail);
        if !same {
            self.flush(worker);
            (self.rig, self.active, self.detail) = (Some(rig), active, detail);
        }
        let timed = worker.is_timed();
        self.timed |= timed;
        let ground = list.ground();
        let mut run = Run { rig, active, half, timed, ground, context };
        let buffer = execute::run(worker, list, &mut run);
        if let Some(kept) = run.context.kept.as_deref_mut() {
            let pose = buffer.map_or(rig.reference(), |buffer| worker.pool.get(buffer));
            kept.fit(rig.shape());
            kept.copy_from(pose, active);
            rig.fill_from_reference(kept, active, rig.bone_count());
        }
        self.buffers[self.count] = buffer;
        self.palettes[self.count] = palette;
        self.count += 1;
        if self.count == BATCH {
            self.flush(worker);
        }
        Ok(())
    }

    fn flush(&mut self, worker: &mut Worker) {
        let Self { rig: Some(rig), active, detail, count, timed, buffers, palettes } = self else {
            return;
        };
        let (count, timed) = (std::mem::take(count), std::mem::take(timed));
        if count == 0 {
            return;
        }
        let _zone = profile::zone(&zones::RESOLVE, worker.listening);
        let start = timed.then(Instant::now);
        let reference = rig.reference();
        let poses: [&Pose; BATCH] =
            std::array::from_fn(|k| buffers[k].map_or(reference, |b| worker.pool.get(b)));
        let resolved = resolve::resolve(
            worker.options.lanes,
            rig,
            &poses[..count],
            (*active, *detail),
            &mut worker.scratch,
            &mut palettes[..count],
        );
        // Lengths were checked when the lists came in.
        debug_assert_eq!(resolved, Ok(()));
        for (buffer, palette) in buffers.iter_mut().zip(palettes).take(count) {
            if let Some(buffer) = buffer.take() {
                worker.pool.release(buffer);
            }
            *palette = &mut [];
        }
        let work = &mut worker.stats.resolved;
        work.count += count as u64;
        if let Some(start) = start {
            work.timed += count as u64;
            work.timed_ns += start.elapsed().as_nanos() as u64;
        }
    }
}
