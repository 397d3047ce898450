//! What is taken out of the root of a finished pose.

use super::{Pose, Rig, Skeleton, UniformClip};
use crate::index::{BoneCount, BoneIndex, ClipId};
use crate::math::Trs;
use glam::{Affine3A, Quat, Vec3};

/// What is taken out of the root bone of a finished pose, because it has gone to the character's
/// own transform.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RootPin {
    /// All of it: the bone stands where the reference pose has it.
    Reference(BoneIndex),
    /// A motion of the ground, model space: the bone is put to where it was before that motion.
    /// What the motion does not hold (sway, height, tilt) stays in the pose.
    Motion {
        /// The bone.
        bone: BoneIndex,
        /// Along +X, in the model's own unit.
        x: f32,
        /// Along +Z, in the model's own unit.
        z: f32,
        /// Radians about +Y, from +Z towards +X.
        yaw: f32,
    },
}

impl RootPin {
    /// The bone that is pinned.
    pub const fn bone(&self) -> BoneIndex {
        match *self {
            Self::Reference(bone) | Self::Motion { bone, .. } => bone,
        }
    }

    /// The motion that is taken out, as a change of model space; `None` where all of it is.
    pub fn motion(&self) -> Option<Affine3A> {
        match *self {
            Self::Reference(_) => None,
            Self::Motion { x, z, yaw, .. } => {
                let turn = Quat::from_rotation_y(yaw);
                Some(Affine3A::from_rotation_translation(turn, Vec3::new(x, 0.0, z)))
            }
        }
    }

    /// Changes the bone in a pose; nothing where it is not one of the `active` bones, or where the
    /// motion is not finite.
    pub(crate) fn apply(&self, rig: &Rig, pose: &mut Pose, active: BoneCount) {
        match *self {
            Self::Reference(bone) => rig.pin_to_reference(pose, bone, active),
            Self::Motion { bone, x, z, yaw } => {
                let finite = x.is_finite() && z.is_finite() && yaw.is_finite();
                let moves = x != 0.0 || z != 0.0 || yaw != 0.0;
                if finite && moves && active.min(rig.bone_count()).contains(bone) {
                    take_out(rig, pose, bone, Vec3::new(x, 0.0, z), yaw);
                }
            }
        }
    }

    /// The same on local transforms, one per bone of the skeleton.
    pub fn apply_to_locals(&self, skeleton: &Skeleton, locals: &mut [Trs]) {
        let bone = self.bone();
        let Some(rest) = skeleton.rest().get(bone.get()).filter(|_| bone.get() < locals.len())
        else {
            return;
        };
        match *self {
            Self::Reference(_) => locals[bone.get()] = *rest,
            Self::Motion { x, z, yaw, .. } => {
                let mut above = Affine3A::IDENTITY;
                let mut at = bone;
                while let Some(parent) = skeleton.parents()[at.get()] {
                    above = locals[parent.get()].to_affine() * above;
                    at = parent;
                }
                let above = skeleton.model_from_root_parent(at) * above;
                let (turn, motion) = Self::correction(&above, Vec3::new(x, 0.0, z), yaw);
                let local = &mut locals[bone.get()];
                if motion.is_finite() {
                    local.rotation = (turn * local.rotation).normalize();
                    local.translation = motion.transform_point3(local.translation);
                }
            }
        }
    }

    /// The turn and the matrix that go before a bone's own, given what lies above it.
    fn correction(above: &Affine3A, moved: Vec3, yaw: f32) -> (Quat, Affine3A) {
        let back = Quat::from_rotation_y(-yaw);
        let unmoved = Affine3A::from_rotation_translation(back, back * -moved);
        let below = above.inverse();
        // The turn as the bone's parent sees it: about where up is there.
        let up = Vec3::from(below.matrix3.y_axis).normalize_or(Vec3::Y);
        (Quat::from_axis_angle(up, -yaw), below * unmoved * *above)
    }
}

impl Rig {
    /// Appends a clip without what moves its character: at each frame `pin` says what is taken out
    /// of the root at so many seconds. The copy has the clip's name, store and frames. `None` when the rig
    /// has no such clip or is full.
    pub fn add_in_place(
        &mut self,
        clip: ClipId,
        pin: impl Fn(f32) -> Option<RootPin>,
    ) -> Option<ClipId> {
        let source = self.clip(clip)?;
        let (name, rate_hz) = (source.name().to_owned(), source.rate_hz());
        let frame_count = (source.seconds() * rate_hz).round() as usize + 1;
        let mut locals = Vec::with_capacity(frame_count * self.bone_count().get());
        for frame in 0..frame_count {
            let seconds = frame as f32 / rate_hz;
            let mut frame = self.sample_locals(clip, seconds);
            if let Some(pin) = pin(seconds) {
                pin.apply_to_locals(self.skeleton(), &mut frame);
            }
            locals.extend(frame);
        }
        let in_place = UniformClip { name, rate_hz, frame_count, locals, max_error_m: 0.0 };
        self.push_clip(&in_place, clip)
    }
}

fn take_out(rig: &Rig, pose: &mut Pose, bone: BoneIndex, moved: Vec3, yaw: f32) {
    let above = rig.model_from_parent(pose, bone);
    let (turn, motion) = RootPin::correction(&above, moved, yaw);
    if !motion.is_finite() {
        return;
    }
    match rig.root_unit(bone) {
        // A root's pose space is its local space but for the unit.
        Some(unit) => {
            let before = rig.pose_translation(pose, bone);
            let after = motion.transform_point3(before / unit) * unit;
            let rotation = Quat::from_array(pose.rotation(bone));
            pose.set_rotation(bone, (turn * rotation).to_array());
            if after != before {
                pose.hold_translation(rig.rest(), bone);
                pose.set_translation(bone, after.to_array());
            }
        }
        None => {
            let mut local = rig.local(pose, bone);
            local.rotation = turn * local.rotation;
            local.translation = motion.transform_point3(local.translation);
            rig.set_local(pose, bone, &local);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{self, Shape};
    use super::*;
    use crate::math::Mat3x4;
    use glam::{DAffine3, DQuat, DVec3};

    const ROOT: BoneIndex = BoneIndex(0);

    /// The palette after a pin, through task list and executor.
    fn pinned(rig: &Rig, pin: RootPin) -> Vec<Mat3x4> {
        let mut pose = rig.sample_pose(ClipId(2), 0.03);
        pin.apply(rig, &mut pose, rig.bone_count());
        rig.resolve_pose(&pose)
    }

    fn as_f64(m: &Mat3x4) -> DAffine3 {
        m.to_affine().as_daffine3()
    }

    #[test]
    fn a_motion_of_the_whole_model_is_taken_out_of_every_bone_below_and_nothing_else_is() {
        for shape in Shape::all(20) {
            let (skeleton, clips) = testing::character(shape, 4, 11);
            let rig = Rig::new(skeleton, &clips).unwrap();
            let (x, z, yaw) = (0.7, -1.3, 2.1);
            let motion = DAffine3::from_rotation_translation(
                DQuat::from_rotation_y(f64::from(yaw)),
                DVec3::new(x.into(), 0.0, z.into()),
            );
            let free = rig.sample_palette(ClipId(2), 0.03);
            let held = pinned(&rig, RootPin::Motion { bone: ROOT, x, z, yaw });
            let mut below = 0;
            for bone in 0..20 {
                let mut top = bone;
                while let Some(parent) = rig.skeleton().parents()[top] {
                    top = parent.get();
                }
                let moved = motion.inverse() * as_f64(&free[bone]);
                let expected = if top == 0 { moved } else { as_f64(&free[bone]) };
                let size = expected.matrix3.determinant().abs().cbrt().max(1.0);
                let here = as_f64(&held[bone]);
                assert!(here.abs_diff_eq(expected, 2e-4 * size), "{shape:?} bone {bone}");
                below += usize::from(top == 0);
            }
            assert!(below > 1, "{shape:?}");
        }
    }

    #[test]
    fn a_clip_in_place_shows_what_the_pinned_clip_shows() {
        for shape in Shape::all(20) {
            let (skeleton, clips) = testing::character(shape, 4, 13);
            let mut rig = Rig::new(skeleton, &clips).unwrap();
            let pin = |seconds: f32| {
                let (x, z, yaw) = (3.0 * seconds, -seconds, 9.0 * seconds);
                Some(RootPin::Motion { bone: ROOT, x, z, yaw })
            };
            let seconds = 1.0 / 30.0;
            let mut pose = rig.sample_pose(ClipId(2), seconds);
            pin(seconds).unwrap().apply(&rig, &mut pose, rig.bone_count());
            let pinned = rig.resolve_pose(&pose);
            let in_place = rig.add_in_place(ClipId(2), pin).unwrap();
            assert_eq!(
                rig.clip(in_place).unwrap().seconds(),
                rig.clip(ClipId(2)).unwrap().seconds()
            );
            let exact: Vec<_> = pinned.iter().map(as_f64).collect();
            let error = testing::difference(&rig.sample_palette(in_place, seconds), &exact);
            assert!(error < 1e-3, "{shape:?} {error}");
            assert_eq!(rig.add_in_place(ClipId(99), pin), None);
        }
    }

    #[test]
    fn a_bone_below_the_root_loses_the_motion_in_model_space_too() {
        for shape in Shape::all(20) {
            let (skeleton, clips) = testing::character(shape, 4, 12);
            let rig = Rig::new(skeleton, &clips).unwrap();
            let bone = BoneIndex(3);
            let free = rig.model_from_bone(&rig.sample_palette(ClipId(2), 0.03), bone).unwrap();
            let held = pinned(&rig, RootPin::Motion { bone, x: 0.4, z: 0.2, yaw: 0.0 });
            let held = rig.model_from_bone(&held, bone).unwrap();
            let off = Vec3::from(free.translation - held.translation) - Vec3::new(0.4, 0.0, 0.2);
            let size = free.matrix3.determinant().abs().cbrt().max(1.0);
            assert!(off.length() < 3e-4 * size, "{shape:?} {off}");
        }
    }

    #[test]
    fn what_is_not_there_or_no_number_or_nothing_changes_no_bit() {
        let (skeleton, clips) = testing::character(Shape::plain(9), 4, 3);
        let rig = Rig::new(skeleton, &clips).unwrap();
        let free = rig.sample_palette(ClipId(2), 0.03);
        let motion = |x, yaw| RootPin::Motion { bone: ROOT, x, z: 0.0, yaw };
        for pin in [
            motion(0.0, 0.0),
            motion(f32::NAN, 0.0),
            motion(1.0, f32::INFINITY),
            RootPin::Motion { bone: BoneIndex(9), x: 1.0, z: 1.0, yaw: 1.0 },
            RootPin::Reference(BoneIndex(700)),
        ] {
            assert_eq!(pinned(&rig, pin), free, "{pin:?}");
        }
        let mut pose = rig.sample_pose(ClipId(2), 0.03);
        motion(1.0, 1.0).apply(&rig, &mut pose, BoneCount(0));
        assert_eq!(rig.resolve_pose(&pose), free);
    }

    #[test]
    fn local_transforms_are_pinned_as_poses_are() {
        for shape in Shape::all(20) {
            let (skeleton, clips) = testing::character(shape, 4, 13);
            let rig = Rig::new(skeleton.clone(), &clips).unwrap();
            for bone in [ROOT, BoneIndex(4)] {
                for pin in
                    [RootPin::Motion { bone, x: 0.4, z: -0.9, yaw: 0.8 }, RootPin::Reference(bone)]
                {
                    let mut locals = rig.sample_locals(ClipId(2), 0.03);
                    pin.apply_to_locals(&skeleton, &mut locals);
                    let model = skeleton.model_from_bone(&locals);
                    let palette = pinned(&rig, pin);
                    for (bone, model) in model.iter().enumerate() {
                        let read = rig.model_from_bone(&palette, BoneIndex(bone as u16)).unwrap();
                        let size = model.matrix3.determinant().abs().cbrt().max(1.0);
                        assert!(read.abs_diff_eq(*model, 4e-4 * size), "{shape:?} {pin:?} {bone}");
                    }
                }
            }
        }
        let (skeleton, _) = testing::character(Shape::plain(3), 1, 13);
        RootPin::Reference(BoneIndex(3)).apply_to_locals(&skeleton, &mut [Trs::IDENTITY; 3]);
    }

    #[test]
    fn the_reference_holds_the_whole_bone() {
        let (skeleton, clips) = testing::character(Shape::plain(9), 4, 3);
        let rig = Rig::new(skeleton, &clips).unwrap();
        let rest = rig.sample_palette(ClipId(900), 0.0);
        let held = pinned(&rig, RootPin::Reference(ROOT));
        assert!(as_f64(&held[0]).abs_diff_eq(as_f64(&rest[0]), 1e-5));
        assert_ne!(held[1], rest[1]);
    }
}
