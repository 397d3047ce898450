//! Lists that are recorded again: with the same tasks reading the same results as a list that was
//! checked and swept before, and with other times and weights.

use super::list::{Mark, TaskList};
use super::{Task, TaskIndex};

/// What is known of a task of such a list.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Known {
    /// With the weight that it had.
    mark: Mark,
    reads: [TaskIndex; 2],
    /// How much of its weight it carries on hangs on what it is told.
    shares: bool,
}

/// Whether how much a task carries on hangs on what it is told; the others carry all of it on to
/// the first that they read.
fn shares(task: &Task) -> bool {
    matches!(task, Task::Blend { .. } | Task::BlendMasked { .. } | Task::ApplyAdditive { .. })
}

impl TaskList {
    /// What there is to know of a list that was swept: of each task, or `None` where the output
    /// does not depend on all of them, or somebody waits for the physics step.
    pub(crate) fn known(&self) -> Option<impl Iterator<Item = Known>> {
        let known = |(task, mark): (&Task, &Mark)| Known {
            mark: *mark,
            reads: task.dependencies(),
            shares: shares(task),
        };
        (!self.is_staged() && self.reachable_count() == self.len())
            .then(|| self.tasks.iter().zip(&self.marks).map(known))
    }

    /// Whether the weights of a list's tasks hang on what its tasks are told, and not only on what
    /// they are.
    pub(crate) fn weighs_anew(&self) -> bool {
        self.tasks.iter().any(shares)
    }

    /// [`TaskList::push`] of a task that is known; the list has to be ended by
    /// [`TaskList::sweep_known`].
    #[inline(always)]
    pub(crate) fn push_known(&mut self, task: Task) -> TaskIndex {
        let index = TaskIndex::new(self.tasks.len()).unwrap_or(TaskIndex::NONE);
        debug_assert!(index != TaskIndex::NONE);
        self.tasks.push(task);
        index
    }

    /// [`TaskList::sweep`] of a list that is known: the last task is the output, and weights are
    /// all that is left to find, if there are any that change ([`TaskList::weighs_anew`]).
    pub(crate) fn sweep_known(&mut self, known: &[Known], weighs_anew: bool) {
        let count = self.tasks.len();
        debug_assert!(known.len() == count);
        debug_assert!(self.tasks.iter().zip(known).all(|(t, k)| t.dependencies() == k.reads));
        debug_assert!(weighs_anew || !self.weighs_anew());
        self.swept = true;
        self.output = count.checked_sub(1).and_then(TaskIndex::new);
        self.whole = true;
        self.marks.clear();
        self.marks.extend(known.iter().map(|known| known.mark));
        if weighs_anew {
            self.weigh_known(known);
        }
    }

    fn weigh_known(&mut self, known: &[Known]) {
        self.marks.iter_mut().for_each(|mark| mark.weight = 0.0);
        if let Some(output) = self.marks.last_mut() {
            output.weight = 1.0;
        }
        for (at, (known, task)) in known.iter().zip(&self.tasks).enumerate().rev() {
            let weight = self.marks[at].weight;
            let [first, second] = known.reads;
            let [share, rest] = match known.shares {
                true => task.dependency_weights(),
                false => [1.0, 0.0],
            };
            if let Some(mark) = first.get().and_then(|read| self.marks.get_mut(read)) {
                mark.weight += weight * share;
            }
            if known.shares
                && let Some(mark) = second.get().and_then(|read| self.marks.get_mut(read))
            {
                mark.weight += weight * rest;
            }
        }
    }
}
