//! The pose: one local transform per bone as streams of floats.

use super::streams::{GroupSet, LINE, Line, lines_for};
use crate::index::{BoneCount, BoneIndex};

/// Number of rotation components.
const ROTATION: usize = 4;
/// Number of translation components, and of scale components.
const VECTOR: usize = 3;

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
/// Streams `[qx | qy | qz | qw | tx | ty | tz | sx | sy | sz]`, each padded to whole cache lines;
/// the scale streams exist for rigs of the general class only. Rotations are near unit length:
/// within a factor of two, since sampling does not normalize (resolve does).
///
/// Translations and scales exist a group of eight bones at a time. A group that a pose does not
/// hold stands where the rig's reference pose has it, and costs nothing to sample or blend.
///
/// Bones at or beyond the cut of the task list that fills a pose are unspecified.
#[derive(Clone, Debug, Default)]
pub struct Pose {
    data: Vec<Line>,
    lines: usize,
    /// Groups whose translations are held.
    pub(crate) moved: GroupSet,
    /// Groups whose scales are held.
    pub(crate) scaled: GroupSet,
}

impl Pose {
    /// Makes the buffer fit a rig; allocates only when it grows. The contents are unspecified,
    /// and no group of translations or scales is held.
    pub fn fit(&mut self, shape: PoseShape) {
        let lines = lines_for(shape.bones.get());
        let streams = ROTATION + VECTOR + if shape.has_scale { VECTOR } else { 0 };
        self.lines = lines;
        if self.data.len() != lines * streams {
            self.data.resize(lines * streams, Line::ZERO);
        }
        self.moved = GroupSet::EMPTY;
        self.scaled = GroupSet::EMPTY;
    }

    /// Bytes of heap memory that the buffer holds.
    pub fn heap_bytes(&self) -> usize {
        self.data.capacity() * size_of::<Line>()
    }

    /// Bytes that one copy of a pose moves.
    pub fn copy_bytes(&self) -> usize {
        self.data.len() * size_of::<Line>()
    }

    /// Becomes a copy of `other`; allocates only when it grows.
    pub fn copy_from(&mut self, other: &Self) {
        self.data.clone_from(&other.data);
        self.lines = other.lines;
        self.moved = other.moved;
        self.scaled = other.scaled;
    }

    /// The rotation streams x, y, z, w.
    #[inline(always)]
    pub(crate) fn rotations(&self) -> [&[Line]; ROTATION] {
        let n = self.lines;
        std::array::from_fn(|c| &self.data[c * n..][..n])
    }

    /// The rotation streams x, y, z, w.
    #[inline(always)]
    pub(crate) fn rotations_mut(&mut self) -> [&mut [Line]; ROTATION] {
        split(&mut self.data, self.lines)
    }

    /// The translation streams; only groups in [`Pose::moved`] mean anything.
    #[inline(always)]
    pub(crate) fn translations(&self) -> [&[Line]; VECTOR] {
        let n = self.lines;
        std::array::from_fn(|c| &self.data[(ROTATION + c) * n..][..n])
    }

    /// The translation streams.
    #[inline(always)]
    pub(crate) fn translations_mut(&mut self) -> [&mut [Line]; VECTOR] {
        let start = ROTATION * self.lines;
        split(&mut self.data[start..], self.lines)
    }

    /// The scale streams; empty for a rig without scale.
    #[inline(always)]
    pub(crate) fn scales(&self) -> [&[Line]; VECTOR] {
        let n = self.lines;
        std::array::from_fn(|c| {
            let start = (ROTATION + VECTOR + c) * n;
            self.data.get(start..start + n).unwrap_or(&[])
        })
    }

    /// The scale streams; empty for a rig without scale.
    #[inline(always)]
    pub(crate) fn scales_mut(&mut self) -> [&mut [Line]; VECTOR] {
        let start = (ROTATION + VECTOR) * self.lines;
        let lines = if self.data.len() > start { self.lines } else { 0 };
        split(&mut self.data[start..], lines)
    }

    /// One bone's rotation in pose space, as it is stored.
    pub(crate) fn rotation(&self, bone: BoneIndex) -> [f32; 4] {
        self.rotations().map(|s| float(s, bone))
    }

    /// Stores one bone's rotation.
    pub(crate) fn set_rotation(&mut self, bone: BoneIndex, rotation: [f32; 4]) {
        for (stream, value) in self.rotations_mut().into_iter().zip(rotation) {
            set_float(stream, bone, value);
        }
    }

    /// One bone's stored translation; meaningless when its group is not held.
    pub(crate) fn translation(&self, bone: BoneIndex) -> [f32; 3] {
        self.translations().map(|s| float(s, bone))
    }

    /// Stores one bone's translation; its group must be held.
    pub(crate) fn set_translation(&mut self, bone: BoneIndex, translation: [f32; 3]) {
        for (stream, value) in self.translations_mut().into_iter().zip(translation) {
            set_float(stream, bone, value);
        }
    }

    /// One bone's stored scale; meaningless when its group is not held.
    pub(crate) fn scale(&self, bone: BoneIndex) -> [f32; 3] {
        self.scales().map(|s| float(s, bone))
    }

    /// Stores one bone's scale; its group must be held.
    pub(crate) fn set_scale(&mut self, bone: BoneIndex, scale: [f32; 3]) {
        for (stream, value) in self.scales_mut().into_iter().zip(scale) {
            set_float(stream, bone, value);
        }
    }
}

/// Whole cache lines that kernels run over for bones `[0, active)`.
#[inline(always)]
pub(crate) fn active_lines(active: BoneCount) -> usize {
    lines_for(active.get())
}

#[inline(always)]
fn split<const N: usize>(data: &mut [Line], lines: usize) -> [&mut [Line]; N] {
    let mut rest = data;
    std::array::from_fn(|_| {
        let (stream, tail) = std::mem::take(&mut rest).split_at_mut(lines);
        rest = tail;
        stream
    })
}

fn float(stream: &[Line], bone: BoneIndex) -> f32 {
    stream.get(bone.get() / LINE).map_or(0.0, |line| line.0[bone.get() % LINE])
}

fn set_float(stream: &mut [Line], bone: BoneIndex, value: f32) {
    if let Some(line) = stream.get_mut(bone.get() / LINE) {
        line.0[bone.get() % LINE] = value;
    }
}
