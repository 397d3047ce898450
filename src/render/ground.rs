//! The ground: a plane, or the terrain in tiles.

use super::gpu::Gpu;
use super::ground_tiles::{self, CELLS, LEVEL_OUT, MORPH, RANGE};
use super::layout::GroundTile;
use super::pipeline::{Draw, MainPass, layout};
use super::shaders;
use super::staging::Staging;
use super::stats::DrawCounts;
use crate::math::View;
use crate::motion::Terrain;
use glam::Vec2;
use wgpu::PrimitiveTopology::{TriangleList, TriangleStrip};
use wgpu::util::DeviceExt;

/// Tiles that the first buffer holds.
const FIRST: u64 = 512;
const STRIDE: u64 = size_of::<GroundTile>() as u64;

/// What is drawn where nothing stands.
#[derive(Debug)]
pub(super) struct GroundRenderer {
    terrain: Terrain,
    pipeline: wgpu::RenderPipeline,
    /// Of uneven ground.
    mesh: Option<TileMesh>,
}

/// One tile's triangles, and where this frame's tiles lie.
#[derive(Debug)]
struct TileMesh {
    indices: wgpu::Buffer,
    index_count: u32,
    tiles: Vec<GroundTile>,
    instances: wgpu::Buffer,
}

impl GroundRenderer {
    pub(super) fn new(
        gpu: &Gpu,
        main: &MainPass,
        frame: &wgpu::BindGroupLayout,
        terrain: Terrain,
    ) -> Self {
        let device = gpu.device();
        let uneven = !terrain.is_flat();
        let shader = if uneven { shaders::GROUND_UNEVEN } else { shaders::GROUND };
        let constants = [
            ("TILE_CELLS", f64::from(CELLS)),
            ("RANGE_CELLS", f64::from(RANGE)),
            ("MORPH_FROM", f64::from(MORPH[0])),
            ("MORPH_BY", f64::from(MORPH[1])),
            ("LEVEL_FROM", f64::from(LEVEL_OUT[0])),
            ("LEVEL_BY", f64::from(LEVEL_OUT[1])),
        ];
        let pipeline = main.pipeline(
            device,
            &Draw {
                shader,
                module: &shader.compile(gpu),
                layout: &layout(device, "ground", &[Some(frame)]),
                fragment: "fs_main",
                constants: if uneven { &constants } else { &[] },
                buffers: if uneven { &[Some(GroundTile::LAYOUT)] } else { &[] },
                topology: if uneven { TriangleList } else { TriangleStrip },
                cull: None,
                write_depth: true,
                depth_compare: Draw::NEARER,
                blend: None,
                alpha_to_coverage: false,
            },
        );
        Self { terrain, pipeline, mesh: uneven.then(|| TileMesh::new(device)) }
    }

    /// Chooses this frame's tiles and copies them.
    pub(super) fn upload(
        &mut self,
        gpu: &Gpu,
        staging: &mut Staging,
        encoder: &mut wgpu::CommandEncoder,
        view: &View,
    ) {
        if let Some(mesh) = &mut self.mesh {
            mesh.upload(gpu, staging, encoder, (view, self.terrain));
        }
    }

    /// Draws it where nothing nearer is; not where it is seen from below.
    pub(super) fn draw(
        &self,
        pass: &mut wgpu::RenderPass<'_>,
        view: &View,
        counts: &mut DrawCounts,
    ) {
        if view.eye.y <= self.terrain.height(Vec2::new(view.eye.x, view.eye.z)) {
            return;
        }
        pass.set_pipeline(&self.pipeline);
        counts.draws += 1;
        match &self.mesh {
            None => {
                pass.draw(0..4, 0..1);
                counts.triangles += 2;
            }
            Some(mesh) => {
                let tiles = mesh.tiles.len() as u32;
                pass.set_vertex_buffer(0, mesh.instances.slice(..));
                pass.set_index_buffer(mesh.indices.slice(..), wgpu::IndexFormat::Uint16);
                pass.draw_indexed(0..mesh.index_count, 0, 0..tiles);
                counts.triangles += u64::from(mesh.index_count / 3 * tiles);
            }
        }
    }
}

impl TileMesh {
    fn new(device: &wgpu::Device) -> Self {
        let triangles = ground_tiles::triangles();
        let indices = device.create_buffer_init(&wgpu::util::BufferInitDescriptor {
            label: Some("triangles of a ground tile"),
            contents: bytemuck::cast_slice(&triangles),
            usage: wgpu::BufferUsages::INDEX,
        });
        let index_count = triangles.len() as u32;
        Self { indices, index_count, tiles: Vec::new(), instances: Self::buffer(device, FIRST) }
    }

    fn buffer(device: &wgpu::Device, tiles: u64) -> wgpu::Buffer {
        device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("ground tiles"),
            size: tiles * STRIDE,
            usage: wgpu::BufferUsages::VERTEX | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        })
    }

    fn upload(
        &mut self,
        gpu: &Gpu,
        staging: &mut Staging,
        encoder: &mut wgpu::CommandEncoder,
        (view, terrain): (&View, Terrain),
    ) {
        ground_tiles::select(view, terrain.max_height(), &mut self.tiles);
        let count = self.tiles.len() as u64;
        if count * STRIDE > self.instances.size() {
            self.instances = Self::buffer(gpu.device(), count.next_power_of_two());
        }
        let bytes = bytemuck::cast_slice(&self.tiles);
        staging.write(gpu.device(), encoder, &self.instances, 0, bytes);
    }
}
