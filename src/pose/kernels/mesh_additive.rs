//! Additive rotations in model space: what is added does not turn with the bones below it.

use super::additive;
use super::weight;
use crate::index::BoneCount;
use crate::math::Lanes;
use crate::pose::{Pose, Rig};
use glam::Quat;

/// Model-space rotations of one pose; scratch of a worker.
#[derive(Clone, Debug, Default)]
pub struct MeshScratch {
    first: Vec<Quat>,
    second: Vec<Quat>,
}

/// As [`additive::make_additive`], with rotations as differences in model space.
pub fn make_mesh_additive(
    lanes: Lanes,
    rig: &Rig,
    acc: &mut Pose,
    reference: &Pose,
    active: BoneCount,
    scratch: &mut MeshScratch,
) {
    walk(rig, acc, active, &mut scratch.first);
    walk(rig, reference, active, &mut scratch.second);
    additive::make_additive(lanes, rig.rest(), acc, reference, active);
    for (bone, (of, to)) in active.bones().zip(scratch.first.iter().zip(&scratch.second)) {
        acc.set_rotation(bone, (*of * to.conjugate()).normalize().to_array());
    }
}

/// Adds `alpha` times a model-space difference to `acc`.
pub fn apply_mesh_additive(
    rig: &Rig,
    acc: &mut Pose,
    delta: &Pose,
    alpha: f32,
    active: BoneCount,
    scratch: &mut MeshScratch,
) {
    let alpha = weight(alpha);
    walk(rig, acc, active, &mut scratch.first);
    scratch.second.clear();
    for (bone, base) in active.bones().zip(&scratch.first) {
        let delta = Quat::from_array(delta.rotation(bone)).normalize();
        let added = Quat::IDENTITY.lerp(delta, alpha) * *base;
        let parent = rig.skeleton().parents()[bone.get()];
        let above = parent.map_or(Quat::IDENTITY, |p| scratch.second[p.get()]);
        acc.set_rotation(bone, (above.conjugate() * added).normalize().to_array());
        scratch.second.push(added);
    }
    additive::add_vectors(rig.rest(), acc, delta, alpha, active);
}

/// Rotations from the root down. In the bind-relative class they are the palette's, which differ
/// from the bones' by a factor on the right that a difference cancels.
fn walk(rig: &Rig, pose: &Pose, active: BoneCount, out: &mut Vec<Quat>) {
    out.clear();
    for bone in active.bones() {
        let local = Quat::from_array(pose.rotation(bone)).normalize();
        let parent = rig.skeleton().parents()[bone.get()];
        let above = parent.map_or(Quat::IDENTITY, |p| out[p.get()]);
        out.push((above * local).normalize());
    }
}
