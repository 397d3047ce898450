//! The timeline: what each thread did in one frame.

use super::graph::phase_color;
use super::style::{FAINT, note};
use crate::profile::{Lane, Span};
use egui::{Align2, Color32, FontId, Pos2, Rect, Sense, Ui, Vec2};

/// One frame's spans, and how long it took.
#[derive(Clone, Debug, Default)]
pub struct FrameLanes {
    /// The frame's own, then each worker's.
    pub lanes: Vec<Lane>,
    /// From the frame's beginning to its end, nanoseconds.
    pub frame_ns: u64,
}

const ROW: f32 = 15.0;
/// Points that names take at the left.
const NAMES: f32 = 58.0;

/// Paints the rows; the span under the pointer says what it is. `still` is whether the user wants
/// one frame to stay.
pub fn lanes(ui: &mut Ui, frame: &FrameLanes, still: &mut bool) {
    ui.checkbox(still, "keep this frame");
    if frame.lanes.is_empty() || frame.frame_ns == 0 {
        note(ui, "the next frame will be here");
        return;
    }
    let size = Vec2::new(ui.available_width(), ROW * frame.lanes.len() as f32);
    let (rect, response) = ui.allocate_exact_size(size, Sense::hover());
    let painter = ui.painter_at(rect);
    let font = FontId::proportional(10.0);
    let scale = (rect.width() - NAMES).max(1.0) / frame.frame_ns as f32;
    let mut pointed = None;
    for (number, lane) in frame.lanes.iter().enumerate() {
        let top = rect.top() + ROW * number as f32;
        let name = if number == 0 { "frame".to_owned() } else { format!("worker {}", number - 1) };
        let middle = Pos2::new(rect.left(), top + 0.5 * ROW);
        painter.text(middle, Align2::LEFT_CENTER, name, font.clone(), FAINT);
        let (left, right) = (rect.left() + NAMES, rect.right());
        let back =
            Rect::from_min_max(Pos2::new(left, top + 1.0), Pos2::new(right, top + ROW - 1.0));
        painter.rect_filled(back, 2.0, Color32::from_black_alpha(110));
        for span in &lane.spans {
            let at = |ns: u64| (left + ns as f32 * scale).min(right);
            // What is shorter than a pixel is seen all the same.
            let (from, to) = (at(span.begin_ns), at(span.end_ns).max(at(span.begin_ns) + 1.0));
            let area =
                Rect::from_min_max(Pos2::new(from, back.top()), Pos2::new(to, back.bottom()));
            paint(&painter, area, span);
            if response.hover_pos().is_some_and(|pointer| area.contains(pointer)) {
                pointed = Some((number, *span));
            }
        }
    }
    let whole = frame.frame_ns as f64 * 1e-6;
    match pointed {
        Some((number, span)) => {
            let who = if number == 0 { "frame" } else { "worker" };
            let (name, ms) = (name(&span), (span.end_ns - span.begin_ns) as f64 * 1e-6);
            let from = span.begin_ns as f64 * 1e-6;
            note(ui, format!("{who}: {name}, {ms:.3} ms, {from:.3} ms into the frame"));
        }
        None => note(ui, format!("{whole:.3} ms; point at a stretch to read what it is")),
    }
    let lost: u64 = frame.lanes.iter().map(|lane| lane.lost).sum();
    if lost > 0 {
        note(ui, format!("{lost} stretches more that there was no room for"));
    }
}

/// Two phases by turns have a half each.
fn paint(painter: &egui::Painter, area: Rect, span: &Span) {
    painter.rect_filled(area, 1.0, phase_color(span.phase));
    if let Some(beside) = span.beside {
        let lower = Rect::from_min_max(Pos2::new(area.left(), area.center().y), area.max);
        painter.rect_filled(lower, 1.0, phase_color(beside));
    }
}

fn name(span: &Span) -> String {
    match span.beside {
        Some(beside) => format!("{} and {}", span.phase.name(), beside.name()),
        None => span.phase.name().to_owned(),
    }
}
