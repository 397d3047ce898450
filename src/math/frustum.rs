//! Six planes, and whether a sphere reaches inside.

use glam::{Mat4, Vec3, Vec4};

/// The planes of a view's clip volume in world space, normals pointing inward.
///
/// Depth runs over wgpu's 0..1. Planes come from sums and differences of the rows of
/// `clip_from_world` (Gribb and Hartmann 2001).
#[derive(Clone, Copy, Debug)]
pub struct Frustum {
    planes: [Vec4; 6],
}

impl Frustum {
    /// Takes the planes out of `clip_from_world`. A plane at infinity (a projection without a far
    /// plane) keeps everything.
    pub fn from_clip_from_world(m: &Mat4) -> Self {
        let [x, y, z, w] = [m.row(0), m.row(1), m.row(2), m.row(3)];
        let planes = [w + x, w - x, w + y, w - y, z, w - z].map(|p| {
            let length = p.truncate().length();
            if length > 1e-12 { p / length } else { Vec4::new(0.0, 0.0, 0.0, f32::MAX) }
        });
        Self { planes }
    }

    /// The planes (normal in xyz, offset in w): a point `p` is inside where `dot(n, p) + w >= 0`.
    #[inline]
    pub fn planes(&self) -> &[Vec4; 6] {
        &self.planes
    }

    /// False only when the sphere lies wholly outside one plane; near the corners a sphere that
    /// is outside may pass.
    #[inline]
    pub fn sphere_may_be_visible(&self, center: Vec3, radius: f32) -> bool {
        self.planes.iter().all(|p| p.truncate().dot(center) + p.w >= -radius)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::camera::rh::{proj::directx, view};

    #[test]
    fn spheres_in_front_pass_and_spheres_behind_or_aside_do_not() {
        let view = view::look_to_mat4(Vec3::ZERO, Vec3::Z, Vec3::Y);
        let clip = directx::perspective(1.0, 1.0, 0.1, 100.0) * view;
        let f = Frustum::from_clip_from_world(&clip);
        assert!(f.sphere_may_be_visible(Vec3::new(0.0, 0.0, 10.0), 0.1));
        assert!(!f.sphere_may_be_visible(Vec3::new(0.0, 0.0, -1.0), 0.5));
        assert!(f.sphere_may_be_visible(Vec3::new(0.0, 0.0, -1.0), 1.5));
        assert!(!f.sphere_may_be_visible(Vec3::new(20.0, 0.0, 10.0), 1.0));
        assert!(!f.sphere_may_be_visible(Vec3::new(0.0, 0.0, 102.0), 1.0));
        assert!(f.sphere_may_be_visible(Vec3::new(0.0, 0.0, 100.5), 1.0));
    }

    #[test]
    fn a_projection_without_far_plane_keeps_what_is_far() {
        let clip = directx::perspective_infinite(1.0, 1.0, 0.1)
            * view::look_to_mat4(Vec3::ZERO, Vec3::Z, Vec3::Y);
        let f = Frustum::from_clip_from_world(&clip);
        assert!(f.sphere_may_be_visible(Vec3::new(0.0, 0.0, 1e7), 1.0));
        assert!(!f.sphere_may_be_visible(Vec3::new(0.0, 0.0, -3.0), 1.0));
    }
}
