//! How fast sync groups run: what a file says, what of it is refused, what becomes of it in another
//! program.

use super::motions::thing;
use super::*;
use crate::task::Task;

/// A walk (1.2 s) beside a machine that starts another clip of its group over, with speeds.
fn text(speeds: &str) -> String {
    format!(
        r#"(version: 1, sync_groups: ["gait"], {speeds}
        parameters: {{ "speed": Float(default: 1), "go": Bool() }},
        nodes: {{
            "walk": Clip(clip: "walk", sync: "gait"),
            "still": Bind,
            "run": Clip(clip: "run", sync: "gait"),
            "gait": StateMachine(entry: "still", states: {{
                "still": (pose: "still"), "run": (pose: "run"),
            }}, transitions: [(to: "run", when: "go"), (to: "still", when: "!go && speed > -9")]),
            "out": Blend(a: "walk", b: "gait", alpha: 0.25),
        }}, output: "out")"#
    )
}

const BY_SPEED: &str = r#"sync_speeds: {"gait": "speed * 0.5"},"#;

fn compiled(text: &str) -> Program {
    compile("graph.ron", text).unwrap_or_else(|e| panic!("{e}")).program.into_inner()
}

/// How far the walk goes in an evaluation of 0.01 seconds.
fn step(p: &mut Player<'_>) -> f32 {
    let seconds = |p: &Player<'_>| match p.list.tasks()[0] {
        Task::SampleClip { seconds, .. } => seconds,
        ref other => panic!("{other:?}"),
    };
    let before = if p.list.is_empty() { 0.0 } else { seconds(p) };
    p.record(0.01);
    let went = (seconds(p) - before).rem_euclid(1.2);
    if went > 0.6 { went - 1.2 } else { went }
}

#[test]
fn a_group_is_as_fast_as_its_file_says_from_the_next_evaluation_on() {
    let c = thing();
    let bound = bind(compiled(&text(BY_SPEED)), &c);
    let speed = bound.program().param("speed").unwrap();
    let mut p = Player::new(&bound, &c);
    p.record(0.01);
    for (value, factor) in [(1.0, 0.5), (3.0, 1.5), (-1.0, -0.5), (0.0, 0.0)] {
        bound.set_param(&mut p.row, speed, value);
        p.record(0.01);
        for _ in 0..50 {
            let went = step(&mut p);
            assert!((went - 0.01 * factor).abs() < 1e-5, "{value}: {went}");
        }
    }
    // What nobody limits is limited, and no number is none.
    bound.set_param(&mut p.row, speed, 1e30);
    for _ in 0..4 {
        step(&mut p);
    }
    let Task::SampleClip { seconds, .. } = p.list.tasks()[0] else { panic!() };
    assert!((0.0..=1.2).contains(&seconds), "{seconds}");
}

#[test]
fn a_group_is_paced_once_whoever_plays_and_needs_no_clock_for_it() {
    let program = compiled(&text(BY_SPEED));
    let paces = |p: &Program| p.code.iter().filter(|op| op.name() == "PaceGroup").count();
    assert_eq!(paces(&program), 1, "of two members");
    let listing = Listing(&program.clone().validate().unwrap()).to_string();
    let line = listing.lines().find(|line| line.contains("PaceGroup")).unwrap();
    assert!(line.contains("group=gait speed=s"), "{line}");
    assert!(!line.contains(';'), "it waits for no state: {line}");
    for none in ["", r#"sync_speeds: {"gait": 1},"#, r#"sync_speeds: {"gait": "2 / 2"},"#] {
        assert_eq!(paces(&compiled(&text(none))), 0, "{none}");
    }
    assert_eq!(paces(&compiled(&text(r#"sync_speeds: {"gait": 0.5},"#))), 1);
    let mut twice = program;
    let at = twice.code.iter().position(|op| op.name() == "PaceGroup").unwrap();
    twice.code.insert(at, twice.code[at]);
    assert_eq!(
        twice.clone().validate().unwrap_err().to_string(),
        "program \"graph\", the code: sync group 0 may have one PaceGroup, it has 2"
    );
    let Op::PaceGroup { group, .. } = &mut twice.code[at] else { panic!() };
    *group = GroupId(1);
    let line = "(PaceGroup): there is no sync group 1, only 1";
    assert!(twice.validate().unwrap_err().to_string().ends_with(line));
}

#[test]
fn speeds_of_groups_that_are_not_there_or_too_fast_are_refused() {
    let said = |speeds: &str| compile("graph.ron", &text(speeds)).unwrap_err().to_string();
    let unknown = said(r#"sync_speeds: {"gate": 1},"#);
    assert!(unknown.contains("sync group `gate`") && unknown.contains("gait"), "{unknown}");
    let fast = said(r#"sync_speeds: {"gait": 1001},"#);
    assert!(fast.contains("the speed of the sync group `gait`"), "{fast}");
    assert!(fast.contains("a clip runs 1000 times as fast at most"), "{fast}");
    let asks = said(r#"sync_speeds: {"gait": "sped"},"#);
    assert!(asks.contains("`sped`") && asks.contains("speed"), "{asks}");
}

#[test]
fn a_speed_may_ask_what_its_members_do() {
    let c = thing();
    // Half as fast in the second half.
    let speed = r#"sync_speeds: {"gait": "if(clip_time(walk) > 0.6, 0.5, 1)"},"#;
    let bound = bind(compiled(&text(speed)), &c);
    let mut p = Player::new(&bound, &c);
    p.record(0.01);
    let mut seconds = [0.0_f32; 2];
    for _ in 0..180 {
        let Task::SampleClip { seconds: at, .. } = p.list.tasks()[0] else { panic!() };
        seconds[usize::from(at > 0.6)] += 0.01;
        step(&mut p);
    }
    assert!((seconds[1] - 2.0 * seconds[0]).abs() < 0.05, "{seconds:?}");
}

#[test]
fn a_speed_does_not_outlive_the_file_that_said_it() {
    let c = thing();
    let [old, without] = [BY_SPEED, ""].map(|speeds| bind(compiled(&text(speeds)), &c));
    let same = bind(compiled(&text(BY_SPEED).replace("0.25", "0.5")), &c);
    for (new, factor) in [(&same, 0.5), (&without, 1.0)] {
        let mut p = Player::new(&old, &c);
        for _ in 0..40 {
            step(&mut p);
        }
        let mut q = Player::new(new, &c);
        Succession::new(&old, new).pass_on(&mut p.row, &mut q.row, 0.0, |_| ()).unwrap();
        q.record(0.0);
        assert!((step(&mut q) - 0.01 * factor).abs() < 1e-5);
    }
}
