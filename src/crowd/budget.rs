//! A limit on what evaluation may take: where it is over, distant characters are evaluated less
//! often and by fewer bones than their own distances say, the farthest first.
//!
//! A plan is one number, the scale of the gates' distances. What a plan takes is known before it is
//! tried, from a census of distances and from what an evaluation took lately; so the controller
//! aims instead of feeling its way, and has nothing to oscillate with.

use super::census::Counted;
use super::error::CrowdError;
use super::rate::Gates;

/// Share of those with a palette slot, the nearest, who are never downgraded.
const SPARED: f32 = 0.1;
/// Share of the limit that is aimed at: the rest is for frames that are not like the last ones.
const AIM: f32 = 0.93;
/// A plan that misses the aim by less than this share stays as it is.
const CALM: f32 = 0.03;
/// Of what is off, the share that one frame corrects: over the limit, and below it.
const HASTE: (f32, f32) = (0.3, 0.15);
/// Frames over which the cost of an evaluation is taken, by its median: a frame in which the system
/// did something else says nothing.
const WINDOW: usize = 15;
/// Change of quality that is worth a line in the log, and frames between lines.
const TOLD_AGAIN: f32 = 0.05;
const SILENCE: u32 = 60;
/// Scales are powers of two up to this either way.
const MOST_OCTAVES: f32 = 12.0;

/// What a budget has come to.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BudgetStats {
    /// Milliseconds that evaluation may take.
    pub limit_ms: f32,
    /// Milliseconds that an evaluation took lately, workers in parallel.
    pub ms_each: f32,
    /// Evaluations a frame by everybody's own distances.
    pub wanted: f32,
    /// Evaluations a frame as planned.
    pub planned: f32,
    /// Evaluated less often than by their own distance, because of the budget.
    pub slower: u32,
    /// Evaluated by the first bones alone, because of the budget.
    pub shorter: u32,
    /// Distance over radius past which the budget has downgraded anybody; infinite for nobody.
    pub from: f32,
}

impl BudgetStats {
    /// Evaluations planned over those wanted, 0 to 1.
    pub fn quality(&self) -> f32 {
        if self.wanted > 0.0 { (self.planned / self.wanted).min(1.0) } else { 1.0 }
    }
}

/// The controller.
#[derive(Clone, Debug)]
pub(crate) struct Budget {
    limit_ms: f32,
    /// Milliseconds an evaluation, of the last frames.
    costs: [f32; WINDOW],
    frames: usize,
    /// Binary logarithm of the scale of distances.
    octaves: f32,
    /// Nobody nearer is downgraded.
    spared: f32,
    stats: BudgetStats,
    /// What the log was told last, and how many frames ago.
    told: BudgetStats,
    silent: u32,
}

impl Budget {
    /// # Errors
    /// [`CrowdError::OutOfRange`] for a number that is no limit.
    pub fn check(value: f32) -> Result<(), CrowdError> {
        if value.is_finite() && value > 0.0 {
            return Ok(());
        }
        let what = "the budget in milliseconds".to_owned();
        Err(CrowdError::OutOfRange { what, value, range: "finite and above 0" })
    }

    pub fn new(limit_ms: f32) -> Self {
        let stats = BudgetStats { limit_ms, from: f32::INFINITY, ..BudgetStats::default() };
        Self {
            limit_ms,
            costs: [0.0; WINDOW],
            frames: 0,
            octaves: MOST_OCTAVES,
            spared: f32::INFINITY,
            stats,
            told: stats,
            silent: 0,
        }
    }

    pub fn stats(&self) -> BudgetStats {
        self.stats
    }

    /// The distances of the next frame, where everybody's own are those of `own`.
    pub fn gates(&self, own: &Gates) -> Gates {
        self.scaled(own, self.octaves)
    }

    fn scaled(&self, own: &Gates, octaves: f32) -> Gates {
        let scale = octaves.exp2();
        let own_at = |on: bool, distance: f32| if on { distance } else { f32::INFINITY };
        let at = |on, distance: f32| (distance * scale).max(self.spared).min(own_at(on, distance));
        Gates {
            update_rate: true,
            rate_distances: own.rate_distances.map(|distance| at(own.update_rate, distance)),
            skeleton_lod: true,
            lod_distance: at(own.skeleton_lod, own.lod_distance),
        }
    }

    /// Learns what a frame took, and plans the next one. `counted` are those with a palette slot.
    pub fn learn(&mut self, ms: f32, evaluated: u32, counted: &Counted, own: &Gates) {
        if evaluated > 0 && ms.is_finite() {
            self.costs[self.frames % WINDOW] = ms / evaluated as f32;
            self.frames += 1;
        }
        let cost = self.cost();
        self.spared = counted.quantile(SPARED);
        let allowed = if cost > 0.0 { AIM * self.limit_ms / cost } else { f32::INFINITY };
        let planned = counted.evaluations(&self.gates(own));
        let off = planned / allowed - 1.0;
        // Who has room to spare and downgrades nobody has nothing to do.
        if off.abs() > CALM {
            let aim = self.aim(counted, own, allowed);
            let haste = if off > 0.0 { HASTE.0 } else { HASTE.1 };
            self.octaves += (aim - self.octaves) * haste;
        }
        let gates = self.gates(own);
        let (slower, shorter) = counted.downgraded(&gates, own);
        self.stats = BudgetStats {
            limit_ms: self.limit_ms,
            ms_each: cost,
            wanted: counted.evaluations(own),
            planned: counted.evaluations(&gates),
            slower,
            shorter,
            from: if slower + shorter > 0 { nearest(&gates, own) } else { f32::INFINITY },
        };
        self.tell();
    }

    /// Tells the log who is downgraded and why, when that is not what it was told last.
    fn tell(&mut self) {
        self.silent = self.silent.saturating_add(1);
        let BudgetStats { limit_ms, ms_each, wanted, planned, slower, shorter, from } = self.stats;
        let changed = (self.stats.quality() - self.told.quality()).abs() > TOLD_AGAIN
            || (slower + shorter > 0) != (self.told.slower + self.told.shorter > 0);
        if self.silent < SILENCE || !changed {
            return;
        }
        (self.told, self.silent) = (self.stats, 0);
        let needs = ms_each * wanted;
        if slower + shorter == 0 {
            tracing::info!(target: "throng::budget", "{needs:.2} of {limit_ms} ms: all as they are");
            return;
        }
        tracing::info!(
            target: "throng::budget",
            "evaluation needs {needs:.2} ms and may take {limit_ms} ms: past {from:.1} radii from the \
             camera {slower} characters are evaluated less often and {shorter} by their first bones \
             alone; {planned:.0} evaluations a frame of {wanted:.0}"
        );
    }

    /// The largest scale that takes no more than is allowed; evaluations grow with it.
    fn aim(&self, counted: &Counted, own: &Gates, allowed: f32) -> f32 {
        let (mut low, mut high) = (-MOST_OCTAVES, MOST_OCTAVES);
        for _ in 0..16 {
            let middle = 0.5 * (low + high);
            if counted.evaluations(&self.scaled(own, middle)) > allowed {
                high = middle;
            } else {
                low = middle;
            }
        }
        low
    }

    /// Milliseconds that an evaluation took lately: the median.
    fn cost(&self) -> f32 {
        let mut costs = self.costs;
        let known = &mut costs[..self.frames.min(WINDOW)];
        known.sort_unstable_by(f32::total_cmp);
        known.get(known.len() / 2).copied().unwrap_or(0.0)
    }
}

/// The least distance at which a plan treats anybody otherwise.
fn nearest(gates: &Gates, own: &Gates) -> f32 {
    let rates = gates.rate_distances.iter().zip(&own.rate_distances);
    let differs = rates.filter(|(now, own_at)| now < own_at || !own.update_rate);
    let lod =
        (gates.lod_distance < own.lod_distance || !own.skeleton_lod).then_some(gates.lod_distance);
    differs.map(|(now, _)| *now).chain(lod).fold(f32::INFINITY, f32::min)
}

#[cfg(test)]
mod tests;
