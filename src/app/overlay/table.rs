//! The overlay's numbers, renewed four times a second so that they can be read.

use super::Facts;
use super::history::{FrameRow, History};
use crate::app::report::Summary;
use crate::app::report::text::grouped;
use crate::app::sample::{Sample, milliseconds};
use crate::crowd::{Bytes, Followers, NotifyEvent, PopulationStats};
use crate::motion::{Fired, Moment};
use crate::profile::Phase;
use crate::render::RenderStats;
use crate::task::{TaskKind, Work};
use std::time::{Duration, Instant};

/// Something that is counted: a name, a value.
pub type Row = (&'static str, String);

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
    /// Who is there, who is seen and who is evaluated.
    pub gates: Vec<Row>,
    /// What was recorded and executed.
    pub tasks: Vec<Row>,
    /// Each kind of task that was executed: how many, and nanoseconds of one where some were timed.
    pub kinds: Vec<(&'static str, u64, Option<f64>)>,
    /// What it takes.
    pub memory: Vec<Row>,
    /// What was drawn.
    pub gpu: Vec<Row>,
    /// The last notifies, the newest first: a name, who and with which weight.
    pub notifies: Vec<(String, String)>,
}

impl Table {
    const EVERY: Duration = Duration::from_millis(250);
    /// Notifies that are shown.
    const NOTIFIES: usize = 5;

    /// Frames mostly wait for the display, and for a share of their time that is worth telling.
    pub fn waits_for_display(&self) -> bool {
        let waits = self.display.as_ref().zip(self.frame.as_ref());
        waits.is_some_and(|(display, frame)| display.p50 > 0.1 * frame.p50)
    }

    /// Renews the numbers if they are old.
    pub fn refresh(&mut self, history: &History, last: Option<&Sample>, facts: &Facts<'_>) {
        if self.renewed.is_some_and(|at| at.elapsed() < Self::EVERY) && self.frame.is_some() {
            return;
        }
        self.renewed = Some(Instant::now());
        self.frame = history.summary(|r| r.frame);
        self.phases = Phase::ALL.into_iter().filter_map(|p| phase_row(history, p)).collect();
        self.wait = history.summary(|r: &FrameRow| r.wait).filter(|s| s.max > 0.0);
        self.display = history.summary(|r: &FrameRow| r.display).filter(|s| s.max > 0.0);
        self.passes = history.pass_summaries();
        if let Some(sample) = last {
            self.gates = gates(sample, &facts.crowd.population());
            self.tasks = tasks(sample);
            self.kinds = kinds(sample, &self.kinds);
            self.memory = memory(sample, (facts.resident_bytes)());
            self.gpu = sample.render.as_ref().map(gpu).unwrap_or_default();
        }
        let newest = facts.crowd.recent_notifies().rev().take(Self::NOTIFIES);
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

fn number(n: impl Into<u64>) -> String {
    grouped(n.into() as f64)
}

fn gates(sample: &Sample, population: &PopulationStats) -> Vec<Row> {
    let tick = &sample.tick;
    let mut rows = vec![("characters", number(tick.count))];
    let PopulationStats { spawned, despawned, .. } = *population;
    if spawned + despawned > 0 {
        rows.push(("came and went", format!("{}, {}", number(spawned), number(despawned))));
    }
    let seen = format!("{}, camera {}", number(tick.visible), number(tick.in_camera));
    rows.extend([
        ("in view", seen),
        ("evaluated", number(tick.evaluated)),
        ("every 1, 2, 3, 4 frames", tick.by_rate.map(number).join(", ")),
        ("skipped", number(tick.skipped)),
        ("first bones alone", number(tick.lod_cut)),
        ("longest gap", format!("{} frames", tick.longest_gap)),
    ]);
    if tick.ticked > 0 {
        rows.push(("clocks alone", number(tick.ticked)));
    }
    let Followers { shared, mapped, left_behind } = tick.followers;
    if shared + mapped + left_behind > 0 {
        let (shared, mapped) = (number(shared), number(mapped));
        rows.push(("followers", format!("{shared} share, {mapped} are mapped")));
        rows.push(("mapped now", number(tick.followed)));
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
        rows.push(("forced by sequences", number(tick.forced)));
        let ms = milliseconds(tick.sequence_ns);
        rows.push(("sequences", format!("{ms:.3} ms of serial")));
    }
    if tick.waiting > 0 {
        rows.push(("no room for", number(tick.waiting)));
    }
    rows.push(("notifies", number(tick.notifies)));
    rows
}

fn tasks(sample: &Sample) -> Vec<Row> {
    let tasks = &sample.tick.tasks;
    vec![
        ("recorded", number(tasks.recorded)),
        ("reachable", number(tasks.reachable)),
        ("executed", number(tasks.executed_total())),
        ("took over a buffer", number(tasks.stolen)),
        ("copied between buffers", Bytes(tasks.copied_bytes).to_string()),
        ("buffers of one list at most", number(tasks.buffers_peak)),
    ]
}

/// One list in 64 is timed: where none of a frame was, the last time stays.
fn kinds(
    sample: &Sample,
    before: &[(&'static str, u64, Option<f64>)],
) -> Vec<(&'static str, u64, Option<f64>)> {
    let executed = TaskKind::ALL.into_iter().zip(&sample.tick.tasks.executed);
    let resolved = ("resolve", &sample.tick.tasks.resolved);
    let all = executed.map(|(kind, work)| (kind.name(), work)).chain([resolved]);
    let row = |(name, work): (&'static str, &Work)| {
        let timed = (work.timed > 0).then(|| work.timed_ns as f64 / work.timed as f64);
        let last = || before.iter().find(|row| row.0 == name).and_then(|row| row.2);
        (name, work.count, timed.or_else(last))
    };
    all.filter(|(_, work)| work.count > 0).map(row).collect()
}

fn memory(sample: &Sample, resident: Option<u64>) -> Vec<Row> {
    let tick = &sample.tick;
    let mut rows = vec![
        ("characters", Bytes(tick.character_bytes).to_string()),
        ("palettes", Bytes(tick.palette_bytes).to_string()),
        ("pose buffers", Bytes(tick.pose_pool_bytes).to_string()),
    ];
    if let Some(render) = &sample.render {
        let held = render.memory.parts().into_iter().filter(|(_, bytes)| *bytes > 0);
        rows.extend(held.map(|(name, bytes)| (name, format!("{} on the GPU", Bytes(bytes)))));
        rows.push(("upload", format!("{} a frame", Bytes(render.upload_bytes))));
    }
    if let Some(bytes) = resident {
        rows.push(("the whole program", Bytes(bytes).to_string()));
    }
    if let Some(allocations) = sample.allocations {
        rows.push(("allocations in a frame", number(allocations)));
    }
    rows
}

fn gpu(render: &RenderStats) -> Vec<Row> {
    vec![
        ("draws", number(render.draws)),
        ("triangles", number(render.triangles)),
        ("instances", number(render.instances)),
    ]
}
