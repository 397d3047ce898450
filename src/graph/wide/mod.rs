//! Sixteen instances at once.
//!
//! What decides runs for [`LANES`] instances of one program together, an opcode after the other, each
//! in all lanes. Their rows are turned for it, so that a word's lanes lie together, and back again.
//! First comes what follows from what an instance is given alone (parameters, the step of time, and
//! smoothed values, which have nothing but those) and the step of sync groups, which wait for nobody
//! either. Then clocks, machines and what they wake: what does not take its usual course in some lane
//! (a clock that comes to its clip's end, a machine that changes its state) is decided there by the
//! twin, one opcode of one lane. The list comes after that, one instance at a time, and finds the
//! values of its lane.
//!
//! Every lane's bits are those that the scalar twin computes, and no lane sees another: who is
//! evaluated together with whom is no part of any result.

mod clocks;
mod decide;
mod functions;
mod groups;
mod machines;
mod one;
mod scalar;
mod spaces;
#[cfg(test)]
mod tests;
mod turn;
mod vector;
mod words;

use super::bind::BoundProgram;
use super::operand::*;
use super::plan::Guard;
use super::shapes::Guess;
use crate::math::Lanes;
use crate::motion::{Advance, Fired};
use crate::pose::kernels::enter;
use crate::task::Transition;
use clocks::ClockSteps;
use fearless_simd::prelude::*;
use fearless_simd::{Simd, f32x16, u32x16};
use groups::GroupSteps;
pub(super) use one::One;
use spaces::Spots;
pub(super) use turn::Rows;
use words::Parts;

/// Instances whose values are computed together, at most.
pub const LANES: usize = 16;
/// So few instances are decided one by one.
const FEW: usize = 1;

/// A smoothed value has arrived when it is this near, beside one or its own size: a layer that is
/// faded out is gone after thirteen half-lives, and not after the hundred and fifty that a `f32`
/// takes to become zero.
const ARRIVED: f32 = 1e-4;

/// One number of each lane.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C, align(64))]
pub(super) struct Wide(pub [f32; LANES]);

impl Wide {
    /// The same in all lanes.
    pub const fn splat(value: f32) -> Self {
        Self([value; LANES])
    }

    #[inline(always)]
    fn load<S: Simd>(&self, simd: S) -> f32x16<S> {
        f32x16::from_slice(simd, &self.0)
    }

    /// The bits of each.
    #[inline(always)]
    fn bits<S: Simd>(&self, simd: S) -> u32x16<S> {
        u32x16::from_slice(simd, bytemuck::cast_slice(&self.0))
    }

    #[inline(always)]
    fn put_bits<S: Simd>(&mut self, bits: u32x16<S>) {
        bits.store_slice(bytemuck::cast_slice_mut(&mut self.0));
    }

    #[inline(always)]
    fn of<S: Simd>(vector: f32x16<S>) -> Self {
        let mut this = Self::default();
        vector.store_slice(&mut this.0);
        this
    }
}

/// What a step of time leaves of a distance that halves in a certain time.
#[inline]
pub(super) fn left_of(dt: f32, half_life: f32) -> f32 {
    if half_life > 0.0 { (-dt / half_life).exp2().min(1.0) } else { 0.0 }
}

/// Where a smoothed value that was `kept` goes, when a step leaves so much of its distance.
#[inline]
pub(super) fn smoothed(kept: f32, value: f32, left: f32) -> f32 {
    let next = if kept.is_nan() { value } else { value + (kept - value) * left };
    let near = (next - value).abs() <= ARRIVED * value.abs().max(1.0);
    if next.is_finite() && !near { next } else { value }
}

/// What the last steps left of one smoothed value's distance in each lane, and for which steps and
/// half-lives that was computed: mostly they are the same again.
#[derive(Clone, Copy, Debug)]
struct Decay {
    dt: Wide,
    half_life: Wide,
    left: Wide,
}

impl Decay {
    /// Of no step.
    const UNKNOWN: Self =
        Self { dt: Wide::splat(f32::NAN), half_life: Wide::splat(0.0), left: Wide::splat(0.0) };
}

/// A bit for each lane.
pub(super) type Mask = u16;

/// The lanes of a mask.
fn lanes_of(mask: Mask) -> impl Iterator<Item = Lane> {
    let next = |left: &Mask| Some(left & (left - 1)).filter(|left| *left != 0);
    let left = std::iter::successors(Some(mask).filter(|mask| *mask != 0), next);
    left.map(|left| Lane::new(left.trailing_zeros() as usize))
}

/// The values of the instances of one plan that are evaluated together.
#[derive(Debug)]
pub(super) struct Values {
    simd: Lanes,
    /// By place.
    all: Vec<Wide>,
    /// Rows, as far as they are turned; and where their parts begin.
    words: Vec<Wide>,
    at: Parts,
    /// By guard, who needs what it guards.
    active: Vec<Mask>,
    /// By sync group, by clock.
    groups: Vec<GroupSteps>,
    clocks: Vec<ClockSteps>,
    /// By blend space.
    spots: Vec<Spots>,
    /// What each transition outside of machines is at.
    transitions: Vec<[Transition; LANES]>,
    /// Notifies of clips that were left as states were entered.
    fired: Vec<(Lane, Fired)>,
    decays: Vec<Decay>,
    /// Seconds of each lane's step.
    dt: Wide,
    /// What the weights that poses ask for come to in each lane, and which states machines are in:
    /// [`Plan::asked`](super::plan::Plan::asked), [`Plan::told`](super::plan::Plan::told).
    answers: [u32; LANES],
    states: [u32; LANES],
    /// Lanes that are taken.
    count: usize,
}

impl Default for Values {
    fn default() -> Self {
        Self {
            simd: Lanes::best(),
            all: Vec::new(),
            words: Vec::new(),
            at: Parts::default(),
            active: Vec::new(),
            groups: Vec::new(),
            clocks: Vec::new(),
            spots: Vec::new(),
            transitions: Vec::new(),
            fired: Vec::new(),
            decays: Vec::new(),
            dt: Wide::default(),
            answers: [0; LANES],
            states: [0; LANES],
            count: 0,
        }
    }
}

impl Values {
    /// Room for so many notifies of one evaluation.
    pub fn with_room(notifies: usize) -> Self {
        Self { fired: Vec::with_capacity(notifies), ..Self::default() }
    }

    /// Which vector instructions compute them; the same to the bit.
    pub fn set_simd(&mut self, simd: Lanes) {
        self.simd = simd;
    }

    /// Makes room for a plan's.
    pub fn fit(&mut self, bound: &BoundProgram) {
        let (plan, program, layout) = (bound.plan(), bound.program(), &bound.layout);
        self.all.clear();
        self.all.extend(plan.values.iter().map(|value| Wide::splat(*value)));
        self.words.clear();
        self.words.resize(layout.turned(), Wide::default());
        self.at = Parts::of(layout);
        self.active.resize(plan.guards.states.len(), 0);
        self.groups.clear();
        self.groups.resize(program.sync_groups.len(), GroupSteps::STILL);
        self.clocks.clear();
        self.clocks.resize(program.clocks.len(), ClockSteps::STILL);
        self.spots.clear();
        self.spots.resize(plan.spaces.len(), Spots::NOWHERE);
        self.transitions.resize(program.seams.into(), [Transition::OVER; LANES]);
        self.decays.clear();
        self.decays.resize(layout.smooths().len(), Decay::UNKNOWN);
    }

    /// A value of a lane.
    #[inline(always)]
    pub fn get(&self, place: usize, lane: Lane) -> f32 {
        self.all[place].0[lane.get()]
    }

    #[inline(always)]
    fn set(&mut self, place: usize, lane: Lane, value: f32) {
        self.all[place].0[lane.get()] = value;
    }

    /// What its list's shape is guessed by.
    #[inline(always)]
    pub fn guess(&self, lane: Lane) -> Guess {
        Guess { weights: self.answers[lane.get()], states: self.states[lane.get()] }
    }

    /// What a place in a blend space decides.
    #[inline(always)]
    pub fn place(&self, space: u16, lane: Lane) -> u32 {
        self.spots[usize::from(space)].answer(lane)
    }

    /// How far a place in a blend space is to the next point, or the weights of a triangle.
    #[inline(always)]
    pub fn place_weights(&self, space: u16, lane: Lane) -> [f32; 3] {
        self.spots[usize::from(space)].weights(lane)
    }

    /// Whether a lane needs what a guard guards.
    #[inline(always)]
    pub fn is_active(&self, guard: Guard, lane: Lane) -> bool {
        self.active[guard.get()] & lane.mask() != 0
    }

    /// This evaluation's step of a clock, if it runs.
    #[inline(always)]
    pub fn step(&self, bound: &BoundProgram, clock: ClockId, lane: Lane) -> Advance {
        self.clocks[clock.get()].get(&bound.clocks[clock.get()], lane)
    }

    /// What a transition outside of machines is at.
    pub fn transition(&self, seam: SeamId, lane: Lane) -> Transition {
        self.transitions[seam.get()][lane.get()]
    }

    /// Notifies of clips that a lane has left.
    pub fn fired(&self, lane: Lane) -> impl Iterator<Item = Fired> {
        self.fired.iter().filter(move |(of, _)| *of == lane).map(|(_, fired)| *fired)
    }

    /// Begins with other instances.
    pub fn clear(&mut self) {
        self.count = 0;
    }

    /// Takes an instance into the next lane. A full set has no next lane, and takes the last.
    pub fn take(&mut self, dt: f32) -> Lane {
        let lane = Lane::new(self.count);
        self.count = lane.get() + 1;
        self.dt.0[lane.get()] = dt;
        lane
    }

    /// Decides what there is to decide, in all lanes that are taken: blackboard values that are set
    /// go into their parameters, limited to their ranges, what follows from them is found, sync
    /// groups, clocks and machines take their step. With `everything`, also what is not needed.
    pub fn compute(&mut self, bound: &BoundProgram, rows: &mut Rows<'_>, everything: bool) {
        self.fired.clear();
        if self.count == 0 {
            return;
        }
        let plan = bound.plan();
        let taken = Mask::MAX >> (LANES - self.count);
        self.active.fill(if everything { taken } else { 0 });
        self.active[Guard::ALWAYS.get()] = taken;
        if self.count <= FEW {
            return scalar::run(self, bound, plan, rows);
        }
        // The others take part with what somebody else has left there.
        let last = self.dt.0[self.count - 1];
        self.dt.0[self.count..].fill(last);
        enter!(self.simd, scalar::run(self, bound, plan, rows), simd => {
            vector::run(simd, self, bound, plan, rows)
        });
    }
}

/// One of [`LANES`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Lane(u8);

impl Lane {
    /// The lane of a number; of one too large, the last.
    pub fn new(at: usize) -> Self {
        Self(at.min(LANES - 1) as u8)
    }

    #[inline(always)]
    pub fn get(self) -> usize {
        // The range is known without a test then.
        usize::from(self.0) % LANES
    }

    #[inline(always)]
    fn mask(self) -> Mask {
        1 << self.get()
    }
}
