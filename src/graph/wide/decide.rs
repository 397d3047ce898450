//! What decides and was not computed ahead, in all lanes.

use super::words::GROUP;
use super::{LANES, Lane, Mask, One, Values, clocks, lanes_of, machines, spaces, vector};
use crate::graph::Op;
use crate::graph::bind::BoundProgram;
use crate::graph::control::{CLOCK, MACHINE, word_of};
use crate::graph::operand::{GroupId, Scalar};
use crate::graph::plan::{Ahead, Guard, Kind, Plan};
use crate::graph::program::FASTEST;
use crate::motion::NotifyCursor;
use fearless_simd::prelude::*;
use fearless_simd::{Simd, f32x16, u32x16};

/// The bits of a clock's word that say that a span is open.
const SPANS: u32 = word_of(0, NotifyCursor::SPANS);

impl Values {
    /// The lanes that are taken.
    pub(super) fn taken(&self) -> Mask {
        Mask::MAX >> (LANES - self.count.clamp(1, LANES))
    }

    /// Some lanes need what some guards guard.
    pub(super) fn wake_lanes(&mut self, guards: &[Guard], lanes: Mask) {
        guards.iter().for_each(|guard| self.active[guard.get()] |= lanes);
    }
}

/// [`One::decide`] of all lanes.
#[inline(always)]
pub(super) fn vector<S: Simd>(simd: S, values: &mut Values, bound: &BoundProgram, plan: &Plan) {
    wake_spans(simd, values, bound, plan);
    let mut at = plan.first;
    for run in &plan.runs {
        let from = std::mem::replace(&mut at, run.end.into());
        let lanes = values.active[run.guard.get()];
        if lanes == 0 {
            continue;
        }
        let ops = &plan.control[from..at];
        match run.kind {
            // What nobody needs is not seen.
            Kind::Scalars => {
                for op in &plan.computes[from..at] {
                    vector::compute(simd, values, op);
                }
            }
            // Of those, everybody's.
            Kind::Smooths => {
                for op in ops.iter().filter_map(Ahead::of) {
                    vector::op_of(simd, values, &op);
                }
            }
            Kind::Clocks => {
                for op in ops {
                    clocks::vector(simd, values, bound, op, lanes);
                }
            }
            Kind::Others => {
                for op in ops {
                    others(simd, values, bound, op, lanes);
                }
            }
        }
    }
    spaces::vector(simd, values, bound, plan);
}

#[inline(always)]
fn wake_spans<S: Simd>(simd: S, values: &mut Values, bound: &BoundProgram, plan: &Plan) {
    for &clock in &bound.spanning {
        let word = values.words[values.at.clocks + CLOCK * clock.get() + 1].bits(simd);
        let none = (word & u32x16::splat(simd, SPANS)).simd_eq(u32x16::splat(simd, 0));
        let open = !none.to_bitmask() as Mask & values.taken();
        if open != 0 {
            values.wake_behind(plan, clock, open);
        }
    }
}

#[inline(always)]
fn others<S: Simd>(simd: S, values: &mut Values, bound: &BoundProgram, op: &Op, lanes: Mask) {
    match *op {
        Op::SelectState { machine } => machines::vector(simd, values, bound, machine, lanes),
        Op::PaceGroup { group, speed } => pace(simd, values, group, speed),
        Op::StateTime { machine, dst } => {
            let seconds = values.words[values.at.machines + MACHINE * machine.get() + 1];
            values.all[dst.get()] = seconds;
        }
        _ => one_by_one(values, bound, op, lanes),
    }
}

/// How fast a group runs, of everybody: it is always told.
#[inline(always)]
fn pace<S: Simd>(simd: S, values: &mut Values, group: GroupId, speed: Scalar) {
    let splat = |v| f32x16::splat(simd, v);
    let speed = values.all[speed.get()].load(simd);
    let speed = speed.simd_lt(splat(-FASTEST)).select(splat(-FASTEST), speed);
    let speed = speed.simd_gt(splat(FASTEST)).select(splat(FASTEST), speed);
    let speed = speed.simd_eq(speed).select(speed, splat(1.0));
    speed.store_slice(&mut values.words[values.at.groups + GROUP * group.get() + 1].0);
}

/// An opcode of some lanes that does not take its usual course, or has none.
#[inline(never)]
pub(super) fn one_by_one(values: &mut Values, bound: &BoundProgram, op: &Op, lanes: Mask) {
    lanes_of(lanes).for_each(|lane: Lane| One::new(bound, values, lane).step(op));
}
