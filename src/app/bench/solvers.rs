//! The kernels that change a few bones. Each call undoes some of what the one before it did, so that
//! none finds its work done.

use super::kernels::{BONE_COUNT, timed};
use crate::index::BoneIndex;
use crate::math::Trs;
use crate::pose::kernels::bone::{BoneMode, BoneSpace, bone_transform, translate_bone};
use crate::pose::kernels::ik::fabrik::{Chain, fabrik};
use crate::pose::kernels::ik::foot::{Ground, foot_ik};
use crate::pose::kernels::ik::look_at::{Gaze, look_at};
use crate::pose::kernels::ik::stand::{Stance, stand};
use crate::pose::kernels::ik::two_bone::{Limb, Reach, two_bone};
use crate::pose::{GroundPatch, Pose, Rig};
use glam::{Quat, Vec2, Vec3};

const CHEST: BoneIndex = BoneIndex(4);
const HEAD: BoneIndex = BoneIndex(6);
const HIPS: BoneIndex = BoneIndex(1);
const ARM: Limb = Limb { root: BoneIndex(11), mid: BoneIndex(13), end: BoneIndex(15) };
const LEG: Limb = Limb { root: BoneIndex(52), mid: BoneIndex(54), end: BoneIndex(56) };
const OTHER_LEG: Limb = Limb { root: BoneIndex(58), mid: BoneIndex(60), end: BoneIndex(62) };

/// Names and nanoseconds per bone of [`super::workload`]'s character in `pose`.
pub(super) fn measure(rig: &Rig, pose: &Pose) -> Vec<(&'static str, f64)> {
    let mut acc = pose.clone();
    let place = |bone: BoneIndex| {
        let local = rig.local(pose, bone).translation;
        rig.model_from_parent(pose, bone).transform_point3(local)
    };
    let (hand, shoulder) = (place(ARM.end), place(ARM.root));
    let inwards = (shoulder - hand) * 0.3;
    let across = inwards.any_orthogonal_vector() * 0.5;
    let near = [hand + inwards + across, hand + inwards - across];
    let target = |call: usize| near[call % 2];
    let mut out = Vec::new();
    out.push((
        "two_bone_ik",
        timed(1, |call| {
            let reach = Reach { target: target(call), pole: Vec3::NAN, soften: 0.1, alpha: 1.0 };
            two_bone(rig, &mut acc, ARM, &reach, BONE_COUNT);
        }),
    ));
    for (name, root) in [("fabrik (four bones)", ARM.root), ("fabrik (seven bones)", CHEST)] {
        let (iterations, tolerance) = (8, 1e-3);
        out.push((
            name,
            timed(1, |call| {
                let (end, target) = (ARM.end, target(call));
                let chain = Chain { root, end, target, iterations, tolerance, alpha: 1.0 };
                fabrik(rig, &mut acc, &chain, None, BONE_COUNT);
            }),
        ));
    }
    out.push((
        "look_at",
        timed(1, |call| {
            let (forward, target) = (Vec3::Z, target(call));
            let gaze = Gaze { bone: HEAD, forward, target, limit: 1.0, alpha: 1.0 };
            look_at(rig, &mut acc, &gaze, BONE_COUNT);
        }),
    ));
    let tilt = Quat::from_rotation_x(0.1);
    let slopes = [tilt * Vec3::Y, tilt.inverse() * Vec3::Y];
    let heights = [0.02, -0.02].map(|y| Vec3::new(0.0, y, 0.0));
    let mut foot = |name, heights: [Vec3; 2], slopes: [Vec3; 2]| {
        let time = timed(1, |call| {
            let (offset, normal) = (heights[call % 2], slopes[call % 2]);
            foot_ik(rig, &mut acc, LEG, &Ground { offset, normal, alpha: 1.0 }, BONE_COUNT);
        });
        out.push((name, time));
    };
    foot("one foot", heights, slopes);
    foot("one foot (ground as animated)", [Vec3::ZERO; 2], [Vec3::Y; 2]);
    let stance = Stance { hips: HIPS, legs: [LEG, OTHER_LEG], alpha: 1.0 };
    let slopes = [0.1, -0.1].map(|slope| Vec2::new(slope, 0.5 * slope));
    out.push((
        "foot_ik",
        timed(1, |call| {
            let slope = slopes[call % 2];
            let ground = GroundPatch { origin: Vec3::ZERO, slope, bend: Vec3::ZERO };
            stand(rig, &mut acc, &stance, &ground, BONE_COUNT);
        }),
    ));
    let (space, mode) = (BoneSpace::Component, BoneMode::Override);
    out.push((
        "bone_transform",
        timed(1, |call| {
            let change = Trs { translation: target(call), ..Trs::IDENTITY };
            bone_transform(rig, &mut acc, HEAD, (space, mode), &change, 0.5, BONE_COUNT);
        }),
    ));
    out.push((
        "translate_bone",
        timed(1, |call| {
            let offset = heights[call % 2];
            translate_bone(rig, &mut acc, HEAD, space, offset, 0.5, BONE_COUNT);
        }),
    ));
    out
}
