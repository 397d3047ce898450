//! Where a place lies in a blend space.

use super::program::Space2D;

/// What a blend space over a line decides at a point with so much of the next one: three answers for
/// each point, its own pose, a blend with the next, or that one's pose.
pub(super) fn answer_1d(at: usize, alpha: f32) -> u32 {
    3 * at as u32 + 1 + u32::from(alpha == 1.0) - u32::from(alpha == 0.0)
}

/// The point at or before a place on a line of ascending points, and how far it is to the next,
/// 0..=1. A place beyond the ends, or that is not a number, counts as the nearest end.
pub(super) fn place_1d(points: &[f32], x: f32) -> (usize, f32) {
    let after = points.partition_point(|p| *p <= x);
    let (Some(at), Some(next)) = (after.checked_sub(1), points.get(after)) else {
        return (after.saturating_sub(1), 0.0);
    };
    let from = points[at];
    (at, ((x - from) / (next - from)).clamp(0.0, 1.0))
}

/// Where a place is in a blend space over a plane.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Spot {
    /// The triangle that holds it, see [`Space2D::corners`].
    pub triangle: usize,
    /// Barycentric weights of its corners: not negative, with the sum one.
    pub weights: [f32; 3],
}

impl Spot {
    /// The triangle, and bits of the corners that weigh something.
    pub fn answer(&self) -> u32 {
        let [a, b, c] = self.weights.map(|weight| u32::from(weight > 0.0));
        8 * self.triangle as u32 + (a | b << 1 | c << 2)
    }
}

impl Space2D {
    /// The points of a triangle; of one that it does not have, its first point.
    pub(super) fn corners(&self, triangle: usize) -> [u16; 3] {
        self.triangles.get(triangle).copied().unwrap_or_default()
    }

    /// Its triangles, ready to be looked through.
    pub(super) fn made_ready(&self) -> Vec<Triangle> {
        let corners = |t: &[u16; 3]| t.map(|i| self.points[usize::from(i)].map(f64::from));
        self.triangles.iter().map(corners).map(Triangle::new).collect()
    }
}

/// A triangle of a blend space.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Triangle {
    pub corners: [Point; 3],
    /// Opposite of each corner, from the next one to the last.
    pub edges: [Point; 3],
    /// Twice its area, negative where the corners go round clockwise.
    pub area: f64,
}

impl Triangle {
    fn new(corners: [Point; 3]) -> Self {
        let [a, b, c] = corners;
        let edges = [minus(c, b), minus(a, c), minus(b, a)];
        Self { corners, edges, area: cross(minus(b, a), minus(c, a)) }
    }

    /// The barycentric weights of a point; one is negative for one outside.
    fn weights(&self, p: Point) -> [f64; 3] {
        let from = |corner: usize| minus(p, self.corners[corner]);
        [(0, 1), (1, 2), (2, 0)]
            .map(|(edge, corner)| cross(self.edges[edge], from(corner)) / self.area)
    }

    /// The weights of the point of its edges that is nearest to `p`, and how far that is, squared.
    fn nearest(&self, p: Point) -> ([f64; 3], f64) {
        let mut best = ([1.0, 0.0, 0.0], f64::INFINITY);
        for (from, to, edge) in [(0, 1, 2), (1, 2, 0), (2, 0, 1)] {
            let edge = self.edges[edge];
            let off = minus(p, self.corners[from]);
            let t = (dot(off, edge) / dot(edge, edge)).clamp(0.0, 1.0);
            let off = minus(off, [edge[0] * t, edge[1] * t]);
            let distance = dot(off, off);
            if distance < best.1 {
                let mut weights = [0.0; 3];
                (weights[from], weights[to]) = (1.0 - t, t);
                best = (weights, distance);
            }
        }
        best
    }
}

/// The spot of a place. One outside counts as the nearest one inside, one that is not a number as
/// the origin's.
pub(super) fn place_2d(triangles: &[Triangle], place: [f32; 2]) -> Spot {
    let place = place.map(|v| if v.is_finite() { v } else { 0.0 }).map(f64::from);
    let spot = |triangle, weights: [f64; 3]| Spot { triangle, weights: weights.map(|w| w as f32) };
    for (at, triangle) in triangles.iter().enumerate() {
        let weights = triangle.weights(place);
        if weights.iter().all(|w| *w >= 0.0) {
            return spot(at, weights);
        }
    }
    let mut best = (spot(triangles.len(), [1.0, 0.0, 0.0]), f64::INFINITY);
    for (at, triangle) in triangles.iter().enumerate() {
        let (weights, distance) = triangle.nearest(place);
        if distance < best.1 {
            best = (spot(at, weights), distance);
        }
    }
    best.0
}

pub(super) type Point = [f64; 2];

fn minus(a: Point, b: Point) -> Point {
    [a[0] - b[0], a[1] - b[1]]
}

fn dot(a: Point, b: Point) -> f64 {
    a[0] * b[0] + a[1] * b[1]
}

fn cross(a: Point, b: Point) -> f64 {
    a[0] * b[1] - a[1] * b[0]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_place_on_a_line_is_between_its_neighbours() {
        let points = [-1.0, 0.0, 2.0];
        assert_eq!(place_1d(&points, -0.5), (0, 0.5));
        assert_eq!(place_1d(&points, 0.0), (1, 0.0));
        assert_eq!(place_1d(&points, 1.5), (1, 0.75));
        assert_eq!(place_1d(&points, 2.0), (2, 0.0));
        assert_eq!((place_1d(&points, 9.0), place_1d(&points, -9.0)), ((2, 0.0), (0, 0.0)));
        assert_eq!((place_1d(&points, f32::NAN), place_1d(&[4.0], 4.0)), ((0, 0.0), (0, 0.0)));
    }

    fn square() -> Space2D {
        Space2D {
            name: "square".into(),
            points: vec![[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]],
            triangles: vec![[0, 1, 2], [0, 3, 2]],
        }
    }

    /// Where the weights put a place.
    fn put(space: &Space2D, place: [f32; 2]) -> [f32; 2] {
        let Spot { triangle, weights } = place_2d(&space.made_ready(), place);
        let corners = space.corners(triangle);
        assert!(weights.iter().all(|w| *w >= 0.0) && (weights.iter().sum::<f32>() - 1.0) < 1e-6);
        let mut at = [0.0; 2];
        for (corner, weight) in corners.into_iter().zip(weights) {
            let point = space.points[usize::from(corner)];
            at = [at[0] + weight * point[0], at[1] + weight * point[1]];
        }
        at
    }

    proptest! {
        #[test]
        fn weights_give_the_nearest_place_inside(x in -3f32..3.0, y in -3f32..3.0) {
            // Of a square the nearest place is the one with its coordinates limited.
            let [u, v] = put(&square(), [x, y]);
            prop_assert!((u - x.clamp(-1.0, 1.0)).abs() < 1e-5, "{x} {y}: {u} {v}");
            prop_assert!((v - y.clamp(-1.0, 1.0)).abs() < 1e-5, "{x} {y}: {u} {v}");
        }
    }

    #[test]
    fn corners_and_places_that_are_none() {
        let space = square();
        for (i, point) in space.points.iter().enumerate() {
            let Spot { triangle, weights } = place_2d(&space.made_ready(), *point);
            let of = space.corners(triangle).iter().position(|c| usize::from(*c) == i).unwrap();
            assert!((weights[of] - 1.0).abs() < 1e-6);
        }
        assert_eq!(put(&space, [f32::NAN, f32::INFINITY]), [0.0, 0.0]);
    }
}
