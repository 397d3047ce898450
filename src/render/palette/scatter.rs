//! Palettes written by several threads into memory that the GPU reads itself, and brought to
//! their slots by a compute pass.
//!
//! The processor touches every evaluated palette once, and encoding costs the same for one run of
//! neighbouring slots as for thousands of lone ones.

use super::super::gpu::Gpu;
use super::super::layout::ScatterSection;
use super::super::ring::{BUDGET, CHUNK, Chunk, Ring};
use super::super::shaders;
use super::{Page, Upload};
use crate::crowd;
use crate::math::Mat3x4;
use crate::profile::{Phase, PhaseTimes};
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

/// Bytes of one row of a matrix, which is what an invocation moves.
const ROW: u64 = 16;
/// Rows of a matrix.
const ROWS: u32 = 3;
/// Invocations of a workgroup; shaders/palette_scatter.wgsl says the same.
const WORKGROUP: u32 = 256;
/// Bytes that a thread copies before it looks for more to do.
const JOB: usize = 128 << 10;
/// Sections that there is room for from the start.
const SECTIONS: u64 = 64;

/// Palettes of one page and one length in one chunk: targets first, then rows.
#[derive(Clone, Debug)]
struct Section {
    page: usize,
    /// Matrices of each palette.
    len: u32,
    chunk: usize,
    /// Byte of the chunk.
    start: u64,
    /// Into [`Scatter::targets`].
    palettes: Range<usize>,
}

/// Pipeline, upload memory and this frame's sections.
#[derive(Debug)]
pub(super) struct Scatter {
    pipeline: wgpu::ComputePipeline,
    page_layout: wgpu::BindGroupLayout,
    section_layout: wgpu::BindGroupLayout,
    ring: Ring,
    sections: Vec<Section>,
    /// First matrix in its page of each palette that is to be moved.
    targets: Vec<u32>,
    /// The sections as the shader reads them.
    uniforms: wgpu::Buffer,
    uniforms_group: wgpu::BindGroup,
    /// Bytes from one section's uniforms to the next one's.
    stride: u64,
    written: u64,
}

/// What one thread copies.
struct Job<'a> {
    palette_len: usize,
    matrices: &'a [Mat3x4],
    targets: &'a [u32],
    out: wgpu::WriteOnly<'a, [u8]>,
}

// SAFETY: the only field that is not `Send` by itself is `out`, an exclusive borrow of bytes, as
// `&mut [u8]` is. wgpu says `Send` of `WriteOnly<T>` for every sized `T` that is, and leaves out
// slices for no reason.
unsafe impl Send for Job<'_> {}

impl Scatter {
    /// `None` where shaders can't read memory that is mapped, or nothing can be computed.
    pub(super) fn new(gpu: &Gpu) -> Option<Self> {
        let (device, limits) = (gpu.device(), gpu.device().limits());
        let able = gpu.reads_mapped_memory()
            && limits.max_compute_invocations_per_workgroup >= WORKGROUP
            && limits.max_storage_buffer_binding_size >= CHUNK;
        if !able {
            return None;
        }
        let storage = |label, read_only| {
            layout(device, label, wgpu::BufferBindingType::Storage { read_only }, false)
        };
        let written_layout = storage("written palettes", true);
        let page_layout = storage("palette page to write", false);
        let section_layout = layout(device, "section", wgpu::BufferBindingType::Uniform, true);
        let layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            label: Some("scatter"),
            bind_group_layouts: &[Some(&written_layout), Some(&page_layout), Some(&section_layout)],
            immediate_size: 0,
        });
        let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: Some("scatter"),
            layout: Some(&layout),
            module: &shaders::PALETTE_SCATTER.compile(gpu),
            entry_point: Some("scatter"),
            compilation_options: wgpu::PipelineCompilationOptions::default(),
            cache: None,
        });
        let ring = Ring::new("palettes", wgpu::BufferUsages::STORAGE, Some(written_layout), BUDGET);
        let align = u64::from(limits.min_uniform_buffer_offset_alignment);
        let stride = (size_of::<ScatterSection>() as u64).next_multiple_of(align.max(1));
        let (uniforms, uniforms_group) = uniforms(device, &section_layout, SECTIONS * stride);
        Some(Self {
            pipeline,
            page_layout,
            section_layout,
            ring,
            sections: Vec::new(),
            targets: Vec::new(),
            uniforms,
            uniforms_group,
            stride,
            written: 0,
        })
    }

    /// How the pass writes a page.
    pub(super) fn page_group(&self, gpu: &Gpu, buffer: &wgpu::Buffer) -> wgpu::BindGroup {
        gpu.device().create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("palette page to write"),
            layout: &self.page_layout,
            entries: &[wgpu::BindGroupEntry { binding: 0, resource: buffer.as_entire_binding() }],
        })
    }

    /// Forgets the last frame's sections.
    pub(super) fn begin(&mut self) {
        self.sections.clear();
        self.targets.clear();
    }

    /// Takes a page's dirty palettes, as far as upload memory reaches; what is left of whole ones and
    /// of cut ones is to be copied otherwise. `dirty` must be palettes of the page.
    pub(super) fn add(
        &mut self,
        gpu: &Gpu,
        page: usize,
        from: &crowd::Page,
        dirty: &[Range<u32>],
    ) -> [Vec<Range<u32>>; 2] {
        let each = from.palette_len.max(1) as usize;
        let whole = dirty.iter().filter(|range| !from.is_cut(range));
        let whole = whole.flat_map(|range| range.clone().step_by(each));
        let cut = dirty.iter().filter(|range| from.is_cut(range)).map(|range| range.start);
        [
            self.add_palettes(gpu, (page, from.palette_len), whole),
            self.add_palettes(gpu, (page, from.cut_len()), cut),
        ]
    }

    /// Takes palettes of one length, each by its first matrix.
    fn add_palettes(
        &mut self,
        gpu: &Gpu,
        (page, len): (usize, u32),
        targets: impl Iterator<Item = u32>,
    ) -> Vec<Range<u32>> {
        let first = self.targets.len();
        self.targets.extend(targets);
        let (mut from, end) = (first, self.targets.len());
        while from < end {
            let Some((chunk, most)) = self.room_for(gpu, len, end - from) else { break };
            let open = &mut self.ring.open()[chunk];
            let palettes = from..end.min(from + most);
            let start = open.used;
            open.used += bytes(palettes.len() as u64, len);
            from = palettes.end;
            self.sections.push(Section { page, len, chunk, start, palettes });
        }
        self.targets.drain(from..).map(|t| t..t + len).collect()
    }

    /// A chunk with room for some of so many palettes, and for how many.
    fn room_for(&mut self, gpu: &Gpu, palette_len: u32, palettes: usize) -> Option<(usize, usize)> {
        let one = bytes(1, palette_len);
        // A few palettes at the end of a chunk are not worth a section of their own.
        let worth = bytes(palettes.min(64) as u64, palette_len).min(CHUNK).max(one);
        let chunk = self.ring.make_room(gpu.device(), worth)?;
        let room = self.ring.open()[chunk].room();
        let each = ROW * u64::from(ROWS * palette_len) + 4;
        // What rounding up the targets to whole rows takes is set aside; one fits, it was asked for.
        let most = (room.saturating_sub(ROW) / each).max(1);
        Some((chunk, most as usize))
    }

    /// Writes all palettes and the pass that brings them to their slots.
    pub(super) fn run(&mut self, to: Upload<'_, '_>, source: &[crowd::Page], pages: &[Page]) {
        let Upload { gpu, staging, encoder, spare, times, timer } = to;
        if self.sections.is_empty() {
            return;
        }
        self.written += self.sections.iter().map(Section::bytes).sum::<u64>();
        let jobs = jobs(self.ring.open(), &self.sections, &self.targets, source);
        copy(jobs, spare, times);

        let needed = self.sections.len() as u64 * self.stride;
        if needed > self.uniforms.size() {
            let size = needed.next_power_of_two();
            (self.uniforms, self.uniforms_group) =
                uniforms(gpu.device(), &self.section_layout, size);
        }
        let mut blocks = vec![0; needed as usize];
        for (section, block) in self.sections.iter().zip(blocks.chunks_mut(self.stride as usize)) {
            let uniforms = section.uniforms();
            block[..size_of::<ScatterSection>()].copy_from_slice(bytemuck::bytes_of(&uniforms));
        }
        staging.write(gpu.device(), encoder, &self.uniforms, 0, &blocks);

        let chunks = self.ring.open();
        let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor {
            label: Some("palette scatter"),
            timestamp_writes: timer.and_then(|t| t.compute_pass("palettes")),
        });
        pass.set_pipeline(&self.pipeline);
        for (index, section) in self.sections.iter().enumerate() {
            let (chunk, page) = (&chunks[section.chunk], &pages[section.page]);
            let (Some(written), Some(page)) = (&chunk.bind_group, &page.to_write) else { continue };
            let rows = section.uniforms().count;
            pass.set_bind_group(0, written, &[]);
            pass.set_bind_group(1, page, &[]);
            pass.set_bind_group(2, &self.uniforms_group, &[(index as u64 * self.stride) as u32]);
            pass.dispatch_workgroups(rows.div_ceil(WORKGROUP), 1, 1);
        }
    }

    /// As [`Staging::close`].
    pub(super) fn close(&mut self) {
        self.ring.close();
    }

    /// As [`Staging::recall`].
    pub(super) fn recall(&mut self) {
        self.ring.recall();
    }

    /// Bytes of mapped memory held.
    pub(super) fn bytes(&self) -> u64 {
        self.ring.bytes()
    }

    /// Lowers what upload memory may take.
    #[cfg(test)]
    pub(super) fn limit_memory(&mut self, bytes: u64) {
        self.ring.limit(bytes);
    }

    /// Bytes written since the last call.
    pub(super) fn take_written(&mut self) -> u64 {
        std::mem::take(&mut self.written)
    }
}

/// Bytes of a section of so many palettes.
fn bytes(palettes: u64, palette_len: u32) -> u64 {
    target_bytes(palettes) + palettes * u64::from(ROWS * palette_len) * ROW
}

fn target_bytes(palettes: u64) -> u64 {
    (4 * palettes).next_multiple_of(ROW)
}

impl Section {
    fn uniforms(&self) -> ScatterSection {
        let palettes = self.palettes.len() as u64;
        ScatterSection {
            targets: (self.start / ROW) as u32,
            rows: ((self.start + target_bytes(palettes)) / ROW) as u32,
            count: palettes as u32 * ROWS * self.len,
            palette_rows: ROWS * self.len,
        }
    }

    fn bytes(&self) -> u64 {
        bytes(self.palettes.len() as u64, self.len)
    }
}

/// Writes every section's targets and splits its palettes into what one thread takes at a time.
/// Sections must be in the order of their chunks and their places in them.
fn jobs<'a>(
    chunks: &'a mut [Chunk],
    sections: &[Section],
    targets: &'a [u32],
    source: &'a [crowd::Page],
) -> Vec<Job<'a>> {
    let mut jobs = Vec::new();
    let mut sections = sections.iter().peekable();
    for (index, chunk) in chunks.iter_mut().enumerate() {
        // Without memory the device is lost, and the frame with it.
        let Some(mut memory) = chunk.memory() else { continue };
        while let Some(section) = sections.next_if(|s| s.chunk == index) {
            let page = &source[section.page];
            let palette_len = section.len as usize;
            let mut targets = &targets[section.palettes.clone()];
            let (head, rest) = memory.split_at(target_bytes(targets.len() as u64) as usize);
            memory = rest;
            write_targets(head, targets);
            let each = palette_len * size_of::<Mat3x4>();
            while !targets.is_empty() {
                let (now, later) = targets.split_at(targets.len().min((JOB / each).max(1)));
                let (out, rest) = memory.split_at(now.len() * each);
                (targets, memory) = (later, rest);
                jobs.push(Job { palette_len, matrices: &page.matrices, targets: now, out });
            }
        }
    }
    jobs
}

/// Each target as the shader counts: in rows.
fn write_targets(mut out: wgpu::WriteOnly<'_, [u8]>, targets: &[u32]) {
    let rows: Vec<u32> = targets.iter().map(|t| t * ROWS).collect();
    out.slice(..4 * rows.len()).copy_from_slice(bytemuck::cast_slice(&rows));
}

impl Job<'_> {
    fn run(mut self) {
        let each = self.palette_len * size_of::<Mat3x4>();
        for (index, &target) in self.targets.iter().enumerate() {
            let matrices = &self.matrices[target as usize..][..self.palette_len];
            let out = index * each..(index + 1) * each;
            self.out.slice(out).copy_from_slice(bytemuck::cast_slice(matrices));
        }
    }
}

/// Does all jobs, on this thread and on all but one of `spare`: that one waits for this thread.
fn copy(jobs: Vec<Job<'_>>, spare: Option<&rayon::ThreadPool>, times: &PhaseTimes) {
    let helpers = spare.map_or(0, |pool| pool.current_num_threads().saturating_sub(1));
    let helpers = helpers.min(jobs.len().saturating_sub(1));
    let queue = Mutex::new(jobs);
    let work = || {
        let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).pop();
        times.worker(Phase::Upload, || {
            while let Some(job) = next() {
                job.run();
            }
        });
    };
    match spare.filter(|_| helpers > 0) {
        Some(pool) => pool.in_place_scope(|scope| {
            (0..helpers).for_each(|_| scope.spawn(|_| work()));
            work();
        }),
        None => work(),
    }
}

fn layout(
    device: &wgpu::Device,
    label: &str,
    ty: wgpu::BufferBindingType,
    has_dynamic_offset: bool,
) -> wgpu::BindGroupLayout {
    device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
        label: Some(label),
        entries: &[wgpu::BindGroupLayoutEntry {
            binding: 0,
            visibility: wgpu::ShaderStages::COMPUTE,
            ty: wgpu::BindingType::Buffer { ty, has_dynamic_offset, min_binding_size: None },
            count: None,
        }],
    })
}

fn uniforms(
    device: &wgpu::Device,
    layout: &wgpu::BindGroupLayout,
    size: u64,
) -> (wgpu::Buffer, wgpu::BindGroup) {
    let buffer = device.create_buffer(&wgpu::BufferDescriptor {
        label: Some("scatter sections"),
        size,
        usage: wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST,
        mapped_at_creation: false,
    });
    let one = wgpu::BufferBinding {
        buffer: &buffer,
        offset: 0,
        size: wgpu::BufferSize::new(size_of::<ScatterSection>() as u64),
    };
    let group = device.create_bind_group(&wgpu::BindGroupDescriptor {
        label: Some("scatter sections"),
        layout,
        entries: &[wgpu::BindGroupEntry {
            binding: 0,
            resource: wgpu::BindingResource::Buffer(one),
        }],
    });
    (buffer, group)
}
