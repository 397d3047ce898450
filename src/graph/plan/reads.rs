//! What the poses of a plan read, in a form that is told from a weight without a branch for each kind.

use crate::graph::Op;
use crate::graph::operand::*;

/// What a node reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reads {
    pub a: PoseIn,
    pub b: PoseIn,
    /// The weight that decides.
    pub alpha: Scalar,
    /// Bits, below.
    how: u8,
}

const A: u8 = 1;
const B: u8 = 2;
/// Its first pose is all there is of it at no weight.
const PASSES_A: u8 = 4;
/// And its second pose at full weight.
const PASSES_B: u8 = 8;
/// What it reads is not told by a weight.
const DECIDES: u8 = 16;

impl Reads {
    /// What an opcode that records a task reads.
    pub fn of(op: &Op) -> Self {
        let none = PoseIn(0);
        let (how, a, b, alpha) = match *op {
            Op::Blend { a, b, alpha, .. } => (A | B | PASSES_A | PASSES_B, a, b, Some(alpha)),
            Op::BlendMasked { a, b, alpha, .. } => (A | B | PASSES_A, a, b, Some(alpha)),
            Op::ApplyAdditive { base, delta, alpha, .. } => {
                (A | B | PASSES_A, base, delta, Some(alpha))
            }
            Op::MakeAdditive { source, reference: Some(reference), .. } => {
                (A | B, source, reference, None)
            }
            Op::MakeAdditive { source, .. }
            | Op::Inertialize { source, .. }
            | Op::DeadBlend { source, .. }
            | Op::SaveSnapshot { source, .. } => (A, source, none, None),
            Op::BoneTransform { source, alpha, .. }
            | Op::TranslateBone { source, alpha, .. }
            | Op::TwoBoneIk { source, alpha, .. }
            | Op::Fabrik { source, alpha, .. }
            | Op::LookAt { source, alpha, .. }
            | Op::FootIk { source, alpha, .. } => (A | PASSES_A, source, none, Some(alpha)),
            Op::EvalStateMachine { .. } | Op::BlendSpace1D { .. } | Op::BlendSpace2D { .. } => {
                (DECIDES, none, none, None)
            }
            _ => (0, none, none, None),
        };
        Self { a, b, alpha: alpha.unwrap_or_default(), how }
    }

    /// Its opcode says what it reads.
    pub fn decides(self) -> bool {
        self.how & DECIDES != 0
    }

    /// Whether it reads its first and its second pose at a weight (0..=1), and which of them it
    /// passes on as it is.
    #[inline(always)]
    pub fn at(self, weight: f32) -> (bool, bool, Option<PoseIn>) {
        let has = |bit: u8| self.how & bit != 0;
        let passes_a = has(PASSES_A) & (weight == 0.0);
        let passes_b = has(PASSES_B) & (weight == 1.0);
        let passed = if passes_a { Some(self.a) } else { None };
        let passed = if passes_b { Some(self.b) } else { passed };
        (has(A) & !passes_b, has(B) & !passes_a, passed)
    }
}
