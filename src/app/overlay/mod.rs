//! What is painted over the picture: what a frame costs, and what the user can change.
//!
//! The overlay changes nothing by itself. What the user asks for in it is a [`Wish`], which the show
//! grants at the beginning of the next frame, through what keys use too.

mod controls;
mod frame;
mod graph;
mod history;
mod lanes;
mod legend;
mod paint;
mod panes;
mod people;
mod picked;
mod style;
mod switchboard;
mod table;

pub use lanes::FrameLanes;

use super::characters::Member;
use super::cli::{CameraArg, Mode, RunConfig};
use super::picked::Picked;
use super::sample::Sample;
use super::wish::Wish;
use crate::crowd::Crowd;
use crate::render::{AdapterSummary, Gpu, Overlay};
use egui::Align2;
use history::{FrameRow, History};
use paint::Painter;
use panes::Pane;
use people::People;
use std::time::{Duration, Instant};
use table::Table;

/// What stays the same, or is set by the user, and is worth showing.
#[derive(Clone, Debug)]
pub struct Facts<'a> {
    /// The GPU.
    pub adapter: Option<&'a AdapterSummary>,
    /// How the run is switched now.
    pub config: &'a RunConfig,
    /// That as flags: those which are not as usual.
    pub flags: String,
    /// Worker threads.
    pub threads: usize,
    /// Which camera.
    pub camera: CameraArg,
    /// The world stands still.
    pub paused: bool,
    /// World seconds per real second.
    pub speed: f64,
    /// The view that the crowd is culled for has been left behind.
    pub frozen: bool,
    /// What the colours tell.
    pub colors: Vec<LegendRow>,
    /// What each kind is.
    pub members: &'a [Member],
    /// Bytes of memory that the program holds, where the system tells.
    pub resident_bytes: fn() -> Option<u64>,
    /// Whom the user looks at.
    pub picked: &'a Picked,
    /// Whom it is about.
    pub crowd: &'a Crowd,
}

impl Facts<'_> {
    /// There are keys to be told of, and somebody to press them.
    fn is_windowed(&self) -> bool {
        self.config.mode == Mode::Window
    }
}

/// A colour's name, the colour (sRGB), and how many have it.
pub type LegendRow = (String, [u8; 3], u32);

/// What sections keep from frame to frame.
#[derive(Debug, Default)]
pub struct Parts {
    /// The frame that the timeline shows.
    lanes: FrameLanes,
    /// The timeline is unfolded.
    unfolded: bool,
    /// It is to stay as it is.
    still: bool,
    people: People,
}

/// The overlay: its numbers, whether it shows, and what paints it.
pub struct Hud {
    ctx: egui::Context,
    painter: Option<Painter>,
    shown: bool,
    laid_out: bool,
    /// Points of the picture at scale 1 when it was laid out last.
    whole: egui::Vec2,
    /// Frames in which windows are still put into their corners.
    settling: u8,
    wishes: Vec<Wish>,
    parts: Parts,
    history: History,
    table: Table,
    last: Option<Sample>,
    /// How often all glyphs were sent anew.
    glyphs: u32,
    message: Option<(String, Instant)>,
    warning: Option<String>,
}

impl Hud {
    /// How long a message stays.
    const MESSAGE: Duration = Duration::from_secs(4);

    /// An overlay that a GPU paints on views of a format (see
    /// [`TargetFormats::overlay`](crate::render::TargetFormats::overlay)); without one it only
    /// listens.
    pub fn new(shown: bool, drawn: Option<(&Gpu, wgpu::TextureFormat)>) -> Self {
        let ctx = egui::Context::default();
        style::dress(&ctx);
        Self {
            ctx,
            painter: drawn.map(|(gpu, format)| Painter::new(gpu, format)),
            shown,
            laid_out: false,
            whole: egui::Vec2::ZERO,
            settling: 0,
            wishes: Vec::new(),
            parts: Parts::default(),
            history: History::default(),
            table: Table::default(),
            last: None,
            glyphs: 0,
            message: None,
            warning: None,
        }
    }

    /// Paints with another GPU, or with none.
    pub fn paint_with(&mut self, drawn: Option<(&Gpu, wgpu::TextureFormat)>) {
        self.painter = drawn.map(|(gpu, format)| Painter::new(gpu, format));
        self.laid_out = false;
        // egui sends what has changed of its glyphs' texture, and a new GPU has nothing of it. Other
        // fonts are sent whole; a name that nobody uses makes them others.
        self.glyphs += 1;
        let mut fonts = egui::FontDefinitions::default();
        let name = format!("as of GPU {}", self.glyphs);
        let same = fonts.families.get(&egui::FontFamily::Proportional).cloned();
        fonts.families.insert(egui::FontFamily::Name(name.into()), same.unwrap_or_default());
        self.ctx.set_fonts(fonts);
    }

    /// The context that a window's events go to.
    pub fn ctx(&self) -> &egui::Context {
        &self.ctx
    }

    /// Shows or hides it.
    pub fn toggle(&mut self) {
        self.shown = !self.shown;
    }

    /// True while the windows show, and events may be meant for them.
    pub fn is_shown(&self) -> bool {
        self.shown
    }

    /// True while a list of choices is open, which the next key closes.
    pub fn has_open_popup(&self) -> bool {
        self.laid_out && self.shown && egui::Popup::is_any_open(&self.ctx)
    }

    /// True while somebody looks at the timeline and wants to see the next frame.
    pub fn wants_lanes(&self) -> bool {
        self.laid_out && self.shown && self.parts.unfolded && !self.parts.still
    }

    /// A frame's timeline.
    pub fn show_lanes(&mut self, lanes: FrameLanes) {
        self.parts.lanes = lanes;
    }

    /// What was asked for since this was last asked.
    pub fn take_wishes(&mut self) -> Vec<Wish> {
        std::mem::take(&mut self.wishes)
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

    /// The last frame's numbers.
    #[cfg(test)]
    pub fn last(&self) -> Option<&Sample> {
        self.last.as_ref()
    }

    /// The sentence that shows for a while.
    #[cfg(test)]
    pub fn told(&self) -> Option<&str> {
        self.message.as_ref().map(|(text, _)| text.as_str())
    }

    /// The timeline as it shows.
    #[cfg(test)]
    pub fn lanes(&self) -> &FrameLanes {
        &self.parts.lanes
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
        // Once more when all of it has gone: egui learns that nothing is under the pointer now.
        let shows = self.painter.is_some() && (self.shown || told);
        let goes = std::mem::replace(&mut self.laid_out, shows) && !shows;
        if !shows && !goes {
            return None;
        }
        let mut output = self.pass(size, input, facts);
        let platform = std::mem::take(&mut output.platform_output);
        self.painter.as_mut()?.take(&self.ctx, output, size);
        Some(platform)
    }

    /// Runs egui once.
    fn pass(
        &mut self,
        size: (u32, u32),
        mut input: egui::RawInput,
        facts: &Facts<'_>,
    ) -> egui::FullOutput {
        let native = input.viewport().native_pixels_per_point.unwrap_or(1.0);
        let whole = egui::vec2(size.0 as f32, size.1 as f32) / native;
        // A window in a corner is placed by the size that it had in the frame before.
        const SETTLE: u8 = 3;
        if std::mem::replace(&mut self.whole, whole) != whole {
            self.settling = SETTLE;
        }
        let anew = self.settling > 0;
        self.settling = self.settling.saturating_sub(1);
        let zoom = panes::zoom(whole);
        self.ctx.set_zoom_factor(zoom);
        input.screen_rect = Some(egui::Rect::from_min_size(egui::Pos2::ZERO, whole / zoom));
        if self.shown {
            self.table.refresh(&self.history, self.last.as_ref(), facts);
        } else {
            self.ctx.memory_mut(|memory| memory.stop_text_input());
        }
        let (ctx, wishes, parts) = (self.ctx.clone(), &mut self.wishes, &mut self.parts);
        let (table, history) = (&self.table, &self.history);
        let message = self.message.as_ref().map(|(text, _)| text);
        let warning = self.warning.as_ref();
        ctx.run_pass(input, |ctx| {
            if self.shown {
                windows(ctx, anew, facts, (table, history), (&mut *parts, &mut *wishes));
            }
            if let Some(text) = message.or(warning) {
                panes::message(ctx, text, message.is_none());
            }
        })
    }

    /// What paints this frame's overlay; `None` when nothing shows.
    pub fn painter(&mut self) -> Option<&mut dyn Overlay> {
        let painter = self.painter.as_mut().filter(|_| self.laid_out)?;
        Some(painter)
    }
}

/// Points of a picture's width that two windows need beside each other.
const TWO: f32 = 700.0;
const FRAME: Pane = Pane { name: "Frame", corner: Align2::LEFT_TOP, width: 318.0, unfolded: true };
const CONTROLS: Pane =
    Pane { name: "Controls", corner: Align2::RIGHT_TOP, width: 300.0, unfolded: true };

/// In the place of the controls, which are at its end, while somebody is picked.
const PICKED: Pane =
    Pane { name: "Picked", corner: Align2::RIGHT_TOP, width: 392.0, unfolded: true };

/// All windows; one alone where the picture is narrow.
fn windows(
    ctx: &egui::Context,
    anew: bool,
    facts: &Facts<'_>,
    (table, history): (&Table, &History),
    (parts, wishes): (&mut Parts, &mut Vec<Wish>),
) {
    let wide = ctx.content_rect().width() >= TWO;
    let picked = facts.picked.who().is_some();
    FRAME.show(ctx, anew, |ui| {
        if picked && !wide {
            picked::sections(ui, facts, wishes);
        }
        frame::sections(ui, facts, (table, history), parts);
        if facts.is_windowed() && !wide {
            controls::sections(ui, facts, parts, wishes);
        }
    });
    if picked && wide {
        PICKED.show(ctx, anew, |ui| {
            picked::sections(ui, facts, wishes);
            if facts.is_windowed() {
                style::section(ui, "Controls", false, |ui| {
                    controls::sections(ui, facts, parts, wishes)
                });
            }
        });
    } else if facts.is_windowed() && wide {
        CONTROLS.show(ctx, anew, |ui| controls::sections(ui, facts, parts, wishes));
    }
}

#[cfg(test)]
mod tests;
