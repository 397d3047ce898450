//! What lists come to, by what was decided.
//!
//! Which poses the output depends on follows from few decisions: the state that a machine is in,
//! whether a weight is nothing, all or between, where in a blend space its place is. They are asked
//! in a certain order, each one after those above it, so the answers lead from fork to fork to a
//! *shape*: the tasks to record, and whose results each of them reads. A shape that was seen once
//! is not looked for again; times, weights and transitions are filled in anew each time.
//!
//! Going from fork to fork takes time, for each has to be seen before the next is known. So the
//! shape is guessed first, by all weights' answers and all machines' states together: forks lead on
//! from there that are blend spaces alone. Then it is only tested that it is the one, for its own
//! forks have to be answered as they were.
//!
//! Shapes are shared by all instances that one thread evaluates. There is room for so many; when it
//! is used up they are forgotten and found again.

use super::Op;
use super::control::MachineState;
use super::operand::PoseIn;
use super::plan::{Bits, Plan, Weighs};
use crate::task::{Known, TaskIndex};

/// Room of one plan: answers, and steps of all shapes. Small in tests, so that it is used up there.
const ANSWERS: usize = if cfg!(test) { 64 } else { 8_192 };
const STEPS: usize = if cfg!(test) { 20 } else { 4_096 };
/// Plans whose shapes are kept.
const PLANS: usize = 8;
/// Guesses of one plan, a power of two.
const GUESSES: usize = if cfg!(test) { 4 } else { 256 };

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
    /// What has to be answered as it was, beside weights that are told by their bits; and of blend
    /// spaces, which a guess has asked.
    answers: [u16; 2],
    spaces: [u16; 2],
    weights: Bits,
    output: TaskIndex,
    weighs_anew: bool,
}

/// One of the guesses, by its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Guess(usize);

/// What a list that was found came to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found<'a> {
    pub answers: &'a [Answer],
    pub steps: &'a [Step],
    /// Of each task.
    pub known: &'a [Known],
    /// The task of the output's pose, if it has one.
    pub output: TaskIndex,
    /// Weights of its tasks hang on what is asked for anew.
    pub weighs_anew: bool,
}

/// The shapes of one plan's lists.
#[derive(Debug, Default)]
pub(super) struct Shapes {
    /// The first is where everybody begins, then there is one for each guess.
    next: Vec<Next>,
    shapes: Vec<Shape>,
    steps: Vec<Step>,
    /// Of each task of a shape.
    known: Vec<Known>,
    answers: Vec<Answer>,
    spaces: Vec<Answer>,
}

impl Shapes {
    fn with_room() -> Self {
        let mut this = Self {
            next: Vec::with_capacity(ANSWERS),
            shapes: Vec::with_capacity(STEPS),
            steps: Vec::with_capacity(STEPS),
            known: Vec::with_capacity(STEPS),
            answers: Vec::with_capacity(STEPS),
            spaces: Vec::with_capacity(STEPS),
        };
        this.forget();
        this
    }

    fn forget(&mut self) {
        self.next.clear();
        self.next.resize(1 + GUESSES, Next::Unknown);
        self.shapes.clear();
        self.steps.clear();
        self.known.clear();
        self.answers.clear();
        self.spaces.clear();
    }

    /// The guess for these weights' answers, and machines in these states.
    #[inline]
    pub fn guess_of(weights: u32, machines: &[MachineState]) -> Guess {
        const MIX: u32 = 0x9e37_79b1;
        let mix = |key: u32, with: u32| (key.rotate_left(5) ^ with).wrapping_mul(MIX);
        let key = machines.iter().fold(mix(0, weights), |key, m| mix(key, m.state.into()));
        Guess(1 + (key as usize >> (u32::BITS - GUESSES.ilog2())))
    }

    /// Where a guess begins.
    pub fn guessed(&self, guess: Guess) -> Next {
        self.next.get(guess.0).copied().unwrap_or_default()
    }

    /// Whether a shape's weights are answered so.
    pub fn has_weights(&self, shape: u16, weights: u32) -> bool {
        let [looks, are] = self.shapes[usize::from(shape)].weights;
        weights & looks == are
    }

    /// Lets a guess lead to a shape. Where it leads to other forks already, for something else has
    /// the same guess, it stays as it is.
    pub fn keep_guess(&mut self, plan: &Plan, guess: Guess, shape: u16) {
        let spaces = self.shapes[usize::from(shape)].spaces;
        let mut at = guess.0;
        for space in spaces[0]..spaces[1] {
            let (node, answer) = self.spaces[usize::from(space)];
            match self.next[at] {
                Next::Fork(fork) if fork.node != node => return,
                _ => {}
            }
            match self.step(plan, at, (node, answer)) {
                Some(next) => at = next,
                None => return,
            }
        }
        if !matches!(self.next[at], Next::Fork(_)) {
            self.next[at] = Next::Shape(shape);
        }
    }

    /// What a shape's forks were answered, beside weights that are told by their bits and what a
    /// guess has asked.
    pub fn answers(&self, shape: u16) -> &[Answer] {
        let [from, to] = self.shapes[usize::from(shape)].answers;
        &self.answers[usize::from(from)..usize::from(to)]
    }

    /// Whether its weights hang on what is asked for anew.
    pub fn weighs_anew(&self, shape: u16) -> bool {
        self.shapes[usize::from(shape)].weighs_anew
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
    pub fn keep(&mut self, plan: &Plan, found: Found<'_>) {
        for _ in 0..2 {
            if let Some((at, shape)) = self.add(plan, found)
                && self.shapes.len() < STEPS
            {
                self.next[at] = Next::Shape(self.shapes.len() as u16);
                self.shapes.push(shape);
                return;
            }
            // What does not fit into all of the room is never kept.
            self.forget();
        }
    }

    /// Adds what a shape consists of, and gives where its answers lead; `None` without room.
    fn add(&mut self, plan: &Plan, found: Found<'_>) -> Option<(usize, Shape)> {
        let Found { answers, steps, known, output, weighs_anew } = found;
        let at = self.reach(plan, answers)?;
        let steps = append(&mut self.steps, steps.iter().copied())?;
        let tasks = append(&mut self.known, known.iter().copied())?;
        let mut weights = [0, 0];
        let is_space = |node: PoseIn| {
            matches!(plan.nodes[node.get()], Op::BlendSpace1D { .. } | Op::BlendSpace2D { .. })
        };
        let others = answers.iter().copied().filter(|&(node, answer)| {
            let reads = plan.reads[node.get()];
            let number = plan.asked.iter().position(|alpha| *alpha == reads.weighs().alpha);
            let Some(number) = number.filter(|_| !reads.decides()) else {
                return !is_space(node);
            };
            let [looks, are] = reads.weighs().bits(number, answer as usize);
            weights = [weights[0] | looks, weights[1] | are];
            false
        });
        let others = append(&mut self.answers, others)?;
        let spaces = answers.iter().copied().filter(|(node, _)| is_space(*node));
        let spaces = append(&mut self.spaces, spaces)?;
        Some((at, Shape { steps, tasks, answers: others, spaces, weights, output, weighs_anew }))
    }

    /// The place that answers lead to, with forks where there were none; `None` without room.
    fn reach(&mut self, plan: &Plan, answers: &[Answer]) -> Option<usize> {
        answers.iter().try_fold(0, |at, answer| self.step(plan, at, *answer))
    }

    /// The place that one answer leads to from another, with a fork there if there was none.
    fn step(&mut self, plan: &Plan, at: usize, (node, answer): Answer) -> Option<usize> {
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
        Some(usize::from(first) + answer as usize)
    }
}

/// Appends some, and gives where they are; `None` without room.
fn append<T>(to: &mut Vec<T>, some: impl Iterator<Item = T>) -> Option<[u16; 2]> {
    let from = to.len();
    to.extend(some.take(STEPS - from + 1));
    (to.len() <= STEPS).then_some([from as u16, to.len() as u16])
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
