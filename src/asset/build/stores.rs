//! Which clips are kept as 16-bit numbers, and how far that puts bones from where they were.

use super::super::character::KeptClip;
use super::super::source::Source;
use super::clip_error::Measure;
use super::clips::with_curves;
use super::error::BuildError;
use super::rig::SourceRig;
use super::{BuildOptions, StoreChoice};
use crate::index::ClipId;
use crate::pose::{ClipStore, Rig, RigOptions, UniformClip};
use rayon::prelude::*;

/// How often clips that are over the bound are left out. The others' ranges shrink without them, so
/// that one is hardly ever over it in the second round; if some are in the last, all are left out.
const ROUNDS: usize = 3;

/// What 16-bit numbers do to a clip, metres.
struct Measured {
    /// Between bone tips with them and without.
    short_m: f32,
    /// Between the clip with them and its curves.
    whole_m: f32,
}

/// Decides how each clip is kept; `tolerance` is in metres. [`UniformClip::max_error_m`], which must
/// be the resampling's, becomes that of the clip as it is kept.
///
/// # Errors
/// Those of [`Rig::with`].
pub(super) fn choose(
    source: &Source,
    rig: &SourceRig<'_>,
    measure: &Measure<'_>,
    options: &BuildOptions,
    tolerance: f32,
    clips: &mut [UniformClip],
) -> Result<Vec<KeptClip>, BuildError> {
    let (first, limit) = match options.clip_store {
        StoreChoice::F32 => (ClipStore::F32, 0.0),
        StoreChoice::I16 => (ClipStore::I16, f32::INFINITY),
        StoreChoice::Auto => (ClipStore::I16, tolerance),
    };
    let keep = |clip: &UniformClip| KeptClip {
        store: first,
        resampling_error_m: clip.max_error_m,
        i16_error_m: None,
    };
    let mut kept: Vec<KeptClip> = clips.iter().map(keep).collect();
    for round in 0..ROUNDS {
        let stores: Vec<ClipStore> = kept.iter().map(|k| k.store).collect();
        if !stores.contains(&ClipStore::I16) {
            break;
        }
        let measured = measure_all(source, rig, measure, clips, &stores)?;
        let is_over = |m: &Option<Measured>| m.as_ref().is_some_and(|m| m.short_m > limit);
        let some_over = measured.iter().any(is_over);
        for ((kept, measured), clip) in kept.iter_mut().zip(measured).zip(&mut *clips) {
            let Some(Measured { short_m, whole_m }) = measured else { continue };
            kept.i16_error_m = Some(short_m);
            if short_m > limit || (some_over && round + 1 == ROUNDS) {
                kept.store = ClipStore::F32;
            } else if !some_over {
                clip.max_error_m = whole_m;
            }
        }
        if !some_over {
            break;
        }
    }
    Ok(kept)
}

/// Measures the clips that are stored as 16-bit numbers.
fn measure_all(
    source: &Source,
    rig: &SourceRig<'_>,
    measure: &Measure<'_>,
    clips: &[UniformClip],
    stores: &[ClipStore],
) -> Result<Vec<Option<Measured>>, BuildError> {
    let runtime =
        Rig::with(rig.skeleton.clone(), clips, RigOptions { stores, ..RigOptions::default() })?;
    let one = |index: usize| {
        let clip = &clips[index];
        let played = runtime.played(ClipId(index as u16))?;
        let whole = with_curves(rig, &source.animations[index], |curves| {
            measure.played(&played, curves).max_m
        });
        Some(Measured { short_m: measure.apart(clip, &played) as f32, whole_m: whole as f32 })
    };
    let is_short = |index: usize| stores[index] == ClipStore::I16;
    Ok((0..clips.len()).into_par_iter().map(|i| is_short(i).then(|| one(i)).flatten()).collect())
}

#[cfg(test)]
mod tests {
    use super::super::super::source::{Interpolation, SourceAnimation, SourceValues};
    use super::super::{character, testing};
    use super::*;
    use crate::asset::{BUILTINS, CharacterAsset, builtin};

    fn build(source: &Source, clip_store: StoreChoice) -> CharacterAsset {
        character(source, &BuildOptions { clip_store, ..BuildOptions::default() }).unwrap()
    }

    fn bending() -> Source {
        let times: Vec<f32> = (0..=20).map(|i| i as f32 * 0.1).collect();
        let angles: Vec<f32> = times.iter().map(|t| 0.5 * (3.0 * t).sin()).collect();
        testing::bending("bend", Interpolation::Linear, &times, &angles)
    }

    /// A root that goes far away.
    fn travelling(metres: f32) -> SourceAnimation {
        let path = SourceValues::Translation(vec![[0.0, 1.0, 0.0], [metres, 1.0, 0.1]]);
        testing::animation("travel", 0, Interpolation::Linear, &[0.0, 1.0], path)
    }

    fn stores(asset: &CharacterAsset) -> Vec<ClipStore> {
        asset.kept.iter().map(|k| k.store).collect()
    }

    #[test]
    fn built_in_characters_are_kept_short_within_a_tenth_of_a_millimetre() {
        for (name, _) in BUILTINS {
            let asset = builtin(name).unwrap().unwrap();
            for (kept, clip) in asset.kept.iter().zip(&asset.clips) {
                assert_eq!(kept.store, ClipStore::I16, "{name} {}", clip.name);
                let error = kept.i16_error_m.unwrap();
                assert!(error > 0.0 && error < 1e-4, "{name} {}: {error} m", clip.name);
            }
            let bytes = |stores: &[ClipStore]| {
                let options = RigOptions { stores, ..RigOptions::default() };
                Rig::with(asset.skeleton.clone(), &asset.clips, options).unwrap().clip_bytes()
            };
            let (short, long) = (bytes(&stores(&asset)), bytes(&[]));
            assert!(2 * short <= long + long / 50, "{name}: {short} of {long} bytes");
        }
    }

    #[test]
    fn one_clip_that_needs_more_digits_keeps_them_and_spoils_no_other() {
        let mut source = bending();
        let alone = build(&source, StoreChoice::Auto).kept[0];
        source.animations.push(travelling(5_000.0));
        let asset = build(&source, StoreChoice::Auto);
        assert_eq!(stores(&asset), [ClipStore::I16, ClipStore::F32]);
        assert!(asset.kept[1].i16_error_m.unwrap() > 0.01);
        assert_eq!(asset.clips[1].max_error_m, asset.kept[1].resampling_error_m);
        assert_eq!(asset.kept[0], alone, "its ranges are its own again");
    }

    #[test]
    fn a_store_that_is_asked_for_is_had_and_its_error_is_said() {
        let mut source = bending();
        source.animations.push(travelling(5_000.0));
        let short = build(&source, StoreChoice::I16);
        assert_eq!(stores(&short), [ClipStore::I16; 2]);
        assert!(short.clips[1].max_error_m > 0.01, "{}", short.clips[1].max_error_m);
        let long = build(&source, StoreChoice::F32);
        assert_eq!(stores(&long), [ClipStore::F32; 2]);
        assert!(long.kept.iter().all(|k| k.i16_error_m.is_none()));
        assert!(long.clips[1].max_error_m < 0.01);
    }

    /// The error of the store, found anew: every bone's tip at every frame and between.
    #[test]
    fn the_error_that_is_said_is_the_largest_that_the_rigs_are_apart() {
        let asset = build(&bending(), StoreChoice::I16);
        let (short, long) =
            (asset.rig().unwrap(), Rig::new(asset.skeleton.clone(), &asset.clips).unwrap());
        let clip = &asset.clips[0];
        let mut worst = 0.0_f32;
        for step in 0..=1_000 {
            let seconds = clip.seconds() * step as f32 / 1_000.0;
            let (a, b) =
                (short.sample_palette(ClipId(0), seconds), long.sample_palette(ClipId(0), seconds));
            for vertex in asset.primitives.iter().flat_map(|p| &p.vertices) {
                let joint = usize::from(vertex.joints[0]);
                let at = |palette: &[crate::math::Mat3x4]| {
                    palette[joint].transform_point(vertex.position.into())
                };
                worst = worst.max(at(&a).distance(at(&b)));
            }
        }
        let said = asset.kept[0].i16_error_m.unwrap();
        assert!(worst <= said + 2e-6 && worst >= 0.5 * said, "{worst}, not {said}");
    }
}
