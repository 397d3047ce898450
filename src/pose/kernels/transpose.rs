//! Transposes between one lane per bone and one lane per character.

use fearless_simd::prelude::*;
use fearless_simd::{Simd, f32x4, f32x8};

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::{__m256, _mm256_unpackhi_ps, _mm256_unpacklo_ps};

#[cfg(target_arch = "x86_64")]
fearless_simd::kernel!(
    #[inline(always)]
    fn zip_avx2(avx2: Avx2, a: __m256, b: __m256) -> (__m256, __m256) {
        (_mm256_unpacklo_ps(a, b), _mm256_unpackhi_ps(a, b))
    }
);

/// Interleaves `a` and `b` within each half: `(a0 b0 a1 b1 | a4 b4 a5 b5, a2 b2 a3 b3 | ...)`.
/// The portable zip runs over the whole vector, which costs AVX two more shuffles.
#[inline(always)]
fn zip_halves<S: Simd>(simd: S, a: f32x8<S>, b: f32x8<S>) -> (f32x8<S>, f32x8<S>) {
    #[cfg(target_arch = "x86_64")]
    if let Some(avx2) = simd.level().as_avx2() {
        let (low, high) = zip_avx2(avx2, a.into(), b.into());
        return (low.simd_into(simd), high.simd_into(simd));
    }
    let ((a0, a1), (b0, b1)) = (a.split(), b.split());
    let low = simd.combine_f32x4(a0.zip_low(b0), a1.zip_low(b1));
    (low, simd.combine_f32x4(a0.zip_high(b0), a1.zip_high(b1)))
}

/// Transposes the two 4x4 blocks that four vectors hold in their halves.
#[inline(always)]
pub fn blocks<S: Simd>(simd: S, [a, b, c, d]: [f32x8<S>; 4]) -> [f32x8<S>; 4] {
    let (ac0, ac1) = zip_halves(simd, a, c);
    let (bd0, bd1) = zip_halves(simd, b, d);
    let (r0, r1) = zip_halves(simd, ac0, bd0);
    let (r2, r3) = zip_halves(simd, ac1, bd1);
    [r0, r1, r2, r3]
}

/// Transposes eight rows of eight: lane `k` of output `i` is lane `i` of row `k`.
#[inline(always)]
pub fn square<S: Simd>(simd: S, rows: [&[f32; 8]; 8]) -> [f32x8<S>; 8] {
    let half = |row: usize, at: usize| {
        let (halves, _) = rows[row].as_chunks::<4>();
        f32x4::load_array_ref(simd, &halves[at])
    };
    let side = |at: usize| {
        let pairs = std::array::from_fn(|k| simd.combine_f32x4(half(k, at), half(k + 4, at)));
        blocks(simd, pairs)
    };
    let ([a, b, c, d], [e, f, g, h]) = (side(0), side(1));
    [a, b, c, d, e, f, g, h]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Lanes;
    use crate::pose::kernels::enter;

    fn transposed(lanes: Lanes, rows: &[[f32; 8]; 8]) -> [[f32; 8]; 8] {
        #[inline(always)]
        fn run<S: Simd>(simd: S, rows: &[[f32; 8]; 8]) -> [[f32; 8]; 8] {
            square(simd, std::array::from_fn(|k| &rows[k])).map(|v| v.to_array())
        }
        enter!(lanes, std::array::from_fn(|i| rows.map(|row| row[i])), simd => run(simd, rows))
    }

    #[test]
    fn a_square_is_transposed_at_every_level() {
        let rows = std::array::from_fn(|k| std::array::from_fn(|i| (10 * k + i) as f32));
        for lanes in Lanes::all() {
            let out = transposed(lanes, &rows);
            for (k, row) in rows.iter().enumerate() {
                for i in 0..8 {
                    assert_eq!(out[i][k], row[i], "{:?} {k} {i}", lanes.level());
                }
            }
        }
    }
}
