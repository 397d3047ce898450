//! A program as text, for people: what it is made of, and its instructions one by one.

use super::*;
use std::fmt::{self, Write};

/// A program, to be printed: its tables and its code, with the states behind which an opcode runs.
#[derive(Clone, Copy, Debug)]
pub struct Listing<'a>(pub &'a ValidProgram);

impl fmt::Display for Listing<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let p = self.program();
        writeln!(f, "program {}, bytecode version {}", p.name, Program::VERSION)?;
        section(f, "parameters", p.params.iter().zip(&p.keys), |f, (i, (param, key))| {
            let kind = match param.kind {
                ParamKind::Float => "float",
                ParamKind::Bool => "bool",
                ParamKind::Trigger => "trigger",
            };
            write!(f, "p{i:<4} {:<16} {kind:<8} {}", param.name, param.default)?;
            if param.kind == ParamKind::Float {
                write!(f, " in {}..={}", bound(param.min), bound(param.max))?;
            }
            if key.name != param.name { write!(f, ", key {}", key.name) } else { Ok(()) }
        })?;
        section(f, "clocks", &p.clocks, |f, (i, clock)| {
            let mode = format!("{:?}", clock.mode).to_lowercase();
            write!(f, "k{i:<4} {:<16} {mode}", named(&p.clips, clock.clip.get()))?;
            match clock.group {
                Some(group) => write!(f, ", in step with {}", named(&p.sync_groups, group.get())),
                None => write!(f, ", speed {}", clock.speed),
            }
        })?;
        section(f, "masks", &p.masks, |f, (i, mask)| {
            write!(f, "{i:<5} {:<16} others {}", mask.name, mask.others)?;
            mask.entries.iter().try_for_each(|entry| {
                let below = if entry.subtree { " and below" } else { "" };
                write!(f, ", {}{below} {}", named(&p.bones, entry.bone.get()), entry.weight)
            })
        })?;
        section(f, "notifies", &p.notifies, |f, (i, notify)| {
            let clip = named(&p.clips, notify.clip.get());
            write!(f, "{i:<5} {:<16} {clip} at {}", notify.name, moment(notify.at))?;
            notify.until.map_or(Ok(()), |until| write!(f, " to {}", moment(until)))
        })?;
        section(f, "sync markers", &p.sync_markers, |f, (i, of)| {
            let marker = |m: &MarkerDesc| format!("{} at {}", m.name, moment(m.at));
            let markers: Vec<String> = of.markers.iter().map(marker).collect();
            let markers = if markers.is_empty() { "none".into() } else { markers.join(", ") };
            write!(f, "{i:<5} {:<16} {markers}", named(&p.clips, of.clip.get()))
        })?;
        section(f, "blend spaces", &p.spaces_1d, |f, (i, space)| {
            write!(f, "{i:<5} {:<16} {:?}", space.name, space.points)
        })?;
        section(f, "blend spaces over a plane", &p.spaces_2d, |f, (i, space)| {
            let (points, triangles) = (space.points.len(), space.triangles.len());
            write!(f, "{i:<5} {:<16} {points} points, {triangles} triangles", space.name)
        })?;
        p.machines.iter().try_for_each(|machine| self.machine(f, machine))?;
        writeln!(f, "code")?;
        p.code.iter().enumerate().try_for_each(|(at, op)| {
            write!(f, "{at:>5}  ")?;
            self.op(f, op)?;
            self.guard(f, at)?;
            writeln!(f)
        })
    }
}

impl Listing<'_> {
    fn program(&self) -> &Program {
        self.0.get()
    }

    /// The states that need an opcode, unless it runs in any.
    fn guard(&self, f: &mut fmt::Formatter<'_>, at: usize) -> fmt::Result {
        let plan = self.0.plan();
        let states = plan.guard(at).map_or(&[][..], |guard| &plan.guards.states[guard.get()]);
        for (i, (machine, state)) in states.iter().enumerate() {
            f.write_str(if i == 0 { "   ; in " } else { ", " })?;
            let machine = self.program().machines.get(machine.get());
            let state = machine.and_then(|machine| machine.states.get(state.get()));
            let names = machine.zip(state).map(|(m, s)| (m.name.as_str(), s.name.as_str()));
            let (machine, state) = names.unwrap_or(("?", "?"));
            write!(f, "{machine}.{state}")?;
        }
        Ok(())
    }

    fn machine(&self, f: &mut fmt::Formatter<'_>, machine: &MachineDesc) -> fmt::Result {
        writeln!(f, "machine {}", machine.name)?;
        for (i, state) in machine.states.iter().enumerate() {
            let entry = if i == machine.initial.get() { ", entry" } else { "" };
            write!(f, "  state {:<16} r{}{entry}", state.name, state.pose)?;
            let clocks = state.clocks.iter().map(|clock| format!("k{clock}"));
            let machines = state.machines.iter().map(|m| self.machine_name(*m).to_owned());
            let resets: Vec<String> = clocks.chain(machines).collect();
            if !resets.is_empty() {
                write!(f, ", starts {}", resets.join(" "))?;
            }
            writeln!(f)?;
        }
        for transition in &machine.transitions {
            let state = |id: StateId| machine.states.get(id.get()).map_or("?", |s| s.name.as_str());
            let from = transition.from.map_or("any", state);
            write!(f, "  {from} to {}", state(transition.to))?;
            if let Some(condition) = transition.condition {
                write!(f, ", when s{condition}")?;
            }
            if transition.min_time > 0.0 {
                write!(f, ", after {} s", transition.min_time)?;
            }
            if let Some(end) = transition.at_end {
                write!(f, ", at the end of k{}", end.clock)?;
                if end.before > 0.0 {
                    write!(f, " or {} s before", end.before)?;
                }
            }
            match transition.duration {
                0.0 => write!(f, ": cut")?,
                seconds => write!(f, ": {:?} {seconds} s", transition.style)?,
            }
            writeln!(f, "{}", if transition.interrupts { "" } else { ", waits for others" })?;
        }
        Ok(())
    }

    fn machine_name(&self, machine: MachineId) -> &str {
        self.program().machines.get(machine.get()).map_or("?", |m| m.name.as_str())
    }

    /// The name, the operands that are read, and where the results go.
    fn op(&self, f: &mut fmt::Formatter<'_>, op: &Op) -> fmt::Result {
        let (mut read, mut written) = (String::new(), String::new());
        let mut points = 1;
        let mut result = Ok(());
        op.operands(|field, operand| {
            let out = match operand {
                Operand::ScalarOut(_) | Operand::PoseOut(_) => &mut written,
                Operand::None => return,
                _ => &mut read,
            };
            match operand {
                Operand::Space1D(id) => {
                    points = self.program().spaces_1d.get(id.get()).map_or(1, |s| s.points.len());
                }
                Operand::Space2D(id) => {
                    points = self.program().spaces_2d.get(id.get()).map_or(1, |s| s.points.len());
                }
                _ => {}
            }
            let text = self.operand(operand, points);
            let written = match operand {
                Operand::ScalarOut(_) | Operand::PoseOut(_) => write!(out, " {text}"),
                _ => write!(out, " {field}={text}"),
            };
            if result.is_ok() {
                result = written;
            }
        });
        result?;
        write!(f, "{:<16}{read}", op.name())?;
        if written.is_empty() { Ok(()) } else { write!(f, " ->{written}") }
    }

    fn operand(&self, operand: Operand, points: usize) -> String {
        let p = self.program();
        let row = |letter: char, first: u16, count: usize| match count {
            0 | 1 => format!("{letter}{first}"),
            n => format!("{letter}{first}..{letter}{}", usize::from(first) + n - 1),
        };
        let name = |names: &[String], at: usize| named(names, at).to_owned();
        let of = |name: Option<&String>| name.map_or("?", String::as_str).to_owned();
        match operand {
            Operand::None => "none".into(),
            Operand::Scalars { first, count } => row('s', first, count.into()),
            Operand::ScalarOut(register) => format!("s{register}"),
            Operand::Pose(register) => format!("r{register}"),
            Operand::Poses(first) => row('r', first.0, points),
            Operand::PoseOut(register) => format!("r{register}"),
            Operand::Const(id) => p.consts.get(id.get()).map_or("?".into(), f32::to_string),
            Operand::Param(id) => of(p.params.get(id.get()).map(|p| &p.name)),
            Operand::Clip(id) => name(&p.clips, id.get()),
            Operand::Bone(id) => name(&p.bones, id.get()),
            Operand::Limb(limb) => limb.bones().map(|id| name(&p.bones, id.get())).join(","),
            Operand::Mask(id) => of(p.masks.get(id.get()).map(|m| &m.name)),
            Operand::Clock(id) => format!("k{id}"),
            Operand::Group(id) => name(&p.sync_groups, id.get()),
            Operand::Machine(id) => self.machine_name(id).to_owned(),
            Operand::Space1D(id) => of(p.spaces_1d.get(id.get()).map(|s| &s.name)),
            Operand::Space2D(id) => of(p.spaces_2d.get(id.get()).map(|s| &s.name)),
            Operand::Smooth(id) => id.to_string(),
            Operand::Seam(id) => id.to_string(),
            Operand::Snapshot(id) => name(&p.snapshots, id.get()),
            Operand::Count(count) => count.to_string(),
            Operand::Way(way) => way.into(),
        }
    }
}

/// A table with its title; nothing when it is empty.
fn section<T>(
    f: &mut fmt::Formatter<'_>,
    title: &str,
    rows: impl IntoIterator<Item = T>,
    row: impl Fn(&mut fmt::Formatter<'_>, (usize, T)) -> fmt::Result,
) -> fmt::Result {
    for (i, value) in rows.into_iter().enumerate() {
        if i == 0 {
            writeln!(f, "{title}")?;
        }
        f.write_str("  ")?;
        row(f, (i, value))?;
        writeln!(f)?;
    }
    Ok(())
}

fn named(names: &[String], at: usize) -> &str {
    names.get(at).map_or("?", String::as_str)
}

fn moment(moment: Moment) -> String {
    match moment {
        Moment::Seconds(seconds) => format!("{seconds} s"),
        Moment::Fraction(share) => format!("{} %", share * 100.0),
    }
}

/// The end of a range, which may be open.
fn bound(value: f32) -> String {
    if value == f32::MIN || value == f32::MAX { "any".into() } else { value.to_string() }
}
