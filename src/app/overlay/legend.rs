//! What characters are coloured by, and what each colour tells.

use super::Facts;
use super::style::{FAINT, note};
use crate::app::cli::{ColorArg, every, named};
use crate::app::report::text::grouped;
use crate::app::wish::Wish;
use egui::{Color32, ComboBox, Layout, RichText, Sense, Ui, Vec2};

/// The choice, and a row for each colour.
pub fn colors(ui: &mut Ui, facts: &Facts<'_>, wishes: &mut Vec<Wish>) {
    let now = facts.config.color_by;
    ui.horizontal(|ui| {
        ui.label(RichText::new("--color-by").monospace().color(FAINT));
        ui.with_layout(Layout::right_to_left(egui::Align::Center), |ui| {
            let mut chosen = now;
            ComboBox::from_id_salt("color-by").width(112.0).selected_text(named(&now)).show_ui(
                ui,
                |ui| {
                    for (mode, name) in every() {
                        ui.selectable_value(&mut chosen, mode, name);
                    }
                },
            );
            if chosen != now {
                wishes.push(Wish::ColorBy(chosen));
            }
        });
    });
    legend(ui, facts);
}

/// A row for each colour.
pub fn legend(ui: &mut Ui, facts: &Facts<'_>) {
    let now = facts.config.color_by;
    if now == ColorArg::None {
        return;
    }
    note(ui, now.tells());
    for (name, color, count) in &facts.colors {
        ui.horizontal(|ui| {
            let (rect, _) = ui.allocate_exact_size(Vec2::splat(10.0), Sense::hover());
            let [r, g, b] = *color;
            ui.painter().rect_filled(rect, 2.0, Color32::from_rgb(r, g, b));
            ui.label(name);
            super::style::right(ui, RichText::new(grouped(f64::from(*count))).monospace());
        });
    }
}
