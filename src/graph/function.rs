//! The scalar functions.

use super::define::{ways, ways_of};
use super::operand::{Field, Operand};
use super::wire::{DecodeError, Reader, Wire};

ways! {
    /// A function of one or two scalars. Truth is above 0.5, and as a result 1 or 0.
    pub enum ScalarFn {
        /// `a + b`
        Add,
        /// `a - b`
        Sub,
        /// `a * b`
        Mul,
        /// `a / b`; 0 where `b` is 0
        Div,
        /// The smaller
        Min,
        /// The larger
        Max,
        /// `-a`
        Neg,
        /// `|a|`
        Abs,
        /// Largest whole number up to `a`
        Floor,
        /// Square root; 0 below 0
        Sqrt,
        /// Sine of `a` radians
        Sin,
        /// Cosine of `a` radians
        Cos,
        /// Angle of the point (x `b`, y `a`), radians
        Atan2,
        /// `a < b`
        Less,
        /// `a <= b`
        LessEqual,
        /// `a > b`
        Greater,
        /// `a >= b`
        GreaterEqual,
        /// `a == b`
        Equal,
        /// `a != b`
        NotEqual,
        /// Both are true
        And,
        /// One is true, or both
        Or,
        /// `a` is not true
        Not,
    }
}

impl ScalarFn {
    /// The function's value, limited to what is finite.
    #[inline]
    pub fn eval(self, a: f32, b: f32) -> f32 {
        let truth = |v: bool| f32::from(u8::from(v));
        let is = |v: f32| v > 0.5;
        let value = match self {
            Self::Add => a + b,
            Self::Sub => a - b,
            Self::Mul => a * b,
            Self::Div => {
                if b == 0.0 {
                    0.0
                } else {
                    a / b
                }
            }
            // Of zeros of both signs it is told which, so that vectors give the same.
            Self::Min => {
                if b < a {
                    b
                } else {
                    a
                }
            }
            Self::Max => {
                if b > a {
                    b
                } else {
                    a
                }
            }
            Self::Neg => -a,
            Self::Abs => a.abs(),
            Self::Floor => a.floor(),
            Self::Sqrt => {
                if a > 0.0 {
                    a.sqrt()
                } else {
                    0.0
                }
            }
            Self::Sin => a.sin(),
            Self::Cos => a.cos(),
            Self::Atan2 => a.atan2(b),
            Self::Less => truth(a < b),
            Self::LessEqual => truth(a <= b),
            Self::Greater => truth(a > b),
            Self::GreaterEqual => truth(a >= b),
            Self::Equal => truth(a == b),
            Self::NotEqual => truth(a != b),
            Self::And => truth(is(a) && is(b)),
            Self::Or => truth(is(a) || is(b)),
            Self::Not => truth(!is(a)),
        };
        value.clamp(f32::MIN, f32::MAX)
    }
}
