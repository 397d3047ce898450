//! `throng bench graph`: what it costs to record what graphs ask for, beside what it costs to
//! execute it, on one thread.

mod characters;
mod opcodes;

use super::tasks::by_turns;
use super::{median, print, put};
use crate::app::exit::Failure;
use crate::app::report::machine::Machine;
use crate::asset::{self, CharacterAsset};
use crate::graph::{self, StarterClip};
use crate::math::SimdLevel;
use anyhow::Context;
use characters::{Characters, Pass, Subject};
use serde::Serialize;
use std::fmt::Write;

/// Frames before those that are measured: seconds enough for every state to be somebody's.
const WARMUP: usize = 240;
/// States of the machine that is held against a machine of one.
const STATES: usize = 30;

/// The command's arguments.
#[derive(clap::Args, Clone, Debug)]
pub struct GraphBenchArgs {
    /// Print one JSON object instead of tables
    #[arg(long)]
    pub json: bool,
    /// How often everything is measured
    #[arg(long, value_name = "N", default_value_t = 121,
          value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub turns: u32,
    /// Characters of each graph
    #[arg(long, value_name = "N", default_value_t = 1024,
          value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub count: u32,
}

/// What was measured.
#[derive(Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Row {
    /// A graph on the character that it is for.
    Graph {
        name: &'static str,
        instructions: usize,
        /// Tasks per list, and those of them that are executed; means.
        recorded: f64,
        executed: f64,
        record_ns_per_character: f64,
        record_ns_per_opcode: f64,
        execute_ns_per_character: f64,
        /// Recording against executing, and what that must not exceed.
        ratio: f64,
        bar: f64,
    },
    /// A machine of many states against one that has the current state alone.
    States {
        states: usize,
        record_ns_per_character: f64,
        execute_ns_per_character: f64,
        one_state_record_ns_per_character: f64,
        one_state_execute_ns_per_character: f64,
        /// Of executing.
        ratio: f64,
        bar: f64,
    },
    /// What one more opcode costs in a recording, with what its task costs there.
    Opcode { name: String, ns: f64 },
}

#[derive(Serialize)]
struct Report {
    machine: Machine,
    rows: Vec<Row>,
}

/// Measures and prints.
///
/// # Errors
/// Standard output that can't be written; none of the graphs', which are the program's own.
pub fn run(args: &GraphBenchArgs) -> Result<(), Failure> {
    let (turns, count) = (args.turns, args.count as usize);
    let person = builtin("humanoid")?;
    let animal = builtin("quadruped")?;
    let starter = starter_of(&person);
    let mut rows = Vec::new();
    for (name, text, asset) in [
        ("locomotion", builtin_text("locomotion")?, &person),
        ("quadruped", builtin_text("quadruped")?, &animal),
        ("starter", starter.as_str(), &person),
    ] {
        rows.push(graph_row(name, &Subject::new(name, text, asset)?, turns, count)?);
    }
    rows.push(states_row(&person, turns, count)?);
    let opcodes = opcodes::measure(&person, turns)?;
    rows.extend(opcodes.into_iter().map(|(name, ns)| Row::Opcode { name, ns }));
    let machine = Machine::without_gpu(1, SimdLevel::best());
    let report = Report { machine, rows };
    print(&report, args.json, table)
}

fn builtin(name: &str) -> anyhow::Result<CharacterAsset> {
    let asset = asset::builtin(name).with_context(|| format!("there is no built-in {name}"))?;
    Ok(asset?)
}

fn builtin_text(name: &str) -> anyhow::Result<&'static str> {
    graph::builtin_text(name).with_context(|| format!("there is no built-in graph {name}"))
}

/// The graph that is made for a character without one.
fn starter_of(asset: &CharacterAsset) -> String {
    graph::starter(&asset.clips.iter().map(StarterClip::of).collect::<Vec<_>>())
}

fn graph_row(
    name: &'static str,
    subject: &Subject,
    turns: u32,
    count: usize,
) -> anyhow::Result<Row> {
    let mut crowd = Characters::new(subject, count)?;
    for _ in 0..WARMUP {
        crowd.pass()?;
    }
    let passes = (0..turns).map(|_| crowd.pass()).collect::<Result<Vec<_>, _>>()?;
    let of = |value: fn(&Pass) -> f64| median(passes.iter().map(value).collect());
    let record = of(|pass| pass.record_ns);
    let instructions = subject.instructions();
    Ok(Row::Graph {
        name,
        instructions,
        recorded: of(|pass| pass.recorded),
        executed: of(|pass| pass.executed),
        record_ns_per_character: record,
        record_ns_per_opcode: record / instructions as f64,
        execute_ns_per_character: of(|pass| pass.execute_ns),
        ratio: of(|pass| pass.record_ns / pass.execute_ns),
        bar: 1.0 / 3.0,
    })
}

/// A machine of so many states, two clips and their blend each, of which the first is current.
fn machine_of(states: usize) -> String {
    let (mut nodes, mut rows, mut ways) = (String::new(), String::new(), String::new());
    for i in 0..states {
        // Writing to a string does not fail.
        let _ = write!(
            nodes,
            "\"a{i}\": Clip(clip: \"walk_fwd\"), \"b{i}\": Clip(clip: \"run_fwd\"), \
             \"p{i}\": Blend(a: \"a{i}\", b: \"b{i}\", alpha: 0.4),"
        );
        let _ = write!(rows, "\"s{i}\": (pose: \"p{i}\"),");
        let _ = write!(ways, "(to: \"s{i}\", when: \"abs(go - {i}) < 0.5\"),");
    }
    format!(
        "Graph(version: 1, parameters: {{\"go\": Float(default: -1)}}, nodes: {{{nodes} \
         \"out\": StateMachine(entry: \"s0\", states: {{{rows}}}, transitions: [{ways}])}}, \
         output: \"out\")"
    )
}

fn states_row(asset: &CharacterAsset, turns: u32, count: usize) -> anyhow::Result<Row> {
    let subject = |states| Subject::new("states", &machine_of(states), asset);
    let (many, one) = (subject(STATES)?, subject(1)?);
    let mut crowds = [Characters::new(&many, count)?, Characters::new(&one, count)?];
    for crowd in &mut crowds {
        crowd.pass()?;
    }
    let mut recorded = [Vec::new(), Vec::new()];
    let (executing, alone, ratio) = by_turns(turns, |_, with| {
        let which = usize::from(!with);
        let pass = crowds[which].pass()?;
        recorded[which].push(pass.record_ns);
        Ok::<f64, anyhow::Error>(pass.execute_ns)
    })?;
    let [many, one] = recorded.map(median);
    Ok(Row::States {
        states: STATES,
        record_ns_per_character: many,
        execute_ns_per_character: executing,
        one_state_record_ns_per_character: one,
        one_state_execute_ns_per_character: alone,
        ratio,
        bar: 1.03,
    })
}

fn table(report: &Report) -> String {
    let mut text = String::new();
    let mut line = |words: std::fmt::Arguments<'_>| put(&mut text, words);
    let Machine { cpu, simd, .. } = &report.machine;
    line(format_args!("{cpu}, {simd}, one thread; ns per character"));
    for row in &report.rows {
        match row {
            Row::Graph {
                name,
                instructions,
                recorded,
                executed,
                record_ns_per_character: record,
                record_ns_per_opcode: opcode,
                execute_ns_per_character: execute,
                ratio,
                bar,
            } => line(format_args!(
                "{name:12} {instructions:4} opcodes, {recorded:5.1} tasks, {executed:5.1} executed; \
                 record {record:7.1} ({opcode:.2} per opcode)  execute {execute:7.1}  \
                 ratio {ratio:.3} (bar {bar:.3})"
            )),
            Row::States {
                states,
                record_ns_per_character: record,
                execute_ns_per_character: execute,
                one_state_record_ns_per_character: one_record,
                one_state_execute_ns_per_character: one,
                ratio,
                bar,
            } => {
                line(format_args!(
                    "{states} states     record {record:.1}  execute {execute:.1}   \
                     one state: record {one_record:.1}  execute {one:.1}   \
                     ratio {ratio:.3} (bar {bar:.2})"
                ));
                line(format_args!("\nns that one more takes to record:"));
            }
            Row::Opcode { name, ns } => line(format_args!("{name:32} {ns:6.1}")),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_more_states_as_many_tasks_are_recorded_and_executed() {
        let person = builtin("humanoid").unwrap();
        let pass = |states| {
            let subject = Subject::new("states", &machine_of(states), &person).unwrap();
            let mut crowd = Characters::new(&subject, 3).unwrap();
            crowd.pass().unwrap()
        };
        let (many, one) = (pass(STATES), pass(1));
        assert_eq!((many.recorded, one.recorded), (4.0, 4.0));
        assert_eq!((many.executed, one.executed), (4.0, 4.0));
    }

    #[test]
    fn every_state_of_the_locomotion_graph_is_somebodys() {
        let person = builtin("humanoid").unwrap();
        let text = builtin_text("locomotion").unwrap();
        let subject = Subject::new("locomotion", text, &person).unwrap();
        let mut crowd = Characters::new(&subject, 40).unwrap();
        let mut seen = std::collections::HashSet::new();
        for _ in 0..WARMUP + 60 {
            crowd.pass().unwrap();
            seen.extend(crowd.states("locomotion"));
        }
        assert_eq!(seen.len(), 4, "{seen:?}");
    }
}
