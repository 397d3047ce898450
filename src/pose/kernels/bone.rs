//! Operations on one bone.

use super::ik::frame::{Frame, Joint, Rigid, by_class};
use super::weight;
use crate::index::{BoneCount, BoneIndex};
use crate::math::Trs;
use crate::pose::{Pose, Rig, RigClass};
use glam::{Affine3A, Quat, Vec3};

/// Which frame a bone's transform is changed in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum BoneSpace {
    /// Relative to its parent.
    #[default]
    Local,
    /// Model space.
    Component,
}

/// How a transform changes a bone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum BoneMode {
    /// Translations add, rotations multiply on the right, scales multiply; `alpha` is how much of
    /// it.
    #[default]
    Additive,
    /// The bone goes towards the transform; `alpha` is how far.
    Override,
}

/// Changes one active bone; nothing for others, or when a number is not finite. A rig without scale
/// keeps its own.
pub fn bone_transform(
    rig: &Rig,
    pose: &mut Pose,
    bone: BoneIndex,
    (space, mode): (BoneSpace, BoneMode),
    change: &Trs,
    alpha: f32,
    active: BoneCount,
) {
    let length = change.rotation.length();
    let rotation = if length > 1e-6 { change.rotation / length } else { Quat::IDENTITY };
    let change = Trs { rotation, ..*change };
    if !active.min(rig.bone_count()).contains(bone) || !change.is_finite() {
        return;
    }
    let alpha = weight(alpha);
    match (space, rig.class()) {
        (BoneSpace::Local, _) => {
            let changed = changed(&rig.local(pose, bone), &change, mode, alpha);
            if changed.is_finite() {
                rig.set_local(pose, bone, &changed);
            }
        }
        (BoneSpace::Component, RigClass::BindRelative) => {
            let above = Rigid::above(rig, pose, bone);
            let joint = Joint::of::<Rigid>(rig, pose, bone);
            let model = Trs {
                translation: above.point(joint.translation).into(),
                rotation: above.below(&joint).model_rotation(rig, bone),
                scale: Vec3::ONE,
            };
            let changed = changed(&model, &change, mode, alpha);
            let moved = above.translation_of((changed.translation - model.translation).into());
            let translation = Vec3::from(joint.translation + moved);
            if changed.is_finite() && translation.is_finite() {
                let rotation = above.pose_rotation(rig, bone, changed.rotation);
                pose.set_rotation(bone, rotation.to_array());
                rig.set_pose_translation(pose, bone, translation);
            }
        }
        (BoneSpace::Component, RigClass::General) => {
            let above = <Affine3A as Frame>::above(rig, pose, bone);
            let model = above.below(&Joint::of::<Affine3A>(rig, pose, bone));
            let model = changed(&Trs::from_affine(&model), &change, mode, alpha).to_affine();
            let changed = Trs::from_affine(&(above.inverse() * model));
            if changed.is_finite() {
                rig.set_local(pose, bone, &changed);
            }
        }
    }
}

fn changed(from: &Trs, change: &Trs, mode: BoneMode, alpha: f32) -> Trs {
    match mode {
        BoneMode::Additive => Trs {
            translation: from.translation + change.translation * alpha,
            rotation: (from.rotation * Quat::IDENTITY.lerp(change.rotation, alpha)).normalize(),
            scale: from.scale * Vec3::ONE.lerp(change.scale, alpha),
        },
        BoneMode::Override => Trs {
            translation: from.translation.lerp(change.translation, alpha),
            rotation: from.rotation.lerp(change.rotation, alpha),
            scale: from.scale.lerp(change.scale, alpha),
        },
    }
}

/// Moves one active bone by `alpha` times an offset; nothing when a number is not finite. The bone's
/// rotation stays as it is stored.
pub fn translate_bone(
    rig: &Rig,
    pose: &mut Pose,
    bone: BoneIndex,
    space: BoneSpace,
    offset: Vec3,
    alpha: f32,
    active: BoneCount,
) {
    if !active.min(rig.bone_count()).contains(bone) || !offset.is_finite() {
        return;
    }
    let offset = offset * weight(alpha);
    match space {
        BoneSpace::Local => {
            let moved = rig.local(pose, bone).translation + offset;
            if moved.is_finite() {
                rig.set_local_translation(pose, bone, moved);
            }
        }
        BoneSpace::Component => by_class!(rig, translate_in_model(rig, pose, bone, offset)),
    }
}

fn translate_in_model<F: Frame>(rig: &Rig, pose: &mut Pose, bone: BoneIndex, offset: Vec3) {
    let offset = F::above(rig, pose, bone).translation_of(offset.into());
    let moved = rig.pose_translation(pose, bone) + Vec3::from(offset);
    if moved.is_finite() {
        rig.set_pose_translation(pose, bone, moved);
    }
}
