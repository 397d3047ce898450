//! The overlay's numbers, renewed four times a second so that they can be read.

use super::history::{FrameRow, History};
use crate::app::report::Summary;
use crate::app::report::text::grouped;
use crate::app::sample::Sample;
use crate::crowd::{Bytes, Crowd, Followers, NotifyEvent, PopulationStats};
use crate::motion::{Fired, Moment};
use crate::profile::Phase;
use std::time::{Duration, Instant};

/// Numbers as they are shown.
#[derive(Debug, Default)]
pub struct Table {
    renewed: Option<Instant>,
    /// The whole frame.
    pub frame: Option<Summary>,
    /// Phases that took any time; the workers' median beside them.
    pub phases: Vec<(Phase, Summary, f64)>,
    /// Waiting for the GPU.
    pub wait: Option<Summary>,
    /// Waiting for the display.
    pub display: Option<Summary>,
    /// Passes on the GPU.
    pub passes: Vec<(&'static str, Summary)>,
    /// Everything that is counted: a name, a value.
    pub counts: Vec<(&'static str, String)>,
    /// The last notifies, the newest first: a name, who and with which weight.
    pub notifies: Vec<(String, String)>,
}

impl Table {
    const EVERY: Duration = Duration::from_millis(250);
    /// Notifies that are shown.
    const NOTIFIES: usize = 5;

    /// Renews the numbers if they are old.
    pub fn refresh(&mut self, history: &History, last: Option<&Sample>, crowd: &Crowd) {
        if self.renewed.is_some_and(|at| at.elapsed() < Self::EVERY) && self.frame.is_some() {
            return;
        }
        self.renewed = Some(Instant::now());
        self.frame = history.summary(|r| r.frame);
        self.phases = Phase::ALL.into_iter().filter_map(|p| phase_row(history, p)).collect();
        self.wait = history.summary(|r: &FrameRow| r.wait).filter(|s| s.max > 0.0);
        self.display = history.summary(|r: &FrameRow| r.display).filter(|s| s.max > 0.0);
        self.passes = history.pass_summaries();
        self.counts = last.map(counts).unwrap_or_default();
        let PopulationStats { spawned, despawned, .. } = crowd.population();
        if spawned + despawned > 0 {
            let [came, went] = [spawned, despawned].map(|n| grouped(n as f64));
            // Below the number of characters; before the first sample there is none.
            let below = self.counts.len().min(1);
            self.counts.insert(below, ("came and went", format!("{came}, {went}")));
        }
        let newest = crowd.recent_notifies().rev().take(Self::NOTIFIES);
        self.notifies = newest.map(|(event, name)| notify_row(event, name)).collect();
    }
}

fn phase_row(history: &History, phase: Phase) -> Option<(Phase, Summary, f64)> {
    let summary = history.summary(|r| r.main[phase as usize]).filter(|s| s.max > 0.0)?;
    let workers = history.summary(|r| r.worker[phase as usize]).map_or(0.0, |s| s.p50);
    Some((phase, summary, workers))
}

fn notify_row(event: &NotifyEvent, name: &str) -> (String, String) {
    let Fired { moment, weight, .. } = event.fired;
    let what = match moment {
        Moment::Point => name.to_owned(),
        _ => format!("{name} {}", moment.name()),
    };
    (what, format!("{} of {}", percent(weight), event.character))
}

fn percent(share: f32) -> String {
    format!("{:.0} %", 100.0 * share)
}

fn counts(sample: &Sample) -> Vec<(&'static str, String)> {
    let tick = &sample.tick;
    let number = |n: u64| grouped(n as f64);
    let mut rows = vec![
        ("characters", number(tick.count.into())),
        (
            "in view",
            format!("{}, camera {}", number(tick.visible.into()), number(tick.in_camera.into())),
        ),
        ("evaluated", number(tick.evaluated.into())),
        ("every 1, 2, 3, 4 frames", tick.by_rate.map(|n| number(n.into())).join(", ")),
        ("skipped", number(tick.skipped.into())),
        ("first bones alone", number(tick.lod_cut.into())),
        ("longest gap", format!("{} frames", tick.longest_gap)),
        ("notifies", number(tick.notifies.into())),
        ("tasks", format!("{} recorded", number(tick.tasks.recorded))),
        ("", format!("{} executed", number(tick.tasks.executed_total()))),
        ("", format!("{} took over a buffer", number(tick.tasks.stolen))),
        (
            "pose buffers",
            format!("{} at most, {}", tick.tasks.buffers_peak, Bytes(tick.pose_pool_bytes)),
        ),
        ("palettes", Bytes(tick.palette_bytes).to_string()),
    ];
    if tick.ticked > 0 {
        rows.push(("clocks alone", number(tick.ticked.into())));
    }
    let Followers { shared, mapped, left_behind } = tick.followers;
    if shared + mapped + left_behind > 0 {
        let (shared, mapped) = (number(shared.into()), number(mapped.into()));
        rows.push(("followers", format!("{shared} share, {mapped} are mapped")));
        rows.push(("mapped now", number(tick.followed.into())));
    }
    if let Some(budget) = tick.budget {
        let percent = percent(budget.quality());
        rows.push(("budget", format!("{} ms, {percent} of what is wanted", budget.limit_ms)));
        let who = format!("{} less often, {} shorter", budget.slower, budget.shorter);
        rows.push(("downgraded", who));
    }
    if tick.fallen > 0 {
        rows.push(("down", format!("{}, {} moving", tick.fallen, tick.bodies_moving)));
    }
    if tick.sequence_ns > 0 {
        rows.push(("forced by sequences", number(tick.forced.into())));
        let ms = tick.sequence_ns as f64 * 1e-6;
        rows.push(("sequences", format!("{ms:.3} ms of serial")));
    }
    if tick.waiting > 0 {
        rows.push(("no room for", number(tick.waiting.into())));
    }
    if let Some(allocations) = sample.allocations {
        rows.push(("allocations", number(allocations)));
    }
    if let Some(render) = &sample.render {
        rows.push(("upload", format!("{} a frame", Bytes(render.upload_bytes))));
        rows.push(("draws", number(render.draws)));
        rows.push(("triangles", number(render.triangles)));
    }
    rows
}
