//! A graph whose names have become numbers: what the file's nodes mean, before registers.

use super::scalars::{ScalarId, Scalars};
use crate::graph::file::Passage;
use crate::motion::PlayMode;
use crate::pose::kernels::bone::{BoneMode, BoneSpace};
use crate::task::AdditiveSpace;

/// A node by its place in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct NodeId(pub u16);

impl NodeId {
    pub fn get(self) -> usize {
        usize::from(self.0)
    }
}

/// Scalars that have to lie in a row.
pub(super) type Point = [ScalarId; 3];

/// What a node does.
#[derive(Clone, Debug)]
pub(super) enum Pose<'a> {
    Bind,
    Clip {
        clip: &'a str,
        mode: PlayMode,
        speed: ScalarId,
        start: f32,
        group: Option<usize>,
        /// What its clock shows.
        time: ScalarId,
    },
    Frame {
        clip: &'a str,
        at: ScalarId,
    },
    Blend {
        a: NodeId,
        b: NodeId,
        alpha: ScalarId,
    },
    BlendMasked {
        a: NodeId,
        b: NodeId,
        alpha: ScalarId,
        mask: usize,
    },
    MakeAdditive {
        source: NodeId,
        reference: Option<NodeId>,
        space: AdditiveSpace,
    },
    ApplyAdditive {
        base: NodeId,
        delta: NodeId,
        alpha: ScalarId,
    },
    Space1D {
        x: ScalarId,
        places: Vec<f32>,
        poses: Vec<NodeId>,
    },
    Space2D {
        at: [ScalarId; 2],
        plane: super::spaces::Plane,
        poses: Vec<NodeId>,
    },
    Machine(Machine<'a>),
    Seam {
        source: NodeId,
        trigger: ScalarId,
        duration: ScalarId,
        dead: bool,
    },
    Save {
        source: NodeId,
        snapshot: &'a str,
    },
    Load {
        snapshot: &'a str,
    },
    BoneTransform {
        source: NodeId,
        bone: &'a str,
        how: (BoneSpace, BoneMode),
        alpha: ScalarId,
        change: [ScalarId; 10],
    },
    TranslateBone {
        source: NodeId,
        bone: &'a str,
        space: BoneSpace,
        alpha: ScalarId,
        offset: Point,
    },
    TwoBoneIk {
        source: NodeId,
        limb: [&'a str; 3],
        target: Point,
        pole: Option<Point>,
        soften: ScalarId,
        alpha: ScalarId,
    },
    Fabrik {
        source: NodeId,
        ends: [&'a str; 2],
        target: Point,
        iterations: u8,
        tolerance: ScalarId,
        weights: Option<usize>,
        alpha: ScalarId,
    },
    LookAt {
        source: NodeId,
        bone: &'a str,
        forward: Point,
        target: Point,
        limit: Option<ScalarId>,
        alpha: ScalarId,
    },
    FootIk {
        source: NodeId,
        hips: &'a str,
        legs: [[&'a str; 3]; 2],
        alpha: ScalarId,
    },
}

/// A state machine.
#[derive(Clone, Debug)]
pub(super) struct Machine<'a> {
    pub initial: usize,
    pub states: Vec<State<'a>>,
    pub ways: Vec<Way>,
}

/// A state.
#[derive(Clone, Debug)]
pub(super) struct State<'a> {
    pub name: &'a str,
    pub pose: NodeId,
    /// Clocks and machines start over when it is entered.
    pub resets: bool,
}

/// A way from one state (or from all others) to a state.
#[derive(Clone, Debug)]
pub(super) struct Way {
    pub from: Option<usize>,
    pub to: usize,
    pub condition: Option<ScalarId>,
    pub after: f32,
    /// A clip node, and how many seconds before its end.
    pub at_end: Option<(NodeId, f32)>,
    pub interrupts: bool,
    pub passage: Passage,
}

impl Pose<'_> {
    /// The nodes it reads, in order.
    pub fn inputs(&self) -> Vec<NodeId> {
        match self {
            Self::Bind | Self::Clip { .. } | Self::Frame { .. } | Self::Load { .. } => vec![],
            Self::Blend { a, b, .. } | Self::BlendMasked { a, b, .. } => vec![*a, *b],
            Self::MakeAdditive { source, reference, .. } => {
                std::iter::once(*source).chain(*reference).collect()
            }
            Self::ApplyAdditive { base, delta, .. } => vec![*base, *delta],
            Self::Space1D { poses, .. } | Self::Space2D { poses, .. } => poses.clone(),
            Self::Machine(machine) => machine.states.iter().map(|s| s.pose).collect(),
            Self::Seam { source, .. }
            | Self::Save { source, .. }
            | Self::BoneTransform { source, .. }
            | Self::TranslateBone { source, .. }
            | Self::TwoBoneIk { source, .. }
            | Self::Fabrik { source, .. }
            | Self::LookAt { source, .. }
            | Self::FootIk { source, .. } => vec![*source],
        }
    }

    /// The same node with other nodes for those it reads.
    pub fn reading(mut self, other: impl Fn(NodeId) -> NodeId) -> Self {
        let each = |ids: &mut [NodeId]| ids.iter_mut().for_each(|id| *id = other(*id));
        match &mut self {
            Self::Bind | Self::Clip { .. } | Self::Frame { .. } | Self::Load { .. } => {}
            Self::Blend { a, b, .. } | Self::BlendMasked { a, b, .. } => {
                (*a, *b) = (other(*a), other(*b));
            }
            Self::MakeAdditive { source, reference, .. } => {
                (*source, *reference) = (other(*source), reference.map(&other));
            }
            Self::ApplyAdditive { base, delta, .. } => {
                (*base, *delta) = (other(*base), other(*delta));
            }
            Self::Space1D { poses, .. } | Self::Space2D { poses, .. } => each(poses),
            Self::Machine(machine) => {
                machine.states.iter_mut().for_each(|s| s.pose = other(s.pose));
            }
            Self::Seam { source, .. }
            | Self::Save { source, .. }
            | Self::BoneTransform { source, .. }
            | Self::TranslateBone { source, .. }
            | Self::TwoBoneIk { source, .. }
            | Self::Fabrik { source, .. }
            | Self::LookAt { source, .. }
            | Self::FootIk { source, .. } => *source = other(*source),
        }
        self
    }

    /// The scalars that it reads one by one, in order.
    pub fn scalars(&self) -> Vec<ScalarId> {
        match self {
            Self::Bind
            | Self::MakeAdditive { .. }
            | Self::Machine(_)
            | Self::Save { .. }
            | Self::Load { .. } => vec![],
            Self::Clip { time, .. } => vec![*time],
            Self::Frame { at, .. } => vec![*at],
            Self::Space1D { x, .. } => vec![*x],
            Self::Space2D { at, .. } => at.to_vec(),
            Self::Seam { trigger, duration, .. } => vec![*trigger, *duration],
            Self::Blend { alpha, .. }
            | Self::BlendMasked { alpha, .. }
            | Self::ApplyAdditive { alpha, .. }
            | Self::BoneTransform { alpha, .. }
            | Self::TranslateBone { alpha, .. }
            | Self::FootIk { alpha, .. } => vec![*alpha],
            Self::TwoBoneIk { soften, alpha, .. } => vec![*soften, *alpha],
            Self::Fabrik { tolerance, alpha, .. } => vec![*tolerance, *alpha],
            Self::LookAt { limit, alpha, .. } => limit.iter().copied().chain([*alpha]).collect(),
        }
    }

    /// The rows of scalars that it reads, in order.
    pub fn rows(&self) -> Vec<&[ScalarId]> {
        match self {
            Self::BoneTransform { change, .. } => vec![change],
            Self::TranslateBone { offset, .. } => vec![offset],
            Self::TwoBoneIk { target, pole, .. } => {
                std::iter::once(&target[..]).chain(pole.as_ref().map(|p| &p[..])).collect()
            }
            Self::Fabrik { target, .. } => vec![target],
            Self::LookAt { forward, target, .. } => vec![forward, target],
            _ => vec![],
        }
    }
}

/// A whole graph.
#[derive(Debug)]
pub(super) struct Ir<'a> {
    pub scalars: Scalars,
    /// The constant 0.
    pub zero: ScalarId,
    /// By the file's order of nodes.
    pub nodes: Vec<Pose<'a>>,
    /// How fast each sync group of the file runs, where it isn't at its clips' speed.
    pub group_speeds: Vec<Option<ScalarId>>,
    pub output: NodeId,
}
