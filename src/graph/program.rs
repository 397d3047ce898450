//! A compiled animation graph: what it is made of, before it is bound to a rig.

use super::Op;
use super::operand::*;
use crate::motion::PlayMode;

/// A compiled graph. It names clips and bones, so one program serves every rig that has them.
///
/// A compiler fills it; [`Program::validate`] proves what the interpreter relies on.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Program {
    /// For messages.
    pub name: String,
    /// The graph's inputs.
    pub params: Vec<Param>,
    /// Blackboard values that refill parameters before each evaluation.
    pub keys: Vec<Key>,
    /// Constants that `LoadConst` refers to.
    pub consts: Vec<f32>,
    /// Number of scalar registers.
    pub scalar_registers: u16,
    /// Number of pose registers.
    pub pose_registers: u16,
    /// The instructions; as if all ran, in order, in every evaluation.
    pub code: Vec<Op>,
    /// Names of the rig's clips that are used.
    pub clips: Vec<String>,
    /// Names of the rig's bones that are used.
    pub bones: Vec<String>,
    /// Bone masks.
    pub masks: Vec<MaskDesc>,
    /// Names of the sync groups, whose clips share one normalized time.
    pub sync_groups: Vec<String>,
    /// Clocks, each run by one `AdvanceClock`.
    pub clocks: Vec<ClockDesc>,
    /// What happens at certain times of clips.
    pub notifies: Vec<NotifyDesc>,
    /// Sync markers of clips, instead of those that they bring along; one row for a clip.
    pub sync_markers: Vec<MarkersDesc>,
    /// State machines.
    pub machines: Vec<MachineDesc>,
    /// Blend spaces of one dimension.
    pub spaces_1d: Vec<Space1D>,
    /// Blend spaces of two dimensions.
    pub spaces_2d: Vec<Space2D>,
    /// Number of values that `Smooth` keeps.
    pub smooths: u16,
    /// Number of transitions that `Inertialize` and `DeadBlend` keep.
    pub seams: u16,
    /// Names of the poses that `SaveSnapshot` keeps.
    pub snapshots: Vec<String>,
    /// What becomes of the root's motion.
    pub root: RootDesc,
}

/// One input of a graph.
#[derive(Clone, Debug, PartialEq)]
pub struct Param {
    /// Unique among the parameters.
    pub name: String,
    /// What it is before anybody sets it; within its range.
    pub default: f32,
    /// The least that it can be set to.
    pub min: f32,
    /// The most that it can be set to.
    pub max: f32,
    /// What it stands for.
    pub kind: ParamKind,
}

/// What a parameter stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParamKind {
    /// A number.
    Float,
    /// 0 or 1.
    Bool,
    /// 1 from when it is set until an evaluation has seen it.
    Trigger,
}

/// A blackboard value and the parameter that it refills.
#[derive(Clone, Debug, PartialEq)]
pub struct Key {
    /// Unique among the keys.
    pub name: String,
    /// The parameter.
    pub param: ParamId,
}

/// Weights of bones, 0..=1.
#[derive(Clone, Debug, PartialEq)]
pub struct MaskDesc {
    /// For messages.
    pub name: String,
    /// Weight of bones that no entry names.
    pub others: f32,
    /// A later entry wins.
    pub entries: Vec<MaskEntry>,
}

/// The weight of one bone, or of all bones from one on down.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MaskEntry {
    /// The bone.
    pub bone: BoneRef,
    /// Its weight, 0..=1.
    pub weight: f32,
    /// The bones below it have the weight too.
    pub subtree: bool,
}

/// Clip seconds per second of a clock, at most, either way: what its speed and its factor together
/// are limited to.
pub const FASTEST: f32 = 1e3;

/// A clock inside one clip.
#[derive(Clone, Debug, PartialEq)]
pub struct ClockDesc {
    /// The clip.
    pub clip: ClipRef,
    /// What happens at its end.
    pub mode: PlayMode,
    /// Clip seconds per second, [`FASTEST`] at most; negative runs backwards. Ignored in a sync
    /// group.
    pub speed: f32,
    /// Where it starts, clip seconds, not negative. Ignored in a sync group.
    pub start: f32,
    /// Shares its normalized time with the group's other clocks; it must loop.
    pub group: Option<GroupId>,
}

/// A time inside a clip.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Moment {
    /// Seconds from the clip's start.
    Seconds(f32),
    /// Part of the clip's length, 0..=1.
    Fraction(f32),
}

/// What happens at a time of a clip, or between two.
#[derive(Clone, Debug, PartialEq)]
pub struct NotifyDesc {
    /// What it is called where it is received; several may share a name.
    pub name: String,
    /// The clip.
    pub clip: ClipRef,
    /// When.
    pub at: Moment,
    /// Until when, for a state with begin, ticks and end.
    pub until: Option<Moment>,
}

/// The sync markers of a clip.
#[derive(Clone, Debug, PartialEq)]
pub struct MarkersDesc {
    /// The clip.
    pub clip: ClipRef,
    /// At most [`SyncTrack::MOST`](crate::motion::SyncTrack::MOST), in any order; none for a clip
    /// that has none.
    pub markers: Vec<MarkerDesc>,
}

/// A moment that clips of a sync group have in common.
#[derive(Clone, Debug, PartialEq)]
pub struct MarkerDesc {
    /// What its counterparts are called too.
    pub name: String,
    /// When.
    pub at: Moment,
}

/// A state machine.
///
/// Transitions are tried in order each evaluation, and the first that may be taken is.
#[derive(Clone, Debug, PartialEq)]
pub struct MachineDesc {
    /// For messages.
    pub name: String,
    /// At least one.
    pub states: Vec<StateDesc>,
    /// The state it starts in.
    pub initial: StateId,
    /// In the order of their priority.
    pub transitions: Vec<TransitionDesc>,
}

/// One state of a machine.
#[derive(Clone, Debug, PartialEq)]
pub struct StateDesc {
    /// Unique in its machine.
    pub name: String,
    /// What `EvalStateMachine` passes on while the state is current.
    pub pose: PoseIn,
    /// Clocks that start over when the state is entered. A sync group starts over when one of its
    /// clocks does and no clip of the group was part of the last pose.
    pub clocks: Vec<ClockId>,
    /// Machines inside of the state that start over when it is entered: later in the code.
    pub machines: Vec<MachineId>,
}

/// A change of state.
#[derive(Clone, Debug, PartialEq)]
pub struct TransitionDesc {
    /// From this state; none is from any but `to`.
    pub from: Option<StateId>,
    /// To this one; the same as `from` enters it anew.
    pub to: StateId,
    /// Only while this register is above 0.5; none is always. It is read by `SelectState`.
    pub condition: Option<Scalar>,
    /// Only after so many seconds in the state.
    pub min_time: f32,
    /// Only at a clip's end.
    pub at_end: Option<AtEnd>,
    /// May begin while another transition is under way.
    pub interrupts: bool,
    /// Seconds that it lasts; zero snaps.
    pub duration: f32,
    /// How the seam is hidden.
    pub style: TransitionStyle,
}

/// When a clip counts as at its end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AtEnd {
    /// The clip's clock. One that loops is at its end in the evaluation after it passed it.
    pub clock: ClockId,
    /// Seconds (of the clip) before the end that are near enough; for clips that do not loop.
    pub before: f32,
}

/// How a transition hides the seam.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransitionStyle {
    /// The new pose at once, plus a difference that dies away (Bollo 2018).
    Inertialize,
    /// The old pose going on by itself, blended into the new one (Holden 2023).
    DeadBlend,
}

/// A blend space along a line.
#[derive(Clone, Debug, PartialEq)]
pub struct Space1D {
    /// For messages.
    pub name: String,
    /// The points' places, ascending and apart; at least one.
    pub points: Vec<f32>,
}

/// A blend space over a plane.
#[derive(Clone, Debug, PartialEq)]
pub struct Space2D {
    /// For messages.
    pub name: String,
    /// The points' places; at least three.
    pub points: Vec<[f32; 2]>,
    /// Triangles over the points that do not overlap, with area; at least one.
    pub triangles: Vec<[u16; 3]>,
}

/// What becomes of the root's motion.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct RootDesc {
    /// The bone it is taken from; none is the skeleton's first root.
    pub bone: Option<BoneRef>,
    /// What becomes of it.
    pub mode: RootMode,
}

/// What becomes of the root bone's motion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum RootMode {
    /// What moves the character is taken out of the pose, clip by clip.
    #[default]
    Clips,
    /// The same, and the root stands where the reference pose has it: its height and tilt are lost.
    Always,
    /// Never: all motion stays in the pose, and the character is not moved.
    Never,
}

impl Program {
    /// The version of opcodes and tables that this build reads and writes.
    pub const VERSION: u16 = 4;

    /// The program that shows the bind pose.
    pub fn bind_pose(name: impl Into<String>) -> Self {
        let dst = PoseOut(0);
        Self {
            name: name.into(),
            pose_registers: 1,
            code: vec![Op::RefPose { dst }, Op::Output { source: dst.read() }],
            ..Self::default()
        }
    }

    /// The index of a parameter.
    pub fn param(&self, name: &str) -> Option<ParamId> {
        position(&self.params, |p| p.name == name).map(ParamId)
    }

    /// The index of a blackboard key.
    pub fn key(&self, name: &str) -> Option<KeyId> {
        position(&self.keys, |k| k.name == name).map(KeyId)
    }

    /// The index of a machine.
    pub fn machine(&self, name: &str) -> Option<MachineId> {
        position(&self.machines, |m| m.name == name).map(MachineId)
    }

    /// Number of histories that an instance keeps: one per machine, then one per seam.
    pub fn histories(&self) -> usize {
        self.machines.len() + usize::from(self.seams)
    }

    /// The bone that the program scales first, if it scales any by anything but 1 that is known
    /// now: its rig has to be of the general class then.
    pub fn scaled_bone(&self) -> Option<BoneRef> {
        self.code.iter().find_map(|op| match op {
            Op::BoneTransform { bone, change, .. } => {
                (7..10).any(|i| self.constant(change.0 + i) != Some(1.0)).then_some(*bone)
            }
            _ => None,
        })
    }

    /// What a register holds all the time, when a single `LoadConst` writes it.
    fn constant(&self, register: u16) -> Option<f32> {
        let mut constant = None;
        for op in &self.code {
            let mut writes = false;
            op.operands(|_, operand| {
                writes |= operand == Operand::ScalarOut(ScalarOut(register));
            });
            match op {
                Op::LoadConst { constant: id, .. } if writes && constant.is_none() => {
                    constant = Some(self.consts.get(id.get()).copied());
                }
                _ if writes => return None,
                _ => {}
            }
        }
        constant.flatten()
    }
}

fn position<T>(rows: &[T], is: impl Fn(&T) -> bool) -> Option<u16> {
    u16::try_from(rows.iter().position(is)?).ok()
}
