//! Turning measurement on: the log, the Tracy layer, and who is listening.

use super::client;
use std::io::IsTerminal;
use std::str::FromStr;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::{Duration, Instant};
use tracing_subscriber::filter::{EnvFilter, FilterExt, LevelFilter, Targets, dynamic_filter_fn};
use tracing_subscriber::layer::{Layer, SubscriberExt};
use tracing_subscriber::util::SubscriberInitExt;

/// How much is sent to a profiler that is connected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum ZoneLevel {
    /// Nothing: no spans, no frame marks, no plots.
    Off = 0,
    /// Phases of the frame, loading, frame marks, plots, GPU passes.
    #[default]
    Phases = 1,
    /// Those and a zone for every character evaluated and every task executed.
    Tasks = 2,
}

impl ZoneLevel {
    /// From the least to the most.
    pub const ALL: [Self; 3] = [Self::Off, Self::Phases, Self::Tasks];

    /// As on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Phases => "phases",
            Self::Tasks => "tasks",
        }
    }
}

/// A word that names no [`ZoneLevel`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no zone level; use off, phases or tasks")]
pub struct UnknownZoneLevel(pub String);

impl FromStr for ZoneLevel {
    type Err = UnknownZoneLevel;

    fn from_str(word: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|level| level.name() == word)
            .ok_or_else(|| UnknownZoneLevel(word.to_owned()))
    }
}

/// Why measurement could not be turned on.
#[derive(Debug, thiserror::Error)]
pub enum ProfileError {
    /// The environment variable holds no filter.
    #[error(
        "RUST_LOG=`{value}` is no log filter: {reason}; try RUST_LOG=info or RUST_LOG=throng=debug"
    )]
    Filter {
        /// What it holds.
        value: String,
        /// What the parser says.
        reason: String,
    },
    /// [`init`] was called before, or something else took the log.
    #[error("the log is already set up")]
    AlreadySetUp,
}

/// The [`ZoneLevel`] of the process; off until [`init`].
static LEVEL: AtomicU8 = AtomicU8::new(ZoneLevel::Off as u8);

/// Starts the log and, unless `level` is off, the stream of spans to Tracy. Call it once, before
/// any work that should be seen, on the main thread.
///
/// With the client compiled in and `level` not off it takes 200 ms, in which the client calibrates
/// its clock; from then on a viewer may connect at any time.
///
/// The log goes to standard error, filtered by `RUST_LOG`, warnings and errors without it. Tracy
/// gets this crate's spans and messages from the level `info` on and everybody's warnings, whatever
/// `RUST_LOG` says.
///
/// # Errors
/// [`ProfileError::Filter`] when `RUST_LOG` cannot be parsed, [`ProfileError::AlreadySetUp`] the
/// second time.
pub fn init(level: ZoneLevel) -> Result<(), ProfileError> {
    let log = tracing_subscriber::fmt::layer()
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal())
        .with_target(false)
        .with_filter(log_filter(std::env::var("RUST_LOG").ok())?);
    let zones = (level > ZoneLevel::Off).then(client::layer).map(|layer| {
        let wanted = Targets::new()
            .with_default(LevelFilter::WARN)
            .with_target(env!("CARGO_CRATE_NAME"), LevelFilter::INFO);
        // A span that is made takes an allocation or two, so none is made that nobody will see.
        layer.with_filter(wanted.and(dynamic_filter_fn(|_, _| client::connected())))
    });
    tracing_subscriber::registry()
        .with(log)
        .with(zones)
        .try_init()
        .map_err(|_| ProfileError::AlreadySetUp)?;
    LEVEL.store(level as u8, Ordering::Relaxed);
    if level > ZoneLevel::Off {
        super::stream::configure_plots();
    }
    Ok(())
}

fn log_filter(variable: Option<String>) -> Result<EnvFilter, ProfileError> {
    // winit warns of desktops without settings or sizes, which nobody can mend from here.
    let value = variable.unwrap_or_else(|| "warn,winit=error".to_owned());
    EnvFilter::builder()
        .with_default_directive(LevelFilter::WARN.into())
        .parse(&value)
        .map_err(|e| ProfileError::Filter { value, reason: e.to_string() })
}

/// Whether the profiler's client is part of this binary (cargo feature `tracy`).
pub const fn compiled_in() -> bool {
    client::COMPILED_IN
}

/// Whether anything is sent to a viewer at all.
pub(super) fn enabled() -> bool {
    LEVEL.load(Ordering::Relaxed) > ZoneLevel::Off as u8
}

/// Sends nothing more.
#[cfg(feature = "tracy")]
pub(super) fn disable() {
    LEVEL.store(ZoneLevel::Off as u8, Ordering::Relaxed);
}

/// Whether a viewer is connected and wants the phases: two loads.
pub fn watched() -> bool {
    enabled() && client::connected()
}

/// Whether a viewer is connected and wants a zone per character and task. Ask once a frame and hand
/// the answer to the workers, so that a frame nobody watches pays a branch on a plain `bool`.
pub fn listening() -> bool {
    LEVEL.load(Ordering::Relaxed) >= ZoneLevel::Tasks as u8 && client::connected()
}

/// Waits until a viewer is connected; false when none came within `timeout`, or when the profiler's
/// client is not part of this binary.
pub fn wait_for_viewer(timeout: Duration) -> bool {
    if !compiled_in() {
        return false;
    }
    let start = Instant::now();
    while !client::connected() {
        if start.elapsed() >= timeout {
            return false;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_round_trip_through_their_names_and_others_are_refused() {
        for level in ZoneLevel::ALL {
            assert_eq!(level.name().parse(), Ok(level));
        }
        let error = "Tasks".parse::<ZoneLevel>().unwrap_err();
        assert_eq!(error.to_string(), "`Tasks` is no zone level; use off, phases or tasks");
    }

    #[test]
    fn a_broken_filter_is_named_and_none_means_warnings() {
        let error = log_filter(Some("throng=loud".to_owned())).unwrap_err().to_string();
        assert!(error.contains("RUST_LOG=`throng=loud`"), "{error}");
        assert_eq!(log_filter(None).unwrap().max_level_hint(), Some(LevelFilter::WARN));
        let debug = log_filter(Some("throng=debug".to_owned())).unwrap();
        assert_eq!(debug.max_level_hint(), Some(LevelFilter::DEBUG));
    }

    #[test]
    fn waiting_for_a_viewer_ends() {
        assert!(!wait_for_viewer(Duration::from_millis(20)));
    }
}
