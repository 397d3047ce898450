//! Rigid motion on the ground: two metres and a turn.

use glam::Vec2;
use std::f32::consts::{PI, TAU};

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

/// An angle in -pi..=pi; zero for one that is not finite.
pub(super) fn wrap(angle: f32) -> f32 {
    let turned = (angle + PI).rem_euclid(TAU) - PI;
    if turned.is_finite() { turned } else { 0.0 }
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
        let back = -self.translation();
        Self::new(if self.yaw == 0.0 { back } else { rotate(back, -self.yaw) }, -self.yaw)
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

    /// The part of this motion after a share of it at a constant speed: along a straight line, or
    /// along an arc where it turns. Shares beyond `0..=1` go on in the same way.
    pub fn fraction(self, share: f32) -> Self {
        let (yaw, half) = (self.yaw * share, 0.5 * self.yaw);
        // An arc's chord is its length times sin(h) / h, and turned by h, half of what it turns.
        let chord = |half: f32| if half.abs() < 1e-4 { 1.0 } else { half.sin() / half };
        let whole = chord(half);
        if whole.abs() < 1e-3 {
            // A full turn: the arc's radius can't be told from its ends.
            return Self::new(self.translation() * share, yaw);
        }
        let start = rotate(self.translation(), -half) * (share / whole);
        Self::new(rotate(start * chord(0.5 * yaw), 0.5 * yaw), yaw)
    }

    /// From this motion (0) to another (1): how deltas of one step blend.
    #[inline]
    pub fn lerp(self, other: Self, alpha: f32) -> Self {
        self.weighted(1.0 - alpha).plus(other.weighted(alpha))
    }

    /// As [`GroundMotion::lerp`], with the turn on the shorter way round: how places blend, and
    /// what a blend of two poses does to their roots.
    #[inline]
    pub fn lerp_short(self, other: Self, alpha: f32) -> Self {
        let yaw = self.yaw + wrap(other.yaw - self.yaw) * alpha;
        Self { yaw, ..self.lerp(other, alpha) }
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

    #[test]
    fn places_blend_on_the_shorter_way_round_and_deltas_as_they_are() {
        let at = |yaw| GroundMotion { yaw, ..GroundMotion::IDENTITY };
        assert!((at(3.0).lerp_short(at(-3.0), 0.5).yaw.abs() - PI).abs() < 1e-5);
        assert_eq!(at(3.0).lerp(at(-3.0), 0.5).yaw, 0.0);
        let half = GroundMotion::new(Vec2::new(1.0, 2.0), 0.5).lerp(GroundMotion::IDENTITY, 0.5);
        assert_eq!(half, GroundMotion::new(Vec2::new(0.5, 1.0), 0.25));
    }

    #[test]
    fn a_full_turn_has_no_arc_and_goes_straight() {
        let turn = GroundMotion::new(Vec2::new(0.0, 1.0), TAU).fraction(0.5);
        assert!(close(turn, GroundMotion::new(Vec2::new(0.0, 0.5), PI), 1e-3), "{turn:?}");
    }

    proptest! {
        #[test]
        fn equal_parts_of_a_motion_make_up_the_whole(
            x in -3f32..3.0, z in -3f32..3.0, yaw in -5f32..5.0, n in 1i32..12,
        ) {
            let m = GroundMotion { x, z, yaw };
            let part = m.fraction(1.0 / n as f32);
            prop_assert!(close(part.repeat(n), m, 2e-3), "{:?}", part.repeat(n));
            prop_assert!(close(m.fraction(1.0), m, 1e-4));
            prop_assert!(close(part.repeat(n / 2), m.fraction((n / 2) as f32 / n as f32), 2e-3));
        }

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
