//! Blending two poses.

use super::{enter, weight};
use crate::index::BoneCount;
use crate::math::Lanes;
use crate::pose::buffer::{Pose, active_lines};
use crate::pose::streams::{GROUP, GroupSet, LINE, Line, groups_for};
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
    enter!(lanes, scalar_rotations(acc, b, alpha, active), simd => {
        vector_rotations(simd, acc, b, alpha, active)
    });
    let end = groups_for(active.get());
    let (moved, scaled) = (acc.moved.union(&b.moved), acc.scaled.union(&b.scaled));
    lerp_groups(
        lanes,
        Groups { end, set: moved, a_held: acc.moved, b_held: b.moved },
        acc.translations_mut(),
        b.translations(),
        reference.translations(),
        alpha,
    );
    lerp_groups(
        lanes,
        Groups { end, set: scaled, a_held: acc.scaled, b_held: b.scaled },
        acc.scales_mut(),
        b.scales(),
        reference.scales(),
        alpha,
    );
    (acc.moved, acc.scaled) = (moved, scaled);
}

fn scalar_rotations(acc: &mut Pose, b: &Pose, alpha: f32, active: BoneCount) {
    let b = b.rotations();
    let acc = acc.rotations_mut();
    for line in 0..active_lines(active) {
        for lane in 0..LINE {
            let p: [f32; 4] = std::array::from_fn(|c| acc[c][line].0[lane]);
            let q: [f32; 4] = std::array::from_fn(|c| b[c][line].0[lane]);
            let dot = p[0] * q[0] + p[1] * q[1] + p[2] * q[2] + p[3] * q[3];
            let near = alpha.copysign(dot);
            let r: [f32; 4] = std::array::from_fn(|c| p[c] * (1.0 - alpha) + q[c] * near);
            let length = (r[0] * r[0] + r[1] * r[1] + r[2] * r[2] + r[3] * r[3]).sqrt();
            for c in 0..4 {
                acc[c][line].0[lane] = r[c] / length;
            }
        }
    }
}

#[inline(always)]
fn vector_rotations<S: Simd>(simd: S, acc: &mut Pose, b: &Pose, alpha: f32, active: BoneCount) {
    let lines = active_lines(active);
    let [bx, by, bz, bw] = b.rotations().map(|s| &s[..lines]);
    let [ax, ay, az, aw] = acc.rotations_mut().map(|s| &mut s[..lines]);
    let far = S::f32s::simd_from(simd, 1.0 - alpha);
    let near = S::f32s::simd_from(simd, alpha);
    let one = S::f32s::simd_from(simd, 1.0);
    let width = S::f32s::LEN;
    for line in 0..lines {
        for at in (0..LINE).step_by(width) {
            let load = |s: &Line| S::f32s::from_slice(simd, &s.0[at..at + width]);
            let p = [load(&ax[line]), load(&ay[line]), load(&az[line]), load(&aw[line])];
            let q = [load(&bx[line]), load(&by[line]), load(&bz[line]), load(&bw[line])];
            let dot = p[0] * q[0];
            let dot = p[1].mul_add(q[1], dot);
            let dot = p[2].mul_add(q[2], dot);
            let dot = p[3].mul_add(q[3], dot);
            let near = near.copysign(dot);
            let r: [S::f32s; 4] = std::array::from_fn(|c| q[c].mul_add(near, p[c] * far));
            let n = r[0] * r[0];
            let n = r[1].mul_add(r[1], n);
            let n = r[2].mul_add(r[2], n);
            let n = r[3].mul_add(r[3], n);
            let scale = one / n.sqrt();
            (r[0] * scale).store_slice(&mut ax[line].0[at..at + width]);
            (r[1] * scale).store_slice(&mut ay[line].0[at..at + width]);
            (r[2] * scale).store_slice(&mut az[line].0[at..at + width]);
            (r[3] * scale).store_slice(&mut aw[line].0[at..at + width]);
        }
    }
}

/// Which groups a blend of vectors touches, and which of them each side holds.
struct Groups {
    end: usize,
    set: GroupSet,
    a_held: GroupSet,
    b_held: GroupSet,
}

fn lerp_groups(
    lanes: Lanes,
    groups: Groups,
    a: [&mut [Line]; 3],
    b: [&[Line]; 3],
    reference: [&[Line]; 3],
    alpha: f32,
) {
    for (a, (b, reference)) in a.into_iter().zip(b.into_iter().zip(reference)) {
        enter!(lanes, scalar_groups(&groups, a, b, reference, alpha), simd => {
            vector_groups(simd, &groups, a, b, reference, alpha)
        });
    }
}

fn scalar_groups(groups: &Groups, a: &mut [Line], b: &[Line], reference: &[Line], alpha: f32) {
    for group in groups.set.below(groups.end) {
        let rest = reference[group / 2].group(group);
        let to = a[group / 2].group_mut(group);
        let from = if groups.b_held.contains(group) { b[group / 2].group(group) } else { rest };
        for lane in 0..GROUP {
            let x = if groups.a_held.contains(group) { to[lane] } else { rest[lane] };
            to[lane] = x + alpha * (from[lane] - x);
        }
    }
}

#[inline(always)]
fn vector_groups<S: Simd>(
    simd: S,
    groups: &Groups,
    a: &mut [Line],
    b: &[Line],
    reference: &[Line],
    alpha: f32,
) {
    let alpha = f32x8::splat(simd, alpha);
    for group in groups.set.below(groups.end) {
        let rest = reference[group / 2].group(group);
        let to = a[group / 2].group_mut(group);
        let from = if groups.b_held.contains(group) { b[group / 2].group(group) } else { rest };
        let x = f32x8::load_array_ref(simd, if groups.a_held.contains(group) { to } else { rest });
        let y = f32x8::load_array_ref(simd, from);
        alpha.mul_add(y - x, x).store_array(to);
    }
}
