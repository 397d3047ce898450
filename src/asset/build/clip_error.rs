//! How far a uniform clip is from the curves that it was made of.

use super::super::exact::NodeCurves;
use super::clips::KEY_ROUNDING;
use super::rig::{LocalBox, SourceRig, compose};
use crate::math::Trs;
use crate::pose::UniformClip;
use glam::{Affine3A, DAffine3, DVec3, Mat3A, Vec3A};

/// Evaluations of one bone that the measurement of all clips at one rate may take.
const WORK_LIMIT: usize = 16_000_000;

/// Where, between two frames, nlerp's angle is farthest from slerp's: it differs in proportion to
/// `u (1 - u) (1 - 2 u)` to third order in the angle, so at a half less the root of a twelfth.
const NLERP_WORST: f64 = 0.211_324_865_405_187_1;

/// What float arithmetic may add to a measured error, relative to where things are: kernels round
/// otherwise than this file does.
const ROUNDING: f64 = 1e-6;

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
    /// Some curve is a spline.
    pub splines: bool,
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
    size: f64,
    /// Evaluations of one bone that one clip may take.
    work_limit: usize,
}

impl<'a> Measure<'a> {
    /// `influence` as from [`super::rig::influence_boxes`], `size` the character's in metres, `clips`
    /// how many will be measured.
    pub fn new(
        rig: &'a SourceRig<'a>,
        influence: &[Option<LocalBox>],
        size: f32,
        clips: usize,
    ) -> Self {
        let mut points = vec![vec![Vec3A::ZERO]; rig.bones.len()];
        for (entry, influence) in rig.skeleton.palette().iter().zip(influence) {
            let corners = influence.iter().flat_map(LocalBox::corners);
            let place = |corner| entry.bone_from_mesh.transform_point3a(corner);
            points[entry.bone.get()].extend(corners.map(place));
        }
        let origin = LocalBox { center: Vec3A::ZERO, half: Vec3A::ZERO };
        let around = |p: Vec<Vec3A>| LocalBox::of_points(p.into_iter()).unwrap_or(origin);
        let reach = points.into_iter().map(around).collect();
        let work_limit = WORK_LIMIT / clips.max(1);
        Self { rig, reach, lever: f64::from(size.min(1.0)), size: size.into(), work_limit }
    }

    /// Compares at the keys, just before jumps, and between any two frames: of splines at three
    /// times; of straight lines, which lerp follows, where nlerp is farthest from slerp. On frames
    /// nothing is off: the clip's are the curves' own.
    pub fn resampled(&self, clip: &UniformClip, curves: &Curves<'_>) -> ClipError {
        self.compare(clip, curves, false)
    }

    /// As [`Self::resampled`], and on frames too: the clip's are those that are played.
    pub fn played(&self, clip: &UniformClip, curves: &Curves<'_>) -> ClipError {
        self.compare(clip, curves, true)
    }

    fn compare(&self, clip: &UniformClip, curves: &Curves<'_>, on_frames: bool) -> ClipError {
        let mut error = ClipError::default();
        let mut scratch = Scratch::default();
        let intervals = clip.frame_count - 1;
        let bones = self.rig.bones.len().max(1);
        // Long clips over their share of work are measured at every n-th frame and key.
        let times = 4 * intervals + curves.key_times.len();
        let stride = (times * bones).div_ceil(self.work_limit).max(1);
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
            let keys = &curves.key_times[first_key..key];
            let smooth = !jumps.iter().any(|&j| j > start);
            for &key in keys.iter().step_by(stride) {
                self.add(clip, curves, key, smooth, &mut scratch, &mut error);
            }
            for &jump in jumps {
                self.add(clip, curves, jump.next_down(), false, &mut scratch, &mut error);
            }
            if !interval.is_multiple_of(stride) {
                continue;
            }
            if on_frames {
                let seconds = start * (1.0 + KEY_ROUNDING);
                self.add(clip, curves, seconds, smooth, &mut scratch, &mut error);
            }
            let straight = !curves.splines && keys.iter().all(|&key| key == start || key == end);
            let parts: &[f64] = if !straight {
                &[0.25, 0.5, 0.75]
            } else if turns(&FramePair::between(clip, interval, 0.0), bones) {
                &[NLERP_WORST]
            } else {
                &[]
            };
            for &part in parts {
                self.add(clip, curves, at(part), smooth, &mut scratch, &mut error);
            }
        }
        self.add(clip, curves, curves.seconds, true, &mut scratch, &mut error);
        error.max_m += ROUNDING * (self.size + scratch.farthest);
        error
    }

    /// Largest distance between bone tips of a clip and of its frames as 16-bit numbers make them, on
    /// frames and half way between, and what their interpolation adds: a tip is early or late by up
    /// to a 65,534th of a frame. Infinite where a number is not finite.
    pub fn apart(&self, clip: &UniformClip, other: &UniformClip) -> f64 {
        let work = 2 * clip.frame_count * self.rig.bones.len().max(1);
        let stride = work.div_ceil(self.work_limit).max(1);
        let (mut scratch, mut model) = (Scratch::default(), Vec::new());
        let mut before: Vec<Affine3A> = Vec::new();
        let (mut worst, mut fastest) = (0.0_f64, 0.0_f64);
        for frame in (0..clip.frame_count).step_by(stride) {
            for part in [0.0, 0.5] {
                let at = |clip: &UniformClip, model: &mut Vec<Affine3A>| {
                    let pair = FramePair::between(clip, frame, part);
                    compose(self.rig.skeleton, |bone| pair.local(bone), model);
                };
                at(clip, &mut scratch.runtime);
                at(other, &mut model);
                for ((a, b), reach) in scratch.runtime.iter().zip(&model).zip(&self.reach) {
                    let off = Difference::of(a, &b.as_daffine3());
                    let bound = off.tip_bound(reach);
                    if !bound.is_finite() {
                        return f64::INFINITY;
                    }
                    if bound > worst {
                        worst = worst.max(off.tip(reach));
                    }
                }
                for ((a, b), reach) in model.iter().zip(&before).zip(&self.reach) {
                    let moved = Difference::of(a, &b.as_daffine3());
                    if moved.tip_bound(reach) > fastest {
                        fastest = fastest.max(moved.tip(reach));
                    }
                }
                if part == 0.0 { before.clone_from(&model) } else { before.clear() }
            }
        }
        // So much farther in half a frame, twice that in a whole one.
        worst + 2.0 * fastest / 65_534.0
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
            scratch.farthest = scratch.farthest.max(exact.translation.length());
            let off = Difference::of(runtime, exact);
            let known = if smooth { error.smooth_m } else { error.max_m };
            // Most are near the last, and a bound that is quick to find rules them out.
            if off.tip_bound(reach) > known {
                let tip = off.tip(reach);
                error.max_m = error.max_m.max(tip);
                if smooth {
                    error.smooth_m = error.smooth_m.max(tip);
                }
            }
            error.max_m = error.max_m.max(self.lever * off.turned(exact));
        }
    }
}

#[derive(Default)]
struct Scratch {
    runtime: Vec<Affine3A>,
    exact: Vec<DAffine3>,
    /// Largest distance of a bone from the origin.
    farthest: f64,
}

/// True when some rotation turns far enough from one frame to the next for nlerp to differ from slerp
/// by more than a float's rounding.
fn turns(pair: &FramePair<'_>, bones: usize) -> bool {
    (0..bones).any(|bone| pair.change(bone) > 0.01)
}

/// One matrix less another.
struct Difference(Affine3A);

impl Difference {
    fn of(a: &Affine3A, b: &DAffine3) -> Self {
        let column = |a: Vec3A, b: DVec3| (a.as_dvec3() - b).as_vec3a();
        let (m, n) = (&a.matrix3, &b.matrix3);
        let x = column(m.x_axis, n.x_axis);
        let y = column(m.y_axis, n.y_axis);
        let z = column(m.z_axis, n.z_axis);
        let translation = column(a.translation, b.translation);
        Self(Affine3A { matrix3: Mat3A::from_cols(x, y, z), translation })
    }

    /// Largest distance that the two matrices put between images of one point of a box; as the
    /// difference is affine, that is at a corner.
    fn tip(&self, reach: &LocalBox) -> f64 {
        let at = |corner| self.0.transform_point3a(corner).length_squared();
        f64::from(reach.corners().map(at).into_iter().fold(0.0, f32::max)).sqrt()
    }

    /// No less than [`Difference::tip`].
    fn tip_bound(&self, reach: &LocalBox) -> f64 {
        let moved = reach.transformed(&self.0);
        f64::from((moved.center.abs() + moved.half).length())
    }

    /// Largest number of the axes, relative to the axis where that is longer than one in `exact`.
    fn turned(&self, exact: &DAffine3) -> f64 {
        let axis = |off: Vec3A, exact: DVec3| {
            f64::from(off.abs().max_element()) / exact.length_squared().max(1.0).sqrt()
        };
        let (off, exact) = (&self.0.matrix3, &exact.matrix3);
        axis(off.x_axis, exact.x_axis)
            .max(axis(off.y_axis, exact.y_axis))
            .max(axis(off.z_axis, exact.z_axis))
    }
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

    /// How much a bone's rotation and scale change between the two frames, in radians and parts of
    /// the scale; no less than it is.
    pub fn change(&self, bone: usize) -> f32 {
        let (a, b) = (&self.before[bone], &self.after[bone]);
        // An angle is at most 1.111 times its chord up to a right angle, which is half a turn.
        let angle = 2.0 * 1.111 * (a.rotation - b.rotation).length();
        let larger = a.scale.abs().max(b.scale.abs()).max(glam::Vec3::splat(f32::MIN_POSITIVE));
        angle + ((a.scale - b.scale).abs() / larger).max_element()
    }
}
