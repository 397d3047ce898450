//! What a transition remembers of the poses before it.

use super::seam::{Seam, Seams};
use crate::index::{BoneCount, BoneIndex};
use crate::pose::{Pose, Rig};
use glam::{Quat, Vec3};

/// The last two poses that a transition put out, and what it captured when it began. Belongs to
/// one character and one rig.
#[derive(Clone, Debug, Default)]
pub struct History {
    newer: Pose,
    older: Pose,
    /// Poses that are known: none, one, or both.
    frames: u8,
    /// Seconds between the two.
    dt: f32,
    /// Bones that the newer and the older one cover.
    cuts: [BoneCount; 2],
    /// Where the transition set out from.
    pub(super) seams: Seams,
}

/// One bone of one pose, the rotation of unit length.
#[derive(Clone, Copy, Debug)]
pub(super) struct BonePose {
    pub rotation: Quat,
    pub translation: Vec3,
    pub scale: Vec3,
}

impl BonePose {
    /// No rotation, at the origin.
    pub const IDENTITY: Self =
        Self { rotation: Quat::IDENTITY, translation: Vec3::ZERO, scale: Vec3::ONE };
}

pub(super) fn bone_pose(rig: &Rig, pose: &Pose, bone: BoneIndex) -> BonePose {
    let value = rig.pose_trs(pose, bone);
    BonePose {
        rotation: value.rotation.normalize().as_quat(),
        translation: value.translation.as_vec3(),
        scale: value.scale.as_vec3(),
    }
}

impl History {
    /// Allocates now what poses of a rig and a capture will take.
    pub fn reserve(&mut self, rig: &Rig) {
        self.newer.fit(rig.shape());
        self.older.fit(rig.shape());
        self.seams.reserve(rig);
    }

    /// Has as much room for a capture as another history.
    pub fn reserve_as(&mut self, other: &Self) {
        self.seams.reserve_as(&other.seams);
    }

    /// Forgets everything but its memory.
    pub fn clear(&mut self) {
        self.frames = 0;
        self.seams.forget();
    }

    /// How many of the last two poses are known.
    pub fn frames(&self) -> u8 {
        self.frames
    }

    /// Remembers a pose that was put out `dt` seconds after the one before.
    pub fn push(&mut self, rig: &Rig, pose: &Pose, active: BoneCount, dt: f32) {
        std::mem::swap(&mut self.newer, &mut self.older);
        self.newer.fit(rig.shape());
        self.newer.copy_from(pose, active);
        self.cuts = [active, self.cuts[0]];
        self.dt = dt;
        // Time that stood still tells nothing of a velocity.
        self.frames = if self.frames > 0 && dt > 0.0 && dt.is_finite() { 2 } else { 1 };
    }

    /// Works out a [`Seam`] for every bone that the history covers.
    pub(super) fn capture(
        &mut self,
        rig: &Rig,
        active: BoneCount,
        mut seam: impl FnMut(BoneIndex, BonePose, Option<(BonePose, f32)>) -> Seam,
    ) {
        let [newer, older] = self.cuts;
        let known = match self.frames {
            0 => BoneCount(0),
            1 => newer,
            _ => newer.min(older),
        };
        self.seams.reset(rig, active.min(known));
        for bone in self.seams.bones.bones() {
            let newer = bone_pose(rig, &self.newer, bone);
            let older = (self.frames > 1).then(|| (bone_pose(rig, &self.older, bone), self.dt));
            self.seams.set(bone, &seam(bone, newer, older));
        }
    }

    /// Keeps the newest pose beside the channels that were captured.
    pub(super) fn keep_pose(&mut self, rig: &Rig) {
        let Self { newer, seams, .. } = self;
        seams.keep_pose(rig, newer, |bone| bone_pose(rig, newer, bone));
    }

    /// Bytes of heap memory.
    pub fn heap_bytes(&self) -> usize {
        self.newer.heap_bytes() + self.older.heap_bytes() + self.seams.heap_bytes()
    }
}

/// The rotation vector of the shorter way that `q` turns.
pub(super) fn rotation_vector(q: Quat) -> Vec3 {
    let q = if q.w < 0.0 { -q } else { q };
    let v = Vec3::new(q.x, q.y, q.z);
    let sine = v.length();
    if sine < 1e-9 { v * 2.0 } else { v * (2.0 * sine.atan2(q.w) / sine) }
}
