//! Programs that are refused, with what is said about them.

use super::assembler::*;
use super::*;
use crate::motion::PlayMode;

/// A small program with a machine, a clock and a blend.
fn sound() -> Program {
    let mut a = Assembler::new("g");
    let x = a.param("x", ParamKind::Float);
    a.0.sync_groups.push("feet".into());
    let machine = a.select("gait");
    let clock = a.clock("clip0", PlayMode::Loop, Some(GroupId(0)));
    let pose = a.play(clock);
    a.state(machine, "walk", pose, &[clock]);
    a.transition(machine, when(None, 0, x));
    let gait = a.eval(machine);
    let other = a.looped("clip1");
    let pose = a.blend(gait, other, x);
    a.output(pose)
}

/// What is said of a sound program that was changed.
fn said(change: impl FnOnce(&mut Program)) -> String {
    let mut program = sound();
    change(&mut program);
    program.validate().unwrap_err().to_string()
}

fn position(p: &Program, name: &str) -> usize {
    p.code.iter().position(|op| op.name() == name).unwrap()
}

#[test]
fn what_is_read_must_be_written_before() {
    assert!(sound().validate().is_ok());
    assert_eq!(
        said(|p| {
            p.code.remove(0);
        }),
        "program \"g\", instruction 0 (SelectState): scalar register 0 is read before it is written"
    );
    assert_eq!(
        said(|p| p.code.swap(3, 4)),
        "program \"g\", instruction 3 (EvalStateMachine): pose register 0 is read before it is written"
    );
    assert_eq!(
        said(|p| p.code[3] =
            Op::Blend { a: PoseIn(0), b: PoseIn(0), alpha: Scalar(0), dst: PoseOut(0) }),
        "program \"g\", instruction 3 (Blend): pose register 0 is read before it is written",
        "a pose that depends on itself"
    );
}

#[test]
fn what_is_named_must_be_there() {
    assert_eq!(
        said(|p| p.code[0] = Op::LoadParam { param: ParamId(7), dst: ScalarOut(0) }),
        "program \"g\", instruction 0 (LoadParam): there is no parameter 7, only 1"
    );
    assert_eq!(
        said(|p| p.scalar_registers = 1),
        "program \"g\", instruction 2 (AdvanceClock): there is no scalar register 1, only 1"
    );
    assert_eq!(
        said(|p| p.machines[0].transitions[0].to = StateId(3)),
        "program \"g\", state machine 0: there is no state 3, only 1"
    );
    assert_eq!(
        said(|p| p.clocks[0].clip = ClipRef(9)),
        "program \"g\", clock 0: there is no clip 9, only 2"
    );
    assert_eq!(
        said(|p| p.keys[0].param = ParamId(2)),
        "program \"g\", blackboard key 0: there is no parameter 2, only 1"
    );
    assert_eq!(
        said(|p| p.root.bone = Some(BoneRef(0))),
        "program \"g\", its root: there is no bone 0, only 0"
    );
}

#[test]
fn machines_and_clocks_run_once_and_in_order() {
    assert_eq!(
        said(|p| {
            p.code.remove(1);
        }),
        "program \"g\", instruction 3 (EvalStateMachine): SelectState of machine 0 must come before what asks for its state"
    );
    assert_eq!(
        said(|p| p.code.swap(1, 2)),
        "program \"g\", instruction 2 (SelectState): SelectState of machine 0 must come before AdvanceClock of clock 0"
    );
    assert_eq!(
        said(|p| p.code.insert(3, p.code[2])),
        "program \"g\", the code: clock 0 must have exactly one AdvanceClock, it has 2"
    );
    assert_eq!(
        said(|p| {
            p.code.pop();
        }),
        "program \"g\", the code: program 0 must have exactly one Output, it has 0"
    );
    assert_eq!(
        said(|p| {
            let output = p.code[p.code.len() - 1];
            p.code.insert(5, output);
        }),
        "program \"g\", instruction 5 (Output): pose register 3 is read before it is written"
    );
    assert_eq!(
        said(|p| p.machines[0].states[0].machines.push(MachineId(0))),
        "program \"g\", instruction 1 (SelectState): SelectState of machine 0 must come before SelectState of machine 0 inside of it"
    );
}

#[test]
fn differences_and_poses_are_not_taken_for_each_other() {
    let mut a = Assembler::new("g");
    let one = a.constant(1.0);
    let pose = a.looped("clip0");
    let delta = a.pose(|dst| Op::MakeAdditive { source: pose, reference: None, space: LOCAL, dst });
    let base = Assembler(a.0.clone()).output(delta);
    assert_eq!(
        base.validate().unwrap_err().to_string(),
        "program \"g\", instruction 4 (Output): pose register 1 holds a local difference where a pose belongs"
    );
    let space = crate::task::AdditiveSpace::Mesh;
    let sum = a.pose(|dst| Op::ApplyAdditive { base: pose, delta, alpha: one, space, dst });
    assert_eq!(
        a.output(sum).validate().unwrap_err().to_string(),
        "program \"g\", instruction 4 (ApplyAdditive): pose register 1 holds a local difference where a mesh-space difference belongs"
    );
}

#[test]
fn numbers_are_in_their_ranges() {
    assert_eq!(
        said(|p| p.params[0].default = 99.0),
        "program \"g\", parameter 0: its default is 99; it must be finite and from its least to its largest value"
    );
    assert_eq!(
        said(|p| p.machines[0].transitions[0].duration = -1.0),
        "program \"g\", state machine 0: a transition's duration is -1; it must be finite and not negative"
    );
    assert_eq!(
        said(|p| p.clocks[0].mode = PlayMode::Once),
        "program \"g\", clock 0: a clip in a sync group must loop"
    );
    assert_eq!(
        said(|p| p.consts.push(f32::NAN)),
        "program \"g\", constant 0: its value is NaN; it must be finite"
    );
    let line = |points: &[f32]| Space1D { name: "s".into(), points: points.to_vec() };
    assert_eq!(
        said(|p| p.spaces_1d.push(line(&[0.0, 1.0, 1.0]))),
        "program \"g\", blend space (1D) 0: a point is 1; it must be above the one before it"
    );
    assert_eq!(
        said(|p| p.spaces_1d.push(line(&[]))),
        "program \"g\", blend space (1D) 0: 0 points; there must be 1 to 65536"
    );
    let flat = Space2D {
        name: "s".into(),
        points: vec![[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]],
        triangles: vec![[0, 1, 2]],
    };
    assert_eq!(
        said(|p| p.spaces_2d.push(flat)),
        "program \"g\", blend space (2D) 0: twice a triangle's area is 0; it must be finite and not zero"
    );
}

#[test]
fn names_are_unique() {
    assert_eq!(
        said(|p| p.params.push(p.params[0].clone())),
        "program \"g\", parameter 1: the name \"x\" is taken"
    );
    assert_eq!(
        said(|p| {
            let state = p.machines[0].states[0].clone();
            p.machines[0].states.push(state);
        }),
        "program \"g\", state machine 0: the name \"walk\" is taken"
    );
}

#[test]
fn more_tasks_than_a_list_holds_are_refused() {
    assert_eq!(
        said(|p| {
            let pose = p.code[position(p, "SampleAnim")];
            let last = p.code.len() - 1;
            p.code.splice(last..last, std::iter::repeat_n(pose, 32_768));
        }),
        "program \"g\", the code: 32773 tasks; there must be at most 32768"
    );
}

#[test]
fn a_rig_without_what_a_program_names_is_refused_with_what_it_has() {
    let c = character(Shape::plain(3), &["idle", "clip1"], 1);
    let bind = |program: Program| {
        let names = &mut NotifyNames::default();
        let target = Target { rig: &c.rig, clips: &c.clip_bindings, names };
        Arc::new(program.validate().unwrap()).bind(target).unwrap_err().to_string()
    };
    assert_eq!(
        bind(sound()),
        "graph \"g\": no clip `clip0`; did you mean `clip1`? the character has: idle, clip1"
    );
    let mut a = Assembler::new("g");
    a.bone("spine");
    let idle = a.looped("idle");
    assert_eq!(
        bind(a.output(idle)),
        "graph \"g\": no bone `spine`; the character has: bone0, bone1, bone2"
    );
    let mut a = Assembler::new("g");
    a.bone("bone1");
    let idle = a.looped("idle");
    let alpha = a.constant(1.0);
    let values: Vec<_> =
        [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.5, 1.0].map(|v| a.constant(v)).to_vec();
    let pose = a.pose(|dst| Op::BoneTransform {
        source: idle,
        bone: BoneRef(0),
        space: Default::default(),
        mode: Default::default(),
        alpha,
        change: Transform(values[0].0),
        dst,
    });
    assert_eq!(
        bind(a.output(pose)),
        "graph \"g\" scales bone `bone1`, and the character was made ready for graphs that scale none"
    );
    for (root, mid, end, expected) in [
        (0, 2, 1, "TwoBoneIk needs `bone1` to hang below `bone2`, which it does not"),
        (1, 0, 2, "TwoBoneIk needs `bone0` to hang below `bone1`, which it does not"),
        (1, 1, 2, "TwoBoneIk needs `bone1` to hang below `bone1`, which it does not"),
    ] {
        let mut a = Assembler::new("g");
        let bones = ["bone0", "bone1", "bone2"].map(|bone| a.bone(bone));
        let [root, mid, end] = [root, mid, end].map(|at: usize| bones[at]);
        let (source, alpha) = (a.looped("idle"), a.constant(1.0));
        let (target, pole, soften) = (a.vector([0.0; 3]), None, None);
        let limb = LimbRef { root, mid, end };
        let pose = a.pose(|dst| Op::TwoBoneIk { source, limb, target, pole, soften, alpha, dst });
        assert_eq!(bind(a.output(pose)), format!("graph \"g\": {expected}"));
    }
    let mut a = Assembler::new("g");
    let [end, root] = ["bone1", "bone2"].map(|bone| a.bone(bone));
    let (source, alpha, target) = (a.looped("idle"), a.constant(1.0), a.vector([0.0; 3]));
    let (iterations, tolerance, weights) = (8, alpha, None);
    let pose = a.pose(|dst| Op::Fabrik {
        source,
        root,
        end,
        target,
        iterations,
        tolerance,
        weights,
        alpha,
        dst,
    });
    let line = "graph \"g\": Fabrik needs `bone1` to hang below `bone2`, which it does not";
    assert_eq!(bind(a.output(pose)), line);
    let names = &mut NotifyNames::default();
    let target = Target {
        rig: &c.rig,
        clips: &std::array::from_fn::<_, 3, _>(|_| ClipBinding::default()),
        names,
    };
    let program = Arc::new(Program::bind_pose("g").validate().unwrap());
    assert_eq!(program.bind(target).unwrap_err().to_string(), "3 clips were given for a rig of 2");
}
