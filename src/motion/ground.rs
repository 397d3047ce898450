//! Rigid motion on the ground: two metres and a turn.

use glam::Vec2;

/// A translation on the ground plane and a turn about +Y: the rigid transforms of the plane, SE(2).
///
/// A turn of `yaw` takes +Z towards +X. As a motion it is applied from the right, in the moved
/// thing's own frame: `after = before.then(motion)`.
#[derive(Clone, Copy, Debug, PartialEq, Default, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct GroundMotion {
    /// Metres to the left of someone who faces +Z (along +X).
    pub x: f32,
    /// Metres forward (along +Z).
    pub z: f32,
    /// Radians; not wrapped, so that two full turns are 4 pi.
    pub yaw: f32,
}

/// Rotates a vector of the ground plane, given as (x, z), by `yaw` about +Y.
#[inline]
pub fn rotate(v: Vec2, yaw: f32) -> Vec2 {
    let (sin, cos) = yaw.sin_cos();
    Vec2::new(v.x * cos + v.y * sin, v.y * cos - v.x * sin)
}

impl GroundMotion {
    /// No motion.
    pub const IDENTITY: Self = Self { x: 0.0, z: 0.0, yaw: 0.0 };

    /// From a translation (x, z) and a turn.
    pub const fn new(translation: Vec2, yaw: f32) -> Self {
        Self { x: translation.x, z: translation.y, yaw }
    }

    /// The translation as (x, z).
    #[inline]
    pub const fn translation(self) -> Vec2 {
        Vec2::new(self.x, self.z)
    }

    /// This motion, and then `next` in the frame that this one arrived in.
    #[inline]
    pub fn then(self, next: Self) -> Self {
        if next.yaw == 0.0 && next.x == 0.0 && next.z == 0.0 {
            return self;
        }
        let step =
            if self.yaw == 0.0 { next.translation() } else { rotate(next.translation(), self.yaw) };
        Self::new(self.translation() + step, self.yaw + next.yaw)
    }

    /// The motion that undoes this one.
    #[inline]
    pub fn inverse(self) -> Self {
        Self::new(rotate(-self.translation(), -self.yaw), -self.yaw)
    }

    /// This motion `n` times in a row, or its inverse `-n` times.
    pub fn repeat(self, n: i32) -> Self {
        let mut base = if n < 0 { self.inverse() } else { self };
        let mut left = n.unsigned_abs();
        let mut result = Self::IDENTITY;
        while left > 0 {
            if left & 1 == 1 {
                result = result.then(base);
            }
            base = base.then(base);
            left >>= 1;
        }
        result
    }

    /// Both components times `weight`: what a branch of a blend contributes.
    #[inline]
    pub fn weighted(self, weight: f32) -> Self {
        Self { x: self.x * weight, z: self.z * weight, yaw: self.yaw * weight }
    }

    /// Sum of weighted contributions.
    #[inline]
    pub fn plus(self, other: Self) -> Self {
        Self { x: self.x + other.x, z: self.z + other.z, yaw: self.yaw + other.yaw }
    }

    /// In a world where a metre of the model is `scale` metres.
    #[inline]
    pub fn scaled(self, scale: f32) -> Self {
        Self { x: self.x * scale, z: self.z * scale, yaw: self.yaw }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::f32::consts::FRAC_PI_2;

    fn close(a: GroundMotion, b: GroundMotion, tolerance: f32) -> bool {
        a.translation().distance(b.translation()) <= tolerance && (a.yaw - b.yaw).abs() <= tolerance
    }

    #[test]
    fn a_turn_is_the_one_that_matrices_make() {
        let by_matrix = glam::Quat::from_rotation_y(0.7) * glam::Vec3::new(0.3, 0.0, -1.2);
        let here = rotate(Vec2::new(0.3, -1.2), 0.7);
        assert!(here.distance(Vec2::new(by_matrix.x, by_matrix.z)) < 1e-6);
    }

    #[test]
    fn four_quarter_turns_with_a_step_each_walk_a_square() {
        let side = GroundMotion::new(Vec2::new(0.0, 2.0), FRAC_PI_2);
        let round = side.repeat(4);
        assert!(close(round, GroundMotion::new(Vec2::ZERO, 4.0 * FRAC_PI_2), 1e-5), "{round:?}");
        assert!(close(side.repeat(-4), round.inverse(), 1e-5));
        assert_eq!(side.repeat(0), GroundMotion::IDENTITY);
    }

    proptest! {
        #[test]
        fn a_motion_and_its_inverse_cancel(x in -5f32..5.0, z in -5f32..5.0, yaw in -7f32..7.0) {
            let m = GroundMotion { x, z, yaw };
            prop_assert!(close(m.then(m.inverse()), GroundMotion::IDENTITY, 1e-4));
            prop_assert!(close(m.inverse().then(m), GroundMotion::IDENTITY, 1e-4));
        }

        #[test]
        fn repeating_is_composing(
            x in -1f32..1.0, z in -1f32..1.0, yaw in -1f32..1.0, n in 0i32..20,
        ) {
            let m = GroundMotion { x, z, yaw };
            let composed = (0..n).fold(GroundMotion::IDENTITY, |sum, _| sum.then(m));
            prop_assert!(close(m.repeat(n), composed, 1e-3));
        }
    }
}
