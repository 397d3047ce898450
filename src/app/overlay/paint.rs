//! Puts egui's triangles into the frame.

use crate::render::{Gpu, Overlay};
use egui::ClippedPrimitive;
use egui_wgpu::{Renderer, RendererOptions, ScreenDescriptor};

/// What egui wants painted in one frame, and the renderer that paints it.
pub struct Painter {
    renderer: Renderer,
    textures: egui::TexturesDelta,
    jobs: Vec<ClippedPrimitive>,
    screen: ScreenDescriptor,
}

impl Painter {
    /// For views of `format` (see [`crate::render::TargetFormats::overlay`]).
    pub fn new(gpu: &Gpu, format: wgpu::TextureFormat) -> Self {
        // Dithering would make two equal frames differ.
        let options = RendererOptions { dithering: false, ..RendererOptions::default() };
        Self {
            renderer: Renderer::new(gpu.device(), format, options),
            textures: egui::TexturesDelta::default(),
            jobs: Vec::new(),
            screen: ScreenDescriptor { size_in_pixels: [1, 1], pixels_per_point: 1.0 },
        }
    }

    /// Takes what egui laid out for a picture of `size` pixels; painted in the next frame.
    pub fn take(&mut self, ctx: &egui::Context, output: egui::FullOutput, size: (u32, u32)) {
        self.textures.append(output.textures_delta);
        self.screen = ScreenDescriptor {
            size_in_pixels: [size.0, size.1],
            pixels_per_point: output.pixels_per_point,
        };
        self.jobs = ctx.tessellate(output.shapes, output.pixels_per_point);
    }
}

impl Drop for Painter {
    fn drop(&mut self) {
        // A frame that failed leaves textures behind; egui asks that this be said.
        self.textures.clear();
    }
}

impl Overlay for Painter {
    fn prepare(&mut self, gpu: &Gpu, encoder: &mut wgpu::CommandEncoder) {
        let (device, queue) = (gpu.device(), gpu.queue());
        let textures = &mut self.textures;
        for (id, deltas) in &textures.set {
            for delta in deltas {
                self.renderer.update_texture(device, queue, *id, delta);
            }
        }
        textures.set.clear();
        let own = self.renderer.update_buffers(device, queue, encoder, &self.jobs, &self.screen);
        // Only paint callbacks bring command buffers of their own.
        queue.submit(own);
    }

    fn paint(&mut self, pass: &mut wgpu::RenderPass<'static>) {
        self.renderer.render(pass, &self.jobs, &self.screen);
        for id in self.textures.free.drain() {
            self.renderer.free_texture(&id);
        }
    }
}
