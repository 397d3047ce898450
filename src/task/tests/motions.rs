//! Solvers, by what they achieve.

use super::*;
use crate::index::BoneIndex;
use crate::pose::kernels::bone::{BoneMode, BoneSpace};
use crate::pose::kernels::ik::fabrik::Chain;
use crate::pose::kernels::ik::look_at::Gaze;
use crate::pose::kernels::ik::stand::Stance;
use crate::pose::kernels::ik::two_bone::{Limb, Reach};
use glam::{Quat, Vec3};

/// One task of every kind that reads `source`; parameters that leave a pose as it is.
pub(super) fn one_of_each(source: TaskIndex) -> Vec<Task> {
    let (a, b, alpha) = (source, source, 0.5);
    let space = AdditiveSpace::Local;
    let transition =
        Transition { history: HistoryId(0), elapsed: 0.1, duration: 0.2, dt: 0.02, capture: true };
    let limb = Limb { root: BoneIndex(1), mid: BoneIndex(2), end: BoneIndex(3) };
    let far = Vec3::NAN;
    vec![
        Task::ReferencePose,
        Task::SampleClip { clip: ClipId(77), seconds: 0.0 },
        Task::Blend { a, b, alpha },
        Task::BlendMasked { a, b, alpha, mask: MaskId(0) },
        Task::MakeAdditive { source, reference: b, space },
        Task::ApplyAdditive { base: a, delta: TaskIndex::NONE, alpha, space },
        Task::Inertialize { source, transition },
        Task::DeadBlend { source, transition },
        Task::SavePoseSnapshot { source, snapshot: SnapshotId(0) },
        Task::LoadPoseSnapshot { snapshot: SnapshotId(0) },
        Task::BoneTransform {
            source,
            bone: BoneIndex(1),
            space: BoneSpace::Component,
            mode: BoneMode::Additive,
            alpha,
            translation: [0.0; 3],
            rotation: [0.0, 0.0, 0.0, 1.0],
            scale: [1.0; 3],
        },
        Task::TranslateBone {
            source,
            bone: BoneIndex(1),
            space: BoneSpace::Local,
            alpha,
            offset: [0.0; 3],
        },
        Task::TwoBoneIk {
            source,
            limb,
            reach: Reach { target: far, pole: far, soften: 0.0, alpha },
        },
        Task::Fabrik {
            source,
            chain: Chain {
                root: BoneIndex(1),
                end: BoneIndex(3),
                target: far,
                iterations: 8,
                tolerance: 1e-3,
                alpha,
            },
            weights: MaskId::NONE,
        },
        Task::LookAt {
            source,
            gaze: Gaze { bone: BoneIndex(2), forward: Vec3::Z, target: far, limit: 3.0, alpha },
        },
        Task::FootIk { source, stance: Stance { hips: BoneIndex(0), legs: [limb; 2], alpha } },
    ]
}

#[test]
fn there_is_one_task_of_every_kind() {
    let kinds: Vec<_> = one_of_each(TaskIndex::NONE).iter().map(Task::kind).collect();
    assert_eq!(kinds, TaskKind::ALL);
}

/// A straight-ish limb of ten bones, 0.2 apart; the general class when `mirrored`.
fn limb(mirrored: bool) -> Character {
    let (_, clips) = testing::character(Shape::plain(10), 1, 1);
    let parents = (0..10u16).map(|b| b.checked_sub(1).map(BoneIndex)).collect();
    let bend = |b: usize| crate::math::Trs {
        translation: Vec3::Y * 0.2,
        rotation: Quat::from_rotation_x(if b.is_multiple_of(2) { 0.2 } else { -0.1 }),
        scale: if mirrored && b == 0 { Vec3::new(-1.0, 1.0, 1.0) } else { Vec3::ONE },
    };
    let entry = |b| crate::pose::PaletteEntry {
        bone: BoneIndex(b),
        bone_from_mesh: glam::Affine3A::IDENTITY,
    };
    let skeleton = Skeleton::new(crate::pose::skeleton::SkeletonParts {
        names: (0..10).map(|b| b.to_string()).collect(),
        parents,
        rest: (0..10).map(bend).collect(),
        model_from_root_parent: vec![glam::Affine3A::IDENTITY; 10],
        palette: (0..10).map(entry).collect(),
        low_detail_bone_count: BoneCount(10),
    })
    .unwrap();
    drop(clips);
    Character { rig: Rig::new(skeleton.clone(), &[]).unwrap(), skeleton, clips: Vec::new() }
}

/// Model positions of the joints after one task on the bind pose.
fn joints(c: &Character, task: Task) -> Vec<Vec3> {
    joints_with(c, task, &Masks::default())
}

fn joints_with(c: &Character, task: Task, masks: &Masks) -> Vec<Vec3> {
    let mut list = TaskList::default();
    let source = list.push(Task::ReferencePose).unwrap();
    assert_eq!(task.dependencies()[0], source, "the task under test reads the first one");
    let output = list.push(task).unwrap();
    list.set_output(output).unwrap();
    let mut worker = Worker::new(WorkerOptions::default());
    let mut palette = vec![Mat3x4::IDENTITY; c.rig.palette_len()];
    let mut batch = worker.batch();
    let mut context =
        Context { masks, state: &mut PoseState::default(), capture: None, kept: None };
    batch.execute_with(&c.rig, &mut list, &mut context, &mut palette).unwrap();
    batch.finish();
    assert!(palette.iter().all(Mat3x4::is_finite), "{task:?}");
    let place = |b| c.rig.model_from_bone(&palette, BoneIndex(b)).unwrap().translation.into();
    (0..c.skeleton.bone_count().0).map(place).collect()
}

const SOURCE: fn() -> TaskIndex = || TaskIndex::new(0).unwrap();

fn rest(c: &Character) -> Vec<Vec3> {
    let source = SOURCE();
    joints(c, Task::Blend { a: source, b: source, alpha: 0.0 })
}

fn two_bone(target: Vec3, soften: f32, alpha: f32) -> Task {
    let limb = Limb { root: BoneIndex(1), mid: BoneIndex(4), end: BoneIndex(8) };
    let reach = Reach { target, pole: Vec3::new(0.0, 0.5, 9.0), soften, alpha };
    Task::TwoBoneIk { source: SOURCE(), limb, reach }
}

fn fabrik(target: Vec3) -> Task {
    let chain = Chain {
        root: BoneIndex(1),
        end: BoneIndex(9),
        target,
        iterations: 60,
        tolerance: 1e-4,
        alpha: 1.0,
    };
    Task::Fabrik { source: SOURCE(), chain, weights: MaskId::NONE }
}

#[test]
fn solvers_reach_what_is_within_reach_and_keep_every_length() {
    for c in [limb(false), limb(true)] {
        let before = rest(&c);
        for target in
            [Vec3::new(0.3, 0.7, 0.4), Vec3::new(-0.2, 0.2, -0.5), Vec3::new(0.0, 1.0, 0.3)]
        {
            for (task, end) in [(two_bone(target, 0.0, 1.0), 8), (fabrik(target), 9)] {
                let after = joints(&c, task);
                let miss = after[end].distance(target);
                assert!(miss < 2e-3, "{:?} misses by {miss}: {after:?}", task.kind());
                for pair in 0..9 {
                    let length = |p: &[Vec3]| p[pair].distance(p[pair + 1]);
                    assert!((length(&before) - length(&after)).abs() < 1e-4);
                }
            }
        }
    }
}

#[test]
fn a_target_out_of_reach_straightens_the_limb_towards_it() {
    let c = limb(false);
    let target = Vec3::new(4.0, 3.0, 1.0);
    for (task, end, joints_between) in
        [(two_bone(target, 0.0, 1.0), 8, vec![4]), (fabrik(target), 9, vec![2, 5, 8])]
    {
        let after = joints(&c, task);
        let along = (target - after[1]).normalize();
        assert!((after[end] - after[1]).normalize().dot(along) > 0.9999, "{:?}", task.kind());
        for joint in joints_between {
            let aside = (after[joint] - after[1]).cross(along).length();
            assert!(aside < 2e-2, "{:?} joint {joint} lies {aside} aside", task.kind());
        }
    }
}

#[test]
fn targets_on_the_root_on_the_line_and_not_finite_leave_a_finite_pose() {
    for c in [limb(false), limb(true)] {
        let before = rest(&c);
        for target in [before[1], before[8], before[0], Vec3::ZERO, Vec3::splat(1e30)] {
            joints(&c, two_bone(target, 0.5, 1.0));
            joints(&c, fabrik(target));
        }
        for target in [Vec3::NAN, Vec3::INFINITY] {
            assert_eq!(joints(&c, two_bone(target, 0.0, 1.0)), before);
            assert_eq!(joints(&c, fabrik(target)), before);
        }
    }
}

/// Angle at a joint between the bones above and below it.
fn bend(points: &[Vec3], joint: usize) -> f32 {
    (points[joint] - points[joint - 1]).angle_between(points[joint + 1] - points[joint])
}

/// Joints of the chain with weights for its bones, the first of them bone 1's.
fn weighted(c: &Character, target: Vec3, weights: &[f32]) -> Vec<Vec3> {
    let mut masks = Masks::default();
    let weights: Vec<f32> = std::iter::once(1.0).chain(weights.iter().copied()).collect();
    let mask = masks.add_named("chain", c.skeleton.bone_count(), &weights).unwrap();
    let Task::Fabrik { source, chain, .. } = fabrik(target) else { unreachable!() };
    joints_with(c, Task::Fabrik { source, chain, weights: mask }, &masks)
}

#[test]
fn weights_of_a_chain_say_how_freely_each_bone_turns() {
    for c in [limb(false), limb(true)] {
        let before = rest(&c);
        let target = Vec3::new(0.3, 0.7, 0.4);
        let free = joints(&c, fabrik(target));
        assert_eq!(weighted(&c, target, &[1.0; 9]), free, "ones are no weights");
        assert_eq!(weighted(&c, target, &[]), free, "weights that are missing are ones");
        for none in [0.0, f32::NAN, -2.0] {
            let off = weighted(&c, target, &[none; 9]);
            let moved = off.iter().zip(&before).map(|(a, b)| a.distance(*b)).fold(0.0, f32::max);
            assert!(moved < 1e-5, "{none}: nothing turns, and {moved} moved");
        }
        // Bones 3 and 4 are stiff: the others reach for them, and the joints keep their angles.
        let stiff = weighted(&c, target, &[1.0, 1.0, 0.0, 0.0]);
        assert!(stiff[9].distance(target) < 2e-3, "{stiff:?}");
        for joint in [3, 4] {
            let angles = [&before, &stiff, &free].map(|p| bend(p, joint));
            assert!((angles[0] - angles[1]).abs() < 2e-3, "joint {joint}: {angles:?}");
            assert!((angles[0] - angles[2]).abs() > 2e-2, "it would have turned: {angles:?}");
        }
        for points in [&stiff, &weighted(&c, target, &[0.3, 0.9, 0.5, 0.1])] {
            for pair in 0..9 {
                let length = |p: &[Vec3]| p[pair].distance(p[pair + 1]);
                assert!((length(&before) - length(points)).abs() < 1e-4);
            }
        }
    }
}

#[test]
fn one_bone_with_a_weight_takes_that_part_of_its_turn() {
    let c = limb(false);
    let before = rest(&c);
    let target = before[1] + Vec3::new(0.0, 0.05, 0.3);
    let turn = |weight| {
        let chain = Chain {
            root: BoneIndex(1),
            end: BoneIndex(2),
            target,
            iterations: 20,
            tolerance: 0.0,
            alpha: 1.0,
        };
        let mut masks = Masks::default();
        let weights = masks.add(c.skeleton.bone_count(), &[1.0, weight]).unwrap();
        let after = joints_with(&c, Task::Fabrik { source: SOURCE(), chain, weights }, &masks);
        (after[2] - after[1]).angle_between(before[2] - before[1])
    };
    let full = (before[2] - before[1]).angle_between(target - before[1]);
    for weight in [0.0, 0.25, 0.5, 0.75, 1.0] {
        assert!(
            (turn(weight) - weight * full).abs() < 1e-3,
            "{weight}: {} of {full}",
            turn(weight)
        );
    }
}

#[test]
fn the_middle_joint_bends_towards_the_pole_and_alpha_fades_the_solution() {
    let c = limb(false);
    let target = Vec3::new(0.1, 0.6, 0.1);
    let after = joints(&c, two_bone(target, 0.0, 1.0));
    let middle = (after[1] + target) * 0.5;
    assert!((after[4] - middle).dot(Vec3::Z) > 0.1, "{after:?}");
    let before = rest(&c);
    assert_eq!(joints(&c, two_bone(target, 0.0, 0.0)), before);
    let half = joints(&c, two_bone(target, 0.0, 0.5))[8];
    assert!(half.distance(target) > 0.05 && half.distance(before[8]) > 0.05);
}

#[test]
fn a_softened_limb_never_quite_straightens() {
    let c = limb(false);
    let before = rest(&c);
    let length = before[1].distance(before[4]) + before[4].distance(before[8]);
    let target = before[1] + Vec3::new(0.0, 0.0, length);
    let reach = |soften| {
        let p = joints(&c, two_bone(target, soften, 1.0));
        p[1].distance(p[8])
    };
    assert!(reach(0.2) < reach(0.0) && reach(0.2) > 0.9 * reach(0.0));
}

#[test]
fn looking_turns_one_bone_up_to_its_limit() {
    for c in [limb(false), limb(true)] {
        let target = Vec3::new(2.0, 1.5, 1.0);
        let look = |limit| {
            let gaze = Gaze { bone: BoneIndex(5), forward: Vec3::Y, target, limit, alpha: 1.0 };
            joints(&c, Task::LookAt { source: SOURCE(), gaze })
        };
        let (before, free, held) = (rest(&c), look(f32::NAN), look(0.1));
        let direction = |p: &[Vec3]| (p[6] - p[5]).normalize();
        assert!(direction(&free).dot((target - free[5]).normalize()) > 0.9999);
        let turned = direction(&held).angle_between(direction(&before));
        assert!((turned - 0.1).abs() < 1e-3, "{turned}");
        assert_eq!(free[..6], before[..6]);
    }
}
