//! Sampling frames of 16-bit numbers: interpolated as whole numbers, and made into values once.

use crate::index::BoneCount;
use crate::math::Lanes;
use crate::pose::buffer::Pose;
use crate::pose::clip_layout::Channels;
use crate::pose::clip_store::{Parts, Range, Ranges};
use crate::pose::kernels::enter;
use crate::pose::runtime_clip::{BLOCK_NUMBERS, GROUP_NUMBERS, ShortFrame};
use crate::pose::streams::{GROUP, LINE, QuatBlock, Vec3Group, blocks_for, groups_for};
use fearless_simd::prelude::*;
use fearless_simd::{Simd, f32x8, i16x8};

/// Two frames, and the shares of each.
#[derive(Clone, Copy)]
pub(super) struct Between<'a> {
    pub ranges: &'a Ranges,
    pub channels: &'a Channels,
    pub first: ShortFrame<'a>,
    pub second: ShortFrame<'a>,
    pub parts: Parts,
}

/// Fills in what moves.
#[inline(always)]
pub(super) fn sample(lanes: Lanes, between: Between<'_>, active: BoneCount, out: &mut Pose) {
    enter!(lanes, scalar(between, active, out), simd => vector(simd, between, active, out));
}

fn scalar(between: Between<'_>, active: BoneCount, out: &mut Pose) {
    let Between { ranges, channels, first, second, parts } = between;
    let value = |a: i16, b: i16, middle: f32, unit: f32| {
        let product = |number: i16, part: i16| i32::from(number) * i32::from(part);
        let number = product(a, parts.first) + product(b, parts.second);
        middle + unit * number as f32
    };
    for run in channels.rotations.iter().map(|r| r.below(blocks_for(active.get()))) {
        for block in 0..run.blocks {
            let stored = run.stored + block;
            let (a, b) = (&first.rotations[stored], &second.rotations[stored]);
            let range = &ranges.rotations[run.pose + block];
            let to = &mut out.rotations[run.pose + block];
            for at in 0..BLOCK_NUMBERS {
                let of = |block: &QuatBlock| block.0[at / LINE].0[at % LINE];
                to.0[at / LINE].0[at % LINE] =
                    value(a[at], b[at], of(&range.middle), of(&range.unit));
            }
        }
    }
    let mut pairs = first.groups.iter().zip(second.groups);
    let mut blend = |to: &mut Vec3Group, range: &Range<Vec3Group>| {
        let Some((a, b)) = pairs.next() else { return };
        for at in 0..GROUP_NUMBERS {
            let of = |group: &Vec3Group| group.0[at / GROUP][at % GROUP];
            to.0[at / GROUP][at % GROUP] = value(a[at], b[at], of(&range.middle), of(&range.unit));
        }
    };
    for &group in &channels.translations {
        blend(&mut out.translations[group], &ranges.translations[group]);
    }
    for &group in &channels.scales {
        blend(&mut out.scales[group], &ranges.scales[group]);
    }
}

#[inline(always)]
fn vector<S: Simd>(simd: S, between: Between<'_>, active: BoneCount, out: &mut Pose) {
    let Between { ranges, channels, first, second, parts } = between;
    let (one, other) = (S::i16s::splat(simd, parts.first), S::i16s::splat(simd, parts.second));
    let pairs = one.zip_low(other);
    for run in channels.rotations.iter().map(|r| r.below(blocks_for(active.get()))) {
        let to = &mut out.rotations[run.pose..][..run.blocks];
        let ranges = &ranges.rotations[run.pose..];
        let (a, b) = (&first.rotations[run.stored..], &second.rotations[run.stored..]);
        for (((to, range), a), b) in to.iter_mut().zip(ranges).zip(a).zip(b) {
            block(simd, pairs, a, b, range, to);
        }
    }
    let (one, other) = (i16x8::splat(simd, parts.first), i16x8::splat(simd, parts.second));
    let parts = one.zip_low(other);
    let end = groups_for(active.get());
    let mut pairs = first.groups.iter().zip(second.groups);
    for (&at, (a, b)) in channels.translations.iter().zip(&mut pairs) {
        if at < end {
            group(simd, parts, a, b, &ranges.translations[at], &mut out.translations[at]);
        }
    }
    for (&at, (a, b)) in channels.scales.iter().zip(pairs) {
        if at < end {
            group(simd, parts, a, b, &ranges.scales[at], &mut out.scales[at]);
        }
    }
}

#[inline(always)]
fn block<S: Simd>(
    simd: S,
    parts: S::i16s,
    a: &[i16; BLOCK_NUMBERS],
    b: &[i16; BLOCK_NUMBERS],
    range: &Range<QuatBlock>,
    to: &mut QuatBlock,
) {
    let middle: &[f32; BLOCK_NUMBERS] = bytemuck::cast_ref(&range.middle);
    let unit: &[f32; BLOCK_NUMBERS] = bytemuck::cast_ref(&range.unit);
    let to: &mut [f32; BLOCK_NUMBERS] = bytemuck::cast_mut(to);
    let width = S::f32s::LEN;
    for at in (0..BLOCK_NUMBERS).step_by(2 * width) {
        let a = S::i16s::from_slice(simd, &a[at..at + 2 * width]);
        let b = S::i16s::from_slice(simd, &b[at..at + 2 * width]);
        for (at, pairs) in [(at, a.zip_low(b)), (at + width, a.zip_high(b))] {
            let number = S::f32s::float_from(pairs.pairwise_dot_product(parts));
            let middle = S::f32s::from_slice(simd, &middle[at..at + width]);
            let unit = S::f32s::from_slice(simd, &unit[at..at + width]);
            unit.mul_add(number, middle).store_slice(&mut to[at..at + width]);
        }
    }
}

#[inline(always)]
fn group<S: Simd>(
    simd: S,
    parts: i16x8<S>,
    a: &[i16; GROUP_NUMBERS],
    b: &[i16; GROUP_NUMBERS],
    range: &Range<Vec3Group>,
    to: &mut Vec3Group,
) {
    for component in 0..3 {
        let numbers = component * GROUP..(component + 1) * GROUP;
        let a = i16x8::from_slice(simd, &a[numbers.clone()]);
        let b = i16x8::from_slice(simd, &b[numbers]);
        let low = a.zip_low(b).pairwise_dot_product(parts);
        let high = a.zip_high(b).pairwise_dot_product(parts);
        let number = f32x8::float_from(low.combine(high));
        let middle = f32x8::load_array_ref(simd, &range.middle.0[component]);
        let unit = f32x8::load_array_ref(simd, &range.unit.0[component]);
        unit.mul_add(number, middle).store_array(&mut to.0[component]);
    }
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::Parts;
    use crate::index::{BoneCount, BoneIndex, ClipId};
    use crate::math::{Lanes, SimdLevel, Trs};
    use crate::pose::testing::{Shape, character};
    use crate::pose::{ClipStore, Pose, Rig, RigClass, RigOptions, Skeleton, UniformClip};
    use glam::{Quat, Vec3};

    const COUNTS: [usize; 9] = [0, 1, 7, 8, 9, 63, 64, 65, 1000];

    fn rig(skeleton: &Skeleton, clips: &[UniformClip], store: ClipStore) -> Rig {
        let stores = vec![store; clips.len()];
        let options = RigOptions { stores: &stores, ..RigOptions::default() };
        Rig::with(skeleton.clone(), clips, options).unwrap()
    }

    fn sampled(rig: &Rig, lanes: Lanes, clip: ClipId, seconds: f32, active: BoneCount) -> Pose {
        let mut pose = Pose::default();
        pose.fit(rig.shape());
        sample(lanes, rig.clip(clip).unwrap(), seconds, active, &mut pose);
        pose
    }

    /// Rotation, translation and scale of one bone, rotations as stored.
    fn values(rig: &Rig, pose: &Pose, bone: BoneIndex) -> [f64; 10] {
        let value = rig.pose_trs(pose, bone);
        let mut out = [0.0; 10];
        out[..4].copy_from_slice(&value.rotation.to_array());
        out[4..7].copy_from_slice(&value.translation.to_array());
        out[7..].copy_from_slice(&value.scale.to_array());
        out
    }

    /// Cuts, and the bones below each.
    fn cuts(bones: usize) -> Vec<BoneCount> {
        let mut cuts = vec![0, 1, bones.saturating_sub(1), bones];
        cuts.retain(|&c| c <= bones);
        cuts.dedup();
        cuts.into_iter().map(|c| BoneCount(c as u16)).collect()
    }

    const TIMES: [f32; 6] = [-1.0, 0.0, 0.013, 0.051, 9.0, f32::NAN];

    #[test]
    fn every_level_agrees_with_the_scalar_twin_at_every_size_and_cut() {
        let scalar = Lanes::new(SimdLevel::Scalar).unwrap();
        for bones in COUNTS {
            for shape in Shape::all(bones) {
                let (skeleton, clips) = character(shape, 4, 11);
                let rig = rig(&skeleton, &clips, ClipStore::I16);
                for active in cuts(bones) {
                    for (clip, seconds) in TIMES.into_iter().enumerate() {
                        let clip = ClipId(clip as u16 % 4);
                        let twin = sampled(&rig, scalar, clip, seconds, active);
                        for lanes in Lanes::all() {
                            let pose = sampled(&rig, lanes, clip, seconds, active);
                            assert_eq!((&pose.moved, &pose.scaled), (&twin.moved, &twin.scaled));
                            for bone in active.bones() {
                                let pair = (values(&rig, &pose, bone), values(&rig, &twin, bone));
                                for (a, b) in pair.0.into_iter().zip(pair.1) {
                                    // A fused product rounds once where the twin rounds twice.
                                    let off = (a - b).abs();
                                    let level = lanes.level();
                                    assert!(off < 1e-6, "{shape:?} {level} {bone}: {a} {b}");
                                }
                            }
                        }
                    }
                }
            }
        }
    }

    /// The largest and the smallest value of each component of each bone in all frames of all clips.
    fn reach(rig: &Rig) -> Vec<[(f64, f64); 10]> {
        let all = rig.bone_count();
        let mut reach = vec![[(f64::INFINITY, f64::NEG_INFINITY); 10]; all.get()];
        for at in 0..rig.clip_count() {
            let clip = ClipId(at as u16);
            let runtime = rig.clip(clip).unwrap();
            for frame in 0..runtime.frame_count {
                let seconds = frame as f32 / runtime.rate_hz();
                let pose = sampled(rig, Lanes::best(), clip, seconds, all);
                for (bone, reach) in all.bones().zip(&mut reach) {
                    for (reach, value) in reach.iter_mut().zip(values(rig, &pose, bone)) {
                        *reach = (reach.0.min(value), reach.1.max(value));
                    }
                }
            }
        }
        reach
    }

    #[test]
    fn shares_add_up_and_the_ends_are_whole() {
        let whole = i16::MAX;
        let of = |weight: f32| Parts::of(weight);
        assert_eq!((of(0.0), of(1.0)), (parts(whole, 0), parts(0, whole)));
        for weight in [-0.1, 1e-6, 0.25, 0.999_99, 1.001, f32::NAN, f32::INFINITY] {
            let Parts { first, second } = of(weight);
            assert!(first >= 0 && second >= 0 && first + second == whole, "{weight}");
            let off = f64::from(second) / f64::from(whole) - f64::from(weight).clamp(0.0, 1.0);
            assert!(weight.is_nan() || off.abs() <= 0.5 / f64::from(whole) + 1e-7, "{weight}");
        }
    }

    fn parts(first: i16, second: i16) -> Parts {
        Parts { first, second }
    }

    #[test]
    fn no_value_is_off_by_more_than_half_a_step_of_its_bones_own_range() {
        for bones in [1, 9, 64, 300] {
            for shape in Shape::all(bones) {
                let (skeleton, clips) = character(shape, 5, 3);
                let (short, long) = (
                    rig(&skeleton, &clips, ClipStore::I16),
                    rig(&skeleton, &clips, ClipStore::F32),
                );
                let reach = reach(&long);
                let all = long.bone_count();
                let mut differs = false;
                for clip in (0..5).map(ClipId) {
                    for seconds in TIMES {
                        let a = sampled(&short, Lanes::best(), clip, seconds, all);
                        let b = sampled(&long, Lanes::best(), clip, seconds, all);
                        for (bone, reach) in all.bones().zip(&reach) {
                            let pair = (values(&short, &a, bone), values(&long, &b, bone));
                            for ((a, b), reach) in pair.0.into_iter().zip(pair.1).zip(reach) {
                                let half_step = (reach.1 - reach.0) / 65_534.0 / 2.0;
                                // From one frame to the next, these clips go all of their way.
                                let late = (reach.1 - reach.0) / 65_534.0;
                                let off = (a - b).abs();
                                differs |= off > 0.2 * half_step;
                                let limit = half_step + late + 4e-7 * b.abs().max(1.0);
                                assert!(off <= limit, "{shape:?} {bone} {a} {b}");
                            }
                        }
                    }
                }
                assert!(differs, "{shape:?}: both rigs hold the same frames");
            }
        }
    }

    #[test]
    fn clips_of_both_classes_take_half_the_memory() {
        for (shape, class) in [
            (Shape::plain(64), RigClass::BindRelative),
            (Shape { scaled: true, ..Shape::plain(64) }, RigClass::General),
        ] {
            let (skeleton, mut clips) = character(shape, 6, 5);
            // As long as clips are; of a few frames the table of ranges is a large part.
            for clip in &mut clips[1..] {
                let frames = 60 / clip.frame_count;
                clip.locals = clip.locals.repeat(frames);
                clip.frame_count *= frames;
            }
            clips.remove(0);
            let (short, long) =
                (rig(&skeleton, &clips, ClipStore::I16), rig(&skeleton, &clips, ClipStore::F32));
            assert_eq!(short.class(), class);
            let (short, long) = (short.clip_bytes(), long.clip_bytes());
            assert!(2 * short <= long + long / 16, "{shape:?}: {short} of {long} bytes");
        }
    }

    /// A bone that turns and slides, in a clip for each sign of its quaternions.
    fn slide(size: f32, signs: &[f32]) -> (Skeleton, Vec<UniformClip>) {
        let (skeleton, _) = character(Shape::plain(1), 0, 1);
        let clip = |sign: f32| UniformClip {
            name: "slide".into(),
            rate_hz: 30.0,
            frame_count: 3,
            locals: (0..3)
                .map(|frame| Trs {
                    translation: Vec3::new(size, frame as f32 * size, 7.0),
                    rotation: Quat::from_rotation_y(0.2 * frame as f32) * sign,
                    ..Trs::IDENTITY
                })
                .collect(),
            max_error_m: 0.0,
        };
        (skeleton, signs.iter().map(|&sign| clip(sign)).collect())
    }

    #[test]
    fn a_rotations_sign_costs_no_precision() {
        let error = |signs: &[f32]| {
            let (skeleton, clips) = slide(1.0, signs);
            let (short, long) =
                (rig(&skeleton, &clips, ClipStore::I16), rig(&skeleton, &clips, ClipStore::F32));
            let locals = |rig: &Rig| rig.sample_locals(ClipId(0), 0.04)[0].rotation;
            locals(&short).angle_between(locals(&long))
        };
        assert!(error(&[1.0, -1.0]) <= error(&[1.0]) + 1e-6);
    }

    #[test]
    fn values_at_the_ends_of_what_a_float_holds_stay_finite() {
        for size in [0.0, 1e-38, 1e30, f32::MAX / 8.0] {
            let (skeleton, clips) = slide(size, &[1.0]);
            let rig = rig(&skeleton, &clips, ClipStore::I16);
            for lanes in Lanes::all() {
                for seconds in TIMES {
                    let pose = sampled(&rig, lanes, ClipId(0), seconds, BoneCount(1));
                    let values = values(&rig, &pose, BoneIndex(0));
                    assert!(values.iter().all(|v| v.is_finite()), "{size} {values:?}");
                }
            }
        }
    }

    #[test]
    fn an_additive_clip_follows_its_clips_store_and_gives_the_clip_back() {
        for shape in Shape::all(40) {
            let (skeleton, clips) = character(shape, 4, 11);
            let mut rig = rig(&skeleton, &clips, ClipStore::I16);
            let wanted = [(ClipId(2), Some((ClipId(3), 0.0))), (ClipId(3), None)];
            let ids = rig.add_additives(&wanted).unwrap();
            assert_eq!(ids, [ClipId(4), ClipId(5)]);
            let all = rig.bone_count();
            for id in ids {
                assert_eq!(rig.clip(id).unwrap().store(), ClipStore::I16);
            }
            for frame in 0..2 {
                let seconds = frame as f32 / 30.0;
                let lanes = Lanes::best();
                let mut pose = sampled(&rig, lanes, ClipId(3), 0.0, all);
                let delta = sampled(&rig, lanes, ClipId(4), seconds, all);
                let apply = crate::pose::kernels::additive::apply_additive;
                apply(lanes, rig.rest(), &mut pose, &delta, 1.0, all);
                let source = sampled(&rig, lanes, ClipId(2), seconds, all);
                for bone in all.bones() {
                    let (a, b) = (rig.local(&pose, bone), rig.local(&source, bone));
                    let near = a.rotation.dot(b.rotation).abs() > 1.0 - 1e-6
                        && a.translation.distance(b.translation) < 1e-3
                        && a.scale.distance(b.scale) < 1e-3;
                    assert!(near, "{shape:?} {bone} {a:?} {b:?}");
                }
            }
            assert_eq!(rig.add_additives(&[(ClipId(0), None), (ClipId(99), None)]), None);
            assert_eq!(rig.clip_count(), 6, "nothing is added when one is not there");
        }
    }

    #[test]
    fn clips_of_both_stores_live_in_one_rig() {
        let (skeleton, clips) = character(Shape::plain(20), 4, 2);
        let stores = [ClipStore::F32, ClipStore::I16, ClipStore::F32];
        let options = RigOptions { stores: &stores, ..RigOptions::default() };
        let mixed = Rig::with(skeleton.clone(), &clips, options).unwrap();
        let long = rig(&skeleton, &clips, ClipStore::F32);
        for at in [0, 2, 3] {
            let clip = ClipId(at);
            assert_eq!(mixed.clip(clip).unwrap().store(), ClipStore::F32);
            assert_eq!(mixed.sample_locals(clip, 0.04), long.sample_locals(clip, 0.04));
        }
        assert_eq!(mixed.clip(ClipId(1)).unwrap().store(), ClipStore::I16);
        assert_ne!(mixed.sample_locals(ClipId(1), 0.04), long.sample_locals(ClipId(1), 0.04));
    }
}
