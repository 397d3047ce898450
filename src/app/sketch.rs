//! Lines that are drawn into the world to explain it: one frame's.

use crate::math::{Bounds, View};
use crate::render::{LineRecord, Lines};
use glam::{Affine3A, Vec3};
use std::f32::consts::TAU;

/// What a line looks like.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stroke {
    /// Pixels.
    pub width: f32,
    /// sRGB and alpha.
    pub color: [u8; 4],
    /// Seen through everything.
    pub x_ray: bool,
}

impl Stroke {
    /// Hidden by what is nearer.
    pub const fn new(width: f32, color: [u8; 4]) -> Self {
        Self { width, color, x_ray: false }
    }

    /// Seen through everything.
    pub const fn x_ray(width: f32, color: [u8; 4]) -> Self {
        Self { width, color, x_ray: true }
    }
}

/// Straight pieces of a circle.
const SIDES: u32 = 48;
/// The twelve edges of a box, by the bits of its corners.
const EDGES: [(usize, usize); 12] = [
    (0, 1),
    (2, 3),
    (4, 5),
    (6, 7),
    (0, 2),
    (1, 3),
    (4, 6),
    (5, 7),
    (0, 4),
    (1, 5),
    (2, 6),
    (3, 7),
];

/// Lines of one frame; kept from frame to frame for their memory. World metres throughout.
#[derive(Debug, Default)]
pub struct Sketch {
    tested: Vec<LineRecord>,
    x_ray: Vec<LineRecord>,
}

impl Sketch {
    /// Nothing again.
    pub fn clear(&mut self) {
        self.tested.clear();
        self.x_ray.clear();
    }

    /// What the renderer is given.
    pub fn lines(&self) -> Lines<'_> {
        Lines { tested: &self.tested, x_ray: &self.x_ray }
    }

    /// A straight line. Nothing where an end is nowhere.
    pub fn line(&mut self, start: Vec3, end: Vec3, stroke: Stroke) {
        if !(start.is_finite() && end.is_finite()) {
            return;
        }
        let Stroke { width, color, x_ray } = stroke;
        let color = u32::from_le_bytes(color);
        let record = LineRecord { start: start.into(), width, end: end.into(), color };
        if x_ray { self.x_ray.push(record) } else { self.tested.push(record) }
    }

    /// Lines from point to point.
    pub fn path(&mut self, points: impl IntoIterator<Item = Vec3>, stroke: Stroke) {
        let mut points = points.into_iter();
        let Some(mut last) = points.next() else { return };
        for point in points {
            self.line(last, point, stroke);
            last = point;
        }
    }

    /// A circle; `x` and `y` lead from its centre to its rim, at a right angle.
    pub fn circle(&mut self, center: Vec3, x: Vec3, y: Vec3, stroke: Stroke) {
        self.arc(center, x, y, SIDES, stroke);
    }

    /// The first sides of a circle of [`SIDES`].
    fn arc(&mut self, center: Vec3, x: Vec3, y: Vec3, sides: u32, stroke: Stroke) {
        let point = |i: u32| {
            let (sin, cos) = (i as f32 / SIDES as f32 * TAU).sin_cos();
            center + x * cos + y * sin
        };
        self.path((0..=sides).map(point), stroke);
    }

    /// Three great circles.
    pub fn sphere(&mut self, center: Vec3, radius: f32, stroke: Stroke) {
        let [x, y, z] = [Vec3::X, Vec3::Y, Vec3::Z].map(|axis| axis * radius);
        for (a, b) in [(x, y), (y, z), (z, x)] {
            self.circle(center, a, b, stroke);
        }
    }

    /// The edges of a box in the space that `place` leads out of.
    pub fn cuboid(&mut self, place: &Affine3A, of: &Bounds, stroke: Stroke) {
        let corners: [Vec3; 8] = std::array::from_fn(|corner| {
            let pick = |axis: usize| if corner >> axis & 1 == 1 { of.max } else { of.min }[axis];
            place.transform_point3(Vec3::new(pick(0), pick(1), pick(2)))
        });
        self.edges(&corners, stroke);
    }

    fn edges(&mut self, corners: &[Vec3; 8], stroke: Stroke) {
        for (a, b) in EDGES {
            self.line(corners[a], corners[b], stroke);
        }
    }

    /// Three lines through a point, along the world's axes.
    pub fn cross(&mut self, at: Vec3, reach: f32, stroke: Stroke) {
        for axis in [Vec3::X, Vec3::Y, Vec3::Z] {
            self.line(at - axis * reach, at + axis * reach, stroke);
        }
    }

    /// All points within a distance of a segment: rings at its ends, sides, and caps.
    pub fn capsule(&mut self, a: Vec3, b: Vec3, radius: f32, stroke: Stroke) {
        let along = (b - a).normalize_or(Vec3::Y);
        let (x, z) = along.any_orthonormal_pair();
        let (x, z, up) = (x * radius, z * radius, along * radius);
        for (end, out) in [(a, -up), (b, up)] {
            self.circle(end, x, z, stroke);
            for side in [x, z] {
                self.arc(end, side, out, SIDES / 2, stroke);
            }
        }
        for side in [x, -x, z, -z] {
            self.line(a + side, b + side, stroke);
        }
    }

    /// What a view sees, from its eye as far as `depth` metres along its line of sight.
    pub fn frustum(&mut self, view: &View, depth: f32, stroke: Stroke) {
        let (width, height) = (view.width as f32, view.height as f32);
        let at = |corner: usize, depth: f32| {
            let x = if corner & 1 == 1 { width } else { 0.0 };
            let y = if corner & 2 == 2 { height } else { 0.0 };
            view.eye + view.direction(x, y) * depth
        };
        let corners = std::array::from_fn(|i| at(i, if i & 4 == 4 { depth } else { View::NEAR }));
        self.edges(&corners, stroke);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STROKE: Stroke = Stroke::new(2.0, [1, 2, 3, 4]);

    fn ends(sketch: &Sketch) -> Vec<Vec3> {
        sketch.lines().tested.iter().flat_map(|l| [l.start.into(), l.end.into()]).collect()
    }

    #[test]
    fn lines_go_to_their_lists_and_what_is_nowhere_to_none() {
        let mut sketch = Sketch::default();
        assert!(sketch.lines().is_empty());
        sketch.line(Vec3::ZERO, Vec3::X, STROKE);
        sketch.line(Vec3::ZERO, Vec3::NAN, STROKE);
        sketch.cross(Vec3::ZERO, 1.0, Stroke::x_ray(1.0, [255; 4]));
        sketch.path([], STROKE);
        sketch.path([Vec3::X], STROKE);
        let lines = sketch.lines();
        assert_eq!((lines.tested.len(), lines.x_ray.len()), (1, 3));
        assert_eq!(lines.tested[0].color.to_le_bytes(), [1, 2, 3, 4]);
        sketch.clear();
        assert!(sketch.lines().is_empty());
    }

    #[test]
    fn shapes_are_where_they_are_said_to_be() {
        let mut sketch = Sketch::default();
        sketch.sphere(Vec3::ONE, 2.0, STROKE);
        assert!(ends(&sketch).iter().all(|p| (p.distance(Vec3::ONE) - 2.0).abs() < 1e-5));
        sketch.clear();
        let (a, b) = (Vec3::new(1.0, 0.0, 0.0), Vec3::new(1.0, 3.0, 1.0));
        sketch.capsule(a, b, 0.5, STROKE);
        for p in ends(&sketch) {
            let share = ((p - a).dot(b - a) / (b - a).length_squared()).clamp(0.0, 1.0);
            assert!((p.distance(a + (b - a) * share) - 0.5).abs() < 1e-4, "{p}");
        }
        sketch.clear();
        let place = Affine3A::from_translation(Vec3::Y);
        sketch.cuboid(&place, &Bounds::of_points([Vec3::ZERO, Vec3::ONE].into_iter()), STROKE);
        assert_eq!(sketch.lines().tested.len(), 12);
        let lengths = sketch.lines().tested.iter();
        let mut lengths = lengths.map(|l| Vec3::from(l.start).distance(l.end.into()));
        assert!(lengths.all(|length| (length - 1.0).abs() < 1e-6));
    }

    #[test]
    fn a_frustum_is_what_its_view_sees() {
        let view = View::look_at(Vec3::new(3.0, 2.0, 9.0), Vec3::ZERO, 0.8, 100.0, (320, 180));
        let mut sketch = Sketch::default();
        sketch.frustum(&view, 20.0, STROKE);
        for p in ends(&sketch) {
            let ndc = view.clip_from_world().project_point3(p);
            assert!((ndc.x.abs() - 1.0).abs() < 1e-3 && (ndc.y.abs() - 1.0).abs() < 1e-3, "{ndc}");
            let depth = (p - view.eye).dot(view.forward);
            assert!((depth - 20.0).abs() < 1e-3 || (depth - View::NEAR).abs() < 1e-3, "{depth}");
        }
    }
}
