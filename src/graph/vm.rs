//! The interpreter: one evaluation of one instance, from parameters to a task list.

use super::Op;
use super::bind::BoundProgram;
use super::clocks::Decay;
use super::control::Control;
use super::operand::*;
use super::plan::{Compute, Guard, Kind, Plan};
use super::program::FASTEST;
use super::shapes::{Answer, ShapesOfPlans, Step};
use super::space::Spot;
use crate::motion::{Advance, Fired, GroundMotion, GroupStep, PlayMode};
use crate::task::{Known, Task, TaskError, TaskIndex, TaskList, Transition};
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

/// What one thread needs to interpret programs. Kept from one evaluation to the next, so that it
/// allocates no more once it has seen the largest.
#[derive(Debug, Default)]
pub struct VmScratch {
    /// What is not needed is computed and recorded too.
    everything: bool,
    /// The plan that all of this is laid out for.
    plan: u64,
    pub(super) values: Vec<f32>,
    /// The guards of what is needed in this evaluation.
    pub(super) active: Vec<bool>,
    /// What lists came to before.
    pub(super) shapes: ShapesOfPlans,
    /// The task that each node has recorded.
    pub(super) poses: Vec<TaskIndex>,
    /// Nodes that the output depends on, as bits and in falling order, with what they decided.
    pub(super) needed: Vec<u64>,
    pub(super) order: Vec<Answer>,
    /// Those of them that ask; what was recorded, and what is to be known of its tasks.
    pub(super) answers: Vec<Answer>,
    pub(super) recorded: Vec<Step>,
    pub(super) known: Vec<Known>,
    /// Where this evaluation is in blend spaces over a plane, in falling order.
    pub(super) spots: Vec<(PoseOut, Spot)>,
    /// Of each smoothed value, what the last step left.
    pub(super) decays: Vec<Decay>,
    /// This evaluation's step of each clock.
    pub(super) steps: Vec<Advance>,
    pub(super) groups: Vec<GroupStep>,
    /// The samples of clocks.
    pub(super) samples: Vec<(TaskIndex, ClockId)>,
    /// What each transition outside of machines is at.
    pub(super) transitions: Vec<Transition>,
    /// The task of each machine, and of each seam after them.
    pub(super) seams: Vec<TaskIndex>,
    /// How much of each task's root motion is the character's.
    pub(super) motion: Vec<f32>,
    /// Each clock's part in the pose, and in the root motion.
    pub(super) heard: Vec<(f32, f32)>,
    pub(super) fired: Vec<Fired>,
    /// Notifies while others are looked for.
    pub(super) kept: Vec<Fired>,
}

impl VmScratch {
    /// Room for so many notifies of one evaluation, so that those who hear some late, and workers
    /// that come to them late, do not allocate then.
    pub fn with_room(notifies: usize) -> Self {
        let room = || Vec::with_capacity(notifies);
        Self { fired: room(), kept: room(), ..Self::default() }
    }

    /// The notifies that the last evaluation fired, in the order of the program's clocks.
    pub fn fired(&self) -> &[Fired] {
        &self.fired
    }

    /// Whether lists also get the tasks that their output does not depend on: what states that are
    /// not current show, and what weighs nothing. Clocks and machines that only such states need
    /// and start over when they are entered run meanwhile, too. What is shown, told and moved is
    /// the same to the bit.
    pub fn record_everything(&mut self, everything: bool) {
        self.everything = everything;
    }

    /// Makes room for a plan's evaluations.
    fn fit(&mut self, bound: &BoundProgram, plan: &Plan) {
        let program = bound.program();
        self.plan = plan.id;
        self.shapes.turn_to(plan.id);
        self.values.clone_from(&plan.values);
        self.active.resize(plan.guards.states.len(), false);
        self.poses.resize(plan.nodes.len(), TaskIndex::NONE);
        self.needed.resize(plan.nodes.len().div_ceil(u64::BITS as usize), 0);
        // Not every evaluation needs as much.
        self.order.reserve(plan.nodes.len().saturating_sub(self.order.len()));
        self.answers.reserve(plan.nodes.len().saturating_sub(self.answers.len()));
        self.recorded.reserve(plan.nodes.len().saturating_sub(self.recorded.len()));
        self.known.reserve(bound.most_tasks().saturating_sub(self.known.len()));
        self.samples.reserve(plan.nodes.len().saturating_sub(self.samples.len()));
        self.motion.reserve(bound.most_tasks().saturating_sub(self.motion.len()));
        self.spots.reserve(program.spaces_2d.len().saturating_sub(self.spots.len()));
        self.groups.reserve(program.sync_groups.len().saturating_sub(self.groups.len()));
        self.steps.resize_with(program.clocks.len(), || PlayMode::Loop.advance(0.0, 0.0, 0.0));
        self.decays.clear();
        self.decays.resize(program.smooths.into(), Decay::UNKNOWN);
        self.heard.resize(program.clocks.len(), (0.0, 0.0));
        self.transitions.resize(program.seams.into(), Transition::OVER);
        self.seams.resize(program.histories(), TaskIndex::NONE);
    }
}

/// One evaluation under way.
pub(super) struct Vm<'a> {
    pub bound: &'a BoundProgram,
    pub control: Control<'a>,
    pub scratch: &'a mut VmScratch,
    pub list: &'a mut TaskList,
    /// Seconds since the last one.
    pub dt: f32,
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
        list.clear();
        scratch.fired.clear();
        let control = self.control(row)?;
        let dt = if dt.is_finite() { dt.clamp(-LONGEST, LONGEST) } else { 0.0 };
        Vm { bound: self, control, scratch, list, dt }.evaluate()
    }

    pub(super) fn control<'a>(&self, row: &'a mut [u32]) -> Result<Control<'a>, EvaluateError> {
        let (words, needed) = (row.len(), self.layout.words());
        Control::of(&self.layout, row).ok_or(EvaluateError::Row { words, needed })
    }
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
        self.refill(plan);
        let Self { scratch: s, control, bound, dt, .. } = self;
        // Values are written before they are read, and so are a node's task and a clock's step by
        // those who ask for them: what another evaluation has left of these is never seen.
        if s.plan != plan.id {
            s.fit(bound, plan);
        }
        let params = control.params.len();
        s.values[..params].copy_from_slice(control.params);
        s.values[params] = *dt;
        s.active.fill(s.everything);
        s.active[Guard::ALWAYS.get()] = true;
        s.seams.fill(TaskIndex::NONE);
        s.samples.clear();
        s.spots.clear();
        s.groups.clear();
        let groups = control.groups.iter_mut().enumerate();
        let step = |(at, group)| bound.groups.advance(at, group, control.pieces, *dt);
        s.groups.extend(groups.map(step));
        // A span that is open ends where its clock says, in the evaluation after it was heard.
        for &clock in &bound.spanning {
            if control.clocks[clock.get()].notifies.has_open_spans() {
                let behind = &plan.guards.behind[plan.guards.clocks[clock.get()].get()];
                behind.iter().for_each(|guard| s.active[guard.get()] = true);
            }
        }
    }

    /// Runs what decides, as far as it is needed.
    fn decide(&mut self, plan: &Plan) {
        let mut at = 0;
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
        self.scratch.values[place.get()]
    }

    pub fn or(&self, place: Option<Scalar>, without: f32) -> f32 {
        place.map_or(without, |r| self.scalar(r))
    }

    /// A point or an offset, within [`FARTHEST`].
    pub fn vector(&self, first: Vector) -> Vec3 {
        let limit = Vec3::splat(FARTHEST);
        Vec3::from_slice(&self.scratch.values[first.get()..first.get() + 3]).clamp(-limit, limit)
    }

    fn set(&mut self, place: ScalarOut, value: f32) {
        self.scratch.values[place.get()] = value;
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
