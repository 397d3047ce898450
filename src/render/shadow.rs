//! The sun's shadow map and the pass that fills it.

use super::character::{CharacterRenderer, UploadedCrowd, draw_part};
use super::gpu::Gpu;
use super::layout::{INSTANCE_LAYOUT, ShadowUniforms, SkinVertex, SurfaceVertex};
use super::lod::shadow_level;
use super::material::{self, AlphaKind, MaterialTraits};
use super::mesh::Part;
use super::palette::Palettes;
use super::pipeline::layout;
use super::shaders;
use super::sorting::{LevelGroup, runs};
use super::stats::DrawCounts;
use std::collections::HashMap;

const FORMAT: wgpu::TextureFormat = wgpu::TextureFormat::Depth32Float;

/// What tells one pipeline from another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct PipelineKey {
    influences: u32,
    double_sided: bool,
    /// `Some(textured)` where alpha cuts holes.
    masked: Option<bool>,
}

/// The map and its pipelines.
#[derive(Debug)]
pub(super) struct ShadowMap {
    view: wgpu::TextureView,
    uniforms: wgpu::Buffer,
    bind_group: wgpu::BindGroup,
    pipelines: HashMap<PipelineKey, wgpu::RenderPipeline>,
}

impl ShadowMap {
    /// A map of `size` texels each way, for what `characters` can draw, between their last two
    /// palettes or not.
    pub(super) fn new(
        gpu: &Gpu,
        (size, interpolate): (u32, bool),
        palettes: &Palettes,
        characters: &CharacterRenderer,
    ) -> Self {
        let device = gpu.device();
        let texture = device.create_texture(&wgpu::TextureDescriptor {
            label: Some("shadow map"),
            size: wgpu::Extent3d { width: size, height: size, depth_or_array_layers: 1 },
            mip_level_count: 1,
            sample_count: 1,
            dimension: wgpu::TextureDimension::D2,
            format: FORMAT,
            usage: wgpu::TextureUsages::RENDER_ATTACHMENT | wgpu::TextureUsages::TEXTURE_BINDING,
            view_formats: &[],
        });
        let uniforms = device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("shadow view"),
            size: size_of::<ShadowUniforms>() as u64,
            usage: wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        let view_layout = device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
            label: Some("shadow view"),
            entries: &[wgpu::BindGroupLayoutEntry {
                binding: 0,
                visibility: wgpu::ShaderStages::VERTEX,
                ty: wgpu::BindingType::Buffer {
                    ty: wgpu::BufferBindingType::Uniform,
                    has_dynamic_offset: false,
                    min_binding_size: wgpu::BufferSize::new(size_of::<ShadowUniforms>() as u64),
                },
                count: None,
            }],
        });
        let bind_group = device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("shadow view"),
            layout: &view_layout,
            entries: &[wgpu::BindGroupEntry { binding: 0, resource: uniforms.as_entire_binding() }],
        });
        let module = shaders::CHARACTER_SHADOW.compile(gpu);
        let solid = [Some(&view_layout), None, Some(palettes.layout())];
        let solid = layout(device, "shadow", &solid);
        let material = material::layout(gpu);
        let masked = [Some(&view_layout), Some(&material), Some(palettes.layout())];
        let masked = layout(device, "masked shadow", &masked);
        let mut pipelines = HashMap::new();
        for (part, material) in characters.models().iter().flat_map(|m| m.parts()) {
            let key = PipelineKey::of(part, material.traits);
            let layout = if key.masked.is_some() { &masked } else { &solid };
            pipelines
                .entry(key)
                .or_insert_with(|| key.pipeline(device, &module, layout, interpolate));
        }
        let view = texture.create_view(&wgpu::TextureViewDescriptor::default());
        Self { view, uniforms, bind_group, pipelines }
    }

    /// What the main pass samples.
    pub(super) fn view(&self) -> &wgpu::TextureView {
        &self.view
    }

    /// Where [`ShadowUniforms`] go before the pass.
    pub(super) fn uniforms(&self) -> &wgpu::Buffer {
        &self.uniforms
    }

    /// Fills the map with every group's characters that the sun's view holds.
    pub(super) fn draw(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        timestamps: Option<wgpu::RenderPassTimestampWrites<'_>>,
        crowd: &UploadedCrowd<'_>,
        characters: &CharacterRenderer,
        counts: &mut DrawCounts,
    ) {
        let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            label: Some("shadow"),
            color_attachments: &[],
            depth_stencil_attachment: Some(wgpu::RenderPassDepthStencilAttachment {
                view: &self.view,
                depth_ops: Some(wgpu::Operations {
                    load: wgpu::LoadOp::Clear(1.0),
                    store: wgpu::StoreOp::Store,
                }),
                stencil_ops: None,
            }),
            timestamp_writes: timestamps,
            ..Default::default()
        });
        pass.set_bind_group(0, &self.bind_group, &[]);
        let level_of = |group: &LevelGroup| {
            let errors = characters.resolve(group, crowd).map(|(model, _)| &model.levels.errors);
            let coarse = errors.map_or(0, |e| shadow_level(e, crowd.shadow_texel_m));
            coarse.max(group.level)
        };
        for (group, level, range) in runs(crowd.groups, |g| &g.shadow, level_of) {
            let Some((model, palette)) = characters.resolve(group, crowd) else { continue };
            pass.set_bind_group(2, palette, &[]);
            model.bind_streams(&mut pass);
            for (part, material) in model.parts() {
                let key = PipelineKey::of(part, material.traits);
                let Some(pipeline) = self.pipelines.get(&key) else { continue };
                pass.set_pipeline(pipeline);
                let indices = if key.masked.is_some() {
                    pass.set_bind_group(1, &material.bind_group, &[]);
                    &part.indices[level]
                } else {
                    &part.shadow_indices[level]
                };
                draw_part(&mut pass, (part, indices), crowd.instances, &range, counts);
            }
        }
    }
}

impl PipelineKey {
    fn of(part: &Part, traits: MaterialTraits) -> Self {
        Self {
            influences: part.influences,
            double_sided: traits.double_sided,
            masked: (traits.alpha != AlphaKind::Opaque).then_some(traits.textured),
        }
    }

    fn pipeline(
        self,
        device: &wgpu::Device,
        module: &wgpu::ShaderModule,
        layout: &wgpu::PipelineLayout,
        interpolate: bool,
    ) -> wgpu::RenderPipeline {
        let textured = self.masked.unwrap_or(false);
        let constants = [
            ("INFLUENCES", f64::from(self.influences)),
            ("INTERPOLATE", f64::from(u8::from(interpolate))),
            ("TEXTURED", f64::from(u8::from(textured))),
        ];
        let options =
            wgpu::PipelineCompilationOptions { constants: &constants, ..Default::default() };
        let (entry_point, surface) = match self.masked {
            None => ("vs_solid", None),
            Some(_) => ("vs_masked", Some(SurfaceVertex::LAYOUT)),
        };
        let buffers = [Some(SkinVertex::LAYOUT), surface, Some(INSTANCE_LAYOUT)];
        device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
            label: Some("character_shadow"),
            layout: Some(layout),
            vertex: wgpu::VertexState {
                module,
                entry_point: Some(entry_point),
                compilation_options: options.clone(),
                buffers: &buffers,
            },
            primitive: wgpu::PrimitiveState {
                cull_mode: (!self.double_sided).then_some(wgpu::Face::Back),
                ..Default::default()
            },
            depth_stencil: Some(wgpu::DepthStencilState {
                format: FORMAT,
                depth_write_enabled: Some(true),
                depth_compare: Some(wgpu::CompareFunction::Less),
                stencil: Default::default(),
                // Against acne where the light grazes a surface; the shader's offset along the
                // normal does the rest.
                bias: wgpu::DepthBiasState { constant: 2, slope_scale: 1.5, clamp: 0.0 },
            }),
            multisample: Default::default(),
            fragment: self.masked.is_some().then_some(wgpu::FragmentState {
                module,
                entry_point: Some("fs_masked"),
                compilation_options: options,
                targets: &[],
            }),
            multiview_mask: None,
            cache: None,
        })
    }
}
