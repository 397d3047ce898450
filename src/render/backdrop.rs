//! Ground and sky: what is there without any character.

use super::pipeline::{Draw, MainPass, layout};
use super::shaders::{self, Shader};
use super::stats::DrawCounts;
use wgpu::PrimitiveTopology::{TriangleList, TriangleStrip};

/// The pipelines of ground and sky; each is one draw without buffers.
#[derive(Debug)]
pub(super) struct Backdrop {
    ground: wgpu::RenderPipeline,
    sky: wgpu::RenderPipeline,
}

impl Backdrop {
    pub(super) fn new(
        device: &wgpu::Device,
        main: &MainPass,
        frame: &wgpu::BindGroupLayout,
    ) -> Self {
        let layout = layout(device, "backdrop", &[Some(frame)]);
        let make = |shader: Shader, topology, write_depth| {
            main.pipeline(
                device,
                &Draw {
                    shader,
                    module: &shader.compile(device),
                    layout: &layout,
                    fragment: "fs_main",
                    constants: &[],
                    buffers: &[],
                    topology,
                    cull: None,
                    write_depth,
                    blend: None,
                    alpha_to_coverage: false,
                },
            )
        };
        Self {
            ground: make(shaders::GROUND, TriangleStrip, true),
            sky: make(shaders::SKY, TriangleList, false),
        }
    }

    /// Draws both where nothing nearer is; no ground where it is seen from below.
    pub(super) fn draw(
        &self,
        pass: &mut wgpu::RenderPass<'_>,
        ground: bool,
        counts: &mut DrawCounts,
    ) {
        if ground {
            pass.set_pipeline(&self.ground);
            pass.draw(0..4, 0..1);
            counts.draws += 1;
            counts.triangles += 2;
        }
        pass.set_pipeline(&self.sky);
        pass.draw(0..3, 0..1);
        counts.draws += 1;
        counts.triangles += 1;
    }
}
