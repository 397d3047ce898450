//! Simple playback: a small stack of playing clips with weights, recorded as a task list.

use super::kind::Kind;
use super::random::Random;
use crate::index::ClipId;
use crate::motion::{Fired, GroundMotion, NotifyCursor, PlayMode};
use crate::task::{Task, TaskError, TaskList};
use glam::Vec3Swizzles;

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
    /// What a sequence tells somebody who would wander.
    Directed,
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
    /// What each clip's clock shows, seconds.
    times: [f32; STACK],
    /// What each clip but the newest had when the newest was pushed; they sum to one.
    shares: [f32; STACK - 1],
    /// How far the newest is faded in, 0..=1.
    fade: f32,
    /// World seconds until the next clip.
    dwell: f32,
    /// Clip seconds per world second.
    speed: f32,
    /// What each clip remembers of its notifies.
    cursors: [NotifyCursor; STACK],
    /// What it was told to play and could not yet, or [`NOTHING`].
    told: ClipId,
}

/// No clip.
const NOTHING: ClipId = ClipId(u16::MAX);

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
            cursors: [NotifyCursor::UNPLAYED; STACK],
            told: NOTHING,
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

    /// Spans of notifies that are open end.
    pub fn stop(&mut self, kind: &Kind, mut fire: impl FnMut(Fired)) {
        for i in 0..usize::from(self.count) {
            if let Some(clip) = kind.clips.get(self.clips[i].get()) {
                clip.notifies.stop(self.times[i], &mut self.cursors[i], &mut fire);
            }
        }
    }

    /// Somebody who wanders plays what it is told from now on, or goes back to wandering. Who keeps
    /// to a clip has to, because a lane carries it.
    pub fn direct(&mut self, directed: bool) {
        match (self.program, directed) {
            (Program::Wander, true) => self.program = Program::Directed,
            (Program::Directed, false) => {
                (self.program, self.told, self.dwell) = (Program::Wander, NOTHING, DWELL.0);
            }
            _ => {}
        }
    }

    /// Somebody who is directed fades a clip in, as soon as the last fade leaves room for it. A
    /// loop that it plays already goes on.
    pub fn play(&mut self, kind: &Kind, clip: ClipId) {
        let loops = kind.clips.get(clip.get()).is_some_and(|clip| clip.mode != PlayMode::Once);
        if self.program == Program::Directed && !(loops && self.current() == Some(clip)) {
            (self.told, self.dwell) = (clip, 0.0);
        }
    }

    /// True when another clip may be due.
    fn changes(&self, kind: &Kind) -> bool {
        match self.program {
            Program::Wander => kind.standing.len() > 1,
            Program::Directed => self.told != NOTHING,
            Program::Keep => false,
        }
    }

    /// Another clip of those that the kind stands with, or the one that it was told.
    fn choose(&mut self, kind: &Kind) -> Option<ClipId> {
        if self.program == Program::Directed {
            let told = std::mem::replace(&mut self.told, NOTHING);
            return (told != NOTHING).then_some(told);
        }
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
        if self.program == Program::Directed {
            return f32::INFINITY;
        }
        let (low, high) = DWELL;
        match clip.mode {
            PlayMode::Loop | PlayMode::PingPong => self.random.range(low, high),
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
    ///
    /// `fire` hears the notifies that were passed; without it the time was not played but jumped
    /// over, and only spans that are left behind end, unheard.
    pub fn advance_to(
        &mut self,
        kind: &Kind,
        now: f64,
        mut fire: Option<&mut dyn FnMut(Fired)>,
    ) -> GroundMotion {
        let mut left = (now - self.now) as f32;
        self.now = now;
        let mut motion = GroundMotion::IDENTITY;
        if left >= 0.0 && self.changes(kind) {
            for _ in 0..MAX_CHANGES {
                if self.dwell > left || !self.changes(kind) {
                    break;
                }
                let until = self.dwell.max(0.0);
                motion = motion.then(self.step(kind, until, &mut fire));
                left -= until;
                self.change(kind);
            }
            self.dwell = (self.dwell - left).max(0.0);
        }
        motion.then(self.step(kind, left, &mut fire))
    }

    /// Pushes the next clip on the stack, at its start and at weight zero. A full stack waits for
    /// its fade to end: a clip with weight that gave way would be seen to.
    fn change(&mut self, kind: &Kind) {
        let top = usize::from(self.count);
        if top == STACK {
            self.dwell = (1.0 - self.fade) * kind.fade;
            return;
        }
        let Some(next) = self.choose(kind) else { return };
        let weights = self.weights();
        self.shares.copy_from_slice(&weights[..STACK - 1]);
        (self.clips[top], self.times[top]) = (next, 0.0);
        self.cursors[top] = NotifyCursor::UNPLAYED;
        self.count += 1;
        self.fade = 0.0;
        self.dwell = self.dwell_in(kind, next);
    }

    /// Runs every playing clock by `dt` world seconds, in two parts where a cross-fade ends between:
    /// until then each clip tells and moves with its weight, and after it one is alone.
    fn step(
        &mut self,
        kind: &Kind,
        dt: f32,
        fire: &mut Option<&mut dyn FnMut(Fired)>,
    ) -> GroundMotion {
        let fading = if self.count > 1 { (1.0 - self.fade) * kind.fade } else { f32::INFINITY };
        if dt <= fading {
            return self.part(kind, dt, dt == fading, fire);
        }
        self.part(kind, fading, true, fire).then(self.part(kind, dt - fading, false, fire))
    }

    /// A step in which no cross-fade ends but at its end.
    fn part(
        &mut self,
        kind: &Kind,
        dt: f32,
        fades: bool,
        fire: &mut Option<&mut dyn FnMut(Fired)>,
    ) -> GroundMotion {
        if self.count == 0 || (dt == 0.0 && !fades) {
            return GroundMotion::IDENTITY;
        }
        let before = self.fade;
        if self.count > 1 {
            let faded = if kind.fade > 0.0 { self.fade + dt / kind.fade } else { 1.0 };
            self.fade = if fades { 1.0 } else { faded.clamp(0.0, 1.0) };
        }
        // Of the whole step: at its end a clip that fades out may have none left.
        let weights = self.weights_at(mean_eased(before, self.fade));
        let mut motion = GroundMotion::IDENTITY;
        for (i, weight) in weights.into_iter().enumerate().take(usize::from(self.count)) {
            let Some(clip) = kind.clips.get(self.clips[i].get()) else { continue };
            let step = clip.mode.advance(self.times[i], dt * self.speed, clip.seconds);
            self.times[i] = step.clock;
            let cursor = &mut self.cursors[i];
            match fire {
                Some(fire) => clip.notifies.advance(&step, weight, cursor, fire),
                None => clip.notifies.seek(step.to, cursor, |_| ()),
            }
            if let Some(root) = &clip.root {
                motion = motion.plus(root.delta(&step).about(kind.pivot.xz()).weighted(weight));
            }
        }
        if self.fade >= 1.0 && self.count > 1 {
            let top = usize::from(self.count) - 1;
            if let Some(fire) = fire {
                for (i, cursor) in self.cursors[..top].iter_mut().enumerate() {
                    if let Some(clip) = kind.clips.get(self.clips[i].get()) {
                        clip.notifies.stop(self.times[i], cursor, &mut **fire);
                    }
                }
            }
            (self.clips[0], self.times[0], self.count) = (self.clips[top], self.times[top], 1);
            self.cursors[0] = self.cursors[top];
        }
        motion
    }

    /// Weight of each playing clip; they sum to one.
    fn weights(&self) -> [f32; STACK] {
        self.weights_at(mean_eased(self.fade, self.fade))
    }

    /// Weights where the newest clip has `eased`.
    fn weights_at(&self, eased: f32) -> [f32; STACK] {
        let mut weights = [0.0; STACK];
        match self.count {
            0 => {}
            1 => weights[0] = 1.0,
            n => {
                let top = usize::from(n) - 1;
                for (weight, share) in weights.iter_mut().zip(&self.shares[..top]) {
                    *weight = share * (1.0 - eased);
                }
                weights[top] = eased;
            }
        }
        weights
    }

    /// The playing clips: each with its seconds, its length and its weight.
    pub fn layers(&self, kind: &Kind) -> impl Iterator<Item = (ClipId, f32, f32, f32)> {
        let playing = self.clips.iter().zip(self.times).zip(self.weights());
        playing.take(usize::from(self.count)).map(|((&clip, clock), weight)| {
            let known = kind.clips.get(clip.get());
            let length = known.map_or(0.0, |c| c.seconds);
            (clip, known.map_or(clock, |c| c.mode.seconds(clock, length)), length, weight)
        })
    }

    /// Writes the recipe of the pose at the clocks' times: samples and a chain of blends, each
    /// `alpha_k = w_k / (w_0 + .. + w_k)`; clips of weight zero are left out.
    ///
    /// # Errors
    /// [`TaskError`] when the list refuses a task.
    pub fn record(&self, kind: &Kind, list: &mut TaskList) -> Result<(), TaskError> {
        let weights = self.weights();
        let mut sum = 0.0;
        let mut taken = None;
        let mut output = None;
        let playing = self.clips.iter().zip(self.times).zip(weights);
        for ((&clip, clock), weight) in playing.take(usize::from(self.count)) {
            if weight <= 0.0 {
                continue;
            }
            sum += weight;
            let known = kind.clips.get(clip.get());
            let seconds = known.map_or(clock, |c| c.mode.seconds(clock, c.seconds));
            let root = known.and_then(|c| c.root.as_ref()).map(|root| root.taken(seconds));
            // The root's motion blends as the poses do; what stands still has covered nothing.
            let alpha = weight / sum;
            if taken.is_some() || root.is_some() {
                let before: GroundMotion = taken.unwrap_or_default();
                taken = Some(before.lerp_short(root.unwrap_or_default(), alpha));
            }
            let sample = list.push(Task::SampleClip { clip, seconds })?;
            output = Some(match output {
                None => sample,
                Some(base) => list.push(Task::Blend { a: base, b: sample, alpha })?,
            });
        }
        let output = match output {
            Some(output) => output,
            None => list.push(Task::ReferencePose)?,
        };
        let pin = kind.root.zip(taken).and_then(|(bone, taken)| kind.root_lock.pin(bone, taken));
        list.set_root_pin(pin);
        list.set_output(output)
    }
}

/// The mean of the eased weight `3 x^2 - 2 x^3` while a fade goes from `a` to `b`, so that one large
/// step covers the ground that small ones do.
fn mean_eased(a: f32, b: f32) -> f32 {
    a * a + a * b + b * b - 0.5 * (a + b) * (a * a + b * b)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::crowd::kind::KindClip;
    use crate::crowd::{CrowdKind, Kind};
    use crate::math::Bounds;
    use crate::motion::{Moment, Notify, NotifyId, NotifyNames, NotifyTrack, RootLock, RootTrack};
    use crate::pose::Rig;
    use crate::pose::testing::{Shape, character};
    use glam::{Affine3A, Vec3};
    use std::sync::Arc;

    const FADE: f32 = 0.4;

    /// Four clips of 2 s, all to stand with; `walking` gives the last a root that covers 3 m.
    fn kind(walking: bool) -> Kind {
        let (skeleton, clips) = character(Shape::plain(9), 4, 1);
        let rig = Arc::new(Rig::new(skeleton, &clips).unwrap());
        let bounds = Bounds::of_points([Vec3::NEG_ONE, Vec3::ONE].into_iter());
        let mut kind = Kind::new(
            &CrowdKind::new("test", rig, bounds),
            FADE,
            1_000,
            &mut NotifyNames::default(),
        )
        .unwrap();
        let notifies = NotifyTrack::default();
        let still = KindClip { seconds: 2.0, mode: PlayMode::Loop, root: None, notifies };
        kind.clips = vec![still; 4];
        kind.standing = (0..4).map(|c| (ClipId(c), 1.0)).collect();
        if walking {
            let posed = [Affine3A::IDENTITY, Affine3A::from_translation(3.0 * Vec3::Z)];
            let track = RootTrack::measure(&posed, &Affine3A::IDENTITY, 0.5, RootLock::Planar);
            kind.clips.iter_mut().for_each(|c| c.root = Some(track.clone()));
        }
        kind
    }

    fn recorded(playback: &Playback, kind: &Kind) -> TaskList {
        let mut list = TaskList::default();
        playback.record(kind, &mut list).unwrap();
        list
    }

    /// The share of each sample in the output, by the executor's own account.
    fn shares(playback: &Playback, kind: &Kind) -> Vec<(ClipId, f32, f32)> {
        let mut list = recorded(playback, kind);
        list.sweep();
        let sample = |(i, task): (usize, &Task)| match *task {
            Task::SampleClip { clip, seconds } => {
                Some((clip, seconds, list.weight(crate::task::TaskIndex::new(i)?)))
            }
            _ => None,
        };
        list.tasks().iter().enumerate().filter_map(sample).collect()
    }

    #[test]
    fn one_clip_is_one_sample_and_none_the_reference_pose() {
        let kind = kind(false);
        let one = Playback::keep(&kind, ClipId(2), 1.0, Random::new(1, 1));
        assert_eq!(recorded(&one, &kind).len(), 1);
        assert_eq!(one.current(), Some(ClipId(2)));
        let none = recorded(&Playback::IDLE, &kind);
        assert_eq!(none.tasks(), [Task::ReferencePose]);
        assert_eq!(none.output().get(), Some(0));
    }

    #[test]
    fn a_cross_fade_moves_all_weight_to_the_next_clip_without_a_jump() {
        let kind = kind(false);
        let mut p = Playback::wander(&kind, Random::new(3, 7));
        let first = p.current();
        p.hurry();
        let (mut now, mut before) = (0.0, 0.0);
        p.advance_to(&kind, now, None);
        let next = p.current().unwrap();
        assert_ne!(first, Some(next));
        while now < f64::from(FADE) + 0.05 {
            now += 0.01;
            p.advance_to(&kind, now, None);
            let shares = shares(&p, &kind);
            let sum: f32 = shares.iter().map(|s| s.2).sum();
            assert!((sum - 1.0).abs() < 1e-5, "{shares:?}");
            let of_next = shares.iter().find(|s| s.0 == next).map_or(0.0, |s| s.2);
            assert!(of_next >= before && of_next - before < 0.06, "{before} to {of_next}");
            before = of_next;
        }
        assert_eq!((before, p.count), (1.0, 1));
    }

    #[test]
    fn interrupted_cross_fades_keep_every_weight_continuous() {
        let kind = kind(false);
        for seed in 0..50 {
            let mut p = Playback::wander(&kind, Random::new(seed, 0));
            let mut random = Random::new(seed, 1);
            let mut before: [f32; 4] = [0.0; 4];
            for frame in 0..200 {
                if random.unit() < 0.1 {
                    p.hurry();
                }
                p.advance_to(&kind, f64::from(frame) * 0.005, None);
                let mut now = [0.0; 4];
                for (clip, _, share) in shares(&p, &kind) {
                    now[clip.get()] += share;
                }
                let sum: f32 = now.iter().sum();
                assert!((sum - 1.0).abs() < 1e-5 && p.count as usize <= STACK);
                // An eased fade moves at most 1.5 / FADE a second.
                let jump = now.iter().zip(before).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
                assert!(
                    frame == 0 || jump < 1.6 / FADE * 0.005,
                    "seed {seed} frame {frame}: {before:?} {now:?}"
                );
                before = now;
            }
        }
    }

    #[test]
    fn the_chain_of_blends_gives_each_clip_its_weight() {
        let kind = kind(false);
        let mut p = Playback::wander(&kind, Random::new(5, 5));
        for i in 1..=2 {
            p.hurry();
            p.advance_to(&kind, f64::from(i) * 0.15, None);
        }
        p.advance_to(&kind, 0.4, None);
        assert_eq!(p.count, 3);
        let (weights, shares) = (p.weights(), shares(&p, &kind));
        for (weight, share) in weights.iter().zip(&shares) {
            assert!((weight - share.2).abs() < 1e-6, "{weights:?} {shares:?}");
        }
        let list = recorded(&p, &kind);
        let blends = list.tasks().iter().filter(|t| matches!(t, Task::Blend { .. }));
        assert_eq!((blends.count(), list.len()), (2, 5));
    }

    #[test]
    fn one_large_step_arrives_where_small_steps_do() {
        let kind = kind(false);
        for seed in 0..20 {
            let mut large = Playback::wander(&kind, Random::new(seed, 3));
            let mut small = large;
            for i in 1..=3_600 {
                small.advance_to(&kind, f64::from(i) / 60.0, None);
            }
            large.advance_to(&kind, 60.0, None);
            let (a, b) = (shares(&small, &kind), shares(&large, &kind));
            assert_eq!(a.len(), b.len(), "seed {seed}: {a:?} {b:?}");
            for (a, b) in a.iter().zip(&b) {
                let apart = (a.1 - b.1).abs();
                assert_eq!(a.0, b.0);
                assert!(apart.min(2.0 - apart) < 1e-3 && (a.2 - b.2).abs() < 5e-3, "{a:?} {b:?}");
            }
        }
    }

    #[test]
    fn root_motion_over_loops_and_fades_is_the_clips_speed() {
        let kind = kind(true);
        let mut p = Playback::wander(&kind, Random::new(2, 2));
        let speed = p.speed;
        let mut sum = GroundMotion::IDENTITY;
        for i in 1..=1_800 {
            sum = sum.then(p.advance_to(&kind, f64::from(i) / 60.0, None));
        }
        // Every clip covers 3 m in 2 s, so a blend of them does too.
        assert!((sum.z - 1.5 * speed * 30.0).abs() < 1e-2 && sum.x == 0.0, "{sum:?}");
        assert!(recorded(&p, &kind).root_pin().is_some());
    }

    #[test]
    fn time_may_stand_still_and_run_back() {
        let kind = kind(true);
        let mut p = Playback::keep(&kind, ClipId(1), 1.0, Random::new(1, 1));
        p.advance_to(&kind, 5.0, None);
        let at = p.times[0];
        assert_eq!(p.advance_to(&kind, 5.0, None), GroundMotion::IDENTITY);
        assert_eq!(p.times[0], at);
        let back = p.advance_to(&kind, 2.0, None);
        assert!((back.z + 4.5).abs() < 1e-3, "{back:?}");
        p.advance_to(&kind, 5.0, None);
        assert!((p.times[0] - at).abs() < 1e-3);
    }

    #[test]
    fn whoever_has_one_clip_keeps_to_it() {
        let mut kind = kind(false);
        kind.standing.truncate(1);
        let mut p = Playback::wander(&kind, Random::new(1, 1));
        p.advance_to(&kind, 1e6, None);
        assert_eq!((p.current(), p.count), (Some(ClipId(0)), 1));
    }

    /// A kind whose clip number `i` tells `i` at 0.5 s and has a span around 1 s.
    fn telling() -> Kind {
        let mut kind = kind(false);
        for (i, clip) in kind.clips.iter_mut().enumerate() {
            let id = NotifyId(i as u16);
            let point = Notify { id, seconds: 0.5, end: None };
            let span = Notify { id, seconds: 0.9, end: Some(1.1) };
            clip.notifies = NotifyTrack::new(&[point, span], 2.0);
        }
        kind
    }

    #[test]
    fn only_clips_with_weight_tell_and_with_their_weight() {
        let kind = telling();
        let mut p = Playback::wander(&kind, Random::new(4, 4));
        let mut random = Random::new(8, 1);
        let (mut told, mut begun, mut ended) = (0, [0; 4], [0; 4]);
        for frame in 0..6_000 {
            if random.unit() < 0.02 {
                p.hurry();
            }
            let mut fired = Vec::new();
            p.advance_to(&kind, f64::from(frame) / 60.0, Some(&mut |f| fired.push(f)));
            let shares = shares(&p, &kind);
            for f in fired {
                let clip = usize::from(f.id.0);
                match f.moment {
                    Moment::Begin => begun[clip] += 1,
                    Moment::End => ended[clip] += 1,
                    Moment::Point => told += 1,
                    Moment::Tick => {}
                }
                let share: f32 =
                    shares.iter().filter(|s| s.0.get() == clip).map(|(_, _, share)| share).sum();
                assert!(f.weight <= share + 0.06, "{f:?} of {shares:?}");
                assert!(f.weight > 0.0 || f.moment == Moment::End, "{f:?}");
            }
        }
        assert!(told > 40, "{told}");
        for clip in 0..4 {
            assert!(begun[clip] > 3 && (0..=1).contains(&(begun[clip] - ended[clip])));
        }
    }

    #[test]
    fn a_cross_fade_that_ends_inside_a_step_tells_and_moves_as_in_small_ones() {
        let mut kind = telling();
        let posed = [Affine3A::IDENTITY, Affine3A::from_translation(3.0 * Vec3::Z)];
        let track = RootTrack::measure(&posed, &Affine3A::IDENTITY, 0.5, RootLock::Planar);
        // Clips that cover ground and clips that do not.
        kind.clips.iter_mut().step_by(2).for_each(|clip| clip.root = Some(track.clone()));
        let (mut told, mut fades) = (0, 0);
        for seed in 0..40 {
            let run = |every: u32| {
                let mut p = Playback::wander(&kind, Random::new(seed, 5));
                let (mut fired, mut covered) = ([[0; 4]; 4], GroundMotion::IDENTITY);
                for frame in (every..=1_800).step_by(every as usize) {
                    let mut fire = |f: Fired| match f.moment {
                        Moment::Tick => {}
                        moment => fired[usize::from(f.id.0)][moment as usize] += 1,
                    };
                    let now = f64::from(frame) / 60.0;
                    covered = covered.then(p.advance_to(&kind, now, Some(&mut fire)));
                }
                (fired, covered, p)
            };
            let (small, large) = (run(1), run(60));
            assert_eq!(small.0, large.0, "seed {seed}");
            told += small.0.iter().flatten().sum::<i32>();
            let apart = (small.1.z - large.1.z).abs();
            assert!(apart < 2e-3, "seed {seed}: {apart} m apart");
            fades += usize::from(small.2.random != Random::new(seed, 5));
        }
        assert!(told > 1_000 && fades == 40, "{told} {fades}");
    }

    #[test]
    fn time_that_is_jumped_over_tells_nothing_and_goes_on_telling_after() {
        let kind = telling();
        let mut p = Playback::keep(&kind, ClipId(1), 1.0, Random::new(1, 1));
        let start = f64::from(p.times[0]);
        let at = |clip: f64| clip - start + 2.0;
        p.advance_to(&kind, at(1.0), None);
        let mut told = Vec::new();
        p.advance_to(&kind, at(1.05), Some(&mut |f| told.push(f.moment)));
        assert_eq!(told, [Moment::Begin, Moment::Tick]);
        p.advance_to(&kind, at(7.3), None);
        told.clear();
        p.advance_to(&kind, at(8.6), Some(&mut |f| told.push(f.moment)));
        assert_eq!(told, [Moment::Point], "half a second into the round, once");
    }

    #[test]
    fn who_is_directed_plays_what_it_is_told_as_soon_as_there_is_room() {
        let kind = kind(false);
        let mut playback = Playback::wander(&kind, Random::new(3, 0));
        playback.play(&kind, ClipId(3));
        playback.direct(true);
        let first = playback.current();
        playback.advance_to(&kind, 60.0, None);
        assert_eq!(playback.current(), first, "it has no ideas of its own");
        // Three within one fade: the third waits until the first fade is over, and is not lost.
        let mut now = 60.0;
        let others: Vec<_> = (0..4).map(ClipId).filter(|clip| Some(*clip) != first).collect();
        for clip in &others {
            playback.play(&kind, *clip);
            now += f64::from(FADE) * 0.25;
            playback.advance_to(&kind, now, None);
        }
        assert_eq!(playback.current(), Some(others[1]));
        assert_eq!(usize::from(playback.count), STACK);
        playback.advance_to(&kind, now + f64::from(FADE), None);
        assert_eq!(playback.current(), Some(others[2]));
        now += 2.0;
        playback.advance_to(&kind, now, None);
        assert_eq!((playback.current(), playback.count), (Some(others[2]), 1));
        playback.play(&kind, others[2]);
        playback.advance_to(&kind, now + 0.1, None);
        assert_eq!(playback.count, 1, "a loop that plays goes on");
        playback.direct(false);
        playback.advance_to(&kind, now + 20.0, None);
        assert_ne!(playback.current(), Some(others[2]), "it wanders again");
        // Who is carried by a lane keeps walking.
        let mut keeper = Playback::keep(&kind, ClipId(1), 1.0, Random::new(1, 1));
        keeper.direct(true);
        keeper.play(&kind, ClipId(2));
        keeper.advance_to(&kind, 9.0, None);
        assert_eq!(keeper.current(), Some(ClipId(1)));
    }
}
