//! The camera that goes along with somebody.

use super::fly::Steering;
use super::presets::{FOV_Y, PITCH_LIMIT, Shot};
use crate::motion::Terrain;
use glam::{Vec2, Vec3};

/// An orbit about a point that moves.
#[derive(Clone, Copy, Debug)]
pub struct Chase {
    /// World position, metres, that it is about: behind what it follows by a little.
    center: Vec3,
    /// Where that is now, and how large, metres.
    goal: (Vec3, f32),
    /// Radians about +Y; 0 looks from +Z.
    azimuth: f32,
    /// Radians above the horizon.
    elevation: f32,
    /// Radii of what it follows.
    distance: f32,
    /// How far eye and target still are from there, since it set out.
    behind: [Vec3; 2],
    terrain: Terrain,
}

impl Chase {
    /// Share of a second in which it catches up: whom it follows starts and stops, and the picture
    /// should not.
    const SECONDS: f32 = 0.15;
    /// The same for the way that it sets out on.
    const SETS_OUT: f32 = 0.3;
    /// Radii, at least and at most; and at first.
    const DISTANCES: [f32; 2] = [1.2, 60.0];
    const FIRST: [f32; 2] = [2.5, 6.0];

    /// Sets out from another camera's shot.
    pub fn from_shot(shot: &Shot, goal: (Vec3, f32), terrain: Terrain) -> Self {
        let (center, radius) = (goal.0, goal.1.max(1e-3));
        let away = shot.eye - center;
        let [near, far] = Self::FIRST;
        let mut chase = Self {
            center,
            goal: (center, radius),
            azimuth: away.x.atan2(away.z),
            elevation: (away.y / away.length().max(1e-6)).clamp(-1.0, 1.0).asin(),
            distance: (away.length() / radius).clamp(near, far),
            behind: [Vec3::ZERO; 2],
            terrain,
        };
        chase.elevation = chase.elevation.clamp(0.1, 0.9);
        let there = chase.shot();
        // What was looked at lies as far away as what will be.
        let forward = (shot.target - shot.eye).normalize_or(Vec3::NEG_Z);
        let target = shot.eye + forward * away.length();
        chase.behind = [shot.eye - there.eye, target - there.target];
        chase
    }

    /// Where it is that is followed, and how large: world metres.
    pub fn lead(&mut self, (center, radius): (Vec3, f32)) {
        if center.is_finite() && radius.is_finite() {
            self.goal = (center, radius.max(1e-3));
        }
    }

    /// Moves on by `dt` seconds of wall time: closer to what it follows, and about it as the user
    /// turns it; the wheel goes nearer or farther.
    pub fn advance(&mut self, dt: f32, steering: &Steering) {
        let left = |seconds: f32| (-dt.max(0.0) / seconds).exp();
        self.center = self.goal.0 + (self.center - self.goal.0) * left(Self::SECONDS);
        self.behind = self.behind.map(|behind| behind * left(Self::SETS_OUT));
        self.azimuth = (self.azimuth - steering.yaw) % std::f32::consts::TAU;
        self.elevation = (self.elevation - steering.pitch).clamp(-0.3, PITCH_LIMIT);
        let [least, most] = Self::DISTANCES;
        self.distance = (self.distance * (-0.12 * steering.wheel).exp()).clamp(least, most);
    }

    /// Where it is and what it looks at.
    pub fn shot(&self) -> Shot {
        let (sin, cos) = self.azimuth.sin_cos();
        let (up, flat) = self.elevation.sin_cos();
        let back = Vec3::new(sin * flat, up, cos * flat);
        let mut eye = self.center + back * (self.distance * self.goal.1) + self.behind[0];
        let ground = self.terrain.height(Vec2::new(eye.x, eye.z));
        eye.y = eye.y.max(ground + 0.15 * self.goal.1);
        Shot { eye, target: self.center + self.behind[1], fov_y: FOV_Y }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STILL: Steering = Steering {
        forward: 0.0,
        right: 0.0,
        up: 0.0,
        fast: false,
        yaw: 0.0,
        pitch: 0.0,
        wheel: 0.0,
    };

    fn shot() -> Shot {
        Shot { eye: Vec3::new(0.0, 20.0, 60.0), target: Vec3::ZERO, fov_y: FOV_Y }
    }

    #[test]
    fn it_sets_out_from_where_the_camera_was_and_arrives_without_a_jump() {
        let goal = (Vec3::new(5.0, 1.0, -3.0), 1.0);
        let mut chase = Chase::from_shot(&shot(), goal, Terrain::FLAT);
        let first = chase.shot();
        assert!(first.eye.abs_diff_eq(shot().eye, 1e-3));
        let (a, b) = (first.target - first.eye, shot().target - shot().eye);
        assert!(a.angle_between(b) < 1e-3);
        let mut last = first.eye;
        for _ in 0..300 {
            chase.advance(1.0 / 60.0, &STILL);
            let eye = chase.shot().eye;
            assert!(eye.distance(last) < 5.0, "{eye} {last}");
            last = eye;
        }
        assert!(chase.shot().target.abs_diff_eq(goal.0, 1e-2));
        assert!((2.0..7.0).contains(&last.distance(goal.0)), "{last}");
    }

    #[test]
    fn it_keeps_up_with_who_runs_and_the_user_still_turns_and_zooms_it() {
        let mut at = Vec3::new(0.0, 1.0, 0.0);
        let mut chase = Chase::from_shot(&shot(), (at, 1.0), Terrain::uneven(2));
        let step = |chase: &mut Chase, at: &mut Vec3, steering: &Steering| {
            *at += Vec3::X * 4.0 / 60.0;
            chase.lead((*at, 1.0));
            chase.advance(1.0 / 60.0, steering);
        };
        (0..300).for_each(|_| step(&mut chase, &mut at, &STILL));
        assert!(chase.shot().target.distance(at) < 1.0);
        let before = chase.shot();
        let quarter = std::f32::consts::FRAC_PI_2;
        step(&mut chase, &mut at, &Steering { yaw: quarter, wheel: 5.0, ..STILL });
        let after = chase.shot();
        let flat = |s: Shot| Vec2::new(s.eye.x - s.target.x, s.eye.z - s.target.z);
        assert!((flat(before).angle_to(flat(after)).abs() - quarter).abs() < 0.05);
        assert!(flat(after).length() < 0.7 * flat(before).length());
        (0..99).for_each(|_| {
            step(&mut chase, &mut at, &Steering { wheel: 9.0, pitch: -9.0, ..STILL })
        });
        let near = chase.shot();
        assert!(near.eye.is_finite() && near.eye.distance(near.target) >= 1.0);
        chase.lead((Vec3::NAN, f32::NAN));
        chase.advance(0.1, &STILL);
        assert!(chase.shot().target.distance(at) < 1.0, "nowhere is no place to go");
    }
}
