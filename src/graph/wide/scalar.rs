//! The twin: lane by lane, as one instance would be computed by itself.

use super::{Lane, One, Rows, Values, groups, left_of, smoothed, turn};
use crate::graph::bind::BoundProgram;
use crate::graph::operand::MachineId;
use crate::graph::plan::{Ahead, Compute, Plan, Smoothed};

pub(super) fn run(values: &mut Values, bound: &BoundProgram, plan: &Plan, rows: &mut Rows<'_>) {
    for lane in (0..values.count).map(Lane::new) {
        turn::lane_in(values, rows, lane.get());
        given(values, plan, lane.get());
        plan.ahead.iter().for_each(|op| op_of(values, op, lane.get()));
        answers(values, plan, lane.get());
        groups::scalar(values, &bound.groups, lane);
        One::new(bound, values, lane).decide(plan);
        states(values, plan, lane);
        turn::lane_out(values, rows, lane.get());
    }
}

fn given(values: &mut Values, plan: &Plan, lane: usize) {
    for (key, (param, limits)) in (values.at.keys..).zip(&plan.refills) {
        let value = values.words[key].0[lane];
        if !value.is_nan() {
            values.words[param.get()].0[lane] = limits.limited(value);
        }
    }
    for param in 0..values.at.keys {
        values.all[param].0[lane] = values.words[param].0[lane];
    }
    values.all[values.at.keys].0[lane] = values.dt.0[lane];
}

pub(super) fn op_of(values: &mut Values, op: &Ahead, lane: usize) {
    match op {
        Ahead::Compute(op) => compute(values, op, lane),
        Ahead::Smooth(op) => smooth(values, op, lane),
    }
}

pub(super) fn compute(values: &mut Values, op: &Compute, lane: usize) {
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
    let kept = &mut values.words[values.at.smooths + op.slot.get()].0[lane];
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

fn states(values: &mut Values, plan: &Plan, lane: Lane) {
    let state = |(machine, shift): &(MachineId, u32)| {
        u32::from(values.machine(*machine, lane).state) << shift
    };
    values.states[lane.get()] = plan.told.iter().map(state).fold(0, |all, state| all | state);
}
