//! Materials as bind groups.

use super::gpu::Gpu;
use super::layout::MaterialUniforms;
use super::texture::{Encoding, TextureLoader};
use crate::asset::character::{Sampler, Wrap};
use crate::asset::{AlphaMode, CharacterAsset, Material};
use std::collections::HashMap;
use wgpu::util::DeviceExt;

/// What a material asks of the pipeline that draws it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct MaterialTraits {
    pub(super) alpha: AlphaKind,
    pub(super) double_sided: bool,
    pub(super) textured: bool,
    /// A texture says where it is metal and how rough.
    pub(super) surface_textured: bool,
}

/// [`AlphaMode`] without its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum AlphaKind {
    Opaque,
    Mask,
    Blend,
}

/// A material on the GPU.
#[derive(Debug)]
pub(super) struct GpuMaterial {
    pub(super) bind_group: wgpu::BindGroup,
    pub(super) traits: MaterialTraits,
}

/// The layout of a material's bind group.
pub(super) fn layout(gpu: &Gpu) -> wgpu::BindGroupLayout {
    let entry = |binding, visibility, ty| wgpu::BindGroupLayoutEntry {
        binding,
        visibility,
        ty,
        count: None,
    };
    let texture = wgpu::BindingType::Texture {
        sample_type: wgpu::TextureSampleType::Float { filterable: true },
        view_dimension: wgpu::TextureViewDimension::D2,
        multisampled: false,
    };
    gpu.device().create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
        label: Some("material"),
        entries: &[
            entry(
                0,
                wgpu::ShaderStages::VERTEX_FRAGMENT,
                wgpu::BindingType::Buffer {
                    ty: wgpu::BufferBindingType::Uniform,
                    has_dynamic_offset: false,
                    min_binding_size: wgpu::BufferSize::new(size_of::<MaterialUniforms>() as u64),
                },
            ),
            entry(1, wgpu::ShaderStages::FRAGMENT, texture),
            entry(
                2,
                wgpu::ShaderStages::FRAGMENT,
                wgpu::BindingType::Sampler(wgpu::SamplerBindingType::Filtering),
            ),
            entry(3, wgpu::ShaderStages::FRAGMENT, texture),
        ],
    })
}

/// A character's materials, in the asset's order. Images are uploaded once, samplers shared.
///
/// The instances' tint multiplies the base colour of the materials whose name starts with `tint`;
/// in an asset that has no such material, of all of them, at [`SHARED_TINT`] of its strength.
pub(super) fn load(
    gpu: &Gpu,
    textures: &TextureLoader,
    layout: &wgpu::BindGroupLayout,
    asset: &CharacterAsset,
) -> Vec<GpuMaterial> {
    let mut views = HashMap::new();
    let mut view = |index: Option<u32>, encoding| {
        let image = asset.images.get(index? as usize)?;
        let load = || textures.load(gpu, image, encoding);
        Some(views.entry((index, encoding)).or_insert_with(load).clone())
    };
    let white = textures.white(gpu);
    let mut samplers = HashMap::new();
    let some_tinted = asset.materials.iter().any(names_tint);
    let tinted = |material: &Material| match (names_tint(material), some_tinted) {
        (true, _) => 1.0,
        (false, true) => 0.0,
        (false, false) => SHARED_TINT,
    };
    let load = |material: &Material| {
        let color = view(material.base_color_image, Encoding::Srgb);
        let surface = view(material.metallic_roughness_image, Encoding::Linear);
        let traits = traits(material, color.is_some(), surface.is_some());
        let sampler = samplers
            .entry(material.sampler)
            .or_insert_with(|| gpu.device().create_sampler(&sampler_descriptor(material.sampler)));
        let uniforms = uniforms(material, tinted(material));
        let buffer = gpu.device().create_buffer_init(&wgpu::util::BufferInitDescriptor {
            label: Some(&format!("material {}", material.name)),
            contents: bytemuck::bytes_of(&uniforms),
            usage: wgpu::BufferUsages::UNIFORM,
        });
        let bind_group = gpu.device().create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some(&format!("material {}", material.name)),
            layout,
            entries: &[
                wgpu::BindGroupEntry { binding: 0, resource: buffer.as_entire_binding() },
                wgpu::BindGroupEntry { binding: 1, resource: texture(&color, &white) },
                wgpu::BindGroupEntry {
                    binding: 2,
                    resource: wgpu::BindingResource::Sampler(sampler),
                },
                wgpu::BindGroupEntry { binding: 3, resource: texture(&surface, &white) },
            ],
        });
        GpuMaterial { bind_group, traits }
    };
    asset.materials.iter().map(load).collect()
}

fn texture<'a>(
    view: &'a Option<wgpu::TextureView>,
    white: &'a wgpu::TextureView,
) -> wgpu::BindingResource<'a> {
    wgpu::BindingResource::TextureView(view.as_ref().unwrap_or(white))
}

/// Skin, eyes and steel take the tint too where a file names no cloth: a hint tells characters
/// apart and leaves the artist's colours in charge.
const SHARED_TINT: f32 = 0.35;

fn names_tint(material: &Material) -> bool {
    material.name.starts_with("tint")
}

fn traits(material: &Material, textured: bool, surface_textured: bool) -> MaterialTraits {
    let alpha = match material.alpha {
        AlphaMode::Opaque => AlphaKind::Opaque,
        AlphaMode::Mask { .. } => AlphaKind::Mask,
        AlphaMode::Blend => AlphaKind::Blend,
    };
    MaterialTraits { alpha, double_sided: material.double_sided, textured, surface_textured }
}

fn uniforms(material: &Material, tinted: f32) -> MaterialUniforms {
    let flag = |on| if on { 1.0 } else { 0.0 };
    MaterialUniforms {
        base_color: material.base_color,
        emissive: material.emissive,
        alpha_cutoff: match material.alpha {
            AlphaMode::Mask { cutoff } => cutoff,
            // Of a blended material, what is half there or more casts a shadow.
            AlphaMode::Blend => 0.5,
            AlphaMode::Opaque => 0.0,
        },
        roughness: material.roughness,
        metallic: material.metallic,
        tinted,
        unlit: flag(material.unlit),
    }
}

fn sampler_descriptor(sampler: Sampler) -> wgpu::SamplerDescriptor<'static> {
    let wrap = |w| match w {
        Wrap::Repeat => wgpu::AddressMode::Repeat,
        Wrap::MirroredRepeat => wgpu::AddressMode::MirrorRepeat,
        Wrap::ClampToEdge => wgpu::AddressMode::ClampToEdge,
    };
    let filter = if sampler.nearest { wgpu::FilterMode::Nearest } else { wgpu::FilterMode::Linear };
    wgpu::SamplerDescriptor {
        label: Some("material"),
        address_mode_u: wrap(sampler.wrap_u),
        address_mode_v: wrap(sampler.wrap_v),
        mag_filter: filter,
        min_filter: filter,
        // Levels blend even where texels don't: a distant crowd would shimmer otherwise.
        mipmap_filter: wgpu::MipmapFilterMode::Linear,
        ..Default::default()
    }
}
