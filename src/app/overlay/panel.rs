//! What the overlay looks like.

use super::Facts;
use super::graph::{frame_graph, phase_color};
use super::history::History;
use super::table::Table;
use crate::app::report::Summary;
use crate::app::window::keys;
use egui::{
    Align, Align2, Area, Color32, Context, CornerRadius, FontFamily, FontId, Frame, Grid, Id,
    Layout, Margin, Order, RichText, Sense, Stroke, TextStyle, Ui, Vec2,
};

const PANEL: Color32 = Color32::from_rgba_premultiplied(13, 15, 22, 222);
const EDGE: Color32 = Color32::from_rgba_premultiplied(40, 44, 58, 160);
const TEXT: Color32 = Color32::from_rgb(208, 213, 226);
const FAINT: Color32 = Color32::from_rgb(136, 144, 166);
const BRIGHT: Color32 = Color32::from_rgb(245, 247, 252);
const WARNING: Color32 = Color32::from_rgb(255, 190, 120);
const WIDTH: f32 = 318.0;
/// Points between a panel and the rim of the picture.
const RIM: f32 = 12.0;
const GRAPH: f32 = 64.0;

/// Fonts and spacing.
pub fn dress(ctx: &Context) {
    ctx.set_theme(egui::Theme::Dark);
    ctx.all_styles_mut(|style| {
        style.text_styles = [
            (TextStyle::Small, FontId::new(10.5, FontFamily::Proportional)),
            (TextStyle::Body, FontId::new(12.5, FontFamily::Proportional)),
            (TextStyle::Button, FontId::new(12.5, FontFamily::Proportional)),
            (TextStyle::Heading, FontId::new(20.0, FontFamily::Proportional)),
            (TextStyle::Monospace, FontId::new(12.0, FontFamily::Monospace)),
        ]
        .into();
        style.visuals.override_text_color = Some(TEXT);
        style.spacing.item_spacing = Vec2::new(6.0, 2.0);
        style.spacing.interact_size.y = 14.0;
        style.interaction.selectable_labels = false;
    });
}

/// The panel of the frame's numbers.
pub const NUMBERS: &str = "numbers";
const KEYS: &str = "keys";

/// Where a panel was laid out last, points.
pub fn rect(ctx: &Context, name: &str) -> Option<egui::Rect> {
    ctx.memory(|memory| memory.area_rect(Id::unique(name)))
}

/// The largest scale, 1 at most, at which every panel of the last pass fits into a picture of
/// `whole` points at scale 1.
pub fn fitting_zoom(ctx: &Context, whole: Vec2) -> f32 {
    /// In steps, so that rounding to pixels does not make it waver.
    const STEPS: f32 = 32.0;
    let fits = |rect: egui::Rect| {
        let share = whole / (rect.size() + Vec2::splat(2.0 * RIM));
        share.x.min(share.y)
    };
    let zoom = [NUMBERS, KEYS].into_iter().filter_map(|name| rect(ctx, name)).map(fits);
    let zoom = zoom.fold(1.0, f32::min);
    (zoom * STEPS).floor().max(1.0) / STEPS
}

fn panel(ctx: &Context, name: &str, align: Align2, offset: Vec2, add: impl FnOnce(&mut Ui)) {
    // Clicks go through to the camera: the overlay has nothing to click yet.
    let area = Area::new(Id::unique(name)).order(Order::Foreground).anchor(align, offset);
    area.interactable(false).fade_in(false).show(ctx, |ui| {
        Frame::new()
            .fill(PANEL)
            .stroke(Stroke::new(1.0, EDGE))
            .corner_radius(CornerRadius::same(8))
            .inner_margin(Margin::symmetric(12, 10))
            .show(ui, add);
    });
}

/// Frame times, phases, counts.
pub fn numbers(ctx: &Context, facts: &Facts<'_>, table: &Table, history: &History) {
    panel(ctx, NUMBERS, Align2::LEFT_TOP, Vec2::splat(RIM), |ui| {
        ui.set_width(WIDTH);
        headline(ui, facts, table);
        ui.add_space(4.0);
        frame_graph(ui, history, GRAPH);
        ui.add_space(4.0);
        times(ui, table);
        ui.add_space(6.0);
        for (name, value) in &table.counts {
            row(ui, name, value);
        }
        if !table.notifies.is_empty() {
            ui.add_space(6.0);
        }
        for (name, value) in &table.notifies {
            row(ui, name, value);
        }
        ui.add_space(6.0);
        let adapter = facts.adapter.unwrap_or("no GPU");
        ui.label(RichText::new(adapter).small().color(FAINT));
        let plural = if facts.threads == 1 { "" } else { "s" };
        let line =
            format!("{} worker{plural}, {}, {:?} camera", facts.threads, facts.simd, facts.camera);
        ui.label(RichText::new(line.to_lowercase()).small().color(FAINT));
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
    Grid::new("times").num_columns(5).min_col_width(46.0).spacing([6.0, 2.0]).show(ui, |ui| {
        ui.label(RichText::new("ms").color(FAINT));
        for head in ["p50", "p95", "p99", "workers"] {
            right(ui, RichText::new(head).color(FAINT));
        }
        ui.end_row();
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
            named(ui, None, "wait for GPU", wait);
        }
        if let Some(display) = &table.display {
            named(ui, None, "wait for display", display);
        }
        for (name, summary) in &table.passes {
            named(ui, None, &format!("GPU {name}"), summary);
        }
    });
}

fn named(ui: &mut Ui, color: Option<Color32>, name: &str, summary: &Summary) {
    cells(ui, color, name, summary);
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

fn number(ui: &mut Ui, ms: f64) {
    let decimals = if ms < 10.0 { 2 } else { 1 };
    right(ui, RichText::new(format!("{ms:.decimals$}")).monospace());
}

fn right(ui: &mut Ui, text: RichText) {
    ui.with_layout(Layout::right_to_left(Align::Center), |ui| ui.label(text));
}

fn row(ui: &mut Ui, name: &str, value: &str) {
    ui.horizontal(|ui| {
        ui.label(RichText::new(name).color(FAINT));
        right(ui, RichText::new(value).monospace());
    });
}

/// What the keys do.
pub fn keys(ctx: &Context) {
    panel(ctx, KEYS, Align2::RIGHT_TOP, Vec2::new(-RIM, RIM), |ui| {
        Grid::new("keys").num_columns(2).spacing([14.0, 2.0]).show(ui, |ui| {
            for (key, what) in keys::HELP {
                ui.label(RichText::new(key).color(BRIGHT));
                ui.label(RichText::new(what).color(FAINT));
                ui.end_row();
            }
        });
    });
}

/// One sentence at the bottom, which may be a warning.
pub fn message(ctx: &Context, text: &str, warns: bool) {
    let color = if warns { WARNING } else { BRIGHT };
    let width = (ctx.content_rect().width() - 4.0 * RIM).max(1.0);
    panel(ctx, "message", Align2::CENTER_BOTTOM, Vec2::new(0.0, -24.0), |ui| {
        ui.set_max_width(width);
        ui.label(RichText::new(text).color(color));
    });
}
