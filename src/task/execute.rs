//! The forward sweep: one list, one thread. Which buffer each task writes, and when it comes back.

use super::capture::Capture;
use super::operation;
use super::pool::Buffer;
use super::state::{Masks, PoseState};
use super::worker::Worker;
use super::{Task, TaskIndex, TaskList, zones};
use crate::index::BoneCount;
use crate::pose::kernels::{additive, sample};
use crate::pose::{GroundPatch, Pose, Rig};
use crate::profile::zone;
use std::time::Instant;

/// Which part of a list runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Half {
    /// All of it.
    Whole,
    /// What neither waits for the physics step nor reads what does.
    Before,
    /// The rest, from what the first half left behind.
    After,
}

/// What a list refers to beside its rig.
#[derive(Debug)]
pub struct Context<'a> {
    /// The program's masks.
    pub masks: &'a Masks,
    /// What the character keeps from frame to frame.
    pub state: &'a mut PoseState,
    /// Filled with what the executor decides, when somebody looks at this character.
    pub capture: Option<&'a mut Capture>,
    /// Becomes a copy of the finished pose, all of its bones, when somebody follows this character.
    pub kept: Option<&'a mut Pose>,
}

/// A task's result while somebody waits for it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Pending {
    buffer: Option<Buffer>,
    /// Readers that have not run yet, the output among them.
    waiting: u32,
}

/// Everything about the list that runs.
pub(super) struct Run<'a, 'c> {
    pub rig: &'a Rig,
    pub active: BoneCount,
    pub half: Half,
    pub timed: bool,
    /// Of the list.
    pub ground: Option<GroundPatch>,
    pub context: &'a mut Context<'c>,
}

/// Executes a list, or half of it. A run that ends with the output gives its pose in a buffer that
/// the caller owns then: the root pinned, bones `[0, active)`.
pub(super) fn run(
    worker: &mut Worker,
    list: &mut TaskList,
    run: &mut Run<'_, '_>,
) -> Option<Buffer> {
    let _character = zone(&zones::CHARACTER, worker.listening);
    list.sweep();
    let before = worker.pool.live();
    worker.pool.high_water = before;
    begin(worker, list, run);
    for number in 0..steps(worker, list) {
        let at = position(worker, list, number);
        let (task, mark) = (&list.tasks()[at], list.marks()[at]);
        if run.half == Half::Before && mark.late || run.half == Half::After && !mark.late {
            continue;
        }
        let shown = zone(&zones::TASKS[task.kind() as usize], worker.listening);
        let looked_at = run.context.capture.is_some();
        let start = (run.timed || looked_at).then(Instant::now);
        let (buffer, stole) = step(worker, task, mark.reachable, run);
        #[cfg(test)]
        super::tests::plant(worker, task, buffer, run);
        drop(shown);
        let ns = start.map_or(0, |s| s.elapsed().as_nanos() as u64);
        // Nobody reads what only an unpruned run executes.
        if worker.results[at].waiting == 0 {
            worker.pool.release(buffer);
        } else {
            worker.results[at].buffer = Some(buffer);
        }
        let work = &mut worker.stats.executed[task.kind() as usize];
        work.count += 1;
        if run.timed {
            work.timed += 1;
            work.timed_ns += ns;
        }
        if let Some(capture) = run.context.capture.as_deref_mut() {
            let live = worker.pool.live() - before;
            capture.ran(at, stole, buffer.number(), live, ns);
        }
    }
    let result = if run.half == Half::Before {
        suspend(worker, list, run);
        None
    } else {
        Some(finish(worker, list, run))
    };
    let peak = (worker.pool.high_water - before) as u64;
    worker.stats.buffers_peak = worker.stats.buffers_peak.max(peak);
    result
}

/// How many tasks of a list are looked at: those that are reachable, or all when nothing is pruned.
#[inline(always)]
fn steps(worker: &Worker, list: &TaskList) -> usize {
    if worker.options.prune { list.reachable_count() } else { list.len() }
}

/// The position of the `step`-th of them.
#[inline(always)]
fn position(worker: &Worker, list: &TaskList, step: usize) -> usize {
    if worker.options.prune { list.needed(step) } else { step }
}

/// The output's pose, or the bind pose where a list has none.
fn finish(worker: &mut Worker, list: &TaskList, run: &Run<'_, '_>) -> Buffer {
    let Run { rig, active, .. } = *run;
    let output = list.output().get();
    let result = output.and_then(|at| worker.results[at].buffer.take());
    let bind = |worker: &mut Worker| {
        let buffer = worker.pool.acquire(rig.shape());
        sample::reference(rig.reference(), active, worker.pool.get_mut(buffer));
        buffer
    };
    let mut buffer = result.unwrap_or_else(|| bind(worker));
    if worker.pool.get(buffer).is_delta {
        // A difference that nobody added anywhere is shown on the bind pose.
        let base = bind(worker);
        if let (base, Some(delta)) = worker.pool.pair(base, buffer) {
            additive::apply_additive(worker.options.lanes, rig.rest(), base, delta, 1.0, active);
        }
        worker.pool.release(buffer);
        buffer = base;
    }
    if let Some(pin) = list.root_pin() {
        pin.apply(rig, worker.pool.get_mut(buffer), active);
    }
    buffer
}

/// Counts, and the readers that each result waits for.
fn begin(worker: &mut Worker, list: &TaskList, run: &mut Run<'_, '_>) {
    let marks = list.marks();
    if worker.results.len() < marks.len() {
        worker.results.resize(marks.len(), Pending::default());
    }
    for step in 0..steps(worker, list) {
        let at = position(worker, list, step);
        worker.results[at] = Pending { buffer: None, waiting: marks[at].readers };
    }
    if run.half != Half::After {
        worker.stats.lists += 1;
        worker.stats.recorded += list.len() as u64;
        worker.stats.reachable += list.reachable_count() as u64;
    }
    let read = |worker: &mut Worker, task: &Task, change: i32| {
        for dependency in task.dependencies().into_iter().filter_map(TaskIndex::get) {
            let waiting = &mut worker.results[dependency].waiting;
            *waiting = waiting.saturating_add_signed(change);
        }
    };
    let counted = worker.options.prune && run.half != Half::After;
    for (task, mark) in list.tasks().iter().zip(marks).take(if counted { 0 } else { list.len() }) {
        // What is not reachable runs too when nothing is pruned, and so reads.
        if !mark.reachable && !worker.options.prune {
            read(worker, task, 1);
        }
        // What ran before the step has read already.
        let runs = mark.reachable || !worker.options.prune;
        if run.half == Half::After && !mark.late && runs {
            read(worker, task, -1);
        }
    }
    if run.half == Half::After {
        resume(worker, list, run);
    }
    if let Some(capture) = run.context.capture.as_deref_mut() {
        let second_half = run.half == Half::After;
        capture.begin(list, run.active, run.context.masks, second_half);
    }
}

/// Puts results that the second half reads into the character's keeping.
fn suspend(worker: &mut Worker, list: &TaskList, run: &mut Run<'_, '_>) {
    let state = &mut *run.context.state;
    state.suspended_count = 0;
    for step in 0..steps(worker, list) {
        let at = position(worker, list, step);
        let Some(buffer) = worker.results[at].buffer.take() else { continue };
        if let Some(index) = TaskIndex::new(at) {
            let pose = state.next_suspended(index);
            pose.fit(run.rig.shape());
            pose.copy_from(worker.pool.get(buffer), run.active);
        }
        worker.pool.release(buffer);
    }
}

/// Takes them out again.
fn resume(worker: &mut Worker, list: &TaskList, run: &mut Run<'_, '_>) {
    let state = &mut *run.context.state;
    let count = std::mem::take(&mut state.suspended_count);
    for (index, pose) in &state.suspended[..count] {
        let Some(at) = index.get().filter(|at| *at < list.len()) else { continue };
        let looked_at = list.marks()[at].reachable || !worker.options.prune;
        if looked_at && worker.results[at].waiting > 0 {
            let buffer = worker.pool.acquire(run.rig.shape());
            worker.pool.get_mut(buffer).copy_from(pose, run.active);
            worker.results[at].buffer = Some(buffer);
        }
    }
}

/// Runs one task; gives the buffer of its result and whether that was its first dependency's.
fn step(worker: &mut Worker, task: &Task, effects: bool, run: &mut Run<'_, '_>) -> (Buffer, bool) {
    if task.is_source() {
        let result = worker.pool.acquire(run.rig.shape());
        operation::run(worker, task, result, None, effects, run);
        return (result, false);
    }
    let [a, b] = task.dependencies();
    let same = a == b;
    let (result, stole) = take_first(worker, run, a, if same { 2 } else { 1 });
    if same && a != TaskIndex::NONE {
        // A pose blended with itself, or added to itself, stays; its difference to itself is none.
        if matches!(task, Task::MakeAdditive { .. }) {
            let none = run.rig.rest().delta;
            worker.pool.get_mut(result).copy_from(none, run.active);
        }
    } else {
        let second = b.get().and_then(|b| worker.results[b].buffer);
        operation::run(worker, task, result, second, effects, run);
    }
    if let Some(at) = b.get().filter(|_| !same) {
        done_reading(worker, at, 1);
    }
    (result, stole)
}

/// The buffer that a task reads and writes: its first dependency's own when this is the last
/// reader, else a copy; without a first dependency, the bind pose.
fn take_first(
    worker: &mut Worker,
    run: &Run<'_, '_>,
    first: TaskIndex,
    reads: u32,
) -> (Buffer, bool) {
    let found = first.get().and_then(|at| Some((at, worker.results[at].buffer?)));
    let Some((at, source)) = found else {
        let fresh = worker.pool.acquire(run.rig.shape());
        sample::reference(run.rig.reference(), run.active, worker.pool.get_mut(fresh));
        return (fresh, false);
    };
    let last = worker.results[at].waiting == reads;
    #[cfg(test)]
    let last = last || worker.plant == super::tests::Plant::EarlySteal;
    if worker.options.steal && last {
        worker.results[at] = Pending { buffer: None, waiting: 0 };
        worker.stats.stolen += 1;
        return (source, true);
    }
    let copy = worker.pool.acquire(run.rig.shape());
    if let (to, Some(from)) = worker.pool.pair(copy, source) {
        worker.stats.copied_bytes += to.copy_from(from, run.active) as u64;
    }
    done_reading(worker, at, reads);
    (copy, false)
}

/// Notes that a reader of a result ran; the last one gives the buffer back.
fn done_reading(worker: &mut Worker, at: usize, reads: u32) {
    let pending = &mut worker.results[at];
    pending.waiting = pending.waiting.saturating_sub(reads);
    if pending.waiting == 0
        && let Some(buffer) = pending.buffer.take()
    {
        worker.pool.release(buffer);
    }
}
