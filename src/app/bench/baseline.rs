//! The same workloads in plain glam: what a careful program without any of this would run. An
//! array of transforms per frame, uniform frames, nlerp, parents first, one character at a time.

use crate::math::{Mat3x4, Trs};
use crate::pose::{Skeleton, UniformClip};
use glam::{Affine3A, Quat, Vec3};

/// A skeleton as plain arrays.
#[derive(Debug)]
pub struct PlainRig {
    parents: Vec<usize>,
    inverse_binds: Vec<Affine3A>,
    clips: Vec<UniformClip>,
    additives: Vec<UniformClip>,
}

/// One character's scratch.
#[derive(Debug)]
pub struct PlainScratch {
    pose: Vec<Trs>,
    other: Vec<Trs>,
    model: Vec<Affine3A>,
}

impl PlainScratch {
    /// Local transforms, one per bone: what [`PlainRig::resolve`] reads.
    pub fn pose_mut(&mut self) -> &mut [Trs] {
        &mut self.pose
    }
}

impl PlainRig {
    /// Copies what it needs; the skeleton must have one root, first.
    pub fn new(skeleton: &Skeleton, clips: &[UniformClip]) -> Self {
        let bones = skeleton.bone_count().get();
        Self {
            parents: skeleton.parents().iter().map(|p| p.map_or(0, |p| p.get())).collect(),
            inverse_binds: skeleton.palette().iter().map(|p| p.bone_from_mesh).collect(),
            clips: clips.to_vec(),
            additives: clips.iter().map(|c| difference(c, bones)).collect(),
        }
    }

    /// Scratch for this rig.
    pub fn scratch(&self) -> PlainScratch {
        let bones = self.parents.len();
        PlainScratch {
            pose: vec![Trs::IDENTITY; bones],
            other: vec![Trs::IDENTITY; bones],
            model: vec![Affine3A::IDENTITY; bones],
        }
    }

    /// Samples one clip.
    pub fn sample(&self, clip: usize, seconds: f32, s: &mut PlainScratch) {
        sample(&self.clips[clip], seconds, &mut s.pose);
    }

    /// Samples another clip and blends it in.
    pub fn blend(&self, clip: usize, seconds: f32, alpha: f32, s: &mut PlainScratch) {
        sample(&self.clips[clip], seconds, &mut s.other);
        for (a, b) in s.pose.iter_mut().zip(&s.other) {
            a.translation = a.translation.lerp(b.translation, alpha);
            a.rotation = a.rotation.lerp(b.rotation, alpha);
            a.scale = a.scale.lerp(b.scale, alpha);
        }
    }

    /// Samples an additive clip and adds it.
    pub fn add(&self, clip: usize, seconds: f32, alpha: f32, s: &mut PlainScratch) {
        sample(&self.additives[clip], seconds, &mut s.other);
        for (a, d) in s.pose.iter_mut().zip(&s.other) {
            a.translation += d.translation * alpha;
            a.rotation = Quat::IDENTITY.lerp(d.rotation, alpha) * a.rotation;
            a.scale *= Vec3::ONE.lerp(d.scale, alpha);
        }
    }

    /// Walks the hierarchy and writes the palette.
    pub fn resolve(&self, s: &mut PlainScratch, palette: &mut [Mat3x4]) {
        for (bone, (local, out)) in s.pose.iter().zip(palette).enumerate() {
            let local = local.to_affine();
            let model = if bone == 0 { local } else { s.model[self.parents[bone]] * local };
            s.model[bone] = model;
            *out = Mat3x4::from_affine(&(model * self.inverse_binds[bone]));
        }
    }
}

fn sample(clip: &UniformClip, seconds: f32, pose: &mut [Trs]) {
    let bones = pose.len();
    let at = (seconds * clip.rate_hz).clamp(0.0, (clip.frame_count - 1) as f32);
    let frame = (at as usize).min(clip.frame_count - 2);
    let weight = at - frame as f32;
    let from = &clip.locals[frame * bones..][..bones];
    let to = &clip.locals[(frame + 1) * bones..][..bones];
    for ((out, a), b) in pose.iter_mut().zip(from).zip(to) {
        out.translation = a.translation.lerp(b.translation, weight);
        out.rotation = a.rotation.lerp(b.rotation, weight);
        out.scale = a.scale.lerp(b.scale, weight);
    }
}

/// The clip relative to its first frame: translations subtracted, rotations as what is multiplied
/// onto the first from the left, scales divided. `bones` is how many a frame has.
pub fn difference(clip: &UniformClip, bones: usize) -> UniformClip {
    let mut out = clip.clone();
    for frame in out.locals.chunks_exact_mut(bones) {
        for (local, first) in frame.iter_mut().zip(&clip.locals) {
            local.translation -= first.translation;
            local.rotation *= first.rotation.conjugate();
            local.scale /= first.scale;
        }
    }
    out
}
