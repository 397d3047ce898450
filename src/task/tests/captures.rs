//! What a capture tells of a list, and under which names.

use super::*;
use crate::pose::RootPin;

fn captured(
    c: &Character,
    worker: &mut Worker,
    capture: &mut Capture,
    masks: &Masks,
    list: &mut TaskList,
    halves: bool,
) {
    let mut palette = vec![Mat3x4::IDENTITY; c.rig.palette_len()];
    let mut state = PoseState::new(1, 1);
    let mut context = Context { masks, state: &mut state, capture: Some(capture), kept: None };
    let mut batch = worker.batch();
    if halves {
        batch.execute_before_physics(&c.rig, list, &mut context);
        batch.execute_after_physics(&c.rig, list, &mut context, &mut palette).unwrap();
    } else {
        batch.execute_with(&c.rig, list, &mut context, &mut palette).unwrap();
    }
    batch.finish();
}

#[test]
fn every_argument_of_every_kind_is_told_by_name() {
    let c = character(Shape::plain(20), 3);
    let mut masks = Masks::default();
    let mask = masks.add_named("upper body", BoneCount(20), &[0.0, 1.0]).unwrap();
    let names = Names { rig: &c.rig, masks: &masks };
    let mut list = TaskList::default();
    let mut last = TaskIndex::NONE;
    for task in motions::one_of_each(last) {
        let task = match task {
            Task::SampleClip { .. } => Task::SampleClip { clip: ClipId(2), seconds: 0.125 },
            Task::BlendMasked { a, b, alpha, .. } => Task::BlendMasked { a, b, alpha, mask },
            other => other,
        };
        last = list.push(task).unwrap();
    }
    list.set_output(last).unwrap();
    list.set_root_pin(Some(RootPin::Motion { bone: BoneIndex(0), x: 0.5, z: 2.0, yaw: 0.25 }));
    list.set_cut(Some(BoneCount(12)));
    let mut capture = Capture::default();
    let mut worker = Worker::new(WorkerOptions { prune: false, ..WorkerOptions::default() });
    captured(&c, &mut worker, &mut capture, &masks, &mut list, false);

    let json = serde_json::to_value(capture.named(names)).unwrap();
    let tasks = json["tasks"].as_array().unwrap();
    assert_eq!(tasks.len(), TaskKind::COUNT);
    for (task, kind) in tasks.iter().zip(TaskKind::ALL) {
        assert_eq!(task["kind"], kind.name());
        let dependencies = list.tasks()[kind as usize].dependency_names().len();
        assert_eq!(task["dependencies"], serde_json::json!(vec![(); dependencies]), "{kind:?}");
        assert!(task["order"].is_u64() && task["buffer"].is_u64(), "nothing is pruned");
    }
    assert_eq!(
        tasks[1]["parameters"],
        serde_json::json!({ "clip": { "index": 2, "name": "clip2" }, "seconds": 0.125 })
    );
    assert_eq!(
        tasks[3]["parameters"]["mask"],
        serde_json::json!({ "index": 0, "name": "upper body" })
    );
    // Twelve bones are animated; the mask names two and leaves out the first.
    assert_eq!(tasks[3]["masked_bones"], 11);
    assert_eq!(tasks[10]["parameters"]["bone"]["name"], "bone1");
    assert_eq!(tasks[13]["parameters"]["weights"], serde_json::Value::Null);
    assert_eq!(
        json["pinned_root"],
        serde_json::json!({
            "index": 0, "name": "bone0", "motion": { "x": 0.5, "z": 2.0, "yaw": 0.25 }
        })
    );
    assert_eq!((&json["bones"], &json["active_bones"]), (&20.into(), &12.into()));
    assert_eq!((&json["cut"], &json["output"]), (&12.into(), &15.into()));

    let text = capture.named(names).to_string();
    assert_eq!(text.lines().count(), 1 + TaskKind::COUNT, "{text}");
    for part in [
        "16 tasks, 1 reachable, 16 run; 12 of 20 bones; output 15; root 0:bone0 pinned against x=0.5 z=2.0 yaw=0.25",
        "    1 SampleClip clip=2:clip2 seconds=0.125 -> buffer 0",
        "BlendMasked a=none b=none alpha=0.5 mask=0:\"upper body\"",
        "Inertialize source=none history=0 elapsed=0.1 duration=0.2 dt=0.02 capture=true",
        "target=NaN,NaN,NaN iterations=8 tolerance=0.001 weights=none alpha=0.5",
    ] {
        assert!(text.contains(part), "no {part:?} in\n{text}");
    }
}

#[test]
fn a_capture_is_of_the_last_execution_and_goes_on_in_its_second_half_only() {
    let c = character(Shape::plain(20), 3);
    let masks = Masks::default();
    let mut worker = Worker::new(WorkerOptions::default());
    let mut capture = Capture::default();
    let record = |seconds: f32, stage| {
        let mut list = TaskList::default();
        let a = list.push(Task::SampleClip { clip: ClipId(1), seconds }).unwrap();
        let unused = list.push(Task::SampleClip { clip: ClipId(2), seconds }).unwrap();
        assert_ne!(a, unused);
        let output = list.push_staged(Task::Blend { a, b: a, alpha: 0.5 }, stage).unwrap();
        list.set_output(output).unwrap();
        list
    };
    for (seconds, halves) in [(0.01, false), (0.02, false), (0.03, true), (0.04, true)] {
        let stage = if halves { Stage::PostPhysics } else { Stage::Any };
        let mut list = record(seconds, stage);
        captured(&c, &mut worker, &mut capture, &masks, &mut list, halves);
        let order: Vec<_> = capture.tasks.iter().map(|t| t.order).collect();
        assert_eq!(order, [Some(0), None, Some(1)], "halves {halves}");
        assert_eq!(capture.tasks[0].task, list.tasks()[0], "not the one before");
        assert_eq!(capture.executed(), 2);
        assert_eq!(capture.tasks[2].after_physics, halves);
        assert!(capture.tasks[2].stole && capture.tasks[0].weight == 1.0);
        // As long as the one before, so nothing but its half tells it from a second half.
        assert_eq!(capture.tasks.len(), 3);
    }
}

#[test]
fn a_long_list_is_cut_off_in_text() {
    let c = character(Shape::plain(4), 3);
    let mut list = TaskList::default();
    for _ in 0..1_000 {
        list.push(Task::ReferencePose).unwrap();
    }
    let mut capture = Capture::default();
    let mut worker = Worker::new(WorkerOptions::default());
    captured(&c, &mut worker, &mut capture, &Masks::default(), &mut list, false);
    let text = capture.named(Names { rig: &c.rig, masks: &Masks::default() }).to_string();
    assert_eq!(text.lines().count(), 202);
    assert!(text.ends_with("and 800 more") && text.contains("output none"), "{text}");
}
