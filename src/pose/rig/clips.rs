//! The clips of a rig as a whole: additive ones made of others, what is played of one, their size.

use super::{Pose, PoseShape, Rig, RigError};
use crate::index::ClipId;
use crate::math::Lanes;
use crate::pose::UniformClip;
use crate::pose::basis::PoseTrs;
use crate::pose::clip_layout::{ClipLayout, ClipPlan, LaidOut, Table};
use crate::pose::kernels::sample;
use crate::pose::runtime_clip::{Cursor, RuntimeClip};

impl Rig {
    /// A pose of a clip at a time (clamped), all bones; the rest pose for a clip that there isn't.
    pub(crate) fn sample_pose(&self, clip: ClipId, seconds: f32) -> Pose {
        let mut pose = Pose::default();
        pose.fit(self.shape());
        let active = self.bone_count();
        match self.clip(clip) {
            Some(clip) => sample::sample(Lanes::best(), clip, seconds, active, &mut pose),
            None => sample::reference(&self.reference, active, &mut pose),
        }
        pose
    }

    /// Appends the differences between a clip and one pose as a clip of its own, whose samples are
    /// deltas for an additive layer. The pose is a clip's at a time, or the reference pose.
    /// `None` when the rig has no such clip or is full, or when memory is.
    pub fn add_additive(&mut self, clip: ClipId, against: Option<(ClipId, f32)>) -> Option<ClipId> {
        self.add_additives(&[(clip, against)])?.first().copied()
    }

    /// As [`Self::add_additive`] for several at once, which lie together in memory and, where their
    /// clips are 16-bit, share their ranges.
    pub fn add_additives(
        &mut self,
        wanted: &[(ClipId, Option<(ClipId, f32)>)],
    ) -> Option<Vec<ClipId>> {
        let rest = vec![PoseTrs::NO_DIFFERENCE; self.bone_count().get()];
        let rig = &*self;
        let mut plans = Vec::with_capacity(wanted.len());
        for &(clip, against) in wanted {
            let source = rig.clip(clip)?;
            let pose = match against {
                Some((clip, seconds)) => {
                    rig.clip(clip)?;
                    rig.sample_pose(clip, seconds)
                }
                None => rig.reference.clone(),
            };
            let (against, rest) = (rig.unpacked(&pose), &rest);
            plans.push(ClipPlan {
                name: format!("{} (additive)", source.name()),
                rate_hz: source.rate_hz(),
                store: source.store(),
                table: Box::new(move || {
                    let mut table = Table::with_capacity(source.frame_count, rest.len());
                    rig.each_frame(source, |pose| {
                        let differences = rig.unpacked(pose).into_iter().zip(&against);
                        table.push(differences.map(|(value, other)| value.difference(other)), rest);
                    });
                    table
                }),
            });
        }
        let layout =
            ClipLayout { reference: &rest, has_scale: self.has_scale(), is_additive: true };
        let LaidOut { clips, ranges } = layout.lay_out(plans).ok()?;
        let first = self.clips.len();
        let ids = (first..first + clips.len()).map(ClipId::try_from);
        let ids = ids.collect::<Result<Vec<_>, _>>().ok()?;
        self.clips.extend(clips);
        self.ranges.extend(ranges);
        Some(ids)
    }

    /// Appends a clip, kept like another one of the rig; `None` when the rig is full or memory is.
    pub(crate) fn push_clip(&mut self, clip: &UniformClip, like: ClipId) -> Option<ClipId> {
        let id = ClipId::try_from(self.clips.len()).ok()?;
        let rest = self.unpacked(&self.reference);
        let plan = ClipPlan {
            name: clip.name.clone(),
            rate_hz: clip.rate_hz,
            store: self.clip(like)?.store(),
            table: Box::new(|| Table::of(clip, &self.basis, &rest)),
        };
        let layout =
            ClipLayout { reference: &rest, has_scale: self.has_scale(), is_additive: false };
        let LaidOut { clips, ranges } = layout.lay_out(vec![plan]).ok()?;
        self.clips.extend(clips);
        self.ranges.extend(ranges);
        Some(id)
    }

    /// A clip as it is played: every frame of the runtime clip, as local transforms. `None` when the
    /// rig has no such clip.
    pub fn played(&self, clip: ClipId) -> Option<UniformClip> {
        let clip = self.clip(clip)?;
        let mut locals = Vec::with_capacity(clip.frame_count * self.bone_count().get());
        self.each_frame(clip, |pose| {
            locals.extend(self.bone_count().bones().map(|bone| self.local(pose, bone)));
        });
        Some(UniformClip {
            name: clip.name().to_owned(),
            rate_hz: clip.rate_hz(),
            frame_count: clip.frame_count,
            locals,
            max_error_m: 0.0,
        })
    }

    fn each_frame(&self, clip: &RuntimeClip, mut visit: impl FnMut(&Pose)) {
        let mut pose = Pose::default();
        pose.fit(self.shape());
        for frame in 0..clip.frame_count {
            let at = Cursor::on(frame);
            sample::sample_at(Lanes::best(), clip, at, self.bone_count(), &mut pose);
            visit(&pose);
        }
    }

    fn unpacked(&self, pose: &Pose) -> Vec<PoseTrs> {
        self.bone_count().bones().map(|bone| self.pose_trs(pose, bone)).collect()
    }

    /// Bytes of memory of the runtime clips.
    pub fn clip_bytes(&self) -> usize {
        let ranges: usize = self.ranges.iter().map(|ranges| ranges.heap_bytes()).sum();
        self.clips.iter().map(RuntimeClip::heap_bytes).sum::<usize>() + ranges
    }
}

/// Values bone by bone as a pose.
pub(super) fn packed(shape: PoseShape, bones: &[PoseTrs]) -> Pose {
    let mut pose = Pose::default();
    pose.fit(shape);
    for (bone, value) in shape.bones.bones().zip(bones) {
        pose.set_rotation(bone, value.rotation.as_quat().to_array());
        pose.set_translation(bone, value.translation.as_vec3().to_array());
        pose.set_scale(bone, value.scale.as_vec3().to_array());
    }
    pose
}

/// Frames times bones of finite numbers at a rate that is one.
pub(super) fn check(clip: &UniformClip, bones: usize) -> Result<(), RigError> {
    let name = || clip.name.clone();
    let (locals, frames) = (clip.locals.len(), clip.frame_count);
    let needed = frames.max(1).saturating_mul(bones);
    if frames == 0 || locals != needed {
        return Err(RigError::Length { clip: name(), locals, frames, bones, needed });
    }
    if !(clip.rate_hz > 0.0 && clip.rate_hz.is_finite()) {
        return Err(RigError::Rate { clip: name(), rate_hz: clip.rate_hz });
    }
    match clip.locals.iter().position(|local| !local.is_finite()) {
        Some(at) => Err(RigError::NotFinite { clip: name(), frame: at / bones, bone: at % bones }),
        None => Ok(()),
    }
}
