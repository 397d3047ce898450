//! `throng recording`: what a recording is of, what its lists take, and what the wire's form of
//! them costs in bytes and in millimetres.

use super::{RecordedRun, check_kinds, open};
use crate::app::cli::CharacterRef;
use crate::app::exit::Failure;
use crate::app::report::text::grouped;
use crate::app::show::place;
use crate::app::{characters, memory, output};
use crate::crowd::{Bytes, Crowd, CrowdConfig, read_frame};
use crate::index::{CharacterId, CharacterKind};
use crate::math::Mat3x4;
use crate::pose::Rig;
use crate::task::serial::{self, WireScale};
use crate::task::{TaskList, Worker, WorkerOptions};
use anyhow::Context;
use clap::Args;
use serde::Serialize;
use std::fmt::Write;
use std::path::PathBuf;
use std::sync::Arc;

/// Lists that are executed in both forms, at most.
const MEASURED: u64 = 20_000;

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
    count: u32,
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

/// How far bones stand from where the exact form puts them. Each list by itself: transitions and
/// snapshots are without the frames before.
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

/// A kind of character and what its lists are executed with.
struct Bench {
    rig: Arc<Rig>,
    scale: WireScale,
    /// World millimetres in a model unit.
    millimetres: f64,
    palettes: [Vec<Mat3x4>; 2],
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
    let sizes: Vec<f32> =
        cast.members.iter().map(|m| m.asset.bounds.size().max_element()).collect();
    let scales: Vec<f32> = cast.members.iter().map(|m| m.scale).collect();
    let placed = CrowdConfig {
        count: run.count,
        seed: run.seed,
        layout: run.layout.into(),
        memory_limit: memory::crowd_limit(),
        ..CrowdConfig::default()
    };
    let crowd = place(placed, cast, Vec::new())?;
    let mut benches: Vec<Bench> = (0u16..)
        .zip(sizes.iter().zip(&scales))
        .filter_map(|(kind, (size, scale))| {
            let rig = Arc::clone(crowd.rig(CharacterKind(kind))?);
            let palette = vec![Mat3x4::IDENTITY; rig.palette_len()];
            Some(Bench {
                scale: WireScale::new(&rig, *size),
                millimetres: f64::from(*scale) * 1e3,
                palettes: [palette.clone(), palette],
                rig,
            })
        })
        .collect();
    let totals = Totals::of(&mut reader, &crowd, &mut benches).with_context(name)?;
    let lists = totals.lists.max(1) as f64;
    Ok(Report {
        file: name(),
        characters: names,
        count: run.count,
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

/// Sums over a recording.
#[derive(Default)]
struct Totals {
    seconds: f64,
    lists: u64,
    tasks: u64,
    exact: u64,
    wire: u64,
    measured: u64,
    bones: u64,
    squares: f64,
    max: f64,
}

impl Totals {
    fn of(
        reader: &mut super::FileReader,
        crowd: &Crowd,
        benches: &mut [Bench],
    ) -> anyhow::Result<Self> {
        let mut this = Self::default();
        let mut worker = Worker::new(WorkerOptions::default());
        let (mut frame, mut wire) = (Vec::new(), Vec::new());
        let (mut exact, mut rounded) = (TaskList::default(), TaskList::default());
        // About as many lists of each part of the recording.
        let frames = reader.frames().max(1);
        let each = (MEASURED / frames).max(1);
        let mut number = 0;
        while reader.frame(&mut frame)? {
            let mut in_frame = 0;
            let mut fault = None;
            let seconds = read_frame(number, &frame, crowd.count(), &mut |id, bytes| {
                let Some(bench) = bench_of(crowd, benches, id) else { return };
                if let Err(e) = serial::decode(bytes, &mut exact) {
                    fault.get_or_insert(e);
                    return;
                }
                wire.clear();
                serial::encode_wire(&exact, &bench.scale, &mut wire);
                this.lists += 1;
                this.tasks += exact.len() as u64;
                this.exact += bytes.len() as u64;
                this.wire += wire.len() as u64;
                in_frame += 1;
                if in_frame <= each
                    && serial::decode_wire(&wire, &bench.scale, &mut rounded).is_ok()
                {
                    this.compare(&mut worker, bench, &mut exact, &mut rounded);
                }
            })?;
            if let Some(fault) = fault {
                return Err(fault.into());
            }
            this.seconds += seconds;
            number += 1;
        }
        Ok(this)
    }

    /// Executes a list and what the wire makes of it.
    fn compare(
        &mut self,
        worker: &mut Worker,
        bench: &mut Bench,
        exact: &mut TaskList,
        rounded: &mut TaskList,
    ) {
        let Bench { rig, palettes, millimetres, .. } = bench;
        let mut batch = worker.batch();
        let [a, b] = palettes;
        let done = batch.execute(rig, exact, a).and_then(|()| batch.execute(rig, rounded, b));
        batch.finish();
        debug_assert_eq!(done, Ok(()), "palettes are as long as their rig's");
        self.measured += 1;
        for bone in rig.bone_count().bones() {
            let at = |palette: &[Mat3x4]| rig.model_from_bone(palette, bone).map(|m| m.translation);
            if let (Some(a), Some(b)) = (at(a), at(b)) {
                let off = f64::from(a.distance(b)) * *millimetres;
                self.bones += 1;
                self.squares += off * off;
                self.max = self.max.max(off);
            }
        }
    }
}

fn bench_of<'a>(crowd: &Crowd, benches: &'a mut [Bench], id: CharacterId) -> Option<&'a mut Bench> {
    benches.get_mut(crowd.character(id)?.kind.get())
}

fn table(report: &Report) -> String {
    let mut text = String::new();
    let mut row = |name: &str, value: String| {
        // Writing to a string does not fail.
        let _ = writeln!(text, "{name:14}{value}");
    };
    let frames = report.frames.max(1) as f64;
    row(
        "characters",
        format!("{} ({})", grouped(report.count.into()), report.characters.join(", ")),
    );
    row("frames", format!("{}, {:.2} s", grouped(report.frames as f64), report.seconds));
    row("evaluated", format!("{} a frame", grouped(report.lists as f64 / frames)));
    row("file", Bytes(report.bytes).to_string());
    row("tasks", format!("{:.2} a list", report.tasks_per_list));
    row("exact", format!("{:.1} bytes a character", report.exact.bytes_per_character));
    row("wire", format!("{:.1} bytes a character", report.wire.bytes_per_character));
    let WireError { lists, max_mm, rms_mm } = report.error;
    row(
        "wire's error",
        format!("{max_mm:.3} mm at most, {rms_mm:.4} mm rms, of {} lists", grouped(lists as f64)),
    );
    text
}
