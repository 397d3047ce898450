//! Palette pages on the GPU: one storage buffer per page, grown in steps, patched where dirty.

mod scatter;
#[cfg(test)]
mod tests;

use super::config::PaletteUpload;
use super::error::RenderError;
use super::gpu::Gpu;
use super::staging::Staging;
use super::timing::PassTimer;
use crate::crowd;
use crate::math::Mat3x4;
use crate::pose::CutRows;
use crate::profile::PhaseTimes;
use scatter::Scatter;
use std::ops::Range;
use std::sync::Arc;
use wgpu::util::DeviceExt;

/// Bytes of one matrix.
const STRIDE: u64 = size_of::<Mat3x4>() as u64;
/// Capacity grows to multiples of this many matrices.
const STEP: u64 = 4096;
/// Clean matrices between two dirty ranges that may be copied along rather than split at.
const GAP: u32 = 64;
/// A page is never larger than this, however much the adapter allows: growing copies it.
const MAX_BYTES: u64 = 512 << 20;

#[derive(Debug)]
struct Page {
    buffer: wgpu::Buffer,
    bind_group: wgpu::BindGroup,
    /// How the scatter pass writes it, where there is one.
    to_write: Option<wgpu::BindGroup>,
    /// What vertices read beside it: a row for each matrix of a whole palette.
    rows: wgpu::Buffer,
    /// What those are of.
    cut: Option<Arc<CutRows>>,
    /// Matrices.
    capacity: u64,
    /// Length of the page when it was last uploaded, matrices.
    len: usize,
}

/// All pages.
#[derive(Debug)]
pub(super) struct Palettes {
    layout: wgpu::BindGroupLayout,
    pages: Vec<Page>,
    limit: u32,
    scatter: Option<Scatter>,
}

/// What an upload needs beside the pages.
pub(super) struct Upload<'a, 'e> {
    pub(super) gpu: &'a Gpu,
    pub(super) staging: &'a mut Staging,
    pub(super) encoder: &'e mut wgpu::CommandEncoder,
    /// Threads that may help, all but one.
    pub(super) spare: Option<&'a rayon::ThreadPool>,
    pub(super) times: &'a PhaseTimes,
    /// Times the pass that moves palettes.
    pub(super) timer: Option<&'a mut PassTimer>,
}

impl Palettes {
    /// `limit_bytes` lowers the largest page, for tests and for small machines.
    pub(super) fn new(gpu: &Gpu, limit_bytes: Option<u64>, upload: PaletteUpload) -> Self {
        let entry = |binding, element| wgpu::BindGroupLayoutEntry {
            binding,
            visibility: wgpu::ShaderStages::VERTEX,
            ty: wgpu::BindingType::Buffer {
                ty: wgpu::BufferBindingType::Storage { read_only: true },
                has_dynamic_offset: false,
                min_binding_size: wgpu::BufferSize::new(element),
            },
            count: None,
        };
        let layout = gpu.device().create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
            label: Some("palette"),
            entries: &[entry(0, STRIDE), entry(1, size_of::<u32>() as u64)],
        });
        let limits = gpu.device().limits();
        let bytes = limits
            .max_storage_buffer_binding_size
            .min(limits.max_buffer_size)
            .min(limit_bytes.unwrap_or(MAX_BYTES))
            .clamp(STRIDE, MAX_BYTES);
        let scatter = match upload {
            PaletteUpload::Scatter => Scatter::new(gpu),
            PaletteUpload::Copy => None,
        };
        if upload == PaletteUpload::Scatter && scatter.is_none() {
            let name = &gpu.summary().name;
            tracing::info!("adapter {name} can't read mapped memory: palettes are copied");
        }
        Self { layout, pages: Vec::new(), limit: (bytes / STRIDE) as u32, scatter }
    }

    /// Most matrices one page may have.
    pub(super) fn limit(&self) -> u32 {
        self.limit
    }

    pub(super) fn layout(&self) -> &wgpu::BindGroupLayout {
        &self.layout
    }

    /// The bind group of a page that was uploaded.
    pub(super) fn bind_group(&self, page: u32) -> Option<&wgpu::BindGroup> {
        self.pages.get(page as usize).map(|p| &p.bind_group)
    }

    /// Bytes of GPU memory held.
    pub(super) fn bytes(&self) -> u64 {
        self.pages.iter().map(|p| p.capacity * STRIDE).sum()
    }

    /// Bytes of mapped memory that palettes pass through, that of staging aside.
    pub(super) fn upload_bytes(&self) -> u64 {
        self.scatter.as_ref().map_or(0, Scatter::bytes)
    }

    /// Makes the GPU's pages equal to `source`: a new page is copied whole, an old one where dirty.
    pub(super) fn upload(
        &mut self,
        mut to: Upload<'_, '_>,
        source: &[crowd::Page],
    ) -> Result<(), RenderError> {
        if let Some(scatter) = &mut self.scatter {
            scatter.begin();
        }
        for (index, from) in source.iter().enumerate() {
            let fresh = self.make_room(&mut to, index, from)?;
            let whole = 0..from.matrices.len() as u32;
            let dirty = if fresh { std::slice::from_ref(&whole) } else { &from.dirty };
            check(index, from, dirty)?;
            match &mut self.scatter {
                Some(scatter) if from.is_palettes(dirty) => {
                    for left in scatter.add(to.gpu, index, from, dirty) {
                        self.copy(&mut to, index, from, &left);
                    }
                }
                _ => self.copy(&mut to, index, from, dirty),
            }
        }
        if let Some(scatter) = &mut self.scatter {
            scatter.run(to, source, &self.pages);
        }
        Ok(())
    }

    /// Records copies of what is dirty in a page.
    fn copy(
        &self,
        to: &mut Upload<'_, '_>,
        index: usize,
        from: &crowd::Page,
        dirty: &[Range<u32>],
    ) {
        for range in merged(dirty, GAP) {
            let offset = u64::from(range.start) * STRIDE;
            let matrices = &from.matrices[range.start as usize..range.end as usize];
            let bytes = bytemuck::cast_slice(matrices);
            to.staging.write(to.gpu.device(), to.encoder, &self.pages[index].buffer, offset, bytes);
        }
    }

    /// Sees to it that a page holds so many matrices. True when it is new, and empty.
    fn make_room(
        &mut self,
        to: &mut Upload<'_, '_>,
        index: usize,
        from: &crowd::Page,
    ) -> Result<bool, RenderError> {
        let (len, cut) = (from.matrices.len(), &from.cut);
        if len > self.limit as usize {
            return Err(RenderError::PageTooLong { page: index, len, limit: self.limit });
        }
        let fresh = index >= self.pages.len();
        if fresh {
            let page = self.make(to.gpu, index, len as u64, cut);
            self.pages.push(page);
        } else if len as u64 > self.pages[index].capacity {
            let old = &self.pages[index];
            let page = self.make(to.gpu, index, (old.capacity * 3 / 2).max(len as u64), cut);
            let bytes = old.len as u64 * STRIDE;
            to.encoder.copy_buffer_to_buffer(&old.buffer, 0, &page.buffer, 0, bytes);
            self.pages[index] = page;
        } else if self.pages[index].cut != *cut {
            let rows = rows(to.gpu, cut.as_deref());
            let page = &mut self.pages[index];
            page.bind_group = bind_group(to.gpu, &self.layout, index, [&page.buffer, &rows]);
            (page.rows, page.cut) = (rows, cut.clone());
        }
        self.pages[index].len = len;
        Ok(fresh)
    }

    fn make(&self, gpu: &Gpu, index: usize, matrices: u64, cut: &Option<Arc<CutRows>>) -> Page {
        let capacity = matrices.max(1).next_multiple_of(STEP).min(u64::from(self.limit));
        let buffer = gpu.device().create_buffer(&wgpu::BufferDescriptor {
            label: Some(&format!("palette page {index}")),
            size: capacity * STRIDE,
            usage: wgpu::BufferUsages::STORAGE
                | wgpu::BufferUsages::COPY_DST
                | wgpu::BufferUsages::COPY_SRC,
            mapped_at_creation: false,
        });
        let rows = rows(gpu, cut.as_deref());
        let bind_group = bind_group(gpu, &self.layout, index, [&buffer, &rows]);
        let to_write = self.scatter.as_ref().map(|scatter| scatter.page_group(gpu, &buffer));
        Page { buffer, bind_group, to_write, rows, cut: cut.clone(), capacity, len: 0 }
    }

    /// Call before the encoder is submitted: what was written becomes the GPU's.
    pub(super) fn close(&mut self) {
        self.scatter.iter_mut().for_each(Scatter::close);
    }

    /// Call after the encoder was submitted: memory comes back when the GPU has read it.
    pub(super) fn recall(&mut self) {
        self.scatter.iter_mut().for_each(Scatter::recall);
    }

    /// Bytes written since the last call, those that staging wrote aside.
    pub(super) fn take_written(&mut self) -> u64 {
        self.scatter.as_mut().map_or(0, Scatter::take_written)
    }
}

/// What vertices read of one page: its matrices, and the rows of cut palettes.
fn bind_group(
    gpu: &Gpu,
    layout: &wgpu::BindGroupLayout,
    index: usize,
    buffers: [&wgpu::Buffer; 2],
) -> wgpu::BindGroup {
    let [matrices, rows] = buffers.map(wgpu::Buffer::as_entire_binding);
    gpu.device().create_bind_group(&wgpu::BindGroupDescriptor {
        label: Some(&format!("palette page {index}")),
        layout,
        entries: &[
            wgpu::BindGroupEntry { binding: 0, resource: matrices },
            wgpu::BindGroupEntry { binding: 1, resource: rows },
        ],
    })
}

/// The rows as vertices read them; one that nobody reads where no palette is cut.
fn rows(gpu: &Gpu, cut: Option<&CutRows>) -> wgpu::Buffer {
    let rows = cut.map_or(&[0][..], CutRows::row_of);
    let rows: Vec<u32> = rows.iter().copied().map(u32::from).collect();
    gpu.device().create_buffer_init(&wgpu::util::BufferInitDescriptor {
        label: Some("rows of cut palettes"),
        contents: bytemuck::cast_slice(&rows),
        usage: wgpu::BufferUsages::STORAGE,
    })
}

/// Every range lies in the page.
fn check(page: usize, from: &crowd::Page, dirty: &[Range<u32>]) -> Result<(), RenderError> {
    let len = from.matrices.len();
    let outside = |r: &&Range<u32>| r.start > r.end || r.end as usize > len;
    dirty.iter().find(outside).map_or(Ok(()), |range| {
        Err(RenderError::PageRange { page, len, start: range.start, end: range.end })
    })
}

/// Ascending ranges, those closer together than `gap` made one, as long as all that lies between them
/// is at most a twentieth of what came before. Empty ranges vanish.
fn merged(ranges: &[Range<u32>], gap: u32) -> impl Iterator<Item = Range<u32>> + '_ {
    let mut rest = ranges.iter().filter(|r| !r.is_empty()).cloned().peekable();
    let (mut wanted, mut between) = (0u64, 0u64);
    std::iter::from_fn(move || {
        let mut range = rest.next()?;
        wanted += range.len() as u64;
        while let Some(next) = rest.next_if(|next| {
            let apart = next.start.saturating_sub(range.end);
            let all = between + u64::from(apart);
            let joins = apart == 0 || apart <= gap && 20 * all <= wanted;
            between = if joins { all } else { between };
            joins
        }) {
            wanted += next.len() as u64;
            range.end = range.end.max(next.end);
        }
        Some(range)
    })
}
