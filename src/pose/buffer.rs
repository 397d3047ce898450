//! The pose: one local transform per bone, in blocks.

use super::streams::{GROUP, GroupSet, LINE, QuatBlock, Vec3Group, blocks_for, groups_for};
use crate::index::{BoneCount, BoneIndex};

/// What a buffer must hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct PoseShape {
    /// Bones of the skeleton.
    pub bones: BoneCount,
    /// Whether scale is animated: the general class.
    pub has_scale: bool,
}

/// One transform per bone of a [`Rig`](super::Rig), in the rig's pose space (see `basis.rs`).
///
/// Rotations lie in blocks of sixteen bones, `[x | y | z | w]` each, so that every vector width
/// finds one component in neighbouring lanes; translations and scales lie in groups of eight. The
/// scales exist for rigs of the general class only. Rotations are near unit length (within a
/// factor of two, since sampling does not normalize; resolve does).
///
/// Translations and scales exist a group at a time. A group that a pose does not hold stands where
/// the rig's reference pose has it, and costs nothing to sample or blend.
///
/// Bones at or beyond the cut of the task list that fills a pose are unspecified.
#[derive(Clone, Debug, Default)]
pub struct Pose {
    shape: PoseShape,
    pub(crate) rotations: Vec<QuatBlock>,
    pub(crate) translations: Vec<Vec3Group>,
    pub(crate) scales: Vec<Vec3Group>,
    /// What the pose holds are differences to another pose, so that groups it does not hold are
    /// none.
    pub(crate) is_delta: bool,
    /// Groups whose translations are held.
    pub(crate) moved: GroupSet,
    /// Groups whose scales are held.
    pub(crate) scaled: GroupSet,
}

/// What stands in for groups that a pose does not hold.
#[derive(Clone, Copy, Debug)]
pub struct Rest<'a> {
    /// The rig's reference pose.
    pub pose: &'a Pose,
    /// No difference.
    pub delta: &'a Pose,
}

impl<'a> Rest<'a> {
    /// Where groups stand that `pose` does not hold.
    #[inline(always)]
    pub fn of(self, pose: &Pose) -> &'a Pose {
        if pose.is_delta { self.delta } else { self.pose }
    }
}

impl Pose {
    /// Makes the buffer fit a rig; allocates only when it grows. The contents are unspecified.
    #[inline]
    pub fn fit(&mut self, shape: PoseShape) {
        if self.shape != shape {
            self.resize(shape);
        }
    }

    #[cold]
    fn resize(&mut self, shape: PoseShape) {
        let bones = shape.bones.get();
        let scales = if shape.has_scale { groups_for(bones) } else { 0 };
        self.shape = shape;
        self.rotations.resize(blocks_for(bones), QuatBlock::IDENTITY);
        self.translations.resize(groups_for(bones), Vec3Group::ZERO);
        self.scales.resize(scales, Vec3Group::ONE);
        self.moved = GroupSet::new(bones);
        self.scaled = GroupSet::new(bones);
    }

    /// Bytes of heap memory that the buffer holds.
    pub fn heap_bytes(&self) -> usize {
        self.rotations.capacity() * size_of::<QuatBlock>()
            + (self.translations.capacity() + self.scales.capacity()) * size_of::<Vec3Group>()
    }

    /// Becomes a copy of the first `active` bones of `other`, which fits the same rig; gives the
    /// bytes that were copied.
    pub fn copy_from(&mut self, other: &Self, active: BoneCount) -> usize {
        let blocks = blocks_for(active.get());
        self.rotations[..blocks].copy_from_slice(&other.rotations[..blocks]);
        let mut groups = 0;
        other.moved.each_below(groups_for(active.get()), |g| {
            self.translations[g] = other.translations[g];
            groups += 1;
        });
        other.scaled.each_below(groups_for(active.get()), |g| {
            self.scales[g] = other.scales[g];
            groups += 1;
        });
        self.is_delta = other.is_delta;
        self.moved.assign(&other.moved);
        self.scaled.assign(&other.scaled);
        blocks * size_of::<QuatBlock>() + groups * size_of::<Vec3Group>()
    }

    /// Makes sure that the group of a bone's translation is held.
    pub(crate) fn hold_translation(&mut self, rest: Rest<'_>, bone: BoneIndex) {
        let group = bone.get() / GROUP;
        if !self.moved.contains(group) {
            self.translations[group] = rest.of(self).translations[group];
            self.moved.insert(group);
        }
    }

    /// Makes sure that the group of a bone's scale is held, where the rig has scale.
    pub(crate) fn hold_scale(&mut self, rest: Rest<'_>, bone: BoneIndex) {
        let group = bone.get() / GROUP;
        if !self.scaled.contains(group) && group < self.scales.len() {
            self.scales[group] = rest.of(self).scales[group];
            self.scaled.insert(group);
        }
    }

    /// One bone's rotation in pose space, as it is stored.
    #[inline(always)]
    pub(crate) fn rotation(&self, bone: BoneIndex) -> [f32; 4] {
        self.rotations[bone.get() / LINE].get(bone.get())
    }

    /// Stores one bone's rotation.
    #[inline(always)]
    pub(crate) fn set_rotation(&mut self, bone: BoneIndex, rotation: [f32; 4]) {
        self.rotations[bone.get() / LINE].set(bone.get(), rotation);
    }

    /// One bone's stored translation; meaningless when its group is not held.
    #[inline(always)]
    pub(crate) fn translation(&self, bone: BoneIndex) -> [f32; 3] {
        self.translations[bone.get() / GROUP].get(bone.get())
    }

    /// Stores one bone's translation; its group must be held.
    #[inline(always)]
    pub(crate) fn set_translation(&mut self, bone: BoneIndex, translation: [f32; 3]) {
        self.translations[bone.get() / GROUP].set(bone.get(), translation);
    }

    /// One bone's stored scale; meaningless when its group is not held. One for a rig without.
    #[inline(always)]
    pub(crate) fn scale(&self, bone: BoneIndex) -> [f32; 3] {
        self.scales.get(bone.get() / GROUP).map_or([1.0; 3], |group| group.get(bone.get()))
    }

    /// Stores one bone's scale; its group must be held. Nothing for a rig without.
    #[inline(always)]
    pub(crate) fn set_scale(&mut self, bone: BoneIndex, scale: [f32; 3]) {
        if let Some(group) = self.scales.get_mut(bone.get() / GROUP) {
            group.set(bone.get(), scale);
        }
    }
}
