// The soft shade that a body casts on the ground right under it: one quad per character, which
// multiplies what is there.

// Mirrors `ContactVertex`.
struct Vertex {
    // Model space, on the ground.
    @location(0) position: vec3<f32>,
    // From -1 to 1 across the quad.
    @location(1) corner: vec2<f32>,
}

struct Varyings {
    @builtin(position) clip: vec4<f32>,
    @location(0) corner: vec2<f32>,
    @location(1) strength: f32,
}

@vertex
fn vs_main(vertex: Vertex, instance: Instance) -> Varyings {
    let world = transform_point(world_from_model(instance), vertex.position);
    let distance = length(world - frame.eye);
    var out: Varyings;
    // A hair above the ground, more where depth is coarse.
    out.clip = frame.clip_from_world * vec4<f32>(world.x, 0.004 + distance * 2e-4, world.z, 1.0);
    out.corner = vertex.corner;
    // Gone with height above the ground, and where the haze takes it.
    out.strength = 0.62 * saturate(1.0 - abs(world.y)) * exp(-distance / frame.haze_distance * 2.0);
    return out;
}

@fragment
fn fs_main(in: Varyings) -> @location(0) vec4<f32> {
    let r2 = dot(in.corner, in.corner);
    let shade = saturate(1.0 - r2);
    return vec4<f32>(vec3<f32>(1.0 - in.strength * shade * shade), 1.0);
}
