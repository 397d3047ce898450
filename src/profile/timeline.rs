//! When each thread did which phase of one frame.

use super::phase::Phase;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// A stretch of time in which a thread was at one phase, or at two by turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// What it did.
    pub phase: Phase,
    /// What it did by turns with that.
    pub beside: Option<Phase>,
    /// Nanoseconds from the frame's beginning.
    pub begin_ns: u64,
    /// Nanoseconds from the frame's beginning, not before `begin_ns`.
    pub end_ns: u64,
}

/// What one thread did, and who that is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lane {
    /// In the order in which they ended.
    pub spans: Vec<Span>,
    /// Spans that there was no room for.
    pub lost: u64,
}

/// Spans of one frame, by thread: the frame's own first, then each worker's.
///
/// Memory is taken when it is made: a thread that notes a span takes its own lane's lock, which
/// nobody else wants, and moves a span.
#[derive(Debug)]
pub struct Timeline {
    epoch: Instant,
    /// Nanoseconds from the epoch to the frame's beginning.
    begun_ns: AtomicU64,
    lanes: Vec<Mutex<Lane>>,
}

impl Timeline {
    /// Spans of a lane, at most.
    pub const ROOM: usize = 4096;

    /// For a frame and so many workers.
    pub fn new(workers: usize) -> Self {
        let lane = || Lane { spans: Vec::with_capacity(Self::ROOM), lost: 0 };
        Self {
            epoch: Instant::now(),
            begun_ns: AtomicU64::new(0),
            lanes: (0..=workers).map(|_| Mutex::new(lane())).collect(),
        }
    }

    /// A frame begins: what was noted is forgotten.
    pub fn begin(&self) {
        self.begun_ns.store(self.since_epoch(Instant::now()), Ordering::Relaxed);
        for lane in &self.lanes {
            let mut lane = own(lane);
            lane.spans.clear();
            lane.lost = 0;
        }
    }

    /// Threads that there is a lane for, beside the frame's own.
    pub fn workers(&self) -> usize {
        self.lanes.len() - 1
    }

    /// What has been noted since the frame began: the frame's own lane, then the workers'.
    pub fn lanes(&self) -> Vec<Lane> {
        self.lanes.iter().map(|lane| own(lane).clone()).collect()
    }

    fn since_epoch(&self, at: Instant) -> u64 {
        at.saturating_duration_since(self.epoch).as_nanos() as u64
    }

    /// The frame itself was at some phases from `start` until now.
    pub(super) fn note_frame(&self, phase: Phase, beside: Option<Phase>, start: Instant) {
        self.note(0, phase, beside, start);
    }

    /// The present thread was at a phase from `start` until now.
    pub(super) fn note_worker(&self, phase: Phase, start: Instant) {
        // Whoever is in no pool works for the frame itself.
        let lane = rayon::current_thread_index().map_or(0, |index| index + 1);
        self.note(lane, phase, None, start);
    }

    fn note(&self, lane: usize, phase: Phase, beside: Option<Phase>, start: Instant) {
        let Some(lane) = self.lanes.get(lane) else { return };
        let begun = self.begun_ns.load(Ordering::Relaxed);
        let since = |at: Instant| self.since_epoch(at).saturating_sub(begun);
        let (begin_ns, end_ns) = (since(start), since(Instant::now()));
        let mut lane = own(lane);
        if lane.spans.len() < Self::ROOM {
            lane.spans.push(Span { phase, beside, begin_ns, end_ns });
        } else {
            lane.lost += 1;
        }
    }
}

fn own<T>(lane: &Mutex<T>) -> MutexGuard<'_, T> {
    lane.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::PhaseTimes;
    use std::sync::Arc;

    #[test]
    fn spans_lie_in_the_lane_of_their_thread_and_within_the_frame() {
        let timeline = Arc::new(Timeline::new(2));
        let mut times = PhaseTimes::default();
        times.time(Phase::Cull, || ());
        assert!(timeline.lanes().iter().all(|lane| lane.spans.is_empty()), "nobody is told");
        times.trace(Some(Arc::clone(&timeline)));
        let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
        for _ in 0..2 {
            timeline.begin();
            times.time(Phase::Gate, || pool.broadcast(|_| times.worker(Phase::Gate, || ())));
            times.time_interleaved([Phase::Record, Phase::Execute], || ());
        }
        let lanes = timeline.lanes();
        let phases = |lane: &Lane| {
            lane.spans.iter().map(|span| (span.phase, span.beside)).collect::<Vec<_>>()
        };
        let both = (Phase::Record, Some(Phase::Execute));
        assert_eq!(phases(&lanes[0]), [(Phase::Gate, None), both]);
        assert_eq!((lanes.len(), timeline.workers()), (3, 2));
        let whole = lanes[0].spans[0];
        for lane in &lanes[1..] {
            assert_eq!(phases(lane), [(Phase::Gate, None)]);
            assert!(lane.spans[0].begin_ns >= whole.begin_ns);
            assert!(lane.spans[0].begin_ns <= lane.spans[0].end_ns);
            assert!(lane.spans[0].end_ns <= whole.end_ns);
        }
        times.trace(None);
        times.time(Phase::Gather, || ());
        assert_eq!(timeline.lanes(), lanes);
    }

    #[test]
    fn a_lane_that_is_full_loses_spans_and_says_how_many() {
        let timeline = Timeline::new(0);
        let start = Instant::now();
        for _ in 0..Timeline::ROOM + 3 {
            timeline.note_worker(Phase::Execute, start);
        }
        let lane = &timeline.lanes()[0];
        assert_eq!((lane.spans.len(), lane.lost), (Timeline::ROOM, 3));
        // Nobody has a lane for a worker that was not planned for.
        timeline.note(7, Phase::Execute, None, start);
        timeline.begin();
        assert_eq!(timeline.lanes()[0], Lane::default());
    }
}
