//! Which tiles uneven ground is drawn with: fine near the camera, coarse far from it.
//!
//! A quadtree over the world is cut by distance, after Strugar, "Continuous distance-dependent
//! level of detail for rendering heightmaps" (2009). Its tiles lie on a fixed lattice, so that no
//! vertex swims with the camera; towards the end of a tile's range every other vertex slides onto
//! its neighbour, until its rim has just the vertices of the coarser tile beyond.

use super::layout::GroundTile;
use crate::math::View;
use glam::{Vec2, Vec3, Vec4, Vec4Swizzles};

/// Cells along a tile's side; even, so that a tile of half as many covers it.
pub(super) const CELLS: u32 = 8;
/// A tile of level `n` is `FINEST * 2^n` metres wide.
const FINEST: f32 = 1.0;
/// Levels of tiles. The coarsest reach the horizon: 8 km.
const LEVELS: i32 = 14;
/// Distance from the eye, in cells of a tile, within which it is finer than the next coarser one.
pub(super) const RANGE: f32 = 64.0;
/// The shares of that distance between which vertices slide. They must not yet where tiles half as
/// wide may still lie: within half the distance and a tile's diagonal. The end leaves room for how
/// exactly a GPU measures distances.
pub(super) const MORPH: [f32; 2] = [0.7, 0.98];
/// Metres from the eye between which the ground levels out: 0.25 m at that distance are less than
/// half a pixel of a 720 pixel high picture.
pub(super) const LEVEL_OUT: [f32; 2] = [512.0, 1_024.0];

const _: () = {
    let finer_ones_end = 0.5 * RANGE + 1.415 * (CELLS as f32);
    assert!(CELLS.is_multiple_of(2) && finer_ones_end < MORPH[0] * RANGE);
};

fn side(level: i32) -> f32 {
    FINEST * (level as f32).exp2()
}

/// Fills `tiles` with those that `view` sees of ground no higher or lower than `max_height`.
pub(super) fn select(view: &View, max_height: f32, tiles: &mut Vec<GroundTile>) {
    // Without the far plane: the ground goes on to the horizon.
    let planes = *view.frustum().planes();
    Selection { eye: view.eye, planes: &planes[..5], max_height, tiles }.run();
}

struct Selection<'a> {
    eye: Vec3,
    planes: &'a [Vec4],
    max_height: f32,
    tiles: &'a mut Vec<GroundTile>,
}

impl Selection<'_> {
    fn run(&mut self) {
        self.tiles.clear();
        if !self.eye.is_finite() {
            return;
        }
        let coarsest = LEVELS - 1;
        let side = side(coarsest);
        let under = (Vec2::new(self.eye.x, self.eye.z) / side).floor();
        for i in [-1.0, 0.0, 1.0] {
            for j in [-1.0, 0.0, 1.0] {
                self.visit((under + Vec2::new(i, j)) * side, coarsest);
            }
        }
    }

    fn visit(&mut self, corner: Vec2, level: i32) {
        let side = side(level);
        if !self.sees(corner, side) {
            return;
        }
        let nearest = Vec2::new(self.eye.x, self.eye.z).clamp(corner, corner + side);
        let away = self.eye.distance(Vec3::new(nearest.x, 0.0, nearest.y));
        // Far from the origin a float has no room for fine tiles.
        let no_finer = level == 0 || side <= corner.abs().max_element() * 2e-6;
        if no_finer || away > RANGE / CELLS as f32 * 0.5 * side {
            self.tiles.push(GroundTile { corner: corner.into(), cell: side / CELLS as f32 });
            return;
        }
        let half = 0.5 * side;
        for (i, j) in [(0.0, 0.0), (0.0, half), (half, 0.0), (half, half)] {
            self.visit(corner + Vec2::new(i, j), level - 1);
        }
    }

    /// False only when all of a tile lies outside one plane.
    fn sees(&self, corner: Vec2, side: f32) -> bool {
        let center = corner + 0.5 * side;
        let center = Vec3::new(center.x, 0.0, center.y);
        let half = Vec3::new(0.5 * side, self.max_height, 0.5 * side);
        self.planes.iter().all(|p| p.xyz().dot(center) + p.w >= -p.xyz().abs().dot(half))
    }
}

/// The corners of a tile's triangles, as indices of its `(CELLS + 1)^2` vertices.
pub(super) fn triangles() -> Vec<u16> {
    let (cells, side) = (CELLS as u16, CELLS as u16 + 1);
    let cell = |i: u16, j: u16| {
        let a = i * side + j;
        let (b, c, d) = (a + 1, a + side, a + side + 1);
        [a, b, d, a, d, c]
    };
    (0..cells).flat_map(|i| (0..cells).flat_map(move |j| cell(i, j))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::motion::Terrain;
    use std::collections::HashMap;

    fn select_all(eye: Vec3) -> Vec<GroundTile> {
        let mut tiles = Vec::new();
        Selection { eye, planes: &[], max_height: 0.25, tiles: &mut tiles }.run();
        tiles
    }

    /// Where the shader puts a tile's vertices, (x, z).
    fn vertices(tile: &GroundTile, eye: Vec3) -> Vec<Vec2> {
        let count = CELLS + 1;
        let place = |index: u32| {
            let grid = Vec2::new((index / count) as f32, (index % count) as f32);
            let full = Vec2::from(tile.corner) + grid * tile.cell;
            let away = eye.distance(Vec3::new(full.x, 0.0, full.y)) / (tile.cell * RANGE);
            let morph = ((away - MORPH[0]) / (MORPH[1] - MORPH[0])).clamp(0.0, 1.0);
            full - grid % 2.0 * (tile.cell * morph)
        };
        (0..count * count).map(place).collect()
    }

    const EYES: [Vec3; 6] = [
        Vec3::new(0.0, 1.7, 0.0),
        Vec3::new(3.3, 0.4, -1_234.5),
        Vec3::new(-8_191.9, 2.0, 8_192.1),
        Vec3::new(40.0, 35.0, 17.0),
        Vec3::new(-600.0, 400.0, 900.0),
        Vec3::new(30_000.0, 9_000.0, 5.0),
    ];

    #[test]
    fn tiles_meet_edge_to_edge_without_a_gap() {
        for eye in EYES {
            let tiles = select_all(eye);
            let mut edges: HashMap<[[u32; 2]; 2], i32> = HashMap::new();
            let (mut low, mut high) = (Vec2::INFINITY, Vec2::NEG_INFINITY);
            for tile in &tiles {
                let at = vertices(tile, eye);
                let n = CELLS as usize;
                let index = |i: usize, j: usize| at[i * (n + 1) + j];
                let rims: [Vec<Vec2>; 4] = [
                    (0..=n).map(|k| index(0, k)).collect(),
                    (0..=n).map(|k| index(n, k)).collect(),
                    (0..=n).map(|k| index(k, 0)).collect(),
                    (0..=n).map(|k| index(k, n)).collect(),
                ];
                for pair in rims.iter().flat_map(|rim| rim.windows(2)).filter(|p| p[0] != p[1]) {
                    let mut key = [pair[0], pair[1]].map(|v| v.to_array().map(f32::to_bits));
                    key.sort_unstable();
                    *edges.entry(key).or_default() += 1;
                    (low, high) = (low.min(pair[0]), high.max(pair[0]));
                }
            }
            let outermost = |key: &[[u32; 2]; 2]| {
                let [a, b] = key.map(|v| Vec2::from(v.map(f32::from_bits)));
                let on = |v: f32, w: f32, low: f32, high: f32| v == w && (v == low || v == high);
                on(a.x, b.x, low.x, high.x) || on(a.y, b.y, low.y, high.y)
            };
            let gaps = edges.iter().filter(|(key, count)| **count != 2 && !outermost(key)).count();
            assert_eq!(gaps, 0, "from {eye}, {} tiles", tiles.len());
            assert!((high - low).min_element() == 3.0 * side(LEVELS - 1) && edges.len() > 100);
        }
    }

    /// The height of the drawn triangles at a point, before the ground levels out.
    fn drawn(tiles: &[GroundTile], eye: Vec3, terrain: Terrain, p: Vec2) -> f32 {
        let holds = |t: &&GroundTile| {
            let low = Vec2::from(t.corner);
            p.cmpge(low).all() && p.cmplt(low + t.cell * CELLS as f32).all()
        };
        let at = vertices(tiles.iter().find(holds).unwrap(), eye);
        let cross =
            |a: Vec2, b: Vec2| f64::from(a.x) * f64::from(b.y) - f64::from(a.y) * f64::from(b.x);
        let inside = triangles().chunks_exact(3).find_map(|t| {
            let [a, b, c] = [at[t[0] as usize], at[t[1] as usize], at[t[2] as usize]];
            let whole = cross(b - a, c - a);
            let weights = [cross(b - p, c - p), cross(c - p, a - p), cross(a - p, b - p)];
            let weights = weights.map(|w| (w / whole) as f32);
            let heights = [a, b, c].map(|v| terrain.height(v));
            let sum: f32 = weights.iter().zip(heights).map(|(w, h)| w * h).sum();
            (whole != 0.0 && weights.iter().all(|w| *w >= -1e-4)).then_some(sum)
        });
        inside.unwrap()
    }

    #[test]
    fn what_is_drawn_is_the_terrain_to_a_millimetre_nearby_and_to_about_a_pixel_beyond() {
        let (terrain, eye) = (Terrain::uneven(1), Vec3::new(10.3, 1.7, -20.9));
        let tiles = select_all(eye);
        // Pixels per radian in the middle of a picture 720 pixels high, seen through 0.72 radians.
        let pixels = 360.0 / 0.36f32.tan();
        let mut worst = [0.0f32; 2];
        for i in 0..6_000 {
            let away = 0.5 * 1.0013f32.powi(i);
            let p = Vec2::new(eye.x, eye.z) + Vec2::from_angle(i as f32 * 2.4) * away;
            let off = (drawn(&tiles, eye, terrain, p) - terrain.height(p)).abs();
            let limit = if away < 5.5 { 0.001 } else { f32::INFINITY };
            assert!(off < limit, "{off} m at {away} m");
            let band = usize::from(away > 16.0);
            worst[band] = worst[band].max(off / away.hypot(eye.y) * pixels);
        }
        assert!(worst[0] < 0.6 && worst[1] < 1.2, "{worst:?} pixels");
    }

    #[test]
    fn tiles_are_few_and_those_out_of_view_are_left_out() {
        let (mut all, mut seen) = (0, 0);
        for eye in EYES {
            let whole = select_all(eye);
            let view = View::look_at(eye, eye + Vec3::new(1.0, -0.3, 0.4), 0.72, 50.0, (1280, 720));
            let mut tiles = Vec::new();
            select(&view, 0.25, &mut tiles);
            assert!(tiles.iter().all(|t| whole.contains(t)));
            let frustum = view.frustum();
            for tile in whole.iter().filter(|t| !tiles.contains(t)) {
                let side = tile.cell * CELLS as f32;
                for i in 0..25 {
                    let (x, z) = ((i % 5) as f32 * 0.25, (i / 5) as f32 * 0.25);
                    let p = Vec3::new(tile.corner[0] + x * side, 0.25, tile.corner[1] + z * side);
                    // The far plane counts for nothing here.
                    let visible = frustum.planes()[..5].iter().all(|f| f.xyz().dot(p) + f.w >= 0.0);
                    assert!(!visible, "{tile:?} is seen from {eye}");
                }
            }
            (all, seen) = (all.max(whole.len()), seen.max(tiles.len()));
        }
        assert!(all < 3_000 && seen < 1_000, "{all} {seen}");
    }

    #[test]
    fn no_place_is_too_far_for_it() {
        for x in [1e6, 1e9, 1e20, f32::MAX] {
            let tiles = select_all(Vec3::new(x, 2.0, -x));
            assert!(tiles.len() < 3_000, "{} tiles at {x} m", tiles.len());
        }
        assert_eq!(select_all(Vec3::new(f32::NAN, 1.0, 0.0)), []);
    }

    #[test]
    fn a_tiles_triangles_cover_it_and_face_up() {
        let corners = triangles();
        assert_eq!(corners.len() as u32, 6 * CELLS * CELLS);
        let at = |i: u16| {
            let (i, count) = (u32::from(i), CELLS + 1);
            Vec3::new((i / count) as f32, 0.0, (i % count) as f32)
        };
        let mut area = 0.0;
        for t in corners.chunks_exact(3) {
            let [a, b, c] = [at(t[0]), at(t[1]), at(t[2])];
            let twice = (b - a).cross(c - a);
            assert_eq!(twice, Vec3::Y);
            area += 0.5 * twice.y;
        }
        assert_eq!(area, (CELLS * CELLS) as f32);
    }
}
