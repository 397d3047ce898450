//! What a validated program comes to for the interpreter.
//!
//! Three things are taken out of the way before anybody is evaluated. Registers become places of
//! their own, one for each value that is ever written, so that a value may be read after its
//! register would have been used again; constants and parameters lie in theirs and are not loaded.
//! What decides (scalars, clocks, transitions) is told apart from what records tasks: the first runs
//! in the order of the program, for many instances at once, of the second only what the output turns
//! out to need is recorded. What follows from parameters alone comes first of what decides. And of
//! the rest, what only states need is found, so that it is passed over while none of them is current.

mod guards;
mod lower;
mod order;
mod reads;
mod spaces;

pub use guards::{Guard, Guards};
pub use order::{Ahead, Compute, Kind, Run, Smoothed};
pub use reads::{PASSES_FIRST, PASSES_SECOND, Reads, Weighs};
pub use spaces::Placed;
pub(super) use spaces::Points;

use super::Op;
use super::fault::Fault;
use super::instance::Limits;
use super::operand::*;
use super::program::{AtEnd, Key, MachineDesc, ParamKind, Program, TransitionDesc};
use std::sync::atomic::{AtomicU64, Ordering};

/// Weights whose answers fit a word.
pub const MOST_ASKED: usize = 16;

/// A program as the interpreter runs it.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Of all plans of this process, this one.
    pub id: u64,
    /// What values hold before anything is computed: constants. Parameters come first, then the
    /// seconds of the evaluation.
    pub values: Vec<f32>,
    /// What decides: `ScalarOp`, `Choose`, `Smooth`, `AdvanceClock`, `StateTime`, `SelectState`, and
    /// of transitions outside of machines their part in time. Their scalars are places in the
    /// values. What is computed ahead comes first, both parts are in the program's order.
    pub control: Vec<Op>,
    /// What is computed ahead.
    pub ahead: Vec<Ahead>,
    /// Of the rest, neighbours of one kind that are needed at the same time; where the first begins.
    pub runs: Vec<Run>,
    pub first: usize,
    /// What only computes, by its place in `control`.
    pub computes: Vec<Compute>,
    /// What records tasks, in the program's order. Poses are indices in this.
    pub nodes: Vec<Op>,
    /// What each of them reads, and how many answers it has if it asks ([`Reads::asks`]).
    pub reads: Vec<Reads>,
    pub choices: Vec<u16>,
    /// Weights that poses ask for and that are computed ahead, at most [`MOST_ASKED`]: what they come
    /// to is one word, two bits each: above nothing, and all.
    pub asked: Vec<Scalar>,
    /// Machines whose states fit another word together, and where in it each of them is.
    pub told: Vec<(MachineId, u32)>,
    /// Blend spaces, and by node which of them it is.
    pub spaces: Vec<Placed>,
    pub space_of: Vec<u16>,
    /// The poses of blend spaces' points.
    pub points: Vec<PoseIn>,
    /// The node that is the character's pose.
    pub output: PoseIn,
    pub machines: Vec<Machine>,
    /// What each blackboard key refills, and within which limits.
    pub refills: Vec<(ParamId, Limits)>,
    /// What is taken back once an evaluation has seen it.
    pub triggers: Vec<ParamId>,
    pub trigger_keys: Vec<KeyId>,
    pub guards: Guards,
    /// Where in `control` an opcode of the program is, if it is there.
    places: Vec<Option<u16>>,
}

/// A state machine.
#[derive(Clone, Debug, Default)]
pub struct Machine {
    pub states: Vec<State>,
}

/// A state of a machine.
#[derive(Clone, Debug)]
pub struct State {
    /// The node that it shows.
    pub pose: PoseIn,
    /// What may be taken from it, in the order of priority.
    pub ways: Vec<Way>,
    /// What is needed while it is current.
    pub wakes: Vec<Guard>,
}

/// A transition that may be taken from a certain state.
#[derive(Clone, Copy, Debug)]
pub struct Way {
    /// Its row in the machine's description.
    pub row: u16,
    pub interrupts: bool,
    pub min_time: f32,
    /// A place in the values.
    pub condition: Option<Scalar>,
    pub at_end: Option<AtEnd>,
}

impl Plan {
    /// The plan of a program whose tables and code were checked.
    ///
    /// # Errors
    /// [`Fault::Count`] when it computes more values than can be told apart.
    pub fn new(program: &Program) -> Result<Self, Fault> {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let mut lowered = lower::Lowered::new(program)?;
        let mut guards = guards::derive(program, &lowered);
        let (order, first) = order::order(&lowered.control, lowered.values.len());
        lowered.arrange(&order);
        guards.each = order.iter().map(|at| guards.each[usize::from(*at)]).collect();
        let machine = |(at, desc): (usize, &MachineDesc)| Machine {
            states: (0..desc.states.len())
                .map(|state| State {
                    pose: lowered.machines[at].poses[state],
                    ways: ways(desc, &lowered.machines[at].conditions, state),
                    wakes: guards.of_state((MachineId(at as u16), StateId(state as u16))).to_vec(),
                })
                .collect(),
        };
        let machines = program.machines.iter().enumerate().map(machine).collect();
        let refill = |key: &Key| (key.param, program.params[key.param.get()].limits());
        let is_trigger = |param: ParamId| program.params[param.get()].kind == ParamKind::Trigger;
        let params = (0..program.params.len()).map(|at| ParamId(at as u16));
        let keys = (0..).map(KeyId).zip(&program.keys);
        let lower::Lowered { values, control, nodes, points, output, places, .. } = lowered;
        let (known, constants) = order::known(&control, first, values.len(), program.params.len());
        let settled = |reads: Reads| match constants[reads.weighs().alpha.get()] {
            true => reads.of_constant(values[reads.weighs().alpha.get()]),
            false => reads,
        };
        let reads: Vec<Reads> = nodes.iter().map(|op| settled(Reads::of(op))).collect();
        let (spaces, space_of) = spaces::placed(program, &nodes, &guards);
        Ok(Self {
            id: NEXT.fetch_add(1, Ordering::Relaxed),
            ahead: control[..first].iter().filter_map(Ahead::of).collect(),
            runs: order::runs(&control, &guards.each, first),
            first,
            computes: control.iter().map(Compute::of).collect(),
            asked: asked(&reads, &known),
            told: told(program),
            reads,
            choices: nodes.iter().map(|op| choices(program, op)).collect(),
            spaces,
            space_of,
            values,
            control,
            nodes,
            points,
            output,
            machines,
            refills: program.keys.iter().map(refill).collect(),
            triggers: params.filter(|param| is_trigger(*param)).collect(),
            trigger_keys: keys.filter(|(_, k)| is_trigger(k.param)).map(|(key, _)| key).collect(),
            guards,
            places,
        })
    }

    /// Whether what a node asks is told by the two words.
    pub fn is_told(&self, node: PoseIn) -> bool {
        match self.nodes[node.get()] {
            Op::EvalStateMachine { machine, .. } => self.told.iter().any(|(at, _)| *at == machine),
            _ => {
                let reads = self.reads[node.get()];
                !reads.decides() && self.asked.contains(&reads.weighs().alpha)
            }
        }
    }

    /// When an opcode of the program runs, for one that decides; `None` for one that records a
    /// task, or loads what lies in its place.
    pub fn guard(&self, at: usize) -> Option<Guard> {
        let place = self.places.get(at).copied().flatten()?;
        self.guards.each.get(usize::from(place)).copied()
    }
}

/// The weights that are asked for and are among what is known ahead.
fn asked(reads: &[Reads], known: &[bool]) -> Vec<Scalar> {
    let mut asked = Vec::new();
    for reads in reads.iter().filter(|reads| reads.asks() && !reads.decides()) {
        let alpha = reads.weighs().alpha;
        if known[alpha.get()] && !asked.contains(&alpha) && asked.len() < MOST_ASKED {
            asked.push(alpha);
        }
    }
    asked
}

/// The machines whose states are told by one word.
fn told(program: &Program) -> Vec<(MachineId, u32)> {
    let mut end = 0;
    let machines = (0..).map(MachineId).zip(&program.machines);
    let told = machines.filter_map(|(machine, desc)| {
        let last = desc.states.len().saturating_sub(1);
        let bits = usize::BITS - last.leading_zeros();
        // One that has a single state takes no bit, and may be anywhere.
        let shift = if bits == 0 { 0 } else { end };
        let fits = shift + bits <= u32::BITS;
        end += if fits { bits } else { 0 };
        fits.then_some((machine, shift))
    });
    told.collect()
}

/// How many answers a node has that asks. A table's rows are counted by 16 bits.
fn choices(program: &Program, op: &Op) -> u16 {
    let count = match *op {
        Op::EvalStateMachine { machine, .. } => program.machines[machine.get()].states.len(),
        Op::BlendSpace1D { space, .. } => 3 * program.spaces_1d[space.get()].points.len(),
        Op::BlendSpace2D { space, .. } => 8 * (program.spaces_2d[space.get()].triangles.len() + 1),
        _ => 3,
    };
    count.try_into().unwrap_or(u16::MAX)
}

/// The transitions that may be taken from a state.
fn ways(desc: &MachineDesc, conditions: &[Option<Scalar>], state: usize) -> Vec<Way> {
    let rows = desc.transitions.iter().zip(conditions).enumerate();
    let from_here = rows.filter(|(_, (t, _))| match t.from {
        Some(from) => from.get() == state,
        None => t.to.get() != state,
    });
    let way = |(row, (t, condition)): (usize, (&TransitionDesc, &Option<Scalar>))| Way {
        row: row as u16,
        interrupts: t.interrupts,
        min_time: t.min_time,
        condition: *condition,
        at_end: t.at_end,
    };
    from_here.map(way).collect()
}
