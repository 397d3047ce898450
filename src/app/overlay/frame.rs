//! What a frame cost and why: the window of numbers.

use super::graph::{frame_graph, phase_color};
use super::history::History;
use super::lanes::lanes;
use super::legend::legend;
use super::style::{BRIGHT, FAINT, note, number, right, row, section};
use super::table::{Row, Table};
use super::{Facts, Parts};
use crate::app::cli::{ColorArg, PresentArg};
use crate::app::report::Summary;
use crate::app::report::text::grouped;
use crate::render::AdapterSummary;
use egui::{Align, Color32, Grid, Layout, RichText, Sense, Ui, Vec2};

const GRAPH: f32 = 64.0;

/// All of it, section by section.
pub fn sections(
    ui: &mut Ui,
    facts: &Facts<'_>,
    (table, history): (&Table, &History),
    parts: &mut Parts,
) {
    headline(ui, facts, table);
    ui.add_space(4.0);
    section(ui, "Timings", true, |ui| {
        frame_graph(ui, history, GRAPH);
        ui.add_space(4.0);
        times(ui, table);
        // Where the processor draws, it is what is waited for.
        let draws_itself = facts.adapter.is_some_and(AdapterSummary::is_software);
        if facts.is_windowed() && !draws_itself && table.waits_for_display() {
            note(ui, capped(facts.config.present));
        }
    });
    parts.unfolded = section(ui, "Timeline", true, |ui| {
        lanes(ui, &parts.lanes, &mut parts.still);
    });
    if facts.config.color_by != ColorArg::None && !facts.is_windowed() {
        section(ui, "Colours", true, |ui| legend(ui, facts));
    }
    section(ui, "Gates", true, |ui| rows(ui, &table.gates));
    section(ui, "Tasks", true, |ui| tasks(ui, table));
    section(ui, "Memory", true, |ui| rows(ui, &table.memory));
    section(ui, "GPU", true, |ui| gpu(ui, facts, table));
    if !table.notifies.is_empty() {
        section(ui, "Notifies", false, |ui| {
            table.notifies.iter().for_each(|(name, value)| row(ui, name, value));
        });
    }
    let plural = if facts.threads == 1 { "" } else { "s" };
    let line = format!(
        "{} worker{plural}, {}, {:?} camera",
        facts.threads, facts.config.simd, facts.camera
    );
    note(ui, line.to_lowercase());
}

fn rows(ui: &mut Ui, rows: &[Row]) {
    rows.iter().for_each(|(name, value)| row(ui, name, value));
}

fn tasks(ui: &mut Ui, table: &Table) {
    rows(ui, &table.tasks);
    if table.kinds.is_empty() {
        return;
    }
    ui.add_space(4.0);
    Grid::new("kinds").num_columns(3).min_col_width(80.0).spacing([6.0, 2.0]).show(ui, |ui| {
        ui.label(RichText::new("kind").color(FAINT));
        right(ui, RichText::new("executed").color(FAINT));
        right(ui, RichText::new("ns each").color(FAINT));
        ui.end_row();
        for (name, count, ns) in &table.kinds {
            ui.label(*name);
            right(ui, RichText::new(grouped(*count as f64)).monospace());
            let ns = ns.map_or_else(|| "-".to_owned(), |ns| format!("{ns:.0}"));
            right(ui, RichText::new(ns).monospace());
            ui.end_row();
        }
    });
}

fn headline(ui: &mut Ui, facts: &Facts<'_>, table: &Table) {
    ui.horizontal(|ui| {
        if let Some(frame) = &table.frame {
            let fps = 1000.0 / frame.mean.max(1e-6);
            let decimals = usize::from(fps < 10.0);
            ui.label(RichText::new(format!("{fps:.decimals$}")).heading().color(BRIGHT));
            ui.label(RichText::new("frames a second").color(FAINT));
        }
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            if facts.paused {
                ui.label(RichText::new("paused").color(BRIGHT));
            } else if facts.speed != 1.0 {
                ui.label(RichText::new(format!("{}x speed", facts.speed)).color(BRIGHT));
            }
        });
    });
}

fn times(ui: &mut Ui, table: &Table) {
    grid(ui, "times", "workers", |ui| {
        if let Some(frame) = &table.frame {
            ui.label(RichText::new("frame").color(BRIGHT));
            three(ui, frame);
            ui.end_row();
        }
        for (phase, summary, workers) in &table.phases {
            cells(ui, Some(phase_color(*phase)), phase.name(), summary);
            if *workers > 0.0 {
                number(ui, *workers);
            }
            ui.end_row();
        }
        if let Some(wait) = &table.wait {
            named(ui, "wait for GPU", wait);
        }
        if let Some(display) = &table.display {
            named(ui, "wait for display", display);
        }
    });
}

fn gpu(ui: &mut Ui, facts: &Facts<'_>, table: &Table) {
    let Some(adapter) = facts.adapter else {
        note(ui, "no GPU is used: nothing is drawn");
        return;
    };
    rows(ui, &table.gpu);
    if table.passes.is_empty() {
        note(ui, if adapter.timestamps { "no pass has been timed yet" } else { UNTIMED });
    } else {
        ui.add_space(4.0);
        grid(ui, "passes", "", |ui| {
            table.passes.iter().for_each(|(name, summary)| named(ui, name, summary));
        });
    }
    note(ui, &adapter.name);
}

/// Why there are no more frames.
fn capped(present: PresentArg) -> &'static str {
    match present {
        PresentArg::Fifo => {
            "fifo: frames wait for the display; --present immediate shows what the machine can do"
        }
        _ => "frames wait for the display all the same: the system gives out no image sooner",
    }
}

/// Of an adapter without timestamps.
const UNTIMED: &str = "This adapter has no timestamps: passes can't be timed.";

/// A table of milliseconds: names, three percentiles, and something else at the right.
fn grid(ui: &mut Ui, name: &str, last: &str, add: impl FnOnce(&mut Ui)) {
    Grid::new(name).num_columns(5).min_col_width(46.0).spacing([6.0, 2.0]).show(ui, |ui| {
        ui.label(RichText::new("ms").color(FAINT));
        for head in ["p50", "p95", "p99", last] {
            right(ui, RichText::new(head).color(FAINT));
        }
        ui.end_row();
        add(ui);
    });
}

fn named(ui: &mut Ui, name: &str, summary: &Summary) {
    cells(ui, None, name, summary);
    ui.end_row();
}

/// A swatch and a name, then three numbers.
fn cells(ui: &mut Ui, color: Option<Color32>, name: &str, summary: &Summary) {
    ui.horizontal(|ui| {
        let (rect, _) = ui.allocate_exact_size(Vec2::splat(8.0), Sense::hover());
        if let Some(color) = color {
            ui.painter().rect_filled(rect, 2.0, color);
        }
        ui.label(name);
    });
    three(ui, summary);
}

fn three(ui: &mut Ui, summary: &Summary) {
    [summary.p50, summary.p95, summary.p99].into_iter().for_each(|ms| number(ui, ms));
}
