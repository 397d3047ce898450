//! What one tick did, in numbers.

use crate::task::ExecuteStats;

/// Numbers of one tick.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TickStats {
    /// Characters in the world.
    pub count: u32,
    /// In the camera's or the shadow map's frustum.
    pub visible: u32,
    /// In the camera's frustum.
    pub in_camera: u32,
    /// Recorded and executed.
    pub evaluated: u32,
    /// Notifies fired.
    pub notifies: u32,
    /// Were given a palette slot, because they came into view.
    pub entered: u32,
    /// Gave their palette slot back.
    pub left: u32,
    /// Visible but without a slot, because palettes have reached the memory limit; not drawn.
    pub waiting: u32,
    /// Palette slots in use.
    pub leased: u32,
    /// Pages of palette memory.
    pub pages: u32,
    /// What the executor did, all workers together.
    pub tasks: ExecuteStats,
    /// Bytes of pose buffers and scratch, all workers together.
    pub pose_pool_bytes: u64,
    /// Bytes of all palette pages.
    pub palette_bytes: u64,
    /// Bytes of the characters' own columns.
    pub character_bytes: u64,
    /// Chained over the frames that asked for it, this one included.
    pub palette_hash: Option<u64>,
    /// Nanoseconds that the hash took: part of no phase, and of no frame worth measuring.
    pub hash_ns: u64,
}
