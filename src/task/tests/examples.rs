//! Recipes whose execution is known in every detail.

use super::*;

/// A four-state locomotion machine that runs, an additive aim layer and foot placement: thirteen
/// tasks of which eight matter.
fn locomotion(list: &mut TaskList) {
    let mut push = |task| list.push(task).unwrap();
    let clip = |push: &mut dyn FnMut(Task) -> TaskIndex, clip: u16| {
        push(Task::SampleClip { clip: ClipId(clip), seconds: 0.03 })
    };
    let _idle = clip(&mut push, 0);
    let (walk, back) = (clip(&mut push, 1), clip(&mut push, 2));
    let _walk = push(Task::Blend { a: walk, b: back, alpha: 0.3 });
    let (run, back) = (clip(&mut push, 3), clip(&mut push, 4));
    let run = push(Task::Blend { a: run, b: back, alpha: 0.3 });
    let _jump = clip(&mut push, 1);
    let transition = Transition {
        history: HistoryId(0),
        elapsed: 0.1,
        duration: 0.2,
        dt: 1.0 / 60.0,
        capture: false,
    };
    let state = push(Task::Inertialize { source: run, transition });
    let aim = clip(&mut push, 2);
    let aim = push(Task::MakeAdditive {
        source: aim,
        reference: TaskIndex::NONE,
        space: AdditiveSpace::Local,
    });
    let aimed = push(Task::ApplyAdditive {
        base: state,
        delta: aim,
        alpha: 1.0,
        space: AdditiveSpace::Local,
    });
    let leg = crate::pose::kernels::ik::two_bone::Limb {
        root: crate::index::BoneIndex(1),
        mid: crate::index::BoneIndex(2),
        end: crate::index::BoneIndex(3),
    };
    let hips = crate::index::BoneIndex(0);
    let stance = crate::pose::kernels::ik::stand::Stance { hips, legs: [leg; 2], alpha: 1.0 };
    let output = push(Task::FootIk { source: aimed, stance });
    list.set_output(output).unwrap();
}

#[test]
fn the_worked_example_runs_eight_tasks_in_two_buffers_and_copies_nothing() {
    let c = character(Shape::plain(40), 3);
    let mut list = TaskList::default();
    locomotion(&mut list);
    let mut palette = vec![Mat3x4::IDENTITY; c.rig.palette_len()];
    let mut state = PoseState::new(1, 0);
    let mut capture = Capture::default();
    let mut worker = Worker::new(WorkerOptions::default());
    let mut batch = worker.batch();
    let masks = Masks::default();
    let capture_into = Some(&mut capture);
    let mut context =
        Context { masks: &masks, state: &mut state, capture: capture_into, kept: None };
    batch.execute_with(&c.rig, &mut list, &mut context, &mut palette).unwrap();
    batch.finish();

    let stats = worker.take_stats();
    assert_eq!((stats.recorded, stats.reachable, stats.executed_total()), (13, 8, 8));
    assert_eq!((stats.copied_bytes, stats.buffers_peak, stats.stolen), (0, 2, 5));

    let ran: Vec<_> = (0..13).filter(|&i| capture.tasks[i].order.is_some()).collect();
    assert_eq!(ran, [4, 5, 6, 8, 9, 10, 11, 12]);
    let live: Vec<_> = ran.iter().map(|&i| capture.tasks[i].live_buffers).collect();
    assert_eq!(live, [1, 2, 1, 1, 2, 2, 1, 1]);
    let stole: Vec<_> = ran.iter().map(|&i| capture.tasks[i].stole).collect();
    assert_eq!(stole, [false, false, true, true, false, true, true, true]);
    let first = capture.tasks[4].buffer;
    assert!([6, 8, 11, 12].iter().all(|&i| capture.tasks[i].buffer == first));
    assert_eq!(capture.tasks[12].level, 4);
    assert_eq!(capture.output, Some(12));
}

#[test]
fn states_that_are_not_reached_cost_bytes_and_no_work() {
    let c = character(Shape::plain(40), 3);
    let (mut lean, mut fat) = (TaskList::default(), TaskList::default());
    for _ in 0..30 {
        let a = fat.push(Task::SampleClip { clip: ClipId(1), seconds: 0.0 }).unwrap();
        let b = fat.push(Task::SampleClip { clip: ClipId(2), seconds: 0.0 }).unwrap();
        fat.push(Task::Blend { a, b, alpha: 0.5 }).unwrap();
    }
    locomotion(&mut lean);
    locomotion(&mut fat);
    // The indices differ, so the recipe is recorded and not copied.
    for list in [&mut lean, &mut fat] {
        list.sweep();
    }
    assert_eq!((lean.reachable_count(), fat.len()), (8, 103));
    let mut worker = Worker::new(WorkerOptions::default());
    let mut palette = vec![Mat3x4::IDENTITY; c.rig.palette_len()];
    let mut batch = worker.batch();
    batch.execute(&c.rig, &mut fat, &mut palette).unwrap();
    batch.finish();
    assert_eq!(worker.take_stats().executed_total(), 8);
}

#[test]
fn a_snapshot_outlives_its_frame_and_bones_it_lacked_stand_at_rest() {
    let c = character(Shape::plain(40), 3);
    let masks = Masks::default();
    let mut state = PoseState::new(0, 1);
    let mut worker = Worker::new(WorkerOptions::default());
    let mut run = |state: &mut PoseState, task: &dyn Fn(&mut TaskList), cut: Option<u16>| {
        let mut list = TaskList::default();
        task(&mut list);
        list.set_cut(cut.map(BoneCount));
        let output = TaskIndex::new(list.len() - 1).unwrap();
        list.set_output(output).unwrap();
        let mut palette = vec![Mat3x4::IDENTITY; c.rig.palette_len()];
        let mut batch = worker.batch();
        let mut context = Context { masks: &masks, state, capture: None, kept: None };
        batch.execute_with(&c.rig, &mut list, &mut context, &mut palette).unwrap();
        batch.finish();
        palette
    };
    let save = |list: &mut TaskList| {
        let source = list.push(Task::SampleClip { clip: ClipId(2), seconds: 0.02 }).unwrap();
        list.push(Task::SavePoseSnapshot { source, snapshot: SnapshotId(0) }).unwrap();
    };
    let load = |list: &mut TaskList| {
        list.push(Task::LoadPoseSnapshot { snapshot: SnapshotId(0) }).unwrap();
    };
    let bind = |list: &mut TaskList| {
        list.push(Task::ReferencePose).unwrap();
    };
    assert_eq!(run(&mut state, &load, None), run(&mut state, &bind, None), "nothing saved yet");
    let saved = run(&mut state, &save, Some(21));
    assert_eq!(run(&mut state, &load, None), saved, "the tail stands at rest either way");
    state.clear();
    assert_eq!(run(&mut state, &load, None), run(&mut state, &bind, None), "forgotten");
}

#[test]
fn every_kind_falls_back_to_the_bind_pose_without_its_dependencies() {
    let c = character(Shape::plain(20), 3);
    let none = TaskIndex::NONE;
    let mut list = TaskList::default();
    for task in motions::one_of_each(none) {
        list.push(task).unwrap();
    }
    let tasks: Vec<Task> = list.tasks().to_vec();
    let bind = c.rig.sample_palette(ClipId(999), 0.0);
    for task in tasks {
        list.clear();
        let output = list.push(task).unwrap();
        list.set_output(output).unwrap();
        let mut worker = Worker::new(WorkerOptions::default());
        let mut palette = vec![Mat3x4::IDENTITY; c.rig.palette_len()];
        let mut batch = worker.batch();
        batch.execute(&c.rig, &mut list, &mut palette).unwrap();
        batch.finish();
        let exact: Vec<_> = bind.iter().map(|m| m.to_affine().as_daffine3()).collect();
        let error = testing::difference(&palette, &exact);
        assert!(error < 1e-5, "{task:?}: {error:e}");
    }
}
