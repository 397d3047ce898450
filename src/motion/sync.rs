//! Sync groups: clips that are blended while they play keep step by sharing a normalized time.
//!
//! Clips with *markers* share it marker by marker: of `k` markers the one with the index `i` is
//! where the group's phase is `i / k` in all of them, and a clip runs evenly between two of its own.

use super::markers::{self, SyncTrack};
use super::{Advance, PlayMode};

/// The shared clock of clips that keep step: footfalls that stand at the same share of a walk and
/// of a run stay together while one is blended into the other.
///
/// The group goes once per evaluation, `dt` times the mean of the clips' rates (`1 / duration`,
/// rounds a second), each weighted as it was in the evaluation before, times a speed of the group's
/// own. Members ignore their own speeds. Whoever joins takes over the phase; when members leave, it
/// stays.
///
/// Between two markers the phase goes as fast as brings the group through the pieces of its round
/// in the times that they take in the clips, weighted in the same way, as shares of the round: a
/// round takes what it takes without markers, and a clip that is alone runs at its own speed
/// throughout.
#[derive(Clone, Copy, Debug, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct SyncGroup {
    phase: f32,
    /// Group seconds per second.
    speed: f32,
    /// Of this evaluation's members together.
    weight: f32,
    /// Sum of their rates, each times its weight. Before any is weighed, the rate that the group
    /// runs at, rounds a second.
    rate: f32,
}

/// One step of a group.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GroupStep {
    /// Share of the round before the step, `0..1`.
    pub from: f32,
    /// Share of the round after it, `0..1`.
    pub to: f32,
    /// Rounds that it crossed, negative backwards. Saturates.
    pub wraps: i32,
    backward: bool,
}

impl Default for SyncGroup {
    fn default() -> Self {
        Self { phase: 0.0, speed: 1.0, weight: 0.0, rate: 0.0 }
    }
}

impl SyncGroup {
    /// A group that starts at a share of its round, `0..1`.
    pub fn at(phase: f32) -> Self {
        let step = PlayMode::Loop.advance(0.0, phase, 1.0);
        Self { phase: step.clock, ..Self::default() }
    }

    /// Moves the phase by `dt` seconds (negative to go back) and begins a new evaluation.
    ///
    /// `first_rate` is the rate of a group that was never weighed, in rounds a second: the mean
    /// over its clips, say. Numbers that are not finite count as zero.
    pub fn advance(&mut self, dt: f32, first_rate: f32) -> GroupStep {
        self.pace(first_rate);
        let dt = dt * self.speed;
        let step = PlayMode::Loop.advance(self.phase, dt * self.rate, 1.0);
        self.phase = step.clock;
        let backward = dt.is_sign_negative();
        GroupStep { from: step.from, to: step.to, wraps: step.wraps, backward }
    }

    /// The same for a group with markers. `pieces` is kept with the group from step to step: for
    /// each marker what the time to the next one takes of a round, as its members have it (before
    /// any was weighed, what [`SyncTrack::shares`] says of one of them, or a mean of several). A
    /// group of no pieces has no markers.
    #[inline]
    pub fn advance_by_markers(
        &mut self,
        dt: f32,
        first_rate: f32,
        pieces: &mut [f32],
    ) -> GroupStep {
        if pieces.is_empty() {
            return self.advance(dt, first_rate);
        }
        // The sums over members become means; nobody may have been weighed.
        let sum: f32 = pieces.iter().sum();
        pieces.iter_mut().for_each(|piece| *piece /= sum);
        self.pace(first_rate);
        let dt = dt * self.speed;
        let began = self.phase;
        let share = markers::share_of(pieces, began);
        let mut step = Advance::STILL;
        PlayMode::Loop.advance_to(&mut step, share, dt * self.rate, 1.0);
        let backward = dt.is_sign_negative();
        if step.moved() {
            let to = markers::phase_of(pieces, step.to);
            // There and back again may round; time does not turn for that.
            self.phase = match (step.wraps, backward) {
                (0, false) => to.max(began),
                (0, true) => to.min(began),
                _ => to,
            };
        }
        GroupStep { from: began, to: self.phase, wraps: step.wraps, backward }
    }

    /// Lets the group run so many times as fast from the next evaluation on, negative to go back; all
    /// its members with it. A number that is not finite is 1.
    pub fn set_speed(&mut self, speed: f32) {
        self.speed = if speed.is_finite() { speed } else { 1.0 };
    }

    /// The rounds a second of the evaluation that begins, from those who were weighed in the last.
    fn pace(&mut self, first_rate: f32) {
        if !self.is_idle() {
            self.rate /= self.weight;
        } else if self.rate == 0.0 && first_rate.is_finite() {
            self.rate = first_rate;
        }
        self.weight = 0.0;
    }

    /// Counts a member of this evaluation: its clip's duration in seconds and its share of the
    /// output. What has no duration or no weight does not count.
    pub fn weigh(&mut self, duration: f32, weight: f32) {
        let rate = 1.0 / duration;
        if Self::counts(rate, weight) {
            self.add(rate, weight);
        }
    }

    /// The same for a member of a group with markers, and what each of its pieces takes into the
    /// group's `pieces`.
    pub fn weigh_markers(&mut self, track: &SyncTrack, weight: f32, pieces: &mut [f32]) {
        if !Self::counts(track.rate(), weight) {
            return;
        }
        if self.is_idle() {
            pieces.fill(0.0);
        }
        self.add(track.rate(), weight);
        pieces.iter_mut().zip(track.shares()).for_each(|(piece, share)| *piece += weight * share);
    }

    fn add(&mut self, rate: f32, weight: f32) {
        let others = if self.is_idle() { 0.0 } else { self.rate };
        self.weight += weight;
        self.rate = others + weight * rate;
    }

    fn counts(rate: f32, weight: f32) -> bool {
        rate > 0.0 && rate.is_finite() && weight > 0.0 && weight.is_finite()
    }

    /// True when no member of this evaluation has had a weight so far.
    pub fn is_idle(&self) -> bool {
        self.weight == 0.0
    }

    /// Share of the round, `0..1`.
    pub fn phase(&self) -> f32 {
        self.phase
    }

    /// Puts the group to the start of its round; the rate stays.
    pub fn restart(&mut self) {
        self.phase = 0.0;
    }
}

impl GroupStep {
    /// One that does not move.
    pub const STILL: Self = Self { from: 0.0, to: 0.0, wraps: 0, backward: false };

    /// One from a share of the round to another, with so many ends of it between them.
    pub(crate) fn new([from, to]: [f32; 2], wraps: i32, backward: bool) -> Self {
        Self { from, to, wraps, backward }
    }

    /// Whether time ran backwards.
    pub(crate) fn is_backward(&self) -> bool {
        self.backward
    }

    /// What the step is in the clip of a member, `duration` seconds long: one of a loop.
    pub fn member(&self, duration: f32) -> Advance {
        Advance::of_loop([self.from, self.to], self.wraps, self.backward, duration)
    }

    /// What the step is in the clip of a member that has the group's markers.
    #[inline]
    pub fn member_by_markers(&self, track: &SyncTrack) -> Advance {
        let duration = track.seconds();
        if !track.has_markers() {
            return self.member(duration);
        }
        // The clip's own round ends somewhere within the group's.
        let [from, to] = [self.from, self.to].map(|phase| track.since_first(phase));
        let rest = |seconds: f32| if seconds >= duration { seconds - duration } else { seconds };
        let ends = i32::from(to >= duration) - i32::from(from >= duration);
        let wraps = self.wraps.saturating_add(ends);
        Advance::of_seconds([rest(from), rest(to)], wraps, self.backward, duration)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const WALK: f32 = 0.9333;
    const RUN: f32 = 0.6667;

    #[test]
    fn the_group_runs_at_the_weighted_mean_of_the_rates_of_the_evaluation_before() {
        let mut group = SyncGroup::default();
        group.weigh(WALK, 0.25);
        group.weigh(RUN, 0.75);
        let rate = 0.25 / WALK + 0.75 / RUN;
        let step = group.advance(0.1, 9.0);
        assert!((step.to - 0.1 * rate).abs() < 1e-6, "{step:?}");
        // Weights need not sum to one: a layer above counts beside the base.
        group.weigh(WALK, 2.0);
        let step = group.advance(0.1, 9.0);
        assert!((step.to - step.from - 0.1 / WALK).abs() < 1e-6, "{step:?}");
    }

    #[test]
    fn a_group_without_weights_keeps_its_rate_and_a_new_one_takes_the_first() {
        let mut group = SyncGroup::default();
        assert!((group.advance(0.1, 2.0).to - 0.2).abs() < 1e-6);
        group.weigh(0.25, 1.0);
        group.advance(0.05, 2.0);
        assert!(group.is_idle());
        let step = group.advance(0.05, 2.0);
        assert!((step.to - step.from - 0.2).abs() < 1e-6, "four rounds a second: {step:?}");
    }

    #[test]
    fn members_of_any_length_stand_at_the_same_share_and_cross_the_same_rounds() {
        let mut group = SyncGroup::default();
        group.weigh(WALK, 1.0);
        for dt in [0.2, 0.4, 1.9, -0.3, -2.2, 0.0] {
            let step = group.advance(dt, 1.0);
            for duration in [WALK, RUN, 5.0] {
                let member = step.member(duration);
                assert!((member.to / duration - step.to).abs() < 1e-6);
                assert!(member.to < duration && member.wraps == step.wraps);
            }
            group.weigh(WALK, 1.0);
        }
        assert_eq!(group.advance(0.5, 1.0).member(0.0).to, 0.0);
    }

    #[test]
    fn who_joins_takes_over_the_phase_and_who_leaves_does_not_change_it() {
        let mut group = SyncGroup::default();
        group.weigh(WALK, 1.0);
        group.advance(0.7 * WALK, 1.0);
        let before = group.phase();
        group.weigh(WALK, 0.5);
        group.weigh(RUN, 0.5);
        assert_eq!(group.advance(0.0, 1.0).member(RUN).from, before * RUN);
        group.weigh(RUN, 1.0);
        assert_eq!(group.advance(0.0, 1.0).from, before);
    }

    #[test]
    fn numbers_that_are_none_do_not_move_a_group() {
        let mut group = SyncGroup::default();
        for (duration, weight) in
            [(0.0, 1.0), (-1.0, 1.0), (f32::NAN, 1.0), (1.0, f32::NAN), (1.0, -1.0), (1e-45, 1.0)]
        {
            group.weigh(duration, weight);
        }
        assert!(group.is_idle());
        group.advance(1.0, f32::NAN);
        assert_eq!(group.phase(), 0.0);
        group.weigh(1.0, 1.0);
        group.advance(f32::INFINITY, 1.0);
        assert_eq!(group.phase(), 0.0);
    }

    #[test]
    fn a_group_has_a_speed_from_the_next_evaluation_on() {
        let mut group = SyncGroup::default();
        group.set_speed(0.5);
        assert!((group.advance(0.1, 2.0).to - 0.1).abs() < 1e-6);
        group.set_speed(-1.0);
        let back = group.advance(0.2, 2.0);
        assert!((back.to - 0.7).abs() < 1e-6 && back.wraps == -1, "{back:?}");
        let member = back.member(WALK);
        assert!(member.stretches(false).all(|stretch| stretch.backward));
        group.set_speed(f32::NAN);
        assert!((group.advance(0.05, 2.0).to - 0.8).abs() < 1e-6);
    }

    proptest! {
        #[test]
        fn feet_of_a_walk_and_a_run_stay_together_through_any_blend(
            weights in prop::collection::vec(0.0f32..=1.0, 1..80), dt in 0.0f32..0.1,
        ) {
            let mut group = SyncGroup::default();
            let (mut walked, mut ran) = (0.0_f64, 0.0_f64);
            let mut rounds = 0.0_f64;
            let mut rate = 1.0 / f64::from(WALK);
            for w in weights {
                let step = group.advance(dt, 1.0 / WALK);
                rounds += rate * f64::from(dt);
                let (a, b) = (step.member(WALK), step.member(RUN));
                walked += f64::from(a.wraps) + f64::from((a.to - a.from) / WALK);
                ran += f64::from(b.wraps) + f64::from((b.to - b.from) / RUN);
                group.weigh(WALK, 1.0 - w);
                group.weigh(RUN, w);
                let w = f64::from(w);
                rate = (1.0 - w) / f64::from(WALK) + w / f64::from(RUN);
            }
            prop_assert!((walked - ran).abs() < 1e-3, "{walked} {ran}");
            prop_assert!((walked - rounds).abs() < 1e-3, "{walked} {rounds}");
        }
    }
}
