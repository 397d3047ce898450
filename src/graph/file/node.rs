//! The nodes that a graph file may have.

use super::names::{Number, Scalar, Seconds, Table, Text};
use super::schema::{BoneFrame, Change, Mode, Passage, Space, State, Transition};
use serde::Deserialize;

/// Three numbers or expressions: x, y, z.
pub type Vector<'a> = (Scalar<'a>, Scalar<'a>, Scalar<'a>);

/// A node: what gives a pose (or the difference between two).
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum Node<'a> {
    /// The skeleton's rest pose.
    Bind,
    /// A clip with a clock of its own.
    Clip {
        /// The clip.
        #[serde(borrow)]
        clip: Text<'a>,
        /// What its clock does at the end.
        #[serde(default)]
        mode: Mode,
        /// Clip seconds per second; without effect in a sync group.
        #[serde(default = "Scalar::one")]
        speed: Scalar<'a>,
        /// Shares normalized time with the other clips of the group.
        #[serde(default)]
        sync: Option<Text<'a>>,
        /// Where it starts, clip seconds; without effect in a sync group.
        #[serde(default)]
        start: Seconds,
    },
    /// One frame of a clip.
    Frame {
        /// The clip.
        #[serde(borrow)]
        clip: Text<'a>,
        /// Seconds inside it, clamped to it.
        #[serde(default)]
        at: Scalar<'a>,
    },
    /// From one pose to another.
    Blend {
        /// The pose at 0.
        #[serde(borrow)]
        a: Text<'a>,
        /// The pose at 1.
        b: Text<'a>,
        /// How far, clamped to 0..=1.
        alpha: Scalar<'a>,
    },
    /// From one pose to another, bone by bone.
    BlendMasked {
        /// The pose at 0.
        #[serde(borrow)]
        a: Text<'a>,
        /// The pose at 1.
        b: Text<'a>,
        /// The mask.
        mask: Text<'a>,
        /// How far, clamped to 0..=1.
        #[serde(default = "Scalar::one")]
        alpha: Scalar<'a>,
    },
    /// The difference between two poses.
    MakeAdditive {
        /// The pose.
        #[serde(borrow)]
        source: Text<'a>,
        /// What it is compared to; the rest pose when absent.
        #[serde(default)]
        reference: Option<Text<'a>>,
        /// The frame of its rotations.
        #[serde(default)]
        space: Space,
    },
    /// A difference on top of a pose.
    ApplyAdditive {
        /// The pose.
        #[serde(borrow)]
        base: Text<'a>,
        /// The difference.
        delta: Text<'a>,
        /// How much of it, clamped to 0..=1.
        #[serde(default = "Scalar::one")]
        alpha: Scalar<'a>,
    },
    /// Poses along a line.
    BlendSpace1D {
        /// Where on the line.
        #[serde(borrow)]
        x: Scalar<'a>,
        /// Places with their poses.
        points: Vec<(Number, Text<'a>)>,
    },
    /// Poses on a plane.
    BlendSpace2D {
        /// Where on the plane.
        #[serde(borrow)]
        x: Scalar<'a>,
        /// Where on the plane.
        y: Scalar<'a>,
        /// Places (x, y) with their poses.
        points: Vec<(Number, Number, Text<'a>)>,
    },
    /// One of several poses, by what happens.
    StateMachine {
        /// The state it begins in.
        #[serde(borrow)]
        entry: Text<'a>,
        /// The states.
        states: Table<'a, State<'a>>,
        /// The ways between them; the first that is open is taken.
        #[serde(default)]
        transitions: Vec<Transition<'a>>,
        /// How a transition happens that does not say it itself.
        #[serde(default = "default_passage")]
        blend: Passage,
    },
    /// A pose whose jumps are hidden: when the trigger rises, the difference to what was before dies
    /// away.
    Inertialize {
        /// The pose.
        #[serde(borrow)]
        source: Text<'a>,
        /// When it becomes true.
        trigger: Scalar<'a>,
        /// Seconds.
        #[serde(default = "default_duration")]
        duration: Scalar<'a>,
    },
    /// A pose whose jumps are hidden: when the trigger rises, the old motion goes on by itself and
    /// fades.
    DeadBlend {
        /// The pose.
        #[serde(borrow)]
        source: Text<'a>,
        /// When it becomes true.
        trigger: Scalar<'a>,
        /// Seconds.
        #[serde(default = "default_duration")]
        duration: Scalar<'a>,
    },
    /// One bone changed.
    BoneTransform {
        /// The pose.
        #[serde(borrow)]
        source: Text<'a>,
        /// The bone.
        bone: Text<'a>,
        /// The frame of the change.
        #[serde(default)]
        space: BoneFrame,
        /// On top or instead.
        #[serde(default)]
        mode: Change,
        /// Model units.
        #[serde(default)]
        translation: Option<Vector<'a>>,
        /// Radians about x, then y, then z of the frame.
        #[serde(default)]
        rotation: Option<Vector<'a>>,
        /// Factors.
        #[serde(default)]
        scale: Option<Vector<'a>>,
        /// How much of it, clamped to 0..=1.
        #[serde(default = "Scalar::one")]
        alpha: Scalar<'a>,
    },
    /// One bone moved.
    TranslateBone {
        /// The pose.
        #[serde(borrow)]
        source: Text<'a>,
        /// The bone.
        bone: Text<'a>,
        /// The frame of the offset.
        #[serde(default)]
        space: BoneFrame,
        /// Model units.
        offset: Vector<'a>,
        /// How much of it, clamped to 0..=1.
        #[serde(default = "Scalar::one")]
        alpha: Scalar<'a>,
    },
    /// An arm or a leg to a point.
    TwoBoneIk {
        /// The pose.
        #[serde(borrow)]
        source: Text<'a>,
        /// Upper bone.
        root: Text<'a>,
        /// Lower bone.
        mid: Text<'a>,
        /// What is to get there.
        end: Text<'a>,
        /// Model space.
        target: Vector<'a>,
        /// The point that the middle joint bends towards; keeps its bend when absent.
        #[serde(default)]
        pole: Option<Vector<'a>>,
        /// Part of the limb's length over which its reach is softened.
        #[serde(default)]
        soften: Scalar<'a>,
        /// How much of it, clamped to 0..=1.
        #[serde(default = "Scalar::one")]
        alpha: Scalar<'a>,
    },
    /// A chain of bones to a point.
    Fabrik {
        /// The pose.
        #[serde(borrow)]
        source: Text<'a>,
        /// First bone that turns.
        root: Text<'a>,
        /// What is to get there.
        end: Text<'a>,
        /// Model space.
        target: Vector<'a>,
        /// Passes, at least one.
        #[serde(default = "default_iterations")]
        iterations: u8,
        /// Model units from the target that are near enough.
        #[serde(default = "default_tolerance")]
        tolerance: Scalar<'a>,
        /// A mask: how freely each bone turns; all turn freely when absent.
        #[serde(default)]
        weights: Option<Text<'a>>,
        /// How much of it, clamped to 0..=1.
        #[serde(default = "Scalar::one")]
        alpha: Scalar<'a>,
    },
    /// A bone towards a point.
    LookAt {
        /// The pose.
        #[serde(borrow)]
        source: Text<'a>,
        /// The bone.
        bone: Text<'a>,
        /// The direction it looks in, in its own space.
        #[serde(default = "forward")]
        forward: Vector<'a>,
        /// Model space.
        target: Vector<'a>,
        /// Radians that it turns at most; no limit when absent.
        #[serde(default)]
        limit: Option<Scalar<'a>>,
        /// How much of it, clamped to 0..=1.
        #[serde(default = "Scalar::one")]
        alpha: Scalar<'a>,
    },
    /// Two feet onto the ground.
    FootIk {
        /// The pose.
        #[serde(borrow)]
        source: Text<'a>,
        /// What is lowered where a foot would not reach.
        hips: Text<'a>,
        /// Thigh, shin and foot.
        left: [Text<'a>; 3],
        /// Thigh, shin and foot.
        right: [Text<'a>; 3],
        /// How much of it, clamped to 0..=1.
        #[serde(default = "Scalar::one")]
        alpha: Scalar<'a>,
    },
    /// Keeps a copy of a pose and passes it on.
    SaveSnapshot {
        /// The pose.
        #[serde(borrow)]
        source: Text<'a>,
        /// Under which name.
        snapshot: Text<'a>,
    },
    /// A pose that was kept; the rest pose when none was.
    LoadSnapshot {
        /// Under which name.
        #[serde(borrow)]
        snapshot: Text<'a>,
    },
}

fn default_passage() -> Passage {
    Passage::Inertialize(Seconds(0.2))
}

fn default_duration<'a>() -> Scalar<'a> {
    Scalar::Number(0.2)
}

fn default_iterations() -> u8 {
    8
}

fn default_tolerance<'a>() -> Scalar<'a> {
    Scalar::Number(1e-3)
}

fn forward<'a>() -> Vector<'a> {
    (Scalar::Number(0.0), Scalar::Number(0.0), Scalar::Number(1.0))
}
