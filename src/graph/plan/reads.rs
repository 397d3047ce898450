//! What the poses of a plan read, and what decides about it.

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

/// What a weight comes to.
pub const PASSES_FIRST: usize = 0;
pub const READS: usize = 1;
pub const PASSES_SECOND: usize = 2;

/// A weight that decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Weighs {
    pub alpha: Scalar,
    how: u8,
}

impl Weighs {
    /// What the weight, limited to 0..=1, comes to: a pose is passed on as it is, or what is read
    /// is used.
    #[inline(always)]
    pub fn at(self, alpha: f32) -> usize {
        let is = |bit: u8, at: bool| usize::from((self.how & bit != 0) & at);
        // No number is no weight.
        let something = alpha > 0.0;
        READS + is(PASSES_B, alpha >= 1.0) - is(PASSES_A, !something)
    }
}

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

    /// The same where the weight that decides is always the same: where that reads what there is,
    /// nothing is left to ask.
    pub fn of_constant(self, alpha: f32) -> Self {
        let asks = self.decides() || self.weighs().at(alpha) != READS;
        if asks { self } else { Self { how: self.how & !(PASSES_A | PASSES_B), ..self } }
    }

    /// Its opcode says what it reads.
    pub fn decides(self) -> bool {
        self.how & DECIDES != 0
    }

    /// What it reads is not always the same.
    pub fn asks(self) -> bool {
        self.how & (DECIDES | PASSES_A) != 0
    }

    /// The weight that decides, and how.
    #[inline(always)]
    pub fn weighs(self) -> Weighs {
        Weighs { alpha: self.alpha, how: self.how }
    }

    /// Its first and its second pose, where it has them.
    pub fn poses(self) -> [Option<PoseIn>; 2] {
        let has = |bit: u8, pose| (self.how & bit != 0).then_some(pose);
        [has(A, self.a), has(B, self.b)]
    }
}
