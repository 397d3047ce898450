//! Eight characters at once, one lane each.
//!
//! Poses hold one lane per bone. A chunk of bones at a time, the batch's poses are transposed to
//! one lane per character; the walk then runs over bones in palette order, and every matrix is
//! transposed once more into the eight palettes, each of which is written once and ascending.
//!
//! What bounds the walk is the latency from a parent's rotation to its child's matrix, of which the
//! processor can hold less than two bones at once. So rotations are worked out one bone ahead of
//! matrices, and two rows of a matrix go out in one store.

use super::{BATCH, CHUNK, Chunk, ResolveScratch, Slot};
use crate::index::BoneCount;
use crate::math::Mat3x4;
use crate::pose::buffer::Pose;
use crate::pose::kernels::quat::{dot, product};
use crate::pose::kernels::transpose;
use crate::pose::resolve_table::{BoneOp, NONE, ResolveTable};
use crate::pose::rig::Rig;
use crate::pose::streams::{GROUP, LINE, Vec3Group};
use fearless_simd::prelude::*;
use fearless_simd::{Simd, f32x4, f32x8};

/// One component of the eight characters.
type Wide<S> = f32x8<S>;
/// A matrix of each of the eight characters.
type Matrix<S> = [[Wide<S>; 4]; 3];

/// See [`super::resolve`].
#[inline(always)]
pub(super) fn resolve<S: Simd>(
    simd: S,
    (rig, table): (&Rig, &ResolveTable),
    poses: &[&Pose],
    active: BoneCount,
    scratch: &mut ResolveScratch,
    out: &mut [&mut [Mat3x4]],
) {
    let needed = table.palette_len();
    let ResolveScratch { slots, spare, chunk } = scratch;
    let [chunk] = &mut chunk[..] else { return };
    let mut spare = spare.chunks_exact_mut(needed.max(1));
    let mut out = out.iter_mut();
    // Lanes without a character repeat the first one into a spare palette.
    let poses: [&Pose; BATCH] = std::array::from_fn(|k| poses[if k < poses.len() { k } else { 0 }]);
    let palettes: [&mut [Mat3x4]; BATCH] = std::array::from_fn(|_| match out.next() {
        Some(palette) => &mut palette[..needed],
        None => spare.next().unwrap_or_default(),
    });
    let mut walk = Walk { simd, rig, table, poses, active: active.get(), slots, palettes };
    walk.start();
    for (at, ops) in table.bones.chunks(CHUNK).enumerate() {
        walk.load_chunk(at * CHUNK, ops, chunk);
        if rig.has_scale() {
            walk.general(ops, chunk);
        } else {
            walk.relative(ops, chunk);
        }
    }
    walk.extras();
}

struct Walk<'a, S> {
    simd: S,
    rig: &'a Rig,
    table: &'a ResolveTable,
    poses: [&'a Pose; BATCH],
    active: usize,
    slots: &'a mut [Slot],
    palettes: [&'a mut [Mat3x4]; BATCH],
}

/// A bone's rotation, of any length, and what makes a matrix of it.
#[derive(Clone, Copy)]
struct Turn<S: Simd> {
    q: [Wide<S>; 4],
    /// `2 * scale / dot(q, q)`.
    k: Wide<S>,
}

impl<'a, S: Simd> Walk<'a, S> {
    /// Puts what the roots' walks start from into its slots.
    #[inline(always)]
    fn start(&mut self) {
        for root in &self.table.roots {
            let slot = &mut self.slots[root.slot as usize];
            let matrix = slot.matrix.as_flattened_mut().iter_mut();
            for (to, from) in matrix.zip(root.matrix.rows.as_flattened()) {
                *to = [*from; BATCH];
            }
            slot.rotation = root.rotation.map(|x| [x; BATCH]);
        }
    }

    /// Transposes a chunk of bones; those behind the cut come from the reference pose.
    #[inline(always)]
    fn load_chunk(&self, first: usize, ops: &[BoneOp], chunk: &mut Chunk) {
        let reference = self.rig.reference();
        let awake = self.active.saturating_sub(first).min(ops.len());
        for group in 0..awake.div_ceil(GROUP) {
            let at = group * GROUP;
            let group = first / GROUP + group;
            let p = &self.poses;
            let q = |k: usize| &p[k].rotations[group / 2].0;
            let blocks = [q(0), q(1), q(2), q(3), q(4), q(5), q(6), q(7)];
            for c in 0..4 {
                let row = |k: usize| &blocks[k][c].groups()[group % 2];
                let rows = [row(0), row(1), row(2), row(3), row(4), row(5), row(6), row(7)];
                let columns = transpose::square(self.simd, rows);
                for (to, column) in chunk.rotations[at..at + GROUP].iter_mut().zip(columns) {
                    column.store_array(&mut to[c]);
                }
            }
            let held = p.iter().any(|p| p.moved.contains(group));
            chunk.moved[at / GROUP] = held;
            if held {
                self.load_vectors(&mut chunk.translations[at..at + GROUP], |pose| {
                    let held = pose.moved.contains(group);
                    &if held { pose } else { reference }.translations[group]
                });
            }
            if self.rig.has_scale() {
                self.load_vectors(&mut chunk.scales[at..at + GROUP], |pose| {
                    let held = pose.scaled.contains(group);
                    &if held { pose } else { reference }.scales[group]
                });
            }
        }
        for group in awake.div_ceil(GROUP)..ops.len().div_ceil(GROUP) {
            chunk.moved[group] = false;
        }
        for (at, op) in ops.iter().enumerate().skip(awake) {
            let bone = first + at;
            chunk.rotations[at] = reference.rotations[bone / LINE].get(bone).map(|x| [x; BATCH]);
            chunk.translations[at] = op.rest.map(|x| [x; BATCH]);
            if self.rig.has_scale() {
                let scale = reference.scales[bone / GROUP].get(bone);
                chunk.scales[at] = scale.map(|x| [x; BATCH]);
            }
        }
    }

    #[inline(always)]
    fn load_vectors<'p>(
        &'p self,
        out: &mut [[[f32; BATCH]; 3]],
        group: impl Fn(&'p Pose) -> &'p Vec3Group,
    ) {
        let [a, b, c, d, e, f, g, h] = self.poses;
        let groups =
            [group(a), group(b), group(c), group(d), group(e), group(f), group(g), group(h)];
        for c in 0..3 {
            let row = |k: usize| &groups[k].0[c];
            let rows = [row(0), row(1), row(2), row(3), row(4), row(5), row(6), row(7)];
            for (to, column) in out.iter_mut().zip(transpose::square(self.simd, rows)) {
                column.store_array(&mut to[c]);
            }
        }
    }

    /// Walks a chunk of the bind-relative class.
    #[inline(always)]
    fn relative(&mut self, ops: &[BoneOp], chunk: &Chunk) {
        let Some(first) = ops.first() else { return };
        let mut palettes = self.take_palettes(ops.len());
        let mut next = self.turn(first, &chunk.rotations[0]);
        let last = ops.len() - 1;
        for ((at, op), mut palettes) in ops.iter().enumerate().zip(palettes.each()) {
            let turn = next;
            // Behind the last bone, the last one once more.
            let ahead = (at + 1).min(last);
            next = self.turn(&ops[ahead], &chunk.rotations[ahead]);
            let t = match chunk.moved[at / GROUP] {
                true => self.load(&chunk.translations[at]),
                false => self.splat(op.rest),
            };
            let walked = self.place(op, turn, t);
            if op.product == NONE {
                self.write(&walked, &mut palettes);
            } else {
                self.write_product(&walked, op.product, &mut palettes);
            }
        }
    }

    /// A bone's rotation from its parent's; kept if a later bone needs it.
    #[inline(always)]
    fn turn(&mut self, op: &BoneOp, local: &[[f32; BATCH]; 4]) -> Turn<S> {
        let parent = self.load(&self.slots[op.parent_slot as usize].rotation);
        let q = product(parent, self.load(local));
        if op.keep_slot != NONE {
            let slot = &mut self.slots[op.keep_slot as usize].rotation;
            for (to, from) in slot.iter_mut().zip(q) {
                from.store_array(to);
            }
        }
        let scale = Wide::splat(self.simd, op.scale);
        Turn { q, k: (scale + scale) / dot(q, q) }
    }

    /// A bone's matrix from its rotation and its parent's matrix; kept if a later bone needs it.
    #[inline(always)]
    fn place(&mut self, op: &BoneOp, turn: Turn<S>, t: [Wide<S>; 3]) -> Matrix<S> {
        let rotation = matrix_of(turn, Wide::splat(self.simd, op.scale));
        let b = self.splat(op.minus_origin);
        let parent = &self.slots[op.parent_slot as usize].matrix;
        let mut walked = [[t[0]; 4]; 3];
        for (row, ([x, y, z], parent)) in walked.iter_mut().zip(rotation.into_iter().zip(parent)) {
            let [px, py, pz, pt] = self.load(parent);
            let joint = pz.mul_add(t[2], py.mul_add(t[1], px.mul_add(t[0], pt)));
            let bind = z.mul_add(b[2], y.mul_add(b[1], x.mul_add(b[0], joint)));
            *row = [x, y, z, bind];
        }
        if op.keep_slot != NONE {
            self.keep(op.keep_slot, &walked);
        }
        walked
    }

    /// Walks a chunk of the general class: matrices with scale.
    #[inline(always)]
    fn general(&mut self, ops: &[BoneOp], chunk: &Chunk) {
        let mut palettes = self.take_palettes(ops.len());
        for ((at, op), mut palettes) in ops.iter().enumerate().zip(palettes.each()) {
            let q = self.load(&chunk.rotations[at]);
            let t = match chunk.moved[at / GROUP] {
                true => self.load(&chunk.translations[at]),
                false => self.splat(op.rest),
            };
            let s = self.load(&chunk.scales[at]);
            let one = Wide::splat(self.simd, 1.0);
            let m = matrix_of(Turn { q, k: (one + one) / dot(q, q) }, one);
            let m = [scaled(m[0], s), scaled(m[1], s), scaled(m[2], s)];
            let mut walked = [[one; 4]; 3];
            let parent = &self.slots[op.parent_slot as usize].matrix;
            for (row, parent) in walked.iter_mut().zip(parent) {
                let [a, b, c, d] = self.load(parent);
                *row = [
                    c.mul_add(m[2][0], b.mul_add(m[1][0], a * m[0][0])),
                    c.mul_add(m[2][1], b.mul_add(m[1][1], a * m[0][1])),
                    c.mul_add(m[2][2], b.mul_add(m[1][2], a * m[0][2])),
                    c.mul_add(t[2], b.mul_add(t[1], a.mul_add(t[0], d))),
                ];
            }
            if op.keep_slot != NONE {
                self.keep(op.keep_slot, &walked);
            }
            self.write_product(&walked, op.product, &mut palettes);
        }
    }

    /// Palette matrices beyond the bones'.
    #[inline(always)]
    fn extras(&mut self) {
        let extras = &self.table.extras;
        let mut palettes = self.take_palettes(extras.len());
        for (op, mut palettes) in extras.iter().zip(palettes.each()) {
            let [x, y, z] = &self.slots[op.slot as usize].matrix;
            let walked = [self.load(x), self.load(y), self.load(z)];
            self.write_product(&walked, op.product, &mut palettes);
        }
    }

    /// Splits the next matrices off the palettes.
    #[inline(always)]
    fn take_palettes(&mut self, count: usize) -> Rows<'a> {
        let mut out: [&'a mut [Mat3x4]; BATCH] = Default::default();
        for (out, palette) in out.iter_mut().zip(&mut self.palettes) {
            (*out, *palette) = std::mem::take(palette).split_at_mut(count);
        }
        Rows(out)
    }

    #[inline(always)]
    fn keep(&mut self, slot: u16, walked: &Matrix<S>) {
        let slot = self.slots[slot as usize].matrix.as_flattened_mut();
        for (to, from) in slot.iter_mut().zip(walked.as_flattened()) {
            from.store_array(to);
        }
    }

    #[inline(always)]
    fn load<const N: usize>(&self, from: &[[f32; BATCH]; N]) -> [Wide<S>; N] {
        let mut out = [Wide::splat(self.simd, 0.0); N];
        for (out, from) in out.iter_mut().zip(from) {
            *out = Wide::load_array_ref(self.simd, from);
        }
        out
    }

    #[inline(always)]
    fn splat<const N: usize>(&self, values: [f32; N]) -> [Wide<S>; N] {
        let mut out = [Wide::splat(self.simd, 0.0); N];
        for (out, value) in out.iter_mut().zip(values) {
            *out = Wide::splat(self.simd, value);
        }
        out
    }

    /// Writes a matrix followed by a constant one, if there is one.
    #[inline(always)]
    fn write_product(&self, walked: &Matrix<S>, product: u16, palettes: &mut Lanes<'_>) {
        let Some(product) = self.table.products.get(product as usize) else {
            self.write(walked, palettes);
            return;
        };
        let [x, y, z] = product.rows;
        let (x, y, z) = (self.splat(x), self.splat(y), self.splat(z));
        let mut out = *walked;
        for (row, w) in out.iter_mut().zip(walked) {
            *row = [
                w[2].mul_add(z[0], w[1].mul_add(y[0], w[0] * x[0])),
                w[2].mul_add(z[1], w[1].mul_add(y[1], w[0] * x[1])),
                w[2].mul_add(z[2], w[1].mul_add(y[2], w[0] * x[2])),
                w[2].mul_add(z[3], w[1].mul_add(y[3], w[0].mul_add(x[3], w[3]))),
            ];
        }
        self.write(&out, palettes);
    }

    /// Turns one matrix of eight characters into eight packed matrices.
    #[inline(always)]
    fn write(&self, m: &Matrix<S>, palettes: &mut Lanes<'_>) {
        let x = transpose::blocks(self.simd, m[0]);
        let y = transpose::blocks(self.simd, m[1]);
        let z = transpose::blocks(self.simd, m[2]);
        for k in 0..BATCH / 2 {
            let ((x0, x1), (y0, y1), (z0, z1)) = (x[k].split(), y[k].split(), z[k].split());
            let (low, high) = (self.simd.combine_f32x4(x0, y0), self.simd.combine_f32x4(x1, y1));
            store(palettes[k], low, z0);
            store(palettes[k + BATCH / 2], high, z1);
        }
    }
}

#[inline(always)]
fn store<S: Simd>(to: &mut Mat3x4, xy: f32x8<S>, z: f32x4<S>) {
    let flat: &mut [f32; 12] = bytemuck::cast_mut(&mut to.rows);
    let (first, rest) = flat.split_at_mut(8);
    xy.store_slice(first);
    z.store_slice(rest);
}

#[inline(always)]
fn scaled<S: Simd>(row: [Wide<S>; 3], s: [Wide<S>; 3]) -> [Wide<S>; 3] {
    [row[0] * s[0], row[1] * s[1], row[2] * s[2]]
}

/// The matrix of a rotation times a scale.
#[inline(always)]
fn matrix_of<S: Simd>(turn: Turn<S>, scale: Wide<S>) -> [[Wide<S>; 3]; 3] {
    let Turn { q: [x, y, z, w], k } = turn;
    let (xs, ys, zs) = (x * k, y * k, z * k);
    let (wx, wy, wz) = (w * xs, w * ys, w * zs);
    [
        [(-z).mul_add(zs, (-y).mul_add(ys, scale)), x.mul_sub(ys, wz), x.mul_add(zs, wy)],
        [x.mul_add(ys, wz), (-z).mul_add(zs, (-x).mul_add(xs, scale)), y.mul_sub(zs, wx)],
        [x.mul_sub(zs, wy), y.mul_add(zs, wx), (-y).mul_add(ys, (-x).mul_add(xs, scale))],
    ]
}

/// One palette matrix of each lane.
type Lanes<'a> = [&'a mut Mat3x4; BATCH];

/// Equally many palette matrices of each lane.
struct Rows<'a>([&'a mut [Mat3x4]; BATCH]);

impl Rows<'_> {
    /// Row by row. Zipped slices need one bounds check for all eight.
    #[inline(always)]
    fn each(&mut self) -> impl Iterator<Item = Lanes<'_>> {
        let [a, b, c, d, e, f, g, h] = &mut self.0;
        let low = a.iter_mut().zip(b.iter_mut()).zip(c.iter_mut().zip(d.iter_mut()));
        let high = e.iter_mut().zip(f.iter_mut()).zip(g.iter_mut().zip(h.iter_mut()));
        low.zip(high).map(|(((a, b), (c, d)), ((e, f), (g, h)))| [a, b, c, d, e, f, g, h])
    }
}
