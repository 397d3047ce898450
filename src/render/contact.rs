//! The soft shade under each character.

use super::character::{CharacterRenderer, UploadedCrowd};
use super::gpu::Gpu;
use super::layout::{ContactVertex, INSTANCE_LAYOUT};
use super::palette::Palettes;
use super::pipeline::{Draw, MainPass, layout};
use super::rest::RestPose;
use super::shaders;
use super::stats::DrawCounts;
use wgpu::util::DeviceExt;

/// The pipeline that multiplies the ground by the shade of what stands on it.
#[derive(Debug)]
pub(super) struct ContactRenderer {
    pipeline: wgpu::RenderPipeline,
}

impl ContactRenderer {
    pub(super) fn new(
        device: &wgpu::Device,
        main: &MainPass,
        frame: &wgpu::BindGroupLayout,
        palettes: &Palettes,
    ) -> Self {
        let multiply = wgpu::BlendComponent {
            src_factor: wgpu::BlendFactor::Zero,
            dst_factor: wgpu::BlendFactor::Src,
            operation: wgpu::BlendOperation::Add,
        };
        let pipeline = main.pipeline(
            device,
            &Draw {
                shader: shaders::CONTACT,
                module: &shaders::CONTACT.compile(device),
                layout: &layout(device, "contact", &[Some(frame), None, Some(palettes.layout())]),
                fragment: "fs_main",
                constants: &[],
                buffers: &[Some(ContactVertex::LAYOUT), Some(INSTANCE_LAYOUT)],
                topology: wgpu::PrimitiveTopology::TriangleStrip,
                cull: None,
                write_depth: false,
                blend: Some(wgpu::BlendState { color: multiply, alpha: multiply }),
                alpha_to_coverage: false,
            },
        );
        Self { pipeline }
    }

    /// Two triangles under each character that the camera sees.
    pub(super) fn draw(
        &self,
        pass: &mut wgpu::RenderPass<'_>,
        characters: &CharacterRenderer,
        crowd: &UploadedCrowd<'_>,
        counts: &mut DrawCounts,
    ) {
        pass.set_pipeline(&self.pipeline);
        for group in crowd.groups {
            let Some((model, palette)) = characters.resolve(group, crowd) else { continue };
            let Some(quad) = &model.contact else { continue };
            pass.set_bind_group(2, palette, &[]);
            pass.set_vertex_buffer(0, quad.vertices.slice(..));
            for (buffer, piece) in crowd.instances.pieces(group.camera.clone()) {
                counts.draws += 1;
                counts.triangles += 2 * piece.len() as u64;
                pass.set_vertex_buffer(1, buffer.slice(..));
                pass.draw(0..4, piece);
            }
        }
    }
}

/// One kind's quad.
#[derive(Debug)]
pub(super) struct ContactQuad {
    vertices: wgpu::Buffer,
}

impl ContactQuad {
    /// `None` for a character without vertices.
    pub(super) fn of(gpu: &Gpu, name: &str, rest: &RestPose) -> Option<Self> {
        let quad = rest.contact_quad()?;
        let vertices = gpu.device().create_buffer_init(&wgpu::util::BufferInitDescriptor {
            label: Some(&format!("contact quad of {name}")),
            contents: bytemuck::cast_slice(&quad),
            usage: wgpu::BufferUsages::VERTEX,
        });
        Some(Self { vertices })
    }
}
