//! The ground around a character, as its pose sees it.

use glam::{Vec2, Vec3};

/// A piece of ground in model space: a quadratic over x and z, a step or so wide.
///
/// It is measured against the ground that clips are made for, the level plane through its origin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GroundPatch {
    /// The point of the level plane that the character stands on; the ground goes through it.
    pub origin: Vec3,
    /// Height per model unit along x and along z, at the origin.
    pub slope: Vec2,
    /// Change of the slope per model unit: along x of the x slope, along z of the x slope (and of
    /// the z slope along x), along z of the z slope.
    pub bend: Vec3,
}

impl GroundPatch {
    /// Fits a patch to `height` over the origin at six points: the origin, where the height is
    /// taken to be zero, four points `reach` away along the axes, and one between two of them.
    /// At these it is exact. A `reach` that is not above zero gives level ground.
    ///
    /// Both `height` and what it is given (an offset from the origin along x and z) are in model
    /// units.
    pub fn fit(origin: Vec3, reach: f32, height: impl Fn(Vec2) -> f32) -> Self {
        let level = Self { origin, slope: Vec2::ZERO, bend: Vec3::ZERO };
        if reach.is_nan() || reach <= 0.0 || !reach.is_finite() {
            return level;
        }
        let at = |x: f32, z: f32| height(reach * Vec2::new(x, z));
        let [right, left, ahead, behind] =
            [at(1.0, 0.0), at(-1.0, 0.0), at(0.0, 1.0), at(0.0, -1.0)];
        let twist = at(1.0, 1.0) - right - ahead;
        let slope = Vec2::new(right - left, ahead - behind) / (2.0 * reach);
        let bend = Vec3::new(right + left, twist, ahead + behind) / (reach * reach);
        Self { origin, slope, bend }
    }

    /// How much higher than the level plane the ground is below a point of model space.
    pub fn rise(&self, at: Vec3) -> f32 {
        let (x, z) = (at.x - self.origin.x, at.z - self.origin.z);
        let Vec3 { x: xx, y: xz, z: zz } = self.bend;
        x * (self.slope.x + 0.5 * xx * x + xz * z) + z * (self.slope.y + 0.5 * zz * z)
    }

    /// Height per model unit along x and along z below a point of model space.
    pub fn slope_at(&self, at: Vec3) -> Vec2 {
        let (x, z) = (at.x - self.origin.x, at.z - self.origin.z);
        let Vec3 { x: xx, y: xz, z: zz } = self.bend;
        self.slope + Vec2::new(xx * x + xz * z, xz * x + zz * z)
    }

    /// True when all of its numbers are.
    pub fn is_finite(&self) -> bool {
        self.origin.is_finite() && self.slope.is_finite() && self.bend.is_finite()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A quadratic through its origin.
    fn bumpy(o: Vec2) -> f32 {
        0.2 * o.x - 0.1 * o.y + 0.3 * o.x * o.x - 0.4 * o.x * o.y + 0.15 * o.y * o.y
    }

    #[test]
    fn a_quadratic_is_fitted_exactly_whatever_the_reach() {
        let origin = Vec3::new(0.4, -0.2, 1.0);
        for reach in [0.05, 0.25, 1.0] {
            let patch = GroundPatch::fit(origin, reach, bumpy);
            for o in [Vec2::ZERO, Vec2::new(0.3, -0.5), Vec2::new(-1.0, 0.7)] {
                let at = origin + Vec3::new(o.x, 5.0, o.y);
                assert!((patch.rise(at) - bumpy(o)).abs() < 1e-5, "{reach} {o}");
                let h = 1e-2;
                let along = |d: Vec2| (bumpy(o + h * d) - bumpy(o - h * d)) / (2.0 * h);
                let slope = Vec2::new(along(Vec2::X), along(Vec2::Y));
                assert!(patch.slope_at(at).distance(slope) < 1e-4, "{reach} {o}");
            }
        }
    }

    #[test]
    fn without_a_reach_or_a_height_there_is_nothing_to_stand_on_but_the_plane() {
        for reach in [0.0, -1.0, f32::NAN, f32::INFINITY] {
            let patch = GroundPatch::fit(Vec3::Y, reach, |_| 3.0);
            assert_eq!((patch.slope, patch.bend), (Vec2::ZERO, Vec3::ZERO));
        }
        assert!(!GroundPatch::fit(Vec3::Y, 1.0, |_| f32::NAN).is_finite());
    }
}
