//! Random well-formed lists.

use super::Character;
use super::naive::solvers::above;
use crate::index::{BoneCount, BoneIndex, ClipId};
use crate::pose::kernels::bone::{BoneMode, BoneSpace};
use crate::pose::kernels::ik::fabrik::Chain;
use crate::pose::kernels::ik::look_at::Gaze;
use crate::pose::kernels::ik::stand::Stance;
use crate::pose::kernels::ik::two_bone::{Limb, Reach};
use crate::pose::testing::{self, Random};
use crate::pose::{GroundPatch, RootPin};
use crate::task::*;
use glam::{Vec2, Vec3};

/// Draws lists for one character.
pub(super) struct Draw<'a> {
    c: &'a Character,
    bones: usize,
    /// Where the joints are at rest, model space.
    places: Vec<Vec3>,
    /// What turns in model space is clear-cut: no scale is animated.
    solvers: bool,
}

impl<'a> Draw<'a> {
    pub fn new(c: &'a Character) -> Self {
        let rest = testing::rest_pose(&c.skeleton);
        let place = |bone| {
            let local = rest[usize::from(bone)].translation;
            above(c, &rest, BoneIndex(bone)).transform_point3(local).as_vec3()
        };
        let bones = c.skeleton.bone_count();
        let places = (0..bones.0).map(place).collect();
        Self { c, bones: bones.get(), places, solvers: !c.rig.has_scale() }
    }

    fn above(&self, bone: BoneIndex, steps: usize) -> BoneIndex {
        let parents = self.c.skeleton.parents();
        (0..steps).fold(bone, |at, _| parents.get(at.get()).copied().flatten().unwrap_or(at))
    }

    fn bone(&self, r: &mut Random) -> BoneIndex {
        BoneIndex(r.below(self.bones + 1) as u16)
    }

    fn limb(&self, r: &mut Random) -> Limb {
        let end = self.bone(r);
        let mid = self.above(end, 1 + r.below(2));
        Limb { root: self.above(mid, 1 + r.below(3)), mid, end }
    }

    /// Around where `end` is at rest, about as far as it can get.
    fn target(&self, r: &mut Random, root: BoneIndex, end: BoneIndex) -> Vec3 {
        match (self.places.get(root.get()), self.places.get(end.get())) {
            (Some(root), Some(end)) if r.below(20) > 0 => *end + r.vec3(root.distance(*end)),
            _ => Vec3::NAN,
        }
    }

    /// A random task. `poses` and `deltas` are the tasks so far that give the one or the other
    /// (with the space of a delta).
    fn task(
        &self,
        r: &mut Random,
        poses: &[TaskIndex],
        deltas: &[(TaskIndex, AdditiveSpace)],
    ) -> Task {
        let pose = |r: &mut Random| match poses.len() {
            0 => TaskIndex::NONE,
            _ if r.below(15) == 0 => TaskIndex::NONE,
            // Often the newest, so that long chains are reached.
            n if r.below(2) == 0 => poses[n - 1],
            n => poses[r.below(n)],
        };
        let two = |r: &mut Random| {
            let a = pose(r);
            (a, if r.below(6) == 0 { a } else { pose(r) })
        };
        let alpha = |r: &mut Random| {
            let usual = r.signed() * 0.5 + 0.5;
            mostly(r, usual, &[0.0, 1.0, 2.0, -1.0, f32::NAN])
        };
        let space = if r.below(2) == 0 { AdditiveSpace::Local } else { AdditiveSpace::Mesh };
        let bone_space = if r.below(2) == 0 { BoneSpace::Local } else { BoneSpace::Component };
        match r.below(if self.solvers { 22 } else { 17 }) {
            0 => Task::ReferencePose,
            1..=4 => {
                Task::SampleClip { clip: ClipId(r.below(6) as u16), seconds: r.signed() * 0.3 }
            }
            5 | 6 => {
                let (a, b) = two(r);
                Task::Blend { a, b, alpha: alpha(r) }
            }
            7 => {
                let (a, b) = two(r);
                Task::BlendMasked { a, b, alpha: alpha(r), mask: MaskId(r.below(4) as u16) }
            }
            8 | 9 => {
                let (source, reference) = two(r);
                Task::MakeAdditive { source, reference, space }
            }
            10 | 11 if !deltas.is_empty() => {
                let (delta, space) = deltas[r.below(deltas.len())];
                Task::ApplyAdditive { base: pose(r), delta, alpha: alpha(r), space }
            }
            12 => {
                Task::SavePoseSnapshot { source: pose(r), snapshot: SnapshotId(r.below(3) as u16) }
            }
            13 => Task::LoadPoseSnapshot { snapshot: SnapshotId(r.below(3) as u16) },
            14 => Task::TranslateBone {
                source: pose(r),
                bone: self.bone(r),
                space: bone_space,
                alpha: alpha(r),
                offset: r.vec3(0.2).to_array(),
            },
            15 => {
                let transition = transition(r, 0);
                Task::Inertialize { source: pose(r), transition }
            }
            16 => {
                let transition = transition(r, 1);
                Task::DeadBlend { source: pose(r), transition }
            }
            17 => {
                let limb = self.limb(r);
                let target = self.target(r, limb.root, limb.end);
                let pole = self.target(r, limb.root, limb.end);
                let soften = [0.0, 0.2][r.below(2)];
                let reach = Reach { target, pole, soften, alpha: alpha(r) };
                Task::TwoBoneIk { source: pose(r), limb, reach }
            }
            18 => {
                let end = self.bone(r);
                let root = self.above(end, r.below(6));
                let chain = Chain {
                    root,
                    end,
                    target: self.target(r, root, end),
                    iterations: r.below(6) as u8,
                    tolerance: 0.0,
                    alpha: alpha(r),
                };
                let weights = MaskId(r.below(5) as u16);
                Task::Fabrik { source: pose(r), chain, weights }
            }
            19 => {
                let bone = self.bone(r);
                let gaze = Gaze {
                    bone,
                    forward: r.vec3(1.0),
                    target: self.target(r, BoneIndex(0), bone),
                    limit: [f32::NAN, 0.4, -1.0][r.below(3)],
                    alpha: alpha(r),
                };
                Task::LookAt { source: pose(r), gaze }
            }
            20 => {
                let legs = [self.limb(r), self.limb(r)];
                let hips = self.above(legs[0].root, 1 + r.below(2));
                Task::FootIk { source: pose(r), stance: Stance { hips, legs, alpha: alpha(r) } }
            }
            at => Task::BoneTransform {
                source: pose(r),
                bone: self.bone(r),
                space: if at == 21 { bone_space } else { BoneSpace::Local },
                mode: if r.below(2) == 0 { BoneMode::Additive } else { BoneMode::Override },
                alpha: alpha(r),
                translation: r.vec3(0.2).to_array(),
                rotation: r.quat(1.0).to_array(),
                scale: [1.0; 3],
            },
        }
    }

    /// A random well-formed list, which gives the same whole and in two halves.
    pub fn list(&self, r: &mut Random, list: &mut TaskList) {
        loop {
            self.any_list(r, list);
            list.sweep();
            if !order_matters(list) {
                return;
            }
        }
    }

    fn any_list(&self, r: &mut Random, list: &mut TaskList) {
        list.clear();
        let (mut poses, mut deltas) = (Vec::new(), Vec::new());
        for _ in 0..1 + r.below(20) {
            let task = self.task(r, &poses, &deltas);
            let stage = if r.below(8) == 0 { Stage::PostPhysics } else { Stage::Any };
            let index = list.push_staged(task, stage).unwrap();
            match task {
                Task::MakeAdditive { space, .. } => deltas.push((index, space)),
                _ => poses.push(index),
            }
        }
        if let Some(output) = poses.last().filter(|_| r.below(20) > 0) {
            list.set_output(*output).unwrap();
        }
        if r.below(2) == 0 {
            list.set_cut(Some(BoneCount(r.below(self.bones + 2) as u16)));
        }
        let bone = self.bone(r);
        list.set_root_pin(match r.below(4) {
            0 => Some(RootPin::Reference(bone)),
            1 => {
                Some(RootPin::Motion { bone, x: r.signed(), z: r.signed(), yaw: 3.0 * r.signed() })
            }
            _ => None,
        });
        if r.below(3) > 0 {
            let (origin, bend) = (r.vec3(0.5), r.vec3(0.2));
            let slope = 0.3 * Vec2::new(r.signed(), r.signed());
            list.set_ground(Some(GroundPatch { origin, slope, bend }));
        }
    }
}

/// The usual number three times out of four, and an odd one else.
fn mostly(r: &mut Random, usual: f32, odd: &[f32]) -> f32 {
    if r.below(4) > 0 { usual } else { odd[r.below(odd.len())] }
}

/// Of the history `own`, which one kind of transition has for itself, or of one that is not there.
fn transition(r: &mut Random, own: u16) -> Transition {
    let elapsed = r.signed() * 0.15 + 0.15;
    Transition {
        history: HistoryId(if r.below(8) > 0 { own } else { 2 }),
        elapsed: mostly(r, elapsed, &[0.0, -0.1, f32::NAN]),
        duration: mostly(r, 0.3, &[0.0, f32::NAN]),
        dt: mostly(r, 1.0 / 30.0, &[0.1, 0.0, f32::NAN]),
        capture: r.below(3) > 0,
    }
}

/// What is kept from frame to frame is touched before the physics step and after it, so that two
/// halves see it in another order than a whole does.
fn order_matters(list: &TaskList) -> bool {
    let kept = |task: &Task| match *task {
        Task::SavePoseSnapshot { snapshot, .. } | Task::LoadPoseSnapshot { snapshot } => {
            Some((0, snapshot.0))
        }
        Task::Inertialize { transition, .. } | Task::DeadBlend { transition, .. } => {
            Some((1, transition.history.0))
        }
        _ => None,
    };
    let marks = list.tasks().iter().zip(list.marks()).filter(|(_, mark)| mark.reachable);
    let touched: Vec<_> = marks.filter_map(|(task, mark)| Some((kept(task)?, mark.late))).collect();
    touched.iter().any(|(kept, late)| touched.contains(&(*kept, !late)))
}
