//! What the executor did.

use super::TaskKind;

/// Count of one kind of work, and the time of the part of it that was timed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Work {
    /// How often it ran.
    pub count: u64,
    /// How many of these were timed.
    pub timed: u64,
    /// Nanoseconds of those that were timed.
    pub timed_ns: u64,
}

impl Work {
    /// Nanoseconds of all runs, extrapolated from those that were timed.
    pub fn estimated_ns(&self) -> f64 {
        if self.timed == 0 {
            return 0.0;
        }
        self.timed_ns as f64 * self.count as f64 / self.timed as f64
    }

    fn add(&mut self, other: &Self) {
        self.count += other.count;
        self.timed += other.timed;
        self.timed_ns += other.timed_ns;
    }
}

/// Totals of one worker since they were last taken; sums over workers are made with
/// [`ExecuteStats::add`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExecuteStats {
    /// Task lists executed.
    pub lists: u64,
    /// Tasks in them.
    pub recorded: u64,
    /// Tasks that an output depended on.
    pub reachable: u64,
    /// Tasks that ran, by [`TaskKind`].
    pub executed: [Work; TaskKind::COUNT],
    /// Tasks that wrote into their first dependency's buffer.
    pub stolen: u64,
    /// Bytes copied between buffers because a first dependency had further readers.
    pub copied_bytes: u64,
    /// The most buffers that one list had in use at once.
    pub buffers_peak: u64,
    /// Characters resolved.
    pub resolved: Work,
}

impl ExecuteStats {
    /// Adds another worker's totals; the peak is the larger one.
    pub fn add(&mut self, other: &Self) {
        self.lists += other.lists;
        self.recorded += other.recorded;
        self.reachable += other.reachable;
        for (a, b) in self.executed.iter_mut().zip(&other.executed) {
            a.add(b);
        }
        self.stolen += other.stolen;
        self.copied_bytes += other.copied_bytes;
        self.buffers_peak = self.buffers_peak.max(other.buffers_peak);
        self.resolved.add(&other.resolved);
    }

    /// Tasks that ran, all kinds.
    pub fn executed_total(&self) -> u64 {
        self.executed.iter().map(|w| w.count).sum()
    }
}
