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
