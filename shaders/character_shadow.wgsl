// Characters into the shadow map: positions only, unless alpha cuts holes.

struct ShadowView {
    clip_from_world: mat4x4<f32>,
}

@group(0) @binding(0) var<uniform> shadow_view: ShadowView;

struct Vertex {
    @location(0) position: vec3<f32>,
    @location(1) joints: vec4<u32>,
    @location(2) weights: vec4<f32>,
}

fn shadow_position(vertex: Vertex, instance: Instance) -> vec4<f32> {
    let skin = skin_matrix(instance, vertex.joints, vertex.weights);
    let model = transform_point(skin, vertex.position);
    let world = transform_point(world_from_model(instance), model);
    return shadow_view.clip_from_world * vec4<f32>(world, 1.0);
}

@vertex
fn vs_solid(vertex: Vertex, instance: Instance) -> @builtin(position) vec4<f32> {
    return shadow_position(vertex, instance);
}

struct Surface {
    @location(4) uv: vec2<f32>,
    @location(5) color: vec4<f32>,
}

struct Varyings {
    @builtin(position) clip: vec4<f32>,
    @location(0) uv: vec2<f32>,
    @location(1) alpha: f32,
}

@vertex
fn vs_masked(vertex: Vertex, surface: Surface, instance: Instance) -> Varyings {
    let alpha = material.base_color.a * surface.color.a;
    return Varyings(shadow_position(vertex, instance), surface.uv, alpha);
}

@fragment
fn fs_masked(in: Varyings) {
    var alpha = in.alpha;
    if TEXTURED {
        alpha *= textureSample(base_color_texture, base_color_sampler, in.uv).a;
    }
    if alpha < material.alpha_cutoff {
        discard;
    }
}
