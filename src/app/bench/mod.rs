//! `throng bench`: measurements that can be repeated.

pub mod ablation;
pub mod baseline;
pub mod crowd;
pub mod dark;
mod frames;
mod gpu;
pub mod graph;
mod kernels;
pub mod passes;
pub mod pose;
pub mod scaling;
mod solvers;
pub mod tasks;
pub mod workload;

use super::exit::Failure;
use super::output;
use serde::Serialize;
use std::fmt::Write;

/// What is measured.
#[derive(clap::Subcommand, Clone, Debug)]
pub enum BenchCommand {
    /// Kernels and the task executor on one thread, beside plain code that does the same
    Pose(pose::PoseBenchArgs),
    /// The executor's bookkeeping: unreachable states, unwatched zones, two threads
    Tasks(tasks::TasksBenchArgs),
    /// Graphs: what recording costs beside executing, thirty states beside one, each opcode
    Graph(graph::GraphBenchArgs),
    /// Characters off screen that sequences force to tick, in each situation of a sequence
    Dark(dark::DarkBenchArgs),
    /// Crowds of a thousand to a million of whom a few thousand are in view
    Scaling(scaling::ScalingBenchArgs),
    /// Whole frames, encoding included: what a character in view costs the processor
    Crowd(crowd::CrowdBenchArgs),
    /// What pruning, stealing, gates, vector instructions and threads are worth, each alone
    Ablation(ablation::AblationBenchArgs),
}

/// Measures and prints.
///
/// # Errors
/// A level that the processor lacks, a character that can't be read, or standard output that can't be
/// written.
pub fn run(command: &BenchCommand) -> Result<(), Failure> {
    match command {
        BenchCommand::Pose(args) => pose::run(args),
        BenchCommand::Tasks(args) => tasks::run(args),
        BenchCommand::Graph(args) => graph::run(args),
        BenchCommand::Dark(args) => dark::run(args),
        BenchCommand::Scaling(args) => scaling::run(args),
        BenchCommand::Crowd(args) => crowd::run(args),
        BenchCommand::Ablation(args) => ablation::run(args),
    }
}

/// The middle of some measurements; zero of none.
pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}

/// Prints what was measured: as one JSON object or as a table.
fn print<R: Serialize>(
    report: &R,
    json: bool,
    table: impl FnOnce(&R) -> String,
) -> Result<(), Failure> {
    let text = if json { serde_json::to_string(report)? + "\n" } else { table(report) };
    Ok(output::print(&text)?)
}

/// Adds a line to a table.
fn put(text: &mut String, words: std::fmt::Arguments<'_>) {
    // Writing to a string does not fail.
    let _ = text.write_fmt(words);
    text.push('\n');
}
