//! Blending two poses.

use super::{enter, weight};
use crate::index::BoneCount;
use crate::math::Lanes;
use crate::pose::buffer::Pose;
use crate::pose::kernels::quat::dot;
use crate::pose::streams::{GROUP, LINE, QuatBlock, Vec3Group, blocks_for, groups_for};
use fearless_simd::prelude::*;
use fearless_simd::{Simd, f32x8};

/// `acc = lerp(acc, b, alpha)`: rotations on the shorter arc and normalized (nlerp), translations
/// and scales linearly. `alpha` is limited to 0..=1 (not-a-number counts as 0); both ends give
/// their input's rotation, normalized.
///
/// `reference` is the rig's reference pose, which stands in for groups that one side lacks.
pub fn blend(
    lanes: Lanes,
    reference: &Pose,
    acc: &mut Pose,
    b: &Pose,
    alpha: f32,
    active: BoneCount,
) {
    let alpha = weight(alpha);
    enter!(lanes, scalar(reference, acc, b, alpha, active), simd => {
        vector(simd, reference, acc, b, alpha, active)
    });
    acc.moved.insert_all(&b.moved);
    acc.scaled.insert_all(&b.scaled);
}

fn scalar(reference: &Pose, acc: &mut Pose, b: &Pose, alpha: f32, active: BoneCount) {
    let blocks = blocks_for(active.get());
    for (acc, b) in acc.rotations[..blocks].iter_mut().zip(&b.rotations) {
        for lane in 0..LINE {
            let (p, q) = (acc.get(lane), b.get(lane));
            let dot = p[0] * q[0] + p[1] * q[1] + p[2] * q[2] + p[3] * q[3];
            let near = alpha.copysign(dot);
            let r: [f32; 4] = std::array::from_fn(|c| p[c] * (1.0 - alpha) + q[c] * near);
            let length = (r[0] * r[0] + r[1] * r[1] + r[2] * r[2] + r[3] * r[3]).sqrt();
            acc.set(lane, r.map(|x| x / length));
        }
    }
    each_group(reference, acc, b, active, |to, a, b| {
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
    reference: &Pose,
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
    each_group(reference, acc, b, active, |to, a, b| {
        for ((to, a), b) in to.0.iter_mut().zip(&a.0).zip(&b.0) {
            let (a, b) = (f32x8::load_array_ref(simd, a), f32x8::load_array_ref(simd, b));
            alpha.mul_add(b - a, a).store_array(to);
        }
    });
}

/// Calls `lerp(to, a, b)` for every group that either side holds.
#[inline(always)]
fn each_group(
    reference: &Pose,
    acc: &mut Pose,
    b: &Pose,
    active: BoneCount,
    mut lerp: impl FnMut(&mut Vec3Group, &Vec3Group, &Vec3Group),
) {
    let end = groups_for(active.get());
    acc.moved.each_of_either(&b.moved, end, |group| {
        let rest = &reference.translations[group];
        let to = &mut acc.translations[group];
        let a = if acc.moved.contains(group) { *to } else { *rest };
        lerp(to, &a, if b.moved.contains(group) { &b.translations[group] } else { rest });
    });
    if acc.scales.is_empty() {
        return;
    }
    acc.scaled.each_of_either(&b.scaled, end, |group| {
        let rest = &reference.scales[group];
        let to = &mut acc.scales[group];
        let a = if acc.scaled.contains(group) { *to } else { *rest };
        lerp(to, &a, if b.scaled.contains(group) { &b.scales[group] } else { rest });
    });
}

#[inline(always)]
fn nlerp_block<S: Simd>(simd: S, acc: &mut QuatBlock, b: &QuatBlock, alpha: f32) {
    let far = S::f32s::simd_from(simd, 1.0 - alpha);
    let near = S::f32s::simd_from(simd, alpha);
    let one = S::f32s::simd_from(simd, 1.0);
    for at in (0..LINE).step_by(S::f32s::LEN) {
        let (p, q) = (acc.load(simd, at), b.load(simd, at));
        let near = near.copysign(dot(p, q));
        let r = [
            q[0].mul_add(near, p[0] * far),
            q[1].mul_add(near, p[1] * far),
            q[2].mul_add(near, p[2] * far),
            q[3].mul_add(near, p[3] * far),
        ];
        let scale = one / dot(r, r).sqrt();
        acc.store::<S>(at, [r[0] * scale, r[1] * scale, r[2] * scale, r[3] * scale]);
    }
}
