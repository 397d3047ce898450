//! Sync groups of sixteen instances at once.
//!
//! Groups with markers take a chain of divisions each step, which one instance would wait for. A
//! lane whose round ends, and a group without markers, is left to
//! [`SyncGroup`](crate::motion::SyncGroup), which is the twin of it all.

use super::words::GROUP;
use super::{LANES, Lane, Mask, Values, Wide, lanes_of};
use crate::graph::groups::{GroupRow, Groups};
use crate::graph::operand::GroupId;
use crate::motion::{GroupStep, SyncTrack};
use fearless_simd::prelude::*;
use fearless_simd::{Simd, f32x16};

/// The most that a share of a round and a phase are.
const BELOW_ONE: f32 = 1.0_f32.next_down();

/// A step of one group in each lane.
#[derive(Clone, Copy, Debug)]
pub(super) struct GroupSteps {
    pub from: Wide,
    pub to: Wide,
    /// Rounds that were crossed, and the lanes where there are any.
    wraps: [i32; LANES],
    pub wrapped: Mask,
    pub backward: Mask,
}

impl GroupSteps {
    pub const STILL: Self = Self {
        from: Wide::splat(0.0),
        to: Wide::splat(0.0),
        wraps: [0; LANES],
        wrapped: 0,
        backward: 0,
    };

    pub fn get(&self, lane: Lane) -> GroupStep {
        let at = lane.get();
        let wraps = if self.wrapped & lane.mask() != 0 { self.wraps[at] } else { 0 };
        let backward = self.backward & lane.mask() != 0;
        GroupStep::new([self.from.0[at], self.to.0[at]], wraps, backward)
    }

    pub fn set(&mut self, lane: Lane, step: GroupStep) {
        let (at, mask) = (lane.get(), lane.mask());
        let with = |bits: Mask, on: bool| if on { bits | mask } else { bits & !mask };
        (self.from.0[at], self.to.0[at], self.wraps[at]) = (step.from, step.to, step.wraps);
        self.wrapped = with(self.wrapped, step.wraps != 0);
        self.backward = with(self.backward, step.is_backward());
    }
}

/// The twin, of one lane.
pub(super) fn scalar(values: &mut Values, groups: &Groups, lane: Lane) {
    for group in (0..values.groups.len() as u16).map(GroupId) {
        values.advance_group(groups, group, lane);
    }
}

#[inline(always)]
pub(super) fn vector<S: Simd>(simd: S, values: &mut Values, groups: &Groups) {
    for group in (0..values.groups.len() as u16).map(GroupId) {
        let row = groups.row(group.get());
        let others = match row.pieces.is_empty() {
            true => Mask::MAX,
            false => by_markers(simd, values, row, group.get()),
        };
        for lane in lanes_of(others & values.taken()) {
            values.advance_group(groups, group, lane);
        }
    }
}

/// Steps of a group with markers; gives the lanes whose round ends, which are left alone.
#[inline(always)]
fn by_markers<S: Simd>(simd: S, values: &mut Values, row: &GroupRow, group: usize) -> Mask {
    let splat = |v| f32x16::splat(simd, v);
    let (zero, one, below) = (splat(0.0), splat(1.0), splat(BELOW_ONE));
    let at = values.at.groups + GROUP * group;
    let begin = values.at.pieces + row.pieces.start;
    let words = &mut values.words;
    let (began, speed) = (words[at].load(simd), words[at + 1].load(simd));
    let (weight, rate) = (words[at + 2].load(simd), words[at + 3].load(simd));
    let count = row.pieces.len();
    let mut pieces = [zero; SyncTrack::MOST];
    let pieces = &mut pieces[..count];
    let mut sum = zero;
    for (piece, word) in pieces.iter_mut().zip(&words[begin..]) {
        *piece = word.load(simd);
        sum += *piece;
    }
    for piece in &mut *pieces {
        *piece /= sum;
    }
    let first = if row.first_rate.is_finite() { splat(row.first_rate) } else { zero };
    let idle = weight.simd_eq(zero);
    let fresh = rate.simd_eq(zero).select(first, rate);
    let rate = idle.select(fresh, rate / weight);
    let dt = values.dt.load(simd) * speed;
    // Where it is, as a share of its round.
    let of_count = began * splat(count as f32);
    let (mut before, mut passed, mut part, mut takes) = (zero, zero, of_count, pieces[0]);
    for (i, piece) in pieces.iter().enumerate().skip(1) {
        passed += pieces[i - 1];
        let number = splat(i as f32);
        let reached = of_count.simd_ge(number);
        before = reached.select(passed, before);
        part = reached.select(of_count - number, part);
        takes = reached.select(*piece, takes);
    }
    let share = before + part * takes;
    let share = below.simd_lt(share).select(below, share);
    let share = share.simd_gt(zero).select(share, zero);
    let to = share + dt * rate;
    let inside = to.simd_ge(zero) & to.simd_lt(one);
    // And where that leads to, as a phase.
    let (mut before, mut passed, mut number, mut takes) = (zero, zero, splat(count as f32), one);
    let mut open = inside;
    for (i, piece) in pieces.iter().enumerate() {
        let next = passed + *piece;
        let here = open & to.simd_lt(next);
        before = here.select(passed, before);
        takes = here.select(*piece, takes);
        number = here.select(splat(i as f32), number);
        open &= !here;
        passed = next;
    }
    let phase = (number + (to - before) / takes) / splat(count as f32);
    let phase = below.simd_lt(phase).select(below, phase);
    let phase = open.select(below, phase);
    let back = dt.simd_lt(zero);
    let ahead = began.simd_gt(phase).select(began, phase);
    let behind = began.simd_lt(phase).select(began, phase);
    let phase = back.select(behind, ahead);
    let phase = share.simd_eq(to).select(began, phase);
    // The others stay as they were.
    let keep = |word: &mut Wide, value: f32x16<S>| {
        inside.select(value, word.load(simd)).store_slice(&mut word.0);
    };
    keep(&mut words[at], phase);
    keep(&mut words[at + 2], zero);
    keep(&mut words[at + 3], rate);
    for (word, piece) in words[begin..].iter_mut().zip(&*pieces) {
        keep(word, *piece);
    }
    let backward = f32x16::splat(simd, 1.0).copysign(dt).simd_lt(zero);
    let steps = &mut values.groups[group];
    (steps.from, steps.to) = (Wide::of(began), Wide::of(phase));
    (steps.wrapped, steps.backward) = (0, backward.to_bitmask() as Mask);
    !inside.to_bitmask() as Mask
}
