//! Uploads through a ring of mapped buffers that is reused from frame to frame.
//!
//! wgpu's own belt panics where a mapping fails, which happens when the device is lost, and keeps
//! every buffer that one large frame needed.

use std::sync::mpsc::{Receiver, Sender, channel};

/// Bytes of one mapped buffer.
const CHUNK: u64 = 4 << 20;
/// Bytes of mapped buffers at most; what goes beyond in one frame takes wgpu's own staging, which
/// is made anew each time. A hundred thousand characters move 300 MB a frame, two frames at once.
const BUDGET: u64 = 768 << 20;
/// Buffers that may lie idle before they are given back, one each frame.
const IDLE: usize = 8;

#[derive(Debug)]
struct Chunk {
    buffer: wgpu::Buffer,
    used: u64,
    /// All of the mapped memory, from the first write of a frame to its last: to ask for it costs as
    /// much as to copy a skeleton's palette.
    view: Option<wgpu::BufferViewMut>,
}

impl Chunk {
    fn new(buffer: wgpu::Buffer) -> Self {
        Self { buffer, used: 0, view: None }
    }

    /// Writes from `start` on. False when the memory can't be had.
    fn write(&mut self, start: u64, piece: &[u8]) -> bool {
        if self.view.is_none() {
            self.view = self.buffer.get_mapped_range_mut(..).ok();
        }
        let Some(view) = &mut self.view else { return false };
        let start = start as usize;
        view.slice(start..start + piece.len()).copy_from_slice(piece);
        true
    }
}

/// The ring.
#[derive(Debug)]
pub(super) struct Staging {
    /// Mapped and empty.
    free: Vec<Chunk>,
    /// Mapped and partly written; the last one is written next.
    open: Vec<Chunk>,
    /// All chunks in being, those on the GPU included.
    bytes: u64,
    written: u64,
    sender: Sender<Chunk>,
    returned: Receiver<Chunk>,
}

impl Staging {
    pub(super) fn new() -> Self {
        let (sender, returned) = channel();
        Self { free: Vec::new(), open: Vec::new(), bytes: 0, written: 0, sender, returned }
    }

    /// Records a copy of `bytes` (a multiple of four) to `target` at `offset` (likewise). The
    /// copy happens when `encoder` is submitted, or just before.
    pub(super) fn write(
        &mut self,
        device: &wgpu::Device,
        queue: &wgpu::Queue,
        encoder: &mut wgpu::CommandEncoder,
        target: &wgpu::Buffer,
        offset: u64,
        bytes: &[u8],
    ) {
        self.written += bytes.len() as u64;
        let mut at = offset;
        for piece in bytes.chunks(CHUNK as usize) {
            let len = piece.len() as u64;
            if !self.write_mapped(device, encoder, target, at, piece) {
                queue.write_buffer(target, at, piece);
            }
            at += len;
        }
    }

    /// False when there is no mapped memory to be had.
    fn write_mapped(
        &mut self,
        device: &wgpu::Device,
        encoder: &mut wgpu::CommandEncoder,
        target: &wgpu::Buffer,
        offset: u64,
        piece: &[u8],
    ) -> bool {
        let len = piece.len() as u64;
        let room = |c: &Chunk| c.buffer.size() - c.used >= len;
        if !self.open.last().is_some_and(room) {
            self.free.extend(self.returned.try_iter());
            match self.free.pop() {
                Some(chunk) => self.open.push(chunk),
                None if self.bytes + CHUNK <= BUDGET => {
                    self.bytes += CHUNK;
                    let buffer = device.create_buffer(&wgpu::BufferDescriptor {
                        label: Some("staging"),
                        size: CHUNK,
                        usage: wgpu::BufferUsages::MAP_WRITE | wgpu::BufferUsages::COPY_SRC,
                        mapped_at_creation: true,
                    });
                    self.open.push(Chunk::new(buffer));
                }
                None => return false,
            }
        }
        let Some(chunk) = self.open.last_mut() else { return false };
        let start = chunk.used;
        if !chunk.write(start, piece) {
            return false;
        }
        encoder.copy_buffer_to_buffer(&chunk.buffer, start, target, offset, len);
        chunk.used = start + len;
        true
    }

    /// Call before the encoder is submitted: what was written becomes the GPU's.
    pub(super) fn close(&mut self) {
        if self.free.len() > IDLE {
            self.free.pop();
            self.bytes -= CHUNK;
        }
        for chunk in &mut self.open {
            // A buffer that is looked at can't be unmapped.
            chunk.view = None;
            chunk.buffer.unmap();
        }
    }

    /// Call after the encoder was submitted: the buffers come back when the GPU has read them.
    pub(super) fn recall(&mut self) {
        for chunk in self.open.drain(..) {
            let (sender, buffer) = (self.sender.clone(), chunk.buffer.clone());
            chunk.buffer.map_async(wgpu::MapMode::Write, .., move |result| {
                if result.is_ok() {
                    // The ring may be gone by now; then the buffer goes too.
                    let _ = sender.send(Chunk::new(buffer));
                }
            });
        }
    }

    /// Bytes written since the last call.
    pub(super) fn take_written(&mut self) -> u64 {
        std::mem::take(&mut self.written)
    }
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
            staging.write(device, queue, &mut encoder, &target, 0, &[round; 16]);
            staging.write(device, queue, &mut encoder, &target, 16, &data);
            staging.close();
            queue.submit([encoder.finish()]);
            staging.recall();
            device.poll(wgpu::PollType::wait_indefinitely()).unwrap();
            assert_eq!(staging.take_written(), size);
            if round == 0 {
                after_first = staging.bytes;
            }
        }
        assert_eq!(staging.bytes, after_first);
        target.map_async(wgpu::MapMode::Read, .., |r| r.unwrap());
        device.poll(wgpu::PollType::wait_indefinitely()).unwrap();
        let view = target.get_mapped_range(..).unwrap();
        assert_eq!(view[..16], [3; 16]);
        assert!(view[16..] == data[..]);
        gpu.check().unwrap();
    }
}
