//! What one frame measured.

use crate::crowd::TickStats;
use crate::profile::{Phase, PhaseTimes};
use crate::render::RenderStats;

/// One frame's measurements, on their way to the report and the overlay.
#[derive(Clone, Debug)]
pub struct Sample {
    /// Milliseconds of the frame without the palette hash: in a window from the last one's start
    /// to its own, else its work.
    pub frame_ms: f64,
    /// Of it, waiting for the display to take the last picture and to give room for this one.
    pub display_ms: f64,
    /// Milliseconds of each phase on the main thread, by [`Phase`].
    pub main_ms: [f64; Phase::COUNT],
    /// Milliseconds of each phase summed over the workers, by [`Phase`].
    pub worker_ms: [f64; Phase::COUNT],
    /// What the crowd did.
    pub tick: TickStats,
    /// What was drawn; `None` without a GPU.
    pub render: Option<RenderStats>,
    /// Heap allocations from cull to gather, all threads; `None` when nobody counts.
    pub allocations: Option<u64>,
}

/// Milliseconds of nanoseconds.
pub fn milliseconds(ns: u64) -> f64 {
    ns as f64 * 1e-6
}

/// Both rows of a frame's phase times: main thread and workers.
pub fn phases(times: &PhaseTimes) -> ([f64; Phase::COUNT], [f64; Phase::COUNT]) {
    (
        Phase::ALL.map(|p| milliseconds(times.main_ns(p))),
        Phase::ALL.map(|p| milliseconds(times.worker_ns(p))),
    )
}
