//! What one tick did, in numbers.

use super::budget::BudgetStats;
use super::follow::Followers;
use super::rate::Gates;
use crate::index::CharacterId;
use crate::task::ExecuteStats;

/// Numbers of one tick.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TickStats {
    /// Characters in the world.
    pub count: u32,
    /// Came since the last tick.
    pub spawned: u32,
    /// Went since the last tick.
    pub despawned: u32,
    /// In the camera's or the shadow map's frustum.
    pub visible: u32,
    /// In the camera's frustum.
    pub in_camera: u32,
    /// Recorded and executed.
    pub evaluated: u32,
    /// Recorded alone: their clocks run though nobody sees them.
    pub ticked: u32,
    /// With a palette slot and evaluated every 1, 2, 3 and 4 frames. Of a replay, zeros: rates are
    /// those of the recorded run.
    pub by_rate: [u32; Gates::RATES + 1],
    /// With a palette slot and drawn as they were: it was not their turn.
    pub skipped: u32,
    /// Who takes its pose from somebody else.
    pub followers: Followers,
    /// Of those, whose palettes were written this frame.
    pub followed: u32,
    /// Frames since the last evaluation of whoever with a slot has waited longest, up to this one.
    pub longest_gap: u32,
    /// Who that is, where anybody has a slot.
    pub waited_longest: CharacterId,
    /// Of those evaluated, posed by the first bones of their skeleton alone.
    pub lod_cut: u32,
    /// Notifies fired.
    pub notifies: u32,
    /// Told by a sequence to tick, seen or not.
    pub forced: u32,
    /// Fall or lie.
    pub fallen: u32,
    /// Of those, whose bodies moved.
    pub bodies_moving: u32,
    /// Have got up, after lying, in this tick.
    pub risen: u32,
    /// Nanoseconds of the serial phase that sequences took.
    pub sequence_ns: u64,
    /// What a budget has come to, if there is one.
    pub budget: Option<BudgetStats>,
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
