//! A recursive evaluator in double precision, without buffers, and random lists for it.

use super::Character;
use crate::index::{BoneCount, BoneIndex, ClipId};
use crate::pose::RootPin;
use crate::pose::kernels::bone::{BoneMode, BoneSpace};
use crate::pose::testing::{self, DTrs, Random};
use crate::task::*;
use glam::{DAffine3, DQuat, DVec3};

/// Appends a random task of a kind that the evaluator below knows. `poses` and `deltas` are the
/// tasks so far that give the one or the other (with the space of a delta).
fn random_task(
    r: &mut Random,
    bones: usize,
    poses: &[TaskIndex],
    deltas: &[(TaskIndex, AdditiveSpace)],
) -> Task {
    let pose = |r: &mut Random| match poses.len() {
        0 => TaskIndex::NONE,
        _ if r.below(15) == 0 => TaskIndex::NONE,
        n => poses[r.below(n)],
    };
    let alpha =
        |r: &mut Random| [r.signed() * 0.5 + 0.5, 0.0, 1.0, 2.0, -1.0, f32::NAN][r.below(9).min(5)];
    let space = if r.below(2) == 0 { AdditiveSpace::Local } else { AdditiveSpace::Mesh };
    let bone = BoneIndex(r.below(bones + 1) as u16);
    let bone_space = if r.below(2) == 0 { BoneSpace::Local } else { BoneSpace::Component };
    match r.below(14) {
        0 => Task::ReferencePose,
        1..=4 => Task::SampleClip { clip: ClipId(r.below(6) as u16), seconds: r.signed() * 0.3 },
        5 | 6 => Task::Blend { a: pose(r), b: pose(r), alpha: alpha(r) },
        7 => Task::BlendMasked {
            a: pose(r),
            b: pose(r),
            alpha: alpha(r),
            mask: MaskId(r.below(4) as u16),
        },
        8 => Task::MakeAdditive { source: pose(r), reference: pose(r), space },
        9 if !deltas.is_empty() => {
            let (delta, space) = deltas[r.below(deltas.len())];
            Task::ApplyAdditive { base: pose(r), delta, alpha: alpha(r), space }
        }
        10 => Task::SavePoseSnapshot { source: pose(r), snapshot: SnapshotId(r.below(3) as u16) },
        11 => Task::LoadPoseSnapshot { snapshot: SnapshotId(r.below(3) as u16) },
        12 => Task::TranslateBone {
            source: pose(r),
            bone,
            space: bone_space,
            alpha: alpha(r),
            offset: r.vec3(0.2).to_array(),
        },
        _ => Task::BoneTransform {
            source: pose(r),
            bone,
            space: BoneSpace::Local,
            mode: if r.below(2) == 0 { BoneMode::Additive } else { BoneMode::Override },
            alpha: alpha(r),
            translation: r.vec3(0.2).to_array(),
            rotation: r.quat(1.0).to_array(),
            scale: [1.0; 3],
        },
    }
}

/// A random well-formed list.
pub(super) fn random_list(r: &mut Random, list: &mut TaskList, bones: usize) {
    list.clear();
    let (mut poses, mut deltas) = (Vec::new(), Vec::new());
    for _ in 0..1 + r.below(16) {
        let task = random_task(r, bones, &poses, &deltas);
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
        list.set_cut(Some(BoneCount(r.below(bones + 2) as u16)));
    }
    let bone = BoneIndex(r.below(bones + 1) as u16);
    list.set_root_pin(match r.below(4) {
        0 => Some(RootPin::Reference(bone)),
        1 => Some(RootPin::Motion { bone, x: r.signed(), z: r.signed(), yaw: 3.0 * r.signed() }),
        _ => None,
    });
}

/// What a character keeps.
#[derive(Clone, Default)]
pub(super) struct Kept {
    pub snapshots: Vec<Option<(Vec<DTrs>, usize)>>,
}

/// Evaluates a list's reachable tasks in order.
pub(super) fn evaluate(
    c: &Character,
    masks: &[Vec<f32>],
    list: &TaskList,
    kept: &mut Kept,
) -> Vec<DTrs> {
    let bones = c.skeleton.bone_count();
    let active = list.active(bones).get();
    let rest = testing::rest_pose(&c.skeleton);
    let mut results: Vec<Vec<DTrs>> = Vec::new();
    for (at, task) in list.tasks().iter().enumerate() {
        let reached = list.is_reachable(TaskIndex::new(at).unwrap());
        let of = |i: TaskIndex| i.get().map_or(rest.clone(), |i| results[i].clone());
        let weight = |a: f32| if a.is_nan() { 0.0 } else { f64::from(a).clamp(0.0, 1.0) };
        let [first, second] = task.dependencies();
        let same = first == second && first != TaskIndex::NONE;
        let out = match *task {
            Task::ReferencePose => rest.clone(),
            Task::SampleClip { clip, seconds } => match c.clips.get(clip.get()) {
                Some(clip) => testing::sampled(clip, bones.get(), seconds),
                None => rest.clone(),
            },
            Task::MakeAdditive { source, reference, space } => {
                let mesh = space == AdditiveSpace::Mesh;
                testing::difference_of(&c.skeleton, &of(source), &of(reference), mesh)
            }
            _ if same => of(first),
            Task::Blend { a, b, alpha } => testing::blended(&of(a), &of(b), weight(alpha)),
            Task::BlendMasked { a, b, alpha, mask } => {
                let weights = masks.get(mask.0 as usize).map_or(&[][..], |m| m);
                testing::blended_masked(&of(a), &of(b), weight(alpha), weights)
            }
            Task::ApplyAdditive { base, delta, alpha, space } => {
                let mesh = space == AdditiveSpace::Mesh;
                testing::added(&c.skeleton, &of(base), &of(delta), weight(alpha), mesh)
            }
            Task::SavePoseSnapshot { source, snapshot } => {
                let pose = of(source);
                if let Some(to) = kept.snapshots.get_mut(snapshot.0 as usize)
                    && reached
                {
                    *to = Some((pose.clone(), active));
                }
                pose
            }
            Task::LoadPoseSnapshot { snapshot } => {
                let mut pose = rest.clone();
                if let Some(Some((from, cut))) = kept.snapshots.get(snapshot.0 as usize) {
                    pose[..*cut].copy_from_slice(&from[..*cut]);
                }
                pose
            }
            Task::TranslateBone { source, bone, space, alpha, offset } => {
                let mut pose = of(source);
                if bone.get() < active {
                    let offset = glam::Vec3::from_array(offset).as_dvec3() * weight(alpha);
                    let moved = match space {
                        BoneSpace::Local => offset,
                        BoneSpace::Component => above(c, &pose, bone).matrix3.inverse() * offset,
                    };
                    pose[bone.get()].translation += moved;
                }
                pose
            }
            Task::BoneTransform {
                source, bone, mode, alpha, translation, rotation, scale, ..
            } => {
                let mut pose = of(source);
                if let Some(local) = pose[..active].get_mut(bone.get()) {
                    let t = weight(alpha);
                    let change = DTrs {
                        translation: DVec3::from_array(translation.map(f64::from)),
                        rotation: DQuat::from_array(rotation.map(f64::from)).normalize(),
                        scale: DVec3::from_array(scale.map(f64::from)),
                    };
                    let scale = local.scale;
                    *local = changed(local, &change, mode, t);
                    if !c.rig.has_scale() {
                        local.scale = scale;
                    }
                }
                pose
            }
            _ => unreachable!("not drawn by random_task"),
        };
        results.push(out);
    }
    let mut pose = list.output().get().map_or(rest.clone(), |o| results[o].clone());
    match list.root_pin().filter(|pin| pin.bone().get() < active) {
        Some(RootPin::Reference(bone)) => pose[bone.get()] = rest[bone.get()],
        Some(RootPin::Motion { bone, x, z, yaw }) => {
            let above = above(c, &pose, bone);
            let motion = DAffine3::from_rotation_translation(
                DQuat::from_rotation_y(yaw.into()),
                DVec3::new(x.into(), 0.0, z.into()),
            );
            let change = above.inverse() * motion.inverse() * above;
            let axis = (above.matrix3.inverse() * DVec3::Y).normalize();
            let local = &mut pose[bone.get()];
            local.translation = change.transform_point3(local.translation);
            local.rotation = DQuat::from_axis_angle(axis, -f64::from(yaw)) * local.rotation;
        }
        None => {}
    }
    pose
}

fn above(c: &Character, pose: &[DTrs], bone: BoneIndex) -> glam::DAffine3 {
    let mut matrix = glam::DAffine3::IDENTITY;
    let mut at = bone;
    while let Some(parent) = c.skeleton.parents()[at.get()] {
        let p = &pose[parent.get()];
        let rotation = p.rotation.normalize();
        matrix = glam::DAffine3::from_scale_rotation_translation(p.scale, rotation, p.translation)
            * matrix;
        at = parent;
    }
    c.skeleton.model_from_root_parent(at).as_daffine3() * matrix
}

fn changed(from: &DTrs, change: &DTrs, mode: BoneMode, t: f64) -> DTrs {
    let lerp = |a: DQuat, b: DQuat| {
        let b = if a.dot(b) < 0.0 { -b } else { b };
        (a * (1.0 - t) + b * t).normalize()
    };
    let before = from.rotation.normalize();
    match mode {
        BoneMode::Additive => DTrs {
            translation: from.translation + change.translation * t,
            rotation: before * lerp(DQuat::IDENTITY, change.rotation),
            scale: from.scale * DVec3::ONE.lerp(change.scale, t),
        },
        BoneMode::Override => DTrs {
            translation: from.translation.lerp(change.translation, t),
            rotation: lerp(before, change.rotation),
            scale: from.scale.lerp(change.scale, t),
        },
    }
}
