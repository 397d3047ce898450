//! What tasks refer to beside the rig: the masks of a program, and what a character keeps from
//! frame to frame.

use super::TaskIndex;
use crate::index::BoneCount;
use crate::pose::kernels::history::History;
use crate::pose::kernels::masked::Mask;
use crate::pose::{Pose, Rig};

/// A mask of a [`Masks`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MaskId(pub u16);

impl MaskId {
    /// No mask: every bone weighs 1.
    pub const NONE: Self = Self(u16::MAX);
}

/// A history of a [`PoseState`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct HistoryId(pub u16);

/// A snapshot of a [`PoseState`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SnapshotId(pub u16);

/// No masks.
pub static NO_MASKS: Masks = Masks { masks: Vec::new(), names: Vec::new() };

/// The bone masks of one rig, shared by all its characters.
#[derive(Clone, Debug, Default)]
pub struct Masks {
    masks: Vec<Mask>,
    names: Vec<String>,
}

impl Masks {
    /// Adds a mask of a skeleton with `bones` bones; weights that are missing count as 1. `None`
    /// past the range of an id.
    pub fn add(&mut self, bones: BoneCount, weights: &[f32]) -> Option<MaskId> {
        self.add_named("", bones, weights)
    }

    /// As [`Masks::add`], with a name for people to read.
    pub fn add_named(
        &mut self,
        name: impl Into<String>,
        bones: BoneCount,
        weights: &[f32],
    ) -> Option<MaskId> {
        let id = u16::try_from(self.masks.len()).ok().map(MaskId);
        let id = id.filter(|id| *id != MaskId::NONE)?;
        self.masks.push(Mask::new(bones, weights));
        self.names.push(name.into());
        Some(id)
    }

    /// A mask's name; empty for one that has none.
    pub fn name(&self, mask: MaskId) -> Option<&str> {
        self.names.get(usize::from(mask.0)).map(String::as_str)
    }

    /// All of them, in the order of their ids.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Mask> {
        self.masks.iter()
    }

    /// A mask.
    pub fn get(&self, mask: MaskId) -> Option<&Mask> {
        self.masks.get(usize::from(mask.0))
    }
}

/// Poses that one character keeps while it evaluates: transitions' histories, snapshots, and what a
/// list leaves behind between its two halves. Ids beyond what it was made for are without effect.
#[derive(Clone, Debug, Default)]
pub struct PoseState {
    pub(super) histories: Vec<History>,
    pub(super) snapshots: Vec<Snapshot>,
    /// Results that the second half of a list reads.
    pub(super) suspended: Vec<(TaskIndex, Pose)>,
    /// How many of them count.
    pub(super) suspended_count: usize,
}

/// A kept pose and how many of its bones were animated; none was saved when that is zero.
#[derive(Clone, Debug, Default)]
pub(super) struct Snapshot {
    pub pose: Pose,
    pub cut: Option<BoneCount>,
}

impl PoseState {
    /// Room for so many histories and snapshots; poses are allocated when they are first kept.
    pub fn new(histories: u16, snapshots: u16) -> Self {
        Self {
            histories: vec![History::default(); usize::from(histories)],
            snapshots: vec![Snapshot::default(); usize::from(snapshots)],
            ..Self::default()
        }
    }

    /// Allocates now what histories and snapshots of a rig will hold, so that keeping a pose later
    /// does not.
    pub fn reserve(&mut self, rig: &Rig) {
        self.histories.iter_mut().for_each(|history| history.reserve(rig));
        self.snapshots.iter_mut().for_each(|snapshot| snapshot.pose.fit(rig.shape()));
    }

    /// A state without poses that has as much memory as this one.
    pub fn twin(&self) -> Self {
        let mut twin = self.clone();
        for (history, of) in twin.histories.iter_mut().zip(&self.histories) {
            history.reserve_as(of);
        }
        twin.clear();
        twin
    }

    /// Forgets every pose and keeps the memory: for a character that was away.
    pub fn clear(&mut self) {
        self.histories.iter_mut().for_each(History::clear);
        self.snapshots.iter_mut().for_each(|s| s.cut = None);
        self.suspended_count = 0;
    }

    /// Makes room for more histories and snapshots behind those that there are, their poses allocated;
    /// gives the first new one of each.
    pub fn extend(&mut self, histories: u16, snapshots: u16, rig: &Rig) -> (HistoryId, SnapshotId) {
        let number = |at: usize| u16::try_from(at).unwrap_or(u16::MAX);
        let first = (number(self.histories.len()), number(self.snapshots.len()));
        let more = Self::new(histories, snapshots);
        self.histories.extend(more.histories);
        self.snapshots.extend(more.snapshots);
        self.reserve(rig);
        (HistoryId(first.0), SnapshotId(first.1))
    }

    /// Does away with some histories and snapshots: these and those behind them.
    pub fn truncate(&mut self, history: HistoryId, snapshot: SnapshotId) {
        self.histories.truncate(usize::from(history.0));
        self.snapshots.truncate(usize::from(snapshot.0));
    }

    /// The pose that a snapshot keeps; `None` where none was saved.
    pub fn kept(&self, id: SnapshotId) -> Option<&Pose> {
        let kept = self.snapshots.get(usize::from(id.0))?;
        kept.cut.map(|_| &kept.pose)
    }

    /// The same, to be changed: what goes on between the two halves of a list goes on here.
    pub fn kept_mut(&mut self, id: SnapshotId) -> Option<&mut Pose> {
        let kept = self.snapshots.get_mut(usize::from(id.0))?;
        kept.cut.map(|_| &mut kept.pose)
    }

    /// How many histories there is room for.
    pub fn histories(&self) -> usize {
        self.histories.len()
    }

    /// How many snapshots there is room for.
    pub fn snapshots(&self) -> usize {
        self.snapshots.len()
    }

    pub(super) fn history(&mut self, id: HistoryId) -> Option<&mut History> {
        self.histories.get_mut(usize::from(id.0))
    }

    pub(super) fn snapshot(&mut self, id: SnapshotId) -> Option<&mut Snapshot> {
        self.snapshots.get_mut(usize::from(id.0))
    }

    /// A pose to keep a task's result in until the second half of its list.
    pub(super) fn next_suspended(&mut self, task: TaskIndex) -> &mut Pose {
        let at = self.suspended_count;
        if self.suspended.len() == at {
            self.suspended.push((task, Pose::default()));
        }
        self.suspended_count += 1;
        let (index, pose) = &mut self.suspended[at];
        *index = task;
        pose
    }

    /// Bytes of heap memory.
    pub fn heap_bytes(&self) -> usize {
        let histories: usize = self.histories.iter().map(History::heap_bytes).sum();
        let snapshots: usize = self.snapshots.iter().map(|s| s.pose.heap_bytes()).sum();
        let suspended: usize = self.suspended.iter().map(|(_, p)| p.heap_bytes()).sum();
        histories
            + snapshots
            + suspended
            + self.histories.capacity() * size_of::<History>()
            + self.snapshots.capacity() * size_of::<Snapshot>()
            + self.suspended.capacity() * size_of::<(TaskIndex, Pose)>()
    }
}
