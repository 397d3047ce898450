//! `throng recording`: what a recording is of, what its lists take, and what the wire's form of
//! them costs in bytes and in millimetres.

use super::wire::{Bench, Totals};
use super::{RecordedRun, check_kinds, check_places, open, playing};
use crate::app::cli::CharacterRef;
use crate::app::exit::Failure;
use crate::app::placing::{Extras, place};
use crate::app::report::text::grouped;
use crate::app::{characters, memory, output};
use crate::crowd::{Bytes, CrowdConfig};
use crate::index::CharacterKind;
use anyhow::Context;
use clap::Args;
use serde::Serialize;
use std::fmt::Write;
use std::path::PathBuf;

/// What `throng recording` is told.
#[derive(Args, Clone, Debug)]
pub struct RecordingArgs {
    /// A file that --record wrote
    pub file: PathBuf,
    /// Where a character of the recording is now, in the recording's order [default: as recorded]
    #[arg(long, value_name = "PATH")]
    pub character: Vec<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

/// What a recording holds.
#[derive(Clone, Debug, Serialize)]
struct Report {
    file: String,
    characters: Vec<String>,
    /// What played each of them; null for one that no graph did.
    graphs: Vec<Option<String>>,
    count: u32,
    /// Came and went while it was recorded.
    spawned: u64,
    despawned: u64,
    frames: u64,
    /// World seconds.
    seconds: f64,
    /// Of the file.
    bytes: u64,
    /// Evaluated characters, all frames together.
    lists: u64,
    /// Mean of a list.
    tasks_per_list: f64,
    exact: Form,
    wire: Form,
    error: WireError,
}

/// A form of lists.
#[derive(Clone, Copy, Debug, Default, Serialize)]
struct Form {
    /// Mean of a list, without id, root motion and length.
    bytes_per_character: f64,
}

/// How far bones stand from where the exact form puts them, each form with what its own frames
/// before have left in transitions and snapshots.
#[derive(Clone, Copy, Debug, Default, Serialize)]
struct WireError {
    /// Lists that were executed in both forms.
    lists: u64,
    /// Of any bone, millimetres in the world.
    max_mm: f64,
    /// Root of the mean square over all bones.
    rms_mm: f64,
}

/// Prints what a recording holds.
///
/// # Errors
/// When the file or its characters can't be read.
pub fn run(args: &RecordingArgs) -> Result<(), Failure> {
    let report = measure(args)?;
    let text =
        if args.json { serde_json::to_string_pretty(&report)? + "\n" } else { table(&report) };
    Ok(output::print(&text)?)
}

fn measure(args: &RecordingArgs) -> Result<Report, Failure> {
    let path = &args.file;
    let name = || path.display().to_string();
    let mut reader = open(path)?;
    let run = RecordedRun::of_recording(path, reader.header())?;
    let refs = match args.character.as_slice() {
        [] => run.characters.clone(),
        named => named.iter().map(|p| CharacterRef::new(p)).collect(),
    };
    let cast = characters::load(&refs, &run.build(), run.fit_height, false)?;
    check_kinds(path, &reader.header().kinds, &cast)?;
    let names = cast.members.iter().map(|m| m.asset.name.clone()).collect();
    let sizes: Vec<(f32, f32)> =
        cast.members.iter().map(|m| (m.asset.bounds.size().max_element(), m.scale)).collect();
    let placed = CrowdConfig {
        count: run.count,
        spawning: run.spawn.into(),
        seed: run.seed,
        layout: run.layout.into(),
        terrain: run.ground.terrain(run.seed),
        memory_limit: memory::crowd_limit(),
        ..CrowdConfig::default()
    };
    let kinds = &reader.header().kinds;
    let graphs = kinds.iter().map(|k| k.graph.as_ref().map(|g| g.name.clone())).collect();
    let mut crowd =
        place(placed, cast, &run.weights, playing(reader.header()).into(), Extras::default())?;
    crowd.follow_some(run.followers, run.seed)?;
    check_places(path, reader.header(), &crowd)?;
    let contexts = (0u16..).map_while(|kind| crowd.list_context(CharacterKind(kind)));
    let benches = contexts.zip(sizes).map(|(of, (size, metres))| Bench::new(of, size, metres));
    let mut benches: Vec<_> = benches.collect();
    let totals = Totals::of(&mut reader, &crowd, &mut benches).with_context(name)?;
    let lists = totals.lists.max(1) as f64;
    Ok(Report {
        file: name(),
        characters: names,
        graphs,
        count: run.count,
        spawned: totals.spawned,
        despawned: totals.despawned,
        frames: reader.frames(),
        seconds: totals.seconds,
        bytes: std::fs::metadata(path).with_context(name)?.len(),
        lists: totals.lists,
        tasks_per_list: totals.tasks as f64 / lists,
        exact: Form { bytes_per_character: totals.exact as f64 / lists },
        wire: Form { bytes_per_character: totals.wire as f64 / lists },
        error: WireError {
            lists: totals.measured,
            max_mm: totals.max,
            rms_mm: (totals.squares / (totals.bones.max(1) as f64)).sqrt(),
        },
    })
}

fn table(report: &Report) -> String {
    let mut text = String::new();
    let mut row = |name: &str, value: String| {
        // Writing to a string does not fail.
        let _ = writeln!(text, "{name:14}{value}");
    };
    let frames = report.frames.max(1) as f64;
    let played = report.characters.iter().zip(&report.graphs);
    let kinds = played.map(|(name, graph)| match graph {
        Some(graph) => format!("{name} by graph {graph}"),
        None => name.clone(),
    });
    let kinds = kinds.collect::<Vec<_>>().join(", ");
    row("characters", format!("{} ({kinds})", grouped(report.count.into())));
    if report.spawned + report.despawned > 0 {
        let (came, went) = (report.spawned as f64, report.despawned as f64);
        row("turnover", format!("{} came, {} went", grouped(came), grouped(went)));
    }
    row("frames", format!("{}, {:.2} s", grouped(report.frames as f64), report.seconds));
    row("evaluated", format!("{} a frame", grouped(report.lists as f64 / frames)));
    row("file", Bytes(report.bytes).to_string());
    row("list", format!("{:.2} tasks", report.tasks_per_list));
    row("exact", format!("{:.1} bytes a character", report.exact.bytes_per_character));
    row("wire", format!("{:.1} bytes a character", report.wire.bytes_per_character));
    let WireError { lists, max_mm, rms_mm } = report.error;
    row(
        "wire's error",
        format!("{max_mm:.3} mm at most, {rms_mm:.4} mm rms, of {} lists", grouped(lists as f64)),
    );
    text
}
