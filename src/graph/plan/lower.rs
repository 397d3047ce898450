//! A value for each register that is written, and decisions apart from tasks.

use crate::graph::Op;
use crate::graph::fault::Fault;
use crate::graph::operand::*;
use crate::graph::program::Program;

/// Values and points of blend spaces that can be told apart.
const MOST: usize = 1 << 16;

/// A program without registers.
#[derive(Debug, Default)]
pub struct Lowered {
    pub values: Vec<f32>,
    pub control: Vec<Op>,
    pub nodes: Vec<Op>,
    pub points: Vec<PoseIn>,
    pub output: PoseIn,
    pub machines: Vec<Registers>,
    /// Where each opcode of the program went in `control`.
    pub places: Vec<Option<u16>>,
}

/// What a machine reads, by the names of values and nodes.
#[derive(Debug, Default)]
pub struct Registers {
    /// Of its states.
    pub poses: Vec<PoseIn>,
    /// Of its transitions.
    pub conditions: Vec<Option<Scalar>>,
}

/// Who writes a scalar: what it is, and where it lies.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Def {
    Const(f32),
    Param(u16),
    Delta,
    /// By an opcode; the nth that is computed.
    Computed(usize),
}

/// Scalars in a row that an opcode reads together: the first place, once there is one.
#[derive(Clone, Copy, Debug)]
struct Block {
    first: Option<usize>,
    count: u16,
}

/// What a row of scalars holds, found ahead of giving out places: who writes a scalar can put it
/// straight into the row.
#[derive(Debug, Default)]
struct Rows {
    blocks: Vec<Block>,
    /// The place in a block of each value that is computed.
    homes: Vec<Option<(usize, u16)>>,
}

impl Rows {
    fn find(program: &Program) -> Self {
        let mut this = Self::default();
        let mut registers = vec![None; program.scalar_registers.into()];
        for op in &program.code {
            op.operands(|_, operand| match operand {
                Operand::Scalars { first, count } if count > 1 => {
                    let block = this.blocks.len();
                    this.blocks.push(Block { first: None, count });
                    for i in 0..count {
                        if let Some(def) = registers[usize::from(first + i)] {
                            let home: &mut Option<_> = &mut this.homes[def];
                            home.get_or_insert((block, i));
                        }
                    }
                }
                Operand::ScalarOut(register) => {
                    registers[register.get()] = match op {
                        Op::LoadConst { .. } | Op::LoadParam { .. } | Op::LoadDelta { .. } => None,
                        _ => {
                            this.homes.push(None);
                            Some(this.homes.len() - 1)
                        }
                    };
                }
                _ => {}
            });
        }
        this
    }
}

/// Gives out places.
struct Names<'p> {
    program: &'p Program,
    rows: Rows,
    out: Lowered,
    /// Who wrote each scalar register last, and where that is.
    scalars: Vec<(Def, u16)>,
    /// The node that wrote each pose register last.
    poses: Vec<PoseIn>,
    computed: usize,
    /// Rows that were read.
    block: usize,
    /// Points of the blend space whose poses are read next.
    space: usize,
}

impl Lowered {
    /// Lowers a program that was checked.
    ///
    /// # Errors
    /// [`Fault::Count`] for one that computes more values than have names.
    pub fn new(program: &Program) -> Result<Self, Fault> {
        let params = program.params.len();
        let mut names = Names {
            program,
            rows: Rows::find(program),
            out: Self {
                values: vec![0.0; params + 1],
                machines: program.machines.iter().map(|_| Registers::default()).collect(),
                ..Self::default()
            },
            scalars: vec![(Def::Delta, 0); program.scalar_registers.into()],
            poses: vec![PoseIn(0); program.pose_registers.into()],
            computed: 0,
            block: 0,
            space: 0,
        };
        for op in &program.code {
            names.instruction(op);
            let counts = [
                ("values", names.out.values.len()),
                ("points of blend spaces", names.out.points.len()),
                ("opcodes that decide", names.out.control.len()),
            ];
            if let Some((what, count)) = counts.into_iter().find(|(_, count)| *count >= MOST) {
                return Err(Fault::Count { what, count, range: "at most 65535" });
            }
        }
        Ok(names.out)
    }

    /// Puts what decides into another order: of each, where it was.
    pub fn arrange(&mut self, order: &[u16]) {
        self.control = order.iter().map(|at| self.control[usize::from(*at)]).collect();
        let mut now = vec![0; order.len()];
        for (at, before) in (0..).zip(order) {
            now[usize::from(*before)] = at;
        }
        self.places.iter_mut().flatten().for_each(|place| *place = now[usize::from(*place)]);
    }
}

impl Names<'_> {
    fn instruction(&mut self, op: &Op) {
        let mut place = None;
        match *op {
            Op::LoadConst { constant, dst } => {
                let value = self.program.consts[constant.get()];
                let at = self.place(value);
                self.scalars[dst.get()] = (Def::Const(value), at);
            }
            Op::LoadParam { param, dst } => {
                self.scalars[dst.get()] = (Def::Param(param.0), param.0);
            }
            Op::LoadDelta { dst } => {
                self.scalars[dst.get()] = (Def::Delta, self.program.params.len() as u16);
            }
            Op::Output { source } => self.out.output = self.poses[source.get()],
            Op::SelectState { machine } => {
                let transitions = &self.program.machines[machine.get()].transitions;
                let condition = |c: Scalar| Scalar(self.scalars[c.get()].1);
                self.out.machines[machine.get()].conditions =
                    transitions.iter().map(|t| t.condition.map(condition)).collect();
                place = Some(self.out.control.len());
                self.out.control.push(*op);
            }
            Op::ScalarOp { .. }
            | Op::Choose { .. }
            | Op::Smooth { .. }
            | Op::AdvanceClock { .. }
            | Op::PaceGroup { .. }
            | Op::StateTime { .. } => {
                let mut op = *op;
                op.rename(self);
                place = Some(self.out.control.len());
                self.out.control.push(op);
            }
            _ => {
                if let Op::EvalStateMachine { machine, .. } = *op {
                    let states = &self.program.machines[machine.get()].states;
                    self.out.machines[machine.get()].poses =
                        states.iter().map(|state| self.poses[state.pose.get()]).collect();
                }
                self.space = match *op {
                    Op::BlendSpace1D { space, .. } => {
                        self.program.spaces_1d[space.get()].points.len()
                    }
                    Op::BlendSpace2D { space, .. } => {
                        self.program.spaces_2d[space.get()].points.len()
                    }
                    _ => 0,
                };
                let mut op = *op;
                op.rename(self);
                if matches!(op, Op::Inertialize { .. } | Op::DeadBlend { .. }) {
                    place = Some(self.out.control.len());
                    self.out.control.push(op);
                }
                self.out.nodes.push(op);
            }
        }
        self.out.places.push(place.map(|at| at as u16));
    }

    /// A new place.
    fn place(&mut self, value: f32) -> u16 {
        self.out.values.push(value);
        (self.out.values.len() - 1) as u16
    }

    /// The first place of a row.
    fn row(&mut self, block: usize) -> usize {
        let Block { first, count } = self.rows.blocks[block];
        first.unwrap_or_else(|| {
            let first = self.out.values.len();
            self.out.values.extend((0..count).map(|_| 0.0));
            self.rows.blocks[block].first = Some(first);
            first
        })
    }
}

impl Rename for Names<'_> {
    fn scalars(&mut self, first: u16, count: u16) -> u16 {
        if count == 1 {
            return self.scalars[usize::from(first)].1;
        }
        let block = self.block;
        self.block += 1;
        let row = self.row(block);
        for i in 0..count {
            let (def, at) = self.scalars[usize::from(first + i)];
            let to = row + usize::from(i);
            match def {
                Def::Const(value) => self.out.values[to] = value,
                Def::Computed(n) if self.rows.homes[n] == Some((block, i)) => {}
                _ => {
                    // A copy.
                    let (value, dst) = (Scalar(at), ScalarOut(to as u16));
                    let copy = Op::Choose { condition: value, a: value, b: value, dst };
                    self.out.control.push(copy);
                }
            }
        }
        row as u16
    }

    fn scalar_out(&mut self, register: ScalarOut) -> ScalarOut {
        let n = self.computed;
        self.computed += 1;
        let at = match self.rows.homes[n] {
            Some((block, i)) => (self.row(block) + usize::from(i)) as u16,
            None => self.place(0.0),
        };
        self.scalars[register.get()] = (Def::Computed(n), at);
        ScalarOut(at)
    }

    fn pose(&mut self, register: PoseIn) -> PoseIn {
        self.poses[register.get()]
    }

    fn poses(&mut self, first: PosesIn) -> PosesIn {
        let at = self.out.points.len();
        let points = first.get()..first.get() + self.space;
        self.out.points.extend_from_slice(&self.poses[points]);
        PosesIn(at as u16)
    }

    fn pose_out(&mut self, register: PoseOut) -> PoseOut {
        let node = self.out.nodes.len() as u16;
        self.poses[register.get()] = PoseIn(node);
        PoseOut(node)
    }
}
