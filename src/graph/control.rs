//! What one instance of a program keeps from evaluation to evaluation: a flat row of words.

use super::operand::*;
use super::program::*;
use crate::motion::{GroundMotion, NotifyCursor, SyncGroup};
use bytemuck::{Pod, Zeroable};
use std::ops::Range;

/// Where each part of a row lies, in words. All but the motion comes first: what is turned, so that
/// it is decided for many instances at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    params: Range<usize>,
    keys: Range<usize>,
    smooths: Range<usize>,
    groups: Range<usize>,
    pieces: Range<usize>,
    clocks: Range<usize>,
    heard: Range<usize>,
    machines: Range<usize>,
    seams: Range<usize>,
    motion: Range<usize>,
}

/// A clock of an instance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub(super) struct ClockState {
    /// What it shows.
    pub shows: f32,
    pub flags: u16,
    /// Which spans of its clip's notifies are open.
    pub notifies: NotifyCursor,
}

impl ClockState {
    /// It starts in this evaluation, in which it does not run.
    pub const FRESH: u16 = 1;
    /// The last evaluation crossed an end.
    pub const PASSED: u16 = 2;

    pub fn is(&self, flag: u16) -> bool {
        self.flags & flag != 0
    }
}

/// A state machine of an instance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub(super) struct MachineState {
    pub state: u16,
    pub flags: u16,
    /// Seconds in the state.
    pub seconds: f32,
    /// Of the transition that is under way; not-a-number when there is none.
    pub elapsed: f32,
    pub duration: f32,
}

impl MachineState {
    /// It starts in this evaluation, in which no time passes for it.
    pub const FRESH: u16 = 1;
    /// A transition began in this evaluation.
    pub const BEGAN: u16 = 2;
    /// The transition is a dead blend.
    pub const DEAD: u16 = 4;
    /// The last evaluation's output depended on it, so its history is as old as that.
    pub const HEARD: u16 = 8;
    /// The state was changed without a transition, so there is no velocity.
    pub const SNAPPED: u16 = 16;

    pub fn is(&self, flag: u16) -> bool {
        self.flags & flag != 0
    }

    pub fn set(&mut self, flag: u16, on: bool) {
        self.flags = if on { self.flags | flag } else { self.flags & !flag };
    }
}

/// A transition outside of machines.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub(super) struct SeamState {
    /// Not-a-number when there is none.
    pub elapsed: f32,
    pub duration: f32,
    /// The trigger was up in the last evaluation.
    pub was_up: u16,
    /// The last evaluation's output depended on it.
    pub heard: u16,
}

/// What hides the change of pace when a state is entered: the ground motion's own inertialization.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub(super) struct MotionState {
    /// What the character moved by in the last evaluation, per second; not-a-number before there
    /// was one.
    velocity: GroundMotion,
    /// The old velocity beside the new one's, where the transition began.
    offset: GroundMotion,
    /// Seconds; negative while the new velocity is not known yet.
    elapsed: f32,
    duration: f32,
}

const WORD: usize = size_of::<u32>();
/// Words of a row that are turned into lanes together.
pub(super) const BLOCK: usize = 8;
/// Words of a clock, of a machine and of a transition outside of machines.
pub(super) const CLOCK: usize = size_of::<ClockState>() / WORD;
pub(super) const MACHINE: usize = size_of::<MachineState>() / WORD;
pub(super) const SEAM: usize = size_of::<SeamState>() / WORD;

/// A word of two halves, as they lie in a row.
pub(super) const fn word_of(first: u16, second: u16) -> u32 {
    let ([a, b], [c, d]) = (first.to_ne_bytes(), second.to_ne_bytes());
    u32::from_ne_bytes([a, b, c, d])
}

impl Layout {
    /// With room for `pieces` of the rounds of sync groups with markers.
    pub fn of(program: &Program, pieces: usize) -> Self {
        let mut end = 0;
        let mut range = |count: usize, bytes: usize| {
            let start = end;
            end += count * bytes / WORD;
            start..end
        };
        Self {
            params: range(program.params.len(), WORD),
            keys: range(program.keys.len(), WORD),
            smooths: range(program.smooths.into(), WORD),
            groups: range(program.sync_groups.len(), size_of::<SyncGroup>()),
            pieces: range(pieces, WORD),
            clocks: range(program.clocks.len(), size_of::<ClockState>()),
            heard: range(program.clocks.len().div_ceil(u32::BITS as usize), WORD),
            machines: range(program.machines.len(), size_of::<MachineState>()),
            seams: range(program.seams.into(), size_of::<SeamState>()),
            motion: range(1, size_of::<MotionState>()),
        }
    }

    /// Words of a row.
    pub fn words(&self) -> usize {
        self.motion.end
    }

    /// Words that are turned, in whole blocks: some of the motion may be among them.
    pub fn turned(&self) -> usize {
        const { assert!(size_of::<MotionState>() / WORD >= BLOCK - 1, "a row has them all") };
        self.seams.end.next_multiple_of(BLOCK)
    }

    pub fn params(&self) -> Range<usize> {
        self.params.clone()
    }

    pub fn keys(&self) -> Range<usize> {
        self.keys.clone()
    }

    pub fn smooths(&self) -> Range<usize> {
        self.smooths.clone()
    }

    pub fn groups(&self) -> Range<usize> {
        self.groups.clone()
    }

    pub fn pieces(&self) -> Range<usize> {
        self.pieces.clone()
    }

    pub fn clocks(&self) -> Range<usize> {
        self.clocks.clone()
    }

    pub fn heard(&self) -> Range<usize> {
        self.heard.clone()
    }

    pub fn machines(&self) -> Range<usize> {
        self.machines.clone()
    }

    pub fn seams(&self) -> Range<usize> {
        self.seams.clone()
    }
}

/// A row's parts.
#[derive(Debug)]
pub(super) struct Control<'a> {
    pub params: &'a mut [f32],
    pub keys: &'a mut [f32],
    pub smooths: &'a mut [f32],
    pub clocks: &'a mut [ClockState],
    /// A bit for each clock whose clip was part of the last evaluation's pose.
    pub heard: &'a mut [u32],
    pub groups: &'a mut [SyncGroup],
    /// Of the rounds of groups with markers, one group after the other.
    pub pieces: &'a mut [f32],
    pub machines: &'a mut [MachineState],
    pub seams: &'a mut [SeamState],
    motion: &'a mut [MotionState],
}

impl<'a> Control<'a> {
    /// The parts of a row, which is as long as the layout says.
    #[inline(always)]
    pub fn of(layout: &Layout, row: &'a mut [u32]) -> Self {
        let mut rest = row;
        let mut part = |range: &Range<usize>| {
            let (part, after) = std::mem::take(&mut rest).split_at_mut(range.len());
            rest = after;
            part
        };
        // In the layout's order.
        Self {
            params: bytemuck::cast_slice_mut(part(&layout.params)),
            keys: bytemuck::cast_slice_mut(part(&layout.keys)),
            smooths: bytemuck::cast_slice_mut(part(&layout.smooths)),
            groups: bytemuck::cast_slice_mut(part(&layout.groups)),
            pieces: bytemuck::cast_slice_mut(part(&layout.pieces)),
            clocks: bytemuck::cast_slice_mut(part(&layout.clocks)),
            heard: part(&layout.heard),
            machines: bytemuck::cast_slice_mut(part(&layout.machines)),
            seams: bytemuck::cast_slice_mut(part(&layout.seams)),
            motion: bytemuck::cast_slice_mut(part(&layout.motion)),
        }
    }

    /// The state of an instance that was never evaluated: clocks where `shows` puts them, sync
    /// groups at `phase` of their round, cut into `pieces`.
    pub fn start(
        &mut self,
        program: &Program,
        phase: f32,
        pieces: &[f32],
        shows: impl Fn(ClockId) -> f32,
    ) {
        for (value, param) in self.params.iter_mut().zip(&program.params) {
            *value = param.default;
        }
        self.keys.fill(f32::NAN);
        self.smooths.fill(f32::NAN);
        for (at, (state, clock)) in self.clocks.iter_mut().zip(&program.clocks).enumerate() {
            *state = ClockState { shows: shows(ClockId(at as u16)), ..fresh_clock(clock) };
        }
        self.heard.fill(0);
        self.groups.iter_mut().for_each(|group| *group = SyncGroup::at(phase));
        self.pieces.copy_from_slice(pieces);
        for (state, machine) in self.machines.iter_mut().zip(&program.machines) {
            *state = fresh_machine(machine);
        }
        let seam = SeamState { elapsed: f32::NAN, duration: 0.0, was_up: 0, heard: 0 };
        self.seams.fill(seam);
        self.motion.fill(MotionState::START);
    }

    /// Whether a clock's clip was part of the last evaluation's pose.
    pub fn is_heard(&self, clock: ClockId) -> bool {
        self.heard[clock.get() / 32] >> (clock.get() % 32) & 1 == 1
    }

    /// Nobody saw how fast it moved last.
    pub fn forget_motion(&mut self) {
        self.motion.fill(MotionState::START);
    }

    /// The motion's state.
    pub fn motion(&mut self) -> Option<&mut MotionState> {
        self.motion.first_mut()
    }
}

/// A clock that starts.
pub(super) fn fresh_clock(clock: &ClockDesc) -> ClockState {
    ClockState { shows: clock.start, flags: ClockState::FRESH, notifies: NotifyCursor::default() }
}

/// A machine that starts.
pub(super) fn fresh_machine(machine: &MachineDesc) -> MachineState {
    MachineState {
        state: machine.initial.0,
        flags: MachineState::FRESH,
        seconds: 0.0,
        elapsed: f32::NAN,
        duration: 0.0,
    }
}

impl MotionState {
    const START: Self = Self {
        velocity: GroundMotion { x: f32::NAN, z: 0.0, yaw: 0.0 },
        offset: GroundMotion::IDENTITY,
        elapsed: 0.0,
        duration: 0.0,
    };

    /// What the character moves by when its clips say `raw` for a step of `dt` seconds. A
    /// transition that began in this step hands over its duration: the character keeps its pace
    /// for this step, in which the clocks of the state entered stand still, and then goes over to
    /// the new one along a smoothstep. The share of each step is integrated, so it does not depend
    /// on how time is cut.
    pub fn step(&mut self, raw: GroundMotion, dt: f32, began: Option<f32>) -> GroundMotion {
        if dt.is_nan() || dt <= 0.0 {
            return raw;
        }
        let per_second = raw.weighted(1.0 / dt);
        let known = !self.velocity.x.is_nan();
        if let Some(duration) = began.filter(|_| known) {
            (self.elapsed, self.duration) = (-1.0, duration);
            return self.velocity.weighted(dt);
        }
        if self.elapsed < 0.0 {
            self.offset = self.velocity.plus(per_second.weighted(-1.0));
            self.elapsed = 0.0;
        }
        let mut motion = raw;
        if self.elapsed < self.duration {
            let share = |seconds: f32| {
                let s = (seconds / self.duration).min(1.0);
                // The integral of 1 - (3 s^2 - 2 s^3).
                s - s * s * s + 0.5 * s * s * s * s
            };
            let left = share(self.elapsed + dt) - share(self.elapsed);
            motion = motion.plus(self.offset.weighted(left * self.duration));
            self.elapsed += dt;
        }
        self.velocity = motion.weighted(1.0 / dt);
        motion
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn forward(z: f32) -> GroundMotion {
        GroundMotion { x: 0.0, z, yaw: 0.0 }
    }

    #[test]
    fn a_change_of_pace_is_smooth_and_the_same_however_time_is_cut() {
        let mut covered = Vec::new();
        for steps in [6, 12, 60] {
            let dt = 0.6 / steps as f32;
            let mut motion = MotionState::START;
            let mut sum = 0.0;
            let mut before = 2.0;
            assert_eq!(motion.step(forward(2.0 * dt), dt, None).z, 2.0 * dt);
            // The state entered stands still for the step in which it is entered.
            assert_eq!(motion.step(GroundMotion::IDENTITY, dt, Some(0.3)).z, 2.0 * dt);
            for _ in 0..steps {
                let step = motion.step(forward(0.5 * dt), dt, None).z;
                let pace = step / dt;
                assert!(pace <= before + 1e-4 && pace >= 0.5 - 1e-4, "{pace}");
                (before, sum) = (pace, sum + step);
            }
            assert!((before - 0.5).abs() < 1e-4);
            covered.push(sum);
        }
        // The new pace, and half of the old one's excess over the transition.
        assert!(covered.iter().all(|c| (c - (0.3 + 0.5 * 1.5 * 0.3)).abs() < 1e-4), "{covered:?}");
    }

    #[test]
    fn who_was_never_seen_moving_has_no_pace_to_keep() {
        let mut motion = MotionState::START;
        assert_eq!(motion.step(forward(0.1), 0.1, Some(0.3)), forward(0.1));
        assert_eq!(motion.step(forward(0.2), 0.0, Some(0.3)), forward(0.2), "time stands still");
    }
}
