//! What decides, put into an order in which neighbours are of one kind and needed at the same time.

use super::guards::Guard;
use crate::graph::operand::*;
use crate::graph::{Op, ScalarFn};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

/// Neighbours in a plan's control that run together or not at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// Whether they do.
    pub guard: Guard,
    pub kind: Kind,
    /// Where the next run begins.
    pub end: u16,
}

/// What computes from values alone, in a form that is small and told apart once: a function, or the
/// choice of `a` where the condition holds and else `b`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Compute {
    pub function: Option<ScalarFn>,
    pub a: Scalar,
    pub b: Scalar,
    pub condition: Scalar,
    pub dst: ScalarOut,
}

impl Compute {
    /// Of an opcode of [`Kind::Scalars`]; nothing meant of another.
    pub fn of(op: &Op) -> Self {
        match *op {
            Op::ScalarOp { op, a, b, dst } => Self { function: Some(op), a, b, condition: a, dst },
            Op::Choose { condition, a, b, dst } => Self { function: None, a, b, condition, dst },
            _ => Self::default(),
        }
    }
}

/// What an opcode that decides is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// `ScalarOp`, `Choose`
    Scalars,
    Smooths,
    Clocks,
    /// Machines, transitions and sync groups, one by one.
    Others,
}

impl Kind {
    fn of(op: &Op) -> Self {
        match op {
            Op::ScalarOp { .. } | Op::Choose { .. } => Self::Scalars,
            Op::Smooth { .. } => Self::Smooths,
            Op::AdvanceClock { .. } => Self::Clocks,
            _ => Self::Others,
        }
    }
}

/// The order, as places in the old one. Values are written before they are read, and nothing
/// changes sides with a machine's selection: clocks start over there.
pub fn order(control: &[Op], guards: &[Guard], values: usize) -> Vec<u16> {
    let mut order = Vec::with_capacity(control.len());
    let mut writers = vec![None; values];
    let mut from = 0;
    while from < control.len() {
        let selects = |op: &Op| matches!(op, Op::SelectState { .. });
        let length = match selects(&control[from]) {
            true => 1,
            false => control[from..].iter().position(selects).unwrap_or(control.len() - from),
        };
        segment(control, guards, from..from + length, &mut writers, &mut order);
        from += length;
    }
    order
}

fn segment(
    control: &[Op],
    guards: &[Guard],
    range: std::ops::Range<usize>,
    writers: &mut [Option<usize>],
    order: &mut Vec<u16>,
) {
    let from = range.start;
    // Who waits for each, and for how many each waits.
    let mut waiting = vec![Vec::new(); range.len()];
    let mut waits = vec![0; range.len()];
    for at in range.clone() {
        control[at].operands(|_, operand| match operand {
            Operand::Scalars { first, count } => {
                let values = &writers[usize::from(first)..][..usize::from(count)];
                for writer in values.iter().flatten().filter(|writer| **writer >= from) {
                    waiting[writer - from].push(at);
                    waits[at - from] += 1;
                }
            }
            Operand::ScalarOut(value) => writers[value.get()] = Some(at),
            _ => {}
        });
    }
    let class = |at: usize| (guards[at], Kind::of(&control[at]));
    let mut ready: HashMap<_, BinaryHeap<Reverse<usize>>> = HashMap::new();
    for at in range.filter(|at| waits[at - from] == 0) {
        ready.entry(class(at)).or_default().push(Reverse(at));
    }
    // Of what is ready the first in the program, and all of its kind with it.
    let mut first: BinaryHeap<_> = ready.values().flatten().copied().collect();
    while let Some(Reverse(at)) = first.pop() {
        let kind = class(at);
        while let Some(Reverse(at)) = ready.get_mut(&kind).and_then(BinaryHeap::pop) {
            order.push(at as u16);
            for &next in &waiting[at - from] {
                waits[next - from] -= 1;
                if waits[next - from] == 0 {
                    ready.entry(class(next)).or_default().push(Reverse(next));
                    first.push(Reverse(next));
                }
            }
        }
    }
}

/// Neighbours of one kind with the same guard.
pub fn runs(control: &[Op], guards: &[Guard]) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    for (at, (op, guard)) in control.iter().zip(guards).enumerate() {
        let (kind, end) = (Kind::of(op), at as u16 + 1);
        match runs.last_mut().filter(|run| (run.guard, run.kind) == (*guard, kind)) {
            Some(run) => run.end = end,
            None => runs.push(Run { guard: *guard, kind, end }),
        }
    }
    runs
}
