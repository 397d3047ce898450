//! Ground and sky: what is there without any character.

use super::gpu::Gpu;
use super::ground::GroundRenderer;
use super::pipeline::{Draw, MainPass, layout};
use super::shaders;
use super::stats::DrawCounts;
use crate::math::View;
use crate::motion::Terrain;

/// The ground, and the pipeline of the sky: one draw without buffers.
#[derive(Debug)]
pub(super) struct Backdrop {
    pub(super) ground: GroundRenderer,
    sky: wgpu::RenderPipeline,
}

impl Backdrop {
    pub(super) fn new(
        gpu: &Gpu,
        main: &MainPass,
        frame: &wgpu::BindGroupLayout,
        terrain: Terrain,
    ) -> Self {
        let device = gpu.device();
        let sky = main.pipeline(
            device,
            &Draw {
                shader: shaders::SKY,
                module: &shaders::SKY.compile(gpu),
                layout: &layout(device, "sky", &[Some(frame)]),
                fragment: "fs_main",
                constants: &[],
                buffers: &[],
                topology: wgpu::PrimitiveTopology::TriangleList,
                cull: None,
                write_depth: false,
                depth_compare: Draw::NEARER,
                blend: None,
                alpha_to_coverage: false,
            },
        );
        Self { ground: GroundRenderer::new(gpu, main, frame, terrain), sky }
    }

    /// Draws both where nothing nearer is.
    pub(super) fn draw(
        &self,
        pass: &mut wgpu::RenderPass<'_>,
        view: &View,
        counts: &mut DrawCounts,
    ) {
        self.ground.draw(pass, view, counts);
        pass.set_pipeline(&self.sky);
        pass.draw(0..3, 0..1);
        counts.draws += 1;
        counts.triangles += 1;
    }
}
