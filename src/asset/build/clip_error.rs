//! How far a uniform clip is from the curves that it was made of.

use super::super::exact::NodeCurves;
use super::rig::{LocalBox, SourceRig, compose};
use crate::math::Trs;
use crate::pose::UniformClip;
use glam::{Affine3A, DAffine3, DVec3, Vec3A};

/// Evaluations of one bone that one clip's measurement may take.
const WORK_LIMIT: usize = 8_000_000;

/// A clip's curves, prepared for a skeleton.
pub(super) struct Curves<'a> {
    /// Per bone; `None` where the clip does not move it.
    pub of_bone: &'a [Option<NodeCurves<'a>>],
    /// Length of the clip.
    pub seconds: f64,
    /// Inside the clip, rising.
    pub key_times: Vec<f64>,
    /// Where a curve jumps, rising.
    pub jumps: Vec<f64>,
}

/// Distances between a clip and its curves, metres of model space.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ClipError {
    /// The largest anywhere: of bone tips, and of a point a metre (or, of a smaller character, its
    /// size) along a bone's axes.
    pub max_m: f64,
    /// The largest at a bone's tip, outside the frame intervals in which a curve jumps.
    pub smooth_m: f64,
}

/// Measures clips of one skeleton.
pub(super) struct Measure<'a> {
    rig: &'a SourceRig<'a>,
    /// In bone space, everything that hangs on the bone: its own origin and its skin. A bone's tip is
    /// the box's farthest corner.
    reach: Vec<LocalBox>,
    /// Metres at which a difference of the axes' directions counts.
    lever: f64,
}

impl<'a> Measure<'a> {
    /// `influence` as from [`super::rig::influence_boxes`], `size` the character's in metres.
    pub fn new(rig: &'a SourceRig<'a>, influence: &[Option<LocalBox>], size: f32) -> Self {
        let mut points = vec![vec![Vec3A::ZERO]; rig.bones.len()];
        for (entry, influence) in rig.skeleton.palette().iter().zip(influence) {
            let corners = influence.iter().flat_map(LocalBox::corners);
            let place = |corner| entry.bone_from_mesh.transform_point3a(corner);
            points[entry.bone.get()].extend(corners.map(place));
        }
        let origin = LocalBox { center: Vec3A::ZERO, half: Vec3A::ZERO };
        let around = |p: Vec<Vec3A>| LocalBox::of_points(p.into_iter()).unwrap_or(origin);
        let reach = points.into_iter().map(around).collect();
        Self { rig, reach, lever: f64::from(size.min(1.0)) }
    }

    /// Compares at the keys, just before jumps, and at three times between any two frames (nlerp is
    /// farthest from slerp near a fifth of the way, curves are farthest from their chord halfway).
    pub fn clip(&self, clip: &UniformClip, curves: &Curves<'_>) -> ClipError {
        let mut error = ClipError::default();
        let mut scratch = Scratch::default();
        let intervals = clip.frame_count - 1;
        let bones = self.rig.bones.len().max(1);
        // Long clips over their share of work are measured at every n-th frame and key.
        let times = 4 * intervals + curves.key_times.len();
        let stride = (times * bones).div_ceil(WORK_LIMIT).max(1);
        let (mut key, mut jump) = (0, 0);
        for interval in 0..intervals {
            let at = |part: f64| curves.seconds * (interval as f64 + part) / intervals as f64;
            let (start, end) = (at(0.0), at(1.0));
            let first_jump = jump;
            while curves.jumps.get(jump).is_some_and(|&j| j <= end) {
                jump += 1;
            }
            let jumps = &curves.jumps[first_jump..jump];
            let first_key = key;
            while curves.key_times.get(key).is_some_and(|&k| k <= end) {
                key += 1;
            }
            let smooth = !jumps.iter().any(|&j| j > start);
            for &key in curves.key_times[first_key..key].iter().step_by(stride) {
                self.add(clip, curves, key, smooth, &mut scratch, &mut error);
            }
            for &jump in jumps {
                self.add(clip, curves, jump.next_down(), false, &mut scratch, &mut error);
            }
            if interval.is_multiple_of(stride) {
                for part in [0.0, 0.25, 0.5, 0.75] {
                    self.add(clip, curves, at(part), smooth, &mut scratch, &mut error);
                }
            }
        }
        self.add(clip, curves, curves.seconds, true, &mut scratch, &mut error);
        error
    }

    fn add(
        &self,
        clip: &UniformClip,
        curves: &Curves<'_>,
        seconds: f64,
        smooth: bool,
        scratch: &mut Scratch,
        error: &mut ClipError,
    ) {
        let frame = FramePair::at(clip, seconds as f32);
        compose(self.rig.skeleton, |bone| frame.local(bone), &mut scratch.runtime);
        self.rig.exact_model(curves.of_bone, seconds, &mut scratch.exact);
        for ((runtime, exact), reach) in scratch.runtime.iter().zip(&scratch.exact).zip(&self.reach)
        {
            let tip = tip_distance(runtime, exact, reach);
            let turned = self.lever * axes_difference(runtime, exact);
            error.max_m = error.max_m.max(tip).max(turned);
            if smooth {
                error.smooth_m = error.smooth_m.max(tip);
            }
        }
    }
}

#[derive(Default)]
struct Scratch {
    runtime: Vec<Affine3A>,
    exact: Vec<DAffine3>,
}

/// Largest difference of a number in two matrices' axes, relative to the axis where it is longer
/// than one.
fn axes_difference(a: &Affine3A, b: &DAffine3) -> f64 {
    let axis = |a: Vec3A, b: DVec3| (a.as_dvec3() - b).abs().max_element() / b.length().max(1.0);
    axis(a.matrix3.x_axis, b.matrix3.x_axis)
        .max(axis(a.matrix3.y_axis, b.matrix3.y_axis))
        .max(axis(a.matrix3.z_axis, b.matrix3.z_axis))
}

/// Largest distance that two matrices put between images of one point of a box. Their difference is
/// affine, so it is largest at a corner.
fn tip_distance(a: &Affine3A, b: &DAffine3, reach: &LocalBox) -> f64 {
    let column = |a: Vec3A, b: DVec3| (a.as_dvec3() - b).as_vec3a();
    let x = column(a.matrix3.x_axis, b.matrix3.x_axis);
    let y = column(a.matrix3.y_axis, b.matrix3.y_axis);
    let z = column(a.matrix3.z_axis, b.matrix3.z_axis);
    let t = column(a.translation, b.translation);
    let at = |p: Vec3A| (x * p.x + y * p.y + z * p.z + t).length_squared();
    f64::from(reach.corners().map(at).into_iter().fold(0.0, f32::max)).sqrt()
}

/// The two frames around a time of a uniform clip.
pub(super) struct FramePair<'a> {
    before: &'a [Trs],
    after: &'a [Trs],
    fraction: f32,
}

impl<'a> FramePair<'a> {
    /// `seconds` are clamped to the clip.
    pub fn at(clip: &'a UniformClip, seconds: f32) -> Self {
        let last = clip.frame_count - 1;
        let position = (seconds * clip.rate_hz).clamp(0.0, last as f32);
        let frame = (position as usize).min(last.saturating_sub(1));
        Self::between(clip, frame, position - frame as f32)
    }

    /// `fraction` of the way from `frame` to the next one.
    pub fn between(clip: &'a UniformClip, frame: usize, fraction: f32) -> Self {
        let bones = clip.locals.len() / clip.frame_count;
        let next = (frame + 1).min(clip.frame_count - 1);
        let at = |frame: usize| &clip.locals[frame * bones..(frame + 1) * bones];
        Self { before: at(frame), after: at(next), fraction }
    }

    /// One bone's local transform: lerp, and nlerp for the rotation.
    pub fn local(&self, bone: usize) -> Trs {
        let (a, b, u) = (self.before[bone], self.after[bone], self.fraction);
        Trs {
            translation: a.translation.lerp(b.translation, u),
            rotation: (a.rotation * (1.0 - u) + b.rotation * u).normalize(),
            scale: a.scale.lerp(b.scale, u),
        }
    }

    /// Angle in radians between the two frames' rotations of a bone.
    pub fn angle(&self, bone: usize) -> f32 {
        let dot = self.before[bone].rotation.dot(self.after[bone].rotation);
        2.0 * dot.abs().min(1.0).acos()
    }
}
