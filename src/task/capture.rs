//! What the executor decided for one list, recorded as it decides it.

use super::state::Masks;
use super::{Task, TaskIndex, TaskKind, TaskList};
use crate::index::BoneCount;

/// One task of a captured list.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct TaskRecord {
    /// What it does.
    pub kind: &'static str,
    /// Positions of what it reads.
    pub dependencies: Vec<usize>,
    /// The output depends on it.
    pub reachable: bool,
    /// It wrote into its first dependency's buffer.
    pub stole: bool,
    /// Position among the tasks that ran; `None` when it did not.
    pub order: Option<u32>,
    /// The buffer of its result.
    pub buffer: Option<u32>,
    /// Length of the longest chain of dependencies below it; tasks of one level are independent.
    pub level: u32,
    /// Buffers in use right after it ran.
    pub live_buffers: u32,
    /// For a masked blend, how many bones its mask weighs at all.
    pub masked_bones: Option<u32>,
    /// How long it took.
    pub ns: u64,
}

/// One list as it was executed.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct Capture {
    /// In recording order.
    pub tasks: Vec<TaskRecord>,
    /// Position of the output.
    pub output: Option<usize>,
    /// Bones that were animated.
    pub active_bones: u16,
}

impl Capture {
    pub(super) fn begin(&mut self, list: &TaskList, active: BoneCount, masks: &Masks) {
        self.output = list.output().get();
        self.active_bones = active.0;
        if self.tasks.len() == list.len() && self.tasks.iter().any(|t| t.order.is_none()) {
            // The second half of a list goes on where the first one stopped.
            return;
        }
        self.tasks.clear();
        for (task, mark) in list.tasks().iter().zip(list.marks()) {
            let dependencies: Vec<usize> =
                task.dependencies().into_iter().filter_map(TaskIndex::get).collect();
            let level = dependencies.iter().map(|d| self.tasks[*d].level + 1).max();
            let masked_bones = match task {
                Task::BlendMasked { mask, .. } => {
                    masks.get(*mask).map(|m| m.weighted_bones(active) as u32)
                }
                _ => None,
            };
            self.tasks.push(TaskRecord {
                kind: TaskKind::name(task.kind()),
                dependencies,
                reachable: mark.reachable,
                stole: false,
                order: None,
                buffer: None,
                level: level.unwrap_or(0),
                live_buffers: 0,
                masked_bones,
                ns: 0,
            });
        }
    }

    pub(super) fn ran(
        &mut self,
        at: usize,
        order: u32,
        stole: bool,
        buffer: u32,
        live: usize,
        ns: u64,
    ) {
        if let Some(record) = self.tasks.get_mut(at) {
            record.order = Some(order);
            record.stole = stole;
            record.buffer = Some(buffer);
            record.live_buffers = live as u32;
            record.ns = ns;
        }
    }
}
