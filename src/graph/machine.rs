//! State machines, and transitions outside of them: what happens to their control state while the
//! list is recorded. Offsets and histories belong to the executor.

use super::control::{ClockState, MachineState, fresh_clock, fresh_machine};
use super::operand::*;
use super::plan::Way;
use super::program::{MachineDesc, Program, TransitionStyle};
use super::vm::Vm;
use super::wide::One;
use crate::task::{HistoryId, Task, TaskError, TaskIndex, Transition};

impl One<'_> {
    /// Lets time pass for a machine and changes its state by the first transition that may be
    /// taken; at most one in an evaluation.
    pub(super) fn select(&mut self, machine: MachineId) {
        let dt = self.dt;
        let mut state = self.values.machine(machine, self.lane);
        if state.is(MachineState::FRESH) {
            state.set(MachineState::FRESH, false);
        } else {
            state.seconds = (state.seconds + dt).max(0.0);
            // Not-a-number stays one: no transition is under way.
            state.elapsed = if state.elapsed.is_nan() { f32::NAN } else { state.elapsed + dt };
        }
        if state.elapsed >= state.duration {
            state.elapsed = f32::NAN;
        }
        state.set(MachineState::BEGAN | MachineState::SNAPPED, false);
        self.values.set_machine(machine, self.lane, state);
        self.take_way(machine);
        let current = self.values.machine(machine, self.lane).state;
        let states = &self.bound.plan().machines[machine.get()].states;
        self.wake(&states[usize::from(current)].wakes);
    }

    /// Changes the state of a machine, for which time has passed, by the first transition that may
    /// be taken.
    pub(super) fn take_way(&mut self, machine: MachineId) {
        let states = &self.bound.plan().machines[machine.get()].states;
        let state = self.values.machine(machine, self.lane);
        let ways = &states[usize::from(state.state)].ways;
        if let Some(way) = ways.iter().find(|way| self.may_be_taken(&state, way)) {
            self.change_state(machine, way);
        }
    }

    fn may_be_taken(&self, state: &MachineState, way: &Way) -> bool {
        way.condition.is_none_or(|c| self.scalar(c) > 0.5)
            && state.seconds >= way.min_time
            && (way.interrupts || state.elapsed.is_nan())
            && way.at_end.is_none_or(|end| self.is_at_end(end.clock, end.before))
    }

    /// Whether a clip is over, or about to be.
    fn is_at_end(&self, clock: ClockId, before: f32) -> bool {
        let bound = &self.bound.clocks[clock.get()];
        let state = self.values.clock(clock, self.lane);
        if bound.goes_round() {
            return state.is(ClockState::PASSED);
        }
        let left = if bound.speed < 0.0 { state.shows } else { bound.seconds - state.shows };
        !state.is(ClockState::FRESH) && left <= before
    }

    fn change_state(&mut self, machine: MachineId, way: &Way) {
        let desc = &self.bound.program().machines[machine.get()];
        let transition = &desc.transitions[usize::from(way.row)];
        let mut state = self.values.machine(machine, self.lane);
        state.state = transition.to.0;
        state.seconds = 0.0;
        let snaps = transition.duration <= 0.0;
        state.elapsed = if snaps { f32::NAN } else { 0.0 };
        state.duration = transition.duration;
        state.set(MachineState::BEGAN, !snaps);
        state.set(MachineState::SNAPPED, snaps);
        state.set(MachineState::DEAD, transition.style == TransitionStyle::DeadBlend);
        self.values.set_machine(machine, self.lane, state);
        self.enter(desc, transition.to);
    }

    /// Starts what a state starts when it is entered: its clocks, and the machines inside of it,
    /// with what their initial states start.
    fn enter(&mut self, desc: &MachineDesc, state: StateId) {
        let bound = self.bound;
        let program = bound.program();
        let state = &desc.states[state.get()];
        for &clock in &state.clocks {
            let row = &program.clocks[clock.get()];
            let clip = &bound.clips[row.clip.get()];
            let mut kept = self.values.clock(clock, self.lane);
            let shows = kept.shows.min(clip.seconds);
            clip.notifies.stop(shows, &mut kept.notifies, |notify| self.fire(notify));
            self.values.set_clock(clock, self.lane, fresh_clock(row));
            if let Some(group) = row.group {
                self.restart_unheard(group);
            }
        }
        for &inner in &state.machines {
            let row = &program.machines[inner.get()];
            let heard = self.values.machine(inner, self.lane).flags & MachineState::HEARD;
            let fresh = fresh_machine(row);
            let state = MachineState { flags: fresh.flags | heard, ..fresh };
            self.values.set_machine(inner, self.lane, state);
            self.enter(row, row.initial);
        }
    }

    /// A sync group that nobody heard has no phase worth keeping.
    fn restart_unheard(&mut self, group: GroupId) {
        let clocks = (0..).map(ClockId).zip(&self.bound.program().clocks);
        let mut members = clocks.filter(|(_, desc)| desc.group == Some(group));
        if !members.any(|(clock, _)| self.values.was_heard(clock, self.lane)) {
            self.restart_group(group);
        }
    }

    /// Lets time pass for a transition outside of machines, and begins one when its trigger rises.
    pub(super) fn seam(&mut self, seam: SeamId, trigger: bool, duration: f32) -> Transition {
        let (dt, history) = (self.dt, history_of(self.bound.program(), seam));
        let mut state = self.values.seam(seam, self.lane);
        let began = trigger && state.was_up == 0 && duration > 0.0;
        state.was_up = u16::from(trigger);
        if began {
            (state.elapsed, state.duration) = (0.0, duration);
        } else {
            state.elapsed += dt;
            if state.elapsed >= state.duration {
                state.elapsed = f32::NAN;
            }
        }
        self.values.set_seam(seam, self.lane, state);
        Transition {
            history,
            elapsed: state.elapsed,
            duration: state.duration,
            dt: if state.heard != 0 { dt } else { f32::NAN },
            capture: began,
        }
    }
}

impl Vm<'_> {
    /// Records the one task of a machine: what is left of its transition on the current state's
    /// pose.
    pub(super) fn record_machine<const KNOWN: bool>(
        &mut self,
        machine: MachineId,
        source: TaskIndex,
    ) -> Result<TaskIndex, TaskError> {
        let state = self.control.machines[machine.get()];
        let known = state.is(MachineState::HEARD) && !state.is(MachineState::SNAPPED);
        let transition = Transition {
            history: HistoryId(machine.0),
            elapsed: state.elapsed,
            duration: state.duration,
            dt: if known { self.dt } else { f32::NAN },
            capture: state.is(MachineState::BEGAN),
        };
        let task = match state.is(MachineState::DEAD) {
            false => Task::Inertialize { source, transition },
            true => Task::DeadBlend { source, transition },
        };
        let index = self.put::<KNOWN>(task)?;
        if !KNOWN {
            self.scratch.seams.push((machine.0, index));
        }
        Ok(index)
    }

    pub(super) fn record_seam<const KNOWN: bool>(
        &mut self,
        seam: SeamId,
        task: Task,
    ) -> Result<TaskIndex, TaskError> {
        let index = self.put::<KNOWN>(task)?;
        if !KNOWN {
            self.scratch.seams.push((history_of(self.bound.program(), seam).0, index));
        }
        Ok(index)
    }
}

/// Seams' histories follow the machines'; validation has counted them.
fn history_of(program: &Program, seam: SeamId) -> HistoryId {
    HistoryId((program.machines.len() + seam.get()) as u16)
}
