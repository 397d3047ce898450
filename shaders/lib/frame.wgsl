// What every renderer of the frame shares. Mirrored by `FrameUniforms` in src/render/layout.rs.

struct Frame {
    // Reversed depth without far plane: 1 at the near plane, 0 at infinity.
    clip_from_world: mat4x4<f32>,
    // To the shadow map: texture coordinates in xy, depth 0..1 in z.
    shadow_from_world: mat4x4<f32>,
    // World position of the camera, metres.
    eye: vec3<f32>,
    // Multiplies radiance ahead of the tone curve.
    exposure: f32,
    // Unit vector towards the sun.
    sun_direction: vec3<f32>,
    // World size of one texel of the shadow map, metres.
    shadow_texel_m: f32,
    // Irradiance over pi of a surface that faces the sun.
    sun_color: vec3<f32>,
    // One texel in texture coordinates; 0 when there is no shadow map this frame.
    shadow_texel_uv: f32,
    // Radiance of the sky straight up.
    sky_zenith: vec3<f32>,
    // Distance at which the haze has taken 1 - 1/e of a colour, metres.
    haze_distance: f32,
    // Radiance of the sky at the horizon.
    sky_horizon: vec3<f32>,
    // Scales what the sky and the ground add to the sun.
    ambient: f32,
    // Radiance that comes up from the ground.
    ground_bounce: vec3<f32>,
    // What uneven ground is made of.
    terrain_seed: u32,
    // The ray through a point of the picture is
    // ray_forward + ndc.x * ray_right + ndc.y * ray_up.
    ray_forward: vec3<f32>,
    ray_right: vec3<f32>,
    ray_up: vec3<f32>,
    // Width and height of the picture, pixels.
    size: vec2<f32>,
}

@group(0) @binding(0) var<uniform> frame: Frame;
@group(0) @binding(1) var shadow_map: texture_depth_2d;
@group(0) @binding(2) var shadow_sampler: sampler_comparison;

// The unnormalized ray through a fragment.
fn ray_through(fragment: vec4<f32>) -> vec3<f32> {
    let ndc = fragment.xy / frame.size * vec2<f32>(2.0, -2.0) + vec2<f32>(-1.0, 1.0);
    return frame.ray_forward + ndc.x * frame.ray_right + ndc.y * frame.ray_up;
}
