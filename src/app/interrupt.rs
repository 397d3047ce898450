//! Ctrl-C ends a run the way its last frame would: with screenshot and report.

use std::sync::atomic::{AtomicBool, Ordering};

static ASKED: AtomicBool = AtomicBool::new(false);

/// The exit status of a program that was interrupted (128 + SIGINT).
const INTERRUPTED: i32 = 130;

/// Starts to listen. The first Ctrl-C (or SIGTERM) asks the run to end, the second one ends the
/// process.
///
/// # Errors
/// When the system refuses the handler.
pub fn listen() -> anyhow::Result<()> {
    Ok(ctrlc::set_handler(|| {
        if ASKED.swap(true, Ordering::Relaxed) {
            std::process::exit(INTERRUPTED);
        }
    })?)
}

/// True when the run should end.
pub fn asked() -> bool {
    ASKED.load(Ordering::Relaxed)
}
