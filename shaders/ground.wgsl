// Level ground: the plane y = 0 out to the horizon.

struct Varyings {
    @builtin(position) clip: vec4<f32>,
}

// Half the side of the square that is drawn, metres; by then all is haze.
const REACH: f32 = 8000.0;

@vertex
fn vs_main(@builtin(vertex_index) index: u32) -> Varyings {
    let corner = vec2<f32>(f32(index & 1u), f32(index >> 1u)) * 2.0 - 1.0;
    let world = vec3<f32>(frame.eye.x + corner.x * REACH, 0.0, frame.eye.z + corner.y * REACH);
    return Varyings(frame.clip_from_world * vec4<f32>(world, 1.0));
}

@fragment
fn fs_main(in: Varyings) -> @location(0) vec4<f32> {
    let ray = ray_through(in.clip);
    let down = min(ray.y, -1e-5);
    let way = ray * (-frame.eye.y / down);
    let world = vec3<f32>(frame.eye.x + way.x, 0.0, frame.eye.z + way.z);
    let tiles = world.xz / TILE;
    let albedo = paving_albedo(world.xz, tiles, fwidth(tiles));

    let n = vec3<f32>(0.0, 1.0, 0.0);
    let sun = frame.sun_color * (frame.sun_direction.y * sun_visibility(world, n));
    let radiance = albedo * (sun + ambient_irradiance(n));
    return vec4<f32>(display_color_dithered(through_haze(radiance, world), in.clip), 1.0);
}
