//! Clips at a uniform rate, high enough for the source's curves.

use super::super::error::object;
use super::super::exact::NodeCurves;
use super::super::source::Interpolation::CubicSpline;
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
pub(super) const KEY_ROUNDING: f64 = 1e-7;

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

/// Hands over an animation's curves, prepared for a skeleton.
pub(super) fn with_curves<T>(
    rig: &SourceRig<'_>,
    animation: &SourceAnimation,
    of: impl FnOnce(&Curves<'_>) -> T,
) -> T {
    let of_node = NodeCurves::of_animation(animation);
    of(&Curves {
        of_bone: &rig.curves(&of_node),
        seconds: animation.seconds.into(),
        key_times: frames::key_times(animation),
        jumps: frames::jump_times(animation),
        splines: animation.channels.iter().any(|c| c.interpolation == CubicSpline),
    })
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
        with_curves(self.rig, self.animation, |curves| self.resample_curves(curves, cap, tolerance))
    }

    fn resample_curves(
        &self,
        curves: &Curves<'_>,
        cap: usize,
        tolerance: f64,
    ) -> Result<(UniformClip, Option<String>), BuildError> {
        if curves.seconds < SHORTEST_SECONDS {
            let clip = self.still(curves)?;
            let error = self.measure.resampled(&clip, curves);
            return Ok(self.finish(clip, error, cap, tolerance));
        }
        let mut tried: Vec<(usize, ClipError)> = Vec::new();
        for intervals in candidates(self.animation, self.base_hz, cap) {
            let clip = self.frames(curves, intervals)?;
            let error = self.measure.resampled(&clip, curves);
            if error.smooth_m <= tolerance {
                return Ok(self.finish(clip, error, cap, tolerance));
            }
            tried.push((intervals, error));
        }
        let best = tried.iter().map(|(_, e)| e.smooth_m).fold(f64::INFINITY, f64::min);
        let good = tried.into_iter().find(|(_, e)| e.smooth_m <= best * 1.25);
        let (intervals, error) = good.unwrap_or_default();
        Ok(self.finish(self.frames(curves, intervals.max(1))?, error, cap, tolerance))
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
                "{} lasts {} s: memory allows {} frames, so it plays at {:.3e} Hz and is up to {:.3} m \
                 off its curves",
                object("animation", self.index, Some(&clip.name)),
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
                let node = self.rig.bones[bone].node;
                let name = &self.rig.skeleton.names()[bone];
                return Err(BuildError::ClipOverflow {
                    animation: object("animation", self.index, Some(&self.animation.name)),
                    node: object("node", node, Some(name)),
                    seconds,
                });
            }
            locals.push(local);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::exact::Evaluator;
    use super::super::super::source::{Interpolation, SourceValues};
    use super::super::clip_error::FramePair;
    use super::super::{character, testing};
    use super::*;
    use crate::asset::{CharacterAsset, skinning};

    fn build(source: &Source) -> CharacterAsset {
        character(source, &BuildOptions::default()).unwrap()
    }

    /// Largest distance between vertices posed by the clip and by the source's curves, at many times.
    fn measured(source: &Source, asset: &CharacterAsset) -> f32 {
        let (evaluator, clip) = (Evaluator::new(source), &asset.clips[0]);
        let mut worst = 0.0_f32;
        for step in 0..=5000 {
            let seconds = clip.seconds() * step as f32 / 5000.0;
            let frame = FramePair::at(clip, seconds);
            let locals: Vec<Trs> = (0..asset.bone_nodes.len()).map(|b| frame.local(b)).collect();
            let model = asset.skeleton.model_from_bone(&locals);
            let exact = evaluator.at(&source.animations[0], seconds.into());
            let exact: Vec<_> =
                asset.bone_nodes.iter().map(|n| exact[n.get()].as_affine3a()).collect();
            let ours = skinning::palette(&asset.skeleton, &model);
            let exact = skinning::palette(&asset.skeleton, &exact);
            for vertex in asset.primitives.iter().flat_map(|p| &p.vertices) {
                let off = skinning::skin(vertex, &ours).distance(skinning::skin(vertex, &exact));
                worst = worst.max(off);
            }
        }
        worst
    }

    #[test]
    fn the_reported_error_is_what_dense_sampling_finds() {
        let times = [0.0, 0.2137, 0.5071, 0.7719, 1.3053];
        let angles = [0.0, 0.9, -0.4, 1.2, 0.3];
        for mode in [Interpolation::Linear, Interpolation::Step] {
            let source = testing::bending("bend", mode, &times, &angles);
            let asset = build(&source);
            let (found, said) = (measured(&source, &asset), asset.clips[0].max_error_m);
            assert!(found <= said * 1.02 && found >= said * 0.7, "{mode:?}: {found}, not {said}");
        }
    }

    #[test]
    fn the_rate_rises_until_the_curves_are_met_and_follows_the_keys_own_rate() {
        let film: Vec<f32> = (0..=24).map(|i| i as f32 / 24.0).collect();
        let angles: Vec<f32> = (0..=24).map(|i| (i as f32 * 0.9).sin() * 0.4).collect();
        let rate = |times: &[f32], angles: &[f32]| {
            let source = testing::bending("bend", Interpolation::Linear, times, angles);
            build(&source).clips[0].rate_hz.round()
        };
        assert_eq!(rate(&film, &angles), 48.0);
        assert_eq!(rate(&[0.0, 1.0], &[0.0, 1.0]), 30.0);
        let times: Vec<f32> = film.iter().map(|t| t * 1.013).collect();
        assert!(rate(&times, &angles) > 48.0);
    }

    #[test]
    fn steps_keep_the_base_rate_and_report_their_jump() {
        let source =
            testing::bending("blink", Interpolation::Step, &[0.0, 0.5, 1.0], &[0.0, 1.0, 1.0]);
        let clip = &build(&source).clips[0];
        assert_eq!((clip.rate_hz, clip.frame_count), (30.0, 31));
        assert!(clip.max_error_m > 1.0, "{}", clip.max_error_m);
        let at = |frame: usize| clip.locals[frame * 4].rotation.to_euler(glam::EulerRot::ZYX).0;
        assert!(at(14).abs() < 1e-6 && (at(15) - 1.0).abs() < 1e-6);
    }

    #[test]
    fn neighbouring_rotations_share_a_hemisphere_and_the_clip_ends_on_its_last_frame() {
        let mut source =
            testing::bending("turn", Interpolation::Linear, &[0.0, 0.5, 1.01], &[0.0, 3.0, 6.2]);
        for channel in &mut source.animations[0].channels {
            if let SourceValues::Rotation(keys) = &mut channel.values {
                keys[1] = keys[1].map(|x| -x);
            }
        }
        let clip = &build(&source).clips[0];
        for pair in clip.locals.chunks(4).collect::<Vec<_>>().windows(2) {
            assert!(pair[0].iter().zip(pair[1]).all(|(a, b)| a.rotation.dot(b.rotation) >= 0.0));
        }
        assert!((clip.seconds() - 1.01).abs() < 1e-6);
        let end = &clip.locals[clip.locals.len() - 1];
        assert!(end.rotation.dot(glam::Quat::from_rotation_z(6.2)).abs() > 1.0 - 1e-6);
    }

    #[test]
    fn a_clip_without_length_is_a_still() {
        let source = testing::bending("pose", Interpolation::Linear, &[0.0], &[0.5]);
        let clip = &build(&source).clips[0];
        assert_eq!((clip.frame_count, clip.seconds()), (1, 0.0));
        assert!(clip.max_error_m < 1e-5);
    }

    #[test]
    fn endless_clips_get_what_memory_allows_and_say_so() {
        let mut source =
            testing::bending("age", Interpolation::Linear, &[0.0, 0.1, 1e9], &[0.0, 1.0, 2.0]);
        for i in 0..40 {
            let other =
                SourceAnimation { name: format!("age {i}"), ..source.animations[0].clone() };
            source.animations.push(other);
        }
        let asset = build(&source);
        let held: usize = asset.clips.iter().map(|c| c.locals.len()).sum();
        assert!(held <= frames::LOCALS_LIMIT, "{held}");
        assert!((asset.clips[0].seconds() / 1e9 - 1.0).abs() < 1e-5);
        assert_eq!(asset.warnings.len(), 41);
        assert!(asset.warnings[0].contains("animation 0 \"age\" lasts 1000000000 s"));
    }

    #[test]
    fn a_curve_that_overflows_names_clip_node_and_time() {
        let mut source = testing::bending("bend", Interpolation::Linear, &[0.0, 1.0], &[0.0, 1.0]);
        let tangent = [f32::MAX; 3];
        source.animations.push(testing::animation(
            "burst",
            1,
            Interpolation::CubicSpline,
            &[0.0, 100.0],
            SourceValues::Translation(vec![tangent, [0.0; 3], tangent, tangent, [0.0; 3], tangent]),
        ));
        let e = character(&source, &BuildOptions::default()).unwrap_err().to_string();
        assert!(e.contains("animation 1 \"burst\": node 1 \"node_1\" overflows at"), "{e}");
    }
}
