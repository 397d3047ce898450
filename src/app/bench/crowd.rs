//! `throng bench crowd`: what a character in view costs the processor in a whole frame, from the
//! camera's step to what is submitted, on the backend that draws nothing.
//!
//! Four runs of one crowd take turns, a dozen frames each, so that a machine with other work disturbs
//! all alike: everybody at full rate and with the default gates, on one worker and on two. While the
//! workers animate, the main thread waits, and while it draws, they do; with one worker, then, a frame
//! takes as long as it keeps processors busy, and that is the cost that is told.

use super::frames::{Frames, cast, plain_run};
use super::gpu;
use super::{median, print, put};
use crate::app::characters::Cast;
use crate::app::cli::values::whole;
use crate::app::cli::{CameraArg, PlaybackArg, RunConfig};
use crate::app::cpu;
use crate::app::exit::Failure;
use crate::app::report::machine::Machine;
use crate::app::report::{Report, Rows, Summary};
use crate::math::SimdLevel;
use crate::profile::Phase;
use serde::Serialize;
use std::path::PathBuf;

/// Frames of one turn: a whole number of turns of everybody who is evaluated every 2, 3 or 4 frames.
const TURN: usize = 12;
/// Frames of each turn that are not timed: the others' turns have emptied the caches.
const WARMUP: usize = 1;
/// Microseconds that a character may cost: at full rate, and with the default gates.
const BARS_US: [f64; 2] = [1.3, 0.65];
/// How many times faster two workers must be than one.
const BAR_THREADS: f64 = 1.7;

/// The command's arguments.
#[derive(clap::Args, Clone, Debug)]
pub struct CrowdBenchArgs {
    /// Print one JSON object instead of tables
    #[arg(long)]
    pub json: bool,
    /// A glTF file (.gltf or .glb), or the built-in `humanoid` or `quadruped`; repeat it to mix
    /// [default: quadruped]
    #[arg(long, value_name = "PATH")]
    pub character: Vec<PathBuf>,
    /// How many characters, one crowd after the other
    #[arg(long, value_name = "N,N", value_delimiter = ',', allow_negative_numbers = true, default_value = "1000,5000,20000",
          value_parser = whole("a count", 1..=1_000_000_u32, 5000))]
    pub counts: Vec<u32>,
    /// Where they are seen from; `far` sees everybody
    #[arg(long, value_enum, default_value_t = CameraArg::Far)]
    pub camera: CameraArg,
    /// How often each run has its turn of twelve frames
    #[arg(long, value_name = "N", allow_negative_numbers = true, default_value_t = 15,
          value_parser = whole("a number of turns", 1..=100_000_u32, 15))]
    pub turns: u32,
    /// Measure on this GPU instead, pass by pass, with shadows and the default gates: an index or a
    /// part of a name from `throng adapters`, or `best` for the one that a run would take
    #[arg(long, value_name = "NAME", conflicts_with = "turns")]
    pub adapter: Option<String>,
}

/// One run.
#[derive(Serialize)]
struct Row {
    count: u32,
    playback: PlaybackArg,
    /// Distant characters are spared.
    gates: bool,
    threads: usize,
    /// In the camera's view, mean.
    in_view: f64,
    /// The whole frame on the wall clock, median.
    ms: f64,
    /// Of it, cull to gather.
    animation_ms: f64,
    /// The frame for each character in view; with one worker it is what a character costs.
    us_per_character: f64,
    /// What that must not exceed. With one worker.
    #[serde(skip_serializing_if = "Option::is_none")]
    bar_us: Option<f64>,
    /// Processor time that the system counted in all threads, for each character in view.
    #[serde(skip_serializing_if = "Option::is_none")]
    busy_us_per_character: Option<f64>,
    /// How many times faster than with one worker: median of the turns. With two.
    #[serde(skip_serializing_if = "Option::is_none")]
    times_faster: Option<f64>,
    /// The same of the part that is the workers', cull to gather.
    #[serde(skip_serializing_if = "Option::is_none")]
    animation_times_faster: Option<f64>,
    /// What the first of the two must reach. With two.
    #[serde(skip_serializing_if = "Option::is_none")]
    bar_times: Option<f64>,
    report: Report,
}

#[derive(Serialize)]
struct Measured {
    machine: Machine,
    rows: Vec<Row>,
}

/// Measures and prints.
///
/// # Errors
/// A character that can't be read or animated, a crowd that does not fit into memory, or standard
/// output that can't be written.
pub fn run(args: &CrowdBenchArgs) -> Result<(), Failure> {
    let characters = match args.character.as_slice() {
        [] => &["quadruped".into()],
        named => named,
    };
    let config = RunConfig { camera: args.camera, shadows: false, ..plain_run(characters)? };
    let cast = cast(&config)?;
    if let Some(adapter) = &args.adapter {
        let config = RunConfig { shadows: true, playback: PlaybackArg::Graph, ..config };
        return gpu::run(&gpu::config(config, adapter), &cast, &args.counts, args.json);
    }
    let mut rows = Vec::new();
    for playback in [PlaybackArg::Simple, PlaybackArg::Graph] {
        for &count in &args.counts {
            let config = RunConfig { playback, count, ..config.clone() };
            rows.extend(measure(&config, &cast, args.turns)?);
        }
    }
    let machine = Machine::on_noop(2, SimdLevel::best());
    let measured = Measured { machine, rows };
    print(&measured, args.json, table)
}

/// A run that takes turns with others.
struct Turns {
    gates: bool,
    threads: usize,
    frames: Frames,
    /// Medians of each turn.
    whole_ms: Vec<f64>,
    animation_ms: Vec<f64>,
    busy_ns: Option<u64>,
    timed: u64,
}

impl Turns {
    fn new(config: &RunConfig, cast: &Cast, gates: bool, threads: usize) -> Result<Self, Failure> {
        let config = RunConfig {
            update_rate: gates,
            skeleton_lod: gates,
            threads: Some(threads),
            frames: None,
            warmup: WARM_UP_FRAMES,
            ..config.clone()
        };
        let mut frames = Frames::new(config, cast.clone())?;
        for _ in 0..WARM_UP_FRAMES {
            frames.next()?;
        }
        let (whole_ms, animation_ms) = (Vec::new(), Vec::new());
        Ok(Self { gates, threads, frames, whole_ms, animation_ms, busy_ns: Some(0), timed: 0 })
    }

    fn turn(&mut self) -> Result<(), Failure> {
        for _ in 0..WARMUP {
            self.frames.next()?;
        }
        let before = cpu::busy_ns();
        let ms = self.frames.measure(0, TURN)?;
        // Less than before: a thread has ended meanwhile and took its time along.
        let spent =
            cpu::busy_ns().zip(before).and_then(|(after, before)| after.checked_sub(before));
        self.busy_ns = self.busy_ns.zip(spent).map(|(sum, ns)| sum + ns);
        self.timed += TURN as u64;
        self.whole_ms.push(ms.whole);
        self.animation_ms.push(ms.animation);
        Ok(())
    }
}

/// Frames until everybody is in view, evaluated and uploaded.
const WARM_UP_FRAMES: u64 = 20;

/// The four runs of one crowd.
fn measure(config: &RunConfig, cast: &Cast, turns: u32) -> Result<Vec<Row>, Failure> {
    let runs = [(false, 1), (false, 2), (true, 1), (true, 2)];
    let runs = runs.map(|(gates, threads)| Turns::new(config, cast, gates, threads));
    let mut runs = runs.into_iter().collect::<Result<Vec<_>, _>>()?;
    for turn in 0..turns as usize {
        // Each comes first as often as any other.
        let first = turn % runs.len();
        let (earlier, later) = runs.split_at_mut(first);
        later.iter_mut().chain(earlier).try_for_each(Turns::turn)?;
    }
    let alone = |gates: bool| runs.iter().find(|r| r.gates == gates && r.threads == 1);
    Ok(runs.iter().map(|run| row(config, run, alone(run.gates))).collect())
}

/// What came of a run; `alone` is the same on one worker.
fn row(config: &RunConfig, run: &Turns, alone: Option<&Turns>) -> Row {
    let report = run.frames.show().report();
    let in_view = report.render.as_ref().map_or(0.0, |r| r.instances.mean);
    let ms = median(run.whole_ms.clone());
    let us = |ms: f64| ms * 1e3 / in_view;
    let busy_ms = |ns: u64| ns as f64 * 1e-6 / run.timed as f64;
    let alone = alone.filter(|_| run.threads > 1);
    let faster = |of: fn(&Turns) -> &[f64]| {
        alone.map(|alone| {
            let turns = of(alone).iter().zip(of(run));
            median(turns.map(|(one, two)| one / two).collect())
        })
    };
    Row {
        count: config.count,
        playback: config.playback,
        gates: run.gates,
        threads: run.threads,
        in_view,
        ms,
        animation_ms: median(run.animation_ms.clone()),
        us_per_character: us(ms),
        bar_us: alone.is_none().then(|| BARS_US[usize::from(run.gates)]),
        busy_us_per_character: run.busy_ns.map(|ns| us(busy_ms(ns))),
        times_faster: faster(|turns| &turns.whole_ms),
        animation_times_faster: faster(|turns| &turns.animation_ms),
        bar_times: alone.map(|_| BAR_THREADS),
        report,
    }
}

fn table(measured: &Measured) -> String {
    let mut text = String::new();
    let Machine { cpu, simd, .. } = &measured.machine;
    put(&mut text, format_args!("{cpu}, {simd}; whole frames on the noop backend, no shadows"));
    for rows in measured.rows.chunk_by(|a, b| (a.count, a.playback) == (b.count, b.playback)) {
        crowd_table(rows, &mut text);
    }
    text
}

/// The runs of one crowd: what a character costs, then where it goes.
fn crowd_table(rows: &[Row], text: &mut String) {
    let mut line = |words: std::fmt::Arguments<'_>| put(text, words);
    let Some(first) = rows.first() else { return };
    let playback = match first.playback {
        PlaybackArg::Simple => "simple",
        PlaybackArg::Graph => "graph",
    };
    line(format_args!(
        "\n{} characters, {playback} playback, {:.0} in view",
        first.count, first.in_view
    ));
    for row in rows {
        let gates = if row.gates { "default gates" } else { "full rate" };
        let evaluated = row.report.crowd.evaluated.mean;
        let busy = row.busy_us_per_character.map_or(String::new(), |us| format!(", busy {us:.3}"));
        let bar = row.bar_us.map_or(String::new(), |bar| format!(" (bar {bar:.2})"));
        let faster = row.times_faster.zip(row.animation_times_faster);
        let faster = faster.map_or(String::new(), |(whole, animation)| {
            format!(
                ", {whole:.2} times faster than 1 worker (bar {BAR_THREADS:.2}), its animation \
                 {animation:.2} times"
            )
        });
        line(format_args!(
            "{gates:13} {} worker{} {evaluated:7.0} evaluated {:8.3} ms {:7.3} us{bar}{busy}{faster}",
            row.threads,
            if row.threads == 1 { ", " } else { "s," },
            row.ms,
            row.us_per_character,
        ));
    }
    let heads = rows.iter().map(|row| {
        let gates = if row.gates { "gates" } else { "full" };
        format!("{:>18}", format!("{gates} on {}", row.threads))
    });
    line(format_args!("{:8}{}", "ms", heads.collect::<String>()));
    for phase in Phase::ALL {
        let times = rows.iter().map(|row| {
            let of = |rows: &Rows<Summary>| rows.get(phase.name()).map(|summary| summary.p50);
            match (of(&row.report.ms), of(&row.report.worker_ms)) {
                (Some(main), Some(workers)) => format!("{main:9.3} {workers:8.3}"),
                (Some(main), None) => format!("{main:9.3} {:8}", ""),
                (None, _) => format!("{:18}", ""),
            }
        });
        let times = times.collect::<String>();
        if !times.trim().is_empty() {
            line(format_args!("{:8}{}", phase.name(), times.trim_end()));
        }
    }
    line(format_args!("each: main thread, workers together"));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(camera: CameraArg) -> Vec<Row> {
        let config = RunConfig { camera, shadows: false, ..plain_run(&[]).unwrap() };
        let config = RunConfig { count: 300, playback: PlaybackArg::Simple, ..config };
        measure(&config, &cast(&config).unwrap(), 2).unwrap()
    }

    #[test]
    fn all_are_in_view_of_the_far_camera_and_gates_alone_spare_some() {
        let rows = rows(CameraArg::Far);
        assert_eq!(rows.len(), 4);
        for row in &rows {
            let Report { frames, crowd, render, .. } = &row.report;
            assert_eq!(row.in_view, 300.0);
            assert_eq!(frames.measured, 2 * (TURN + WARMUP) as u64);
            assert!(render.as_ref().is_some_and(|r| r.draws.mean > 0.0));
            assert_eq!(crowd.evaluated.mean < 300.0, row.gates, "{:?}", crowd.evaluated);
            assert_eq!(row.report.machine.threads, row.threads);
            let (alone, us) = (row.threads == 1, row.ms * 1e3 / 300.0);
            assert_eq!((row.bar_us.is_some(), row.times_faster.is_none()), (alone, alone));
            assert!((row.us_per_character - us).abs() < 1e-9 && row.animation_ms < row.ms);
        }
        let bars: Vec<_> = rows.iter().filter_map(|row| row.bar_us).collect();
        assert_eq!(bars, BARS_US);
    }

    #[test]
    fn costs_are_shared_among_those_in_view() {
        let rows = rows(CameraArg::Near);
        assert!(rows.iter().all(|row| row.in_view > 0.0 && row.in_view < 300.0));
        let text = table(&Measured {
            machine: Machine {
                cpu: "a processor".into(),
                threads: 2,
                simd: "scalar".into(),
                adapter: None,
                backend: None,
            },
            rows,
        });
        for words in ["full rate", "default gates", "execute", "upload", "times faster"] {
            assert!(text.contains(words), "{words}: {text}");
        }
    }
}
