//! The time of each pass on the GPU, without waiting for it.

use super::gpu::Gpu;
use super::stats::{GpuPass, GpuTimes};
use crate::profile::{GpuApi, GpuTimeline};
use std::sync::mpsc::{Receiver, Sender, channel};

/// Passes of one frame at most.
const PASSES: u32 = 4;
/// Two timestamps for each.
const QUERIES: u32 = PASSES * 2;
/// Frames whose times can be on their way at once; when all are, a frame goes untimed.
const FRAMES: usize = 4;

/// Timestamp queries in a ring.
#[derive(Debug)]
pub(super) struct PassTimer {
    /// Nanoseconds of one tick.
    period: f64,
    free: Vec<Slot>,
    current: Option<Slot>,
    sender: Sender<Slot>,
    returned: Receiver<Slot>,
    timeline: GpuTimeline,
}

#[derive(Debug)]
struct Slot {
    queries: wgpu::QuerySet,
    resolved: wgpu::Buffer,
    readable: wgpu::Buffer,
    frame: u64,
    names: Vec<&'static str>,
}

impl PassTimer {
    /// `None` where the adapter has no timestamps.
    pub(super) fn new(gpu: &Gpu) -> Option<Self> {
        if !gpu.device().features().contains(wgpu::Features::TIMESTAMP_QUERY) {
            tracing::info!("adapter {} has no timestamps: passes go untimed", gpu.summary().name);
            return None;
        }
        let period = f64::from(gpu.queue().get_timestamp_period());
        let free: Vec<_> = (0..FRAMES).map(|_| Slot::new(gpu.device())).collect();
        let now = free.first().and_then(|slot| slot.ticks_now(gpu)).unwrap_or(0);
        let api = match gpu.adapter().get_info().backend {
            wgpu::Backend::Vulkan => GpuApi::Vulkan,
            wgpu::Backend::Dx12 => GpuApi::Direct3D12,
            wgpu::Backend::Gl => GpuApi::OpenGl,
            _ => GpuApi::Other,
        };
        let timeline = GpuTimeline::new(&gpu.summary().name, api, nanoseconds(now, period));
        let (sender, returned) = channel();
        Some(Self { period, free, current: None, sender, returned, timeline })
    }

    /// Starts a frame; its passes are timed if a slot is free.
    pub(super) fn begin_frame(&mut self, frame: u64) {
        // A frame that was given up left its slot behind.
        let slot = self.current.take().or_else(|| self.free.pop());
        self.current = slot.map(|slot| Slot { frame, names: Vec::new(), ..slot });
    }

    /// The timestamps of the frame's next pass.
    pub(super) fn pass(
        &mut self,
        name: &'static str,
    ) -> Option<wgpu::RenderPassTimestampWrites<'_>> {
        let (query_set, [begin, end]) = self.next_pass(name)?;
        Some(wgpu::RenderPassTimestampWrites {
            query_set,
            beginning_of_pass_write_index: Some(begin),
            end_of_pass_write_index: Some(end),
        })
    }

    /// The timestamps of the frame's next pass, which computes.
    pub(super) fn compute_pass(
        &mut self,
        name: &'static str,
    ) -> Option<wgpu::ComputePassTimestampWrites<'_>> {
        let (query_set, [begin, end]) = self.next_pass(name)?;
        Some(wgpu::ComputePassTimestampWrites {
            query_set,
            beginning_of_pass_write_index: Some(begin),
            end_of_pass_write_index: Some(end),
        })
    }

    fn next_pass(&mut self, name: &'static str) -> Option<(&wgpu::QuerySet, [u32; 2])> {
        let slot = self.current.as_mut().filter(|s| s.names.len() < PASSES as usize)?;
        let first = slot.names.len() as u32 * 2;
        slot.names.push(name);
        Some((&slot.queries, [first, first + 1]))
    }

    /// Records the copy of what was written. After the last pass, before submission.
    pub(super) fn resolve(&self, encoder: &mut wgpu::CommandEncoder) {
        if let Some(slot) = &self.current {
            slot.resolve(encoder, slot.names.len() as u32 * 2);
        }
    }

    /// Asks for the frame's times. After submission.
    pub(super) fn end_frame(&mut self) {
        let Some(slot) = self.current.take() else { return };
        if slot.names.is_empty() {
            self.free.push(slot);
            return;
        }
        let (sender, buffer) = (self.sender.clone(), slot.readable.clone());
        buffer.map_async(wgpu::MapMode::Read, .., move |result| {
            if result.is_ok() {
                // The timer may be gone by now; then nobody wants the times.
                let _ = sender.send(slot);
            }
        });
    }

    /// The frames whose times have arrived, oldest first. Never waits.
    pub(super) fn collect(&mut self) -> Vec<GpuTimes> {
        let mut slots: Vec<Slot> = self.returned.try_iter().collect();
        slots.sort_by_key(|s| s.frame);
        let mut times = Vec::with_capacity(slots.len());
        for slot in slots {
            let ticks = slot.read();
            let mut passes = Vec::with_capacity(slot.names.len());
            for (name, pair) in slot.names.iter().zip(ticks.chunks_exact(2)) {
                let [begin, end] = [pair[0], pair[1]].map(|t| nanoseconds(t, self.period));
                self.timeline.pass(name, begin, end);
                passes.push(GpuPass { name, ns: end.saturating_sub(begin) });
            }
            times.push(GpuTimes { frame: slot.frame, passes });
            self.free.push(slot);
        }
        times
    }
}

impl Slot {
    fn new(device: &wgpu::Device) -> Self {
        let buffer = |label, usage| {
            device.create_buffer(&wgpu::BufferDescriptor {
                label: Some(label),
                size: u64::from(QUERIES) * 8,
                usage: usage | wgpu::BufferUsages::COPY_DST,
                mapped_at_creation: false,
            })
        };
        let resolve = wgpu::BufferUsages::QUERY_RESOLVE | wgpu::BufferUsages::COPY_SRC;
        Self {
            queries: device.create_query_set(&wgpu::QuerySetDescriptor {
                label: Some("pass times"),
                ty: wgpu::QueryType::Timestamp,
                count: QUERIES,
            }),
            resolved: buffer("resolved pass times", resolve),
            readable: buffer("readable pass times", wgpu::BufferUsages::MAP_READ),
            frame: 0,
            names: Vec::new(),
        }
    }

    fn resolve(&self, encoder: &mut wgpu::CommandEncoder, count: u32) {
        if count > 0 {
            encoder.resolve_query_set(&self.queries, 0..count, &self.resolved, 0);
            let bytes = u64::from(count) * 8;
            encoder.copy_buffer_to_buffer(&self.resolved, 0, &self.readable, 0, bytes);
        }
    }

    /// Timestamps of a mapped slot, in ticks; unmaps it.
    fn read(&self) -> Vec<u64> {
        let ticks = match self.readable.get_mapped_range(..) {
            Ok(view) => bytemuck::pod_collect_to_vec(&view[..]),
            Err(_) => Vec::new(),
        };
        self.readable.unmap();
        ticks
    }

    /// The GPU's clock: an empty pass is timed and waited for, once.
    fn ticks_now(&self, gpu: &Gpu) -> Option<u64> {
        let mut encoder = gpu
            .device()
            .create_command_encoder(&wgpu::CommandEncoderDescriptor { label: Some("clock") });
        drop(encoder.begin_compute_pass(&wgpu::ComputePassDescriptor {
            label: Some("clock"),
            timestamp_writes: Some(wgpu::ComputePassTimestampWrites {
                query_set: &self.queries,
                beginning_of_pass_write_index: Some(0),
                end_of_pass_write_index: Some(1),
            }),
        }));
        self.resolve(&mut encoder, 2);
        gpu.queue().submit([encoder.finish()]);
        self.readable.map_async(wgpu::MapMode::Read, .., |_| ());
        gpu.device().poll(wgpu::PollType::wait_indefinitely()).ok()?;
        self.read().get(1).copied()
    }
}

fn nanoseconds(ticks: u64, period: f64) -> u64 {
    (ticks as f64 * period) as u64
}
