//! What goes on from one evaluation to the next by itself: clocks and smoothed values.

use super::control::ClockState;
use super::operand::*;
use super::program::FASTEST;
use super::vm::Vm;

/// A smoothed value has arrived when it is this near, beside one or its own size: a layer that is
/// faded out is gone after thirteen half-lives, and not after the hundred and fifty that a `f32`
/// takes to become zero.
const ARRIVED: f32 = 1e-4;

impl Vm<'_> {
    pub(super) fn smooth(&mut self, slot: SmoothId, value: f32, half_life: f32) -> f32 {
        let kept = &mut self.control.smooths[slot.get()];
        if *kept == value {
            return value;
        }
        let left = if half_life > 0.0 { (-self.dt / half_life).exp2().min(1.0) } else { 0.0 };
        let next = if kept.is_nan() { value } else { value + (*kept - value) * left };
        let near = (next - value).abs() <= ARRIVED * value.abs().max(1.0);
        *kept = if next.is_finite() && !near { next } else { value };
        *kept
    }

    /// Runs a clock; gives seconds inside its clip, and whether it is at its end. One that starts
    /// in this evaluation stands; the others have run on whether they were heard or not.
    #[inline]
    pub(super) fn advance(&mut self, clock: ClockId, factor: f32) -> (f32, bool) {
        let (desc, clip) = self.bound.clock(clock);
        let state = &mut self.control.clocks[clock.get()];
        let fresh = state.is(ClockState::FRESH);
        let step = match desc.group {
            Some(group) => self.bound.groups.member(clock, &self.scratch.groups[group.get()]),
            None => {
                let speed = (desc.speed * factor).clamp(-FASTEST, FASTEST);
                // A clock that stands still keeps its direction.
                let dt = if fresh { 0.0_f32.copysign(speed) } else { self.dt * speed };
                desc.mode.advance(state.shows, dt, clip.seconds)
            }
        };
        state.shows = step.clock;
        state.set(ClockState::FRESH, false);
        state.set(ClockState::PASSED, step.wraps != 0);
        let shown = (step.to, step.finished);
        self.scratch.steps[clock.get()] = step;
        shown
    }
}
