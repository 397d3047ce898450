//! What is done, in which order: scalars, clocks, machines' choices, poses.

use super::ir::{Ir, NodeId, Pose};
use super::order::topological;
use super::scalars::{ScalarId, Scalars, Term};

/// One thing that is done in an evaluation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Item {
    Scalar(ScalarId),
    /// A clip node's clock.
    Advance(NodeId),
    /// A machine's transitions.
    Select(NodeId),
    /// How fast a sync group runs, by its place in the file.
    Pace(usize),
    Pose(NodeId),
}

/// Things that need each other, from one back to itself.
#[derive(Debug)]
pub(super) struct Tangle(pub Vec<Item>);

/// The parts of a graph that its output depends on, and what they are to each other.
pub(super) struct Schedule {
    /// In the order they are done; the last one is the output.
    pub items: Vec<Item>,
    /// Which poses go into the row of which blend space: node and position.
    pub homes: Vec<Option<(NodeId, usize)>>,
}

/// Machines that have to choose before a clock may run or another machine may choose.
struct Above {
    clocks: Vec<Vec<NodeId>>,
    machines: Vec<Vec<NodeId>>,
}

/// Orders everything that the output depends on. What a state holds comes after its machine's
/// choice, so that a state that is entered now begins with clocks that were reset now.
pub(super) fn schedule(ir: &Ir<'_>, insides: &Insides) -> Result<Schedule, Tangle> {
    let nodes = ir.nodes.len();
    let above = above(ir, insides);
    let homes = homes(ir);
    let space = Space { scalars: ir.scalars.len(), nodes, groups: ir.group_speeds.len() };
    let needs = |at: usize| {
        needs(ir, &above, &homes, space.item(at)).into_iter().map(|i| space.index(i)).collect()
    };
    let mut roots = vec![Item::Pose(ir.output)];
    loop {
        // The output last: what else has to be done is done before.
        let indices = roots.iter().rev().map(|item| space.index(*item));
        let order = topological(indices, space.count(), needs)
            .map_err(|cycle| Tangle(cycle.into_iter().map(|at| space.item(at)).collect()))?;
        let items: Vec<Item> = order.into_iter().map(|at| space.item(at)).collect();
        let more = left_out(ir, &items);
        if more.is_empty() {
            return Ok(Schedule { items, homes });
        }
        roots.extend(more);
    }
}

/// Machines that chose and are not evaluated, and clocks that are waited for and do not run: what
/// an expression asks for that is no part of the output; and the speeds of sync groups that run.
fn left_out(ir: &Ir<'_>, items: &[Item]) -> Vec<Item> {
    let mut done = vec![[false; 2]; ir.nodes.len()];
    let mut paced = vec![false; ir.group_speeds.len()];
    for item in items {
        match item {
            Item::Pace(group) => paced[*group] = true,
            Item::Advance(node) => done[node.get()][0] = true,
            Item::Pose(node) => done[node.get()][1] = true,
            _ => {}
        }
    }
    let mut more = Vec::new();
    for item in items {
        if let Item::Advance(node) = item
            && let Pose::Clip { group: Some(group), .. } = ir.nodes[node.get()]
            && ir.group_speeds[group].is_some()
            && !std::mem::replace(&mut paced[group], true)
        {
            more.push(Item::Pace(group));
        }
        let Item::Select(node) = item else { continue };
        if !done[node.get()][1] {
            more.push(Item::Pose(*node));
        }
        if let Pose::Machine(machine) = &ir.nodes[node.get()] {
            let waited = machine.ways.iter().filter_map(|way| way.at_end);
            let clocks = waited.map(|(clip, _)| clip).filter(|clip| !done[clip.get()][0]);
            more.extend(clocks.map(Item::Advance));
        }
    }
    more
}

/// Items as numbers.
struct Space {
    scalars: usize,
    nodes: usize,
    groups: usize,
}

impl Space {
    fn count(&self) -> usize {
        self.scalars + 3 * self.nodes + self.groups
    }

    fn index(&self, item: Item) -> usize {
        match item {
            Item::Scalar(scalar) => scalar.get(),
            Item::Advance(node) => self.scalars + node.get(),
            Item::Select(node) => self.scalars + self.nodes + node.get(),
            Item::Pose(node) => self.scalars + 2 * self.nodes + node.get(),
            Item::Pace(group) => self.scalars + 3 * self.nodes + group,
        }
    }

    fn item(&self, at: usize) -> Item {
        let Some(at) = at.checked_sub(self.scalars) else {
            return Item::Scalar(Scalars::id(at));
        };
        if let Some(group) = at.checked_sub(3 * self.nodes) {
            return Item::Pace(group);
        }
        let node = NodeId((at % self.nodes) as u16);
        match at / self.nodes {
            0 => Item::Advance(node),
            1 => Item::Select(node),
            _ => Item::Pose(node),
        }
    }
}

/// What an item needs, in the order in which it should be done.
fn needs(ir: &Ir<'_>, above: &Above, homes: &[Option<(NodeId, usize)>], item: Item) -> Vec<Item> {
    let scalar = |id: &ScalarId| Item::Scalar(*id);
    match item {
        Item::Scalar(id) => match ir.scalars.get(id) {
            Term::StateTime(machine) => vec![Item::Select(machine)],
            Term::ClipTime(clip) | Term::Ended(clip) => vec![Item::Advance(clip)],
            term => term.operands().map(Item::Scalar).collect(),
        },
        Item::Advance(node) => {
            let mut needs: Vec<Item> =
                above.clocks[node.get()].iter().map(|m| Item::Select(*m)).collect();
            needs.extend(dynamic_speed(ir, node).map(Item::Scalar));
            needs
        }
        Item::Pace(group) => ir.group_speeds[group].iter().map(scalar).collect(),
        Item::Select(node) => {
            let mut needs: Vec<Item> =
                above.machines[node.get()].iter().map(|m| Item::Select(*m)).collect();
            if let Pose::Machine(machine) = &ir.nodes[node.get()] {
                needs.extend(machine.ways.iter().filter_map(|w| w.condition).map(Item::Scalar));
            }
            needs
        }
        Item::Pose(node) => {
            let pose = &ir.nodes[node.get()];
            let mut needs = Vec::new();
            match pose {
                Pose::Machine(_) => needs.push(Item::Select(node)),
                Pose::Space1D { poses, .. } | Pose::Space2D { poses, .. }
                    if copies(homes, node, poses) =>
                {
                    needs.push(Item::Scalar(ir.zero));
                }
                _ => {}
            }
            needs.extend(pose.inputs().into_iter().map(Item::Pose));
            needs.extend(pose.scalars().iter().map(scalar));
            needs.extend(pose.rows().into_iter().flatten().map(scalar));
            needs
        }
    }
}

/// Whether a pose of a blend space lies in another row.
pub(super) fn copies(homes: &[Option<(NodeId, usize)>], space: NodeId, poses: &[NodeId]) -> bool {
    let mut slots = poses.iter().enumerate();
    slots.any(|(slot, pose)| homes[pose.get()] != Some((space, slot)))
}

/// The speed of a clip's clock where it changes.
pub(super) fn dynamic_speed(ir: &Ir<'_>, node: NodeId) -> Option<ScalarId> {
    match &ir.nodes[node.get()] {
        Pose::Clip { speed, group: None, .. } if ir.scalars.constant(*speed).is_none() => {
            Some(*speed)
        }
        _ => None,
    }
}

/// For each pose the first row of a blend space that it is part of.
fn homes(ir: &Ir<'_>) -> Vec<Option<(NodeId, usize)>> {
    let mut homes = vec![None; ir.nodes.len()];
    let inputs = |at: usize| ir.nodes[at].inputs().into_iter().map(NodeId::get).collect();
    // Only what the output depends on: a row that is never filled is no home.
    let reached = topological([ir.output.get()], ir.nodes.len(), inputs).unwrap_or_default();
    for at in reached {
        if let Pose::Space1D { poses, .. } | Pose::Space2D { poses, .. } = &ir.nodes[at] {
            for (slot, pose) in poses.iter().enumerate() {
                homes[pose.get()].get_or_insert((NodeId(at as u16), slot));
            }
        }
    }
    homes
}

/// The clip nodes and machines inside of a pose, without those inside of the machines.
#[derive(Debug, Default)]
pub(super) struct Inside {
    pub clocks: Vec<NodeId>,
    pub machines: Vec<NodeId>,
}

/// What is inside of the poses of states.
#[derive(Debug)]
pub(super) struct Insides(Vec<Option<Inside>>);

/// What is inside of a pose that is no state's.
static NOTHING: Inside = Inside { clocks: Vec::new(), machines: Vec::new() };

impl Insides {
    pub fn new(ir: &Ir<'_>) -> Self {
        let mut insides = Self(ir.nodes.iter().map(|_| None).collect());
        let machines = ir.nodes.iter().filter_map(|pose| match pose {
            Pose::Machine(machine) => Some(machine),
            _ => None,
        });
        for state in machines.flat_map(|machine| &machine.states) {
            insides.0[state.pose.get()].get_or_insert_with(|| inside(ir, state.pose));
        }
        insides
    }

    pub fn of(&self, pose: NodeId) -> &Inside {
        self.0[pose.get()].as_ref().unwrap_or(&NOTHING)
    }
}

fn inside(ir: &Ir<'_>, pose: NodeId) -> Inside {
    let mut inside = Inside::default();
    let mut seen = vec![false; ir.nodes.len()];
    let mut open = vec![pose];
    while let Some(node) = open.pop() {
        if std::mem::replace(&mut seen[node.get()], true) {
            continue;
        }
        match &ir.nodes[node.get()] {
            Pose::Machine(_) => inside.machines.push(node),
            Pose::Clip { .. } => inside.clocks.push(node),
            other => open.extend(other.inputs().into_iter().rev()),
        }
    }
    inside
}

fn above(ir: &Ir<'_>, insides: &Insides) -> Above {
    let nodes = ir.nodes.len();
    let mut above = Above { clocks: vec![Vec::new(); nodes], machines: vec![Vec::new(); nodes] };
    for (at, pose) in ir.nodes.iter().enumerate() {
        let Pose::Machine(machine) = pose else { continue };
        let chooses = NodeId(at as u16);
        let poses: std::collections::BTreeSet<NodeId> =
            machine.states.iter().map(|state| state.pose).collect();
        let add = |rows: &mut Vec<Vec<NodeId>>, inner: &[NodeId]| {
            for node in inner {
                if rows[node.get()].last() != Some(&chooses) {
                    rows[node.get()].push(chooses);
                }
            }
        };
        for pose in poses {
            add(&mut above.clocks, &insides.of(pose).clocks);
            add(&mut above.machines, &insides.of(pose).machines);
        }
    }
    above
}
