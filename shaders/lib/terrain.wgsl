// The height of uneven ground: `Terrain` of src/motion/terrain.rs, which says how it is made. A test
// holds the two together.

const TERRAIN_REACH: f32 = 131072.0;

// A number in -1..1 for a point of a lattice.
fn terrain_lattice(point: vec2<u32>, key: u32) -> f32 {
    var h = (point.x * 0x9e3779b1u) ^ (point.y * 0x85ebca77u) ^ key;
    h = (h ^ (h >> 16u)) * 0x7feb352du;
    h = (h ^ (h >> 15u)) * 0x846ca68bu;
    h = h ^ (h >> 16u);
    return f32(h >> 8u) * (2.0 / 16777216.0) - 1.0;
}

// One octave: height in x, gradient along world x and z in yz.
fn terrain_octave(
    at: vec2<f32>,
    per_metre: f32,
    amplitude: f32,
    turn: vec2<f32>,
    key: u32,
) -> vec3<f32> {
    let turned = vec2<f32>(turn.x * at.x - turn.y * at.y, turn.y * at.x + turn.x * at.y) * per_metre;
    let corner = floor(turned);
    let t = turned - corner;
    let low = vec2<u32>(vec2<i32>(corner));
    let a = terrain_lattice(low, key);
    let b = terrain_lattice(low + vec2<u32>(1u, 0u), key);
    let c = terrain_lattice(low + vec2<u32>(0u, 1u), key);
    let d = terrain_lattice(low + vec2<u32>(1u, 1u), key);

    let s = t * t * t * (t * (t * 6.0 - 15.0) + 10.0);
    let slope = 30.0 * t * t * (t * (t - 2.0) + 1.0);
    let along = vec2<f32>(b - a, c - a);
    let twist = a - b - c + d;
    let value = a + along.x * s.x + along.y * s.y + twist * s.x * s.y;
    let g = slope * (along + twist * s.yx) * per_metre;
    let unturned = vec2<f32>(turn.x * g.x + turn.y * g.y, turn.x * g.y - turn.y * g.x);
    return amplitude * vec3<f32>(value, unturned);
}

// How much of an octave is left when it is seen through a window `span` metres wide.
fn terrain_share(per_metre: f32, span: f32) -> f32 {
    return 1.0 - smoothstep(0.3, 1.0, span * per_metre);
}

// Height of the ground at a world (x, z) in x, its gradient along x and z in yz, without what is
// finer than `span` metres; all of it when `span` is 0.
fn terrain_point(seed: u32, at: vec2<f32>, span: f32) -> vec3<f32> {
    let within = clamp(at, vec2<f32>(-TERRAIN_REACH), vec2<f32>(TERRAIN_REACH));
    var sum = terrain_share(0.2, span)
        * terrain_octave(within, 0.2, 0.18, vec2<f32>(0.96, 0.28), seed ^ 0x3c6ef372u);
    sum += terrain_share(0.525, span)
        * terrain_octave(within, 0.525, 0.05, vec2<f32>(0.6, 0.8), seed ^ 0xa54ff53au);
    sum += terrain_share(1.25, span)
        * terrain_octave(within, 1.25, 0.012, vec2<f32>(-0.28, 0.96), seed ^ 0x510e527fu);
    return vec3<f32>(sum.x, select(vec2<f32>(0.0), sum.yz, within == at));
}
