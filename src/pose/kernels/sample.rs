//! Sampling a clip, and the reference pose.

mod short;

use super::enter;
use crate::index::BoneCount;
use crate::math::Lanes;
use crate::pose::buffer::Pose;
use crate::pose::clip_layout::{Channels, Run};
use crate::pose::clip_store::Parts;
use crate::pose::runtime_clip::{Cursor, Frame, Neighbours, RuntimeClip};
use crate::pose::streams::{GROUP, LINE, QuatBlock, Vec3Group, blocks_for, groups_for};
use fearless_simd::prelude::*;
use fearless_simd::{Simd, f32x8};

/// Fills `out` (which must fit the clip's rig) with the clip at `seconds`, clamped to the clip.
///
/// Rotations are interpolated linearly and not normalized: neighbouring frames lie in one
/// hemisphere, and whoever needs unit length normalizes once at the end.
pub fn sample(lanes: Lanes, clip: &RuntimeClip, seconds: f32, active: BoneCount, out: &mut Pose) {
    sample_at(lanes, clip, clip.cursor(seconds), active, out);
}

/// As [`sample`], between two frames.
#[inline(always)]
pub(crate) fn sample_at(
    lanes: Lanes,
    clip: &RuntimeClip,
    at: Cursor,
    active: BoneCount,
    out: &mut Pose,
) {
    still(clip, active, out);
    let (channels, weight) = (&clip.moving, at.weight);
    match clip.neighbours(at) {
        Neighbours::F32(a, b) => enter!(lanes,
            scalar(channels, weight, (a, b), active, out),
            simd => vector(simd, channels, weight, (a, b), active, out)),
        Neighbours::I16(ranges, first, second) => {
            let parts = Parts::of(weight);
            let between = short::Between { ranges, channels, first, second, parts };
            short::sample(lanes, between, active, out);
        }
    }
}

/// Fills `out` with the reference pose: rotations copied, no translation or scale held.
pub fn reference(reference: &Pose, active: BoneCount, out: &mut Pose) {
    let blocks = blocks_for(active.get());
    out.rotations[..blocks].copy_from_slice(&reference.rotations[..blocks]);
    out.is_delta = false;
    out.moved.clear();
    out.scaled.clear();
}

/// Copies what stands still in a clip, and marks the groups that its samples hold.
#[inline(always)]
fn still(clip: &RuntimeClip, active: BoneCount, out: &mut Pose) {
    out.is_delta = clip.is_additive;
    out.moved.assign(&clip.held.0);
    out.scaled.assign(&clip.held.1);
    let frame = clip.still_frame();
    for run in clip.still.rotations.iter().map(|r| r.below(blocks_for(active.get()))) {
        out.rotations[run.pose..][..run.blocks]
            .copy_from_slice(&frame.rotations[run.stored..][..run.blocks]);
    }
    let (translations, scales) = frame.groups.split_at(clip.still.translations.len());
    for (&group, from) in clip.still.translations.iter().zip(translations) {
        out.translations[group].0 = *from;
    }
    for (&group, from) in clip.still.scales.iter().zip(scales) {
        out.scales[group].0 = *from;
    }
}

fn scalar(
    channels: &Channels,
    weight: f32,
    (a, b): (Frame<'_>, Frame<'_>),
    active: BoneCount,
    out: &mut Pose,
) {
    let lerp = |a: f32, b: f32| a + weight * (b - a);
    for run in channels.rotations.iter().map(|r| r.below(blocks_for(active.get()))) {
        for block in 0..run.blocks {
            let to = &mut out.rotations[run.pose + block].0;
            let (a, b) = (&a.rotations[run.stored + block].0, &b.rotations[run.stored + block].0);
            for component in 0..4 {
                for lane in 0..LINE {
                    to[component].0[lane] = lerp(a[component].0[lane], b[component].0[lane]);
                }
            }
        }
    }
    let count = channels.translations.len();
    let blend = |to: &mut Vec3Group, at: usize| {
        for component in 0..3 {
            for lane in 0..GROUP {
                let (a, b) = (a.groups[at][component][lane], b.groups[at][component][lane]);
                to.0[component][lane] = lerp(a, b);
            }
        }
    };
    for (at, &group) in channels.translations.iter().enumerate() {
        blend(&mut out.translations[group], at);
    }
    for (at, &group) in channels.scales.iter().enumerate() {
        blend(&mut out.scales[group], count + at);
    }
}

#[inline(always)]
fn vector<S: Simd>(
    simd: S,
    channels: &Channels,
    factor: f32,
    (a, b): (Frame<'_>, Frame<'_>),
    active: BoneCount,
    out: &mut Pose,
) {
    let weight = S::f32s::simd_from(simd, factor);
    for run in channels.rotations.iter().map(|r| r.below(blocks_for(active.get()))) {
        let to = &mut out.rotations[run.pose..][..run.blocks];
        let (a, b) = (&a.rotations[run.stored..], &b.rotations[run.stored..]);
        for ((to, a), b) in to.iter_mut().zip(a).zip(b) {
            lerp_block(simd, weight, a, b, to);
        }
    }
    let weight = f32x8::splat(simd, factor);
    let end = groups_for(active.get());
    let mut pairs = a.groups.iter().zip(b.groups);
    for (&group, (a, b)) in channels.translations.iter().zip(&mut pairs) {
        if group < end {
            lerp_group(simd, weight, a, b, &mut out.translations[group]);
        }
    }
    for (&group, (a, b)) in channels.scales.iter().zip(pairs) {
        if group < end {
            lerp_group(simd, weight, a, b, &mut out.scales[group]);
        }
    }
}

#[inline(always)]
fn lerp_block<S: Simd>(simd: S, weight: S::f32s, a: &QuatBlock, b: &QuatBlock, to: &mut QuatBlock) {
    let width = S::f32s::LEN;
    for ((to, a), b) in to.0.iter_mut().zip(&a.0).zip(&b.0) {
        for at in (0..LINE).step_by(width) {
            let a = S::f32s::from_slice(simd, &a.0[at..at + width]);
            let b = S::f32s::from_slice(simd, &b.0[at..at + width]);
            weight.mul_add(b - a, a).store_slice(&mut to.0[at..at + width]);
        }
    }
}

#[inline(always)]
fn lerp_group<S: Simd>(
    simd: S,
    weight: f32x8<S>,
    a: &[[f32; GROUP]; 3],
    b: &[[f32; GROUP]; 3],
    to: &mut Vec3Group,
) {
    for ((to, a), b) in to.0.iter_mut().zip(a).zip(b) {
        let (a, b) = (f32x8::load_array_ref(simd, a), f32x8::load_array_ref(simd, b));
        weight.mul_add(b - a, a).store_array(to);
    }
}

impl Run {
    /// The part of the run below a block of the pose; may be empty.
    #[inline(always)]
    fn below(&self, end: usize) -> Self {
        Self { blocks: end.saturating_sub(self.pose).min(self.blocks), ..*self }
    }
}
