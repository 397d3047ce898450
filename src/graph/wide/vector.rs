//! All lanes at once.

use super::{ARRIVED, Decay, LANES, Rows, Values, Wide, decide, groups, left_of, machines, turn};
use crate::graph::bind::BoundProgram;
use crate::graph::instance::Limits;
use crate::graph::plan::{Ahead, Compute, Plan, Smoothed};
use fearless_simd::prelude::*;
use fearless_simd::{Simd, f32x16, i32x16};

#[inline(always)]
pub(super) fn run<S: Simd>(
    simd: S,
    values: &mut Values,
    bound: &BoundProgram,
    plan: &Plan,
    rows: &mut Rows<'_>,
) {
    turn::turn_in(simd, values, rows);
    given(simd, values, plan);
    for op in &plan.ahead {
        op_of(simd, values, op);
    }
    answers(simd, values, plan);
    groups::vector(simd, values, &bound.groups);
    decide::vector(simd, values, bound, plan);
    machines::states(simd, values, plan);
    turn::turn_out(simd, values, rows);
}

#[inline(always)]
fn given<S: Simd>(simd: S, values: &mut Values, plan: &Plan) {
    for (key, (param, limits)) in (values.at.keys..).zip(&plan.refills) {
        let value = values.words[key].load(simd);
        let param = &mut values.words[param.get()];
        let set = value.simd_eq(value);
        set.select(limited(simd, limits, value), param.load(simd)).store_slice(&mut param.0);
    }
    values.all[..values.at.keys].copy_from_slice(&values.words[..values.at.keys]);
    values.all[values.at.keys] = values.dt;
}

/// [`Limits::limited`] of what is a number.
#[inline(always)]
fn limited<S: Simd>(simd: S, limits: &Limits, value: f32x16<S>) -> f32x16<S> {
    let splat = |v| f32x16::splat(simd, v);
    let value = match limits.flag {
        true => value.simd_gt(splat(0.5)).select(splat(1.0), splat(0.0)),
        false => value,
    };
    let (min, max) = (splat(limits.min), splat(limits.max));
    let value = value.simd_lt(min).select(min, value);
    value.simd_gt(max).select(max, value)
}

#[inline(always)]
pub(super) fn op_of<S: Simd>(simd: S, values: &mut Values, op: &Ahead) {
    match op {
        Ahead::Compute(op) => compute(simd, values, op),
        Ahead::Smooth(op) => smooth(simd, values, op),
    }
}

#[inline(always)]
pub(super) fn compute<S: Simd>(simd: S, values: &mut Values, op: &Compute) {
    let of = |place: usize| values.all[place].load(simd);
    let [a, b] = [op.a, op.b].map(|place| of(place.get()));
    let value = match op.function {
        Some(function) => function.eval_wide(simd, a, b),
        None => of(op.condition.get()).simd_gt(f32x16::splat(simd, 0.5)).select(a, b),
    };
    value.store_slice(&mut values.all[op.dst.get()].0);
}

#[inline(always)]
pub(super) fn smooth<S: Simd>(simd: S, values: &mut Values, op: &Smoothed) {
    let splat = |v| f32x16::splat(simd, v);
    let of = |place: usize| values.all[place].load(simd);
    let (value, half_life, slot) = (of(op.value.get()), of(op.half_life.get()), op.slot.get());
    let left = left(simd, &mut values.decays[slot], &values.dt, half_life);
    let word = &mut values.words[values.at.smooths + slot];
    let kept = word.load(simd);
    let rests = kept.simd_eq(value);
    let next = kept.simd_eq(kept).select(value + (kept - value) * left, value);
    let size = value.abs();
    let size = size.simd_lt(splat(1.0)).select(splat(1.0), size);
    let far = (next - value).abs().simd_gt(splat(ARRIVED) * size);
    let finite = next.abs().simd_lt(splat(f32::INFINITY));
    let next = (far & finite).select(next, value);
    rests.select(kept, next).store_slice(&mut word.0);
    rests.select(value, next).store_slice(&mut values.all[op.dst.get()].0);
}

/// What each lane's step leaves of a distance.
#[inline(always)]
fn left<S: Simd>(simd: S, decay: &mut Decay, dt: &Wide, half_life: f32x16<S>) -> f32x16<S> {
    let same =
        decay.dt.load(simd).simd_eq(dt.load(simd)) & decay.half_life.load(simd).simd_eq(half_life);
    if same.to_bitmask() != (1 << LANES) - 1 {
        renew(decay, dt, &Wide::of(half_life));
    }
    decay.left.load(simd)
}

/// Computes it anew where it is another. Neighbours mostly have one step and one half-life.
#[cold]
fn renew(decay: &mut Decay, dts: &Wide, half_lives: &Wide) {
    let mut last = (f32::NAN, 0.0, 0.0);
    for lane in 0..LANES {
        let now = (dts.0[lane], half_lives.0[lane]);
        if now == (decay.dt.0[lane], decay.half_life.0[lane]) {
            continue;
        }
        if now != (last.0, last.1) {
            last = (now.0, now.1, left_of(now.0, now.1));
        }
        decay.left.0[lane] = last.2;
    }
    (decay.dt, decay.half_life) = (*dts, *half_lives);
}

#[inline(always)]
fn answers<S: Simd>(simd: S, values: &mut Values, plan: &Plan) {
    let (zero, one) = (f32x16::splat(simd, 0.0), f32x16::splat(simd, 1.0));
    let mut all = i32x16::splat(simd, 0);
    for (at, alpha) in plan.asked.iter().enumerate() {
        let alpha = values.all[alpha.get()].load(simd);
        for (bit, is) in [alpha.simd_gt(zero), alpha.simd_ge(one)].into_iter().enumerate() {
            all |= is.select(i32x16::splat(simd, 1 << (2 * at + bit)), i32x16::splat(simd, 0));
        }
    }
    all.store_slice(bytemuck::cast_slice_mut(&mut values.answers));
}
