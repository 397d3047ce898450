//! The window: events in, frames out.

pub mod keys;
mod run;

use super::characters;
use super::cli::RunConfig;
use super::exit::Failure;
use run::WindowRun;
use winit::application::ApplicationHandler;
use winit::event::{DeviceEvent, DeviceId, WindowEvent};
use winit::event_loop::{ActiveEventLoop, EventLoop};
use winit::window::WindowId;

/// Connects to the display.
///
/// # Errors
/// With the system's reason when there is none.
pub fn connect() -> Result<EventLoop<()>, String> {
    // The system's own words come last, after the place in the code that heard them.
    EventLoop::new().map_err(|e| {
        let text = e.to_string();
        text.rsplit(": ").next().unwrap_or(&text).trim_end_matches('.').to_owned()
    })
}

/// Opens the window and runs until it is closed or all frames are done.
///
/// # Errors
/// Of characters, GPU, files and the frame-time limit.
pub fn run(events: EventLoop<()>, config: RunConfig) -> Result<(), Failure> {
    // Before the window opens, so that a file that can't be read flashes none.
    let cast = characters::load(&config.characters, &config.build(), config.fit_height, true)?;
    cast.announce();
    let mut app = App { waiting: Some((config, cast)), run: None, outcome: Ok(()) };
    events.run_app(&mut app)?;
    app.outcome
}

/// What winit calls.
struct App {
    waiting: Option<(RunConfig, characters::Cast)>,
    run: Option<WindowRun>,
    outcome: Result<(), Failure>,
}

impl App {
    /// Does something with the run; a failure or the last frame ends the loop.
    fn with_run(
        &mut self,
        events: &ActiveEventLoop,
        what: impl FnOnce(&mut WindowRun, &ActiveEventLoop) -> Result<(), Failure>,
    ) {
        let Some(run) = &mut self.run else { return };
        let mut outcome = what(run, events);
        if outcome.is_ok() && run.is_over() {
            outcome = run.finish();
        } else if outcome.is_ok() {
            return;
        }
        self.outcome = outcome;
        self.run = None;
        events.exit();
    }
}

impl ApplicationHandler for App {
    fn resumed(&mut self, events: &ActiveEventLoop) {
        let Some((config, cast)) = self.waiting.take() else { return };
        match WindowRun::open(events, config, cast) {
            Ok(run) => self.run = Some(run),
            Err(failure) => {
                self.outcome = Err(failure);
                events.exit();
            }
        }
    }

    fn window_event(&mut self, events: &ActiveEventLoop, _: WindowId, event: WindowEvent) {
        self.with_run(events, |run, _| run.window_event(event));
    }

    fn device_event(&mut self, events: &ActiveEventLoop, _: DeviceId, event: DeviceEvent) {
        self.with_run(events, |run, _| {
            run.device_event(&event);
            Ok(())
        });
    }

    fn about_to_wait(&mut self, events: &ActiveEventLoop) {
        self.with_run(events, |run, events| {
            run.about_to_wait(events);
            Ok(())
        });
    }
}
