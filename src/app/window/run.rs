//! A run in a window.

use super::keys::{Action, Input};
use crate::app::characters::Cast;
use crate::app::cli::{PresentArg, RunConfig};
use crate::app::exit::Failure;
use crate::app::picture::Picture;
use crate::app::show::Show;
use crate::app::wish::Wish;
use crate::app::{finish, interrupt, output, revival};
use crate::render::{Gpu, GpuError, GpuRequest, PresentMode, WindowSurface};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};
use winit::dpi::PhysicalSize;
use winit::event::{DeviceEvent, WindowEvent};
use winit::event_loop::{ActiveEventLoop, ControlFlow, OwnedDisplayHandle};
use winit::keyboard::PhysicalKey;
use winit::window::Window;

/// A window and the show in it.
pub struct WindowRun {
    show: Show,
    /// `None` only while a lost GPU is replaced.
    surface: Option<WindowSurface>,
    window: Arc<Window>,
    display: OwnedDisplayHandle,
    egui: egui_winit::State,
    input: Input,
    /// What the surface was asked for.
    present: PresentArg,
    /// Pixels from the picture's upper left corner.
    pointer: (f64, f64),
    /// Covered by other windows, as far as the system tells.
    occluded: bool,
    /// No texture could be had last time: not to be asked again at once.
    starved: bool,
    closing: bool,
    opened: Instant,
}

/// How often a window that shows nothing looks whether that has changed.
const IDLE: Duration = Duration::from_millis(100);
/// How long to leave a surface alone that had no texture to give.
const STARVED: Duration = Duration::from_millis(10);

impl WindowRun {
    /// Opens the window, finds a GPU that can draw to it, and places the crowd.
    ///
    /// # Errors
    /// Of the system and the GPU.
    pub fn open(events: &ActiveEventLoop, config: RunConfig, cast: Cast) -> Result<Self, Failure> {
        let size = PhysicalSize::new(config.size.width, config.size.height);
        let attributes = Window::default_attributes().with_title("Throng").with_inner_size(size);
        let window = Arc::new(events.create_window(attributes)?);
        // Asked at once: finding a GPU takes long, and the window may be gone by then.
        let inner = window.inner_size();
        let display = events.owned_display_handle();
        let (gpu, mut surface) = connect(&config, &window, &display)?;
        surface.resize(inner.width, inner.height);
        let present = config.present;
        let side = gpu.device().limits().max_texture_dimension_2d as usize;
        let picture = Picture::new(gpu, surface.formats(), &config, &cast)?;
        let mut show = Show::new(config, cast, Some(picture))?;
        show.hud.say("F1: keys and numbers".to_owned());
        let egui = egui_winit::State::new(
            show.hud.ctx().clone(),
            egui::ViewportId::ROOT,
            &window,
            Some(window.scale_factor() as f32),
            None,
            Some(side),
        );
        Ok(Self {
            show,
            surface: Some(surface),
            window,
            display,
            egui,
            input: Input::default(),
            present,
            pointer: (0.0, 0.0),
            occluded: false,
            starved: false,
            closing: false,
            opened: Instant::now(),
        })
    }

    /// True when no further frame is wanted.
    pub fn is_over(&self) -> bool {
        self.closing || interrupt::asked() || self.show.is_over()
    }

    /// Screenshot, report, summary.
    ///
    /// # Errors
    /// Of files, GPU and the frame-time limit.
    pub fn finish(&mut self) -> Result<(), Failure> {
        let size = self.size();
        finish::finish(&mut self.show, |show| show.capture(size))
    }

    /// Something happened to the window.
    ///
    /// # Errors
    /// Of the GPU, when a frame was due.
    pub fn window_event(&mut self, event: WindowEvent) -> Result<(), Failure> {
        // Where no window of the overlay shows, nothing is meant for one.
        let meant = self.egui.on_window_event(&self.window, &event).consumed;
        let meant = meant && self.show.hud.is_shown();
        match event {
            // Destroyed comes without a request when somebody else closes it, as xkill does.
            WindowEvent::CloseRequested | WindowEvent::Destroyed => self.closing = true,
            // Also what follows a change of the scale factor.
            WindowEvent::Resized(size) => {
                self.surface.iter_mut().for_each(|s| s.resize(size.width, size.height));
            }
            WindowEvent::DroppedFile(path) => self.show.grant(Wish::Join(path)),
            WindowEvent::Occluded(occluded) => self.occluded = occluded,
            WindowEvent::Focused(false) => self.input.release_all(),
            // Whatever was held is let go, whoever hears of it.
            WindowEvent::KeyboardInput { event, .. } if !meant || !event.state.is_pressed() => {
                if let PhysicalKey::Code(key) = event.physical_key
                    && let Some(action) = self.input.key(key, event.state, event.repeat)
                {
                    self.act(action);
                }
            }
            WindowEvent::MouseInput { state, button, .. } if !meant || !state.is_pressed() => {
                let action = self.input.button(button, state);
                if let Some(action) = action.filter(|_| !meant) {
                    self.act(action);
                }
            }
            WindowEvent::CursorMoved { position, .. } => self.pointer = position.into(),
            WindowEvent::MouseWheel { delta, .. } if !meant => self.input.scroll(delta),
            WindowEvent::RedrawRequested => self.frame()?,
            _ => {}
        }
        Ok(())
    }

    /// The mouse moved, even beyond the window's edge.
    pub fn device_event(&mut self, event: &DeviceEvent) {
        if let DeviceEvent::MouseMotion { delta } = event {
            self.input.motion(*delta);
        }
    }

    /// All events are seen: the next frame, or a rest while nothing can be seen.
    pub fn about_to_wait(&mut self, events: &ActiveEventLoop) {
        let rest = if self.hidden() {
            Some(IDLE)
        } else if std::mem::take(&mut self.starved) {
            Some(STARVED)
        } else {
            None
        };
        match rest {
            Some(rest) => {
                events.set_control_flow(ControlFlow::WaitUntil(Instant::now() + rest));
                if !self.hidden() {
                    self.window.request_redraw();
                }
            }
            None => {
                events.set_control_flow(ControlFlow::Poll);
                self.window.request_redraw();
            }
        }
    }

    // As the events told it: to ask a window that is gone is a panic in winit.
    fn inner_size(&self) -> (u32, u32) {
        self.surface.as_ref().map_or((0, 0), WindowSurface::size)
    }

    fn size(&self) -> (u32, u32) {
        let (width, height) = self.inner_size();
        (width.max(1), height.max(1))
    }

    /// What egui needs to know of this frame. Its own function for it asks the window's size, which
    /// panics once the window is gone, and a window may go between any two calls.
    fn overlay_input(&mut self) -> egui::RawInput {
        let (width, height) = self.size();
        let scale = self.window.scale_factor() as f32;
        let points = scale * self.show.hud.ctx().zoom_factor();
        let input = self.egui.egui_input_mut();
        input.time = Some(self.opened.elapsed().as_secs_f64());
        let size = egui::vec2(width as f32, height as f32) / points;
        input.screen_rect = Some(egui::Rect::from_min_size(egui::Pos2::ZERO, size));
        input.viewport_id = egui::ViewportId::ROOT;
        input.viewports.entry(input.viewport_id).or_default().native_pixels_per_point = Some(scale);
        input.take()
    }

    fn hidden(&self) -> bool {
        let (width, height) = self.inner_size();
        let empty = width == 0 || height == 0;
        self.occluded || empty || self.window.is_minimized() == Some(true)
    }

    fn frame(&mut self) -> Result<(), Failure> {
        if self.hidden() {
            return Ok(());
        }
        self.heed_present_mode();
        let (Some(picture), Some(surface)) = (self.show.picture(), &mut self.surface) else {
            return Ok(());
        };
        let start = Instant::now();
        let acquired = surface.acquire(&picture.gpu);
        let Some(acquired) = self.show.heed(acquired)? else { return self.see_again() };
        let Some(frame) = acquired else {
            self.starved = true;
            return Ok(());
        };
        self.show.waited(start.elapsed());
        let steering = self.input.take_steering();
        let egui = self.overlay_input();
        let platform = self.show.frame(Some(frame.target()), &steering, egui)?;
        self.show.take_notes().into_iter().for_each(output::say);
        if let Some(dump) = self.show.take_dump() {
            output::log(&dump);
        }
        if let Some(platform) = platform {
            self.egui.handle_platform_output(&self.window, platform);
        }
        self.window.pre_present_notify();
        let start = Instant::now();
        if self.show.is_blind() {
            drop(frame);
            return self.see_again();
        }
        if let (Some(picture), Some(surface)) = (self.show.picture(), &mut self.surface) {
            surface.present(&picture.gpu, frame);
        }
        self.show.waited(start.elapsed());
        Ok(())
    }

    /// Presents as the show is switched now.
    fn heed_present_mode(&mut self) {
        let present = self.show.config().present;
        if std::mem::replace(&mut self.present, present) == present {
            return;
        }
        let wanted = present_mode(present);
        let Some(surface) = &mut self.surface else { return };
        let taken = surface.set_present_mode(wanted);
        if taken != wanted {
            self.show.hud.say(format!("{wanted:?} can't be had here; frames go by {taken:?}"));
        }
    }

    /// A GPU that was lost is replaced; the next frame is drawn with the new one.
    fn see_again(&mut self) -> Result<(), Failure> {
        let size = self.inner_size();
        // A window may have room for one swap chain alone.
        self.surface = None;
        self.show.abandon_picture();
        let config = self.show.config();
        let (gpu, mut surface) = revival::again(|| connect(config, &self.window, &self.display))?;
        surface.resize(size.0, size.1);
        self.show.revive(gpu, surface.formats())?;
        self.surface = Some(surface);
        Ok(())
    }

    fn act(&mut self, action: Action) {
        match action {
            Action::Wish(wish) => self.show.grant(wish),
            Action::Pick => self.show.pick(self.pointer),
            Action::KnockDown => self.show.knock_down(self.pointer),
            Action::Follow => self.show.toggle_follow(),
            Action::Overlay => self.show.hud.toggle(),
            Action::Screenshot => self.screenshot(),
            // An open list of a switch is what is let go first; egui does it.
            Action::Quit if self.show.hud.has_open_popup() => {}
            Action::Quit => self.closing = !self.show.let_go(),
        }
    }

    /// Saves the picture; a fault of the disk is told and ends nothing.
    fn screenshot(&mut self) {
        let size = self.size();
        let path = free_name();
        let saved = match self.show.capture(size) {
            Ok(Some(image)) => output::write_png(&path, &image).map_err(Failure::from),
            Ok(None) => return,
            Err(failure) => Err(failure),
        };
        self.show.hud.say(match saved {
            Ok(()) => format!("saved {}", path.display()),
            Err(failure) => failure.to_string(),
        });
    }
}

fn present_mode(arg: PresentArg) -> PresentMode {
    match arg {
        PresentArg::Fifo => PresentMode::Fifo,
        PresentArg::Mailbox => PresentMode::Mailbox,
        PresentArg::Immediate => PresentMode::Immediate,
    }
}

/// A GPU that can draw to the window, and the window's surface, in the mode that is asked for.
fn connect(
    config: &RunConfig,
    window: &Arc<Window>,
    display: &OwnedDisplayHandle,
) -> Result<(Gpu, WindowSurface), GpuError> {
    let request = GpuRequest { adapter: config.adapter.clone() };
    let (gpu, mut surface) = Gpu::for_window(&request, window.clone(), display.clone())?;
    surface.set_present_mode(present_mode(config.present));
    Ok((gpu, surface))
}

/// The first name of a numbered row that no file has.
fn free_name() -> PathBuf {
    let name = |i: u32| PathBuf::from(format!("throng-{i:03}.png"));
    (1..=u32::MAX).map(name).find(|p| !p.exists()).unwrap_or_else(|| name(0))
}
