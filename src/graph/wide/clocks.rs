//! Clocks of sixteen instances at once.
//!
//! Most steps of most clocks cross no end of their clip. Those that do, and what goes back and forth,
//! are left to [`PlayMode::advance`](crate::motion::PlayMode::advance) and
//! [`GroupStep::member_by_markers`](crate::motion::GroupStep::member_by_markers), the twins.

use super::{LANES, Lane, Mask, Values, Wide, decide};
use crate::graph::Op;
use crate::graph::bind::BoundProgram;
use crate::graph::clocks::{BoundClock, Course};
use crate::graph::control::{CLOCK, ClockState, word_of};
use crate::graph::operand::*;
use crate::graph::program::FASTEST;
use crate::motion::{Advance, SyncTrack};
use fearless_simd::prelude::*;
use fearless_simd::{Simd, f32x16, mask32x16, u32x16};

const FRESH: u32 = word_of(ClockState::FRESH, 0);
/// What stays of a clock's word when it has run without crossing an end.
const KEPT: u32 = word_of(0, u16::MAX);

/// A step of one clock in each lane that it runs in.
#[derive(Clone, Copy, Debug)]
pub(super) struct ClockSteps {
    from: Wide,
    to: Wide,
    backward: Mask,
    finished: Mask,
    /// The lanes whose step is one of these.
    odd: Mask,
    steps: [Advance; LANES],
}

impl ClockSteps {
    pub const STILL: Self = Self {
        from: Wide::splat(0.0),
        to: Wide::splat(0.0),
        backward: 0,
        finished: 0,
        odd: 0,
        steps: [Advance::STILL; LANES],
    };

    #[inline(always)]
    pub fn get(&self, clock: &BoundClock, lane: Lane) -> Advance {
        let (at, is) = (lane.get(), |mask: Mask| mask & lane.mask() != 0);
        if is(self.odd) {
            return self.steps[at];
        }
        let ends = [self.from.0[at], self.to.0[at]];
        Advance::within(clock.mode, ends, clock.seconds, [is(self.backward), is(self.finished)])
    }

    pub fn set(&mut self, lane: Lane, step: Advance) {
        self.odd |= lane.mask();
        self.steps[lane.get()] = step;
    }
}

/// A clock's step in lanes that take the usual course.
struct Usual<S: Simd> {
    from: f32x16<S>,
    to: f32x16<S>,
    backward: mask32x16<S>,
    finished: mask32x16<S>,
    /// Those lanes.
    usual: mask32x16<S>,
}

/// Runs a clock in some lanes.
#[inline(always)]
pub(super) fn vector<S: Simd>(
    simd: S,
    values: &mut Values,
    bound: &BoundProgram,
    op: &Op,
    lanes: Mask,
) {
    let Op::AdvanceClock { clock, speed, time, finished } = *op else { return };
    let of = &bound.clocks[clock.get()];
    let step = match of.course {
        Course::Odd => return decide::one_by_one(values, bound, op, lanes),
        Course::Member(group) => member(simd, values, bound, (clock, group)),
        Course::Loops | Course::Stops => by_itself(simd, values, of, clock, speed),
    };
    let at = values.at.clocks + CLOCK * clock.get();
    let run = step.usual & mask32x16::from_bitmask(simd, lanes.into());
    let [shows, word] = &mut values.words[at..][..CLOCK] else { return };
    run.select(step.to, shows.load(simd)).store_slice(&mut shows.0);
    // It is not fresh any more.
    let before = word.bits(simd);
    word.put_bits(run.select(before & u32x16::splat(simd, KEPT), before));
    step.to.store_slice(&mut values.all[time.get()].0);
    if let Some(place) = finished {
        let (no, yes) = (f32x16::splat(simd, 0.0), f32x16::splat(simd, 1.0));
        step.finished.select(yes, no).store_slice(&mut values.all[place.get()].0);
    }
    let steps = &mut values.clocks[clock.get()];
    step.from.store_slice(&mut steps.from.0);
    step.to.store_slice(&mut steps.to.0);
    steps.backward = step.backward.to_bitmask() as Mask;
    steps.finished = step.finished.to_bitmask() as Mask;
    steps.odd = 0;
    let others = lanes & !run.to_bitmask() as Mask;
    if others != 0 {
        decide::one_by_one(values, bound, op, others);
    }
}

/// Of a clock that keeps its own time.
#[inline(always)]
fn by_itself<S: Simd>(
    simd: S,
    values: &Values,
    of: &BoundClock,
    clock: ClockId,
    factor: Option<Scalar>,
) -> Usual<S> {
    let splat = |v| f32x16::splat(simd, v);
    let (zero, length) = (splat(0.0), splat(of.seconds));
    let at = values.at.clocks + CLOCK * clock.get();
    let shows = values.words[at].load(simd);
    let word = values.words[at + 1].bits(simd) & u32x16::splat(simd, FRESH);
    let runs = word.simd_eq(u32x16::splat(simd, 0));
    let factor = factor.map_or(splat(1.0), |place| values.all[place.get()].load(simd));
    let speed = splat(of.speed) * factor;
    let speed = speed.simd_lt(splat(-FASTEST)).select(splat(-FASTEST), speed);
    let speed = speed.simd_gt(splat(FASTEST)).select(splat(FASTEST), speed);
    // A clock that stands still keeps its direction.
    let dt = runs.select(values.dt.load(simd) * speed, zero.copysign(speed));
    let from = shows.simd_lt(length).select(shows, length);
    let from = shows.simd_gt(zero).select(from, zero);
    // A sum of two that is rounded twice, in double precision first, is rounded as once.
    let to = from + dt;
    let backward = splat(1.0).copysign(dt).simd_lt(zero);
    let never = zero.simd_lt(zero);
    if of.course == Course::Loops {
        let usual = to.simd_ge(zero) & to.simd_lt(length);
        return Usual { from, to, backward, finished: never, usual };
    }
    let usual = to.abs().simd_lt(splat(f32::INFINITY));
    let to = to.simd_lt(zero).select(zero, to);
    let to = to.simd_gt(length).select(length, to);
    let ends = (backward & to.simd_le(zero)) | (!backward & to.simd_ge(length));
    let finished = if of.is_over_once() { ends } else { never };
    Usual { from, to, backward, finished, usual }
}

/// Of a clock that keeps its group's.
#[inline(always)]
fn member<S: Simd>(
    simd: S,
    values: &Values,
    bound: &BoundProgram,
    (clock, group): (ClockId, GroupId),
) -> Usual<S> {
    let (track, steps) = (bound.groups.track(clock), &values.groups[group.get()]);
    let (from, was) = in_clip(simd, track, steps.from.load(simd));
    let (to, is) = in_clip(simd, track, steps.to.load(simd));
    let wrapped = mask32x16::from_bitmask(simd, steps.wrapped.into());
    let backward = mask32x16::from_bitmask(simd, steps.backward.into());
    let usual = !(wrapped | (was ^ is));
    Usual { from, to, backward, finished: mask32x16::splat(simd, false), usual }
}

/// Clip seconds at a phase of the group's round, and whether they are of the clip's next round: its
/// own ends somewhere within the group's.
#[inline(always)]
fn in_clip<S: Simd>(simd: S, track: &SyncTrack, phase: f32x16<S>) -> (f32x16<S>, mask32x16<S>) {
    let length = f32x16::splat(simd, track.seconds());
    let (seconds, next) = match track.has_markers() {
        true => {
            let seconds = since_first(simd, track, phase);
            let next = seconds.simd_ge(length);
            (next.select(seconds - length, seconds), next)
        }
        false => (phase * length, mask32x16::splat(simd, false)),
    };
    let (zero, below) =
        (f32x16::splat(simd, 0.0), f32x16::splat(simd, track.seconds().next_down()));
    let seconds = seconds.simd_lt(zero).select(zero, seconds);
    (seconds.simd_gt(below).select(below, seconds), next)
}

/// [`SyncTrack::since_first`] of every lane.
#[inline(always)]
fn since_first<S: Simd>(simd: S, track: &SyncTrack, phase: f32x16<S>) -> f32x16<S> {
    let splat = |v| f32x16::splat(simd, v);
    let times = track.times();
    let count = times.len() - 1;
    let at = phase * splat(count as f32);
    let (mut begin, mut end, mut number) = (splat(times[0]), splat(times[1]), splat(0.0));
    for (i, pair) in times.windows(2).enumerate().skip(1) {
        let reached = at.simd_ge(splat(i as f32));
        begin = reached.select(splat(pair[0]), begin);
        end = reached.select(splat(pair[1]), end);
        number = reached.select(splat(i as f32), number);
    }
    let seconds = begin + (at - number) * (end - begin);
    end.simd_lt(seconds).select(end, seconds)
}
