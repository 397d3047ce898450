// Lines of a width in pixels: one instance for each, a quad that faces the camera.

// Mirrors `LineRecord`.
struct Line {
    // World positions, metres.
    @location(0) start: vec3<f32>,
    // Pixels.
    @location(1) width: f32,
    @location(2) end: vec3<f32>,
    // As it is to be seen: sRGB and alpha, 8 bits each, red lowest, not premultiplied.
    @location(3) color: u32,
}

struct Varyings {
    @builtin(position) clip: vec4<f32>,
    @location(0) color: vec4<f32>,
}

// Nearer to the eye than the near plane nothing is drawn, metres.
const NEAREST: f32 = 0.02;
// What a line is nearer than it is, as a share of its depth: one that lies on a surface is seen.
const NEARER: f32 = 1.002;

// The part of a line that is not behind the near plane: where it begins, of two points in clip space
// of which `w` is the distance along the line of sight.
fn ahead(point: vec4<f32>, other: vec4<f32>) -> vec4<f32> {
    let missing = NEAREST - point.w;
    if missing <= 0.0 || other.w <= NEAREST {
        return point;
    }
    return mix(point, other, missing / (other.w - point.w));
}

@vertex
fn vs_main(@builtin(vertex_index) index: u32, line: Line) -> Varyings {
    let start = frame.clip_from_world * vec4<f32>(line.start, 1.0);
    let end = frame.clip_from_world * vec4<f32>(line.end, 1.0);
    let a = ahead(start, end);
    let b = ahead(end, start);
    var out: Varyings;
    out.color = unpack4x8unorm(line.color);
    if a.w < NEAREST {
        // All of it is behind the eye.
        out.clip = vec4<f32>(2.0, 2.0, 2.0, 1.0);
        return out;
    }
    let half_size = frame.size * 0.5;
    let way = (b.xy / b.w - a.xy / a.w) * half_size;
    let distance = length(way);
    let along = select(vec2<f32>(1.0, 0.0), way / distance, distance > 1e-6);
    let aside = vec2<f32>(-along.y, along.x);
    // Two triangles; the ends reach half a width farther, so that corners are closed.
    let last = index == 1u || index == 2u || index == 4u;
    let left = index == 2u || index == 4u || index == 5u;
    let point = select(a, b, last);
    let offset = along * select(-1.0, 1.0, last) + aside * select(-1.0, 1.0, left);
    let ndc = point.xy / point.w + offset * 0.5 * line.width / half_size;
    out.clip = vec4<f32>(ndc * point.w, point.z * NEARER, point.w);
    return out;
}

@fragment
fn fs_main(in: Varyings) -> @location(0) vec4<f32> {
    if ENCODE_SRGB {
        return in.color;
    }
    return vec4<f32>(linear_from_srgb(in.color.rgb), in.color.a);
}
