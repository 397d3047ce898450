//! A character that a small graph plays.

use super::rig;
use std::sync::Arc;
use throng::crowd::{CrowdKind, Playing};
use throng::graph::{
    ClipRef, ClockDesc, ClockId, ConstId, Key, MachineDesc, MachineId, Moment, NotifyDesc, Op,
    Param, ParamId, ParamKind, PoseIn, PoseOut, Program, Scalar, ScalarFn, ScalarOut, StateDesc,
    StateId, TransitionDesc, TransitionStyle, ValidProgram,
};
use throng::motion::PlayMode;

/// The states of its machine.
pub const STATES: [&str; 3] = ["idle", "walk_fwd", "wave"];

/// Stands, walks where its driver wants to go, and waves when it feels like it; its feet are heard.
pub fn program() -> Arc<ValidProgram> {
    let param = |name: &str, kind| {
        let (min, max) = if kind == ParamKind::Float { (-5.0, 5.0) } else { (0.0, 1.0) };
        Param { name: name.into(), default: 0.0, min, max, kind }
    };
    let mut code = Vec::new();
    for (at, param) in [0, 1].map(ParamId).into_iter().enumerate() {
        code.push(Op::LoadParam { param, dst: ScalarOut(at as u16) });
    }
    code.push(Op::LoadConst { constant: ConstId(0), dst: ScalarOut(2) });
    let goes =
        Op::ScalarOp { op: ScalarFn::Greater, a: Scalar(0), b: Scalar(2), dst: ScalarOut(3) };
    let stands = Op::ScalarOp { op: ScalarFn::Not, a: Scalar(3), b: Scalar(3), dst: ScalarOut(4) };
    let machine = MachineId(0);
    code.extend([goes, stands, Op::SelectState { machine }]);
    for at in 0..3 {
        let (clock, time) = (ClockId(at), ScalarOut(5 + at));
        code.push(Op::AdvanceClock { clock, speed: None, time, finished: None });
        let (clip, time, clock) = (ClipRef(at), time.read(), Some(clock));
        code.push(Op::SampleAnim { clip, time, clock, dst: PoseOut(at) });
    }
    code.push(Op::EvalStateMachine { machine, dst: PoseOut(3) });
    code.push(Op::Output { source: PoseIn(3) });
    let state = |at: u16| StateDesc {
        name: STATES[usize::from(at)].into(),
        pose: PoseIn(at),
        clocks: vec![ClockId(at)],
        machines: Vec::new(),
    };
    let change = |from: Option<u16>, to, condition| TransitionDesc {
        from: from.map(StateId),
        to: StateId(to),
        condition: Some(Scalar(condition)),
        min_time: 0.1,
        at_end: None,
        interrupts: true,
        duration: 0.25,
        style: TransitionStyle::Inertialize,
    };
    let clock = |at| ClockDesc {
        clip: ClipRef(at),
        mode: PlayMode::Loop,
        speed: 1.0,
        start: 0.0,
        group: None,
    };
    let step = |at| NotifyDesc {
        name: "step".into(),
        clip: ClipRef(1),
        at: Moment::Fraction(at),
        until: None,
    };
    let program = Program {
        name: "walker".into(),
        params: vec![param("speed", ParamKind::Float), param("wave", ParamKind::Bool)],
        keys: ["speed", "wave"]
            .into_iter()
            .enumerate()
            .map(|(at, name)| Key { name: name.into(), param: ParamId(at as u16) })
            .collect(),
        consts: vec![0.1],
        scalar_registers: 8,
        pose_registers: 4,
        code,
        clips: STATES.map(String::from).to_vec(),
        clocks: [0, 1, 2].map(clock).to_vec(),
        notifies: vec![step(0.25), step(0.75)],
        machines: vec![MachineDesc {
            name: "gait".into(),
            states: [0, 1, 2].map(state).to_vec(),
            initial: StateId(0),
            transitions: vec![change(None, 1, 3), change(None, 2, 1), change(Some(1), 0, 4), {
                let calm = change(Some(2), 0, 4);
                TransitionDesc { min_time: 1.0, ..calm }
            }],
        }],
        ..Program::default()
    };
    Arc::new(program.validate().unwrap())
}

/// The person of the tests, played by the graph.
pub fn walker() -> CrowdKind {
    CrowdKind { playing: Playing::Graph(program()), ..rig::person() }
}
