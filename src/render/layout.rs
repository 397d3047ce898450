//! Everything that shaders read, as Rust lays it out. `tests/gpu_layout.rs` holds each mirror
//! against the offsets that naga computes from the WGSL.

use crate::crowd::InstanceRecord;
use bytemuck::{Pod, Zeroable};
use wgpu::{VertexAttribute, VertexBufferLayout, VertexFormat, VertexStepMode};

/// `Frame` of shaders/lib/frame.wgsl; see there for units.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
#[allow(missing_docs)] // The WGSL says what each field is; twice would drift.
pub struct FrameUniforms {
    pub clip_from_world: [[f32; 4]; 4],
    pub shadow_from_world: [[f32; 4]; 4],
    pub eye: [f32; 3],
    pub exposure: f32,
    pub sun_direction: [f32; 3],
    pub shadow_texel_m: f32,
    pub sun_color: [f32; 3],
    pub shadow_texel_uv: f32,
    pub sky_zenith: [f32; 3],
    pub haze_distance: f32,
    pub sky_horizon: [f32; 3],
    pub ambient: f32,
    pub ground_bounce: [f32; 3],
    pub terrain_seed: u32,
    pub ray_forward: [f32; 3],
    pub _pad0: f32,
    pub ray_right: [f32; 3],
    pub _pad1: f32,
    pub ray_up: [f32; 3],
    pub _pad2: f32,
    pub size: [f32; 2],
    pub _pad3: [f32; 2],
}

/// `ShadowView` of shaders/character_shadow.wgsl.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub struct ShadowUniforms {
    /// Orthographic, depth 0 towards the sun.
    pub clip_from_world: [[f32; 4]; 4],
}

/// `Material` of shaders/character.wgsl.
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct MaterialUniforms {
    /// Linear RGBA factor.
    pub base_color: [f32; 4],
    /// Linear RGB.
    pub emissive: [f32; 3],
    /// In 0..=1.
    pub alpha_cutoff: f32,
    /// In 0..=1.
    pub roughness: f32,
    /// In 0..=1.
    pub metallic: f32,
    /// How strongly the instance's tint applies, 0..=1.
    pub tinted: f32,
    /// 1 where light does nothing, else 0.
    pub unlit: f32,
}

/// `Section` of shaders/palette_scatter.wgsl; see there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[repr(C)]
#[allow(missing_docs)] // The WGSL says what each field is; twice would drift.
pub struct ScatterSection {
    pub targets: u32,
    pub rows: u32,
    pub count: u32,
    pub palette_rows: u32,
}

/// What skinning needs of a vertex, and all that the shadow map needs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct SkinVertex {
    /// Mesh space.
    pub position: [f32; 3],
    /// Palette indices.
    pub joints: [u16; 4],
    /// Over 65,535; the four sum to exactly that.
    pub weights: [u16; 4],
}

impl SkinVertex {
    /// Locations 0 to 2.
    pub const ATTRIBUTES: [VertexAttribute; 3] = wgpu::vertex_attr_array![
        0 => Float32x3,
        1 => Uint16x4,
        2 => Unorm16x4,
    ];
    /// One per vertex.
    pub const LAYOUT: VertexBufferLayout<'static> =
        layout::<Self>(VertexStepMode::Vertex, &Self::ATTRIBUTES);
}

/// What shading needs of a vertex.
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct SurfaceVertex {
    /// Over 32,767; the fourth is zero.
    pub normal: [i16; 4],
    /// Of the base-colour texture.
    pub uv: [f32; 2],
    /// Linear RGBA over 65,535.
    pub color: [u16; 4],
}

impl SurfaceVertex {
    /// Locations 3 to 5.
    pub const ATTRIBUTES: [VertexAttribute; 3] = wgpu::vertex_attr_array![
        3 => Snorm16x4,
        4 => Float32x2,
        5 => Unorm16x4,
    ];
    /// One per vertex.
    pub const LAYOUT: VertexBufferLayout<'static> =
        layout::<Self>(VertexStepMode::Vertex, &Self::ATTRIBUTES);
}

/// [`InstanceRecord`] as instance attributes: locations 6 to 10.
pub const INSTANCE_ATTRIBUTES: [VertexAttribute; 5] = wgpu::vertex_attr_array![
    6 => Float32x4,
    7 => Float32x4,
    8 => Float32x4,
    9 => Uint32x4,
    10 => Uint32x4,
];
/// One per instance.
pub const INSTANCE_LAYOUT: VertexBufferLayout<'static> =
    layout::<InstanceRecord>(VertexStepMode::Instance, &INSTANCE_ATTRIBUTES);

/// A square piece of uneven ground.
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct GroundTile {
    /// World (x, z) of the corner with the smallest coordinates, metres.
    pub corner: [f32; 2],
    /// Side of one of its cells, metres.
    pub cell: f32,
}

impl GroundTile {
    /// Locations 0 and 1.
    pub const ATTRIBUTES: [VertexAttribute; 2] = wgpu::vertex_attr_array![
        0 => Float32x2,
        1 => Float32,
    ];
    /// One per instance.
    pub const LAYOUT: VertexBufferLayout<'static> =
        layout::<Self>(VertexStepMode::Instance, &Self::ATTRIBUTES);
}

/// A point of the shade under a character.
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct ContactVertex {
    /// Model space, at the height of the feet.
    pub position: [f32; 3],
    /// From -1 to 1 across the shade.
    pub corner: [f32; 2],
    /// The middle of the body at rest, model space.
    pub middle: [f32; 3],
    /// The same point in the space from which the first palette matrix leads to model space.
    pub middle_in_mesh: [f32; 3],
}

impl ContactVertex {
    /// Locations 0 to 3.
    pub const ATTRIBUTES: [VertexAttribute; 4] = wgpu::vertex_attr_array![
        0 => Float32x3,
        1 => Float32x2,
        2 => Float32x3,
        3 => Float32x3,
    ];
    /// One per vertex.
    pub const LAYOUT: VertexBufferLayout<'static> =
        layout::<Self>(VertexStepMode::Vertex, &Self::ATTRIBUTES);
}

/// A straight line in the world.
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct LineRecord {
    /// World position, metres.
    pub start: [f32; 3],
    /// Pixels.
    pub width: f32,
    /// World position, metres.
    pub end: [f32; 3],
    /// As it is to be seen: sRGB and alpha, 8 bits each, red lowest, not premultiplied.
    pub color: u32,
}

impl LineRecord {
    /// Locations 0 to 3.
    pub const ATTRIBUTES: [VertexAttribute; 4] = wgpu::vertex_attr_array![
        0 => Float32x3,
        1 => Float32,
        2 => Float32x3,
        3 => Uint32,
    ];
    /// One per instance.
    pub const LAYOUT: VertexBufferLayout<'static> =
        layout::<Self>(VertexStepMode::Instance, &Self::ATTRIBUTES);
}

const fn layout<T>(
    step_mode: VertexStepMode,
    attributes: &'static [VertexAttribute],
) -> VertexBufferLayout<'static> {
    VertexBufferLayout { array_stride: size_of::<T>() as u64, step_mode, attributes }
}

/// True when the format reads as WGSL's `u32`, `vec4<u32>` and the like: an integer, not a float.
pub fn is_integer(format: VertexFormat) -> bool {
    matches!(format, VertexFormat::Uint16x4 | VertexFormat::Uint32 | VertexFormat::Uint32x4)
}
