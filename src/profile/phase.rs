//! The phases of a frame and where their time is added up.

use super::timeline::Timeline;
use super::zone::{ZoneLocation, zone};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
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
    /// Bodies of those who fall, and the second halves of their lists.
    Physics,
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
    pub const COUNT: usize = 10;
    /// In the order of the frame.
    pub const ALL: [Self; Self::COUNT] = [
        Self::Cull,
        Self::Gate,
        Self::Record,
        Self::Execute,
        Self::Physics,
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
            Self::Physics => "physics",
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
    /// Made once and entered again each frame: making a span allocates when somebody subscribes.
    spans: [OnceLock<tracing::Span>; Phase::COUNT],
    /// Where each stretch is noted, while somebody looks.
    timeline: Option<Arc<Timeline>>,
}

impl PhaseTimes {
    /// Runs `work` as `phase`: a `tracing` span (a zone in Tracy) whose time is added to the main
    /// thread's.
    pub fn time<R>(&self, phase: Phase, work: impl FnOnce() -> R) -> R {
        let _span = self.span(phase).enter();
        let start = Instant::now();
        let result = work();
        self.main[phase as usize].fetch_add(nanos(start), Ordering::Relaxed);
        if let Some(timeline) = &self.timeline {
            timeline.note_frame(phase, None, start);
        }
        result
    }

    /// Notes every stretch of time from now on, or none any more.
    pub fn trace(&mut self, timeline: Option<Arc<Timeline>>) {
        self.timeline = timeline;
    }

    fn span(&self, phase: Phase) -> &tracing::Span {
        self.spans[phase as usize].get_or_init(|| span(phase))
    }

    /// Runs `work` on a worker thread and adds its time to the phase's worker time. With a viewer
    /// connected it is a zone on that thread, so that the workers' lanes are not empty; it is meant
    /// for a chunk of characters, not for one.
    pub fn worker<R>(&self, phase: Phase, work: impl FnOnce() -> R) -> R {
        let _zone = zone(&WORKER_ZONES[phase as usize], super::watched());
        let start = Instant::now();
        let result = work();
        self.worker[phase as usize].fetch_add(nanos(start), Ordering::Relaxed);
        if let Some(timeline) = &self.timeline {
            timeline.note_worker(phase, start);
        }
        result
    }

    /// Runs `work` that goes through two phases by turns, a chunk of the one and then of the other:
    /// a span in a span, whose time on the main thread is divided in the proportion of the worker
    /// time that each of the two gains meanwhile.
    pub fn time_interleaved<R>(&self, phases: [Phase; 2], work: impl FnOnce() -> R) -> R {
        let [first, second] = phases;
        let (_outer, _inner) = (self.span(first).enter(), self.span(second).enter());
        let before = phases.map(|p| self.worker_ns(p));
        let start = Instant::now();
        let result = work();
        let elapsed = nanos(start);
        if let Some(timeline) = &self.timeline {
            timeline.note_frame(first, Some(second), start);
        }
        let gained = [0, 1].map(|i| self.worker_ns(phases[i]).saturating_sub(before[i]) as f64);
        let sum = gained[0] + gained[1];
        let share = if sum > 0.0 { gained[0] / sum } else { 0.5 };
        let of_first = (elapsed as f64 * share) as u64;
        self.main[first as usize].fetch_add(of_first, Ordering::Relaxed);
        self.main[second as usize].fetch_add(elapsed.saturating_sub(of_first), Ordering::Relaxed);
        result
    }

    /// Adds all that `other` holds, of both kinds.
    pub fn absorb(&self, other: &Self) {
        let kinds = [(&self.main, &other.main), (&self.worker, &other.worker)];
        for (to, from) in kinds.into_iter().flat_map(|(to, from)| to.iter().zip(from)) {
            to.fetch_add(from.load(Ordering::Relaxed), Ordering::Relaxed);
        }
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

/// Where worker time is shown, in the order of [`Phase::ALL`]; named apart from the main thread's
/// spans, so that statistics over one do not mix in the other.
static WORKER_ZONES: [ZoneLocation; Phase::COUNT] = [
    ZoneLocation::new(c"cull worker"),
    ZoneLocation::new(c"gate worker"),
    ZoneLocation::new(c"record worker"),
    ZoneLocation::new(c"execute worker"),
    ZoneLocation::new(c"physics worker"),
    ZoneLocation::new(c"follow worker"),
    ZoneLocation::new(c"serial worker"),
    ZoneLocation::new(c"gather worker"),
    ZoneLocation::new(c"upload worker"),
    ZoneLocation::new(c"submit worker"),
];

/// One static call site per phase, because a span's name is part of its call site.
fn span(phase: Phase) -> tracing::Span {
    match phase {
        Phase::Cull => tracing::info_span!("cull"),
        Phase::Gate => tracing::info_span!("gate"),
        Phase::Record => tracing::info_span!("record"),
        Phase::Execute => tracing::info_span!("execute"),
        Phase::Physics => tracing::info_span!("physics"),
        Phase::Follow => tracing::info_span!("follow"),
        Phase::Serial => tracing::info_span!("serial"),
        Phase::Gather => tracing::info_span!("gather"),
        Phase::Upload => tracing::info_span!("upload"),
        Phase::Submit => tracing::info_span!("submit"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;
    use std::time::Duration;
    use tracing_subscriber::layer::{Context, Layer, SubscriberExt};

    /// Collects the names of the spans that are entered.
    struct Names(&'static Mutex<Vec<&'static str>>);

    impl<S> Layer<S> for Names
    where
        S: tracing::Subscriber + for<'a> tracing_subscriber::registry::LookupSpan<'a>,
    {
        fn on_enter(&self, id: &tracing::span::Id, context: Context<'_, S>) {
            if let Some(span) = context.span(id) {
                self.0.lock().unwrap().push(span.name());
            }
        }
    }

    #[test]
    fn each_phase_is_one_span_under_its_own_name() {
        static NAMES: Mutex<Vec<&'static str>> = Mutex::new(Vec::new());
        let subscriber = tracing_subscriber::registry().with(Names(&NAMES));
        let times = PhaseTimes::default();
        tracing::subscriber::with_default(subscriber, || {
            for phase in Phase::ALL {
                times.time(phase, || times.worker(phase, || ()));
            }
        });
        let expected: Vec<_> = Phase::ALL.iter().map(|p| p.name()).collect();
        assert_eq!(*NAMES.lock().unwrap(), expected);
    }

    #[test]
    fn worker_time_adds_up_over_threads_and_is_kept_apart_from_the_main_threads() {
        let times = PhaseTimes::default();
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| times.add_worker_ns(Phase::Execute, 1_000));
            }
        });
        times.worker(Phase::Execute, || std::thread::sleep(Duration::from_millis(1)));
        assert!(times.worker_ns(Phase::Execute) >= 1_003_000);
        assert_eq!(times.main_ns(Phase::Execute), 0);
        assert_eq!(times.worker_ns(Phase::Record), 0);
        times.clear();
        assert_eq!(times.worker_ns(Phase::Execute), 0);
    }

    #[test]
    fn two_phases_by_turns_share_the_main_threads_time_as_they_share_the_workers() {
        let times = PhaseTimes::default();
        times.time_interleaved([Phase::Record, Phase::Execute], || {
            times.add_worker_ns(Phase::Record, 1_000);
            times.add_worker_ns(Phase::Execute, 3_000);
            std::thread::sleep(Duration::from_millis(2));
        });
        let (record, execute) = (times.main_ns(Phase::Record), times.main_ns(Phase::Execute));
        assert!(record + execute >= 2_000_000);
        let share = record as f64 / (record + execute) as f64;
        assert!((share - 0.25).abs() < 1e-3, "{share}");

        let sum = PhaseTimes::default();
        sum.absorb(&times);
        sum.absorb(&times);
        assert_eq!(sum.main_ns(Phase::Execute), 2 * execute);
        assert_eq!(sum.worker_ns(Phase::Record), 2_000);
    }

    #[test]
    fn phases_are_listed_in_the_order_of_their_values() {
        for (i, phase) in Phase::ALL.into_iter().enumerate() {
            assert_eq!(phase as usize, i, "{phase:?}");
            assert_eq!(
                serde_json::to_string(&phase).unwrap(),
                format!("\"{}\"", phase.name()),
                "the report and the trace use one name"
            );
        }
    }
}
