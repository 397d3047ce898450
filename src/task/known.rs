//! Lists that are recorded again: with the same tasks reading the same results as a list that was
//! checked and swept before, and with other times and weights.
//!
//! Who is read by one task alone, which carries all of its weight on, weighs what that one does. So
//! few weights are to be found anew: where a task shares its weight out, and where several meet.

use super::list::{Mark, TaskList};
use super::{Task, TaskIndex};

/// What is known of a task of such a list.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Known {
    /// With the weight that it had.
    mark: Mark,
    reads: [TaskIndex; 2],
    /// Which of the list's weights is its own.
    weight: u16,
}

/// A task whose weight goes on to what it reads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Split {
    task: u16,
    /// It hangs on what the task is told how much each gets; else the first gets it all.
    shares: bool,
    from: u16,
    to: [u16; 2],
    /// Others have given something before.
    more: [bool; 2],
}

/// Weights that every list has: the output's, that of what weighs nothing, and what nobody reads.
const ALL: u16 = 0;
const NOTHING: u16 = 1;
const LOST: u16 = 2;
const FIRST: u16 = 3;
/// Nobody has given it any so far.
const UNTOLD: u16 = u16::MAX;

/// So many weights are enough for a list of so many tasks.
pub(crate) const fn weights_of(tasks: usize) -> usize {
    tasks + FIRST as usize
}

/// Whether how much a task carries on hangs on what it is told; the others carry all of it on to
/// the first that they read.
fn shares(task: &Task) -> bool {
    matches!(task, Task::Blend { .. } | Task::BlendMasked { .. } | Task::ApplyAdditive { .. })
}

/// What is known of a list.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct KnownList<'a> {
    pub tasks: &'a [Known],
    pub splits: &'a [Split],
}

impl KnownList<'_> {
    /// Finds the weights, of which there is to be room for [`weights_of`] the tasks.
    #[inline(always)]
    fn weigh(&self, tasks: &[Task], weights: &mut [f32], shares: impl Fn(&Task) -> [f32; 2]) {
        weights[usize::from(ALL)] = 1.0;
        weights[usize::from(NOTHING)] = 0.0;
        for split in self.splits {
            let own = weights[usize::from(split.from)];
            let shares = match split.shares {
                true => shares(&tasks[usize::from(split.task)]),
                false => [1.0, 0.0],
            };
            for ((to, more), share) in split.to.into_iter().zip(split.more).zip(shares) {
                let before = if more { weights[usize::from(to)] } else { 0.0 };
                weights[usize::from(to)] = before + own * share;
            }
        }
    }
}

impl TaskList {
    /// Finds what there is to know of a list that was swept. False where the output does not depend
    /// on all of its tasks, or somebody waits for the physics step.
    pub(crate) fn know(&self, known: &mut Vec<Known>, splits: &mut Vec<Split>) -> bool {
        known.clear();
        splits.clear();
        if self.is_staged() || self.reachable_count() != self.len() {
            return false;
        }
        known.extend(self.tasks.iter().zip(&self.marks).map(|(task, mark)| Known {
            mark: *mark,
            reads: task.dependencies(),
            weight: UNTOLD,
        }));
        if let Some(output) = known.last_mut() {
            output.weight = ALL;
        }
        let mut next = FIRST;
        for at in (0..known.len()).rev() {
            if known[at].weight == UNTOLD {
                known[at].weight = NOTHING;
            }
            let Known { reads, weight: from, .. } = known[at];
            let shares = shares(&self.tasks[at]);
            if let Some(read) = reads[0].get().filter(|_| !shares)
                && known[read].mark.readers == 1
            {
                known[read].weight = from;
                continue;
            }
            let (mut to, mut more) = ([LOST; 2], [false; 2]);
            let given = if shares { 2 } else { 1 };
            for (i, read) in reads.into_iter().enumerate().take(given) {
                let Some(read) = read.get() else { continue };
                more[i] = known[read].weight != UNTOLD;
                if !more[i] {
                    known[read].weight = next;
                    next += 1;
                }
                to[i] = known[read].weight;
            }
            if to != [LOST; 2] {
                splits.push(Split { task: at as u16, shares, from, to, more });
            }
        }
        true
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
    /// all that is left to find, if there are any that change. `weights` is scratch, as long as
    /// [`weights_of`] the tasks.
    #[inline(always)]
    pub(crate) fn sweep_known(&mut self, known: KnownList<'_>, weights: &mut [f32]) {
        let count = self.tasks.len();
        debug_assert!(known.tasks.len() == count);
        debug_assert!(self.tasks.iter().zip(known.tasks).all(|(t, k)| t.dependencies() == k.reads));
        self.swept = true;
        self.output = count.checked_sub(1).and_then(TaskIndex::new);
        self.whole = true;
        self.marks.clear();
        if known.splits.is_empty() {
            self.marks.extend(known.tasks.iter().map(|known| known.mark));
            return;
        }
        known.weigh(&self.tasks, weights, Task::dependency_weights);
        self.marks.extend(known.tasks.iter().map(|known| {
            let weight = weights[usize::from(known.weight)];
            Mark { weight, ..known.mark }
        }));
    }

    /// What the weights of a list that is known would be if some tasks carried other shares of
    /// theirs on, of each task.
    pub(crate) fn weigh_otherwise(
        &self,
        known: KnownList<'_>,
        weights: &mut [f32],
        shares: impl Fn(&Task) -> [f32; 2],
        mut give: impl FnMut(f32),
    ) {
        known.weigh(&self.tasks, weights, shares);
        known.tasks.iter().for_each(|known| give(weights[usize::from(known.weight)]));
    }
}
