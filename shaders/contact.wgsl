// The soft shade that a body casts on the ground right under it: one quad per character, which
// multiplies what is there.

// True where the ground is the terrain, false where it is level.
override UNEVEN: bool = false;

// Mirrors `ContactVertex`.
struct Vertex {
    // Model space, on the ground, at rest.
    @location(0) position: vec3<f32>,
    // From -1 to 1 across the quad.
    @location(1) corner: vec2<f32>,
    // The middle of the body at rest, in model space and in the space of the first bone's mesh.
    @location(2) middle: vec3<f32>,
    @location(3) middle_in_mesh: vec3<f32>,
}

struct Varyings {
    @builtin(position) clip: vec4<f32>,
    @location(0) corner: vec2<f32>,
    @location(1) strength: f32,
}

@vertex
fn vs_main(vertex: Vertex, instance: Instance) -> Varyings {
    // The shade goes where the pose has carried the body.
    let bone = bone_matrix(instance, 0u);
    let carried = transform_point(bone, vertex.middle_in_mesh) - vertex.middle;
    let under = vertex.position + vec3<f32>(carried.x, 0.0, carried.z);
    let placed = world_from_model(instance);
    let world = transform_point(placed, under);
    let floating = world.y - bitcast<f32>(instance.words.w);
    let height = floating + transform_vector(placed, vec3<f32>(0.0, carried.y, 0.0)).y;
    let distance = length(world - frame.eye);
    // A hair above the ground, more where depth is coarse, and more where the ground is drawn
    // with few triangles.
    var y = 0.004 + distance * 2e-4;
    if UNEVEN {
        let ground = terrain_point(frame.terrain_seed, world.xz, 0.0).x;
        y = ground + 0.008 + distance * 1e-3;
    }
    var out: Varyings;
    out.clip = frame.clip_from_world * vec4<f32>(world.x, y, world.z, 1.0);
    out.corner = vertex.corner;
    // Gone with height above the ground, and where the haze takes it.
    out.strength = 0.62 * saturate(1.0 - 2.0 * abs(height)) * exp(-distance / frame.haze_distance * 2.0);
    return out;
}

@fragment
fn fs_main(in: Varyings) -> @location(0) vec4<f32> {
    let r2 = dot(in.corner, in.corner);
    let shade = saturate(1.0 - r2);
    let factor = vec3<f32>(1.0 - in.strength * shade * shade);
    if ENCODE_SRGB {
        // What it multiplies is encoded, and encoding is a power but for its foot.
        return vec4<f32>(srgb_from_linear(factor), 1.0);
    }
    return vec4<f32>(factor, 1.0);
}
