//! From options to a run: everything that can be refused is refused before the long work starts.

use super::cli::{self, Mode, RunConfig, RunOptions, ZonesArg};
use super::exit::Failure;
use super::{headless, interrupt, output, replay, window};
use crate::profile::{self, ProfileError, ZoneLevel};
use std::time::Duration;

/// How long `--wait-tracy` waits.
const PATIENCE: Duration = Duration::from_secs(24 * 3600);

/// Runs what the options ask for.
///
/// # Errors
/// Of the command line, the log filter, output folders, and of the run itself.
pub fn run(options: &RunOptions) -> Result<(), Failure> {
    let mode = RunConfig::mode_asked(options);
    let config = configured(options, mode)?;
    check_outputs(&config)?;
    start_profile(&config)?;
    for note in cli::without_effect(options, mode) {
        output::say(note);
    }
    interrupt::listen()?;
    if mode != Mode::Window {
        return headless::run(config);
    }
    let reason = if config.draws_nothing() {
        "no window shows what --adapter noop draws".to_owned()
    } else {
        match window::connect() {
            Ok(events) => return window::run(events, config),
            Err(reason) => format!("no display ({reason})"),
        }
    };
    output::say(format_args!("{reason}; running headless"));
    headless::run(configured(options, Mode::Headless)?)
}

/// A run that replays takes what it is of from its recording.
fn configured(options: &RunOptions, mode: Mode) -> Result<RunConfig, Failure> {
    let mut config = RunConfig::new(options, mode)?;
    replay::adopt(&mut config, !options.character.is_empty())?;
    Ok(config)
}

fn check_outputs(config: &RunConfig) -> Result<(), Failure> {
    let files = [
        ("--screenshot", config.screenshot.as_ref()),
        ("--report", config.report.as_ref()),
        ("--capture", config.capture.as_ref().map(|capture| &capture.path)),
        ("--record", config.record.as_ref()),
    ];
    let files = files.into_iter().filter_map(|(option, path)| Some((option, path?)));
    let files: Vec<_> = files.collect();
    for (at, (option, path)) in files.iter().enumerate() {
        if let Some((other, _)) = files[..at].iter().find(|(_, p)| p == path) {
            let path = path.display();
            return Err(Failure::Usage(format!("{other} and {option} name the same file: {path}")));
        }
        output::check_file(option, path)?;
    }
    if let Some(path) = &config.frames_out {
        output::check_folder("--frames-out", path)?;
    }
    Ok(())
}

fn start_profile(config: &RunConfig) -> Result<(), Failure> {
    let level = match config.zones {
        ZonesArg::Off => ZoneLevel::Off,
        ZonesArg::Phases => ZoneLevel::Phases,
        ZonesArg::Tasks => ZoneLevel::Tasks,
    };
    profile::init(level).map_err(|e| match e {
        ProfileError::Filter { .. } => Failure::Usage(e.to_string()),
        ProfileError::AlreadySetUp => Failure::from(e),
    })?;
    if !config.wait_tracy {
        return Ok(());
    }
    if !profile::compiled_in() || level == ZoneLevel::Off {
        let line = "--wait-tracy needs the profiler: build with the feature `tracy` and leave \
                    --zones at phases or tasks";
        return Err(Failure::Usage(line.to_owned()));
    }
    output::say("waiting for a Tracy viewer; Ctrl-C ends");
    let slice = Duration::from_millis(100);
    let mut waited = Duration::ZERO;
    while waited < PATIENCE && !interrupt::asked() && !profile::wait_for_viewer(slice) {
        waited += slice;
    }
    Ok(())
}
