//! From the order of things to instructions and registers.

use super::ir::{Ir, NodeId, Pose};
use super::lives::Lives;
use super::registers::Registers;
use super::scalars::{ScalarId, Term};
use super::schedule::{Item, Schedule, dynamic_speed};
use super::tables::{Tables, Unheard};
use crate::graph::{Op, Program, Scalar, ScalarFn, ScalarOut, SmoothId};
use crate::task::AdditiveSpace;

/// More of something than a program can number.
#[derive(Debug)]
pub(super) struct Full {
    pub what: &'static str,
    pub count: usize,
}

/// The most registers, and the most rows of a table.
pub(super) const LIMIT: usize = 1 << 16;

/// Writes the instructions of a schedule; the tables take the rows that they need. `spaces` says of
/// each node in which space its difference is, if it is one.
///
/// Also gives what the file says of clips that nobody plays.
///
/// # Errors
/// [`Full`] when something can't be numbered any more.
pub(super) fn emit<'i>(
    ir: &'i Ir<'i>,
    schedule: &'i Schedule,
    spaces: &'i [Option<AdditiveSpace>],
    mut tables: Tables<'i>,
) -> Result<(Program, Unheard), Full> {
    let lives = Lives::new(ir, schedule);
    tables.number(ir, &schedule.items);
    let mut emitter = Emitter {
        ir,
        spaces,
        homes: &schedule.homes,
        scalars: vec![None; ir.scalars.len()],
        poses: vec![None; ir.nodes.len()],
        rows: vec![None; lives.rows.len()],
        blocks: vec![None; ir.nodes.len()],
        scalar_registers: Registers::default(),
        pose_registers: Registers::default(),
        tables,
        at: 0,
        lives,
    };
    for (at, item) in schedule.items.iter().enumerate() {
        emitter.at = at;
        emitter.item(*item);
        emitter.fits()?;
    }
    emitter.finish()
}

pub(super) struct Emitter<'i> {
    pub(super) ir: &'i Ir<'i>,
    pub(super) spaces: &'i [Option<AdditiveSpace>],
    pub(super) homes: &'i [Option<(NodeId, usize)>],
    pub(super) lives: Lives,
    /// The register of each scalar and of each pose while it lives.
    pub(super) scalars: Vec<Option<u16>>,
    pub(super) poses: Vec<Option<u16>>,
    /// The first register of each row of scalars, and of each blend space's poses.
    pub(super) rows: Vec<Option<u16>>,
    pub(super) blocks: Vec<Option<u16>>,
    pub(super) scalar_registers: Registers,
    pub(super) pose_registers: Registers,
    pub(super) tables: Tables<'i>,
    /// Which item is being done.
    pub(super) at: usize,
}

impl<'i> Emitter<'i> {
    fn finish(mut self) -> Result<(Program, Unheard), Full> {
        let source = self.pose(self.ir.output);
        self.tables.program.code.push(Op::Output { source });
        self.fits()?;
        let unheard = self.tables.finish();
        let mut program = self.tables.program;
        program.scalar_registers = self.scalar_registers.count() as u16;
        program.pose_registers = self.pose_registers.count() as u16;
        Ok((program, unheard))
    }

    fn fits(&self) -> Result<(), Full> {
        let counts = [
            ("scalar registers", self.scalar_registers.count()),
            ("pose registers", self.pose_registers.count()),
            ("constants", self.tables.program.consts.len()),
        ];
        match counts.into_iter().find(|(_, count)| *count >= LIMIT) {
            Some((what, count)) => Err(Full { what, count }),
            None => Ok(()),
        }
    }

    pub(super) fn push(&mut self, op: Op) {
        self.tables.program.code.push(op);
    }

    fn item(&mut self, item: Item) {
        match item {
            Item::Scalar(id) => self.scalar_item(id),
            Item::Advance(node) => self.advance(node),
            Item::Select(node) => {
                // The row first: it holds the registers of conditions, which may go after this.
                self.ways(node);
                self.end_scalars();
                let machine = self.tables.machine(node);
                self.push(Op::SelectState { machine });
            }
            Item::Pace(group) => {
                let (group, speed) = (self.tables.group(group), self.ir.group_speeds[group]);
                if let Some(speed) = speed.map(|id| self.scalar(id)) {
                    self.end_scalars();
                    self.push(Op::PaceGroup { group, speed });
                }
            }
            Item::Pose(node) => self.pose_item(node),
        }
    }

    /// A register for a scalar that begins to live.
    fn scalar_home(&mut self, id: ScalarId) -> u16 {
        let register = match self.lives.home(id) {
            Some((row, slot)) => self.row_start(row) + slot as u16,
            None => self.scalar_registers.take() as u16,
        };
        self.scalars[id.get()] = Some(register);
        register
    }

    /// The first register of a row, taken when the first of its scalars begins to live.
    fn row_start(&mut self, row: usize) -> u16 {
        if let Some(first) = self.rows[row] {
            return first;
        }
        let lives = &self.lives.rows[row];
        let length = lives.scalars.len();
        // What a bone is scaled by is known from a register that one instruction alone writes.
        let first = match lives.pinned {
            true => self.scalar_registers.take_fresh_row(length),
            false => self.scalar_registers.take_row(length),
        } as u16;
        self.rows[row] = Some(first);
        first
    }

    fn scalar_item(&mut self, id: ScalarId) {
        let term = self.ir.scalars.get(id);
        if let Term::ClipTime(_) | Term::Ended(_) = term {
            // The clock's own instruction has written it.
            return;
        }
        let operands: Vec<Scalar> = term.operands().map(|id| self.scalar(id)).collect();
        self.end_scalars();
        let dst = ScalarOut(self.scalar_home(id));
        self.load(term, &operands, dst);
    }

    /// Computes a term into a register.
    fn load(&mut self, term: Term, operands: &[Scalar], dst: ScalarOut) {
        let op = match (term, operands) {
            (Term::Const(bits), _) => {
                let constant = self.tables.constant(bits);
                Op::LoadConst { constant, dst }
            }
            (Term::Param(param), _) => Op::LoadParam { param, dst },
            (Term::Delta, _) => Op::LoadDelta { dst },
            (Term::StateTime(node), _) => Op::StateTime { machine: self.tables.machine(node), dst },
            (Term::Op(op, ..), &[a]) => Op::ScalarOp { op, a, b: a, dst },
            (Term::Op(op, ..), &[a, b, ..]) => Op::ScalarOp { op, a, b, dst },
            (Term::Choose(..), &[condition, a, b, ..]) => Op::Choose { condition, a, b, dst },
            (Term::Smooth(..), &[value, half_life, ..]) => {
                let slot = SmoothId(self.tables.program.smooths);
                self.tables.program.smooths += 1;
                Op::Smooth { value, half_life, slot, dst }
            }
            // Clocks write these themselves, and the others have their operands.
            _ => return,
        };
        self.push(op);
    }

    /// The register of a scalar that lives.
    pub(super) fn scalar(&self, id: ScalarId) -> Scalar {
        Scalar(self.scalars[id.get()].unwrap_or_default())
    }

    /// A row of scalars for an instruction, filled up.
    pub(super) fn row(&mut self, scalars: &[ScalarId], pinned: bool) -> u16 {
        let row = self.lives.row(scalars, pinned);
        let filled = self.lives.rows[row].filled;
        let first = self.row_start(row);
        if filled {
            return first;
        }
        self.lives.rows[row].filled = true;
        for (slot, id) in scalars.iter().enumerate() {
            if self.lives.home(*id) == Some((row, slot)) {
                continue;
            }
            let dst = ScalarOut(first + slot as u16);
            match self.ir.scalars.get(*id) {
                term @ (Term::Const(_) | Term::Param(_) | Term::Delta) => self.load(term, &[], dst),
                _ => {
                    let a = self.scalar(*id);
                    self.push(Op::ScalarOp { op: ScalarFn::Max, a, b: a, dst });
                }
            }
        }
        first
    }

    /// Takes back the registers of scalars and rows that the current item reads last.
    pub(super) fn end_scalars(&mut self) {
        for id in self.lives.scalars_ending(self.at) {
            // One that lies in a row goes with the row.
            if self.lives.home(id).is_none()
                && let Some(register) = self.scalars[id.get()]
            {
                self.scalar_registers.give(register.into());
            }
        }
        for row in self.lives.rows_ending(self.at) {
            if let (Some(first), lives) = (self.rows[row], &self.lives.rows[row])
                && !lives.pinned
            {
                let length = lives.scalars.len();
                (0..length).for_each(|i| self.scalar_registers.give(usize::from(first) + i));
            }
        }
    }

    fn advance(&mut self, node: NodeId) {
        let clock = self.tables.clock(node);
        let speed = dynamic_speed(self.ir, node).map(|id| self.scalar(id));
        self.end_scalars();
        let find = |term| self.ir.scalars.find(term).filter(|id| self.lives.is_read(*id));
        let (time, ended) = (find(Term::ClipTime(node)), find(Term::Ended(node)));
        let finished = ended.map(|id| ScalarOut(self.scalar_home(id)));
        let time = match time {
            Some(id) => self.scalar_home(id),
            // Nobody asks, and the instruction writes it all the same.
            None => {
                let register = self.scalar_registers.take();
                self.scalar_registers.give(register);
                register as u16
            }
        };
        let time = ScalarOut(time);
        self.push(Op::AdvanceClock { clock, speed, time, finished });
    }

    /// The transitions of a machine, with the registers of their conditions.
    fn ways(&mut self, node: NodeId) {
        if let Pose::Machine(machine) = &self.ir.nodes[node.get()] {
            let registers: Vec<Option<Scalar>> =
                machine.ways.iter().map(|way| way.condition.map(|id| self.scalar(id))).collect();
            self.tables.ways(self.ir, node, &registers);
        }
    }
}
