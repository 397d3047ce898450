//! A box and a sphere around the same points.

use glam::Vec3;

/// Axis-aligned box and the sphere around its centre, both holding every point they were built of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// Smallest corner of the box.
    pub min: Vec3,
    /// Largest corner of the box.
    pub max: Vec3,
    /// Radius around [`Bounds::center`]; at most half the box's diagonal.
    pub radius: f32,
}

impl Bounds {
    /// No points: a box and a sphere of size zero at the origin.
    pub const EMPTY: Self = Self { min: Vec3::ZERO, max: Vec3::ZERO, radius: 0.0 };

    /// Encloses points; two passes, so the iterator must be cheap to restart.
    pub fn of_points<I: Iterator<Item = Vec3> + Clone>(points: I) -> Self {
        let mut min = Vec3::INFINITY;
        let mut max = Vec3::NEG_INFINITY;
        for p in points.clone() {
            min = min.min(p);
            max = max.max(p);
        }
        if min.x > max.x {
            return Self::EMPTY;
        }
        let center = (min + max) * 0.5;
        let radius = points.map(|p| p.distance(center)).fold(0.0, f32::max);
        Self { min, max, radius }
    }

    /// Centre of the box and of the sphere.
    pub fn center(&self) -> Vec3 {
        (self.min + self.max) * 0.5
    }

    /// Extent of the box along each axis.
    pub fn size(&self) -> Vec3 {
        self.max - self.min
    }

    /// True when `p` lies within box and sphere, each grown by `slack`.
    pub fn contains(&self, p: Vec3, slack: f32) -> bool {
        p.cmpge(self.min - slack).all()
            && p.cmple(self.max + slack).all()
            && p.distance(self.center()) <= self.radius + slack
    }

    /// The box of both, its sphere enclosing both spheres' points.
    pub fn union(&self, other: &Self) -> Self {
        let (min, max) = (self.min.min(other.min), self.max.max(other.max));
        let center = (min + max) * 0.5;
        let reach = |b: &Self| b.center().distance(center) + b.radius;
        let radius = reach(self).max(reach(other)).min((max - min).length() * 0.5);
        Self { min, max, radius }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_hold_their_points_and_nothing_is_a_point_at_the_origin() {
        let points = [Vec3::new(1.0, 2.0, 3.0), Vec3::new(-4.0, 0.0, 1.0), Vec3::splat(2.0)];
        let b = Bounds::of_points(points.iter().copied());
        assert!(points.iter().all(|&p| b.contains(p, 1e-6)));
        assert!(!b.contains(Vec3::splat(9.0), 0.1));
        assert_eq!(Bounds::of_points(std::iter::empty()), Bounds::EMPTY);
        let c = Bounds::of_points([Vec3::splat(10.0)].into_iter());
        let u = b.union(&c);
        assert!(points.iter().all(|&p| u.contains(p, 1e-5)) && u.contains(Vec3::splat(10.0), 1e-5));
    }
}
