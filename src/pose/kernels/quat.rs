//! Quaternion arithmetic, one quaternion a lane.

use crate::pose::streams::QuatBlock;
use fearless_simd::Simd;
use fearless_simd::prelude::*;
use std::f32::consts::{FRAC_1_PI, FRAC_PI_2};

/// Four components `[x, y, z, w]` of as many quaternions as a vector has lanes.
pub type Quats<S> = [<S as Simd>::f32s; 4];

impl QuatBlock {
    /// The quaternions of one vector's width of bones, from bone `at` of the block on.
    #[inline(always)]
    pub(super) fn load<S: Simd>(&self, simd: S, at: usize) -> Quats<S> {
        let end = at + S::f32s::LEN;
        let [x, y, z, w] = &self.0;
        [
            S::f32s::from_slice(simd, &x.0[at..end]),
            S::f32s::from_slice(simd, &y.0[at..end]),
            S::f32s::from_slice(simd, &z.0[at..end]),
            S::f32s::from_slice(simd, &w.0[at..end]),
        ]
    }

    /// Stores what [`QuatBlock::load`] loads.
    #[inline(always)]
    pub(super) fn store<S: Simd>(&mut self, at: usize, q: Quats<S>) {
        for (line, q) in self.0.iter_mut().zip(q) {
            q.store_slice(&mut line.0[at..at + S::f32s::LEN]);
        }
    }
}

/// Four-component dot product, as a tree: latency counts in the walk of a hierarchy.
#[inline(always)]
pub fn dot<V: SimdFloat<S>, S: Simd>(p: [V; 4], q: [V; 4]) -> V {
    p[1].mul_add(q[1], p[0] * q[0]) + p[3].mul_add(q[3], p[2] * q[2])
}

/// Linear interpolation on the shorter arc, normalized.
#[inline(always)]
pub fn nlerp<S: Simd>(simd: S, p: Quats<S>, q: Quats<S>, alpha: S::f32s) -> Quats<S> {
    let far = S::f32s::simd_from(simd, 1.0) - alpha;
    let near = alpha.copysign(dot(p, q));
    normalized(
        simd,
        [
            q[0].mul_add(near, p[0] * far),
            q[1].mul_add(near, p[1] * far),
            q[2].mul_add(near, p[2] * far),
            q[3].mul_add(near, p[3] * far),
        ],
    )
}

/// Unit length.
#[inline(always)]
pub fn normalized<S: Simd>(simd: S, q: Quats<S>) -> Quats<S> {
    let scale = S::f32s::simd_from(simd, 1.0) / dot(q, q).sqrt();
    [q[0] * scale, q[1] * scale, q[2] * scale, q[3] * scale]
}

/// The inverse of a rotation of unit length.
#[inline(always)]
pub fn conjugate<S: Simd>(q: Quats<S>) -> Quats<S> {
    [-q[0], -q[1], -q[2], q[3]]
}

/// The rotation `p` after `q` (Hamilton's product).
#[inline(always)]
pub fn product<V: SimdFloat<S>, S: Simd>([x, y, z, w]: [V; 4], q: [V; 4]) -> [V; 4] {
    [
        x.mul_add(q[3], w * q[0]) + y.mul_sub(q[2], z * q[1]),
        y.mul_add(q[3], w * q[1]) + z.mul_sub(q[0], x * q[2]),
        z.mul_add(q[3], w * q[2]) + x.mul_sub(q[1], y * q[0]),
        w.mul_sub(q[3], x * q[0]) - y.mul_add(q[1], z * q[2]),
    ]
}

/// The rotation by `angle` radians about an axis of unit length, its sign left open. No rotation for
/// an angle of zero, whatever the axis; some rotation for angles beyond a hundred thousand radians,
/// of which a float keeps no fraction of a turn worth having.
///
/// Half the angle is reduced to -pi/2..=pi/2 by whole half turns, which change nothing but the sign
/// of the quaternion. There the sine's series up to the eleventh power is off by at most 5.7e-8, the
/// cosine's up to the twelfth by 6.5e-9, beside rounding.
#[inline(always)]
pub fn about_axis<V: SimdFloat<S, Element = f32>, S: Simd>(
    simd: S,
    axis: [V; 3],
    angle: V,
) -> [V; 4] {
    let splat = |x: f32| V::simd_from(simd, x);
    let half = angle * 0.5;
    let turns = (half * FRAC_1_PI).round_ties_even();
    let near = turns.mul_add(splat(-PI_HIGH), half);
    let near = turns.mul_add(splat(-PI_LOW), near).max(-FRAC_PI_2).min(FRAC_PI_2);
    let square = near * near;
    let series = |powers: &[f32]| {
        powers.iter().rev().fold(splat(0.0), |sum, &power| sum.mul_add(square, splat(power)))
    };
    let sine = series(&SINE) * near;
    [axis[0] * sine, axis[1] * sine, axis[2] * sine, series(&COSINE)]
}

/// Pi in two parts; whole multiples of the first, up to 65,536 of them, are exact.
const PI_HIGH: f32 = 3.140_625;
const PI_LOW: f32 = (std::f64::consts::PI - 3.140_625) as f32;

/// Coefficients of `sin(x) / x` and `cos(x)` in powers of `x * x`.
const SINE: [f32; 6] =
    [1.0, -1.0 / 6.0, 1.0 / 120.0, -1.0 / 5_040.0, 1.0 / 362_880.0, -1.0 / 39_916_800.0];
const COSINE: [f32; 7] =
    [1.0, -0.5, 1.0 / 24.0, -1.0 / 720.0, 1.0 / 40_320.0, -1.0 / 3_628_800.0, 1.0 / 479_001_600.0];

/// The same one quaternion at a time, for the scalar twins.
pub mod scalar {
    /// Linear interpolation on the shorter arc, normalized.
    pub fn nlerp(p: [f32; 4], q: [f32; 4], alpha: f32) -> [f32; 4] {
        let dot = p[0] * q[0] + p[1] * q[1] + p[2] * q[2] + p[3] * q[3];
        let near = alpha.copysign(dot);
        normalized(std::array::from_fn(|c| p[c] * (1.0 - alpha) + q[c] * near))
    }

    /// Unit length.
    pub fn normalized(q: [f32; 4]) -> [f32; 4] {
        let length = (q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]).sqrt();
        q.map(|x| x / length)
    }

    /// The rotation `p` after `q`.
    pub fn product([x, y, z, w]: [f32; 4], q: [f32; 4]) -> [f32; 4] {
        [
            w * q[0] + x * q[3] + y * q[2] - z * q[1],
            w * q[1] + y * q[3] + z * q[0] - x * q[2],
            w * q[2] + z * q[3] + x * q[1] - y * q[0],
            w * q[3] - x * q[0] - y * q[1] - z * q[2],
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Lanes;
    use crate::pose::kernels::enter;
    use crate::pose::streams::LINE;
    use glam::DQuat;

    /// Rotations about z in every lane of a block.
    fn about_z(lanes: Lanes, angles: &[f32; LINE]) -> QuatBlock {
        let mut out = QuatBlock::IDENTITY;
        enter!(lanes, {
            for (lane, &angle) in angles.iter().enumerate() {
                out.set(lane, glam::Quat::from_rotation_z(angle).to_array());
            }
        }, simd => vector(simd, angles, &mut out));
        out
    }

    #[inline(always)]
    fn vector<S: Simd>(simd: S, angles: &[f32; LINE], out: &mut QuatBlock) {
        for at in (0..LINE).step_by(S::f32s::LEN) {
            let angles = S::f32s::from_slice(simd, &angles[at..at + S::f32s::LEN]);
            let [none, one] = [0.0, 1.0].map(|x| S::f32s::simd_from(simd, x));
            out.store::<S>(at, about_axis(simd, [none, none, one], angles));
        }
    }

    #[test]
    fn rotations_about_an_axis_are_off_by_no_more_than_rounding() {
        for lanes in Lanes::all() {
            for step in 0..4_000 {
                let angles: [f32; LINE] =
                    std::array::from_fn(|lane| (step * LINE + lane) as f32 * 1.7e-3 - 50.0);
                let block = about_z(lanes, &angles);
                for (lane, &angle) in angles.iter().enumerate() {
                    let exact = DQuat::from_rotation_z(f64::from(angle));
                    let got = DQuat::from_array(block.get(lane).map(f64::from));
                    let error = (got - exact).length().min((got + exact).length());
                    assert!(error < 3e-7, "{angle} {}: {error:e}", lanes.level());
                }
            }
        }
    }

    #[test]
    fn angles_of_zero_turn_nothing_and_endless_ones_stay_finite() {
        let mut angles = [0.0; LINE];
        angles[1..9].copy_from_slice(&[-0.0, 1e-38, 1e6, -1e9, 3e20, f32::MAX, f32::MIN, 1e-45]);
        for lanes in Lanes::all() {
            let block = about_z(lanes, &angles);
            for lane in [0, 1, 2, 8, 9] {
                let [x, y, z, w] = block.get(lane);
                assert!([x, y] == [0.0; 2] && z.abs() < 1e-37 && w == 1.0, "{}", angles[lane]);
            }
            for (lane, angle) in angles.iter().enumerate() {
                let q = glam::Quat::from_array(block.get(lane));
                let level = lanes.level();
                assert!((q.length() - 1.0).abs() < 1e-6, "{angle} {level}: {q}");
            }
        }
    }
}
