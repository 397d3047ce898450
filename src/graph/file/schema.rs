//! What a graph file may say. docs/GRAPHS.md is this page for people.

use super::names::{Names, Number, Scalar, Seconds, Share, Table, Text, expression};
use super::node::Node;
use serde::Deserialize;

/// An input of the graph.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum Parameter<'a> {
    /// A number.
    Float {
        /// Before anybody sets it.
        #[serde(default)]
        default: Number,
        /// Least and most; what is set outside is clamped.
        #[serde(default)]
        range: Option<(Number, Number)>,
        /// The blackboard's name for it; its own when absent.
        #[serde(borrow, default)]
        key: Option<Text<'a>>,
    },
    /// Yes or no.
    Bool {
        /// Before anybody sets it.
        #[serde(default)]
        default: bool,
        /// The blackboard's name for it; its own when absent.
        #[serde(default)]
        key: Option<Text<'a>>,
    },
    /// Yes in one evaluation after it was set.
    Trigger {
        /// The blackboard's name for it; its own when absent.
        #[serde(default)]
        key: Option<Text<'a>>,
    },
}

impl<'a> Parameter<'a> {
    /// The blackboard's name for it, where it is not its own.
    pub fn key(&self) -> Option<&Text<'a>> {
        let (Self::Float { key, .. } | Self::Bool { key, .. } | Self::Trigger { key }) = self;
        key.as_ref()
    }
}

/// One line of a mask. Later lines overwrite earlier ones; bones that no line names
/// weigh zero.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum MaskLine<'a> {
    /// One bone.
    Bone(#[serde(borrow)] Text<'a>, Share),
    /// A bone and all below it.
    Subtree(#[serde(borrow)] Text<'a>, Share),
    /// All bones that no line names.
    Others(Share),
}

/// Something that happens in a clip.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum Notify<'a> {
    /// At a time of the clip.
    At(Seconds, #[serde(borrow)] Text<'a>),
    /// At a part of the clip's length.
    AtPart(Share, #[serde(borrow)] Text<'a>),
    /// From a time of the clip to another.
    During(Seconds, Seconds, #[serde(borrow)] Text<'a>),
    /// From a part of the clip's length to another.
    DuringPart(Share, Share, #[serde(borrow)] Text<'a>),
}

/// A moment that clips of a sync group have in common.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum Marker<'a> {
    /// At a time of the clip.
    At(Seconds, #[serde(borrow)] Text<'a>),
    /// At a part of the clip's length.
    AtPart(Share, #[serde(borrow)] Text<'a>),
}

/// What a clip's clock does at the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Deserialize)]
pub enum Mode {
    /// Starts over.
    #[default]
    Loop,
    /// Stops, and the clip has ended.
    Once,
    /// Holds the last frame and never ends.
    Clamp,
    /// Turns round, at both ends.
    PingPong,
}

/// The frame of an additive rotation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Deserialize)]
pub enum Space {
    /// Relative to the parent bone.
    #[default]
    Local,
    /// Model space.
    Mesh,
}

/// The frame that a bone's change is given in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Deserialize)]
pub enum BoneFrame {
    /// Relative to the parent bone.
    #[default]
    Local,
    /// Model space.
    Component,
}

/// How a transform changes a bone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Deserialize)]
pub enum Change {
    /// On top of what it has.
    #[default]
    Additive,
    /// Instead of what it has.
    Override,
}

/// How one state gives way to another.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
pub enum Passage {
    /// At once.
    Cut,
    /// The difference dies away (Bollo 2018).
    Inertialize(Seconds),
    /// The old motion goes on by itself and fades (Holden 2023).
    DeadBlend(Seconds),
}

/// What happens to the clocks and machines of a state when it is entered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Deserialize)]
pub enum OnEntry {
    /// They start over.
    #[default]
    Reset,
    /// They go on from where they are.
    Resume,
}

/// A state of a machine.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct State<'a> {
    /// The node that gives its pose.
    #[serde(borrow)]
    pub pose: Text<'a>,
    /// What becomes of its clocks.
    #[serde(default)]
    pub on_entry: OnEntry,
}

/// A way from state to state. All conditions that are given have to hold; of several ways that are
/// open the first in the file is taken.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Transition<'a> {
    /// From which states; from every other state when absent.
    #[serde(borrow, default)]
    pub from: Option<Names<'a>>,
    /// To which.
    pub to: Text<'a>,
    /// An expression that is true.
    #[serde(default, deserialize_with = "expression")]
    pub when: Option<Text<'a>>,
    /// At least so long in the state.
    #[serde(default)]
    pub after: Option<Seconds>,
    /// A clip node that is at its end.
    #[serde(default)]
    pub at_end: Option<Text<'a>>,
    /// Seconds before that end which are near enough.
    #[serde(default)]
    pub before_end: Option<Seconds>,
    /// May begin while another transition is under way.
    #[serde(default = "yes")]
    pub interrupts: bool,
    /// How; as the machine says when absent.
    #[serde(default)]
    pub blend: Option<Passage>,
}

/// What becomes of the root bone's motion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Deserialize)]
pub enum RootUse {
    /// What moves the character is taken out of the pose, clip by clip.
    #[default]
    Clips,
    /// The same, and the root stands where the rest pose has it.
    Always,
    /// All of it stays in the pose; the character is not moved.
    Never,
}

/// How root motion is taken from the clips.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RootMotion<'a> {
    /// The bone; the skeleton's first root when absent.
    #[serde(borrow)]
    pub bone: Option<Text<'a>>,
    /// What becomes of it.
    pub mode: RootUse,
}

fn yes() -> bool {
    true
}

/// A whole file.
#[derive(Clone, Debug)]
pub struct Graph<'a> {
    /// Inputs.
    pub parameters: Table<'a, Parameter<'a>>,
    /// Expressions with a name; each may use the ones above it.
    pub values: Table<'a, Scalar<'a>>,
    /// Weights per bone.
    pub masks: Table<'a, Vec<MaskLine<'a>>>,
    /// Names of groups of clips that share normalized time, from marker to marker if they have any.
    pub sync_groups: Vec<Text<'a>>,
    /// How fast groups run; the others at their clips' own speed.
    pub sync_speeds: Table<'a, Scalar<'a>>,
    /// What happens in which clip, beside what the clip itself brings.
    pub notifies: Table<'a, Vec<Notify<'a>>>,
    /// Sync markers of which clip, instead of those that the clip itself brings.
    pub sync_markers: Table<'a, Vec<Marker<'a>>>,
    /// What gives poses.
    pub nodes: Table<'a, Node<'a>>,
    /// The node whose pose is shown.
    pub output: Text<'a>,
    /// Where the root's motion goes.
    pub root_motion: RootMotion<'a>,
}
