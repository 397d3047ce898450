//! Palette pages on the GPU: one storage buffer per page, grown in steps, patched where dirty.

use super::error::RenderError;
use super::gpu::Gpu;
use super::staging::Staging;
use crate::crowd;
use crate::math::Mat3x4;
use std::ops::Range;

/// Bytes of one matrix.
const STRIDE: u64 = size_of::<Mat3x4>() as u64;
/// Capacity grows to multiples of this many matrices.
const STEP: u64 = 4096;
/// Clean matrices between two dirty ranges that are copied along rather than split at.
const GAP: u32 = 64;
/// A page is never larger than this, however much the adapter allows: growing copies it.
const MAX_BYTES: u64 = 512 << 20;

#[derive(Debug)]
struct Page {
    buffer: wgpu::Buffer,
    bind_group: wgpu::BindGroup,
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
}

impl Palettes {
    /// `limit_bytes` lowers the largest page, for tests and for small machines.
    pub(super) fn new(gpu: &Gpu, limit_bytes: Option<u64>) -> Self {
        let layout = gpu.device().create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
            label: Some("palette"),
            entries: &[wgpu::BindGroupLayoutEntry {
                binding: 0,
                visibility: wgpu::ShaderStages::VERTEX,
                ty: wgpu::BindingType::Buffer {
                    ty: wgpu::BufferBindingType::Storage { read_only: true },
                    has_dynamic_offset: false,
                    min_binding_size: wgpu::BufferSize::new(STRIDE),
                },
                count: None,
            }],
        });
        let limits = gpu.device().limits();
        let bytes = limits
            .max_storage_buffer_binding_size
            .min(limits.max_buffer_size)
            .min(limit_bytes.unwrap_or(MAX_BYTES))
            .clamp(STRIDE, MAX_BYTES);
        Self { layout, pages: Vec::new(), limit: (bytes / STRIDE) as u32 }
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

    /// Makes the GPU's pages equal to `source`: a new page is copied whole, an old one where dirty.
    pub(super) fn upload(
        &mut self,
        gpu: &Gpu,
        staging: &mut Staging,
        encoder: &mut wgpu::CommandEncoder,
        source: &[crowd::Page],
    ) -> Result<(), RenderError> {
        for (index, from) in source.iter().enumerate() {
            let len = from.matrices.len();
            if len > self.limit as usize {
                return Err(RenderError::PageTooLong { page: index, len, limit: self.limit });
            }
            let fresh = index >= self.pages.len();
            if fresh {
                let page = self.make(gpu, index, len as u64);
                self.pages.push(page);
            } else if len as u64 > self.pages[index].capacity {
                let old = &self.pages[index];
                let page = self.make(gpu, index, (old.capacity * 3 / 2).max(len as u64));
                let bytes = old.len as u64 * STRIDE;
                encoder.copy_buffer_to_buffer(&old.buffer, 0, &page.buffer, 0, bytes);
                self.pages[index] = page;
            }
            let whole = 0..len as u32;
            let dirty = if fresh { std::slice::from_ref(&whole) } else { &from.dirty };
            let page = &mut self.pages[index];
            for range in merged(dirty, GAP) {
                let Range { start, end } = range;
                let bytes = from
                    .matrices
                    .get(start as usize..end as usize)
                    .ok_or(RenderError::PageRange { page: index, len, start, end })?;
                let bytes = bytemuck::cast_slice(bytes);
                let offset = u64::from(start) * STRIDE;
                staging.write(gpu.device(), gpu.queue(), encoder, &page.buffer, offset, bytes);
            }
            page.len = len;
        }
        Ok(())
    }

    fn make(&self, gpu: &Gpu, index: usize, matrices: u64) -> Page {
        let capacity = matrices.max(1).next_multiple_of(STEP).min(u64::from(self.limit));
        let buffer = gpu.device().create_buffer(&wgpu::BufferDescriptor {
            label: Some(&format!("palette page {index}")),
            size: capacity * STRIDE,
            usage: wgpu::BufferUsages::STORAGE
                | wgpu::BufferUsages::COPY_DST
                | wgpu::BufferUsages::COPY_SRC,
            mapped_at_creation: false,
        });
        let bind_group = gpu.device().create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some(&format!("palette page {index}")),
            layout: &self.layout,
            entries: &[wgpu::BindGroupEntry { binding: 0, resource: buffer.as_entire_binding() }],
        });
        Page { buffer, bind_group, capacity, len: 0 }
    }
}

/// Ascending ranges, those closer together than `gap` made one. Empty ranges vanish.
fn merged(ranges: &[Range<u32>], gap: u32) -> impl Iterator<Item = Range<u32>> + '_ {
    let mut rest = ranges.iter().filter(|r| !r.is_empty()).cloned().peekable();
    std::iter::from_fn(move || {
        let mut range = rest.next()?;
        while let Some(next) = rest.next_if(|n| n.start <= range.end.saturating_add(gap)) {
            range.end = range.end.max(next.end);
        }
        Some(range)
    })
}

#[cfg(test)]
mod tests {
    use super::super::gpu::GpuRequest;
    use super::*;

    #[test]
    fn near_ranges_become_one_and_far_ones_stay_apart() {
        let ranges = [0..10, 10..12, 20..21, 30..30, 200..210, 240..250];
        assert_eq!(merged(&ranges, 8).collect::<Vec<_>>(), [0..21, 200..210, 240..250]);
        assert_eq!(merged(&ranges, 64).collect::<Vec<_>>(), [0..21, 200..250]);
        assert_eq!(merged(&[], 64).count(), 0);
    }

    struct Bench {
        gpu: Gpu,
        palettes: Palettes,
        staging: Staging,
    }

    impl Bench {
        fn new(limit_bytes: Option<u64>) -> Self {
            let gpu = Gpu::new(&GpuRequest { adapter: Some("noop".into()) }).unwrap();
            let palettes = Palettes::new(&gpu, limit_bytes);
            Self { gpu, palettes, staging: Staging::new() }
        }

        /// Uploads and returns the bytes that went over.
        fn upload(&mut self, page: &crowd::Page) -> Result<u64, RenderError> {
            let pages = std::slice::from_ref(page);
            let mut encoder = self.gpu.device().create_command_encoder(&Default::default());
            self.palettes.upload(&self.gpu, &mut self.staging, &mut encoder, pages)?;
            self.staging.close();
            self.gpu.queue().submit([encoder.finish()]);
            self.staging.recall();
            self.gpu.device().poll(wgpu::PollType::wait_indefinitely()).unwrap();
            Ok(self.staging.take_written())
        }

        fn read(&self, page: usize, len: usize) -> Vec<Mat3x4> {
            let size = len as u64 * STRIDE;
            let target = self.gpu.device().create_buffer(&wgpu::BufferDescriptor {
                label: None,
                size,
                usage: wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ,
                mapped_at_creation: false,
            });
            let mut encoder = self.gpu.device().create_command_encoder(&Default::default());
            let source = &self.palettes.pages[page].buffer;
            encoder.copy_buffer_to_buffer(source, 0, &target, 0, size);
            self.gpu.queue().submit([encoder.finish()]);
            target.map_async(wgpu::MapMode::Read, .., |r| r.unwrap());
            self.gpu.device().poll(wgpu::PollType::wait_indefinitely()).unwrap();
            let bytes = target.get_mapped_range(..).unwrap().to_vec();
            bytemuck::pod_collect_to_vec(&bytes)
        }
    }

    fn matrices(len: usize, seed: f32) -> Vec<Mat3x4> {
        let at = |i: usize| Mat3x4 { rows: [[seed + i as f32; 4]; 3] };
        (0..len).map(at).collect()
    }

    #[test]
    fn a_page_keeps_its_rows_when_it_grows_and_only_dirty_rows_go_over() {
        let mut bench = Bench::new(None);
        let mut page = crowd::Page { matrices: matrices(5000, 0.0), dirty: vec![] };
        assert_eq!(bench.upload(&page).unwrap(), 5000 * STRIDE);
        assert!(bench.read(0, 5000) == page.matrices);

        page.matrices[4000..4010].copy_from_slice(&matrices(10, 0.5));
        page.dirty = std::iter::once(4000..4010).collect();
        assert_eq!(bench.upload(&page).unwrap(), 10 * STRIDE);
        assert!(bench.read(0, 5000) == page.matrices);

        let capacity = bench.palettes.pages[0].capacity as usize;
        page.matrices.extend(matrices(capacity, 7.0));
        let len = page.matrices.len();
        page.dirty = std::iter::once(5000..len as u32).collect();
        assert_eq!(bench.upload(&page).unwrap(), capacity as u64 * STRIDE);
        assert!(bench.palettes.pages[0].capacity as usize > capacity);
        assert!(bench.read(0, len) == page.matrices);
        bench.gpu.check().unwrap();
    }

    #[test]
    fn a_page_over_the_limit_and_a_range_outside_a_page_are_errors() {
        let mut bench = Bench::new(Some(100 * STRIDE));
        assert_eq!(bench.palettes.limit(), 100);
        let dirty: Vec<_> = std::iter::once(0..101).collect();
        let mut page = crowd::Page { matrices: matrices(101, 0.0), dirty };
        let error = bench.upload(&page).unwrap_err();
        assert!(matches!(error, RenderError::PageTooLong { page: 0, len: 101, limit: 100 }));
        page.matrices.pop();
        bench.upload(&page).unwrap();
        let error = bench.upload(&page).unwrap_err();
        assert!(matches!(error, RenderError::PageRange { end: 101, len: 100, .. }));
    }
}
