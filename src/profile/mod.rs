//! Phases, zones, plots and the log: the one place that names Tracy.
//!
//! What a measurement may cost decides how it is taken. Through `tracing` a span costs about 300 ns
//! whether or not a viewer is connected, straight through the client a zone costs about 20 ns with
//! a viewer, and a branch on a `bool` less than one. So:
//!
//! - the phases of a frame and loading are `tracing` spans, which reach both Tracy and the log;
//! - zones per character and per task go to the client directly ([`zone()`]), behind one `bool` that
//!   is asked once a frame ([`listening`]);
//! - plots and frame marks are a few calls a frame.
//!
//! Without the `tracy` feature everything here still compiles and keeps its meaning: phases are
//! timed and logged, and nobody ever listens.

mod phase;
mod setup;
mod stream;
mod timeline;
mod zone;

#[cfg_attr(feature = "tracy", path = "client_tracy.rs")]
#[cfg_attr(not(feature = "tracy"), path = "client_absent.rs")]
mod client;

pub use phase::{Phase, PhaseTimes};
pub use setup::{
    ProfileError, UnknownZoneLevel, ZoneLevel, compiled_in, init, listening, wait_for_viewer,
    watched,
};
pub use stream::{GpuApi, GpuTimeline, Plot, frame_mark, name_thread, plot};
pub use timeline::{Lane, Span, Timeline};
#[cfg(test)]
pub(crate) use zone::counting;
pub use zone::{Zone, ZoneLocation, zone};
