//! Simple playback: a small stack of playing clips with weights, recorded as a task list.

use super::kind::Kind;
use super::random::Random;
use crate::index::ClipId;
use crate::motion::{GroundMotion, PlayMode};
use crate::task::{Task, TaskError, TaskList};

/// Clips that one character plays at once, at most: one, two in a cross-fade, three where a
/// cross-fade is interrupted.
pub(crate) const STACK: usize = 3;
/// Changes of clip that one step works through, at most; a longer absence forgets the rest.
const MAX_CHANGES: usize = 64;
/// Seconds that a looping clip plays before the next, at least and at most.
const DWELL: (f32, f32) = (3.0, 8.0);
/// Playback speed varies by this either way.
const SPEED_SPREAD: f32 = 0.1;

/// What a character plays next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Program {
    /// One clip after the other of those that its kind stands with.
    Wander,
    /// The clip it began with.
    Keep,
}

/// The clocks of one character: what record reads and writes. It lives with the character while
/// nobody sees it and in the palette slot while it is leased, on a cache line of its own.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(crate) struct Playback {
    /// World time, in seconds, up to which the clocks have run.
    pub now: f64,
    random: Random,
    /// The playing clips, the newest last.
    clips: [ClipId; STACK],
    count: u8,
    program: Program,
    /// Seconds inside each clip.
    times: [f32; STACK],
    /// What each clip but the newest had when the newest was pushed; they sum to one.
    shares: [f32; STACK - 1],
    /// How far the newest is faded in, 0..=1.
    fade: f32,
    /// World seconds until the next clip.
    dwell: f32,
    /// Clip seconds per world second.
    speed: f32,
}

const _: () = assert!(size_of::<Playback>() == 64);

impl Playback {
    /// Plays nothing.
    pub const IDLE: Self = Self::empty(Random::new(0, 0), Program::Keep, 1.0);

    /// Begins somewhere in one of the clips that the kind stands with, or in nothing when it has
    /// none.
    pub fn wander(kind: &Kind, mut random: Random) -> Self {
        let speed = random.range(1.0 - SPEED_SPREAD, 1.0 + SPEED_SPREAD);
        let mut this = Self::empty(random, Program::Wander, speed);
        if let Some(clip) = this.choose(kind) {
            this.begin(kind, clip);
            // The first change comes at any time, so that not everybody changes at once.
            this.dwell *= this.random.unit();
        }
        this
    }

    /// Begins somewhere in a clip and keeps to it.
    pub fn keep(kind: &Kind, clip: ClipId, speed: f32, random: Random) -> Self {
        let mut this = Self::empty(random, Program::Keep, speed);
        this.begin(kind, clip);
        this
    }

    const fn empty(random: Random, program: Program, speed: f32) -> Self {
        Self {
            now: 0.0,
            random,
            clips: [ClipId(0); STACK],
            count: 0,
            program,
            times: [0.0; STACK],
            shares: [0.0; STACK - 1],
            fade: 1.0,
            dwell: 0.0,
            speed,
        }
    }

    fn begin(&mut self, kind: &Kind, clip: ClipId) {
        (self.clips[0], self.count, self.fade) = (clip, 1, 1.0);
        self.dwell = self.dwell_in(kind, clip);
        if let Some(clip) = kind.clips.get(clip.get()) {
            self.times[0] = self.random.unit() * clip.seconds;
            if clip.mode == PlayMode::Once {
                self.dwell -= self.times[0] / self.speed;
            }
        }
    }

    /// The clip that is faded in, or playing alone.
    pub fn current(&self) -> Option<ClipId> {
        self.count.checked_sub(1).map(|top| self.clips[usize::from(top)])
    }

    /// Another clip of those that the kind stands with.
    fn choose(&mut self, kind: &Kind) -> Option<ClipId> {
        let current = self.current();
        let others = kind.standing.len() > 1;
        let weights = kind.standing.iter();
        let weights = weights.map(|(c, w)| if others && Some(*c) == current { 0.0 } else { *w });
        let pick = self.random.weighted(weights)?;
        kind.standing.get(pick).map(|(clip, _)| *clip)
    }

    /// World seconds to stay in a clip that starts now.
    fn dwell_in(&mut self, kind: &Kind, clip: ClipId) -> f32 {
        let Some(clip) = kind.clips.get(clip.get()) else { return f32::INFINITY };
        let (low, high) = DWELL;
        match clip.mode {
            PlayMode::Loop => self.random.range(low, high),
            PlayMode::Clamp => clip.seconds / self.speed + self.random.range(0.3 * low, 0.3 * high),
            // The fade to the next ends with the clip.
            PlayMode::Once => (clip.seconds / self.speed - kind.fade).max(kind.fade),
        }
    }

    /// The next step begins a cross-fade, if there is another clip to play.
    pub fn hurry(&mut self) {
        self.dwell = 0.0;
    }

    /// Runs the clocks up to `now` and gives the ground that the roots covered meanwhile, in model
    /// units. Time that was not seen is caught up with here, in one step per clip that was played.
    pub fn advance_to(&mut self, kind: &Kind, now: f64) -> GroundMotion {
        let mut left = (now - self.now) as f32;
        self.now = now;
        let mut motion = GroundMotion::IDENTITY;
        if self.program == Program::Wander && kind.standing.len() > 1 && left >= 0.0 {
            for _ in 0..MAX_CHANGES {
                if self.dwell > left {
                    break;
                }
                let until = self.dwell.max(0.0);
                motion = motion.then(self.step(kind, until));
                left -= until;
                self.change(kind);
            }
            self.dwell = (self.dwell - left).max(0.0);
        }
        motion.then(self.step(kind, left))
    }

    /// Pushes the next clip on the stack, at its start and at weight zero.
    fn change(&mut self, kind: &Kind) {
        let Some(next) = self.choose(kind) else { return };
        let weights = self.weights();
        let mut top = usize::from(self.count);
        if top == STACK {
            // The oldest gives way, and its weight goes to those that stay.
            self.clips.copy_within(1.., 0);
            self.times.copy_within(1.., 0);
            top = STACK - 1;
        }
        let dropped = usize::from(self.count) - top;
        let kept = &weights[dropped..usize::from(self.count)];
        let sum: f32 = kept.iter().sum();
        for (share, weight) in self.shares.iter_mut().zip(kept) {
            *share = if sum > 0.0 { weight / sum } else { 1.0 / kept.len() as f32 };
        }
        (self.clips[top], self.times[top]) = (next, 0.0);
        self.count = top as u8 + 1;
        self.fade = 0.0;
        self.dwell = self.dwell_in(kind, next);
    }

    /// Runs every playing clock by `dt` world seconds.
    fn step(&mut self, kind: &Kind, dt: f32) -> GroundMotion {
        if self.count == 0 || dt == 0.0 {
            return GroundMotion::IDENTITY;
        }
        let before = self.weights();
        if self.count > 1 {
            self.fade =
                if kind.fade > 0.0 { (self.fade + dt / kind.fade).clamp(0.0, 1.0) } else { 1.0 };
        }
        let after = self.weights();
        let mut motion = GroundMotion::IDENTITY;
        for i in 0..usize::from(self.count) {
            let Some(clip) = kind.clips.get(self.clips[i].get()) else { continue };
            let step = clip.mode.advance(self.times[i], dt * self.speed, clip.seconds);
            self.times[i] = step.to;
            if let Some(root) = &clip.root {
                let weight = 0.5 * (before[i] + after[i]);
                motion = motion.plus(root.delta(&step).weighted(weight));
            }
        }
        if self.fade >= 1.0 && self.count > 1 {
            let top = usize::from(self.count) - 1;
            (self.clips[0], self.times[0], self.count) = (self.clips[top], self.times[top], 1);
        }
        motion
    }

    /// Weight of each playing clip; they sum to one.
    fn weights(&self) -> [f32; STACK] {
        let mut weights = [0.0; STACK];
        match self.count {
            0 => {}
            1 => weights[0] = 1.0,
            n => {
                let top = usize::from(n) - 1;
                let eased = self.fade * self.fade * (3.0 - 2.0 * self.fade);
                for (weight, share) in weights.iter_mut().zip(&self.shares[..top]) {
                    *weight = share * (1.0 - eased);
                }
                weights[top] = eased;
            }
        }
        weights
    }

    /// Writes the recipe of the pose at the clocks' times: samples and a chain of blends, each
    /// `alpha_k = w_k / (w_0 + .. + w_k)`; clips of weight zero are left out.
    ///
    /// # Errors
    /// [`TaskError`] when the list refuses a task.
    pub fn record(&self, kind: &Kind, list: &mut TaskList) -> Result<(), TaskError> {
        let weights = self.weights();
        let mut sum = 0.0;
        let mut pinned = false;
        let mut output = None;
        let playing = self.clips.iter().zip(self.times).zip(weights);
        for ((&clip, seconds), weight) in playing.take(usize::from(self.count)) {
            if weight <= 0.0 {
                continue;
            }
            sum += weight;
            pinned |= kind.clips.get(clip.get()).is_some_and(|c| c.root.is_some());
            let sample = list.push(Task::SampleClip { clip, seconds })?;
            output = Some(match output {
                None => sample,
                Some(base) => list.push(Task::Blend { a: base, b: sample, alpha: weight / sum })?,
            });
        }
        let output = match output {
            Some(output) => output,
            None => list.push(Task::ReferencePose)?,
        };
        list.set_pinned_root(kind.root.filter(|_| pinned));
        list.set_output(output)
    }
}
