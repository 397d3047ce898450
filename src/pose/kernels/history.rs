//! What a transition remembers of the poses before it.

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
    /// Where the transition set out from, bone by bone; empty when there was nothing.
    pub(super) captured: Vec<Seam>,
}

/// One bone at the seam of a transition: offsets and their velocities for inertialization, the
/// pose and its velocities for dead blending.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Seam {
    pub rotation: Quat,
    pub translation: Vec3,
    pub scale: Vec3,
    pub turn: Channel,
    pub shift: Channel,
    pub stretch: Channel,
}

/// A magnitude along a unit direction and its change a second. Zero directions carry nothing.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Channel {
    pub direction: Vec3,
    pub x0: f32,
    pub v0: f32,
}

/// One bone of one pose, the rotation of unit length.
#[derive(Clone, Copy, Debug)]
pub(super) struct BonePose {
    pub rotation: Quat,
    pub translation: Vec3,
    pub scale: Vec3,
}

pub(super) fn bone_pose(rig: &Rig, pose: &Pose, bone: BoneIndex) -> BonePose {
    let value = rig.pose_trs(pose, bone);
    BonePose {
        rotation: value.rotation.normalize().as_quat(),
        translation: value.translation.as_vec3(),
        scale: value.scale.as_vec3(),
    }
}

pub(super) fn set_bone_pose(rig: &Rig, pose: &mut Pose, bone: BoneIndex, value: &BonePose) {
    let before = bone_pose(rig, pose, bone);
    pose.set_rotation(bone, value.rotation.to_array());
    if before.translation != value.translation {
        pose.hold_translation(rig.rest(), bone);
        pose.set_translation(bone, value.translation.to_array());
    }
    if rig.has_scale() && before.scale != value.scale {
        pose.hold_scale(rig.rest(), bone);
        pose.set_scale(bone, value.scale.to_array());
    }
}

impl History {
    /// Forgets everything but its memory.
    pub fn clear(&mut self) {
        self.frames = 0;
        self.captured.clear();
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
        self.captured.clear();
        if self.frames == 0 {
            return;
        }
        // Room for the bones that a level of detail leaves out now.
        self.captured.reserve(rig.bone_count().get());
        let [newer, older] = self.cuts;
        let known = if self.frames > 1 { newer.min(older) } else { newer };
        for bone in active.min(known).bones() {
            let newer = bone_pose(rig, &self.newer, bone);
            let older = (self.frames > 1).then(|| (bone_pose(rig, &self.older, bone), self.dt));
            self.captured.push(seam(bone, newer, older));
        }
    }

    /// Bytes of heap memory.
    pub fn heap_bytes(&self) -> usize {
        self.newer.heap_bytes()
            + self.older.heap_bytes()
            + self.captured.capacity() * size_of::<Seam>()
    }
}

/// The rotation vector of the shorter way that `q` turns.
pub(super) fn rotation_vector(q: Quat) -> Vec3 {
    let q = if q.w < 0.0 { -q } else { q };
    let v = Vec3::new(q.x, q.y, q.z);
    let sine = v.length();
    if sine < 1e-9 { v * 2.0 } else { v * (2.0 * sine.atan2(q.w) / sine) }
}
