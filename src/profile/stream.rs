//! What goes to the profiler a few times a frame: frame marks, plots, thread names, GPU passes.

use super::client;
use super::setup::{enabled, watched};

/// A number per frame that the profiler draws as a curve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub enum Plot {
    /// Characters whose pose was evaluated this frame.
    Evaluated,
    /// Characters in the camera's or the shadow map's view.
    Visible,
    /// Tasks that were recorded this frame.
    Tasks,
    /// Bytes copied to the GPU this frame.
    UploadBytes,
}

impl Plot {
    /// All of them, in the order of their values.
    pub const ALL: [Self; 4] = [Self::Evaluated, Self::Visible, Self::Tasks, Self::UploadBytes];
}

/// Tells the profiler how to draw the plots.
pub(super) fn configure_plots() {
    for plot in Plot::ALL {
        client::configure_plot(plot, plot == Plot::UploadBytes);
    }
}

/// Adds a point to a plot, if a viewer is connected.
pub fn plot(plot: Plot, value: f64) {
    if watched() {
        client::plot(plot, value);
    }
}

/// Ends a frame: call it once, after the frame was presented or read back. Frames are counted with
/// nobody watching too, so that a viewer that comes late shows their true numbers.
pub fn frame_mark() {
    if enabled() {
        client::frame_mark();
    }
}

/// Names the calling thread in the profiler and for the system. A name is cut at its first NUL byte.
/// Not for the main thread: the system takes its name for the program's, and the viewer knows it.
pub fn name_thread(name: &str) {
    client::name_thread(name.split('\0').next().unwrap_or_default());
}

/// Which interface a GPU timeline belongs to; the viewer only shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GpuApi {
    /// Vulkan.
    Vulkan,
    /// Direct3D 12.
    Direct3D12,
    /// OpenGL and OpenGL ES.
    OpenGl,
    /// Any other.
    Other,
}

/// The profiler's timeline of one GPU queue.
///
/// Timestamps of a pass are known a few frames after it ran, so a pass is handed over whole. Its
/// GPU times are exact; the viewer's link from a pass to the moment it was recorded is not.
#[derive(Debug)]
pub struct GpuTimeline {
    context: Option<client::GpuContext>,
    /// Names the next timestamp; a pair is free again as soon as it was sent.
    query: u16,
}

impl GpuTimeline {
    /// A timeline named `name` whose clock shows `now_ns` nanoseconds at this moment. With zones
    /// off, or more than 255 timelines in one process, it swallows what it is given.
    pub fn new(name: &str, api: GpuApi, now_ns: u64) -> Self {
        let context = if enabled() { client::GpuContext::new(name, api, now_ns) } else { None };
        Self { context, query: 0 }
    }

    /// Shows a pass from `begin_ns` to `end_ns`, on the clock of [`GpuTimeline::new`], if a viewer
    /// is connected. Hand passes over in the order in which they began.
    pub fn pass(&mut self, name: &str, begin_ns: u64, end_ns: u64) {
        let Some(context) = self.context.as_ref().filter(|_| watched()) else { return };
        context.pass(name, [self.query, self.query ^ 1], begin_ns, end_ns.max(begin_ns));
        self.query = self.query.wrapping_add(2);
    }
}
