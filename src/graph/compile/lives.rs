//! Until when each scalar, each row of scalars and each pose is read.

use super::ir::{Ir, NodeId, Pose};
use super::scalars::{ScalarId, Term};
use super::schedule::{Item, Schedule, copies, dynamic_speed};
use std::collections::HashMap;

/// Scalars that an instruction wants in a row.
#[derive(Debug)]
pub(super) struct Row {
    pub scalars: Vec<ScalarId>,
    /// Its registers are its own from beginning to end.
    pub pinned: bool,
    /// All of its scalars are in it.
    pub filled: bool,
    last: usize,
}

/// Who is read last by which item. A scalar that is part of a row is computed into the first row it
/// is part of, its *home*, and its register goes with the row.
#[derive(Debug)]
pub(super) struct Lives {
    pub rows: Vec<Row>,
    known: HashMap<(Vec<ScalarId>, bool), usize>,
    homes: Vec<Option<(usize, usize)>>,
    last_scalars: Vec<Option<usize>>,
    ends: Vec<Ends>,
}

/// What an item reads last.
#[derive(Clone, Debug, Default)]
struct Ends {
    scalars: Vec<ScalarId>,
    rows: Vec<usize>,
    poses: Vec<NodeId>,
    blocks: Vec<NodeId>,
}

impl Lives {
    pub fn new(ir: &Ir<'_>, schedule: &Schedule) -> Self {
        let count = schedule.items.len();
        let mut this = Self {
            rows: Vec::new(),
            known: HashMap::new(),
            homes: vec![None; ir.scalars.len()],
            last_scalars: vec![None; ir.scalars.len()],
            ends: vec![Ends::default(); count + 1],
        };
        for (at, item) in schedule.items.iter().enumerate() {
            if let Item::Pose(node) = item {
                this.find_rows(&ir.nodes[node.get()], at);
            }
        }
        for (at, item) in schedule.items.iter().enumerate() {
            this.read(ir, schedule, *item, at);
        }
        this.end_scalars();
        this.end_poses(ir, schedule);
        this
    }

    fn find_rows(&mut self, pose: &Pose<'_>, at: usize) {
        let pinned = matches!(pose, Pose::BoneTransform { .. });
        for scalars in pose.rows() {
            let row = *self.known.entry((scalars.to_vec(), pinned)).or_insert_with(|| {
                let scalars = scalars.to_vec();
                self.rows.push(Row { scalars, pinned, filled: false, last: at });
                self.rows.len() - 1
            });
            self.rows[row].last = at;
            for (slot, scalar) in scalars.iter().enumerate() {
                self.homes[scalar.get()].get_or_insert((row, slot));
            }
        }
    }

    fn read(&mut self, ir: &Ir<'_>, schedule: &Schedule, item: Item, at: usize) {
        let mut read = |id: ScalarId| self.last_scalars[id.get()] = Some(at);
        match item {
            Item::Scalar(id) => ir.scalars.get(id).operands().for_each(read),
            Item::Advance(node) => dynamic_speed(ir, node).into_iter().for_each(read),
            Item::Pace(group) => ir.group_speeds[group].into_iter().for_each(read),
            Item::Select(node) => {
                if let Pose::Machine(machine) = &ir.nodes[node.get()] {
                    machine.ways.iter().filter_map(|way| way.condition).for_each(read);
                }
            }
            Item::Pose(node) => {
                let pose = &ir.nodes[node.get()];
                pose.scalars().into_iter().for_each(&mut read);
                if let Pose::Space1D { poses, .. } | Pose::Space2D { poses, .. } = pose
                    && copies(&schedule.homes, node, poses)
                {
                    read(ir.zero);
                }
                let pinned = matches!(pose, Pose::BoneTransform { .. });
                for scalars in pose.rows() {
                    let row = self.row(scalars, pinned);
                    for (slot, id) in scalars.iter().enumerate() {
                        // What a load gives anew is not read where it lies.
                        let loaded = matches!(
                            ir.scalars.get(*id),
                            Term::Const(_) | Term::Param(_) | Term::Delta
                        );
                        if self.home(*id) == Some((row, slot)) || !loaded {
                            self.last_scalars[id.get()] = Some(at);
                        }
                    }
                }
            }
        }
    }

    fn end_scalars(&mut self) {
        for (at, last) in self.last_scalars.iter().enumerate() {
            let Some(last) = *last else { continue };
            match self.homes[at] {
                None => self.ends[last].scalars.push(super::scalars::Scalars::id(at)),
                Some((row, _)) => self.rows[row].last = self.rows[row].last.max(last),
            }
        }
        for (row, lives) in self.rows.iter().enumerate() {
            self.ends[lives.last].rows.push(row);
        }
    }

    fn end_poses(&mut self, ir: &Ir<'_>, schedule: &Schedule) {
        let mut last: Vec<Option<usize>> = vec![None; ir.nodes.len()];
        let mut done: Vec<Option<usize>> = vec![None; ir.nodes.len()];
        for (at, item) in schedule.items.iter().enumerate() {
            if let Item::Pose(node) = item {
                // A pose that nobody reads ends where it begins.
                (last[node.get()], done[node.get()]) = (Some(at), Some(at));
                ir.nodes[node.get()].inputs().iter().for_each(|i| last[i.get()] = Some(at));
            }
        }
        last[ir.output.get()] = Some(schedule.items.len());
        let mut blocks = done;
        for (at, home) in schedule.homes.iter().enumerate() {
            match (home, last[at]) {
                (_, None) => {}
                (None, Some(last)) => self.ends[last].poses.push(NodeId(at as u16)),
                (Some((space, _)), last) => {
                    blocks[space.get()] = blocks[space.get()].max(last);
                }
            }
        }
        for (at, last) in blocks.iter().enumerate() {
            let space = matches!(ir.nodes[at], Pose::Space1D { .. } | Pose::Space2D { .. });
            if let (true, Some(last)) = (space, last) {
                self.ends[*last].blocks.push(NodeId(at as u16));
            }
        }
    }

    /// The row of these scalars; every row is known.
    pub fn row(&self, scalars: &[ScalarId], pinned: bool) -> usize {
        self.known.get(&(scalars.to_vec(), pinned)).copied().unwrap_or_default()
    }

    /// The row that a scalar is computed into, and its position.
    pub fn home(&self, id: ScalarId) -> Option<(usize, usize)> {
        self.homes[id.get()]
    }

    pub fn is_read(&self, id: ScalarId) -> bool {
        self.last_scalars[id.get()].is_some()
    }

    /// Scalars outside of rows that an item reads last.
    pub fn scalars_ending(&mut self, at: usize) -> Vec<ScalarId> {
        std::mem::take(&mut self.ends[at].scalars)
    }

    /// Rows that an item reads last.
    pub fn rows_ending(&mut self, at: usize) -> Vec<usize> {
        std::mem::take(&mut self.ends[at].rows)
    }

    /// Poses outside of blend spaces' rows that an item reads last.
    pub fn poses_ending(&mut self, at: usize) -> Vec<NodeId> {
        std::mem::take(&mut self.ends[at].poses)
    }

    /// Blend spaces whose rows of poses an item reads last.
    pub fn blocks_ending(&mut self, at: usize) -> Vec<NodeId> {
        std::mem::take(&mut self.ends[at].blocks)
    }
}
