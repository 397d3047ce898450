//! Instance records on the GPU: as many buffers as it takes.

use super::gpu::Gpu;
use super::staging::Staging;
use crate::crowd::InstanceRecord;
use std::ops::Range;

/// Bytes of one record.
const STRIDE: u64 = size_of::<InstanceRecord>() as u64;
/// Records of one buffer at most (64 MiB), where the adapter allows it.
const MAX_PER_BUFFER: u32 = 1 << 20;
/// The first buffer's records.
const FIRST: u64 = 1024;

/// Buffers of instance records, filled one after the other.
#[derive(Debug)]
pub(super) struct Instances {
    buffers: Vec<wgpu::Buffer>,
    per_buffer: u32,
}

impl Instances {
    /// `limit` lowers the records of one buffer, for tests.
    pub(super) fn new(gpu: &Gpu, limit: Option<u32>) -> Self {
        let fits = gpu.device().limits().max_buffer_size / STRIDE;
        let per_buffer = limit.unwrap_or(MAX_PER_BUFFER).min(fits.min(1 << 31) as u32).max(1);
        Self { buffers: Vec::new(), per_buffer }
    }

    /// Copies all records.
    pub(super) fn upload(
        &mut self,
        gpu: &Gpu,
        staging: &mut Staging,
        encoder: &mut wgpu::CommandEncoder,
        records: &[InstanceRecord],
    ) {
        for (index, piece) in records.chunks(self.per_buffer as usize).enumerate() {
            let needed = piece.len() as u64 * STRIDE;
            let held = self.buffers.get(index).map_or(0, wgpu::Buffer::size);
            if needed > held {
                let size = needed
                    .max(held * 3 / 2)
                    .max(FIRST * STRIDE)
                    .next_multiple_of(STRIDE)
                    .min(u64::from(self.per_buffer) * STRIDE);
                let buffer = gpu.device().create_buffer(&wgpu::BufferDescriptor {
                    label: Some(&format!("instances {index}")),
                    size,
                    usage: wgpu::BufferUsages::VERTEX | wgpu::BufferUsages::COPY_DST,
                    mapped_at_creation: false,
                });
                match self.buffers.get_mut(index) {
                    Some(old) => *old = buffer,
                    None => self.buffers.push(buffer),
                }
            }
            let bytes = bytemuck::cast_slice(piece);
            let target = &self.buffers[index];
            staging.write(gpu.device(), encoder, target, 0, bytes);
        }
    }

    /// Bytes of GPU memory held.
    pub(super) fn bytes(&self) -> u64 {
        self.buffers.iter().map(wgpu::Buffer::size).sum()
    }

    /// The buffers that hold a range of records, each with its own part of the range.
    pub(super) fn pieces(
        &self,
        range: Range<u32>,
    ) -> impl Iterator<Item = (&wgpu::Buffer, Range<u32>)> {
        pieces(range, self.per_buffer)
            .filter_map(|(index, part)| Some((self.buffers.get(index)?, part)))
    }
}

/// Splits a range at multiples of `per`: the index of each piece and its range within.
fn pieces(range: Range<u32>, per: u32) -> impl Iterator<Item = (usize, Range<u32>)> {
    let mut start = range.start;
    std::iter::from_fn(move || {
        if start >= range.end {
            return None;
        }
        let base = start / per * per;
        let end = range.end.min(base.saturating_add(per));
        let piece = ((base / per) as usize, start - base..end - base);
        start = end;
        Some(piece)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_is_split_where_buffers_end() {
        let split = |r, per| pieces(r, per).collect::<Vec<_>>();
        assert_eq!(split(3..7, 10), [(0, 3..7)]);
        assert_eq!(split(3..25, 10), [(0, 3..10), (1, 0..10), (2, 0..5)]);
        assert_eq!(split(10..20, 10), [(1, 0..10)]);
        assert_eq!(split(4..4, 10), []);
        let top = u32::MAX;
        assert_eq!(split(top - 2..top, 1 << 31), [(1, top - 2 - (1 << 31)..top - (1 << 31))]);
    }
}
