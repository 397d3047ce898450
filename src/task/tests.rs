//! The executor against a naive evaluator, and against itself with its switches off.

use super::*;
use crate::index::{BoneCount, BoneIndex, ClipId};
use crate::math::{Lanes, Mat3x4};
use crate::pose::testing::{self, DTrs, Random, Shape};
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

fn random_list(r: &mut Random, list: &mut TaskList, bones: usize) {
    list.clear();
    let tasks = 1 + r.below(12);
    for _ in 0..tasks {
        let earlier = |r: &mut Random, n: usize| {
            if r.below(12) == 0 { TaskIndex::NONE } else { TaskIndex::new(r.below(n)).unwrap() }
        };
        let n = list.len();
        let task = match r.below(5) {
            0 => Task::ReferencePose,
            1 | 2 => {
                Task::SampleClip { clip: ClipId(r.below(6) as u16), seconds: r.signed() * 0.3 }
            }
            _ if n == 0 => Task::ReferencePose,
            _ => Task::Blend {
                a: earlier(r, n),
                b: earlier(r, n),
                alpha: [r.signed() * 0.5 + 0.5, 0.0, 1.0, 2.0, -1.0, f32::NAN][r.below(8).min(5)],
            },
        };
        list.push(task).unwrap();
    }
    if r.below(20) > 0 {
        list.set_output(TaskIndex::new(r.below(list.len())).unwrap()).unwrap();
    }
    if r.below(2) == 0 {
        list.set_cut(Some(BoneCount(r.below(bones + 2) as u16)));
    }
    if r.below(3) == 0 {
        list.set_pinned_root(Some(BoneIndex(r.below(bones + 1) as u16)));
    }
}

/// Evaluates a list recursively, without buffers.
fn naive(c: &Character, list: &TaskList, task: TaskIndex) -> Vec<DTrs> {
    let Some(at) = task.get() else { return testing::rest_pose(&c.skeleton) };
    match list.tasks()[at] {
        Task::ReferencePose => testing::rest_pose(&c.skeleton),
        Task::SampleClip { clip, seconds } => match c.clips.get(clip.get()) {
            Some(clip) => testing::sampled(clip, c.skeleton.bone_count().get(), seconds),
            None => testing::rest_pose(&c.skeleton),
        },
        Task::Blend { a, b, .. } if a == b => naive(c, list, a),
        Task::Blend { a, b, alpha } => {
            let alpha = if alpha.is_nan() { 0.0 } else { f64::from(alpha).clamp(0.0, 1.0) };
            testing::blended(&naive(c, list, a), &naive(c, list, b), alpha)
        }
    }
}

fn execute(c: &Character, lists: &mut [TaskList], options: WorkerOptions) -> Vec<Vec<Mat3x4>> {
    let mut palettes = vec![vec![Mat3x4::IDENTITY; c.rig.palette_len()]; lists.len()];
    let mut worker = Worker::new(options);
    let mut batch = worker.batch();
    for (list, palette) in lists.iter_mut().zip(&mut palettes) {
        batch.execute(&c.rig, list, palette).unwrap();
    }
    batch.finish();
    assert_eq!(worker.pool.live(), 0, "every buffer came back");
    palettes
}

#[test]
fn random_lists_agree_with_the_naive_evaluator_at_every_level() {
    for (seed, shape) in [8, 13, 40].into_iter().flat_map(Shape::all).enumerate() {
        let c = character(shape, 40 + seed as u64);
        let r = &mut Random(99 + seed as u64);
        let mut lists = vec![TaskList::default(); 60];
        lists.iter_mut().for_each(|list| random_list(r, list, shape.bones));
        for lanes in Lanes::all() {
            let options = WorkerOptions { lanes, ..WorkerOptions::default() };
            let palettes = execute(&c, &mut lists, options);
            for (list, ours) in lists.iter().zip(&palettes) {
                let mut pose = naive(&c, list, list.output());
                let active = list.active(BoneCount(shape.bones as u16)).get();
                if let Some(root) = list.pinned_root().filter(|b| b.get() < shape.bones) {
                    pose[root.get()] = testing::rest_pose(&c.skeleton)[root.get()];
                }
                let exact = testing::palette(&c.skeleton, &pose, active);
                let error = testing::difference(ours, &exact);
                assert!(error < 1e-4, "{:?} {shape:?} {error:e} {list:?}", lanes.level());
            }
        }
    }
}

#[test]
fn stealing_pruning_and_neighbours_change_no_bit() {
    for shape in Shape::all(33) {
        let c = character(shape, 4);
        let r = &mut Random(17);
        let mut lists = vec![TaskList::default(); 100];
        lists.iter_mut().for_each(|list| random_list(r, list, shape.bones));
        for lanes in Lanes::all() {
            let options = WorkerOptions { lanes, prune: true, steal: true };
            let expected = execute(&c, &mut lists, options);
            for (prune, steal) in [(false, true), (true, false), (false, false)] {
                let other = execute(&c, &mut lists, WorkerOptions { lanes, prune, steal });
                assert_eq!(expected, other, "prune {prune} steal {steal}");
            }
            let alone: Vec<_> = lists
                .iter_mut()
                .flat_map(|list| execute(&c, std::slice::from_mut(list), options))
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
