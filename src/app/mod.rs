//! Rank 8: flags, window, headless run, report.

pub mod alloc;
pub mod camera;
pub mod cli;
pub mod clock;
pub mod exit;
pub mod inspect;
pub mod output;
pub mod report;

/// Runs the program and gives its exit status.
pub fn main() -> std::process::ExitCode {
    std::process::ExitCode::SUCCESS
}
