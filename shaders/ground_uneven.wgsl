// Uneven ground: square tiles around the camera, fine near and coarse far, whose vertices lie on
// the terrain. src/render/ground_tiles.rs deals them and sets the constants.

// Cells along a tile's side.
override TILE_CELLS: u32;
// Distance, in cells of a tile, at which coarser tiles take over.
override RANGE_CELLS: f32;
// The shares of that distance between which it becomes so.
override MORPH_FROM: f32;
override MORPH_BY: f32;
// Metres from the eye between which the ground levels out.
override LEVEL_FROM: f32;
override LEVEL_BY: f32;

// Mirrors `GroundTile`.
struct Tile {
    // World (x, z) of the corner with the smallest coordinates, metres.
    @location(0) corner: vec2<f32>,
    // Side of a cell, metres.
    @location(1) cell: f32,
}

struct Varyings {
    @builtin(position) clip: vec4<f32>,
    @location(0) world: vec3<f32>,
}

// The share of its unevenness that the ground shows this far from the eye.
fn unevenness(away: f32) -> f32 {
    return 1.0 - smoothstep(LEVEL_FROM, LEVEL_BY, away);
}

fn away_from_eye(at: vec2<f32>) -> f32 {
    return length(vec3<f32>(at.x, 0.0, at.y) - frame.eye);
}

@vertex
fn vs_main(@builtin(vertex_index) index: u32, tile: Tile) -> Varyings {
    let side = TILE_CELLS + 1u;
    let grid = vec2<f32>(f32(index / side), f32(index % side));
    let full = tile.corner + grid * tile.cell;
    // Every other vertex slides onto its neighbour: at the end of its range a tile has the very
    // vertices of the coarser tiles there, and nothing gapes between them.
    let away = away_from_eye(full) / (tile.cell * RANGE_CELLS);
    let morph = saturate((away - MORPH_FROM) / (MORPH_BY - MORPH_FROM));
    let odd = grid - 2.0 * floor(0.5 * grid);
    let at = full - odd * (tile.cell * morph);
    let height = terrain_point(frame.terrain_seed, at, 0.0).x * unevenness(away_from_eye(at));
    let world = vec3<f32>(at.x, height, at.y);
    return Varyings(frame.clip_from_world * vec4<f32>(world, 1.0), world);
}

@fragment
fn fs_main(in: Varyings) -> @location(0) vec4<f32> {
    let tiles = in.world.xz / TILE;
    let width = fwidth(tiles);
    let albedo = paving_albedo(in.world.xz, tiles, width);

    // The normal is the terrain's, not the mesh's, so that light doesn't show the triangles; bumps
    // that a pixel holds several of are left out.
    let span = max(width.x, width.y) * TILE;
    let share = unevenness(away_from_eye(in.world.xz));
    let slope = share * terrain_point(frame.terrain_seed, in.world.xz, span).yz;
    let n = normalize(vec3<f32>(-slope.x, 1.0, -slope.y));
    let facing = saturate(dot(n, frame.sun_direction));
    let sun = frame.sun_color * (facing * sun_visibility(in.world, n));
    let radiance = albedo * (sun + ambient_irradiance(n));
    return vec4<f32>(display_color_dithered(through_haze(radiance, in.world), in.clip), 1.0);
}
