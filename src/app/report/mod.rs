//! What a run measured, as one object: for files, for people, for the frame-time limit.

pub mod file;
pub mod machine;
pub mod recorder;
pub mod stats;
pub mod text;

pub use machine::Machine;
pub use recorder::Recorder;
pub use stats::{Series, Summary};

use super::cli::RunConfig;
use crate::crowd::Validation;
use crate::render::GpuMemory;
use serde::ser::{Serialize, SerializeMap, Serializer};
use std::collections::BTreeMap;

/// Names and values that become one object, in this order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rows<T>(pub Vec<(&'static str, T)>);

impl<T> Rows<T> {
    /// The value of a name.
    pub fn get(&self, name: &str) -> Option<&T> {
        self.0.iter().find(|(n, _)| *n == name).map(|(_, value)| value)
    }
}

impl<T: Serialize> Serialize for Rows<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, value) in &self.0 {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

/// A whole report. What was not measured is absent.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Report {
    /// On what.
    pub machine: Machine,
    /// With which options; at the end, where some were switched.
    pub config: RunConfig,
    /// Flags of those that were switched meanwhile.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub switched: Vec<&'static str>,
    /// How many frames.
    pub frames: Frames,
    /// Milliseconds on the main thread: the frame, its phases, waiting, and the GPU.
    pub ms: Rows<Summary>,
    /// Milliseconds of each phase summed over the workers.
    pub worker_ms: Rows<Summary>,
    /// Milliseconds of each pass on the GPU.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gpu_passes: Option<Rows<Summary>>,
    /// Who was there.
    pub crowd: CrowdReport,
    /// How often each notify was fired in the measured frames, spans by their beginning.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub notifies: BTreeMap<String, u64>,
    /// What was recorded and executed.
    pub tasks: TasksReport,
    /// What it took.
    pub memory: MemoryReport,
    /// What was drawn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub render: Option<RenderReport>,
    /// What `--validate-tasks` showed, warm-up included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub validation: Option<Validation>,
    /// Of every frame's packed matrices, warm-up included; null where it can't be compared.
    pub palette_hash: Option<String>,
}

impl Report {
    /// The whole frame's row; `None` when nothing was measured.
    pub fn frame(&self) -> Option<&Summary> {
        self.ms.get("frame")
    }
}

/// How many frames.
#[derive(Clone, Copy, Debug, serde::Serialize)]
pub struct Frames {
    /// Drawn before measuring started.
    pub warmup: u64,
    /// Measured: what every number here is of.
    pub measured: u64,
}

/// A number per frame.
#[derive(Clone, Copy, Debug, serde::Serialize)]
pub struct MeanMax {
    /// Over the measured frames.
    pub mean: f64,
    /// Over the measured frames.
    pub max: f64,
}

/// Characters.
#[derive(Clone, Debug, serde::Serialize)]
pub struct CrowdReport {
    /// In the world once all have come.
    pub count: u32,
    /// In the world, per frame.
    pub population: MeanMax,
    /// Came in the measured frames.
    pub spawned: u64,
    /// Went in the measured frames.
    pub despawned: u64,
    /// Each kind and its share at the end.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub kinds: Vec<KindReport>,
    /// In view of the camera or of the shadow map, per frame.
    pub visible: MeanMax,
    /// Recorded and executed, per frame.
    pub evaluated: MeanMax,
    /// Recorded alone, because clocks run though nobody sees them, per frame.
    pub ticked: MeanMax,
    /// With a palette slot and evaluated every so many frames, per frame.
    pub by_rate: Rows<MeanMax>,
    /// With a palette slot and drawn as they were, because it was not their turn, per frame.
    pub skipped: MeanMax,
    /// Of those evaluated, posed by the first bones of their skeleton alone, per frame.
    pub lod_cut: MeanMax,
    /// Told by a sequence to tick, seen or not, per frame.
    pub forced: MeanMax,
    /// Who takes its pose from somebody else.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub followers: Option<FollowersReport>,
    /// Fallen or falling, per frame.
    pub fallen: MeanMax,
    /// Of those, whose bodies moved, per frame.
    pub bodies_moving: MeanMax,
    /// Got up after a fall, in all frames.
    pub risen: u64,
    /// The most frames from one evaluation of a character to its next.
    pub longest_gap: u32,
    /// Of `--budget-ms`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub budget: Option<BudgetReport>,
}

/// One kind of character.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct KindReport {
    /// Its name.
    pub name: String,
    /// Its share against the others'.
    pub weight: f32,
    /// How many of it are there.
    pub count: u32,
}

/// Followers.
#[derive(Clone, Copy, Debug, serde::Serialize)]
pub struct FollowersReport {
    /// How many there are.
    pub count: u32,
    /// Of them, sharing their leader's palette.
    pub shared: u32,
    /// Of them, with a palette mapped from their leader's pose.
    pub mapped: u32,
    /// Of them, in the bind pose because their leader is gone.
    pub left_behind: u32,
    /// Palettes that were mapped, per frame.
    pub written: MeanMax,
    /// Nanoseconds of a worker that mapping one took.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ns_each: Option<f64>,
}

/// What a budget came to, per frame.
#[derive(Clone, Debug, serde::Serialize)]
pub struct BudgetReport {
    /// Milliseconds that evaluation may take.
    pub limit_ms: f32,
    /// Evaluations planned over those that distances alone would ask for.
    pub quality: MeanMax,
    /// Characters evaluated less often because of it.
    pub slower: MeanMax,
    /// Characters evaluated by their first bones because of it.
    pub shorter: MeanMax,
}

/// Tasks, totals over the measured frames.
#[derive(Clone, Debug, serde::Serialize)]
pub struct TasksReport {
    /// In all lists.
    pub recorded: u64,
    /// That an output depended on.
    pub reachable: u64,
    /// That ran, by kind.
    pub executed: Rows<WorkReport>,
    /// Finished poses made into matrices.
    pub resolved: WorkReport,
    /// That wrote into their first dependency's buffer.
    pub stolen: u64,
    /// Between buffers.
    pub copied_bytes: u64,
    /// The most that one list had in use.
    pub buffers_peak: u64,
}

/// One kind of work, a total over the measured frames.
#[derive(Clone, Copy, Debug, serde::Serialize)]
pub struct WorkReport {
    /// How often it ran.
    pub count: u64,
    /// Nanoseconds of all workers together, extrapolated from those runs that were timed.
    pub ns: f64,
    /// How many were timed.
    pub timed: u64,
}

impl From<crate::task::Work> for WorkReport {
    fn from(work: crate::task::Work) -> Self {
        Self { count: work.count, ns: work.estimated_ns().round(), timed: work.timed }
    }
}

/// Memory.
#[derive(Clone, Debug, serde::Serialize)]
pub struct MemoryReport {
    /// Mean number of allocations from cull to gather, all threads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub heap_allocs_per_frame: Option<f64>,
    /// Pose buffers of all workers.
    pub pose_pool_bytes: u64,
    /// Palette pages on the CPU's side.
    pub palette_bytes: u64,
    /// The characters' own columns.
    pub character_bytes: u64,
    /// Copied to the GPU, per frame.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub upload_bytes: Option<MeanMax>,
    /// Memory of the GPU that the renderer held in the last frame, by what it is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gpu: Option<GpuMemory>,
    /// Of the process at the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resident_bytes: Option<u64>,
    /// The most that the process ever held.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resident_peak_bytes: Option<u64>,
}

/// Drawing, per frame.
#[derive(Clone, Debug, serde::Serialize)]
pub struct RenderReport {
    /// Draw calls.
    pub draws: MeanMax,
    /// Triangles.
    pub triangles: MeanMax,
    /// Characters in the camera's view.
    pub instances: MeanMax,
}
