//! Clocks inside clips: what a step of time does at a clip's ends, and which stretches of the clip
//! it passes.

/// What a clock does at the ends of its clip.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum PlayMode {
    /// Starts over, in both directions.
    #[default]
    Loop,
    /// Stops at the end that it runs to and says that it is finished.
    Once,
    /// Holds the end that it runs to and is never finished.
    Clamp,
    /// Turns round at both ends, for ever.
    PingPong,
}

/// One step of a clock.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Advance {
    /// Seconds inside the clip before the step, `0..=duration`.
    pub from: f32,
    /// Seconds inside the clip after it: in `0..duration` for a loop, `0..=duration` otherwise.
    pub to: f32,
    /// What the clock shows after the step, to be kept for the next one: `to`, except for a
    /// ping-pong, whose clock runs in `0..2 * duration` and is on its way back past `duration`.
    pub clock: f32,
    /// Ends that the step crossed: rounds of a loop, turns of a ping-pong; negative when time ran
    /// backwards. Saturates.
    pub wraps: i32,
    /// A clock that plays once stands at the end that it was running to.
    pub finished: bool,
    /// What the clock showed before the step.
    began: f32,
    duration: f32,
    mode: PlayMode,
    backward: bool,
}

/// A stretch of a clip that a step passed in one direction, its ends in the order of passing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stretch {
    /// Seconds inside the clip.
    pub from: f32,
    /// Seconds inside the clip; below `from` when the clip was passed backwards.
    pub to: f32,
    /// Whether what lies at `from` itself was passed by this step. It was not when the step before
    /// arrived there; it was when a loop came round to it.
    pub with_from: bool,
    /// The direction of passing, also where both ends are one.
    pub backward: bool,
}

impl PlayMode {
    /// Rounds that one step counts, at most.
    const MAX_ROUNDS: f64 = (1 << 29) as f64;

    /// Moves a clock that shows `clock` seconds by `dt` seconds of clip time (world seconds times
    /// the clip's speed; negative to go back) in a clip of `duration` seconds.
    ///
    /// A clip without a length stays at zero; a step that is not a finite number does not move, and
    /// a clock that is not a number stands at zero. A step of negative zero is one of a clock that
    /// runs back and stands still: its end is the clip's start.
    #[inline]
    pub fn advance(self, clock: f32, dt: f32, duration: f32) -> Advance {
        let backward = dt.is_sign_negative();
        if !(duration > 0.0 && duration.is_finite()) {
            let finished = self == Self::Once;
            return Advance {
                from: 0.0,
                to: 0.0,
                clock: 0.0,
                wraps: 0,
                finished,
                began: 0.0,
                duration: 0.0,
                mode: self,
                backward,
            };
        }
        let length = f64::from(duration);
        let round = self.round(duration);
        let began = if clock > 0.0 { clock.min(round as f32) } else { 0.0 };
        let dt = if dt.is_finite() { dt } else { 0.0 };
        // In f64, because a step after a long absence is large beside the clip.
        let reached = f64::from(began) + f64::from(dt);
        let (clock, wraps) = match self {
            Self::Loop | Self::PingPong => {
                // The remainder is exact, so a huge step still arrives inside the clip. Most steps
                // stay in their round, and a remainder takes longer than all else here.
                let inside = reached >= 0.0 && reached < round;
                let rest = if inside { reached } else { reached.rem_euclid(round) } as f32;
                // Rounding can land on the end itself, which is the start of the next round.
                let clock = if f64::from(rest) < round { rest } else { 0.0 };
                let rounds = match inside && clock == rest {
                    true => 0.0,
                    false => ((reached - f64::from(clock)) / round).round(),
                };
                let rounds = rounds.clamp(-Self::MAX_ROUNDS, Self::MAX_ROUNDS);
                let leg = |clock: f32| f64::from(u8::from(f64::from(clock) >= length));
                let wraps = match self {
                    Self::PingPong => 2.0 * rounds + leg(clock) - leg(began),
                    _ => rounds,
                };
                (clock, wraps as i32)
            }
            Self::Once | Self::Clamp => (reached.clamp(0.0, length) as f32, 0),
        };
        let end = if backward { clock <= 0.0 } else { clock >= duration };
        Advance {
            from: self.seconds(began, duration),
            to: self.seconds(clock, duration),
            clock,
            wraps,
            finished: self == Self::Once && end,
            began,
            duration,
            mode: self,
            backward,
        }
    }

    /// The same, put where it is kept. Most steps of most clocks stay in the round of a loop: those
    /// do not go through memory first.
    #[inline(always)]
    pub fn advance_to(self, step: &mut Advance, clock: f32, dt: f32, duration: f32) {
        let began = if clock > 0.0 { clock.min(duration) } else { 0.0 };
        // In f64, as longer steps are.
        let reached = f64::from(began) + f64::from(dt);
        let to = reached as f32;
        let inside = reached >= 0.0 && to < duration && duration < f32::INFINITY;
        if self != Self::Loop || !inside {
            *step = self.advance(clock, dt, duration);
            return;
        }
        step.from = began;
        step.to = to;
        step.clock = to;
        step.wraps = 0;
        step.finished = false;
        step.began = began;
        step.duration = duration;
        step.mode = self;
        step.backward = dt.is_sign_negative();
    }

    /// Where in the clip a clock stands: seconds in `0..=duration`.
    pub fn seconds(self, clock: f32, duration: f32) -> f32 {
        match self {
            Self::PingPong if clock > duration => (2.0 * duration - clock).max(0.0),
            _ if clock > 0.0 => clock.min(duration.max(0.0)),
            _ => 0.0,
        }
    }

    /// What a clock has to show to stand at a share (`0..=1`) of its round.
    pub fn clock_at(self, share: f32, duration: f32) -> f32 {
        if duration > 0.0 { share.clamp(0.0, 1.0) * self.round(duration) as f32 } else { 0.0 }
    }

    /// Seconds after which a clock is back where it was.
    fn round(self, duration: f32) -> f64 {
        f64::from(duration) * if self == Self::PingPong { 2.0 } else { 1.0 }
    }
}

impl Advance {
    /// One of a loop that does not move.
    pub const STILL: Self = Self {
        from: 0.0,
        to: 0.0,
        clock: 0.0,
        wraps: 0,
        finished: false,
        began: 0.0,
        duration: 0.0,
        mode: PlayMode::Loop,
        backward: false,
    };

    /// One that crosses no end, of any mode but a ping-pong, between two times of its clip.
    #[inline]
    pub(crate) fn within(
        mode: PlayMode,
        [from, to]: [f32; 2],
        duration: f32,
        [backward, finished]: [bool; 2],
    ) -> Self {
        Self { from, to, clock: to, wraps: 0, finished, began: from, duration, mode, backward }
    }

    /// The most stretches that [`Advance::stretches`] gives; of a longer step, the last ones.
    pub const MAX_STRETCHES: i32 = 1 << 10;

    /// A step of a loop from one share of its round to another, with `wraps` rounds between them.
    pub(super) fn of_loop(shares: [f32; 2], wraps: i32, backward: bool, duration: f32) -> Self {
        Self::of_seconds(shares.map(|share| share * duration), wraps, backward, duration)
    }

    /// The same between two times of its clip.
    #[inline]
    pub(super) fn of_seconds(at: [f32; 2], wraps: i32, backward: bool, duration: f32) -> Self {
        let mode = PlayMode::Loop;
        if !(duration > 0.0 && duration.is_finite()) {
            return mode.advance(0.0, 0.0, 0.0);
        }
        // What is just below the duration may have been rounded up to the end, which is not inside.
        let [from, to] = at.map(|seconds| seconds.clamp(0.0, duration.next_down()));
        Self { from, to, clock: to, wraps, finished: false, began: from, duration, mode, backward }
    }

    /// False for a step of zero, and for one that an end held back entirely.
    pub fn moved(&self) -> bool {
        self.began != self.clock || self.wraps != 0
    }

    /// Rounds that a loop went through; zero for the other modes, which never jump from one end of
    /// the clip to the other.
    pub fn rounds(&self) -> i32 {
        if self.mode == PlayMode::Loop { self.wraps } else { 0 }
    }

    /// True at the ends of a clip that is played back and forth: playback turns round there.
    pub fn turns_at(&self, seconds: f32) -> bool {
        self.mode == PlayMode::PingPong && (seconds <= 0.0 || seconds >= self.duration)
    }

    /// Share of the clip before and after the step, `0..=1`; zero in a clip without length.
    pub fn normalized(&self) -> [f32; 2] {
        let share = |t: f32| if self.duration > 0.0 { (t / self.duration).min(1.0) } else { 0.0 };
        [share(self.from), share(self.to)]
    }

    /// The stretches of the clip that the step passed, in the order of passing. Each one ends with
    /// the point that it arrives at; the first is without the point that it sets out from, unless
    /// `with_start` says that nothing has arrived there before.
    ///
    /// A loop's end and its start are two points, passed one after the other. A ping-pong's turn is
    /// one point. A step that did not move passes nothing.
    pub fn stretches(&self, with_start: bool) -> impl Iterator<Item = Stretch> + use<> {
        let this = *self;
        let turns = this.mode == PlayMode::PingPong;
        // Legs are counted from the one the round of `began` starts with; a ping-pong's odd ones
        // lead back.
        let first = i32::from(turns && this.began >= this.duration);
        let last = first + this.wraps;
        let way = if this.backward { -1 } else { 1 };
        let count = if this.moved() { this.wraps.abs() + 1 } else { 0 };
        let skipped = (count - Self::MAX_STRETCHES).max(0);
        let in_leg = move |clock: f32, leg: i32| {
            if turns && leg.rem_euclid(2) == 1 { clock - this.duration } else { clock }
        };
        (skipped..count).map(move |i| {
            let leg = first + way * i;
            let [start, end] =
                if this.backward { [this.duration, 0.0] } else { [0.0, this.duration] };
            let a = if i == 0 { in_leg(this.began, leg) } else { start };
            let b = if leg == last { in_leg(this.clock, leg) } else { end };
            let back = turns && leg.rem_euclid(2) == 1;
            let seconds = |t: f32| if back { this.duration - t } else { t };
            let with_from = if i == 0 { with_start } else { !turns };
            let (from, to) = (seconds(a), seconds(b));
            Stretch { from, to, with_from, backward: this.backward != back }
        })
    }
}

impl Stretch {
    /// Whether the stretch passed a point of the clip.
    pub fn passes(&self, seconds: f32) -> bool {
        let inside = match self.backward {
            false => seconds > self.from && seconds <= self.to,
            true => seconds < self.from && seconds >= self.to,
        };
        inside || (self.with_from && seconds == self.from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MODES: [PlayMode; 4] =
        [PlayMode::Loop, PlayMode::Once, PlayMode::Clamp, PlayMode::PingPong];

    fn ends(step: &Advance, with_start: bool) -> Vec<(f32, f32, bool)> {
        step.stretches(with_start).map(|s| (s.from, s.to, s.with_from)).collect()
    }

    #[test]
    fn a_loop_counts_the_ends_it_crosses_in_both_directions() {
        let step = PlayMode::Loop.advance(1.5, 5.0, 2.0);
        assert_eq!((step.to, step.wraps, step.finished), (0.5, 3, false));
        let back = PlayMode::Loop.advance(0.5, -1.0, 2.0);
        assert_eq!((back.to, back.wraps), (1.5, -1));
        let end = PlayMode::Loop.advance(1.0, 1.0, 2.0);
        assert_eq!((end.to, end.wraps), (0.0, 1), "the end is the next round's start");
    }

    #[test]
    fn once_stops_at_the_end_it_runs_to_and_says_so_and_clamp_only_holds() {
        let once = PlayMode::Once.advance(1.5, 1.0, 2.0);
        assert_eq!((once.to, once.wraps, once.finished), (2.0, 0, true));
        assert!(!PlayMode::Once.advance(1.5, 0.4, 2.0).finished);
        let back = PlayMode::Once.advance(0.5, -1.0, 2.0);
        assert_eq!((back.to, back.finished), (0.0, true));
        assert!(!PlayMode::Once.advance(0.0, 0.1, 2.0).finished);
        assert!(!PlayMode::Once.advance(2.0, -0.1, 2.0).finished, "it has just set out");
        assert!(!PlayMode::Once.advance(2.0, -0.0, 2.0).finished, "and waits to set out");
        let clamp = PlayMode::Clamp.advance(1.5, 1.0, 2.0);
        assert_eq!((clamp.to, clamp.finished), (2.0, false));
        assert_eq!(PlayMode::Clamp.advance(0.5, -1.0, 2.0).to, 0.0);
    }

    #[test]
    fn a_ping_pong_turns_at_both_ends_and_its_clock_knows_which_way_it_goes() {
        let mode = PlayMode::PingPong;
        let step = mode.advance(1.5, 1.0, 2.0);
        assert_eq!((step.to, step.clock, step.wraps), (1.5, 2.5, 1));
        let on = mode.advance(step.clock, 1.0, 2.0);
        assert_eq!((on.from, on.to, on.wraps), (1.5, 0.5, 0));
        let far = mode.advance(0.5, 11.0, 2.0);
        assert_eq!((far.to, far.clock, far.wraps), (0.5, 3.5, 5));
        let back = mode.advance(0.5, -1.0, 2.0);
        assert_eq!((back.to, back.clock, back.wraps), (0.5, 3.5, -1));
        let turn = mode.advance(1.0, 1.0, 2.0);
        assert_eq!((turn.to, turn.clock, turn.wraps), (2.0, 2.0, 1));
        let round = mode.advance(3.0, 1.0, 2.0);
        assert_eq!((round.to, round.clock, round.wraps), (0.0, 0.0, 1));
    }

    #[test]
    fn a_still_clip_and_a_step_that_is_no_number_stay() {
        for mode in MODES {
            for duration in [0.0, -1.0, f32::NAN, f32::INFINITY] {
                let step = mode.advance(0.7, 1.0, duration);
                assert_eq!((step.from, step.to, step.wraps), (0.0, 0.0, 0), "{mode:?} {duration}");
                assert_eq!(step.stretches(true).count(), 0);
                assert_eq!(step.normalized(), [0.0; 2]);
            }
            for still in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 0.0, -0.0] {
                let step = mode.advance(0.7, still, 2.0);
                assert!(step.to == 0.7 && !step.moved(), "{mode:?} {still}");
                assert_eq!(step.stretches(true).count(), 0);
            }
            assert_eq!(mode.advance(f32::NAN, 0.5, 2.0).to, 0.5);
        }
    }

    #[test]
    fn a_step_of_any_size_ends_inside_the_clip_and_within_the_limit_of_stretches() {
        for mode in MODES {
            for dt in [1e3, 1e7, 1e30, f32::MAX] {
                for dt in [dt, -dt] {
                    for duration in [1e-30, 1e-3, 0.7, 1e9] {
                        let step = mode.advance(0.5 * duration, dt, duration);
                        assert!((0.0..=duration).contains(&step.to), "{mode:?} {dt} {step:?}");
                        let last = step.stretches(false).last();
                        assert!(last.is_none_or(|s| s.to == step.to), "{mode:?} {dt} {duration}");
                        assert!(step.stretches(false).count() <= 1 << 10);
                    }
                }
            }
        }
    }

    #[test]
    fn a_loop_passes_its_end_and_then_its_start() {
        let step = PlayMode::Loop.advance(1.5, 5.0, 2.0);
        let whole = (0.0, 2.0, true);
        assert_eq!(ends(&step, false), [(1.5, 2.0, false), whole, whole, (0.0, 0.5, true)]);
        let landed = PlayMode::Loop.advance(1.5, 0.5, 2.0);
        assert_eq!(ends(&landed, false), [(1.5, 2.0, false), (0.0, 0.0, true)]);
        let back = PlayMode::Loop.advance(0.5, -1.0, 2.0);
        assert_eq!(ends(&back, true), [(0.5, 0.0, true), (2.0, 1.5, true)]);
        assert!(landed.stretches(false).any(|s| s.passes(0.0)));
        assert!(!PlayMode::Loop.advance(0.0, 0.5, 2.0).stretches(false).any(|s| s.passes(0.0)));
    }

    #[test]
    fn a_ping_pong_passes_each_turn_once() {
        let step = PlayMode::PingPong.advance(1.5, 3.0, 2.0);
        assert_eq!(ends(&step, false), [(1.5, 2.0, false), (2.0, 0.0, false), (0.0, 0.5, false)]);
        let back = PlayMode::PingPong.advance(0.5, -1.0, 2.0);
        assert_eq!(ends(&back, false), [(0.5, 0.0, false), (0.0, 0.5, false)]);
        let landed = PlayMode::PingPong.advance(1.5, 0.5, 2.0);
        let turns = landed.stretches(false).filter(|s| s.passes(2.0)).count();
        let on = PlayMode::PingPong.advance(landed.clock, 0.1, 2.0);
        let again = on.stretches(false).filter(|s| s.passes(2.0)).count();
        assert_eq!((turns, again), (1, 0));
    }

    #[test]
    fn a_share_of_the_round_is_where_its_clock_says() {
        assert_eq!(PlayMode::Loop.clock_at(0.25, 2.0), 0.5);
        assert_eq!(PlayMode::PingPong.seconds(PlayMode::PingPong.clock_at(0.75, 2.0), 2.0), 1.0);
        assert_eq!(PlayMode::Clamp.clock_at(0.25, 0.0), 0.0);
        assert_eq!(PlayMode::Loop.advance(0.5, 1.0, 2.0).normalized(), [0.25, 0.75]);
    }

    /// Where a clock stands after `u` seconds of clip time, by folding in `f64`.
    fn folded(mode: PlayMode, u: f64, duration: f64) -> f64 {
        match mode {
            PlayMode::Loop => u.rem_euclid(duration),
            PlayMode::Once | PlayMode::Clamp => u.clamp(0.0, duration),
            PlayMode::PingPong => {
                let in_round = u.rem_euclid(2.0 * duration);
                in_round.min(2.0 * duration - in_round)
            }
        }
    }

    #[test]
    fn a_step_is_the_same_wherever_it_is_put() {
        let odd =
            [0.0, -0.0, 0.3, 1.999_999_9, 2.0, 2.5, -1.0, f32::NAN, f32::INFINITY, 1e30, 1e-30];
        let mut put = PlayMode::Once.advance(1.0, 2.0, 0.5);
        for mode in MODES {
            for clock in odd {
                for dt in odd.into_iter().chain([-0.3, -1e-9, 1e-9, -5.0, f32::NEG_INFINITY]) {
                    for duration in odd {
                        mode.advance_to(&mut put, clock, dt, duration);
                        let step = mode.advance(clock, dt, duration);
                        assert_eq!(
                            format!("{put:?}"),
                            format!("{step:?}"),
                            "{clock} {dt} {duration}"
                        );
                    }
                }
            }
        }
    }

    proptest! {
        #[test]
        fn many_small_steps_arrive_where_one_large_step_does(
            mode in 0usize..4, start in 0.0f32..2.0, dt in -0.05f32..0.05, steps in 1usize..200,
        ) {
            let mode = MODES[mode];
            let (mut clock, mut wraps) = (start, 0);
            for _ in 0..steps {
                let step = mode.advance(clock, dt, 2.0);
                (clock, wraps) = (step.clock, wraps + step.wraps);
            }
            let once = mode.advance(start, dt * steps as f32, 2.0);
            let near = |a: f32, b: f32| (a - b).abs() < 1e-3 || (a - b).abs() > 2.0 - 1e-3;
            prop_assert!(near(mode.seconds(clock, 2.0), once.to), "{clock} {once:?}");
            let edge = once.to < 1e-3 || once.to > 2.0 - 1e-3;
            prop_assert!(edge || wraps == once.wraps, "{wraps} {once:?}");
        }

        #[test]
        fn a_clock_stands_where_folding_puts_it_and_stretches_are_as_long_as_the_step(
            mode in 0usize..4, start in 0.0f32..3.0, dt in -40.0f32..40.0, duration in 0.3f32..3.0,
        ) {
            let mode = MODES[mode];
            let start = start.min(duration);
            let step = mode.advance(start, dt, duration);
            let exact = folded(mode, f64::from(start) + f64::from(dt), duration.into());
            let off = (f64::from(step.to) - exact).abs();
            prop_assert!(off.min(f64::from(duration) - off) < 1e-4, "{exact} {step:?}");
            let stretches: Vec<_> = step.stretches(false).collect();
            let passed: f32 = stretches.iter().map(|s| (s.to - s.from).abs()).sum();
            let wanted = match mode {
                PlayMode::Loop | PlayMode::PingPong => dt.abs(),
                _ => (step.to - step.from).abs(),
            };
            prop_assert!((passed - wanted).abs() < 1e-3, "{passed} {wanted} {stretches:?}");
            if let (Some(first), Some(last)) = (stretches.first(), stretches.last()) {
                prop_assert_eq!((first.from, last.to), (step.from, step.to));
            }
        }
    }
}
