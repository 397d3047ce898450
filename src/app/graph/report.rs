//! What there is to say about a compiled graph.

use crate::graph::{Compiled, ParamKind, Program};
use serde::Serialize;
use std::fmt;

/// A summary, for people and as JSON.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    file: String,
    bytecode_version: u16,
    parameters: Vec<Parameter>,
    machines: Vec<Machine>,
    instructions: usize,
    bytes: usize,
    scalar_registers: u16,
    pose_registers: u16,
    clocks: usize,
    clips: Vec<String>,
    bones: Vec<String>,
    notifies: Vec<String>,
    /// Who has all of these clips and bones, when somebody was asked.
    binds_to: Option<String>,
    warnings: Vec<String>,
}

#[derive(Clone, Debug, Serialize)]
struct Parameter {
    name: String,
    kind: &'static str,
    default: f32,
    min: f32,
    max: f32,
}

#[derive(Clone, Debug, Serialize)]
struct Machine {
    name: String,
    states: Vec<String>,
    transitions: usize,
}

impl Report {
    /// Of a compiled file; `character` is who it was bound to.
    pub fn new(file: &str, compiled: &Compiled, character: Option<String>) -> Self {
        let p = compiled.program.get();
        let parameter = |p: &crate::graph::Param| {
            let kind = match p.kind {
                ParamKind::Float => "float",
                ParamKind::Bool => "bool",
                ParamKind::Trigger => "trigger",
            };
            Parameter { name: p.name.clone(), kind, default: p.default, min: p.min, max: p.max }
        };
        let machine = |m: &crate::graph::MachineDesc| Machine {
            name: m.name.clone(),
            states: m.states.iter().map(|s| s.name.clone()).collect(),
            transitions: m.transitions.len(),
        };
        let mut notifies: Vec<String> = p.notifies.iter().map(|n| n.name.clone()).collect();
        notifies.sort();
        notifies.dedup();
        Self {
            file: file.to_owned(),
            bytecode_version: Program::VERSION,
            parameters: p.params.iter().map(parameter).collect(),
            machines: p.machines.iter().map(machine).collect(),
            instructions: p.code.len(),
            bytes: p.to_bytes().len(),
            scalar_registers: p.scalar_registers,
            pose_registers: p.pose_registers,
            clocks: p.clocks.len(),
            clips: p.clips.clone(),
            bones: p.bones.clone(),
            notifies,
            binds_to: character,
            warnings: compiled.warnings.iter().map(ToString::to_string).collect(),
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.file)?;
        writeln!(
            f,
            "  code       {} instructions, {} bytes, bytecode version {}",
            self.instructions, self.bytes, self.bytecode_version
        )?;
        let registers = (self.scalar_registers, self.pose_registers);
        writeln!(f, "  registers  {} scalar, {} pose", registers.0, registers.1)?;
        for (i, p) in self.parameters.iter().enumerate() {
            let title = if i == 0 { "inputs" } else { "" };
            write!(f, "  {title:<10} {} ({}", p.name, p.kind)?;
            match p.kind {
                "float" if p.min > f32::MIN || p.max < f32::MAX => {
                    writeln!(f, ", {}, {} to {})", p.default, p.min, p.max)?;
                }
                "float" => writeln!(f, ", {})", p.default)?,
                _ => writeln!(f, ")")?,
            }
        }
        for machine in &self.machines {
            let Machine { name, states, transitions } = machine;
            let states = states.join(", ");
            writeln!(f, "  machine    {name}: {states}; {transitions} transitions")?;
        }
        for (title, names) in
            [("clips", &self.clips), ("bones", &self.bones), ("notifies", &self.notifies)]
        {
            if !names.is_empty() {
                writeln!(f, "  {title:<10} {}", names.join(", "))?;
            }
        }
        match &self.binds_to {
            Some(name) => writeln!(f, "  binds to   {name}")?,
            None => writeln!(f, "  binds to   (--character PATH checks a character)")?,
        }
        self.warnings.iter().try_for_each(|warning| writeln!(f, "  warning    {warning}"))
    }
}
