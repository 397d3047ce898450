//! The executor against a naive evaluator, and against itself with its switches off.

mod captures;
mod degenerate;
mod differential;
mod draw;
mod examples;
mod liveness;
mod motions;
mod naive;
mod numbers;
mod serial;
mod sizes;
mod stand;
mod transitions;

use super::*;
use crate::index::{BoneCount, BoneIndex, ClipId};
use crate::math::{Lanes, Mat3x4};
use crate::pose::kernels::bone::{BoneSpace, translate_bone};
use crate::pose::testing::{self, Random, Shape};
use crate::pose::{Rig, Skeleton, UniformClip};
use crate::profile::counting;
use naive::Noise;

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

/// Frames that each character is played for, with a list of its own each.
const FRAMES: usize = 3;

/// How [`execute`] goes about it.
#[derive(Clone, Copy, Debug, Default)]
struct How {
    /// In two halves around a physics step.
    halves: bool,
    /// Each list in a batch, and by a worker, of its own.
    alone: bool,
    plant: Plant,
}

/// Executes [`FRAMES`] lists of each of several characters: all of the first frame, then all of
/// the next.
fn execute(
    c: &Character,
    lists: &mut [TaskList],
    options: WorkerOptions,
    how: How,
) -> Vec<Vec<Mat3x4>> {
    let masks = table(c.skeleton.bone_count().get());
    let characters = lists.len() / FRAMES;
    let mut palettes = vec![vec![Mat3x4::IDENTITY; c.rig.palette_len()]; lists.len()];
    let mut states = vec![PoseState::new(2, 2); characters];
    let run = |lists: &mut [TaskList], palettes: &mut [Vec<_>], states: &mut [PoseState]| {
        let mut worker = Worker::new(options);
        worker.plant = how.plant;
        let mut batch = worker.batch();
        if how.halves {
            for (list, state) in lists.iter_mut().zip(states.iter_mut()) {
                let mut context = Context { masks: &masks, state, capture: None, kept: None };
                batch.execute_before_physics(&c.rig, list, &mut context);
            }
        }
        for ((list, state), palette) in lists.iter_mut().zip(states).zip(palettes) {
            let mut context = Context { masks: &masks, state, capture: None, kept: None };
            match how.halves {
                true => batch.execute_after_physics(&c.rig, list, &mut context, palette).unwrap(),
                false => batch.execute_with(&c.rig, list, &mut context, palette).unwrap(),
            }
        }
        batch.finish();
        assert_eq!(worker.pool.live(), 0, "every buffer came back");
    };
    for (lists, palettes) in lists.chunks_mut(characters).zip(palettes.chunks_mut(characters)) {
        let at_once = if how.alone { 1 } else { characters };
        let chunks = lists.chunks_mut(at_once).zip(palettes.chunks_mut(at_once));
        for ((lists, palettes), states) in chunks.zip(states.chunks_mut(at_once)) {
            run(lists, palettes, states);
        }
    }
    palettes
}

/// What the naive evaluator makes of the lists of [`execute`]; samples are off by `noise`.
fn exact(c: &Character, lists: &[TaskList], noise: Noise) -> Vec<Vec<glam::DAffine3>> {
    let bones = c.skeleton.bone_count();
    let characters = lists.len() / FRAMES;
    let mut kept = vec![naive::Kept::default(); characters];
    let one = |(at, list): (usize, &TaskList)| {
        let kept = &mut kept[at % characters];
        let pose = naive::evaluate(c, &masks(bones.get()), list, kept, noise);
        testing::palette(&c.skeleton, &pose, list.active(bones).get())
    };
    lists.iter().enumerate().map(one).collect()
}

/// A fault that is put into the executor to see it found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Plant {
    /// None.
    #[default]
    None,
    /// A first dependency's buffer is taken over while others have yet to read it.
    EarlySteal,
    /// No fault: a viewer that wants zones.
    Listener,
    /// Sampling moves a bone by [`MOVED`].
    MovedBone,
}

/// The bone of [`Plant::MovedBone`], and how far it is moved.
pub(crate) const MOVED: (BoneIndex, f32) = (BoneIndex(1), 0.02);

/// Called after each task.
pub(super) fn plant(
    worker: &mut Worker,
    task: &Task,
    result: pool::Buffer,
    run: &execute::Run<'_, '_>,
) {
    if worker.plant == Plant::MovedBone && task.kind() == TaskKind::SampleClip {
        let (bone, offset) = (MOVED.0, glam::Vec3::X * MOVED.1);
        let pose = worker.pool.get_mut(result);
        translate_bone(run.rig, pose, bone, BoneSpace::Component, offset, 1.0, run.active);
    }
}

fn drawn(c: &Character, seed: u64, count: usize) -> Vec<TaskList> {
    let drawing = draw::Draw::new(c);
    let r = &mut Random(seed);
    let mut lists = vec![TaskList::default(); count];
    lists.iter_mut().for_each(|list| drawing.list(r, list));
    lists
}

/// Relative to the size of a palette's entries: single precision along the deepest recipes.
const AGREES: f64 = 3e-4;
/// What the samples are moved by to see whether a recipe magnifies its input's rounding.
const NOISE: f64 = 1e-6;
/// A recipe that makes this much of it has no answer in single precision: the shortest turn to the
/// opposite direction, a chain that folds up.
const UNSTEADY: f64 = 3e-5;

/// Which lists magnify noise of a size so little that the rounding of single precision can't matter
/// either. A character that is unsteady once remains so, because it may remember.
fn steady(
    c: &Character,
    lists: &[TaskList],
    expected: &[Vec<glam::DAffine3>],
    size: f64,
) -> Vec<bool> {
    let characters = lists.len() / FRAMES;
    let mut all = vec![true; lists.len()];
    // One direction may happen to be one that does not matter.
    for seed in 1..=3 {
        let shaken = exact(c, lists, Noise { size, seed });
        for (at, (a, b)) in expected.iter().zip(&shaken).enumerate() {
            let b: Vec<_> = b.iter().map(|m| Mat3x4::from_affine(&m.as_affine3a())).collect();
            let before = at < characters || all[at - characters];
            all[at] &= before && testing::difference(&b, a) < UNSTEADY;
        }
    }
    all
}

#[test]
fn a_listener_is_shown_a_zone_for_each_executed_task_and_each_list_and_nobody_else_is() {
    let c = character(Shape::plain(13), 4);
    let mut lists = drawn(&c, 23, 90 * FRAMES);
    let masks = table(13);
    for (prune, plant) in [(true, Plant::Listener), (false, Plant::Listener), (true, Plant::None)] {
        let mut worker = Worker::new(WorkerOptions { prune, ..WorkerOptions::default() });
        worker.plant = plant;
        let mut palettes = vec![vec![Mat3x4::IDENTITY; c.rig.palette_len()]; lists.len()];
        let mut states = vec![PoseState::new(2, 2); lists.len()];
        counting::take();
        let mut batch = worker.batch();
        for ((list, state), palette) in lists.iter_mut().zip(&mut states).zip(&mut palettes) {
            let mut context = Context { masks: &masks, state, capture: None, kept: None };
            batch.execute_with(&c.rig, list, &mut context, palette).unwrap();
        }
        batch.finish();
        let (begun, stats) = (counting::take(), worker.take_stats());
        let of = |name: &str| begun.get(name).copied().unwrap_or(0);
        if plant == Plant::None {
            assert!(begun.is_empty(), "{begun:?}");
            continue;
        }
        for kind in TaskKind::ALL {
            let executed = stats.executed[kind as usize].count;
            assert!(executed > 0 && of(kind.name()) == executed, "{kind:?}: {begun:?}");
        }
        assert_eq!(of("character"), lists.len() as u64);
        assert!(of("resolve") >= lists.len() as u64 / 8 && of("resolve") <= lists.len() as u64);
        assert_eq!(begun.len(), TaskKind::COUNT + 2, "{begun:?}");
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
