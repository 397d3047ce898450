//! Parameters that are no numbers worth the name.

use super::degenerate::run;
use super::*;
use crate::pose::GroundPatch;
use crate::pose::kernels::ik::fabrik::Chain;
use crate::pose::kernels::ik::look_at::Gaze;
use crate::pose::kernels::ik::stand::Stance;
use crate::pose::kernels::ik::two_bone::Reach;
use glam::{Vec2, Vec3};

/// One of each kind with every number that it has set to `number`.
fn all_numbers(source: TaskIndex, number: f32) -> Vec<Task> {
    let v = Vec3::splat(number);
    let (alpha, list) = (1.0, motions::one_of_each(source));
    let change = |task: Task| match task {
        Task::SampleClip { .. } => Task::SampleClip { clip: ClipId(2), seconds: number },
        Task::Blend { a, b: _, .. } => Task::Blend { a, b: TaskIndex::NONE, alpha: number },
        Task::BlendMasked { a, mask, .. } => {
            Task::BlendMasked { a, b: TaskIndex::NONE, alpha: number, mask }
        }
        Task::Inertialize { source, transition } => {
            Task::Inertialize { source, transition: numbers(transition, number) }
        }
        Task::DeadBlend { source, transition } => {
            Task::DeadBlend { source, transition: numbers(transition, number) }
        }
        Task::BoneTransform { source, bone, space, mode, .. } => Task::BoneTransform {
            source,
            bone,
            space,
            mode,
            alpha,
            translation: v.to_array(),
            rotation: [number; 4],
            scale: v.to_array(),
        },
        Task::TranslateBone { source, bone, space, .. } => {
            Task::TranslateBone { source, bone, space, alpha, offset: v.to_array() }
        }
        Task::TwoBoneIk { source, limb, .. } => Task::TwoBoneIk {
            source,
            limb,
            reach: Reach { target: v, pole: v, soften: number, alpha },
        },
        Task::Fabrik { source, chain, weights } => Task::Fabrik {
            source,
            chain: Chain { target: v, tolerance: number, alpha, ..chain },
            weights,
        },
        Task::LookAt { source, gaze } => Task::LookAt {
            source,
            gaze: Gaze { forward: v, target: v, limit: number, alpha, ..gaze },
        },
        Task::FootIk { source, stance } => {
            Task::FootIk { source, stance: Stance { alpha, ..stance } }
        }
        other => other,
    };
    list.into_iter().map(change).collect()
}

fn numbers(transition: Transition, number: f32) -> Transition {
    Transition { elapsed: number, duration: number, dt: number, ..transition }
}

#[test]
fn numbers_that_are_none_zero_or_endless_leave_a_finite_pose_in_every_kind() {
    for shape in Shape::all(9) {
        let c = character(shape, 5);
        for lanes in Lanes::all() {
            for number in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 0.0, -0.0, 1e-38, 1e30] {
                let mut state = PoseState::new(1, 1);
                for kind in TaskKind::ALL {
                    // Three frames: the second begins a transition, the third is in it.
                    for clip in [1, 3, 2] {
                        let mut list = TaskList::default();
                        let seconds = 0.01;
                        let source = list.push(Task::SampleClip { clip: ClipId(clip), seconds });
                        let task = all_numbers(source.unwrap(), number)[kind as usize];
                        list.set_ground(Some(GroundPatch {
                            origin: Vec3::splat(number),
                            slope: Vec2::splat(number),
                            bend: Vec3::splat(number),
                        }));
                        let output = list.push(task).unwrap();
                        list.set_output(output).unwrap();
                        let palette = run(&c, lanes, &mut list, &mut state);
                        let finite = palette.iter().all(Mat3x4::is_finite);
                        assert!(finite, "{task:?} {shape:?} {}", lanes.level());
                    }
                }
            }
        }
    }
}
