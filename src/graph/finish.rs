//! What follows from a swept list: who was heard, root motion, notifies.

use super::control::{ClockState, MachineState};
use super::operand::ClockId;
use super::program::ParamKind;
use super::vm::Vm;
use crate::motion::GroundMotion;
use crate::pose::kernels::weight;
use crate::task::{Task, TaskIndex};

impl Vm<'_> {
    /// Blackboard values that are set go into their parameters, limited to their ranges.
    pub(super) fn refill(&mut self) {
        let program = self.bound.program();
        for (value, key) in self.control.keys.iter().zip(&program.keys) {
            if !value.is_nan() {
                let param = &program.params[key.param.get()];
                self.control.params[key.param.get()] = param.limited(*value);
            }
        }
    }

    /// Ends an evaluation; gives the ground that the character covers.
    pub(super) fn finish(&mut self) -> GroundMotion {
        self.weigh_motion();
        self.weigh_clocks();
        let motion = self.root_motion();
        self.notify();
        self.remember();
        self.consume_triggers();
        motion
    }

    /// How much of each task's root motion is the character's: as the sweep's weights, but of a
    /// masked blend only what the mask leaves of the root, and nothing of a difference.
    fn weigh_motion(&mut self) {
        let motion = &mut self.scratch.motion;
        motion.clear();
        motion.resize(self.list.len(), 0.0);
        let Some(output) = self.list.output().get().filter(|_| self.bound.moves) else { return };
        motion[output] = 1.0;
        for at in (0..=output).rev() {
            let own = motion[at];
            if own == 0.0 {
                continue;
            }
            let task = &self.list.tasks()[at];
            let shares = match *task {
                Task::BlendMasked { alpha, mask, .. } => {
                    let root = self.bound.root_weights.get(usize::from(mask.0));
                    let alpha = weight(alpha) * root.copied().unwrap_or(1.0);
                    [1.0 - alpha, alpha]
                }
                Task::ApplyAdditive { .. } => [1.0, 0.0],
                _ => task.dependency_weights(),
            };
            for (dependency, share) in task.dependencies().into_iter().zip(shares) {
                if let Some(motion) = dependency.get().and_then(|d| motion.get_mut(d)) {
                    *motion += own * share;
                }
            }
        }
    }

    /// Each clock's part in the pose; the clocks of a sync group give it its next pace.
    fn weigh_clocks(&mut self) {
        let heard = &mut self.scratch.heard;
        heard.clear();
        heard.resize(self.control.clocks.len(), (0.0, 0.0));
        for &(task, clock) in &self.scratch.samples {
            let (pose, motion) = &mut heard[clock.get()];
            *pose += self.list.weight(task);
            *motion += task.get().map_or(0.0, |at| self.scratch.motion[at]);
        }
        for (at, (&(pose, _), state)) in heard.iter().zip(&mut *self.control.clocks).enumerate() {
            state.set(ClockState::HEARD, pose > 0.0);
            if pose > 0.0 {
                let clock = ClockId(at as u16);
                if let Some(group) = self.bound.clock(clock).0.group {
                    let state = &mut self.control.groups[group.get()];
                    self.bound.groups.weigh((clock, group), state, self.control.pieces, pose);
                }
            }
        }
    }

    fn root_motion(&mut self) -> GroundMotion {
        if !self.bound.moves {
            return GroundMotion::IDENTITY;
        }
        let mut raw = GroundMotion::IDENTITY;
        let clocks = self.scratch.heard.iter().zip(&self.scratch.steps).enumerate();
        for (at, (&(_, share), step)) in clocks.filter(|(_, ((_, share), _))| *share != 0.0) {
            let (_, clip) = self.bound.clock(ClockId(at as u16));
            if let Some(root) = &clip.root {
                raw = raw.plus(root.delta(step).weighted(share));
            }
        }
        // The transition of a machine that the root follows.
        let mut began = None;
        for (machine, task) in self.control.machines.iter().zip(&self.scratch.seams) {
            let follows =
                |task: &TaskIndex| task.get().is_some_and(|t| self.scratch.motion[t] > 0.0);
            if machine.is(MachineState::BEGAN) && follows(task) {
                began = Some(machine.duration);
            }
        }
        let dt = self.dt;
        self.control.motion().map_or(raw, |motion| motion.step(raw, dt, began))
    }

    fn notify(&mut self) {
        let scratch = &mut *self.scratch;
        for &clock in &self.bound.telling {
            let at = clock.get();
            let (_, clip) = self.bound.clock(clock);
            let (step, (pose, _)) = (&scratch.steps[at], scratch.heard[at]);
            let (cursor, fired) = (&mut self.control.clocks[at].notifies, &mut scratch.fired);
            clip.notifies.advance(step, pose, cursor, |notify| fired.push(notify));
        }
    }

    /// Whose history the executor will bring up to date.
    fn remember(&mut self) {
        let (machines, seams) = self.scratch.seams.split_at(self.control.machines.len());
        for (state, task) in self.control.machines.iter_mut().zip(machines) {
            state.set(MachineState::HEARD, self.list.is_reachable(*task));
        }
        for (state, task) in self.control.seams.iter_mut().zip(seams) {
            state.heard = u16::from(self.list.is_reachable(*task));
        }
    }

    fn consume_triggers(&mut self) {
        let program = self.bound.program();
        let is_trigger = |at: usize| program.params[at].kind == ParamKind::Trigger;
        for (at, value) in self.control.params.iter_mut().enumerate() {
            if is_trigger(at) {
                *value = 0.0;
            }
        }
        for (value, key) in self.control.keys.iter_mut().zip(&program.keys) {
            if is_trigger(key.param.get()) {
                *value = f32::NAN;
            }
        }
    }
}
