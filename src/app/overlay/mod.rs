//! What is painted over the picture: the numbers of the frame, and the keys.

mod graph;
mod history;
mod paint;
mod panel;
mod table;

use super::cli::CameraArg;
use super::picture::Picture;
use super::sample::Sample;
use crate::crowd::Crowd;
use crate::math::SimdLevel;
use crate::render::Overlay;
use history::{FrameRow, History};
use paint::Painter;
use std::time::{Duration, Instant};
use table::Table;

/// What stays the same, or is set by the user, and is worth showing.
#[derive(Clone, Copy, Debug)]
pub struct Facts<'a> {
    /// The GPU's name.
    pub adapter: Option<&'a str>,
    /// Worker threads.
    pub threads: usize,
    /// Level of the kernels.
    pub simd: SimdLevel,
    /// Which camera.
    pub camera: CameraArg,
    /// The world stands still.
    pub paused: bool,
    /// World seconds per real second.
    pub speed: f64,
    /// There are keys to be told of.
    pub windowed: bool,
    /// Whom it is about.
    pub crowd: &'a Crowd,
}

/// The overlay: its numbers, whether it shows, and what paints it.
pub struct Hud {
    ctx: egui::Context,
    painter: Option<Painter>,
    shown: bool,
    laid_out: bool,
    history: History,
    table: Table,
    last: Option<Sample>,
    message: Option<(String, Instant)>,
    warning: Option<String>,
}

impl Hud {
    /// How long a message stays.
    const MESSAGE: Duration = Duration::from_secs(4);

    /// An overlay for what `picture` draws to; without one it only listens.
    pub fn new(shown: bool, picture: Option<&Picture>) -> Self {
        let ctx = egui::Context::default();
        panel::dress(&ctx);
        Self {
            ctx,
            painter: picture.map(|p| Painter::new(&p.gpu, p.formats().overlay)),
            shown,
            laid_out: false,
            history: History::default(),
            table: Table::default(),
            last: None,
            message: None,
            warning: None,
        }
    }

    /// The context that a window's events go to.
    pub fn ctx(&self) -> &egui::Context {
        &self.ctx
    }

    /// Shows or hides it.
    pub fn toggle(&mut self) {
        self.shown = !self.shown;
    }

    /// Shows a sentence for a while, also when the overlay is hidden.
    pub fn say(&mut self, message: String) {
        self.message = Some((message, Instant::now()));
    }

    /// Shows what is wrong until it no longer is, also when the overlay is hidden.
    pub fn warn(&mut self, warning: Option<String>) {
        self.warning = warning;
    }

    /// Adds a frame's numbers.
    pub fn add(&mut self, sample: &Sample) {
        let row = |ms: [f64; crate::profile::Phase::COUNT]| ms.map(|v| v as f32);
        let wait = sample.render.as_ref().map_or(0, |r| r.wait_ns);
        self.history.push(FrameRow {
            frame: sample.frame_ms as f32,
            wait: super::sample::milliseconds(wait) as f32,
            display: sample.display_ms as f32,
            main: row(sample.main_ms),
            worker: row(sample.worker_ms),
        });
        if let Some(render) = &sample.render {
            self.history.push_gpu(&render.gpu_passes);
        }
        self.last = Some(sample.clone());
    }

    /// Lays the frame's overlay out for a picture of `size` pixels. What egui wants of the window
    /// comes back; `None` when nothing shows.
    pub fn lay_out(
        &mut self,
        size: (u32, u32),
        input: egui::RawInput,
        facts: &Facts<'_>,
    ) -> Option<egui::PlatformOutput> {
        self.message = self.message.take().filter(|(_, since)| since.elapsed() < Self::MESSAGE);
        let told = self.message.is_some() || self.warning.is_some();
        self.laid_out = self.painter.is_some() && (self.shown || told);
        if !self.laid_out {
            return None;
        }
        let mut output = self.pass(size, input, facts);
        let platform = std::mem::take(&mut output.platform_output);
        self.painter.as_mut()?.take(&self.ctx, output, size);
        Some(platform)
    }

    /// Runs egui once, as small as it takes for all of it to be seen.
    fn pass(
        &mut self,
        size: (u32, u32),
        mut input: egui::RawInput,
        facts: &Facts<'_>,
    ) -> egui::FullOutput {
        self.table.refresh(&self.history, self.last.as_ref(), facts.crowd);
        let native = input.viewport().native_pixels_per_point.unwrap_or(1.0);
        let whole = egui::vec2(size.0 as f32, size.1 as f32) / native;
        let points = whole / self.ctx.zoom_factor();
        input.screen_rect = Some(egui::Rect::from_min_size(egui::Pos2::ZERO, points));
        let output = self.ctx.run_pass(input, |ctx| {
            if self.shown {
                panel::numbers(ctx, facts, &self.table, &self.history);
                if facts.windowed {
                    panel::keys(ctx);
                }
            }
            let message = self.message.as_ref().map(|(text, _)| text);
            if let Some(text) = message.or(self.warning.as_ref()) {
                panel::message(ctx, text, message.is_none());
            }
        });
        // What it takes is known when it has been laid out once; the next frame heeds it.
        self.ctx.set_zoom_factor(panel::fitting_zoom(&self.ctx, whole));
        output
    }

    /// What paints this frame's overlay; `None` when nothing shows.
    pub fn painter(&mut self) -> Option<&mut dyn Overlay> {
        let painter = self.painter.as_mut().filter(|_| self.laid_out)?;
        Some(painter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::crowd::CrowdConfig;

    #[test]
    fn all_of_it_is_seen_in_a_picture_of_any_size() {
        let row =
            FrameRow { frame: 20.0, wait: 1.0, display: 1.0, main: [1.0; _], worker: [1.0; _] };
        let nobody = CrowdConfig { count: 0, ..CrowdConfig::default() };
        let crowd = Crowd::new(nobody, Vec::new()).unwrap();
        let facts = Facts {
            adapter: Some("a GPU"),
            threads: 2,
            simd: SimdLevel::Scalar,
            camera: CameraArg::Orbit,
            paused: false,
            speed: 1.0,
            windowed: true,
            crowd: &crowd,
        };
        let mut hud = Hud::new(true, None);
        hud.history.push(row);
        for (size, full_size) in [
            ((1_280, 720), true),
            ((1_280, 300), false),
            ((640, 200), false),
            ((200, 400), false),
            ((1, 1), false),
            ((1_920, 1_080), true),
        ] {
            for _ in 0..3 {
                let input = egui::RawInput::default();
                hud.pass(size, input, &facts).drop_without_applying_deltas();
            }
            assert_eq!(hud.ctx.zoom_factor() == 1.0, full_size, "{size:?}");
            let numbers = panel::rect(&hud.ctx, panel::NUMBERS).unwrap() * hud.ctx.zoom_factor();
            assert!(numbers.height() > 100.0 || !full_size, "{numbers:?}");
            if size.0 > 1 {
                let picture = egui::vec2(size.0 as f32, size.1 as f32);
                assert!(numbers.max.x <= picture.x && numbers.max.y <= picture.y, "{numbers:?}");
                assert!(numbers.min.x >= 0.0 && numbers.min.y >= 0.0, "{numbers:?} in {size:?}");
            }
        }
    }
}
