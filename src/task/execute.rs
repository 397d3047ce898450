//! The forward sweep: one list, one thread.

use super::pool::Buffer;
use super::worker::Worker;
use super::{Task, TaskIndex, TaskList, zones};
use crate::index::BoneCount;
use crate::pose::Rig;
use crate::pose::kernels::{blend, sample};
use crate::profile::zone;
use std::time::Instant;

/// Executes a list into a buffer, which the caller owns then: the output's pose with the root
/// pinned, bones `[0, active)`.
pub(super) fn run(
    worker: &mut Worker,
    rig: &Rig,
    list: &mut TaskList,
    active: BoneCount,
    timed: bool,
) -> Buffer {
    let _character = zone(&zones::CHARACTER, worker.listening);
    list.sweep();
    let before = worker.pool.live();
    worker.pool.high_water = before;
    let output = list.output().get();
    begin(worker, list);
    for at in 0..list.len() {
        if worker.options.prune && !list.marks()[at].reachable {
            continue;
        }
        let task = &list.tasks()[at];
        let shown = zone(&zones::TASKS[task.kind() as usize], worker.listening);
        let start = timed.then(Instant::now);
        let buffer = step(worker, rig, task, active);
        drop(shown);
        // Nobody reads what only an unpruned run executes.
        if worker.waiting[at] == 0 {
            worker.pool.release(buffer);
        } else {
            worker.results[at] = Some(buffer);
        }
        let work = &mut worker.stats.executed[task.kind() as usize];
        work.count += 1;
        if let Some(start) = start {
            work.timed += 1;
            work.timed_ns += start.elapsed().as_nanos() as u64;
        }
    }
    let result = output.and_then(|at| worker.results[at].take());
    let buffer = result.unwrap_or_else(|| {
        let buffer = worker.pool.acquire(rig.shape());
        sample::reference(rig.reference(), active, worker.pool.get_mut(buffer));
        buffer
    });
    let peak = (worker.pool.high_water - before) as u64;
    worker.stats.buffers_peak = worker.stats.buffers_peak.max(peak);
    if let Some(root) = list.pinned_root() {
        rig.pin_to_reference(worker.pool.get_mut(buffer), root, active);
    }
    buffer
}

/// Counts, and the readers that each result waits for.
fn begin(worker: &mut Worker, list: &TaskList) {
    let marks = list.marks();
    worker.stats.lists += 1;
    worker.stats.recorded += list.len() as u64;
    worker.stats.reachable += marks.iter().filter(|m| m.reachable).count() as u64;
    worker.results.clear();
    worker.results.resize(list.len(), None);
    worker.waiting.clear();
    worker.waiting.extend(marks.iter().map(|m| m.readers));
    if !worker.options.prune {
        // What is not reachable runs too, and so reads.
        for (task, _) in list.tasks().iter().zip(marks).filter(|(_, m)| !m.reachable) {
            for dependency in task.dependencies().into_iter().filter_map(TaskIndex::get) {
                worker.waiting[dependency] += 1;
            }
        }
    }
}

/// Runs one task and gives the buffer of its result.
fn step(worker: &mut Worker, rig: &Rig, task: &Task, active: BoneCount) -> Buffer {
    let [a, b] = task.dependencies();
    let result = match task.is_source() {
        true => worker.pool.acquire(rig.shape()),
        false => take_first(worker, rig, a, if a == b { 2 } else { 1 }, active),
    };
    let second = b.get().and_then(|b| worker.results[b]);
    let lanes = worker.options.lanes;
    match *task {
        Task::ReferencePose => {
            sample::reference(rig.reference(), active, worker.pool.get_mut(result));
        }
        Task::SampleClip { clip, seconds } => {
            let out = worker.pool.get_mut(result);
            match rig.clip(clip) {
                Some(clip) => sample::sample(lanes, clip, seconds, active, out),
                None => sample::reference(rig.reference(), active, out),
            }
        }
        // Both dependencies the same: nothing to do.
        Task::Blend { a, b, .. } if a == b => {}
        Task::Blend { alpha, .. } => {
            let (acc, b) = match second {
                Some(b) => worker.pool.pair(result, b),
                None => (worker.pool.get_mut(result), None),
            };
            let b = b.unwrap_or(rig.reference());
            blend::blend(lanes, rig.reference(), acc, b, alpha, active);
        }
    }
    if let Some(at) = b.get().filter(|_| a != b) {
        done_reading(worker, at, 1);
    }
    result
}

/// The buffer that a task reads and writes: its first dependency's own when this is the last
/// reader, else a copy; without a first dependency, the bind pose.
fn take_first(
    worker: &mut Worker,
    rig: &Rig,
    first: TaskIndex,
    reads: u32,
    active: BoneCount,
) -> Buffer {
    let found = first.get().and_then(|at| Some((at, worker.results[at]?)));
    let Some((at, source)) = found else {
        let fresh = worker.pool.acquire(rig.shape());
        sample::reference(rig.reference(), active, worker.pool.get_mut(fresh));
        return fresh;
    };
    if worker.options.steal && worker.waiting[at] == reads {
        worker.waiting[at] = 0;
        worker.results[at] = None;
        worker.stats.stolen += 1;
        return source;
    }
    let copy = worker.pool.acquire(rig.shape());
    if let (to, Some(from)) = worker.pool.pair(copy, source) {
        worker.stats.copied_bytes += to.copy_from(from, active) as u64;
    }
    done_reading(worker, at, reads);
    copy
}

/// Notes that a reader of a result ran; the last one gives the buffer back.
fn done_reading(worker: &mut Worker, at: usize, reads: u32) {
    worker.waiting[at] = worker.waiting[at].saturating_sub(reads);
    if worker.waiting[at] == 0
        && let Some(buffer) = worker.results[at].take()
    {
        worker.pool.release(buffer);
    }
}
