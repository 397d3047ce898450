//! `throng bench pose`: four workloads at every level, and plain glam beside them.
//!
//! The workloads run one after the other in every pass, so that a machine that slows down slows
//! all of them; what is printed are medians over the passes. Recording is not part of the time.

use super::baseline::PlainRig;
use super::workload::{self, BONES, Part};
use super::{kernels, median};
use crate::app::exit::Failure;
use crate::app::output;
use crate::app::report::machine::{Machine, cpu_name};
use crate::index::{BoneCount, ClipId};
use crate::math::{Lanes, Mat3x4, SimdLevel};
use crate::pose::kernels::sample;
use crate::pose::{Pose, Rig};
use crate::task::{AdditiveSpace, Task, TaskError, TaskIndex, TaskList, Worker, WorkerOptions};
use serde::Serialize;
use std::fmt::Write;
use std::time::Instant;

/// How far the second clip is blended in, and how much of the third one is added.
const BLEND: f32 = 0.4;
const ADD: f32 = 0.6;
/// Characters that are recorded before they are executed; a multiple of a batch.
const CHUNK: usize = 80;

/// The command's arguments.
#[derive(clap::Args, Clone, Debug)]
pub struct PoseBenchArgs {
    /// Print one JSON object instead of a table
    #[arg(long)]
    pub json: bool,
    /// How many characters take turns
    #[arg(long, short = 'n', value_name = "N", default_value_t = 2000,
          value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub count: u32,
    /// How many clips they choose from
    #[arg(long, value_name = "N", default_value_t = 8,
          value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub clips: u16,
    /// How often everything is measured
    #[arg(long, value_name = "N", default_value_t = 31,
          value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub passes: u32,
    /// Measure this level only (scalar, sse, avx2, avx512 or neon)
    #[arg(long, value_name = "LEVEL")]
    pub simd: Option<SimdLevel>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Workload {
    Sample,
    SampleResolve,
    Blend2Resolve,
    Blend2AddResolve,
}

impl Workload {
    const ALL: [Self; 4] =
        [Self::Sample, Self::SampleResolve, Self::Blend2Resolve, Self::Blend2AddResolve];

    fn name(self) -> &'static str {
        match self {
            Self::Sample => "sample",
            Self::SampleResolve => "sample_resolve",
            Self::Blend2Resolve => "blend2_resolve",
            Self::Blend2AddResolve => "blend2_add_resolve",
        }
    }
}

#[derive(Serialize)]
struct WorkloadRow {
    name: &'static str,
    level: SimdLevel,
    ns_per_character: f64,
    ns_per_bone: f64,
}

#[derive(Serialize)]
struct BaselineRow {
    name: &'static str,
    ns_per_character: f64,
}

#[derive(Serialize)]
struct Report {
    machine: Machine,
    characters: u32,
    clips: u16,
    bones: usize,
    workloads: Vec<WorkloadRow>,
    kernels: Vec<kernels::KernelRow>,
    baseline: Vec<BaselineRow>,
}

/// Measures and prints.
///
/// # Errors
/// A level that the processor lacks, or standard output that can't be written.
pub fn run(args: &PoseBenchArgs) -> Result<(), Failure> {
    let levels: Vec<Lanes> = match args.simd {
        Some(level) => {
            vec![Lanes::new(level).map_err(|e| Failure::Usage(format!("--simd: {e}")))?]
        }
        None => Lanes::all().collect(),
    };
    let report = measure(args, &levels)?;
    let text = if args.json { serde_json::to_string(&report)? + "\n" } else { table(&report) };
    Ok(output::print(&text)?)
}

fn measure(args: &PoseBenchArgs, levels: &[Lanes]) -> Result<Report, Failure> {
    let clips = usize::from(args.clips);
    let (skeleton, sources) = workload::character(clips)?;
    let plain = PlainRig::new(&skeleton, &sources);
    let mut rig = Rig::new(skeleton, &sources)?;
    drop(sources);
    let additives: Vec<ClipId> = (0..args.clips)
        .filter_map(|c| rig.add_additive(ClipId(c), Some((ClipId(c), 0.0))))
        .collect();
    let parts: Vec<Part> = (0..args.count as usize).map(|c| Part::of(c, clips)).collect();
    let mut bench = Bench {
        palettes: vec![Mat3x4::IDENTITY; parts.len() * BONES],
        lists: vec![TaskList::default(); CHUNK],
        poses: vec![Pose::default(); 8],
        parts,
        rig: &rig,
        plain: &plain,
        additives: &additives,
    };
    bench.poses.iter_mut().for_each(|pose| pose.fit(rig.shape()));
    let mut workers: Vec<Worker> = levels
        .iter()
        .map(|&lanes| Worker::new(WorkerOptions { lanes, ..WorkerOptions::default() }))
        .collect();

    let mut base = vec![Vec::new(); Workload::ALL.len()];
    let mut ours = vec![vec![Vec::new(); levels.len()]; Workload::ALL.len()];
    for pass in 0..args.passes as usize {
        for (at, workload) in Workload::ALL.into_iter().enumerate() {
            base[at].push(bench.plain_pass(workload, pass));
            for (level, worker) in workers.iter_mut().enumerate() {
                ours[at][level].push(bench.pass(workload, worker, pass)?);
            }
        }
    }

    let row = |(name, level, values): (Workload, Lanes, Vec<f64>)| {
        let ns_per_character = median(values);
        WorkloadRow {
            name: name.name(),
            level: level.level(),
            ns_per_character,
            ns_per_bone: ns_per_character / BONES as f64,
        }
    };
    let measured = Workload::ALL.into_iter().zip(ours).flat_map(|(workload, by_level)| {
        levels.iter().zip(by_level).map(move |(level, values)| (workload, *level, values))
    });
    let named = Workload::ALL.into_iter().zip(base);
    Ok(Report {
        machine: Machine {
            cpu: cpu_name(),
            threads: 1,
            simd: SimdLevel::best().name().to_owned(),
            adapter: None,
            backend: None,
        },
        characters: args.count,
        clips: args.clips,
        bones: BONES,
        workloads: measured.map(row).collect(),
        kernels: kernels::measure(&rig, additives.first().copied(), levels),
        baseline: named
            .map(|(w, values)| BaselineRow { name: w.name(), ns_per_character: median(values) })
            .collect(),
    })
}

struct Bench<'a> {
    rig: &'a Rig,
    plain: &'a PlainRig,
    additives: &'a [ClipId],
    parts: Vec<Part>,
    palettes: Vec<Mat3x4>,
    lists: Vec<TaskList>,
    /// Where samples go that nobody resolves; as many as wait in a batch.
    poses: Vec<Pose>,
}

impl Bench<'_> {
    /// Nanoseconds per character of one pass of plain code.
    fn plain_pass(&mut self, workload: Workload, pass: usize) -> f64 {
        let mut scratch = self.plain.scratch();
        let palettes = self.palettes.chunks_exact_mut(BONES);
        let start = Instant::now();
        for (part, palette) in self.parts.iter().zip(palettes) {
            let seconds = part.seconds(pass);
            let [first, second, third] = part.clips;
            self.plain.sample(first, seconds, &mut scratch);
            if matches!(workload, Workload::Blend2Resolve | Workload::Blend2AddResolve) {
                self.plain.blend(second, seconds, BLEND, &mut scratch);
            }
            if workload == Workload::Blend2AddResolve {
                self.plain.add(third, seconds, ADD, &mut scratch);
            }
            match workload {
                Workload::Sample => drop(std::hint::black_box(&mut scratch)),
                _ => self.plain.resolve(&mut scratch, palette),
            }
        }
        start.elapsed().as_nanos() as f64 / self.parts.len() as f64
    }

    /// Nanoseconds per character of one pass of ours.
    fn pass(
        &mut self,
        workload: Workload,
        worker: &mut Worker,
        pass: usize,
    ) -> Result<f64, TaskError> {
        if workload == Workload::Sample {
            return Ok(self.sample_pass(worker.options().lanes, pass));
        }
        let mut ns = 0;
        let palettes = self.palettes.chunks_mut(CHUNK * BONES);
        for (parts, palettes) in self.parts.chunks(CHUNK).zip(palettes) {
            for (part, list) in parts.iter().zip(&mut self.lists) {
                record(workload, part, self.additives, part.seconds(pass), list)?;
            }
            let start = Instant::now();
            let mut batch = worker.batch();
            let palettes = palettes.chunks_exact_mut(BONES);
            for (list, palette) in self.lists.iter_mut().zip(palettes) {
                batch.execute(self.rig, list, palette)?;
            }
            batch.finish();
            ns += start.elapsed().as_nanos();
        }
        Ok(ns as f64 / self.parts.len() as f64)
    }

    fn sample_pass(&mut self, lanes: Lanes, pass: usize) -> f64 {
        let start = Instant::now();
        for (at, part) in self.parts.iter().enumerate() {
            if let Some(clip) = self.rig.clip(ClipId(part.clips[0] as u16)) {
                let pose = &mut self.poses[at % 8];
                sample::sample(lanes, clip, part.seconds(pass), BoneCount(BONES as u16), pose);
            }
        }
        start.elapsed().as_nanos() as f64 / self.parts.len() as f64
    }
}

fn record(
    workload: Workload,
    part: &Part,
    additives: &[ClipId],
    seconds: f32,
    list: &mut TaskList,
) -> Result<(), TaskError> {
    list.clear();
    let [first, second, third] = part.clips;
    let sample = |list: &mut TaskList, clip: usize| {
        list.push(Task::SampleClip { clip: ClipId(clip as u16), seconds })
    };
    let mut output = sample(list, first)?;
    if workload != Workload::SampleResolve {
        let b = sample(list, second)?;
        output = list.push(Task::Blend { a: output, b, alpha: BLEND })?;
    }
    if workload == Workload::Blend2AddResolve {
        let delta = match additives.get(third) {
            Some(clip) => list.push(Task::SampleClip { clip: *clip, seconds })?,
            None => TaskIndex::NONE,
        };
        let space = AdditiveSpace::Local;
        output = list.push(Task::ApplyAdditive { base: output, delta, alpha: ADD, space })?;
    }
    list.set_output(output)?;
    list.sweep();
    Ok(())
}

fn table(report: &Report) -> String {
    let mut text = String::new();
    let mut line = |words: std::fmt::Arguments<'_>| {
        // Writing to a string does not fail.
        let _ = text.write_fmt(words);
        text.push('\n');
    };
    line(format_args!(
        "{}, one thread, {} characters of {} bones, {} clips; ns per character",
        report.machine.cpu, report.characters, report.bones, report.clips
    ));
    for base in &report.baseline {
        line(format_args!("{:20} {:8} {:8.1}", base.name, "plain", base.ns_per_character));
        for row in report.workloads.iter().filter(|row| row.name == base.name) {
            let times = base.ns_per_character / row.ns_per_character;
            line(format_args!(
                "{:20} {:8} {:8.1}   {times:5.2} times",
                "", row.level, row.ns_per_character
            ));
        }
    }
    line(format_args!("kernels, all in cache; ns per bone"));
    let mut last = "";
    for row in &report.kernels {
        let name = if row.name == last { "" } else { row.name };
        last = row.name;
        line(format_args!("{name:20} {:8} {:8.3}", row.level, row.ns_per_bone));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a workload's palette must be, by the plain code; ours goes through the executor.
    #[test]
    fn the_plain_code_and_the_executor_agree_on_every_workload() {
        let (skeleton, sources) = workload::character(4).unwrap();
        let plain = PlainRig::new(&skeleton, &sources);
        let mut rig = Rig::new(skeleton, &sources).unwrap();
        let additives: Vec<_> =
            (0..4).map(|c| rig.add_additive(ClipId(c), Some((ClipId(c), 0.0))).unwrap()).collect();
        let parts: Vec<_> = (0..19).map(|c| Part::of(c, 4)).collect();
        let mut bench = Bench {
            palettes: vec![Mat3x4::IDENTITY; parts.len() * BONES],
            lists: vec![TaskList::default(); CHUNK],
            poses: vec![Pose::default(); 8],
            parts,
            rig: &rig,
            plain: &plain,
            additives: &additives,
        };
        for workload in &Workload::ALL[1..] {
            bench.plain_pass(*workload, 7);
            let expected = bench.palettes.clone();
            for lanes in Lanes::all() {
                bench.palettes.fill(Mat3x4::IDENTITY);
                let options = WorkerOptions { lanes, ..WorkerOptions::default() };
                bench.pass(*workload, &mut Worker::new(options), 7).unwrap();
                for (a, b) in bench.palettes.iter().zip(&expected) {
                    assert!(
                        a.to_affine().abs_diff_eq(b.to_affine(), 2e-3),
                        "{}: {a:?} {b:?}",
                        workload.name()
                    );
                }
            }
        }
    }
}
