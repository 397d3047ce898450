//! Clocks inside clips: what a step of time does at a clip's ends.

/// What a clock does at the end of its clip.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum PlayMode {
    /// Starts over, in both directions.
    #[default]
    Loop,
    /// Stops at the end and says that it is finished.
    Once,
    /// Holds the end and is never finished.
    Clamp,
}

/// One step of a clock.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Advance {
    /// Seconds inside the clip before the step.
    pub from: f32,
    /// Seconds inside the clip after it: in `0..duration` for a loop, `0..=duration` otherwise.
    pub to: f32,
    /// Ends that the step crossed; negative when time ran backwards. Zero unless it loops.
    pub wraps: i32,
    /// A clock that plays once has reached its end.
    pub finished: bool,
}

impl PlayMode {
    /// Moves a clock at `time` seconds by `dt` seconds (of clip time, negative to go back) in a
    /// clip of `duration` seconds. A clip without length stays at zero; a step that is not a finite
    /// number does not move.
    pub fn advance(self, time: f32, dt: f32, duration: f32) -> Advance {
        if duration.is_nan() || duration <= 0.0 {
            return Advance { from: 0.0, to: 0.0, wraps: 0, finished: self == Self::Once };
        }
        let from = time.clamp(0.0, duration);
        let dt = if dt.is_finite() { dt } else { 0.0 };
        // In f64, because a step after a long absence is large beside the clip.
        let (reached, length) = (f64::from(from) + f64::from(dt), f64::from(duration));
        match self {
            Self::Loop => {
                let wraps = (reached / length).floor();
                let rest = (reached - wraps * length) as f32;
                // Rounding to f32 can land on the end itself, which is the start of the next round.
                let (to, wraps) = if rest < duration { (rest, wraps) } else { (0.0, wraps + 1.0) };
                Advance { from, to: to.max(0.0), wraps: wraps as i32, finished: false }
            }
            Self::Once | Self::Clamp => {
                let to = reached.clamp(0.0, length) as f32;
                let finished = self == Self::Once && to >= duration;
                Advance { from, to, wraps: 0, finished }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

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
    fn once_stops_and_says_so_and_clamp_only_holds() {
        let once = PlayMode::Once.advance(1.5, 1.0, 2.0);
        assert_eq!((once.to, once.wraps, once.finished), (2.0, 0, true));
        assert!(!PlayMode::Once.advance(1.5, 0.4, 2.0).finished);
        let clamp = PlayMode::Clamp.advance(1.5, 1.0, 2.0);
        assert_eq!((clamp.to, clamp.finished), (2.0, false));
        assert_eq!(PlayMode::Clamp.advance(0.5, -1.0, 2.0).to, 0.0);
    }

    #[test]
    fn a_still_clip_and_a_step_that_is_no_number_stay() {
        for mode in [PlayMode::Loop, PlayMode::Once, PlayMode::Clamp] {
            for duration in [0.0, -1.0, f32::NAN] {
                let step = mode.advance(0.7, 1.0, duration);
                assert_eq!((step.from, step.to, step.wraps), (0.0, 0.0, 0), "{mode:?} {duration}");
            }
            assert_eq!(mode.advance(0.7, f32::NAN, 2.0).to, 0.7);
            assert_eq!(mode.advance(0.7, f32::INFINITY, 2.0).to, 0.7);
            assert_eq!(mode.advance(0.7, 0.0, 2.0).to, 0.7);
        }
    }

    proptest! {
        #[test]
        fn many_small_steps_arrive_where_one_large_step_does(
            start in 0.0f32..2.0, dt in 0.001f32..0.05, steps in 1usize..200,
        ) {
            let (mut time, mut wraps) = (start, 0);
            for _ in 0..steps {
                let step = PlayMode::Loop.advance(time, dt, 2.0);
                (time, wraps) = (step.to, wraps + step.wraps);
            }
            let once = PlayMode::Loop.advance(start, dt * steps as f32, 2.0);
            let unrolled = |t: f32, w: i32| f64::from(t) + 2.0 * f64::from(w);
            prop_assert!((unrolled(time, wraps) - unrolled(once.to, once.wraps)).abs() < 1e-3);
        }
    }
}
