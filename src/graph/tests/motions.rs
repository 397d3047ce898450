//! Clocks, sync groups, root motion and notifies of programs.

use super::assembler::*;
use super::*;
use crate::index::{BoneIndex, ClipId};
use crate::motion::{Fired, GroundMotion, Moment, NotifyId, PlayMode, RootLock, RootTrack};
use crate::pose::kernels::bone::BoneSpace;
use crate::task::Task;

const CLIPS: [&str; 4] = ["idle", "walk", "run", "wave"];

/// A character whose clips last 1, 1.2, 0.8 and 2 seconds; walking covers 1.5 m, running 3 m.
pub(super) fn thing() -> Character {
    let (skeleton, mut clips) = testing::character(Shape::plain(8), 4, 21);
    for ((clip, name), frames) in clips.iter_mut().zip(CLIPS).zip([31, 37, 25, 61]) {
        clip.name = name.into();
        let first: Vec<_> = clip.locals[..8].to_vec();
        clip.locals = (0..frames).flat_map(|_| first.clone()).collect();
        clip.frame_count = frames;
    }
    // The root goes along +Z; it has no parent and stands upright.
    let paces = [0.0, 1.25, 3.75, 0.0];
    for (clip, pace) in clips.iter_mut().zip(paces) {
        for (frame, locals) in clip.locals.chunks_mut(8).enumerate() {
            locals[0].translation.z += pace * frame as f32 / 30.0;
        }
    }
    let mut rig = Rig::new(skeleton.clone(), &clips).unwrap();
    let bindings = paces.iter().enumerate().map(|(at, pace)| {
        let clip = ClipId(at as u16);
        let track = RootTrack::of_clip(&rig, clip, BoneIndex(0), RootLock::Position).anchored(9.0);
        let pin = |seconds| RootLock::Position.pin(BoneIndex(0), track.taken(seconds));
        let moving = (*pace > 0.0).then(|| {
            let in_place = rig.add_in_place(clip, pin).unwrap();
            MovingClip { track: track.clone(), in_place }
        });
        ClipBinding { moving, ..ClipBinding::default() }
    });
    let clip_bindings = bindings.collect();
    Character { rig, skeleton, clips, clip_bindings }
}

/// The time at which the rig's clip is sampled, or the same clip in place.
fn seconds_of(list: &TaskList, clip: u16) -> f32 {
    let in_place = [None, Some(ClipId(4)), Some(ClipId(5)), None][usize::from(clip)];
    let of = |task: &Task| match *task {
        Task::SampleClip { clip: id, seconds } => {
            (id == ClipId(clip) || Some(id) == in_place).then_some(seconds)
        }
        _ => None,
    };
    list.tasks().iter().find_map(of).unwrap()
}

fn two(group: bool) -> (Assembler, PoseIn) {
    let mut a = Assembler::new("two");
    let x = a.param("x", ParamKind::Float);
    a.0.sync_groups.push("feet".into());
    let group = group.then_some(GroupId(0));
    let clocks = ["walk", "run"].map(|clip| a.clock(clip, PlayMode::Loop, group));
    let [walk, run] = clocks.map(|clock| a.play(clock));
    let pose = a.blend(walk, run, x);
    (a, pose)
}

#[test]
fn clips_in_a_sync_group_keep_step_at_the_weighted_mean_of_their_rates() {
    let c = thing();
    let (mut a, pose) = two(true);
    a.0.clocks[0].speed = 7.0;
    let bound = bind(a.output(pose), &c);
    let mut p = Player::new(&bound, &c);
    p.set("x", 0.25);
    p.record(0.1);
    let mut phase = seconds_of(&p.list, 1) / 1.2;
    for _ in 0..40 {
        p.record(0.05);
        let shares = [seconds_of(&p.list, 1) / 1.2, seconds_of(&p.list, 2) / 0.8];
        assert!((shares[0] - shares[1]).abs() < 1e-5);
        phase = (phase + 0.05 * (0.75 / 1.2 + 0.25 / 0.8)).fract();
        assert!((shares[0] - phase).abs() < 1e-4, "{shares:?} {phase}");
    }
}

#[test]
fn a_blend_covers_the_ground_of_its_parts() {
    let c = thing();
    let (a, pose) = two(false);
    let bound = bind(a.output(pose), &c);
    for (x, pace) in [(0.0, 1.25), (1.0, 3.75), (0.4, 0.6 * 1.25 + 0.4 * 3.75)] {
        let mut p = Player::new(&bound, &c);
        p.set("x", x);
        let mut sum = GroundMotion::IDENTITY;
        p.record(0.0);
        (0..100).for_each(|_| sum = sum.then(p.record(0.07)));
        assert!((sum.z - 7.0 * pace).abs() < 1e-3 && sum.x == 0.0, "{x}: {sum:?}");
    }
}

#[test]
fn layers_move_the_character_only_where_they_move_its_root() {
    let c = thing();
    for (others, covered) in [(0.0, 1.25), (1.0, 3.75)] {
        let mut a = Assembler::new("layers");
        let one = a.constant(1.0);
        a.bone("bone3");
        let entries = vec![MaskEntry { bone: BoneRef(0), weight: 1.0, subtree: true }];
        a.0.masks.push(MaskDesc { name: "arm".into(), others, entries });
        let (walk, run) = (a.looped("walk"), a.looped("run"));
        let mask = MaskRef(0);
        let layered = a.pose(|dst| Op::BlendMasked { a: walk, b: run, alpha: one, mask, dst });
        let delta =
            a.pose(|dst| Op::MakeAdditive { source: run, reference: None, space: LOCAL, dst });
        let added =
            a.pose(|dst| Op::ApplyAdditive { base: layered, delta, alpha: one, space: LOCAL, dst });
        let bound = bind(a.output(added), &c);
        let mut p = Player::new(&bound, &c);
        p.record(0.0);
        let motion = p.record(0.1);
        assert!((motion.z - 0.1 * covered).abs() < 1e-5, "{motion:?}");
    }
}

#[test]
fn a_root_that_is_never_locked_moves_nobody() {
    let c = thing();
    let (mut a, pose) = two(false);
    a.0.root.mode = RootMode::Never;
    let bound = bind(a.output(pose), &c);
    let mut p = Player::new(&bound, &c);
    p.record(0.0);
    assert_eq!((p.record(0.1), p.list.root_pin()), (GroundMotion::IDENTITY, None));
    let Task::SampleClip { clip, .. } = p.list.tasks()[0] else { panic!() };
    assert_eq!(clip, ClipId(1), "its own motion stays in the pose");
    let mut a = Assembler::new("always");
    a.0.root.mode = RootMode::Always;
    let pose = a.looped("idle");
    let bound = bind(a.output(pose), &c);
    let mut p = Player::new(&bound, &c);
    p.record(0.1);
    assert_eq!(p.list.root_pin().map(|pin| Some(pin.bone())), Some(bound.root()));
}

/// Idle and walk by the flag `walk`; steps at the walk's quarters, a trail over its middle.
fn stepper() -> Program {
    let mut a = Assembler::new("stepper");
    let walk = a.param("walk", ParamKind::Bool);
    let stop = a.scalar(ScalarFn::Not, walk, walk);
    let machine = a.select("gait");
    let idle = a.looped("idle");
    a.state(machine, "idle", idle, &[]);
    let clock = a.clock("walk", PlayMode::Loop, None);
    let pose = a.play(clock);
    a.state(machine, "walk", pose, &[clock]);
    a.transition(machine, when(Some(0), 1, walk));
    a.transition(machine, when(Some(1), 0, stop));
    let clip = a.clip("walk");
    use program::Moment::{Fraction, Seconds};
    for (name, at, until) in [
        ("step", Fraction(0.25), None),
        ("step", Seconds(0.9), None),
        ("trail", Fraction(0.4), Some(Fraction(0.6))),
    ] {
        a.0.notifies.push(NotifyDesc { name: name.into(), clip, at, until });
    }
    let pose = a.eval(machine);
    a.output(pose)
}

fn fired(p: &Player) -> Vec<(u16, Moment)> {
    p.scratch.fired().iter().map(|f| (f.id.0, f.moment)).collect()
}

#[test]
fn notifies_fire_from_the_branch_that_is_heard_and_a_span_ends_with_its_state() {
    let c = thing();
    let bound = bind(stepper(), &c);
    let mut p = Player::new(&bound, &c);
    for _ in 0..100 {
        p.record(0.1);
        assert!(p.scratch.fired().is_empty(), "an inactive branch is silent");
    }
    p.set("walk", 1.0);
    p.record(0.1);
    let mut all = Vec::new();
    for _ in 0..6 {
        p.record(0.1);
        all.extend(fired(&p));
    }
    let trail = |moment| (1, moment);
    let expected =
        [(0, Moment::Point), trail(Moment::Begin), trail(Moment::Tick), trail(Moment::Tick)];
    assert_eq!(all, expected);
    p.set("walk", 0.0);
    p.record(0.1);
    assert_eq!(fired(&p), [trail(Moment::End)]);
    p.record(0.1);
    assert!(p.scratch.fired().is_empty());
}

#[test]
fn a_notify_carries_the_weight_of_its_branch() {
    let c = thing();
    let (mut a, pose) = two(false);
    for clip in ["walk", "run"] {
        let clip = a.clip(clip);
        let at = program::Moment::Seconds(0.3);
        a.0.notifies.push(NotifyDesc { name: "step".into(), clip, at, until: None });
    }
    let bound = bind(a.output(pose), &c);
    let mut p = Player::new(&bound, &c);
    p.set("x", 0.25);
    p.record(0.0);
    p.record(0.35);
    let weights: Vec<f32> = p.scratch.fired().iter().map(|f| f.weight).collect();
    assert_eq!(weights, [0.75, 0.25]);
    p.set("x", 1.0);
    p.record(1.7);
    assert_eq!(p.scratch.fired().len(), 2, "the run's alone: {:?}", p.scratch.fired());
}

#[test]
fn large_steps_arrive_where_small_ones_do() {
    let c = thing();
    let run = |every: usize| {
        let mut a = stepper();
        a.machines[0].transitions.iter_mut().for_each(|t| t.duration = 0.25);
        let bound = bind(a, &c);
        let mut p = Player::new(&bound, &c);
        let (mut sum, mut steps) = (GroundMotion::IDENTITY, 0);
        for frame in 0..480 {
            p.set("walk", if frame / 120 % 2 == 0 { 1.0 } else { 0.0 });
            if (frame + 1) % every == 0 {
                sum = sum.then(p.record(every as f32 / 60.0));
                let points = |f: &&Fired| f.moment == Moment::Point;
                steps += p.scratch.fired().iter().filter(points).count();
            }
        }
        (sum.z, steps)
    };
    let (metres, steps) = run(1);
    assert!(metres > 4.0 && steps > 5, "{metres} m in {steps} steps");
    for every in [2, 3, 4] {
        let (m, s) = run(every);
        // A change of state is seen up to three frames later, and the clock of the state entered
        // stands for one evaluation.
        let late = 2.0 * (every as f32 / 60.0) * 1.25;
        assert!((m - metres).abs() <= 2.0 * late && s.abs_diff(steps) <= 1, "{m} {metres} {s}");
    }
}

#[test]
fn hidden_time_passes_without_notifies_and_without_motion() {
    let c = thing();
    let bound = bind(stepper(), &c);
    let mut p = Player::new(&bound, &c);
    p.set("walk", 1.0);
    p.record(0.1);
    for _ in 0..6 {
        p.record(0.1);
    }
    let before = seconds_of(&p.list, 1);
    let (scratch, list) = (&mut p.scratch, &mut p.list);
    bound.catch_up(&mut p.row, 100.03, scratch, list).unwrap();
    let expected = [Fired { id: NotifyId(1), moment: Moment::End, seconds: before, weight: 0.0 }];
    assert_eq!(p.scratch.fired(), expected, "what was open when it was last seen");
    let motion = p.record(0.0);
    assert_eq!((motion, p.state_of("gait")), (GroundMotion::IDENTITY, 1));
    let seconds = seconds_of(&p.list, 1);
    let wanted = (before + 100.03).rem_euclid(1.2);
    assert!((seconds - wanted).abs() < 1e-2, "{seconds} {wanted}");
    let motion = p.record(0.1);
    assert!((motion.z - 0.125).abs() < 1e-4, "{motion:?}");
}

#[test]
fn a_row_of_another_program_is_refused() {
    let c = thing();
    let bound = bind(stepper(), &c);
    let mut row = vec![0; bound.words() + 1];
    let needed = bound.words();
    let refused = EvaluateError::Row { words: needed + 1, needed };
    assert_eq!(bound.start(&mut row, 0.0), Err(refused));
    let mut list = TaskList::default();
    let scratch = &mut VmScratch::default();
    assert_eq!(bound.evaluate(&mut row, 0.1, scratch, &mut list), Err(refused));
    assert!(list.is_empty());
}

#[test]
fn a_crowd_may_start_out_of_step() {
    let c = thing();
    let (a, pose) = two(false);
    let bound = bind(a.output(pose), &c);
    let mut p = Player::new(&bound, &c);
    bound.start(&mut p.row, 0.5).unwrap();
    p.record(0.1);
    assert!((seconds_of(&p.list, 1) - 0.6).abs() < 1e-6, "it stands in its first evaluation");
    let (a, pose) = two(true);
    let bound = bind(a.output(pose), &c);
    let mut p = Player::new(&bound, &c);
    bound.start(&mut p.row, 0.25).unwrap();
    p.record(0.0);
    assert!((seconds_of(&p.list, 2) - 0.2).abs() < 1e-6);
}

#[test]
fn a_smoothed_value_halves_its_distance_in_a_half_life_however_time_is_cut() {
    let c = thing();
    let mut a = Assembler::new("smooth");
    let value = a.param("x", ParamKind::Float);
    let (half_life, dst) = (a.constant(0.2), a.scalar_out());
    a.0.smooths = 1;
    a.0.code.push(Op::Smooth { value, half_life, slot: SmoothId(0), dst });
    a.bone("bone1");
    let source = a.looped("idle");
    let zero = a.constant(0.0);
    let copy = a.scalar(ScalarFn::Add, dst.read(), zero);
    let offset = Vector(copy.0);
    a.constant(0.0);
    a.constant(0.0);
    let (bone, space) = (BoneRef(0), BoneSpace::Local);
    let alpha = a.constant(1.0);
    let pose = a.pose(|dst| Op::TranslateBone { source, bone, space, alpha, offset, dst });
    let bound = bind(a.output(pose), &c);
    for steps in [1, 2, 8] {
        let mut p = Player::new(&bound, &c);
        p.set("x", 1.0);
        p.record(0.1);
        p.set("x", 3.0);
        for _ in 0..steps {
            p.record(0.2 / steps as f32);
        }
        let Task::TranslateBone { offset, .. } = p.list.tasks()[1] else { panic!() };
        assert!((offset[0] - 2.0).abs() < 1e-4, "{offset:?}");
    }
}
