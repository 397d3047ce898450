//! Programs by hand.

use crate::graph::*;
use crate::motion::PlayMode;
use crate::task::AdditiveSpace;

/// Puts a program together, a register for each result.
#[derive(Default)]
pub(super) struct Assembler(pub Program);

pub(super) const LOCAL: AdditiveSpace = AdditiveSpace::Local;

impl Assembler {
    pub fn new(name: &str) -> Self {
        Self(Program { name: name.into(), ..Program::default() })
    }

    pub fn scalar_out(&mut self) -> ScalarOut {
        self.0.scalar_registers += 1;
        ScalarOut(self.0.scalar_registers - 1)
    }

    pub fn pose_out(&mut self) -> PoseOut {
        self.0.pose_registers += 1;
        PoseOut(self.0.pose_registers - 1)
    }

    pub fn constant(&mut self, value: f32) -> Scalar {
        self.0.consts.push(value);
        let constant = ConstId(self.0.consts.len() as u16 - 1);
        let dst = self.scalar_out();
        self.0.code.push(Op::LoadConst { constant, dst });
        dst.read()
    }

    pub fn vector(&mut self, values: [f32; 3]) -> Vector {
        let [x, ..] = values.map(|v| self.constant(v));
        Vector(x.0)
    }

    pub fn param(&mut self, name: &str, kind: ParamKind) -> Scalar {
        let (min, max) = if kind == ParamKind::Float { (-10.0, 10.0) } else { (0.0, 1.0) };
        let param = ParamId(self.0.params.len() as u16);
        self.0.params.push(Param { name: name.into(), default: 0.0, min, max, kind });
        self.0.keys.push(Key { name: name.into(), param });
        let dst = self.scalar_out();
        self.0.code.push(Op::LoadParam { param, dst });
        dst.read()
    }

    pub fn scalar(&mut self, op: ScalarFn, a: Scalar, b: Scalar) -> Scalar {
        let dst = self.scalar_out();
        self.0.code.push(Op::ScalarOp { op, a, b, dst });
        dst.read()
    }

    pub fn clip(&mut self, name: &str) -> ClipRef {
        let clips = &mut self.0.clips;
        let at = clips.iter().position(|n| n == name).unwrap_or_else(|| {
            clips.push(name.into());
            clips.len() - 1
        });
        ClipRef(at as u16)
    }

    pub fn bone(&mut self, name: &str) -> BoneRef {
        self.0.bones.push(name.into());
        BoneRef(self.0.bones.len() as u16 - 1)
    }

    /// A clock that is still to be advanced.
    pub fn clock(&mut self, clip: &str, mode: PlayMode, group: Option<GroupId>) -> ClockId {
        let clip = self.clip(clip);
        self.0.clocks.push(ClockDesc { clip, mode, speed: 1.0, start: 0.0, group });
        ClockId(self.0.clocks.len() as u16 - 1)
    }

    /// Advances a clock and samples its clip.
    pub fn play(&mut self, clock: ClockId) -> PoseIn {
        let (time, dst) = (self.scalar_out(), self.pose_out());
        let clip = self.0.clocks[clock.get()].clip;
        self.0.code.push(Op::AdvanceClock { clock, speed: None, time, finished: None });
        self.0.code.push(Op::SampleAnim { clip, time: time.read(), clock: Some(clock), dst });
        dst.read()
    }

    /// A clip that loops by itself.
    pub fn looped(&mut self, clip: &str) -> PoseIn {
        let clock = self.clock(clip, PlayMode::Loop, None);
        self.play(clock)
    }

    /// A clip held at a time.
    pub fn held(&mut self, clip: &str, time: Scalar) -> PoseIn {
        let (clip, dst) = (self.clip(clip), self.pose_out());
        self.0.code.push(Op::SampleAnim { clip, time, clock: None, dst });
        dst.read()
    }

    pub fn pose(&mut self, op: impl FnOnce(PoseOut) -> Op) -> PoseIn {
        let dst = self.pose_out();
        self.0.code.push(op(dst));
        dst.read()
    }

    pub fn blend(&mut self, a: PoseIn, b: PoseIn, alpha: Scalar) -> PoseIn {
        self.pose(|dst| Op::Blend { a, b, alpha, dst })
    }

    /// Selects a machine that is still to be described.
    pub fn select(&mut self, name: &str) -> MachineId {
        let machine = MachineId(self.0.machines.len() as u16);
        self.0.machines.push(MachineDesc {
            name: name.into(),
            states: Vec::new(),
            initial: StateId(0),
            transitions: Vec::new(),
        });
        self.0.code.push(Op::SelectState { machine });
        machine
    }

    pub fn state(&mut self, machine: MachineId, name: &str, pose: PoseIn, clocks: &[ClockId]) {
        let states = &mut self.0.machines[machine.get()].states;
        let (name, clocks) = (name.into(), clocks.to_vec());
        states.push(StateDesc { name, pose, clocks, machines: Vec::new() });
    }

    pub fn transition(&mut self, machine: MachineId, transition: TransitionDesc) {
        self.0.machines[machine.get()].transitions.push(transition);
    }

    pub fn eval(&mut self, machine: MachineId) -> PoseIn {
        self.pose(|dst| Op::EvalStateMachine { machine, dst })
    }

    pub fn output(mut self, source: PoseIn) -> Program {
        self.0.code.push(Op::Output { source });
        self.0
    }
}

/// A transition that lasts 0.2 s.
pub(super) fn when(from: Option<u16>, to: u16, condition: Scalar) -> TransitionDesc {
    TransitionDesc {
        from: from.map(StateId),
        to: StateId(to),
        condition: Some(condition),
        min_time: 0.0,
        at_end: None,
        interrupts: true,
        duration: 0.2,
        style: TransitionStyle::Inertialize,
    }
}
