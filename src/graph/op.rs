//! The opcodes.

use super::ScalarFn;
use super::define::{ops, ways_of};
use super::operand::*;
use super::wire::{DecodeError, Reader, Wire};
use crate::pose::kernels::bone::{BoneMode, BoneSpace};
use crate::task::AdditiveSpace;

ops! {
    /// `dst = consts[constant]`
    0 LoadConst {
        /// The constant.
        constant: ConstId,
        /// Where it goes.
        dst: ScalarOut,
    }
    /// `dst` = a parameter's value. A flag or a trigger is 0 or 1.
    1 LoadParam {
        /// The parameter.
        param: ParamId,
        /// Where it goes.
        dst: ScalarOut,
    }
    /// `dst` = seconds since the character's last evaluation.
    2 LoadDelta {
        /// Where it goes.
        dst: ScalarOut,
    }
    /// `dst = op(a, b)`; never not-a-number from operands that are numbers.
    3 ScalarOp {
        /// The function.
        op: ScalarFn,
        /// First argument.
        a: Scalar,
        /// Second argument; functions of one argument ignore it.
        b: Scalar,
        /// Where it goes.
        dst: ScalarOut,
    }
    /// `dst` = `a` where `condition` is above 0.5, else `b`.
    4 Choose {
        /// Decides.
        condition: Scalar,
        /// If so.
        a: Scalar,
        /// If not.
        b: Scalar,
        /// Where it goes.
        dst: ScalarOut,
    }
    /// `dst` follows `value` exponentially; it starts on it.
    5 Smooth {
        /// What to follow.
        value: Scalar,
        /// Seconds in which the distance halves; zero or less follows at once.
        half_life: Scalar,
        /// What is kept from evaluation to evaluation.
        slot: SmoothId,
        /// Where it goes.
        dst: ScalarOut,
    }
    /// Runs a clock by the time since the last evaluation. Exactly one per clock.
    6 AdvanceClock {
        /// The clock.
        clock: ClockId,
        /// Factor on the clock's own speed; none is 1. Ignored in a sync group.
        speed: Option<Scalar>,
        /// Seconds inside the clip.
        time: ScalarOut,
        /// 1 once a clock that plays once is at its end, else 0.
        finished: Option<ScalarOut>,
    }
    /// `dst` = seconds since a machine's current state was entered. After its `SelectState`.
    7 StateTime {
        /// The machine.
        machine: MachineId,
        /// Where it goes.
        dst: ScalarOut,
    }
    /// Samples one clip.
    8 SampleAnim {
        /// The clip.
        clip: ClipRef,
        /// Seconds inside it; clamped.
        time: Scalar,
        /// The clock that the time comes from: it carries notifies and root motion. None for a
        /// pose that is held. Its clip must be `clip`.
        clock: Option<ClockId>,
        /// The pose.
        dst: PoseOut,
    }
    /// The bind pose.
    9 RefPose {
        /// The pose.
        dst: PoseOut,
    }
    /// `dst = lerp(a, b, alpha)`
    10 Blend {
        /// The pose at 0.
        a: PoseIn,
        /// The pose at 1.
        b: PoseIn,
        /// How far.
        alpha: Scalar,
        /// The pose.
        dst: PoseOut,
    }
    /// `dst = lerp(a, b, alpha * mask[bone])`
    11 BlendMasked {
        /// The pose at 0.
        a: PoseIn,
        /// The pose at 1.
        b: PoseIn,
        /// How far.
        alpha: Scalar,
        /// Weights per bone.
        mask: MaskRef,
        /// The pose.
        dst: PoseOut,
    }
    /// The difference between two poses.
    12 MakeAdditive {
        /// The pose.
        source: PoseIn,
        /// What it is compared to; none is the bind pose.
        reference: Option<PoseIn>,
        /// The frame of its rotations.
        space: AdditiveSpace,
        /// The difference.
        dst: PoseOut,
    }
    /// A difference added to a pose.
    13 ApplyAdditive {
        /// The pose.
        base: PoseIn,
        /// The difference, made in the same space.
        delta: PoseIn,
        /// How much of it.
        alpha: Scalar,
        /// The frame of its rotations.
        space: AdditiveSpace,
        /// The pose.
        dst: PoseOut,
    }
    /// Runs a machine's transitions, ahead of its states' own code, so that a state entered now
    /// samples clocks that were reset now. Exactly one per machine.
    14 SelectState {
        /// The machine.
        machine: MachineId,
    }
    /// The current state's pose, with what is left of a transition. Exactly one per machine, after
    /// its `SelectState`.
    15 EvalStateMachine {
        /// The machine.
        machine: MachineId,
        /// The pose.
        dst: PoseOut,
    }
    /// The blend of a one-dimensional blend space's points around a place.
    16 BlendSpace1D {
        /// The blend space.
        space: Space1DId,
        /// The place; limited to the points' range.
        x: Scalar,
        /// One pose per point.
        points: PosesIn,
        /// The pose.
        dst: PoseOut,
    }
    /// The blend of a two-dimensional blend space's points around a place, by barycentric weights.
    17 BlendSpace2D {
        /// The blend space.
        space: Space2DId,
        /// The place.
        x: Scalar,
        /// The place; one outside of all triangles counts as the nearest inside.
        y: Scalar,
        /// One pose per point.
        points: PosesIn,
        /// The pose.
        dst: PoseOut,
    }
    /// The pose plus a difference to what it was, which dies away (Bollo 2018), for a change that
    /// no machine makes.
    18 Inertialize {
        /// The pose.
        source: PoseIn,
        /// What is kept from evaluation to evaluation.
        seam: SeamId,
        /// A transition begins when this rises above 0.5.
        trigger: Scalar,
        /// Seconds that it lasts, read when it begins.
        duration: Scalar,
        /// The pose.
        dst: PoseOut,
    }
    /// The old pose going on by itself, blended into the new one (Holden 2023), for a change that
    /// no machine makes.
    19 DeadBlend {
        /// The pose.
        source: PoseIn,
        /// What is kept from evaluation to evaluation.
        seam: SeamId,
        /// A transition begins when this rises above 0.5.
        trigger: Scalar,
        /// Seconds that it lasts, read when it begins.
        duration: Scalar,
        /// The pose.
        dst: PoseOut,
    }
    /// Passes a pose on and keeps a copy for later frames.
    20 SaveSnapshot {
        /// The pose.
        source: PoseIn,
        /// Where it is kept.
        snapshot: SnapshotRef,
        /// The pose.
        dst: PoseOut,
    }
    /// A pose that was kept, or the bind pose.
    21 LoadSnapshot {
        /// Where it is kept.
        snapshot: SnapshotRef,
        /// The pose.
        dst: PoseOut,
    }
    /// Changes one bone's transform.
    22 BoneTransform {
        /// The pose.
        source: PoseIn,
        /// The bone.
        bone: BoneRef,
        /// The frame of the change.
        space: BoneSpace,
        /// Added or towards.
        mode: BoneMode,
        /// How much of it.
        alpha: Scalar,
        /// The change.
        change: Transform,
        /// The pose.
        dst: PoseOut,
    }
    /// Moves one bone.
    23 TranslateBone {
        /// The pose.
        source: PoseIn,
        /// The bone.
        bone: BoneRef,
        /// The frame of the offset.
        space: BoneSpace,
        /// How much of it.
        alpha: Scalar,
        /// The offset.
        offset: Vector,
        /// The pose.
        dst: PoseOut,
    }
    /// An arm or a leg to a target.
    24 TwoBoneIk {
        /// The pose.
        source: PoseIn,
        /// Its bones.
        limb: LimbRef,
        /// For the end's joint, model space.
        target: Vector,
        /// The middle joint bends towards this point (model space); none keeps its bend.
        pole: Option<Vector>,
        /// Part of the limb's length over which its reach is softened, 0..=1; none is 0.
        soften: Option<Scalar>,
        /// How much of the solution is taken.
        alpha: Scalar,
        /// The pose.
        dst: PoseOut,
    }
    /// A chain of bones to a target.
    25 Fabrik {
        /// The pose.
        source: PoseIn,
        /// Upper end.
        root: BoneRef,
        /// Lower end.
        end: BoneRef,
        /// Model space.
        target: Vector,
        /// Passes, at most.
        iterations: u8,
        /// Model units from the target that are near enough.
        tolerance: Scalar,
        /// How freely each bone turns; none leaves all free.
        weights: Option<MaskRef>,
        /// How much of the solution is taken.
        alpha: Scalar,
        /// The pose.
        dst: PoseOut,
    }
    /// One bone towards a point.
    26 LookAt {
        /// The pose.
        source: PoseIn,
        /// The bone.
        bone: BoneRef,
        /// The direction it looks in, in its own space.
        forward: Vector,
        /// Model space.
        target: Vector,
        /// The most that it turns, radians; none is no limit.
        limit: Option<Scalar>,
        /// How much of the turn is taken.
        alpha: Scalar,
        /// The pose.
        dst: PoseOut,
    }
    /// Two feet onto the list's ground.
    27 FootIk {
        /// The pose.
        source: PoseIn,
        /// What is lowered where a foot would not reach.
        hips: BoneRef,
        /// The left leg.
        left: LimbRef,
        /// The right leg.
        right: LimbRef,
        /// How much of the ground is taken.
        alpha: Scalar,
        /// The pose.
        dst: PoseOut,
    }
    /// The character's pose. Exactly one, and the last opcode.
    28 Output {
        /// The pose.
        source: PoseIn,
    }
    /// Says how fast a sync group runs from the next evaluation on; without it, 1. One per group at
    /// most.
    29 PaceGroup {
        /// The group.
        group: GroupId,
        /// Factor on its members' own speeds.
        speed: Scalar,
    }
}

const _: () = assert!(size_of::<Op>() <= 32, "two instructions fit a cache line");

ways_of!(AdditiveSpace { Local, Mesh });
ways_of!(BoneSpace { Local, Component });
ways_of!(BoneMode { Additive, Override });
