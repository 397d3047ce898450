//! A device and what draws with it.

use super::characters::Cast;
use super::cli::RunConfig;
use super::exit::Failure;
use crate::crowd::CrowdDraw;
use crate::math::{Bounds, View};
use crate::profile::PhaseTimes;
use crate::render::{
    FrameInput, FrameTarget, Gpu, GpuTimes, Lighting, Lines, Overlay, RenderConfig, RenderStats,
    Renderer, TargetFormats,
};
use glam::Mat4;

/// What a frame is seen from.
#[derive(Clone, Copy, Debug)]
pub struct Shot {
    /// The camera's view.
    pub view: View,
    /// The sun's.
    pub shadow: Option<Mat4>,
}

/// A device and what draws with it.
pub struct Picture {
    /// The device.
    pub gpu: Gpu,
    renderer: Renderer,
}

impl Picture {
    /// Uploads the cast.
    ///
    /// # Errors
    /// When the device can't draw as asked or has a fault.
    pub fn new(
        gpu: Gpu,
        formats: TargetFormats,
        config: &RunConfig,
        cast: &Cast,
    ) -> Result<Self, Failure> {
        let _span = tracing::info_span!("upload characters").entered();
        let base = RenderConfig::new(formats);
        let shadow_size = base.shadow_size.filter(|_| config.shadows);
        let lighting = Lighting { haze_distance: haze_distance(config, cast), ..base.lighting };
        let render = RenderConfig {
            msaa: config.msaa,
            shadow_size,
            mesh_lods: config.mesh_lods,
            palette_upload: config.palette_upload.into(),
            interpolate: config.interpolate,
            terrain: config.terrain(),
            lighting,
            ..base
        };
        let assets: Vec<_> = cast.members.iter().map(|m| &m.asset).collect();
        let renderer = Renderer::new(&gpu, &render, &assets)?;
        Ok(Self { gpu, renderer })
    }

    /// What its targets must be made of.
    pub fn formats(&self) -> TargetFormats {
        self.renderer.config().formats
    }

    /// The longest palette page that can be bound, matrices.
    pub fn max_page_matrices(&self) -> u32 {
        self.renderer.max_page_matrices()
    }

    /// The sun's projection for a camera; `None` without shadows.
    pub fn shadow_clip_from_world(&self, view: &View, focus: &Bounds) -> Option<Mat4> {
        self.renderer.shadow_clip_from_world(view, focus)
    }

    /// Draws a frame of a crowd, with the threads that may help.
    ///
    /// # Errors
    /// Of the GPU.
    pub fn draw<'a>(
        &mut self,
        target: FrameTarget<'_>,
        shot: &'a Shot,
        (crowd, spare): (CrowdDraw<'a>, Option<&'a rayon::ThreadPool>),
        lines: Lines<'a>,
        overlay: Option<&'a mut dyn Overlay>,
        times: &PhaseTimes,
    ) -> Result<RenderStats, Failure> {
        let (view, shadow_clip_from_world) = (&shot.view, shot.shadow);
        let input = FrameInput { view, shadow_clip_from_world, crowd, spare, lines, overlay };
        Ok(self.renderer.render(&self.gpu, target, input, times)?)
    }

    /// Waits for the GPU; the times that were still on their way.
    pub fn finish(&mut self) -> Vec<GpuTimes> {
        self.renderer.finish(&self.gpu)
    }
}

/// Haze hides where the ground ends, never the crowd: metres that grow with its expected size.
fn haze_distance(config: &RunConfig, cast: &Cast) -> f32 {
    let across = (config.count as f32).sqrt() * cast.typical_stature();
    Lighting::default().haze_distance.max(6.0 * across)
}
