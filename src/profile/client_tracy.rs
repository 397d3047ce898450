//! The profiler's client: Tracy.
//!
//! The client starts with [`layer`], which takes 200 ms (it calibrates its clock), and waits for a
//! viewer on a port of its own; until one connects, every call below returns after a load or two.

use super::stream::{GpuApi, Plot};
use std::ffi::{CStr, c_int};
use std::fmt;
use std::sync::Once;
use tracy_client::{
    Client, GpuContextType, PlotConfiguration, PlotFormat, PlotLineStyle, PlotName, plot_name, sys,
};

pub(super) const COMPILED_IN: bool = true;

/// Tracy's source location. It is laid out here, in a `static`, because the client's own type can
/// only be made at run time and is then looked up in a lazy cell on every zone.
#[derive(Debug)]
#[repr(transparent)]
pub(super) struct Location(sys::___tracy_source_location_data);

// SAFETY: its pointers come from `&'static CStr`s and are only ever read.
unsafe impl Sync for Location {}

impl Location {
    pub(super) const fn new(name: &'static CStr, file: &'static CStr, line: u32) -> Self {
        Self(sys::___tracy_source_location_data {
            name: name.as_ptr(),
            function: c"".as_ptr(),
            file: file.as_ptr(),
            line,
            color: 0,
        })
    }
}

/// A zone that was begun.
pub(super) struct ZoneContext(sys::___tracy_c_zone_context);

impl fmt::Debug for ZoneContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ZoneContext").field(&self.0.id).finish()
    }
}

#[inline]
pub(super) fn begin(location: &'static Location) -> Option<ZoneContext> {
    Client::is_running().then(|| {
        // SAFETY: the client runs, and the address that it keeps is a `static`'s.
        ZoneContext(unsafe { sys::___tracy_emit_zone_begin(&location.0, 1) })
    })
}

#[inline]
pub(super) fn end(context: ZoneContext) {
    // SAFETY: the context comes from `begin` on this thread (`Zone` is not `Send`) and ends once.
    unsafe { sys::___tracy_emit_zone_end(context.0) }
}

pub(super) fn connected() -> bool {
    Client::is_connected()
}

/// Starts the client, if it does not run, and gives the layer that feeds it.
pub(super) fn layer() -> tracing_tracy::TracyLayer {
    static STARTED: Once = Once::new();
    let layer = tracing_tracy::TracyLayer::default();
    STARTED.call_once(|| {
        // SAFETY: registering a handler has no precondition. A full table (at least 32 are
        // promised) only costs the end of the stream.
        if unsafe { atexit(stop) } != 0 {
            tracing::debug!("the profiler will miss the last moments of the run");
        }
    });
    layer
}

unsafe extern "C" {
    /// C11 7.22.4.2: calls `handler` when the process ends normally.
    fn atexit(handler: extern "C" fn()) -> c_int;
}

/// Sends what is still queued and closes the connection. It has to wait for the end of the main
/// thread's own storage, which refers to the client's, so it is an exit handler and not a guard.
extern "C" fn stop() {
    super::setup::disable();
    // SAFETY: `layer` started the client, and handlers run once. The workers have no work left.
    unsafe { sys::___tracy_shutdown_profiler() }
}

const fn name(plot: Plot) -> PlotName {
    match plot {
        Plot::Evaluated => plot_name!("characters evaluated"),
        Plot::Visible => plot_name!("characters visible"),
        Plot::Tasks => plot_name!("tasks recorded"),
        Plot::UploadBytes => plot_name!("upload"),
    }
}

pub(super) fn configure_plot(plot: Plot, bytes: bool) {
    if let Some(client) = Client::running() {
        let format = if bytes { PlotFormat::Memory } else { PlotFormat::Number };
        let configuration =
            PlotConfiguration::default().format(format).line_style(PlotLineStyle::Stepped);
        client.plot_config(name(plot), configuration);
    }
}

pub(super) fn plot(plot: Plot, value: f64) {
    if let Some(client) = Client::running() {
        client.plot(name(plot), value);
    }
}

pub(super) fn frame_mark() {
    if let Some(client) = Client::running() {
        client.frame_mark();
    }
}

pub(super) fn name_thread(name: &str) {
    if let Some(client) = Client::running() {
        client.set_thread_name(name);
    }
}

/// Tracy's timeline of one queue.
pub(super) struct GpuContext(tracy_client::GpuContext);

impl fmt::Debug for GpuContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("GpuContext")
    }
}

impl GpuContext {
    pub(super) fn new(name: &str, api: GpuApi, now_ns: u64) -> Option<Self> {
        let kind = match api {
            GpuApi::Vulkan => GpuContextType::Vulkan,
            GpuApi::Direct3D12 => GpuContextType::Direct3D12,
            GpuApi::OpenGl => GpuContextType::OpenGL,
            GpuApi::Other => GpuContextType::Invalid,
        };
        Client::running()?
            .new_gpu_context(Some(name), kind, now_ns.cast_signed(), 1.0)
            .inspect_err(|error| {
                tracing::warn!("no GPU timeline `{name}` in the profiler: {error}")
            })
            .ok()
            .map(Self)
    }

    pub(super) fn pass(&self, name: &str, queries: [u16; 2], begin_ns: u64, end_ns: u64) {
        let [begin, end] = queries;
        self.0.begin_span_alloc(name, "", "", 0, begin);
        self.0.end_span(end);
        self.0.upload_gpu_timestamp(begin, begin_ns.cast_signed());
        self.0.upload_gpu_timestamp(end, end_ns.cast_signed());
    }
}
