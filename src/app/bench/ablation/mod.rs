//! `throng bench ablation`: what each of the means that keep a crowd cheap is worth. One run has them
//! all, one each has one of them switched off, and one has none; they take turns, so that a machine
//! with other work disturbs all alike. Then, for each, the largest crowd that holds sixty frames a
//! second is looked for.
//!
//! What is seen is what the program shows unasked: the disc from its edge, about a third of it out of
//! view, a part of it far away. Frames are whole, encoding and shadows included, on the backend that
//! draws nothing: the GPU's share of sixty frames a second is not in them.

mod search;

use super::frames::{FrameMs, Frames, cast, plain_run};
use super::{median, print, put};
use crate::app::characters::Cast;
use crate::app::cli::VisibilityArg;
use crate::app::cli::values::whole;
use crate::app::cli::{PlaybackArg, RunConfig};
use crate::app::exit::Failure;
use crate::app::report::machine::Machine;
use crate::crowd::CrowdError;
use crate::math::SimdLevel;
use search::{Found, largest};
use serde::Serialize;
use std::path::PathBuf;
use std::time::Duration;

/// Frames of one turn: a whole number of turns of everybody who is evaluated every 2, 3 or 4 frames.
const TURN: usize = 12;
/// Frames of each turn that are not timed: the others' turns have emptied the caches.
const WARMUP: usize = 1;
/// Frames until everybody is in view, evaluated and uploaded.
const SETTLE: usize = 20;
/// Frames whose median decides whether a crowd holds sixty a second.
const SEARCH: usize = 24;

/// The command's arguments.
#[derive(clap::Args, Clone, Debug)]
pub struct AblationBenchArgs {
    /// Print one JSON object instead of a table
    #[arg(long)]
    pub json: bool,
    /// A glTF file (.gltf or .glb), or the built-in `humanoid` or `quadruped`; repeat it to mix
    /// [default: both built-ins]
    #[arg(long, value_name = "PATH")]
    pub character: Vec<PathBuf>,
    /// How many characters the ratios are of
    #[arg(long, short = 'n', value_name = "N", allow_negative_numbers = true, default_value_t = 10_000,
          value_parser = whole("a count", 1..=1_000_000_u32, 10_000))]
    pub count: u32,
    /// What plays the characters
    #[arg(long, value_enum, default_value_t = PlaybackArg::Graph)]
    pub playback: PlaybackArg,
    /// How often each run has its turn of twelve frames
    #[arg(long, value_name = "N", allow_negative_numbers = true, default_value_t = 15,
          value_parser = whole("a number of turns", 1..=100_000_u32, 15))]
    pub turns: u32,
    /// Seconds after which the search for a largest crowd ends with what it has; 0 searches for none
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true, default_value_t = 3,
          value_parser = whole("a number of seconds", 0..=3_600_u64, 3))]
    pub search: u64,
}

/// What is switched off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Off {
    Nothing,
    /// Tasks that the output does not depend on are executed.
    Pruning,
    /// No task writes into a buffer that it is the last to read.
    Stealing,
    /// Everybody is evaluated in every frame.
    UpdateRate,
    /// Whoever is out of view is evaluated.
    Visibility,
    /// Everybody is animated by all bones.
    SkeletonLod,
    /// The kernels' scalar twins.
    Simd,
    /// One worker.
    Threads,
    All,
}

impl Off {
    const ALL: [Self; 9] = [
        Self::Nothing,
        Self::Pruning,
        Self::Stealing,
        Self::UpdateRate,
        Self::Visibility,
        Self::SkeletonLod,
        Self::Simd,
        Self::Threads,
        Self::All,
    ];

    fn name(self) -> &'static str {
        match self {
            Self::Nothing => "nothing",
            Self::Pruning => "pruning",
            Self::Stealing => "stealing",
            Self::UpdateRate => "update rate",
            Self::Visibility => "visibility",
            Self::SkeletonLod => "skeleton LOD",
            Self::Simd => "SIMD",
            Self::Threads => "threads",
            Self::All => "all of them",
        }
    }

    fn configure(self, config: &RunConfig) -> RunConfig {
        let off = |one: Self| self == one || self == Self::All;
        RunConfig {
            prune: !off(Self::Pruning),
            steal: !off(Self::Stealing),
            update_rate: !off(Self::UpdateRate),
            visibility: if off(Self::Visibility) { VisibilityArg::Off } else { config.visibility },
            skeleton_lod: !off(Self::SkeletonLod),
            simd: if off(Self::Simd) { SimdLevel::Scalar } else { config.simd },
            threads: if off(Self::Threads) { Some(1) } else { config.threads },
            ..config.clone()
        }
    }
}

/// One run.
#[derive(Serialize)]
struct Row {
    switched_off: Off,
    /// A whole frame, median.
    ms: f64,
    /// Against the run with nothing switched off, median of the turns.
    ratio: f64,
    /// Of the frame, cull to gather; and that against the run with nothing switched off.
    animation_ms: f64,
    animation_ratio: f64,
    /// In the last frame.
    visible: f64,
    evaluated: f64,
    lod_cut: f64,
    /// The largest crowd that was seen to hold sixty frames a second.
    #[serde(skip_serializing_if = "Option::is_none")]
    largest_crowd_60fps: Option<u32>,
    /// The smallest that was seen not to, if there was time for one.
    #[serde(skip_serializing_if = "Option::is_none")]
    too_large: Option<u32>,
}

#[derive(Serialize)]
struct Report {
    machine: Machine,
    count: u32,
    playback: PlaybackArg,
    rows: Vec<Row>,
}

/// Measures and prints.
///
/// # Errors
/// A character that can't be read or animated, a crowd that does not fit into memory, or standard
/// output that can't be written.
pub fn run(args: &AblationBenchArgs) -> Result<(), Failure> {
    let report = measure(args)?;
    print(&report, args.json, |report| table(args, report))
}

/// A run and the medians of its turns.
struct Turns {
    off: Off,
    frames: Frames,
    turns: Vec<FrameMs>,
}

impl Turns {
    fn new(off: Off, config: &RunConfig, cast: &Cast) -> Result<Self, Failure> {
        let mut frames = Frames::new(off.configure(config), cast.clone())?;
        frames.measure(SETTLE, 0)?;
        Ok(Self { off, frames, turns: Vec::new() })
    }

    /// How many times as long as `other` it takes, by one of its numbers.
    fn against(&self, other: &Self, of: fn(&FrameMs) -> f64) -> f64 {
        let turns = self.turns.iter().zip(&other.turns);
        median(turns.map(|(own, other)| of(own) / of(other)).collect())
    }

    fn row(&self, whole: &Self) -> Row {
        let FrameMs { whole: ms, animation } = FrameMs::medians(&self.turns);
        let crowd = self.frames.show().report().crowd;
        Row {
            switched_off: self.off,
            ms,
            ratio: self.against(whole, |frame| frame.whole),
            animation_ms: animation,
            animation_ratio: self.against(whole, |frame| frame.animation),
            visible: crowd.visible.mean,
            evaluated: crowd.evaluated.mean,
            lod_cut: crowd.lod_cut.mean,
            largest_crowd_60fps: None,
            too_large: None,
        }
    }
}

fn measure(args: &AblationBenchArgs) -> Result<Report, Failure> {
    let threads = crate::app::cpu::threads();
    let config = RunConfig {
        count: args.count,
        playback: args.playback,
        threads: Some(threads),
        frames: None,
        warmup: SETTLE as u64,
        ..plain_run(&args.character)?
    };
    let cast = cast(&config)?;
    let mut rows = ratios(&config, &cast, args.turns)?;
    if args.search > 0 {
        for row in &mut rows {
            let off = row.switched_off;
            let time = |count| crowd_ms(RunConfig { count, ..off.configure(&config) }, &cast);
            let known = (args.count, row.ms);
            let Found { held, missed } = largest(known, Duration::from_secs(args.search), time)?;
            (row.largest_crowd_60fps, row.too_large) = (Some(held), missed);
        }
    }
    let machine = Machine::on_noop(threads, config.simd);
    Ok(Report { machine, count: args.count, playback: args.playback, rows })
}

/// All runs by turns.
fn ratios(config: &RunConfig, cast: &Cast, turns: u32) -> Result<Vec<Row>, Failure> {
    let runs = Off::ALL.map(|off| Turns::new(off, config, cast));
    let mut runs = runs.into_iter().collect::<Result<Vec<_>, _>>()?;
    for turn in 0..turns as usize {
        for at in order(turn, runs.len()) {
            let run = &mut runs[at];
            run.turns.push(run.frames.measure(WARMUP, TURN)?);
        }
    }
    Ok(runs.iter().map(|run| run.row(&runs[0])).collect())
}

/// The order of `count` runs in a turn. Each comes first as often as any other, and not always after
/// the same one, whose memory it finds in the caches.
fn order(turn: usize, count: usize) -> impl Iterator<Item = usize> {
    let divides = |d: usize, step: usize| step.is_multiple_of(d) && count.is_multiple_of(d);
    let coprime = |step: &usize| !(2..=*step).any(|d| divides(d, *step));
    let steps: Vec<usize> = (1..count.max(2)).filter(coprime).collect();
    let step = steps[turn % steps.len()];
    (0..count).map(move |at| (turn + at * step) % count)
}

/// What a frame of such a crowd takes, milliseconds; `None` for one that does not fit into memory.
fn crowd_ms(config: RunConfig, cast: &Cast) -> Result<Option<f64>, Failure> {
    match Frames::new(config, cast.clone()) {
        Ok(mut frames) => Ok(Some(frames.measure(SETTLE, SEARCH)?.whole)),
        Err(Failure::Fault(error)) if error.is::<CrowdError>() => Ok(None),
        Err(failure) => Err(failure),
    }
}

fn table(args: &AblationBenchArgs, report: &Report) -> String {
    let mut text = String::new();
    let mut line = |words: std::fmt::Arguments<'_>| put(&mut text, words);
    let Machine { cpu, simd, threads, .. } = &report.machine;
    let playback = match report.playback {
        PlaybackArg::Simple => "simple",
        PlaybackArg::Graph => "graph",
    };
    line(format_args!(
        "{cpu}, {simd}, workers: {threads}; {} characters with {playback} playback, whole frames on \
         the noop backend",
        report.count
    ));
    line(format_args!(
        "{:13} {:>9} {:>6} {:>13} {:>6} {:>8} {:>10} {:>8} {:>14}",
        "switched off",
        "frame, ms",
        "ratio",
        "animation, ms",
        "ratio",
        "visible",
        "evaluated",
        "LOD cut",
        "largest at 60"
    ));
    for row in &report.rows {
        let largest = row.largest_crowd_60fps.map_or(String::new(), |count| count.to_string());
        line(format_args!(
            "{:13} {:9.3} {:6.2} {:13.3} {:6.2} {:8.0} {:10.0} {:8.0} {largest:>14}",
            row.switched_off.name(),
            row.ms,
            row.ratio,
            row.animation_ms,
            row.animation_ratio,
            row.visible,
            row.evaluated,
            row.lod_cut,
        ));
    }
    if args.search > 0 {
        line(format_args!(
            "largest at 60: by runs of {SEARCH} frames whose median is a sixtieth of a second or \
             less, to a fiftieth or for {} s",
            args.search
        ));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_take_turns_and_come_after_others_than_before() {
        for count in [1, 2, 9] {
            let (mut first, mut after) = (vec![0; count], vec![Vec::new(); count]);
            for turn in 0..18 {
                let order: Vec<usize> = order(turn, count).collect();
                first[order[0]] += 1;
                order.windows(2).for_each(|pair| after[pair[1]].push(pair[0]));
                let mut all = order;
                all.sort_unstable();
                assert!(all.into_iter().eq(0..count));
            }
            assert_eq!(first, vec![18 / count; count]);
            for mut before in after.into_iter().filter(|_| count == 9) {
                before.sort_unstable();
                before.dedup();
                assert!(before.len() >= 6, "{before:?}");
            }
        }
    }

    #[test]
    fn each_is_switched_off_alone_and_all_together() {
        let config = RunConfig { threads: Some(2), ..plain_run(&[]).unwrap() };
        let switches = |off: Off| {
            let c = off.configure(&config);
            let simd = c.simd == config.simd;
            let threads = c.threads == config.threads;
            let visible = c.visibility == VisibilityArg::On;
            [c.prune, c.steal, c.update_rate, visible, c.skeleton_lod, simd, threads]
        };
        assert_eq!(switches(Off::Nothing), [true; 7]);
        if config.simd != SimdLevel::Scalar {
            assert_eq!(switches(Off::All), [false; 7]);
        }
        for (at, off) in Off::ALL[1..8].iter().enumerate() {
            let expected: [bool; 7] = std::array::from_fn(|i| i != at);
            if *off != Off::Simd || config.simd != SimdLevel::Scalar {
                assert_eq!(switches(*off), expected, "{off:?}");
            }
        }
    }

    #[test]
    fn what_is_switched_off_changes_who_is_evaluated_and_how() {
        let config = plain_run(&[]).unwrap();
        let config = RunConfig { count: 600, threads: Some(2), ..config };
        let rows = ratios(&config, &cast(&config).unwrap(), 1).unwrap();
        let of = |off: Off| rows.iter().find(|row| row.switched_off == off).unwrap();
        let nothing = of(Off::Nothing);
        assert_eq!((nothing.ratio, nothing.animation_ratio), (1.0, 1.0));
        assert!(nothing.visible < 600.0 && nothing.evaluated <= nothing.visible);
        assert!(of(Off::Visibility).evaluated > nothing.evaluated);
        assert_eq!((of(Off::All).evaluated, of(Off::All).lod_cut), (600.0, 0.0));
        for off in [Off::Pruning, Off::Stealing, Off::Simd, Off::Threads] {
            assert_eq!(of(off).evaluated, nothing.evaluated, "{off:?}");
        }
    }
}
