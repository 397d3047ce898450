//! One character after the other, one number at a time.

use super::{ResolveScratch, Slot};
use crate::index::{BoneCount, BoneIndex};
use crate::math::Mat3x4;
use crate::pose::buffer::Pose;
use crate::pose::resolve_table::{BoneOp, NONE, ResolveTable};
use crate::pose::rig::Rig;
use crate::pose::streams::GROUP;

/// A matrix, and its rotation where the class has one.
type Walked = (Mat3x4, [f32; 4]);

/// See [`super::resolve`].
pub(super) fn resolve(
    (rig, table): (&Rig, &ResolveTable),
    poses: &[&Pose],
    active: BoneCount,
    scratch: &mut ResolveScratch,
    out: &mut [&mut [Mat3x4]],
) {
    let slots = &mut scratch.slots;
    for (pose, palette) in poses.iter().zip(out) {
        for root in &table.roots {
            store(&mut slots[root.slot as usize], &(root.matrix, root.rotation));
        }
        for (bone, op) in table.bones.iter().enumerate() {
            let bone = BoneIndex(bone as u16);
            let parent = load(&slots[op.parent_slot as usize]);
            let walked = match rig.has_scale() {
                true => (general(rig, pose, bone, op, active, &parent.0), [0.0; 4]),
                false => relative(rig, pose, bone, op, active, &parent),
            };
            if op.keep_slot != NONE {
                store(&mut slots[op.keep_slot as usize], &walked);
            }
            palette[bone.get()] = follow(table, &walked.0, op.product);
        }
        for (palette, op) in palette[table.bones.len()..].iter_mut().zip(&table.extras) {
            *palette = follow(table, &load(&slots[op.slot as usize]).0, op.product);
        }
    }
}

fn relative(
    rig: &Rig,
    pose: &Pose,
    bone: BoneIndex,
    op: &BoneOp,
    active: BoneCount,
    (parent, p): &Walked,
) -> Walked {
    let alive = active.contains(bone);
    let q = if alive { pose } else { rig.reference() }.rotation(bone);
    let held = alive && pose.moved.contains(bone.get() / GROUP);
    let u = if held { pose.translation(bone) } else { op.rest };
    let q = [
        p[3] * q[0] + p[0] * q[3] + p[1] * q[2] - p[2] * q[1],
        p[3] * q[1] + p[1] * q[3] + p[2] * q[0] - p[0] * q[2],
        p[3] * q[2] + p[2] * q[3] + p[0] * q[1] - p[1] * q[0],
        p[3] * q[3] - p[0] * q[0] - p[1] * q[1] - p[2] * q[2],
    ];
    let r = rotation(q, op.scale);
    let joint = parent.transform_point(u.into()).to_array();
    let b = op.minus_origin;
    let rows = std::array::from_fn(|i| {
        let [x, y, z] = r[i];
        [x, y, z, joint[i] + x * b[0] + y * b[1] + z * b[2]]
    });
    (Mat3x4 { rows }, q)
}

fn general(
    rig: &Rig,
    pose: &Pose,
    bone: BoneIndex,
    op: &BoneOp,
    active: BoneCount,
    parent: &Mat3x4,
) -> Mat3x4 {
    let alive = active.contains(bone);
    let (reference, group) = (rig.reference(), bone.get() / GROUP);
    let q = if alive { pose } else { reference }.rotation(bone);
    let t = if alive && pose.moved.contains(group) { pose.translation(bone) } else { op.rest };
    let held = alive && pose.scaled.contains(group);
    let s = if held { pose } else { reference }.scale(bone);
    let r = rotation(q, 1.0);
    let row = |i: usize| [r[i][0] * s[0], r[i][1] * s[1], r[i][2] * s[2], t[i]];
    multiply(parent, &Mat3x4 { rows: [row(0), row(1), row(2)] })
}

/// The matrix of a quaternion of any length but zero, times a scale.
fn rotation([x, y, z, w]: [f32; 4], scale: f32) -> [[f32; 3]; 3] {
    let k = (scale + scale) / (x * x + y * y + z * z + w * w);
    let (xs, ys, zs) = (x * k, y * k, z * k);
    let (wx, wy, wz) = (w * xs, w * ys, w * zs);
    [
        [scale - (y * ys + z * zs), x * ys - wz, x * zs + wy],
        [x * ys + wz, scale - (x * xs + z * zs), y * zs - wx],
        [x * zs - wy, y * zs + wx, scale - (x * xs + y * ys)],
    ]
}

fn multiply(a: &Mat3x4, b: &Mat3x4) -> Mat3x4 {
    let b = &b.rows;
    Mat3x4 {
        rows: a.rows.map(|a| {
            let dot = |c: usize| a[0] * b[0][c] + a[1] * b[1][c] + a[2] * b[2][c];
            [dot(0), dot(1), dot(2), dot(3) + a[3]]
        }),
    }
}

fn follow(table: &ResolveTable, walked: &Mat3x4, product: u16) -> Mat3x4 {
    match table.products.get(product as usize) {
        Some(product) => multiply(walked, product),
        None => *walked,
    }
}

/// The scalar twin keeps one character in the first lane.
fn store(slot: &mut Slot, (matrix, rotation): &Walked) {
    for (to, from) in slot.matrix.as_flattened_mut().iter_mut().zip(matrix.rows.as_flattened()) {
        to[0] = *from;
    }
    for (to, from) in slot.rotation.iter_mut().zip(rotation) {
        to[0] = *from;
    }
}

fn load(slot: &Slot) -> Walked {
    let rows = std::array::from_fn(|r| std::array::from_fn(|c| slot.matrix[r][c][0]));
    (Mat3x4 { rows }, slot.rotation.map(|lanes| lanes[0]))
}
