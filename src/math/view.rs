//! A camera reduced to what culling and drawing need of it.

use super::Frustum;
use glam::camera::rh::{proj::directx, view};
use glam::{Mat4, Vec3};

/// A point of view in the world.
#[derive(Clone, Copy, Debug)]
pub struct View {
    /// World position of the eye, metres.
    pub eye: Vec3,
    /// Unit vector of the line of sight.
    pub forward: Vec3,
    /// Right-handed, y up, looking along its own -z.
    pub view_from_world: Mat4,
    /// Perspective with depth 0..1 (near to far).
    pub clip_from_view: Mat4,
    /// Vertical field of view, radians.
    pub fov_y: f32,
    /// Pixels.
    pub width: u32,
    /// Pixels.
    pub height: u32,
}

impl View {
    /// Near plane of every perspective view, metres.
    pub const NEAR: f32 = 0.02;

    /// A perspective view from `eye` towards `target`; the size is clamped to at least one pixel.
    pub fn look_at(eye: Vec3, target: Vec3, fov_y: f32, far: f32, size: (u32, u32)) -> Self {
        let (width, height) = (size.0.max(1), size.1.max(1));
        let forward = (target - eye).normalize_or(Vec3::NEG_Z);
        let up = if forward.y.abs() > 0.999 { Vec3::Z } else { Vec3::Y };
        Self {
            eye,
            forward,
            view_from_world: view::look_to_mat4(eye, forward, up),
            clip_from_view: directx::perspective(
                fov_y,
                width as f32 / height as f32,
                Self::NEAR,
                far.max(Self::NEAR * 2.0),
            ),
            fov_y,
            width,
            height,
        }
    }

    /// Clip space from world space.
    pub fn clip_from_world(&self) -> Mat4 {
        self.clip_from_view * self.view_from_world
    }

    /// Where a pixel looks, from the upper left corner of the picture: a vector of the world, not of
    /// unit length.
    pub fn direction(&self, x: f32, y: f32) -> Vec3 {
        let (width, height) = (self.width as f32, self.height as f32);
        let rows = self.view_from_world.transpose();
        let (right, up) = (rows.x_axis.truncate(), rows.y_axis.truncate());
        let half = (0.5 * self.fov_y).tan();
        let across = (2.0 * x / width - 1.0) * half * width / height;
        self.forward + right * across + up * (1.0 - 2.0 * y / height) * half
    }

    /// The planes of what this view can see.
    pub fn frustum(&self) -> Frustum {
        Frustum::from_clip_from_world(&self.clip_from_world())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pixel_looks_where_its_point_is_drawn() {
        let eye = Vec3::new(3.0, 2.0, -1.0);
        let view = View::look_at(eye, Vec3::new(-4.0, 0.5, 2.0), 0.8, 100.0, (320, 180));
        for (x, y) in [(0.0, 0.0), (160.0, 90.0), (320.0, 20.0), (17.0, 180.0)] {
            let at = view.clip_from_world().project_point3(eye + 7.0 * view.direction(x, y));
            let pixel = ((at.x + 1.0) * 160.0, (1.0 - at.y) * 90.0);
            assert!((pixel.0 - x).abs() < 0.01 && (pixel.1 - y).abs() < 0.01, "{pixel:?}");
        }
    }
}
