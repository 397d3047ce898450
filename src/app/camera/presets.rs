//! The cameras that need no hand.
//!
//! Everything is scaled by the crowd's extent and the characters' height, so that a lone mouse
//! and a square kilometre of giants are both framed.

use super::{Scene, Steering, heading};
use crate::math::View;
use glam::Vec3;
use std::f32::consts::{FRAC_PI_2, TAU};

/// A camera's place for one frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shot {
    /// World position, metres.
    pub eye: Vec3,
    /// World position of what is in the middle of the picture, metres.
    pub target: Vec3,
    /// Vertical field of view, radians.
    pub fov_y: f32,
}

/// Vertical field of view of every camera, radians.
pub const FOV_Y: f32 = 0.72;

/// A crowd this many times longer than wide is seen along its length.
const STREET: f32 = 1.2;

fn long(scene: &Scene) -> bool {
    scene.half_x.max(scene.half_z) > STREET * scene.half_x.min(scene.half_z)
}

/// Circles the crowd just outside its edge, looking in over the heads.
#[derive(Clone, Copy, Debug)]
pub struct Orbit {
    azimuth: f32,
    lift: f32,
}

impl Orbit {
    /// Starts where the crowd shows its depth: off the corner of a square, at the end of a street.
    pub fn new(scene: &Scene) -> Self {
        let azimuth = match long(scene) {
            false => 0.45,
            true if scene.half_x > scene.half_z => FRAC_PI_2 - 0.2,
            true => 0.2,
        };
        Self { azimuth, lift: 0.0 }
    }

    const RADIANS_PER_SECOND: f32 = 0.04;

    pub(super) fn advance(&mut self, dt: f32, steering: &Steering) {
        self.azimuth = (self.azimuth + Self::RADIANS_PER_SECOND * dt - steering.yaw) % TAU;
        self.lift = (self.lift - steering.pitch).clamp(-0.25, 1.2);
    }

    pub(super) fn shot(&self, scene: &Scene, zoom: f32) -> Shot {
        let h = scene.height;
        let (sin, cos) = self.azimuth.sin_cos();
        let ellipse = Vec3::new(scene.half_x * sin, 0.0, scene.half_z * cos);
        // By angle, a long street's whole side would pass in a moment; its ellipse passes evenly.
        let (outward, edge) = if long(scene) {
            (ellipse.normalize_or(Vec3::Z), ellipse.length())
        } else {
            (heading(self.azimuth), scene.edge(self.azimuth))
        };
        let crowded = crowdedness(edge, h);
        // One character from a few steps away; a crowd from above its outermost row.
        let distance = edge + h * (3.4 - 5.0 * crowded);
        let height = h * (1.15 + 0.95 * crowded);
        let eye = outward * distance + Vec3::Y * height;
        let ahead = h * (3.4 + 4.6 * crowded);
        let target = outward * (distance - ahead) + Vec3::Y * h * (0.52 - 0.2 * crowded);
        let lift = glam::Quat::from_axis_angle(outward.cross(Vec3::Y), -self.lift);
        let lifted = target + lift * (eye - target) * zoom;
        Shot { eye: lifted.with_y(lifted.y.max(0.2 * h)), target, fov_y: FOV_Y }
    }
}

/// Eye to eye with the first row; a lone character is seen from head to foot.
pub fn near(scene: &Scene, zoom: f32) -> Shot {
    let h = scene.height;
    let rows = 1.0 - (-scene.half_z / (2.0 * h)).exp();
    let eye = Vec3::new(0.35 * h, 0.98 * h, scene.half_z + h * (2.1 - 0.9 * rows) * zoom);
    let target = Vec3::new(-0.2 * h * rows, 0.5 * h, scene.half_z - 2.5 * h * rows);
    Shot { eye, target, fov_y: FOV_Y }
}

/// High and away: the whole crowd fills a picture of this aspect ratio.
pub fn far(scene: &Scene, zoom: f32, aspect: f32) -> Shot {
    let target = Vec3::Y * scene.height * 0.5;
    let (azimuth, elevation) = (0.6, 0.3_f32);
    let back = heading(azimuth) * elevation.cos() + Vec3::Y * elevation.sin();
    let shot = |distance: f32| Shot { eye: target + back * distance, target, fov_y: FOV_Y };
    // Every distance beyond the right one shows the rim, none below does.
    let reach = scene.radius() + scene.height;
    let (mut low, mut high) = (reach, reach / (FOV_Y * 0.5).sin() * 4.0);
    for _ in 0..24 {
        let middle = 0.5 * (low + high);
        if shows_rim(&shot(middle), scene, aspect) { high = middle } else { low = middle }
    }
    shot(high * zoom)
}

/// True when the edge of the crowd's ground lies within the picture.
fn shows_rim(shot: &Shot, scene: &Scene, aspect: f32) -> bool {
    const POINTS: usize = 32;
    const MARGIN: f32 = 0.94;
    let size = ((aspect * 1024.0).clamp(1.0, 65_536.0) as u32, 1024);
    let clip = View::look_at(shot.eye, shot.target, shot.fov_y, 1e6, size).clip_from_world();
    (0..POINTS).all(|i| {
        let azimuth = i as f32 / POINTS as f32 * TAU;
        let rim = heading(azimuth) * (scene.edge(azimuth) + scene.height);
        [rim, rim + Vec3::Y * scene.height].into_iter().all(|p| {
            let c = clip * p.extend(1.0);
            c.w > 0.0 && c.x.abs() <= MARGIN * c.w && c.y.abs() <= MARGIN * c.w
        })
    })
}

/// A closed flight of [`PATH_SECONDS`]: along the front, across the middle just over the heads,
/// up, and back around. The same for every run, so that runs can be compared.
pub fn path(scene: &Scene, seconds: f64) -> Shot {
    let h = scene.height;
    let (x, z) = (scene.half_x + 3.0 * h, scene.half_z + 3.0 * h);
    let over = h * 1.5;
    let high = h * 2.5 + scene.radius() * 0.35;
    let points = [
        Vec3::new(-0.15 * x, over, 0.8 * z),
        Vec3::new(0.3 * x, over, 0.35 * z),
        Vec3::new(0.25 * x, over * 1.1, -0.3 * z),
        Vec3::new(-0.4 * x, high * 0.6, -0.95 * z),
        Vec3::new(-1.1 * x, high, -0.4 * z),
        Vec3::new(-0.9 * x, high * 0.5, 0.5 * z),
    ];
    let phase = (seconds / PATH_SECONDS).rem_euclid(1.0) as f32;
    // The curve dips between points of unequal height: never into the heads.
    let eye = closed_curve(&points, phase);
    let eye = eye.with_y(eye.y.max(1.25 * h));
    let along = closed_curve(&points, (phase + 0.02) % 1.0) - eye;
    // Looking where it flies, drawn towards the middle; the smaller the crowd, the more.
    let inward = (Vec3::Y * h * 0.5 - eye).normalize_or(Vec3::NEG_Z);
    let crowded = crowdedness(scene.radius(), h);
    let forward = along.normalize_or(inward) * crowded + inward * 1.4;
    let forward = forward.normalize_or(inward);
    let level = forward.with_y(forward.y.clamp(-0.6, -0.12));
    let target = eye + inward.lerp(level, crowded) * 10.0 * h;
    Shot { eye, target, fov_y: FOV_Y }
}

/// 0 for one character, towards 1 for a crowd many times its members' height across.
fn crowdedness(radius: f32, height: f32) -> f32 {
    1.0 - (-radius / (10.0 * height)).exp()
}

/// Length of [`path`]'s loop, seconds.
pub const PATH_SECONDS: f64 = 40.0;

/// Uniform Catmull-Rom spline through points in a ring (Catmull and Rom 1974), `phase` in 0..1.
fn closed_curve(points: &[Vec3], phase: f32) -> Vec3 {
    let n = points.len();
    let at = phase * n as f32;
    let i = (at as usize).min(n - 1);
    let t = at - i as f32;
    let [p0, p1, p2, p3] = [i + n - 1, i, i + 1, i + 2].map(|k| points[k % n]);
    let linear = p2 - p0;
    let square = p0 * 2.0 - p1 * 5.0 + p2 * 4.0 - p3;
    let cube = p1 * 3.0 - p0 - p2 * 3.0 + p3;
    (p1 * 2.0 + linear * t + square * t * t + cube * t * t * t) * 0.5
}

/// The pitch beyond which a camera would look straight up or down, radians.
pub const PITCH_LIMIT: f32 = FRAC_PI_2 * 0.97;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_curve_runs_through_its_points_and_closes() {
        let points = [Vec3::ZERO, Vec3::X, Vec3::new(1.0, 2.0, 3.0), Vec3::Z];
        for (i, p) in points.iter().enumerate() {
            assert!(closed_curve(&points, i as f32 / 4.0).abs_diff_eq(*p, 1e-5));
        }
        let (end, start) = (closed_curve(&points, 0.999_999), closed_curve(&points, 0.0));
        assert!(end.abs_diff_eq(start, 1e-4));
    }

    #[test]
    fn the_flight_repeats_and_never_jumps() {
        let scene = Scene { half_x: 50.0, half_z: 40.0, round: true, height: 1.8 };
        let mut last = path(&scene, 0.0);
        assert!(last.eye.abs_diff_eq(path(&scene, PATH_SECONDS).eye, 1e-3));
        for i in 1..=2400 {
            let next = path(&scene, f64::from(i) / 60.0);
            assert!(next.eye.distance(last.eye) < 0.5, "frame {i}: {}", next.eye);
            let turn = (next.target - next.eye).angle_between(last.target - last.eye);
            assert!(turn < 0.05, "frame {i}: {turn} radians");
            last = next;
        }
    }
}
