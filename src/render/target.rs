//! Where a frame ends up, and the attachments it passes through.

use super::gpu::Gpu;
use super::memory::texture_bytes;
use wgpu::TextureFormat;

/// The formats of one target texture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TargetFormats {
    /// Of the texture itself.
    pub texture: TextureFormat,
    /// Of the view that the scene is drawn to: sRGB where the device allows it, so that blending
    /// and multisampling are linear.
    pub color: TextureFormat,
    /// Of the view that the overlay is painted to: not sRGB where the device allows it, because
    /// user interfaces are blended in encoded values.
    pub overlay: TextureFormat,
}

impl TargetFormats {
    /// For a texture of format `any` or its sRGB sibling; `views` tells whether a view may have
    /// another format than its texture.
    pub fn of(any: TextureFormat, views: bool) -> Self {
        let (srgb, plain) = (any.add_srgb_suffix(), any.remove_srgb_suffix());
        if views {
            Self { texture: plain, color: srgb, overlay: plain }
        } else {
            Self { texture: any, color: any, overlay: any }
        }
    }

    /// The formats that views of the texture need beyond its own.
    pub fn view_formats(&self) -> Vec<TextureFormat> {
        let mut formats = vec![self.color, self.overlay];
        formats.dedup();
        formats.retain(|f| *f != self.texture);
        formats
    }

    /// True when the shader must encode sRGB itself.
    pub(super) fn encode_in_shader(&self) -> bool {
        !self.color.is_srgb()
    }
}

/// One frame's target: two views of one texture.
#[derive(Clone, Copy, Debug)]
pub struct FrameTarget<'a> {
    /// The scene's view, of format [`TargetFormats::color`].
    pub color: &'a wgpu::TextureView,
    /// The overlay's view, of format [`TargetFormats::overlay`].
    pub overlay: &'a wgpu::TextureView,
    /// Pixels, at least one each way.
    pub size: (u32, u32),
}

/// A view of a target texture in one of its formats.
pub(super) fn view(
    texture: &wgpu::Texture,
    format: TextureFormat,
    label: &str,
) -> wgpu::TextureView {
    texture.create_view(&wgpu::TextureViewDescriptor {
        label: Some(label),
        format: Some(format),
        ..Default::default()
    })
}

/// Depth, and colour with several samples, of the size of the target.
#[derive(Debug)]
pub(super) struct Attachments {
    size: (u32, u32),
    depth: wgpu::TextureView,
    multisampled: Option<wgpu::TextureView>,
}

impl Attachments {
    /// Reversed: 1 is near.
    pub(super) const DEPTH: TextureFormat = TextureFormat::Depth32Float;

    pub(super) fn new(gpu: &Gpu, color: TextureFormat, samples: u32, size: (u32, u32)) -> Self {
        let make = |label, format| {
            let texture = gpu.device().create_texture(&wgpu::TextureDescriptor {
                label: Some(label),
                size: wgpu::Extent3d { width: size.0, height: size.1, depth_or_array_layers: 1 },
                mip_level_count: 1,
                sample_count: samples,
                dimension: wgpu::TextureDimension::D2,
                format,
                usage: wgpu::TextureUsages::RENDER_ATTACHMENT,
                view_formats: &[],
            });
            texture.create_view(&wgpu::TextureViewDescriptor::default())
        };
        Self {
            size,
            depth: make("depth", Self::DEPTH),
            multisampled: (samples > 1).then(|| make("multisampled colour", color)),
        }
    }

    pub(super) fn size(&self) -> (u32, u32) {
        self.size
    }

    /// Bytes of GPU memory held.
    pub(super) fn bytes(&self) -> u64 {
        let views = std::iter::once(&self.depth).chain(&self.multisampled);
        views.map(|view| texture_bytes(view.texture())).sum()
    }

    /// The main pass's colour attachment: straight to the target, or resolved into it.
    pub(super) fn color<'a>(
        &'a self,
        target: &'a wgpu::TextureView,
    ) -> wgpu::RenderPassColorAttachment<'a> {
        let resolved = self.multisampled.is_some();
        wgpu::RenderPassColorAttachment {
            view: self.multisampled.as_ref().unwrap_or(target),
            depth_slice: None,
            resolve_target: resolved.then_some(target),
            ops: wgpu::Operations {
                load: wgpu::LoadOp::Clear(wgpu::Color::BLACK),
                store: if resolved { wgpu::StoreOp::Discard } else { wgpu::StoreOp::Store },
            },
        }
    }

    /// The main pass's depth attachment, thrown away after the pass.
    pub(super) fn depth(&self) -> wgpu::RenderPassDepthStencilAttachment<'_> {
        wgpu::RenderPassDepthStencilAttachment {
            view: &self.depth,
            depth_ops: Some(wgpu::Operations {
                load: wgpu::LoadOp::Clear(0.0),
                store: wgpu::StoreOp::Discard,
            }),
            stencil_ops: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scene_is_drawn_to_srgb_and_the_overlay_is_not_where_views_may_differ() {
        let f = TargetFormats::of(TextureFormat::Bgra8UnormSrgb, true);
        assert_eq!(f.texture, TextureFormat::Bgra8Unorm);
        assert_eq!(
            (f.color, f.overlay),
            (TextureFormat::Bgra8UnormSrgb, TextureFormat::Bgra8Unorm)
        );
        assert_eq!(f.view_formats(), [TextureFormat::Bgra8UnormSrgb]);
        assert!(!f.encode_in_shader());

        let f = TargetFormats::of(TextureFormat::Rgba8Unorm, false);
        assert_eq!(f.view_formats(), []);
        assert!(f.encode_in_shader());
    }
}
