//! The last frames of a character: a strip that tells when it was evaluated, and a slider through
//! them.

use crate::app::overlay::style::{BRIGHT, FAINT, note};
use crate::app::picked::{Deed, Picked};
use crate::crowd::Bytes;
use egui::{Color32, Pos2, Rect, RichText, Sense, Slider, Ui, Vec2};

/// Points of the strip's height.
const STRIP: f32 = 14.0;
const EVALUATED: Color32 = Color32::from_rgb(115, 218, 202);
const SKIPPED: Color32 = Color32::from_rgb(59, 66, 97);
const UNSEEN: Color32 = Color32::from_rgb(30, 30, 36);

/// Strip, slider and steps.
pub fn show(ui: &mut Ui, picked: &Picked, deeds: &mut Vec<Deed>) {
    let (history, frames) = (picked.history(), picked.history().len());
    let Some(frame) = picked.frame() else { return };
    strip(ui, picked);
    let last = frames.saturating_sub(1);
    let at = picked.scrubbed().unwrap_or(last);
    ui.horizontal(|ui| {
        if ui.small_button("<").on_hover_text("one frame back ([)").clicked() {
            deeds.push(Deed::Step(-1));
        }
        if ui.small_button(">").on_hover_text("one frame on (])").clicked() {
            deeds.push(Deed::Step(1));
        }
        let mut to = at;
        ui.spacing_mut().slider_width = (ui.available_width() - 90.0).max(60.0);
        let slider = Slider::new(&mut to, 0..=last).show_value(false);
        if ui.add_enabled(frames > 1, slider).changed() {
            deeds.push(Deed::Scrub(Some(to)));
        }
        let live = picked.scrubbed().is_none();
        let text = if live { RichText::new("live").color(FAINT) } else { "go on".into() };
        if ui.add_enabled(!live, egui::Button::new(text)).clicked() {
            deeds.push(Deed::Scrub(None));
        }
    });
    let newest = history.last().map_or(frame.seconds, |newest| newest.seconds);
    ui.label(
        RichText::new(format!(
            "frame {}, {:.3} s, {:.3} s ago",
            frame.frame,
            frame.seconds,
            newest - frame.seconds
        ))
        .color(BRIGHT),
    );
    note(ui, format!("{frames} frames are kept, {}", Bytes(history.bytes() as u64)));
}

/// A column for each frame: evaluated, skipped, or seen by nobody.
fn strip(ui: &mut Ui, picked: &Picked) {
    let (rect, _) = ui.allocate_exact_size(Vec2::new(ui.available_width(), STRIP), Sense::hover());
    let painter = ui.painter_at(rect);
    let count = picked.history().len().max(1);
    let step = rect.width() / count as f32;
    for (at, frame) in picked.history().iter().enumerate() {
        let color = match (frame.capture.is_some(), frame.drawn().is_some()) {
            (true, _) => EVALUATED,
            (false, true) => SKIPPED,
            (false, false) => UNSEEN,
        };
        let left = rect.left() + at as f32 * step;
        let corners = (Pos2::new(left, rect.top()), Pos2::new(left + step, rect.bottom()));
        painter.rect_filled(Rect::from_min_max(corners.0, corners.1), 0.0, color);
    }
    if let Some(at) = picked.scrubbed() {
        let x = rect.left() + (at as f32 + 0.5) * step;
        painter.vline(x, rect.y_range(), egui::Stroke::new(2.0, BRIGHT));
    }
}
