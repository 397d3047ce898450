//! What workers own: pose buffers, lists, and what they heard and recorded.

use super::follow::CopyScratch;
use super::leases::WORD;
use super::notify::{Notifies, NotifyEvent};
use super::replay::Spool;
use crate::graph::VmScratch;
use crate::pose::Rig;
use crate::task::validate::Validator;
use crate::task::{ExecuteStats, TaskList, Worker, WorkerOptions};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Lists that one worker records before it executes them, at most.
pub(crate) const CHUNK: u32 = WORD as u32;
/// Notifies of one evaluation that there is room for from the start.
const FIRED: usize = 64;

/// One worker's own memory: pose buffers and the task lists of one chunk.
#[derive(Debug)]
pub(crate) struct Scratch {
    pub worker: Worker,
    pub lists: Vec<TaskList>,
    /// Notifies that were fired in this tick.
    pub heard: Vec<NotifyEvent>,
    pub validator: Validator,
    /// Interprets graphs.
    pub vm: VmScratch,
    /// What is recorded of this tick.
    pub spool: Spool,
    /// Evaluated in this tick by the first bones alone.
    pub cut: u32,
    /// Of followers.
    pub copies: CopyScratch,
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
            copies: CopyScratch::default(),
            vm: VmScratch::with_room(FIRED),
        };
        let mut this = Self((0..threads).map(|_| Mutex::new(scratch())).collect());
        this.set_options(options);
        this
    }

    /// Makes room for characters of a rig, on every worker.
    pub fn reserve_poses(&mut self, rig: &Rig) {
        self.all().for_each(|scratch| scratch.worker.reserve(rig));
    }

    /// Number of threads.
    pub fn threads(&self) -> usize {
        self.0.len()
    }

    /// The current thread's scratch.
    pub fn mine(&self) -> MutexGuard<'_, Scratch> {
        let thread = rayon::current_thread_index().unwrap_or(0) % self.0.len().max(1);
        self.0[thread].lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn all(&mut self) -> impl Iterator<Item = &mut Scratch> {
        self.0.iter_mut().map(|s| s.get_mut().unwrap_or_else(PoisonError::into_inner))
    }

    /// Changes how everybody executes. Where nothing is pruned, everything is recorded.
    pub fn set_options(&mut self, options: WorkerOptions) {
        for scratch in self.all() {
            scratch.worker.set_options(options);
            scratch.vm.record_everything(!options.prune);
            scratch.vm.set_lanes(options.lanes);
        }
    }

    /// How everybody executes.
    pub fn options(&self) -> WorkerOptions {
        let first = self.0.first().map(|s| s.lock().unwrap_or_else(PoisonError::into_inner));
        first.map_or_else(WorkerOptions::default, |scratch| scratch.worker.options())
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
