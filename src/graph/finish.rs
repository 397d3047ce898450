//! What follows from a swept list: who was heard, root motion, notifies.

use super::control::MachineState;
use super::operand::ClockId;
use super::scratch::VmScratch;
use super::vm::Vm;
use crate::motion::GroundMotion;
use crate::pose::kernels::weight;
use crate::task::{KnownList, Task, TaskIndex};

/// The sample of a clock's clip, and the task of a transition by its history.
pub(super) type Sample = (ClockId, TaskIndex);
pub(super) type Seam = (u16, TaskIndex);

/// What a list's end asks for: its samples in the order of their clocks, and its transitions in that
/// of their histories.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ends<'a> {
    pub samples: &'a [Sample],
    pub seams: &'a [Seam],
}

impl Vm<'_> {
    /// Ends an evaluation; gives the ground that the character covers. What is known of its list
    /// need not be found.
    pub(super) fn finish(&mut self, ends: Ends<'_>, known: Option<KnownList<'_>>) -> GroundMotion {
        self.weigh_motion(known);
        let raw = self.hear(ends.samples);
        let motion = self.root_motion(raw, ends.seams);
        self.notify();
        self.remember(ends.seams);
        self.consume_triggers();
        motion
    }

    /// How much of each task's root motion is the character's: as the sweep's weights, but of a
    /// masked blend only what the mask leaves of the root, and nothing of a difference. Without
    /// either, the sweep's weights.
    fn weigh_motion(&mut self, known: Option<KnownList<'_>>) {
        let VmScratch { motion, weights, .. } = &mut *self.scratch;
        motion.clear();
        let layered =
            |task: &Task| matches!(task, Task::BlendMasked { .. } | Task::ApplyAdditive { .. });
        if !self.bound.moves || !self.list.tasks().iter().any(layered) {
            return;
        }
        let root_weights = &self.bound.root_weights;
        let shares = |task: &Task| match *task {
            Task::BlendMasked { alpha, mask, .. } => {
                let root = root_weights.get(usize::from(mask.0));
                let alpha = weight(alpha) * root.copied().unwrap_or(1.0);
                [1.0 - alpha, alpha]
            }
            Task::ApplyAdditive { .. } => [1.0, 0.0],
            _ => task.dependency_weights(),
        };
        if let Some(known) = known {
            return self.list.weigh_otherwise(known, weights, shares, |share| motion.push(share));
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
            for (dependency, share) in task.dependencies().into_iter().zip(shares(task)) {
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

    /// Each clock's part in the pose; the clocks of a sync group give it its next pace. What moves
    /// the character is part of its pose: gives what clocks' clips cover.
    fn hear(&mut self, samples: &[Sample]) -> GroundMotion {
        let mut raw = GroundMotion::IDENTITY;
        self.scratch.heard.clear();
        self.control.heard.fill(0);
        for samples in samples.chunk_by(|a, b| a.0 == b.0) {
            let (mut pose, mut share) = (0.0, 0.0);
            for &(_, task) in samples {
                let Some(at) = task.get() else { continue };
                let weight = self.list.marks().get(at).map_or(0.0, |mark| mark.weight);
                pose += weight;
                share += self.scratch.motion.get(at).copied().unwrap_or(weight);
            }
            let Some(&(clock, _)) = samples.first().filter(|_| pose > 0.0) else { continue };
            self.control.heard[clock.get() / 32] |= 1 << (clock.get() % 32);
            self.scratch.heard.push((clock, pose));
            let bound = &self.bound.clocks[clock.get()];
            if let Some(group) = bound.group {
                let state = &mut self.control.groups[group.get()];
                let member = (clock, group);
                self.bound.groups.weigh(member, state, self.control.pieces, pose);
            }
            let clip = &self.bound.clips[bound.clip.get()];
            if let Some(root) = clip.root.as_ref().filter(|_| share != 0.0) {
                let step = self.scratch.values.step(self.bound, clock, self.lane);
                raw = raw.plus(root.delta(&step).weighted(share));
            }
        }
        raw
    }

    fn root_motion(&mut self, raw: GroundMotion, seams: &[Seam]) -> GroundMotion {
        if !self.bound.moves {
            return GroundMotion::IDENTITY;
        }
        // The transition of a machine that the root follows.
        let mut began = None;
        for &(history, task) in seams {
            let machine = self.control.machines.get(usize::from(history));
            if let Some(machine) = machine.filter(|machine| machine.is(MachineState::BEGAN))
                && self.motion_of(task) > 0.0
            {
                began = Some(machine.duration);
            }
        }
        let dt = self.dt;
        self.control.motion().map_or(raw, |motion| motion.step(raw, dt, began))
    }

    fn notify(&mut self) {
        let (VmScratch { values, heard, fired, .. }, lane) = (&mut *self.scratch, self.lane);
        let guards = &self.bound.plan().guards.clocks;
        let runs = |clock: &&ClockId| values.is_active(guards[clock.get()], lane);
        for &clock in self.bound.telling.iter().filter(runs) {
            let at = clock.get();
            let (_, clip) = self.bound.clock(clock);
            let pose = heard.iter().find(|(heard, _)| *heard == clock).map_or(0.0, |(_, w)| *w);
            let step = values.step(self.bound, clock, lane);
            let cursor = &mut self.control.clocks[at].notifies;
            clip.notifies.advance(&step, pose, cursor, |notify| fired.push(notify));
        }
    }

    /// Whose history the executor will bring up to date.
    fn remember(&mut self, seams: &[Seam]) {
        let mut left = seams;
        let mut heard = |history: usize| match left.split_first() {
            Some((&(of, task), after)) if usize::from(of) == history => {
                left = after;
                self.list.is_reachable(task)
            }
            _ => false,
        };
        let machines = self.control.machines.len();
        for (history, state) in self.control.machines.iter_mut().enumerate() {
            state.set(MachineState::HEARD, heard(history));
        }
        for (seam, state) in self.control.seams.iter_mut().enumerate() {
            state.heard = u16::from(heard(machines + seam));
        }
    }

    fn consume_triggers(&mut self) {
        let plan = self.bound.plan();
        plan.triggers.iter().for_each(|param| self.control.params[param.get()] = 0.0);
        plan.trigger_keys.iter().for_each(|key| self.control.keys[key.get()] = f32::NAN);
    }
}
