//! Each kernel by itself, on poses that stay in the first-level cache.

use super::passes::Rigs;
use super::workload::BONES;
use super::{median, solvers};
use crate::index::{BoneCount, ClipId};
use crate::math::{Lanes, Mat3x4, SimdLevel};
use crate::pose::kernels::history::History;
use crate::pose::kernels::masked::{Mask, blend_masked};
use crate::pose::kernels::mesh_additive::{MeshScratch, apply_mesh_additive, make_mesh_additive};
use crate::pose::kernels::resolve::{BATCH, ResolveScratch, resolve};
use crate::pose::kernels::{additive, blend, dead_blend, inertialize, sample};
use crate::pose::{ClipStore, Detail, Pose, Rig};
use serde::Serialize;
use std::time::Instant;

pub(super) const BONE_COUNT: BoneCount = BoneCount(BONES as u16);
/// Calls in one measurement, and measurements.
const CALLS: usize = 64;
const ROUNDS: usize = 101;

/// One kernel at one level.
#[derive(Serialize)]
pub(super) struct KernelRow {
    pub name: &'static str,
    pub level: SimdLevel,
    /// The time of one pose over all of its [`BONES`], also where few of them are touched.
    pub ns_per_bone: f64,
    /// The time of one pose: what a task costs, or the resolve of one character of a batch.
    pub ns_per_task: f64,
}

impl KernelRow {
    fn new(name: &'static str, level: SimdLevel, ns_per_bone: f64) -> Self {
        Self { name, level, ns_per_bone, ns_per_task: ns_per_bone * BONES as f64 }
    }
}

/// Nanoseconds per bone of the median round; `characters` is how many one call does.
pub(super) fn timed(characters: usize, mut call: impl FnMut(usize)) -> f64 {
    let rounds = (0..ROUNDS).map(|_| {
        let start = Instant::now();
        (0..CALLS).for_each(&mut call);
        start.elapsed().as_nanos() as f64 / (CALLS * characters * BONES) as f64
    });
    median(rounds.collect())
}

/// Measures every kernel at every level. Solvers, captures, mesh-space additives and what changes
/// one bone have one source for all levels, and so about the same figure at each.
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
        let mut row = |name, ns_per_bone| rows.push(KernelRow::new(name, level, ns_per_bone));
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
        let (poses, all) = ([&a; BATCH], (BONE_COUNT, Detail::Whole));
        let mut scratch = ResolveScratch::default();
        let mut matrices = vec![Mat3x4::IDENTITY; BATCH * rig.palette_len()];
        let mut chunks = matrices.chunks_exact_mut(rig.palette_len().max(1));
        let mut palettes: [&mut [Mat3x4]; BATCH] =
            std::array::from_fn(|_| chunks.next().unwrap_or_default());
        row(
            "resolve",
            timed(BATCH, |_| {
                let done = resolve(lanes, rig, &poses, all, &mut scratch, &mut palettes);
                debug_assert_eq!(done, Ok(()));
            }),
        );
    }
    for &lanes in levels {
        let level = lanes.level();
        let measured =
            single(lanes, rig, &a, &b, &difference).into_iter().chain(solvers::measure(rig, &b));
        rows.extend(measured.map(|(name, ns_per_bone)| KernelRow::new(name, level, ns_per_bone)));
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
