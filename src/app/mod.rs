//! Rank 8: flags, window, headless run, report.

mod adapters;
pub mod alloc;
mod audit;
pub mod bench;
pub mod camera;
pub mod characters;
pub mod cli;
pub mod clock;
pub mod cpu;
pub mod exit;
mod finish;
pub mod graph;
pub mod headless;
pub mod inspect;
pub mod interrupt;
pub mod memory;
pub mod mesa;
pub mod output;
pub mod overlay;
mod part;
pub mod picked;
pub mod picture;
mod placing;
mod playing;
pub mod replay;
pub mod report;
mod revival;
pub mod sample;
mod scenario;
mod shading;
pub mod show;
pub mod sketch;
mod sound;
mod start;
pub mod switches;
mod watch;
mod window;
pub mod wish;

use cli::{Cli, Command};
use exit::Failure;
use std::process::ExitCode;

/// Runs the program and gives its exit status.
pub fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}

fn run() -> Result<(), Failure> {
    let Some(cli) = Cli::read(std::env::args_os())? else { return Ok(()) };
    match cli.command {
        Some(Command::Adapters) => adapters::print(),
        Some(Command::Inspect(args)) => inspect::run(&args),
        Some(Command::Graph(args)) => graph::run(&args),
        Some(Command::Bench(command)) => bench::run(&command),
        Some(Command::Recording(args)) => replay::info::run(&args),
        None => start::run(&cli.run),
    }
}
