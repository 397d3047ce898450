//! State machines of sixteen instances at once: time passes in all lanes, and who may take a
//! transition is found. Those are left to the twin, [`One::select`], and few in any evaluation.

use super::{LANES, Lane, Mask, One, Values, lanes_of};
use crate::graph::bind::BoundProgram;
use crate::graph::control::{CLOCK, ClockState, MACHINE, MachineState, word_of};
use crate::graph::operand::*;
use crate::graph::plan::{Plan, State, Way};
use crate::graph::program::AtEnd;
use fearless_simd::prelude::*;
use fearless_simd::{Simd, f32x16, mask32x16, u32x16};

const FRESH: u32 = word_of(0, MachineState::FRESH);
const STATE: u32 = word_of(u16::MAX, 0);
/// Of what the last evaluation did.
const PAST: u32 = word_of(0, MachineState::FRESH | MachineState::BEGAN | MachineState::SNAPPED);
const CLOCK_FRESH: u32 = word_of(ClockState::FRESH, 0);
const CLOCK_PASSED: u32 = word_of(ClockState::PASSED, 0);

/// Where a machine is, in lanes.
struct At<S: Simd> {
    word: u32x16<S>,
    seconds: f32x16<S>,
    elapsed: f32x16<S>,
}

/// Runs a machine in some lanes.
#[inline(always)]
pub(super) fn vector<S: Simd>(
    simd: S,
    values: &mut Values,
    bound: &BoundProgram,
    machine: MachineId,
    lanes: Mask,
) {
    let states = &bound.plan().machines[machine.get()].states;
    let at = values.at.machines + MACHINE * machine.get();
    let now = pass(simd, values, at, lanes);
    let mut takes = 0;
    for (state, here) in present(simd, now.word, lanes) {
        if let Some(state) = states.get(usize::from(state)) {
            takes |= may_take(simd, values, bound, state, &now) & here;
        }
    }
    if takes != 0 {
        change(values, bound, machine, takes);
    }
    let word = values.words[at].bits(simd);
    for (state, here) in present(simd, word, lanes) {
        if let Some(state) = states.get(usize::from(state)) {
            values.wake_lanes(&state.wakes, here);
        }
    }
}

/// The states that are told by one word.
#[inline(always)]
pub(super) fn states<S: Simd>(simd: S, values: &mut Values, plan: &Plan) {
    let mut all = u32x16::splat(simd, 0);
    for (machine, shift) in &plan.told {
        let word = values.words[values.at.machines + MACHINE * machine.get()].bits(simd);
        let state = (word & u32x16::splat(simd, STATE)) >> STATE.trailing_zeros();
        all |= state << *shift;
    }
    all.store_slice(&mut values.states);
}

/// Lets time pass.
#[inline(always)]
fn pass<S: Simd>(simd: S, values: &mut Values, at: usize, lanes: Mask) -> At<S> {
    let splat = |v| f32x16::splat(simd, v);
    let run = mask32x16::from_bitmask(simd, lanes.into());
    let dt = values.dt.load(simd);
    let words = &mut values.words[at..][..MACHINE];
    let word = words[0].bits(simd);
    let (seconds, elapsed) = (words[1].load(simd), words[2].load(simd));
    let duration = words[3].load(simd);
    let fresh = (word & u32x16::splat(simd, FRESH)).simd_eq(u32x16::splat(simd, FRESH));
    let later = seconds + dt;
    let later = later.simd_gt(splat(0.0)).select(later, splat(0.0));
    let next = elapsed + dt;
    // Not-a-number stays one: no transition is under way.
    let next = elapsed.simd_eq(elapsed).select(next, splat(f32::NAN));
    let next = fresh.select(elapsed, next);
    let next = next.simd_ge(duration).select(splat(f32::NAN), next);
    let at = At {
        word: run.select(word & u32x16::splat(simd, !PAST), word),
        seconds: run.select(fresh.select(seconds, later), seconds),
        elapsed: run.select(next, elapsed),
    };
    words[0].put_bits(at.word);
    at.seconds.store_slice(&mut words[1].0);
    at.elapsed.store_slice(&mut words[2].0);
    at
}

/// The states that a machine is in, each with its lanes.
#[inline(always)]
fn present<S: Simd>(simd: S, word: u32x16<S>, lanes: Mask) -> impl Iterator<Item = (u16, Mask)> {
    let state = word & u32x16::splat(simd, STATE);
    let mut words = [0; LANES];
    state.store_slice(&mut words);
    let mut left = lanes;
    std::iter::from_fn(move || {
        let lane = Lane::new(lanes_of(left).next()?.get());
        let word = words[lane.get()];
        let here = state.simd_eq(u32x16::splat(simd, word)).to_bitmask() as Mask & left;
        left &= !here;
        let [state, _]: [u16; 2] = bytemuck::cast(word);
        Some((state, here))
    })
}

/// The lanes that may take one of a state's transitions, if they are in it.
#[inline(always)]
fn may_take<S: Simd>(
    simd: S,
    values: &Values,
    bound: &BoundProgram,
    state: &State,
    now: &At<S>,
) -> Mask {
    let mut takes = mask32x16::splat(simd, false);
    for way in &state.ways {
        takes |= may_be_taken(simd, values, bound, way, now);
    }
    takes.to_bitmask() as Mask
}

#[inline(always)]
fn may_be_taken<S: Simd>(
    simd: S,
    values: &Values,
    bound: &BoundProgram,
    way: &Way,
    now: &At<S>,
) -> mask32x16<S> {
    let splat = |v| f32x16::splat(simd, v);
    let mut open = now.seconds.simd_ge(splat(way.min_time));
    if let Some(condition) = way.condition {
        open &= values.all[condition.get()].load(simd).simd_gt(splat(0.5));
    }
    if !way.interrupts {
        open &= !now.elapsed.simd_eq(now.elapsed);
    }
    if let Some(AtEnd { clock, before }) = way.at_end {
        open &= is_at_end(simd, values, bound, clock, before);
    }
    open
}

/// Whether a clip is over, or about to be.
#[inline(always)]
fn is_at_end<S: Simd>(
    simd: S,
    values: &Values,
    bound: &BoundProgram,
    clock: ClockId,
    before: f32,
) -> mask32x16<S> {
    let splat = |v| f32x16::splat(simd, v);
    let (at, clock) = (values.at.clocks + CLOCK * clock.get(), &bound.clocks[clock.get()]);
    let word = values.words[at + 1].bits(simd);
    let is = |flag| !(word & u32x16::splat(simd, flag)).simd_eq(u32x16::splat(simd, 0));
    if clock.goes_round() {
        return is(CLOCK_PASSED);
    }
    let shows = values.words[at].load(simd);
    let left = if clock.speed < 0.0 { shows } else { splat(clock.seconds) - shows };
    !is(CLOCK_FRESH) & left.simd_le(splat(before))
}

/// The transitions of those who take one.
#[inline(never)]
fn change(values: &mut Values, bound: &BoundProgram, machine: MachineId, lanes: Mask) {
    lanes_of(lanes).for_each(|lane| One::new(bound, values, lane).take_way(machine));
}
