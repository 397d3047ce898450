//! Sync groups of sixteen instances at once.
//!
//! Groups with markers take a chain of divisions each step, which one instance would wait for. A
//! lane whose round ends, and a group without markers, is left to
//! [`SyncGroup`](crate::motion::SyncGroup), which is the twin of it all.

use super::{LANES, Lane, Values, Wide};
use crate::graph::groups::{GroupRow, Groups};
use crate::motion::{GroupStep, SyncGroup, SyncTrack};
use fearless_simd::prelude::*;
use fearless_simd::{Simd, f32x16};

/// Words of a group in a row.
const WORDS: usize = size_of::<SyncGroup>() / size_of::<u32>();
/// The most that a share of a round and a phase are.
const BELOW_ONE: f32 = 1.0_f32.next_down();

/// A step of one group in each lane.
#[derive(Clone, Copy, Debug)]
pub(super) struct Steps([GroupStep; LANES]);

impl Steps {
    pub const STILL: Self = Self([GroupStep::STILL; LANES]);

    pub fn get(&self, lane: Lane) -> GroupStep {
        self.0[lane.get()]
    }
}

/// Lets time pass for a group of one lane.
fn advance(values: &mut Values, groups: &Groups, group: usize, lane: usize) {
    let at = values.groups + WORDS * group;
    let row = groups.row(group);
    let begin = values.pieces + row.pieces.start;
    let count = row.pieces.len();
    let mut pieces = [0.0; SyncTrack::MOST];
    let pieces = &mut pieces[..count];
    for (piece, word) in pieces.iter_mut().zip(&values.words[begin..]) {
        *piece = word.0[lane];
    }
    let mut words: [f32; WORDS] = std::array::from_fn(|i| values.words[at + i].0[lane]);
    let state: &mut SyncGroup = bytemuck::cast_mut(&mut words);
    let step = state.advance_by_markers(values.dt.0[lane], row.first_rate, pieces);
    values.steps[group].0[lane] = step;
    for (word, value) in values.words[at..].iter_mut().zip(words) {
        word.0[lane] = value;
    }
    for (word, piece) in values.words[begin..].iter_mut().zip(pieces) {
        word.0[lane] = *piece;
    }
}

/// The twin, of one lane.
pub(super) fn scalar(values: &mut Values, groups: &Groups, lane: usize) {
    for group in 0..values.steps.len() {
        advance(values, groups, group, lane);
    }
}

#[inline(always)]
pub(super) fn vector<S: Simd>(simd: S, values: &mut Values, groups: &Groups) {
    for group in 0..values.steps.len() {
        let row = groups.row(group);
        let others = match row.pieces.is_empty() {
            true => u64::MAX,
            false => by_markers(simd, values, row, group),
        };
        let mut left = others & ((1 << values.count) - 1);
        while left != 0 {
            advance(values, groups, group, left.trailing_zeros() as usize);
            left &= left - 1;
        }
    }
}

/// Steps of a group with markers; gives the lanes whose round ends, which are left alone.
#[inline(always)]
fn by_markers<S: Simd>(simd: S, values: &mut Values, row: &GroupRow, group: usize) -> u64 {
    let splat = |v| f32x16::splat(simd, v);
    let (zero, one, below) = (splat(0.0), splat(1.0), splat(BELOW_ONE));
    let at = values.groups + WORDS * group;
    let begin = values.pieces + row.pieces.start;
    let words = &mut values.words;
    let [began, speed, weight, rate] = [0, 1, 2, 3].map(|i| words[at + i].load(simd));
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
    let (from, to, dt) = (Wide::of(began), Wide::of(phase), Wide::of(dt));
    for (lane, step) in values.steps[group].0.iter_mut().enumerate() {
        *step = GroupStep::within([from.0[lane], to.0[lane]], dt.0[lane].is_sign_negative());
    }
    !inside.to_bitmask()
}
