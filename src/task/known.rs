//! Lists that are recorded again: with the same tasks reading the same results as a list that was
//! checked and swept before, and with other times and weights.

use super::list::{Mark, TaskList};
use super::{Task, TaskIndex};

/// What is known of a task of such a list.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Known {
    /// How many tasks read it, the output included.
    readers: u16,
    reads: [TaskIndex; 2],
}

impl TaskList {
    /// What there is to know of a list that was swept: of each task, or `None` where the output
    /// does not depend on all of them, or somebody waits for the physics step.
    pub(crate) fn known(&self) -> Option<impl Iterator<Item = Known>> {
        let known = |(task, mark): (&Task, &Mark)| Known {
            readers: mark.readers as u16,
            reads: task.dependencies(),
        };
        (!self.any_late && self.reachable_count() == self.len())
            .then(|| self.tasks.iter().zip(&self.marks).map(known))
    }

    /// [`TaskList::push`] of a task that is known; the list has to be ended by
    /// [`TaskList::sweep_known`].
    #[inline(always)]
    pub(crate) fn push_known(&mut self, task: Task) -> TaskIndex {
        let index = TaskIndex::new(self.tasks.len()).unwrap_or(TaskIndex::NONE);
        debug_assert!(index != TaskIndex::NONE);
        self.shares.push(task.dependency_weights());
        self.tasks.push(task);
        index
    }

    /// [`TaskList::sweep`] of a list that is known: the last task is the output, and weights are
    /// all that is left to find.
    pub(crate) fn sweep_known(&mut self, known: &[Known]) {
        let count = self.tasks.len();
        debug_assert!(known.len() == count && self.shares.len() == count);
        debug_assert!(self.tasks.iter().zip(known).all(|(t, k)| t.dependencies() == k.reads));
        self.swept = true;
        self.output = count.checked_sub(1).and_then(TaskIndex::new);
        self.late.clear();
        self.late.resize(count, false);
        let mark = |known: &Known| Mark {
            reachable: true,
            readers: known.readers.into(),
            late: false,
            weight: 0.0,
        };
        self.marks.clear();
        self.marks.extend(known.iter().map(mark));
        self.needed.clear();
        self.needed.extend((0..count as u16).rev());
        if let Some(output) = self.marks.last_mut() {
            output.weight = 1.0;
        }
        for (at, (known, shares)) in known.iter().zip(&self.shares).enumerate().rev() {
            let weight = self.marks[at].weight;
            for (read, share) in known.reads.into_iter().zip(shares) {
                if let Some(mark) = read.get().and_then(|read| self.marks.get_mut(read)) {
                    mark.weight += weight * share;
                }
            }
        }
    }
}
