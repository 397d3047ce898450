//! Instructions and registers of poses.

use super::emit::Emitter;
use super::ir::{NodeId, Pose};
use super::scalars::ScalarId;
use crate::graph::{
    Op, PoseIn, PoseOut, PosesIn, SeamId, SnapshotRef, Space1DId, Space2DId, Transform, Vector,
};

impl Emitter<'_> {
    /// The register of a pose that lives.
    pub(super) fn pose(&self, node: NodeId) -> PoseIn {
        PoseIn(self.poses[node.get()].unwrap_or_default())
    }

    /// A register for a pose that begins to live.
    fn pose_home(&mut self, node: NodeId) -> PoseOut {
        let register = match self.homes[node.get()] {
            Some((space, slot)) => self.block_start(space) + slot as u16,
            None => self.pose_registers.take() as u16,
        };
        self.poses[node.get()] = Some(register);
        PoseOut(register)
    }

    /// The first register of a blend space's poses, taken when the first of them begins to live.
    fn block_start(&mut self, space: NodeId) -> u16 {
        if let Some(first) = self.blocks[space.get()] {
            return first;
        }
        let length = self.ir.nodes[space.get()].inputs().len();
        let first = self.pose_registers.take_row(length) as u16;
        self.blocks[space.get()] = Some(first);
        first
    }

    /// Puts a blend space's poses in a row: one that lies elsewhere is copied.
    fn fill_block(&mut self, space: NodeId, poses: &[NodeId]) {
        let first = self.block_start(space);
        for (slot, pose) in poses.iter().enumerate() {
            if self.homes[pose.get()] != Some((space, slot)) {
                let a = self.pose(*pose);
                let alpha = self.scalar(self.ir.zero);
                self.push(Op::Blend { a, b: a, alpha, dst: PoseOut(first + slot as u16) });
            }
        }
    }

    /// Takes back the registers of poses that the current item reads last.
    fn end_poses(&mut self) {
        for pose in self.lives.poses_ending(self.at) {
            if self.homes[pose.get()].is_none()
                && let Some(register) = self.poses[pose.get()]
            {
                self.pose_registers.give(register.into());
            }
        }
        // A row goes when its blend space is done and none of its poses is read any more.
        for space in self.lives.blocks_ending(self.at) {
            if let Some(first) = self.blocks[space.get()] {
                let length = self.ir.nodes[space.get()].inputs().len();
                (0..length).for_each(|i| self.pose_registers.give(usize::from(first) + i));
            }
        }
    }

    pub(super) fn pose_item(&mut self, node: NodeId) {
        let ir = self.ir;
        let pose = &ir.nodes[node.get()];
        // Rows and copies are instructions before this one; what it reads may go before it writes.
        let pinned = matches!(pose, Pose::BoneTransform { .. });
        for scalars in pose.rows() {
            self.row(scalars, pinned);
        }
        if let Pose::Space1D { poses, .. } | Pose::Space2D { poses, .. } = pose {
            self.fill_block(node, poses);
        }
        self.end_scalars();
        self.end_poses();
        let dst = self.pose_home(node);

        let alpha = |this: &Self, id: &ScalarId| this.scalar(*id);
        let vector = |this: &mut Self, ids: &[ScalarId]| Vector(this.row(ids, false));
        let op = match pose {
            Pose::Bind => Op::RefPose { dst },
            Pose::Clip { clip, time, .. } => {
                let time = alpha(self, time);
                let (clip, clock) = (self.tables.clip(clip), Some(self.tables.clock(node)));
                Op::SampleAnim { clip, time, clock, dst }
            }
            Pose::Frame { clip, at } => {
                let (clip, time) = (self.tables.clip(clip), alpha(self, at));
                Op::SampleAnim { clip, time, clock: None, dst }
            }
            Pose::Blend { a, b, alpha: share } => {
                let (a, b, alpha) = (self.pose(*a), self.pose(*b), alpha(self, share));
                Op::Blend { a, b, alpha, dst }
            }
            Pose::BlendMasked { a, b, alpha: share, mask } => {
                let mask = self.tables.mask(*mask);
                let (a, b, alpha) = (self.pose(*a), self.pose(*b), alpha(self, share));
                Op::BlendMasked { a, b, alpha, mask, dst }
            }
            Pose::MakeAdditive { source, reference, space } => {
                let (source, reference) = (self.pose(*source), reference.map(|r| self.pose(r)));
                Op::MakeAdditive { source, reference, space: *space, dst }
            }
            Pose::ApplyAdditive { base, delta, alpha: share } => {
                let space = self.spaces[delta.get()].unwrap_or_default();
                let (base, delta) = (self.pose(*base), self.pose(*delta));
                Op::ApplyAdditive { base, delta, alpha: alpha(self, share), space, dst }
            }
            Pose::Space1D { x, places, .. } => {
                let space = Space1DId(self.tables.space_1d(node, places));
                let points = PosesIn(self.block_start(node));
                Op::BlendSpace1D { space, x: alpha(self, x), points, dst }
            }
            Pose::Space2D { at: [x, y], plane, .. } => {
                let space = Space2DId(self.tables.space_2d(node, plane));
                let points = PosesIn(self.block_start(node));
                let (x, y) = (alpha(self, x), alpha(self, y));
                Op::BlendSpace2D { space, x, y, points, dst }
            }
            Pose::Machine(machine) => {
                let registers: Vec<PoseIn> =
                    machine.states.iter().map(|s| self.pose(s.pose)).collect();
                self.tables.states(ir, node, &registers);
                Op::EvalStateMachine { machine: self.tables.machine(node), dst }
            }
            Pose::Seam { source, trigger, duration, dead } => {
                let seam = SeamId(self.tables.program.seams);
                self.tables.program.seams += 1;
                let source = self.pose(*source);
                let (trigger, duration) = (alpha(self, trigger), alpha(self, duration));
                match dead {
                    false => Op::Inertialize { source, seam, trigger, duration, dst },
                    true => Op::DeadBlend { source, seam, trigger, duration, dst },
                }
            }
            Pose::Save { source, snapshot } => {
                let snapshot = SnapshotRef(self.tables.snapshot(snapshot));
                Op::SaveSnapshot { source: self.pose(*source), snapshot, dst }
            }
            Pose::Load { snapshot } => {
                let snapshot = SnapshotRef(self.tables.snapshot(snapshot));
                Op::LoadSnapshot { snapshot, dst }
            }
            Pose::BoneTransform { source, bone, how: (space, mode), alpha: share, change } => {
                let change = Transform(self.row(change, true));
                Op::BoneTransform {
                    source: self.pose(*source),
                    bone: self.tables.bone(bone),
                    space: *space,
                    mode: *mode,
                    alpha: alpha(self, share),
                    change,
                    dst,
                }
            }
            Pose::TranslateBone { source, bone, space, alpha: share, offset } => {
                let offset = vector(self, offset);
                Op::TranslateBone {
                    source: self.pose(*source),
                    bone: self.tables.bone(bone),
                    space: *space,
                    alpha: alpha(self, share),
                    offset,
                    dst,
                }
            }
            Pose::TwoBoneIk { source, limb, target, pole, soften, alpha: share } => {
                let target = vector(self, target);
                let pole = pole.as_ref().map(|pole| vector(self, pole));
                let limb = limb.map(|bone| self.tables.bone(bone)).into();
                Op::TwoBoneIk {
                    source: self.pose(*source),
                    limb,
                    target,
                    pole,
                    soften: Some(alpha(self, soften)),
                    alpha: alpha(self, share),
                    dst,
                }
            }
            Pose::Fabrik { source, ends, target, iterations, tolerance, weights, alpha: share } => {
                let target = vector(self, target);
                let [root, end] = ends.map(|bone| self.tables.bone(bone));
                Op::Fabrik {
                    source: self.pose(*source),
                    root,
                    end,
                    target,
                    iterations: *iterations,
                    tolerance: alpha(self, tolerance),
                    weights: weights.map(|mask| self.tables.mask(mask)),
                    alpha: alpha(self, share),
                    dst,
                }
            }
            Pose::LookAt { source, bone, forward, target, limit, alpha: share } => {
                let (forward, target) = (vector(self, forward), vector(self, target));
                Op::LookAt {
                    source: self.pose(*source),
                    bone: self.tables.bone(bone),
                    forward,
                    target,
                    limit: limit.as_ref().map(|limit| alpha(self, limit)),
                    alpha: alpha(self, share),
                    dst,
                }
            }
            Pose::FootIk { source, hips, legs, alpha: share } => {
                let hips = self.tables.bone(hips);
                let [left, right] = legs.map(|leg| leg.map(|bone| self.tables.bone(bone)).into());
                let (source, alpha) = (self.pose(*source), alpha(self, share));
                Op::FootIk { source, hips, left, right, alpha, dst }
            }
        };
        self.push(op);
    }
}
