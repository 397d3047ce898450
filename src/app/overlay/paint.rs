//! Puts egui's triangles into a texture.

use crate::render::{FrameTarget, Gpu};
use egui_wgpu::{Renderer, RendererOptions, ScreenDescriptor};

/// egui's renderer for one target format.
pub struct Painter {
    renderer: Renderer,
}

impl Painter {
    /// For views of `format` (see [`crate::render::TargetFormats::overlay`]).
    pub fn new(gpu: &Gpu, format: wgpu::TextureFormat) -> Self {
        // Dithering would make two equal frames differ from what a golden image holds.
        let options = RendererOptions { dithering: false, ..RendererOptions::default() };
        Self { renderer: Renderer::new(gpu.device(), format, options) }
    }

    /// Draws over what `target` holds.
    pub fn paint(
        &mut self,
        gpu: &Gpu,
        target: &FrameTarget<'_>,
        ctx: &egui::Context,
        output: egui::FullOutput,
    ) {
        let (device, queue) = (gpu.device(), gpu.queue());
        for (id, delta) in &output.textures_delta.set {
            self.renderer.update_texture(device, queue, *id, delta);
        }
        let jobs = ctx.tessellate(output.shapes, output.pixels_per_point);
        let screen = ScreenDescriptor {
            size_in_pixels: [target.size.0, target.size.1],
            pixels_per_point: output.pixels_per_point,
        };
        let label = Some("overlay");
        let mut encoder =
            device.create_command_encoder(&wgpu::CommandEncoderDescriptor { label });
        let first = self.renderer.update_buffers(device, queue, &mut encoder, &jobs, &screen);
        let pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            label,
            color_attachments: &[Some(wgpu::RenderPassColorAttachment {
                view: target.overlay,
                depth_slice: None,
                resolve_target: None,
                ops: wgpu::Operations { load: wgpu::LoadOp::Load, store: wgpu::StoreOp::Store },
            })],
            ..Default::default()
        });
        self.renderer.render(&mut pass.forget_lifetime(), &jobs, &screen);
        queue.submit(first.into_iter().chain([encoder.finish()]));
        for id in &output.textures_delta.free {
            self.renderer.free_texture(id);
        }
    }
}
