//! What only states need: found from the output backwards.
//!
//! A pose that only some states of machines show is not needed while none of them is current, and
//! neither is what is computed for it alone. A clock is one step further: it may stand still where
//! every state that needs it starts it over when it is entered, for nobody can tell then whether it
//! ran on meanwhile. So it is with a machine inside of states that start it over, when all that it
//! starts over itself is as unseen.

use super::lower::Lowered;
use crate::graph::Op;
use crate::graph::operand::*;
use crate::graph::program::Program;
use std::collections::{BTreeSet, HashMap, HashSet};

/// States that one thing may be needed by; what more need is always computed.
const MOST: usize = 8;

/// When something is needed: always, or while one of certain states is current.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Guard(pub u16);

impl Guard {
    pub const ALWAYS: Self = Self(0);

    pub fn get(self) -> usize {
        self.0.into()
    }
}

/// A state of a machine.
pub type Pair = (MachineId, StateId);

/// All guards of a plan.
#[derive(Clone, Debug, Default)]
pub struct Guards {
    /// The states of each; none for [`Guard::ALWAYS`].
    pub states: Vec<Vec<Pair>>,
    /// The guards that each state is one of.
    of_states: HashMap<Pair, Vec<Guard>>,
    /// Of each opcode that decides.
    pub each: Vec<Guard>,
    /// Of each clock, and of each node that is a blend space.
    pub clocks: Vec<Guard>,
    pub nodes: Vec<Guard>,
    /// By guards, what else runs where what they guard runs.
    pub behind: Vec<Vec<Guard>>,
}

impl Guards {
    /// The guards that a state is one of.
    pub fn of_state(&self, state: Pair) -> &[Guard] {
        self.of_states.get(&state).map_or(&[], Vec::as_slice)
    }

    /// Whether a clock stands still at times.
    pub fn may_rest(&self, clock: ClockId) -> bool {
        self.clocks[clock.get()] != Guard::ALWAYS
    }

    /// The guard of what is needed so.
    fn id(&mut self, known: &mut HashMap<BTreeSet<Pair>, Guard>, needs: &Needs) -> Guard {
        if needs.always || self.states.len() > usize::from(u16::MAX) {
            return Guard::ALWAYS;
        }
        *known.entry(needs.states.clone()).or_insert_with(|| {
            let guard = Guard(self.states.len() as u16);
            for pair in &needs.states {
                self.of_states.entry(*pair).or_default().push(guard);
            }
            self.states.push(needs.states.iter().copied().collect());
            guard
        })
    }
}

/// Who needs something.
#[derive(Clone, Debug, Default, PartialEq)]
struct Needs {
    always: bool,
    states: BTreeSet<Pair>,
}

impl Needs {
    const ALWAYS: Self = Self { always: true, states: BTreeSet::new() };

    fn state(machine: MachineId, state: usize) -> Self {
        Self { always: false, states: [(machine, StateId(state as u16))].into() }
    }

    /// What nobody reads is computed all the same.
    fn of_reader(&self) -> Self {
        if self.states.is_empty() { Self::ALWAYS } else { self.clone() }
    }

    fn add(&mut self, other: &Self) {
        if !self.always {
            self.states.extend(other.states.iter().copied());
        }
        if other.always || self.states.len() > MOST {
            *self = Self::ALWAYS;
        }
    }

    /// Always, unless all of its states are such.
    fn only(self, holds: impl Fn(Pair) -> bool) -> Self {
        if self.states.iter().all(|pair| holds(*pair)) { self } else { Self::ALWAYS }
    }
}

/// What is known on the way back through a program.
struct Backwards<'a> {
    program: &'a Program,
    lowered: &'a Lowered,
    values: Vec<Needs>,
    /// Of nodes that are blend spaces; of the others, always.
    spaces: Vec<Needs>,
    /// Of clocks and machines: by whom they are read, and once their opcodes were passed, when
    /// they run.
    clocks: Vec<Needs>,
    machines: Vec<Needs>,
    /// Where each machine is selected.
    selects: Vec<usize>,
    /// What states start over.
    starts: HashSet<(Pair, ClockId)>,
    restarts: HashSet<(Pair, MachineId)>,
    /// The clocks of each sync group.
    members: Vec<Vec<ClockId>>,
    clocks_passed: Vec<bool>,
    machines_passed: Vec<bool>,
}

/// Finds out when what decides is needed.
pub fn derive(program: &Program, lowered: &Lowered) -> Guards {
    let mut selects = vec![0; program.machines.len()];
    for (at, op) in lowered.control.iter().enumerate() {
        if let Op::SelectState { machine } = op {
            selects[machine.get()] = at;
        }
    }
    let (mut starts, mut restarts) = (HashSet::new(), HashSet::new());
    for (machine, desc) in (0..).map(MachineId).zip(&program.machines) {
        for (state, desc) in (0..).map(StateId).zip(&desc.states) {
            let pair = (machine, state);
            starts.extend(desc.clocks.iter().map(|clock| (pair, *clock)));
            restarts.extend(desc.machines.iter().map(|inner| (pair, *inner)));
        }
    }
    let mut members = vec![Vec::new(); program.sync_groups.len()];
    for (clock, desc) in (0..).map(ClockId).zip(&program.clocks) {
        if let Some(group) = desc.group {
            members[group.get()].push(clock);
        }
    }
    let mut this = Backwards {
        program,
        lowered,
        values: vec![Needs::default(); lowered.values.len()],
        spaces: vec![Needs::ALWAYS; lowered.nodes.len()],
        clocks: vec![Needs::default(); program.clocks.len()],
        machines: vec![Needs::default(); program.machines.len()],
        selects,
        starts,
        restarts,
        members,
        clocks_passed: vec![false; program.clocks.len()],
        machines_passed: vec![false; program.machines.len()],
    };
    this.nodes();
    this.ends();
    let mut each: Vec<Needs> = Vec::with_capacity(lowered.control.len());
    for at in (0..lowered.control.len()).rev() {
        each.push(this.instruction(at));
    }
    each.reverse();
    this.guards(&each)
}

impl Backwards<'_> {
    /// Poses, and what they read.
    fn nodes(&mut self) {
        let lowered = self.lowered;
        let mut nodes = vec![Needs::default(); lowered.nodes.len()];
        nodes[lowered.output.get()] = Needs::ALWAYS;
        for (at, op) in lowered.nodes.iter().enumerate().rev() {
            let needs = nodes[at].of_reader();
            match *op {
                Op::SampleAnim { clock: Some(clock), .. } => self.clocks[clock.get()].add(&needs),
                Op::EvalStateMachine { machine, .. } => {
                    self.machines[machine.get()].add(&needs);
                    for (state, pose) in lowered.machines[machine.get()].poses.iter().enumerate() {
                        nodes[pose.get()].add(&Needs::state(machine, state));
                    }
                }
                Op::BlendSpace1D { .. } | Op::BlendSpace2D { .. } => {
                    self.spaces[at] = needs.clone();
                }
                _ => {}
            }
            let mut points = 0;
            op.operands(|_, operand| match operand {
                Operand::Pose(pose) => nodes[pose.get()].add(&needs),
                Operand::Space1D(id) => points = self.program.spaces_1d[id.get()].points.len(),
                Operand::Space2D(id) => points = self.program.spaces_2d[id.get()].points.len(),
                Operand::Poses(first) => {
                    let points = &lowered.points[first.get()..first.get() + points];
                    points.iter().for_each(|pose| nodes[pose.get()].add(&needs));
                }
                _ => {}
            });
            self.reads(op, &needs);
        }
    }

    /// Transitions that wait for a clip's end look at its clock in the evaluation after.
    fn ends(&mut self) {
        for (machine, desc) in (0..).map(MachineId).zip(&self.program.machines) {
            for transition in &desc.transitions {
                let Some(end) = transition.at_end else { continue };
                let needs = match transition.from {
                    Some(from) => Needs::state(machine, from.get()),
                    None => Needs::ALWAYS,
                };
                self.clocks[end.clock.get()].add(&needs);
            }
        }
    }

    fn reads(&mut self, op: &Op, needs: &Needs) {
        op.operands(|_, operand| {
            if let Operand::Scalars { first, count } = operand {
                let values = &mut self.values[usize::from(first)..][..usize::from(count)];
                values.iter_mut().for_each(|value| value.add(needs));
            }
        });
    }

    fn instruction(&mut self, at: usize) -> Needs {
        let op = self.lowered.control[at];
        // What is kept from evaluation to evaluation goes on, whoever reads it.
        let needs = match op {
            Op::ScalarOp { dst, .. } | Op::Choose { dst, .. } => self.values[dst.get()].clone(),
            Op::StateTime { machine, dst } => {
                let needs = self.values[dst.get()].of_reader();
                self.machines[machine.get()].add(&needs);
                needs
            }
            Op::AdvanceClock { clock, time, finished, .. } => {
                let mut needs = self.clocks[clock.get()].clone();
                for out in [Some(time), finished].into_iter().flatten() {
                    needs.add(&self.values[out.get()]);
                }
                needs.only(|pair| self.starts.contains(&(pair, clock)))
            }
            Op::SelectState { machine } => {
                let needs = self.machines[machine.get()].clone();
                let needs = needs.only(|pair| self.restarts.contains(&(pair, machine)));
                if self.starts_over_unseen(machine, &needs) { needs } else { Needs::ALWAYS }
            }
            _ => Needs::ALWAYS,
        };
        // Who is current is known behind a machine's selection only.
        let needs = needs.only(|(machine, _)| self.selects[machine.get()] < at).of_reader();
        match op {
            Op::AdvanceClock { clock, .. } => {
                self.clocks[clock.get()] = needs.clone();
                self.clocks_passed[clock.get()] = true;
            }
            Op::SelectState { machine } => {
                self.machines[machine.get()] = needs.clone();
                self.machines_passed[machine.get()] = true;
                let conditions = &self.lowered.machines[machine.get()].conditions;
                for condition in conditions.iter().flatten() {
                    self.values[condition.get()].add(&needs);
                }
            }
            _ => {}
        }
        self.reads(&op, &needs);
        needs
    }

    /// Whether nothing that a machine starts over is seen while the machine is not needed.
    fn starts_over_unseen(&self, machine: MachineId, needs: &Needs) -> bool {
        let states = &self.program.machines[machine.get()].states;
        let known = &mut HashMap::from([(machine, true)]);
        let mut unseen = |clock: &ClockId| {
            let at = clock.get();
            self.clocks_passed[at] && self.is_unseen(&self.clocks[at], needs, known)
        };
        let mut groups = BTreeSet::new();
        for clock in states.iter().flat_map(|state| &state.clocks) {
            if !unseen(clock) {
                return false;
            }
            groups.extend(self.program.clocks[clock.get()].group);
        }
        // A sync group starts over too.
        groups.iter().flat_map(|group| &self.members[group.get()]).all(unseen)
            && states
                .iter()
                .flat_map(|state| &state.machines)
                .all(|inner| self.is_inside(*inner, needs, known))
    }

    /// Whether what is needed so is not needed where `outer` is not.
    fn is_unseen(
        &self,
        needs: &Needs,
        outer: &Needs,
        known: &mut HashMap<MachineId, bool>,
    ) -> bool {
        let inside =
            |pair: &Pair| outer.states.contains(pair) || self.is_inside(pair.0, outer, known);
        !needs.always && needs.states.iter().all(inside)
    }

    /// Whether a machine stands still where `outer` is not needed. The states that it is needed by
    /// are of machines ahead of it, so this comes to an end.
    fn is_inside(
        &self,
        machine: MachineId,
        outer: &Needs,
        known: &mut HashMap<MachineId, bool>,
    ) -> bool {
        if let Some(known) = known.get(&machine) {
            return *known;
        }
        let inside = self.machines_passed[machine.get()]
            && self.is_unseen(&self.machines[machine.get()], outer, known);
        known.insert(machine, inside);
        inside
    }

    fn guards(&self, each: &[Needs]) -> Guards {
        let mut guards = Guards { states: vec![Vec::new()], ..Guards::default() };
        let known = &mut HashMap::new();
        guards.each = each.iter().map(|needs| guards.id(known, needs)).collect();
        guards.clocks = self.clocks.iter().map(|needs| guards.id(known, needs)).collect();
        guards.nodes = self.spaces.iter().map(|needs| guards.id(known, needs)).collect();
        guards.behind = guards.states.iter().map(|states| self.behind(states, &guards)).collect();
        guards
    }

    /// The guards that states are one of, and those of what their machines are inside of.
    fn behind(&self, states: &[Pair], guards: &Guards) -> Vec<Guard> {
        let mut seen: BTreeSet<Pair> = states.iter().copied().collect();
        let mut left = states.to_vec();
        let mut behind = BTreeSet::new();
        while let Some(pair) = left.pop() {
            behind.extend(guards.of_state(pair).iter().copied());
            let outer = self.machines[pair.0.get()].states.iter().copied();
            left.extend(outer.filter(|pair| seen.insert(*pair)));
        }
        behind.into_iter().collect()
    }
}
