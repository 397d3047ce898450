//! How much time passes in the world from one frame to the next.

use super::cli::TimeStep;
use std::time::Instant;

/// The world's clock: real or fixed steps, a speed, a pause, and jumps.
#[derive(Clone, Debug)]
pub struct Clock {
    step: TimeStep,
    last: Option<Instant>,
    speed: f64,
    paused: bool,
    stepping: bool,
    jump: f64,
}

/// The time of one frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FrameTime {
    /// Seconds that the world advances; negative after a jump back.
    pub world: f64,
    /// The world jumped; what lies between was not played.
    pub jumped: bool,
    /// Seconds that cameras and input advance, whatever the world does.
    pub camera: f64,
}

impl Clock {
    /// The longest step of the real clock, seconds: a stall does not make the crowd leap.
    pub const LONGEST: f64 = 0.1;
    /// A single step of the real clock, seconds.
    pub const SINGLE: f64 = 1.0 / 60.0;
    /// Speeds that [`Clock::faster`] and [`Clock::slower`] stay within.
    pub const SPEEDS: std::ops::RangeInclusive<f64> = 0.125..=8.0;

    /// A running clock at its normal speed.
    pub fn new(step: TimeStep) -> Self {
        Self { step, last: None, speed: 1.0, paused: false, stepping: false, jump: 0.0 }
    }

    /// Ends a frame: the time since the last one.
    pub fn tick(&mut self, now: Instant) -> FrameTime {
        let real = self.last.map_or(0.0, |last| now.duration_since(last).as_secs_f64());
        self.last = Some(now);
        let camera = match self.step {
            TimeStep::Fixed(seconds) => seconds,
            TimeStep::Real => real.min(Self::LONGEST),
        };
        let running = match (std::mem::take(&mut self.stepping), self.step) {
            (true, TimeStep::Fixed(seconds)) => seconds,
            // The time since the last frame is nobody's who looks at single ones.
            (true, TimeStep::Real) => Self::SINGLE,
            _ if self.paused => 0.0,
            _ => camera * self.speed,
        };
        let jump = std::mem::take(&mut self.jump);
        FrameTime { world: running + jump, jumped: jump != 0.0, camera }
    }

    /// Stops the world, or lets it go on.
    pub fn toggle_pause(&mut self) {
        self.paused = !self.paused;
    }

    /// True while the world stands still.
    pub fn paused(&self) -> bool {
        self.paused
    }

    /// World seconds per real second.
    pub fn speed(&self) -> f64 {
        self.speed
    }

    /// World seconds per real second, brought within [`Clock::SPEEDS`]; not-a-number changes
    /// nothing.
    pub fn set_speed(&mut self, speed: f64) {
        if !speed.is_nan() {
            self.speed = speed.clamp(*Self::SPEEDS.start(), *Self::SPEEDS.end());
        }
    }

    /// The next frame is a single step, and the world stands still after it.
    pub fn step(&mut self) {
        (self.paused, self.stepping) = (true, true);
    }

    /// Doubles the speed.
    pub fn faster(&mut self) {
        self.speed = (self.speed * 2.0).min(*Self::SPEEDS.end());
    }

    /// Halves the speed.
    pub fn slower(&mut self) {
        self.speed = (self.speed * 0.5).max(*Self::SPEEDS.start());
    }

    /// The next frame jumps by `seconds`, also while paused.
    pub fn seek(&mut self, seconds: f64) {
        self.jump += seconds;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_fixed_clock_ignores_the_wall_and_a_real_one_is_capped() {
        let start = Instant::now();
        let mut fixed = Clock::new(TimeStep::Fixed(0.25));
        assert_eq!(fixed.tick(start).world, 0.25);
        assert_eq!(fixed.tick(start + Duration::from_secs(9)).world, 0.25);
        let mut real = Clock::new(TimeStep::Real);
        assert_eq!(real.tick(start).world, 0.0);
        let step = real.tick(start + Duration::from_millis(20)).world;
        assert!((step - 0.02).abs() < 1e-9);
        assert_eq!(real.tick(start + Duration::from_secs(60)).world, Clock::LONGEST);
    }

    #[test]
    fn a_single_step_is_played_and_ends_in_a_pause() {
        let steps = [(TimeStep::Fixed(0.25), 0.25), (TimeStep::Real, Clock::SINGLE)];
        for (step, seconds) in steps {
            let mut clock = Clock::new(step);
            let now = Instant::now();
            clock.tick(now);
            clock.slower();
            clock.step();
            let time = clock.tick(now + Duration::from_secs(3));
            assert_eq!((time.world, time.jumped, clock.paused()), (seconds, false, true));
            assert_eq!(clock.tick(now + Duration::from_secs(4)).world, 0.0);
        }
    }

    #[test]
    fn a_paused_world_stands_still_and_can_jump() {
        let mut clock = Clock::new(TimeStep::Fixed(0.1));
        clock.toggle_pause();
        assert_eq!(
            clock.tick(Instant::now()),
            FrameTime { world: 0.0, jumped: false, camera: 0.1 }
        );
        clock.seek(-0.5);
        assert_eq!(
            clock.tick(Instant::now()),
            FrameTime { world: -0.5, jumped: true, camera: 0.1 }
        );
        assert_eq!(
            clock.tick(Instant::now()),
            FrameTime { world: 0.0, jumped: false, camera: 0.1 }
        );
        clock.toggle_pause();
        (0..9).for_each(|_| clock.faster());
        assert_eq!((clock.speed(), clock.tick(Instant::now()).world), (8.0, 0.8));
        (0..20).for_each(|_| clock.slower());
        assert_eq!(clock.speed(), *Clock::SPEEDS.start());
        for (asked, speed) in [(0.5, 0.5), (f64::NAN, 0.5), (1e9, 8.0), (-1.0, 0.125)] {
            clock.set_speed(asked);
            assert_eq!(clock.speed(), speed);
        }
    }
}
