//! `throng bench tasks`: what the executor's bookkeeping costs. Each row holds two ways of doing the
//! same lists against each other, by turns in one process and each first as often as the other, so
//! that a noisy machine disturbs both alike; a ratio is the median over all turns.

use super::passes::{Rigs, Workload, record};
use super::workload::{BONES, Part};
use super::{median, print, put};
use crate::app::cli::values::whole;
use crate::app::exit::Failure;
use crate::app::report::machine::Machine;
use crate::index::ClipId;
use crate::math::{Mat3x4, SimdLevel};
use crate::profile::{self, ZoneLocation, zone};
use crate::task::{Task, TaskError, TaskList, Worker, WorkerOptions};
use rayon::prelude::*;
use serde::Serialize;
use std::hint::black_box;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// States of a machine that are not the current one, in each list of the first row.
const STATES: usize = 30;
/// Clips that characters choose from.
const CLIPS: u16 = 8;
/// Lists that are recorded before they are executed; a multiple of a resolve batch.
const CHUNK: usize = 64;
/// Characters of the rows on one thread; a multiple of a chunk.
const CHARACTERS: usize = 32 * CHUNK;
/// Lists of the row on two threads.
const LISTS: usize = 10_000;

/// The zone that nobody watches.
static UNWATCHED: ZoneLocation = ZoneLocation::new(c"unwatched");

/// The command's arguments.
#[derive(clap::Args, Clone, Debug)]
pub struct TasksBenchArgs {
    /// Print one JSON object instead of a table
    #[arg(long)]
    pub json: bool,
    /// How often each pair is measured
    #[arg(long, value_name = "N", allow_negative_numbers = true, default_value_t = 301,
          value_parser = whole("a number of turns", 1..=100_000_u32, 301))]
    pub turns: u32,
}

/// Two ways of executing lists.
#[derive(Serialize)]
struct Row {
    name: &'static str,
    ns_per_list: f64,
    against: &'static str,
    against_ns_per_list: f64,
    /// Median of the turns' ratios; for threads, how many times faster.
    ratio: f64,
    /// What the ratio must not exceed; for threads, what it must reach.
    bar: f64,
}

#[derive(Serialize)]
struct Report {
    machine: Machine,
    rows: Vec<Row>,
}

/// Measures and prints.
///
/// # Errors
/// Threads that can't be had, or standard output that can't be written.
pub fn run(args: &TasksBenchArgs) -> Result<(), Failure> {
    let rigs = Rigs::new(CLIPS)?;
    let mut bench = Bench::new(&rigs);
    let rows = vec![
        bench.unreachable_states(args.turns)?,
        bench.unwatched_zones(args.turns)?,
        two_threads(&rigs, args.turns.min(101))?,
    ];
    let machine = Machine::without_gpu(crate::app::cpu::threads().min(2), SimdLevel::best());
    let report = Report { machine, rows };
    print(&report, args.json, table)
}

/// What is done beside executing the lists of a character of [`Workload::Blend2AddResolve`].
#[derive(Clone, Copy, PartialEq, Eq)]
enum Extra {
    Nothing,
    /// Tasks of [`STATES`] states that the output does not depend on.
    States,
    /// As many zones as the executor has, once more.
    Zones,
}

/// Lists executed chunk by chunk on one thread.
struct Bench<'a> {
    rigs: &'a Rigs,
    worker: Worker,
    lists: Vec<TaskList>,
    palettes: Vec<Mat3x4>,
}

impl<'a> Bench<'a> {
    fn new(rigs: &'a Rigs) -> Self {
        Self {
            rigs,
            worker: Worker::new(WorkerOptions::default()),
            lists: vec![TaskList::default(); CHUNK],
            palettes: vec![Mat3x4::IDENTITY; CHARACTERS * BONES],
        }
    }

    /// Thirty states that are not reachable, two clips and their blend each, against none.
    fn unreachable_states(&mut self, turns: u32) -> Result<Row, TaskError> {
        let (ns, against, ratio) = by_turns(turns, |turn, with| {
            self.pass(turn, if with { Extra::States } else { Extra::Nothing })
        })?;
        Ok(Row {
            name: "unreachable_states",
            ns_per_list: ns,
            against: "reachable_only",
            against_ns_per_list: against,
            ratio,
            bar: 1.03,
        })
    }

    /// Twice the zones, against the executor's own.
    fn unwatched_zones(&mut self, turns: u32) -> Result<Row, TaskError> {
        let (ns, against, ratio) = by_turns(turns, |turn, with| {
            self.pass(turn, if with { Extra::Zones } else { Extra::Nothing })
        })?;
        Ok(Row {
            name: "unwatched_zones_twice",
            ns_per_list: ns,
            against: "unwatched_zones",
            against_ns_per_list: against,
            ratio,
            bar: 1.02,
        })
    }

    /// Nanoseconds per list of executing every character once.
    fn pass(&mut self, frame: usize, extra: Extra) -> Result<f64, TaskError> {
        let mut ns = 0;
        for (chunk, palettes) in self.palettes.chunks_mut(CHUNK * BONES).enumerate() {
            for (at, list) in self.lists.iter_mut().enumerate() {
                let part = Part::of(chunk * CHUNK + at, usize::from(CLIPS));
                record_with(self.rigs, &part, frame, list, extra == Extra::States)?;
            }
            let start = Instant::now();
            let mut batch = self.worker.batch();
            // Asked once a batch, as the executor does, and not known to the compiler.
            let listening = black_box(extra == Extra::Zones && profile::listening());
            for (at, (list, palette)) in
                self.lists.iter_mut().zip(palettes.chunks_exact_mut(BONES)).enumerate()
            {
                if extra == Extra::Zones {
                    for _ in 0..list.reachable_count() + 1 + usize::from(at.is_multiple_of(8)) {
                        drop(zone(&UNWATCHED, black_box(listening)));
                    }
                }
                batch.execute(&self.rigs.rig, list, palette)?;
            }
            batch.finish();
            ns += start.elapsed().as_nanos();
        }
        Ok(ns as f64 / CHARACTERS as f64)
    }
}

/// Records a character's list; with `states`, after those of the states that it is not in.
fn record_with(
    rigs: &Rigs,
    part: &Part,
    frame: usize,
    list: &mut TaskList,
    states: bool,
) -> Result<(), TaskError> {
    list.clear();
    let seconds = part.seconds(frame);
    for state in 0..if states { STATES as u16 } else { 0 } {
        let sample = |clip: u16| Task::SampleClip { clip: ClipId(clip % CLIPS), seconds };
        let a = list.push(sample(state))?;
        let b = list.push(sample(state + 1))?;
        list.push(Task::Blend { a, b, alpha: 0.5 })?;
    }
    record(Workload::Blend2AddResolve, part, &rigs.additives, seconds, list)
}

/// Executing many recorded lists on two threads, against one.
fn two_threads(rigs: &Rigs, turns: u32) -> Result<Row, Failure> {
    let pool = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    let pools = [pool(1)?, pool(2)?];
    let workers: Vec<Mutex<Worker>> =
        (0..2).map(|_| Mutex::new(Worker::new(WorkerOptions::default()))).collect();
    let mut lists = vec![TaskList::default(); LISTS];
    for (at, list) in lists.iter_mut().enumerate() {
        let part = Part::of(at, usize::from(CLIPS));
        record_with(rigs, &part, 0, list, false)?;
    }
    let mut palettes = vec![Mat3x4::IDENTITY; LISTS * BONES];
    let (two, one, ratio) = by_turns(turns, |_, both| {
        let start = Instant::now();
        pools[usize::from(both)].install(|| {
            let chunks = palettes.par_chunks_mut(CHUNK * BONES).zip(lists.par_chunks_mut(CHUNK));
            chunks.try_for_each(|(palettes, lists)| {
                let thread = rayon::current_thread_index().unwrap_or(0) % workers.len();
                let mut worker = workers[thread].lock().unwrap_or_else(PoisonError::into_inner);
                let mut batch = worker.batch();
                for (list, palette) in lists.iter_mut().zip(palettes.chunks_exact_mut(BONES)) {
                    batch.execute(&rigs.rig, list, palette)?;
                }
                batch.finish();
                Ok::<(), TaskError>(())
            })
        })?;
        Ok::<f64, TaskError>(start.elapsed().as_nanos() as f64 / LISTS as f64)
    })?;
    Ok(Row {
        name: "two_threads",
        ns_per_list: two,
        against: "one_thread",
        against_ns_per_list: one,
        ratio: 1.0 / ratio,
        bar: 1.8,
    })
}

/// Measures two ways by turns: `measure(turn, true)` and `measure(turn, false)`. Gives the medians of
/// both and of the ratio of the first to the second.
pub(super) fn by_turns<E>(
    turns: u32,
    mut measure: impl FnMut(usize, bool) -> Result<f64, E>,
) -> Result<(f64, f64, f64), E> {
    let (mut with, mut without, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    for turn in 0..turns as usize {
        let first = turn.is_multiple_of(2);
        let (a, b) = (measure(turn, first)?, measure(turn, !first)?);
        let (a, b) = if first { (a, b) } else { (b, a) };
        with.push(a);
        without.push(b);
        ratios.push(a / b);
    }
    Ok((median(with), median(without), median(ratios)))
}

fn table(report: &Report) -> String {
    let mut text = String::new();
    let mut line = |words: std::fmt::Arguments<'_>| put(&mut text, words);
    let Machine { cpu, simd, .. } = &report.machine;
    line(format_args!("{cpu}, {simd}, lists of five tasks on {BONES} bones; ns per list"));
    for row in &report.rows {
        line(format_args!(
            "{:24} {:8.1}   {:16} {:8.1}   ratio {:.3} (bar {:.2})",
            row.name, row.ns_per_list, row.against, row.against_ns_per_list, row.ratio, row.bar
        ));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_that_are_not_reachable_are_recorded_and_change_no_palette() {
        let rigs = Rigs::new(CLIPS).unwrap();
        let part = Part::of(3, usize::from(CLIPS));
        let palette = |states| {
            let mut list = TaskList::default();
            record_with(&rigs, &part, 5, &mut list, states).unwrap();
            let mut palette = vec![Mat3x4::IDENTITY; BONES];
            let mut worker = Worker::new(WorkerOptions::default());
            worker.batch().execute(&rigs.rig, &mut list, &mut palette).unwrap();
            (palette, list.len(), list.reachable_count())
        };
        let (plain, len, reachable) = palette(false);
        assert_eq!((len, reachable), (5, 5));
        let (with, len, reachable) = palette(true);
        assert_eq!((len, reachable), (5 + 3 * STATES, 5));
        assert!(plain == with, "bit for bit");
    }

    #[test]
    fn turns_alternate_and_the_ratio_is_the_first_ways_to_the_seconds() {
        let mut order = Vec::new();
        let measured = by_turns(4, |_, with| {
            order.push(with);
            Ok::<_, TaskError>(if with { 30.0 } else { 20.0 })
        });
        assert_eq!(measured, Ok((30.0, 20.0, 1.5)));
        assert_eq!(order, [true, false, false, true, true, false, false, true]);
    }
}
