//! The direct way from a clip to matrices: one bone after the other, in double precision.
//!
//! What the tasks, the executor and the vector kernels do is held against this while the program
//! runs. It shares with them the clip's stored frames, and the rule that sampling is linear; not
//! the buffers, the lanes or the walk down the skeleton.

use super::kernels::sample;
use super::{Pose, Rig, RootPin};
use crate::index::{BoneCount, BoneIndex, ClipId};
use crate::math::{Lanes, Mat3x4, SimdLevel};
use glam::{DAffine3, DQuat, DVec3};

/// Scratch of the direct way; kept from character to character it does not allocate.
#[derive(Clone, Debug, Default)]
pub struct DirectPose {
    pose: Pose,
    model: Vec<DAffine3>,
}

/// How far a palette is from the direct one, at the matrix where it is furthest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Distance {
    /// The bone that the matrix belongs to.
    pub bone: BoneIndex,
    /// Model units that its joint, or a point near it, is away; infinite for what is not finite.
    pub distance: f64,
}

impl DirectPose {
    /// Poses bones `[0, active)` by a clip at a time (clamped), without what `pin` takes out of the
    /// root; the bones behind rest. A clip that the rig does not have is the rest pose. `false` for a
    /// clip of differences, which is no pose.
    pub fn pose(
        &mut self,
        rig: &Rig,
        clip: ClipId,
        seconds: f32,
        active: BoneCount,
        pin: Option<RootPin>,
    ) -> bool {
        let scalar = Lanes::new(SimdLevel::Scalar).unwrap_or_else(|_| Lanes::best());
        let sampled = rig.clip(clip);
        if let Some(clip) = sampled {
            self.pose.fit(rig.shape());
            sample::sample(scalar, clip, seconds, active, &mut self.pose);
            if self.pose.is_delta {
                return false;
            }
        }
        let skeleton = rig.skeleton();
        self.model.clear();
        for bone in rig.bone_count().bones() {
            let pin = pin.filter(|pin| pin.bone() == bone && active.contains(bone));
            let rests = matches!(pin, Some(RootPin::Reference(_)));
            let moved = sampled.is_some() && active.contains(bone) && !rests;
            let local =
                if moved { rig.local(&self.pose, bone) } else { skeleton.rest()[bone.get()] };
            let above = match skeleton.parents()[bone.get()] {
                Some(parent) => self.model[parent.get()],
                None => skeleton.model_from_root_parent(bone).as_daffine3(),
            };
            let mut rotation = local.rotation.as_dquat().normalize();
            let mut translation = local.translation.as_dvec3();
            if let Some(RootPin::Motion { x, z, yaw, .. }) = pin {
                (rotation, translation) = without([x, z, yaw], &above, rotation, translation);
            }
            let scale = local.scale.as_dvec3();
            let local = DAffine3::from_scale_rotation_translation(scale, rotation, translation);
            self.model.push(above * local);
        }
        true
    }

    /// Holds a palette against the pose. Compared is where each matrix puts its bone's joint of the
    /// bind pose, and points at `near` model units from it along the axes, so that a wrong turn is
    /// as much a fault as a wrong place. `None` for a rig without matrices.
    pub fn furthest(&self, rig: &Rig, palette: &[Mat3x4], near: f64) -> Option<Distance> {
        let entries = rig.skeleton().palette().iter().zip(palette);
        let distances = entries.map(|(entry, ours)| {
            let bone_from_mesh = entry.bone_from_mesh.as_daffine3();
            let exact = self.model[entry.bone.get()] * bone_from_mesh;
            let ours = ours.to_affine().as_daffine3();
            let joint = bone_from_mesh.inverse().translation;
            let joint = if joint.is_finite() { joint } else { DVec3::ZERO };
            let offsets = [DVec3::ZERO, DVec3::X * near, DVec3::Y * near, DVec3::Z * near];
            let distance = offsets
                .map(|o| exact.transform_point3(joint + o) - ours.transform_point3(joint + o))
                .map(|off| if off.is_finite() { off.length() } else { f64::INFINITY })
                .into_iter()
                .fold(0.0, f64::max);
            Distance { bone: entry.bone, distance }
        });
        distances.max_by(|a, b| a.distance.total_cmp(&b.distance))
    }
}

/// A root's rotation and translation, under `above`, before it moved by (x, z) and turned by a yaw
/// in model space. A motion that is not finite is none.
fn without(
    motion: [f32; 3],
    above: &DAffine3,
    rotation: DQuat,
    translation: DVec3,
) -> (DQuat, DVec3) {
    let [x, z, yaw] = motion.map(f64::from);
    let moved =
        DAffine3::from_rotation_translation(DQuat::from_rotation_y(yaw), DVec3::new(x, 0.0, z));
    let below = above.inverse();
    let change = below * moved.inverse() * *above;
    if !change.is_finite() {
        return (rotation, translation);
    }
    let up = (below.matrix3 * DVec3::Y).normalize_or(DVec3::Y);
    (DQuat::from_axis_angle(up, -yaw) * rotation, change.transform_point3(translation))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{self, Shape};
    use super::*;

    #[test]
    fn the_direct_way_agrees_with_the_naive_evaluator_and_sees_every_single_fault() {
        for (at, shape) in Shape::all(29).into_iter().enumerate() {
            let (skeleton, clips) = testing::character(shape, 4, 5 + at as u64);
            let rig = Rig::new(skeleton.clone(), &clips).unwrap();
            let mut direct = DirectPose::default();
            let (active, pinned) = (BoneCount(21), BoneIndex(2));
            for (c, clip) in clips.iter().enumerate() {
                let id = ClipId(c as u16);
                assert!(direct.pose(&rig, id, 0.04, active, Some(RootPin::Reference(pinned))));
                let mut pose = testing::sampled(clip, 29, 0.04);
                pose[pinned.get()] = testing::rest_pose(&skeleton)[pinned.get()];
                let exact = testing::palette(&skeleton, &pose, active.get());
                let palette: Vec<_> =
                    exact.iter().map(|m| Mat3x4::from_affine(&m.as_affine3a())).collect();
                let off = direct.furthest(&rig, &palette, 0.1).unwrap();
                assert!(off.distance < 1e-4, "{shape:?} clip {c}: {off:?}");
                for (entry, bone) in skeleton.palette().iter().map(|p| p.bone).enumerate() {
                    let mut wrong = palette.clone();
                    wrong[entry].rows[1][3] += 0.01;
                    let found = direct.furthest(&rig, &wrong, 0.1).unwrap();
                    assert!((found.distance - 0.01).abs() < 1e-4, "{found:?}");
                    assert_eq!(found.bone, bone);
                    wrong[entry].rows[1][3] = f32::NAN;
                    let found = direct.furthest(&rig, &wrong, 0.1).unwrap();
                    assert_eq!((found.bone, found.distance), (bone, f64::INFINITY));
                }
            }
            assert!(direct.pose(&rig, ClipId(99), 0.0, active, None));
            let rest = testing::palette(&skeleton, &testing::rest_pose(&skeleton), 29);
            let rest: Vec<_> = rest.iter().map(|m| Mat3x4::from_affine(&m.as_affine3a())).collect();
            assert!(direct.furthest(&rig, &rest, 0.1).unwrap().distance < 1e-4);
        }
    }

    #[test]
    fn differences_are_no_pose() {
        let (skeleton, clips) = testing::character(Shape::plain(9), 3, 1);
        let mut rig = Rig::new(skeleton, &clips).unwrap();
        let id = rig.add_additive(ClipId(2), None).unwrap();
        assert!(!DirectPose::default().pose(&rig, id, 0.0, BoneCount(9), None));
    }
}
