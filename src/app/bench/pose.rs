//! `throng bench pose`: four workloads at every level, and plain glam beside them.
//!
//! The workloads run one after the other in every pass, so that a machine that slows down slows
//! all of them; what is printed are medians over the passes. Recording is not part of the time.

use super::passes::{Passes, Rigs, Workload};
use super::workload::BONES;
use super::{kernels, median};
use crate::app::exit::Failure;
use crate::app::output;
use crate::app::report::machine::{Machine, cpu_name};
use crate::math::{Lanes, SimdLevel};
use crate::task::{Worker, WorkerOptions};
use serde::Serialize;
use std::fmt::Write;

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
    let rigs = Rigs::new(args.clips)?;
    let mut passes = Passes::new(&rigs, args.count as usize);
    let mut workers: Vec<Worker> = levels
        .iter()
        .map(|&lanes| Worker::new(WorkerOptions { lanes, ..WorkerOptions::default() }))
        .collect();

    let mut base = vec![Vec::new(); Workload::ALL.len()];
    let mut ours = vec![vec![Vec::new(); levels.len()]; Workload::ALL.len()];
    for pass in 0..args.passes as usize {
        for (at, workload) in Workload::ALL.into_iter().enumerate() {
            base[at].push(passes.plain(workload, pass));
            for (level, worker) in workers.iter_mut().enumerate() {
                ours[at][level].push(passes.ours(workload, worker, pass)?.execute_ns);
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
        kernels: kernels::measure(&rigs.rig, rigs.additives.first().copied(), levels),
        baseline: named
            .map(|(w, values)| BaselineRow { name: w.name(), ns_per_character: median(values) })
            .collect(),
    })
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
