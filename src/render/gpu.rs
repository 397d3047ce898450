//! The device that everything is drawn with.

use super::adapter::{AdapterSummary, adapters, choose, summaries};
use super::health::{GpuFault, Health};
#[cfg(any(test, feature = "shader-reload"))]
use super::shader_texts::ShaderTexts;
use super::shaders::Shader;
use super::surface::WindowSurface;
use super::target::TargetFormats;
use std::sync::Arc;

/// Why there is no device.
#[derive(Debug, thiserror::Error)]
pub enum GpuError {
    /// The machine has no adapter at all.
    #[error("no GPU adapter was found (a software one such as Mesa's lavapipe would do): {reason}")]
    NoAdapter {
        /// What wgpu says of each backend.
        reason: String,
    },
    /// No adapter of that name or index.
    #[error("no adapter answers to {wanted:?}; there are: {available}")]
    NotFound {
        /// What was asked for.
        wanted: String,
        /// What there is.
        available: String,
    },
    /// The adapter can't show pictures in this window.
    #[error("adapter {name} can't present to this window; those that can: {available}")]
    CannotPresent {
        /// The adapter.
        name: String,
        /// Those that can.
        available: String,
    },
    /// The adapter lacks something that the renderer can't do without.
    #[error("adapter {name} lacks {what}")]
    Lacks {
        /// The adapter.
        name: String,
        /// What it lacks.
        what: String,
    },
    /// The driver refused to give a device.
    #[error("adapter {name} gave no device: {reason}")]
    Device {
        /// The adapter.
        name: String,
        /// wgpu's reason.
        reason: String,
    },
    /// The window gave no surface.
    #[error("no graphics driver can draw to this window (WGPU_BACKEND leaves out all but its own)")]
    Surface(#[from] wgpu::CreateSurfaceError),
    /// The window gave no surface for so long that it won't.
    #[error("the window has given no surface to draw to for {seconds} s: {reason}")]
    Refused {
        /// How long, seconds.
        seconds: u64,
        /// wgpu's reason.
        reason: String,
    },
    /// A fault after the device was made.
    #[error(transparent)]
    Fault(#[from] GpuFault),
}

/// Which device is wanted.
#[derive(Clone, Debug, Default)]
pub struct GpuRequest {
    /// An index in [`Gpu::list`], a part of a name (any case) or a backend's name; `noop` is
    /// wgpu's backend that draws nothing. `None` leaves the choice to `WGPU_ADAPTER_NAME` and,
    /// without it, to `WGPU_POWER_PREF` and wgpu.
    pub adapter: Option<String>,
}

impl GpuRequest {
    /// The name of the backend that draws nothing.
    pub const NOOP: &str = "noop";

    pub(super) fn is_noop(&self) -> bool {
        self.adapter.as_deref().is_some_and(|a| a.eq_ignore_ascii_case(Self::NOOP))
    }

    /// The backends to try, one set after the other. OpenGL comes last and only when nothing else
    /// serves: merely asking it costs a connection to the display. `WGPU_BACKEND` names one set.
    fn backends(&self) -> Vec<wgpu::Backends> {
        if self.is_noop() {
            return vec![wgpu::Backends::NOOP];
        }
        match wgpu::Backends::from_env() {
            Some(backends) => vec![backends],
            None => vec![wgpu::Backends::PRIMARY, wgpu::Backends::all()],
        }
    }
}

/// An instance over some backends. `WGPU_DEBUG`, `WGPU_VALIDATION` and wgpu's other variables
/// apply.
fn make_instance(
    backends: wgpu::Backends,
    display: Option<Box<dyn wgpu::wgt::WgpuHasDisplayHandle>>,
) -> wgpu::Instance {
    let mut descriptor = match display {
        Some(display) => wgpu::InstanceDescriptor::new_with_display_handle_from_env(display),
        None => wgpu::InstanceDescriptor::new_without_display_handle_from_env(),
    };
    descriptor.backends = backends;
    descriptor.backend_options.noop.enable |= backends == wgpu::Backends::NOOP;
    wgpu::Instance::new(descriptor)
}

/// A device with its queue, and what went wrong with it so far.
///
/// wgpu's uncaptured errors and the loss of the device never panic: they are logged and kept for
/// [`Gpu::check`].
#[derive(Debug)]
pub struct Gpu {
    instance: wgpu::Instance,
    adapter: wgpu::Adapter,
    device: wgpu::Device,
    queue: wgpu::Queue,
    summary: AdapterSummary,
    health: Arc<Health>,
    /// Shaders that take the place of the built-in ones.
    #[cfg(any(test, feature = "shader-reload"))]
    texts: Option<ShaderTexts>,
}

impl Gpu {
    /// A device that needs no window.
    ///
    /// # Errors
    /// [`GpuError`] when no adapter fits the request or none gives a device.
    pub fn new(request: &GpuRequest) -> Result<Self, GpuError> {
        first_that_serves(request.backends(), |backends| {
            let instance = make_instance(backends, None);
            let (adapter, summary) = choose(&instance, request, None)?;
            Self::with_adapter(instance, adapter, summary)
        })
    }

    /// A device that can present to `window`, and the window's surface. `display` is the
    /// connection that the window was made with; OpenGL on Wayland needs it.
    ///
    /// # Errors
    /// As [`Gpu::new`], and when the window gives no surface.
    pub fn for_window<W, D>(
        request: &GpuRequest,
        window: Arc<W>,
        display: D,
    ) -> Result<(Self, WindowSurface), GpuError>
    where
        Arc<W>: Into<wgpu::SurfaceTarget<'static>>,
        W: Send + Sync + 'static,
        D: wgpu::wgt::WgpuHasDisplayHandle + Clone,
    {
        first_that_serves(request.backends(), |backends| {
            let instance = make_instance(backends, Some(Box::new(display.clone())));
            let window = window.clone();
            let make =
                Box::new(move |instance: &wgpu::Instance| instance.create_surface(window.clone()));
            let surface = make(&instance)?;
            let (adapter, summary) = choose(&instance, request, Some(&surface))?;
            let gpu = Self::with_adapter(instance, adapter, summary)?;
            let surface = WindowSurface::new(&gpu, surface, make)?;
            Ok((gpu, surface))
        })
    }

    /// Every adapter, in the order that indices refer to.
    pub fn list() -> Vec<AdapterSummary> {
        let backends = GpuRequest::default().backends().pop().unwrap_or(wgpu::Backends::all());
        summaries(&adapters(&make_instance(backends, None)))
    }

    fn with_adapter(
        instance: wgpu::Instance,
        adapter: wgpu::Adapter,
        summary: AdapterSummary,
    ) -> Result<Self, GpuError> {
        let name = || summary.name.clone();
        let needed = wgpu::DownlevelFlags::VERTEX_STORAGE
            | wgpu::DownlevelFlags::COMPARISON_SAMPLERS
            | wgpu::DownlevelFlags::BASE_VERTEX;
        let missing = needed - adapter.get_downlevel_capabilities().flags;
        if !missing.is_empty() {
            return Err(GpuError::Lacks { name: name(), what: format!("{missing:?}") });
        }
        let timing = if summary.timestamps {
            wgpu::Features::TIMESTAMP_QUERY
        } else {
            wgpu::Features::empty()
        };
        // What is written once and read once may lie in memory that both sides reach.
        let mapped = adapter.features() & wgpu::Features::MAPPABLE_PRIMARY_BUFFERS;
        let request = adapter.request_device(&wgpu::DeviceDescriptor {
            label: Some("throng device"),
            required_features: timing | mapped,
            // Pages, textures and instance buffers may be as large as this adapter allows.
            required_limits: adapter.limits(),
            ..Default::default()
        });
        let (device, queue) = pollster::block_on(request)
            .map_err(|e| GpuError::Device { name: name(), reason: e.to_string() })?;

        let health = Arc::new(Health::default());
        let reports = health.clone();
        device.on_uncaptured_error(Arc::new(move |error| reports.report_error(&error)));
        let reports = health.clone();
        device.set_device_lost_callback(move |reason, message| {
            reports.report(GpuFault::Lost(match reason {
                wgpu::DeviceLostReason::Destroyed => "its device was destroyed".to_owned(),
                wgpu::DeviceLostReason::Unknown => message,
            }));
        });
        tracing::info!("drawing with adapter {summary}, driver {}", summary.driver);
        Ok(Self {
            instance,
            adapter,
            device,
            queue,
            summary,
            health,
            #[cfg(any(test, feature = "shader-reload"))]
            texts: None,
        })
    }

    /// The gravest fault so far, as an error.
    ///
    /// # Errors
    /// [`GpuFault`] when the device was lost, ran out of memory or refused a command.
    pub fn check(&self) -> Result<(), GpuFault> {
        self.health.fault().map_or(Ok(()), Err)
    }

    /// The same once the device has told what it has to tell, which it may do only when it is asked.
    ///
    /// # Errors
    /// As [`Gpu::check`].
    pub(super) fn check_now(&self) -> Result<(), GpuFault> {
        if let Err(error) = self.device.poll(wgpu::PollType::Poll) {
            tracing::debug!("asking the device: {error}");
        }
        self.check()
    }

    /// Compiles these shaders from now on, `None` the built-in ones; those before.
    #[cfg(any(test, feature = "shader-reload"))]
    pub fn set_shader_texts(&mut self, texts: Option<ShaderTexts>) -> Option<ShaderTexts> {
        std::mem::replace(&mut self.texts, texts)
    }

    /// True when shaders are not the built-in ones.
    pub(super) fn has_own_texts(&self) -> bool {
        #[cfg(any(test, feature = "shader-reload"))]
        return self.texts.is_some();
        #[cfg(not(any(test, feature = "shader-reload")))]
        false
    }

    /// What a module is compiled from.
    pub(super) fn text_of(&self, shader: Shader) -> &str {
        #[cfg(any(test, feature = "shader-reload"))]
        if let Some(text) = self.texts.as_ref().and_then(|texts| texts.of(shader)) {
            return text;
        }
        shader.source
    }

    /// The adapter in use.
    pub fn summary(&self) -> &AdapterSummary {
        &self.summary
    }

    /// For resources of the caller's own.
    pub fn device(&self) -> &wgpu::Device {
        &self.device
    }

    /// For uploads of the caller's own.
    pub fn queue(&self) -> &wgpu::Queue {
        &self.queue
    }

    /// Where surfaces come from.
    pub fn instance(&self) -> &wgpu::Instance {
        &self.instance
    }

    /// What it can do.
    pub fn adapter(&self) -> &wgpu::Adapter {
        &self.adapter
    }

    /// True on the backend that draws nothing.
    pub fn is_noop(&self) -> bool {
        self.adapter.get_info().backend == wgpu::Backend::Noop
    }

    /// What [`super::Offscreen`] is made of on this device.
    pub fn offscreen_formats(&self) -> TargetFormats {
        TargetFormats::of(wgpu::TextureFormat::Rgba8UnormSrgb, self.has_view_formats())
    }

    /// True when shaders can read buffers that are written through a mapping, and compute.
    pub(super) fn reads_mapped_memory(&self) -> bool {
        let flags = self.adapter.get_downlevel_capabilities().flags;
        flags.contains(wgpu::DownlevelFlags::COMPUTE_SHADERS)
            && self.device.features().contains(wgpu::Features::MAPPABLE_PRIMARY_BUFFERS)
    }

    /// True when a texture can be looked at in another format than its own.
    pub(super) fn has_view_formats(&self) -> bool {
        let flags = self.adapter.get_downlevel_capabilities().flags;
        flags.contains(wgpu::DownlevelFlags::VIEW_FORMATS)
    }
}

impl Drop for Gpu {
    fn drop(&mut self) {
        // A device that is dropped is lost too, and nobody's fault.
        self.health.give_up();
    }
}

/// The first success; where there is none, the last failure.
fn first_that_serves<T>(
    backends: Vec<wgpu::Backends>,
    mut attempt: impl FnMut(wgpu::Backends) -> Result<T, GpuError>,
) -> Result<T, GpuError> {
    let mut outcome = Err(GpuError::NoAdapter { reason: "no backend is enabled".into() });
    for backends in backends {
        outcome = attempt(backends);
        if outcome.is_ok() {
            break;
        }
    }
    outcome
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::adapter::listed;

    fn noop() -> Gpu {
        Gpu::new(&GpuRequest { adapter: Some("NOOP".into()) }).unwrap()
    }

    #[test]
    fn the_backend_that_draws_nothing_is_there_only_when_asked_for() {
        let gpu = noop();
        assert!(gpu.is_noop() && !gpu.summary().timestamps);
        assert!(Gpu::list().iter().all(|a| a.backend != "noop"));
    }

    #[test]
    fn an_unknown_adapter_is_an_error_that_names_what_there_is() {
        let request = GpuRequest { adapter: Some("no such thing".into()) };
        let error = Gpu::new(&request).unwrap_err();
        let GpuError::NotFound { wanted, available } = &error else { panic!("{error}") };
        assert_eq!(wanted, "no such thing");
        assert_eq!(*available, listed(&Gpu::list()));
        for index in ["999", "-1"] {
            let request = GpuRequest { adapter: Some(index.into()) };
            assert!(matches!(Gpu::new(&request), Err(GpuError::NotFound { .. })));
        }
    }

    #[test]
    fn a_refused_command_is_kept_and_not_a_panic() {
        let gpu = noop();
        assert_eq!(gpu.check(), Ok(()));
        // A buffer has to be of some use.
        let _ = gpu.device().create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size: 4,
            usage: wgpu::BufferUsages::empty(),
            mapped_at_creation: false,
        });
        assert!(matches!(gpu.check(), Err(GpuFault::Refused(_))));
    }
}
