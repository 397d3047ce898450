//! What goes on from one evaluation to the next by itself: clocks and smoothed values.

use super::bind::BoundClip;
use super::control::ClockState;
use super::operand::*;
use super::program::{ClockDesc, FASTEST, Program};
use super::vm::Vm;
use super::wide::{left_of, smoothed};
use crate::motion::PlayMode;

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
    /// Smooths a value that is not computed ahead.
    pub(super) fn smooth(&mut self, slot: SmoothId, value: f32, half_life: f32) -> f32 {
        let kept = &mut self.control.smooths[slot.get()];
        if *kept == value {
            return value;
        }
        *kept = smoothed(*kept, value, left_of(self.dt, half_life));
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
        // It is not fresh any more.
        state.flags = if step.wraps != 0 { ClockState::PASSED } else { 0 };
        (step.to, step.finished)
    }
}
