//! Once warm, a worker executes lists of every kind without asking the heap for memory.

#![allow(clippy::unwrap_used, reason = "what is missing or wrong fails the test")]

use std::hint::black_box;
use throng::app::alloc::{CountingAllocator, allocations};
use throng::index::{BoneCount, BoneIndex, ClipId};
use throng::math::{Mat3x4, Trs};
use throng::pose::kernels::bone::{BoneMode, BoneSpace};
use throng::pose::kernels::ik::{fabrik::Chain, look_at::Gaze, stand::Stance, two_bone::*};
use throng::pose::skeleton::SkeletonParts;
use throng::pose::{GroundPatch, PaletteEntry, Rig, Skeleton, UniformClip};
use throng::task::*;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

const BONES: u16 = 24;

fn rig() -> Rig {
    let rest = Trs { translation: glam::Vec3::Y * 0.1, ..Trs::IDENTITY };
    let skeleton = Skeleton::new(SkeletonParts {
        names: (0..BONES).map(|b| b.to_string()).collect(),
        parents: (0..BONES).map(|b| b.checked_sub(1).map(BoneIndex)).collect(),
        rest: vec![rest; usize::from(BONES)],
        model_from_root_parent: vec![Default::default(); usize::from(BONES)],
        palette: (0..BONES)
            .map(|b| PaletteEntry { bone: BoneIndex(b), bone_from_mesh: Default::default() })
            .collect(),
        low_detail_bone_count: BoneCount(9),
    })
    .unwrap();
    let clip = |name: &str, turn: f32| UniformClip {
        name: name.into(),
        rate_hz: 30.0,
        frame_count: 8,
        locals: (0..8 * BONES)
            .map(|i| Trs { rotation: glam::Quat::from_rotation_x(turn * f32::from(i % 5)), ..rest })
            .collect(),
        max_error_m: 0.0,
    };
    Rig::new(skeleton, &[clip("a", 0.1), clip("b", 0.2)]).unwrap()
}

/// One list with every kind in it; `frame` changes its shape a little.
fn record(list: &mut TaskList, frame: u32) -> Result<(), TaskError> {
    list.clear();
    let seconds = frame as f32 * 0.01;
    let transition = Transition {
        history: HistoryId(0),
        elapsed: (frame % 20) as f32 * 0.02,
        duration: 0.3,
        dt: 0.02,
        capture: frame.is_multiple_of(20),
    };
    let space = AdditiveSpace::Mesh;
    let limb = Limb { root: BoneIndex(2), mid: BoneIndex(5), end: BoneIndex(7) };
    let target = glam::Vec3::new(0.2, 0.4, 0.1);
    let a = list.push(Task::SampleClip { clip: ClipId(0), seconds })?;
    let b = list.push(Task::SampleClip { clip: ClipId(1), seconds })?;
    let rest = list.push(Task::ReferencePose)?;
    let two = list.push(Task::Blend { a, b, alpha: 0.5 })?;
    // The first sample is read again: a copy.
    let masked = list.push(Task::BlendMasked { a, b: two, alpha: 0.5, mask: MaskId(0) })?;
    let delta = list.push(Task::MakeAdditive { source: b, reference: rest, space })?;
    let added = list.push(Task::ApplyAdditive { base: masked, delta, alpha: 0.5, space })?;
    let source = list.push(Task::Inertialize { source: added, transition })?;
    let history = HistoryId(1);
    let transition = Transition { history, ..transition };
    let source = list.push_staged(Task::DeadBlend { source, transition }, Stage::PostPhysics)?;
    let source = list.push(Task::SavePoseSnapshot { source, snapshot: SnapshotId(0) })?;
    let loaded = list.push(Task::LoadPoseSnapshot { snapshot: SnapshotId(0) })?;
    let source = list.push(Task::Blend { a: source, b: loaded, alpha: 0.1 })?;
    let source = list.push(Task::BoneTransform {
        source,
        bone: BoneIndex(1),
        space: BoneSpace::Component,
        mode: BoneMode::Additive,
        alpha: 1.0,
        translation: [0.1; 3],
        rotation: [0.0, 0.0, 0.1, 1.0],
        scale: [1.0; 3],
    })?;
    let (bone, space, alpha) = (BoneIndex(3), BoneSpace::Local, 1.0);
    let source =
        list.push(Task::TranslateBone { source, bone, space, alpha, offset: [0.0, 0.1, 0.0] })?;
    let reach = Reach { target, pole: glam::Vec3::Z, soften: 0.1, alpha };
    let source = list.push(Task::TwoBoneIk { source, limb, reach })?;
    let (root, end) = (BoneIndex(9), BoneIndex(14));
    let chain = Chain { root, end, target, iterations: 5, tolerance: 1e-3, alpha };
    let source = list.push(Task::Fabrik { source, chain, weights: MaskId(0) })?;
    let gaze = Gaze { bone: BoneIndex(20), forward: glam::Vec3::Y, target, limit: 1.0, alpha };
    let source = list.push(Task::LookAt { source, gaze })?;
    let stance = Stance { hips: BoneIndex(0), legs: [limb; 2], alpha };
    let output = list.push(Task::FootIk { source, stance })?;
    list.set_ground(Some(GroundPatch::fit(target, 0.3, |at| 0.1 * at.x)));
    list.set_output(output)?;
    list.set_cut(frame.is_multiple_of(3).then_some(BoneCount(9 + 16 * (frame % 2) as u16)));
    list.sweep();
    Ok(())
}

struct Cast {
    rig: Rig,
    masks: Masks,
    lists: Vec<TaskList>,
    states: Vec<PoseState>,
    palettes: Vec<Mat3x4>,
    worker: Worker,
}

fn frame(cast: &mut Cast, frame: u32) {
    let Cast { rig, masks, lists, states, palettes, worker } = cast;
    // Somebody has been away, and comes back with nothing to go on from.
    states[frame as usize * 7 % 50].clear();
    for (at, list) in lists.iter_mut().enumerate() {
        record(list, frame + at as u32).unwrap();
    }
    let mut batch = worker.batch();
    let halves = frame.is_multiple_of(2);
    if halves {
        for (list, state) in lists.iter_mut().zip(states.iter_mut()) {
            let mut context = Context { masks, state, capture: None, kept: None };
            batch.execute_before_physics(rig, list, &mut context);
        }
    }
    let palettes = palettes.chunks_exact_mut(rig.palette_len());
    for ((list, state), palette) in lists.iter_mut().zip(states.iter_mut()).zip(palettes) {
        let mut context = Context { masks, state, capture: None, kept: None };
        match halves {
            true => batch.execute_after_physics(rig, list, &mut context, palette).unwrap(),
            false => batch.execute_with(rig, list, &mut context, palette).unwrap(),
        }
    }
    batch.finish();
}

#[test]
fn a_warm_worker_does_not_allocate() {
    let rig = rig();
    let mut masks = Masks::default();
    masks.add(rig.bone_count(), &[0.5; 7]).unwrap();
    for (prune, steal) in [(true, true), (false, false)] {
        let palettes = vec![Mat3x4::IDENTITY; 50 * rig.palette_len()];
        let options = WorkerOptions { prune, steal, ..WorkerOptions::default() };
        let mut cast = Cast {
            rig: rig.clone(),
            masks: masks.clone(),
            lists: vec![TaskList::default(); 50],
            states: vec![PoseState::new(2, 1); 50],
            palettes,
            worker: Worker::new(options),
        };
        (0..60).for_each(|at| frame(&mut cast, at));
        let before = allocations().unwrap();
        (60..180).for_each(|at| frame(&mut cast, at));
        assert_eq!(allocations().unwrap() - before, 0, "prune {prune} steal {steal}");
        let stats = cast.worker.take_stats();
        for kind in TaskKind::ALL {
            assert!(stats.executed[kind as usize].count > 0, "{kind:?} never ran");
        }
        // The counter counts.
        let before = allocations().unwrap();
        black_box(vec![1_u8; 100]);
        assert_eq!(allocations().unwrap() - before, 1);
    }
}
