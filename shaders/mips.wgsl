// One level of a texture from the level above it.

@group(0) @binding(0) var source: texture_2d<f32>;

struct Varyings {
    @builtin(position) clip: vec4<f32>,
}

@vertex
fn vs_main(@builtin(vertex_index) index: u32) -> Varyings {
    let corner = vec2<f32>(f32((index << 1u) & 2u), f32(index & 2u));
    return Varyings(vec4<f32>(corner * 2.0 - 1.0, 0.0, 1.0));
}

// The mean of the texels that this one covers (up to 3x3 for odd sizes), colours weighted by
// alpha, so that invisible texels don't bleed into visible ones.
@fragment
fn fs_main(in: Varyings) -> @location(0) vec4<f32> {
    let from_size = textureDimensions(source);
    let to_size = max(from_size / 2u, vec2<u32>(1u));
    let texel = vec2<u32>(in.clip.xy);
    let first = texel * from_size / to_size;
    let end = max((texel + 1u) * from_size / to_size, first + 1u);
    var color = vec3<f32>(0.0);
    var plain = vec3<f32>(0.0);
    var alpha = 0.0;
    var count = 0.0;
    for (var y = first.y; y < end.y; y++) {
        for (var x = first.x; x < end.x; x++) {
            let t = textureLoad(source, vec2<u32>(x, y), 0);
            color += t.rgb * t.a;
            plain += t.rgb;
            alpha += t.a;
            count += 1.0;
        }
    }
    let rgb = select(plain / count, color / max(alpha, 1e-6), alpha > 1e-4);
    return vec4<f32>(rgb, alpha / count);
}
