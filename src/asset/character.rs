//! What an import makes of a file: all that the crowd and the renderer need, and no more.

use crate::index::NodeIndex;
use crate::math::Bounds;
use crate::pose::{ClipStore, Rig, RigError, RigOptions, Skeleton, UniformClip};

/// One kind of character.
#[derive(Clone, Debug)]
pub struct CharacterAsset {
    /// The file's stem, or the built-in's name.
    pub name: String,
    /// Bones and palette; model space is the glTF scene's own space.
    pub skeleton: Skeleton,
    /// For each bone, the glTF node it came from.
    pub bone_nodes: Vec<NodeIndex>,
    /// For each skin of the file, its joints in the file's own order.
    pub skins: Vec<Vec<NodeIndex>>,
    /// In the file's order; names are unique.
    pub clips: Vec<UniformClip>,
    /// One list per clip, in the file's order.
    pub notifies: Vec<Vec<ClipNotify>>,
    /// One list per clip, each in the order of time; empty for a clip without.
    pub sync_markers: Vec<Vec<ClipMarker>>,
    /// How each clip is kept at run time.
    pub kept: Vec<KeptClip>,
    /// Everything that is drawn: one entry per (mesh node, primitive).
    pub primitives: Vec<Primitive>,
    /// Indexed by [`Primitive::material`]; never empty when there are primitives.
    pub materials: Vec<Material>,
    /// Indexed by [`Material::base_color_image`] and [`Material::metallic_roughness_image`].
    pub images: Vec<ImageRgba8>,
    /// Model space, over all clips' posed vertices and the rest pose.
    pub bounds: Bounds,
    /// Mean distance in metres between the vertices of a full pose and of the same pose cut at
    /// [`Skeleton::low_detail_bone_count`], over all clips.
    pub low_detail_error_m: f32,
    /// What was left out or repaired, one sentence each.
    pub warnings: Vec<String>,
}

/// Something that a clip tells while it plays.
#[derive(Clone, Debug, PartialEq)]
pub struct ClipNotify {
    /// 1 to 64 bytes.
    pub name: String,
    /// Seconds inside the clip; where a span begins.
    pub seconds: f32,
    /// Where a span ends, after `seconds`; `None` for a moment.
    pub end: Option<f32>,
}

/// A moment of a clip that has counterparts in other clips: a foot comes down, say. While such clips
/// are blended they can be kept in step by their markers.
#[derive(Clone, Debug, PartialEq)]
pub struct ClipMarker {
    /// 1 to 64 bytes.
    pub name: String,
    /// Seconds inside the clip.
    pub seconds: f32,
}

/// How a clip is kept at run time, and what that costs. Distances are largest ones, over all bones
/// and at any time, in metres of model space.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KeptClip {
    /// What its frames are stored as.
    pub store: ClipStore,
    /// Between the source's own curves and the clip at its uniform rate, in full precision.
    pub resampling_error_m: f32,
    /// Between a bone's tip with frames of 16-bit numbers and with full ones, on frames and between;
    /// `None` where it was not measured because full ones were asked for.
    pub i16_error_m: Option<f32>,
}

impl CharacterAsset {
    /// What poses the character, its clips kept as [`Self::kept`] says.
    ///
    /// # Errors
    /// None for an asset as imported, but of memory; see [`RigError`].
    pub fn rig(&self) -> Result<Rig, RigError> {
        self.rig_for(false)
    }

    /// The same for tasks that scale bones, with `scaling_tasks`: of the general class then.
    ///
    /// # Errors
    /// As [`CharacterAsset::rig`].
    pub fn rig_for(&self, scaling_tasks: bool) -> Result<Rig, RigError> {
        let stores: Vec<ClipStore> = self.kept.iter().map(|kept| kept.store).collect();
        let options = RigOptions { stores: &stores, scaling_tasks };
        Rig::with(self.skeleton.clone(), &self.clips, options)
    }
}

/// A list of triangles with one material.
#[derive(Clone, Debug)]
pub struct Primitive {
    /// The glTF node that instances the mesh.
    pub node: NodeIndex,
    /// The glTF mesh.
    pub mesh: u32,
    /// The primitive's index within the mesh.
    pub index: u32,
    /// The glTF skin; `None` for a rigid mesh carried by a bone.
    pub skin: Option<u32>,
    /// In the file's own order (a file without indices gets them).
    pub vertices: Vec<Vertex>,
    /// Three per triangle, each below `vertices.len()`.
    pub indices: Vec<u32>,
    /// Index into [`CharacterAsset::materials`].
    pub material: u32,
    /// The most influences that one vertex has (at most four after import).
    pub influences_max: u32,
}

/// One vertex in mesh space: a palette matrix takes it to model space.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Vertex {
    /// Mesh space.
    pub position: [f32; 3],
    /// Unit length; computed flat or smooth when the file has none.
    pub normal: [f32; 3],
    /// Of the base-colour texture, after KHR_texture_transform.
    pub uv: [f32; 2],
    /// COLOR_0, linear, white when absent.
    pub color: [f32; 4],
    /// Indices into the palette; unused ones are zero.
    pub joints: [u16; 4],
    /// Sum to one, strongest first; unused ones are zero.
    pub weights: [f32; 4],
}

/// How a material treats its alpha.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum AlphaMode {
    /// Alpha is ignored.
    Opaque,
    /// Fragments below the cutoff are dropped.
    Mask {
        /// In 0..=1.
        cutoff: f32,
    },
    /// Alpha blends.
    Blend,
}

/// What a primitive looks like.
#[derive(Clone, Debug, PartialEq)]
pub struct Material {
    /// The file's name for it, or empty.
    pub name: String,
    /// Linear RGBA factor.
    pub base_color: [f32; 4],
    /// Index into [`CharacterAsset::images`]; sRGB.
    pub base_color_image: Option<u32>,
    /// Index into [`CharacterAsset::images`]; linear. Its green multiplies the roughness, its blue
    /// the metallic factor. It lies where the base colour's image does.
    pub metallic_roughness_image: Option<u32>,
    /// How the textures are addressed and filtered.
    pub sampler: Sampler,
    /// What alpha does.
    pub alpha: AlphaMode,
    /// Both sides are drawn.
    pub double_sided: bool,
    /// KHR_materials_unlit: the colour as it is.
    pub unlit: bool,
    /// glTF's roughness factor, 0..=1.
    pub roughness: f32,
    /// glTF's metallic factor, 0..=1.
    pub metallic: f32,
    /// Linear RGB added to what the material reflects.
    pub emissive: [f32; 3],
}

/// How texture coordinates outside 0..1 are answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Wrap {
    /// The texture repeats.
    #[default]
    Repeat,
    /// The texture repeats, every second time mirrored.
    MirroredRepeat,
    /// The edge goes on.
    ClampToEdge,
}

/// Texture addressing and filtering.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Sampler {
    /// Along u.
    pub wrap_u: Wrap,
    /// Along v.
    pub wrap_v: Wrap,
    /// Nearest texel instead of linear filtering.
    pub nearest: bool,
}

/// A decoded image, sRGB, four bytes a pixel, rows from the top.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImageRgba8 {
    /// The file's name for it, or its URI, or empty.
    pub name: String,
    /// Pixels.
    pub width: u32,
    /// Pixels.
    pub height: u32,
    /// `width * height * 4` bytes.
    pub pixels: Vec<u8>,
}
