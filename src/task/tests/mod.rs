//! The executor against a naive evaluator, and against itself with its switches off.

mod examples;
mod motions;
mod naive;

use super::*;
use crate::index::{BoneCount, ClipId};
use crate::math::{Lanes, Mat3x4};
use crate::pose::testing::{self, Random, Shape};
use crate::pose::{Rig, Skeleton, UniformClip};

struct Character {
    rig: Rig,
    skeleton: Skeleton,
    clips: Vec<UniformClip>,
}

fn character(shape: Shape, seed: u64) -> Character {
    let (skeleton, clips) = testing::character(shape, 5, seed);
    Character { rig: Rig::new(skeleton.clone(), &clips).unwrap(), skeleton, clips }
}

/// Masks of different lengths; a fourth one is asked for and is not there.
fn masks(bones: usize) -> Vec<Vec<f32>> {
    let ramp = |n: usize| (0..n).map(|i| i as f32 / n as f32).collect();
    vec![ramp(bones), ramp(bones / 2), vec![0.5, f32::NAN, -1.0, 3.0]]
}

fn table(bones: usize) -> Masks {
    let mut table = Masks::default();
    for weights in masks(bones) {
        table.add(BoneCount(bones as u16), &weights).unwrap();
    }
    table
}

/// Executes lists, each a frame of a character of its own; whole, or in two halves.
fn execute(
    c: &Character,
    lists: &mut [TaskList],
    options: WorkerOptions,
    halves: bool,
) -> Vec<Vec<Mat3x4>> {
    let masks = table(c.skeleton.bone_count().get());
    let mut palettes = vec![vec![Mat3x4::IDENTITY; c.rig.palette_len()]; lists.len()];
    let mut states = vec![PoseState::new(2, 2); lists.len()];
    let mut worker = Worker::new(options);
    let mut batch = worker.batch();
    if halves {
        for (list, state) in lists.iter_mut().zip(&mut states) {
            let mut context = Context { masks: &masks, state, capture: None };
            batch.execute_before_physics(&c.rig, list, &mut context);
        }
    }
    for ((list, state), palette) in lists.iter_mut().zip(&mut states).zip(&mut palettes) {
        let mut context = Context { masks: &masks, state, capture: None };
        match halves {
            true => batch.execute_after_physics(&c.rig, list, &mut context, palette).unwrap(),
            false => batch.execute_with(&c.rig, list, &mut context, palette).unwrap(),
        }
    }
    batch.finish();
    assert_eq!(worker.pool.live(), 0, "every buffer came back");
    palettes
}

/// Lists drawn for one test; more with `THRONG_TEST_LISTS`.
fn lists_each() -> usize {
    std::env::var("THRONG_TEST_LISTS").ok().and_then(|n| n.parse().ok()).unwrap_or(900)
}

#[test]
fn random_lists_agree_with_the_naive_evaluator_at_every_level() {
    let mut executed = [0_u32; TaskKind::COUNT];
    for (seed, shape) in [8, 13, 40].into_iter().flat_map(Shape::all).enumerate() {
        let c = character(shape, 40 + seed as u64);
        let r = &mut Random(99 + seed as u64);
        let mut lists = vec![TaskList::default(); lists_each()];
        lists.iter_mut().for_each(|list| naive::random_list(r, list, shape.bones));
        let exact: Vec<_> = lists
            .iter_mut()
            .map(|list| {
                list.sweep();
                let mut kept = naive::Kept { snapshots: vec![None; 2] };
                let pose = naive::evaluate(&c, &masks(shape.bones), list, &mut kept);
                let active = list.active(BoneCount(shape.bones as u16)).get();
                testing::palette(&c.skeleton, &pose, active)
            })
            .collect();
        for list in &lists {
            for (at, task) in list.tasks().iter().enumerate() {
                let ran = list.is_reachable(TaskIndex::new(at).unwrap());
                executed[task.kind() as usize] += u32::from(ran);
            }
        }
        for lanes in Lanes::all() {
            let options = WorkerOptions { lanes, ..WorkerOptions::default() };
            let palettes = execute(&c, &mut lists, options, false);
            for ((list, ours), exact) in lists.iter().zip(&palettes).zip(&exact) {
                let error = testing::difference(ours, exact);
                assert!(error < 3e-4, "{:?} {shape:?} {error:e} {list:?}", lanes.level());
            }
        }
    }
    for kind in TaskKind::ALL.into_iter().filter(|k| !SEPARATE.contains(k)) {
        assert!(executed[kind as usize] >= 100, "{kind:?} ran {} times", executed[kind as usize]);
    }
}

/// Kinds that are tested by what they achieve.
const SEPARATE: [TaskKind; 6] = [
    TaskKind::Inertialize,
    TaskKind::DeadBlend,
    TaskKind::TwoBoneIk,
    TaskKind::Fabrik,
    TaskKind::LookAt,
    TaskKind::FootIk,
];

#[test]
fn stealing_pruning_halves_and_neighbours_change_no_bit() {
    for shape in Shape::all(33) {
        let c = character(shape, 4);
        let r = &mut Random(17);
        let mut lists = vec![TaskList::default(); 200];
        lists.iter_mut().for_each(|list| naive::random_list(r, list, shape.bones));
        for lanes in Lanes::all() {
            let options = WorkerOptions { lanes, prune: true, steal: true };
            let expected = execute(&c, &mut lists, options, false);
            for (prune, steal) in [(true, true), (false, true), (true, false), (false, false)] {
                let options = WorkerOptions { lanes, prune, steal };
                for halves in [false, true] {
                    let other = execute(&c, &mut lists, options, halves);
                    assert_eq!(expected, other, "prune {prune} steal {steal} halves {halves}");
                }
            }
            let alone: Vec<_> = lists
                .iter_mut()
                .flat_map(|list| execute(&c, std::slice::from_mut(list), options, false))
                .collect();
            assert_eq!(expected, alone, "batches of one");
        }
    }
}

#[test]
fn a_shared_result_is_copied_for_all_but_its_last_reader() {
    let c = character(Shape::plain(20), 6);
    let mut list = TaskList::default();
    let sample = |clip| Task::SampleClip { clip: ClipId(clip), seconds: 0.01 };
    let a = list.push(sample(1)).unwrap();
    let b = list.push(sample(2)).unwrap();
    let first = list.push(Task::Blend { a, b, alpha: 0.5 }).unwrap();
    let second = list.push(Task::Blend { a, b: first, alpha: 0.5 }).unwrap();
    list.set_output(second).unwrap();
    let mut worker = Worker::new(WorkerOptions::default());
    let mut palette = vec![Mat3x4::IDENTITY; c.rig.palette_len()];
    let mut batch = worker.batch();
    batch.execute(&c.rig, &mut list, &mut palette).unwrap();
    batch.finish();
    let stats = worker.take_stats();
    assert_eq!((stats.recorded, stats.reachable, stats.executed_total()), (4, 4, 4));
    assert_eq!((stats.stolen, stats.buffers_peak), (1, 3));
    // Two blocks of rotations, and the groups of translations that the clip moves.
    assert!((512..=512 + 3 * 96).contains(&stats.copied_bytes), "{}", stats.copied_bytes);
    assert_eq!(stats.resolved.count, 1);
}

#[test]
fn a_palette_of_the_wrong_length_is_refused_and_nothing_runs() {
    let c = character(Shape::plain(4), 6);
    let mut list = TaskList::default();
    let mut palette = vec![Mat3x4::IDENTITY; 3];
    let mut worker = Worker::new(WorkerOptions::default());
    let result = worker.batch().execute(&c.rig, &mut list, &mut palette);
    assert_eq!(result, Err(TaskError::Palette { len: 3, needed: 4 }));
    assert_eq!(worker.take_stats().lists, 0);
}

#[test]
fn rigs_may_follow_one_another_in_a_batch() {
    let (a, b) = (character(Shape::plain(20), 1), character(Shape::all(35)[3], 2));
    let mut worker = Worker::new(WorkerOptions::default());
    let mut list = TaskList::default();
    let sample = list.push(Task::SampleClip { clip: ClipId(2), seconds: 0.02 }).unwrap();
    list.set_output(sample).unwrap();
    let mut palettes: Vec<_> = (0..10)
        .map(|i| vec![Mat3x4::IDENTITY; if i % 2 == 0 { &a } else { &b }.rig.palette_len()])
        .collect();
    let mut batch = worker.batch();
    for (i, palette) in palettes.iter_mut().enumerate() {
        let rig = if i % 2 == 0 { &a.rig } else { &b.rig };
        batch.execute(rig, &mut list, palette).unwrap();
    }
    drop(batch);
    for (i, palette) in palettes.iter().enumerate() {
        let rig = if i % 2 == 0 { &a.rig } else { &b.rig };
        assert_eq!(*palette, rig.sample_palette(ClipId(2), 0.02));
    }
}
