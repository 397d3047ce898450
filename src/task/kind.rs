//! What kinds of task there are.

/// A task without its data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize)]
#[repr(usize)]
pub enum TaskKind {
    /// [`Task::ReferencePose`](super::Task::ReferencePose)
    ReferencePose,
    /// [`Task::SampleClip`](super::Task::SampleClip)
    SampleClip,
    /// [`Task::Blend`](super::Task::Blend)
    Blend,
    /// [`Task::BlendMasked`](super::Task::BlendMasked)
    BlendMasked,
    /// [`Task::MakeAdditive`](super::Task::MakeAdditive)
    MakeAdditive,
    /// [`Task::ApplyAdditive`](super::Task::ApplyAdditive)
    ApplyAdditive,
    /// [`Task::Inertialize`](super::Task::Inertialize)
    Inertialize,
    /// [`Task::DeadBlend`](super::Task::DeadBlend)
    DeadBlend,
    /// [`Task::SavePoseSnapshot`](super::Task::SavePoseSnapshot)
    SavePoseSnapshot,
    /// [`Task::LoadPoseSnapshot`](super::Task::LoadPoseSnapshot)
    LoadPoseSnapshot,
    /// [`Task::BoneTransform`](super::Task::BoneTransform)
    BoneTransform,
    /// [`Task::TranslateBone`](super::Task::TranslateBone)
    TranslateBone,
    /// [`Task::TwoBoneIk`](super::Task::TwoBoneIk)
    TwoBoneIk,
    /// [`Task::Fabrik`](super::Task::Fabrik)
    Fabrik,
    /// [`Task::LookAt`](super::Task::LookAt)
    LookAt,
    /// [`Task::FootIk`](super::Task::FootIk)
    FootIk,
}

impl TaskKind {
    /// Number of kinds.
    pub const COUNT: usize = Self::ALL.len();
    /// In the order of their numbers.
    pub const ALL: [Self; 16] = [
        Self::ReferencePose,
        Self::SampleClip,
        Self::Blend,
        Self::BlendMasked,
        Self::MakeAdditive,
        Self::ApplyAdditive,
        Self::Inertialize,
        Self::DeadBlend,
        Self::SavePoseSnapshot,
        Self::LoadPoseSnapshot,
        Self::BoneTransform,
        Self::TranslateBone,
        Self::TwoBoneIk,
        Self::Fabrik,
        Self::LookAt,
        Self::FootIk,
    ];

    /// The name, as in reports and zones.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ReferencePose => "ReferencePose",
            Self::SampleClip => "SampleClip",
            Self::Blend => "Blend",
            Self::BlendMasked => "BlendMasked",
            Self::MakeAdditive => "MakeAdditive",
            Self::ApplyAdditive => "ApplyAdditive",
            Self::Inertialize => "Inertialize",
            Self::DeadBlend => "DeadBlend",
            Self::SavePoseSnapshot => "SavePoseSnapshot",
            Self::LoadPoseSnapshot => "LoadPoseSnapshot",
            Self::BoneTransform => "BoneTransform",
            Self::TranslateBone => "TranslateBone",
            Self::TwoBoneIk => "TwoBoneIk",
            Self::Fabrik => "Fabrik",
            Self::LookAt => "LookAt",
            Self::FootIk => "FootIk",
        }
    }
}

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
}
