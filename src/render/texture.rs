//! Images to textures with all their mip levels.

use super::gpu::Gpu;
use super::memory::texture_bytes;
use super::shaders;
use crate::asset::ImageRgba8;
use std::cell::Cell;
use wgpu::TextureFormat;

/// What an image's numbers are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Encoding {
    /// Colours.
    Srgb,
    /// Measures.
    Linear,
}

impl Encoding {
    fn format(self) -> TextureFormat {
        match self {
            Self::Srgb => TextureFormat::Rgba8UnormSrgb,
            Self::Linear => TextureFormat::Rgba8Unorm,
        }
    }
}

/// Makes textures; holds the pipelines that fill their mip levels.
#[derive(Debug)]
pub(super) struct TextureLoader {
    srgb: wgpu::RenderPipeline,
    linear: wgpu::RenderPipeline,
    layout: wgpu::BindGroupLayout,
    bytes: Cell<u64>,
}

impl TextureLoader {
    pub(super) fn new(gpu: &Gpu) -> Self {
        let device = gpu.device();
        let layout = device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
            label: Some("mips"),
            entries: &[wgpu::BindGroupLayoutEntry {
                binding: 0,
                visibility: wgpu::ShaderStages::FRAGMENT,
                ty: wgpu::BindingType::Texture {
                    sample_type: wgpu::TextureSampleType::Float { filterable: true },
                    view_dimension: wgpu::TextureViewDimension::D2,
                    multisampled: false,
                },
                count: None,
            }],
        });
        let module = shaders::MIPS.compile(gpu);
        let pipeline_layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            label: Some("mips"),
            bind_group_layouts: &[Some(&layout)],
            immediate_size: 0,
        });
        let pipeline = |encoding: Encoding| {
            device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
                label: Some("mips"),
                layout: Some(&pipeline_layout),
                vertex: wgpu::VertexState {
                    module: &module,
                    entry_point: Some("vs_main"),
                    compilation_options: Default::default(),
                    buffers: &[],
                },
                primitive: Default::default(),
                depth_stencil: None,
                multisample: Default::default(),
                fragment: Some(wgpu::FragmentState {
                    module: &module,
                    entry_point: Some("fs_main"),
                    compilation_options: Default::default(),
                    targets: &[Some(encoding.format().into())],
                }),
                multiview_mask: None,
                cache: None,
            })
        };
        let (srgb, linear) = (pipeline(Encoding::Srgb), pipeline(Encoding::Linear));
        Self { srgb, linear, layout, bytes: Cell::new(0) }
    }

    /// Bytes of all textures loaded so far.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes.get()
    }

    /// A view of all levels of an image. One larger than the device's textures is reduced to fit,
    /// and the log says so; one without pixels, or with fewer than its size says, is white.
    pub(super) fn load(
        &self,
        gpu: &Gpu,
        image: &ImageRgba8,
        encoding: Encoding,
    ) -> wgpu::TextureView {
        let limit = gpu.device().limits().max_texture_dimension_2d;
        let (width, height) = (image.width, image.height);
        let bytes = u64::from(width) * u64::from(height) * 4;
        if bytes == 0 || bytes != image.pixels.len() as u64 {
            return self.fill(gpu, &image.name, (1, 1), &[255; 4], encoding);
        }
        if width.max(height) > limit {
            let scale = f64::from(limit) / f64::from(width.max(height));
            let scaled = |x: u32| ((f64::from(x) * scale) as u32).clamp(1, limit);
            let (w, h) = (scaled(width), scaled(height));
            tracing::warn!("image {:?} of {width}x{height} is reduced to {w}x{h}", image.name);
            if let Some(source) = image::RgbaImage::from_raw(width, height, image.pixels.clone()) {
                let filter = image::imageops::FilterType::Triangle;
                let small = image::imageops::resize(&source, w, h, filter);
                return self.fill(gpu, &image.name, (w, h), small.as_raw(), encoding);
            }
        }
        self.fill(gpu, &image.name, (width, height), &image.pixels, encoding)
    }

    /// One white texel, for materials without a texture.
    pub(super) fn white(&self, gpu: &Gpu) -> wgpu::TextureView {
        self.fill(gpu, "white", (1, 1), &[255; 4], Encoding::Srgb)
    }

    fn fill(
        &self,
        gpu: &Gpu,
        name: &str,
        (width, height): (u32, u32),
        rgba: &[u8],
        encoding: Encoding,
    ) -> wgpu::TextureView {
        let size = wgpu::Extent3d { width, height, depth_or_array_layers: 1 };
        let levels = level_count(width, height);
        let texture = gpu.device().create_texture(&wgpu::TextureDescriptor {
            label: Some(&format!("image {name}")),
            size,
            mip_level_count: levels,
            sample_count: 1,
            dimension: wgpu::TextureDimension::D2,
            format: encoding.format(),
            usage: wgpu::TextureUsages::TEXTURE_BINDING
                | wgpu::TextureUsages::COPY_DST
                | wgpu::TextureUsages::RENDER_ATTACHMENT,
            view_formats: &[],
        });
        gpu.queue().write_texture(
            texture.as_image_copy(),
            rgba,
            wgpu::TexelCopyBufferLayout {
                offset: 0,
                bytes_per_row: Some(4 * width),
                rows_per_image: None,
            },
            size,
        );
        self.bytes.set(self.bytes.get() + texture_bytes(&texture));
        self.reduce(gpu, &texture, levels);
        texture.create_view(&wgpu::TextureViewDescriptor::default())
    }

    /// Fills levels 1 and on, each from the one above it.
    fn reduce(&self, gpu: &Gpu, texture: &wgpu::Texture, levels: u32) {
        let pipeline = if texture.format().is_srgb() { &self.srgb } else { &self.linear };
        let level = |base_mip_level| {
            texture.create_view(&wgpu::TextureViewDescriptor {
                label: Some("mip level"),
                base_mip_level,
                mip_level_count: Some(1),
                ..Default::default()
            })
        };
        let mut encoder = gpu
            .device()
            .create_command_encoder(&wgpu::CommandEncoderDescriptor { label: Some("mips") });
        for target in 1..levels {
            let group = gpu.device().create_bind_group(&wgpu::BindGroupDescriptor {
                label: Some("mips"),
                layout: &self.layout,
                entries: &[wgpu::BindGroupEntry {
                    binding: 0,
                    resource: wgpu::BindingResource::TextureView(&level(target - 1)),
                }],
            });
            let view = level(target);
            let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
                label: Some("mips"),
                color_attachments: &[Some(wgpu::RenderPassColorAttachment {
                    view: &view,
                    depth_slice: None,
                    resolve_target: None,
                    ops: wgpu::Operations {
                        load: wgpu::LoadOp::Clear(wgpu::Color::TRANSPARENT),
                        store: wgpu::StoreOp::Store,
                    },
                })],
                ..Default::default()
            });
            pass.set_pipeline(pipeline);
            pass.set_bind_group(0, &group, &[]);
            pass.draw(0..3, 0..1);
        }
        gpu.queue().submit([encoder.finish()]);
    }
}

/// Levels down to one texel.
fn level_count(width: u32, height: u32) -> u32 {
    32 - width.max(height).max(1).leading_zeros()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Linear light of an sRGB byte (IEC 61966-2-1).
    fn linear(byte: u8) -> f64 {
        let c = f64::from(byte) / 255.0;
        if c <= 0.04045 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
    }

    #[test]
    fn a_level_is_the_mean_of_the_one_above_in_linear_light_weighted_by_alpha() {
        use super::super::gpu::{Gpu, GpuRequest};
        let gpu = Gpu::new(&GpuRequest { adapter: Some("llvmpipe".into()) }).unwrap();
        let (device, queue) = (gpu.device(), gpu.queue());
        let size = wgpu::Extent3d { width: 4, height: 2, depth_or_array_layers: 1 };
        let texture = device.create_texture(&wgpu::TextureDescriptor {
            label: None,
            size,
            mip_level_count: 2,
            sample_count: 1,
            dimension: wgpu::TextureDimension::D2,
            format: Encoding::Srgb.format(),
            usage: wgpu::TextureUsages::COPY_SRC
                | wgpu::TextureUsages::COPY_DST
                | wgpu::TextureUsages::TEXTURE_BINDING
                | wgpu::TextureUsages::RENDER_ATTACHMENT,
            view_formats: &[],
        });
        let texels: Vec<[u8; 4]> = vec![
            [0, 10, 200, 255],
            [255, 20, 100, 255],
            [9, 9, 9, 0],
            [250, 100, 50, 128],
            [0, 30, 200, 255],
            [255, 40, 90, 255],
            [7, 7, 7, 0],
            [130, 200, 20, 64],
        ];
        let bytes = texels.as_flattened();
        let layout = |row| wgpu::TexelCopyBufferLayout {
            offset: 0,
            bytes_per_row: Some(row),
            rows_per_image: None,
        };
        queue.write_texture(texture.as_image_copy(), bytes, layout(16), size);
        TextureLoader::new(&gpu).reduce(&gpu, &texture, 2);
        let buffer = device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size: 256,
            usage: wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ,
            mapped_at_creation: false,
        });
        let mut encoder = device.create_command_encoder(&Default::default());
        encoder.copy_texture_to_buffer(
            wgpu::TexelCopyTextureInfo { mip_level: 1, ..texture.as_image_copy() },
            wgpu::TexelCopyBufferInfo { buffer: &buffer, layout: layout(256) },
            wgpu::Extent3d { width: 2, height: 1, depth_or_array_layers: 1 },
        );
        queue.submit([encoder.finish()]);
        buffer.map_async(wgpu::MapMode::Read, .., |r| r.unwrap());
        device.poll(wgpu::PollType::wait_indefinitely()).unwrap();
        gpu.check().unwrap();
        let view = buffer.get_mapped_range(..).unwrap();
        for x in 0..2 {
            let of: Vec<_> = [0, 1, 4, 5].iter().map(|i| texels[i + 2 * x]).collect();
            let alpha: f64 = of.iter().map(|t| f64::from(t[3])).sum();
            for c in 0..3 {
                let sum: f64 = of.iter().map(|t| linear(t[c]) * f64::from(t[3])).sum();
                let got = linear(view[4 * x + c]);
                assert!((got - sum / alpha).abs() < 0.006, "texel {x} channel {c}: {got}");
            }
            assert!((f64::from(view[4 * x + 3]) - alpha / 4.0).abs() <= 1.0);
        }
    }

    #[test]
    fn levels_go_down_to_one_texel() {
        for (size, levels) in
            [((1, 1), 1), ((2, 1), 2), ((256, 256), 9), ((300, 20), 9), ((0, 0), 1)]
        {
            assert_eq!(level_count(size.0, size.1), levels, "{size:?}");
        }
    }
}
