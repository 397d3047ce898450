//! Uploads: bytes are copied into mapped memory now and to their buffers by the GPU.

use super::ring::{BUDGET, CHUNK, Ring};

/// A ring of mapped buffers that copies are recorded from. What goes beyond the ring's budget in
/// one frame has buffers of its own.
#[derive(Debug)]
pub(super) struct Staging {
    ring: Ring,
    written: u64,
}

impl Staging {
    pub(super) fn new() -> Self {
        Self { ring: Ring::new("staging", wgpu::BufferUsages::COPY_SRC, None, BUDGET), written: 0 }
    }

    /// Records a copy of `bytes` (a multiple of four) to `target` at `offset` (likewise), which
    /// happens when `encoder` is submitted, in its order.
    pub(super) fn write(
        &mut self,
        device: &wgpu::Device,
        encoder: &mut wgpu::CommandEncoder,
        target: &wgpu::Buffer,
        offset: u64,
        bytes: &[u8],
    ) {
        self.written += bytes.len() as u64;
        let mut at = offset;
        for piece in bytes.chunks(CHUNK as usize) {
            if self.write_mapped(device, encoder, target, at, piece).is_none() {
                write_once(device, encoder, target, at, piece);
            }
            at += piece.len() as u64;
        }
    }

    /// `None` when there is no mapped memory to be had.
    fn write_mapped(
        &mut self,
        device: &wgpu::Device,
        encoder: &mut wgpu::CommandEncoder,
        target: &wgpu::Buffer,
        offset: u64,
        piece: &[u8],
    ) -> Option<()> {
        let len = piece.len() as u64;
        let chunk = self.ring.make_room(device, len)?;
        let chunk = &mut self.ring.open()[chunk];
        let start = chunk.used;
        chunk.memory()?.slice(start as usize..(start + len) as usize).copy_from_slice(piece);
        encoder.copy_buffer_to_buffer(&chunk.buffer, start, target, offset, len);
        chunk.used = start + len;
        Some(())
    }

    /// Call before the encoder is submitted: what was written becomes the GPU's.
    pub(super) fn close(&mut self) {
        self.ring.close();
    }

    /// Call after the encoder was submitted: the buffers come back when the GPU has read them.
    pub(super) fn recall(&mut self) {
        self.ring.recall();
    }

    /// Bytes of mapped memory held.
    pub(super) fn bytes(&self) -> u64 {
        self.ring.bytes()
    }

    /// Bytes written since the last call.
    pub(super) fn take_written(&mut self) -> u64 {
        std::mem::take(&mut self.written)
    }
}

/// As [`Staging::write`], from a buffer that is used once. `Queue::write_buffer` would be ahead of
/// all that the encoder does, and so ahead of what moves a page that grew.
fn write_once(
    device: &wgpu::Device,
    encoder: &mut wgpu::CommandEncoder,
    target: &wgpu::Buffer,
    offset: u64,
    piece: &[u8],
) {
    let buffer = device.create_buffer(&wgpu::BufferDescriptor {
        label: Some("staging for once"),
        size: piece.len() as u64,
        usage: wgpu::BufferUsages::MAP_WRITE | wgpu::BufferUsages::COPY_SRC,
        mapped_at_creation: true,
    });
    // Without memory the device is lost or short of it, which its error handler was told.
    if let Ok(mut view) = buffer.get_mapped_range_mut(..) {
        view.copy_from_slice(piece);
    }
    buffer.unmap();
    encoder.copy_buffer_to_buffer(&buffer, 0, target, offset, piece.len() as u64);
}

#[cfg(test)]
mod tests {
    use super::super::gpu::{Gpu, GpuRequest};
    use super::*;

    #[test]
    fn what_is_written_arrives_and_buffers_are_reused() {
        // The backend that draws nothing does copy buffers.
        let gpu = Gpu::new(&GpuRequest { adapter: Some("noop".into()) }).unwrap();
        let (device, queue) = (gpu.device(), gpu.queue());
        let size = 2 * CHUNK + 64;
        let target = device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size,
            usage: wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ,
            mapped_at_creation: false,
        });
        let mut staging = Staging::new();
        let data: Vec<u8> = (0..size - 16).map(|i| (i % 251) as u8).collect();
        let mut after_first = 0;
        for round in 0..4u8 {
            let mut encoder = device.create_command_encoder(&Default::default());
            staging.write(device, &mut encoder, &target, 0, &[round; 16]);
            staging.write(device, &mut encoder, &target, 16, &data);
            staging.close();
            queue.submit([encoder.finish()]);
            staging.recall();
            device.poll(wgpu::PollType::wait_indefinitely()).unwrap();
            assert_eq!(staging.take_written(), size);
            if round == 0 {
                after_first = staging.ring.bytes();
            }
        }
        assert_eq!(staging.ring.bytes(), after_first);
        target.map_async(wgpu::MapMode::Read, .., |r| r.unwrap());
        device.poll(wgpu::PollType::wait_indefinitely()).unwrap();
        let view = target.get_mapped_range(..).unwrap();
        assert_eq!(view[..16], [3; 16]);
        assert!(view[16..] == data[..]);
        gpu.check().unwrap();
    }
}
