//! Every kernel at every level against its scalar twin, and where numbers are at their worst.

use super::masked::{Mask, blend_masked};
use super::resolve::{ResolveError, ResolveScratch, resolve};
use super::{additive, blend, sample};
use crate::index::{BoneCount, BoneIndex, ClipId};
use crate::math::{Lanes, Mat3x4, SimdLevel, Trs};
use crate::pose::testing::{self, Shape};
use crate::pose::{Detail, Pose, Rig};
use glam::{Quat, Vec3};

mod solvers;
mod transitions;

const COUNTS: [usize; 9] = [0, 1, 7, 8, 9, 63, 64, 65, 1000];

fn cuts(bones: usize) -> Vec<BoneCount> {
    let mut cuts = vec![0, 1, bones.saturating_sub(1), bones];
    cuts.retain(|&c| c <= bones);
    cuts.dedup();
    cuts.into_iter().map(|c| BoneCount(c as u16)).collect()
}

fn rig(shape: Shape) -> Rig {
    let (skeleton, clips) = testing::character(shape, 4, 11);
    Rig::new(skeleton, &clips).unwrap()
}

fn sampled(rig: &Rig, lanes: Lanes, clip: u16, seconds: f32, active: BoneCount) -> Pose {
    let mut pose = Pose::default();
    pose.fit(rig.shape());
    let clip = rig.clip(ClipId(clip)).unwrap();
    sample::sample(lanes, clip, seconds, active, &mut pose);
    pose
}

fn palette(rig: &Rig, lanes: Lanes, pose: &Pose, active: BoneCount) -> Vec<Mat3x4> {
    let mut out = vec![Mat3x4::IDENTITY; rig.palette_len()];
    let scratch = &mut ResolveScratch::default();
    let active = (active, Detail::Whole);
    resolve(lanes, rig, &[pose], active, scratch, &mut [&mut out]).unwrap();
    out
}

/// What one kernel makes of two poses.
type Kernel = fn(&Rig, Lanes, &mut Pose, &Pose, BoneCount);

const KERNELS: [(&str, Kernel); 5] = [
    ("sample", |_, _, _, _, _| {}),
    ("blend", |rig, lanes, a, b, n| blend::blend(lanes, rig.rest(), a, b, 0.3, n)),
    ("blend_masked", |rig, lanes, a, b, n| {
        let mask = Mask::new(rig.bone_count(), &[0.0, 0.25, 1.0, f32::NAN, 7.0]);
        blend_masked(lanes, rig.rest(), a, b, 0.8, &mask, n);
    }),
    ("make_additive and apply_additive", |rig, lanes, a, b, n| {
        let mut delta = b.clone();
        additive::make_additive(lanes, rig.rest(), &mut delta, rig.reference(), n);
        additive::apply_additive(lanes, rig.rest(), a, &delta, 0.6, n);
    }),
    ("two differences blended", |rig, lanes, a, b, n| {
        let (mut one, mut other) = (a.clone(), b.clone());
        additive::make_additive(lanes, rig.rest(), &mut one, rig.reference(), n);
        additive::make_additive(lanes, rig.rest(), &mut other, a, n);
        blend::blend(lanes, rig.rest(), &mut one, &other, 0.5, n);
        additive::apply_additive(lanes, rig.rest(), a, &one, 1.0, n);
    }),
];

#[test]
fn every_level_agrees_with_the_scalar_twin_at_every_size_and_cut() {
    let scalar = Lanes::new(SimdLevel::Scalar).unwrap();
    for bones in COUNTS {
        for shape in Shape::all(bones) {
            let rig = rig(shape);
            for active in cuts(bones) {
                for (name, kernel) in KERNELS {
                    let run = |lanes| {
                        let mut a = sampled(&rig, lanes, 2, 0.02, active);
                        let b = sampled(&rig, lanes, 3, 0.05, active);
                        kernel(&rig, lanes, &mut a, &b, active);
                        palette(&rig, lanes, &a, active)
                    };
                    let expected = run(scalar);
                    for lanes in Lanes::all() {
                        let exact: Vec<_> =
                            expected.iter().map(|m| m.to_affine().as_daffine3()).collect();
                        let error = testing::difference(&run(lanes), &exact);
                        let level = lanes.level();
                        assert!(error < 1e-4, "{name} {level} {shape:?} {active}: {error:e}");
                    }
                }
            }
        }
    }
}

/// One bone that stands at `a` in clip 0 and at `b` in clip 1.
fn pair(a: Trs, b: Trs) -> Rig {
    let (skeleton, _) = testing::character(Shape::plain(1), 0, 1);
    let clip = |name: &str, at: Trs| crate::pose::UniformClip {
        name: name.into(),
        rate_hz: 30.0,
        frame_count: 1,
        locals: vec![at],
        max_error_m: 0.0,
    };
    Rig::new(skeleton, &[clip("a", a), clip("b", b)]).unwrap()
}

fn turned(rotation: Quat) -> Trs {
    Trs { rotation, ..Trs::IDENTITY }
}

fn blended(a: Trs, b: Trs, alpha: f32, lanes: Lanes) -> Trs {
    let rig = pair(a, b);
    let one = BoneCount(1);
    let mut acc = sampled(&rig, lanes, 0, 0.0, one);
    let b = sampled(&rig, lanes, 1, 0.0, one);
    blend::blend(lanes, rig.rest(), &mut acc, &b, alpha, one);
    rig.local(&acc, BoneIndex(0))
}

fn angle(a: Quat, b: Quat) -> f32 {
    2.0 * (a.conjugate() * b).xyz().length().min(1.0).asin()
}

#[test]
fn alpha_at_and_beyond_its_ends_gives_the_inputs() {
    let (a, b) = (Quat::from_rotation_x(0.4), Quat::from_rotation_y(1.9));
    for lanes in Lanes::all() {
        for (alpha, expected) in
            [(0.0, a), (1.0, b), (-3.0, a), (9.0, b), (f32::NAN, a), (f32::INFINITY, b)]
        {
            let got = blended(turned(a), turned(b), alpha, lanes).rotation;
            assert!(angle(got, expected) < 1e-3, "{alpha} {:?}", lanes.level());
        }
    }
}

#[test]
fn opposite_and_identical_quaternions_blend_to_the_same_rotation() {
    let q = Quat::from_euler(glam::EulerRot::XYZ, 0.3, 2.0, -1.0);
    for lanes in Lanes::all() {
        for b in [q, -q] {
            for alpha in [0.0, 0.25, 0.5, 1.0] {
                let got = blended(turned(q), turned(b), alpha, lanes).rotation;
                assert!(angle(got, q) < 1e-3, "{b} {alpha} {:?}", lanes.level());
            }
        }
    }
}

#[test]
fn half_turns_apart_blend_to_something_finite_of_unit_length() {
    for lanes in Lanes::all() {
        for axis in [Vec3::X, Vec3::Y, Vec3::Z] {
            let half = Quat::from_axis_angle(axis, std::f32::consts::PI);
            for alpha in [0.0, 0.5, 0.999, 1.0] {
                let got = blended(turned(Quat::IDENTITY), turned(half), alpha, lanes);
                assert!(got.is_finite() && (got.rotation.length() - 1.0).abs() < 1e-5);
            }
        }
    }
}

#[test]
fn the_worst_angle_of_a_blend_is_what_the_documentation_says() {
    for (apart, documented) in [(90.0_f32, 0.9), (179.9, 8.2)] {
        let (a, b) = (Quat::IDENTITY, Quat::from_rotation_z(apart.to_radians()));
        let off = (0..=100).map(|i| {
            let t = i as f32 / 100.0;
            angle(blended(turned(a), turned(b), t, Lanes::best()).rotation, a.slerp(b, t))
        });
        let worst = off.fold(0.0, f32::max).to_degrees();
        assert!((documented - 0.15..documented + 0.05).contains(&worst), "{apart}: {worst}");
    }
}

#[test]
fn zero_and_mirrored_scales_stay_finite_and_keep_their_sign() {
    let scales = [Vec3::ZERO, Vec3::new(-1.0, 1.0, 1.0), Vec3::new(0.0, 2.0, -3.0)];
    for lanes in Lanes::all() {
        for scale in scales {
            let rig = pair(Trs { scale, ..turned(Quat::from_rotation_x(0.2)) }, Trs::IDENTITY);
            assert!(rig.has_scale());
            let one = BoneCount(1);
            let mut pose = sampled(&rig, lanes, 0, 0.0, one);
            assert_eq!(rig.local(&pose, BoneIndex(0)).scale, scale);
            let other = sampled(&rig, lanes, 1, 0.0, one);
            let mut delta = other.clone();
            additive::make_additive(lanes, rig.rest(), &mut delta, &pose, one);
            additive::apply_additive(lanes, rig.rest(), &mut pose, &delta, 1.0, one);
            let palette = palette(&rig, lanes, &pose, one);
            assert!(palette.iter().all(Mat3x4::is_finite), "{scale} {:?}", lanes.level());
        }
    }
}

#[test]
fn adding_the_whole_difference_to_the_reference_gives_the_source_back() {
    for shape in Shape::all(40) {
        let rig = rig(shape);
        let all = rig.bone_count();
        for lanes in Lanes::all() {
            let source = sampled(&rig, lanes, 2, 0.03, all);
            let mut delta = source.clone();
            additive::make_additive(lanes, rig.rest(), &mut delta, rig.reference(), all);
            let mut pose = rig.reference().clone();
            additive::apply_additive(lanes, rig.rest(), &mut pose, &delta, 1.0, all);
            let expected = palette(&rig, lanes, &source, all);
            let exact: Vec<_> = expected.iter().map(|m| m.to_affine().as_daffine3()).collect();
            let error = testing::difference(&palette(&rig, lanes, &pose, all), &exact);
            assert!(error < 1e-4, "{shape:?} {:?} {error:e}", lanes.level());
        }
    }
}

#[test]
fn an_additive_clip_is_what_making_one_from_its_samples_gives() {
    for shape in Shape::all(40) {
        let mut rig = rig(shape);
        let id = rig.add_additive(ClipId(2), Some((ClipId(3), 0.01))).unwrap();
        let all = rig.bone_count();
        let lanes = Lanes::best();
        // At a frame, where nothing is interpolated.
        let seconds = 1.0 / 30.0;
        let against = sampled(&rig, lanes, 3, 0.01, all);
        let mut made = sampled(&rig, lanes, 2, seconds, all);
        additive::make_additive(lanes, rig.rest(), &mut made, &against, all);
        let baked = sampled(&rig, lanes, id.0, seconds, all);
        let shown = |delta: &Pose| {
            let mut pose = rig.reference().clone();
            additive::apply_additive(lanes, rig.rest(), &mut pose, delta, 1.0, all);
            palette(&rig, lanes, &pose, all)
        };
        let exact: Vec<_> = shown(&made).iter().map(|m| m.to_affine().as_daffine3()).collect();
        let error = testing::difference(&shown(&baked), &exact);
        assert!(error < 1e-4, "{shape:?} {error:e}");
    }
    let mut rig = rig(Shape::plain(3));
    assert_eq!(rig.add_additive(ClipId(9), None), None);
    assert_eq!(rig.add_additive(ClipId(0), Some((ClipId(9), 0.0))), None);
}

#[test]
fn a_palette_too_short_and_a_batch_too_large_are_refused_by_their_numbers() {
    let rig = rig(Shape::plain(9));
    let scratch = &mut ResolveScratch::default();
    let pose = rig.reference();
    let mut short = vec![Mat3x4::IDENTITY; 8];
    let lanes = Lanes::best();
    let nine = (BoneCount(9), Detail::Whole);
    let error = resolve(lanes, &rig, &[pose], nine, scratch, &mut [&mut short]);
    assert_eq!(error, Err(ResolveError::Palette { len: 8, needed: 9 }));
    let error = resolve(lanes, &rig, &[pose; 9], nine, scratch, &mut []);
    assert_eq!(error, Err(ResolveError::Batch { poses: 9, palettes: 0 }));
}
