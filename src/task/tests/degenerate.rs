//! Every kind of task where its numbers are at their worst, at every level.

use super::*;
use crate::math::Trs;
use crate::pose::GroundPatch;
use crate::pose::kernels::bone::BoneMode;
use crate::pose::kernels::ik::fabrik::Chain;
use crate::pose::kernels::ik::look_at::Gaze;
use crate::pose::kernels::ik::stand::Stance;
use crate::pose::kernels::ik::two_bone::{Limb, Reach};
use crate::pose::skeleton::SkeletonParts;
use crate::pose::testing::DTrs;
use glam::{Quat, Vec2, Vec3};

/// A chain of bones that stand at `rest`, with a clip of one frame for each of `poses`.
fn chain(rest: &[Trs], poses: &[Vec<Trs>]) -> Character {
    let n = rest.len() as u16;
    let entry = |b| crate::pose::PaletteEntry {
        bone: BoneIndex(b),
        bone_from_mesh: glam::Affine3A::IDENTITY,
    };
    let skeleton = Skeleton::new(SkeletonParts {
        names: (0..n).map(|b| b.to_string()).collect(),
        parents: (0..n).map(|b| b.checked_sub(1).map(BoneIndex)).collect(),
        rest: rest.to_vec(),
        model_from_root_parent: vec![glam::Affine3A::IDENTITY; rest.len()],
        palette: (0..n).map(entry).collect(),
        low_detail_bone_count: BoneCount(n),
    })
    .unwrap();
    let clip = |(at, locals): (usize, &Vec<Trs>)| UniformClip {
        name: at.to_string(),
        rate_hz: 30.0,
        frame_count: 1,
        locals: locals.clone(),
        max_error_m: 0.0,
    };
    let clips: Vec<_> = poses.iter().enumerate().map(clip).collect();
    Character { rig: Rig::new(skeleton.clone(), &clips).unwrap(), skeleton, clips }
}

fn bent(turn: f32) -> Vec<Trs> {
    let local = |b: usize| Trs {
        translation: Vec3::Y * 0.2,
        rotation: Quat::from_rotation_x(turn * (b % 3) as f32) * Quat::from_rotation_z(0.1),
        scale: Vec3::ONE,
    };
    (0..9).map(local).collect()
}

/// The limb's target, out of the way of its rest pose and within reach.
const TARGET: Vec3 = Vec3::new(0.3, 0.9, 0.3);

/// Recipes of one kind over samples `a` and `b` of clips 0 and 1, with an alpha.
type Recipe = (TaskKind, fn(TaskIndex, TaskIndex, f32, &mut TaskList) -> Task);

const WITH_ALPHA: [Recipe; 11] = [
    (TaskKind::Blend, |a, b, alpha, _| Task::Blend { a, b, alpha }),
    (TaskKind::BlendMasked, |a, b, alpha, _| Task::BlendMasked { a, b, alpha, mask: MaskId(0) }),
    (TaskKind::ApplyAdditive, |a, b, alpha, list| added(a, b, alpha, AdditiveSpace::Local, list)),
    (TaskKind::ApplyAdditive, |a, b, alpha, list| added(a, b, alpha, AdditiveSpace::Mesh, list)),
    (TaskKind::BoneTransform, |source, _, alpha, _| {
        bone_transform(source, alpha, BoneMode::Additive)
    }),
    (TaskKind::BoneTransform, |source, _, alpha, _| {
        bone_transform(source, alpha, BoneMode::Override)
    }),
    (TaskKind::TranslateBone, |source, _, alpha, _| Task::TranslateBone {
        source,
        bone: BoneIndex(3),
        space: BoneSpace::Component,
        alpha,
        offset: [0.1, 0.2, -0.1],
    }),
    (TaskKind::TwoBoneIk, |source, _, alpha, _| Task::TwoBoneIk {
        source,
        limb: LIMB,
        reach: Reach { target: TARGET, pole: Vec3::Z, soften: 0.1, alpha },
    }),
    (TaskKind::Fabrik, |source, _, alpha, _| Task::Fabrik {
        source,
        chain: Chain {
            root: BoneIndex(1),
            end: BoneIndex(7),
            target: TARGET,
            iterations: 8,
            tolerance: 0.0,
            alpha,
        },
        weights: MaskId(0),
    }),
    (TaskKind::LookAt, |source, _, alpha, _| Task::LookAt {
        source,
        gaze: Gaze { bone: BoneIndex(2), forward: Vec3::Z, target: TARGET, limit: f32::NAN, alpha },
    }),
    (TaskKind::FootIk, |source, _, alpha, _| Task::FootIk {
        source,
        stance: Stance { hips: BoneIndex(0), legs: [LIMB; 2], alpha },
    }),
];

/// Under everybody who stands.
const GROUND: GroundPatch = GroundPatch {
    origin: Vec3::new(0.1, -0.2, 0.0),
    slope: Vec2::new(0.2, -0.15),
    bend: Vec3::new(0.1, 0.05, -0.1),
};
const LIMB: Limb = Limb { root: BoneIndex(1), mid: BoneIndex(4), end: BoneIndex(7) };

fn added(
    base: TaskIndex,
    source: TaskIndex,
    alpha: f32,
    space: AdditiveSpace,
    list: &mut TaskList,
) -> Task {
    let reference = TaskIndex::NONE;
    let delta = list.push(Task::MakeAdditive { source, reference, space }).unwrap();
    Task::ApplyAdditive { base, delta, alpha, space }
}

fn bone_transform(source: TaskIndex, alpha: f32, mode: BoneMode) -> Task {
    Task::BoneTransform {
        source,
        bone: BoneIndex(3),
        space: BoneSpace::Local,
        mode,
        alpha,
        translation: [0.0, 0.3, 0.1],
        rotation: [0.3, 0.0, 0.0, 1.0],
        scale: [1.0; 3],
    }
}

pub(super) fn run(
    c: &Character,
    lanes: Lanes,
    list: &mut TaskList,
    state: &mut PoseState,
) -> Vec<Mat3x4> {
    let mut masks = Masks::default();
    masks.add(c.skeleton.bone_count(), &[1.0, 0.5, 1.0]).unwrap();
    let mut worker = Worker::new(WorkerOptions { lanes, ..WorkerOptions::default() });
    let mut palette = vec![Mat3x4::IDENTITY; c.rig.palette_len()];
    let mut context = Context { masks: &masks, state, capture: None, kept: None };
    let mut batch = worker.batch();
    batch.execute_with(&c.rig, list, &mut context, &mut palette).unwrap();
    batch.finish();
    palette
}

fn apart(a: &[Mat3x4], b: &[Mat3x4]) -> f64 {
    let b: Vec<_> = b.iter().map(|m| m.to_affine().as_daffine3()).collect();
    testing::difference(a, &b)
}

#[test]
fn alpha_at_and_beyond_its_ends_is_the_end_for_every_kind_that_has_one() {
    let c = chain(&bent(0.2), &[bent(0.2), bent(-0.5)]);
    for lanes in Lanes::all() {
        for (kind, recipe) in WITH_ALPHA {
            let at = |alpha: f32| {
                let mut list = TaskList::default();
                let [a, b] = [0, 1].map(|clip| {
                    list.push(Task::SampleClip { clip: ClipId(clip), seconds: 0.0 }).unwrap()
                });
                let task = recipe(a, b, alpha, &mut list);
                assert_eq!(task.kind(), kind);
                list.set_ground(Some(GROUND));
                let output = list.push(task).unwrap();
                list.set_output(output).unwrap();
                run(&c, lanes, &mut list, &mut PoseState::default())
            };
            let (none, half, whole) = (at(0.0), at(0.5), at(1.0));
            let level = lanes.level();
            let source = c.rig.sample_palette(ClipId(0), 0.0);
            assert!(apart(&none, &source) < 1e-5, "{kind:?} {level}: 0 leaves the source");
            assert!(apart(&half, &none) > 1e-3 && apart(&half, &whole) > 1e-3, "{kind:?} {level}");
            for below in [-3.0, -0.0, f32::NAN, f32::NEG_INFINITY] {
                assert_eq!(at(below), none, "{kind:?} {level} alpha {below}");
            }
            for beyond in [9.0, f32::INFINITY] {
                assert_eq!(at(beyond), whole, "{kind:?} {level} alpha {beyond}");
            }
        }
    }
}

type Mixture = fn(TaskIndex, TaskIndex, &mut TaskList) -> Task;

/// A pose blended, added, or faded from one to the other by a transition.
fn mixtures() -> Vec<(&'static str, Mixture)> {
    vec![
        ("blend", |a, b, _| Task::Blend { a, b, alpha: 0.4 }),
        ("blend_masked", |a, b, _| Task::BlendMasked { a, b, alpha: 0.8, mask: MaskId(0) }),
        ("blend_n", |a, b, list| {
            let mixed = list.push_blend_n(&[(a, 0.3), (b, 0.3), (a, 0.4)]).unwrap();
            Task::Blend { a: mixed, b: mixed, alpha: 0.0 }
        }),
        ("local difference", |a, b, list| {
            let space = AdditiveSpace::Local;
            let delta = list.push(Task::MakeAdditive { source: b, reference: a, space }).unwrap();
            Task::ApplyAdditive { base: a, delta, alpha: 0.7, space }
        }),
        ("mesh difference", |a, b, list| {
            let space = AdditiveSpace::Mesh;
            let delta = list.push(Task::MakeAdditive { source: b, reference: a, space }).unwrap();
            Task::ApplyAdditive { base: a, delta, alpha: 0.7, space }
        }),
        ("inertialize", |a, b, list| {
            seam(a, b, list, |source, transition| Task::Inertialize { source, transition })
        }),
        ("dead_blend", |a, b, list| {
            seam(a, b, list, |source, transition| Task::DeadBlend { source, transition })
        }),
    ]
}

/// Puts `a` out, and goes from there to `b`.
fn seam(
    a: TaskIndex,
    b: TaskIndex,
    list: &mut TaskList,
    task: fn(TaskIndex, Transition) -> Task,
) -> Task {
    let over =
        Transition { history: HistoryId(0), elapsed: 9.0, duration: 0.3, dt: 0.02, capture: false };
    let old = list.push(task(a, over)).unwrap();
    // Read, so that it runs; of no weight.
    let source = list.push(Task::Blend { a: b, b: old, alpha: 0.0 }).unwrap();
    task(source, Transition { elapsed: 0.1, capture: true, ..over })
}

#[test]
fn identical_and_opposite_quaternions_mix_to_the_same_rotation_whatever_mixes_them() {
    let negated: Vec<_> = bent(0.7).iter().map(|t| Trs { rotation: -t.rotation, ..*t }).collect();
    let c = chain(&bent(0.2), &[bent(0.7), bent(0.7), negated]);
    let expected = c.rig.sample_palette(ClipId(0), 0.0);
    for lanes in Lanes::all() {
        for (name, mixture) in mixtures() {
            for other in [1, 2] {
                let mut list = TaskList::default();
                let [a, b] = [0, other].map(|clip| {
                    list.push(Task::SampleClip { clip: ClipId(clip), seconds: 0.0 }).unwrap()
                });
                let task = mixture(a, b, &mut list);
                let output = list.push(task).unwrap();
                list.set_output(output).unwrap();
                let palette = run(&c, lanes, &mut list, &mut PoseState::new(1, 0));
                let error = apart(&palette, &expected);
                assert!(error < 1e-4, "{name} with clip {other} {}: {error:e}", lanes.level());
            }
        }
    }
}

#[test]
fn scales_of_zero_mirrored_parents_and_chains_without_length_leave_a_finite_pose() {
    let scaled = |scale: Vec3| -> Vec<Trs> {
        let mut pose = bent(0.3);
        pose[1].scale = scale;
        pose
    };
    let point: Vec<Trs> = bent(0.3).iter().map(|t| Trs { translation: Vec3::ZERO, ..*t }).collect();
    let cases = [
        ("zero", scaled(Vec3::ZERO)),
        ("flat", scaled(Vec3::new(1.0, 0.0, 1.0))),
        ("mirrored", scaled(Vec3::new(-1.0, 1.0, 1.0))),
        ("mirrored thrice", scaled(Vec3::NEG_ONE)),
        ("without length", point),
    ];
    for (name, pose) in cases {
        let c = chain(&bent(0.3), &[pose.clone(), bent(-0.4)]);
        let still = chain(&pose, &[pose.clone(), pose.clone()]);
        for (c, lanes) in [&c, &still].into_iter().flat_map(|c| Lanes::all().map(move |l| (c, l))) {
            for (kind, recipe) in WITH_ALPHA {
                for target in [TARGET, Vec3::ZERO, Vec3::splat(50.0)] {
                    let mut list = TaskList::default();
                    let [a, b] = [0, 1].map(|clip| {
                        list.push(Task::SampleClip { clip: ClipId(clip), seconds: 0.0 }).unwrap()
                    });
                    let task = aimed(recipe(a, b, 0.9, &mut list), target);
                    list.set_ground(Some(GroundPatch { origin: target, ..GROUND }));
                    let output = list.push(task).unwrap();
                    list.set_output(output).unwrap();
                    let palette = run(c, lanes, &mut list, &mut PoseState::default());
                    let finite = palette.iter().all(Mat3x4::is_finite);
                    assert!(finite, "{name}: {kind:?} {task:?} {}", lanes.level());
                }
            }
            for (mix, mixture) in mixtures() {
                let mut list = TaskList::default();
                let [a, b] = [0, 1].map(|clip| {
                    list.push(Task::SampleClip { clip: ClipId(clip), seconds: 0.0 }).unwrap()
                });
                let task = mixture(a, b, &mut list);
                let output = list.push(task).unwrap();
                list.set_output(output).unwrap();
                let palette = run(c, lanes, &mut list, &mut PoseState::new(1, 0));
                let finite = palette.iter().all(Mat3x4::is_finite);
                assert!(finite, "{name}: {mix} {}", lanes.level());
            }
        }
    }
}

fn aimed(task: Task, target: Vec3) -> Task {
    match task {
        Task::TwoBoneIk { source, limb, reach } => {
            Task::TwoBoneIk { source, limb, reach: Reach { target, ..reach } }
        }
        Task::Fabrik { source, chain, weights } => {
            Task::Fabrik { source, chain: Chain { target, ..chain }, weights }
        }
        Task::LookAt { source, gaze } => Task::LookAt { source, gaze: Gaze { target, ..gaze } },
        other => other,
    }
}

#[test]
fn half_turns_apart_mix_to_something_finite_of_unit_length() {
    for axis in [Vec3::X, Vec3::Y, Vec3::Z] {
        let half = Quat::from_axis_angle(axis, std::f32::consts::PI);
        let turned: Vec<_> =
            bent(0.0).iter().map(|t| Trs { rotation: half * t.rotation, ..*t }).collect();
        let c = chain(&bent(0.0), &[bent(0.0), turned]);
        for lanes in Lanes::all() {
            for (name, mixture) in mixtures() {
                let mut list = TaskList::default();
                let [a, b] = [0, 1].map(|clip| {
                    list.push(Task::SampleClip { clip: ClipId(clip), seconds: 0.0 }).unwrap()
                });
                let task = mixture(a, b, &mut list);
                let output = list.push(task).unwrap();
                list.set_output(output).unwrap();
                let palette = run(&c, lanes, &mut list, &mut PoseState::new(1, 0));
                for matrix in &palette {
                    let DTrs { scale, .. } = parts_of(matrix);
                    let unit = (scale - 1.0).abs().max_element() < 1e-3;
                    assert!(unit, "{name} {axis} {}: {matrix:?}", lanes.level());
                }
            }
        }
    }
}

fn parts_of(matrix: &Mat3x4) -> DTrs {
    let (scale, rotation, translation) =
        matrix.to_affine().as_daffine3().to_scale_rotation_translation();
    DTrs { translation, rotation, scale }
}
