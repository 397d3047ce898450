//! Root motion: what the root bone of a clip covers on the ground.

use super::Advance;
use super::ground::{GroundMotion, rotate, wrap};
use crate::index::{BoneIndex, ClipId};
use crate::math::Trs;
use crate::pose::{Rig, RootPin};
use glam::{Affine3A, Vec2, Vec3};
use std::f32::consts::FRAC_PI_4;

/// How much of a root's motion becomes the character's. What stays in the pose is what is not taken
/// out of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum RootLock {
    /// Nothing: the motion stays in the pose.
    None,
    /// Metres on the ground; the turn stays in the pose.
    Position,
    /// Metres on the ground and the turn about +Y. Height, pitch and roll stay in the pose.
    #[default]
    Planar,
    /// As [`RootLock::Planar`], and the root of the pose is held where the reference pose has it:
    /// its height, pitch and roll are lost.
    Full,
}

impl RootLock {
    /// What a list takes out of the final pose's root, of which `taken` is the motion that its
    /// clips have covered ([`RootTrack::taken`], blended as the poses are).
    pub fn pin(self, bone: BoneIndex, taken: GroundMotion) -> Option<RootPin> {
        let GroundMotion { x, z, yaw } = taken;
        match self {
            Self::None => None,
            Self::Position | Self::Planar => Some(RootPin::Motion { bone, x, z, yaw }),
            Self::Full => Some(RootPin::Reference(bone)),
        }
    }
}

/// The ground motion of a clip's root since the clip's start, at uniform frames; model space.
///
/// Only what a character on the ground moves by is extracted: metres on the plane and the turn
/// about +Y. Height, pitch and roll belong to the pose.
#[derive(Clone, Debug, PartialEq)]
pub struct RootTrack {
    frames: Vec<GroundMotion>,
    rate_hz: f32,
    /// Where the clip begins, as a motion from the reference pose.
    start: GroundMotion,
}

/// Frames at which a track is measured, at most; a longer clip is measured at a lower rate.
const MAX_FRAMES: usize = 4_096;

impl RootTrack {
    /// Measures a bone of a clip. A clip or a bone that the rig does not have does not move.
    pub fn of_clip(rig: &Rig, clip: ClipId, bone: BoneIndex, lock: RootLock) -> Self {
        let (seconds, rate) = rig.clip(clip).map_or((0.0, 1.0), |c| (c.seconds(), c.rate_hz()));
        let frames = ((seconds * rate).round() as usize + 1).min(MAX_FRAMES);
        let rate = if frames > 1 { (frames - 1) as f32 / seconds } else { rate };
        let model =
            |locals: &[Trs]| rig.skeleton().model_from_bone(locals).get(bone.get()).copied();
        let posed = |f: usize| model(&rig.sample_locals(clip, f as f32 / rate));
        let posed: Vec<Affine3A> = (0..frames).filter_map(posed).collect();
        let reference = model(rig.skeleton().rest()).unwrap_or(Affine3A::IDENTITY);
        Self::measure(&posed, &reference, rate, lock)
    }

    /// Measures the root's transforms in model space, one per frame at `rate_hz` frames a second,
    /// against its transform in the reference pose.
    ///
    /// The motion at a frame is the ground motion `g` of model space that takes the reference root
    /// onto the posed one; the track is `g(0)^-1 * g(t)`, so it starts at the identity.
    pub fn measure(
        model_from_root: &[Affine3A],
        reference: &Affine3A,
        rate_hz: f32,
        lock: RootLock,
    ) -> Self {
        let from_reference = reference.inverse();
        let home = Vec3::from(reference.translation);
        let mut yaw_before = 0.0;
        let mut frames: Vec<GroundMotion> = Vec::with_capacity(model_from_root.len().max(1));
        for posed in model_from_root {
            let turn = match lock {
                RootLock::None | RootLock::Position => 0.0,
                RootLock::Planar | RootLock::Full => heading(&(*posed * from_reference)),
            };
            // Unwrapped, so that the turn between neighbouring frames is the short one.
            let yaw = yaw_before + wrap(turn - yaw_before);
            yaw_before = yaw;
            let position = Vec3::from(posed.translation);
            let (at, from) = (Vec2::new(position.x, position.z), Vec2::new(home.x, home.z));
            frames.push(match lock {
                RootLock::None => GroundMotion::IDENTITY,
                _ => GroundMotion::new(at - rotate(from, yaw), yaw),
            });
        }
        let start = frames.first().copied().unwrap_or_default();
        let back = start.inverse();
        frames.iter_mut().for_each(|f| *f = back.then(*f));
        if frames.is_empty() {
            frames.push(GroundMotion::IDENTITY);
        }
        Self { frames, rate_hz, start }
    }

    /// The same way at a constant speed: a loop that sways to and fro while it goes then sways in
    /// the pose, and the character goes on evenly.
    pub fn steady(&self) -> Self {
        let last = self.frames.len() - 1;
        let share = |i: usize| i as f32 / last.max(1) as f32;
        let frames = (0..=last).map(|i| self.total().fraction(share(i))).collect();
        Self { frames, ..*self }
    }

    /// Of a clip that begins within `metres` of the reference pose, and turned by less than half a
    /// right angle: the motion from where it begins, whose offset then stays in the pose. One that
    /// begins farther away is brought to the character's own place and direction.
    pub fn anchored(self, metres: f32) -> Self {
        let near = self.start.translation().length() <= metres && self.start.yaw.abs() < FRAC_PI_4;
        if !near {
            return self;
        }
        let from_begin = |f: &GroundMotion| self.start.then(*f).then(self.start.inverse());
        let frames = self.frames.iter().map(from_begin).collect();
        Self { frames, start: GroundMotion::IDENTITY, rate_hz: self.rate_hz }
    }

    /// What has to be taken out of the root's pose at a time, model space: the motion so far, after
    /// where the clip begins unless [`RootTrack::anchored`] leaves that in the pose.
    pub fn taken(&self, seconds: f32) -> GroundMotion {
        self.start.then(self.at(seconds))
    }

    /// What one whole run of the clip covers.
    pub fn total(&self) -> GroundMotion {
        self.frames.last().copied().unwrap_or_default()
    }

    /// Length in seconds.
    pub fn seconds(&self) -> f32 {
        (self.frames.len() - 1) as f32 / self.rate_hz
    }

    /// The motion since the clip's start; the time is clamped to the clip.
    pub fn at(&self, seconds: f32) -> GroundMotion {
        let last = self.frames.len() - 1;
        let at = (seconds * self.rate_hz).max(0.0).min(last as f32);
        let first = (at as usize).min(last);
        let weight = at - first as f32;
        let (a, b) = (self.frames[first], self.frames[(first + 1).min(last)]);
        a.lerp(b, weight)
    }

    /// What a step of the clip's clock covers, in the frame the step began in, each round of a
    /// loop included. A ping-pong goes back the way that it came.
    pub fn delta(&self, step: &Advance) -> GroundMotion {
        let start = self.at(step.from).inverse();
        let rounds = match step.rounds() {
            0 => GroundMotion::IDENTITY,
            1 => self.total(),
            n => self.total().repeat(n),
        };
        start.then(rounds).then(self.at(step.to))
    }
}

impl GroundMotion {
    /// This motion of model space as it is seen from another point of the ground, (x, z), than the
    /// model's origin.
    pub fn about(self, pivot: Vec2) -> Self {
        if pivot == Vec2::ZERO {
            return self;
        }
        let from_pivot = Self::new(pivot, 0.0);
        from_pivot.inverse().then(self).then(from_pivot)
    }
}

/// The turn about +Y of a rotation: its twist about that axis, in -pi..=pi.
fn heading(m: &Affine3A) -> f32 {
    let q = Trs::from_affine(m).rotation;
    if q.y == 0.0 && q.w == 0.0 { 0.0 } else { wrap(2.0 * q.y.atan2(q.w)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::motion::PlayMode;
    use glam::Quat;
    use std::f32::consts::TAU;

    /// One round of a circle of 2 m radius in 120 frames at 30 Hz, bobbing and pitching.
    fn circling() -> (Vec<Affine3A>, Affine3A) {
        let reference = Affine3A::from_rotation_translation(
            Quat::from_rotation_x(0.3),
            Vec3::new(0.1, 0.9, 0.05),
        );
        let frames = (0..=120).map(|i| {
            let turn = i as f32 / 120.0 * TAU;
            let on_circle = Affine3A::from_rotation_translation(
                Quat::from_rotation_y(turn),
                Vec3::new(2.0 * (1.0 - turn.cos()), 0.05 * (5.0 * turn).sin(), 2.0 * turn.sin()),
            );
            on_circle * reference * Affine3A::from_rotation_x(0.1 * turn.sin())
        });
        (frames.collect(), reference)
    }

    fn step(from: f32, dt: f32, duration: f32) -> Advance {
        PlayMode::Loop.advance(from, dt, duration)
    }

    #[test]
    fn the_track_puts_the_reference_root_where_the_posed_root_stands() {
        let (frames, reference) = circling();
        let track = RootTrack::measure(&frames, &reference, 30.0, RootLock::Planar);
        for (i, posed) in frames.iter().enumerate() {
            let g = track.at(i as f32 / 30.0);
            let placed = rotate(Vec2::new(0.1, 0.05), g.yaw) + g.translation();
            let t = posed.translation;
            assert!(placed.distance(Vec2::new(t.x, t.z)) < 1e-3, "frame {i}");
        }
        let total = track.total();
        assert!(total.translation().length() < 1e-3 && (total.yaw - TAU).abs() < 1e-3, "{total:?}");
        assert_eq!(track.seconds(), 4.0);
    }

    #[test]
    fn steps_over_loops_add_up_to_the_clips_total() {
        // A quarter of the circle, so that each round goes on in a new direction.
        let (frames, reference) = circling();
        let track = RootTrack::measure(&frames[..=30], &reference, 30.0, RootLock::Planar);
        let duration = track.seconds();
        for dt in [1.0 / 60.0, 0.13, 0.9, 1.7, 3.3] {
            let (mut time, mut sum, mut run) = (0.0, GroundMotion::IDENTITY, 0.0);
            while run < 8.0 {
                let step = step(time, dt, duration);
                (time, sum) = (step.to, sum.then(track.delta(&step)));
                run += dt;
            }
            let rounds = ((run - time) / duration).round() as i32;
            let expected = track.total().repeat(rounds).then(track.at(time));
            let off = sum.translation().distance(expected.translation());
            assert!(off < 5e-3 && (sum.yaw - expected.yaw).abs() < 5e-3, "dt {dt}: off by {off}");
        }
    }

    #[test]
    fn a_step_back_undoes_a_step_forward() {
        let (frames, reference) = circling();
        let track = RootTrack::measure(&frames[..=50], &reference, 30.0, RootLock::Planar);
        let forward = step(1.2, 2.5, track.seconds());
        let back = step(forward.to, -2.5, track.seconds());
        let both = track.delta(&forward).then(track.delta(&back));
        assert!(both.translation().length() < 1e-3 && both.yaw.abs() < 1e-3, "{both:?}");
    }

    #[test]
    fn seen_from_the_circles_centre_there_is_only_the_turn() {
        let (frames, reference) = circling();
        let track = RootTrack::measure(&frames, &reference, 30.0, RootLock::Planar);
        for i in 0..=120 {
            let a = track.at(i as f32 / 30.0);
            let b = a.about(Vec2::new(2.0, 0.0));
            assert!(b.translation().length() < 1e-3 && (a.yaw - b.yaw).abs() < 1e-6, "{i}: {b:?}");
        }
    }

    #[test]
    fn a_ping_pong_goes_back_the_way_it_came() {
        let (frames, reference) = circling();
        let track = RootTrack::measure(&frames[..=50], &reference, 30.0, RootLock::Planar);
        let (mut clock, mut sum) = (0.0, GroundMotion::IDENTITY);
        for dt in [0.3, 1.9, 4.1, -0.7, 0.05] {
            let step = PlayMode::PingPong.advance(clock, dt, track.seconds());
            sum = sum.then(track.delta(&step));
            clock = step.clock;
            let at = track.at(step.to);
            let off = sum.translation().distance(at.translation());
            assert!(off < 1e-3 && (sum.yaw - at.yaw).abs() < 1e-3, "{dt}: {off}");
        }
    }

    #[test]
    fn a_lock_decides_what_is_extracted() {
        let (frames, reference) = circling();
        let of = |lock| RootTrack::measure(&frames[..=30], &reference, 30.0, lock);
        assert_eq!(of(RootLock::None).total(), GroundMotion::IDENTITY);
        let (position, planar) = (of(RootLock::Position).total(), of(RootLock::Planar).total());
        assert_eq!(position.yaw, 0.0);
        let moved = frames[30].translation - frames[0].translation;
        assert!(position.translation().distance(Vec2::new(moved.x, moved.z)) < 1e-5);
        assert!((planar.yaw - TAU / 4.0).abs() < 1e-3);
        assert_eq!(of(RootLock::Full).total(), planar);
        let bone = BoneIndex(0);
        assert_eq!(RootLock::None.pin(bone, planar), None);
        assert_eq!(RootLock::Full.pin(bone, planar), Some(RootPin::Reference(bone)));
        let GroundMotion { x, z, yaw } = planar;
        let pin = Some(RootPin::Motion { bone, x, z, yaw });
        assert_eq!(RootLock::Planar.pin(bone, planar), pin);
    }

    /// A motion of the ground as a matrix.
    fn matrix(m: GroundMotion) -> Affine3A {
        Affine3A::from_rotation_translation(Quat::from_rotation_y(m.yaw), Vec3::new(m.x, 0.0, m.z))
    }

    #[test]
    fn what_is_given_to_the_character_and_what_stays_in_the_pose_make_up_the_clip() {
        let (mut frames, reference) = circling();
        frames.truncate(51);
        // Begins somewhere else, turned.
        let elsewhere =
            |m: GroundMotion| -> Vec<Affine3A> { frames.iter().map(|f| matrix(m) * *f).collect() };
        for begin in [
            GroundMotion::IDENTITY,
            GroundMotion::new(Vec2::new(0.04, -0.03), 0.2),
            GroundMotion::new(Vec2::new(3.0, 9.0), 2.0),
        ] {
            let frames = elsewhere(begin);
            for lock in [RootLock::None, RootLock::Position, RootLock::Planar] {
                let track = RootTrack::measure(&frames, &reference, 30.0, lock).anchored(0.1);
                for track in [track.clone(), track.steady()] {
                    let mut place = GroundMotion::IDENTITY;
                    let mut world_from_clip = None;
                    let (mut clock, mut rounds) = (0.0, 0);
                    for f in 0..120 {
                        let seconds = clock;
                        let pose =
                            matrix(track.taken(seconds)).inverse() * at(&frames, seconds * 30.0);
                        let shown = matrix(place) * pose;
                        let before = matrix(repeated(&frames, lock, rounds));
                        let clip = before * at(&frames, seconds * 30.0);
                        // Whatever is taken out, the root stands where the clip has it, seen from
                        // one fixed place.
                        let fixed = *world_from_clip.get_or_insert(shown * clip.inverse());
                        assert!(
                            shown.abs_diff_eq(fixed * clip, 4e-3),
                            "{lock:?} {begin:?} frame {f}: {shown} {clip}"
                        );
                        let step = PlayMode::Loop.advance(clock, 1.0 / 30.0, track.seconds());
                        place = place.then(track.delta(&step));
                        (clock, rounds) = (step.clock, rounds + step.wraps);
                    }
                }
            }
        }
    }

    fn at(frames: &[Affine3A], frame: f32) -> Affine3A {
        frames[(frame.round() as usize).min(frames.len() - 1)]
    }

    /// Where whole rounds lead, in the clip's own space.
    fn repeated(frames: &[Affine3A], lock: RootLock, rounds: i32) -> GroundMotion {
        let ends = [frames[0], frames[frames.len() - 1]];
        // From one end's ground motion to the other's, applied from the left.
        let track = RootTrack::measure(&ends, &frames[0], 1.0, lock);
        track.total().repeat(rounds)
    }

    #[test]
    fn a_swaying_walk_goes_evenly_when_steady_and_ends_where_it_did() {
        let frames: Vec<_> = (0..=30)
            .map(|i| {
                let t = i as f32 / 30.0;
                let sway = 0.05 * (TAU * t).sin();
                Affine3A::from_translation(Vec3::new(sway, 0.9, 1.2 * t + 0.3 * sway))
            })
            .collect();
        let reference = Affine3A::from_translation(Vec3::new(0.0, 1.0, 0.0));
        let track = RootTrack::measure(&frames, &reference, 30.0, RootLock::Planar);
        assert!(track.at(0.25).x > 0.04, "frame by frame, the sway is motion");
        let steady = track.steady();
        for i in 0..=30 {
            let here = steady.at(i as f32 / 30.0);
            assert!(here.x.abs() < 1e-5 && (here.z - 0.04 * i as f32).abs() < 1e-4, "{here:?}");
        }
        assert!((steady.total().z - track.total().z).abs() < 1e-6);
    }

    #[test]
    fn a_clip_of_one_frame_or_none_does_not_move() {
        let (frames, reference) = circling();
        for track in [
            RootTrack::measure(&frames[40..41], &reference, 30.0, RootLock::Planar),
            RootTrack::measure(&[], &reference, 30.0, RootLock::Planar),
        ] {
            assert_eq!(track.seconds(), 0.0);
            assert_eq!(track.delta(&step(0.0, 1.0, 0.0)), GroundMotion::IDENTITY);
        }
    }
}
