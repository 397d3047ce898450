//! The soft shade under each character.

use super::character::{CharacterRenderer, UploadedCrowd};
use super::config::RenderConfig;
use super::gpu::Gpu;
use super::layout::{ContactVertex, INSTANCE_LAYOUT};
use super::palette::Palettes;
use super::pipeline::{Draw, MainPass, layout};
use super::rest::RestPose;
use super::shaders;
use super::sorting::runs;
use super::stats::DrawCounts;
use crate::motion::Terrain;
use wgpu::util::DeviceExt;

/// The pipeline that multiplies the ground by the shade of what stands on it.
#[derive(Debug)]
pub(super) struct ContactRenderer {
    pipeline: wgpu::RenderPipeline,
}

impl ContactRenderer {
    pub(super) fn new(
        gpu: &Gpu,
        main: &MainPass,
        frame: &wgpu::BindGroupLayout,
        palettes: &Palettes,
        config: &RenderConfig,
    ) -> Self {
        let device = gpu.device();
        let flag = |on: bool| f64::from(u8::from(on));
        let multiply = wgpu::BlendComponent {
            src_factor: wgpu::BlendFactor::Zero,
            dst_factor: wgpu::BlendFactor::Src,
            operation: wgpu::BlendOperation::Add,
        };
        let pipeline = main.pipeline(
            device,
            &Draw {
                shader: shaders::CONTACT,
                module: &shaders::CONTACT.compile(gpu),
                layout: &layout(device, "contact", &[Some(frame), None, Some(palettes.layout())]),
                fragment: "fs_main",
                constants: &[
                    ("UNEVEN", flag(!config.terrain.is_flat())),
                    ("INTERPOLATE", flag(config.interpolate)),
                ],
                buffers: &[Some(ContactVertex::LAYOUT), Some(INSTANCE_LAYOUT)],
                topology: wgpu::PrimitiveTopology::TriangleList,
                cull: None,
                write_depth: false,
                depth_compare: Draw::NEARER,
                blend: Some(wgpu::BlendState { color: multiply, alpha: multiply }),
                alpha_to_coverage: false,
            },
        );
        Self { pipeline }
    }

    /// The shade under each character that the camera sees.
    pub(super) fn draw(
        &self,
        pass: &mut wgpu::RenderPass<'_>,
        characters: &CharacterRenderer,
        crowd: &UploadedCrowd<'_>,
        counts: &mut DrawCounts,
    ) {
        pass.set_pipeline(&self.pipeline);
        for (group, (), range) in runs(crowd.groups, |g| &g.camera, |_| ()) {
            let Some((model, palette)) = characters.resolve(group, crowd) else { continue };
            let Some(quad) = &model.contact else { continue };
            pass.set_bind_group(2, palette, &[]);
            pass.set_vertex_buffer(0, quad.vertices.slice(..));
            pass.set_index_buffer(quad.indices.slice(..), wgpu::IndexFormat::Uint16);
            for (buffer, piece) in crowd.instances.pieces(range) {
                counts.draws += 1;
                counts.triangles += u64::from(quad.index_count / 3) * piece.len() as u64;
                pass.set_vertex_buffer(1, buffer.slice(..));
                pass.draw_indexed(0..quad.index_count, 0, piece);
            }
        }
    }
}

/// One kind's quad.
#[derive(Debug)]
pub(super) struct ContactQuad {
    vertices: wgpu::Buffer,
    indices: wgpu::Buffer,
    index_count: u32,
}

/// Cells along each side of a quad that lies on uneven ground: about a foot each.
const CELLS: u16 = 4;

impl ContactQuad {
    /// `None` for a character without vertices.
    pub(super) fn of(gpu: &Gpu, name: &str, rest: &RestPose, terrain: Terrain) -> Option<Self> {
        let cells = if terrain.is_flat() { 1 } else { CELLS };
        let quad = rest.contact_quad(cells)?;
        let buffer = |contents: &[u8], usage| {
            gpu.device().create_buffer_init(&wgpu::util::BufferInitDescriptor {
                label: Some(&format!("contact quad of {name}")),
                contents,
                usage,
            })
        };
        let indices = indices(cells);
        Some(Self {
            vertices: buffer(bytemuck::cast_slice(&quad), wgpu::BufferUsages::VERTEX),
            indices: buffer(bytemuck::cast_slice(&indices), wgpu::BufferUsages::INDEX),
            index_count: indices.len() as u32,
        })
    }
}

/// Two triangles for each cell of a quad.
fn indices(cells: u16) -> Vec<u16> {
    let cell = |i: u16, j: u16| {
        let a = i * (cells + 1) + j;
        let (b, c, d) = (a + 1, a + cells + 1, a + cells + 2);
        [a, b, c, c, b, d]
    };
    (0..cells).flat_map(|i| (0..cells).flat_map(move |j| cell(i, j))).collect()
}
