//! What goes on from one evaluation to the next by itself: clocks and smoothed values.

use super::bind::BoundClip;
use super::control::ClockState;
use super::operand::*;
use super::program::{ClockDesc, FASTEST, Program};
use super::vm::Vm;
use crate::motion::PlayMode;

/// A smoothed value has arrived when it is this near, beside one or its own size: a layer that is
/// faded out is gone after thirteen half-lives, and not after the hundred and fifty that a `f32`
/// takes to become zero.
const ARRIVED: f32 = 1e-4;

/// What a step of time leaves of a distance.
#[derive(Clone, Copy, Debug)]
pub(super) struct Decay {
    dt: f32,
    half_life: f32,
    left: f32,
}

impl Decay {
    /// Of no step: it is computed when somebody asks.
    pub const UNKNOWN: Self = Self { dt: f32::NAN, half_life: 0.0, left: 0.0 };
}

/// A clock and what it needs of its clip.
#[derive(Clone, Copy, Debug)]
pub(super) struct BoundClock {
    pub seconds: f32,
    pub speed: f32,
    pub mode: PlayMode,
    pub group: Option<GroupId>,
}

/// The clocks of a program.
pub(super) fn bound(program: &Program, clips: &[BoundClip]) -> Vec<BoundClock> {
    let clock = |clock: &ClockDesc| {
        let ClockDesc { clip, mode, speed, group, .. } = *clock;
        BoundClock { seconds: clips[clip.get()].seconds, speed, mode, group }
    };
    program.clocks.iter().map(clock).collect()
}

/// The clocks that are such, with their clips.
pub(super) fn such(
    program: &Program,
    clips: &[BoundClip],
    such: impl Fn(ClockId, &BoundClip) -> bool,
) -> Vec<ClockId> {
    let clocks = (0..).map(ClockId).zip(&program.clocks);
    let such = clocks.filter(|(clock, desc)| such(*clock, &clips[desc.clip.get()]));
    such.map(|(clock, _)| clock).collect()
}

impl Vm<'_> {
    pub(super) fn smooth(&mut self, slot: SmoothId, value: f32, half_life: f32) -> f32 {
        let kept = &mut self.control.smooths[slot.get()];
        if *kept == value {
            return value;
        }
        // Most instances have the last one's step of time and half-life.
        let decay = &mut self.scratch.decays[slot.get()];
        if (decay.dt, decay.half_life) != (self.dt, half_life) {
            let left = if half_life > 0.0 { (-self.dt / half_life).exp2().min(1.0) } else { 0.0 };
            *decay = Decay { dt: self.dt, half_life, left };
        }
        let left = decay.left;
        let next = if kept.is_nan() { value } else { value + (*kept - value) * left };
        let near = (next - value).abs() <= ARRIVED * value.abs().max(1.0);
        *kept = if next.is_finite() && !near { next } else { value };
        *kept
    }

    /// Runs a clock; gives seconds inside its clip, and whether it is at its end. One that starts
    /// in this evaluation stands; the others have run on whether they were heard or not.
    #[inline]
    pub(super) fn advance(&mut self, clock: ClockId, factor: f32) -> (f32, bool) {
        let bound = &self.bound.clocks[clock.get()];
        let state = &mut self.control.clocks[clock.get()];
        let fresh = state.is(ClockState::FRESH);
        let step = &mut self.scratch.steps[clock.get()];
        match bound.group {
            Some(group) => {
                *step = self.bound.groups.member(clock, &self.scratch.groups[group.get()]);
            }
            None => {
                let speed = (bound.speed * factor).clamp(-FASTEST, FASTEST);
                // A clock that stands still keeps its direction.
                let dt = if fresh { 0.0_f32.copysign(speed) } else { self.dt * speed };
                bound.mode.advance_to(step, state.shows, dt, bound.seconds);
            }
        }
        state.shows = step.clock;
        state.set(ClockState::FRESH, false);
        state.set(ClockState::PASSED, step.wraps != 0);
        (step.to, step.finished)
    }
}
