//! `throng bench crowd --adapter NAME`: what whole frames take on a real GPU, pass by pass.

use super::frames::Frames;
use super::{print, put};
use crate::app::characters::Cast;
use crate::app::cli::{PaletteUploadArg, RunConfig, named};
use crate::app::exit::Failure;
use crate::app::report::machine::Machine;
use crate::app::report::{MeanMax, Report, Rows, Summary};
use serde::Serialize;
use std::time::{Duration, Instant};

/// Frames until pipelines, pages and buffers are as large as they will be.
const WARM_UP_FRAMES: u64 = 8;
/// Frames that are measured at most.
const FRAMES: u64 = 600;
/// How long one crowd is measured at most, but for two frames.
const MEASURED: Duration = Duration::from_secs(8);

/// One crowd, its palettes brought to the GPU one way.
#[derive(Serialize)]
struct Row {
    count: u32,
    palette_upload: PaletteUploadArg,
    /// In the camera's view, mean.
    in_view: f64,
    frames_per_second: f64,
    /// Bytes to the GPU, a frame.
    upload_bytes: f64,
    /// The same over the time that the processor took to write them.
    #[serde(skip_serializing_if = "Option::is_none")]
    written_gb_per_second: Option<f64>,
    /// The palettes' share, over the time of the pass that brings them to their slots; with a GPU
    /// that times passes.
    #[serde(skip_serializing_if = "Option::is_none")]
    moved_gb_per_second: Option<f64>,
    report: Report,
}

#[derive(Serialize)]
struct Measured {
    machine: Machine,
    /// The adapter computes on the processor: its times are not a GPU's.
    software: bool,
    rows: Vec<Row>,
}

/// Measures and prints.
///
/// # Errors
/// No such adapter, a crowd that does not fit into memory, a fault of the GPU, or standard output
/// that can't be written.
pub(super) fn run(
    config: &RunConfig,
    cast: &Cast,
    counts: &[u32],
    json: bool,
) -> Result<(), Failure> {
    let mut rows = Vec::new();
    let mut software = false;
    for &count in counts {
        for palette_upload in [PaletteUploadArg::Scatter, PaletteUploadArg::Copy] {
            let config = RunConfig { count, palette_upload, ..config.clone() };
            let mut frames = Frames::new(config.clone(), cast.clone())?;
            software |= frames.show().picture().is_some_and(|p| p.gpu.summary().is_software());
            rows.push(measure(&config, &mut frames)?);
        }
    }
    let machine = rows.first().map(|row| row.report.machine.clone());
    let machine = machine.unwrap_or_else(|| Machine::without_gpu(0, config.simd));
    print(&Measured { machine, software, rows }, json, table)
}

fn measure(config: &RunConfig, frames: &mut Frames) -> Result<Row, Failure> {
    for _ in 0..config.warmup {
        frames.next()?;
    }
    let (start, mut measured) = (Instant::now(), 0);
    while measured < FRAMES && (measured < 2 || start.elapsed() < MEASURED) {
        frames.next()?;
        measured += 1;
    }
    // Frames that the GPU has not finished are not done.
    let report = frames.settled_report();
    let seconds = start.elapsed().as_secs_f64();
    let mean = |of: Option<MeanMax>| of.map_or(0.0, |value| value.mean);
    let upload_bytes = mean(report.memory.upload_bytes);
    let p50 = |rows: &Rows<Summary>, name| rows.get(name).map(|s| s.p50).filter(|ms| *ms > 0.0);
    let per_second = |ms: f64| upload_bytes / ms * 1e-6;
    Ok(Row {
        count: config.count,
        palette_upload: config.palette_upload,
        in_view: mean(report.render.as_ref().map(|r| r.instances)),
        frames_per_second: measured as f64 / seconds,
        upload_bytes,
        written_gb_per_second: p50(&report.ms, "upload").map(per_second),
        moved_gb_per_second: report
            .gpu_passes
            .as_ref()
            .and_then(|passes| p50(passes, "palettes"))
            .map(per_second),
        report,
    })
}

fn table(measured: &Measured) -> String {
    let mut text = String::new();
    let Machine { cpu, threads, simd, adapter, backend } = &measured.machine;
    let name = |of: &Option<String>| of.clone().unwrap_or_else(|| "no GPU".to_owned());
    put(
        &mut text,
        format_args!("{} ({}), {cpu}, {threads} workers, {simd}", name(adapter), name(backend)),
    );
    if measured.software {
        let line = "a software adapter: its passes run on the processor and are no GPU's times";
        put(&mut text, format_args!("{line}"));
    }
    put(
        &mut text,
        format_args!(
            "\n{:>7} {:7} {:>7} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8} {:>9} {:>8} {:>8}",
            "count",
            "upload",
            "in view",
            "fps",
            "frame",
            "wait",
            "GPU",
            "palettes",
            "shadow",
            "main",
            "MB/frame",
            "GB/s CPU",
            "GB/s GPU"
        ),
    );
    for row in &measured.rows {
        let ms = |rows: Option<&Rows<Summary>>, name| {
            rows.and_then(|rows| rows.get(name)).map_or("-".to_owned(), |s| format!("{:.3}", s.p50))
        };
        let (all, passes) = (Some(&row.report.ms), row.report.gpu_passes.as_ref());
        let rate = |value: Option<f64>| value.map_or("-".to_owned(), |v| format!("{v:.2}"));
        let upload = named(&row.palette_upload);
        put(
            &mut text,
            format_args!(
                "{:>7} {upload:7} {:>7.0} {:>8.1} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8} {:>9.2} {:>8} {:>8}",
                row.count,
                row.in_view,
                row.frames_per_second,
                ms(all, "frame"),
                ms(all, "wait"),
                ms(all, "gpu"),
                ms(passes, "palettes"),
                ms(passes, "shadow"),
                ms(passes, "main"),
                row.upload_bytes * 1e-6,
                rate(row.written_gb_per_second),
                rate(row.moved_gb_per_second),
            ),
        );
    }
    put(&mut text, format_args!("milliseconds, medians; frames a second over all measured frames"));
    text
}

/// What a run on a GPU is measured with.
pub(super) fn config(plain: RunConfig, adapter: &str) -> RunConfig {
    let adapter = (adapter != BEST).then(|| adapter.to_owned());
    RunConfig { adapter, warmup: WARM_UP_FRAMES, frames: None, ..plain }
}

/// The name that leaves the choice to the program.
pub(super) const BEST: &str = "best";

#[cfg(test)]
mod tests {
    use super::super::frames::{cast, plain_run};
    use super::*;

    #[test]
    fn passes_are_timed_and_bytes_counted_on_whatever_adapter_there_is() {
        let config = config(plain_run(&[]).unwrap(), BEST);
        let config = RunConfig { count: 30, threads: Some(1), warmup: 1, ..config };
        let mut frames = Frames::new(config.clone(), cast(&config).unwrap()).unwrap();
        let row = measure(&config, &mut frames).unwrap();
        assert!(row.in_view > 0.0 && row.frames_per_second > 0.0 && row.upload_bytes > 0.0);
        assert!(row.written_gb_per_second.is_some_and(|rate| rate > 0.0));
        assert!(row.report.machine.adapter.is_some());
        let timed = frames.show().picture().is_some_and(|p| p.gpu.summary().timestamps);
        assert_eq!(row.report.gpu_passes.is_some(), timed);
        let machine = row.report.machine.clone();
        let text = table(&Measured { machine, software: true, rows: vec![row] });
        for words in ["scatter", "software", "GB/s GPU", "shadow"] {
            assert!(text.contains(words), "{words}: {text}");
        }
    }
}
