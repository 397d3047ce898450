//! Kernels over poses: each in place, each with a scalar twin and one generic vector source.
//!
//! A kernel touches bones `[0, active)` (and lanes of the same cache line behind them, whose
//! contents are unspecified); bones behind the cut are supplied by resolve. Scalar parameters that
//! are not numbers count as zero.

pub mod additive;
pub mod blend;
pub mod bone;
pub mod dead_blend;
pub mod history;
pub mod ik;
pub mod inertialize;
pub mod masked;
pub mod mesh_additive;
mod quat;
pub mod resolve;
pub mod sample;
mod seam;
#[cfg(test)]
mod tests;
pub(crate) mod transpose;

/// A weight limited to 0..=1; not-a-number is zero.
#[inline(always)]
pub fn weight(alpha: f32) -> f32 {
    if alpha > 0.0 { alpha.min(1.0) } else { 0.0 }
}

/// Enters a kernel: `scalar` at the scalar level, `vector` (generic over the token) at the others.
macro_rules! enter {
    ($lanes:expr, $scalar:expr, $simd:ident => $vector:expr) => {
        match $lanes.width() {
            crate::math::simd::Width::Scalar => $scalar,
            crate::math::simd::Width::Vector(level) => {
                fearless_simd::dispatch!(level, $simd => $vector)
            }
        }
    };
}
pub(crate) use enter;
