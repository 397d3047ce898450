//! A run without a window: the same frames into a texture, or into nothing.

use super::camera::Steering;
use super::characters::{self, Cast};
use super::cli::{Mode, RunConfig};
use super::exit::Failure;
use super::picture::Picture;
use super::show::Show;
use super::{finish, interrupt, output};
use crate::asset::ImageRgba8;
use crate::render::{Gpu, GpuRequest, Offscreen};
use indicatif::{ProgressBar, ProgressStyle};

/// Runs to the end and writes what was asked for.
///
/// # Errors
/// Of characters, GPU and files; [`Failure::TooSlow`] when the frame-time limit is broken.
pub fn run(config: RunConfig) -> Result<(), Failure> {
    let drawn = config.mode != Mode::NoRender;
    let cast = characters::load(&config.characters, &config.build(), config.fit_height, drawn)?;
    cast.announce();
    let (mut show, target) = set_up(config, cast)?;
    frames(&mut show, target.as_ref())?;
    finish::finish(&mut show, |show| read(show, target.as_ref()))
}

/// A show of a cast, and what it is drawn into; `None` where nothing is drawn.
///
/// # Errors
/// Of the GPU, and when the crowd does not fit into memory.
pub fn set_up(config: RunConfig, cast: Cast) -> Result<(Show, Option<Offscreen>), Failure> {
    if config.mode == Mode::NoRender {
        return Ok((Show::new(config, cast, None)?, None));
    }
    let gpu = Gpu::new(&GpuRequest { adapter: config.adapter.clone() })?;
    let formats = gpu.offscreen_formats();
    let target = Offscreen::new(&gpu, formats, (config.size.width, config.size.height))?;
    let picture = Picture::new(gpu, formats, &config, &cast)?;
    Ok((Show::new(config, cast, Some(picture))?, Some(target)))
}

fn frames(show: &mut Show, target: Option<&Offscreen>) -> Result<(), Failure> {
    let (warmup, measured) = (show.config().warmup, show.config().frames.unwrap_or(u64::MAX));
    let bar = progress(warmup.saturating_add(measured));
    for frame in 0..warmup.saturating_add(measured) {
        if interrupt::asked() {
            break;
        }
        show.frame(
            target.map(Offscreen::target),
            &Steering::default(),
            input(show.config(), frame),
        )?;
        for note in show.take_notes() {
            bar.suspend(|| output::say(note));
        }
        if let Some(dump) = show.take_dump() {
            bar.suspend(|| output::log(&dump));
        }
        if let (Some(folder), true) = (&show.config().frames_out, frame >= warmup) {
            let path = folder.join(format!("frame-{:05}.png", frame - warmup));
            if let Some(image) = read(show, target)? {
                output::write_png(&path, &image)?;
            }
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    Ok(())
}

/// The last frame; `None` without a GPU.
fn read(show: &Show, target: Option<&Offscreen>) -> Result<Option<ImageRgba8>, Failure> {
    match (show.picture(), target) {
        (Some(picture), Some(target)) => Ok(Some(target.read(&picture.gpu)?)),
        _ => Ok(None),
    }
}

/// What egui is told where nobody types: how large the picture is and what time it is.
pub fn input(config: &RunConfig, frame: u64) -> egui::RawInput {
    let size = egui::vec2(config.size.width as f32, config.size.height as f32);
    egui::RawInput {
        screen_rect: Some(egui::Rect::from_min_size(egui::Pos2::ZERO, size)),
        time: Some(frame as f64 / 60.0),
        ..Default::default()
    }
}

/// On a terminal only; elsewhere a bar that draws nothing.
fn progress(frames: u64) -> ProgressBar {
    let style = "{bar:40} {pos}/{len} frames, {per_sec}, {eta} left";
    let bar = ProgressBar::new(frames);
    match ProgressStyle::with_template(style) {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}
