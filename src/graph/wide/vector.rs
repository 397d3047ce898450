//! All lanes at once.

use super::{ARRIVED, Decay, LANES, Values, Wide, left_of};
use crate::graph::plan::{Ahead, Compute, Smoothed};
use fearless_simd::prelude::*;
use fearless_simd::{Simd, f32x16};

#[inline(always)]
pub(super) fn run<S: Simd>(simd: S, values: &mut Values, ahead: &[Ahead]) {
    for op in ahead {
        match op {
            Ahead::Compute(op) => compute(simd, values, op),
            Ahead::Smooth(op) => smooth(simd, values, op),
        }
    }
}

#[inline(always)]
fn compute<S: Simd>(simd: S, values: &mut Values, op: &Compute) {
    let of = |place: usize| values.all[place].load(simd);
    let [a, b] = [op.a, op.b].map(|place| of(place.get()));
    let value = match op.function {
        Some(function) => function.eval_wide(simd, a, b),
        None => of(op.condition.get()).simd_gt(f32x16::splat(simd, 0.5)).select(a, b),
    };
    value.store_slice(&mut values.all[op.dst.get()].0);
}

#[inline(always)]
fn smooth<S: Simd>(simd: S, values: &mut Values, op: &Smoothed) {
    let splat = |v| f32x16::splat(simd, v);
    let of = |place: usize| values.all[place].load(simd);
    let (value, half_life, slot) = (of(op.value.get()), of(op.half_life.get()), op.slot.get());
    let left = left(simd, &mut values.decays[slot], values.dt, half_life);
    let kept = values.kept[slot].load(simd);
    let rests = kept.simd_eq(value);
    let next = kept.simd_eq(kept).select(value + (kept - value) * left, value);
    let size = value.abs();
    let size = size.simd_lt(splat(1.0)).select(splat(1.0), size);
    let far = (next - value).abs().simd_gt(splat(ARRIVED) * size);
    let finite = next.abs().simd_lt(splat(f32::INFINITY));
    let next = (far & finite).select(next, value);
    rests.select(kept, next).store_slice(&mut values.kept[slot].0);
    rests.select(value, next).store_slice(&mut values.all[op.dst.get()].0);
}

/// What each lane's step leaves of a distance.
#[inline(always)]
fn left<S: Simd>(simd: S, decay: &mut Decay, dt: Wide, half_life: f32x16<S>) -> f32x16<S> {
    let same =
        decay.dt.load(simd).simd_eq(dt.load(simd)) & decay.half_life.load(simd).simd_eq(half_life);
    if same.to_bitmask() != (1 << LANES) - 1 {
        renew(decay, dt, Wide::of(half_life));
    }
    decay.left.load(simd)
}

/// Computes it anew. Neighbours mostly have one step and one half-life.
#[cold]
fn renew(decay: &mut Decay, dt: Wide, half_life: Wide) {
    let mut last = (f32::NAN, 0.0, 0.0);
    for lane in 0..LANES {
        let (dt, half_life) = (dt.0[lane], half_life.0[lane]);
        if (dt, half_life) != (last.0, last.1) {
            last = (dt, half_life, left_of(dt, half_life));
        }
        decay.left.0[lane] = last.2;
    }
    (decay.dt, decay.half_life) = (dt, half_life);
}
