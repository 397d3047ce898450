//! `throng bench scaling`: crowds of a thousand to a million, of whom a few thousand are in view. What
//! the whole crowd costs from cull to gather, what of that is due to those whom nobody sees, and what a
//! character holds. Nothing is drawn.
//!
//! All crowds of one playback live side by side and take turns, so that their ratios are of the same
//! minutes of the machine. In each turn a crowd is seen for some frames, and for as many the camera
//! looks at the sky: what a frame takes then is due to hidden characters alone.

mod crowds;
mod judge;

use super::frames::{cast, plain_run};
use super::{print, put};
use crate::app::cli::values::whole;
use crate::app::cli::{Mode, PlaybackArg, RunConfig};
use crate::app::exit::Failure;
use crate::app::report::Rows;
use crate::app::report::machine::Machine;
use crate::math::SimdLevel;
use crate::profile::Phase;
use crowds::{Place, Placed};
use judge::Check;
use serde::Serialize;
use std::path::PathBuf;

/// Crowds that are measured, where there is room for them.
const COUNTS: [u32; 10] =
    [1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 200_000, 500_000, 1_000_000];

/// The command's arguments.
#[derive(clap::Args, Clone, Debug)]
pub struct ScalingBenchArgs {
    /// Print one JSON object instead of tables
    #[arg(long)]
    pub json: bool,
    /// A glTF file (.gltf or .glb), or the built-in `humanoid` or `quadruped`; repeat it to mix
    /// [default: both built-ins]
    #[arg(long, value_name = "PATH")]
    pub character: Vec<PathBuf>,
    /// The largest crowd
    #[arg(long, value_name = "N", allow_negative_numbers = true, default_value_t = 1_000_000,
          value_parser = whole("a count", 1..=10_000_000_u32, 1_000_000))]
    pub max: u32,
    /// How many of each crowd are in view
    #[arg(long, value_name = "N", allow_negative_numbers = true, default_value_t = 5_000,
          value_parser = whole("a count", 1..=10_000_000_u32, 5_000))]
    pub visible: u32,
    /// Worker threads; with one, times on the clock are times of the processor
    #[arg(long, value_name = "N", allow_negative_numbers = true, default_value_t = 1,
          value_parser = whole("a number of workers", 1..=1024_usize, 1))]
    pub threads: usize,
    /// How often each crowd has its turn
    #[arg(long, value_name = "N", allow_negative_numbers = true, default_value_t = 5,
          value_parser = whole("a number of turns", 1..=100_000_u32, 5))]
    pub turns: u32,
}

/// One crowd.
#[derive(Clone, Debug, Serialize)]
struct Row {
    playback: PlaybackArg,
    count: u32,
    /// In view, mean.
    visible: f64,
    /// Recorded and executed in a frame, mean.
    evaluated: f64,
    /// A frame of the crowd, cull to gather.
    ms: f64,
    /// The same while nobody is in view.
    hidden_ms: f64,
    /// Without what those out of view cost.
    ns_per_evaluated_character: f64,
    ns_per_hidden_character: f64,
    /// Columns of somebody whom nobody sees.
    bytes_per_character: f64,
    /// What the process grew by while the crowd was placed, for each character; less where it is given
    /// what crowds before it gave back. Left out for crowds so small that it is about something else.
    #[serde(skip_serializing_if = "Option::is_none")]
    resident_bytes_per_character: Option<f64>,
    /// Of the frames with somebody in view.
    main_ms: Rows<f64>,
    worker_ms: Rows<f64>,
}

/// A crowd that was not measured.
#[derive(Debug, Serialize)]
struct LeftOut {
    playback: PlaybackArg,
    count: u32,
    why: String,
}

#[derive(Serialize)]
struct Report {
    machine: Machine,
    rows: Vec<Row>,
    left_out: Vec<LeftOut>,
    checks: Vec<Check>,
}

/// Measures and prints.
///
/// # Errors
/// A character that can't be read or animated, or standard output that can't be written.
pub fn run(args: &ScalingBenchArgs) -> Result<(), Failure> {
    let report = measure(args)?;
    print(&report, args.json, table)
}

fn measure(args: &ScalingBenchArgs) -> Result<Report, Failure> {
    let config = RunConfig {
        mode: Mode::NoRender,
        threads: Some(args.threads),
        // So that as many are evaluated as are in view, however large the crowd behind them.
        update_rate: false,
        skeleton_lod: false,
        ..plain_run(&args.character)?
    };
    let cast = cast(&config)?;
    let (mut rows, mut left_out, mut checks) = (Vec::new(), Vec::new(), Vec::new());
    for playback in [PlaybackArg::Simple, PlaybackArg::Graph] {
        let mut crowds = Vec::new();
        for count in counts(args.max) {
            let config = RunConfig { count, playback, ..config.clone() };
            match Placed::place(&config, &cast, args.visible)? {
                Place::Found(placed) => crowds.push(*placed),
                Place::None(why) => left_out.push(LeftOut { playback, count, why }),
            }
        }
        for turn in 0..args.turns as usize {
            let first = turn % crowds.len().max(1);
            let (earlier, later) = crowds.split_at_mut(first);
            later.iter_mut().chain(earlier).for_each(Placed::turn);
        }
        let measured: Vec<_> = crowds.into_iter().map(|crowd| crowd.row(playback)).collect();
        checks.extend(judge::judge(playback, &measured));
        rows.extend(measured);
    }
    let machine = Machine::without_gpu(args.threads, SimdLevel::best());
    Ok(Report { machine, rows, left_out, checks })
}

/// The crowds up to a largest one, which is among them.
fn counts(max: u32) -> Vec<u32> {
    COUNTS.into_iter().filter(|&count| count < max).chain([max]).collect()
}

fn name(playback: PlaybackArg) -> &'static str {
    match playback {
        PlaybackArg::Simple => "simple",
        PlaybackArg::Graph => "graph",
    }
}

fn table(report: &Report) -> String {
    let mut text = String::new();
    let mut line = |words: std::fmt::Arguments<'_>| put(&mut text, words);
    let Machine { cpu, simd, threads, .. } = &report.machine;
    line(format_args!("{cpu}, {simd}, workers: {threads}; cull to gather, everybody at full rate"));
    for rows in report.rows.chunk_by(|a, b| a.playback == b.playback) {
        let Some(first) = rows.first() else { continue };
        line(format_args!(
            "\n{} playback\n{:>9} {:>8} {:>10} {:>10} {:>12} {:>10} {:>9} {:>9}",
            name(first.playback),
            "count",
            "in view",
            "ms",
            "hidden ms",
            "ns evaluated",
            "ns hidden",
            "bytes",
            "resident"
        ));
        for row in rows {
            let resident = row.resident_bytes_per_character;
            line(format_args!(
                "{:9} {:8.0} {:10.3} {:10.4} {:12.1} {:10.2} {:9.1} {:>9}",
                row.count,
                row.visible,
                row.ms,
                row.hidden_ms,
                row.ns_per_evaluated_character,
                row.ns_per_hidden_character,
                row.bytes_per_character,
                resident.map_or(String::new(), |bytes| format!("{bytes:.0}")),
            ));
        }
        line(format_args!("ms on the main thread, and of the workers together"));
        let phases = Phase::ALL.map(Phase::name);
        let measured = |name: &&str| rows.iter().any(|row| row.main_ms.get(name).is_some());
        let phases: Vec<_> = phases.into_iter().filter(measured).collect();
        let heads = phases.iter().map(|name| format!("{name:>16}")).collect::<String>();
        line(format_args!("{:>9}{heads}", "count"));
        for row in rows {
            let cells = phases.iter().map(|name| {
                let of = |rows: &Rows<f64>| rows.get(name).copied().unwrap_or(0.0);
                format!("{:8.3}{:8.3}", of(&row.main_ms), of(&row.worker_ms))
            });
            line(format_args!("{:9}{}", row.count, cells.collect::<String>()));
        }
    }
    line(format_args!(""));
    for LeftOut { playback, count, why } in &report.left_out {
        line(format_args!("left out: {count} with {} playback: {why}", name(*playback)));
    }
    for check in &report.checks {
        line(format_args!("{check}"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_crowd_is_always_among_them() {
        assert_eq!(counts(1), [1]);
        assert_eq!(counts(5_000), [1_000, 2_000, 5_000]);
        assert_eq!(counts(7_000), [1_000, 2_000, 5_000, 7_000]);
        assert_eq!(counts(1_000_000), COUNTS);
    }

    #[test]
    fn as_many_are_in_view_as_were_asked_for_however_many_there_are() {
        let args = ScalingBenchArgs {
            json: false,
            character: Vec::new(),
            max: 2_000,
            visible: 300,
            threads: 1,
            turns: 1,
        };
        let report = measure(&args).unwrap();
        assert!(report.left_out.is_empty());
        let counts: Vec<_> = report.rows.iter().map(|row| row.count).collect();
        assert_eq!(counts, [1_000, 2_000, 1_000, 2_000]);
        for row in &report.rows {
            // People walk in and out of view; with graphs they do so for longer.
            assert!((row.visible - 300.0).abs() < 45.0, "{row:?}");
            assert!(row.evaluated >= row.visible, "{row:?}");
            assert!(row.bytes_per_character > 100.0 && row.resident_bytes_per_character.is_none());
            assert!(row.main_ms.get("execute").is_some() && row.main_ms.get("upload").is_none());
        }
        let text = table(&report);
        assert!(text.contains("simple playback") && text.contains("graph playback"), "{text}");
        assert!(text.contains("(bar 20"), "{text}");
    }
}
