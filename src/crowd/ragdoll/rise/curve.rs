//! Curves through points that are evenly spaced in time.

use glam::Vec3;

/// Steps of a curve.
pub const STEPS: usize = 28;

/// A point for each step, and what is between them: smooth, and never beyond its neighbours.
///
/// Cubic Hermite segments whose tangents are zero where an axis turns back and the harmonic mean
/// of both slopes elsewhere (F. N. Fritsch and J. Butland, *A method for constructing local monotone
/// piecewise cubic interpolants*, 1984), so what stands still for two steps does not stir.
#[derive(Clone, Debug)]
pub struct Curve(pub Vec<Vec3>);

impl Curve {
    /// One that stays where it is.
    pub fn still(at: Vec3) -> Self {
        Self(vec![at; STEPS + 1])
    }

    /// Its point at a share of its time, `0..=1`.
    pub fn at(&self, share: f32) -> Vec3 {
        let step = share.clamp(0.0, 1.0) * STEPS as f32;
        let from = (step as usize).min(STEPS - 1);
        let t = step - from as f32;
        let point = |at: usize| self.0[at.min(STEPS)];
        let (a, b) = (point(from), point(from + 1));
        let before = if from > 0 { a - point(from - 1) } else { Vec3::ZERO };
        let after = if from + 1 < STEPS { point(from + 2) - b } else { Vec3::ZERO };
        let way = b - a;
        let (ta, tb) = (tangent(before, way), tangent(way, after));
        let (t2, t3) = (t * t, t * t * t);
        a + way * (3.0 * t2 - 2.0 * t3) + ta * (t3 - 2.0 * t2 + t) + tb * (t3 - t2)
    }
}

fn tangent(one: Vec3, other: Vec3) -> Vec3 {
    let product = one * other;
    let mean = 2.0 * product / (one + other);
    Vec3::select(product.cmpgt(Vec3::ZERO), mean, Vec3::ZERO)
}

/// From 0 to 1 at rest at both ends; `3 x^2 - 2 x^3`.
pub fn smooth(x: f32) -> f32 {
    let x = x.clamp(0.0, 1.0);
    x * x * (3.0 - 2.0 * x)
}

/// [`smooth`] from one share of a time to another.
pub fn between((from, to): (f32, f32), share: f32) -> f32 {
    smooth((share - from) / (to - from))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_curve_goes_through_its_points_and_nowhere_beyond_them() {
        let point =
            |i: usize| Vec3::new(i as f32, if i < 9 { 0.0 } else { 1.0 }, (i * i % 7) as f32);
        let curve = Curve((0..=STEPS).map(point).collect());
        for i in 0..STEPS {
            let (a, b) = (point(i), point(i + 1));
            assert!(curve.at(i as f32 / STEPS as f32).distance(a) < 1e-4, "{i}");
            for t in 0..=16 {
                let at = curve.at((i as f32 + t as f32 / 16.0) / STEPS as f32);
                assert!(at.cmpge(a.min(b) - 1e-4).all() && at.cmple(a.max(b) + 1e-4).all(), "{at}");
            }
        }
        assert_eq!((curve.at(-1.0), curve.at(2.0)), (point(0), point(STEPS)));
        assert_eq!(Curve::still(Vec3::Y).at(0.37), Vec3::Y);
    }

    #[test]
    fn a_straight_line_at_even_speed_is_one() {
        let curve = Curve((0..=STEPS).map(|i| Vec3::splat(i as f32)).collect());
        let at = curve.at(10.25 / STEPS as f32).x;
        assert!((at - 10.25).abs() < 1e-4, "{at}");
    }
}
