//! Transitions, by what they achieve.

use super::*;

/// Plays clips through a transition task, a frame a call.
struct Player {
    c: Character,
    state: PoseState,
    worker: Worker,
}

impl Player {
    fn frame(
        &mut self,
        clip: u16,
        seconds: f32,
        task: fn(TaskIndex, Transition) -> Task,
        begun: Option<f32>,
    ) -> Vec<Mat3x4> {
        let mut list = TaskList::default();
        let source = list.push(Task::SampleClip { clip: ClipId(clip), seconds }).unwrap();
        let transition = Transition {
            history: HistoryId(0),
            elapsed: begun.unwrap_or(9.0),
            duration: 0.3,
            dt: DT,
            capture: begun == Some(0.0),
        };
        let output = list.push(task(source, transition)).unwrap();
        list.set_output(output).unwrap();
        let mut palette = vec![Mat3x4::IDENTITY; self.c.rig.palette_len()];
        let mut batch = self.worker.batch();
        let masks = Masks::default();
        let mut context =
            Context { masks: &masks, state: &mut self.state, capture: None, kept: None };
        batch.execute_with(&self.c.rig, &mut list, &mut context, &mut palette).unwrap();
        batch.finish();
        palette
    }
}

const DT: f32 = 1.0 / 60.0;

fn apart(a: &[Mat3x4], b: &[Mat3x4]) -> f64 {
    let exact: Vec<_> = b.iter().map(|m| m.to_affine().as_daffine3()).collect();
    testing::difference(a, &exact)
}

#[test]
fn transitions_start_from_the_old_pose_and_end_at_the_new_one() {
    let kinds: [fn(TaskIndex, Transition) -> Task; 2] = [
        |source, transition| Task::Inertialize { source, transition },
        |source, transition| Task::DeadBlend { source, transition },
    ];
    for shape in Shape::all(40) {
        for task in kinds {
            let c = character(shape, 3);
            let jump =
                apart(&c.rig.sample_palette(ClipId(2), 0.0), &c.rig.sample_palette(ClipId(3), 0.0));
            let mut p = Player {
                c,
                state: PoseState::new(1, 0),
                worker: Worker::new(WorkerOptions::default()),
            };
            // Two frames of a still pose, then the seam.
            p.frame(2, 0.0, task, None);
            let old = p.frame(2, 0.0, task, None);
            let mut last = old.clone();
            for frame in 0..30 {
                let palette = p.frame(3, 0.0, task, Some(frame as f32 * DT));
                let step = apart(&palette, &last);
                assert!(step < 0.5 * jump, "{shape:?} frame {frame} steps {step} of {jump}");
                if frame == 0 {
                    assert!(apart(&palette, &old) < 1e-3, "no pop at the seam");
                }
                last = palette;
            }
            let target = p.c.rig.sample_palette(ClipId(3), 0.0);
            assert!(apart(&last, &target) < 1e-5, "over means over");
        }
    }
}

#[test]
fn bones_that_a_level_of_detail_left_out_join_in_again_after_two_frames() {
    let c = character(Shape::plain(40), 3);
    let (mut state, mut worker) = (PoseState::new(1, 0), Worker::new(WorkerOptions::default()));
    let mut frame = |clip, cut: Option<u16>, capture| {
        let mut list = TaskList::default();
        let source = list.push(Task::SampleClip { clip: ClipId(clip), seconds: 0.0 }).unwrap();
        let elapsed = if capture { 0.0 } else { 9.0 };
        let history = HistoryId(0);
        let transition = Transition { history, elapsed, duration: 0.3, dt: DT, capture };
        let output = list.push(Task::Inertialize { source, transition }).unwrap();
        list.set_output(output).unwrap();
        list.set_cut(cut.map(BoneCount));
        let mut palette = vec![Mat3x4::IDENTITY; c.rig.palette_len()];
        let masks = Masks::default();
        let mut context = Context { masks: &masks, state: &mut state, capture: None, kept: None };
        let mut batch = worker.batch();
        batch.execute_with(&c.rig, &mut list, &mut context, &mut palette).unwrap();
        batch.finish();
        palette
    };
    (0..3).for_each(|_| drop(frame(2, Some(9), false)));
    frame(2, None, false);
    let old = frame(2, None, false);
    let seam = frame(3, None, true);
    assert!(apart(&seam, &old) < 1e-3, "no bone pops: {}", apart(&seam, &old));
}

#[test]
fn a_transition_without_history_snaps_and_one_without_velocity_does_not_overshoot() {
    let inertialize: fn(TaskIndex, Transition) -> Task =
        |source, transition| Task::Inertialize { source, transition };
    let c = character(Shape::plain(40), 3);
    let mut p =
        Player { c, state: PoseState::new(1, 0), worker: Worker::new(WorkerOptions::default()) };
    let snapped = p.frame(3, 0.0, inertialize, Some(0.0));
    let target = p.c.rig.sample_palette(ClipId(3), 0.0);
    assert!(apart(&snapped, &target) < 1e-6);
    p.state.clear();
    let old = p.frame(2, 0.0, inertialize, None);
    let seam = p.frame(3, 0.0, inertialize, Some(0.0));
    assert!(apart(&seam, &old) < 1e-3, "one frame of history is enough for the position");
}
