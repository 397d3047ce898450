//! Root motion: what the root bone of a clip covers on the ground.

use super::Advance;
use super::ground::{GroundMotion, rotate};
use glam::{Affine3A, Vec2, Vec3};
use std::f32::consts::{PI, TAU};

/// The ground motion of a clip's root since the clip's start, at uniform frames.
///
/// Only what a character on the ground moves by is extracted: metres on the plane and the turn
/// about +Y. Height, pitch and roll belong to the pose.
#[derive(Clone, Debug, PartialEq)]
pub struct RootTrack {
    frames: Vec<GroundMotion>,
    rate_hz: f32,
}

impl RootTrack {
    /// Measures the root's transforms in model space, one per frame at `rate_hz` frames a second,
    /// against its transform in the reference pose.
    ///
    /// The motion at a frame is the ground motion `g` of model space that takes the reference root
    /// onto the posed one; the track is `g(0)^-1 * g(t)`, so it starts at the identity.
    pub fn measure(model_from_root: &[Affine3A], reference: &Affine3A, rate_hz: f32) -> Self {
        let from_reference = reference.inverse();
        let home = Vec3::from(reference.translation);
        let mut yaw_before = 0.0;
        let mut frames: Vec<GroundMotion> = Vec::with_capacity(model_from_root.len().max(1));
        for posed in model_from_root {
            let turn = heading(&(*posed * from_reference));
            // Unwrapped, so that the turn between neighbouring frames is the short one.
            let yaw = yaw_before + wrap(turn - yaw_before);
            yaw_before = yaw;
            let position = Vec3::from(posed.translation);
            let (at, from) = (Vec2::new(position.x, position.z), Vec2::new(home.x, home.z));
            frames.push(GroundMotion::new(at - rotate(from, yaw), yaw));
        }
        let start = frames.first().copied().unwrap_or_default().inverse();
        frames.iter_mut().for_each(|f| *f = start.then(*f));
        if frames.is_empty() {
            frames.push(GroundMotion::IDENTITY);
        }
        Self { frames, rate_hz }
    }

    /// The same motion seen from another point of the ground, (x, z), than the model's origin.
    pub fn about(&self, pivot: Vec2) -> Self {
        let from_pivot = GroundMotion::new(pivot, 0.0);
        let seen = |&motion: &GroundMotion| from_pivot.inverse().then(motion).then(from_pivot);
        Self { frames: self.frames.iter().map(seen).collect(), rate_hz: self.rate_hz }
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
        a.weighted(1.0 - weight).plus(b.weighted(weight))
    }

    /// What a step of the clip's clock covers, in the frame the step began in, each round of a
    /// loop included.
    pub fn delta(&self, step: &Advance) -> GroundMotion {
        let start = self.at(step.from).inverse();
        let rounds = match step.wraps {
            0 => GroundMotion::IDENTITY,
            1 => self.total(),
            n => self.total().repeat(n),
        };
        start.then(rounds).then(self.at(step.to))
    }
}

/// The turn about +Y of a rotation: its twist about that axis, in -pi..=pi.
fn heading(m: &Affine3A) -> f32 {
    let q = crate::math::Trs::from_affine(m).rotation;
    if q.y == 0.0 && q.w == 0.0 { 0.0 } else { wrap(2.0 * q.y.atan2(q.w)) }
}

/// An angle in -pi..=pi.
fn wrap(angle: f32) -> f32 {
    let turned = (angle + PI).rem_euclid(TAU) - PI;
    if turned.is_finite() { turned } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::motion::PlayMode;
    use glam::Quat;

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
        let track = RootTrack::measure(&frames, &reference, 30.0);
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
        let track = RootTrack::measure(&frames[..=30], &reference, 30.0);
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
        let track = RootTrack::measure(&frames[..=50], &reference, 30.0);
        let forward = step(1.2, 2.5, track.seconds());
        let back = step(forward.to, -2.5, track.seconds());
        let both = track.delta(&forward).then(track.delta(&back));
        assert!(both.translation().length() < 1e-3 && both.yaw.abs() < 1e-3, "{both:?}");
    }

    #[test]
    fn seen_from_the_circles_centre_there_is_only_the_turn() {
        let (frames, reference) = circling();
        let track = RootTrack::measure(&frames, &reference, 30.0);
        let seen = track.about(Vec2::new(2.0, 0.0));
        for i in 0..=120 {
            let (a, b) = (track.at(i as f32 / 30.0), seen.at(i as f32 / 30.0));
            assert!(b.translation().length() < 1e-3 && (a.yaw - b.yaw).abs() < 1e-6, "{i}: {b:?}");
        }
    }

    #[test]
    fn a_clip_of_one_frame_or_none_does_not_move() {
        let (frames, reference) = circling();
        for track in [
            RootTrack::measure(&frames[40..41], &reference, 30.0),
            RootTrack::measure(&[], &reference, 30.0),
        ] {
            assert_eq!(track.seconds(), 0.0);
            assert_eq!(track.delta(&step(0.0, 1.0, 0.0)), GroundMotion::IDENTITY);
        }
    }
}
