//! Solvers, and what changes one bone: the two classes of rig against one another, and ends of
//! ranges. What solvers achieve stands in the tests of tasks.

use super::*;
use crate::pose::RigClass;
use crate::pose::kernels::bone::{BoneMode, BoneSpace, bone_transform, translate_bone};
use crate::pose::kernels::ik::fabrik::{CHAIN, Chain, fabrik};
use crate::pose::kernels::ik::foot::{Ground, foot_ik};
use crate::pose::kernels::ik::look_at::{Gaze, look_at};
use crate::pose::kernels::ik::two_bone::{Limb, Reach, two_bone};
use crate::pose::skeleton::{Skeleton, SkeletonParts};
use crate::pose::testing::Random;

/// What is done to a limb of a pose, and with how much of it.
type Solver = fn(&Rig, &mut Pose, Limb, Vec3, f32, BoneCount);

const SOLVERS: [(&str, Solver); 7] = [
    ("two_bone", |rig, pose, limb, v, alpha, active| {
        let reach = Reach { target: v, pole: Vec3::new(v.y, v.z, v.x), soften: 0.1, alpha };
        two_bone(rig, pose, limb, &reach, active);
    }),
    ("fabrik", |rig, pose, limb, target, alpha, active| {
        let Limb { root, end, .. } = limb;
        let chain = Chain { root, end, target, iterations: 5, tolerance: 0.0, alpha };
        fabrik(rig, pose, &chain, None, active);
    }),
    ("look_at", |rig, pose, limb, target, alpha, active| {
        let gaze = Gaze { bone: limb.mid, forward: Vec3::Z, target, limit: 0.7, alpha };
        look_at(rig, pose, &gaze, active);
    }),
    ("foot_ik", |rig, pose, limb, v, alpha, active| {
        let ground = Ground { offset: v * 0.02, normal: Vec3::Y + v * 0.1, alpha };
        foot_ik(rig, pose, limb, &ground, active);
    }),
    ("bone_transform, additive", |rig, pose, limb, v, alpha, active| {
        let rotation = Quat::from_scaled_axis(v);
        let change = Trs { translation: v, rotation, scale: Vec3::ONE };
        let how = (BoneSpace::Component, BoneMode::Additive);
        bone_transform(rig, pose, limb.end, how, &change, alpha, active);
    }),
    ("bone_transform, override", |rig, pose, limb, v, alpha, active| {
        let rotation = Quat::from_scaled_axis(v);
        let change = Trs { translation: v, rotation, scale: Vec3::ONE };
        let how = (BoneSpace::Component, BoneMode::Override);
        bone_transform(rig, pose, limb.end, how, &change, alpha, active);
    }),
    ("translate_bone", |rig, pose, limb, v, alpha, active| {
        translate_bone(rig, pose, limb.end, BoneSpace::Component, v, alpha, active);
    }),
];

/// A limb that hangs somewhere in the skeleton, with bones between its own now and then.
fn some_limb(rig: &Rig, random: &mut Random) -> Limb {
    let parents = rig.skeleton().parents();
    loop {
        let end = BoneIndex(random.below(parents.len()) as u16);
        let above = std::iter::successors(Some(end), |b| parents[b.get()]).collect::<Vec<_>>();
        if above.len() > 2 {
            let mid = 1 + random.below(above.len() - 2);
            let root = mid + 1 + random.below(above.len() - mid - 1);
            return Limb { root: above[root], mid: above[mid], end };
        }
    }
}

#[test]
fn poses_that_are_relative_to_binds_and_those_that_are_not_are_solved_alike() {
    let mut random = Random(7);
    for shape in Shape::all(30).into_iter().filter(|shape| !shape.scaled) {
        let (skeleton, clips) = testing::character(shape, 4, 11);
        let rigs = [Rig::new(skeleton.clone(), &clips), Rig::general(skeleton, &clips)];
        let rigs = rigs.map(Result::unwrap);
        assert_eq!(
            rigs.each_ref().map(Rig::class),
            [RigClass::BindRelative, RigClass::General],
            "{shape:?}"
        );
        let all = rigs[0].bone_count();
        for (name, solver) in SOLVERS {
            // An override sets the scale as well, which the general class alone keeps.
            if shape.units && name.ends_with("override") {
                continue;
            }
            let (mut changed, mut unsteady) = (0, 0);
            for round in 0..200 {
                let limb = some_limb(&rigs[0], &mut random);
                let (clip, seconds) = (random.below(4) as u16, 0.04 * random.signed().abs());
                let poses = rigs.each_ref().map(|r| sampled(r, Lanes::best(), clip, seconds, all));
                let joint = {
                    let local = rigs[0].local(&poses[0], limb.end).translation;
                    rigs[0].model_from_parent(&poses[0], limb.end).transform_point3(local)
                };
                let (v, alpha) = (joint + random.vec3(0.5), [1.0, 0.4][round % 2]);
                let solved = [0, 1].map(|at| {
                    let mut pose = poses[at].clone();
                    solver(&rigs[at], &mut pose, limb, v, alpha, all);
                    palette(&rigs[at], Lanes::best(), &pose, all)
                });
                let exact = |palette: &[Mat3x4]| -> Vec<_> {
                    palette.iter().map(|m| m.to_affine().as_daffine3()).collect()
                };
                let error = testing::difference(&solved[0], &exact(&solved[1]));
                // A limb that is nearly straight or folded makes much of a last digit.
                unsteady += usize::from(error > 1e-3);
                let before = palette(&rigs[0], Lanes::best(), &poses[0], all);
                changed += usize::from(testing::difference(&solved[0], &exact(&before)) > 1e-2);
            }
            assert!(changed > 100, "{name} {shape:?} changed {changed} poses of 200");
            assert!(unsteady < 10, "{name} {shape:?}: {unsteady} of 200 differ");
        }
    }
}

fn bits(rig: &Rig, pose: &Pose) -> Vec<[u32; 7]> {
    let bone = |bone| {
        let ([x, y, z, w], [a, b, c]) =
            (pose.rotation(bone), rig.pose_translation(pose, bone).to_array());
        [x, y, z, w, a, b, c].map(f32::to_bits)
    };
    rig.bone_count().bones().map(bone).collect()
}

#[test]
fn bones_that_are_cut_off_missing_or_no_limb_change_no_bit() {
    for shape in Shape::all(30) {
        let rig = rig(shape);
        let (all, beyond) = (rig.bone_count(), BoneCount(200));
        let pose = sampled(&rig, Lanes::best(), 2, 0.03, all);
        let limb = some_limb(&rig, &mut Random(3));
        let [none, far] = [BoneIndex(30), BoneIndex(150)];
        let Limb { root, mid, end } = limb;
        let cases = [
            (limb, BoneCount(mid.0)),
            (Limb { root: none, mid: none, end: none }, beyond),
            (Limb { root: far, mid: far, end: far }, beyond),
        ];
        // These have bones of their own to change: only solvers of limbs leave them alone.
        let no_limbs = [
            Limb { root: mid, mid: root, end },
            Limb { root: end, mid, end: root },
            Limb { root, mid: end, end },
            Limb { root, mid: root, end },
            Limb { root: none, mid, end },
        ];
        for (name, solver) in SOLVERS {
            let one_bone = !["two_bone", "foot_ik"].contains(&name);
            let no_limbs = no_limbs.into_iter().filter(|_| !one_bone).map(|limb| (limb, all));
            for (limb, active) in cases.into_iter().chain(no_limbs) {
                let mut changed = pose.clone();
                solver(&rig, &mut changed, limb, Vec3::new(0.2, 0.5, 0.3), 1.0, active);
                assert_eq!(bits(&rig, &changed), bits(&rig, &pose), "{name} {limb:?} {active:?}");
            }
        }
    }
}

#[test]
fn ground_as_animated_changes_no_bit_and_almost_such_ground_hardly_anything() {
    for shape in Shape::all(30) {
        let rig = rig(shape);
        let all = rig.bone_count();
        let pose = sampled(&rig, Lanes::best(), 2, 0.03, all);
        let before = palette(&rig, Lanes::best(), &pose, all);
        let before: Vec<_> = before.iter().map(|m| m.to_affine().as_daffine3()).collect();
        let mut random = Random(5);
        for alpha in [1.0, 0.3] {
            let leg = some_limb(&rig, &mut random);
            let stand = |offset, normal| {
                let mut pose = pose.clone();
                foot_ik(&rig, &mut pose, leg, &Ground { offset, normal, alpha }, all);
                pose
            };
            for normal in [Vec3::Y, Vec3::Y * 3.0, Vec3::new(-0.0, 1e-9, 0.0), Vec3::ZERO] {
                for offset in [Vec3::ZERO, -Vec3::ZERO] {
                    assert_eq!(bits(&rig, &stand(offset, normal)), bits(&rig, &pose));
                }
            }
            for (offset, normal) in [
                (Vec3::Y * 1e-7, Vec3::Y),
                (Vec3::ZERO, Vec3::new(1e-6, 1.0, 0.0)),
                (Vec3::ZERO, Vec3::new(0.0, 1.0, -1e-6)),
            ] {
                let after = palette(&rig, Lanes::best(), &stand(offset, normal), all);
                let moved = testing::difference(&after, &before);
                assert!(moved < 2e-3, "{shape:?} {leg:?} {offset} {normal}: {moved:e}");
            }
            let upside_down = stand(Vec3::ZERO, Vec3::NEG_Y);
            let turned =
                testing::difference(&palette(&rig, Lanes::best(), &upside_down, all), &before);
            assert!(turned > 0.1, "{shape:?}: a foot on a ceiling is turned");
        }
    }
}

#[test]
fn a_gaze_turns_as_far_as_its_limit_says() {
    let rig = rig(Shape::plain(12));
    let all = rig.bone_count();
    let (bone, source) = (BoneIndex(5), sampled(&rig, Lanes::best(), 1, 0.02, all));
    let before = rig.local(&source, bone);
    let above = rig.model_from_parent(&source, bone);
    let looks = (above * before.to_affine()).transform_vector3(Vec3::Z).normalize();
    let joint = above.transform_point3(before.translation);
    for full in [1e-3f32, 0.5, 2.0, 3.1] {
        let target = joint + Quat::from_axis_angle(looks.any_orthonormal_vector(), full) * looks;
        for limit in [0.0, -1.0, 1e-4, 0.3, 1.57, 3.0, 3.2, f32::INFINITY, f32::NAN] {
            let mut pose = source.clone();
            let gaze = Gaze { bone, forward: Vec3::Z * 3.0, target, limit, alpha: 1.0 };
            look_at(&rig, &mut pose, &gaze, all);
            let (was, is) =
                (before.rotation.as_dquat(), rig.local(&pose, bone).rotation.as_dquat());
            let turn = was.conjugate() * is;
            let turned = 2.0 * turn.xyz().length().atan2(turn.w.abs());
            let expected = f64::from(if limit.is_nan() { full } else { full.min(limit.max(0.0)) });
            assert!((turned - expected).abs() < 2e-5, "{full} within {limit}: {turned}");
        }
    }
}

/// A straight chain of bones a tenth apart.
fn chain(bones: u16) -> Rig {
    let local = Trs { translation: Vec3::Y * 0.1, ..Trs::IDENTITY };
    let entry = |b| crate::pose::PaletteEntry {
        bone: BoneIndex(b),
        bone_from_mesh: glam::Affine3A::IDENTITY,
    };
    let skeleton = Skeleton::new(SkeletonParts {
        names: (0..bones).map(|b| b.to_string()).collect(),
        parents: (0..bones).map(|b| b.checked_sub(1).map(BoneIndex)).collect(),
        rest: vec![local; bones.into()],
        model_from_root_parent: vec![glam::Affine3A::IDENTITY; bones.into()],
        palette: (0..bones).map(entry).collect(),
        low_detail_bone_count: BoneCount(bones),
    });
    Rig::new(skeleton.unwrap(), &[]).unwrap()
}

#[test]
fn chains_of_every_length_reach_and_of_too_long_a_one_the_lower_end_does() {
    for bones in [2, 3, 8, 9, 10, 64, 65, 90] {
        let rig = chain(bones);
        let all = rig.bone_count();
        let (root, end) = (BoneIndex(0), BoneIndex(bones - 1));
        let place = |pose: &Pose, bone| {
            let local = rig.local(pose, bone).translation;
            rig.model_from_parent(pose, bone).transform_point3(local)
        };
        let mut pose = rig.reference().clone();
        let first = usize::from(bones).saturating_sub(CHAIN) as u16;
        let away = 0.1 * f32::from(bones - 1 - first);
        // One bone reaches its own length only.
        let target = place(&pose, BoneIndex(first))
            + Vec3::new(0.8, 0.6, 0.0) * away * if bones == 2 { 1.0 } else { 0.7 };
        let chain = Chain { root, end, target, iterations: 200, tolerance: 1e-4, alpha: 1.0 };
        fabrik(&rig, &mut pose, &chain, None, all);
        let miss = place(&pose, end).distance(target);
        assert!(miss < 2e-3, "{bones} bones miss by {miss}");
        for bone in 0..first {
            assert_eq!(pose.rotation(BoneIndex(bone)), rig.reference().rotation(BoneIndex(bone)));
        }
    }
}
