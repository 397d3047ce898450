//! From poses to palettes: forward kinematics and inverse binds in one pass, eight characters at
//! once, one lane each.

mod scalar;
mod vector;

use super::enter;
use crate::index::BoneCount;
use crate::math::{Lanes, Mat3x4};
use crate::pose::buffer::Pose;
use crate::pose::low_detail::Detail;
use crate::pose::rig::Rig;
use crate::pose::streams::GROUP;

/// Characters in a full batch.
pub const BATCH: usize = 8;

/// Bones that are transposed before they are walked: few, so that they are still in the first-level
/// cache and the transposes overlap with the walk.
const CHUNK: usize = 8;

/// A chunk of bones, one lane per character.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Chunk {
    rotations: [[[f32; BATCH]; 4]; CHUNK],
    translations: [[[f32; BATCH]; 3]; CHUNK],
    scales: [[[f32; BATCH]; 3]; CHUNK],
    /// Whether the translations of a group of eight bones are above, or the reference pose's.
    moved: [bool; CHUNK / GROUP],
}

impl Chunk {
    const ZERO: Self = Self {
        rotations: [[[0.0; BATCH]; 4]; CHUNK],
        translations: [[[0.0; BATCH]; 3]; CHUNK],
        scales: [[[0.0; BATCH]; 3]; CHUNK],
        moved: [false; CHUNK / GROUP],
    };
}

/// What a bone keeps for its children, one lane per character.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Slot {
    /// Three rows of four.
    matrix: [[[f32; BATCH]; 4]; 3],
    /// The rotation, xyzw, of any length (bind-relative class).
    rotation: [[f32; BATCH]; 4],
}

impl Slot {
    const ZERO: Self = Self { matrix: [[[0.0; BATCH]; 4]; 3], rotation: [[0.0; BATCH]; 4] };
}

/// Matrices that later bones read; one per worker, reused for every batch.
#[derive(Clone, Debug, Default)]
pub struct ResolveScratch {
    slots: Vec<Slot>,
    /// Palettes of the lanes that have no character.
    spare: Vec<Mat3x4>,
    /// One, once there was a batch.
    chunk: Vec<Chunk>,
}

impl ResolveScratch {
    fn fit(&mut self, slots: usize, spare: usize) {
        if self.slots.len() < slots {
            self.slots.resize(slots, Slot::ZERO);
        }
        if self.spare.len() < spare {
            self.spare.resize(spare, Mat3x4::IDENTITY);
        }
        if self.chunk.is_empty() {
            self.chunk.push(Chunk::ZERO);
        }
    }

    /// Bytes of heap memory.
    pub fn heap_bytes(&self) -> usize {
        self.slots.capacity() * size_of::<Slot>()
            + self.spare.capacity() * size_of::<Mat3x4>()
            + self.chunk.capacity() * size_of::<Chunk>()
    }
}

/// Resolves one to eight poses of a rig, cut at the same bone, into packed palettes.
///
/// `out[i]` receives pose `i`'s palette, written once and in ascending order; it must hold as much
/// of the rig's as the detail asks for. Bones from `active` on stand where the reference pose has them and follow their
/// animated ancestors. Rotations may have any length that isn't zero. A pose's result does not
/// depend on its neighbours in the batch: missing ones are padded.
///
/// # Errors
/// The lengths of a palette that is too short, or of an empty or overfull batch.
pub fn resolve(
    lanes: Lanes,
    rig: &Rig,
    poses: &[&Pose],
    (active, detail): (BoneCount, Detail),
    scratch: &mut ResolveScratch,
    out: &mut [&mut [Mat3x4]],
) -> Result<(), ResolveError> {
    let table = rig.table(detail);
    let (count, needed) = (poses.len(), table.palette_len());
    if count == 0 || count > BATCH || out.len() != count {
        return Err(ResolveError::Batch { poses: count, palettes: out.len() });
    }
    if let Some(short) = out.iter().find(|palette| palette.len() < needed) {
        return Err(ResolveError::Palette { len: short.len(), needed });
    }
    scratch.fit(table.slots, (BATCH - count) * needed);
    let active = active.min(rig.bone_count());
    enter!(lanes, scalar::resolve((rig, table), poses, active, scratch, out), simd => {
        vector::resolve(simd, (rig, table), poses, active, scratch, out)
    });
    Ok(())
}

/// What can't be resolved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ResolveError {
    /// Not one to eight poses with a palette each.
    #[error("a batch of {poses} poses and {palettes} palettes: expected one to eight of each")]
    Batch {
        /// Number of poses.
        poses: usize,
        /// Number of palettes.
        palettes: usize,
    },
    /// A palette that is too short.
    #[error("a palette of {len} matrices can't hold the rig's {needed}")]
    Palette {
        /// Its length.
        len: usize,
        /// The rig's palette length.
        needed: usize,
    },
}
