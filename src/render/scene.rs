//! Everything that is drawn, and in which order.

use super::backdrop::Backdrop;
use super::character::{CharacterRenderer, Layer, UploadedCrowd};
use super::config::RenderConfig;
use super::contact::ContactRenderer;
use super::error::RenderError;
use super::frame::FrameBindings;
use super::gpu::Gpu;
use super::lines::LineRenderer;
use super::palette::Palettes;
use super::pipeline::MainPass;
use super::shadow::ShadowMap;
use super::stats::DrawCounts;
use crate::asset::CharacterAsset;
use crate::math::View;

/// One renderer for each thing in the picture.
#[derive(Debug)]
pub(super) struct Scene {
    pub(super) characters: CharacterRenderer,
    pub(super) shadow: Option<ShadowMap>,
    contact: ContactRenderer,
    pub(super) backdrop: Backdrop,
    pub(super) lines: LineRenderer,
    frame_group: wgpu::BindGroup,
}

impl Scene {
    pub(super) fn new(
        gpu: &Gpu,
        main: &MainPass,
        frame: &FrameBindings,
        palettes: &Palettes,
        config: &RenderConfig,
        assets: &[&CharacterAsset],
    ) -> Result<Self, RenderError> {
        let terrain = config.terrain;
        let characters =
            CharacterRenderer::new(gpu, main, &frame.layout, palettes, config, assets)?;
        let shadow = config
            .shadow_size
            .map(|size| ShadowMap::new(gpu, (size, config.interpolate), palettes, &characters));
        Ok(Self {
            contact: ContactRenderer::new(gpu, main, &frame.layout, palettes, config),
            backdrop: Backdrop::new(gpu, main, &frame.layout, terrain),
            lines: LineRenderer::new(main),
            frame_group: frame.bind(gpu, shadow.as_ref().map(ShadowMap::view)),
            characters,
            shadow,
        })
    }

    /// The pass that fills the shadow map, where there is one.
    pub(super) fn draw_shadow(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        timestamps: Option<wgpu::RenderPassTimestampWrites<'_>>,
        crowd: &UploadedCrowd<'_>,
        counts: &mut DrawCounts,
    ) {
        if let Some(map) = &self.shadow {
            map.draw(encoder, timestamps, crowd, &self.characters, counts);
        }
    }

    /// The main pass's draws. Characters come before the backdrop, so that what they hide is
    /// never shaded; what blends comes after it, lines last.
    pub(super) fn draw(
        &self,
        pass: &mut wgpu::RenderPass<'_>,
        view: &View,
        crowd: &UploadedCrowd<'_>,
        counts: &mut DrawCounts,
    ) {
        pass.set_bind_group(0, &self.frame_group, &[]);

        pass.push_debug_group("characters");
        self.characters.draw(pass, crowd, Layer::Solid, counts);
        pass.pop_debug_group();

        pass.push_debug_group("backdrop");
        self.backdrop.draw(pass, view, counts);
        pass.pop_debug_group();

        pass.push_debug_group("contact");
        self.contact.draw(pass, &self.characters, crowd, counts);
        pass.pop_debug_group();

        pass.push_debug_group("blended");
        self.characters.draw(pass, crowd, Layer::Blended, counts);
        pass.pop_debug_group();

        self.lines.draw(pass, counts);
    }
}
