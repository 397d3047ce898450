//! Blending two poses.

use super::{enter, quat, weight};
use crate::index::BoneCount;
use crate::math::Lanes;
use crate::pose::buffer::{Pose, Rest};
use crate::pose::streams::{GROUP, LINE, QuatBlock, Vec3Group, blocks_for, groups_for};
use fearless_simd::prelude::*;
use fearless_simd::{Simd, f32x8};

/// `acc = lerp(acc, b, alpha)`: rotations on the shorter arc and normalized (nlerp), translations
/// and scales linearly. `alpha` is limited to 0..=1 (not-a-number counts as 0); both ends give
/// their input's rotation, normalized. Against slerp, nlerp is at most 0.9 degrees off between
/// rotations that are 90 degrees apart, and 8.2 degrees between half turns.
///
/// `rest` stands in for groups that one side lacks.
pub fn blend(
    lanes: Lanes,
    rest: Rest<'_>,
    acc: &mut Pose,
    b: &Pose,
    alpha: f32,
    active: BoneCount,
) {
    let alpha = weight(alpha);
    enter!(lanes, scalar(rest, acc, b, alpha, active), simd => {
        vector(simd, rest, acc, b, alpha, active)
    });
    acc.moved.insert_all(&b.moved);
    acc.scaled.insert_all(&b.scaled);
}

fn scalar(rest: Rest<'_>, acc: &mut Pose, b: &Pose, alpha: f32, active: BoneCount) {
    let blocks = blocks_for(active.get());
    for (acc, b) in acc.rotations[..blocks].iter_mut().zip(&b.rotations) {
        for lane in 0..LINE {
            acc.set(lane, quat::scalar::nlerp(acc.get(lane), b.get(lane), alpha));
        }
    }
    each_group(rest, acc, b, active, |_, to, a, b| {
        for component in 0..3 {
            for lane in 0..GROUP {
                let (a, b) = (a.0[component][lane], b.0[component][lane]);
                to.0[component][lane] = a + alpha * (b - a);
            }
        }
    });
}

#[inline(always)]
fn vector<S: Simd>(
    simd: S,
    rest: Rest<'_>,
    acc: &mut Pose,
    b: &Pose,
    alpha: f32,
    active: BoneCount,
) {
    let blocks = blocks_for(active.get());
    for (acc, b) in acc.rotations[..blocks].iter_mut().zip(&b.rotations) {
        nlerp_block(simd, acc, b, alpha);
    }
    let alpha = f32x8::splat(simd, alpha);
    each_group(rest, acc, b, active, |_, to, a, b| {
        for ((to, a), b) in to.0.iter_mut().zip(&a.0).zip(&b.0) {
            let (a, b) = (f32x8::load_array_ref(simd, a), f32x8::load_array_ref(simd, b));
            alpha.mul_add(b - a, a).store_array(to);
        }
    });
}

/// What a group is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// Translations.
    Translation,
    /// Scales.
    Scale,
}

/// Calls `lerp((part, group), to, a, b)` for every group that either side holds.
#[inline(always)]
pub(super) fn each_group(
    rest: Rest<'_>,
    acc: &mut Pose,
    b: &Pose,
    active: BoneCount,
    mut lerp: impl FnMut((Part, usize), &mut Vec3Group, &Vec3Group, &Vec3Group),
) {
    let end = groups_for(active.get());
    let (a_rest, b_rest) = (rest.of(acc), rest.of(b));
    acc.moved.each_of_either(&b.moved, end, |group| {
        let to = &mut acc.translations[group];
        let a = if acc.moved.contains(group) { *to } else { a_rest.translations[group] };
        let b = if b.moved.contains(group) { b } else { b_rest };
        lerp((Part::Translation, group), to, &a, &b.translations[group]);
    });
    if acc.scales.is_empty() {
        return;
    }
    acc.scaled.each_of_either(&b.scaled, end, |group| {
        let to = &mut acc.scales[group];
        let a = if acc.scaled.contains(group) { *to } else { a_rest.scales[group] };
        let b = if b.scaled.contains(group) { b } else { b_rest };
        lerp((Part::Scale, group), to, &a, &b.scales[group]);
    });
}

#[inline(always)]
fn nlerp_block<S: Simd>(simd: S, acc: &mut QuatBlock, b: &QuatBlock, alpha: f32) {
    let alpha = S::f32s::simd_from(simd, alpha);
    for at in (0..LINE).step_by(S::f32s::LEN) {
        let r = quat::nlerp(simd, acc.load(simd, at), b.load(simd, at), alpha);
        acc.store::<S>(at, r);
    }
}
