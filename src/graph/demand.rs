//! The poses that the output depends on: found backwards, from what was decided, and then recorded
//! in the program's order. What the same decisions came to before is recorded without looking.

use super::Op;
use super::operand::*;
use super::plan::{PASSES_FIRST, PASSES_SECOND, Plan};
use super::shapes::{Fork, Found, Next, Shapes, Step};
use super::space::{self, Spot};
use super::vm::Vm;
use crate::task::{Task, TaskError, TaskIndex};

/// Marks a node as needed.
fn need(needed: &mut [u64], pose: PoseIn) {
    needed[pose.get() / 64] |= 1 << (pose.get() % 64);
}

impl Vm<'_> {
    /// Records the tasks that the output depends on, in the order that all of them have, and sweeps
    /// the list.
    pub(super) fn record_needed(&mut self, plan: &Plan) -> Result<(), TaskError> {
        let mut of_plans = std::mem::take(&mut self.scratch.shapes);
        let recorded = match of_plans.current() {
            Some(shapes) => self.record_shape(plan, shapes),
            None => self.record_found(plan),
        };
        self.scratch.shapes = of_plans;
        recorded
    }

    fn record_shape(&mut self, plan: &Plan, shapes: &mut Shapes) -> Result<(), TaskError> {
        if let Some(shape) = self.known(plan, shapes) {
            for step in shapes.steps(shape) {
                self.record::<true>(&plan.nodes[step.node.get()], step.reads)?;
            }
            if shapes.output(shape) == TaskIndex::NONE {
                self.put::<true>(Task::ReferencePose)?;
            }
            self.list.sweep_known(shapes.known(shape), shapes.weighs_anew(shape));
            return Ok(());
        }
        self.record_found(plan)?;
        let s = &mut *self.scratch;
        s.known.clear();
        if let Some(known) = self.list.known() {
            s.known.extend(known);
            let found = Found {
                answers: &s.answers,
                steps: &s.recorded,
                known: &s.known,
                output: s.poses[plan.output.get()],
                weighs_anew: self.list.weighs_anew(),
            };
            shapes.keep(plan, found);
        }
        Ok(())
    }

    /// The shape that decisions come to, if it was seen before.
    fn known(&mut self, plan: &Plan, shapes: &mut Shapes) -> Option<u16> {
        let weights = self.scratch.values.answers(self.lane);
        let guess = Shapes::guess_of(weights, self.control.machines);
        if let Some(shape) = self.walk(plan, shapes, shapes.guessed(guess))
            && shapes.has_weights(shape, weights)
        {
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
    fn walk(&mut self, plan: &Plan, shapes: &Shapes, first: Next) -> Option<u16> {
        let mut next = first;
        loop {
            next = match next {
                Next::Weight(weighs, first) => {
                    shapes.after(first, weighs.at(self.scalar(weighs.alpha)))
                }
                Next::Fork(Fork { node, first }) => {
                    shapes.after(first, self.decided(&plan.nodes[node.get()]))
                }
                Next::Shape(shape) => return Some(shape),
                Next::Unknown => return None,
            }
        }
    }

    /// Finds what is needed and records it.
    fn record_found(&mut self, plan: &Plan) -> Result<(), TaskError> {
        let mut needed = std::mem::take(&mut self.scratch.needed);
        let mut order = std::mem::take(&mut self.scratch.order);
        needed.fill(0);
        order.clear();
        self.scratch.answers.clear();
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
        for node in (0..plan.nodes.len() as u16).map(PoseIn) {
            let asks = plan.reads[node.get()].asks();
            let answer = if asks { self.answer(plan, node) } else { 0 };
            self.node(plan, node, answer)?;
        }
        self.output(self.scratch.poses[plan.output.get()])?;
        self.list.sweep();
        Ok(())
    }

    /// What a node that asks has decided, as things are now: less than the plan has choices for it. A
    /// blend space's place is kept until it is recorded.
    fn answer(&mut self, plan: &Plan, node: PoseIn) -> usize {
        let reads = plan.reads[node.get()];
        match reads.decides() {
            false => reads.weighs().at(self.scalar(reads.alpha)),
            true => self.decided(&plan.nodes[node.get()]),
        }
    }

    fn decided(&mut self, op: &Op) -> usize {
        match *op {
            Op::EvalStateMachine { machine, .. } => {
                self.control.machines[machine.get()].state.into()
            }
            Op::BlendSpace1D { space, x, .. } => {
                let places = &self.bound.program().spaces_1d[space.get()].points;
                let (at, alpha) = space::place_1d(places, self.scalar(x));
                3 * at + 1 + usize::from(alpha == 1.0) - usize::from(alpha == 0.0)
            }
            Op::BlendSpace2D { space, x, y, dst, .. } => {
                let known = self.scratch.spots.iter().find(|(node, _)| *node == dst);
                let spot = match known.copied() {
                    Some((_, spot)) => spot,
                    None => {
                        let space = &self.bound.program().spaces_2d[space.get()];
                        let spot = space::place_2d(space, [self.scalar(x), self.scalar(y)]);
                        self.scratch.spots.push((dst, spot));
                        spot
                    }
                };
                8 * spot.triangle + spot.heard()
            }
            _ => 0,
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
                self.scratch.samples.extend(clock.map(|clock| (index, clock)));
                Ok(index)
            }
            Op::Blend { alpha, .. } => {
                self.put::<KNOWN>(Task::Blend { a, b, alpha: self.scalar(alpha) })
            }
            Op::EvalStateMachine { machine, .. } => self.record_machine::<KNOWN>(machine, a),
            Op::Inertialize { seam, .. } => {
                let transition = self.scratch.transitions[seam.get()];
                self.record_seam::<KNOWN>(seam, Task::Inertialize { source: a, transition })
            }
            Op::DeadBlend { seam, .. } => {
                let transition = self.scratch.transitions[seam.get()];
                self.record_seam::<KNOWN>(seam, Task::DeadBlend { source: a, transition })
            }
            Op::BlendSpace1D { space, x, .. } => {
                let places = &self.bound.program().spaces_1d[space.get()].points;
                match space::place_1d(places, self.scalar(x)) {
                    (_, 0.0) => Ok(a),
                    (_, 1.0) => Ok(b),
                    (_, alpha) => self.put::<KNOWN>(Task::Blend { a, b, alpha }),
                }
            }
            Op::BlendSpace2D { dst, .. } => {
                let spot = self.scratch.spots.iter().find(|(node, _)| *node == dst);
                let spot = spot.map_or(Spot::default(), |(_, spot)| *spot);
                let [wa, wb, wc] = spot.weights;
                let poses = [(a, wa), (b, wb), (reads[2], wc)];
                if KNOWN { Ok(self.blend_known(&poses)) } else { self.list.push_blend_n(&poses) }
            }
            _ => self.pose_op::<KNOWN>(op, [a, b]),
        }
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
