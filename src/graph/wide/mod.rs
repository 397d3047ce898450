//! Values of sixteen instances at once.
//!
//! Much of what decides follows from what an instance is given alone: its parameters, the step of
//! time, and smoothed values, which have nothing but those. None of it branches, so it is computed
//! for [`LANES`] instances of one program together, an opcode after the other, each in all lanes.
//! What takes a course of its own in each instance (clocks, machines, what they wake, the list)
//! comes after that, one instance at a time, and finds the values of its lane.
//!
//! Every lane's bits are those that the scalar twin computes, and no lane sees another: who is
//! evaluated together with whom is no part of any result.

mod functions;
mod scalar;
#[cfg(test)]
mod tests;
mod vector;

use super::control::Layout;
use super::plan::Plan;
use crate::math::Lanes;
use crate::pose::kernels::enter;
use fearless_simd::prelude::*;
use fearless_simd::{Simd, f32x16};

/// Instances whose values are computed together, at most.
pub const LANES: usize = 16;

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
    /// By smoothed value, what it was.
    kept: Vec<Wide>,
    decays: Vec<Decay>,
    /// Seconds of each lane's step.
    dt: Wide,
    /// Lanes that are taken.
    count: usize,
}

impl Default for Values {
    fn default() -> Self {
        Self {
            simd: Lanes::best(),
            all: Vec::new(),
            kept: Vec::new(),
            decays: Vec::new(),
            dt: Wide::default(),
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
    pub fn fit(&mut self, plan: &Plan, smooths: usize) {
        self.all.clear();
        self.all.extend(plan.values.iter().map(|value| Wide::splat(*value)));
        self.kept.clear();
        self.kept.resize(smooths, Wide::default());
        self.decays.clear();
        self.decays.resize(smooths, Decay::UNKNOWN);
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

    /// Begins with other instances.
    pub fn clear(&mut self) {
        self.count = 0;
    }

    /// Takes what an instance has been given into the next lane: blackboard values that are set go
    /// into their parameters, limited to their ranges. A full set has no next lane, and takes the
    /// last.
    pub fn take(&mut self, plan: &Plan, layout: &Layout, row: &mut [u32], dt: f32) -> Lane {
        let lane = Lane::new(self.count);
        self.count = lane.get() + 1;
        let (params, keys) = layout.given(row);
        for (key, (param, limits)) in keys.iter().zip(&plan.refills) {
            let value = f32::from_bits(*key);
            if !value.is_nan() {
                params[param.get()] = limits.limited(value).to_bits();
            }
        }
        for (value, param) in self.all.iter_mut().zip(&*params) {
            value.0[lane.get()] = f32::from_bits(*param);
        }
        self.set(params.len(), lane, dt);
        self.dt.0[lane.get()] = dt;
        for (kept, word) in self.kept.iter_mut().zip(&row[layout.smooths()]) {
            kept.0[lane.get()] = f32::from_bits(*word);
        }
        lane
    }

    /// Computes what is computed ahead, in all lanes that are taken.
    pub fn compute(&mut self, plan: &Plan) {
        // The others take part with what somebody else has left there.
        let last = self.dt.0[self.count.saturating_sub(1)];
        self.dt.0[self.count..].fill(last);
        enter!(self.simd, scalar::run(self, &plan.ahead), simd => {
            vector::run(simd, self, &plan.ahead)
        });
    }

    /// Puts back what is kept of a lane's smoothed values.
    pub fn put_back(&self, smooths: &mut [f32], lane: Lane) {
        for (to, kept) in smooths.iter_mut().zip(&self.kept) {
            *to = kept.0[lane.get()];
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
