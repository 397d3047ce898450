//! What has to hold of a program before anybody interprets it.

use super::control::Layout;
use super::fault::{Fault, PoseKind, ProgramError, within};
use super::operand::*;
use super::plan::Plan;
use super::{Op, Program, tables};
use crate::motion::SyncTrack;
use crate::task::TaskIndex;

/// A program that may be interpreted: every index is in range, nothing is read before it is
/// written (so no pose depends on itself), machines and clocks are run exactly once and in order,
/// the code ends in its one output, and its tasks fit a list.
#[derive(Clone, Debug)]
pub struct ValidProgram {
    program: Program,
    plan: Plan,
}

impl PartialEq for ValidProgram {
    /// What a program comes to follows from it.
    fn eq(&self, other: &Self) -> bool {
        self.program == other.program
    }
}

impl ValidProgram {
    /// What was validated.
    pub fn get(&self) -> &Program {
        &self.program
    }

    /// How it is interpreted.
    pub(super) fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Words of one instance's control state, at most: how many it is depends on the markers of the
    /// clips that keep step.
    pub fn most_words(&self) -> usize {
        Layout::of(&self.program, SyncTrack::MOST * self.program.sync_groups.len()).words()
    }

    /// The most tasks that an evaluation records.
    pub fn most_tasks(&self) -> usize {
        self.program.code.iter().map(Op::most_tasks).sum()
    }

    /// Gives the program back, to be changed.
    pub fn into_inner(self) -> Program {
        self.program
    }
}

impl Program {
    /// Checks a program.
    ///
    /// # Errors
    /// [`ProgramError`]: the first thing that is wrong, with its place and numbers.
    pub fn validate(self) -> Result<ValidProgram, ProgramError> {
        tables::check(&self)
            .map_err(|(place, fault)| self.table_error(place, fault))
            .and_then(|()| Code::check(&self))?;
        let plan = Plan::new(&self).map_err(|fault| self.table_error("the code".into(), fault))?;
        Ok(ValidProgram { program: self, plan })
    }

    fn table_error(&self, place: String, fault: Fault) -> ProgramError {
        ProgramError::Table { program: self.name.clone(), place, fault }
    }
}

/// What is known on the way through the code.
struct Code<'a> {
    program: &'a Program,
    scalars: Vec<bool>,
    poses: Vec<Option<PoseKind>>,
    advanced: Vec<usize>,
    paced: Vec<usize>,
    selected: Vec<usize>,
    evaluated: Vec<usize>,
    smooths: Vec<usize>,
    seams: Vec<usize>,
    tasks: usize,
}

impl<'a> Code<'a> {
    fn check(program: &'a Program) -> Result<(), ProgramError> {
        let mut this = Self {
            program,
            scalars: vec![false; program.scalar_registers.into()],
            poses: vec![None; program.pose_registers.into()],
            advanced: vec![0; program.clocks.len()],
            paced: vec![0; program.sync_groups.len()],
            selected: vec![0; program.machines.len()],
            evaluated: vec![0; program.machines.len()],
            smooths: vec![0; program.smooths.into()],
            seams: vec![0; program.seams.into()],
            tasks: 0,
        };
        for (at, op) in program.code.iter().enumerate() {
            this.instruction(at, op).map_err(|fault| {
                let program = program.name.clone();
                ProgramError::Instruction { program, at, op: op.name(), fault }
            })?;
        }
        this.totals().map_err(|fault| program.table_error("the code".into(), fault))
    }

    fn instruction(&mut self, at: usize, op: &Op) -> Result<(), Fault> {
        let mut result = Ok(());
        let mut points = 0;
        op.operands(|_, operand| {
            if result.is_ok() {
                result = self.operand(operand, &mut points);
            }
        });
        result?;
        self.tasks += op.most_tasks();
        let kind = self.meaning(at, op)?;
        op.operands(|_, operand| match operand {
            Operand::ScalarOut(register) => self.scalars[register.get()] = true,
            Operand::PoseOut(register) => self.poses[register.get()] = Some(kind),
            _ => {}
        });
        Ok(())
    }

    /// Every index in range, every register written that is read.
    fn operand(&self, operand: Operand, points: &mut usize) -> Result<(), Fault> {
        let p = self.program;
        match operand {
            Operand::Scalars { first, count } => {
                (first..=first.saturating_add(count - 1)).try_for_each(|r| self.scalar(Scalar(r)))
            }
            Operand::ScalarOut(r) => within("scalar register", r.get(), self.scalars.len()),
            Operand::Pose(r) => self.pose(r).map(drop),
            Operand::Poses(first) => (0..*points).try_for_each(|i| {
                let register = usize::from(first.0) + i;
                within("pose register", register, self.poses.len())?;
                self.pose(PoseIn(register as u16)).map(drop)
            }),
            Operand::PoseOut(r) => within("pose register", r.get(), self.poses.len()),
            Operand::Const(i) => within("constant", i.get(), p.consts.len()),
            Operand::Param(i) => within("parameter", i.get(), p.params.len()),
            Operand::Clip(i) => within("clip", i.get(), p.clips.len()),
            Operand::Bone(i) => within("bone", i.get(), p.bones.len()),
            Operand::Limb(limb) => {
                let bones = &mut limb.bones().into_iter();
                bones.try_for_each(|i| within("bone", i.get(), p.bones.len()))
            }
            Operand::Mask(i) => within("mask", i.get(), p.masks.len()),
            Operand::Clock(i) => within("clock", i.get(), p.clocks.len()),
            Operand::Group(i) => within("sync group", i.get(), p.sync_groups.len()),
            Operand::Machine(i) => within("state machine", i.get(), p.machines.len()),
            Operand::Space1D(i) => {
                within("blend space (1D)", i.get(), p.spaces_1d.len())?;
                *points = p.spaces_1d[i.get()].points.len();
                Ok(())
            }
            Operand::Space2D(i) => {
                within("blend space (2D)", i.get(), p.spaces_2d.len())?;
                *points = p.spaces_2d[i.get()].points.len();
                Ok(())
            }
            Operand::Smooth(i) => within("smoothed value", i.get(), p.smooths.into()),
            Operand::Seam(i) => within("transition", i.get(), p.seams.into()),
            Operand::Snapshot(i) => within("snapshot", i.get(), p.snapshots.len()),
            Operand::None | Operand::Count(_) | Operand::Way(_) => Ok(()),
        }
    }

    fn scalar(&self, register: Scalar) -> Result<(), Fault> {
        within("scalar register", register.get(), self.scalars.len())?;
        let unwritten = Fault::Unwritten { what: "scalar", register: register.get() };
        if self.scalars[register.get()] { Ok(()) } else { Err(unwritten) }
    }

    fn pose(&self, register: PoseIn) -> Result<PoseKind, Fault> {
        let register = register.get();
        within("pose register", register, self.poses.len())?;
        self.poses[register].ok_or(Fault::Unwritten { what: "pose", register })
    }

    fn require(&self, register: PoseIn, wanted: PoseKind) -> Result<(), Fault> {
        let found = self.pose(register)?;
        let register = register.get();
        if found == wanted { Ok(()) } else { Err(Fault::PoseKind { register, found, wanted }) }
    }

    /// What an instruction needs beyond its operands' being there; gives what its pose holds.
    fn meaning(&mut self, at: usize, op: &Op) -> Result<PoseKind, Fault> {
        let whole = |this: &Self, source: PoseIn| this.require(source, PoseKind::Pose);
        match *op {
            Op::AdvanceClock { clock, .. } => self.advanced[clock.get()] += 1,
            Op::PaceGroup { group, .. } => self.paced[group.get()] += 1,
            Op::SampleAnim { clip, clock: Some(clock), .. } => {
                let clock_clip = self.program.clocks[clock.get()].clip;
                let clock = clock.get();
                if clock_clip != clip {
                    let (clock_clip, clip) = (clock_clip.get(), clip.get());
                    return Err(Fault::ClockClip { clock, clock_clip, clip });
                }
                if self.advanced[clock] == 0 {
                    return Err(order(format!("AdvanceClock of clock {clock}"), "its clip"));
                }
            }
            Op::Smooth { slot, .. } => self.smooths[slot.get()] += 1,
            Op::StateTime { machine, .. } => self.is_selected(machine)?,
            Op::SelectState { machine } => self.select(machine)?,
            Op::EvalStateMachine { machine, .. } => {
                self.is_selected(machine)?;
                self.evaluated[machine.get()] += 1;
                let states = &self.program.machines[machine.get()].states;
                let kind = self.pose(states[0].pose)?;
                states.iter().try_for_each(|state| self.require(state.pose, kind))?;
                return Ok(kind);
            }
            Op::Blend { a, b, .. } | Op::BlendMasked { a, b, .. } => {
                let kind = self.pose(a)?;
                self.require(b, kind)?;
                return Ok(kind);
            }
            Op::MakeAdditive { source, reference, space, .. } => {
                whole(self, source)?;
                reference.map_or(Ok(()), |r| whole(self, r))?;
                return Ok(PoseKind::Delta(space));
            }
            Op::ApplyAdditive { base, delta, space, .. } => {
                whole(self, base)?;
                self.require(delta, PoseKind::Delta(space))?;
            }
            Op::BlendSpace1D { space, points, .. } => {
                return self.same_kind(points, self.program.spaces_1d[space.get()].points.len());
            }
            Op::BlendSpace2D { space, points, .. } => {
                return self.same_kind(points, self.program.spaces_2d[space.get()].points.len());
            }
            Op::Inertialize { source, seam, .. } | Op::DeadBlend { source, seam, .. } => {
                whole(self, source)?;
                self.seams[seam.get()] += 1;
            }
            Op::SaveSnapshot { source, .. }
            | Op::BoneTransform { source, .. }
            | Op::TranslateBone { source, .. }
            | Op::TwoBoneIk { source, .. }
            | Op::Fabrik { source, .. }
            | Op::LookAt { source, .. }
            | Op::FootIk { source, .. } => whole(self, source)?,
            Op::Output { source } => {
                whole(self, source)?;
                if at + 1 != self.program.code.len() {
                    return Err(order("every other instruction".into(), "Output"));
                }
            }
            _ => {}
        }
        Ok(PoseKind::Pose)
    }

    fn same_kind(&self, points: PosesIn, count: usize) -> Result<PoseKind, Fault> {
        let kind = self.pose(PoseIn(points.0))?;
        (1..count as u16).try_for_each(|i| self.require(PoseIn(points.0 + i), kind))?;
        Ok(kind)
    }

    fn is_selected(&self, machine: MachineId) -> Result<(), Fault> {
        let index = machine.get();
        match self.selected[index] {
            0 => Err(order(format!("SelectState of machine {index}"), "what asks for its state")),
            _ => Ok(()),
        }
    }

    /// Conditions are there, and what the states hold comes later.
    fn select(&mut self, machine: MachineId) -> Result<(), Fault> {
        let index = machine.get();
        let desc = &self.program.machines[index];
        desc.transitions.iter().filter_map(|t| t.condition).try_for_each(|c| self.scalar(c))?;
        let here = || format!("SelectState of machine {index}");
        for state in &desc.states {
            if let Some(clock) = state.clocks.iter().find(|c| self.advanced[c.get()] > 0) {
                return Err(order(here(), &format!("AdvanceClock of clock {clock}")));
            }
            let inner =
                state.machines.iter().find(|m| **m == machine || self.selected[m.get()] > 0);
            if let Some(inner) = inner {
                return Err(order(here(), &format!("SelectState of machine {inner} inside of it")));
            }
        }
        self.selected[index] += 1;
        Ok(())
    }

    fn totals(&self) -> Result<(), Fault> {
        let once = |what, op, counts: &[usize]| {
            let wrong = counts.iter().copied().enumerate().find(|(_, count)| *count != 1);
            wrong.map_or(Ok(()), |(index, count)| Err(Fault::NotOnce { what, index, op, count }))
        };
        once("clock", "AdvanceClock", &self.advanced)?;
        once("state machine", "SelectState", &self.selected)?;
        once("state machine", "EvalStateMachine", &self.evaluated)?;
        once("smoothed value", "Smooth", &self.smooths)?;
        once("transition", "Inertialize or DeadBlend", &self.seams)?;
        let outputs = self.program.code.iter().filter(|op| matches!(op, Op::Output { .. })).count();
        once("program", "Output", &[outputs])?;
        if let Some((index, count)) = self.paced.iter().copied().enumerate().find(|(_, n)| *n > 1) {
            return Err(Fault::Twice { what: "sync group", index, op: "PaceGroup", count });
        }
        match self.tasks {
            0..=TaskIndex::LIMIT => Ok(()),
            count => Err(Fault::Count { what: "tasks", count, range: "at most 32768" }),
        }
    }
}

impl Op {
    /// The most tasks that it records.
    fn most_tasks(&self) -> usize {
        match self {
            Self::BlendSpace1D { .. } => 1,
            Self::BlendSpace2D { .. } => 2,
            // In place of a pose that is not there.
            Self::Output { .. } => 1,
            _ => {
                let mut tasks = 0;
                self.operands(|_, operand| {
                    tasks += usize::from(matches!(operand, Operand::PoseOut(_)));
                });
                tasks
            }
        }
    }
}

fn order(first: String, second: &str) -> Fault {
    Fault::Order { first, second: second.to_owned() }
}
