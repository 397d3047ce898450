//! Solvers in double precision, for skeletons whose scales are uniform and positive.

use super::super::Character;
use super::weight;
use crate::index::BoneIndex;
use crate::pose::GroundPatch;
use crate::pose::kernels::ik::fabrik::Chain;
use crate::pose::kernels::ik::foot::Ground;
use crate::pose::kernels::ik::look_at::Gaze;
use crate::pose::kernels::ik::stand::Stance;
use crate::pose::kernels::ik::two_bone::{Limb, Reach};
use crate::pose::testing::DTrs;
use glam::{DAffine3, DMat3, DQuat, DVec3, Vec3};

/// The matrix of what a bone hangs on.
pub(in crate::task::tests) fn above(c: &Character, pose: &[DTrs], bone: BoneIndex) -> DAffine3 {
    match c.skeleton.parents()[bone.get()] {
        Some(parent) => model(c, pose, parent),
        None => c.skeleton.model_from_root_parent(bone).as_daffine3(),
    }
}

fn model(c: &Character, pose: &[DTrs], bone: BoneIndex) -> DAffine3 {
    let local = &pose[bone.get()];
    let local = DAffine3::from_scale_rotation_translation(
        local.scale,
        local.rotation.normalize(),
        local.translation,
    );
    above(c, pose, bone) * local
}

fn place(c: &Character, pose: &[DTrs], bone: BoneIndex) -> DVec3 {
    model(c, pose, bone).translation
}

fn rotation(m: &DAffine3) -> DQuat {
    let m = m.matrix3;
    let unit = [m.x_axis, m.y_axis, m.z_axis].map(DVec3::normalize);
    DQuat::from_mat3(&DMat3::from_cols(unit[0], unit[1], unit[2])).normalize()
}

/// Turns a bone by a rotation in model space.
fn turn(c: &Character, pose: &mut [DTrs], bone: BoneIndex, by: DQuat) {
    let frame = rotation(&above(c, pose, bone));
    let local = frame.conjugate() * by * frame;
    let bone = &mut pose[bone.get()];
    bone.rotation = (local * bone.rotation.normalize()).normalize();
}

fn arc(from: DVec3, to: DVec3) -> DQuat {
    if from.length() < 1e-12 || to.length() < 1e-12 {
        return DQuat::IDENTITY;
    }
    DQuat::from_rotation_arc(from.normalize(), to.normalize())
}

fn fade(pose: &mut [DTrs], before: &[DTrs], bone: BoneIndex, alpha: f64) {
    let was = before[bone.get()].rotation.normalize();
    let is = pose[bone.get()].rotation;
    let is = if was.dot(is) < 0.0 { -is } else { is };
    pose[bone.get()].rotation = (was * (1.0 - alpha) + is * alpha).normalize();
}

/// The bones from `bone` up to `root`; `None` when they do not hang on one another.
fn path(c: &Character, bone: BoneIndex, root: BoneIndex) -> Option<Vec<BoneIndex>> {
    let parents = c.skeleton.parents();
    let mut path = vec![bone];
    while path[path.len() - 1] != root {
        path.push((*parents.get(path[path.len() - 1].get())?)?);
    }
    Some(path)
}

/// False when there is nothing to do.
pub(super) fn two_bone(
    c: &Character,
    pose: &mut [DTrs],
    limb: Limb,
    reach: &Reach,
    active: usize,
) -> bool {
    let Limb { root, mid, end } = limb;
    let alpha = weight(reach.alpha);
    let chained = path(c, end, mid).is_some() && path(c, mid, root).is_some();
    let apart = end != mid && mid != root;
    let awake = [root, mid, end].iter().all(|b| b.get() < active);
    if !chained || !apart || !awake || !reach.target.is_finite() || alpha == 0.0 {
        return false;
    }
    let before = pose.to_vec();
    let [a, b, e] = [root, mid, end].map(|bone| place(c, pose, bone));
    let (upper, lower) = (a.distance(b), b.distance(e));
    let length = upper + lower;
    let target = reach.target.as_dvec3();
    let along = (target - a).normalize();
    let soft = weight(reach.soften) * length;
    let mut distance = a.distance(target);
    if soft > 0.0 && distance > length - soft {
        distance = length - soft * (-(distance - (length - soft)) / soft).exp();
    }
    let distance = distance.clamp((upper - lower).abs(), length);
    let aside = |v: DVec3| {
        let v = v - along * v.dot(along);
        (v.length() > 1e-4 * length).then(|| v.normalize())
    };
    let pole = reach.pole.is_finite().then(|| reach.pole.as_dvec3() - a).and_then(aside);
    let bend = pole.or(aside(b - a)).unwrap_or_else(|| along.any_orthonormal_vector());
    // The law of cosines.
    let cosine = (upper.powi(2) + distance.powi(2) - lower.powi(2)) / (2.0 * upper * distance);
    let angle = cosine.clamp(-1.0, 1.0).acos();
    let knee = a + upper * (along * angle.cos() + bend * angle.sin());
    turn(c, pose, root, arc(b - a, knee - a));
    let (b, e) = (place(c, pose, mid), place(c, pose, end));
    turn(c, pose, mid, arc(e - b, a + along * distance - b));
    fade(pose, &before, root, alpha);
    fade(pose, &before, mid, alpha);
    true
}

pub(super) fn look_at(c: &Character, pose: &mut [DTrs], gaze: &Gaze, active: usize) {
    let Gaze { bone, forward, target, limit, alpha } = *gaze;
    let alpha = weight(alpha);
    if bone.get() >= active || !target.is_finite() || alpha == 0.0 {
        return;
    }
    let before = pose.to_vec();
    let here = model(c, pose, bone);
    let looks = here.transform_vector3(forward.as_dvec3());
    let full = arc(looks, target.as_dvec3() - here.translation);
    let (axis, angle) = full.to_axis_angle();
    let limit = if limit.is_nan() { f64::INFINITY } else { f64::from(limit).max(0.0) };
    turn(c, pose, bone, DQuat::from_axis_angle(axis, angle.min(limit)));
    fade(pose, &before, bone, alpha);
}

fn foot(c: &Character, pose: &mut [DTrs], leg: Limb, ground: &Ground, active: usize) {
    let alpha = weight(ground.alpha);
    let finite = ground.offset.is_finite() && ground.normal.is_finite();
    if leg.end.get() >= active || !finite || alpha == 0.0 {
        return;
    }
    let before = pose.to_vec();
    let ankle = model(c, pose, leg.end);
    let target = (ankle.translation + ground.offset.as_dvec3()).as_vec3();
    let reach = Reach { target, pole: Vec3::NAN, soften: 0.0, alpha: ground.alpha };
    if !two_bone(c, pose, leg, &reach, active) {
        return;
    }
    let carried = rotation(&model(c, pose, leg.end));
    let level = rotation(&ankle) * carried.conjugate();
    turn(c, pose, leg.end, arc(DVec3::Y, ground.normal.as_dvec3()) * level);
    fade(pose, &before, leg.end, alpha);
}

/// The ground's height over the level plane and its slope, at an offset from the origin.
fn ground_at(ground: &GroundPatch, x: f64, z: f64) -> (f64, f64, f64) {
    let (slope, bend) = (ground.slope.as_dvec2(), ground.bend.as_dvec3());
    let height = slope.x * x
        + slope.y * z
        + 0.5 * bend.x * x.powi(2)
        + bend.y * x * z
        + 0.5 * bend.z * z.powi(2);
    (height, slope.x + bend.x * x + bend.y * z, slope.y + bend.y * x + bend.z * z)
}

pub(super) fn stand(
    c: &Character,
    pose: &mut [DTrs],
    stance: &Stance,
    ground: &GroundPatch,
    active: usize,
) {
    let Stance { hips, legs, alpha } = *stance;
    let alpha = weight(alpha);
    let mut bones = legs.iter().flat_map(|leg| [leg.root, leg.mid, leg.end]).chain([hips]);
    let below = |bone, top| bone != top && path(c, bone, top).is_some();
    let hangs =
        |leg: &Limb| below(leg.root, hips) && below(leg.mid, leg.root) && below(leg.end, leg.mid);
    if alpha == 0.0 || bones.any(|b| b.get() >= active) || !legs.iter().all(hangs) {
        return;
    }
    let before = pose.to_vec();
    let origin = ground.origin.as_dvec3();
    let mut lowest = 0.0_f64;
    let targets = legs.map(|leg| {
        let [hip, knee, ankle] = [leg.root, leg.mid, leg.end].map(|b| place(c, &before, b));
        let length = hip.distance(knee) + knee.distance(ankle);
        let height = ankle.y - origin.y;
        let mut children = (0..active).filter(|b| c.skeleton.parents()[*b] == Some(leg.end));
        let child = children.next().and_then(|b| BoneIndex::try_from(b).ok());
        let middle = child.map_or(ankle, |b| 0.5 * (ankle + place(c, &before, b)));
        let (rise, along_x, along_z) = ground_at(ground, middle.x - origin.x, middle.z - origin.z);
        // From a quarter of the leg to three quarters.
        let stands = alpha * ((0.75 - height / length) / 0.5).clamp(0.0, 1.0);
        let normal = DVec3::new(-stands * along_x, 1.0, -stands * along_z).normalize();
        let level = DVec3::new(middle.x, origin.y, middle.z);
        let target = level + DVec3::Y * alpha * rise + arc(DVec3::Y, normal) * (ankle - level);
        let reach = hip.distance(ankle).max(0.985 * length);
        let flat = DVec3::new(hip.x - target.x, 0.0, hip.z - target.z).length();
        let highest_hip = target.y + (reach.powi(2) - flat.powi(2)).max(0.0).sqrt();
        lowest = lowest.min((highest_hip - hip.y).max(-0.5 * length));
        (target, normal)
    });
    let above = above(c, pose, hips);
    let there = above.transform_point3(pose[hips.get()].translation) + DVec3::Y * lowest;
    pose[hips.get()].translation = above.inverse().transform_point3(there);
    for (leg, (target, normal)) in legs.into_iter().zip(targets) {
        let ankle = place(c, &before, leg.end) + DVec3::Y * lowest;
        let offset = (target - ankle).as_vec3();
        foot(c, pose, leg, &Ground { offset, normal: normal.as_vec3(), alpha: 1.0 }, active);
    }
}

pub(super) fn fabrik(
    c: &Character,
    pose: &mut [DTrs],
    chain: &Chain,
    weights: Option<&[f32]>,
    active: usize,
) {
    let alpha = weight(chain.alpha);
    let Some(mut bones) = path(c, chain.end, chain.root) else { return };
    bones.reverse();
    let awake = bones.iter().all(|b| b.get() < active);
    if !awake || bones.len() < 2 || !chain.target.is_finite() || alpha == 0.0 {
        return;
    }
    let before = pose.to_vec();
    let start: Vec<DVec3> = bones.iter().map(|b| place(c, pose, *b)).collect();
    let freedom: Vec<f64> = bones
        .iter()
        .map(|b| weights.map_or(1.0, |w| w.get(b.get()).map_or(1.0, |w| weight(*w))))
        .collect();
    let end = reached(&start, &freedom, chain);
    for at in 0..bones.len() - 1 {
        let (here, next) = (place(c, pose, bones[at]), place(c, pose, bones[at + 1]));
        turn(c, pose, bones[at], arc(next - here, end[at + 1] - here));
    }
    bones[..bones.len() - 1].iter().for_each(|b| fade(pose, &before, *b, alpha));
}

/// Where the joints of a chain go.
fn reached(start: &[DVec3], freedom: &[f64], chain: &Chain) -> Vec<DVec3> {
    let target = chain.target.as_dvec3();
    let (root, last) = (start[0], start.len() - 1);
    let bone = |at: usize| start[at + 1] - start[at];
    let length = |at: usize| bone(at).length();
    let total: f64 = (0..last).map(length).sum();
    let along = (target - root).normalize();
    let mut points = start.to_vec();
    let free = freedom[..last].iter().all(|w| *w >= 1.0);
    if free && root.distance(target) >= total {
        for at in 0..last {
            points[at + 1] = points[at] + along * length(at);
        }
        return points;
    }
    let near =
        |points: &[DVec3]| points[last].distance(target) <= f64::from(chain.tolerance).max(0.0);
    if chain.iterations == 0 || near(&points) {
        return points;
    }
    if points.iter().all(|p| (*p - root).cross(along).length() < 1e-4 * total) {
        let aside = along.any_orthonormal_vector() * 1e-2 * total;
        points[1..last].iter_mut().for_each(|p| *p += aside);
    }
    for _ in 0..chain.iterations {
        points[last] = target;
        for at in (0..last).rev() {
            let direction = (points[at] - points[at + 1]).normalize_or(DVec3::Y);
            points[at] = points[at + 1] + direction * length(at);
        }
        points[0] = root;
        let mut carried = DQuat::IDENTITY;
        for at in 0..last {
            let rigid = carried * bone(at);
            let full = arc(rigid, points[at + 1] - points[at]);
            let turn = DQuat::IDENTITY.slerp(full, freedom[at]);
            points[at + 1] = points[at] + turn * rigid;
            carried = turn * carried;
        }
        if near(&points) {
            break;
        }
    }
    points
}
