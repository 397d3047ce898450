//! One recorded pose operation.

use crate::index::ClipId;
use std::fmt;

/// Index of a task in its list, or no task.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TaskIndex(i16);

impl TaskIndex {
    /// No task. As a dependency it stands for the bind pose (for a delta, for the identity).
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

/// One pose operation: plain data, no heap, dependencies are earlier tasks of the same list.
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
        /// Limited to 0..=1; not-a-number is 0.
        alpha: f32,
    },
}

/// A task without its data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize)]
#[repr(usize)]
pub enum TaskKind {
    /// [`Task::ReferencePose`]
    ReferencePose,
    /// [`Task::SampleClip`]
    SampleClip,
    /// [`Task::Blend`]
    Blend,
}

impl TaskKind {
    /// Number of kinds.
    pub const COUNT: usize = Self::ALL.len();
    /// In the order of their numbers.
    pub const ALL: [Self; 3] = [Self::ReferencePose, Self::SampleClip, Self::Blend];

    /// The name, as in reports and zones.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ReferencePose => "ReferencePose",
            Self::SampleClip => "SampleClip",
            Self::Blend => "Blend",
        }
    }
}

impl Task {
    /// The kind.
    #[inline]
    pub const fn kind(&self) -> TaskKind {
        match self {
            Self::ReferencePose => TaskKind::ReferencePose,
            Self::SampleClip { .. } => TaskKind::SampleClip,
            Self::Blend { .. } => TaskKind::Blend,
        }
    }

    /// First and second dependency. Only the first one's buffer is ever taken over.
    #[inline]
    pub const fn dependencies(&self) -> [TaskIndex; 2] {
        match *self {
            Self::ReferencePose | Self::SampleClip { .. } => [TaskIndex::NONE; 2],
            Self::Blend { a, b, .. } => [a, b],
        }
    }

    /// True for tasks that read no pose.
    #[inline]
    pub const fn is_source(&self) -> bool {
        matches!(self, Self::ReferencePose | Self::SampleClip { .. })
    }

    /// How much of this task's own weight each dependency carries on: what a notify of a clip
    /// below is worth.
    #[inline]
    pub fn dependency_weights(&self) -> [f32; 2] {
        match *self {
            Self::ReferencePose | Self::SampleClip { .. } => [0.0; 2],
            Self::Blend { alpha, .. } => {
                let alpha = crate::pose::kernels::weight(alpha);
                [1.0 - alpha, alpha]
            }
        }
    }
}

const _: () = assert!(size_of::<Task>() <= 64, "a task fits one cache line");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_numbered_in_order_and_named_apart() {
        for (at, kind) in TaskKind::ALL.into_iter().enumerate() {
            assert_eq!(kind as usize, at);
            assert_eq!(TaskKind::ALL.iter().filter(|k| k.name() == kind.name()).count(), 1);
        }
    }

    #[test]
    fn an_index_past_the_range_does_not_wrap() {
        assert_eq!(TaskIndex::new(32_767).and_then(TaskIndex::get), Some(32_767));
        assert_eq!(TaskIndex::new(32_768), None);
        assert_eq!(TaskIndex::NONE.get(), None);
    }
}
