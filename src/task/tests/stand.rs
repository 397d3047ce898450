//! Two feet on ground that is not level.

use super::*;
use crate::index::BoneIndex;
use crate::math::Trs;
use crate::pose::kernels::ik::stand::Stance;
use crate::pose::kernels::ik::two_bone::Limb;
use crate::pose::skeleton::SkeletonParts;
use crate::pose::{GroundPatch, PaletteEntry};
use glam::{Affine3A, Quat, Vec2, Vec3};

/// Root, hips, and of each leg thigh, shin, foot and toes.
const PARENTS: [Option<u16>; 10] =
    [None, Some(0), Some(1), Some(2), Some(3), Some(4), Some(1), Some(6), Some(7), Some(8)];
const LEFT: Limb = Limb { root: BoneIndex(2), mid: BoneIndex(3), end: BoneIndex(4) };
const RIGHT: Limb = Limb { root: BoneIndex(6), mid: BoneIndex(7), end: BoneIndex(8) };
const STANCE: Stance = Stance { hips: BoneIndex(1), legs: [LEFT, RIGHT], alpha: 1.0 };
/// Height of the ankles, model units.
const ANKLE: f32 = 0.08;

/// Somebody whose knees are bent by twice `bend` radians, ankles `apart` in front of and behind the
/// hips, on the plane y = 0.
fn biped(bend: f32, apart: f32) -> Character {
    let turn = Quat::from_rotation_x;
    let at = |x, y, z, rotation| Trs { translation: Vec3::new(x, y, z), rotation, ..Trs::IDENTITY };
    let leg = |side: f32| {
        [
            at(0.1 * side, 0.0, apart * side, turn(-bend)),
            at(0.0, -0.4, 0.0, turn(2.0 * bend)),
            at(0.0, -0.4, 0.0, turn(-bend)),
            at(0.0, -ANKLE, 0.15, Quat::IDENTITY),
        ]
    };
    let hips = ANKLE + 0.8 * bend.cos();
    let mut rest = vec![Trs::IDENTITY, at(0.0, hips, 0.0, Quat::IDENTITY)];
    rest.extend(leg(1.0).into_iter().chain(leg(-1.0)));
    let entry = |b| PaletteEntry { bone: BoneIndex(b), bone_from_mesh: Affine3A::IDENTITY };
    let skeleton = Skeleton::new(SkeletonParts {
        names: (0..10).map(|b| b.to_string()).collect(),
        parents: PARENTS.map(|p| p.map(BoneIndex)).to_vec(),
        rest,
        model_from_root_parent: vec![Affine3A::IDENTITY; 10],
        palette: (0..10).map(entry).collect(),
        low_detail_bone_count: BoneCount(10),
    })
    .unwrap();
    Character { rig: Rig::new(skeleton.clone(), &[]).unwrap(), skeleton, clips: Vec::new() }
}

/// Each bone's model matrix.
fn stood(c: &Character, stance: Stance, ground: Option<GroundPatch>) -> Vec<Affine3A> {
    let mut list = TaskList::default();
    let source = list.push(Task::ReferencePose).unwrap();
    let output = list.push(Task::FootIk { source, stance }).unwrap();
    list.set_output(output).unwrap();
    list.set_ground(ground);
    let mut worker = Worker::new(WorkerOptions::default());
    let mut palette = vec![Mat3x4::IDENTITY; c.rig.palette_len()];
    let mut batch = worker.batch();
    batch.execute(&c.rig, &mut list, &mut palette).unwrap();
    batch.finish();
    (0..10).map(|b| c.rig.model_from_bone(&palette, BoneIndex(b)).unwrap()).collect()
}

fn slope(x: f32, z: f32) -> GroundPatch {
    GroundPatch { origin: Vec3::ZERO, slope: Vec2::new(x, z), bend: Vec3::ZERO }
}

/// A point's distance from sloping ground.
fn above(ground: &GroundPatch, point: Vec3) -> f32 {
    let normal = Vec3::new(-ground.slope.x, 1.0, -ground.slope.y).normalize();
    (point - ground.origin).dot(normal)
}

#[test]
fn heel_and_toes_of_both_feet_are_on_a_slope_and_the_hips_come_down_for_the_lower_one() {
    for bend in [0.0, 0.1, 0.5] {
        for apart in [0.0, 0.15] {
            let c = biped(bend, apart);
            let level = stood(&c, STANCE, None);
            for ground in [slope(0.25, 0.0), slope(-0.2, 0.1), slope(0.0, 0.28), slope(0.1, -0.25)]
            {
                let on = stood(&c, STANCE, Some(ground));
                for (foot, toes) in [(4, 5), (8, 9)] {
                    let heel = on[foot].transform_point3(Vec3::new(0.0, -ANKLE, -0.05));
                    let ball = Vec3::from(on[toes].translation);
                    for point in [heel, ball] {
                        let off = above(&ground, point);
                        assert!(off.abs() < 1e-3, "{bend} {apart} {ground:?}: {off}");
                    }
                    // The foothold is below the middle of the foot.
                    let middle = |pose: &[Affine3A]| {
                        pose[foot].transform_point3(Vec3::new(0.0, -ANKLE, 0.075))
                    };
                    let shift = (middle(&on) - middle(&level)) * (Vec3::X + Vec3::Z);
                    assert!(shift.length() < 1e-3, "{shift}");
                }
                let lowered = level[1].translation.y - on[1].translation.y;
                assert!((0.0..0.1).contains(&lowered), "{lowered}");
                // Straight legs don't reach down without it, bent ones do.
                assert!(bend > 0.0 || lowered > 0.002, "{ground:?} {lowered}");
                assert!(bend < 0.5 || lowered == 0.0, "{ground:?} {lowered}");
            }
        }
    }
}

#[test]
fn level_ground_and_no_ground_leave_the_pose_and_so_do_bones_that_do_not_hang_together() {
    let c = biped(0.2, 0.1);
    let before = stood(&c, STANCE, None);
    let same = |after: &[Affine3A]| before.iter().zip(after).all(|(a, b)| a.abs_diff_eq(*b, 1e-5));
    assert!(same(&stood(&c, STANCE, Some(slope(0.0, 0.0)))));
    let ground = Some(slope(0.2, 0.1));
    assert!(!same(&stood(&c, STANCE, ground)));
    assert!(same(&stood(&c, Stance { alpha: 0.0, ..STANCE }, ground)));
    for hips in [BoneIndex(2), BoneIndex(5), BoneIndex(77)] {
        assert!(same(&stood(&c, Stance { hips, ..STANCE }, ground)), "{hips:?}");
    }
    let astray = Limb { end: BoneIndex(99), ..RIGHT };
    assert!(same(&stood(&c, Stance { legs: [LEFT, astray], ..STANCE }, ground)));
}

#[test]
fn half_of_it_stands_on_ground_that_is_half_as_steep() {
    let c = biped(0.3, 0.05);
    let half = stood(&c, Stance { alpha: 0.5, ..STANCE }, Some(slope(0.2, -0.1)));
    let gentle = stood(&c, STANCE, Some(slope(0.1, -0.05)));
    assert!(half.iter().zip(&gentle).all(|(a, b)| a.abs_diff_eq(*b, 1e-5)));
}

#[test]
fn a_foot_in_the_air_is_as_high_above_the_ground_and_forgets_its_slope() {
    let c = biped(0.4, 0.0);
    // The level plane is half a leg below the feet.
    let origin = Vec3::Y * -0.45;
    let ground = GroundPatch { origin, slope: Vec2::new(0.0, 0.2), bend: Vec3::ZERO };
    let (before, after) = (stood(&c, STANCE, None), stood(&c, STANCE, Some(ground)));
    let toes = |p: &[Affine3A]| Vec3::from(p[5].translation - p[4].translation);
    let pitch = toes(&after).angle_between(toes(&before));
    assert!(pitch > 0.01 && pitch < 0.15, "between level and the slope of 0.2: {pitch}");
    assert_eq!(after[1], before[1], "nobody reaches for the ground from the air");
    let high = GroundPatch { origin: Vec3::Y * -0.7, ..ground };
    let after = stood(&c, STANCE, Some(high));
    assert!(toes(&after).angle_between(toes(&before)) < 1e-3);
}
