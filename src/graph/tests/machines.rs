//! State machines: which state, which task, which transition.

use super::assembler::*;
use super::*;
use crate::motion::PlayMode;
use crate::task::{Task, Transition};

pub(super) const CLIPS: [&str; 4] = ["idle", "walk", "run", "jump"];
const DT: f32 = 0.05;

fn thing(seed: u64) -> Character {
    character(Shape::plain(12), &CLIPS, seed)
}

/// Idle, walk and jump. The trigger `go` jumps; a jump ends in idle.
fn walker(change: impl Fn(&mut Assembler, MachineId)) -> Program {
    let mut a = Assembler::new("walker");
    let (walk, go) = (a.param("walk", ParamKind::Bool), a.param("go", ParamKind::Trigger));
    let stop = a.scalar(ScalarFn::Not, walk, walk);
    let machine = a.select("gait");
    for clip in ["idle", "walk"] {
        let pose = a.looped(clip);
        a.state(machine, clip, pose, &[]);
    }
    let clock = a.clock("jump", PlayMode::Once, None);
    let jump = a.play(clock);
    a.state(machine, "jump", jump, &[clock]);
    let back = when(Some(2), 0, stop);
    a.transition(
        machine,
        TransitionDesc { condition: None, at_end: Some(AtEnd { clock, before: 0.0 }), ..back },
    );
    a.transition(machine, when(None, 2, go));
    a.transition(machine, when(Some(0), 1, walk));
    a.transition(machine, when(Some(1), 0, stop));
    change(&mut a, machine);
    let pose = a.eval(machine);
    a.output(pose)
}

/// The transitions of the list's machines and seams, with the task they are on.
fn transitions(list: &TaskList) -> Vec<(usize, Transition)> {
    let of = |task: &Task| match *task {
        Task::Inertialize { source, transition } | Task::DeadBlend { source, transition } => {
            Some((source.get().unwrap(), transition))
        }
        _ => None,
    };
    list.tasks().iter().filter_map(of).collect()
}

fn seconds_of(list: &TaskList, at: usize) -> f32 {
    match list.tasks()[at] {
        Task::SampleClip { seconds, .. } => seconds,
        ref other => panic!("{other:?}"),
    }
}

#[test]
fn a_state_entered_now_samples_a_clock_that_was_reset_now() {
    let c = thing(1);
    let bound = bind(walker(|_, _| ()), &c);
    let mut p = Player::new(&bound, &c);
    for _ in 0..7 {
        p.record(DT);
    }
    assert!(seconds_of(&p.list, 2) > 0.0, "it has run on, unheard");
    p.set("go", 1.0);
    p.record(DT);
    assert_eq!((p.state_of("gait"), seconds_of(&p.list, 2)), (2, 0.0));
    p.record(DT);
    assert_eq!(seconds_of(&p.list, 2), DT);
}

#[test]
fn one_task_depends_on_the_current_state_and_its_transition_advances_while_recording() {
    let c = thing(2);
    let bound = bind(walker(|_, _| ()), &c);
    let mut p = Player::new(&bound, &c);
    p.record(DT);
    let [(on, first)] = transitions(&p.list)[..] else { panic!() };
    assert!(on == 0 && first.elapsed.is_nan() && !first.capture && first.dt.is_nan());
    p.set("walk", 1.0);
    let mut elapsed = Vec::new();
    for frame in 0..6 {
        p.record(DT);
        let [(on, t)] = transitions(&p.list)[..] else { panic!() };
        assert_eq!((on, t.capture, t.duration, t.dt), (1, frame == 0, 0.2, DT));
        elapsed.push(t.elapsed);
        assert!(!p.list.is_reachable(crate::task::TaskIndex::new(0).unwrap()));
    }
    assert_eq!(elapsed[..2], [0.0, DT]);
    assert!((elapsed[3] - 3.0 * DT).abs() < 1e-6 && elapsed[4].is_nan() && elapsed[5].is_nan());
}

#[test]
fn a_transition_takes_over_from_another_unless_it_is_told_to_wait() {
    for waits in [false, true] {
        let c = thing(3);
        let bound = bind(
            walker(|a, machine| {
                a.0.machines[machine.get()].transitions.iter_mut().for_each(|t| {
                    t.interrupts = !waits;
                });
            }),
            &c,
        );
        let mut p = Player::new(&bound, &c);
        p.record(DT);
        p.set("walk", 1.0);
        p.record(DT);
        p.set("walk", 0.0);
        let mut states = Vec::new();
        for _ in 0..5 {
            p.record(DT);
            let t = transitions(&p.list)[0].1;
            states.push((p.state_of("gait"), t.capture));
        }
        match waits {
            false => assert_eq!(states[..2], [(0, true), (0, false)]),
            true => assert_eq!(states[2..], [(1, false), (0, true), (0, false)]),
        }
    }
}

#[test]
fn the_pose_goes_on_from_where_it_was_when_a_state_changes() {
    let c = thing(4);
    for style in [TransitionStyle::Inertialize, TransitionStyle::DeadBlend] {
        let program = walker(|a, machine| {
            let transitions = &mut a.0.machines[machine.get()].transitions;
            transitions.iter_mut().for_each(|t| t.style = style);
        });
        let bound = bind(program, &c);
        let mut p = Player::new(&bound, &c);
        // From the second frame on: before there was a pose, a transition can only snap.
        for frames in [1, 2, 9] {
            for (walk, change) in [(0.0, 1.0), (1.0, 0.0)] {
                p.set("walk", walk);
                let before = (0..frames).map(|_| p.step(DT)).last().unwrap();
                p.set("walk", change);
                let after = p.step(DT);
                let exact: Vec<_> = before.iter().map(|m| m.to_affine().as_daffine3()).collect();
                let error = testing::difference(&after, &exact);
                assert!(error < 1e-4, "{style:?} after {frames} frames: {error}");
            }
        }
    }
}

#[test]
fn transitions_wait_for_their_time_and_for_a_clips_end() {
    let c = thing(5);
    let bound =
        bind(walker(|a, machine| a.0.machines[machine.get()].transitions[2].min_time = 0.12), &c);
    let mut p = Player::new(&bound, &c);
    p.set("walk", 1.0);
    let states: Vec<_> = (0..5)
        .map(|_| {
            p.record(DT);
            p.state_of("gait")
        })
        .collect();
    // Seconds in state: 0, 0.05, 0.1, 0.15.
    assert_eq!(states, [0, 0, 0, 1, 1]);
    p.set("go", 1.0);
    let length = c.rig.clip(crate::index::ClipId(3)).unwrap().seconds();
    let frames = (length / DT).ceil() as usize;
    for frame in 0..=frames {
        p.record(DT);
        assert_eq!(p.state_of("gait"), 2, "frame {frame} of {frames}");
    }
    p.record(DT);
    assert_eq!(p.state_of("gait"), 0);
}

#[test]
fn a_loop_is_at_its_end_in_the_evaluation_after_it_passed_it() {
    let c = thing(6);
    let mut a = Assembler::new("looping");
    let machine = a.select("gait");
    let clock = a.clock("walk", PlayMode::Loop, None);
    let walk = a.play(clock);
    a.state(machine, "walk", walk, &[clock]);
    let idle = a.looped("idle");
    a.state(machine, "idle", idle, &[]);
    let one = a.constant(1.0);
    let end = Some(AtEnd { clock, before: 0.0 });
    a.transition(machine, TransitionDesc { condition: None, at_end: end, ..when(None, 1, one) });
    let pose = a.eval(machine);
    let bound = bind(a.output(pose), &c);
    let mut p = Player::new(&bound, &c);
    let length = c.rig.clip(crate::index::ClipId(1)).unwrap().seconds();
    p.record(0.0);
    p.record(0.9 * length);
    p.record(0.05 * length);
    assert_eq!(p.state_of("gait"), 0);
    p.record(0.1 * length);
    assert_eq!(p.state_of("gait"), 0, "passed in this one");
    p.record(0.0);
    assert_eq!(p.state_of("gait"), 1);
}

#[test]
fn any_state_goes_to_others_only_and_the_first_of_several_is_taken() {
    let c = thing(7);
    let mut a = Assembler::new("order");
    let (x, y) = (a.param("x", ParamKind::Bool), a.param("y", ParamKind::Bool));
    let machine = a.select("gait");
    for clip in ["idle", "walk", "run"] {
        let clock = a.clock(clip, PlayMode::Loop, None);
        let pose = a.play(clock);
        a.state(machine, clip, pose, &[clock]);
    }
    a.transition(machine, when(None, 1, x));
    a.transition(machine, when(None, 2, y));
    let pose = a.eval(machine);
    let bound = bind(a.output(pose), &c);
    let mut p = Player::new(&bound, &c);
    p.set("x", 1.0);
    p.set("y", 1.0);
    p.record(DT);
    assert_eq!(p.state_of("gait"), 1, "the first one");
    p.record(DT);
    assert_eq!(p.state_of("gait"), 2, "not from itself to itself");
    p.record(DT);
    assert_eq!((p.state_of("gait"), transitions(&p.list)[0].1.capture), (1, true));

    let again = walker(|a, machine| {
        let transition = &mut a.0.machines[machine.get()].transitions[1];
        transition.from = Some(StateId(2));
        let first = TransitionDesc { from: Some(StateId(0)), ..*transition };
        a.transition(machine, first);
    });
    let bound = bind(again, &c);
    let mut p = Player::new(&bound, &c);
    p.set("go", 1.0);
    p.record(0.01);
    p.record(0.01);
    p.set("go", 1.0);
    p.record(0.01);
    assert_eq!((p.state_of("gait"), seconds_of(&p.list, 2)), (2, 0.0), "entered anew");
    assert!(transitions(&p.list)[0].1.capture);
}

#[test]
fn a_trigger_is_seen_by_one_evaluation() {
    let c = thing(8);
    let bound = bind(walker(|_, _| ()), &c);
    let mut p = Player::new(&bound, &c);
    p.set("go", 1.0);
    p.record(DT);
    let go = bound.program().param("go").unwrap();
    assert_eq!((p.state_of("gait"), bound.param(&p.row, go)), (2, Some(0.0)));
    p.set("walk", 1.0);
    p.record(DT);
    let walk = bound.program().param("walk").unwrap();
    assert_eq!(bound.param(&p.row, walk), Some(1.0), "a flag stays");
}

/// A machine whose second state is a machine; `resets` says whether that starts over.
fn nested(resets: bool) -> Program {
    let mut a = Assembler::new("nested");
    let (inside, turn) = (a.param("inside", ParamKind::Bool), a.param("turn", ParamKind::Bool));
    let outside = a.scalar(ScalarFn::Not, inside, inside);
    let outer = a.select("outer");
    let inner = a.select("inner");
    for clip in ["walk", "run"] {
        let pose = a.looped(clip);
        a.state(inner, clip, pose, &[]);
    }
    a.transition(inner, when(None, 1, turn));
    let pose = a.eval(inner);
    let idle = a.looped("idle");
    a.state(outer, "idle", idle, &[]);
    a.state(outer, "moving", pose, &[]);
    if resets {
        a.0.machines[outer.get()].states[1].machines.push(inner);
    }
    a.transition(outer, when(Some(0), 1, inside));
    a.transition(outer, when(Some(1), 0, outside));
    let pose = a.eval(outer);
    a.output(pose)
}

#[test]
fn a_machine_that_nobody_saw_has_an_old_pose_and_no_velocity() {
    let c = thing(9);
    for resets in [false, true] {
        let bound = bind(nested(resets), &c);
        let mut p = Player::new(&bound, &c);
        p.set("turn", 1.0);
        for frame in 0..8 {
            p.step(DT);
            // The inner one records its transition; nobody executes it.
            let t = transitions(&p.list)[0].1;
            assert!(t.dt.is_nan() && t.capture == (frame == 0));
        }
        assert_eq!(p.state_of("inner"), 1);
        if resets {
            p.set("turn", 0.0);
        }
        p.set("inside", 1.0);
        p.step(DT);
        assert_eq!(p.state_of("inner"), usize::from(!resets));
        let inner = |p: &Player| transitions(&p.list)[0].1;
        assert!(inner(&p).dt.is_nan(), "its history is as old as its last appearance");
        p.step(DT);
        assert_eq!(inner(&p).dt, DT);
    }
}

#[test]
fn a_state_that_snaps_leaves_no_velocity_behind() {
    let c = thing(10);
    let bound =
        bind(walker(|a, machine| a.0.machines[machine.get()].transitions[2].duration = 0.0), &c);
    let mut p = Player::new(&bound, &c);
    p.step(DT);
    p.step(DT);
    p.set("walk", 1.0);
    let snapped = p.step(DT);
    let t = transitions(&p.list)[0].1;
    assert!(t.elapsed.is_nan() && t.dt.is_nan() && !t.capture);
    let direct = c.rig.sample_palette(crate::index::ClipId(1), seconds_of(&p.list, 1));
    let exact: Vec<_> = direct.iter().map(|m| m.to_affine().as_daffine3()).collect();
    assert!(testing::difference(&snapped, &exact) < 1e-5);
}

#[test]
fn a_seam_outside_of_machines_begins_when_its_trigger_rises() {
    let c = thing(11);
    for dead in [false, true] {
        let mut a = Assembler::new("seam");
        let up = a.param("up", ParamKind::Bool);
        let (x, duration) = (a.param("x", ParamKind::Float), a.constant(0.12));
        let (idle, run) = (a.looped("idle"), a.looped("run"));
        let source = a.blend(idle, run, x);
        let seam = SeamId(0);
        a.0.seams = 1;
        let pose = a.pose(|dst| match dead {
            false => Op::Inertialize { source, seam, trigger: up, duration, dst },
            true => Op::DeadBlend { source, seam, trigger: up, duration, dst },
        });
        let bound = bind(a.output(pose), &c);
        let mut p = Player::new(&bound, &c);
        p.step(DT);
        let before = p.step(DT);
        p.set("up", 1.0);
        p.set("x", 1.0);
        let after = p.step(DT);
        let exact: Vec<_> = before.iter().map(|m| m.to_affine().as_daffine3()).collect();
        assert!(testing::difference(&after, &exact) < 1e-4);
        let mut elapsed = Vec::new();
        for _ in 0..3 {
            p.step(DT);
            let t = transitions(&p.list)[0].1;
            assert!(!t.capture, "it is still up");
            elapsed.push(t.elapsed);
        }
        assert!((elapsed[1] - 2.0 * DT).abs() < 1e-6 && elapsed[2].is_nan(), "{elapsed:?}");
        p.set("up", 0.0);
        p.step(DT);
        p.set("up", 1.0);
        p.step(DT);
        assert!(transitions(&p.list)[0].1.capture);
    }
}
