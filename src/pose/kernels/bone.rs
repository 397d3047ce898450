//! Operations on one bone.

use super::weight;
use crate::index::{BoneCount, BoneIndex};
use crate::math::Trs;
use crate::pose::{Pose, Rig};
use glam::{Quat, Vec3};

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
    if !active.contains(bone) || !change.is_finite() {
        return;
    }
    let alpha = weight(alpha);
    let local = rig.local(pose, bone);
    let changed = match space {
        BoneSpace::Local => changed(&local, &change, mode, alpha),
        BoneSpace::Component => {
            let above = rig.model_from_parent(pose, bone);
            let model = Trs::from_affine(&(above * local.to_affine()));
            let model = changed(&model, &change, mode, alpha).to_affine();
            Trs::from_affine(&(above.inverse() * model))
        }
    };
    if changed.is_finite() {
        rig.set_local(pose, bone, &changed);
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
    if !active.contains(bone) || !offset.is_finite() {
        return;
    }
    let offset = offset * weight(alpha);
    let moved = rig.local(pose, bone).translation
        + match space {
            BoneSpace::Local => offset,
            BoneSpace::Component => {
                let above = rig.model_from_parent(pose, bone);
                Vec3::from(above.matrix3.inverse() * glam::Vec3A::from(offset))
            }
        };
    if moved.is_finite() {
        rig.set_local_translation(pose, bone, moved);
    }
}
