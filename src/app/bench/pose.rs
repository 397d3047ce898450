//! `throng bench pose`: four workloads at every level, and plain glam beside them.
//!
//! The workloads run one after the other in every pass, so that a machine that slows down slows
//! all of them; what is printed are medians over the passes. Recording is not part of the time.

use super::passes::{Passes, Rigs, Workload};
use super::workload::BONES;
use super::{kernels, median, print, put};
use crate::app::cli::values::whole;
use crate::app::exit::Failure;
use crate::app::report::machine::Machine;
use crate::math::{Lanes, SimdLevel};
use crate::pose::ClipStore;
use crate::task::{Worker, WorkerOptions};
use serde::Serialize;

/// The command's arguments.
#[derive(clap::Args, Clone, Debug)]
pub struct PoseBenchArgs {
    /// Print one JSON object instead of a table
    #[arg(long)]
    pub json: bool,
    /// How many characters take turns
    #[arg(long, short = 'n', value_name = "N", allow_negative_numbers = true, default_value_t = 2000,
          value_parser = whole("a count", 1..=1_000_000_u32, 2000))]
    pub count: u32,
    /// How many clips they choose from
    #[arg(long, value_name = "N", allow_negative_numbers = true, default_value_t = 8,
          value_parser = whole("a number of clips", 1..=1000_u16, 8))]
    pub clips: u16,
    /// How often everything is measured
    #[arg(long, value_name = "N", allow_negative_numbers = true, default_value_t = 31,
          value_parser = whole("a number of passes", 1..=100_000_u32, 31))]
    pub passes: u32,
    /// Measure this level only (scalar, sse, avx2, avx512 or neon)
    #[arg(long, value_name = "LEVEL")]
    pub simd: Option<SimdLevel>,
    /// Measure 20,000 characters and 64 clips in the same run
    #[arg(long)]
    pub large: bool,
}

/// What `--large` adds: more than caches hold.
const LARGE: (u32, u16) = (20_000, 64);
/// Passes over the smaller crowd for one over the larger.
const LARGE_EVERY: usize = 4;

#[derive(Serialize)]
struct WorkloadRow {
    name: &'static str,
    level: SimdLevel,
    store: ClipStore,
    ns_per_character: f64,
    ns_per_bone: f64,
}

#[derive(Serialize)]
struct BaselineRow {
    name: &'static str,
    ns_per_character: f64,
}

#[derive(Serialize)]
struct StoreRow {
    store: ClipStore,
    /// Of the clips and of as many additive ones.
    clip_bytes: usize,
}

/// One crowd.
#[derive(Serialize)]
struct CrowdRows {
    characters: u32,
    clips: u16,
    stores: Vec<StoreRow>,
    palette_bytes: usize,
    workloads: Vec<WorkloadRow>,
    baseline: Vec<BaselineRow>,
}

#[derive(Serialize)]
struct Report {
    machine: Machine,
    bones: usize,
    #[serde(flatten)]
    crowd: CrowdRows,
    kernels: Vec<kernels::KernelRow>,
    /// With `--large`.
    large: Option<CrowdRows>,
}

/// Measures and prints.
///
/// # Errors
/// A level that the processor lacks, or standard output that can't be written.
pub fn run(args: &PoseBenchArgs) -> Result<(), Failure> {
    let levels: Vec<Lanes> = match args.simd {
        Some(level) => {
            vec![Lanes::new(level).map_err(|e| Failure::Usage(format!("--simd: {e}")))?]
        }
        None => Lanes::all().collect(),
    };
    let report = measure(args, &levels)?;
    print(&report, args.json, table)
}

fn measure(args: &PoseBenchArgs, levels: &[Lanes]) -> Result<Report, Failure> {
    let rigs = Rigs::new(args.clips)?;
    let many = args.large.then(|| Rigs::new(LARGE.1)).transpose()?;
    let mut crowd = Measured::new(&rigs, args.count, levels);
    let mut large = many.as_ref().map(|rigs| Measured::new(rigs, LARGE.0, levels));
    for pass in 0..args.passes as usize {
        crowd.pass(pass)?;
        if let Some(large) = large.as_mut().filter(|_| pass.is_multiple_of(LARGE_EVERY)) {
            large.pass(pass)?;
        }
    }
    Ok(Report {
        machine: Machine::without_gpu(1, SimdLevel::best()),
        bones: BONES,
        crowd: crowd.rows(),
        kernels: kernels::measure(&rigs, levels),
        large: large.map(Measured::rows),
    })
}

/// The times of one crowd.
struct Measured<'a> {
    rigs: &'a Rigs,
    characters: u32,
    levels: &'a [Lanes],
    passes: Passes<'a>,
    workers: Vec<Worker>,
    /// By workload.
    base: Vec<Vec<f64>>,
    /// By workload, store and level.
    ours: Vec<Vec<Vec<f64>>>,
}

impl<'a> Measured<'a> {
    fn new(rigs: &'a Rigs, characters: u32, levels: &'a [Lanes]) -> Self {
        let worker = |&lanes| Worker::new(WorkerOptions { lanes, ..WorkerOptions::default() });
        let columns = ClipStore::ALL.len() * levels.len();
        Self {
            rigs,
            characters,
            levels,
            passes: Passes::new(rigs, characters as usize),
            workers: levels.iter().map(worker).collect(),
            base: vec![Vec::new(); Workload::ALL.len()],
            ours: vec![vec![Vec::new(); columns]; Workload::ALL.len()],
        }
    }

    fn pass(&mut self, pass: usize) -> Result<(), Failure> {
        for (at, workload) in Workload::ALL.into_iter().enumerate() {
            self.base[at].push(self.passes.plain(workload, pass));
            let mut columns = self.ours[at].iter_mut();
            for store in ClipStore::ALL {
                for (worker, times) in self.workers.iter_mut().zip(&mut columns) {
                    let time = self.passes.ours_stored(store, workload, worker, pass)?;
                    times.push(time.execute_ns);
                }
            }
        }
        Ok(())
    }

    fn rows(self) -> CrowdRows {
        let columns =
            ClipStore::ALL.iter().flat_map(|store| self.levels.iter().map(move |l| (store, l)));
        let row = |workload: Workload, (store, lanes): (&ClipStore, &Lanes), times: Vec<f64>| {
            let ns_per_character = median(times);
            WorkloadRow {
                name: workload.name(),
                level: lanes.level(),
                store: *store,
                ns_per_character,
                ns_per_bone: ns_per_character / BONES as f64,
            }
        };
        let mut workloads = Vec::new();
        for (workload, times) in Workload::ALL.into_iter().zip(self.ours) {
            workloads.extend(columns.clone().zip(times).map(|(c, times)| row(workload, c, times)));
        }
        let base = |(workload, times): (Workload, Vec<f64>)| BaselineRow {
            name: workload.name(),
            ns_per_character: median(times),
        };
        let bytes = |store| StoreRow { store, clip_bytes: self.rigs.stored(store).clip_bytes() };
        CrowdRows {
            characters: self.characters,
            clips: self.rigs.additives.len() as u16,
            stores: ClipStore::ALL.map(bytes).into(),
            palette_bytes: size_of_val(self.passes.palettes()),
            workloads,
            baseline: Workload::ALL.into_iter().zip(self.base).map(base).collect(),
        }
    }
}

fn table(report: &Report) -> String {
    let mut text = format!("{}, one thread; ns per character\n", report.machine.cpu);
    for crowd in std::iter::once(&report.crowd).chain(&report.large) {
        crowd_table(report.bones, crowd, &mut text);
    }
    let mut line = |words: std::fmt::Arguments<'_>| put(&mut text, words);
    let bones = report.bones;
    line(format_args!("kernels, all in cache; ns per bone, and per task on {bones} bones"));
    let mut last = "";
    for row in &report.kernels {
        let name = if row.name == last { "" } else { row.name };
        last = row.name;
        let (bone, task) = (row.ns_per_bone, row.ns_per_task);
        line(format_args!("{name:28} {:8} {bone:8.3} {task:8.0}", row.level));
    }
    text
}

fn crowd_table(bones: usize, crowd: &CrowdRows, text: &mut String) {
    let mut line = |words: std::fmt::Arguments<'_>| put(text, words);
    let mebibytes = |bytes: usize| bytes as f64 / f64::from(1 << 20);
    line(format_args!(
        "{} characters of {bones} bones ({:.1} MiB of palettes), {} clips",
        crowd.characters,
        mebibytes(crowd.palette_bytes),
        crowd.clips
    ));
    for row in &crowd.stores {
        let (store, bytes) = (row.store.name(), mebibytes(row.clip_bytes));
        line(format_args!("  and as many additive ones, {store}: {bytes:.2} MiB"));
    }
    for base in &crowd.baseline {
        line(format_args!("{:20} {:12} {:8.1}", base.name, "plain", base.ns_per_character));
        for row in crowd.workloads.iter().filter(|row| row.name == base.name) {
            let times = base.ns_per_character / row.ns_per_character;
            line(format_args!(
                "{:20} {:8} {} {:8.1}   {times:5.2} times",
                "",
                row.level,
                row.store.name(),
                row.ns_per_character
            ));
        }
    }
}
