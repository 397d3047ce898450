// What the ground is paved with.

// Side of a slab, metres.
const TILE: f32 = 2.0;

// How much of a pixel `width` wide around `x` lies in the joints of width `joint` at whole
// numbers: the difference of the joints' integral at both ends, so no distance shimmers.
fn joint_cover(x: vec2<f32>, width: vec2<f32>, joint: f32) -> vec2<f32> {
    let w = max(width, vec2<f32>(1e-4));
    let a = x - 0.5 * w + 0.5 * joint;
    let b = x + 0.5 * w + 0.5 * joint;
    let upto_a = floor(a) * joint + min(fract(a), vec2<f32>(joint));
    let upto_b = floor(b) * joint + min(fract(b), vec2<f32>(joint));
    return saturate((upto_b - upto_a) / w);
}

fn hash(cell: vec2<f32>) -> f32 {
    let c = vec2<u32>(vec2<i32>(cell) + 32768);
    var h = c.x * 0x8da6b343u ^ c.y * 0xd8163841u;
    h = (h ^ (h >> 13u)) * 0x5bd1e995u;
    return f32((h ^ (h >> 15u)) & 0xffffu) / 65535.0;
}

// In 0..1, smooth, with a period of about one unit.
fn value_noise(p: vec2<f32>) -> f32 {
    let cell = floor(p);
    let f = p - cell;
    let s = f * f * (3.0 - 2.0 * f);
    let low = mix(hash(cell), hash(cell + vec2<f32>(1.0, 0.0)), s.x);
    let high = mix(hash(cell + vec2<f32>(0.0, 1.0)), hash(cell + vec2<f32>(1.0, 1.0)), s.x);
    return mix(low, high, s.y);
}

// Albedo at a world (x, z); `tiles` is the same in slabs and `width` its extent in a pixel.
fn paving_albedo(at: vec2<f32>, tiles: vec2<f32>, width: vec2<f32>) -> vec3<f32> {
    let joints = joint_cover(tiles, width, 0.016);
    let joint = joints.x + joints.y - joints.x * joints.y;
    // Each slab a little lighter or darker, until a pixel holds several.
    let single = 1.0 - smoothstep(0.3, 1.2, max(width.x, width.y));
    let slab = (hash(floor(tiles)) - 0.5) * single;
    // And the whole a little worn here and there, as far as a pixel is small beside it.
    let span = max(width.x, width.y) * TILE;
    let near = (value_noise(at / 9.0) - 0.5) * (1.0 - smoothstep(2.0, 9.0, span));
    let far = (value_noise(at / 31.0) - 0.5) * (1.0 - smoothstep(7.0, 31.0, span));
    let tone = 1.0 + 0.13 * slab + 0.12 * near + 0.06 * far;
    return vec3<f32>(0.225, 0.21, 0.186) * tone * (1.0 - 0.42 * joint);
}
