//! One recorded pose operation.

use super::kind::TaskKind;
use super::state::{HistoryId, MaskId, SnapshotId};
use crate::index::{BoneIndex, ClipId};
use crate::pose::kernels::bone::{BoneMode, BoneSpace};
use crate::pose::kernels::ik::fabrik::Chain;
use crate::pose::kernels::ik::look_at::Gaze;
use crate::pose::kernels::ik::stand::Stance;
use crate::pose::kernels::ik::two_bone::{Limb, Reach};
use crate::pose::kernels::weight;
use std::fmt;

/// Index of a task in its list, or no task.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TaskIndex(i16);

impl TaskIndex {
    /// No task. As a dependency it stands for the bind pose (for a delta, for no difference).
    pub const NONE: Self = Self(-1);
    /// The most tasks that one list can hold.
    pub const LIMIT: usize = i16::MAX as usize + 1;

    /// The index of the task at a position in its list; `None` past [`TaskIndex::LIMIT`].
    pub fn new(at: usize) -> Option<Self> {
        i16::try_from(at).ok().map(Self)
    }

    /// Position in the list, or `None` for [`TaskIndex::NONE`].
    #[inline(always)]
    pub fn get(self) -> Option<usize> {
        usize::try_from(self.0).ok()
    }
}

impl fmt::Debug for TaskIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for TaskIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.get() {
            Some(at) => write!(f, "{at}"),
            None => f.write_str("none"),
        }
    }
}

/// When a task may run around a physics step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Stage {
    /// As soon as what it reads is there.
    #[default]
    Any,
    /// Before the step.
    PrePhysics,
    /// After the step, and so does whatever reads it.
    PostPhysics,
}

/// The frame that an additive rotation belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum AdditiveSpace {
    /// Relative to the parent: turns with the bones above.
    #[default]
    Local,
    /// Model space: keeps its direction whatever the bones above do.
    Mesh,
}

/// A transition's share of a frame: the record phase advances it, the execute phase follows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Transition {
    /// Whose poses it remembers; a character without such a history snaps. Each kind of transition
    /// has histories of its own.
    pub history: HistoryId,
    /// Seconds since it began; not-a-number is a transition that is over.
    pub elapsed: f32,
    /// Seconds that it lasts.
    pub duration: f32,
    /// Seconds since this character's last evaluation.
    pub dt: f32,
    /// It begins now: capture where it sets out from.
    pub capture: bool,
}

impl Transition {
    /// One that is over.
    pub const OVER: Self = Self {
        history: HistoryId(0),
        elapsed: f32::NAN,
        duration: 0.0,
        dt: f32::NAN,
        capture: false,
    };
}

/// One pose operation: plain data, no heap, dependencies are earlier tasks of the same list.
///
/// Scalars that are not numbers count as zero, vectors that are not finite as "do nothing", and a
/// bone that the skeleton lacks or its level of detail leaves out is not touched. Limits on alphas
/// are 0..=1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Task {
    /// The skeleton's rest pose.
    ReferencePose,
    /// One clip at a time.
    SampleClip {
        /// A clip of the rig; one that it does not have gives the bind pose.
        clip: ClipId,
        /// Seconds inside the clip; clamped to it, not looped. Not-a-number is the start.
        seconds: f32,
    },
    /// `lerp(a, b, alpha)`: rotations by nlerp on the shorter arc.
    Blend {
        /// The pose at 0; its buffer may be taken over.
        a: TaskIndex,
        /// The pose at 1.
        b: TaskIndex,
        /// How far.
        alpha: f32,
    },
    /// `lerp(a, b, alpha * mask[bone])`.
    BlendMasked {
        /// The pose at 0.
        a: TaskIndex,
        /// The pose at 1.
        b: TaskIndex,
        /// How far.
        alpha: f32,
        /// Weights per bone; a mask that is not there weighs every bone 1.
        mask: MaskId,
    },
    /// The difference between two poses.
    MakeAdditive {
        /// The pose.
        source: TaskIndex,
        /// What it is compared to; none is the bind pose.
        reference: TaskIndex,
        /// The frame of its rotations.
        space: AdditiveSpace,
    },
    /// A difference added to a pose.
    ApplyAdditive {
        /// The pose.
        base: TaskIndex,
        /// The difference, made in the same space.
        delta: TaskIndex,
        /// How much of it.
        alpha: f32,
        /// The frame of its rotations.
        space: AdditiveSpace,
    },
    /// The pose plus a difference that dies away (Bollo 2018).
    Inertialize {
        /// The pose to go to.
        source: TaskIndex,
        /// Of the transition.
        transition: Transition,
    },
    /// The old pose going on by itself, blended into the new one (Holden 2023).
    DeadBlend {
        /// The pose to go to.
        source: TaskIndex,
        /// Of the transition.
        transition: Transition,
    },
    /// Passes a pose on and keeps a copy that outlives the frame.
    SavePoseSnapshot {
        /// The pose.
        source: TaskIndex,
        /// Where the character keeps it.
        snapshot: SnapshotId,
    },
    /// A pose that was saved, or the bind pose when none was.
    LoadPoseSnapshot {
        /// Where the character keeps it.
        snapshot: SnapshotId,
    },
    /// Changes one bone's transform.
    BoneTransform {
        /// The pose.
        source: TaskIndex,
        /// The bone.
        bone: BoneIndex,
        /// The frame of the change.
        space: BoneSpace,
        /// Added or towards.
        mode: BoneMode,
        /// How much of it.
        alpha: f32,
        /// Translation of the change.
        translation: [f32; 3],
        /// Rotation of the change, xyzw, of any length.
        rotation: [f32; 4],
        /// Scale of the change; without effect on a rig without scale.
        scale: [f32; 3],
    },
    /// Moves one bone.
    TranslateBone {
        /// The pose.
        source: TaskIndex,
        /// The bone.
        bone: BoneIndex,
        /// The frame of the offset.
        space: BoneSpace,
        /// How much of it.
        alpha: f32,
        /// The offset.
        offset: [f32; 3],
    },
    /// An arm or a leg to a target.
    TwoBoneIk {
        /// The pose.
        source: TaskIndex,
        /// The bones.
        limb: Limb,
        /// The target.
        reach: Reach,
    },
    /// A chain of bones to a target.
    Fabrik {
        /// The pose.
        source: TaskIndex,
        /// Chain and target.
        chain: Chain,
        /// How freely each bone turns; [`MaskId::NONE`] leaves all free.
        weights: MaskId,
    },
    /// One bone towards a point.
    LookAt {
        /// The pose.
        source: TaskIndex,
        /// Bone and point.
        gaze: Gaze,
    },
    /// Two feet onto the list's ground ([`TaskList::set_ground`](super::TaskList::set_ground)).
    FootIk {
        /// The pose.
        source: TaskIndex,
        /// The bones, and how much.
        stance: Stance,
    },
}

const _: () = assert!(size_of::<Task>() <= 64, "a task fits one cache line");

impl Task {
    /// The kind.
    #[inline]
    pub const fn kind(&self) -> TaskKind {
        match self {
            Self::ReferencePose => TaskKind::ReferencePose,
            Self::SampleClip { .. } => TaskKind::SampleClip,
            Self::Blend { .. } => TaskKind::Blend,
            Self::BlendMasked { .. } => TaskKind::BlendMasked,
            Self::MakeAdditive { .. } => TaskKind::MakeAdditive,
            Self::ApplyAdditive { .. } => TaskKind::ApplyAdditive,
            Self::Inertialize { .. } => TaskKind::Inertialize,
            Self::DeadBlend { .. } => TaskKind::DeadBlend,
            Self::SavePoseSnapshot { .. } => TaskKind::SavePoseSnapshot,
            Self::LoadPoseSnapshot { .. } => TaskKind::LoadPoseSnapshot,
            Self::BoneTransform { .. } => TaskKind::BoneTransform,
            Self::TranslateBone { .. } => TaskKind::TranslateBone,
            Self::TwoBoneIk { .. } => TaskKind::TwoBoneIk,
            Self::Fabrik { .. } => TaskKind::Fabrik,
            Self::LookAt { .. } => TaskKind::LookAt,
            Self::FootIk { .. } => TaskKind::FootIk,
        }
    }

    /// First and second dependency. Only the first one's buffer is ever taken over.
    #[inline]
    pub const fn dependencies(&self) -> [TaskIndex; 2] {
        match *self {
            Self::ReferencePose | Self::SampleClip { .. } | Self::LoadPoseSnapshot { .. } => {
                [TaskIndex::NONE; 2]
            }
            Self::Blend { a, b, .. } | Self::BlendMasked { a, b, .. } => [a, b],
            Self::MakeAdditive { source, reference, .. } => [source, reference],
            Self::ApplyAdditive { base, delta, .. } => [base, delta],
            Self::Inertialize { source, .. }
            | Self::DeadBlend { source, .. }
            | Self::SavePoseSnapshot { source, .. }
            | Self::BoneTransform { source, .. }
            | Self::TranslateBone { source, .. }
            | Self::TwoBoneIk { source, .. }
            | Self::Fabrik { source, .. }
            | Self::LookAt { source, .. }
            | Self::FootIk { source, .. } => [source, TaskIndex::NONE],
        }
    }

    /// True for tasks that read no pose.
    #[inline]
    pub const fn is_source(&self) -> bool {
        matches!(
            self,
            Self::ReferencePose | Self::SampleClip { .. } | Self::LoadPoseSnapshot { .. }
        )
    }

    /// How much of this task's own weight each dependency carries on: what a notify of a clip
    /// below is worth.
    #[inline]
    pub fn dependency_weights(&self) -> [f32; 2] {
        match *self {
            Self::ReferencePose | Self::SampleClip { .. } | Self::LoadPoseSnapshot { .. } => {
                [0.0; 2]
            }
            Self::Blend { alpha, .. } => {
                let alpha = weight(alpha);
                [1.0 - alpha, alpha]
            }
            // What is masked out keeps playing beside what is masked in.
            Self::BlendMasked { alpha, .. } | Self::ApplyAdditive { alpha, .. } => {
                [1.0, weight(alpha)]
            }
            // The reference of a difference is a yardstick, nothing that plays.
            _ => [1.0, 0.0],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_past_the_range_does_not_wrap() {
        assert_eq!(TaskIndex::new(32_767).and_then(TaskIndex::get), Some(32_767));
        assert_eq!(TaskIndex::new(32_768), None);
        assert_eq!(TaskIndex::NONE.get(), None);
    }
}
