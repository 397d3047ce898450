//! `throng bench dark`: what characters that nobody sees cost because a sequence once asked them to
//! tick, with sequences that forget to take that back and with sequences that don't. The cost is
//! the workers', so it does not show in the main thread's time; hence the columns.

use super::{median, print, put};
use crate::app::cli::values::whole;
use crate::app::exit::Failure;
use crate::app::report::machine::Machine;
use crate::app::sample::phases;
use crate::app::scenario;
use crate::asset;
use crate::crowd::sequence::{Parking, Restore, SequenceConfig, SequenceId};
use crate::crowd::{Crowd, CrowdConfig, CrowdKind, Playing, TickInput, TickStats};
use crate::graph;
use crate::math::{SimdLevel, View};
use crate::profile::PhaseTimes;
use anyhow::Context;
use glam::Vec3;
use serde::Serialize;
use std::sync::Arc;

const DT: f64 = 1.0 / 60.0;
/// Frames in which a sequence that nobody sees has parked, and one that ends has ended.
const SETTLING: usize = 180;

/// The command's arguments.
#[derive(clap::Args, Clone, Debug)]
pub struct DarkBenchArgs {
    /// Print one JSON object instead of a table
    #[arg(long)]
    pub json: bool,
    /// Characters, none of which is ever in view
    #[arg(long, value_name = "N", allow_negative_numbers = true, default_value_t = 1000,
          value_parser = whole("a number of characters", 8..=1_000_000_u32, 1000))]
    pub count: u32,
    /// Frames that are measured in each situation
    #[arg(long, value_name = "N", allow_negative_numbers = true, default_value_t = 120,
          value_parser = whole("a number of frames", 1..=100_000_u32, 120))]
    pub frames: u32,
    /// Worker threads
    #[arg(long, value_name = "N", allow_negative_numbers = true, default_value_t = 1,
          value_parser = whole("a number of workers", 1..=1024_usize, 1))]
    pub threads: usize,
}

/// What becomes of sequences that play, off screen, before it is measured.
struct Situation {
    name: &'static str,
    looping: bool,
    parks: bool,
    then: fn(&mut Crowd, SequenceId) -> Result<(), crate::crowd::CrowdError>,
}

const SITUATIONS: [Situation; 6] = [
    Situation { name: "playing", looping: true, parks: false, then: |_, _| Ok(()) },
    Situation { name: "paused", looping: true, parks: false, then: Crowd::pause_sequence },
    Situation { name: "stopped", looping: true, parks: false, then: Crowd::stop_sequence },
    Situation { name: "finished", looping: false, parks: false, then: |_, _| Ok(()) },
    Situation { name: "unbound", looping: true, parks: false, then: Crowd::unbind_sequence },
    Situation { name: "parked", looping: true, parks: true, then: |_, _| Ok(()) },
];

/// Medians over a situation's frames.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Cost {
    /// Characters evaluated.
    pub evaluated: f64,
    /// The workers' time, all phases and workers together.
    pub worker_ms: f64,
    /// The main thread's.
    pub main_ms: f64,
    /// That of the sequences themselves.
    pub sequence_ms: f64,
}

/// A situation with modes that are forgotten and with modes that come back.
#[derive(Debug, Serialize)]
pub struct Row {
    situation: &'static str,
    forgotten: Cost,
    restored: Cost,
    /// Characters that a correct system evaluates.
    needed: u32,
}

#[derive(Serialize)]
struct Report {
    machine: Machine,
    characters: u32,
    rows: Vec<Row>,
}

/// Measures and prints.
///
/// # Errors
/// Threads or memory that can't be had, or standard output that can't be written.
pub fn run(args: &DarkBenchArgs) -> Result<(), Failure> {
    let rows = measure(args)?;
    let machine = Machine::without_gpu(args.threads, SimdLevel::best());
    let report = Report { machine, characters: args.count, rows };
    print(&report, args.json, table)
}

fn measure(args: &DarkBenchArgs) -> Result<Vec<Row>, Failure> {
    let mut rows = Vec::new();
    for situation in &SITUATIONS {
        let cost = |restore| cost(situation, restore, args);
        rows.push(Row {
            situation: situation.name,
            forgotten: cost(Restore::Never)?,
            restored: cost(Restore::Always)?,
            needed: if situation.name == "playing" { args.count } else { 0 },
        });
    }
    Ok(rows)
}

fn cost(situation: &Situation, restore: Restore, args: &DarkBenchArgs) -> Result<Cost, Failure> {
    let mut crowd = hidden_crowd(args.count, args.threads)?;
    let parking = situation.parks.then(Parking::default);
    // One that ends has to: its loop is shorter than the time to settle.
    let seconds = if situation.looping { scenario::SECONDS } else { 0.5 * SETTLING as f64 * DT };
    let sequences = scenario::direct(&mut crowd, |config| {
        let tracks = if situation.looping { config.tracks } else { Vec::new() };
        let looping = situation.looping;
        SequenceConfig { seconds, looping, parking, restore, tracks, ..config }
    })?;
    for id in &sequences {
        crowd.play_sequence(*id)?;
    }
    for _ in 0..SETTLING {
        frame(&mut crowd, &PhaseTimes::default());
    }
    for id in sequences {
        (situation.then)(&mut crowd, id)?;
    }
    frame(&mut crowd, &PhaseTimes::default());
    let costs: Vec<Cost> = (0..args.frames)
        .map(|_| {
            let times = PhaseTimes::default();
            let tick = frame(&mut crowd, &times);
            let (main, workers) = phases(&times);
            Cost {
                evaluated: f64::from(tick.evaluated),
                worker_ms: workers.iter().sum(),
                main_ms: main.iter().sum(),
                sequence_ms: tick.sequence_ns as f64 * 1e-6,
            }
        })
        .collect();
    let of = |value: fn(&Cost) -> f64| median(costs.iter().map(value).collect());
    Ok(Cost {
        evaluated: of(|cost| cost.evaluated),
        worker_ms: of(|cost| cost.worker_ms),
        main_ms: of(|cost| cost.main_ms),
        sequence_ms: of(|cost| cost.sequence_ms),
    })
}

/// The built-in person, played by its graph, by the thousand.
///
/// # Errors
/// Threads or memory that can't be had.
pub fn hidden_crowd(count: u32, threads: usize) -> Result<Crowd, Failure> {
    let name = "humanoid";
    let asset = asset::builtin(name).with_context(|| format!("there is no built-in {name}"))??;
    let (graph, text) =
        graph::builtin_for(name).with_context(|| format!("there is no graph for {name}"))?;
    let playing = Playing::Graph(Arc::new(graph::compile(graph, text)?.program));
    let rig = Arc::new(asset.rig_for(playing.scales_bones())?);
    let notifies = asset.notifies.clone();
    let kind = CrowdKind { notifies, playing, ..CrowdKind::new(name, rig, asset.bounds) };
    let config = CrowdConfig { count, threads, ..CrowdConfig::default() };
    Ok(Crowd::new(config, vec![kind])?)
}

/// A frame that looks away from everybody, from above and far enough for nobody to be near.
fn frame(crowd: &mut Crowd, times: &PhaseTimes) -> TickStats {
    let eye = Vec3::new(0.0, 50.0, crowd.half_extent().y + 100.0);
    let view = View::look_at(eye, eye + Vec3::Z, 0.8, 1_000.0, (1280, 720));
    let input = TickInput {
        dt: DT,
        played: true,
        view: &view,
        shadow_clip_from_world: None,
        palette_hash: false,
    };
    crowd.tick(&input, times)
}

fn table(report: &Report) -> String {
    let mut text = String::new();
    let mut line = |words: std::fmt::Arguments<'_>| put(&mut text, words);
    let Machine { cpu, simd, threads, .. } = &report.machine;
    let count = report.characters;
    line(format_args!(
        "{cpu}, {simd}, {threads} threads; {count} characters off screen, ms a frame"
    ));
    line(format_args!("{:10}{:>44}{:>44}", "", "modes are forgotten", "modes come back"));
    line(format_args!("{:10}{COLUMNS}{COLUMNS}{:>8}", "sequences", "needed"));
    for Row { situation, forgotten, restored, needed } in &report.rows {
        let cells = |cost: &Cost| {
            let Cost { evaluated, worker_ms, main_ms, sequence_ms } = cost;
            format!("{evaluated:>11.0}{worker_ms:>11.3}{main_ms:>11.3}{sequence_ms:>11.4}")
        };
        let (forgotten, restored) = (cells(forgotten), cells(restored));
        line(format_args!("{situation:10}{forgotten}{restored}{needed:>8}"));
    }
    text
}

const COLUMNS: &str = "  evaluated    workers       main  sequences";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_forgotten_goes_on_and_what_comes_back_is_free() {
        let args = DarkBenchArgs { json: false, count: 24, frames: 3, threads: 1 };
        let rows = measure(&args).unwrap();
        assert_eq!(rows.len(), SITUATIONS.len());
        for row in &rows {
            assert_eq!(row.forgotten.evaluated, 24.0, "{}", row.situation);
            assert_eq!(row.restored.evaluated, f64::from(row.needed), "{}", row.situation);
            assert_eq!(row.needed > 0, row.situation == "playing");
        }
        let plays = rows.iter().find(|row| row.situation == "playing").unwrap();
        assert!(plays.restored.sequence_ms > 0.0 && plays.restored.worker_ms > 0.0);
        let report = Report {
            machine: Machine {
                cpu: String::new(),
                threads: 1,
                simd: String::new(),
                adapter: None,
                backend: None,
            },
            characters: 24,
            rows,
        };
        assert_eq!(table(&report).lines().count(), 3 + SITUATIONS.len());
    }
}
