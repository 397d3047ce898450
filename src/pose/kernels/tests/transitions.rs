//! Transitions at every level against their scalar twins, bone by bone.

use super::*;
use crate::pose::kernels::history::History;
use crate::pose::kernels::{dead_blend, inertialize};

/// Begins a transition to a pose.
type Capture = fn(&Rig, &mut History, &Pose, BoneCount);
/// Carries it on: the pose, `elapsed` and `duration`.
type Apply = fn(Lanes, &Rig, &History, &mut Pose, BoneCount, (f32, f32));

const KINDS: [(&str, Capture, Apply); 2] = [
    ("inertialize", inertialize::capture, |lanes, rig, history, pose, active, (t, t1)| {
        inertialize::apply(lanes, rig.rest(), history, pose, active, t, t1);
    }),
    (
        "dead blend",
        |rig, history, _, active| dead_blend::capture(rig, history, active),
        |lanes, rig, history, pose, active, (t, t1)| {
            dead_blend::apply(lanes, rig.rest(), history, pose, active, t, t1);
        },
    ),
];

/// `elapsed` and `duration`, from the seam to where nothing is left.
const TIMES: [(f32, f32); 9] = [
    (0.0, 0.3),
    (0.004, 0.3),
    (0.1, 0.3),
    (0.299, 0.3),
    (0.3, 0.3),
    (0.0, 0.0),
    (0.0, 1e-38),
    (0.1, f32::INFINITY),
    (f32::NAN, 0.3),
];

/// Two poses of one clip 10 ms apart, remembered.
fn remembered(rig: &Rig, lanes: Lanes, active: BoneCount) -> History {
    let mut history = History::default();
    for seconds in [0.01, 0.02] {
        let pose = sampled(rig, lanes, 2, seconds, active);
        history.push(rig, &pose, active, 0.01);
    }
    history
}

/// How far the first `active` bones are off at most: sine of half the angle, and translation and
/// scale relative to one.
fn difference(rig: &Rig, a: &Pose, b: &Pose, active: BoneCount) -> f64 {
    let off = active.bones().map(|bone| {
        let (a, b) = (rig.pose_trs(a, bone), rig.pose_trs(b, bone));
        let turn = (a.rotation.normalize().conjugate() * b.rotation.normalize()).xyz().length();
        let vector = |a: glam::DVec3, b: glam::DVec3| (a - b).length() / (1.0 + b.length());
        assert!(a.rotation.is_finite() && a.translation.is_finite() && a.scale.is_finite());
        turn.max(vector(a.translation, b.translation)).max(vector(a.scale, b.scale))
    });
    off.fold(0.0, f64::max)
}

#[test]
fn every_level_agrees_with_the_scalar_twin_at_every_size_cut_and_time() {
    let scalar = Lanes::new(SimdLevel::Scalar).unwrap();
    for bones in COUNTS {
        for shape in Shape::all(bones) {
            let rig = rig(shape);
            for active in cuts(bones) {
                for (name, capture, apply) in KINDS {
                    let mut history = remembered(&rig, scalar, active);
                    let target = sampled(&rig, scalar, 3, 0.05, active);
                    capture(&rig, &mut history, &target, active);
                    for at in TIMES {
                        let run = |lanes| {
                            let mut pose = target.clone();
                            apply(lanes, &rig, &history, &mut pose, active, at);
                            pose
                        };
                        let expected = run(scalar);
                        for lanes in Lanes::all() {
                            let error = difference(&rig, &run(lanes), &expected, active);
                            let level = lanes.level();
                            assert!(
                                error < 3e-6,
                                "{name} {level} {shape:?} {active} {at:?} {error:e}"
                            );
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn turns_of_many_rounds_a_second_agree_too() {
    let scalar = Lanes::new(SimdLevel::Scalar).unwrap();
    for shape in Shape::all(40) {
        let rig = rig(shape);
        let all = rig.bone_count();
        // Clips that have nothing in common, a hundredth of a second apart.
        let [older, newer, target] = [1, 2, 3].map(|clip| sampled(&rig, scalar, clip, 0.03, all));
        for (name, capture, apply) in KINDS {
            let mut history = History::default();
            history.push(&rig, &older, all, 0.01);
            history.push(&rig, &newer, all, 0.01);
            capture(&rig, &mut history, &target, all);
            for at in TIMES {
                let run = |lanes| {
                    let mut pose = target.clone();
                    apply(lanes, &rig, &history, &mut pose, all, at);
                    pose
                };
                let expected = run(scalar);
                for lanes in Lanes::all() {
                    let error = difference(&rig, &run(lanes), &expected, all);
                    assert!(error < 1e-5, "{name} {} {shape:?} {at:?} {error:e}", lanes.level());
                }
            }
        }
    }
}

#[test]
fn a_change_in_next_to_no_time_leaves_a_finite_pose() {
    for shape in Shape::all(40) {
        let rig = rig(shape);
        let all = rig.bone_count();
        for lanes in Lanes::all() {
            let target = sampled(&rig, lanes, 3, 0.05, all);
            for ((_, capture, apply), dt) in
                KINDS.into_iter().flat_map(|k| [1e-3, 1e-9, 1e-20, 1e-37, 1e-45].map(|dt| (k, dt)))
            {
                let mut history = History::default();
                for clip in [1, 2] {
                    history.push(&rig, &sampled(&rig, lanes, clip, 0.03, all), all, dt);
                }
                capture(&rig, &mut history, &target, all);
                for at in [(0.0, 0.3), (1e-20, 0.3), (0.1, 0.3), (0.1, f32::INFINITY)] {
                    let mut pose = target.clone();
                    apply(lanes, &rig, &history, &mut pose, all, at);
                    // Asserts that both are finite.
                    difference(&rig, &pose, &target, all);
                }
            }
        }
    }
}

#[test]
fn bones_without_a_seam_are_at_the_target_whatever_lies_behind_the_cut() {
    for shape in Shape::all(40) {
        let rig = rig(shape);
        let all = rig.bone_count();
        for (lanes, known) in Lanes::all().flat_map(|l| [0, 1, 7, 8, 9, 17].map(|n| (l, n))) {
            let known = BoneCount(known);
            let target = sampled(&rig, lanes, 3, 0.05, all);
            for (name, capture, apply) in KINDS {
                let mut history = History::default();
                for seconds in [0.01, 0.02] {
                    let mut pose = sampled(&rig, lanes, 2, seconds, all);
                    for bone in all.bones().skip(known.get()) {
                        pose.set_rotation(bone, [f32::NAN; 4]);
                        pose.set_translation(bone, [f32::NAN; 3]);
                        pose.set_scale(bone, [f32::NAN; 3]);
                    }
                    history.push(&rig, &pose, known, 0.01);
                }
                capture(&rig, &mut history, &target, all);
                let mut pose = target.clone();
                apply(lanes, &rig, &history, &mut pose, all, (0.05, 0.3));
                let level = lanes.level();
                assert!(
                    known == BoneCount(0) || difference(&rig, &pose, &target, known) > 1e-3,
                    "{name} {level} {shape:?}: something is left in {known} bones"
                );
                for bone in all.bones().skip(known.get()) {
                    let (a, b) = (rig.pose_trs(&pose, bone), rig.pose_trs(&target, bone));
                    let same = a.translation == b.translation && a.scale == b.scale;
                    assert!(same, "{name} {level} {shape:?} {known} {bone:?}");
                    let b_turn = b.rotation.normalize();
                    let turn = (a.rotation - b_turn).length().min((a.rotation + b_turn).length());
                    assert!(turn < 1e-6 || a.rotation == b.rotation, "{name} {level} {turn:e}");
                }
            }
        }
    }
}

#[test]
fn offsets_that_inertialization_captured_are_no_pose_to_go_on_from() {
    let rig = rig(Shape::plain(40));
    let all = rig.bone_count();
    for lanes in Lanes::all() {
        let target = sampled(&rig, lanes, 3, 0.05, all);
        let mut history = remembered(&rig, lanes, all);
        dead_blend::capture(&rig, &mut history, all);
        inertialize::capture(&rig, &mut history, &target, all);
        let mut pose = target.clone();
        dead_blend::apply(lanes, rig.rest(), &history, &mut pose, all, 0.05, 0.3);
        assert!(difference(&rig, &pose, &target, all) < 1e-9, "{:?}", lanes.level());
        history.clear();
        inertialize::apply(lanes, rig.rest(), &history, &mut pose, all, 0.05, 0.3);
        assert!(difference(&rig, &pose, &target, all) < 1e-9, "{:?}", lanes.level());
    }
}

#[test]
fn groups_that_one_side_does_not_hold_start_where_they_were_and_end_at_the_target() {
    for shape in Shape::all(40) {
        let rig = rig(shape);
        let all = rig.bone_count();
        for lanes in Lanes::all() {
            let (still, moving) = (rig.reference().clone(), sampled(&rig, lanes, 2, 0.02, all));
            assert!(still.moved.is_empty() && !moving.moved.is_empty());
            for (from, to) in [(&still, &moving), (&moving, &still), (&still, &still)] {
                for (name, capture, apply) in KINDS {
                    let mut history = History::default();
                    history.push(&rig, from, all, 0.01);
                    history.push(&rig, from, all, 0.01);
                    capture(&rig, &mut history, to, all);
                    for (t, expected) in [(0.0, from), (0.3 - 1e-6, to)] {
                        let mut pose = to.clone();
                        apply(lanes, &rig, &history, &mut pose, all, (t, 0.3));
                        let error = difference(&rig, &pose, expected, all);
                        assert!(error < 1e-5, "{name} {} {shape:?} {t} {error:e}", lanes.level());
                    }
                }
            }
        }
    }
}
