//! Tasks for people: arguments by name, clips, bones and masks by theirs.

use super::state::{MaskId, Masks};
use super::task::{AdditiveSpace, Transition};
use super::{Task, TaskIndex};
use crate::index::{BoneIndex, ClipId};
use crate::pose::Rig;
use crate::pose::kernels::bone::{BoneMode, BoneSpace};
use crate::pose::kernels::ik::fabrik::Chain;
use crate::pose::kernels::ik::look_at::Gaze;
use crate::pose::kernels::ik::stand::Stance;
use crate::pose::kernels::ik::two_bone::{Limb, Reach};
use serde::ser::{Serialize, SerializeMap, Serializer};
use std::fmt;

/// The value of one of a task's parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Argument {
    /// A clip of the rig.
    Clip(ClipId),
    /// A bone of the rig.
    Bone(BoneIndex),
    /// A mask of the program.
    Mask(MaskId),
    /// A history or a snapshot of the character.
    Kept(u16),
    /// A number; seconds where the name says so, radians for angles, model units for lengths.
    Number(f32),
    /// A number of times.
    Count(u32),
    /// A point or an offset.
    Vector([f32; 3]),
    /// A quaternion, xyzw.
    Rotation([f32; 4]),
    /// One of a few words.
    Word(&'static str),
    /// Yes or no.
    Flag(bool),
}

impl Task {
    /// Names of the dependencies that this kind has, in the order of [`Task::dependencies`].
    pub const fn dependency_names(&self) -> &'static [&'static str] {
        match self {
            Self::ReferencePose | Self::SampleClip { .. } | Self::LoadPoseSnapshot { .. } => &[],
            Self::Blend { .. } | Self::BlendMasked { .. } => &["a", "b"],
            Self::MakeAdditive { .. } => &["source", "reference"],
            Self::ApplyAdditive { .. } => &["base", "delta"],
            Self::Inertialize { .. }
            | Self::DeadBlend { .. }
            | Self::SavePoseSnapshot { .. }
            | Self::BoneTransform { .. }
            | Self::TranslateBone { .. }
            | Self::TwoBoneIk { .. }
            | Self::Fabrik { .. }
            | Self::LookAt { .. }
            | Self::FootIk { .. } => &["source"],
        }
    }

    /// Everything else that the task was recorded with, by name.
    pub fn arguments(&self) -> Vec<(&'static str, Argument)> {
        use Argument::*;
        // Every field is named, so that a new one can't be forgotten here.
        match *self {
            Self::ReferencePose => Vec::new(),
            Self::SampleClip { clip, seconds } => {
                vec![("clip", Clip(clip)), ("seconds", Number(seconds))]
            }
            Self::Blend { a: _, b: _, alpha } => vec![("alpha", Number(alpha))],
            Self::BlendMasked { a: _, b: _, alpha, mask } => {
                vec![("alpha", Number(alpha)), ("mask", Mask(mask))]
            }
            Self::MakeAdditive { source: _, reference: _, space } => {
                vec![("space", additive_space(space))]
            }
            Self::ApplyAdditive { base: _, delta: _, alpha, space } => {
                vec![("alpha", Number(alpha)), ("space", additive_space(space))]
            }
            Self::Inertialize { source: _, transition }
            | Self::DeadBlend { source: _, transition } => {
                let Transition { history, elapsed, duration, dt, capture } = transition;
                vec![
                    ("history", Kept(history.0)),
                    ("elapsed", Number(elapsed)),
                    ("duration", Number(duration)),
                    ("dt", Number(dt)),
                    ("capture", Flag(capture)),
                ]
            }
            Self::SavePoseSnapshot { source: _, snapshot }
            | Self::LoadPoseSnapshot { snapshot } => {
                vec![("snapshot", Kept(snapshot.0))]
            }
            Self::BoneTransform {
                source: _,
                bone,
                space,
                mode,
                alpha,
                translation,
                rotation,
                scale,
            } => vec![
                ("bone", Bone(bone)),
                ("space", bone_space(space)),
                ("mode", bone_mode(mode)),
                ("alpha", Number(alpha)),
                ("translation", Vector(translation)),
                ("rotation", Rotation(rotation)),
                ("scale", Vector(scale)),
            ],
            Self::TranslateBone { source: _, bone, space, alpha, offset } => vec![
                ("bone", Bone(bone)),
                ("space", bone_space(space)),
                ("alpha", Number(alpha)),
                ("offset", Vector(offset)),
            ],
            Self::TwoBoneIk { source: _, limb, reach } => {
                let Reach { target, pole, soften, alpha } = reach;
                let mut all = bones(limb);
                all.extend([
                    ("target", Vector(target.to_array())),
                    ("pole", Vector(pole.to_array())),
                    ("soften", Number(soften)),
                    ("alpha", Number(alpha)),
                ]);
                all
            }
            Self::Fabrik { source: _, chain, weights } => {
                let Chain { root, end, target, iterations, tolerance, alpha } = chain;
                vec![
                    ("root", Bone(root)),
                    ("end", Bone(end)),
                    ("target", Vector(target.to_array())),
                    ("iterations", Count(u32::from(iterations))),
                    ("tolerance", Number(tolerance)),
                    ("weights", Mask(weights)),
                    ("alpha", Number(alpha)),
                ]
            }
            Self::LookAt { source: _, gaze } => {
                let Gaze { bone, forward, target, limit, alpha } = gaze;
                vec![
                    ("bone", Bone(bone)),
                    ("forward", Vector(forward.to_array())),
                    ("target", Vector(target.to_array())),
                    ("limit", Number(limit)),
                    ("alpha", Number(alpha)),
                ]
            }
            Self::FootIk { source: _, stance } => {
                let Stance { hips, legs: [left, right], alpha } = stance;
                vec![
                    ("hips", Bone(hips)),
                    ("left_root", Bone(left.root)),
                    ("left_mid", Bone(left.mid)),
                    ("left_end", Bone(left.end)),
                    ("right_root", Bone(right.root)),
                    ("right_mid", Bone(right.mid)),
                    ("right_end", Bone(right.end)),
                    ("alpha", Number(alpha)),
                ]
            }
        }
    }
}

fn bones(limb: Limb) -> Vec<(&'static str, Argument)> {
    let Limb { root, mid, end } = limb;
    [("root", root), ("mid", mid), ("end", end)].map(|(n, b)| (n, Argument::Bone(b))).to_vec()
}

fn additive_space(space: AdditiveSpace) -> Argument {
    Argument::Word(match space {
        AdditiveSpace::Local => "local",
        AdditiveSpace::Mesh => "mesh",
    })
}

fn bone_space(space: BoneSpace) -> Argument {
    Argument::Word(match space {
        BoneSpace::Local => "local",
        BoneSpace::Component => "component",
    })
}

fn bone_mode(mode: BoneMode) -> Argument {
    Argument::Word(match mode {
        BoneMode::Additive => "additive",
        BoneMode::Override => "override",
    })
}

/// Where indices find their names.
#[derive(Clone, Copy, Debug)]
pub struct Names<'a> {
    /// Of clips and bones.
    pub rig: &'a Rig,
    /// Of masks.
    pub masks: &'a Masks,
}

impl<'a> Names<'a> {
    /// An index with its name.
    pub(super) fn bone(self, bone: BoneIndex) -> Named<'a> {
        let name = self.rig.skeleton().names().get(bone.get()).map(String::as_str);
        Named { index: bone.0, name }
    }

    /// An argument with its name.
    pub(super) fn argument(self, argument: Argument) -> NamedArgument<'a> {
        NamedArgument { argument, names: self }
    }

    /// An argument for people to read: indices with their names.
    pub fn told(self, argument: Argument) -> String {
        self.argument(argument).to_string()
    }

    /// A task on one line: kind, dependencies and arguments as `name=value`.
    pub fn line(self, task: &Task) -> String {
        Line { task, names: self }.to_string()
    }

    fn of(self, argument: Argument) -> Option<Named<'a>> {
        match argument {
            Argument::Clip(clip) => {
                Some(Named { index: clip.0, name: self.rig.clip(clip).map(|c| c.name()) })
            }
            Argument::Bone(bone) => Some(self.bone(bone)),
            Argument::Mask(mask) if mask != MaskId::NONE => {
                let name = self.masks.name(mask).filter(|name| !name.is_empty());
                Some(Named { index: mask.0, name })
            }
            _ => None,
        }
    }
}

/// An index and what it is called; without a name the rig (or the program) has no such thing.
#[derive(Clone, Copy, Debug, serde::Serialize)]
pub(super) struct Named<'a> {
    index: u16,
    name: Option<&'a str>,
}

impl fmt::Display for Named<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.index)?;
        match self.name {
            Some(name) if name.chars().all(|c| c.is_alphanumeric() || "_-.:/|".contains(c)) => {
                write!(f, ":{name}")
            }
            // One line stays one line, whatever a file calls its bones.
            Some(name) => write!(f, ":{name:?}"),
            None => Ok(()),
        }
    }
}

/// An argument as it is shown.
pub(super) struct NamedArgument<'a> {
    argument: Argument,
    names: Names<'a>,
}

impl Serialize for NamedArgument<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if let Some(named) = self.names.of(self.argument) {
            return named.serialize(serializer);
        }
        match self.argument {
            Argument::Clip(_) | Argument::Bone(_) | Argument::Mask(_) => {
                serializer.serialize_none()
            }
            Argument::Kept(at) => serializer.serialize_u16(at),
            Argument::Number(number) => serializer.serialize_f32(number),
            Argument::Count(count) => serializer.serialize_u32(count),
            Argument::Vector(v) => v.serialize(serializer),
            Argument::Rotation(q) => q.serialize(serializer),
            Argument::Word(word) => serializer.serialize_str(word),
            Argument::Flag(flag) => serializer.serialize_bool(flag),
        }
    }
}

impl fmt::Display for NamedArgument<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(named) = self.names.of(self.argument) {
            return named.fmt(f);
        }
        let list = |f: &mut fmt::Formatter<'_>, numbers: &[f32]| {
            numbers.iter().enumerate().try_for_each(|(at, number)| {
                let comma = if at > 0 { "," } else { "" };
                write!(f, "{comma}{number:?}")
            })
        };
        match self.argument {
            Argument::Clip(_) | Argument::Bone(_) | Argument::Mask(_) => f.write_str("none"),
            Argument::Kept(at) => write!(f, "{at}"),
            Argument::Number(number) => write!(f, "{number:?}"),
            Argument::Count(count) => write!(f, "{count}"),
            Argument::Vector(v) => list(f, &v),
            Argument::Rotation(q) => list(f, &q),
            Argument::Word(word) => f.write_str(word),
            Argument::Flag(flag) => write!(f, "{flag}"),
        }
    }
}

/// A task on one line: kind, dependencies and arguments as `name=value`.
pub(super) struct Line<'a> {
    pub task: &'a Task,
    pub names: Names<'a>,
}

impl fmt::Display for Line<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.task.kind().name())?;
        let dependencies = self.task.dependencies();
        for (name, dependency) in self.task.dependency_names().iter().zip(dependencies) {
            write!(f, " {name}={dependency}")?;
        }
        for (name, argument) in self.task.arguments() {
            write!(f, " {name}={}", self.names.argument(argument))?;
        }
        Ok(())
    }
}

/// Positions of what a task reads; null is the bind pose.
pub(super) fn positions(task: &Task) -> Vec<Option<usize>> {
    let count = task.dependency_names().len();
    task.dependencies().into_iter().take(count).map(TaskIndex::get).collect()
}

/// A task's arguments as one object.
pub(super) struct Parameters<'a> {
    pub task: Task,
    pub names: Names<'a>,
}

impl Serialize for Parameters<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let arguments = self.task.arguments();
        let mut object = serializer.serialize_map(Some(arguments.len()))?;
        for (name, argument) in arguments {
            object.serialize_entry(name, &self.names.argument(argument))?;
        }
        object.end()
    }
}
