//! What decides, put into order: ahead what follows from what an instance is given, which always is
//! computed, then what waits for clocks and machines.

use super::guards::Guard;
use crate::graph::operand::*;
use crate::graph::{Op, ScalarFn};

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

/// A value that is smoothed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Smoothed {
    pub value: Scalar,
    pub half_life: Scalar,
    pub slot: SmoothId,
    pub dst: ScalarOut,
}

/// What is computed ahead.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Ahead {
    Compute(Compute),
    Smooth(Smoothed),
}

impl Ahead {
    /// Of an opcode of such a kind.
    pub fn of(op: &Op) -> Option<Self> {
        match *op {
            Op::Smooth { value, half_life, slot, dst } => {
                Some(Self::Smooth(Smoothed { value, half_life, slot, dst }))
            }
            Op::ScalarOp { .. } | Op::Choose { .. } => Some(Self::Compute(Compute::of(op))),
            _ => None,
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

/// The order, as places in the program's, and how many of them are computed ahead: scalars and
/// smoothed values that follow from parameters, from the step of time and from one another. Both
/// parts are in the program's order. What is computed ahead may be so although its guard does not
/// ask for it, for nobody sees it then; and what is kept of smoothed values has no guard.
pub fn order(control: &[Op], values: usize) -> (Vec<u16>, usize) {
    let mut late = vec![false; values];
    let (mut ahead, mut rest) = (Vec::with_capacity(control.len()), Vec::new());
    for (at, op) in (0..).zip(control) {
        let mut waits = Ahead::of(op).is_none();
        op.operands(|_, operand| {
            if let Operand::Scalars { first, count } = operand {
                waits |= late[usize::from(first)..][..usize::from(count)].contains(&true);
            }
        });
        if !waits {
            ahead.push(at);
            continue;
        }
        rest.push(at);
        op.operands(|_, operand| {
            if let Operand::ScalarOut(value) = operand {
                late[value.get()] = true;
            }
        });
    }
    let count = ahead.len();
    ahead.append(&mut rest);
    (ahead, count)
}

/// Neighbours of one kind with the same guard, from a place on.
pub fn runs(control: &[Op], guards: &[Guard], from: usize) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    for (at, (op, guard)) in control.iter().zip(guards).enumerate().skip(from) {
        let (kind, end) = (Kind::of(op), at as u16 + 1);
        match runs.last_mut().filter(|run| (run.guard, run.kind) == (*guard, kind)) {
            Some(run) => run.end = end,
            None => runs.push(Run { guard: *guard, kind, end }),
        }
    }
    runs
}

/// Of each value, whether it is known when what is computed ahead is, and whether it is a constant.
pub fn known(control: &[Op], first: usize, values: usize, params: usize) -> (Vec<bool>, Vec<bool>) {
    let (mut known, mut constants) = (vec![true; values], vec![true; values]);
    // Parameters, and the step of time.
    constants[..=params].fill(false);
    for (at, op) in control.iter().enumerate() {
        op.operands(|_, operand| {
            if let Operand::ScalarOut(value) = operand {
                constants[value.get()] = false;
                known[value.get()] = at < first;
            }
        });
    }
    (known, constants)
}
