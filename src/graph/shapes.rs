//! What lists come to, by what was decided.
//!
//! Which poses the output depends on follows from few decisions: the state that a machine is in,
//! whether a weight is nothing, all or between, where in a blend space its place is. They are asked
//! in a certain order, each one after those above it, so the answers lead from fork to fork to a
//! *shape*: the tasks to record, and whose results each of them reads. A shape that was seen once
//! is not looked for again; times, weights and transitions are filled in anew each time.
//!
//! Going from fork to fork takes time, for each has to be seen before the next is known. So the
//! shape is guessed first, by the answers of weights that are known ahead and the states of machines,
//! which are two words together: forks lead on from there that are blend spaces alone. What those
//! words do not tell is tested then.
//!
//! With a shape is kept what follows from it when a list is ended: which clocks its samples are of,
//! which transitions have a task, how weights go from task to task.
//!
//! Shapes are shared by all instances that one thread evaluates. There is room for so many; when it
//! is used up they are forgotten and found again.

use super::Op;
use super::finish::{Ends, Sample, Seam};
use super::operand::PoseIn;
use super::plan::{Plan, Weighs};
use crate::task::{Known, KnownList, Split, TaskIndex};

/// Room of one plan: answers, and steps of all shapes. Small in tests, so that it is used up there.
const ANSWERS: usize = if cfg!(test) { 64 } else { 8_192 };
const STEPS: usize = if cfg!(test) { 20 } else { 4_096 };
/// Plans whose shapes are kept.
const PLANS: usize = 8;
/// Guesses of one plan, a power of two.
const GUESSES: usize = if cfg!(test) { 4 } else { 512 };

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

/// A part of what is kept of all shapes.
type Part = [u16; 2];

#[derive(Clone, Copy, Debug)]
struct Shape {
    steps: Part,
    tasks: Part,
    splits: Part,
    samples: Part,
    seams: Part,
    /// What has to be answered as it was, beside what a guess is made by; and of blend spaces, which
    /// a guess has asked.
    answers: Part,
    spaces: Part,
    output: TaskIndex,
}

/// What guesses are made by: what weights come to ([`Plan::asked`]), and states of machines
/// ([`Plan::told`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Guess {
    pub weights: u32,
    pub states: u32,
}

impl Guess {
    /// Where it may be kept.
    #[inline(always)]
    fn places(self) -> [usize; 2] {
        let mixed = self.weights.wrapping_mul(0x9e37_79b1) ^ self.states.wrapping_mul(0x85eb_ca6b);
        let at = (mixed >> (u32::BITS - GUESSES.ilog2())) as usize;
        [at, at ^ 1]
    }
}

/// What a list that was found came to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found<'a> {
    pub answers: &'a [Answer],
    pub steps: &'a [Step],
    pub known: KnownList<'a>,
    pub ends: Ends<'a>,
    /// The task of the output's pose, if it has one.
    pub output: TaskIndex,
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
    splits: Vec<Split>,
    samples: Vec<Sample>,
    seams: Vec<Seam>,
    answers: Vec<Answer>,
    spaces: Vec<Answer>,
    /// The guesses that were made.
    guesses: Vec<Option<Guess>>,
}

impl Shapes {
    fn with_room() -> Self {
        let mut this = Self {
            next: Vec::with_capacity(ANSWERS),
            shapes: Vec::with_capacity(STEPS),
            steps: Vec::with_capacity(STEPS),
            known: Vec::with_capacity(STEPS),
            splits: Vec::with_capacity(STEPS),
            samples: Vec::with_capacity(STEPS),
            seams: Vec::with_capacity(STEPS),
            answers: Vec::with_capacity(STEPS),
            spaces: Vec::with_capacity(STEPS),
            guesses: Vec::with_capacity(GUESSES),
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
        self.splits.clear();
        self.samples.clear();
        self.seams.clear();
        self.answers.clear();
        self.spaces.clear();
        self.guesses.clear();
        self.guesses.resize(GUESSES, None);
    }

    /// Where a guess leads.
    #[inline(always)]
    pub fn guessed(&self, guess: Guess) -> Next {
        let made = guess.places().into_iter().find(|at| self.guesses[*at] == Some(guess));
        made.map_or(Next::Unknown, |at| self.next[1 + at])
    }

    /// Lets a guess lead to a shape, if there is room for it.
    pub fn keep_guess(&mut self, plan: &Plan, guess: Guess, shape: u16) {
        let free = |at: &usize| self.guesses[*at].is_none_or(|made| made == guess);
        let Some(place) = guess.places().into_iter().find(free) else { return };
        self.guesses[place] = Some(guess);
        let mut at = 1 + place;
        let spaces = self.shapes[usize::from(shape)].spaces;
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

    /// What a shape's forks were answered, beside what a guess is made by and has asked.
    pub fn answers(&self, shape: u16) -> &[Answer] {
        of(&self.answers, self.shapes[usize::from(shape)].answers)
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
        of(&self.steps, self.shapes[usize::from(shape)].steps)
    }

    /// What is known of its tasks.
    pub fn known(&self, shape: u16) -> KnownList<'_> {
        let Shape { tasks, splits, .. } = self.shapes[usize::from(shape)];
        KnownList { tasks: of(&self.known, tasks), splits: of(&self.splits, splits) }
    }

    /// What its end asks for.
    pub fn ends(&self, shape: u16) -> Ends<'_> {
        let Shape { samples, seams, .. } = self.shapes[usize::from(shape)];
        Ends { samples: of(&self.samples, samples), seams: of(&self.seams, seams) }
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
        let Found { answers, steps, known, ends, output } = found;
        let at = self.reach(plan, answers)?;
        let steps = append(&mut self.steps, steps.iter().copied())?;
        let tasks = append(&mut self.known, known.tasks.iter().copied())?;
        let splits = append(&mut self.splits, known.splits.iter().copied())?;
        let samples = append(&mut self.samples, ends.samples.iter().copied())?;
        let seams = append(&mut self.seams, ends.seams.iter().copied())?;
        let is_space = |node: PoseIn| {
            matches!(plan.nodes[node.get()], Op::BlendSpace1D { .. } | Op::BlendSpace2D { .. })
        };
        let others = answers.iter().copied();
        let others = others.filter(|(node, _)| !plan.is_told(*node) && !is_space(*node));
        let others = append(&mut self.answers, others)?;
        let spaces = answers.iter().copied().filter(|(node, _)| is_space(*node));
        let spaces = append(&mut self.spaces, spaces)?;
        let shape = Shape { steps, tasks, splits, samples, seams, answers: others, spaces, output };
        Some((at, shape))
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

fn of<T>(all: &[T], [from, to]: Part) -> &[T] {
    &all[usize::from(from)..usize::from(to)]
}

/// Appends some, and gives where they are; `None` without room.
fn append<T>(to: &mut Vec<T>, some: impl Iterator<Item = T>) -> Option<Part> {
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
