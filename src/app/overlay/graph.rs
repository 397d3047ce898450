//! The frame-time graph: one column per frame, its phases stacked.

use super::history::{FrameRow, History};
use crate::profile::Phase;
use egui::{Align2, Color32, FontId, Pos2, Rect, Sense, Stroke, Ui, Vec2};

/// What a phase looks like in the graph and in the table beside it.
pub fn phase_color(phase: Phase) -> Color32 {
    match phase {
        Phase::Cull => Color32::from_rgb(122, 162, 247),
        Phase::Gate => Color32::from_rgb(125, 207, 255),
        Phase::Record => Color32::from_rgb(115, 218, 202),
        Phase::Execute => Color32::from_rgb(255, 158, 100),
        Phase::Physics => Color32::from_rgb(219, 75, 75),
        Phase::Follow => Color32::from_rgb(187, 154, 247),
        Phase::Serial => Color32::from_rgb(247, 118, 142),
        Phase::Gather => Color32::from_rgb(224, 175, 104),
        Phase::Upload => Color32::from_rgb(158, 206, 106),
        Phase::Submit => Color32::from_rgb(192, 202, 245),
    }
}

/// The part of a frame that no phase accounts for: waiting for the GPU or the display, input.
const REST: Color32 = Color32::from_rgb(59, 66, 97);

/// Paints the graph, as wide as the space there is.
pub fn frame_graph(ui: &mut Ui, history: &History, height: f32) {
    let size = Vec2::new(ui.available_width(), height);
    let (rect, _) = ui.allocate_exact_size(size, Sense::hover());
    let painter = ui.painter_at(rect);
    painter.rect_filled(rect, 4.0, Color32::from_black_alpha(110));
    let top = scale(history);
    let y_of = |ms: f32| rect.bottom() - (ms / top).min(1.0) * rect.height();
    let step = rect.width() / History::LENGTH as f32;
    let left = rect.right() - step * history.rows().len() as f32;
    for (i, row) in history.rows().enumerate() {
        let x = left + i as f32 * step;
        let bar = |from: f32, to: f32, color| {
            let corners = (Pos2::new(x, y_of(to)), Pos2::new(x + step, y_of(from)));
            painter.rect_filled(Rect::from_min_max(corners.0, corners.1), 0.0, color);
        };
        let mut base = 0.0;
        for phase in Phase::ALL {
            let ms = row.main[phase as usize];
            if ms > 0.0 {
                bar(base, base + ms, phase_color(phase));
                base += ms;
            }
        }
        if row.frame > base {
            bar(base, row.frame, REST);
        }
    }
    for (ms, text) in [(1000.0 / 60.0, "60 Hz"), (1000.0 / 30.0, "30 Hz")] {
        if ms > top * 0.2 && ms < top * 0.95 {
            let line = Stroke::new(1.0, Color32::from_white_alpha(70));
            painter.hline(rect.x_range(), y_of(ms), line);
            let at = Pos2::new(rect.left() + 4.0, y_of(ms) - 1.0);
            let font = FontId::proportional(10.0);
            painter.text(at, Align2::LEFT_BOTTOM, text, font, Color32::from_white_alpha(150));
        }
    }
    let at = rect.right_top() + Vec2::new(-4.0, 2.0);
    let font = FontId::proportional(10.0);
    let text = format!("{top:.0} ms");
    painter.text(at, Align2::RIGHT_TOP, text, font, Color32::from_white_alpha(150));
}

/// The time at the graph's top: the smallest of a few round ones that holds nearly every frame.
fn scale(history: &History) -> f32 {
    let tall = history.summary(|r: &FrameRow| r.frame).map_or(0.0, |s| s.p99 as f32);
    let steps = [5.0, 10.0, 20.0, 40.0, 80.0, 160.0, 320.0, 640.0, 1280.0];
    steps.into_iter().find(|top| *top >= tall * 1.1).unwrap_or(tall.max(1.0) * 1.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scale_holds_the_frames_and_phases_differ_in_colour() {
        let mut history = History::default();
        assert_eq!(scale(&history), 5.0);
        history.push(FrameRow { frame: 16.6, ..FrameRow::default() });
        assert_eq!(scale(&history), 20.0);
        history.push(FrameRow { frame: 5000.0, ..FrameRow::default() });
        assert!(scale(&history) > 5000.0);
        for a in Phase::ALL {
            assert!(Phase::ALL.iter().all(|&b| a == b || phase_color(a) != phase_color(b)));
        }
    }
}
