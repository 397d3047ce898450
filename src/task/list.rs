//! The recipe of one character for one frame.

use super::task::Stage;
use super::{Task, TaskIndex};
use crate::index::BoneCount;
use crate::pose::{GroundPatch, RootPin};

/// What can't be recorded or executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TaskError {
    /// One task more than an index can name.
    #[error("a task list is full at {limit} tasks")]
    Full {
        /// The most a list holds.
        limit: usize,
    },
    /// A dependency (or an output) that is not an earlier task of the list.
    #[error("task {task} depends on task {dependency}, which is not before it")]
    Dependency {
        /// Position of the task that was to be pushed; the list's length for an output.
        task: usize,
        /// What it depends on.
        dependency: TaskIndex,
    },
    /// A task before the physics step that reads one after it.
    #[error(
        "task {task} runs before the physics step but depends on task {dependency}, which runs after it"
    )]
    Stage {
        /// Position of the task that was to be pushed.
        task: usize,
        /// What it depends on.
        dependency: TaskIndex,
    },
    /// A palette of another length than the rig's.
    #[error("a palette of {len} matrices can't hold the rig's {needed}")]
    Palette {
        /// Its length.
        len: usize,
        /// The rig's palette length.
        needed: usize,
    },
}

/// What the reverse sweep knows of a task.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Mark {
    /// The output depends on it.
    pub reachable: bool,
    /// How many reachable tasks read it (a task that reads it twice counts twice), the output
    /// included.
    pub readers: u32,
    /// It waits for the physics step, or reads what does.
    pub late: bool,
    /// Its share of the output, 0..=1 for recipes of blends.
    pub weight: f32,
}

/// Tasks in recording order, which is already an order of execution, and what to do with the last
/// pose. Cleared, never freed.
#[derive(Clone, Debug, Default)]
pub struct TaskList {
    pub(super) tasks: Vec<Task>,
    /// Whether each task waits for the physics step, or reads what does: up to the last that does.
    late: Vec<bool>,
    pub(super) marks: Vec<Mark>,
    /// The output depends on all tasks, and [`TaskList::needed`] is not filled.
    pub(super) whole: bool,
    /// Positions of the tasks that the output depends on, the last one first.
    needed: Vec<u16>,
    pub(super) output: Option<TaskIndex>,
    cut: Option<BoneCount>,
    root_pin: Option<RootPin>,
    ground: Option<GroundPatch>,
    pub(super) swept: bool,
}

impl TaskList {
    /// Forgets the recipe; keeps its memory.
    pub fn clear(&mut self) {
        self.tasks.clear();
        self.late.clear();
        self.whole = false;
        self.output = None;
        self.cut = None;
        self.root_pin = None;
        self.ground = None;
        self.swept = false;
    }

    /// Makes room for so many tasks, so that recording them does not allocate.
    pub fn reserve(&mut self, tasks: usize) {
        self.tasks.reserve(tasks.saturating_sub(self.tasks.len()));
        self.late.reserve(tasks.saturating_sub(self.late.len()));
        self.marks.reserve(tasks.saturating_sub(self.marks.len()));
        self.needed.reserve(tasks.saturating_sub(self.needed.len()));
    }

    /// Appends a task that runs in a certain half of a list that is executed around a physics
    /// step. What reads a task of the second half runs in the second half as well.
    ///
    /// # Errors
    /// Those of [`TaskList::push`], and [`TaskError::Stage`] for a task of the first half that
    /// reads one of the second.
    #[inline(always)]
    pub fn push_staged(&mut self, task: Task, stage: Stage) -> Result<TaskIndex, TaskError> {
        let at = self.tasks.len();
        let mut late = stage == Stage::PostPhysics;
        for dependency in task.dependencies() {
            self.check(dependency)?;
            let waits = dependency.get().is_some_and(|d| self.is_late(d));
            if waits && stage == Stage::PrePhysics {
                return Err(TaskError::Stage { task: at, dependency });
            }
            late |= waits;
        }
        let index = TaskIndex::new(at).ok_or(TaskError::Full { limit: TaskIndex::LIMIT })?;
        self.tasks.push(task);
        if late {
            self.late.resize(at, false);
            self.late.push(true);
        }
        self.swept = false;
        Ok(index)
    }

    /// Appends the blend of several poses: a chain of blends whose alphas are each weight's share
    /// of the sum so far. Weights that are not above zero (or not finite) are left out; without
    /// any, the result is no task, the bind pose.
    ///
    /// # Errors
    /// Those of [`TaskList::push`]; what was appended before it stays.
    pub fn push_blend_n(&mut self, poses: &[(TaskIndex, f32)]) -> Result<TaskIndex, TaskError> {
        let mut result = TaskIndex::NONE;
        let mut sum = 0.0;
        for (pose, weight) in poses.iter().filter(|(_, w)| *w > 0.0 && w.is_finite()) {
            self.check(*pose)?;
            sum += weight;
            result = match sum == *weight {
                true => *pose,
                false => self.push(Task::Blend { a: result, b: *pose, alpha: weight / sum })?,
            };
        }
        Ok(result)
    }

    /// Appends a task and gives its index.
    ///
    /// # Errors
    /// [`TaskError::Full`] past the range of an index, [`TaskError::Dependency`] when a dependency
    /// is not an earlier task. The list is as it was then.
    #[inline(always)]
    pub fn push(&mut self, task: Task) -> Result<TaskIndex, TaskError> {
        self.push_staged(task, Stage::Any)
    }

    /// Names the task whose pose is the character's. A list without output gives the bind pose.
    ///
    /// # Errors
    /// [`TaskError::Dependency`] when the list has no such task.
    pub fn set_output(&mut self, output: TaskIndex) -> Result<(), TaskError> {
        self.check(output)?;
        self.output = output.get().map(|_| output);
        self.swept = false;
        Ok(())
    }

    fn check(&self, dependency: TaskIndex) -> Result<(), TaskError> {
        let task = self.tasks.len();
        match dependency.get() {
            Some(at) if at >= task => Err(TaskError::Dependency { task, dependency }),
            _ => Ok(()),
        }
    }

    /// Animates bones `[0, cut)` only (the skeleton's level of detail); `None` animates all.
    pub fn set_cut(&mut self, cut: Option<BoneCount>) {
        self.cut = cut;
    }

    /// The level of detail that was set.
    pub fn cut(&self) -> Option<BoneCount> {
        self.cut
    }

    /// What is taken out of the root before the pose is resolved, because it has gone to the
    /// character's own transform.
    pub fn set_root_pin(&mut self, pin: Option<RootPin>) {
        self.root_pin = pin;
    }

    /// The ground that [`Task::FootIk`] puts feet on; without it the ground is level, and feet stay
    /// where they are.
    pub fn set_ground(&mut self, ground: Option<GroundPatch>) {
        self.ground = ground;
    }

    /// The tasks in recording order.
    pub fn tasks(&self) -> &[Task] {
        &self.tasks
    }

    /// Number of tasks.
    pub fn len(&self) -> usize {
        self.tasks.len()
    }

    /// True when nothing was recorded.
    pub fn is_empty(&self) -> bool {
        self.tasks.is_empty()
    }

    /// The task whose pose is the character's, or [`TaskIndex::NONE`].
    pub fn output(&self) -> TaskIndex {
        self.output.unwrap_or(TaskIndex::NONE)
    }

    /// True when some of it waits for the physics step.
    pub fn is_staged(&self) -> bool {
        !self.late.is_empty()
    }

    /// Whether the task at a position waits for the physics step or reads what does.
    #[inline]
    pub(super) fn is_late(&self, at: usize) -> bool {
        self.late.get(at).is_some_and(|late| *late)
    }

    /// Bones that are animated, of a skeleton with `bones`.
    pub fn active(&self, bones: BoneCount) -> BoneCount {
        self.cut.map_or(bones, |cut| cut.min(bones))
    }

    /// What is taken out of the root.
    pub fn root_pin(&self) -> Option<RootPin> {
        self.root_pin
    }

    /// The ground that feet are put on.
    pub fn ground(&self) -> Option<GroundPatch> {
        self.ground
    }

    /// Ends recording: one pass from the output backwards marks what it depends on, counts the
    /// readers of each result and carries the weight of each branch down to its clips. Dependencies
    /// come earlier than their readers, so every reader of a task has been seen when the pass
    /// arrives at it. Idempotent; executing calls it when the recorder has not.
    #[inline]
    pub fn sweep(&mut self) {
        if !std::mem::replace(&mut self.swept, true) {
            self.mark_all();
        }
    }

    fn mark_all(&mut self) {
        let late = (0..self.tasks.len()).map(|at| self.late.get(at).is_some_and(|late| *late));
        self.marks.clear();
        self.marks.extend(late.map(|late| Mark { late, ..Mark::default() }));
        self.whole = false;
        self.needed.clear();
        let Some(output) = self.output.and_then(TaskIndex::get) else { return };
        let late = self.marks[output].late;
        self.marks[output] = Mark { reachable: true, readers: 1, weight: 1.0, late };
        for at in (0..=output).rev() {
            let Mark { reachable: true, weight, .. } = self.marks[at] else { continue };
            self.needed.push(at as u16);
            let task = &self.tasks[at];
            for (dependency, share) in
                task.dependencies().into_iter().zip(task.dependency_weights())
            {
                if let Some(mark) = dependency.get().and_then(|d| self.marks.get_mut(d)) {
                    mark.reachable = true;
                    mark.readers += 1;
                    mark.weight += weight * share;
                }
            }
        }
    }

    /// Tasks that the output depends on; zero before [`TaskList::sweep`].
    pub fn reachable_count(&self) -> usize {
        match self.swept {
            false => 0,
            true if self.whole => self.len(),
            true => self.needed.len(),
        }
    }

    /// The position of the `step`-th of the tasks that the output depends on, in recording order;
    /// known after [`TaskList::sweep`]. Executing visits these alone, so that what is not reachable
    /// costs it nothing.
    #[inline]
    pub(crate) fn needed(&self, step: usize) -> usize {
        if self.whole { step } else { usize::from(self.needed[self.needed.len() - 1 - step]) }
    }

    /// True when the output depends on the task; false before [`TaskList::sweep`].
    pub fn is_reachable(&self, task: TaskIndex) -> bool {
        self.mark(task).is_some_and(|m| m.reachable)
    }

    /// The task's share of the output after [`TaskList::sweep`]: the weight of notifies that its
    /// clip fires. Zero for what is not reachable.
    pub fn weight(&self, task: TaskIndex) -> f32 {
        self.mark(task).map_or(0.0, |m| m.weight)
    }

    fn mark(&self, task: TaskIndex) -> Option<&Mark> {
        self.swept.then_some(())?;
        self.marks.get(task.get()?)
    }

    /// The sweep's results, one per task.
    pub(crate) fn marks(&self) -> &[Mark] {
        &self.marks
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::ClipId;

    fn sample(list: &mut TaskList) -> TaskIndex {
        list.push(Task::SampleClip { clip: ClipId(0), seconds: 0.0 }).unwrap()
    }

    #[test]
    fn a_forward_dependency_is_refused_and_leaves_the_list_alone() {
        let mut list = TaskList::default();
        let a = sample(&mut list);
        let ahead = TaskIndex::new(1).unwrap();
        let error = list.push(Task::Blend { a, b: ahead, alpha: 0.5 }).unwrap_err();
        assert_eq!(error, TaskError::Dependency { task: 1, dependency: ahead });
        assert_eq!(list.len(), 1);
        assert!(list.set_output(ahead).is_err());
        assert!(list.push(Task::Blend { a, b: TaskIndex::NONE, alpha: 0.5 }).is_ok());
    }

    #[test]
    fn a_list_over_the_index_range_is_an_error_and_no_wrap() {
        let mut list = TaskList::default();
        for _ in 0..TaskIndex::LIMIT {
            list.push(Task::ReferencePose).unwrap();
        }
        let full = TaskError::Full { limit: 32_768 };
        assert_eq!(list.push(Task::ReferencePose), Err(full));
    }

    #[test]
    fn weights_multiply_down_branches_and_add_up_over_readers() {
        let mut list = TaskList::default();
        let (a, b, unused) = (sample(&mut list), sample(&mut list), sample(&mut list));
        let ab = list.push(Task::Blend { a, b, alpha: 0.25 }).unwrap();
        let out = list.push(Task::Blend { a: ab, b, alpha: 0.5 }).unwrap();
        list.set_output(out).unwrap();
        assert!(!list.is_reachable(a), "nothing is known before the sweep");
        list.sweep();
        assert_eq!((list.weight(a), list.weight(b), list.weight(out)), (0.375, 0.625, 1.0));
        assert!(!list.is_reachable(unused) && list.weight(unused) == 0.0);
        assert_eq!(list.marks()[1].readers, 2);
        list.clear();
        list.sweep();
        assert!(!list.is_reachable(a), "a cleared list has no tasks");
    }
}
