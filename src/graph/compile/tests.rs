mod broken;
mod mutated;

use super::*;
use crate::graph::{Listing, Op, Program};

fn program(text: &str) -> Program {
    match compile("graph.ron", text) {
        Ok(compiled) => compiled.program.into_inner(),
        Err(e) => panic!("{e}"),
    }
}

/// The listing of the code without its margin, and without what each line is needed by.
fn code(text: &str) -> Vec<String> {
    let lines = guarded(text).into_iter();
    lines.map(|line| line.split(" ; ").next().unwrap_or_default().to_owned()).collect()
}

/// The listing of the code without its margin.
fn guarded(text: &str) -> Vec<String> {
    let listing = Listing(&program(text).validate().unwrap()).to_string();
    let lines = listing.lines().skip_while(|line| *line != "code").skip(1);
    lines.map(|line| line[7..].split_whitespace().collect::<Vec<_>>().join(" ")).collect()
}

fn said(text: &str) -> String {
    match compile("graph.ron", text) {
        Ok(compiled) => format!("compiled {} instructions", compiled.program.get().code.len()),
        Err(e) => e.to_string(),
    }
}

fn warned(text: &str) -> Vec<String> {
    match compile("graph.ron", text) {
        Ok(compiled) => compiled.warnings.iter().map(Warning::to_string).collect(),
        Err(e) => panic!("{e}"),
    }
}

/// Seed 000's example: four states, an additive layer, a foot on the ground.
pub(in crate::graph) const EXAMPLE: &str = r#"(
    version: 1,
    parameters: {
        "gait": Float(default: 0.3, range: (0, 1)),
        "speed": Float(default: 0, range: (0, 6)),
        "jump": Trigger(),
    },
    nodes: {
        "idle": Clip(clip: "idle"),
        "walk_fwd": Clip(clip: "walk_fwd"),
        "walk_back": Clip(clip: "walk_back"),
        "walk": Blend(a: "walk_fwd", b: "walk_back", alpha: "gait"),
        "run_fwd": Clip(clip: "run_fwd"),
        "run_back": Clip(clip: "run_back"),
        "run": Blend(a: "run_fwd", b: "run_back", alpha: "gait"),
        "jump": Clip(clip: "jump", mode: Once),
        "locomotion": StateMachine(
            entry: "idle",
            states: {
                "idle": (pose: "idle"),
                "walk": (pose: "walk"),
                "run": (pose: "run"),
                "jump": (pose: "jump"),
            },
            transitions: [
                (to: "jump", when: "jump", blend: DeadBlend(0.2)),
                (from: "jump", to: "idle", at_end: "jump"),
                (from: ["idle", "run"], to: "walk", when: "speed > 0.2 && speed <= 3"),
                (from: ["idle", "walk"], to: "run", when: "speed > 3"),
                (from: ["walk", "run"], to: "idle", when: "speed <= 0.2", after: 0.1),
            ],
        ),
        "aim": Clip(clip: "aim_pose"),
        "aim_delta": MakeAdditive(source: "aim"),
        "aimed": ApplyAdditive(base: "locomotion", delta: "aim_delta"),
        "feet": FootIk(source: "aimed", hips: "pelvis", left: ("thigh_l", "calf_l", "foot_l"),
                       right: ("thigh_r", "calf_r", "foot_r")),
    },
    output: "feet",
)"#;

#[test]
fn the_seeds_example_compiles_to_its_tasks_in_their_order() {
    let p = program(EXAMPLE);
    let poses: Vec<_> = p
        .code
        .iter()
        .map(Op::name)
        .filter(|name| {
            !matches!(
                *name,
                "LoadConst" | "LoadParam" | "ScalarOp" | "AdvanceClock" | "SelectState"
            )
        })
        .collect();
    assert_eq!(
        poses,
        [
            "SampleAnim",
            "SampleAnim",
            "SampleAnim",
            "Blend",
            "SampleAnim",
            "SampleAnim",
            "Blend",
            "SampleAnim",
            "EvalStateMachine",
            "SampleAnim",
            "MakeAdditive",
            "ApplyAdditive",
            "FootIk",
            "Output",
        ]
    );
    assert_eq!(p.pose_registers, 4, "four states live at once");
}

/// A graph with these nodes; the output is the node `out`.
fn nodes(nodes: &str) -> String {
    format!(
        r#"(version: 1, parameters: {{"x": Float(), "y": Float(), "b": Bool()}}, nodes: {{{nodes}}}, output: "out")"#
    )
}

#[test]
fn registers_are_used_again_and_equal_terms_computed_once() {
    let text = nodes(
        r#"
        "a": Clip(clip: "a"), "c": Clip(clip: "c"),
        "one": Blend(a: "a", b: "c", alpha: "clamp(x * 0.5, 0, 1)"),
        "two": Blend(a: "one", b: "a", alpha: "clamp(x * 0.5, 0, 1) * y"),
        "out": Blend(a: "two", b: "c", alpha: "1 - 0.75"),
        "#,
    );
    assert_eq!(
        code(&text),
        [
            "AdvanceClock clock=k0 -> s0",
            "SampleAnim clip=a time=s0 clock=k0 -> r0",
            "AdvanceClock clock=k1 -> s0",
            "SampleAnim clip=c time=s0 clock=k1 -> r1",
            "LoadParam param=x -> s0",
            "LoadConst constant=0.5 -> s1",
            "ScalarOp op=Mul a=s0 b=s1 -> s0",
            "LoadConst constant=0 -> s1",
            "ScalarOp op=Max a=s0 b=s1 -> s0",
            "LoadConst constant=1 -> s1",
            "ScalarOp op=Min a=s0 b=s1 -> s0",
            "Blend a=r0 b=r1 alpha=s0 -> r2",
            "LoadParam param=y -> s1",
            "ScalarOp op=Mul a=s0 b=s1 -> s0",
            "Blend a=r2 b=r0 alpha=s0 -> r0",
            "LoadConst constant=0.25 -> s0",
            "Blend a=r0 b=r1 alpha=s0 -> r0",
            "Output source=r0",
        ]
    );
}

#[test]
fn points_and_poses_that_belong_together_lie_in_a_row() {
    let text = nodes(
        r#"
        "a": Clip(clip: "a"), "c": Frame(clip: "c"), "d": Frame(clip: "d"),
        "space": BlendSpace1D(x: "x", points: [(1, "c"), (0, "a"), (2, "d")]),
        "again": BlendSpace1D(x: "y", points: [(0, "c"), (1, "space")]),
        "out": TwoBoneIk(source: "again", root: "r", mid: "m", end: "e", target: ("x", 0, "x + y")),
        "#,
    );
    let code = code(&text);
    for line in [
        "BlendSpace1D space=space x=s0 points=r0..r2 -> r4",
        "Blend a=r1 b=r1 alpha=s1 -> r3",
        "BlendSpace1D space=again x=s3 points=r3..r4 -> r0",
        "TwoBoneIk source=r0 limb=r,m,e target=s0..s2 soften=s1 alpha=s4 -> r0",
    ] {
        assert!(code.iter().any(|l| l == line), "{line} is not in\n{}", code.join("\n"));
    }
}

#[test]
fn what_is_known_is_computed_and_what_is_dead_is_not_there() {
    let text = nodes(
        r#"
        "a": Clip(clip: "a"), "b": Clip(clip: "b"), "unused": Clip(clip: "c"),
        "never": Blend(a: "a", b: "b", alpha: "if(1 > 2, x, 0)"),
        "wholly": Blend(a: "b", b: "never", alpha: "max(2 - 1, 0.5)"),
        "out": ApplyAdditive(base: "wholly", delta: "delta", alpha: 0),
        "delta": MakeAdditive(source: "b"),
        "#,
    );
    assert_eq!(
        code(&text),
        [
            "AdvanceClock clock=k0 -> s0",
            "SampleAnim clip=a time=s0 clock=k0 -> r0",
            "Output source=r0"
        ]
    );
    let warnings = warned(&text).join("\n");
    for node in ["`b`", "`unused`", "`delta`"] {
        let line = format!("the output does not depend on the node {node}");
        assert!(warnings.contains(&line), "{warnings}");
    }
    for parameter in ["`y`", "`b`"] {
        assert!(
            warnings.contains(&format!("nothing uses the parameter {parameter}")),
            "{warnings}"
        );
    }
}

#[test]
fn a_machine_chooses_before_its_clips_run_and_before_those_inside_of_it() {
    let p = program(&nodes(
        r#"
        "shared": Clip(clip: "s"),
        "inner": StateMachine(entry: "p", states: {"p": (pose: "shared"), "q": (pose: "tail")},
            transitions: [(to: "q", when: "state_time(outer) > 1"), (to: "p", after: 2)]),
        "tail": Clip(clip: "t", mode: Once),
        "outer": StateMachine(entry: "in", states: {"in": (pose: "inner"), "out": (pose: "shared")},
            transitions: [(to: "out", when: "b"), (to: "in", at_end: "tail", before_end: 0.1)]),
        "out": Blend(a: "shared", b: "outer", alpha: "x"),
        "#,
    ));
    let at = |is: &dyn Fn(&Op) -> bool| p.code.iter().position(is).unwrap();
    let select = |name: &str| {
        let id = p.machine(name).unwrap();
        at(&|op| matches!(op, Op::SelectState { machine } if *machine == id))
    };
    assert!(select("outer") < select("inner"));
    assert!(select("inner") < at(&|op| matches!(op, Op::AdvanceClock { .. })));
    let outer = &p.machines[p.machine("outer").unwrap().get()];
    assert_eq!(outer.states[0].machines, [p.machine("inner").unwrap()]);
    assert_eq!((outer.states[0].clocks.len(), outer.states[1].clocks.len()), (0, 1));
    assert_eq!(outer.transitions[1].at_end.map(|end| end.before), Some(0.1));
}

#[test]
fn a_clip_that_only_a_condition_asks_for_runs_too() {
    let text = nodes(
        r#"
        "timer": Clip(clip: "t", mode: Once), "a": Clip(clip: "a"), "c": Clip(clip: "c"),
        "other": StateMachine(entry: "a", states: {"a": (pose: "a")}),
        "out": StateMachine(entry: "a", states: {"a": (pose: "a"), "c": (pose: "c")},
            transitions: [(to: "c", when: "ended(timer) || state_time(other) > 3"), (to: "a", after: 1)]),
        "#,
    );
    let code = code(&text);
    assert!(code.iter().any(|l| l.starts_with("AdvanceClock clock=k0 -> s1 s0")), "{code:?}");
    assert!(code.iter().any(|l| l.starts_with("EvalStateMachine machine=other")), "{code:?}");
    assert!(warned(&text).is_empty() || !warned(&text).join("").contains("timer"));
}

#[test]
fn a_bones_scale_is_known_from_registers_of_its_own() {
    let scaled = |scale: &str| {
        program(&nodes(&format!(
            r#""a": Clip(clip: "a"),
            "first": BoneTransform(source: "a", bone: "h", rotation: (0, "x", 0), scale: {scale}),
            "second": BoneTransform(source: "first", bone: "h", translation: ("y * 2", 1, "x")),
            "out": TranslateBone(source: "second", bone: "h", offset: ("x * y", "x", 1)),"#
        )))
        .scaled_bone()
        .is_some()
    };
    assert!(!scaled("(1, 1, 1)") && !scaled("(\"2 - 1\", 1, 1)"));
    assert!(scaled("(1, 1, 1.5)") && scaled("(\"x\", 1, 1)"));
}

#[test]
fn a_rotation_about_three_axes_is_glams() {
    let text = nodes(
        r#""a": Bind, "out": BoneTransform(source: "a", bone: "h", rotation: (0.3, -0.7, 1.1)),"#,
    );
    let p = program(&text);
    let Some(Op::BoneTransform { change, .. }) =
        p.code.iter().find(|op| matches!(op, Op::BoneTransform { .. }))
    else {
        panic!()
    };
    let constant = |register: u16| {
        p.code.iter().find_map(|op| match op {
            Op::LoadConst { constant, dst } if dst.0 == register => Some(p.consts[constant.get()]),
            _ => None,
        })
    };
    let found: Vec<f32> = (3..7).map(|i| constant(change.0 + i).unwrap()).collect();
    let expected = glam::Quat::from_rotation_z(1.1)
        * glam::Quat::from_rotation_y(-0.7)
        * glam::Quat::from_rotation_x(0.3);
    for (a, b) in found.iter().zip(expected.to_array()) {
        assert!((a - b).abs() < 1e-6, "{found:?} {expected}");
    }
}

/// The example of docs/GRAPHS.md.
fn worked_example() -> String {
    let page = include_str!("../../../docs/GRAPHS.md");
    let start = page.find("```ron\n").unwrap() + 7;
    let length = page[start..].find("```").unwrap();
    page[start..start + length].to_owned()
}

#[test]
fn the_worked_example_of_the_documentation_compiles_without_a_warning() {
    let text = worked_example();
    let compiled = compile("example.ron", &text).unwrap();
    assert_eq!(compiled.warnings, []);
    let p = compiled.program.get();
    assert_eq!((p.machines.len(), p.notifies.len(), p.masks.len()), (1, 2, 1));
    assert_eq!(p.name, "example");
}

#[test]
fn the_page_names_every_node_function_and_limit() {
    let page = include_str!("../../../docs/GRAPHS.md");
    let text = nodes(r#""out": Klip(),"#);
    let Err(error) = compile("graph.ron", &text) else { panic!() };
    assert!(error.to_string().contains("no `Klip`"), "{error}");
    for (function, _) in terms::FUNCTIONS {
        assert!(page.contains(&format!("`{function}(")), "{function} is not on the page");
    }
}

#[test]
fn the_built_in_graphs_compile_without_a_warning() {
    for (name, text) in crate::graph::BUILTINS {
        let compiled = compile(name, text).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(compiled.warnings, [], "{name}");
    }
}
