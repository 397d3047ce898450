//! The interpreter: one evaluation of one instance, from parameters to a task list.

use super::Op;
use super::bind::BoundProgram;
use super::control::Control;
use super::operand::*;
use super::space;
use crate::motion::{Advance, Fired, GroundMotion, GroupStep, PlayMode};
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

/// What one thread needs to interpret programs. Kept from one evaluation to the next, so that it
/// allocates no more once it has seen the largest.
#[derive(Debug, Default)]
pub struct VmScratch {
    pub(super) scalars: Vec<f32>,
    /// The task that produces each pose register.
    pub(super) poses: Vec<TaskIndex>,
    /// This evaluation's step of each clock.
    pub(super) steps: Vec<Advance>,
    pub(super) groups: Vec<GroupStep>,
    /// The samples of clocks.
    pub(super) samples: Vec<(TaskIndex, ClockId)>,
    /// The task of each machine, and of each seam after them.
    pub(super) seams: Vec<TaskIndex>,
    /// How much of each task's root motion is the character's.
    pub(super) motion: Vec<f32>,
    /// Each clock's part in the pose, and in the root motion.
    pub(super) heard: Vec<(f32, f32)>,
    pub(super) fired: Vec<Fired>,
    /// Notifies while others are looked for.
    pub(super) kept: Vec<Fired>,
    weights: Vec<(TaskIndex, f32)>,
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
        self.begin();
        let program = self.bound.program();
        for op in &program.code {
            if !self.compute(op) {
                self.step(op)?;
            }
        }
        self.list.set_root_pin(self.bound.pin);
        self.list.sweep();
        Ok(self.finish())
    }

    fn begin(&mut self) {
        let program = self.bound.program();
        self.refill();
        let Self { scratch: s, control, bound, dt, .. } = self;
        // A validated program writes registers before it reads them, and steps every clock and
        // evaluates every machine once: what another evaluation has left is never seen.
        s.scalars.resize(program.scalar_registers.into(), 0.0);
        s.poses.resize(program.pose_registers.into(), TaskIndex::NONE);
        s.steps.resize_with(program.clocks.len(), || PlayMode::Loop.advance(0.0, 0.0, 0.0));
        s.seams.resize(program.histories(), TaskIndex::NONE);
        s.samples.clear();
        s.groups.clear();
        let groups = control.groups.iter_mut().enumerate();
        let step = |(at, group)| bound.groups.advance(at, group, control.pieces, *dt);
        s.groups.extend(groups.map(step));
    }

    #[inline]
    pub fn scalar(&self, register: Scalar) -> f32 {
        self.scratch.scalars[register.get()]
    }

    pub fn or(&self, register: Option<Scalar>, without: f32) -> f32 {
        register.map_or(without, |r| self.scalar(r))
    }

    /// A point or an offset, within [`FARTHEST`].
    pub fn vector(&self, first: Vector) -> Vec3 {
        let limit = Vec3::splat(FARTHEST);
        Vec3::from_slice(&self.scratch.scalars[first.get()..first.get() + 3]).clamp(-limit, limit)
    }

    fn set(&mut self, register: ScalarOut, value: f32) {
        self.scratch.scalars[register.get()] = value;
    }

    pub fn pose(&self, register: PoseIn) -> TaskIndex {
        self.scratch.poses[register.get()]
    }

    /// Records a task and makes it a register's pose. Inlined, so that tasks are made where the
    /// list keeps them.
    #[inline(always)]
    pub fn record(&mut self, task: Task, dst: PoseOut) -> Result<TaskIndex, TaskError> {
        let index = self.list.push(task)?;
        self.scratch.poses[dst.get()] = index;
        Ok(index)
    }

    /// The opcodes that only compute, most of a program's, without a call for each; false for one of
    /// the others.
    #[inline(always)]
    fn compute(&mut self, op: &Op) -> bool {
        match *op {
            Op::LoadConst { constant, dst } => {
                self.set(dst, self.bound.program().consts[constant.get()]);
            }
            Op::LoadParam { param, dst } => self.set(dst, self.control.params[param.get()]),
            Op::LoadDelta { dst } => self.set(dst, self.dt),
            Op::ScalarOp { op, a, b, dst } => {
                self.set(dst, op.eval(self.scalar(a), self.scalar(b)));
            }
            Op::Choose { condition, a, b, dst } => {
                let chosen = if self.scalar(condition) > 0.5 { a } else { b };
                self.set(dst, self.scalar(chosen));
            }
            _ => return false,
        }
        true
    }

    fn step(&mut self, op: &Op) -> Result<(), TaskError> {
        match *op {
            Op::Smooth { value, half_life, slot, dst } => {
                let value = self.smooth(slot, self.scalar(value), self.scalar(half_life));
                self.set(dst, value);
            }
            Op::AdvanceClock { clock, speed, time, finished } => {
                let (seconds, ended) = self.advance(clock, self.or(speed, 1.0));
                self.set(time, seconds);
                if let Some(finished) = finished {
                    self.set(finished, f32::from(u8::from(ended)));
                }
            }
            Op::StateTime { machine, dst } => {
                self.set(dst, self.control.machines[machine.get()].seconds);
            }
            Op::SampleAnim { clip, time, clock, dst } => {
                let clip = self.bound.clips[clip.get()].id;
                let task = Task::SampleClip { clip, seconds: self.scalar(time) };
                let index = self.record(task, dst)?;
                self.scratch.samples.extend(clock.map(|clock| (index, clock)));
            }
            Op::SelectState { machine } => self.select(machine),
            Op::EvalStateMachine { machine, dst } => self.eval_machine(machine, dst)?,
            Op::Inertialize { source, seam, trigger, duration, dst } => {
                let trigger = self.scalar(trigger) > 0.5;
                let transition = self.seam(seam, trigger, self.scalar(duration));
                let task = Task::Inertialize { source: self.pose(source), transition };
                self.record_seam(seam, task, dst)?;
            }
            Op::DeadBlend { source, seam, trigger, duration, dst } => {
                let trigger = self.scalar(trigger) > 0.5;
                let transition = self.seam(seam, trigger, self.scalar(duration));
                let task = Task::DeadBlend { source: self.pose(source), transition };
                self.record_seam(seam, task, dst)?;
            }
            Op::BlendSpace1D { space, x, points, dst } => {
                let space = &self.bound.program().spaces_1d[space.get()];
                let (at, alpha) = space::place_1d(&space.points, self.scalar(x));
                let point = |i: usize| self.pose(PoseIn(points.0 + i as u16));
                let (a, b) = (point(at), point((at + 1).min(space.points.len() - 1)));
                self.scratch.poses[dst.get()] = match alpha {
                    0.0 => a,
                    1.0 => b,
                    alpha => self.list.push(Task::Blend { a, b, alpha })?,
                };
            }
            Op::BlendSpace2D { space, x, y, points, dst } => {
                let space = &self.bound.program().spaces_2d[space.get()];
                let place = [self.scalar(x), self.scalar(y)];
                let (corners, weights) = space::place_2d(space, place);
                let mut poses = std::mem::take(&mut self.scratch.weights);
                poses.clear();
                let corner = |(i, w): (u16, f32)| (self.pose(PoseIn(points.0 + i)), w);
                poses.extend(corners.into_iter().zip(weights).map(corner));
                let blend = self.list.push_blend_n(&poses);
                self.scratch.weights = poses;
                self.scratch.poses[dst.get()] = blend?;
            }
            Op::Output { source } => self.output(source)?,
            _ => self.pose_op(op)?,
        }
        Ok(())
    }

    /// Names the output. Without a task for it (a blend space whose points are the bind pose, say)
    /// the output is the bind pose.
    fn output(&mut self, source: PoseIn) -> Result<(), TaskError> {
        let output = match self.pose(source) {
            TaskIndex::NONE => self.list.push(Task::ReferencePose)?,
            output => output,
        };
        self.list.set_output(output)
    }
}
