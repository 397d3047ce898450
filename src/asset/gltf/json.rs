//! glTF's JSON as far as characters need it.
//!
//! Types of our own rather than a schema crate's, for three reasons found on real files: a channel
//! without a node, a scene without nodes or a whole number written `24.0` has to parse; parts that
//! are never looked at (cameras, lights, most of a material) must not be able to refuse a file; and
//! a value that glTF doesn't know has to reach the message that refuses it. Properties keep glTF's
//! own names. Section numbers cite the glTF 2.0 specification.

use super::extras::AnimationExtras;
use super::json_types::{Index, Int, List};
use serde::Deserialize;
use serde::de::IgnoredAny;
use std::collections::BTreeMap;

/// The most nodes of a file. Each costs about 300 bytes after import, and may cost three in a file.
pub(super) const MAX_NODES: usize = 1 << 18;
/// The most objects of any other kind whose JSON may be shorter than what is made of it.
pub(super) const MAX_OBJECTS: usize = 1 << 16;

/// The whole document (§5.17).
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Root {
    pub asset: Option<Asset>,
    pub extensions_required: List<String, MAX_OBJECTS>,
    pub scene: Option<Index>,
    pub scenes: List<Scene, MAX_OBJECTS>,
    pub nodes: List<Node, MAX_NODES>,
    pub meshes: List<Mesh, MAX_OBJECTS>,
    pub skins: List<Skin, MAX_OBJECTS>,
    pub animations: List<Animation, MAX_OBJECTS>,
    pub accessors: Vec<Accessor>,
    pub buffer_views: Vec<BufferView>,
    pub buffers: List<Buffer, MAX_OBJECTS>,
    pub materials: List<Material, MAX_OBJECTS>,
    pub textures: List<Texture, MAX_OBJECTS>,
    pub images: List<Image, MAX_OBJECTS>,
    pub samplers: List<TextureSampler, MAX_OBJECTS>,
}

/// The part of a document that is the same in all versions of glTF.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct AssetOnly {
    pub asset: Option<Asset>,
}

/// §5.9.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Asset {
    pub version: String,
    pub min_version: Option<String>,
}

/// §5.26.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Scene {
    pub nodes: Vec<Index>,
}

/// §5.25.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Node {
    pub name: Option<String>,
    pub children: Vec<Index>,
    pub mesh: Option<Index>,
    pub skin: Option<Index>,
    pub matrix: Option<[f32; 16]>,
    pub translation: Option<[f32; 3]>,
    pub rotation: Option<[f32; 4]>,
    pub scale: Option<[f32; 3]>,
}

/// §5.28.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Skin {
    pub name: Option<String>,
    pub joints: Vec<Index>,
    pub inverse_bind_matrices: Option<Index>,
}

/// §5.23.
#[derive(Debug, Deserialize)]
pub(super) struct Mesh {
    pub name: Option<String>,
    pub primitives: Vec<Primitive>,
}

/// §5.24.
#[derive(Debug, Deserialize)]
pub(super) struct Primitive {
    pub attributes: BTreeMap<String, Index>,
    pub indices: Option<Index>,
    pub material: Option<Index>,
    pub mode: Option<Int>,
    /// Only counted.
    #[serde(default)]
    pub targets: Vec<IgnoredAny>,
    #[serde(default)]
    pub extensions: PrimitiveExtensions,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct PrimitiveExtensions {
    #[serde(rename = "KHR_draco_mesh_compression")]
    pub draco: Option<IgnoredAny>,
}

/// §5.5.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Animation {
    pub name: Option<String>,
    #[serde(default)]
    pub channels: Vec<Channel>,
    #[serde(default)]
    pub samplers: Vec<AnimationSampler>,
    #[serde(default)]
    pub extras: AnimationExtras,
}

/// §5.6.
#[derive(Debug, Deserialize)]
pub(super) struct Channel {
    pub sampler: Index,
    pub target: ChannelTarget,
}

/// §5.7.
#[derive(Debug, Deserialize)]
pub(super) struct ChannelTarget {
    pub node: Option<Index>,
    pub path: String,
}

/// §5.8.
#[derive(Debug, Deserialize)]
pub(super) struct AnimationSampler {
    pub input: Index,
    pub output: Index,
    pub interpolation: Option<String>,
}

/// §5.1.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Accessor {
    pub buffer_view: Option<Index>,
    #[serde(default)]
    pub byte_offset: Int,
    pub component_type: Int,
    #[serde(default)]
    pub normalized: bool,
    pub count: Int,
    #[serde(rename = "type")]
    pub kind: String,
    pub sparse: Option<Box<Sparse>>,
}

/// §5.2.
#[derive(Debug, Deserialize)]
pub(super) struct Sparse {
    pub count: Int,
    pub indices: SparseIndices,
    pub values: SparseValues,
}

/// §5.3.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SparseIndices {
    pub buffer_view: Index,
    #[serde(default)]
    pub byte_offset: Int,
    pub component_type: Int,
}

/// §5.4.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SparseValues {
    pub buffer_view: Index,
    #[serde(default)]
    pub byte_offset: Int,
}

/// §5.11.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct BufferView {
    pub buffer: Index,
    #[serde(default)]
    pub byte_offset: Int,
    pub byte_length: Int,
    pub byte_stride: Option<Int>,
    #[serde(default)]
    pub extensions: BufferViewExtensions,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct BufferViewExtensions {
    #[serde(rename = "EXT_meshopt_compression")]
    pub ext_meshopt: Option<Box<Meshopt>>,
    #[serde(rename = "KHR_meshopt_compression")]
    pub khr_meshopt: Option<Box<Meshopt>>,
}

/// Where a view's compressed bytes are and how they were compressed.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Meshopt {
    pub buffer: Index,
    #[serde(default)]
    pub byte_offset: Int,
    pub byte_length: Int,
    pub byte_stride: Int,
    pub count: Int,
    pub mode: String,
    pub filter: Option<String>,
}

/// §5.10.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Buffer {
    pub name: Option<String>,
    pub uri: Option<String>,
    pub byte_length: Int,
}

/// §5.19.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Material {
    pub name: Option<String>,
    pub pbr_metallic_roughness: Option<MetallicRoughness>,
    pub emissive_factor: Option<[f32; 3]>,
    pub emissive_texture: Option<IgnoredAny>,
    pub alpha_mode: Option<String>,
    pub alpha_cutoff: Option<f32>,
    pub double_sided: bool,
    pub extensions: MaterialExtensions,
}

/// §5.22.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct MetallicRoughness {
    pub base_color_factor: Option<[f32; 4]>,
    pub base_color_texture: Option<TextureInfo>,
    pub metallic_factor: Option<f32>,
    pub roughness_factor: Option<f32>,
    pub metallic_roughness_texture: Option<TextureInfo>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct MaterialExtensions {
    #[serde(rename = "KHR_materials_unlit")]
    pub unlit: Option<IgnoredAny>,
    #[serde(rename = "KHR_materials_emissive_strength")]
    pub emissive_strength: Option<EmissiveStrength>,
    #[serde(rename = "KHR_materials_pbrSpecularGlossiness")]
    pub specular_glossiness: Option<SpecularGlossiness>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct EmissiveStrength {
    pub emissive_strength: Option<f32>,
}

/// The archived extension that older exporters write their colours with.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct SpecularGlossiness {
    pub diffuse_factor: Option<[f32; 4]>,
    pub diffuse_texture: Option<TextureInfo>,
    pub glossiness_factor: Option<f32>,
}

/// §5.30.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct TextureInfo {
    pub index: Index,
    #[serde(default)]
    pub tex_coord: Int,
    #[serde(default)]
    pub extensions: TextureInfoExtensions,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct TextureInfoExtensions {
    #[serde(rename = "KHR_texture_transform")]
    pub transform: Option<TextureTransform>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct TextureTransform {
    pub offset: Option<[f32; 2]>,
    pub rotation: Option<f32>,
    pub scale: Option<[f32; 2]>,
    pub tex_coord: Option<Int>,
}

/// §5.29.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Texture {
    pub sampler: Option<Index>,
    pub source: Option<Index>,
    pub extensions: TextureExtensions,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct TextureExtensions {
    #[serde(rename = "EXT_texture_webp")]
    pub webp: Option<TextureSource>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct TextureSource {
    pub source: Option<Index>,
}

/// §5.18.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Image {
    pub name: Option<String>,
    pub uri: Option<String>,
    pub buffer_view: Option<Index>,
}

/// §5.27.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct TextureSampler {
    pub mag_filter: Option<Int>,
    pub wrap_s: Option<Int>,
    pub wrap_t: Option<Int>,
}
