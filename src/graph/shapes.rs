//! What lists come to, by what was decided.
//!
//! Which poses the output depends on follows from few decisions: the state that a machine is in,
//! whether a weight is nothing, all or between, where in a blend space its place is. They are asked
//! in a certain order, each one after those above it, so the answers lead from fork to fork to a
//! *shape*: the tasks to record, and whose results each of them reads. A shape that was seen once
//! is not looked for again; times, weights and transitions are filled in anew each time.
//!
//! Shapes are shared by all instances that one thread evaluates. There is room for so many; when it
//! is used up they are forgotten and found again.

use super::operand::PoseIn;
use super::plan::{Plan, Weighs};
use crate::task::{Known, TaskIndex};

/// Room of one plan: answers, and steps of all shapes. Small in tests, so that it is used up there.
const ANSWERS: usize = if cfg!(test) { 48 } else { 8_192 };
const STEPS: usize = if cfg!(test) { 20 } else { 4_096 };
/// Plans whose shapes are kept.
const PLANS: usize = 8;

/// One answer of a decision: the node that asks, and what it chose.
pub(super) type Answer = (PoseIn, u32);

/// A node that records something, and the results that it reads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Step {
    pub node: PoseIn,
    pub reads: [TaskIndex; 3],
}

/// Where an answer leads.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) enum Next {
    /// Nobody has been there.
    #[default]
    Unknown,
    /// To a node that asks what a weight comes to.
    Weight(Weighs, u16),
    /// To one that asks for something else.
    Fork(Fork),
    Shape(u16),
}

/// A decision: who asks, and where its answers are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Fork {
    pub node: PoseIn,
    pub first: u16,
}

#[derive(Clone, Copy, Debug)]
struct Shape {
    steps: [u16; 2],
    tasks: [u16; 2],
    output: TaskIndex,
}

/// The shapes of one plan's lists.
#[derive(Debug, Default)]
pub(super) struct Shapes {
    /// The first is where everybody begins.
    next: Vec<Next>,
    shapes: Vec<Shape>,
    steps: Vec<Step>,
    /// Of each task of a shape.
    known: Vec<Known>,
}

impl Shapes {
    fn with_room() -> Self {
        let mut this = Self {
            next: Vec::with_capacity(ANSWERS),
            shapes: Vec::with_capacity(STEPS),
            steps: Vec::with_capacity(STEPS),
            known: Vec::with_capacity(STEPS),
        };
        this.next.push(Next::Unknown);
        this
    }

    /// How many are kept.
    #[cfg(test)]
    pub fn count(&self) -> usize {
        self.shapes.len()
    }

    /// Where everybody begins.
    pub fn first(&self) -> Next {
        self.next.first().copied().unwrap_or_default()
    }

    /// Where an answer leads.
    pub fn after(&self, first: u16, answer: usize) -> Next {
        self.next[usize::from(first) + answer]
    }

    /// What a shape records.
    pub fn steps(&self, shape: u16) -> &[Step] {
        let [from, to] = self.shapes[usize::from(shape)].steps;
        &self.steps[usize::from(from)..usize::from(to)]
    }

    /// What is known of its tasks.
    pub fn known(&self, shape: u16) -> &[Known] {
        let [from, to] = self.shapes[usize::from(shape)].tasks;
        &self.known[usize::from(from)..usize::from(to)]
    }

    /// The task of the output's pose, if it has one.
    pub fn output(&self, shape: u16) -> TaskIndex {
        self.shapes[usize::from(shape)].output
    }

    /// Keeps what answers have come to.
    pub fn keep(
        &mut self,
        plan: &Plan,
        answers: &[Answer],
        (steps, known): (&[Step], &[Known]),
        output: TaskIndex,
    ) {
        for _ in 0..2 {
            if let (Some(at), Some(steps), Some(tasks)) = (
                self.reach(plan, answers),
                range(self.steps.len(), steps.len()).inspect(|_| self.steps.extend(steps)),
                range(self.known.len(), known.len()).inspect(|_| self.known.extend(known)),
            ) && self.shapes.len() < STEPS
            {
                self.next[at] = Next::Shape(self.shapes.len() as u16);
                self.shapes.push(Shape { steps, tasks, output });
                return;
            }
            // What does not fit into all of the room is never kept.
            self.next.clear();
            self.next.push(Next::Unknown);
            self.shapes.clear();
            self.steps.clear();
            self.known.clear();
        }
    }

    /// The place that answers lead to, with forks where there were none; `None` without room.
    fn reach(&mut self, plan: &Plan, answers: &[Answer]) -> Option<usize> {
        let mut at = 0;
        for &(node, answer) in answers {
            let first = match self.next[at] {
                Next::Fork(Fork { first, .. }) | Next::Weight(_, first) => first,
                _ => {
                    let first = self.next.len();
                    let end = first + usize::from(plan.choices[node.get()]);
                    if end > ANSWERS {
                        return None;
                    }
                    self.next.resize(end, Next::Unknown);
                    let (reads, first) = (plan.reads[node.get()], first as u16);
                    self.next[at] = match reads.decides() {
                        true => Next::Fork(Fork { node, first }),
                        false => Next::Weight(reads.weighs(), first),
                    };
                    first
                }
            };
            at = usize::from(first) + answer as usize;
        }
        Some(at)
    }
}

/// The place of so many more; `None` without room.
fn range(from: usize, count: usize) -> Option<[u16; 2]> {
    let end = from + count;
    (end <= STEPS).then_some([from as u16, end as u16])
}

/// The shapes of the plans that one thread evaluates.
#[derive(Debug, Default)]
pub(super) struct ShapesOfPlans {
    plans: Vec<(u64, Shapes)>,
    /// Which of them was asked for last.
    current: usize,
}

impl ShapesOfPlans {
    /// Asks for those of a plan.
    pub fn turn_to(&mut self, plan: u64) {
        if let Some(at) = self.plans.iter().position(|(id, _)| *id == plan) {
            self.current = at;
        } else if self.plans.len() < PLANS {
            self.current = self.plans.len();
            self.plans.push((plan, Shapes::with_room()));
        } else {
            self.current = (self.current + 1) % PLANS;
            self.plans[self.current] = (plan, Shapes::with_room());
        }
    }

    /// Those of the plan that was asked for.
    pub fn current(&mut self) -> Option<&mut Shapes> {
        self.plans.get_mut(self.current).map(|(_, shapes)| shapes)
    }
}
