//! How the points of a blend space lie: on one place, along a line or over a plane.

use delaunator::{Point, triangulate};

/// Points over a plane, and triangles over the points.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Plane {
    pub points: Vec<[f32; 2]>,
    pub triangles: Vec<[u16; 3]>,
}

/// How points lie.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Layout {
    /// There is one.
    Point,
    /// All on a line: a place (x, y) is `dot(place - origin, along)` on it.
    Line { origin: [f32; 2], along: [f32; 2], places: Vec<f32> },
    /// Over a plane.
    Plane(Plane),
}

/// Points nearer to each other than this part of the space's extent are one point.
const APART: f64 = 1e-5;
/// Triangles with less area than this, where the whole space has about 1, are none.
const AREA: f64 = 1e-6;

/// Finds out how points lie; at least one, all finite. Two that are at the same place are an error
/// that names their positions.
///
/// The triangulation is Delaunay's with each axis scaled to its extent, as axes may have different
/// units. Points with an angle so flat that their triangle has next to no area span none.
pub(super) fn layout(points: &[[f32; 2]]) -> Result<Layout, [usize; 2]> {
    let wide: Vec<[f64; 2]> = points.iter().map(|p| p.map(f64::from)).collect();
    let extent = |axis: usize| {
        let values = wide.iter().map(|p| p[axis]);
        let (low, high) = values.fold((f64::MAX, f64::MIN), |(l, h), v| (l.min(v), h.max(v)));
        (low, high - low)
    };
    let axes = [extent(0), extent(1)];
    let unit = |p: &[f64; 2]| {
        let on = |axis: usize| match axes[axis] {
            (low, size) if size > 0.0 => (p[axis] - low) / size,
            _ => 0.0,
        };
        [on(0), on(1)]
    };
    let scaled: Vec<[f64; 2]> = wide.iter().map(unit).collect();
    let (nearest, farthest) = pairs(&scaled);
    if let Some((pair, distance)) = nearest
        && distance <= APART
    {
        return Err(pair);
    }
    let Some(([from, to], _)) = farthest else { return Ok(Layout::Point) };

    let input: Vec<Point> = scaled.iter().map(|&[x, y]| Point { x, y }).collect();
    let found = triangulate(&input).triangles;
    let (corners, _) = found.as_chunks::<3>();
    let triangles: Vec<[u16; 3]> = corners
        .iter()
        .filter(|t| area(t.map(|i| scaled[i])) > AREA && area(t.map(|i| wide[i])) as f32 != 0.0)
        .map(|t| t.map(|i| i as u16))
        .collect();
    if !triangles.is_empty() {
        return Ok(Layout::Plane(Plane { points: points.to_vec(), triangles }));
    }

    let (a, b) = (wide[from], wide[to]);
    let length = (b[0] - a[0]).hypot(b[1] - a[1]);
    let along = [(b[0] - a[0]) / length, (b[1] - a[1]) / length];
    let place = |p: &[f64; 2]| ((p[0] - a[0]) * along[0] + (p[1] - a[1]) * along[1]) as f32;
    let places = wide.iter().map(place).collect();
    Ok(Layout::Line { origin: points[from], along: along.map(|v| v as f32), places })
}

type Pair = Option<([usize; 2], f64)>;

/// The two points that are nearest to each other, and the two that are farthest apart.
fn pairs(points: &[[f64; 2]]) -> (Pair, Pair) {
    let (mut nearest, mut farthest): (Pair, Pair) = (None, None);
    for (j, b) in points.iter().enumerate() {
        for (i, a) in points[..j].iter().enumerate() {
            let distance = (a[0] - b[0]).hypot(a[1] - b[1]);
            if nearest.is_none_or(|(_, least)| distance < least) {
                nearest = Some(([i, j], distance));
            }
            if farthest.is_none_or(|(_, most)| distance > most) {
                farthest = Some(([i, j], distance));
            }
        }
    }
    (nearest, farthest)
}

/// Twice the area of a triangle, without its sign.
fn area([a, b, c]: [[f64; 2]; 3]) -> f64 {
    ((b[0] - a[0]) * (c[1] - a[1]) - (c[0] - a[0]) * (b[1] - a[1])).abs()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn plane(points: &[[f32; 2]]) -> Plane {
        match layout(points) {
            Ok(Layout::Plane(plane)) => plane,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_square_with_its_middle_is_four_triangles() {
        let plane = plane(&[[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0], [0.0, 0.0]]);
        assert_eq!(plane.triangles.len(), 4);
        assert!(plane.triangles.iter().all(|t| t.contains(&4)), "{:?}", plane.triangles);
    }

    #[test]
    fn axes_of_different_units_do_not_make_slivers() {
        // Three rows of speeds in millimetres over turns of a tenth.
        let at = |i: usize| [(i % 3) as f32 * 1500.0, (i / 3) as f32 * 0.1];
        let points: Vec<_> = (0..9).map(at).collect();
        let plane = plane(&points);
        assert_eq!(plane.triangles.len(), 8);
        for t in &plane.triangles {
            let xs = t.map(|i| points[usize::from(i)][0]);
            let wide = xs.iter().fold(0f32, |w, x| w.max((x - xs[0]).abs()));
            assert!(wide <= 1500.0, "{t:?} reaches over two columns");
        }
    }

    #[test]
    fn few_points_and_points_on_a_line_are_less_than_a_plane() {
        assert_eq!(layout(&[[3.0, 4.0]]), Ok(Layout::Point));
        let Ok(Layout::Line { origin, along, places }) = layout(&[[0.0, 0.0], [3.0, 4.0]]) else {
            panic!()
        };
        assert_eq!((origin, along), ([0.0, 0.0], [0.6, 0.8]));
        assert_eq!(places, [0.0, 5.0]);
        let line: Vec<_> = (0..7).map(|i| [0.1 * i as f32, 1.0 - 0.3 * i as f32]).collect();
        let Ok(Layout::Line { places, .. }) = layout(&line) else { panic!("{:?}", layout(&line)) };
        assert!(places.windows(2).all(|w| (w[1] - w[0] - 0.1f32.hypot(0.3)).abs() < 1e-5));
        let upright: Vec<_> = (0..4).map(|i| [2.0, i as f32]).collect();
        assert!(matches!(layout(&upright), Ok(Layout::Line { .. })));
    }

    #[test]
    fn points_at_one_place_are_named() {
        assert_eq!(layout(&[[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 0.0]]), Err([1, 3]));
        assert_eq!(layout(&[[5.0, 5.0], [5.0, 5.0]]), Err([0, 1]));
        assert_eq!(layout(&[[0.0, 0.0], [1.0, 0.0], [1.0, 1e-7], [0.0, 1.0]]), Err([1, 2]));
    }

    #[test]
    fn the_largest_numbers_still_make_triangles() {
        let m = f32::MAX;
        assert!(layout(&[[-m, -m], [m, -m], [0.0, m]]).is_ok());
        let tiny = f32::MIN_POSITIVE;
        assert!(layout(&[[0.0, 0.0], [tiny, 0.0], [0.0, tiny]]).is_ok());
    }

    proptest! {
        #[test]
        fn triangles_cover_the_hull_once(
            points in prop::collection::vec([-4i8..4, -4i8..4], 1..14)
        ) {
            let points: Vec<[f32; 2]> = points.iter().map(|p| p.map(f32::from)).collect();
            match layout(&points) {
                Err([a, b]) => prop_assert_eq!(points[a], points[b]),
                Ok(Layout::Plane(plane)) => {
                    let of = |t: &[u16; 3]| t.map(|i| points[usize::from(i)].map(f64::from));
                    let sum: f64 = plane.triangles.iter().map(|t| area(of(t))).sum();
                    prop_assert!((sum - hull_area(&points)).abs() < 1e-9, "{} {}", sum, hull_area(&points));
                }
                Ok(_) => prop_assert_eq!(hull_area(&points), 0.0),
            }
        }
    }

    /// Twice the area of the convex hull, by Andrew's monotone chain.
    fn hull_area(points: &[[f32; 2]]) -> f64 {
        let mut sorted: Vec<[f64; 2]> = points.iter().map(|p| p.map(f64::from)).collect();
        sorted.sort_by(|a, b| a[0].total_cmp(&b[0]).then(a[1].total_cmp(&b[1])));
        let turn = |o: [f64; 2], a: [f64; 2], b: [f64; 2]| {
            (a[0] - o[0]) * (b[1] - o[1]) - (a[1] - o[1]) * (b[0] - o[0])
        };
        let chain = |points: &mut dyn Iterator<Item = [f64; 2]>| {
            let mut chain: Vec<[f64; 2]> = Vec::new();
            for p in points {
                while chain.len() > 1
                    && turn(chain[chain.len() - 2], chain[chain.len() - 1], p) <= 0.0
                {
                    chain.pop();
                }
                chain.push(p);
            }
            chain.pop();
            chain
        };
        let mut hull = chain(&mut sorted.iter().copied());
        hull.extend(chain(&mut sorted.iter().rev().copied()));
        let n = hull.len();
        (0..n).map(|i| hull[i][0] * hull[(i + 1) % n][1] - hull[i][1] * hull[(i + 1) % n][0]).sum()
    }
}
