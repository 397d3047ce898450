//! Differences between poses, and adding them.
//!
//! A difference is `src * inverse(reference)` for rotations (it is applied on the left), `src -
//! reference` for translations and `src / reference` for scales. So adding the whole difference to
//! the reference gives the source back.

use super::quat::{conjugate, dot, normalized, product, scalar};
use super::{enter, weight};
use crate::index::BoneCount;
use crate::math::Lanes;
use crate::pose::buffer::{Pose, Rest};
use crate::pose::streams::{GROUP, LINE, Vec3Group, blocks_for, groups_for};
use fearless_simd::Simd;
use fearless_simd::prelude::*;

/// `acc` becomes its difference to `reference`, a pose of the same rig. Where the reference has a
/// scale of zero the ratio is one.
pub fn make_additive(
    lanes: Lanes,
    rest: Rest<'_>,
    acc: &mut Pose,
    reference: &Pose,
    active: BoneCount,
) {
    let blocks = blocks_for(active.get());
    enter!(lanes, scalar_make(acc, reference, blocks), simd => {
        vector_make(simd, acc, reference, blocks)
    });
    let end = groups_for(active.get());
    let (a_rest, b_rest) = (rest.of(acc), rest.of(reference));
    acc.moved.each_of_either(&reference.moved, end, |group| {
        let to = &mut acc.translations[group];
        let a = if acc.moved.contains(group) { *to } else { a_rest.translations[group] };
        let held = reference.moved.contains(group);
        let b = &if held { reference } else { b_rest }.translations[group];
        *to = zipped(&a, b, |a, b| a - b);
    });
    acc.moved.insert_all(&reference.moved);
    if !acc.scales.is_empty() {
        acc.scaled.each_of_either(&reference.scaled, end, |group| {
            let to = &mut acc.scales[group];
            let a = if acc.scaled.contains(group) { *to } else { a_rest.scales[group] };
            let held = reference.scaled.contains(group);
            let b = &if held { reference } else { b_rest }.scales[group];
            *to = zipped(&a, b, |a, b| if b.abs() > 1e-9 { a / b } else { 1.0 });
        });
        acc.scaled.insert_all(&reference.scaled);
    }
    acc.is_delta = true;
}

/// Adds `alpha` times a difference to `acc`. Rotations are interpolated from none on the shorter
/// arc, and normalized. `alpha` is limited to 0..=1; not-a-number counts as 0.
pub fn apply_additive(
    lanes: Lanes,
    rest: Rest<'_>,
    acc: &mut Pose,
    delta: &Pose,
    alpha: f32,
    active: BoneCount,
) {
    let alpha = weight(alpha);
    let blocks = blocks_for(active.get());
    enter!(lanes, scalar_apply(acc, delta, alpha, blocks), simd => {
        vector_apply(simd, acc, delta, alpha, blocks)
    });
    add_vectors(rest, acc, delta, alpha, active);
}

/// The translations and scales of a difference, added to `acc`.
pub(super) fn add_vectors(
    rest: Rest<'_>,
    acc: &mut Pose,
    delta: &Pose,
    alpha: f32,
    active: BoneCount,
) {
    let end = groups_for(active.get());
    let stand_in = rest.of(acc);
    delta.moved.each_below(end, |group| {
        let to = &mut acc.translations[group];
        let a = if acc.moved.contains(group) { *to } else { stand_in.translations[group] };
        *to = zipped(&a, &delta.translations[group], |a, d| a + alpha * d);
    });
    acc.moved.insert_all(&delta.moved);
    if !acc.scales.is_empty() {
        delta.scaled.each_below(end, |group| {
            let to = &mut acc.scales[group];
            let a = if acc.scaled.contains(group) { *to } else { stand_in.scales[group] };
            *to = zipped(&a, &delta.scales[group], |a, d| a * (1.0 + alpha * (d - 1.0)));
        });
        acc.scaled.insert_all(&delta.scaled);
    }
}

#[inline(always)]
fn zipped(a: &Vec3Group, b: &Vec3Group, op: impl Fn(f32, f32) -> f32) -> Vec3Group {
    let mut out = *a;
    for component in 0..3 {
        for lane in 0..GROUP {
            out.0[component][lane] = op(a.0[component][lane], b.0[component][lane]);
        }
    }
    out
}

fn scalar_make(acc: &mut Pose, reference: &Pose, blocks: usize) {
    for (acc, b) in acc.rotations[..blocks].iter_mut().zip(&reference.rotations) {
        for lane in 0..LINE {
            let [x, y, z, w] = b.get(lane);
            acc.set(lane, scalar::normalized(scalar::product(acc.get(lane), [-x, -y, -z, w])));
        }
    }
}

#[inline(always)]
fn vector_make<S: Simd>(simd: S, acc: &mut Pose, reference: &Pose, blocks: usize) {
    for (acc, b) in acc.rotations[..blocks].iter_mut().zip(&reference.rotations) {
        for at in (0..LINE).step_by(S::f32s::LEN) {
            let inverse = conjugate::<S>(b.load(simd, at));
            let delta = product(acc.load(simd, at), inverse);
            acc.store::<S>(at, normalized(simd, delta));
        }
    }
}

fn scalar_apply(acc: &mut Pose, delta: &Pose, alpha: f32, blocks: usize) {
    for (acc, d) in acc.rotations[..blocks].iter_mut().zip(&delta.rotations) {
        for lane in 0..LINE {
            let d = d.get(lane);
            let near = alpha.copysign(d[3]);
            let part = [d[0] * near, d[1] * near, d[2] * near, d[3] * near + (1.0 - alpha)];
            acc.set(lane, scalar::normalized(scalar::product(part, acc.get(lane))));
        }
    }
}

#[inline(always)]
fn vector_apply<S: Simd>(simd: S, acc: &mut Pose, delta: &Pose, alpha: f32, blocks: usize) {
    let (near, far) = (S::f32s::simd_from(simd, alpha), S::f32s::simd_from(simd, 1.0 - alpha));
    let one = S::f32s::simd_from(simd, 1.0);
    for (acc, d) in acc.rotations[..blocks].iter_mut().zip(&delta.rotations) {
        for at in (0..LINE).step_by(S::f32s::LEN) {
            let d = d.load(simd, at);
            let near = near.copysign(d[3]);
            let part = [d[0] * near, d[1] * near, d[2] * near, d[3].mul_add(near, far)];
            let q = product(part, acc.load(simd, at));
            let scale = one / dot(q, q).sqrt();
            acc.store::<S>(at, [q[0] * scale, q[1] * scale, q[2] * scale, q[3] * scale]);
        }
    }
}
