//! Lists as bytes and back, in both forms, and bytes that are no list.

use super::draw::Draw;
use super::motions::one_of_each;
use super::*;
use crate::pose::RootPin;
use crate::pose::kernels::bone::BoneMode;
use crate::task::serial::{ListError, WireScale, decode, decode_wire, encode, encode_wire};
use proptest::prelude::*;

/// Random lists of every kind of task, with the odd numbers that tasks may hold.
fn lists(count: usize, seed: u64) -> Vec<TaskList> {
    let r = &mut Random(seed);
    let c = character(Shape::plain(20), 5);
    let draw = Draw::new(&c);
    let mut lists = vec![TaskList::default(); count];
    for (i, list) in lists.iter_mut().enumerate() {
        draw.list(r, list);
        for _ in 0..i % 5 {
            let before = TaskIndex::new(r.below(list.len())).unwrap();
            let task = one_of_each(before)[r.below(TaskKind::COUNT)];
            let stage = if r.below(9) == 0 { Stage::PostPhysics } else { Stage::Any };
            list.push_staged(task, stage).unwrap();
        }
    }
    lists
}

/// Everything about a list, floats by their bits.
fn bits(list: &TaskList) -> Vec<u8> {
    let mut out = Vec::new();
    encode(list, &mut out);
    out.extend(format!("{list:?}").bytes());
    out
}

#[test]
fn the_exact_form_keeps_every_bit_of_every_kind() {
    let mut seen = [0; TaskKind::COUNT];
    let mut back = TaskList::default();
    for mut list in lists(4_000, 3) {
        let mut bytes = Vec::new();
        encode(&list, &mut bytes);
        decode(&bytes, &mut back).unwrap();
        // Marks are no part of a list's bytes, but of what is compared here.
        list.sweep();
        back.sweep();
        assert_eq!(bits(&list), bits(&back));
        assert!((0..list.len()).all(|at| list.is_late(at) == back.is_late(at)));
        for task in list.tasks() {
            seen[task.kind() as usize] += 1;
        }
    }
    assert!(seen.iter().all(|n| *n > 50), "{seen:?}");
}

#[test]
fn floats_keep_their_bits_even_those_of_no_number() {
    for odd in [0x7fc0_0001, 0xffc1_2345, 0x8000_0000, 1, 0x7f80_0000].map(f32::from_bits) {
        let mut list = TaskList::default();
        let a = list.push(Task::SampleClip { clip: ClipId(7), seconds: odd }).unwrap();
        list.set_output(a).unwrap();
        list.set_root_pin(Some(RootPin::Motion { bone: BoneIndex(2), x: odd, z: 1.0, yaw: odd }));
        let (mut bytes, mut back) = (Vec::new(), TaskList::default());
        encode(&list, &mut bytes);
        decode(&bytes, &mut back).unwrap();
        let Task::SampleClip { seconds, .. } = back.tasks()[0] else { panic!("{back:?}") };
        assert_eq!(seconds.to_bits(), odd.to_bits());
        let mut again = Vec::new();
        encode(&back, &mut again);
        assert_eq!(bytes, again);
    }
}

#[test]
fn a_usual_list_is_small() {
    let mut list = TaskList::default();
    let sample = |clip| Task::SampleClip { clip: ClipId(clip), seconds: 0.3 };
    let (a, b) = (list.push(sample(1)).unwrap(), list.push(sample(2)).unwrap());
    let out = list.push(Task::Blend { a, b, alpha: 0.25 }).unwrap();
    list.set_output(out).unwrap();
    let mut bytes = Vec::new();
    encode(&list, &mut bytes);
    // Flags, count, two samples of 6 bytes, a blend of 7, the output.
    assert_eq!(bytes.len(), 22);
    let (skeleton, clips) = testing::character(Shape::plain(20), 4, 2);
    let scale = WireScale::new(&Rig::new(skeleton, &clips).unwrap(), 2.0);
    bytes.clear();
    encode_wire(&list, &scale, &mut bytes);
    assert_eq!(bytes.len(), 16);
}

#[test]
fn every_cut_of_a_list_and_every_byte_after_it_is_refused() {
    for list in lists(60, 8) {
        let (mut bytes, mut back) = (Vec::new(), TaskList::default());
        encode(&list, &mut bytes);
        for len in 0..bytes.len() {
            let error = decode(&bytes[..len], &mut back).unwrap_err();
            assert!(matches!(error, ListError::Truncated { .. }), "{error} at {len}");
            assert!(back.is_empty() && back.root_pin().is_none());
        }
        let len = bytes.len();
        bytes.extend([0, 0]);
        let trailing = Err(ListError::Trailing { len, extra: 2 });
        assert_eq!(decode(&bytes, &mut back), trailing);
    }
}

#[test]
fn what_could_not_have_been_recorded_is_refused() {
    let mut list = TaskList::default();
    let mut refused = |bytes: &[u8]| decode(bytes, &mut list).unwrap_err();
    // Flags, one task: a blend that reads the task before the first.
    let ahead = refused(&[0, 1, TaskKind::Blend as u8, 1, 0, 0, 0, 0, 0]);
    assert!(matches!(ahead, ListError::Unknown { value: 1, .. }), "{ahead}");
    assert!(matches!(refused(&[0, 1, 16]), ListError::Unknown { value: 16, .. }));
    assert!(matches!(refused(&[32, 0]), ListError::Unknown { what: "flags", .. }));
    assert!(matches!(refused(&[12, 0]), ListError::Unknown { what: "flags", .. }));
    // An output that there is no task for.
    assert!(matches!(refused(&[2, 0, 1]), ListError::Unknown { .. }));
    // More tasks than an index can name: two bytes each at the least.
    let mut many = vec![0, 0x81, 0x80, 0x02];
    many.extend([TaskKind::ReferencePose as u8; 32_769]);
    assert_eq!(refused(&many), ListError::Task(TaskError::Full { limit: 32_768 }));
    // A number of tasks that the bytes can't hold does not set memory aside.
    assert!(matches!(refused(&[0, 0xff, 0xff, 0xff, 0xff, 0x0f]), ListError::Truncated { .. }));
}

/// Executes a list whose states are new.
fn palette(rig: &Rig, list: &mut TaskList) -> Vec<Mat3x4> {
    let mut palette = vec![Mat3x4::IDENTITY; rig.palette_len()];
    let mut worker = Worker::new(WorkerOptions::default());
    let mut batch = worker.batch();
    batch.execute(rig, list, &mut palette).unwrap();
    batch.finish();
    palette
}

#[test]
fn the_wire_form_rounds_once_and_stays_within_its_error() {
    let (skeleton, clips) = testing::character(Shape::plain(20), 5, 21);
    let rig = Rig::new(skeleton, &clips).unwrap();
    let r = &mut Random(77);
    let (size, mut worst) = (2.0, 0.0f32);
    let scale = WireScale::new(&rig, size);
    for _ in 0..500 {
        let mut list = TaskList::default();
        let mut pose = list.push(Task::ReferencePose).unwrap();
        for _ in 0..1 + r.below(4) {
            let seconds = clips[0].seconds() * (0.5 + 0.5 * r.signed());
            let clip = ClipId(r.below(5) as u16);
            let b = list.push(Task::SampleClip { clip, seconds }).unwrap();
            let alpha = 0.5 + 0.5 * r.signed();
            pose = list.push(Task::Blend { a: pose, b, alpha }).unwrap();
        }
        pose = list
            .push(Task::BoneTransform {
                source: pose,
                bone: BoneIndex(r.below(20) as u16),
                space: BoneSpace::Local,
                mode: BoneMode::Additive,
                alpha: 1.0,
                translation: r.vec3(0.1).to_array(),
                rotation: r.quat(0.5).to_array(),
                scale: [1.0; 3],
            })
            .unwrap();
        list.set_output(pose).unwrap();
        let (mut bytes, mut again) = (Vec::new(), Vec::new());
        encode_wire(&list, &scale, &mut bytes);
        let mut back = TaskList::default();
        decode_wire(&bytes, &scale, &mut back).unwrap();
        encode_wire(&back, &scale, &mut again);
        assert_eq!(bytes, again, "what was rounded is not rounded on");
        let (exact, wire) = (palette(&rig, &mut list), palette(&rig, &mut back));
        for (a, b) in exact.iter().zip(&wire) {
            let off = a.to_affine().translation.distance(b.to_affine().translation);
            worst = worst.max(off);
        }
    }
    assert!(worst > 0.0 && worst < 0.005 * size, "{worst}");
}

proptest! {
    #[test]
    fn random_bytes_are_a_list_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let (skeleton, clips) = testing::character(Shape::plain(3), 1, 2);
        let scale = WireScale::new(&Rig::new(skeleton, &clips).unwrap(), 2.0);
        let mut list = TaskList::default();
        let wire = decode_wire(&bytes, &scale, &mut list).is_ok();
        prop_assert!(wire || list.is_empty());
        prop_assert!(list.len() <= bytes.len());
        if decode(&bytes, &mut list).is_ok() {
            let mut again = Vec::new();
            encode(&list, &mut again);
            prop_assert!(again.len() <= bytes.len());
        } else {
            prop_assert!(list.is_empty());
        }
    }

    #[test]
    fn a_damaged_list_is_a_list_or_an_error(
        seed in 1u64.., flips in prop::collection::vec((0usize..400, any::<u8>()), 1..4),
    ) {
        let mut bytes = Vec::new();
        encode(&lists(1, seed)[0], &mut bytes);
        for (at, value) in flips {
            let at = at % bytes.len();
            bytes[at] = value;
        }
        let mut list = TaskList::default();
        prop_assert!(decode(&bytes, &mut list).is_ok() || list.is_empty());
        list.sweep();
    }
}
