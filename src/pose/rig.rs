//! The rig: everything that posing one kind of character needs.

mod clips;

use super::basis::{Basis, BoneBasis, PoseTrs, RigClass, Start};
use super::buffer::{Pose, PoseShape, Rest};
use super::clip_layout::{ClipLayout, ClipPlan, LaidOut, Table};
use super::clip_store::{ClipStore, Ranges};
use super::kernels::resolve;
use super::low_detail::{CutRows, Detail, LowDetail};
use super::resolve_table::ResolveTable;
use super::runtime_clip::RuntimeClip;
use super::streams::GROUP;
use super::{Skeleton, UniformClip};
use crate::index::{BoneCount, BoneIndex, ClipId};
use crate::math::huge::OutOfMemory;
use crate::math::{Lanes, Mat3x4, Trs};
use clips::{check, packed};
use glam::{Affine3A, DQuat, DVec3, Quat, Vec3};
use std::sync::Arc;

/// What a rig can't be made of.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum RigError {
    /// More clips than a clip index can name.
    #[error("{count} clips are over the limit of {limit}")]
    TooManyClips {
        /// Number of clips.
        count: usize,
        /// The limit.
        limit: usize,
    },
    /// A clip whose table is not frames times bones.
    #[error(
        "clip \"{clip}\" has {locals} local transforms; {frames} frames of {bones} bones need {needed}"
    )]
    Length {
        /// The clip's name.
        clip: String,
        /// Number of transforms.
        locals: usize,
        /// Number of frames.
        frames: usize,
        /// Number of bones.
        bones: usize,
        /// What would be right (with at least one frame).
        needed: usize,
    },
    /// A rate that is not a positive number.
    #[error("clip \"{clip}\" has a rate of {rate_hz} frames a second")]
    Rate {
        /// The clip's name.
        clip: String,
        /// The rate.
        rate_hz: f32,
    },
    /// A number that is not finite.
    #[error(
        "clip \"{clip}\" has a value that is not a finite number at frame {frame}, bone {bone}"
    )]
    NotFinite {
        /// The clip's name.
        clip: String,
        /// The frame.
        frame: usize,
        /// The bone.
        bone: usize,
    },
    /// The frames do not fit into memory.
    #[error("frames of clips: {0}")]
    Memory(#[from] OutOfMemory),
}

/// What a rig can be told beyond its skeleton and clips.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RigOptions<'a> {
    /// Tasks will scale bones: the general class, whatever the clips hold. A bind-relative rig
    /// keeps no scale, so there it has no effect.
    pub scaling_tasks: bool,
    /// How each clip is stored; clips beyond the end are 32-bit.
    pub stores: &'a [ClipStore],
}

/// A skeleton with its runtime clips, its reference pose and what resolve needs of it. Shared by
/// every character of a kind, and never changed.
#[derive(Clone, Debug)]
pub struct Rig {
    skeleton: Skeleton,
    basis: Basis,
    reference: Pose,
    /// No difference, for every bone.
    no_difference: Pose,
    clips: Vec<RuntimeClip>,
    /// What the 16-bit clips share.
    ranges: Vec<Arc<Ranges>>,
    table: ResolveTable,
    low: Option<LowDetail>,
}

impl Rig {
    /// Builds a rig, bind-relative where skeleton and clips allow it, with 32-bit clips.
    ///
    /// # Errors
    /// See [`RigError`]; each names the clip and the number.
    pub fn new(skeleton: Skeleton, clips: &[UniformClip]) -> Result<Self, RigError> {
        Self::with(skeleton, clips, RigOptions::default())
    }

    /// Builds a rig of the general class, whose tasks may scale bones, with 32-bit clips.
    ///
    /// # Errors
    /// See [`RigError`]; each names the clip and the number.
    pub fn general(skeleton: Skeleton, clips: &[UniformClip]) -> Result<Self, RigError> {
        Self::with(skeleton, clips, RigOptions { scaling_tasks: true, ..RigOptions::default() })
    }

    /// Builds a rig as told.
    ///
    /// # Errors
    /// See [`RigError`]; each names the clip and the number.
    pub fn with(
        skeleton: Skeleton,
        clips: &[UniformClip],
        options: RigOptions<'_>,
    ) -> Result<Self, RigError> {
        let limit = usize::from(u16::MAX);
        if clips.len() > limit {
            return Err(RigError::TooManyClips { count: clips.len(), limit });
        }
        for clip in clips {
            check(clip, skeleton.bone_count().get())?;
        }
        let basis = Basis::new(&skeleton, clips, options.scaling_tasks);
        let rest: Vec<PoseTrs> =
            skeleton.rest().iter().zip(&basis.bones).map(|(l, b)| b.to_pose(l)).collect();
        let shape =
            PoseShape { bones: skeleton.bone_count(), has_scale: basis.class == RigClass::General };
        let reference = packed(shape, &rest);
        let mut no_difference = packed(shape, &vec![PoseTrs::NO_DIFFERENCE; shape.bones.get()]);
        no_difference.is_delta = true;
        let table = ResolveTable::new(&skeleton, &basis, &rest);
        let low = LowDetail::new(&skeleton, &basis, &rest);
        let layout =
            ClipLayout { reference: &rest, has_scale: shape.has_scale, is_additive: false };
        let stores = options.stores.iter().copied().chain(std::iter::repeat(ClipStore::F32));
        let mut plans = Vec::with_capacity(clips.len());
        for (clip, store) in clips.iter().zip(stores) {
            let table = || Table::of(clip, &basis, &rest);
            let (name, rate_hz) = (clip.name.clone(), clip.rate_hz);
            plans.push(ClipPlan { name, rate_hz, store, table: Box::new(table) });
        }
        let LaidOut { clips, ranges } = layout.lay_out(plans)?;
        let ranges = ranges.into_iter().collect();
        Ok(Self { skeleton, basis, reference, no_difference, clips, ranges, table, low })
    }

    /// The skeleton.
    pub fn skeleton(&self) -> &Skeleton {
        &self.skeleton
    }

    /// Number of bones.
    pub fn bone_count(&self) -> BoneCount {
        self.skeleton.bone_count()
    }

    /// Number of matrices that resolve writes.
    pub fn palette_len(&self) -> usize {
        self.table.palette_len()
    }

    /// What there is of a palette while the low-detail bones alone are animated; `None` where that is
    /// all of it.
    pub fn cut_rows(&self) -> Option<&Arc<CutRows>> {
        self.low.as_ref().map(|low| &low.rows)
    }

    /// What a palette of so many matrices holds of a character whose first bones are animated; `None`
    /// for one of the wrong length.
    pub fn detail_of(&self, len: usize, active: BoneCount) -> Option<Detail> {
        let cut = self.cut_rows().is_some_and(|rows| rows.count() == len)
            && active <= self.skeleton.low_detail_bone_count();
        match len == self.palette_len() {
            true => Some(Detail::Whole),
            false => cut.then_some(Detail::Cut),
        }
    }

    /// How poses are kept.
    pub fn class(&self) -> RigClass {
        self.basis.class
    }

    /// True for the general class: poses hold scale, and tasks may change it.
    pub fn has_scale(&self) -> bool {
        self.basis.class == RigClass::General
    }

    /// Number of clips.
    pub fn clip_count(&self) -> usize {
        self.clips.len()
    }

    /// A clip, or `None` when the rig has no such clip.
    pub fn clip(&self, clip: ClipId) -> Option<&RuntimeClip> {
        self.clips.get(clip.get())
    }

    /// The reference pose: the skeleton's rest pose.
    pub fn reference(&self) -> &Pose {
        &self.reference
    }

    /// What stands in for groups that a pose or a delta does not hold.
    #[inline(always)]
    pub fn rest(&self) -> Rest<'_> {
        Rest { pose: &self.reference, delta: &self.no_difference }
    }

    /// What buffers of this rig hold.
    pub fn shape(&self) -> PoseShape {
        PoseShape { bones: self.bone_count(), has_scale: self.has_scale() }
    }

    /// The tables of resolve. A rig without less detail has but one.
    pub(crate) fn table(&self, detail: Detail) -> &ResolveTable {
        let low = self.low.as_ref().filter(|_| detail == Detail::Cut);
        low.map_or(&self.table, |low| &low.table)
    }

    /// One bone's transform in a pose, relative to its parent; the rotation is normalized.
    pub fn local(&self, pose: &Pose, bone: BoneIndex) -> Trs {
        let Some(basis) = self.basis.bones.get(bone.get()) else { return Trs::IDENTITY };
        basis.to_local(&self.pose_trs(pose, bone))
    }

    /// Stores one bone's transform relative to its parent. A rig without scale keeps its own.
    pub fn set_local(&self, pose: &mut Pose, bone: BoneIndex, local: &Trs) {
        let Some(basis) = self.basis.bones.get(bone.get()) else { return };
        let value = basis.to_pose(local);
        pose.set_rotation(bone, value.rotation.as_quat().to_array());
        self.set_pose_translation(pose, bone, value.translation.as_vec3());
        if self.has_scale() {
            pose.hold_scale(self.rest(), bone);
            pose.set_scale(bone, value.scale.as_vec3().to_array());
        }
    }

    /// Stores one bone's translation relative to its parent.
    pub fn set_local_translation(&self, pose: &mut Pose, bone: BoneIndex, translation: Vec3) {
        let Some(basis) = self.basis.bones.get(bone.get()) else { return };
        let local = Trs { translation, ..Trs::IDENTITY };
        self.set_pose_translation(pose, bone, basis.to_pose(&local).translation.as_vec3());
    }

    /// The model matrix of what a bone hangs on: its parent's, or what lies above a root.
    pub fn model_from_parent(&self, pose: &Pose, bone: BoneIndex) -> Affine3A {
        let mut matrix = Affine3A::IDENTITY;
        let mut at = bone;
        while let Some(parent) = self.skeleton.parents().get(at.get()).copied().flatten() {
            matrix = self.local(pose, parent).to_affine() * matrix;
            at = parent;
        }
        self.skeleton.model_from_root_parent(at) * matrix
    }

    /// One bone in pose space, whether the pose holds its groups or not; the rotation as stored.
    pub(crate) fn pose_trs(&self, pose: &Pose, bone: BoneIndex) -> PoseTrs {
        let group = bone.get() / GROUP;
        let held = |held: bool| if held { pose } else { self.rest().of(pose) };
        let translation = held(pose.moved.contains(group)).translation(bone);
        let scale = held(pose.scaled.contains(group)).scale(bone);
        PoseTrs {
            rotation: DQuat::from_array(pose.rotation(bone).map(f64::from)),
            translation: DVec3::from_array(translation.map(f64::from)),
            scale: DVec3::from_array(scale.map(f64::from)),
        }
    }

    /// For a root: how many units of its pose space one of its local space is, all that the two
    /// differ by besides a factor on the right of its rotation. `None` for a bone with a parent.
    pub(crate) fn root_unit(&self, bone: BoneIndex) -> Option<f32> {
        let parent = self.skeleton.parents().get(bone.get())?;
        parent.is_none().then(|| self.basis.bones[bone.get()].unit())
    }

    /// A bone's translation in pose space, whether the pose holds its group or not.
    #[inline(always)]
    pub(crate) fn pose_translation(&self, pose: &Pose, bone: BoneIndex) -> Vec3 {
        let held = pose.moved.contains(bone.get() / GROUP);
        let from = if held { pose } else { self.rest().of(pose) };
        Vec3::from_array(from.translation(bone))
    }

    /// A bone's scale in pose space, whether the pose holds its group or not.
    #[inline(always)]
    pub(crate) fn pose_scale(&self, pose: &Pose, bone: BoneIndex) -> Vec3 {
        let held = pose.scaled.contains(bone.get() / GROUP);
        let from = if held { pose } else { self.rest().of(pose) };
        Vec3::from_array(from.scale(bone))
    }

    /// Stores one bone's translation in pose space.
    pub(crate) fn set_pose_translation(&self, pose: &mut Pose, bone: BoneIndex, translation: Vec3) {
        let translation = translation.to_array();
        if pose.moved.contains(bone.get() / GROUP)
            || translation != self.rest().of(pose).translation(bone)
        {
            pose.hold_translation(self.rest(), bone);
            pose.set_translation(bone, translation);
        }
    }

    /// How a bone's local transform maps to pose space; the bone must be one of the rig's.
    pub(crate) fn basis_of(&self, bone: BoneIndex) -> &BoneBasis {
        &self.basis.bones[bone.get()]
    }

    /// The rotation of a bone's bind frame: what poses are relative to; none in the general class.
    #[inline(always)]
    pub(crate) fn bind_rotation(&self, bone: BoneIndex) -> Quat {
        self.basis.bones[bone.get()].bind_rotation().as_quat()
    }

    /// What the walk of a root starts from.
    #[inline(always)]
    pub(crate) fn start(&self, root: BoneIndex) -> &Start {
        &self.basis.walk_from_root[root.get()]
    }

    /// Puts one active bone of a pose back where the reference pose has it.
    pub fn pin_to_reference(&self, pose: &mut Pose, bone: BoneIndex, active: BoneCount) {
        if !active.min(self.bone_count()).contains(bone) {
            return;
        }
        let group = bone.get() / GROUP;
        pose.set_rotation(bone, self.reference.rotation(bone));
        if pose.moved.contains(group) {
            pose.set_translation(bone, self.reference.translation(bone));
        }
        if pose.scaled.contains(group) {
            pose.set_scale(bone, self.reference.scale(bone));
        }
    }

    /// Puts bones `[from, to)` of a pose where the reference pose has them.
    pub fn fill_from_reference(&self, pose: &mut Pose, from: BoneCount, to: BoneCount) {
        for bone in to.bones().skip(from.get()) {
            self.pin_to_reference(pose, bone, to);
        }
    }

    /// Every bone's local transform in a clip at a time (clamped), through the sampling kernel.
    /// A clip that the rig does not have gives the rest pose.
    pub fn sample_locals(&self, clip: ClipId, seconds: f32) -> Vec<Trs> {
        let pose = self.sample_pose(clip, seconds);
        self.bone_count().bones().map(|bone| self.local(&pose, bone)).collect()
    }

    /// The palette of a clip at a time (clamped), through the sampling and the resolving kernel.
    pub fn sample_palette(&self, clip: ClipId, seconds: f32) -> Vec<Mat3x4> {
        self.resolve_pose(&self.sample_pose(clip, seconds))
    }

    /// The palette of one pose, all bones.
    pub(crate) fn resolve_pose(&self, pose: &Pose) -> Vec<Mat3x4> {
        let mut palette = vec![Mat3x4::IDENTITY; self.palette_len()];
        let mut scratch = resolve::ResolveScratch::default();
        let resolved = resolve::resolve(
            Lanes::best(),
            self,
            &[pose],
            (self.bone_count(), Detail::Whole),
            &mut scratch,
            &mut [&mut palette],
        );
        debug_assert_eq!(resolved, Ok(()), "one pose and a palette of the rig's length");
        palette
    }

    /// A bone's model matrix, read back from a palette of this rig. `None` for a bone that the rig
    /// does not have, a palette that is too short or an inverse bind matrix that has no inverse.
    pub fn model_from_bone(&self, palette: &[Mat3x4], bone: BoneIndex) -> Option<Affine3A> {
        let entry = self.skeleton.palette().get(bone.get())?;
        let walked = palette.get(bone.get())?.to_affine();
        let mesh_from_bone = entry.bone_from_mesh.as_daffine3().inverse();
        mesh_from_bone.is_finite().then(|| (walked.as_daffine3() * mesh_from_bone).as_affine3a())
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{self, Shape};
    use super::*;

    fn depth(skeleton: &Skeleton) -> usize {
        let mut depth: Vec<usize> = Vec::new();
        for parent in skeleton.parents() {
            depth.push(parent.map_or(1, |p| depth[p.get()] + 1));
        }
        depth.into_iter().max().unwrap_or(0)
    }

    const COUNTS: [usize; 12] = [1, 2, 7, 8, 9, 15, 16, 17, 63, 64, 65, 300];

    #[test]
    fn a_palette_agrees_with_the_naive_evaluator_for_every_class_and_size() {
        for bones in COUNTS {
            for (at, shape) in Shape::all(bones).into_iter().enumerate() {
                let (skeleton, clips) = testing::character(shape, 4, 7 + at as u64);
                let rig = Rig::new(skeleton.clone(), &clips).unwrap();
                let deep = depth(&skeleton) > 96;
                let class =
                    if shape.scaled || deep { RigClass::General } else { RigClass::BindRelative };
                assert_eq!(rig.class(), class, "{shape:?}");
                for (c, clip) in clips.iter().enumerate() {
                    for seconds in [-1.0, 0.0, 0.013, clip.seconds(), 9.0, f32::NAN] {
                        let ours = rig.sample_palette(ClipId(c as u16), seconds);
                        let at = if seconds.is_nan() { 0.0 } else { seconds };
                        let pose = testing::sampled(clip, bones, at);
                        let exact = testing::palette(&skeleton, &pose, bones);
                        let error = testing::difference(&ours, &exact);
                        assert!(error < 3e-5, "{shape:?} clip {c} at {seconds}: {error:e}");
                    }
                }
            }
        }
    }

    #[test]
    fn locals_and_model_matrices_read_back() {
        for shape in Shape::all(40) {
            let (skeleton, clips) = testing::character(shape, 3, 5);
            let rig = Rig::new(skeleton.clone(), &clips).unwrap();
            let locals = rig.sample_locals(ClipId(2), 0.02);
            let model = skeleton.model_from_bone(&locals);
            let exact = testing::sampled(&clips[2], 40, 0.02);
            let palette = rig.sample_palette(ClipId(2), 0.02);
            for (bone, (local, exact)) in locals.iter().zip(&exact).enumerate() {
                let turn = local.rotation.as_dquat().dot(exact.rotation.normalize()).abs();
                assert!(turn > 1.0 - 1e-7, "{shape:?} bone {bone}");
                let away = local.translation.as_dvec3().distance(exact.translation);
                assert!(away < 1e-4, "{shape:?} bone {bone}: {away}");
                let read = rig.model_from_bone(&palette, BoneIndex(bone as u16)).unwrap();
                let size = model[bone].matrix3.determinant().abs().cbrt().max(1.0);
                assert!(read.abs_diff_eq(model[bone], 1e-4 * size), "{shape:?} bone {bone}");
            }
        }
    }

    #[test]
    fn a_clip_that_is_not_there_gives_the_rest_pose() {
        let (skeleton, clips) = testing::character(Shape::plain(9), 1, 3);
        let rig = Rig::new(skeleton.clone(), &clips).unwrap();
        let exact = testing::palette(&skeleton, &testing::rest_pose(&skeleton), 9);
        assert!(testing::difference(&rig.sample_palette(ClipId(9), 0.0), &exact) < 1e-5);
    }

    #[test]
    fn bad_clips_are_refused_with_their_name_and_number() {
        let (skeleton, clips) = testing::character(Shape::plain(3), 2, 3);
        let with = |change: fn(&mut UniformClip)| {
            let mut clip = clips[1].clone();
            change(&mut clip);
            Rig::new(skeleton.clone(), &[clip]).unwrap_err()
        };
        let short = with(|c| c.locals.truncate(5));
        assert!(matches!(short, RigError::Length { bones: 3, .. }), "{short}");
        assert!(matches!(with(|c| c.frame_count = 0), RigError::Length { frames: 0, .. }));
        assert!(matches!(with(|c| c.rate_hz = 0.0), RigError::Rate { .. }));
        let nan = with(|c| c.locals[4].translation.y = f32::NAN);
        assert!(matches!(nan, RigError::NotFinite { frame: 1, bone: 1, .. }), "{nan}");
    }

    #[test]
    fn a_scaling_task_shows_on_a_rig_that_was_told_of_it() {
        use super::super::kernels::bone::{BoneMode, BoneSpace, bone_transform};
        let (skeleton, clips) = testing::character(Shape::plain(12), 2, 8);
        let scale = glam::Vec3::new(1.0, 2.0, 0.5);
        let change = Trs { scale, ..Trs::IDENTITY };
        let bone = BoneIndex(4);
        let scaled = |scaling_tasks: bool, mode: BoneMode| {
            let options = RigOptions { scaling_tasks, ..RigOptions::default() };
            let rig = Rig::with(skeleton.clone(), &clips, options).unwrap();
            let mut pose = rig.sample_pose(ClipId(1), 0.02);
            let before = rig.local(&pose, bone);
            let how = (BoneSpace::Local, mode);
            bone_transform(&rig, &mut pose, bone, how, &change, 1.0, rig.bone_count());
            let mut palette = vec![Mat3x4::IDENTITY; rig.palette_len()];
            let scratch = &mut resolve::ResolveScratch::default();
            let (all, out) = (rig.bone_count(), &mut [&mut palette[..]]);
            let all = (all, Detail::Whole);
            resolve::resolve(Lanes::best(), &rig, &[&pose], all, scratch, out).unwrap();
            let model = rig.model_from_bone(&palette, bone).unwrap();
            let axes = [model.x_axis, model.y_axis, model.z_axis].map(|axis| axis.length());
            (rig.class(), before, rig.local(&pose, bone), axes)
        };
        for mode in [BoneMode::Additive, BoneMode::Override] {
            let (class, before, after, axes) = scaled(true, mode);
            assert_eq!((class, before.scale), (RigClass::General, glam::Vec3::ONE));
            assert!(after.scale.abs_diff_eq(scale, 1e-6), "{mode:?} {after:?}");
            assert!(axes.iter().zip(scale.to_array()).all(|(a, b)| (a - b).abs() < 1e-5));
            let (class, _, after, axes) = scaled(false, mode);
            assert_eq!((class, after.scale), (RigClass::BindRelative, glam::Vec3::ONE));
            assert!(axes.iter().all(|a| (a - 1.0).abs() < 1e-5), "{mode:?} {axes:?}");
        }
    }

    #[test]
    fn scale_that_is_constant_and_uniform_stays_bind_relative() {
        let shape = Shape { units: true, ..Shape::plain(20) };
        let (skeleton, mut clips) = testing::character(shape, 2, 8);
        let class = |clips: &[UniformClip]| Rig::new(skeleton.clone(), clips).unwrap().class();
        assert_eq!(class(&clips), RigClass::BindRelative);
        clips[1].locals[3].scale.x *= 1.001;
        assert_eq!(class(&clips), RigClass::General);
    }
}
