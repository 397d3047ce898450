//! From poses to palettes: forward kinematics and inverse binds in one pass, eight characters at
//! once, one lane each.

use super::enter;
use super::transpose;
use crate::index::{BoneCount, BoneIndex};
use crate::math::{Lanes, Mat3x4};
use crate::pose::buffer::Pose;
use crate::pose::resolve_table::{BoneOp, NONE, ResolveTable};
use crate::pose::rig::Rig;
use crate::pose::streams::GROUP;
use fearless_simd::prelude::*;
use fearless_simd::{Simd, f32x4, f32x8};

/// Characters in a full batch.
pub const BATCH: usize = 8;

/// Kept matrices: rows of four, one lane per character.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Slot([[f32; BATCH]; 12]);

/// Matrices that later bones read; one per worker, reused for every batch.
#[derive(Clone, Debug, Default)]
pub struct ResolveScratch {
    slots: Vec<Slot>,
}

impl ResolveScratch {
    fn fit(&mut self, slots: usize) {
        if self.slots.len() < slots {
            self.slots.resize(slots, Slot([[0.0; BATCH]; 12]));
        }
    }

    /// Bytes of heap memory.
    pub fn heap_bytes(&self) -> usize {
        self.slots.capacity() * size_of::<Slot>()
    }
}

/// Resolves one to eight poses of a rig, cut at the same bone, into packed palettes.
///
/// `out[i]` receives pose `i`'s palette, written once and in ascending order; it must hold the
/// rig's palette. Bones from `active` on stand where the reference pose has them and follow their
/// animated ancestors. Rotations may have any length that isn't zero. A pose's result does not
/// depend on its neighbours in the batch: missing ones are padded.
///
/// # Errors
/// The lengths of a palette that is too short, or of an empty or overfull batch.
pub fn resolve(
    lanes: Lanes,
    rig: &Rig,
    poses: &[&Pose],
    active: BoneCount,
    scratch: &mut ResolveScratch,
    out: &mut [&mut [Mat3x4]],
) -> Result<(), ResolveError> {
    let table = rig.table();
    let count = poses.len();
    if count == 0 || count > BATCH || out.len() != count {
        return Err(ResolveError::Batch { poses: count, palettes: out.len() });
    }
    for palette in out.iter_mut() {
        let (len, needed) = (palette.len(), table.palette_len());
        let whole = std::mem::take(palette);
        match whole.get_mut(..needed) {
            Some(exact) => *palette = exact,
            None => return Err(ResolveError::Palette { len, needed }),
        }
    }
    scratch.fit(table.slots);
    let active = active.min(rig.bone_count());
    enter!(lanes, scalar(rig, poses, active, scratch, out), simd => {
        if rig.has_scale() {
            vector::<_, true>(simd, rig, poses, active, scratch, out)
        } else {
            vector::<_, false>(simd, rig, poses, active, scratch, out)
        }
    });
    Ok(())
}

/// What can't be resolved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ResolveError {
    /// Not one to eight poses with a palette each.
    #[error("a batch of {poses} poses and {palettes} palettes: expected one to eight of each")]
    Batch {
        /// Number of poses.
        poses: usize,
        /// Number of palettes.
        palettes: usize,
    },
    /// A palette that is too short.
    #[error("a palette of {len} matrices can't hold the rig's {needed}")]
    Palette {
        /// Its length.
        len: usize,
        /// The rig's palette length.
        needed: usize,
    },
}

fn scalar(
    rig: &Rig,
    poses: &[&Pose],
    active: BoneCount,
    scratch: &mut ResolveScratch,
    out: &mut [&mut [Mat3x4]],
) {
    let table = rig.table();
    let slots = &mut scratch.slots;
    for (pose, palette) in poses.iter().zip(out) {
        for (slot, root) in &table.roots {
            store(&mut slots[*slot as usize], root);
        }
        for (bone, op) in table.bones.iter().enumerate() {
            let bone = BoneIndex(bone as u16);
            let local = local_matrix(rig, pose, bone, op, active.contains(bone));
            let walked = multiply(&load(&slots[op.parent_slot as usize]), &local);
            if op.keep_slot != NONE {
                store(&mut slots[op.keep_slot as usize], &walked);
            }
            palette[bone.get()] = follow(table, &walked, op.product);
        }
        for (palette, op) in palette[table.bones.len()..].iter_mut().zip(&table.extras) {
            *palette = follow(table, &load(&slots[op.slot as usize]), op.product);
        }
    }
}

/// One bone's `walk_parent_from_walk_bone`; the reference pose's when it is not active.
fn local_matrix(rig: &Rig, pose: &Pose, bone: BoneIndex, op: &BoneOp, active: bool) -> Mat3x4 {
    let reference = rig.reference();
    let group = bone.get() / GROUP;
    let [x, y, z, w] = if active { pose } else { reference }.rotation(bone);
    let held = active && pose.moved.contains(group);
    let t = if held { pose.translation(bone) } else { op.rest };
    let s = 2.0 / (x * x + y * y + z * z + w * w);
    let (xs, ys, zs) = (x * s, y * s, z * s);
    let (xx, xy, xz) = (x * xs, x * ys, x * zs);
    let (yy, yz, zz) = (y * ys, y * zs, z * zs);
    let (wx, wy, wz) = (w * xs, w * ys, w * zs);
    let mut r = [
        [1.0 - (yy + zz), xy - wz, xz + wy],
        [xy + wz, 1.0 - (xx + zz), yz - wx],
        [xz - wy, yz + wx, 1.0 - (xx + yy)],
    ];
    let t: [f32; 3] = if rig.has_scale() {
        let held = active && pose.scaled.contains(group);
        let scale = if held { pose } else { reference }.scale(bone);
        r.iter_mut().for_each(|row| row.iter_mut().zip(scale).for_each(|(m, s)| *m *= s));
        t
    } else {
        let b = op.origin;
        std::array::from_fn(|i| t[i] - (r[i][0] * b[0] + r[i][1] * b[1] + r[i][2] * b[2]))
    };
    Mat3x4 { rows: std::array::from_fn(|i| [r[i][0], r[i][1], r[i][2], t[i]]) }
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

/// The scalar twin keeps one character's matrix in the first lane.
fn store(slot: &mut Slot, m: &Mat3x4) {
    for (to, from) in slot.0.iter_mut().zip(m.rows.as_flattened()) {
        to[0] = *from;
    }
}

fn load(slot: &Slot) -> Mat3x4 {
    Mat3x4 { rows: std::array::from_fn(|r| std::array::from_fn(|c| slot.0[r * 4 + c][0])) }
}

/// Twelve components of a matrix, one lane per character.
type Wide<S> = [f32x8<S>; 12];

#[inline(always)]
fn vector<S: Simd, const SCALED: bool>(
    simd: S,
    rig: &Rig,
    poses: &[&Pose],
    active: BoneCount,
    scratch: &mut ResolveScratch,
    out: &mut [&mut [Mat3x4]],
) {
    let table = rig.table();
    let reference = rig.reference();
    let slots = &mut scratch.slots[..];
    let splat = |x: f32| f32x8::splat(simd, x);
    // Lanes without a character repeat the first; they are computed and not stored.
    let pose = |lane: usize| poses.get(lane).copied().unwrap_or(poses[0]);
    let rotations: [[&[_]; 4]; BATCH] = std::array::from_fn(|k| pose(k).rotations());

    for (slot, root) in &table.roots {
        for (to, from) in slots[*slot as usize].0.iter_mut().zip(root.rows.as_flattened()) {
            *to = [*from; BATCH];
        }
    }
    let mut turns = [[splat(0.0); 4]; GROUP];
    let mut moves = [[splat(0.0); 3]; GROUP];
    let mut sizes = [[splat(1.0); 3]; GROUP];
    for (group, ops) in table.bones.chunks(GROUP).enumerate() {
        let first = group * GROUP;
        let awake = first < active.get();
        let moved = awake && poses.iter().any(|p| p.moved.contains(group));
        let scaled = SCALED && awake && poses.iter().any(|p| p.scaled.contains(group));
        if awake {
            for c in 0..4 {
                let rows = std::array::from_fn(|k| rotations[k][c][group / 2].group(group));
                for (to, v) in turns.iter_mut().zip(transpose::square(simd, rows)) {
                    to[c] = v;
                }
            }
        }
        if moved {
            let from: [_; BATCH] = std::array::from_fn(|k| {
                let p = pose(k);
                if p.moved.contains(group) { p } else { reference }.translations()
            });
            for c in 0..3 {
                let rows = std::array::from_fn(|k| from[k][c][group / 2].group(group));
                for (to, v) in moves.iter_mut().zip(transpose::square(simd, rows)) {
                    to[c] = v;
                }
            }
        }
        if SCALED {
            let from: [_; BATCH] = std::array::from_fn(|k| {
                let p = pose(k);
                if scaled && p.scaled.contains(group) { p } else { reference }.scales()
            });
            for c in 0..3 {
                let rows = std::array::from_fn(|k| from[k][c][group / 2].group(group));
                for (to, v) in sizes.iter_mut().zip(transpose::square(simd, rows)) {
                    to[c] = v;
                }
            }
        }
        for (at, op) in ops.iter().enumerate() {
            let bone = BoneIndex((first + at) as u16);
            let alive = active.contains(bone);
            let q = if alive { turns[at] } else { reference.rotation(bone).map(splat) };
            let t = if alive && moved { moves[at] } else { op.rest.map(splat) };
            let s = if alive || !SCALED { sizes[at] } else { reference.scale(bone).map(splat) };
            let local = wide_local::<S, SCALED>(simd, q, t, s, op);
            let parent = &slots[op.parent_slot as usize].0;
            let walked = wide_multiply(simd, parent, &local);
            if op.keep_slot != NONE {
                for (to, from) in slots[op.keep_slot as usize].0.iter_mut().zip(&walked) {
                    from.store_array(to);
                }
            }
            let palette = wide_follow(simd, table, &walked, op.product);
            wide_store(simd, &palette, bone.get(), out);
        }
    }
    for (at, op) in table.extras.iter().enumerate() {
        let walked = slots[op.slot as usize].0.each_ref().map(|v| f32x8::load_array_ref(simd, v));
        let palette = wide_follow(simd, table, &walked, op.product);
        wide_store(simd, &palette, table.bones.len() + at, out);
    }
}

#[inline(always)]
fn wide_local<S: Simd, const SCALED: bool>(
    simd: S,
    [x, y, z, w]: [f32x8<S>; 4],
    t: [f32x8<S>; 3],
    s: [f32x8<S>; 3],
    op: &BoneOp,
) -> Wide<S> {
    let one = f32x8::splat(simd, 1.0);
    let n = x * x;
    let n = y.mul_add(y, n);
    let n = z.mul_add(z, n);
    let n = w.mul_add(w, n);
    let k = f32x8::splat(simd, 2.0) / n;
    let (xs, ys, zs) = (x * k, y * k, z * k);
    let (xx, yy, zz) = (x * xs, y * ys, z * zs);
    let (xy, xz, yz) = (x * ys, x * zs, y * zs);
    let (wx, wy, wz) = (w * xs, w * ys, w * zs);
    let mut m = [
        one - (yy + zz),
        xy - wz,
        xz + wy,
        t[0],
        xy + wz,
        one - (xx + zz),
        yz - wx,
        t[1],
        xz - wy,
        yz + wx,
        one - (xx + yy),
        t[2],
    ];
    for row in 0..3 {
        let r = row * 4;
        if SCALED {
            for c in 0..3 {
                m[r + c] *= s[c];
            }
        } else {
            let b = op.origin.map(|b| f32x8::splat(simd, b));
            let turned = m[r] * b[0];
            let turned = m[r + 1].mul_add(b[1], turned);
            m[r + 3] -= m[r + 2].mul_add(b[2], turned);
        }
    }
    m
}

#[inline(always)]
fn wide_multiply<S: Simd>(simd: S, a: &[[f32; BATCH]; 12], b: &Wide<S>) -> Wide<S> {
    let mut out = [f32x8::splat(simd, 0.0); 12];
    for r in (0..12).step_by(4) {
        let a: [f32x8<S>; 4] = std::array::from_fn(|c| f32x8::load_array_ref(simd, &a[r + c]));
        for c in 0..4 {
            let sum = if c == 3 { a[0].mul_add(b[c], a[3]) } else { a[0] * b[c] };
            let sum = a[1].mul_add(b[4 + c], sum);
            out[r + c] = a[2].mul_add(b[8 + c], sum);
        }
    }
    out
}

#[inline(always)]
fn wide_follow<S: Simd>(simd: S, table: &ResolveTable, walked: &Wide<S>, product: u16) -> Wide<S> {
    let Some(product) = table.products.get(product as usize) else { return *walked };
    let mut out = *walked;
    for r in (0..12).step_by(4) {
        for c in 0..4 {
            let k = |row: usize| f32x8::splat(simd, product.rows[row][c]);
            let sum =
                if c == 3 { walked[r].mul_add(k(0), walked[r + 3]) } else { walked[r] * k(0) };
            let sum = walked[r + 1].mul_add(k(1), sum);
            out[r + c] = walked[r + 2].mul_add(k(2), sum);
        }
    }
    out
}

/// Turns one matrix of eight characters into eight packed matrices.
#[inline(always)]
fn wide_store<S: Simd>(simd: S, m: &Wide<S>, at: usize, out: &mut [&mut [Mat3x4]]) {
    let row = |r: usize| transpose::blocks(simd, [m[r], m[r + 1], m[r + 2], m[r + 3]]);
    let rows = [row(0), row(4), row(8)];
    for (lane, palette) in out.iter_mut().enumerate() {
        for (to, row) in palette[at].rows.iter_mut().zip(&rows) {
            let (low, high): (f32x4<S>, f32x4<S>) = row[lane % 4].split();
            if lane < 4 { low } else { high }.store_array(to);
        }
    }
}
