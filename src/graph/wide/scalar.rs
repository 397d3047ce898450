//! The twin: lane by lane, as one instance would be computed by itself.

use super::{LANES, Values, left_of, smoothed};
use crate::graph::plan::{Ahead, Compute, Smoothed};

pub(super) fn run(values: &mut Values, ahead: &[Ahead]) {
    for op in ahead {
        for lane in 0..LANES {
            match op {
                Ahead::Compute(op) => compute(values, op, lane),
                Ahead::Smooth(op) => smooth(values, op, lane),
            }
        }
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
    let (value, half_life, slot) = (of(op.value.get()), of(op.half_life.get()), op.slot.get());
    let kept = &mut values.kept[slot].0[lane];
    // One that rests at a zero may have kept the other one.
    let rests = *kept == value;
    if !rests {
        *kept = smoothed(*kept, value, left_of(values.dt.0[lane], half_life));
    }
    values.all[op.dst.get()].0[lane] = if rests { value } else { *kept };
}
