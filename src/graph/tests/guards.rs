//! What only certain states need, by the listing of small graphs.

use super::*;

/// The opcodes that only some states need, with these states: `AdvanceClock k1: m.walk`.
fn guarded(nodes: &str) -> Vec<String> {
    let text = format!(
        r#"Graph(version: 1, parameters: {{"x": Float(), "y": Float(), "go": Bool()}},
        sync_groups: ["feet"], nodes: {{{nodes}}}, output: "out")"#
    );
    let compiled = compile("graph.ron", &text).unwrap_or_else(|e| panic!("{e}"));
    let listing = Listing(&compiled.program).to_string();
    let lines = listing.lines().skip_while(|line| *line != "code").skip(1);
    let row = |line: &str| {
        let (op, states) = line[7..].split_once("   ; in ")?;
        let mut words = op.split_whitespace();
        let (name, what) = (words.next()?, words.next()?);
        let what = what.split_once('=').map_or(what, |(_, of)| of);
        Some(format!("{name} {what}: {states}"))
    };
    lines.filter_map(row).collect()
}

const TWO: &str = r#""a": Clip(clip: "idle"), "b": Clip(clip: "walk", speed: "abs(x)"),"#;

#[test]
fn clocks_of_states_that_start_them_over_are_theirs_and_what_they_are_driven_by() {
    let machine = |entry: &str, way: &str| {
        guarded(&format!(
            r#"{TWO} "out": StateMachine(entry: "idle", states: {{
                "idle": (pose: "a"), "walk": (pose: "b"{entry})}},
                transitions: [(to: "walk", when: "go"), {way}])"#
        ))
    };
    let idle = "AdvanceClock k0: out.idle";
    let walk = ["ScalarOp Abs: out.walk", "AdvanceClock k1: out.walk"];
    assert_eq!(machine("", ""), [idle, walk[0], walk[1]]);
    // Where it goes on from where it was, it has to run meanwhile.
    assert_eq!(machine(", on_entry: Resume", ""), [idle]);
    // Its own state sees its end while it is there; another one always does.
    let end = |from: &str| format!(r#"(from: "{from}", to: "idle", at_end: "b")"#);
    assert_eq!(machine("", &end("walk")), [idle, walk[0], walk[1]]);
}

#[test]
fn what_more_than_one_state_needs_runs_in_all_of_them_and_what_others_read_always() {
    let out = |rest: &str, pose: &str| {
        guarded(&format!(
            r#"{TWO} "c": Clip(clip: "run"), "m": Blend(a: "b", b: "c", alpha: "x * y"),
            "sm": StateMachine(entry: "s", states: {{
                "s": (pose: "a"), "t": (pose: "b"), "u": (pose: "{pose}")}},
                transitions: [(to: "t", when: "go"), (to: "u", when: "x > 3")]),
            {rest}"#
        ))
    };
    let found = out(r#""out": Blend(a: "sm", b: "a", alpha: 0.5)"#, "m");
    let expected = [
        "ScalarOp Abs: sm.t, sm.u",
        "AdvanceClock k1: sm.t, sm.u",
        "AdvanceClock k2: sm.u",
        "ScalarOp Mul: sm.u",
    ];
    assert_eq!(found, expected);
    let found = out(r#""out": Blend(a: "sm", b: "m", alpha: "x * y")"#, "m");
    assert_eq!(found, ["AdvanceClock k0: sm.s"]);
}

/// A machine in the second state of another.
fn inner(entry: &str, clip: &str, rest: &str) -> Vec<String> {
    guarded(&format!(
        r#"{TWO} "c": Clip(clip: "run"{clip}), {rest}
        "in": StateMachine(entry: "s", states: {{"s": (pose: "b"), "t": (pose: "c")}},
            transitions: [(to: "t", when: "y > 1")]),
        "sm": StateMachine(entry: "s", states: {{"s": (pose: "a"), "t": (pose: "in"{entry})}},
            transitions: [(to: "t", when: "go"), (to: "s", when: "x > 3")]),
        "out": Blend(a: "sm", b: {}, alpha: "x")"#,
        if rest.is_empty() { "\"a\"" } else { "\"d\"" }
    ))
}

#[test]
fn a_machine_that_starts_over_rests_with_its_conditions_and_one_that_does_not_decides() {
    let clocks = ["ScalarOp Abs: in.s", "AdvanceClock k1: in.s", "AdvanceClock k2: in.t"];
    let machine = ["ScalarOp Greater: sm.t", "SelectState in: sm.t"];
    let lines = |of: &[&[&str]]| of.concat().iter().map(|l| (*l).to_owned()).collect::<Vec<_>>();
    let sorted = |mut of: Vec<String>| {
        of.sort();
        of
    };
    let rests = sorted(lines(&[&machine, &clocks]));
    assert_eq!(sorted(inner("", "", "")), rests);
    assert_eq!(sorted(inner("", ", sync: \"feet\"", "")), rests);
    // It goes on from where it was.
    assert_eq!(sorted(inner(", on_entry: Resume", "", "")), sorted(lines(&[&clocks])));
    // It may start a sync group over that somebody else is in.
    let other = r#""d": Clip(clip: "wave", sync: "feet"),"#;
    assert_eq!(sorted(inner("", ", sync: \"feet\"", other)), {
        let mut left = lines(&[&clocks]);
        left.push("AdvanceClock k0: sm.s".into());
        sorted(left)
    });
}
