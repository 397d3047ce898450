//! A window's surface: configured, acquired, presented, and made anew when it is lost.

use super::gpu::{Gpu, GpuError};
use super::target::{FrameTarget, TargetFormats, view};
use std::time::{Duration, Instant};
use wgpu::{CurrentSurfaceTexture, TextureFormat};

/// How pictures reach the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PresentMode {
    /// One picture per refresh, in order: no tearing, the frame rate is the screen's.
    Fifo,
    /// The newest picture at each refresh: no tearing, no waiting.
    Mailbox,
    /// At once: may tear.
    Immediate,
}

impl PresentMode {
    fn wgpu(self) -> wgpu::PresentMode {
        match self {
            Self::Fifo => wgpu::PresentMode::Fifo,
            Self::Mailbox => wgpu::PresentMode::Mailbox,
            Self::Immediate => wgpu::PresentMode::Immediate,
        }
    }
}

type MakeSurface =
    Box<dyn Fn(&wgpu::Instance) -> Result<wgpu::Surface<'static>, wgpu::CreateSurfaceError>>;

/// A window's surface.
pub struct WindowSurface {
    surface: wgpu::Surface<'static>,
    make: MakeSurface,
    formats: TargetFormats,
    config: wgpu::SurfaceConfiguration,
    supported: Vec<wgpu::PresentMode>,
    /// What the window measures, pixels; 0 while it is minimized.
    size: (u32, u32),
    stale: bool,
    /// Since when no surface of this window could be set up; `None` while one can.
    refused_since: Option<Instant>,
}

/// A texture of the surface, to draw to and then to present.
#[derive(Debug)]
pub struct SurfaceFrame {
    texture: wgpu::SurfaceTexture,
    color: wgpu::TextureView,
    overlay: wgpu::TextureView,
    suboptimal: bool,
}

impl SurfaceFrame {
    /// What a renderer draws to.
    pub fn target(&self) -> FrameTarget<'_> {
        let texture = &self.texture.texture;
        FrameTarget {
            color: &self.color,
            overlay: &self.overlay,
            size: (texture.width(), texture.height()),
        }
    }
}

/// How often one call makes the surface anew before it leaves the frame out.
const ATTEMPTS: usize = 3;

/// How long a window may refuse every surface before that is an error. A window that somebody
/// destroyed has none to give from that moment on, but the event that says so comes later.
const PATIENCE: Duration = Duration::from_secs(5);

impl WindowSurface {
    pub(super) fn new(
        gpu: &Gpu,
        surface: wgpu::Surface<'static>,
        make: MakeSurface,
    ) -> Result<Self, GpuError> {
        let capabilities = surface.get_capabilities(gpu.adapter());
        let lacks = |what: &str| GpuError::Lacks {
            name: gpu.summary().name.clone(),
            what: what.to_owned(),
        };
        let format = choose_format(&capabilities.formats)
            .ok_or_else(|| lacks("an 8-bit format for this window"))?;
        let flags = gpu.adapter().get_downlevel_capabilities().flags;
        let views = flags.contains(wgpu::DownlevelFlags::SURFACE_VIEW_FORMATS);
        let mut formats = TargetFormats::of(format, views);
        // The texture keeps a format that the surface offers; its sibling is a view.
        formats.texture = format;
        let config = wgpu::SurfaceConfiguration {
            usage: wgpu::TextureUsages::RENDER_ATTACHMENT,
            format,
            color_space: wgpu::SurfaceColorSpace::Auto,
            width: 1,
            height: 1,
            present_mode: wgpu::PresentMode::Fifo,
            desired_maximum_frame_latency: 2,
            alpha_mode: wgpu::CompositeAlphaMode::Auto,
            view_formats: formats.view_formats(),
        };
        let supported = capabilities.present_modes;
        Ok(Self {
            surface,
            make,
            formats,
            config,
            supported,
            size: (0, 0),
            stale: true,
            refused_since: None,
        })
    }

    /// What a renderer must be made for.
    pub fn formats(&self) -> TargetFormats {
        self.formats
    }

    /// Takes the mode, or the nearest that the surface has, and returns what it took. Says so in
    /// the log when it isn't what was asked.
    pub fn set_present_mode(&mut self, wanted: PresentMode) -> PresentMode {
        let taken = choose_present_mode(wanted, &self.supported);
        if taken != wanted {
            tracing::warn!("present mode {wanted:?} is not supported here; using {taken:?}");
        }
        self.stale |= self.config.present_mode != taken.wgpu();
        self.config.present_mode = taken.wgpu();
        taken
    }

    /// Tells the window's size in pixels; 0 means minimized, and no frames until it grows.
    pub fn resize(&mut self, width: u32, height: u32) {
        self.stale |= self.size != (width, height);
        self.size = (width, height);
    }

    /// What it was last told that the window measures, pixels; 0 while it is minimized.
    pub fn size(&self) -> (u32, u32) {
        self.size
    }

    /// The next texture. `None` leaves this frame out: the window is minimized, hidden or about to
    /// be gone, or the system gave none in time; try again next frame.
    ///
    /// # Errors
    /// When the window has refused every surface for 5 seconds, or the device has a fault.
    pub fn acquire(&mut self, gpu: &Gpu) -> Result<Option<SurfaceFrame>, GpuError> {
        gpu.check()?;
        if self.size.0 == 0 || self.size.1 == 0 {
            return Ok(None);
        }
        for _ in 0..ATTEMPTS {
            if self.stale && !self.configure(gpu)? {
                return Ok(None);
            }
            let (texture, suboptimal) = match self.surface.get_current_texture() {
                CurrentSurfaceTexture::Success(texture) => (texture, false),
                CurrentSurfaceTexture::Suboptimal(texture) => (texture, true),
                CurrentSurfaceTexture::Timeout | CurrentSurfaceTexture::Occluded => {
                    gpu.check_now()?;
                    return Ok(None);
                }
                CurrentSurfaceTexture::Outdated => {
                    gpu.check_now()?;
                    self.stale = true;
                    continue;
                }
                CurrentSurfaceTexture::Lost => {
                    gpu.check_now()?;
                    tracing::debug!("the window's surface was lost; making it anew");
                    self.stale = true;
                    match (self.make)(gpu.instance()) {
                        Ok(surface) => self.surface = surface,
                        Err(error) => {
                            self.refused(error.to_string())?;
                            return Ok(None);
                        }
                    }
                    continue;
                }
                CurrentSurfaceTexture::Validation => {
                    gpu.check_now()?;
                    return Ok(None);
                }
            };
            let color = view(&texture.texture, self.formats.color, "window colour");
            let overlay = view(&texture.texture, self.formats.overlay, "window overlay");
            return Ok(Some(SurfaceFrame { texture, color, overlay, suboptimal }));
        }
        Ok(None)
    }

    /// Shows a frame that was drawn.
    pub fn present(&mut self, gpu: &Gpu, frame: SurfaceFrame) {
        self.stale |= frame.suboptimal;
        drop((frame.color, frame.overlay));
        gpu.queue().present(frame.texture);
    }

    /// Sets the surface up for the window's size; false when the window has none to give now.
    fn configure(&mut self, gpu: &Gpu) -> Result<bool, GpuError> {
        let limit = gpu.device().limits().max_texture_dimension_2d;
        self.config.width = self.size.0.clamp(1, limit);
        self.config.height = self.size.1.clamp(1, limit);
        // A refusal is this surface's, not the device's: kept from the handler that ends the run.
        let scope = gpu.device().push_error_scope(wgpu::ErrorFilter::Validation);
        self.surface.configure(gpu.device(), &self.config);
        let refusal = pollster::block_on(scope.pop());
        gpu.check()?;
        match refusal {
            Some(error) => {
                self.refused(error.to_string())?;
                // The next try has a surface of its own; where there is none, it is told then.
                if let Ok(surface) = (self.make)(gpu.instance()) {
                    self.surface = surface;
                }
                Ok(false)
            }
            None => {
                self.stale = false;
                self.refused_since = None;
                Ok(true)
            }
        }
    }

    /// The window gave no surface: an error once that has lasted.
    fn refused(&mut self, reason: String) -> Result<(), GpuError> {
        let since = *self.refused_since.get_or_insert_with(|| {
            tracing::warn!("the window gives no surface to draw to: {reason}");
            Instant::now()
        });
        match since.elapsed() > PATIENCE {
            true => Err(GpuError::Refused { seconds: PATIENCE.as_secs(), reason }),
            false => Ok(()),
        }
    }
}

/// An 8-bit sRGB format if there is one, else any 8-bit one.
fn choose_format(offered: &[TextureFormat]) -> Option<TextureFormat> {
    let eight_bit = |f: &&TextureFormat| {
        matches!(f.remove_srgb_suffix(), TextureFormat::Rgba8Unorm | TextureFormat::Bgra8Unorm)
    };
    let usable = offered.iter().filter(eight_bit);
    usable.clone().find(|f| f.is_srgb()).or(usable.clone().next()).copied()
}

/// The wanted mode, else one that waits as little, else [`PresentMode::Fifo`], which always is.
fn choose_present_mode(wanted: PresentMode, supported: &[wgpu::PresentMode]) -> PresentMode {
    let order = match wanted {
        PresentMode::Fifo => [PresentMode::Fifo; 2],
        PresentMode::Mailbox => [PresentMode::Mailbox, PresentMode::Fifo],
        PresentMode::Immediate => [PresentMode::Immediate, PresentMode::Mailbox],
    };
    order.into_iter().find(|m| supported.contains(&m.wgpu())).unwrap_or(PresentMode::Fifo)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn srgb_is_preferred_and_formats_wider_than_eight_bits_are_left_alone() {
        use TextureFormat::*;
        assert_eq!(choose_format(&[Rgba16Float, Bgra8Unorm, Bgra8UnormSrgb]), Some(Bgra8UnormSrgb));
        assert_eq!(choose_format(&[Rgb10a2Unorm, Rgba8Unorm]), Some(Rgba8Unorm));
        assert_eq!(choose_format(&[Rgba16Float]), None);
    }

    #[test]
    fn a_mode_that_is_missing_falls_back_to_one_that_waits_as_little() {
        use wgpu::PresentMode as P;
        let choose = choose_present_mode;
        assert_eq!(
            choose(PresentMode::Immediate, &[P::Fifo, P::Immediate]),
            PresentMode::Immediate
        );
        assert_eq!(choose(PresentMode::Immediate, &[P::Fifo, P::Mailbox]), PresentMode::Mailbox);
        assert_eq!(choose(PresentMode::Immediate, &[P::Fifo]), PresentMode::Fifo);
        assert_eq!(choose(PresentMode::Mailbox, &[P::Fifo, P::Immediate]), PresentMode::Fifo);
    }
}
