//! What a frame cost the GPU's side.

use super::lod::LEVELS;
use super::memory::GpuMemory;

/// Draw calls so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct DrawCounts {
    pub(super) draws: u64,
    pub(super) triangles: u64,
}

/// One pass's time on the GPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct GpuPass {
    /// `palettes`, `shadow`, `main` or `overlay`.
    pub name: &'static str,
    /// Nanoseconds.
    pub ns: u64,
}

/// The passes of one frame, timed on the GPU. They are known a few frames after they ran.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GpuTimes {
    /// Which frame of the renderer's, counted from 0.
    pub frame: u64,
    /// In the order that they ran.
    pub passes: Vec<GpuPass>,
}

impl GpuTimes {
    /// All passes together, nanoseconds.
    pub fn total_ns(&self) -> u64 {
        self.passes.iter().map(|p| p.ns).sum()
    }
}

/// What one frame drew and moved.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RenderStats {
    /// Draw calls, all passes.
    pub draws: u64,
    /// Triangles handed to the GPU, all passes.
    pub triangles: u64,
    /// Instances that the camera's frustum holds.
    pub instances: u64,
    /// Of those, drawn with each level of detail of their meshes, the full one first.
    pub by_level: [u32; LEVELS],
    /// Bytes that went to the GPU: palettes, instances and uniforms.
    pub upload_bytes: u64,
    /// GPU memory held after it.
    pub memory: GpuMemory,
    /// Nanoseconds that the CPU waited because the GPU was two frames behind. Part of no phase.
    pub wait_ns: u64,
    /// The frames whose times became known since the last call, oldest first. Always empty where
    /// [`super::AdapterSummary::timestamps`] is false.
    pub gpu_passes: Vec<GpuTimes>,
}
