//! Lines in the world: skeletons, bounds, whatever explains what is drawn.

use super::gpu::Gpu;
use super::layout::LineRecord;
use super::pipeline::{Draw, MainPass, layout};
use super::shaders;
use super::staging::Staging;
use super::stats::DrawCounts;
use wgpu::CompareFunction;

/// One frame's lines.
#[derive(Clone, Copy, Debug, Default)]
pub struct Lines<'a> {
    /// Hidden by what is nearer.
    pub tested: &'a [LineRecord],
    /// Seen through everything, drawn last.
    pub x_ray: &'a [LineRecord],
}

impl Lines<'_> {
    /// There are none.
    pub fn is_empty(&self) -> bool {
        self.tested.is_empty() && self.x_ray.is_empty()
    }
}

/// Vertices of a line: two triangles.
const CORNERS: u32 = 6;
/// Bytes of a line.
const STRIDE: u64 = size_of::<LineRecord>() as u64;

/// Draws lines at the end of the main pass, with its samples. Before the first one is asked for there
/// is neither a pipeline nor a buffer, and in a frame without any there is no buffer again.
#[derive(Debug)]
pub(super) struct LineRenderer {
    main: MainPass,
    pipelines: Option<Pipelines>,
    buffer: Option<wgpu::Buffer>,
    /// Lines of this frame: tested, and all.
    ends: [u32; 2],
}

#[derive(Debug)]
struct Pipelines {
    tested: wgpu::RenderPipeline,
    x_ray: wgpu::RenderPipeline,
}

impl LineRenderer {
    pub(super) fn new(main: &MainPass) -> Self {
        Self { main: *main, pipelines: None, buffer: None, ends: [0; 2] }
    }

    /// Makes the pipelines, which otherwise the first line does.
    pub(super) fn prepare(&mut self, gpu: &Gpu, frame: &wgpu::BindGroupLayout) {
        self.pipelines.get_or_insert_with(|| Pipelines::new(gpu, &self.main, frame));
    }

    /// Brings this frame's lines to the GPU: as many as a buffer holds, the last ones are left out.
    pub(super) fn upload(
        &mut self,
        gpu: &Gpu,
        staging: &mut Staging,
        encoder: &mut wgpu::CommandEncoder,
        frame: &wgpu::BindGroupLayout,
        lines: Lines<'_>,
    ) {
        if lines.is_empty() {
            (self.buffer, self.ends) = (None, [0; 2]);
            return;
        }
        let device = gpu.device();
        let most = (device.limits().max_buffer_size / STRIDE).min(1 << 24) as usize;
        let tested = &lines.tested[..lines.tested.len().min(most)];
        let x_ray = &lines.x_ray[..lines.x_ray.len().min(most - tested.len())];
        let count = (tested.len() + x_ray.len()) as u64;
        self.ends = [tested.len() as u32, count as u32];
        self.prepare(gpu, frame);
        let buffer = match self.buffer.take().filter(|b| b.size() >= count * STRIDE) {
            Some(buffer) => buffer,
            None => device.create_buffer(&wgpu::BufferDescriptor {
                label: Some("lines"),
                size: (count.next_power_of_two().max(256) * STRIDE).min(most as u64 * STRIDE),
                usage: wgpu::BufferUsages::VERTEX | wgpu::BufferUsages::COPY_DST,
                mapped_at_creation: false,
            }),
        };
        let mut at = 0;
        for lines in [tested, x_ray].into_iter().filter(|lines| !lines.is_empty()) {
            let bytes: &[u8] = bytemuck::cast_slice(lines);
            staging.write(device, encoder, &buffer, at, bytes);
            at += bytes.len() as u64;
        }
        self.buffer = Some(buffer);
    }

    /// Draws them. Group 0 of the pass has to be the frame's.
    pub(super) fn draw(&self, pass: &mut wgpu::RenderPass<'_>, counts: &mut DrawCounts) {
        let Some((pipelines, buffer)) = self.pipelines.as_ref().zip(self.buffer.as_ref()) else {
            return;
        };
        pass.push_debug_group("lines");
        pass.set_vertex_buffer(0, buffer.slice(..));
        let [tested, all] = self.ends;
        for (pipeline, range) in [(&pipelines.tested, 0..tested), (&pipelines.x_ray, tested..all)] {
            if !range.is_empty() {
                counts.draws += 1;
                counts.triangles += u64::from(CORNERS / 3) * range.len() as u64;
                pass.set_pipeline(pipeline);
                pass.draw(0..CORNERS, range);
            }
        }
        pass.pop_debug_group();
    }
}

impl Pipelines {
    fn new(gpu: &Gpu, main: &MainPass, frame: &wgpu::BindGroupLayout) -> Self {
        let device = gpu.device();
        let module = shaders::LINE.compile(gpu);
        let layout = layout(device, "lines", &[Some(frame)]);
        let pipeline = |depth_compare| {
            main.pipeline(
                device,
                &Draw {
                    shader: shaders::LINE,
                    module: &module,
                    layout: &layout,
                    fragment: "fs_main",
                    constants: &[],
                    buffers: &[Some(LineRecord::LAYOUT)],
                    topology: wgpu::PrimitiveTopology::TriangleList,
                    cull: None,
                    write_depth: false,
                    depth_compare,
                    blend: Some(wgpu::BlendState::ALPHA_BLENDING),
                    alpha_to_coverage: false,
                },
            )
        };
        Self { tested: pipeline(Draw::NEARER), x_ray: pipeline(CompareFunction::Always) }
    }
}
