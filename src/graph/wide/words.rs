//! What one lane keeps from evaluation to evaluation, while rows are turned.

use super::{LANES, Lane, Values};
use crate::graph::control::{CLOCK, ClockState, Layout, MACHINE, MachineState, SEAM, SeamState};
use crate::graph::groups::Groups;
use crate::graph::operand::*;
use crate::motion::{Advance, GroupStep, SyncGroup, SyncTrack};
use bytemuck::Pod;

/// Words of a sync group.
pub(super) const GROUP: usize = size_of::<SyncGroup>() / size_of::<u32>();

/// Where the parts of a row begin among the words.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Parts {
    pub keys: usize,
    pub smooths: usize,
    pub groups: usize,
    pub pieces: usize,
    pub clocks: usize,
    heard: usize,
    pub machines: usize,
    seams: usize,
}

impl Parts {
    pub fn of(layout: &Layout) -> Self {
        Self {
            keys: layout.keys().start,
            smooths: layout.smooths().start,
            groups: layout.groups().start,
            pieces: layout.pieces().start,
            clocks: layout.clocks().start,
            heard: layout.heard().start,
            machines: layout.machines().start,
            seams: layout.seams().start,
        }
    }
}

impl Values {
    fn read<T: Pod, const N: usize>(&self, at: usize, lane: Lane) -> T {
        let words: [f32; N] = std::array::from_fn(|i| self.words[at + i].0[lane.get()]);
        bytemuck::cast(words)
    }

    fn write<T: Pod, const N: usize>(&mut self, at: usize, lane: Lane, value: T) {
        let words: [f32; N] = bytemuck::cast(value);
        for (to, word) in self.words[at..at + N].iter_mut().zip(words) {
            to.0[lane.get()] = word;
        }
    }

    pub fn clock(&self, clock: ClockId, lane: Lane) -> ClockState {
        self.read::<_, CLOCK>(self.at.clocks + CLOCK * clock.get(), lane)
    }

    pub fn set_clock(&mut self, clock: ClockId, lane: Lane, state: ClockState) {
        self.write::<_, CLOCK>(self.at.clocks + CLOCK * clock.get(), lane, state);
    }

    /// Whether a clock's clip was part of the last evaluation's pose.
    pub fn was_heard(&self, clock: ClockId, lane: Lane) -> bool {
        let bits = self.words[self.at.heard + clock.get() / 32].0[lane.get()].to_bits();
        bits >> (clock.get() % 32) & 1 == 1
    }

    pub fn machine(&self, machine: MachineId, lane: Lane) -> MachineState {
        self.read::<_, MACHINE>(self.at.machines + MACHINE * machine.get(), lane)
    }

    pub fn set_machine(&mut self, machine: MachineId, lane: Lane, state: MachineState) {
        self.write::<_, MACHINE>(self.at.machines + MACHINE * machine.get(), lane, state);
    }

    pub fn seam(&self, seam: SeamId, lane: Lane) -> SeamState {
        self.read::<_, SEAM>(self.at.seams + SEAM * seam.get(), lane)
    }

    pub fn set_seam(&mut self, seam: SeamId, lane: Lane, state: SeamState) {
        self.write::<_, SEAM>(self.at.seams + SEAM * seam.get(), lane, state);
    }

    pub fn set_step(&mut self, clock: ClockId, lane: Lane, step: Advance) {
        self.clocks[clock.get()].set(lane, step);
    }

    pub fn group_step(&self, group: GroupId, lane: Lane) -> GroupStep {
        self.groups[group.get()].get(lane)
    }

    pub fn set_pace(&mut self, group: GroupId, lane: Lane, speed: f32) {
        let at = self.at.groups + GROUP * group.get();
        let mut state = self.read::<SyncGroup, GROUP>(at, lane);
        state.set_speed(speed);
        self.write::<_, GROUP>(at, lane, state);
    }

    /// Puts a sync group to the start of its round.
    pub fn restart_group(&mut self, groups: &Groups, group: GroupId, lane: Lane) {
        self.with_group(groups, group, lane, |state, pieces, first_rate| {
            state.restart();
            state.advance_by_markers(0.0, first_rate, pieces)
        });
    }

    /// Lets time pass for a group.
    pub fn advance_group(&mut self, groups: &Groups, group: GroupId, lane: Lane) {
        let dt = self.dt.0[lane.get()];
        self.with_group(groups, group, lane, |state, pieces, first_rate| {
            state.advance_by_markers(dt, first_rate, pieces)
        });
    }

    /// Takes a step of a group with its pieces, which is kept.
    fn with_group(
        &mut self,
        groups: &Groups,
        group: GroupId,
        lane: Lane,
        step: impl FnOnce(&mut SyncGroup, &mut [f32], f32) -> GroupStep,
    ) {
        let row = groups.row(group.get());
        let at = self.at.groups + GROUP * group.get();
        let begin = self.at.pieces + row.pieces.start;
        let mut pieces = [0.0; SyncTrack::MOST];
        let pieces = &mut pieces[..row.pieces.len()];
        let words = self.words[begin..].iter();
        pieces.iter_mut().zip(words).for_each(|(piece, word)| *piece = word.0[lane.get()]);
        let mut state = self.read::<SyncGroup, GROUP>(at, lane);
        let step = step(&mut state, pieces, row.first_rate);
        self.groups[group.get()].set(lane, step);
        self.write::<_, GROUP>(at, lane, state);
        let words = self.words[begin..].iter_mut();
        words.zip(pieces).for_each(|(word, piece)| word.0[lane.get()] = *piece);
    }
}

const _: () = assert!(LANES == 16, "a mask has a bit for each lane");
