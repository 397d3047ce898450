//! A run without a window: the same frames into a texture, or into nothing.

use super::camera::Steering;
use super::characters::{self, Cast};
use super::cli::{Mode, RunConfig};
use super::exit::Failure;
use super::picture::Picture;
use super::show::Show;
use super::{finish, interrupt, output, revival};
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
    let (mut show, mut target) = set_up(config, cast)?;
    frames(&mut show, &mut target)?;
    finish::finish(&mut show, |show| read(show, &mut target))
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

fn frames(show: &mut Show, target: &mut Option<Offscreen>) -> Result<(), Failure> {
    let (warmup, measured) = (show.config().warmup, show.config().frames.unwrap_or(u64::MAX));
    let bar = progress(warmup.saturating_add(measured));
    for frame in 0..warmup.saturating_add(measured) {
        if interrupt::asked() {
            break;
        }
        let input = input(show.config(), frame);
        show.frame(target.as_ref().map(Offscreen::target), &Steering::default(), input)?;
        see_again(show, target)?;
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

/// A GPU that was lost is replaced, and the last frame drawn with the new one.
fn see_again(show: &mut Show, target: &mut Option<Offscreen>) -> Result<(), Failure> {
    while show.is_blind() {
        *target = None;
        show.abandon_picture();
        let request = GpuRequest { adapter: show.config().adapter.clone() };
        let gpu = revival::again(|| Gpu::new(&request))?;
        let formats = gpu.offscreen_formats();
        let size = (show.config().size.width, show.config().size.height);
        let fresh = Offscreen::new(&gpu, formats, size)?;
        show.revive(gpu, formats)?;
        show.redraw(fresh.target())?;
        *target = Some(fresh);
    }
    Ok(())
}

/// The last frame; `None` without a GPU.
fn read(show: &mut Show, target: &mut Option<Offscreen>) -> Result<Option<ImageRgba8>, Failure> {
    loop {
        let (Some(picture), Some(from)) = (show.picture(), &target) else { return Ok(None) };
        let image = from.read(&picture.gpu);
        if let Some(image) = show.heed(image)? {
            return Ok(Some(image));
        }
        see_again(show, target)?;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::cli::Cli;
    use std::ffi::OsString;

    /// Pictures of the last two of six frames, and what was said; after the fourth the GPU may be
    /// lost.
    fn pictures(lose: bool) -> ([Option<ImageRgba8>; 2], Vec<String>) {
        let words = ["throng", "--headless", "--count", "40", "--size", "320x180"];
        let cli = Cli::read(words.map(OsString::from)).unwrap().unwrap();
        let config = RunConfig::new(&cli.run, Mode::Headless).unwrap();
        let (build, fit) = (config.build(), config.fit_height);
        let cast = characters::load(&config.characters, &build, fit, true).unwrap();
        let (mut show, mut target) = set_up(config, cast).unwrap();
        let mut frame = |number| {
            let input = input(show.config(), number);
            let to = target.as_ref().map(Offscreen::target);
            show.frame(to, &Steering::default(), input).unwrap();
            if lose && number == 3 {
                show.picture().unwrap().gpu.device().destroy();
            }
            see_again(&mut show, &mut target).unwrap();
            read(&mut show, &mut target).unwrap()
        };
        (0..4).for_each(|number| drop(frame(number)));
        let images = [4, 5].map(frame);
        (images, show.take_notes())
    }

    #[test]
    fn after_a_lost_gpu_another_draws_the_same() {
        let (seen, notes) = pictures(false);
        assert!(seen.iter().all(Option::is_some) && notes.is_empty(), "{notes:?}");
        let (after, notes) = pictures(true);
        assert!(seen == after);
        assert_eq!(notes.len(), 1, "{notes:?}");
        assert!(notes[0].starts_with("the GPU was lost: "), "{notes:?}");
    }
}
