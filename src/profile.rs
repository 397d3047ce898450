//! Phases, zones and plots: the one place that names Tracy.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// A step of the frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "snake_case")]
#[repr(usize)]
pub enum Phase {
    /// Camera and shadow frusta against bounds.
    Cull,
    /// Who evaluates this frame.
    Gate,
    /// Clocks and task lists.
    Record,
    /// Task lists into palettes.
    Execute,
    /// Followers take their leader's pose.
    Follow,
    /// Root motion and notifies, one thread.
    Serial,
    /// Instance records of what is visible.
    Gather,
    /// Dirty palettes and instances to the GPU.
    Upload,
    /// Encoding and submission.
    Submit,
}

impl Phase {
    /// Number of phases.
    pub const COUNT: usize = 9;
    /// In the order of the frame.
    pub const ALL: [Self; Self::COUNT] = [
        Self::Cull,
        Self::Gate,
        Self::Record,
        Self::Execute,
        Self::Follow,
        Self::Serial,
        Self::Gather,
        Self::Upload,
        Self::Submit,
    ];

    /// Lower-case name, as in the report.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cull => "cull",
            Self::Gate => "gate",
            Self::Record => "record",
            Self::Execute => "execute",
            Self::Follow => "follow",
            Self::Serial => "serial",
            Self::Gather => "gather",
            Self::Upload => "upload",
            Self::Submit => "submit",
        }
    }
}

/// Nanoseconds of one frame per phase: on the main thread, and summed over the workers.
#[derive(Debug, Default)]
pub struct PhaseTimes {
    main: [AtomicU64; Phase::COUNT],
    worker: [AtomicU64; Phase::COUNT],
}

impl PhaseTimes {
    /// Runs `work` as `phase`: a `tracing` span (a zone in Tracy) whose time is added to the main
    /// thread's.
    pub fn time<R>(&self, phase: Phase, work: impl FnOnce() -> R) -> R {
        let _span = span(phase).entered();
        let start = Instant::now();
        let result = work();
        self.main[phase as usize].fetch_add(nanos(start), Ordering::Relaxed);
        result
    }

    /// Runs `work` on a worker thread and adds its time to the phase's worker time.
    pub fn worker<R>(&self, phase: Phase, work: impl FnOnce() -> R) -> R {
        let start = Instant::now();
        let result = work();
        self.worker[phase as usize].fetch_add(nanos(start), Ordering::Relaxed);
        result
    }

    /// Adds worker time that was measured elsewhere.
    pub fn add_worker_ns(&self, phase: Phase, ns: u64) {
        self.worker[phase as usize].fetch_add(ns, Ordering::Relaxed);
    }

    /// Main-thread nanoseconds of a phase.
    pub fn main_ns(&self, phase: Phase) -> u64 {
        self.main[phase as usize].load(Ordering::Relaxed)
    }

    /// Nanoseconds of a phase summed over the workers.
    pub fn worker_ns(&self, phase: Phase) -> u64 {
        self.worker[phase as usize].load(Ordering::Relaxed)
    }

    /// Forgets the frame.
    pub fn clear(&self) {
        for t in self.main.iter().chain(&self.worker) {
            t.store(0, Ordering::Relaxed);
        }
    }
}

fn nanos(start: Instant) -> u64 {
    start.elapsed().as_nanos() as u64
}

fn span(phase: Phase) -> tracing::Span {
    match phase {
        Phase::Cull => tracing::info_span!("cull"),
        Phase::Gate => tracing::info_span!("gate"),
        Phase::Record => tracing::info_span!("record"),
        Phase::Execute => tracing::info_span!("execute"),
        Phase::Follow => tracing::info_span!("follow"),
        Phase::Serial => tracing::info_span!("serial"),
        Phase::Gather => tracing::info_span!("gather"),
        Phase::Upload => tracing::info_span!("upload"),
        Phase::Submit => tracing::info_span!("submit"),
    }
}
