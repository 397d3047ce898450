//! Ctrl-C ends a run the way its last frame would: with screenshot and report.

use super::part;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// When it was asked.
static ASKED: OnceLock<Instant> = OnceLock::new();

/// The exit status of a program that was interrupted (128 + SIGINT).
const INTERRUPTED: i32 = 130;

/// Signals within this time are one: `timeout` and shells send theirs to a process and to its group.
const ONE: Duration = Duration::from_millis(500);

/// Starts to listen. The first Ctrl-C (or SIGTERM) asks the run to end, another one later ends the
/// process.
///
/// # Errors
/// When the system refuses the handler.
pub fn listen() -> anyhow::Result<()> {
    Ok(ctrlc::set_handler(|| {
        let now = Instant::now();
        if now.duration_since(*ASKED.get_or_init(|| now)) > ONE {
            part::discard_unfinished();
            std::process::exit(INTERRUPTED);
        }
    })?)
}

/// True when the run should end.
pub fn asked() -> bool {
    ASKED.get().is_some()
}
