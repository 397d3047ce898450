// Base colour and how it meets light.

// True where the material has a base-colour texture.
override TEXTURED: bool = true;
// True where it has a metallic-roughness texture.
override SURFACE_TEXTURED: bool = false;

// Mirrors `MaterialUniforms`.
struct Material {
    base_color: vec4<f32>,
    emissive: vec3<f32>,
    // Below it a fragment of a masked material is dropped, and one of a blended material casts no
    // shadow.
    alpha_cutoff: f32,
    roughness: f32,
    metallic: f32,
    // How strongly the instance's tint multiplies the base colour, 0..1.
    tinted: f32,
    // 1 where light does nothing.
    unlit: f32,
}

@group(1) @binding(0) var<uniform> material: Material;
@group(1) @binding(1) var base_color_texture: texture_2d<f32>;
@group(1) @binding(2) var base_color_sampler: sampler;
@group(1) @binding(3) var metallic_roughness_texture: texture_2d<f32>;
