//! One lane, an opcode at a time: the twin of what is decided for many at once, and what does not
//! take its usual course.

use super::{Lane, Values, scalar};
use crate::graph::Op;
use crate::graph::bind::BoundProgram;
use crate::graph::operand::*;
use crate::graph::plan::{Ahead, Guard, Kind, Plan};
use crate::graph::program::FASTEST;
use crate::motion::Fired;

/// A lane that is decided.
pub(in crate::graph) struct One<'a> {
    pub bound: &'a BoundProgram,
    pub values: &'a mut Values,
    pub lane: Lane,
    /// Seconds since its last evaluation.
    pub dt: f32,
}

impl<'a> One<'a> {
    pub fn new(bound: &'a BoundProgram, values: &'a mut Values, lane: Lane) -> Self {
        let dt = values.dt.0[lane.get()];
        Self { bound, values, lane, dt }
    }

    /// Runs what decides and was not computed ahead, as far as it is needed.
    pub fn decide(&mut self, plan: &Plan) {
        self.wake_spans(plan);
        let mut at = plan.first;
        for run in &plan.runs {
            let from = std::mem::replace(&mut at, run.end.into());
            if !self.values.is_active(run.guard, self.lane) {
                continue;
            }
            let (values, lane) = (&mut *self.values, self.lane.get());
            let ops = &plan.control[from..at];
            match run.kind {
                Kind::Scalars => {
                    let computes = plan.computes[from..at].iter();
                    computes.for_each(|op| scalar::compute(values, op, lane));
                }
                Kind::Smooths => {
                    let ahead = ops.iter().filter_map(Ahead::of);
                    ahead.for_each(|op| scalar::op_of(values, &op, lane));
                }
                Kind::Clocks | Kind::Others => ops.iter().for_each(|op| self.step(op)),
            }
        }
        for (at, placed) in plan.spaces.iter().enumerate() {
            if self.values.is_active(placed.guard, self.lane) {
                self.place(at, &placed.points);
            }
        }
    }

    /// A span that is open ends where its clock says, in the evaluation after it was heard.
    fn wake_spans(&mut self, plan: &Plan) {
        for &clock in &self.bound.spanning {
            if self.values.clock(clock, self.lane).notifies.has_open_spans() {
                self.values.wake_behind(plan, clock, self.lane.mask());
            }
        }
    }

    /// Clocks, machines, transitions and sync groups.
    pub fn step(&mut self, op: &Op) {
        match *op {
            Op::AdvanceClock { clock, speed, time, finished } => {
                let (seconds, ended) = self.advance(clock, self.or(speed, 1.0));
                self.set(time, seconds);
                if let Some(finished) = finished {
                    self.set(finished, f32::from(u8::from(ended)));
                }
            }
            Op::SelectState { machine } => self.select(machine),
            Op::PaceGroup { group, speed } => {
                let speed = self.scalar(speed).clamp(-FASTEST, FASTEST);
                self.values.set_pace(group, self.lane, speed);
            }
            Op::StateTime { machine, dst } => {
                self.set(dst, self.values.machine(machine, self.lane).seconds);
            }
            Op::Inertialize { seam, trigger, duration, .. }
            | Op::DeadBlend { seam, trigger, duration, .. } => {
                let trigger = self.scalar(trigger) > 0.5;
                let transition = self.seam(seam, trigger, self.scalar(duration));
                self.values.transitions[seam.get()][self.lane.get()] = transition;
            }
            _ => {}
        }
    }

    pub fn scalar(&self, place: Scalar) -> f32 {
        self.values.get(place.get(), self.lane)
    }

    fn or(&self, place: Option<Scalar>, without: f32) -> f32 {
        place.map_or(without, |r| self.scalar(r))
    }

    fn set(&mut self, place: ScalarOut, value: f32) {
        self.values.set(place.get(), self.lane, value);
    }

    /// What some guards guard is needed.
    pub fn wake(&mut self, guards: &[Guard]) {
        self.values.wake_lanes(guards, self.lane.mask());
    }

    /// A notify of a clip that is left.
    pub fn fire(&mut self, fired: Fired) {
        self.values.fired.push((self.lane, fired));
    }

    /// The group's step from its start, in a lane where it has started over.
    pub fn restart_group(&mut self, group: GroupId) {
        self.values.restart_group(&self.bound.groups, group, self.lane);
    }
}

impl Values {
    /// What runs where a clock runs is needed in some lanes.
    pub(super) fn wake_behind(&mut self, plan: &Plan, clock: ClockId, lanes: super::Mask) {
        let guard = plan.guards.clocks[clock.get()];
        for guard in &plan.guards.behind[guard.get()] {
            self.active[guard.get()] |= lanes;
        }
    }
}
