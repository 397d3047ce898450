//! The twin: lane by lane, as one instance would be computed by itself.

use super::{BLOCK, LANES, Values, groups, left_of, smoothed};
use crate::graph::groups::Groups;
use crate::graph::plan::{Ahead, Compute, Plan, Smoothed};

pub(super) fn run(values: &mut Values, plan: &Plan, of: &Groups) {
    for lane in 0..LANES {
        for (word, wide) in values.words.iter_mut().enumerate() {
            wide.0[lane] = values.rows[word / BLOCK * LANES + lane][word % BLOCK];
        }
        given(values, plan, lane);
        plan.ahead.iter().for_each(|op| op_of(values, op, lane));
        answers(values, plan, lane);
        groups::scalar(values, of, lane);
        for (word, wide) in values.words.iter().enumerate() {
            values.rows[word / BLOCK * LANES + lane][word % BLOCK] = wide.0[lane];
        }
    }
}

fn given(values: &mut Values, plan: &Plan, lane: usize) {
    for (key, (param, limits)) in (values.keys..).zip(&plan.refills) {
        let value = values.words[key].0[lane];
        if !value.is_nan() {
            values.words[param.get()].0[lane] = limits.limited(value);
        }
    }
    for param in 0..values.keys {
        values.all[param].0[lane] = values.words[param].0[lane];
    }
    values.all[values.keys].0[lane] = values.dt.0[lane];
}

pub(super) fn op_of(values: &mut Values, op: &Ahead, lane: usize) {
    match op {
        Ahead::Compute(op) => compute(values, op, lane),
        Ahead::Smooth(op) => smooth(values, op, lane),
    }
}

fn compute(values: &mut Values, op: &Compute, lane: usize) {
    let of = |place: usize| values.all[place].0[lane];
    let [a, b] = [op.a, op.b].map(|place| of(place.get()));
    let value = match op.function {
        Some(function) => function.eval(a, b),
        None if of(op.condition.get()) > 0.5 => a,
        None => b,
    };
    values.all[op.dst.get()].0[lane] = value;
}

fn smooth(values: &mut Values, op: &Smoothed, lane: usize) {
    let of = |place: usize| values.all[place].0[lane];
    let (value, half_life) = (of(op.value.get()), of(op.half_life.get()));
    let kept = &mut values.words[values.smooths + op.slot.get()].0[lane];
    // One that rests at a zero may have kept the other one.
    let rests = *kept == value;
    if !rests {
        *kept = smoothed(*kept, value, left_of(values.dt.0[lane], half_life));
    }
    values.all[op.dst.get()].0[lane] = if rests { value } else { *kept };
}

fn answers(values: &mut Values, plan: &Plan, lane: usize) {
    values.answers[lane] = 0;
    for (at, alpha) in plan.asked.iter().enumerate() {
        let alpha = values.all[alpha.get()].0[lane];
        let answer = u32::from(alpha > 0.0) | u32::from(alpha >= 1.0) << 1;
        values.answers[lane] |= answer << (2 * at);
    }
}
