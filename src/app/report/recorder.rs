//! Gathers samples into series.

use super::stats::{Series, Summary};
use super::{
    BudgetReport, CrowdReport, FollowersReport, Frames, Machine, MeanMax, MemoryReport,
    RenderReport, Report, Rows, TasksReport, WorkReport,
};
use crate::app::cli::RunConfig;
use crate::app::memory;
use crate::app::sample::{Sample, milliseconds};
use crate::crowd::{Followers, Gates};
use crate::profile::Phase;
use crate::render::{GpuMemory, GpuTimes};
use crate::task::{ExecuteStats, TaskKind};
use std::collections::BTreeMap;

/// Frames from one evaluation to the next.
const RATES: [&str; Gates::RATES + 1] = ["1", "2", "3", "4"];

/// Everything measured so far.
#[derive(Debug, Default)]
pub struct Recorder {
    warmup: u64,
    measured: u64,
    frame: Series,
    wait: Series,
    display: Series,
    main: [Series; Phase::COUNT],
    worker: [Series; Phase::COUNT],
    gpu: Series,
    passes: Vec<(&'static str, Series)>,
    population: Series,
    spawned: u64,
    despawned: u64,
    visible: Series,
    evaluated: Series,
    ticked: Series,
    by_rate: [Series; Gates::RATES + 1],
    skipped: Series,
    lod_cut: Series,
    forced: Series,
    followers: Followers,
    followed: Series,
    fallen: Series,
    bodies_moving: Series,
    risen: u64,
    budget: [Series; 3],
    budget_ms: Option<f32>,
    sequences: Series,
    longest_gap: u32,
    allocations: Series,
    upload_bytes: Series,
    gpu_memory: Option<GpuMemory>,
    draws: Series,
    triangles: Series,
    instances: Series,
    tasks: ExecuteStats,
    pose_pool_bytes: u64,
    palette_bytes: u64,
    character_bytes: u64,
}

impl Recorder {
    /// Counts a frame that is not measured.
    pub fn warm_up(&mut self) {
        self.warmup += 1;
    }

    /// Adds a measured frame.
    pub fn add(&mut self, sample: &Sample) {
        self.measured += 1;
        self.frame.push(sample.frame_ms);
        for phase in Phase::ALL {
            self.main[phase as usize].push(sample.main_ms[phase as usize]);
            self.worker[phase as usize].push(sample.worker_ms[phase as usize]);
        }
        self.display.push(sample.display_ms);
        let tick = &sample.tick;
        self.population.push(f64::from(tick.count));
        self.spawned += u64::from(tick.spawned);
        self.despawned += u64::from(tick.despawned);
        self.visible.push(f64::from(tick.visible));
        self.evaluated.push(f64::from(tick.evaluated));
        self.ticked.push(f64::from(tick.ticked));
        for (series, count) in self.by_rate.iter_mut().zip(tick.by_rate) {
            series.push(f64::from(count));
        }
        self.skipped.push(f64::from(tick.skipped));
        self.lod_cut.push(f64::from(tick.lod_cut));
        self.forced.push(f64::from(tick.forced));
        self.followers = tick.followers;
        self.followed.push(f64::from(tick.followed));
        self.fallen.push(f64::from(tick.fallen));
        self.bodies_moving.push(f64::from(tick.bodies_moving));
        self.risen += u64::from(tick.risen);
        if let Some(budget) = tick.budget {
            let values = [budget.quality(), budget.slower as f32, budget.shorter as f32];
            let values = values.map(f64::from);
            self.budget.iter_mut().zip(values).for_each(|(series, value)| series.push(value));
            self.budget_ms = Some(budget.limit_ms);
        }
        self.sequences.push(milliseconds(tick.sequence_ns));
        self.longest_gap = self.longest_gap.max(tick.longest_gap);
        self.tasks.add(&tick.tasks);
        self.pose_pool_bytes = tick.pose_pool_bytes;
        self.palette_bytes = tick.palette_bytes;
        self.character_bytes = tick.character_bytes;
        if let Some(count) = sample.allocations {
            self.allocations.push(count as f64);
        }
        if let Some(render) = &sample.render {
            self.wait.push(milliseconds(render.wait_ns));
            self.upload_bytes.push(render.upload_bytes as f64);
            self.gpu_memory = Some(render.memory);
            self.draws.push(render.draws as f64);
            self.triangles.push(render.triangles as f64);
            self.instances.push(render.instances as f64);
        }
    }

    /// Adds the GPU's times, which arrive some frames late; those of the warm-up are left out.
    pub fn add_gpu(&mut self, times: &[GpuTimes]) {
        for frame in times.iter().filter(|t| t.frame >= self.warmup) {
            self.gpu.push(milliseconds(frame.total_ns()));
            for pass in &frame.passes {
                let known = self.passes.iter().position(|(name, _)| *name == pass.name);
                let at = known.unwrap_or_else(|| {
                    self.passes.push((pass.name, Series::default()));
                    self.passes.len() - 1
                });
                self.passes[at].1.push(milliseconds(pass.ns));
            }
        }
    }

    /// Number of measured frames.
    pub fn measured(&self) -> u64 {
        self.measured
    }

    /// Everything as one object.
    pub fn report(
        &self,
        machine: Machine,
        config: RunConfig,
        hash: Option<u64>,
        notifies: BTreeMap<String, u64>,
    ) -> Report {
        let count = config.count;
        let frame = self.frame.summary().map(|s| ("frame", s));
        let drawn = !self.draws.is_empty();
        let wait = self.wait.summary().map(|s| ("wait", s));
        let gpu = self.gpu.summary().map(|s| ("gpu", s));
        let display = self.display.summary().filter(|s| s.max > 0.0).map(|s| ("display", s));
        let sequences = self.sequences.summary().filter(|s| s.max > 0.0).map(|s| ("sequences", s));
        let phases = frame.into_iter().chain(rows(&self.main)).chain(sequences);
        let ms = phases.chain(wait).chain(display).chain(gpu).collect();
        let passes = self.passes.iter().filter_map(|(n, s)| Some((*n, s.summary()?)));
        let passes: Vec<_> = passes.collect();
        Report {
            machine,
            config,
            switched: Vec::new(),
            frames: Frames { warmup: self.warmup, measured: self.measured },
            ms: Rows(ms),
            worker_ms: Rows(rows(&self.worker).collect()),
            gpu_passes: (!passes.is_empty()).then_some(Rows(passes)),
            crowd: CrowdReport {
                count,
                population: mean_max(&self.population),
                spawned: self.spawned,
                despawned: self.despawned,
                kinds: Vec::new(),
                visible: mean_max(&self.visible),
                evaluated: mean_max(&self.evaluated),
                ticked: mean_max(&self.ticked),
                by_rate: Rows(RATES.into_iter().zip(self.by_rate.iter().map(mean_max)).collect()),
                skipped: mean_max(&self.skipped),
                lod_cut: mean_max(&self.lod_cut),
                forced: mean_max(&self.forced),
                followers: self.followers_report(),
                fallen: mean_max(&self.fallen),
                bodies_moving: mean_max(&self.bodies_moving),
                risen: self.risen,
                budget: self.budget_ms.map(|limit_ms| {
                    let [quality, slower, shorter] = self.budget.each_ref().map(mean_max);
                    BudgetReport { limit_ms, quality, slower, shorter }
                }),
                longest_gap: self.longest_gap,
            },
            notifies,
            tasks: self.tasks_report(),
            memory: MemoryReport {
                heap_allocs_per_frame: self.allocations.mean(),
                pose_pool_bytes: self.pose_pool_bytes,
                palette_bytes: self.palette_bytes,
                character_bytes: self.character_bytes,
                upload_bytes: drawn.then(|| mean_max(&self.upload_bytes)),
                gpu: self.gpu_memory,
                resident_bytes: memory::resident_bytes(),
                resident_peak_bytes: memory::resident_peak_bytes(),
            },
            render: drawn.then(|| RenderReport {
                draws: mean_max(&self.draws),
                triangles: mean_max(&self.triangles),
                instances: mean_max(&self.instances),
            }),
            validation: None,
            palette_hash: hash.map(|h| format!("{h:016x}")),
        }
    }

    fn followers_report(&self) -> Option<FollowersReport> {
        let Followers { shared, mapped, left_behind } = self.followers;
        let count = shared + mapped + left_behind;
        let written = mean_max(&self.followed);
        let ms = self.worker[Phase::Follow as usize].mean().filter(|_| written.mean > 0.0);
        let ns_each = ms.map(|ms| ms * 1e6 / written.mean);
        (count > 0).then_some(FollowersReport {
            count,
            shared,
            mapped,
            left_behind,
            written,
            ns_each,
        })
    }

    fn tasks_report(&self) -> TasksReport {
        let executed =
            TaskKind::ALL.iter().map(|k| (k.name(), self.tasks.executed[*k as usize].into()));
        TasksReport {
            recorded: self.tasks.recorded,
            reachable: self.tasks.reachable,
            executed: Rows(executed.filter(|(_, work): &(_, WorkReport)| work.count > 0).collect()),
            resolved: self.tasks.resolved.into(),
            stolen: self.tasks.stolen,
            copied_bytes: self.tasks.copied_bytes,
            buffers_peak: self.tasks.buffers_peak,
        }
    }
}

/// A row for each phase that ever took time.
fn rows(series: &[Series; Phase::COUNT]) -> impl Iterator<Item = (&'static str, Summary)> {
    Phase::ALL.into_iter().filter_map(|phase| {
        let summary = series[phase as usize].summary()?;
        (summary.max > 0.0).then_some((phase.name(), summary))
    })
}

fn mean_max(series: &Series) -> MeanMax {
    MeanMax { mean: series.mean().unwrap_or(0.0), max: series.max().unwrap_or(0.0) }
}
