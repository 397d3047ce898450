//! Characters: their buffers, and the draws of one frame.

use super::config::RenderConfig;
use super::contact::ContactQuad;
use super::error::RenderError;
use super::gpu::Gpu;
use super::instances::Instances;
use super::layout::{INSTANCE_LAYOUT, SkinVertex, SurfaceVertex};
use super::material::{self, AlphaKind, GpuMaterial, MaterialTraits};
use super::mesh::{PackedMesh, Part};
use super::palette::Palettes;
use super::pipeline::{Draw, MainPass, layout};
use super::rest::RestPose;
use super::shaders;
use super::sorting::{KindLevels, LevelGroup};
use super::stats::DrawCounts;
use super::texture::TextureLoader;
use crate::asset::CharacterAsset;
use crate::motion::Terrain;
use std::collections::HashMap;
use std::ops::Range;
use wgpu::util::DeviceExt;

/// One kind of character on the GPU.
#[derive(Debug)]
pub(super) struct CharacterModel {
    skin: wgpu::Buffer,
    surface: wgpu::Buffer,
    indices: wgpu::Buffer,
    parts: Vec<Part>,
    materials: Vec<GpuMaterial>,
    pub(super) levels: KindLevels,
    pub(super) contact: Option<ContactQuad>,
}

/// One frame's crowd, its palettes and instances on the GPU.
#[derive(Clone, Copy, Debug)]
pub(super) struct UploadedCrowd<'a> {
    pub(super) groups: &'a [LevelGroup],
    pub(super) palettes: &'a Palettes,
    pub(super) instances: &'a Instances,
    /// World size of a texel of the shadow map, metres.
    pub(super) shadow_texel_m: f32,
}

/// Which of the main pass's draws of a material.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Layer {
    /// Everything that hides what is behind it.
    Solid,
    /// What is left of blended materials.
    Blended,
}

/// Which pixels of a mesh are drawn while one level of detail takes the place of another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Fade {
    /// All.
    Whole,
    /// As many as the instance's share says.
    Coarser,
    /// The others.
    Finer,
}

/// What tells one pipeline from another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct PipelineKey {
    layer: Layer,
    fade: Fade,
    traits: MaterialTraits,
    influences: u32,
}

/// All kinds of characters, and the pipelines that draw them.
#[derive(Debug)]
pub(super) struct CharacterRenderer {
    models: Vec<CharacterModel>,
    pipelines: HashMap<PipelineKey, wgpu::RenderPipeline>,
    texture_bytes: u64,
}

impl CharacterRenderer {
    pub(super) fn new(
        gpu: &Gpu,
        main: &MainPass,
        frame: &wgpu::BindGroupLayout,
        palettes: &Palettes,
        config: &RenderConfig,
        assets: &[&CharacterAsset],
    ) -> Result<Self, RenderError> {
        let RenderConfig { terrain, interpolate, .. } = *config;
        let device = gpu.device();
        let material_layout = material::layout(gpu);
        let textures = TextureLoader::new(gpu);
        let mut models = assets
            .iter()
            .map(|asset| CharacterModel::new(gpu, &textures, &material_layout, terrain, asset))
            .collect::<Result<Vec<_>, _>>()?;
        if !config.mesh_lods {
            models.iter_mut().for_each(|model| model.levels.forgo());
        }

        let module = shaders::CHARACTER.compile(gpu);
        let groups = [Some(frame), Some(&material_layout), Some(palettes.layout())];
        let layout = layout(device, "character", &groups);
        let mut pipelines = HashMap::new();
        for key in models.iter().flat_map(CharacterModel::keys) {
            let make = || key.pipeline(device, main, &module, &layout, interpolate);
            pipelines.entry(key).or_insert_with(make);
        }
        Ok(Self { models, pipelines, texture_bytes: textures.bytes() })
    }

    /// Bytes of vertices and indices.
    pub(super) fn mesh_bytes(&self) -> u64 {
        let buffers = self.models.iter().flat_map(|m| [&m.skin, &m.surface, &m.indices]);
        buffers.map(wgpu::Buffer::size).sum()
    }

    /// Bytes of images, all levels.
    pub(super) fn texture_bytes(&self) -> u64 {
        self.texture_bytes
    }

    pub(super) fn models(&self) -> &[CharacterModel] {
        &self.models
    }

    /// Draws one layer of every group's characters that the camera sees. The frame's bind group
    /// must be set.
    pub(super) fn draw(
        &self,
        pass: &mut wgpu::RenderPass<'_>,
        crowd: &UploadedCrowd<'_>,
        layer: Layer,
        counts: &mut DrawCounts,
    ) {
        for group in crowd.groups.iter().filter(|g| !g.camera.is_empty()) {
            let Some((model, palette)) = self.resolve(group, crowd) else { continue };
            let mut bound = false;
            for (part, material) in model.parts() {
                for (fade, level) in group.levels() {
                    let key = PipelineKey::of(part, material.traits, layer, fade);
                    let Some(pipeline) = key.and_then(|k| self.pipelines.get(&k)) else { continue };
                    if !bound {
                        pass.set_bind_group(2, palette, &[]);
                        model.bind_streams(pass);
                        bound = true;
                    }
                    pass.set_pipeline(pipeline);
                    pass.set_bind_group(1, &material.bind_group, &[]);
                    let part = (part, &part.indices[level]);
                    draw_part(pass, part, crowd.instances, &group.camera, counts);
                }
            }
        }
    }

    /// The model and the palette page that a group names; `None` where there is nothing to draw.
    pub(super) fn resolve<'a>(
        &'a self,
        group: &LevelGroup,
        crowd: &UploadedCrowd<'a>,
    ) -> Option<(&'a CharacterModel, &'a wgpu::BindGroup)> {
        let model = self.models.get(group.kind.get()).filter(|m| !m.parts.is_empty())?;
        Some((model, crowd.palettes.bind_group(group.page)?))
    }
}

impl LevelGroup {
    /// The meshes that the camera sees of it, and how much of each.
    fn levels(&self) -> impl Iterator<Item = (Fade, usize)> {
        let fade = if self.finer.is_some() { Fade::Coarser } else { Fade::Whole };
        let finer = self.finer.map(|level| (Fade::Finer, level));
        std::iter::once((fade, self.level)).chain(finer)
    }
}

/// Draws instances of a part, one call for each instance buffer that the range touches.
pub(super) fn draw_part(
    pass: &mut wgpu::RenderPass<'_>,
    (part, indices): (&Part, &Range<u32>),
    instances: &Instances,
    range: &Range<u32>,
    counts: &mut DrawCounts,
) {
    for (buffer, piece) in instances.pieces(range.clone()) {
        pass.set_vertex_buffer(2, buffer.slice(..));
        pass.draw_indexed(indices.clone(), part.base_vertex, piece.clone());
        counts.draws += 1;
        counts.triangles += indices.len() as u64 / 3 * piece.len() as u64;
    }
}

impl CharacterModel {
    fn new(
        gpu: &Gpu,
        textures: &TextureLoader,
        layout: &wgpu::BindGroupLayout,
        terrain: Terrain,
        asset: &CharacterAsset,
    ) -> Result<Self, RenderError> {
        let rest = RestPose::of(asset);
        let mesh = PackedMesh::of(asset, &rest);
        let buffer = |what, bytes: &[u8], usage| {
            let (name, limit) = (asset.name.clone(), gpu.device().limits().max_buffer_size);
            let len = bytes.len() as u64;
            if len > limit {
                return Err(RenderError::BufferTooLarge { what, name, bytes: len, limit });
            }
            Ok(gpu.device().create_buffer_init(&wgpu::util::BufferInitDescriptor {
                label: Some(&format!("{what} of {name}")),
                contents: bytes,
                usage,
            }))
        };
        let vertex = wgpu::BufferUsages::VERTEX;
        Ok(Self {
            skin: buffer("skinning stream", bytemuck::cast_slice(&mesh.skin), vertex)?,
            surface: buffer("surface stream", bytemuck::cast_slice(&mesh.surface), vertex)?,
            indices: buffer(
                "index buffer",
                bytemuck::cast_slice(&mesh.indices),
                wgpu::BufferUsages::INDEX,
            )?,
            parts: mesh.parts,
            levels: mesh.levels,
            materials: material::load(gpu, textures, layout, asset),
            contact: ContactQuad::of(gpu, &asset.name, &rest, terrain),
        })
    }

    fn keys(&self) -> impl Iterator<Item = PipelineKey> + '_ {
        let layers = [Layer::Solid, Layer::Blended];
        // Where there is one mesh, none takes the place of another.
        let all = [Fade::Whole, Fade::Coarser, Fade::Finer];
        let fades = if self.levels.are_one() { &all[..1] } else { &all };
        let each = layers.iter().flat_map(|layer| fades.iter().map(|fade| (*layer, *fade)));
        let each: Vec<_> = each.collect();
        self.parts().flat_map(move |(part, material)| {
            let of = |&(layer, fade): &_| PipelineKey::of(part, material.traits, layer, fade);
            each.iter().filter_map(of).collect::<Vec<_>>()
        })
    }

    /// Binds the streams of a pass of its own: positions in slot 0, and the rest in slot 1 for
    /// the parts whose alpha cuts holes.
    pub(super) fn bind_streams(&self, pass: &mut wgpu::RenderPass<'_>) {
        pass.set_vertex_buffer(0, self.skin.slice(..));
        pass.set_vertex_buffer(1, self.surface.slice(..));
        pass.set_index_buffer(self.indices.slice(..), wgpu::IndexFormat::Uint32);
    }

    /// Every part with its material.
    pub(super) fn parts(&self) -> impl Iterator<Item = (&Part, &GpuMaterial)> {
        self.parts.iter().filter_map(|p| Some((p, self.materials.get(p.material)?)))
    }
}

impl PipelineKey {
    /// Every part has a solid layer, and those of blended materials another.
    fn of(part: &Part, traits: MaterialTraits, layer: Layer, fade: Fade) -> Option<Self> {
        let drawn = layer == Layer::Solid || traits.alpha == AlphaKind::Blend;
        drawn.then_some(Self { layer, fade, traits, influences: part.influences })
    }

    fn pipeline(
        self,
        device: &wgpu::Device,
        main: &MainPass,
        module: &wgpu::ShaderModule,
        layout: &wgpu::PipelineLayout,
        interpolate: bool,
    ) -> wgpu::RenderPipeline {
        let blended = self.layer == Layer::Blended;
        let fragment = match (self.traits.alpha, self.layer) {
            (AlphaKind::Opaque, _) => "fs_opaque",
            (AlphaKind::Mask, _) => "fs_mask",
            (AlphaKind::Blend, Layer::Solid) => "fs_blend_solid",
            (AlphaKind::Blend, Layer::Blended) => "fs_blend",
        };
        let coverage = self.traits.alpha == AlphaKind::Mask && main.samples > 1;
        let flag = |on: bool| f64::from(u8::from(on));
        main.pipeline(
            device,
            &Draw {
                shader: shaders::CHARACTER,
                module,
                layout,
                fragment,
                constants: &[
                    ("INFLUENCES", f64::from(self.influences)),
                    ("INTERPOLATE", flag(interpolate)),
                    ("FADE", f64::from(self.fade as u8)),
                    ("TEXTURED", flag(self.traits.textured)),
                    ("SURFACE_TEXTURED", flag(self.traits.surface_textured)),
                    ("ALPHA_TO_COVERAGE", flag(coverage)),
                ],
                buffers: &[
                    Some(SkinVertex::LAYOUT),
                    Some(SurfaceVertex::LAYOUT),
                    Some(INSTANCE_LAYOUT),
                ],
                topology: wgpu::PrimitiveTopology::TriangleList,
                cull: (!self.traits.double_sided).then_some(wgpu::Face::Back),
                write_depth: !blended,
                depth_compare: Draw::NEARER,
                blend: blended.then_some(wgpu::BlendState::ALPHA_BLENDING),
                alpha_to_coverage: coverage,
            },
        )
    }
}
