//! Clocks: what goes on from one evaluation to the next by itself.

use super::bind::BoundClip;
use super::control::ClockState;
use super::operand::*;
use super::program::{ClockDesc, FASTEST, Program};
use super::wide::One;
use crate::motion::PlayMode;

/// A clock and what it needs of its clip.
#[derive(Clone, Copy, Debug)]
pub(super) struct BoundClock {
    pub clip: ClipRef,
    pub seconds: f32,
    pub speed: f32,
    pub mode: PlayMode,
    pub group: Option<GroupId>,
    pub course: Course,
}

/// How the steps of a clock are taken for many instances at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Course {
    /// Round and round, and from end to end.
    Loops,
    Stops,
    /// With its sync group.
    Member(GroupId),
    /// One by one.
    Odd,
}

impl BoundClock {
    /// Whether it is at its end only as it passes it.
    pub fn goes_round(&self) -> bool {
        matches!(self.mode, PlayMode::Loop | PlayMode::PingPong)
    }

    /// Whether it says that it is over when it is at its end.
    pub fn is_over_once(&self) -> bool {
        self.mode == PlayMode::Once
    }
}

/// The clocks of a program.
pub(super) fn bound(program: &Program, clips: &[BoundClip]) -> Vec<BoundClock> {
    let clock = |clock: &ClockDesc| {
        let ClockDesc { clip, mode, speed, group, .. } = *clock;
        let seconds = clips[clip.get()].seconds;
        let course = match (mode, group) {
            _ if !(seconds > 0.0 && seconds.is_finite()) => Course::Odd,
            (_, Some(group)) => Course::Member(group),
            (PlayMode::Loop, None) => Course::Loops,
            (PlayMode::Once | PlayMode::Clamp, None) => Course::Stops,
            (PlayMode::PingPong, None) => Course::Odd,
        };
        BoundClock { clip, seconds, speed, mode, group, course }
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

impl One<'_> {
    /// Runs a clock; gives seconds inside its clip, and whether it is at its end. One that starts
    /// in this evaluation stands; the others have run on whether they were heard or not.
    pub(super) fn advance(&mut self, clock: ClockId, factor: f32) -> (f32, bool) {
        let bound = &self.bound.clocks[clock.get()];
        let mut state = self.values.clock(clock, self.lane);
        let step = match bound.group {
            Some(group) => {
                let step = self.values.group_step(group, self.lane);
                self.bound.groups.member(clock, &step)
            }
            None => {
                let speed = (bound.speed * factor).clamp(-FASTEST, FASTEST);
                // A clock that stands still keeps its direction.
                let fresh = state.is(ClockState::FRESH);
                let dt = if fresh { 0.0_f32.copysign(speed) } else { self.dt * speed };
                bound.mode.advance(state.shows, dt, bound.seconds)
            }
        };
        state.shows = step.clock;
        // It is not fresh any more.
        state.flags = if step.wraps != 0 { ClockState::PASSED } else { 0 };
        self.values.set_clock(clock, self.lane, state);
        self.values.set_step(clock, self.lane, step);
        (step.to, step.finished)
    }
}
