//! What each kind of task does to its buffer.

use super::execute::Run;
use super::pool::{Buffer, PosePool};
use super::state::{Masks, Snapshot};
use super::task::{AdditiveSpace, Transition};
use super::worker::Worker;
use super::{Task, TaskIndex};
use crate::index::BoneCount;
use crate::math::{Lanes, Trs};
use crate::pose::kernels::history::History;
use crate::pose::kernels::{
    additive, blend, bone, dead_blend, ik, inertialize, masked, mesh_additive, sample,
};
use crate::pose::{Pose, Rig};
use glam::{Quat, Vec3};

/// Runs one task on `result`, which holds its first dependency (or the bind pose). `second` is the
/// second dependency's buffer. Without `effects` nothing that outlives the list is changed.
pub(super) fn run(
    worker: &mut Worker,
    task: &Task,
    result: Buffer,
    second: Option<Buffer>,
    effects: bool,
    run: &mut Run<'_, '_>,
) {
    let (rig, active) = (run.rig, run.active);
    let lanes = worker.options.lanes;
    let pool = &mut worker.pool;
    match *task {
        Task::ReferencePose => sample::reference(rig.reference(), active, pool.get_mut(result)),
        Task::SampleClip { clip, seconds } => match rig.clip(clip) {
            Some(clip) => sample::sample(lanes, clip, seconds, active, pool.get_mut(result)),
            None => sample::reference(rig.reference(), active, pool.get_mut(result)),
        },
        Task::Blend { alpha, .. } => {
            let (acc, b) = two(pool, rig, result, second);
            blend::blend(lanes, rig.rest(), acc, b, alpha, active);
        }
        Task::BlendMasked { alpha, mask, .. } => {
            let (acc, b) = two(pool, rig, result, second);
            match run.context.masks.get(mask) {
                Some(m) => masked::blend_masked(lanes, rig.rest(), acc, b, alpha, m, active),
                None => blend::blend(lanes, rig.rest(), acc, b, alpha, active),
            }
        }
        Task::MakeAdditive { space, .. } => {
            let (acc, reference) = two(pool, rig, result, second);
            let mesh = &mut worker.mesh;
            make_additive(lanes, rig, acc, reference, space, active, mesh);
        }
        Task::ApplyAdditive { delta, alpha, space, .. } => {
            let (own, delta) = as_delta(worker, rig, delta, second, active);
            let (acc, delta) = match delta {
                Some(delta) => worker.pool.pair(result, delta),
                None => (worker.pool.get_mut(result), None),
            };
            // Without a difference there is nothing to add.
            if let Some(delta) = delta {
                let mesh = &mut worker.mesh;
                match space {
                    AdditiveSpace::Local => {
                        additive::apply_additive(lanes, rig.rest(), acc, delta, alpha, active);
                    }
                    AdditiveSpace::Mesh => {
                        mesh_additive::apply_mesh_additive(rig, acc, delta, alpha, active, mesh);
                    }
                }
            }
            if let Some(own) = own {
                worker.pool.release(own);
            }
        }
        Task::Inertialize { transition, .. } => {
            let pose = pool.get_mut(result);
            if let Some(history) = run.context.state.history(transition.history).filter(|_| effects)
            {
                if transition.capture {
                    inertialize::capture(rig, history, pose, active);
                }
                let Transition { elapsed, duration, .. } = transition;
                inertialize::apply(lanes, rig.rest(), history, pose, active, elapsed, duration);
                remember(rig, history, pose, &transition, active);
            }
        }
        Task::DeadBlend { transition, .. } => {
            let pose = pool.get_mut(result);
            if let Some(history) = run.context.state.history(transition.history).filter(|_| effects)
            {
                if transition.capture {
                    dead_blend::capture(rig, history, active);
                }
                let Transition { elapsed, duration, .. } = transition;
                dead_blend::apply(lanes, rig.rest(), history, pose, active, elapsed, duration);
                remember(rig, history, pose, &transition, active);
            }
        }
        Task::SavePoseSnapshot { snapshot, .. } => {
            if let Some(kept) = run.context.state.snapshot(snapshot).filter(|_| effects) {
                kept.pose.fit(rig.shape());
                kept.pose.copy_from(pool.get(result), active);
                kept.cut = Some(active);
            }
        }
        Task::LoadPoseSnapshot { snapshot } => {
            let pose = pool.get_mut(result);
            match run.context.state.snapshot(snapshot) {
                Some(Snapshot { pose: kept, cut: Some(cut) }) => {
                    pose.copy_from(kept, (*cut).min(active));
                    rig.fill_from_reference(pose, *cut, active);
                }
                _ => sample::reference(rig.reference(), active, pose),
            }
        }
        Task::FootIk { stance, .. } => {
            if let Some(ground) = &run.ground {
                ik::stand::stand(rig, pool.get_mut(result), &stance, ground, active);
            }
        }
        _ => bones(task, rig, pool.get_mut(result), run.context.masks, active),
    }
}

/// The kinds that change some bones of one pose.
fn bones(task: &Task, rig: &Rig, pose: &mut Pose, masks: &Masks, active: BoneCount) {
    match *task {
        Task::BoneTransform { bone, space, mode, alpha, translation, rotation, scale, .. } => {
            let change = Trs {
                translation: Vec3::from_array(translation),
                rotation: Quat::from_array(rotation),
                scale: Vec3::from_array(scale),
            };
            bone::bone_transform(rig, pose, bone, (space, mode), &change, alpha, active);
        }
        Task::TranslateBone { bone, space, alpha, offset, .. } => {
            bone::translate_bone(rig, pose, bone, space, offset.into(), alpha, active);
        }
        Task::TwoBoneIk { limb, reach, .. } => {
            ik::two_bone::two_bone(rig, pose, limb, &reach, active);
        }
        Task::Fabrik { chain, weights, .. } => {
            ik::fabrik::fabrik(rig, pose, &chain, masks.get(weights), active);
        }
        Task::LookAt { gaze, .. } => ik::look_at::look_at(rig, pose, &gaze, active),
        _ => {}
    }
}

/// The pose to write and the one to read; the bind pose where that is missing.
fn two<'a>(
    pool: &'a mut PosePool,
    rig: &'a Rig,
    write: Buffer,
    read: Option<Buffer>,
) -> (&'a mut Pose, &'a Pose) {
    let (acc, b) = match read {
        Some(read) => pool.pair(write, read),
        None => (pool.get_mut(write), None),
    };
    (acc, b.unwrap_or(rig.reference()))
}

fn make_additive(
    lanes: Lanes,
    rig: &Rig,
    acc: &mut Pose,
    reference: &Pose,
    space: AdditiveSpace,
    active: BoneCount,
    mesh: &mut mesh_additive::MeshScratch,
) {
    match space {
        AdditiveSpace::Local => {
            additive::make_additive(lanes, rig.rest(), acc, reference, active);
        }
        AdditiveSpace::Mesh => {
            mesh_additive::make_mesh_additive(lanes, rig, acc, reference, active, mesh);
        }
    }
}

/// The difference to add. A whole pose where a difference is expected counts as its difference to
/// the bind pose, in a buffer of its own that comes back first.
fn as_delta(
    worker: &mut Worker,
    rig: &Rig,
    task: TaskIndex,
    second: Option<Buffer>,
    active: BoneCount,
) -> (Option<Buffer>, Option<Buffer>) {
    let Some(second) = second.filter(|_| task != TaskIndex::NONE) else { return (None, None) };
    if worker.pool.get(second).is_delta {
        return (None, Some(second));
    }
    let own = worker.pool.acquire(rig.shape());
    if let (to, Some(from)) = worker.pool.pair(own, second) {
        to.copy_from(from, active);
        let lanes = worker.options.lanes;
        additive::make_additive(lanes, rig.rest(), to, rig.reference(), active);
    }
    (Some(own), Some(own))
}

fn remember(
    rig: &Rig,
    history: &mut History,
    pose: &Pose,
    transition: &Transition,
    active: BoneCount,
) {
    history.push(rig, pose, active, transition.dt);
}
