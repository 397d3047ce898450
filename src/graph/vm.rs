//! The interpreter: one evaluation of one instance, from parameters to a task list.

use super::bind::BoundProgram;
use super::control::Control;
use super::finish::Ends;
use super::operand::*;
use super::scratch::VmScratch;
use super::shapes::{Guess, Shapes};
use super::wide::{LANES, Lane, Rows};
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
    /// the notifies that it fired. What there is to decide is decided for [`LANES`] of them at once,
    /// so that many together take less time than each by itself; what comes out is the same to the
    /// bit.
    pub fn evaluate_all<'i, T>(
        &self,
        instances: impl IntoIterator<Item = (Instance<'i>, T)>,
        scratch: &mut VmScratch,
        mut done: impl FnMut(Instance<'i>, T, Result<GroundMotion, EvaluateError>, &[Fired]),
    ) {
        scratch.fit(self);
        let mut instances = instances.into_iter().fuse();
        loop {
            scratch.values.clear();
            // Taken where they lie: an array that a function returns would be copied.
            let mut some = [const { None }; LANES];
            let mut count = 0;
            while count < LANES
                && let Some((mut one, with)) = instances.next()
            {
                if let Err(error) = self.check(one.row) {
                    one.list.clear();
                    scratch.fired.clear();
                    done(one, with, Err(error), &scratch.fired);
                    continue;
                }
                one.dt = if one.dt.is_finite() { one.dt.clamp(-LONGEST, LONGEST) } else { 0.0 };
                scratch.values.take(one.dt);
                some[count] = Some((one, with));
                count += 1;
            }
            if count == 0 {
                return;
            }
            let mut rows = Rows::default();
            for (lane, (one, _)) in some.iter_mut().flatten().enumerate() {
                rows.put(Lane::new(lane), one.row);
            }
            scratch.values.compute(self, &mut rows, scratch.everything);
            // Those who do alike are next to one another: it takes a processor less to foresee what
            // they do.
            let mut courses = [u32::MAX; LANES];
            for (lane, course) in courses[..count].iter_mut().enumerate() {
                let Guess { weights, states } = scratch.values.guess(Lane::new(lane));
                *course = states << 20 ^ weights << 4;
            }
            for at in in_order(courses) {
                let Some((mut one, with)) = some[at].take() else { continue };
                let mut motion = GroundMotion::IDENTITY;
                let recorded = self.evaluate_lane(&mut one, Lane::new(at), scratch, &mut motion);
                let result = recorded.map(|()| motion).map_err(EvaluateError::Task);
                done(one, with, result, &scratch.fired);
            }
        }
    }

    fn evaluate_lane(
        &self,
        Instance { row, dt, list }: &mut Instance<'_>,
        lane: Lane,
        scratch: &mut VmScratch,
        motion: &mut GroundMotion,
    ) -> Result<(), TaskError> {
        list.clear();
        scratch.fired.clear();
        scratch.fired.extend(scratch.values.fired(lane));
        let control = Control::of(&self.layout, row);
        Vm { bound: self, control, scratch, list, lane, dt: *dt }.evaluate(motion)
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
    fn evaluate(&mut self, motion: &mut GroundMotion) -> Result<(), TaskError> {
        let mut of_plans = std::mem::take(&mut self.scratch.shapes);
        let recorded = self.evaluate_with(of_plans.current(), motion);
        self.scratch.shapes = of_plans;
        recorded
    }

    fn evaluate_with(
        &mut self,
        shapes: Option<&mut Shapes>,
        motion: &mut GroundMotion,
    ) -> Result<(), TaskError> {
        let plan = self.bound.plan();
        self.list.set_root_pin(self.bound.pin);
        if let Some(shapes) = shapes.filter(|_| !self.scratch.everything) {
            if let Some(shape) = self.known(plan, shapes) {
                self.record_known(plan, shapes, shape)?;
                *motion = self.finish(shapes.ends(shape), Some(shapes.known(shape)));
                return Ok(());
            }
            self.record_needed(plan)?;
            self.order_ends();
            self.keep(plan, shapes);
        } else {
            self.record_everything(plan)?;
            self.order_ends();
        }
        let VmScratch { samples, seams, .. } = &mut *self.scratch;
        let (samples, seams) = (std::mem::take(samples), std::mem::take(seams));
        *motion = self.finish(Ends { samples: &samples, seams: &seams }, None);
        (self.scratch.samples, self.scratch.seams) = (samples, seams);
        Ok(())
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
