//! What is set and asked of an instance from outside.

use super::bind::BoundProgram;
use super::control::MachineState;
use super::operand::*;
use super::program::{Param, ParamKind};
use super::scratch::VmScratch;
use super::vm::EvaluateError;
use crate::motion::Fired;
use crate::task::TaskList;

/// Seconds of one step of those that catch up with time that nobody saw.
pub const CATCH_UP_STEP: f32 = 0.25;
/// Steps that catch up, at most; what is more goes into the first.
pub const CATCH_UP_STEPS: u32 = 16;

impl Param {
    /// A value as the parameter holds it: within its range; a flag or a trigger 0 or 1.
    /// Not-a-number is the default.
    pub fn limited(&self, value: f32) -> f32 {
        self.limits().limited(value)
    }

    pub(super) fn limits(&self) -> Limits {
        let Self { default, min, max, kind, .. } = *self;
        Limits { default, min, max, flag: kind != ParamKind::Float }
    }
}

/// What a parameter can be.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    default: f32,
    pub(super) min: f32,
    pub(super) max: f32,
    /// 0 or 1.
    pub(super) flag: bool,
}

impl Limits {
    #[inline]
    pub fn limited(&self, value: f32) -> f32 {
        let value = if value.is_nan() { self.default } else { value };
        let value = if self.flag { f32::from(u8::from(value > 0.5)) } else { value };
        value.clamp(self.min, self.max)
    }
}

impl BoundProgram {
    /// Sets a parameter, limited to its range. A parameter that a blackboard key refills is
    /// overwritten by it in the next evaluation. Without effect for one that is not there.
    pub fn set_param(&self, row: &mut [u32], param: ParamId, value: f32) {
        if let Some(desc) = self.program().params.get(param.get())
            && let Some(word) =
                row.get_mut(self.layout.params()).and_then(|p| p.get_mut(param.get()))
        {
            *word = desc.limited(value).to_bits();
        }
    }

    /// A parameter's value; `None` for one that is not there.
    pub fn param(&self, row: &[u32], param: ParamId) -> Option<f32> {
        row.get(self.layout.params())?.get(param.get()).map(|word| f32::from_bits(*word))
    }

    /// Sets a blackboard value, which stays until it is set anew; a trigger's until an evaluation
    /// has seen it. Not-a-number takes it back: the parameter keeps what it has. Without effect for
    /// one that is not there.
    pub fn set_key(&self, row: &mut [u32], key: KeyId, value: f32) {
        if let Some(word) = row.get_mut(self.layout.keys()).and_then(|k| k.get_mut(key.get())) {
            *word = value.to_bits();
        }
    }

    /// A blackboard value; not-a-number where nobody has written one. `None` for a key that is not
    /// there.
    pub fn key(&self, row: &[u32], key: KeyId) -> Option<f32> {
        row.get(self.layout.keys())?.get(key.get()).map(|word| f32::from_bits(*word))
    }

    /// The current state of a machine; `None` for one that is not there.
    pub fn state(&self, row: &[u32], machine: MachineId) -> Option<StateId> {
        let words = row.get(self.layout.machines())?;
        let machines: &[MachineState] = bytemuck::cast_slice(words);
        machines.get(machine.get()).map(|machine| StateId(machine.state))
    }

    /// Lets `seconds` pass that nobody saw, in a few steps, so that clocks and machines are where
    /// they would be. Nobody is moved by it, and no notify fires but the end of spans that are
    /// open: what was heard of the instance stopped when it was last seen. The list is scratch.
    ///
    /// # Errors
    /// [`EvaluateError::Row`] for another program's row.
    pub fn catch_up(
        &self,
        row: &mut [u32],
        seconds: f32,
        scratch: &mut VmScratch,
        list: &mut TaskList,
    ) -> Result<(), EvaluateError> {
        let mut ends = std::mem::take(&mut scratch.kept);
        ends.clear();
        self.stop(row, |notify| ends.push(notify))?;
        let mut left = if seconds.is_finite() { seconds } else { 0.0 };
        // The long part first: machines settle in the short steps after it.
        let short = CATCH_UP_STEP * CATCH_UP_STEPS as f32;
        if left.abs() > short {
            let long = left - short.copysign(left);
            self.evaluate(row, long, scratch, list)?;
            left -= long;
        }
        while left != 0.0 {
            let step = left.clamp(-CATCH_UP_STEP, CATCH_UP_STEP);
            self.evaluate(row, step, scratch, list)?;
            left = if left.abs() > CATCH_UP_STEP { left - step } else { 0.0 };
        }
        // Spans that it has come back into begin with the next step.
        self.stop(row, |_| {})?;
        self.control(row)?.forget_motion();
        scratch.kept = std::mem::replace(&mut scratch.fired, ends);
        list.clear();
        Ok(())
    }

    /// Ends every span of a notify that is open: whoever has the row goes, or gets another program.
    ///
    /// # Errors
    /// [`EvaluateError::Row`] for another program's row.
    pub fn stop(&self, row: &mut [u32], mut fire: impl FnMut(Fired)) -> Result<(), EvaluateError> {
        let control = self.control(row)?;
        for (at, state) in control.clocks.iter_mut().enumerate() {
            let (_, clip) = self.clock(ClockId(at as u16));
            let shows = state.shows.min(clip.seconds);
            clip.notifies.stop(shows, &mut state.notifies, &mut fire);
        }
        Ok(())
    }
}
