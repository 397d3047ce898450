//! What one frame measured.

use crate::crowd::TickStats;
use crate::profile::{Phase, PhaseTimes};
use crate::render::RenderStats;

/// One frame's measurements, on their way to the report and the overlay.
#[derive(Clone, Debug)]
pub struct Sample {
    /// Milliseconds of the frame: in a window from its start to the next one's, else its work.
    pub frame_ms: f64,
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
