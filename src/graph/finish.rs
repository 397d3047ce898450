//! What follows from a swept list: who was heard, root motion, notifies.

use super::control::MachineState;
use super::operand::ClockId;
use super::scratch::VmScratch;
use super::vm::Vm;
use crate::motion::GroundMotion;
use crate::pose::kernels::weight;
use crate::task::{Task, TaskIndex};

impl Vm<'_> {
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
    /// masked blend only what the mask leaves of the root, and nothing of a difference. Without
    /// either, the sweep's weights.
    fn weigh_motion(&mut self) {
        let motion = &mut self.scratch.motion;
        motion.clear();
        let layered =
            |task: &Task| matches!(task, Task::BlendMasked { .. } | Task::ApplyAdditive { .. });
        if !self.bound.moves || !self.list.tasks().iter().any(layered) {
            return;
        }
        motion.resize(self.list.len(), 0.0);
        let Some(output) = self.list.output().get() else { return };
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

    /// How much of a task's root motion is the character's.
    fn motion_of(&self, task: TaskIndex) -> f32 {
        let own = task.get().and_then(|at| self.scratch.motion.get(at));
        own.copied().unwrap_or_else(|| self.list.weight(task))
    }

    /// Each clock's part in the pose; the clocks of a sync group give it its next pace.
    fn weigh_clocks(&mut self) {
        let VmScratch { samples, heard, motion, .. } = &mut *self.scratch;
        heard.fill((0.0, 0.0));
        self.control.heard.fill(0);
        let marks = self.list.marks();
        for (task, clock) in samples.iter() {
            let Some((at, mark)) = task.get().and_then(|at| Some((at, marks.get(at)?))) else {
                continue;
            };
            let (weight, share) = (mark.weight, motion.get(at).copied().unwrap_or(mark.weight));
            let (pose, motion) = &mut heard[clock.get()];
            (*pose, *motion) = (*pose + weight, *motion + share);
            if weight > 0.0 {
                self.control.heard[clock.get() / 32] |= 1 << (clock.get() % 32);
            }
        }
        for clock in bits(self.control.heard) {
            if let Some(group) = self.bound.clocks[clock].group {
                let (state, pose) =
                    (&mut self.control.groups[group.get()], self.scratch.heard[clock].0);
                let member = (ClockId(clock as u16), group);
                self.bound.groups.weigh(member, state, self.control.pieces, pose);
            }
        }
    }

    fn root_motion(&mut self) -> GroundMotion {
        if !self.bound.moves {
            return GroundMotion::IDENTITY;
        }
        let mut raw = GroundMotion::IDENTITY;
        // What moves the character is part of its pose.
        for clock in bits(self.control.heard) {
            let (_, share) = self.scratch.heard[clock];
            let (_, clip) = self.bound.clock(ClockId(clock as u16));
            if let Some(root) = clip.root.as_ref().filter(|_| share != 0.0) {
                raw = raw.plus(root.delta(&self.scratch.steps[clock]).weighted(share));
            }
        }
        // The transition of a machine that the root follows.
        let mut began = None;
        for (machine, task) in self.control.machines.iter().zip(&self.scratch.seams) {
            if machine.is(MachineState::BEGAN) && self.motion_of(*task) > 0.0 {
                began = Some(machine.duration);
            }
        }
        let dt = self.dt;
        self.control.motion().map_or(raw, |motion| motion.step(raw, dt, began))
    }

    fn notify(&mut self) {
        let scratch = &mut *self.scratch;
        let guards = &self.bound.plan().guards.clocks;
        let runs = |clock: &&ClockId| scratch.active[guards[clock.get()].get()];
        for &clock in self.bound.telling.iter().filter(runs) {
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
        let plan = self.bound.plan();
        plan.triggers.iter().for_each(|param| self.control.params[param.get()] = 0.0);
        plan.trigger_keys.iter().for_each(|key| self.control.keys[key.get()] = f32::NAN);
    }
}

/// The clocks whose bits are set, in rising order.
fn bits(words: &[u32]) -> impl Iterator<Item = usize> {
    words.iter().enumerate().flat_map(|(word, bits)| {
        let next = |left: &u32| Some(left & (left - 1)).filter(|left| *left != 0);
        let left = std::iter::successors(Some(*bits).filter(|bits| *bits != 0), next);
        left.map(move |left| word * 32 + left.trailing_zeros() as usize)
    })
}
