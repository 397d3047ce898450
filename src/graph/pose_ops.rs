//! The opcodes that are one task each.

use super::Op;
use super::operand::*;
use super::vm::{FARTHEST, LARGEST, Vm};
use crate::pose::kernels::ik::{fabrik, look_at, stand, two_bone};
use crate::task::{MaskId, SnapshotId, Task, TaskError, TaskIndex};
use glam::Vec3;

impl Vm<'_> {
    /// Records an opcode that is one task, of the results that it reads.
    pub(super) fn pose_op<const KNOWN: bool>(
        &mut self,
        op: &Op,
        [a, b]: [TaskIndex; 2],
    ) -> Result<TaskIndex, TaskError> {
        let bound = self.bound;
        let bone = |bone: BoneRef| bound.bones[bone.get()];
        let limb = |LimbRef { root, mid, end }: LimbRef| two_bone::Limb {
            root: bone(root),
            mid: bone(mid),
            end: bone(end),
        };
        let source = a;
        match *op {
            Op::BlendMasked { alpha, mask, .. } => {
                let (alpha, mask) = (self.scalar(alpha), MaskId(mask.0));
                self.put::<KNOWN>(Task::BlendMasked { a, b, alpha, mask })
            }
            Op::MakeAdditive { space, .. } => {
                self.put::<KNOWN>(Task::MakeAdditive { source, reference: b, space })
            }
            Op::ApplyAdditive { alpha, space, .. } => {
                let alpha = self.scalar(alpha);
                self.put::<KNOWN>(Task::ApplyAdditive { base: a, delta: b, alpha, space })
            }
            Op::SaveSnapshot { snapshot, .. } => {
                let snapshot = SnapshotId(snapshot.0);
                self.put::<KNOWN>(Task::SavePoseSnapshot { source, snapshot })
            }
            Op::LoadSnapshot { snapshot, .. } => {
                self.put::<KNOWN>(Task::LoadPoseSnapshot { snapshot: SnapshotId(snapshot.0) })
            }
            Op::BoneTransform { bone: at, space, mode, alpha, change, .. } => {
                let mut of = self.row::<10>(change.get()).into_iter();
                let limited = |v: Option<f32>, most: f32| v.unwrap_or(0.0).clamp(-most, most);
                let task = Task::BoneTransform {
                    source,
                    bone: bone(at),
                    space,
                    mode,
                    alpha: self.scalar(alpha),
                    translation: [(); 3].map(|()| limited(of.next(), FARTHEST)),
                    rotation: [(); 4].map(|()| limited(of.next(), 1.0)),
                    scale: [(); 3].map(|()| limited(of.next(), LARGEST)),
                };
                self.put::<KNOWN>(task)
            }
            Op::TranslateBone { bone: at, space, alpha, offset, .. } => {
                let (bone, alpha) = (bone(at), self.scalar(alpha));
                let offset = self.vector(offset).to_array();
                self.put::<KNOWN>(Task::TranslateBone { source, bone, space, alpha, offset })
            }
            Op::TwoBoneIk { limb: of, target, pole, soften, alpha, .. } => {
                let reach = two_bone::Reach {
                    target: self.vector(target),
                    pole: pole.map_or(Vec3::NAN, |pole| self.vector(pole)),
                    soften: self.or(soften, 0.0),
                    alpha: self.scalar(alpha),
                };
                self.put::<KNOWN>(Task::TwoBoneIk { source, limb: limb(of), reach })
            }
            Op::Fabrik { root, end, target, iterations, tolerance, weights, alpha, .. } => {
                let chain = fabrik::Chain {
                    root: bone(root),
                    end: bone(end),
                    target: self.vector(target),
                    iterations,
                    tolerance: self.scalar(tolerance),
                    alpha: self.scalar(alpha),
                };
                let weights = weights.map_or(MaskId::NONE, |mask| MaskId(mask.0));
                self.put::<KNOWN>(Task::Fabrik { source, chain, weights })
            }
            Op::LookAt { bone: at, forward, target, limit, alpha, .. } => {
                let gaze = look_at::Gaze {
                    bone: bone(at),
                    forward: self.vector(forward),
                    target: self.vector(target),
                    limit: self.or(limit, f32::NAN),
                    alpha: self.scalar(alpha),
                };
                self.put::<KNOWN>(Task::LookAt { source, gaze })
            }
            Op::FootIk { hips, left, right, alpha, .. } => {
                let legs = [limb(left), limb(right)];
                let stance = stand::Stance { hips: bone(hips), legs, alpha: self.scalar(alpha) };
                self.put::<KNOWN>(Task::FootIk { source, stance })
            }
            // The others are no tasks, or were seen to.
            _ => self.put::<KNOWN>(Task::ReferencePose),
        }
    }
}
