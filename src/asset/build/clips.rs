//! Clips at a uniform rate, high enough for the source's curves.

use super::super::exact::NodeCurves;
use super::super::source::{Source, SourceAnimation};
use super::BuildOptions;
use super::clip_error::{ClipError, Curves, Measure};
use super::error::BuildError;
use super::frames::{self, SHORTEST_SECONDS, candidates, interval_caps};
use super::rig::SourceRig;
use crate::math::Trs;
use crate::pose::UniformClip;
use rayon::prelude::*;

/// A clip's frame time is looked up this much (relative) later, so that a key meant to stand on the
/// frame, but rounded up to a float, counts as reached.
const KEY_ROUNDING: f64 = 1e-7;

/// Resamples every animation; `tolerance` is in metres.
///
/// # Errors
/// [`BuildError::ClipOverflow`] for curves that leave the range of a float.
pub(super) fn resample_all(
    source: &Source,
    rig: &SourceRig<'_>,
    measure: &Measure<'_>,
    options: &BuildOptions,
    tolerance: f64,
    warnings: &mut Vec<String>,
) -> Result<Vec<UniformClip>, BuildError> {
    let seconds: Vec<f64> = source.animations.iter().map(|a| f64::from(a.seconds)).collect();
    let caps = interval_caps(&seconds, rig.bones.len(), options.rate_hz.into());
    let results: Vec<Result<(UniformClip, Option<String>), BuildError>> = source
        .animations
        .par_iter()
        .zip(caps)
        .enumerate()
        .map(|(index, (animation, cap))| {
            let job = Job { index, animation, rig, measure, base_hz: options.rate_hz.into() };
            job.resample(cap, tolerance)
        })
        .collect();
    let mut clips = Vec::with_capacity(results.len());
    for result in results {
        let (clip, warning) = result?;
        clips.push(clip);
        warnings.extend(warning);
    }
    Ok(clips)
}

struct Job<'a> {
    index: usize,
    animation: &'a SourceAnimation,
    rig: &'a SourceRig<'a>,
    measure: &'a Measure<'a>,
    base_hz: f64,
}

impl Job<'_> {
    /// The lowest rate within tolerance; when none is, the lowest that is nearly as good as the best.
    fn resample(
        &self,
        cap: usize,
        tolerance: f64,
    ) -> Result<(UniformClip, Option<String>), BuildError> {
        let of_node = NodeCurves::of_animation(self.animation);
        let curves = self.rig.curves(&of_node);
        let curves = Curves {
            of_bone: &curves,
            seconds: self.animation.seconds.into(),
            key_times: frames::key_times(self.animation),
            jumps: frames::jump_times(self.animation),
        };
        if curves.seconds < SHORTEST_SECONDS {
            let clip = self.still(&curves)?;
            let error = self.measure.clip(&clip, &curves);
            return Ok(self.finish(clip, error, cap, tolerance));
        }
        let mut tried: Vec<(usize, ClipError)> = Vec::new();
        for intervals in candidates(self.animation, self.base_hz, cap) {
            let clip = self.frames(&curves, intervals)?;
            let error = self.measure.clip(&clip, &curves);
            if error.smooth_m <= tolerance {
                return Ok(self.finish(clip, error, cap, tolerance));
            }
            tried.push((intervals, error));
        }
        let best = tried.iter().map(|(_, e)| e.smooth_m).fold(f64::INFINITY, f64::min);
        let good = tried.into_iter().find(|(_, e)| e.smooth_m <= best * 1.25);
        let (intervals, error) = good.unwrap_or_default();
        Ok(self.finish(self.frames(&curves, intervals.max(1))?, error, cap, tolerance))
    }

    fn finish(
        &self,
        mut clip: UniformClip,
        error: ClipError,
        cap: usize,
        tolerance: f64,
    ) -> (UniformClip, Option<String>) {
        clip.max_error_m = error.max_m as f32;
        let at_cap = clip.frame_count > cap && f64::from(clip.rate_hz) < self.base_hz * 0.99;
        let warning = (at_cap && error.smooth_m > tolerance).then(|| {
            format!(
                "animation {} ({:?}) lasts {} s: memory allows {} frames, so it plays at {:.3} Hz and \
                 is up to {:.3} m off its curves",
                self.index,
                clip.name,
                self.animation.seconds,
                clip.frame_count,
                clip.rate_hz,
                clip.max_error_m
            )
        });
        (clip, warning)
    }

    fn still(&self, curves: &Curves<'_>) -> Result<UniformClip, BuildError> {
        let mut locals = Vec::with_capacity(curves.of_bone.len());
        self.push_frame(curves.of_bone, 0.0, &mut locals)?;
        Ok(UniformClip {
            name: self.animation.name.clone(),
            rate_hz: self.base_hz as f32,
            frame_count: 1,
            locals,
            max_error_m: 0.0,
        })
    }

    /// Frames at `i / intervals` of the clip, rotations of a bone in one hemisphere.
    fn frames(&self, curves: &Curves<'_>, intervals: usize) -> Result<UniformClip, BuildError> {
        let bones = curves.of_bone.len();
        let mut locals: Vec<Trs> = Vec::with_capacity(bones * (intervals + 1));
        for frame in 0..=intervals {
            let time = curves.seconds * frame as f64 / intervals as f64;
            self.push_frame(curves.of_bone, time * (1.0 + KEY_ROUNDING), &mut locals)?;
            if frame > 0 {
                let (before, now) = locals.split_at_mut(frame * bones);
                for (before, now) in before[(frame - 1) * bones..].iter().zip(now) {
                    if before.rotation.dot(now.rotation) < 0.0 {
                        now.rotation = -now.rotation;
                    }
                }
            }
        }
        Ok(UniformClip {
            name: self.animation.name.clone(),
            rate_hz: (intervals as f64 / curves.seconds) as f32,
            frame_count: intervals + 1,
            locals,
            max_error_m: 0.0,
        })
    }

    fn push_frame(
        &self,
        curves: &[Option<NodeCurves<'_>>],
        seconds: f64,
        locals: &mut Vec<Trs>,
    ) -> Result<(), BuildError> {
        for (bone, curves) in curves.iter().enumerate() {
            let local = self.rig.local(bone, curves.as_ref(), seconds);
            if !local.is_finite() {
                return Err(BuildError::ClipOverflow {
                    clip: self.index,
                    name: self.animation.name.clone(),
                    node: self.rig.bones[bone].node,
                    seconds,
                });
            }
            locals.push(local);
        }
        Ok(())
    }
}
