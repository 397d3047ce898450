//! The poses that the output depends on: found backwards, from what was decided, and then recorded
//! in the program's order.

use super::Op;
use super::operand::*;
use super::plan::Plan;
use super::space;
use super::vm::{Spot, Vm};
use crate::pose::kernels::weight;
use crate::task::{Task, TaskError};

/// Marks a node as needed, if it is.
fn need(needed: &mut [u64], pose: PoseIn, is: bool) {
    needed[pose.get() / 64] |= u64::from(is) << (pose.get() % 64);
}

impl Vm<'_> {
    /// Records the tasks that the output depends on, in the order that all of them have.
    pub(super) fn record_needed(&mut self, plan: &Plan) -> Result<(), TaskError> {
        let mut needed = std::mem::take(&mut self.scratch.needed);
        let mut order = std::mem::take(&mut self.scratch.order);
        needed.fill(0);
        order.clear();
        need(&mut needed, plan.output, true);
        // Who reads a node comes after it, so all who do have been seen when it is its turn.
        for word in (0..=plan.output.get() / 64).rev() {
            // What is left of a word stays out of memory: going through it costs more than the rest.
            let mut left = std::mem::take(&mut needed[word]);
            while left != 0 {
                let bit = left.ilog2();
                left &= !(1 << bit);
                let node = word * 64 + bit as usize;
                let reads = plan.reads[node];
                let (a, b, passed) = reads.at(weight(self.scalar(reads.alpha)));
                for (pose, is) in [(reads.a, a), (reads.b, b)] {
                    match pose.get() / 64 == word {
                        true => left |= u64::from(is) << (pose.get() % 64),
                        false => need(&mut needed, pose, is),
                    }
                }
                if reads.decides() {
                    self.reads(plan, &plan.nodes[node], &mut needed);
                    left |= std::mem::take(&mut needed[word]);
                }
                order.push((PoseIn(node as u16), passed));
            }
        }
        let recorded = order.iter().rev().try_for_each(|(node, passed)| match passed {
            Some(passed) => {
                self.scratch.poses[node.get()] = self.pose(*passed);
                Ok(())
            }
            None => self.node(&plan.nodes[node.get()]),
        });
        self.scratch.needed = needed;
        self.scratch.order = order;
        recorded
    }

    /// Marks what a machine or a blend space reads, as things are now.
    fn reads(&mut self, plan: &Plan, op: &Op, needed: &mut [u64]) {
        match *op {
            Op::EvalStateMachine { machine, .. } => {
                let state = self.control.machines[machine.get()].state;
                need(needed, plan.machines[machine.get()].states[usize::from(state)].pose, true);
            }
            Op::BlendSpace1D { space, x, points, .. } => {
                let places = &self.bound.program().spaces_1d[space.get()].points;
                let (at, alpha) = space::place_1d(places, self.scalar(x));
                let point = |i: usize| plan.points[points.get() + i];
                need(needed, point(at), alpha != 1.0);
                need(needed, point((at + 1).min(places.len() - 1)), alpha != 0.0);
            }
            Op::BlendSpace2D { space, x, y, points, .. } => {
                let spot = self.spot(space, x, y);
                for (corner, weight) in spot.0.into_iter().zip(spot.1) {
                    need(needed, plan.points[points.get() + usize::from(corner)], weight > 0.0);
                }
                self.scratch.spots.push(spot);
            }
            _ => {}
        }
    }

    fn spot(&self, space: Space2DId, x: Scalar, y: Scalar) -> Spot {
        let space = &self.bound.program().spaces_2d[space.get()];
        space::place_2d(space, [self.scalar(x), self.scalar(y)])
    }

    /// Records what a node is.
    pub(super) fn node(&mut self, op: &Op) -> Result<(), TaskError> {
        let plan = self.bound.plan();
        match *op {
            Op::SampleAnim { clip, time, clock, dst } => {
                let clip = self.bound.clips[clip.get()].id;
                let task = Task::SampleClip { clip, seconds: self.scalar(time) };
                let index = self.record(task, dst)?;
                self.scratch.samples.extend(clock.map(|clock| (index, clock)));
            }
            Op::EvalStateMachine { machine, dst } => self.eval_machine(plan, machine, dst)?,
            Op::Inertialize { source, seam, dst, .. } => {
                let transition = self.scratch.transitions[seam.get()];
                let task = Task::Inertialize { source: self.pose(source), transition };
                self.record_seam(seam, task, dst)?;
            }
            Op::DeadBlend { source, seam, dst, .. } => {
                let transition = self.scratch.transitions[seam.get()];
                let task = Task::DeadBlend { source: self.pose(source), transition };
                self.record_seam(seam, task, dst)?;
            }
            Op::BlendSpace1D { space, x, points, dst } => {
                let places = &self.bound.program().spaces_1d[space.get()].points;
                let (at, alpha) = space::place_1d(places, self.scalar(x));
                let point = |i: usize| self.pose(plan.points[points.get() + i]);
                let (a, b) = (point(at), point((at + 1).min(places.len() - 1)));
                self.scratch.poses[dst.get()] = match alpha {
                    0.0 => a,
                    1.0 => b,
                    alpha => self.list.push(Task::Blend { a, b, alpha })?,
                };
            }
            Op::BlendSpace2D { space, x, y, points, dst } => {
                let spot = self.scratch.spots.pop();
                let (corners, weights) = spot.unwrap_or_else(|| self.spot(space, x, y));
                let mut poses = std::mem::take(&mut self.scratch.weights);
                poses.clear();
                let point = |i: u16| self.pose(plan.points[points.get() + usize::from(i)]);
                poses.extend(corners.into_iter().map(point).zip(weights));
                let blend = self.list.push_blend_n(&poses);
                self.scratch.weights = poses;
                self.scratch.poses[dst.get()] = blend?;
            }
            _ => self.pose_op(op)?,
        }
        Ok(())
    }
}
