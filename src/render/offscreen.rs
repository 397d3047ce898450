//! A picture that no window shows.

use super::error::RenderError;
use super::gpu::Gpu;
use super::memory::{GpuMemory, texture_bytes, told_with};
use super::target::{FrameTarget, TargetFormats, view};
use crate::asset::ImageRgba8;
use wgpu::TextureFormat;

/// A texture to draw to and to read back.
#[derive(Debug)]
pub struct Offscreen {
    texture: wgpu::Texture,
    color: wgpu::TextureView,
    overlay: wgpu::TextureView,
}

impl Offscreen {
    /// A target of `size` pixels with the formats of the renderer that will draw to it.
    ///
    /// # Errors
    /// When a side is 0 or longer than the device's textures, or the device has a fault.
    pub fn new(gpu: &Gpu, formats: TargetFormats, size: (u32, u32)) -> Result<Self, RenderError> {
        let (width, height) = size;
        let limit = gpu.device().limits().max_texture_dimension_2d;
        if width == 0 || height == 0 || width > limit || height > limit {
            return Err(RenderError::Size { width, height, limit });
        }
        let texture = gpu.device().create_texture(&wgpu::TextureDescriptor {
            label: Some("offscreen"),
            size: wgpu::Extent3d { width, height, depth_or_array_layers: 1 },
            mip_level_count: 1,
            sample_count: 1,
            dimension: wgpu::TextureDimension::D2,
            format: formats.texture,
            usage: wgpu::TextureUsages::RENDER_ATTACHMENT | wgpu::TextureUsages::COPY_SRC,
            view_formats: &formats.view_formats(),
        });
        let held = || GpuMemory { picture: texture_bytes(&texture), ..GpuMemory::default() };
        gpu.check().map_err(told_with(held))?;
        let color = view(&texture, formats.color, "offscreen colour");
        let overlay = view(&texture, formats.overlay, "offscreen overlay");
        Ok(Self { texture, color, overlay })
    }

    /// What a renderer draws to.
    pub fn target(&self) -> FrameTarget<'_> {
        let size = (self.texture.width(), self.texture.height());
        FrameTarget { color: &self.color, overlay: &self.overlay, size }
    }

    /// Waits for what was drawn and copies it here: sRGB, opaque, rows from the top.
    ///
    /// # Errors
    /// [`RenderError::ReadBack`] when the buffer can't be mapped or the format isn't one of 8-bit
    /// RGBA or BGRA; [`RenderError::Fault`] when the device has had a fault.
    pub fn read(&self, gpu: &Gpu) -> Result<ImageRgba8, RenderError> {
        gpu.check()?;
        let (width, height) = (self.texture.width(), self.texture.height());
        let swapped = match self.texture.format().remove_srgb_suffix() {
            TextureFormat::Rgba8Unorm => false,
            TextureFormat::Bgra8Unorm => true,
            other => return Err(RenderError::ReadBack(format!("its format is {other:?}"))),
        };
        let row = width * 4;
        let padded = row.next_multiple_of(wgpu::COPY_BYTES_PER_ROW_ALIGNMENT);
        let buffer = gpu.device().create_buffer(&wgpu::BufferDescriptor {
            label: Some("read back"),
            size: u64::from(padded) * u64::from(height),
            usage: wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ,
            mapped_at_creation: false,
        });
        let mut encoder = gpu
            .device()
            .create_command_encoder(&wgpu::CommandEncoderDescriptor { label: Some("read back") });
        encoder.copy_texture_to_buffer(
            self.texture.as_image_copy(),
            wgpu::TexelCopyBufferInfo {
                buffer: &buffer,
                layout: wgpu::TexelCopyBufferLayout {
                    offset: 0,
                    bytes_per_row: Some(padded),
                    rows_per_image: None,
                },
            },
            self.texture.size(),
        );
        gpu.queue().submit([encoder.finish()]);
        let (sender, mapped) = std::sync::mpsc::channel();
        buffer.map_async(wgpu::MapMode::Read, .., move |result| {
            // The receiver outlives the wait below.
            let _ = sender.send(result);
        });
        let failed = |e: &dyn std::fmt::Display| RenderError::ReadBack(e.to_string());
        let waited = gpu.device().poll(wgpu::PollType::wait_indefinitely());
        // A device that is lost while it is waited for maps nothing.
        gpu.check()?;
        waited.map_err(|e| failed(&e))?;
        mapped.recv().map_err(|e| failed(&e))?.map_err(|e| failed(&e))?;
        let view = buffer.get_mapped_range(..).map_err(|e| failed(&e))?;
        let mut pixels = Vec::with_capacity(row as usize * height as usize);
        for line in view.chunks_exact(padded as usize) {
            pixels.extend_from_slice(&line[..row as usize]);
        }
        for pixel in pixels.chunks_exact_mut(4) {
            if swapped {
                pixel.swap(0, 2);
            }
            pixel[3] = 255;
        }
        gpu.check()?;
        Ok(ImageRgba8 { name: String::new(), width, height, pixels })
    }
}
