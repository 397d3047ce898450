//! Places in blend spaces, of sixteen instances at once.

use super::{LANES, Lane, Mask, One, Values, Wide, lanes_of};
use crate::graph::bind::BoundProgram;
use crate::graph::operand::Scalar;
use crate::graph::plan::{Plan, Points};
use crate::graph::space::{Triangle, answer_1d, place_1d, place_2d};
use fearless_simd::prelude::*;
use fearless_simd::{Simd, f32x16, f64x8, mask32x16, u32x16};

/// Points of a line that all lanes are held against; of more, each lane looks for its own.
const MOST: usize = 24;

/// Where each lane is in a blend space.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spots {
    /// What that decides: [`answer_1d`], [`Spot::answer`](crate::graph::space::Spot::answer).
    answers: [u32; LANES],
    /// How far it is to the next point, or the weights of a triangle's corners.
    weights: [Wide; 3],
}

impl Spots {
    pub const NOWHERE: Self = Self { answers: [0; LANES], weights: [Wide::splat(0.0); 3] };

    #[inline(always)]
    pub fn answer(&self, lane: Lane) -> u32 {
        self.answers[lane.get()]
    }

    #[inline(always)]
    pub fn weights(&self, lane: Lane) -> [f32; 3] {
        self.weights.each_ref().map(|weight| weight.0[lane.get()])
    }

    fn set(&mut self, lane: Lane, answer: u32, weights: [f32; 3]) {
        self.answers[lane.get()] = answer;
        for (to, weight) in self.weights.iter_mut().zip(weights) {
            to.0[lane.get()] = weight;
        }
    }
}

impl One<'_> {
    /// Finds its place in a blend space.
    pub(super) fn place(&mut self, at: usize, points: &Points) {
        let (answer, weights) = match points {
            Points::Line { x, points } => {
                let (before, alpha) = place_1d(points, self.scalar(*x));
                (answer_1d(before, alpha), [alpha, 0.0, 0.0])
            }
            Points::Plane { x, y, triangles } => {
                let spot = place_2d(triangles, [*x, *y].map(|place| self.scalar(place)));
                (spot.answer(), spot.weights)
            }
        };
        self.values.spots[at].set(self.lane, answer, weights);
    }
}

/// Finds the places of all lanes that need them.
#[inline(always)]
pub(super) fn vector<S: Simd>(simd: S, values: &mut Values, bound: &BoundProgram, plan: &Plan) {
    for (at, placed) in plan.spaces.iter().enumerate() {
        let lanes = values.active[placed.guard.get()];
        if lanes == 0 {
            continue;
        }
        let done = match &placed.points {
            Points::Line { x, points } if points.len() <= MOST => {
                line(simd, values, at, *x, points);
                lanes
            }
            Points::Line { .. } => 0,
            Points::Plane { x, y, triangles } => {
                plane(simd, values, at, [*x, *y], triangles, lanes)
            }
        };
        if lanes & !done != 0 {
            one_by_one(values, bound, at, &placed.points, lanes & !done);
        }
    }
}

#[inline(never)]
fn one_by_one(values: &mut Values, bound: &BoundProgram, at: usize, points: &Points, lanes: Mask) {
    lanes_of(lanes).for_each(|lane| One::new(bound, values, lane).place(at, points));
}

/// Places on a line, of which there is a point at least.
#[inline(always)]
fn line<S: Simd>(simd: S, values: &mut Values, at: usize, x: Scalar, points: &[f32]) {
    let splat = |v| f32x16::splat(simd, v);
    let number = |v| u32x16::splat(simd, v);
    let x = values.all[x.get()].load(simd);
    let (zero, one) = (splat(0.0), splat(1.0));
    let (mut from, mut next, mut answer) = (zero, one, number(1));
    let (mut before, mut after) = (mask32x16::splat(simd, false), mask32x16::splat(simd, false));
    for (i, point) in points.iter().enumerate() {
        let reached = x.simd_ge(splat(*point));
        match points.get(i + 1) {
            Some(to) => {
                from = reached.select(splat(*point), from);
                next = reached.select(splat(*to), next);
            }
            None => after = reached,
        }
        before |= reached;
        answer = reached.select(number(3 * i as u32 + 1), answer);
    }
    let alpha = (x - from) / (next - from);
    let alpha = alpha.simd_lt(zero).select(zero, alpha);
    let alpha = alpha.simd_gt(one).select(one, alpha);
    let alpha = (before & !after).select(alpha, zero);
    let answer = answer + alpha.simd_eq(one).select(number(1), number(0));
    let answer = answer - alpha.simd_eq(zero).select(number(1), number(0));
    let spots = &mut values.spots[at];
    answer.store_slice(&mut spots.answers);
    alpha.store_slice(&mut spots.weights[0].0);
}

/// Places on a plane; gives the lanes whose places lie inside of triangles, and leaves out those
/// that do not.
#[inline(always)]
fn plane<S: Simd>(
    simd: S,
    values: &mut Values,
    at: usize,
    place: [Scalar; 2],
    triangles: &[Triangle],
    lanes: Mask,
) -> Mask {
    let (x0, x1) = simd.widen_f32x16(finite(simd, values, place[0]));
    let (y0, y1) = simd.widen_f32x16(finite(simd, values, place[1]));
    let spots = &mut values.spots[at];
    let mut left = lanes;
    for (number, triangle) in triangles.iter().enumerate() {
        let ((low, low_in), (high, high_in)) =
            (inside(simd, triangle, [x0, y0]), inside(simd, triangle, [x1, y1]));
        let here = (low_in | high_in << (LANES / 2)) as Mask & left;
        if here == 0 {
            continue;
        }
        let select = mask32x16::from_bitmask(simd, here.into());
        let mut answer = u32x16::splat(simd, 8 * number as u32);
        for (i, to) in spots.weights.iter_mut().enumerate() {
            let weight = simd.narrow_f64x8(low[i], high[i]);
            let (bit, none) = (u32x16::splat(simd, 1 << i), u32x16::splat(simd, 0));
            answer += weight.simd_gt(f32x16::splat(simd, 0.0)).select(bit, none);
            select.select(weight, to.load(simd)).store_slice(&mut to.0);
        }
        let before = u32x16::from_slice(simd, &spots.answers);
        select.select(answer, before).store_slice(&mut spots.answers);
        left &= !here;
        if left == 0 {
            break;
        }
    }
    lanes & !left
}

/// A coordinate; what is not a number is zero.
#[inline(always)]
fn finite<S: Simd>(simd: S, values: &Values, place: Scalar) -> f32x16<S> {
    let value = values.all[place.get()].load(simd);
    let is = value.abs().simd_lt(f32x16::splat(simd, f32::INFINITY));
    is.select(value, f32x16::splat(simd, 0.0))
}

/// The weights of some places in a triangle, and which of them lie inside.
#[inline(always)]
fn inside<S: Simd>(simd: S, of: &Triangle, place: [f64x8<S>; 2]) -> ([f64x8<S>; 3], u64) {
    let a = weight(simd, of, 0, 1, place);
    let b = weight(simd, of, 1, 2, place);
    let c = weight(simd, of, 2, 0, place);
    let zero = f64x8::splat(simd, 0.0);
    let all = a.simd_ge(zero) & b.simd_ge(zero) & c.simd_ge(zero);
    ([a, b, c], all.to_bitmask())
}

/// The weight of the corner opposite of an edge, which another corner is an end of.
#[inline(always)]
fn weight<S: Simd>(
    simd: S,
    of: &Triangle,
    edge: usize,
    corner: usize,
    [x, y]: [f64x8<S>; 2],
) -> f64x8<S> {
    let ([ex, ey], [cx, cy]) = (of.edges[edge], of.corners[corner]);
    let (ex, ey) = (f64x8::splat(simd, ex), f64x8::splat(simd, ey));
    let (cx, cy) = (f64x8::splat(simd, cx), f64x8::splat(simd, cy));
    (ex * (y - cy) - ey * (x - cx)) / f64x8::splat(simd, of.area)
}
