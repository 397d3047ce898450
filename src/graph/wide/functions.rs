//! The scalar functions of sixteen instances at once.

use super::Wide;
use crate::graph::ScalarFn;
use fearless_simd::prelude::*;
use fearless_simd::{Simd, f32x16, mask32x16};

impl ScalarFn {
    /// [`ScalarFn::eval`] of every lane, to the bit.
    #[inline(always)]
    pub(super) fn eval_wide<S: Simd>(self, simd: S, a: f32x16<S>, b: f32x16<S>) -> f32x16<S> {
        let splat = |v| f32x16::splat(simd, v);
        let (zero, one, half) = (splat(0.0), splat(1.0), splat(0.5));
        let truth = |mask: mask32x16<S>| mask.select(one, zero);
        let is = |v: f32x16<S>| v.simd_gt(half);
        let value = match self {
            Self::Add => a + b,
            Self::Sub => a - b,
            Self::Mul => a * b,
            Self::Div => b.simd_eq(zero).select(zero, a / b),
            Self::Min => b.simd_lt(a).select(b, a),
            Self::Max => b.simd_gt(a).select(b, a),
            Self::Neg => -a,
            Self::Abs => a.abs(),
            Self::Floor => a.floor(),
            Self::Sqrt => a.simd_gt(zero).select(a, zero).sqrt(),
            Self::Sin | Self::Cos | Self::Atan2 => return each(simd, a, b, self),
            Self::Less => truth(a.simd_lt(b)),
            Self::LessEqual => truth(a.simd_le(b)),
            Self::Greater => truth(a.simd_gt(b)),
            Self::GreaterEqual => truth(a.simd_ge(b)),
            Self::Equal => truth(a.simd_eq(b)),
            Self::NotEqual => truth(!a.simd_eq(b)),
            Self::And => truth(is(a) & is(b)),
            Self::Or => truth(is(a) | is(b)),
            Self::Not => truth(!is(a)),
        };
        let (least, most) = (splat(f32::MIN), splat(f32::MAX));
        let value = value.simd_lt(least).select(least, value);
        value.simd_gt(most).select(most, value)
    }
}

/// A function that no processor has, lane by lane.
#[inline(always)]
fn each<S: Simd>(simd: S, a: f32x16<S>, b: f32x16<S>, function: ScalarFn) -> f32x16<S> {
    let [left, right] = [a, b].map(Wide::of);
    Wide(std::array::from_fn(|lane| function.eval(left.0[lane], right.0[lane]))).load(simd)
}
