//! Values of sixteen instances at once.
//!
//! Much of what decides follows from what an instance is given alone: its parameters, the step of
//! time, and smoothed values, which have nothing but those. None of it branches, so it is computed
//! for [`LANES`] instances of one program together, an opcode after the other, each in all lanes.
//! The first words of their rows are turned for it, so that a word's lanes lie together, and back
//! again. The step of sync groups, which wait for nobody either, is taken here as well. What takes
//! a course of its own in each instance (clocks, machines, what they wake, the list) comes after
//! that, one instance at a time, and finds the values of its lane.
//!
//! Every lane's bits are those that the scalar twin computes, and no lane sees another: who is
//! evaluated together with whom is no part of any result.

mod functions;
mod groups;
mod scalar;
#[cfg(test)]
mod tests;
mod vector;

use super::control::Layout;
use super::groups::Groups;
use super::plan::Plan;
use crate::math::Lanes;
use crate::motion::GroupStep;
use crate::pose::kernels::enter;
use fearless_simd::prelude::*;
use fearless_simd::{Simd, f32x16};
use groups::Steps;

/// Instances whose values are computed together, at most.
pub const LANES: usize = 16;
/// Words of a row that are turned into lanes together.
const BLOCK: usize = 8;

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

/// The values of the instances of one plan that are evaluated together.
#[derive(Debug)]
pub(super) struct Values {
    simd: Lanes,
    /// By place.
    all: Vec<Wide>,
    /// The first words of rows, as far as they are computed here: by word, and as they lie in rows,
    /// [`BLOCK`] words of each lane after the other.
    words: Vec<Wide>,
    rows: Vec<[f32; BLOCK]>,
    /// Where the parts of a row begin among the words.
    keys: usize,
    smooths: usize,
    groups: usize,
    pieces: usize,
    /// By sync group.
    steps: Vec<Steps>,
    decays: Vec<Decay>,
    /// Seconds of each lane's step.
    dt: Wide,
    /// What the weights that poses ask for come to in each lane, see [`Plan::asked`].
    answers: [u32; LANES],
    /// Lanes that are taken.
    count: usize,
}

impl Default for Values {
    fn default() -> Self {
        Self {
            simd: Lanes::best(),
            all: Vec::new(),
            words: Vec::new(),
            rows: Vec::new(),
            keys: 0,
            smooths: 0,
            groups: 0,
            pieces: 0,
            steps: Vec::new(),
            decays: Vec::new(),
            dt: Wide::default(),
            answers: [0; LANES],
            count: 0,
        }
    }
}

impl Values {
    /// Which vector instructions compute them; the same to the bit.
    pub fn set_simd(&mut self, simd: Lanes) {
        self.simd = simd;
    }

    /// Makes room for a plan's.
    pub fn fit(&mut self, plan: &Plan, layout: &Layout, groups: usize) {
        let (smooths, pieces) = (layout.smooths(), layout.pieces());
        self.all.clear();
        self.all.extend(plan.values.iter().map(|value| Wide::splat(*value)));
        let blocks = pieces.end.div_ceil(BLOCK);
        self.words.clear();
        self.words.resize(blocks * BLOCK, Wide::default());
        self.rows.clear();
        self.rows.resize(blocks * LANES, [0.0; BLOCK]);
        (self.keys, self.smooths) = (layout.keys().start, smooths.start);
        (self.groups, self.pieces) = (layout.groups().start, pieces.start);
        self.steps.clear();
        self.steps.resize(groups, Steps::STILL);
        self.decays.clear();
        self.decays.resize(smooths.len(), Decay::UNKNOWN);
    }

    /// A value of a lane.
    #[inline(always)]
    pub fn get(&self, place: usize, lane: Lane) -> f32 {
        self.all[place].0[lane.get()]
    }

    #[inline(always)]
    pub fn set(&mut self, place: usize, lane: Lane, value: f32) {
        self.all[place].0[lane.get()] = value;
    }

    /// What the weights that poses ask for come to.
    #[inline(always)]
    pub fn answers(&self, lane: Lane) -> u32 {
        self.answers[lane.get()]
    }

    /// What the step of each sync group is.
    pub fn steps(&self, lane: Lane) -> impl Iterator<Item = GroupStep> {
        self.steps.iter().map(move |steps| steps.get(lane))
    }

    /// Begins with other instances.
    pub fn clear(&mut self) {
        self.count = 0;
    }

    /// Takes an instance into the next lane. A full set has no next lane, and takes the last.
    pub fn take(&mut self, row: &[u32], dt: f32) -> Lane {
        let lane = Lane::new(self.count);
        self.count = lane.get() + 1;
        self.dt.0[lane.get()] = dt;
        let row: &[f32] = bytemuck::cast_slice(row);
        for (to, from) in self.rows.chunks_exact_mut(LANES).zip(row.chunks(BLOCK)) {
            let to = &mut to[lane.get()];
            match from.as_array() {
                Some(from) => *to = *from,
                None => to[..from.len()].copy_from_slice(from),
            }
        }
        lane
    }

    /// Computes what is computed ahead, in all lanes that are taken: blackboard values that are set
    /// go into their parameters, limited to their ranges, what follows from them is found, and sync
    /// groups take their step.
    pub fn compute(&mut self, plan: &Plan, groups: &Groups) {
        // The others take part with what somebody else has left there.
        let last = self.dt.0[self.count.saturating_sub(1)];
        self.dt.0[self.count..].fill(last);
        enter!(self.simd, scalar::run(self, plan, groups), simd => {
            vector::run(simd, self, plan, groups)
        });
    }

    /// Puts back what an instance keeps of it: parameters, smoothed values, sync groups.
    pub fn put_back(&self, row: &mut [u32], lane: Lane) {
        let row: &mut [f32] = bytemuck::cast_slice_mut(row);
        for (to, from) in row.chunks_mut(BLOCK).zip(self.rows.chunks_exact(LANES)) {
            let from = &from[lane.get()];
            match to.as_mut_array() {
                Some(to) => *to = *from,
                None => to.copy_from_slice(&from[..to.len()]),
            }
        }
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
}
