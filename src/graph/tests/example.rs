//! A four-state machine, an additive layer and foot IK: thirteen tasks, of which eight run.

use super::assembler::*;
use super::*;
use crate::motion::PlayMode;

const CLIPS: [&str; 7] =
    ["idle", "walk_fwd", "walk_back", "run_fwd", "run_back", "jump", "aim_pose"];

fn program() -> Program {
    let mut a = Assembler::new("locomotion");
    let walks = a.param("walk", ParamKind::Bool);
    let runs = a.param("run", ParamKind::Bool);
    let jumps = a.param("jump", ParamKind::Trigger);
    let back = a.param("back", ParamKind::Float);
    let one = a.constant(1.0);
    let machine = a.select("gait");
    let idle = a.looped("idle");
    let (forward, backward) = (a.looped("walk_fwd"), a.looped("walk_back"));
    let walk = a.blend(forward, backward, back);
    let (forward, backward) = (a.looped("run_fwd"), a.looped("run_back"));
    let run = a.blend(forward, backward, back);
    let clock = a.clock("jump", PlayMode::Once, None);
    let jump = a.play(clock);
    for (name, pose) in [("idle", idle), ("walk", walk), ("run", run)] {
        a.state(machine, name, pose, &[]);
    }
    a.state(machine, "jump", jump, &[clock]);
    a.transition(machine, when(None, 3, jumps));
    a.transition(machine, when(None, 2, runs));
    a.transition(machine, when(None, 1, walks));
    let gait = a.eval(machine);
    let still = a.constant(0.0);
    let aim = a.held("aim_pose", still);
    let delta = a.pose(|dst| Op::MakeAdditive { source: aim, reference: None, space: LOCAL, dst });
    let layered =
        a.pose(|dst| Op::ApplyAdditive { base: gait, delta, alpha: one, space: LOCAL, dst });
    let [hips, root, mid, end] = ["bone0", "bone1", "bone2", "bone3"].map(|name| a.bone(name));
    let (source, leg) = (layered, LimbRef { root, mid, end });
    let feet = a.pose(|dst| Op::FootIk { source, hips, left: leg, right: leg, alpha: one, dst });
    a.output(feet)
}

#[test]
fn thirteen_tasks_are_recorded_and_those_of_the_state_that_runs_are_executed() {
    let c = character(Shape::plain(20), &CLIPS, 5);
    let bound = bind(program(), &c);
    let mut p = Player::new(&bound, &c);
    p.set("back", 0.3);
    p.set("run", 1.0);
    p.record(1.0 / 60.0);
    assert_eq!(p.state_of("gait"), 2);
    let kinds: Vec<_> = p.list.tasks().iter().map(|t| t.kind().name()).collect();
    let expected = [
        "SampleClip",
        "SampleClip",
        "SampleClip",
        "Blend",
        "SampleClip",
        "SampleClip",
        "Blend",
        "SampleClip",
        "Inertialize",
        "SampleClip",
        "MakeAdditive",
        "ApplyAdditive",
        "FootIk",
    ];
    assert_eq!(kinds, expected);
    assert_eq!(p.list.output().get(), Some(12));

    let (_, capture) = p.execute();
    let ran = |i: &usize| capture.tasks[*i].order.is_some();
    let executed: Vec<_> = (0..13).filter(ran).collect();
    assert_eq!(executed, [4, 5, 6, 8, 9, 10, 11, 12]);
    let stats = p.worker.take_stats();
    assert_eq!((stats.recorded, stats.reachable), (13, 8));
    assert_eq!((stats.copied_bytes, stats.buffers_peak), (0, 2));
    let buffer = |i: usize| capture.tasks[i].buffer.unwrap();
    assert!([6, 8, 11, 12].iter().all(|i| buffer(*i) == buffer(4) && capture.tasks[*i].stole));
    assert_eq!((buffer(9), buffer(10)), (buffer(5), buffer(5)));
    let live: Vec<_> = executed.iter().map(|i| capture.tasks[*i].live_buffers).collect();
    assert_eq!(live, [1, 2, 1, 1, 2, 2, 1, 1]);
}

#[test]
fn each_state_runs_its_own_branch() {
    let c = character(Shape::plain(20), &CLIPS, 6);
    let bound = bind(program(), &c);
    let mut p = Player::new(&bound, &c);
    let reachable = |p: &mut Player| {
        p.record(1.0 / 60.0);
        p.list.reachable_count()
    };
    p.set("back", 0.3);
    // Idle: its sample, and what lies above the machine.
    assert_eq!(reachable(&mut p), 1 + 5);
    p.set("walk", 1.0);
    assert_eq!(reachable(&mut p), 3 + 5);
    p.set("walk", 0.0);
    p.set("jump", 1.0);
    assert_eq!(reachable(&mut p), 1 + 5);
    assert_eq!(p.state_of("gait"), 3);
}

#[test]
fn states_that_are_not_current_add_no_task_to_what_is_executed() {
    let c = character(Shape::plain(20), &CLIPS, 7);
    let with = |states: usize| {
        let mut a = Assembler::new("many");
        let machine = a.select("gait");
        for i in 0..states {
            let pose = a.looped(CLIPS[i % 5]);
            a.state(machine, &format!("state{i}"), pose, &[]);
        }
        let pose = a.eval(machine);
        bind(a.output(pose), &c)
    };
    let executed = [1, 30].map(|states| {
        let bound = with(states);
        let mut p = Player::new(&bound, &c);
        let palette = p.step(0.01);
        assert_eq!(p.list.len(), states + 1);
        (p.worker.take_stats().executed_total(), palette)
    });
    assert_eq!(executed[0].0, 2);
    assert!(executed[0] == executed[1]);
}
