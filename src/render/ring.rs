//! Mapped buffers that are written by the processor, read by the GPU, and used again.
//!
//! wgpu's own belt panics where a mapping fails, which happens when the device is lost, and keeps
//! every buffer that one large frame needed.

use std::sync::mpsc::{Receiver, Sender, channel};

/// Bytes of one buffer.
pub(super) const CHUNK: u64 = 4 << 20;
/// Bytes of a ring's buffers at most. A hundred thousand characters move 300 MB a frame, two
/// frames at once.
pub(super) const BUDGET: u64 = 768 << 20;
/// Buffers that may lie idle before they are given back, one each frame.
const IDLE: usize = 8;

/// A buffer of [`CHUNK`] bytes, mapped unless the GPU has it.
#[derive(Debug)]
pub(super) struct Chunk {
    pub(super) buffer: wgpu::Buffer,
    /// How shaders read it, where they do.
    pub(super) bind_group: Option<wgpu::BindGroup>,
    /// Bytes from its start that are taken.
    pub(super) used: u64,
    /// All of the mapped memory, from the first write of a frame to its last: to ask for it costs
    /// as much as to copy a skeleton's palette.
    view: Option<wgpu::BufferViewMut>,
}

impl Chunk {
    /// All of its memory. `None` when the device gives none.
    pub(super) fn memory(&mut self) -> Option<wgpu::WriteOnly<'_, [u8]>> {
        if self.view.is_none() {
            self.view = self.buffer.get_mapped_range_mut(..).ok();
        }
        self.view.as_mut().map(|view| view.slice(..))
    }

    /// Bytes that are left.
    pub(super) fn room(&self) -> u64 {
        CHUNK - self.used
    }
}

/// The ring.
#[derive(Debug)]
pub(super) struct Ring {
    label: &'static str,
    usage: wgpu::BufferUsages,
    /// Of the one binding that shaders read a chunk through.
    layout: Option<wgpu::BindGroupLayout>,
    /// Mapped and empty.
    free: Vec<Chunk>,
    /// Mapped and partly written; the last one is written next.
    open: Vec<Chunk>,
    /// All chunks in being, those on the GPU included.
    bytes: u64,
    /// As many as they may be.
    budget: u64,
    sender: Sender<Chunk>,
    returned: Receiver<Chunk>,
}

impl Ring {
    /// `usage` is what the GPU does with the buffers; with a `layout` each has a bind group. They
    /// take up to `budget` bytes.
    pub(super) fn new(
        label: &'static str,
        usage: wgpu::BufferUsages,
        layout: Option<wgpu::BindGroupLayout>,
        budget: u64,
    ) -> Self {
        let (sender, returned) = channel();
        Self {
            label,
            usage: usage | wgpu::BufferUsages::MAP_WRITE,
            layout,
            free: Vec::new(),
            open: Vec::new(),
            bytes: 0,
            budget,
            sender,
            returned,
        }
    }

    /// Those that this frame writes.
    pub(super) fn open(&mut self) -> &mut [Chunk] {
        &mut self.open
    }

    /// Sees to it that the last open chunk has `len` bytes left, and gives its index. `None` when
    /// there is no more mapped memory to be had.
    pub(super) fn make_room(&mut self, device: &wgpu::Device, len: u64) -> Option<usize> {
        if self.open.last().is_none_or(|c| c.room() < len) {
            if len > CHUNK {
                return None;
            }
            self.free.extend(self.returned.try_iter());
            let chunk = match self.free.pop() {
                Some(chunk) => chunk,
                None if self.bytes + CHUNK <= self.budget => self.make(device),
                None => return None,
            };
            self.open.push(chunk);
        }
        self.open.len().checked_sub(1)
    }

    fn make(&mut self, device: &wgpu::Device) -> Chunk {
        self.bytes += CHUNK;
        let buffer = device.create_buffer(&wgpu::BufferDescriptor {
            label: Some(self.label),
            size: CHUNK,
            usage: self.usage,
            mapped_at_creation: true,
        });
        let bind_group = self.layout.as_ref().map(|layout| {
            device.create_bind_group(&wgpu::BindGroupDescriptor {
                label: Some(self.label),
                layout,
                entries: &[wgpu::BindGroupEntry {
                    binding: 0,
                    resource: buffer.as_entire_binding(),
                }],
            })
        });
        Chunk { buffer, bind_group, used: 0, view: None }
    }

    /// Call before the frame is submitted: what was written becomes the GPU's.
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

    /// Call after the frame was submitted: the buffers come back when the GPU has read them.
    pub(super) fn recall(&mut self) {
        for chunk in self.open.drain(..) {
            let (sender, buffer) = (self.sender.clone(), chunk.buffer.clone());
            buffer.map_async(wgpu::MapMode::Write, .., move |result| {
                if result.is_ok() {
                    // The ring may be gone by now; then the buffer goes too.
                    let _ = sender.send(Chunk { used: 0, ..chunk });
                }
            });
        }
    }

    /// Lowers what all chunks may take.
    #[cfg(test)]
    pub(super) fn limit(&mut self, budget: u64) {
        self.budget = budget;
    }

    /// Bytes of all chunks in being.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }
}
