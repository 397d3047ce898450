//! Small characters whose motion is known exactly.

use glam::{Affine3A, Quat, Vec3};
use std::sync::Arc;
use throng::crowd::CrowdKind;
use throng::index::{BoneCount, BoneIndex};
use throng::math::{Bounds, Trs};
use throng::pose::skeleton::SkeletonParts;
use throng::pose::{PaletteEntry, Rig, Skeleton, UniformClip};

/// Metres a second of the walk.
pub const WALK_SPEED: f32 = 1.4;
pub const RATE: f32 = 30.0;
pub const LEFT_FOOT: usize = 4;

const BONES: [(&str, Option<u16>, [f32; 3]); 6] = [
    ("root", None, [0.0, 0.0, 0.0]),
    ("hips", Some(0), [0.0, 0.9, 0.0]),
    ("head", Some(1), [0.0, 0.7, 0.0]),
    ("hand", Some(2), [0.35, -0.5, 0.0]),
    ("foot.l", Some(1), [0.1, -0.9, 0.0]),
    ("foot.r", Some(1), [-0.1, -0.9, 0.0]),
];

fn skeleton() -> Skeleton {
    let rest: Vec<Trs> = BONES
        .iter()
        .map(|(_, _, t)| Trs { translation: Vec3::from_array(*t), ..Trs::IDENTITY })
        .collect();
    let parents: Vec<_> = BONES.iter().map(|(_, p, _)| p.map(BoneIndex)).collect();
    let parts = |palette| SkeletonParts {
        names: BONES.iter().map(|(n, _, _)| n.to_string()).collect(),
        parents: parents.clone(),
        rest: rest.clone(),
        model_from_root_parent: vec![Affine3A::IDENTITY; BONES.len()],
        palette,
        low_detail_bone_count: BoneCount(3),
    };
    let entry =
        |bone: usize, m: Affine3A| PaletteEntry { bone: BoneIndex(bone as u16), bone_from_mesh: m };
    let unbound = (0..BONES.len()).map(|b| entry(b, Affine3A::IDENTITY)).collect();
    let model = Skeleton::new(parts(unbound)).unwrap().model_from_bone(&rest);
    let bound = model.iter().enumerate().map(|(b, m)| entry(b, m.inverse())).collect();
    Skeleton::new(parts(bound)).unwrap()
}

fn clip(name: &str, seconds: f32, pose: impl Fn(f32, &mut [Trs])) -> UniformClip {
    let frame_count = (seconds * RATE).round() as usize + 1;
    let rest = skeleton().rest().to_vec();
    let locals = (0..frame_count).flat_map(|f| {
        let mut locals = rest.clone();
        pose(f as f32 / RATE, &mut locals);
        locals
    });
    let locals = locals.collect();
    UniformClip { name: name.into(), rate_hz: RATE, frame_count, locals, max_error_m: 0.0 }
}

/// Sways; ends as it began.
pub fn idle() -> UniformClip {
    clip("idle", 2.0, |t, locals| {
        let angle = (t * std::f32::consts::PI).sin() * 0.1;
        locals[1].rotation = Quat::from_rotation_z(angle);
    })
}

/// Lifts a hand and lets it down again.
pub fn wave() -> UniformClip {
    clip("wave", 1.0, |t, locals| {
        let angle = (t * std::f32::consts::TAU).sin() * 0.8;
        locals[3].translation += Vec3::Y * 0.3 * angle.abs();
        locals[2].rotation = Quat::from_rotation_y(angle);
    })
}

/// Walks forward; the left foot stands still on the ground in the clip's first half.
pub fn walk() -> UniformClip {
    clip("walk_fwd", 1.0, |t, locals| {
        locals[0].translation.z = WALK_SPEED * t;
        // Triangle wave: against the body in the first half, forward in the second.
        let swing = |t: f32| if t < 0.5 { 0.25 - t } else { t - 0.75 };
        locals[LEFT_FOOT].translation.z = WALK_SPEED * swing(t);
        locals[5].translation.z = WALK_SPEED * swing((t + 0.5) % 1.0);
    })
}

/// Turns a quarter to the left on the spot.
pub fn turn() -> UniformClip {
    clip("turn_left", 1.0, |t, locals| {
        locals[0].rotation = Quat::from_rotation_y(t * std::f32::consts::FRAC_PI_2);
    })
}

/// A character of those clips. Its bounds are generous.
pub fn kind(name: &str, clips: &[UniformClip]) -> CrowdKind {
    let rig = Rig::new(skeleton(), clips).unwrap();
    let corners = [Vec3::new(-0.5, 0.0, -0.6), Vec3::new(0.5, 2.0, 2.2)];
    CrowdKind::new(name, Arc::new(rig), Bounds::of_points(corners.into_iter()))
}

/// Idles and waves on the spot.
pub fn stander() -> CrowdKind {
    kind("stander", &[idle(), wave()])
}

/// Has a clip of each sort.
pub fn person() -> CrowdKind {
    kind("person", &[idle(), wave(), walk(), turn()])
}
