//! A device and what draws with it.

use super::characters::Cast;
use super::cli::RunConfig;
use super::exit::Failure;
use super::shading;
use crate::asset::CharacterAsset;
use crate::crowd::{CrowdDraw, HEAT, color_tint};
use crate::math::{Bounds, View};
use crate::profile::PhaseTimes;
#[cfg(any(test, feature = "shader-reload"))]
use crate::render::ShaderTexts;
use crate::render::{
    FrameInput, FrameTarget, Gpu, GpuTimes, Lighting, Lines, MESH_LEVELS, Overlay, RenderConfig,
    RenderStats, Renderer, TargetFormats,
};
use glam::Mat4;
use std::sync::Arc;

/// Of each level of detail of meshes, the full one first; sRGB.
pub const LEVEL_COLORS: [[u8; 3]; MESH_LEVELS] = [HEAT[5], HEAT[4], HEAT[3], HEAT[1], HEAT[0]];

/// What a frame is seen from.
#[derive(Clone, Copy, Debug)]
pub struct Shot {
    /// The camera's view.
    pub view: View,
    /// What the crowd was culled for: the camera's view, unless that has been left behind.
    pub culled: View,
    /// The sun's.
    pub shadow: Option<Mat4>,
}

/// A device and what draws with it.
pub struct Picture {
    /// The device.
    pub gpu: Gpu,
    renderer: Renderer,
    /// What is drawn, in case that it is to be drawn otherwise.
    assets: Vec<Arc<CharacterAsset>>,
    /// Metres.
    haze_distance: f32,
    /// The sun's view is looked for.
    shadows: bool,
    /// Characters are coloured by their level of detail.
    level_tints: Option<[u32; MESH_LEVELS]>,
}

impl Picture {
    /// Uploads the cast.
    ///
    /// # Errors
    /// When the device can't draw as asked or has a fault.
    pub fn new(
        mut gpu: Gpu,
        formats: TargetFormats,
        config: &RunConfig,
        cast: &Cast,
    ) -> Result<Self, Failure> {
        shading::dress(&mut gpu, config)?;
        let _span = tracing::info_span!("upload characters").entered();
        let haze_distance = haze_distance(config, cast);
        let assets: Vec<_> = cast.members.iter().map(|m| Arc::clone(&m.asset)).collect();
        let render = render_config(formats, config, haze_distance);
        let renderer = Renderer::new(&gpu, &render, &borrowed(&assets))?;
        Ok(Self {
            gpu,
            renderer,
            assets,
            haze_distance,
            shadows: config.shadows,
            level_tints: None,
        })
    }

    /// Draws as a run with this configuration would, from the next frame on.
    ///
    /// # Errors
    /// When the device can't; then it goes on as before.
    pub fn draw_as(&mut self, config: &RunConfig) -> Result<(), Failure> {
        let now = self.renderer.config();
        let shadow_size = now.shadow_size;
        let render = render_config(now.formats, config, self.haze_distance);
        // A shadow map that there is costs nothing while nobody looks for the sun's view.
        let render = RenderConfig { shadow_size: render.shadow_size.or(shadow_size), ..render };
        if render != *now {
            self.renderer.remake(&self.gpu, &render, &borrowed(&self.assets))?;
        }
        self.shadows = config.shadows;
        Ok(())
    }

    /// Draws another cast from the next frame on, as a run with this configuration would.
    ///
    /// # Errors
    /// When the device can't; then it goes on as before.
    pub fn draw_cast(&mut self, config: &RunConfig, cast: &Cast) -> Result<(), Failure> {
        let haze_distance = haze_distance(config, cast);
        let assets: Vec<_> = cast.members.iter().map(|m| Arc::clone(&m.asset)).collect();
        let render = render_config(self.formats(), config, haze_distance);
        self.renderer.remake(&self.gpu, &render, &borrowed(&assets))?;
        (self.assets, self.haze_distance, self.shadows) = (assets, haze_distance, config.shadows);
        Ok(())
    }

    /// Draws with other shaders from the next frame on.
    ///
    /// # Errors
    /// When the device refuses them; then it goes on as before.
    #[cfg(any(test, feature = "shader-reload"))]
    pub fn shade(&mut self, texts: ShaderTexts) -> Result<(), Failure> {
        let before = self.gpu.set_shader_texts(Some(texts));
        let render = self.render_config().clone();
        let made = self.renderer.remake(&self.gpu, &render, &borrowed(&self.assets));
        if made.is_err() {
            self.gpu.set_shader_texts(before);
        }
        Ok(made?)
    }

    /// Colours characters by how finely they are drawn, or leaves them as they are.
    pub fn color_by_level(&mut self, on: bool) {
        self.level_tints = on.then(|| LEVEL_COLORS.map(color_tint));
    }

    /// How it draws.
    pub fn render_config(&self) -> &RenderConfig {
        self.renderer.config()
    }

    /// What its targets must be made of.
    pub fn formats(&self) -> TargetFormats {
        self.render_config().formats
    }

    /// The longest palette page that can be bound, matrices.
    pub fn max_page_matrices(&self) -> u32 {
        self.renderer.max_page_matrices()
    }

    /// The sun's projection for a camera; `None` without shadows.
    pub fn shadow_clip_from_world(&self, view: &View, focus: &Bounds) -> Option<Mat4> {
        self.renderer.shadow_clip_from_world(view, focus).filter(|_| self.shadows)
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
        let input = FrameInput {
            view: &shot.view,
            lod_view: &shot.culled,
            level_tints: self.level_tints,
            shadow_clip_from_world: shot.shadow,
            crowd,
            spare,
            lines,
            overlay,
        };
        Ok(self.renderer.render(&self.gpu, target, input, times)?)
    }

    /// Waits for the GPU; the times that were still on their way.
    pub fn finish(&mut self) -> Vec<GpuTimes> {
        self.renderer.finish(&self.gpu)
    }
}

fn borrowed(assets: &[Arc<CharacterAsset>]) -> Vec<&CharacterAsset> {
    assets.iter().map(Arc::as_ref).collect()
}

/// How a renderer draws as a run asks for.
fn render_config(formats: TargetFormats, config: &RunConfig, haze_distance: f32) -> RenderConfig {
    let base = RenderConfig::new(formats);
    RenderConfig {
        msaa: config.msaa,
        shadow_size: base.shadow_size.filter(|_| config.shadows),
        mesh_lods: config.mesh_lods,
        palette_upload: config.palette_upload.into(),
        interpolate: config.interpolate,
        terrain: config.terrain(),
        lighting: Lighting { haze_distance, ..base.lighting },
        ..base
    }
}

/// Haze hides where the ground ends, never the crowd: metres that grow with its expected size.
fn haze_distance(config: &RunConfig, cast: &Cast) -> f32 {
    let across = (config.count as f32).sqrt() * cast.typical_stature();
    Lighting::default().haze_distance.max(6.0 * across)
}
