//! The interpreter: one evaluation of one instance, from parameters to a task list.

use super::Op;
use super::bind::BoundProgram;
use super::control::{Control, MachineState};
use super::operand::*;
use super::plan::{Compute, Guard, Kind, Plan};
use super::program::FASTEST;
use super::scratch::VmScratch;
use super::wide::{LANES, Lane};
use crate::motion::{Fired, GroundMotion, PlayMode};
use crate::task::{Task, TaskError, TaskIndex, TaskList};
use glam::Vec3;

/// Model units that a point or an offset of a task is from zero along an axis, at most. What is
/// computed from what nobody limits has to stay far from where numbers end.
pub const FARTHEST: f32 = 1e7;
/// What a task scales a bone by, at most.
pub const LARGEST: f32 = 1e3;
/// Seconds of an evaluation, at most.
const LONGEST: f32 = 1e6;

/// Why an evaluation did not take place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EvaluateError {
    /// A row of another program.
    #[error("an instance of {words} words was given to a program that keeps {needed}")]
    Row {
        /// Its length.
        words: usize,
        /// What would be right.
        needed: usize,
    },
    /// A task that its list refuses; a validated program has none.
    #[error(transparent)]
    Task(#[from] TaskError),
}

/// One evaluation under way.
pub(super) struct Vm<'a> {
    pub bound: &'a BoundProgram,
    pub control: Control<'a>,
    pub scratch: &'a mut VmScratch,
    pub list: &'a mut TaskList,
    /// Where its values are.
    pub lane: Lane,
    /// Seconds since the last one.
    pub dt: f32,
}

/// One of the instances that are evaluated together.
#[derive(Debug)]
pub struct Instance<'a> {
    /// Its control state, [`BoundProgram::words`] long.
    pub row: &'a mut [u32],
    /// Seconds since its last evaluation, as in [`BoundProgram::evaluate`].
    pub dt: f32,
    /// What it shows is recorded here.
    pub list: &'a mut TaskList,
}

impl BoundProgram {
    /// Words of one instance's control state.
    pub fn words(&self) -> usize {
        self.layout.words()
    }

    /// Puts an instance to its beginning: parameters at their defaults, machines in their initial
    /// states. Clips that loop start `phase` of a round in (0..1), so that a crowd does not move
    /// as one.
    ///
    /// # Errors
    /// [`EvaluateError::Row`] for a row that is not [`BoundProgram::words`] long.
    pub fn start(&self, row: &mut [u32], phase: f32) -> Result<(), EvaluateError> {
        use PlayMode::{Loop, PingPong};
        let mut control = self.control(row)?;
        let phase = if phase.is_finite() { phase.rem_euclid(1.0) } else { 0.0 };
        control.start(self.program(), phase, self.groups.first_pieces(), |clock| {
            let (desc, clip) = self.clock(clock);
            let shift = match desc.mode {
                Loop | PingPong => phase * clip.seconds,
                _ => 0.0,
            };
            desc.mode.advance(desc.start, shift, clip.seconds).clock
        });
        Ok(())
    }

    /// Records what an instance shows `dt` seconds after its last evaluation: the list is cleared,
    /// filled and swept, and always has an output. Gives the ground that the character covers, in
    /// model units; notifies that fire are in [`VmScratch::fired`]. A `dt` that is not a finite
    /// number is zero, one of more than a million seconds is a million; clocks run backwards by a
    /// negative one.
    ///
    /// # Errors
    /// [`EvaluateError`]; the list gives the bind pose then.
    pub fn evaluate(
        &self,
        row: &mut [u32],
        dt: f32,
        scratch: &mut VmScratch,
        list: &mut TaskList,
    ) -> Result<GroundMotion, EvaluateError> {
        let mut covered = Ok(GroundMotion::IDENTITY);
        let instance = Instance { row, dt, list };
        self.evaluate_all([(instance, ())], scratch, |_, (), result, _| covered = result);
        covered
    }

    /// Evaluates some instances, in any order. Each is handed back when its turn is over,
    /// with what its caller has put beside it, with what [`BoundProgram::evaluate`] gives, and with
    /// the notifies that it fired. What follows from parameters alone is computed for [`LANES`] of
    /// them at once, so that many together take less time than each by itself; what comes out is
    /// the same to the bit.
    pub fn evaluate_all<'i, T>(
        &self,
        instances: impl IntoIterator<Item = (Instance<'i>, T)>,
        scratch: &mut VmScratch,
        mut done: impl FnMut(Instance<'i>, T, Result<GroundMotion, EvaluateError>, &[Fired]),
    ) {
        let plan = self.plan();
        scratch.fit(self);
        let mut instances = instances.into_iter().fuse();
        loop {
            scratch.values.clear();
            let mut take = || {
                let (mut one, with) = instances.next()?;
                one.dt = if one.dt.is_finite() { one.dt.clamp(-LONGEST, LONGEST) } else { 0.0 };
                let lane = self.check(one.row).map(|()| scratch.values.take(one.row, one.dt));
                Some((one, with, lane.unwrap_or_default()))
            };
            // Taken where they lie: an array that a function returns would be copied.
            let mut some = [const { None }; LANES];
            some.iter_mut().for_each(|one| *one = take());
            if some[0].is_none() {
                return;
            }
            scratch.values.compute(plan, &self.groups);
            // Those who do alike are next to one another: it takes a processor less to foresee what
            // they do.
            let courses = some.each_ref().map(|one| {
                one.as_ref().map_or(u32::MAX, |(one, _, lane)| self.course(one.row, *lane, scratch))
            });
            for at in in_order(courses) {
                let Some((mut one, with, lane)) = some[at].take() else { continue };
                let result = self.evaluate_lane(&mut one, lane, scratch);
                done(one, with, result, &scratch.fired);
            }
        }
    }

    /// A number that is the same for those who do alike: states of machines, and weights' answers.
    fn course(&self, row: &[u32], lane: Lane, scratch: &VmScratch) -> u32 {
        let machines = row.get(self.layout.machines()).unwrap_or_default();
        let machines: &[MachineState] = bytemuck::cast_slice(machines);
        let state = |at: usize| machines.get(at).map_or(0, |machine| u32::from(machine.state));
        state(0) << 26 ^ state(1) << 20 ^ scratch.values.answers(lane) << 4
    }

    fn evaluate_lane(
        &self,
        Instance { row, dt, list }: &mut Instance<'_>,
        lane: Lane,
        scratch: &mut VmScratch,
    ) -> Result<GroundMotion, EvaluateError> {
        list.clear();
        scratch.fired.clear();
        self.check(row)?;
        scratch.values.put_back(row, lane);
        let control = Control::of(&self.layout, row);
        Vm { bound: self, control, scratch, list, lane, dt: *dt }.evaluate()
    }

    pub(super) fn control<'a>(&self, row: &'a mut [u32]) -> Result<Control<'a>, EvaluateError> {
        self.check(row)?;
        Ok(Control::of(&self.layout, row))
    }

    fn check(&self, row: &[u32]) -> Result<(), EvaluateError> {
        let (words, needed) = (row.len(), self.words());
        if words == needed { Ok(()) } else { Err(EvaluateError::Row { words, needed }) }
    }
}

/// Lanes by rising numbers, of which four bits do not count.
fn in_order(numbers: [u32; LANES]) -> [usize; LANES] {
    let mut at = 0;
    let keys = numbers.map(|number| {
        let key = number & !(LANES as u32 - 1) | at;
        at += 1;
        key
    });
    let mut order = [0; LANES];
    for (lane, key) in keys.iter().enumerate() {
        let before: usize = keys.iter().map(|other| usize::from(other < key)).sum();
        order[before % LANES] = lane;
    }
    order
}

impl Vm<'_> {
    fn evaluate(mut self) -> Result<GroundMotion, EvaluateError> {
        let plan = self.bound.plan();
        self.begin(plan);
        self.decide(plan);
        match self.scratch.everything {
            true => self.record_everything(plan)?,
            false => self.record_needed(plan)?,
        }
        self.list.set_root_pin(self.bound.pin);
        Ok(self.finish())
    }

    fn begin(&mut self, plan: &Plan) {
        let Self { scratch: s, control, bound, .. } = self;
        s.active.fill(s.everything);
        s.active[Guard::ALWAYS.get()] = true;
        s.seams.fill(TaskIndex::NONE);
        s.samples.clear();
        s.spots.clear();
        s.groups.clear();
        s.groups.extend(s.values.steps(self.lane));
        // A span that is open ends where its clock says, in the evaluation after it was heard.
        for &clock in &bound.spanning {
            if control.clocks[clock.get()].notifies.has_open_spans() {
                let behind = &plan.guards.behind[plan.guards.clocks[clock.get()].get()];
                behind.iter().for_each(|guard| s.active[guard.get()] = true);
            }
        }
    }

    /// Runs what decides and was not computed ahead, as far as it is needed.
    fn decide(&mut self, plan: &Plan) {
        let mut at = plan.first;
        for run in &plan.runs {
            let from = std::mem::replace(&mut at, run.end.into());
            if !self.scratch.active[run.guard.get()] {
                continue;
            }
            let ops = &plan.control[from..at];
            match run.kind {
                Kind::Scalars => plan.computes[from..at].iter().for_each(|op| self.compute(op)),
                Kind::Smooths => ops.iter().for_each(|op| self.follow(op)),
                Kind::Clocks => ops.iter().for_each(|op| self.run(op)),
                Kind::Others => ops.iter().for_each(|op| self.step(op)),
            }
        }
    }

    #[inline]
    pub fn scalar(&self, place: Scalar) -> f32 {
        self.scratch.values.get(place.get(), self.lane)
    }

    pub fn or(&self, place: Option<Scalar>, without: f32) -> f32 {
        place.map_or(without, |r| self.scalar(r))
    }

    /// A point or an offset, within [`FARTHEST`].
    pub fn vector(&self, first: Vector) -> Vec3 {
        let limit = Vec3::splat(FARTHEST);
        Vec3::from_array(self.row(first.get())).clamp(-limit, limit)
    }

    /// Scalars in a row.
    pub fn row<const N: usize>(&self, first: usize) -> [f32; N] {
        std::array::from_fn(|i| self.scratch.values.get(first + i, self.lane))
    }

    fn set(&mut self, place: ScalarOut, value: f32) {
        self.scratch.values.set(place.get(), self.lane, value);
    }

    #[inline(always)]
    fn compute(&mut self, op: &Compute) {
        let [a, b] = [op.a, op.b].map(|place| self.scalar(place));
        let value = match op.function {
            Some(function) => function.eval(a, b),
            None if self.scalar(op.condition) > 0.5 => a,
            None => b,
        };
        self.set(op.dst, value);
    }

    #[inline(always)]
    fn follow(&mut self, op: &Op) {
        if let Op::Smooth { value, half_life, slot, dst } = *op {
            let value = self.smooth(slot, self.scalar(value), self.scalar(half_life));
            self.set(dst, value);
        }
    }

    #[inline(always)]
    fn run(&mut self, op: &Op) {
        if let Op::AdvanceClock { clock, speed, time, finished } = *op {
            let (seconds, ended) = self.advance(clock, self.or(speed, 1.0));
            self.set(time, seconds);
            if let Some(finished) = finished {
                self.set(finished, f32::from(u8::from(ended)));
            }
        }
    }

    /// Machines, transitions and sync groups.
    fn step(&mut self, op: &Op) {
        match *op {
            Op::SelectState { machine } => self.select(machine),
            Op::PaceGroup { group, speed } => {
                let speed = self.scalar(speed).clamp(-FASTEST, FASTEST);
                self.control.groups[group.get()].set_speed(speed);
            }
            Op::StateTime { machine, dst } => {
                self.set(dst, self.control.machines[machine.get()].seconds);
            }
            Op::Inertialize { seam, trigger, duration, .. }
            | Op::DeadBlend { seam, trigger, duration, .. } => {
                let trigger = self.scalar(trigger) > 0.5;
                let transition = self.seam(seam, trigger, self.scalar(duration));
                self.scratch.transitions[seam.get()] = transition;
            }
            _ => {}
        }
    }

    /// Names the output. Without a task for it (a blend space whose points are the bind pose, say)
    /// the output is the bind pose.
    pub(super) fn output(&mut self, pose: TaskIndex) -> Result<(), TaskError> {
        let output = match pose {
            TaskIndex::NONE => self.list.push(Task::ReferencePose)?,
            output => output,
        };
        self.list.set_output(output)
    }
}
