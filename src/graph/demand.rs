//! The poses that the output depends on: found backwards, from what was decided, and then recorded
//! in the program's order. What the same decisions came to before is recorded without looking.

use super::Op;
use super::finish::Ends;
use super::operand::*;
use super::plan::{PASSES_FIRST, PASSES_SECOND, Plan};
use super::shapes::{Fork, Found, Next, Shapes, Step};
use super::vm::Vm;
use crate::task::{KnownList, Task, TaskError, TaskIndex};

/// Marks a node as needed.
fn need(needed: &mut [u64], pose: PoseIn) {
    needed[pose.get() / 64] |= 1 << (pose.get() % 64);
}

impl Vm<'_> {
    /// Records a shape that is known, and sweeps the list.
    pub(super) fn record_known(
        &mut self,
        plan: &Plan,
        shapes: &Shapes,
        shape: u16,
    ) -> Result<(), TaskError> {
        for step in shapes.steps(shape) {
            self.record::<true>(&plan.nodes[step.node.get()], step.reads)?;
        }
        if shapes.output(shape) == TaskIndex::NONE {
            self.put::<true>(Task::ReferencePose)?;
        }
        self.list.sweep_known(shapes.known(shape), &mut self.scratch.weights);
        Ok(())
    }

    /// Keeps what was found as a shape.
    pub(super) fn keep(&mut self, plan: &Plan, shapes: &mut Shapes) {
        let s = &mut *self.scratch;
        if self.list.know(&mut s.known, &mut s.splits) {
            let found = Found {
                answers: &s.answers,
                steps: &s.recorded,
                known: KnownList { tasks: &s.known, splits: &s.splits },
                ends: Ends { samples: &s.samples, seams: &s.seams },
                output: s.poses[plan.output.get()],
            };
            shapes.keep(plan, found);
        }
    }

    /// Puts samples into the order of their clocks, and transitions into that of their histories.
    pub(super) fn order_ends(&mut self) {
        self.scratch.samples.sort_unstable();
        self.scratch.seams.sort_unstable();
    }

    /// The shape that decisions come to, if it was seen before.
    pub(super) fn known(&mut self, plan: &Plan, shapes: &mut Shapes) -> Option<u16> {
        let guess = self.scratch.values.guess(self.lane);
        if let Some(shape) = self.walk(plan, shapes, shapes.guessed(guess)) {
            let mut answers = shapes.answers(shape).iter();
            if answers.all(|&(node, answer)| self.answer(plan, node) == answer as usize) {
                return Some(shape);
            }
        }
        let shape = self.walk(plan, shapes, shapes.first())?;
        shapes.keep_guess(plan, guess, shape);
        Some(shape)
    }

    /// Where decisions lead to, from fork to fork.
    fn walk(&self, plan: &Plan, shapes: &Shapes, first: Next) -> Option<u16> {
        let mut next = first;
        loop {
            next = match next {
                Next::Weight(weighs, first) => {
                    shapes.after(first, weighs.at(self.scalar(weighs.alpha)))
                }
                Next::Fork(Fork { node, first }) => shapes.after(first, self.decided(plan, node)),
                Next::Shape(shape) => return Some(shape),
                Next::Unknown => return None,
            }
        }
    }

    /// Finds the poses that the output depends on and records their tasks, in the order that all of
    /// them have, and sweeps the list.
    pub(super) fn record_needed(&mut self, plan: &Plan) -> Result<(), TaskError> {
        let mut needed = std::mem::take(&mut self.scratch.needed);
        let mut order = std::mem::take(&mut self.scratch.order);
        needed.fill(0);
        order.clear();
        self.scratch.answers.clear();
        self.clear_ends();
        need(&mut needed, plan.output);
        // Who reads a node comes after it, so all who do have been seen when it is its turn.
        for word in (0..=plan.output.get() / 64).rev() {
            while needed[word] != 0 {
                let bit = needed[word].ilog2();
                needed[word] &= !(1 << bit);
                let node = PoseIn((word * 64) as u16 + bit as u16);
                let mut answer = 0;
                if plan.reads[node.get()].asks() {
                    answer = self.answer(plan, node);
                    self.scratch.answers.push((node, answer as u32));
                }
                order.push((node, answer as u32));
                self.needs(plan, node, answer, |pose| need(&mut needed, pose));
            }
        }
        self.scratch.recorded.clear();
        let recorded = order.iter().rev().try_for_each(|&(node, answer)| {
            let before = self.list.len();
            let reads = self.node(plan, node, answer as usize)?;
            if self.list.len() > before {
                self.scratch.recorded.push(Step { node, reads });
            }
            Ok(())
        });
        self.scratch.needed = needed;
        self.scratch.order = order;
        recorded?;
        self.output(self.scratch.poses[plan.output.get()])?;
        self.list.sweep();
        Ok(())
    }

    /// Records everything, needed or not.
    pub(super) fn record_everything(&mut self, plan: &Plan) -> Result<(), TaskError> {
        self.clear_ends();
        for node in (0..plan.nodes.len() as u16).map(PoseIn) {
            let asks = plan.reads[node.get()].asks();
            let answer = if asks { self.answer(plan, node) } else { 0 };
            self.node(plan, node, answer)?;
        }
        self.output(self.scratch.poses[plan.output.get()])?;
        self.list.sweep();
        Ok(())
    }

    fn clear_ends(&mut self) {
        self.scratch.samples.clear();
        self.scratch.seams.clear();
    }

    /// What a node that asks has decided, as things are now: less than the plan has choices for it.
    fn answer(&self, plan: &Plan, node: PoseIn) -> usize {
        let reads = plan.reads[node.get()];
        match reads.decides() {
            false => reads.weighs().at(self.scalar(reads.alpha)),
            true => self.decided(plan, node),
        }
    }

    fn decided(&self, plan: &Plan, node: PoseIn) -> usize {
        match plan.nodes[node.get()] {
            Op::EvalStateMachine { machine, .. } => {
                self.control.machines[machine.get()].state.into()
            }
            // A blend space.
            _ => self.scratch.values.place(plan.space_of[node.get()], self.lane) as usize,
        }
    }

    /// The poses that a node needs by what it has decided.
    fn needs(&self, plan: &Plan, node: PoseIn, answer: usize, mut need: impl FnMut(PoseIn)) {
        let program = self.bound.program();
        match plan.nodes[node.get()] {
            Op::EvalStateMachine { machine, .. } => {
                need(plan.machines[machine.get()].states[answer].pose);
            }
            Op::BlendSpace1D { points, .. } => {
                let (at, share) = (points.get() + answer / 3, answer % 3);
                if share != PASSES_SECOND {
                    need(plan.points[at]);
                }
                if share != PASSES_FIRST {
                    need(plan.points[at + 1]);
                }
            }
            Op::BlendSpace2D { space, points, .. } => {
                let corners = program.spaces_2d[space.get()].corners(answer / 8);
                for (i, corner) in corners.into_iter().enumerate() {
                    if answer >> i & 1 == 1 {
                        need(plan.points[points.get() + usize::from(corner)]);
                    }
                }
            }
            _ => {
                let reads = plan.reads[node.get()];
                let [a, b] = reads.poses();
                let asks = reads.asks();
                a.filter(|_| !asks || answer != PASSES_SECOND).into_iter().for_each(&mut need);
                b.filter(|_| !asks || answer != PASSES_FIRST).into_iter().for_each(&mut need);
            }
        }
    }

    /// Records what a node is, or passes on what it is as it stands; gives what it reads.
    fn node(
        &mut self,
        plan: &Plan,
        node: PoseIn,
        answer: usize,
    ) -> Result<[TaskIndex; 3], TaskError> {
        let op = &plan.nodes[node.get()];
        let reads = self.reads(plan, node, answer);
        let asks = plan.reads[node.get()];
        let pose = match answer {
            _ if asks.decides() || !asks.asks() => self.record::<false>(op, reads)?,
            // A branch that is left out this way is as silent as a state that is not current: its
            // clocks run and its machines decide, it keeps no snapshot, and the histories of its
            // transitions stand still.
            PASSES_FIRST => reads[0],
            PASSES_SECOND => reads[1],
            _ => self.record::<false>(op, reads)?,
        };
        self.scratch.poses[node.get()] = pose;
        Ok(reads)
    }

    /// The results that a node reads, which were recorded if it was; none for what it does not.
    fn reads(&self, plan: &Plan, node: PoseIn, answer: usize) -> [TaskIndex; 3] {
        let pose = |pose: PoseIn| self.scratch.poses[pose.get()];
        let point = |at: usize| pose(plan.points[at]);
        match plan.nodes[node.get()] {
            Op::EvalStateMachine { machine, .. } => {
                let state = &plan.machines[machine.get()].states[answer];
                [pose(state.pose), TaskIndex::NONE, TaskIndex::NONE]
            }
            Op::BlendSpace1D { points, .. } => {
                let at = points.get() + answer / 3;
                let second = if answer % 3 == PASSES_FIRST { at } else { at + 1 };
                [point(at), point(second), TaskIndex::NONE]
            }
            Op::BlendSpace2D { space, points, .. } => {
                let corners = self.bound.program().spaces_2d[space.get()].corners(answer / 8);
                std::array::from_fn(|i| match answer >> i & 1 {
                    1 => point(points.get() + usize::from(corners[i])),
                    _ => TaskIndex::NONE,
                })
            }
            _ => {
                let [a, b] =
                    plan.reads[node.get()].poses().map(|p| p.map_or(TaskIndex::NONE, pose));
                [a, b, TaskIndex::NONE]
            }
        }
    }

    /// Puts a task into the list; one that is known was there before, in a list of the same shape.
    #[inline(always)]
    pub(super) fn put<const KNOWN: bool>(&mut self, task: Task) -> Result<TaskIndex, TaskError> {
        if KNOWN { Ok(self.list.push_known(task)) } else { self.list.push(task) }
    }

    /// Records an opcode that reads certain results; gives its own.
    #[inline(always)]
    fn record<const KNOWN: bool>(
        &mut self,
        op: &Op,
        reads: [TaskIndex; 3],
    ) -> Result<TaskIndex, TaskError> {
        let [a, b, _] = reads;
        match *op {
            Op::SampleAnim { clip, time, clock, .. } => {
                let clip = self.bound.clips[clip.get()].id;
                let index =
                    self.put::<KNOWN>(Task::SampleClip { clip, seconds: self.scalar(time) })?;
                if !KNOWN {
                    self.scratch.samples.extend(clock.map(|clock| (clock, index)));
                }
                Ok(index)
            }
            Op::Blend { alpha, .. } => {
                self.put::<KNOWN>(Task::Blend { a, b, alpha: self.scalar(alpha) })
            }
            Op::EvalStateMachine { machine, .. } => self.record_machine::<KNOWN>(machine, a),
            Op::Inertialize { seam, .. } => {
                let transition = self.scratch.values.transition(seam, self.lane);
                self.record_seam::<KNOWN>(seam, Task::Inertialize { source: a, transition })
            }
            Op::DeadBlend { seam, .. } => {
                let transition = self.scratch.values.transition(seam, self.lane);
                self.record_seam::<KNOWN>(seam, Task::DeadBlend { source: a, transition })
            }
            Op::BlendSpace1D { dst, .. } => match self.weights(dst) {
                [0.0, ..] => Ok(a),
                [1.0, ..] => Ok(b),
                [alpha, ..] => self.put::<KNOWN>(Task::Blend { a, b, alpha }),
            },
            Op::BlendSpace2D { dst, .. } => {
                let [wa, wb, wc] = self.weights(dst);
                let poses = [(a, wa), (b, wb), (reads[2], wc)];
                if KNOWN { Ok(self.blend_known(&poses)) } else { self.list.push_blend_n(&poses) }
            }
            _ => self.pose_op::<KNOWN>(op, [a, b]),
        }
    }

    /// Of a blend space, by the pose that it writes.
    fn weights(&self, PoseOut(node): PoseOut) -> [f32; 3] {
        let space = self.bound.plan().space_of[usize::from(node)];
        self.scratch.values.place_weights(space, self.lane)
    }

    /// [`TaskList::push_blend_n`](crate::task::TaskList::push_blend_n) of what is known.
    fn blend_known(&mut self, poses: &[(TaskIndex, f32); 3]) -> TaskIndex {
        let (mut result, mut sum) = (TaskIndex::NONE, 0.0);
        for &(b, weight) in poses.iter().filter(|(_, w)| *w > 0.0 && w.is_finite()) {
            sum += weight;
            result = match sum == weight {
                true => b,
                false => {
                    let alpha = weight / sum;
                    self.list.push_known(Task::Blend { a: result, b, alpha })
                }
            };
        }
        result
    }
}
