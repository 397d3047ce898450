//! The opcodes that record a task each, and what of them is left out because it would change nothing.

use super::Op;
use super::operand::*;
use super::vm::{FARTHEST, LARGEST, Vm};
use crate::pose::kernels::ik::{fabrik, look_at, stand, two_bone};
use crate::pose::kernels::weight;
use crate::task::{MaskId, SnapshotId, Task, TaskError, TaskIndex};
use glam::Vec3;

impl Vm<'_> {
    /// The opcodes that are one task each.
    pub(super) fn pose_op(&mut self, op: &Op) -> Result<(), TaskError> {
        let bound = self.bound;
        let bone = |bone: BoneRef| bound.bones[bone.get()];
        let limb = |LimbRef { root, mid, end }: LimbRef| two_bone::Limb {
            root: bone(root),
            mid: bone(mid),
            end: bone(end),
        };
        let recorded = match *op {
            Op::RefPose { dst } => self.record(Task::ReferencePose, dst),
            Op::Blend { a, b, alpha, dst } => {
                match self.weight(alpha) {
                    0.0 => return self.pass(a, dst),
                    1.0 => return self.pass(b, dst),
                    _ => {}
                }
                let alpha = self.scalar(alpha);
                self.record(Task::Blend { a: self.pose(a), b: self.pose(b), alpha }, dst)
            }
            Op::BlendMasked { a, b, alpha, mask, dst } => {
                if self.weight(alpha) == 0.0 {
                    return self.pass(a, dst);
                }
                let (a, b, alpha) = (self.pose(a), self.pose(b), self.scalar(alpha));
                self.record(Task::BlendMasked { a, b, alpha, mask: MaskId(mask.0) }, dst)
            }
            Op::MakeAdditive { source, reference, space, dst } => {
                let reference = reference.map_or(TaskIndex::NONE, |r| self.pose(r));
                self.record(Task::MakeAdditive { source: self.pose(source), reference, space }, dst)
            }
            Op::ApplyAdditive { base, delta, alpha, space, dst } => {
                if self.weight(alpha) == 0.0 {
                    return self.pass(base, dst);
                }
                let (base, delta, alpha) = (self.pose(base), self.pose(delta), self.scalar(alpha));
                self.record(Task::ApplyAdditive { base, delta, alpha, space }, dst)
            }
            Op::SaveSnapshot { source, snapshot, dst } => {
                let (source, snapshot) = (self.pose(source), SnapshotId(snapshot.0));
                self.record(Task::SavePoseSnapshot { source, snapshot }, dst)
            }
            Op::LoadSnapshot { snapshot, dst } => {
                self.record(Task::LoadPoseSnapshot { snapshot: SnapshotId(snapshot.0) }, dst)
            }
            Op::BoneTransform { source, bone: at, space, mode, alpha, change, dst } => {
                if self.weight(alpha) == 0.0 {
                    return self.pass(source, dst);
                }
                let change = &self.scratch.values[change.get()..change.get() + 10];
                let mut of = change.iter().copied();
                let limited = |v: Option<f32>, most: f32| v.unwrap_or(0.0).clamp(-most, most);
                let task = Task::BoneTransform {
                    source: self.pose(source),
                    bone: bone(at),
                    space,
                    mode,
                    alpha: self.scalar(alpha),
                    translation: [(); 3].map(|()| limited(of.next(), FARTHEST)),
                    rotation: [(); 4].map(|()| limited(of.next(), 1.0)),
                    scale: [(); 3].map(|()| limited(of.next(), LARGEST)),
                };
                self.record(task, dst)
            }
            Op::TranslateBone { source, bone: at, space, alpha, offset, dst } => {
                if self.weight(alpha) == 0.0 {
                    return self.pass(source, dst);
                }
                let (source, bone, alpha) = (self.pose(source), bone(at), self.scalar(alpha));
                let offset = self.vector(offset).to_array();
                self.record(Task::TranslateBone { source, bone, space, alpha, offset }, dst)
            }
            Op::TwoBoneIk { source, limb: of, target, pole, soften, alpha, dst } => {
                if self.weight(alpha) == 0.0 {
                    return self.pass(source, dst);
                }
                let limb = limb(of);
                let reach = two_bone::Reach {
                    target: self.vector(target),
                    pole: pole.map_or(Vec3::NAN, |pole| self.vector(pole)),
                    soften: self.or(soften, 0.0),
                    alpha: self.scalar(alpha),
                };
                self.record(Task::TwoBoneIk { source: self.pose(source), limb, reach }, dst)
            }
            Op::Fabrik {
                source,
                root,
                end,
                target,
                iterations,
                tolerance,
                weights,
                alpha,
                dst,
            } => {
                if self.weight(alpha) == 0.0 {
                    return self.pass(source, dst);
                }
                let chain = fabrik::Chain {
                    root: bone(root),
                    end: bone(end),
                    target: self.vector(target),
                    iterations,
                    tolerance: self.scalar(tolerance),
                    alpha: self.scalar(alpha),
                };
                let weights = weights.map_or(MaskId::NONE, |mask| MaskId(mask.0));
                self.record(Task::Fabrik { source: self.pose(source), chain, weights }, dst)
            }
            Op::LookAt { source, bone: at, forward, target, limit, alpha, dst } => {
                if self.weight(alpha) == 0.0 {
                    return self.pass(source, dst);
                }
                let gaze = look_at::Gaze {
                    bone: bone(at),
                    forward: self.vector(forward),
                    target: self.vector(target),
                    limit: self.or(limit, f32::NAN),
                    alpha: self.scalar(alpha),
                };
                self.record(Task::LookAt { source: self.pose(source), gaze }, dst)
            }
            Op::FootIk { source, hips, left, right, alpha, dst } => {
                if self.weight(alpha) == 0.0 {
                    return self.pass(source, dst);
                }
                let legs = [limb(left), limb(right)];
                let stance = stand::Stance { hips: bone(hips), legs, alpha: self.scalar(alpha) };
                self.record(Task::FootIk { source: self.pose(source), stance }, dst)
            }
            // The others are not poses of one task.
            _ => return Ok(()),
        };
        recorded.map(drop)
    }

    /// A pose that an operation passes on as it is: of a blend at either end the one that is read,
    /// of anything else at no weight what it would change. No task is recorded, so that what it
    /// would have read besides is not reachable and costs no pose.
    ///
    /// A branch that is left out this way is as silent as a state that is not current: its clocks
    /// run and its machines decide, it keeps no snapshot, and the histories of its transitions
    /// stand still.
    fn pass(&mut self, kept: PoseIn, dst: PoseOut) -> Result<(), TaskError> {
        self.scratch.poses[dst.get()] = self.pose(kept);
        Ok(())
    }

    fn weight(&self, alpha: Scalar) -> f32 {
        weight(self.scalar(alpha))
    }
}
