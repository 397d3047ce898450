//! Rank 8: flags, window, headless run, report.

/// Runs the program and gives its exit status.
pub fn main() -> std::process::ExitCode {
    std::process::ExitCode::SUCCESS
}
