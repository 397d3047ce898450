//! What an instance is at, for people to read.

use super::bind::BoundProgram;
use super::control::{ClockState, MachineState};
use super::operand::{ClipRef, ClockId, StateId};
use super::program::TransitionStyle;

/// An instance's control state, in the order of its program's tables.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Look {
    /// Parameters, as the last evaluation read them (or as they were set since).
    pub params: Vec<f32>,
    /// Blackboard values; not-a-number where nobody has written one, or a trigger was used up.
    pub keys: Vec<f32>,
    /// Clocks.
    pub clocks: Vec<ClockLook>,
    /// State machines.
    pub machines: Vec<MachineLook>,
}

/// A clock.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClockLook {
    /// Its clip, of the program's.
    pub clip: ClipRef,
    /// What it shows, seconds.
    pub seconds: f32,
    /// How long its clip is, seconds.
    pub length: f32,
    /// The last evaluation's pose had its clip in it.
    pub heard: bool,
    /// It has not run yet since it was started.
    pub fresh: bool,
}

impl ClockLook {
    /// What it shows as a share of its clip, 0..=1; zero for a clip without length.
    pub fn normalized(&self) -> f32 {
        let share = self.seconds / self.length;
        if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 }
    }
}

/// A state machine.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MachineLook {
    /// Its current state.
    pub state: StateId,
    /// Seconds in it.
    pub seconds: f32,
    /// The transition that is under way.
    pub transition: Option<TransitionLook>,
    /// The last evaluation's output depended on it.
    pub heard: bool,
}

/// A transition that is under way.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TransitionLook {
    /// Seconds since it began.
    pub elapsed: f32,
    /// Seconds that it lasts.
    pub duration: f32,
    /// How it hides the seam.
    pub style: TransitionStyle,
}

impl TransitionLook {
    /// How far it has come, 0..=1.
    pub fn progress(&self) -> f32 {
        let share = self.elapsed / self.duration;
        if share.is_finite() { share.clamp(0.0, 1.0) } else { 1.0 }
    }
}

impl BoundProgram {
    /// What an instance is at. `None` for another program's row.
    pub fn look(&self, row: &[u32]) -> Option<Look> {
        // A view of a row's parts is one to be written.
        let mut copy = row.to_vec();
        let control = self.control(&mut copy).ok()?;
        let clock = |(at, state): (u16, &ClockState)| {
            let (desc, clip) = self.clock(ClockId(at));
            ClockLook {
                clip: desc.clip,
                seconds: state.shows,
                length: clip.seconds,
                heard: control.is_heard(ClockId(at)),
                fresh: state.is(ClockState::FRESH),
            }
        };
        let machine = |state: &MachineState| {
            let MachineState { elapsed, duration, .. } = *state;
            let style = match state.is(MachineState::DEAD) {
                true => TransitionStyle::DeadBlend,
                false => TransitionStyle::Inertialize,
            };
            MachineLook {
                state: StateId(state.state),
                seconds: state.seconds,
                transition: (elapsed < duration).then_some(TransitionLook {
                    elapsed,
                    duration,
                    style,
                }),
                heard: state.is(MachineState::HEARD),
            }
        };
        Some(Look {
            params: control.params.to_vec(),
            keys: control.keys.to_vec(),
            clocks: (0..).zip(&*control.clocks).map(clock).collect(),
            machines: control.machines.iter().map(machine).collect(),
        })
    }
}
