//! Each kernel by itself, on poses that stay in the first-level cache.

use super::median;
use super::passes::Rigs;
use super::workload::BONES;
use crate::index::{BoneCount, BoneIndex, ClipId};
use crate::math::{Lanes, Mat3x4, SimdLevel, Trs};
use crate::pose::kernels::bone::{BoneMode, BoneSpace, bone_transform, translate_bone};
use crate::pose::kernels::history::History;
use crate::pose::kernels::ik::fabrik::{Chain, fabrik};
use crate::pose::kernels::ik::foot::{Ground, foot_ik};
use crate::pose::kernels::ik::look_at::{Gaze, look_at};
use crate::pose::kernels::ik::two_bone::{Limb, Reach, two_bone};
use crate::pose::kernels::masked::{Mask, blend_masked};
use crate::pose::kernels::mesh_additive::{MeshScratch, apply_mesh_additive, make_mesh_additive};
use crate::pose::kernels::resolve::{BATCH, ResolveScratch, resolve};
use crate::pose::kernels::{additive, blend, dead_blend, inertialize, sample};
use crate::pose::{ClipStore, Pose, Rig};
use glam::Vec3;
use serde::Serialize;
use std::time::Instant;

const BONE_COUNT: BoneCount = BoneCount(BONES as u16);
/// Calls in one measurement, and measurements.
const CALLS: usize = 64;
const ROUNDS: usize = 101;

/// One kernel at one level.
#[derive(Serialize)]
pub(super) struct KernelRow {
    pub name: &'static str,
    pub level: SimdLevel,
    pub ns_per_bone: f64,
}

/// Nanoseconds per bone of the median round; `characters` is how many one call does.
fn timed(characters: usize, mut call: impl FnMut(usize)) -> f64 {
    let rounds = (0..ROUNDS).map(|_| {
        let start = Instant::now();
        (0..CALLS).for_each(&mut call);
        start.elapsed().as_nanos() as f64 / (CALLS * characters * BONES) as f64
    });
    median(rounds.collect())
}

/// Measures every kernel at every level. Solvers, captures, mesh-space additives and what changes
/// one bone have one source for all levels, and so about the same figure at each. What touches a
/// few bones only is spread over all [`BONES`] like the rest.
pub(super) fn measure(rigs: &Rigs, levels: &[Lanes]) -> Vec<KernelRow> {
    let rig = &rigs.rig;
    let pose_of = |clip: ClipId, seconds: f32| {
        let mut pose = Pose::default();
        pose.fit(rig.shape());
        match rig.clip(clip) {
            Some(clip) => sample::sample(Lanes::best(), clip, seconds, BONE_COUNT, &mut pose),
            None => sample::reference(rig.reference(), BONE_COUNT, &mut pose),
        }
        pose
    };
    let (a, b) = (pose_of(ClipId(0), 0.3), pose_of(ClipId(1), 0.7));
    let difference = pose_of(rigs.additives.first().copied().unwrap_or(ClipId(0)), 1.1);
    let mask = Mask::new(BONE_COUNT, &[0.5; BONES]);
    let mut rows = Vec::new();
    for &lanes in levels {
        let level = lanes.level();
        let mut row = |name, ns_per_bone| rows.push(KernelRow { name, level, ns_per_bone });
        let mut acc = a.clone();
        let rest = rig.rest();
        let stores = [("sample", ClipStore::F32), ("sample_i16", ClipStore::I16)];
        for (name, store) in stores {
            let Some(clip) = rigs.stored(store).clip(ClipId(0)) else { continue };
            row(
                name,
                timed(1, |i| {
                    sample::sample(lanes, clip, i as f32 * 0.001, BONE_COUNT, &mut acc);
                }),
            );
        }
        row("blend", timed(1, |_| blend::blend(lanes, rest, &mut acc, &b, 0.3, BONE_COUNT)));
        row(
            "blend_n (three poses)",
            timed(1, |_| {
                blend::blend(lanes, rest, &mut acc, &b, 0.5, BONE_COUNT);
                blend::blend(lanes, rest, &mut acc, &a, 0.25, BONE_COUNT);
            }),
        );
        row(
            "blend_masked",
            timed(1, |_| {
                blend_masked(lanes, rest, &mut acc, &b, 0.3, &mask, BONE_COUNT);
            }),
        );
        row(
            "apply_additive",
            timed(1, |_| {
                additive::apply_additive(lanes, rest, &mut acc, &difference, 0.3, BONE_COUNT);
            }),
        );
        row(
            "make_additive",
            timed(1, |_| {
                additive::make_additive(lanes, rest, &mut acc, &b, BONE_COUNT);
            }),
        );
        let mut mesh = MeshScratch::default();
        row(
            "make_mesh_additive",
            timed(1, |_| {
                make_mesh_additive(lanes, rig, &mut acc, &b, BONE_COUNT, &mut mesh);
            }),
        );
        let poses = [&a; BATCH];
        let mut scratch = ResolveScratch::default();
        let mut matrices = vec![Mat3x4::IDENTITY; BATCH * rig.palette_len()];
        let mut chunks = matrices.chunks_exact_mut(rig.palette_len().max(1));
        let mut palettes: [&mut [Mat3x4]; BATCH] =
            std::array::from_fn(|_| chunks.next().unwrap_or_default());
        row(
            "resolve",
            timed(BATCH, |_| {
                let done = resolve(lanes, rig, &poses, BONE_COUNT, &mut scratch, &mut palettes);
                debug_assert_eq!(done, Ok(()));
            }),
        );
    }
    for &lanes in levels {
        let level = lanes.level();
        let measured = single(lanes, rig, &a, &b, &difference).into_iter().chain(solvers(rig, &b));
        rows.extend(measured.map(|(name, ns_per_bone)| KernelRow { name, level, ns_per_bone }));
    }
    rows.sort_by_key(|row| row.name);
    rows
}

/// Transitions and the mesh-space additive.
fn single(
    lanes: Lanes,
    rig: &Rig,
    a: &Pose,
    b: &Pose,
    difference: &Pose,
) -> Vec<(&'static str, f64)> {
    let mut acc = a.clone();
    let mut mesh = MeshScratch::default();
    let mut history = History::default();
    history.push(rig, a, BONE_COUNT, 1.0 / 60.0);
    history.push(rig, a, BONE_COUNT, 1.0 / 60.0);
    let mut out = vec![(
        "apply_mesh_additive",
        timed(1, |_| {
            apply_mesh_additive(rig, &mut acc, difference, 0.3, BONE_COUNT, &mut mesh);
        }),
    )];
    out.push((
        "inertialize_capture",
        timed(1, |_| {
            inertialize::capture(rig, &mut history, b, BONE_COUNT);
        }),
    ));
    let mut acc = b.clone();
    out.push((
        "inertialize_apply",
        timed(1, |_| {
            inertialize::apply(lanes, rig.rest(), &history, &mut acc, BONE_COUNT, 0.1, 0.3);
        }),
    ));
    out.push((
        "dead_blend_capture",
        timed(1, |_| {
            dead_blend::capture(rig, &mut history, BONE_COUNT);
        }),
    ));
    out.push((
        "dead_blend_apply",
        timed(1, |_| {
            dead_blend::apply(lanes, rig.rest(), &history, &mut acc, BONE_COUNT, 0.1, 0.3);
        }),
    ));
    out
}

/// Solvers, and what changes one bone.
fn solvers(rig: &Rig, pose: &Pose) -> Vec<(&'static str, f64)> {
    let mut acc = pose.clone();
    let mut out = Vec::new();
    let limb = Limb { root: BoneIndex(11), mid: BoneIndex(13), end: BoneIndex(15) };
    let target = Vec3::new(0.1, 1.0, 0.2);
    let reach = Reach { target, pole: Vec3::NAN, soften: 0.1, alpha: 1.0 };
    out.push(("two_bone_ik", timed(1, |_| two_bone(rig, &mut acc, limb, &reach, BONE_COUNT))));
    let chain = Chain {
        root: BoneIndex(1),
        end: BoneIndex(15),
        target,
        iterations: 8,
        tolerance: 1e-3,
        alpha: 1.0,
    };
    out.push(("fabrik", timed(1, |_| fabrik(rig, &mut acc, &chain, None, BONE_COUNT))));
    let gaze = Gaze { bone: BoneIndex(6), forward: Vec3::Z, target, limit: 1.0, alpha: 1.0 };
    out.push(("look_at", timed(1, |_| look_at(rig, &mut acc, &gaze, BONE_COUNT))));
    let leg = Limb { root: BoneIndex(52), mid: BoneIndex(54), end: BoneIndex(56) };
    let ground = Ground { offset: Vec3::new(0.0, 0.01, 0.0), normal: Vec3::Y, alpha: 0.5 };
    out.push(("foot_ik", timed(1, |_| foot_ik(rig, &mut acc, leg, &ground, BONE_COUNT))));
    let (at, space) = (BoneIndex(6), (BoneSpace::Component, BoneMode::Override));
    let change = Trs { translation: target, ..Trs::IDENTITY };
    out.push((
        "bone_transform",
        timed(1, |_| bone_transform(rig, &mut acc, at, space, &change, 0.5, BONE_COUNT)),
    ));
    let up = Vec3::new(0.0, 1e-4, 0.0);
    out.push((
        "translate_bone",
        timed(1, |_| translate_bone(rig, &mut acc, at, BoneSpace::Component, up, 0.5, BONE_COUNT)),
    ));
    out
}
