//! A recursive evaluator in double precision, without buffers.

pub(super) mod solvers;
mod transitions;

use super::Character;
use crate::pose::RootPin;
use crate::pose::kernels::bone::{BoneMode, BoneSpace};
use crate::pose::testing::{self, DTrs, Random};
use crate::task::*;
use glam::{DAffine3, DQuat, DVec3};
use solvers::above;

/// A number as tasks take it.
fn weight(alpha: f32) -> f64 {
    if alpha.is_nan() { 0.0 } else { f64::from(alpha).clamp(0.0, 1.0) }
}

/// What a character keeps.
#[derive(Clone, Default)]
pub(super) struct Kept {
    snapshots: [Option<(Vec<DTrs>, usize)>; 2],
    histories: [transitions::History; 2],
}

/// What is put on every number of a sampled pose: about so much, drawn from a seed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Noise {
    pub size: f64,
    pub seed: u64,
}

impl Noise {
    pub const NONE: Self = Self { size: 0.0, seed: 1 };
}

/// Moves every number of a sampled pose, the same way each time.
fn shaken(mut pose: Vec<DTrs>, noise: Noise) -> Vec<DTrs> {
    let r = &mut Random(noise.seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    for bone in pose.iter_mut().filter(|_| noise.size > 0.0) {
        let mut shake = || DVec3::from_array([0; 3].map(|_| f64::from(r.signed()) * noise.size));
        bone.translation += shake();
        bone.rotation = DQuat::from_scaled_axis(shake()) * bone.rotation;
        bone.scale += shake();
    }
    pose
}

/// Evaluates a list's reachable tasks in order. Samples and the rest pose are off by `noise`.
pub(super) fn evaluate(
    c: &Character,
    masks: &[Vec<f32>],
    list: &TaskList,
    kept: &mut Kept,
    noise: Noise,
) -> Vec<DTrs> {
    let bones = c.skeleton.bone_count();
    let active = list.active(bones).get();
    let rest = shaken(testing::rest_pose(&c.skeleton), noise);
    let mut results: Vec<Vec<DTrs>> = Vec::new();
    for (at, task) in list.tasks().iter().enumerate() {
        let reached = list.is_reachable(TaskIndex::new(at).unwrap());
        let of = |i: TaskIndex| i.get().map_or(rest.clone(), |i| results[i].clone());
        let [first, second] = task.dependencies();
        let same = first == second && first != TaskIndex::NONE;
        let out = match *task {
            Task::ReferencePose => rest.clone(),
            Task::SampleClip { clip, seconds } => match c.clips.get(clip.get()) {
                Some(clip) => shaken(testing::sampled(clip, bones.get(), seconds), noise),
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
                source,
                bone,
                space,
                mode,
                alpha,
                translation,
                rotation,
                scale,
            } => {
                let mut pose = of(source);
                if bone.get() < active {
                    let change = DTrs {
                        translation: DVec3::from_array(translation.map(f64::from)),
                        rotation: DQuat::from_array(rotation.map(f64::from)).normalize(),
                        scale: DVec3::from_array(scale.map(f64::from)),
                    };
                    let local = pose[bone.get()];
                    let above = match space {
                        BoneSpace::Local => DAffine3::IDENTITY,
                        BoneSpace::Component => above(c, &pose, bone),
                    };
                    let model = parts(&(above * affine(&local)));
                    let model = changed(&model, &change, mode, weight(alpha));
                    let mut local_now = parts(&(above.inverse() * affine(&model)));
                    if space == BoneSpace::Local {
                        local_now = changed(&local, &change, mode, weight(alpha));
                    }
                    if !c.rig.has_scale() {
                        local_now.scale = local.scale;
                    }
                    pose[bone.get()] = local_now;
                }
                pose
            }
            Task::Inertialize { source, transition } | Task::DeadBlend { source, transition } => {
                let mut pose = of(source);
                let history = kept.histories.get_mut(usize::from(transition.history.0));
                if let Some(history) = history.filter(|_| reached) {
                    match task.kind() {
                        TaskKind::Inertialize => {
                            transitions::inertialize(history, &mut pose, &transition, active);
                        }
                        _ => transitions::dead_blend(history, &mut pose, &transition, active),
                    }
                }
                pose
            }
            Task::TwoBoneIk { source, limb, reach } => {
                let mut pose = of(source);
                solvers::two_bone(c, &mut pose, limb, &reach, active);
                pose
            }
            Task::Fabrik { source, chain, weights } => {
                let mut pose = of(source);
                let weights = masks.get(usize::from(weights.0)).map(Vec::as_slice);
                solvers::fabrik(c, &mut pose, &chain, weights, active);
                pose
            }
            Task::LookAt { source, gaze } => {
                let mut pose = of(source);
                solvers::look_at(c, &mut pose, &gaze, active);
                pose
            }
            Task::FootIk { source, stance } => {
                let mut pose = of(source);
                if let Some(ground) = list.ground() {
                    solvers::stand(c, &mut pose, &stance, &ground, active);
                }
                pose
            }
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

fn affine(t: &DTrs) -> DAffine3 {
    DAffine3::from_scale_rotation_translation(t.scale, t.rotation.normalize(), t.translation)
}

fn parts(m: &DAffine3) -> DTrs {
    let (scale, rotation, translation) = m.to_scale_rotation_translation();
    DTrs { translation, rotation, scale }
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
