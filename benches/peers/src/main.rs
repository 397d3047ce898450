//! Throng's workloads through other animation runtimes, on one thread, in one run.
//!
//! Before anything is timed, a small crowd of every runtime is held against Throng's, matrix by
//! matrix; after it, characters of the crowd that was timed. In each pass every runtime has its turn
//! at every workload: one frame that is not timed, so that none pays for what the one before left in
//! the caches, and one that is. What is printed are medians over the passes.
//!
//! On a machine with other work, run it with real-time priority: the engines' frames are long enough to
//! be interrupted, Throng's are not, and the ratios would flatter Throng.

mod agree;
mod bevy;
mod channels;
mod contestants;
mod fyrox;
mod plain;
mod report;
mod runtime;
mod throng_runtime;

use anyhow::Context;
use clap::Parser;
use contestants::Contestant;
use report::{Report, Row};
use runtime::Runtime;
use std::process::ExitCode;
use throng::app::bench::median;
use throng::app::bench::passes::{Rigs, Workload};
use throng::app::bench::workload::{self, BONES};
use throng::app::output;
use throng::app::report::machine::{Machine, cpu_name};
use throng::math::SimdLevel;
use throng::pose::UniformClip;

/// Throng's workloads through other animation runtimes, in one run
#[derive(Parser, Debug)]
#[command(version, about)]
struct Args {
    /// Print one JSON object instead of a table
    #[arg(long)]
    json: bool,
    /// How many characters take turns
    #[arg(long, short = 'n', value_name = "N", default_value_t = 2000,
          value_parser = clap::value_parser!(u32).range(1..=20_000))]
    count: u32,
    /// How many clips they choose from
    #[arg(long, value_name = "N", default_value_t = 8,
          value_parser = clap::value_parser!(u16).range(1..=100))]
    clips: u16,
    /// How often everything is measured
    #[arg(long, value_name = "N", default_value_t = 21,
          value_parser = clap::value_parser!(u32).range(1..=10_000))]
    passes: u32,
}

/// A runtime at work, and what it has shown.
struct Entry<'a> {
    workload: Workload,
    contestant: Contestant,
    /// `None` where it lacks the workload.
    runtime: Option<Box<dyn Runtime + 'a>>,
    ns: Vec<f64>,
    largest_difference: f32,
}

fn main() -> ExitCode {
    let args = Args::parse();
    match run(&args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            output::say(format_args!("{error:#}"));
            ExitCode::FAILURE
        }
    }
}

fn run(args: &Args) -> anyhow::Result<()> {
    let rigs = Rigs::new(args.clips)?;
    let (_, sources) = workload::character(args.clips.into())?;
    let mut entries = Vec::new();
    for workload in Workload::ALL {
        for contestant in Contestant::ALL {
            entries.push(enter(args, &rigs, &sources, workload, contestant)?);
        }
    }
    for pass in 0..args.passes as usize {
        for entry in &mut entries {
            if let Some(runtime) = &mut entry.runtime {
                runtime.frame(2 * pass)?;
                entry.ns.push(runtime.frame(2 * pass + 1)?);
            }
        }
    }
    check(args, &mut entries)?;
    let report = Report {
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
        passes: args.passes,
        rows: rows(entries),
    };
    let text = if args.json { serde_json::to_string(&report)? + "\n" } else { report.table() };
    output::print(&text)
}

/// Prepares a runtime for a workload, once a small crowd of it has been found to agree.
fn enter<'a>(
    args: &Args,
    rigs: &'a Rigs,
    sources: &[UniformClip],
    workload: Workload,
    contestant: Contestant,
) -> anyhow::Result<Entry<'a>> {
    let (mut runtime, mut largest_difference) = (None, 0.0);
    if contestant.lacks(workload).is_none() {
        largest_difference = agree::try_out(contestant, rigs, sources, workload)?;
        let characters = args.count as usize;
        runtime = Some(contestant.prepare(rigs, sources, workload, characters)?);
    }
    Ok(Entry { workload, contestant, runtime, ns: Vec::new(), largest_difference })
}

/// Holds characters of the crowds that were timed against Throng's, as of the last frame.
fn check(args: &Args, entries: &mut [Entry<'_>]) -> anyhow::Result<()> {
    for of_workload in entries.chunk_by_mut(|a, b| a.workload == b.workload) {
        let (throng, others) = of_workload.split_first_mut().context("no runtimes")?;
        let throng = throng.runtime.as_deref_mut().context("Throng does every workload")?;
        for entry in others {
            if let Some(runtime) = entry.runtime.as_deref_mut() {
                let what = format!("{} {}, timed", entry.contestant.name(), entry.workload.name());
                let characters = (0..args.count as usize).step_by(13);
                let apart = agree::compare(&what, characters, throng, runtime)?;
                entry.largest_difference = entry.largest_difference.max(apart);
            }
        }
    }
    Ok(())
}

fn rows(entries: Vec<Entry<'_>>) -> Vec<Row> {
    let mut throng = f64::NAN;
    let mut rows = Vec::new();
    for entry in entries {
        let measured = entry.runtime.is_some();
        let ns = measured.then(|| median(entry.ns));
        if entry.contestant == Contestant::Throng {
            throng = ns.unwrap_or(f64::NAN);
        }
        rows.push(Row {
            runtime: entry.contestant.name(),
            version: entry.contestant.version(),
            workload: entry.workload.name(),
            ns_per_character: ns,
            times_throng: ns.map(|ns| ns / throng),
            largest_difference: measured.then_some(entry.largest_difference),
            lacks: entry.contestant.lacks(entry.workload),
        });
    }
    rows
}
