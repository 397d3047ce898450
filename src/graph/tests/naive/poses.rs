//! What poses come of.

use super::*;

impl Naive<'_> {
    pub(super) fn pose(&mut self, node: &Node, results: &[Vec<DTrs>]) -> Vec<DTrs> {
        let skeleton = &self.c.skeleton;
        let rest = testing::rest_pose(skeleton);
        match node {
            Node::Rest => rest,
            Node::Sample { clip, seconds, .. } => {
                testing::sampled(&self.c.clips[*clip], rest.len(), *seconds as f32)
            }
            Node::Blend { a, t: 0.0, .. }
            | Node::Masked { a, t: 0.0, .. }
            | Node::Add { a, t: 0.0, .. } => results[*a].clone(),
            Node::Blend { b, t: 1.0, .. } => results[*b].clone(),
            Node::Blend { a, b, .. } | Node::Masked { a, b, .. } if a == b => results[*a].clone(),
            Node::Blend { a, b, t } => testing::blended(&results[*a], &results[*b], *t),
            Node::Masked { a, b, t, mask } => {
                let weights = self.weights(*mask);
                testing::blended_masked(&results[*a], &results[*b], *t, &weights)
            }
            Node::Difference { a, reference, mesh } => {
                let reference = reference.map_or(&rest, |r| &results[r]);
                testing::difference_of(skeleton, &results[*a], reference, *mesh)
            }
            Node::Add { a, delta, t, mesh } => {
                testing::added(skeleton, &results[*a], &results[*delta], *t, *mesh)
            }
            Node::Save(a) => {
                self.kept = Some(results[*a].clone());
                results[*a].clone()
            }
            Node::Load => self.kept.clone().unwrap_or(rest),
            Node::Move { a, bone, offset } => {
                let mut pose = results[*a].clone();
                pose[*bone].translation += *offset;
                pose
            }
            Node::Mix(parts) => {
                let mut mixed: Option<(Vec<DTrs>, f64)> = None;
                for (pose, weight) in parts.iter().filter(|(_, w)| *w > 0.0) {
                    let pose = &results[*pose];
                    mixed = Some(match mixed {
                        None => (pose.clone(), *weight),
                        Some((so_far, sum)) => {
                            let sum = sum + weight;
                            (testing::blended(&so_far, pose, weight / sum), sum)
                        }
                    });
                }
                mixed.unwrap().0
            }
            Node::Same(a) => results[*a].clone(),
        }
    }

    fn weights(&self, mask: usize) -> Vec<f32> {
        let mask = &self.p.masks[mask];
        let is_under = |mut bone: usize, top: usize| {
            while let Some(parent) = self.c.skeleton.parents()[bone] {
                if parent.get() == top {
                    return true;
                }
                bone = parent.get();
            }
            false
        };
        let weight = |bone: usize| {
            let names = |e: &&MaskEntry| {
                let top = e.bone.get();
                top == bone || e.subtree && is_under(bone, top)
            };
            mask.entries.iter().rev().find(names).map_or(mask.others, |e| e.weight)
        };
        (0..BONES).map(weight).collect()
    }
}
