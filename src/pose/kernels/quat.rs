//! Quaternion arithmetic, one quaternion a lane.

use crate::pose::streams::QuatBlock;
use fearless_simd::Simd;
use fearless_simd::prelude::*;

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
