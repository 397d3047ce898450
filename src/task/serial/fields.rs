//! What each kind of task consists of, in the order of its bytes: written down once, for writing
//! and for reading, in every form.

use crate::index::{BoneIndex, ClipId};
use crate::pose::kernels::bone::{BoneMode, BoneSpace};
use crate::pose::kernels::ik::fabrik::Chain;
use crate::pose::kernels::ik::look_at::Gaze;
use crate::pose::kernels::ik::stand::Stance;
use crate::pose::kernels::ik::two_bone::{Limb, Reach};
use crate::task::{
    AdditiveSpace, HistoryId, MaskId, SnapshotId, Task, TaskIndex, TaskKind, Transition,
};
use glam::Vec3;

/// What a number measures: a form that rounds has to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Quantity {
    /// A share, 0..=1.
    Weight,
    /// Seconds inside a clip.
    ClipSeconds(ClipId),
    /// Seconds of the world.
    Seconds,
    /// The model's own unit.
    Length,
    /// Radians.
    Angle,
    /// A component of a direction, or a factor.
    Ratio,
}

/// What an index counts in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Index {
    Bone,
    Clip,
    Mask,
    History,
    Snapshot,
}

/// Visits the fields of tasks: writes them, or reads them into their places.
pub(super) trait Code {
    type Error;

    /// A whole number; small ones are short.
    fn unsigned(&mut self, value: &mut u32) -> Result<(), Self::Error>;

    /// One of few alternatives, numbered below `count`.
    fn choice(&mut self, value: &mut u32, count: u32) -> Result<(), Self::Error>;

    /// A number of a bone, a clip, a mask, a history or a snapshot.
    fn index(&mut self, value: &mut u16, of: Index) -> Result<(), Self::Error>;

    /// A task before the one at `before`, or none.
    fn dependency(&mut self, value: &mut TaskIndex, before: usize) -> Result<(), Self::Error>;

    fn float(&mut self, value: &mut f32, quantity: Quantity) -> Result<(), Self::Error>;

    /// A rotation, xyzw.
    fn rotation(&mut self, value: &mut [f32; 4]) -> Result<(), Self::Error>;

    fn vector(&mut self, value: &mut [f32; 3], quantity: Quantity) -> Result<(), Self::Error> {
        value.iter_mut().try_for_each(|v| self.float(v, quantity))
    }

    fn vec3(&mut self, value: &mut Vec3, quantity: Quantity) -> Result<(), Self::Error> {
        let mut array = value.to_array();
        self.vector(&mut array, quantity)?;
        *value = Vec3::from_array(array);
        Ok(())
    }
}

/// Visits one of two.
fn either<C: Code, T: Copy + PartialEq>(
    value: &mut T,
    two: [T; 2],
    code: &mut C,
) -> Result<(), C::Error> {
    let mut number = u32::from(*value == two[1]);
    code.choice(&mut number, 2)?;
    *value = two[usize::from(number == 1)];
    Ok(())
}

fn additive<C: Code>(space: &mut AdditiveSpace, code: &mut C) -> Result<(), C::Error> {
    either(space, [AdditiveSpace::Local, AdditiveSpace::Mesh], code)
}

fn bone_space<C: Code>(space: &mut BoneSpace, code: &mut C) -> Result<(), C::Error> {
    either(space, [BoneSpace::Local, BoneSpace::Component], code)
}

fn transition<C: Code>(transition: &mut Transition, code: &mut C) -> Result<(), C::Error> {
    let Transition { history, elapsed, duration, dt, capture } = transition;
    code.index(&mut history.0, Index::History)?;
    either(capture, [false, true], code)?;
    for seconds in [elapsed, duration, dt] {
        code.float(seconds, Quantity::Seconds)?;
    }
    Ok(())
}

fn limb<C: Code>(limb: &mut Limb, code: &mut C) -> Result<(), C::Error> {
    let Limb { root, mid, end } = limb;
    [root, mid, end].into_iter().try_for_each(|bone| code.index(&mut bone.0, Index::Bone))
}

/// Visits the fields of a task, the one at position `at` of its list.
pub(super) fn visit<C: Code>(task: &mut Task, at: usize, code: &mut C) -> Result<(), C::Error> {
    use Quantity::{Angle, Length, Ratio, Weight};
    match task {
        Task::ReferencePose => Ok(()),
        Task::SampleClip { clip, seconds } => {
            code.index(&mut clip.0, Index::Clip)?;
            code.float(seconds, Quantity::ClipSeconds(*clip))
        }
        Task::Blend { a, b, alpha } => {
            code.dependency(a, at)?;
            code.dependency(b, at)?;
            code.float(alpha, Weight)
        }
        Task::BlendMasked { a, b, alpha, mask } => {
            code.dependency(a, at)?;
            code.dependency(b, at)?;
            code.index(&mut mask.0, Index::Mask)?;
            code.float(alpha, Weight)
        }
        Task::MakeAdditive { source, reference, space } => {
            code.dependency(source, at)?;
            code.dependency(reference, at)?;
            additive(space, code)
        }
        Task::ApplyAdditive { base, delta, alpha, space } => {
            code.dependency(base, at)?;
            code.dependency(delta, at)?;
            additive(space, code)?;
            code.float(alpha, Weight)
        }
        Task::Inertialize { source, transition: t } | Task::DeadBlend { source, transition: t } => {
            code.dependency(source, at)?;
            transition(t, code)
        }
        Task::SavePoseSnapshot { source, snapshot } => {
            code.dependency(source, at)?;
            code.index(&mut snapshot.0, Index::Snapshot)
        }
        Task::LoadPoseSnapshot { snapshot } => code.index(&mut snapshot.0, Index::Snapshot),
        Task::BoneTransform { source, bone, space, mode, alpha, translation, rotation, scale } => {
            code.dependency(source, at)?;
            code.index(&mut bone.0, Index::Bone)?;
            bone_space(space, code)?;
            either(mode, [BoneMode::Additive, BoneMode::Override], code)?;
            code.float(alpha, Weight)?;
            code.vector(translation, Length)?;
            code.rotation(rotation)?;
            code.vector(scale, Ratio)
        }
        Task::TranslateBone { source, bone, space, alpha, offset } => {
            code.dependency(source, at)?;
            code.index(&mut bone.0, Index::Bone)?;
            bone_space(space, code)?;
            code.float(alpha, Weight)?;
            code.vector(offset, Length)
        }
        Task::TwoBoneIk { source, limb: bones, reach } => {
            code.dependency(source, at)?;
            limb(bones, code)?;
            let Reach { target, pole, soften, alpha } = reach;
            code.vec3(target, Length)?;
            code.vec3(pole, Length)?;
            code.float(soften, Weight)?;
            code.float(alpha, Weight)
        }
        Task::Fabrik { source, chain, weights } => {
            code.dependency(source, at)?;
            let Chain { root, end, target, iterations, tolerance, alpha } = chain;
            code.index(&mut root.0, Index::Bone)?;
            code.index(&mut end.0, Index::Bone)?;
            code.index(&mut weights.0, Index::Mask)?;
            let mut passes = u32::from(*iterations);
            code.choice(&mut passes, 256)?;
            *iterations = passes as u8;
            code.vec3(target, Length)?;
            code.float(tolerance, Length)?;
            code.float(alpha, Weight)
        }
        Task::LookAt { source, gaze } => {
            code.dependency(source, at)?;
            let Gaze { bone, forward, target, limit, alpha } = gaze;
            code.index(&mut bone.0, Index::Bone)?;
            code.vec3(forward, Ratio)?;
            code.vec3(target, Length)?;
            code.float(limit, Angle)?;
            code.float(alpha, Weight)
        }
        Task::FootIk { source, stance } => {
            code.dependency(source, at)?;
            let Stance { hips, legs, alpha } = stance;
            code.index(&mut hips.0, Index::Bone)?;
            legs.iter_mut().try_for_each(|leg| limb(leg, code))?;
            code.float(alpha, Weight)
        }
    }
}

/// A task of a kind, for its fields to be read into.
pub(super) fn blank(kind: TaskKind) -> Task {
    let none = TaskIndex::NONE;
    let bone = BoneIndex(0);
    let space = AdditiveSpace::Local;
    let limb = Limb { root: bone, mid: bone, end: bone };
    let transition =
        Transition { history: HistoryId(0), elapsed: 0.0, duration: 0.0, dt: 0.0, capture: false };
    match kind {
        TaskKind::ReferencePose => Task::ReferencePose,
        TaskKind::SampleClip => Task::SampleClip { clip: ClipId(0), seconds: 0.0 },
        TaskKind::Blend => Task::Blend { a: none, b: none, alpha: 0.0 },
        TaskKind::BlendMasked => {
            Task::BlendMasked { a: none, b: none, alpha: 0.0, mask: MaskId(0) }
        }
        TaskKind::MakeAdditive => Task::MakeAdditive { source: none, reference: none, space },
        TaskKind::ApplyAdditive => {
            Task::ApplyAdditive { base: none, delta: none, alpha: 0.0, space }
        }
        TaskKind::Inertialize => Task::Inertialize { source: none, transition },
        TaskKind::DeadBlend => Task::DeadBlend { source: none, transition },
        TaskKind::SavePoseSnapshot => {
            Task::SavePoseSnapshot { source: none, snapshot: SnapshotId(0) }
        }
        TaskKind::LoadPoseSnapshot => Task::LoadPoseSnapshot { snapshot: SnapshotId(0) },
        TaskKind::BoneTransform => Task::BoneTransform {
            source: none,
            bone,
            space: BoneSpace::Local,
            mode: BoneMode::Additive,
            alpha: 0.0,
            translation: [0.0; 3],
            rotation: [0.0; 4],
            scale: [0.0; 3],
        },
        TaskKind::TranslateBone => Task::TranslateBone {
            source: none,
            bone,
            space: BoneSpace::Local,
            alpha: 0.0,
            offset: [0.0; 3],
        },
        TaskKind::TwoBoneIk => Task::TwoBoneIk {
            source: none,
            limb,
            reach: Reach { target: Vec3::ZERO, pole: Vec3::ZERO, soften: 0.0, alpha: 0.0 },
        },
        TaskKind::Fabrik => Task::Fabrik {
            source: none,
            chain: Chain {
                root: bone,
                end: bone,
                target: Vec3::ZERO,
                iterations: 0,
                tolerance: 0.0,
                alpha: 0.0,
            },
            weights: MaskId::NONE,
        },
        TaskKind::LookAt => Task::LookAt {
            source: none,
            gaze: Gaze { bone, forward: Vec3::ZERO, target: Vec3::ZERO, limit: 0.0, alpha: 0.0 },
        },
        TaskKind::FootIk => Task::FootIk {
            source: none,
            stance: Stance { hips: bone, legs: [limb; 2], alpha: 0.0 },
        },
    }
}
