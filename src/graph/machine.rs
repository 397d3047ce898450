//! State machines, and transitions outside of them: what happens to their control state while the
//! list is recorded. Offsets and histories belong to the executor.

use super::control::{ClockState, MachineState, fresh_clock, fresh_machine};
use super::operand::*;
use super::program::{MachineDesc, TransitionDesc, TransitionStyle};
use super::vm::Vm;
use crate::motion::PlayMode;
use crate::task::{HistoryId, Task, TaskError, Transition};

impl Vm<'_> {
    /// Lets time pass for a machine and changes its state by the first transition that may be
    /// taken; at most one in an evaluation.
    pub(super) fn select(&mut self, machine: MachineId) {
        let desc = &self.bound.program().machines[machine.get()];
        let dt = self.dt;
        let state = &mut self.control.machines[machine.get()];
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
        let taken = desc.transitions.iter().find(|t| self.may_be_taken(machine, t));
        if let Some(transition) = taken {
            self.change_state(machine, desc, transition);
        }
    }

    fn may_be_taken(&self, machine: MachineId, transition: &TransitionDesc) -> bool {
        let state = &self.control.machines[machine.get()];
        let current = StateId(state.state);
        let from_here = match transition.from {
            Some(from) => from == current,
            None => transition.to != current,
        };
        from_here
            && state.seconds >= transition.min_time
            && (transition.interrupts || state.elapsed.is_nan())
            && transition.condition.is_none_or(|c| self.scratch.scalars[c.get()] > 0.5)
            && transition.at_end.is_none_or(|end| self.is_at_end(end.clock, end.before))
    }

    /// Whether a clip is over, or about to be.
    fn is_at_end(&self, clock: ClockId, before: f32) -> bool {
        let (desc, clip) = self.bound.clock(clock);
        let state = &self.control.clocks[clock.get()];
        match desc.mode {
            PlayMode::Loop | PlayMode::PingPong => state.is(ClockState::PASSED),
            PlayMode::Once | PlayMode::Clamp => {
                let backward = desc.speed < 0.0;
                let left = if backward { state.shows } else { clip.seconds - state.shows };
                !state.is(ClockState::FRESH) && left <= before
            }
        }
    }

    fn change_state(
        &mut self,
        machine: MachineId,
        desc: &MachineDesc,
        transition: &TransitionDesc,
    ) {
        let state = &mut self.control.machines[machine.get()];
        state.state = transition.to.0;
        state.seconds = 0.0;
        let snaps = transition.duration <= 0.0;
        state.elapsed = if snaps { f32::NAN } else { 0.0 };
        state.duration = transition.duration;
        state.set(MachineState::BEGAN, !snaps);
        state.set(MachineState::SNAPPED, snaps);
        state.set(MachineState::DEAD, transition.style == TransitionStyle::DeadBlend);
        self.enter(desc, transition.to);
    }

    /// Starts what a state starts when it is entered: its clocks, and the machines inside of it,
    /// with what their initial states start.
    fn enter(&mut self, desc: &MachineDesc, state: StateId) {
        let program = self.bound.program();
        let state = &desc.states[state.get()];
        for &clock in &state.clocks {
            let row = &program.clocks[clock.get()];
            let kept = &mut self.control.clocks[clock.get()];
            let (clip, fired) = (&self.bound.clips[row.clip.get()], &mut self.scratch.fired);
            let shows = kept.shows.min(clip.seconds);
            clip.notifies.stop(shows, &mut kept.notifies, |notify| fired.push(notify));
            // What was part of the last pose still was, whatever starts now.
            let heard = kept.flags & ClockState::HEARD;
            *kept = fresh_clock(row);
            kept.flags |= heard;
            if let Some(group) = row.group {
                self.restart_unheard(group);
            }
        }
        for &inner in &state.machines {
            let row = &program.machines[inner.get()];
            let heard = self.control.machines[inner.get()].flags & MachineState::HEARD;
            let fresh = fresh_machine(row);
            self.control.machines[inner.get()] =
                MachineState { flags: fresh.flags | heard, ..fresh };
            self.enter(row, row.initial);
        }
    }

    /// A sync group that nobody heard has no phase worth keeping.
    fn restart_unheard(&mut self, group: GroupId) {
        let clocks = self.bound.program().clocks.iter().zip(&*self.control.clocks);
        let mut members = clocks.filter(|(desc, _)| desc.group == Some(group));
        if !members.any(|(_, state)| state.is(ClockState::HEARD)) {
            let kept = &mut self.control.groups[group.get()];
            kept.restart();
            let step = self.bound.groups.advance(group.get(), kept, self.control.pieces, 0.0);
            self.scratch.groups[group.get()] = step;
        }
    }

    /// Records the one task of a machine: what is left of its transition on the current state's
    /// pose. The other states' tasks lie in the list, and nobody depends on them.
    pub(super) fn eval_machine(
        &mut self,
        machine: MachineId,
        dst: PoseOut,
    ) -> Result<(), TaskError> {
        let desc = &self.bound.program().machines[machine.get()];
        let state = self.control.machines[machine.get()];
        let known = state.is(MachineState::HEARD) && !state.is(MachineState::SNAPPED);
        let transition = Transition {
            history: HistoryId(machine.0),
            elapsed: state.elapsed,
            duration: state.duration,
            dt: if known { self.dt } else { f32::NAN },
            capture: state.is(MachineState::BEGAN),
        };
        let source = self.pose(desc.states[usize::from(state.state)].pose);
        let task = match state.is(MachineState::DEAD) {
            false => Task::Inertialize { source, transition },
            true => Task::DeadBlend { source, transition },
        };
        self.scratch.seams[machine.get()] = self.record(task, dst)?;
        Ok(())
    }

    /// Lets time pass for a transition outside of machines, and begins one when its trigger rises.
    pub(super) fn seam(&mut self, seam: SeamId, trigger: bool, duration: f32) -> Transition {
        let (dt, history) = (self.dt, self.history(seam));
        let state = &mut self.control.seams[seam.get()];
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
        Transition {
            history,
            elapsed: state.elapsed,
            duration: state.duration,
            dt: if state.heard != 0 { dt } else { f32::NAN },
            capture: began,
        }
    }

    pub(super) fn record_seam(
        &mut self,
        seam: SeamId,
        task: Task,
        dst: PoseOut,
    ) -> Result<(), TaskError> {
        let history = usize::from(self.history(seam).0);
        self.scratch.seams[history] = self.record(task, dst)?;
        Ok(())
    }

    /// Seams' histories follow the machines'; validation has counted them.
    fn history(&self, seam: SeamId) -> HistoryId {
        HistoryId((self.control.machines.len() + seam.get()) as u16)
    }
}
