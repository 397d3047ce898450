//! Operations that change nothing: they record no task, so that what they would have added is not
//! reachable and costs no pose.

use super::Op;
use super::operand::*;
use super::vm::Vm;
use crate::pose::kernels::weight;
use crate::task::TaskIndex;

impl Vm<'_> {
    /// The pose that an operation passes on as it is, and where: of a blend at either end the one
    /// that is read, of anything else at no weight what it would change.
    ///
    /// A branch that is left out this way is as silent as a state that is not current: its clocks
    /// run and its machines decide, it keeps no snapshot, and the histories of its transitions
    /// stand still.
    pub(super) fn passed_on(&self, op: &Op) -> Option<(TaskIndex, PoseOut)> {
        let (kept, alpha, dst) = match *op {
            Op::Blend { a, b, alpha, dst } => match self.weight(alpha) {
                1.0 => return Some((self.pose(b), dst)),
                alpha => (a, alpha, dst),
            },
            Op::BlendMasked { a, alpha, dst, .. } => (a, self.weight(alpha), dst),
            Op::ApplyAdditive { base, alpha, dst, .. } => (base, self.weight(alpha), dst),
            Op::BoneTransform { source, alpha, dst, .. }
            | Op::TranslateBone { source, alpha, dst, .. }
            | Op::TwoBoneIk { source, alpha, dst, .. }
            | Op::Fabrik { source, alpha, dst, .. }
            | Op::LookAt { source, alpha, dst, .. }
            | Op::FootIk { source, alpha, dst, .. } => (source, self.weight(alpha), dst),
            _ => return None,
        };
        (alpha == 0.0).then(|| (self.pose(kept), dst))
    }

    fn weight(&self, alpha: Scalar) -> f32 {
        weight(self.scalar(alpha))
    }
}
