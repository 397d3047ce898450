//! Rank 1: the runtime skeleton and clip, pose buffers, and the kernels that work on them.

pub(crate) mod basis;
pub mod buffer;
pub mod clip;
pub(crate) mod clip_layout;
pub mod clip_store;
pub mod direct;
pub mod ground;
pub mod kernels;
mod low_detail;
mod pose_map;
pub(crate) mod resolve_table;
pub mod rig;
pub mod root_pin;
pub mod runtime_clip;
pub mod skeleton;
pub mod streams;
#[cfg(test)]
pub(crate) mod testing;

pub use basis::RigClass;
pub use buffer::{Pose, PoseShape, Rest};
pub use clip::UniformClip;
pub use clip_store::ClipStore;
pub use ground::GroundPatch;
pub use low_detail::{CutRows, Detail, PaletteView};
pub use pose_map::PoseMap;
pub use rig::{Rig, RigError, RigOptions};
pub use root_pin::RootPin;
pub use runtime_clip::RuntimeClip;
pub use skeleton::{PaletteEntry, Skeleton, SkeletonError};
