//! Rank 4: recorded pose operations and their executor.
//!
//! Whoever animates a character records a [`TaskList`] and computes no pose. A [`Worker`] (one per
//! thread) executes lists into palettes: it runs only what the output depends on, lets the last
//! reader of a buffer write into it, and resolves eight finished poses of one rig at a time.
//!
//! ```
//! # use throng::index::{BoneCount, BoneIndex, ClipId};
//! # use throng::math::{Mat3x4, Trs};
//! # use throng::pose::{PaletteEntry, Rig, Skeleton, UniformClip, skeleton::SkeletonParts};
//! use throng::task::{Task, TaskList, Worker, WorkerOptions};
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let skeleton = Skeleton::new(SkeletonParts {
//! #     names: vec!["root".into()],
//! #     parents: vec![None],
//! #     rest: vec![Trs::IDENTITY],
//! #     model_from_root_parent: vec![Default::default()],
//! #     palette: vec![PaletteEntry { bone: BoneIndex(0), bone_from_mesh: Default::default() }],
//! #     low_detail_bone_count: BoneCount(1),
//! # })?;
//! # let clip = |name: &str| UniformClip {
//! #     name: name.into(), rate_hz: 30.0, frame_count: 1, locals: vec![Trs::IDENTITY],
//! #     max_error_m: 0.0,
//! # };
//! # let rig = Rig::new(skeleton, &[clip("walk"), clip("run")])?;
//! // Record: cheap, for every character.
//! let mut list = TaskList::default();
//! list.clear();
//! let walk = list.push(Task::SampleClip { clip: ClipId(0), seconds: 0.2 })?;
//! let run = list.push(Task::SampleClip { clip: ClipId(1), seconds: 0.1 })?;
//! let blend = list.push(Task::Blend { a: walk, b: run, alpha: 0.3 })?;
//! list.set_output(blend)?;
//! list.sweep();
//! // Execute: one worker per thread, kept from frame to frame; many lists per batch.
//! let mut worker = Worker::new(WorkerOptions::default());
//! let mut palette = vec![Mat3x4::IDENTITY; rig.palette_len()];
//! let mut batch = worker.batch();
//! batch.execute(&rig, &mut list, &mut palette)?;
//! batch.finish(); // now every palette is written
//! let stats = worker.take_stats();
//! # assert_eq!((stats.reachable, stats.executed_total()), (3, 3));
//! # Ok(())
//! # }
//! ```

pub mod capture;
pub mod describe;
pub mod execute;
pub mod kind;
mod known;
pub mod list;
mod operation;
mod pool;
pub mod serial;
pub mod state;
pub mod stats;
#[expect(clippy::module_inception, reason = "the module's central type is the task")]
pub mod task;
#[cfg(test)]
pub(crate) mod tests;
pub mod validate;
pub mod worker;
mod zones;

pub use capture::{Capture, NamedCapture, TaskRecord};
pub use describe::{Argument, Names};
pub use execute::Context;
pub use kind::TaskKind;
pub(crate) use known::{Known, KnownList, Split, weights_of};
pub use list::{TaskError, TaskList};
pub use state::{HistoryId, MaskId, Masks, NO_MASKS, PoseState, SnapshotId};
pub use stats::{ExecuteStats, Work};
pub use task::{AdditiveSpace, Stage, Task, TaskIndex, Transition};
pub use worker::{Batch, Worker, WorkerOptions};
