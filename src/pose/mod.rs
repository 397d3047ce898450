//! Rank 1: the runtime skeleton and clip, pose buffers, and the kernels that work on them.

pub mod clip;
pub mod skeleton;

pub use clip::UniformClip;
pub use skeleton::{PaletteEntry, Skeleton, SkeletonError};
