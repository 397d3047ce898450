// The sky, behind everything: one triangle at infinite distance.

struct Varyings {
    @builtin(position) clip: vec4<f32>,
}

@vertex
fn vs_main(@builtin(vertex_index) index: u32) -> Varyings {
    let corner = vec2<f32>(f32((index << 1u) & 2u), f32(index & 2u));
    return Varyings(vec4<f32>(corner * 2.0 - 1.0, 0.0, 1.0));
}

@fragment
fn fs_main(in: Varyings) -> @location(0) vec4<f32> {
    let radiance = sky_radiance(normalize(ray_through(in.clip)));
    return vec4<f32>(display_color_dithered(radiance, in.clip), 1.0);
}
