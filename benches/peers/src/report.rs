//! What is printed.

use serde::Serialize;
use std::fmt::Write;
use throng::app::report::machine::Machine;

/// One runtime's figure for one workload.
#[derive(Serialize)]
pub struct Row {
    /// The runtime.
    pub runtime: &'static str,
    /// The version of its crate.
    pub version: Option<&'static str>,
    /// The workload.
    pub workload: &'static str,
    /// Median over the passes; `None` where `lacks` says why.
    pub ns_per_character: Option<f64>,
    /// That, divided by Throng's.
    pub times_throng: Option<f64>,
    /// The largest difference of a matrix element from Throng's that was seen.
    pub largest_difference: Option<f32>,
    /// Why there is no figure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lacks: Option<&'static str>,
}

/// Everything.
#[derive(Serialize)]
pub struct Report {
    /// What it was measured on.
    pub machine: Machine,
    /// Characters that take turns.
    pub characters: u32,
    /// Clips that they choose from.
    pub clips: u16,
    /// Bones of each.
    pub bones: usize,
    /// Measured frames of each row.
    pub passes: u32,
    /// By workload, then by runtime.
    pub rows: Vec<Row>,
}

impl Report {
    /// For reading.
    pub fn table(&self) -> String {
        let mut text = String::new();
        let mut line = |words: std::fmt::Arguments<'_>| {
            // Writing to a string does not fail.
            let _ = text.write_fmt(words);
            text.push('\n');
        };
        line(format_args!(
            "{}, {}, one thread, {} characters of {} bones, {} clips; ns per character",
            self.machine.cpu, self.machine.simd, self.characters, self.bones, self.clips
        ));
        let mut last = "";
        for row in &self.rows {
            let workload = if row.workload == last { "" } else { row.workload };
            last = row.workload;
            let runtime = format!("{} {}", row.runtime, row.version.unwrap_or_default());
            match (row.ns_per_character, row.times_throng) {
                (Some(ns), Some(times)) => {
                    let apart = row.largest_difference.unwrap_or_default();
                    line(format_args!(
                        "{workload:20} {runtime:24} {ns:9.1} {times:8.2} times   within {apart:.4}"
                    ));
                }
                _ => {
                    let why = row.lacks.unwrap_or_default();
                    line(format_args!("{workload:20} {runtime:24} {why:>9}"));
                }
            }
        }
        text
    }
}
