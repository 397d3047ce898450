//! The camera that is steered.

use super::presets::{FOV_Y, PITCH_LIMIT, Shot};
use crate::motion::Terrain;
use glam::{Vec2, Vec3};

/// What the user did since the last frame.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Steering {
    /// -1 back to 1 forward.
    pub forward: f32,
    /// -1 left to 1 right.
    pub right: f32,
    /// -1 down to 1 up.
    pub up: f32,
    /// Moves four times as fast.
    pub fast: bool,
    /// Turn to the right, radians.
    pub yaw: f32,
    /// Turn upward, radians.
    pub pitch: f32,
    /// Notches of the wheel, positive away from the user: closer.
    pub wheel: f32,
}

impl Steering {
    /// True when a key that moves is held.
    pub fn moves(&self) -> bool {
        self.forward != 0.0 || self.right != 0.0 || self.up != 0.0
    }

    /// True when the mouse turned the camera.
    pub fn looks(&self) -> bool {
        self.yaw != 0.0 || self.pitch != 0.0
    }
}

/// A free camera.
#[derive(Clone, Copy, Debug)]
pub struct Fly {
    eye: Vec3,
    yaw: f32,
    pitch: f32,
    metres_per_second: f32,
    /// Metres that it keeps above the ground.
    clearance: f32,
    terrain: Terrain,
}

impl Fly {
    /// Starts where another camera is.
    pub fn from_shot(shot: &Shot, character_height: f32, terrain: Terrain) -> Self {
        let forward = (shot.target - shot.eye).normalize_or(Vec3::NEG_Z);
        Self {
            eye: shot.eye,
            yaw: forward.x.atan2(-forward.z),
            pitch: forward.y.clamp(-1.0, 1.0).asin().clamp(-PITCH_LIMIT, PITCH_LIMIT),
            metres_per_second: character_height * 3.0,
            clearance: character_height * 0.1,
            terrain,
        }
    }

    /// Moves by keys and turns by mouse; the wheel makes keys move faster or slower.
    pub fn advance(&mut self, dt: f32, steering: &Steering) {
        self.yaw += steering.yaw;
        self.pitch = (self.pitch + steering.pitch).clamp(-PITCH_LIMIT, PITCH_LIMIT);
        self.metres_per_second =
            (self.metres_per_second * (0.15 * steering.wheel).exp()).clamp(0.01, 1e4);
        let forward = self.forward();
        let right = forward.cross(Vec3::Y).normalize_or(Vec3::X);
        let wish = forward * steering.forward + right * steering.right + Vec3::Y * steering.up;
        let speed = self.metres_per_second * if steering.fast { 4.0 } else { 1.0 };
        self.eye += wish.clamp_length_max(1.0) * speed * dt;
        let ground = self.terrain.height(Vec2::new(self.eye.x, self.eye.z));
        self.eye.y = self.eye.y.max(ground + self.clearance);
    }

    /// Where it is and what it looks at.
    pub fn shot(&self) -> Shot {
        Shot { eye: self.eye, target: self.eye + self.forward(), fov_y: FOV_Y }
    }

    fn forward(&self) -> Vec3 {
        let (sin_yaw, cos_yaw) = self.yaw.sin_cos();
        let (sin_pitch, cos_pitch) = self.pitch.sin_cos();
        Vec3::new(sin_yaw * cos_pitch, sin_pitch, -cos_yaw * cos_pitch)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turning_right_looks_right_and_the_ground_holds() {
        let shot = Shot { eye: Vec3::Y, target: Vec3::new(0.0, 1.0, -1.0), fov_y: 1.0 };
        let mut fly = Fly::from_shot(&shot, 1.8, Terrain::FLAT);
        let quarter = std::f32::consts::FRAC_PI_2;
        fly.advance(0.1, &Steering { yaw: quarter, ..Steering::default() });
        let forward = fly.shot().target - fly.shot().eye;
        assert!(forward.abs_diff_eq(Vec3::X, 1e-5), "{forward}");
        fly.advance(100.0, &Steering { up: -1.0, pitch: -9.0, ..Steering::default() });
        assert!(fly.shot().eye.y > 0.0);
        assert!(fly.shot().target.is_finite());
    }

    #[test]
    fn it_glides_over_hills_and_not_through_them() {
        let terrain = Terrain::uneven(1);
        let shot = Shot { eye: Vec3::Y * 0.3, target: Vec3::new(0.0, 0.0, -1.0), fov_y: 1.0 };
        let mut fly = Fly::from_shot(&shot, 1.8, terrain);
        let (mut low, mut high) = (f32::INFINITY, f32::NEG_INFINITY);
        for _ in 0..600 {
            fly.advance(0.02, &Steering { forward: 1.0, ..Steering::default() });
            let eye = fly.shot().eye;
            let above = eye.y - terrain.height(Vec2::new(eye.x, eye.z));
            assert!((above - 0.18).abs() < 1e-5 || above > 0.18, "{above}");
            (low, high) = (low.min(eye.y), high.max(eye.y));
        }
        assert!(high - low > 0.1, "{low} to {high}");
    }
}
