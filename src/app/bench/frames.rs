//! Whole frames, one at a time: those of a run without a window, whose times belong to whoever asks
//! for the frame.

use super::median;
use crate::app::camera::Steering;
use crate::app::characters::{self, Cast};
use crate::app::cli::{Cli, Mode, RunConfig, RunOptions};
use crate::app::exit::Failure;
use crate::app::headless;
use crate::app::report::Report;
use crate::app::sample::milliseconds;
use crate::app::show::Show;
use crate::profile::{Phase, PhaseTimes};
use crate::render::Offscreen;
use clap::Parser;
use std::path::PathBuf;
use std::time::Instant;

/// The phases that animate; the others draw.
pub(super) const ANIMATION: [Phase; 7] = [
    Phase::Cull,
    Phase::Gate,
    Phase::Record,
    Phase::Execute,
    Phase::Follow,
    Phase::Serial,
    Phase::Gather,
];

/// A run that was told nothing but its characters: the built-in ones where there are none. It draws
/// on the backend that does all of the processor's work and nothing else.
pub(super) fn plain_run(characters: &[PathBuf]) -> Result<RunConfig, Failure> {
    let Cli { run, .. } = Cli::try_parse_from(["throng"])?;
    let adapter = Some("noop".to_owned());
    let options = RunOptions { character: characters.to_vec(), adapter, ..run };
    RunConfig::new(&options, Mode::Headless)
}

/// The characters of a run, with what there is to say about them said.
pub(super) fn cast(config: &RunConfig) -> Result<Cast, Failure> {
    let drawn = config.mode != Mode::NoRender;
    let cast = characters::load(&config.characters, &config.build(), config.fit_height, drawn)?;
    cast.announce();
    Ok(cast)
}

/// What one frame took, milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct FrameMs {
    /// From its beginning to what was submitted.
    pub whole: f64,
    /// [`ANIMATION`], on the main thread.
    pub animation: f64,
}

impl FrameMs {
    /// The medians of some frames, each number for itself.
    pub fn medians(frames: &[Self]) -> Self {
        let of = |value: fn(&Self) -> f64| median(frames.iter().map(value).collect());
        Self { whole: of(|f| f.whole), animation: of(|f| f.animation) }
    }
}

/// A run whose frames are asked for one by one.
pub(super) struct Frames {
    show: Show,
    target: Option<Offscreen>,
    frame: u64,
}

impl Frames {
    /// Places the crowd.
    ///
    /// # Errors
    /// When it does not fit into memory, or a character can't be animated.
    pub fn new(config: RunConfig, cast: Cast) -> Result<Self, Failure> {
        let (show, target) = headless::set_up(config, cast)?;
        Ok(Self { show, target, frame: 0 })
    }

    /// The run.
    pub fn show(&self) -> &Show {
        &self.show
    }

    /// The next frame.
    pub fn next(&mut self) -> Result<FrameMs, Failure> {
        let input = headless::input(self.show.config(), self.frame);
        let target = self.target.as_ref().map(Offscreen::target);
        let start = Instant::now();
        self.show.frame(target, &Steering::default(), input)?;
        let whole = start.elapsed().as_secs_f64() * 1e3;
        self.frame += 1;
        Ok(FrameMs { whole, animation: main_ms(self.show.times(), &ANIMATION) })
    }

    /// What was measured so far, once the GPU has done it all.
    pub fn settled_report(&mut self) -> Report {
        self.show.settle();
        self.show.report()
    }

    /// The medians of the next frames, without those of some before them.
    pub fn measure(&mut self, warmup: usize, frames: usize) -> Result<FrameMs, Failure> {
        for _ in 0..warmup {
            self.next()?;
        }
        let frames = (0..frames).map(|_| self.next()).collect::<Result<Vec<_>, _>>()?;
        Ok(FrameMs::medians(&frames))
    }
}

/// Milliseconds of some phases on the main thread.
fn main_ms(times: &PhaseTimes, phases: &[Phase]) -> f64 {
    milliseconds(phases.iter().map(|phase| times.main_ns(*phase)).sum())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plain_run_is_what_the_program_does_unasked_on_no_gpu() {
        let config = plain_run(&["fox.glb".into()]).unwrap();
        assert_eq!((config.characters.len(), config.mode), (1, Mode::Headless));
        assert!(config.draws_nothing() && config.update_rate && config.skeleton_lod);
        assert_eq!(plain_run(&[]).unwrap().characters.len(), 2);
    }

    #[test]
    fn a_frame_is_drawn_and_its_animation_is_a_part_of_it() {
        let config = plain_run(&[]).unwrap();
        let config = RunConfig { count: 20, threads: Some(1), warmup: 0, ..config };
        let mut frames = Frames::new(config.clone(), cast(&config).unwrap()).unwrap();
        let ms = frames.measure(1, 3).unwrap();
        assert!(ms.animation > 0.0 && ms.whole > ms.animation, "{ms:?}");
        assert_eq!((frames.frame, frames.show().crowd().ticks()), (4, 4));
        assert!(frames.show().report().render.is_some_and(|r| r.instances.mean > 0.0));
    }

    #[test]
    fn medians_are_of_each_number() {
        let of = |whole, animation| FrameMs { whole, animation };
        let frames = [of(3.0, 1.0), of(1.0, 2.0), of(2.0, 3.0)];
        assert_eq!(FrameMs::medians(&frames), of(2.0, 2.0));
    }
}
