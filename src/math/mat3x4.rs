//! The packed bone matrix: three rows of four, as the shader reads them.

use bytemuck::{Pod, Zeroable};
use glam::{Affine3A, Mat3A, Vec3, Vec3A};

/// Three rows of an affine 4x4 matrix, translation in each row's `w`: 48 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C, align(16))]
pub struct Mat3x4 {
    /// Row vectors; `rows[i][3]` is the translation's component `i`.
    pub rows: [[f32; 4]; 3],
}

impl Mat3x4 {
    /// The matrix that changes nothing.
    pub const IDENTITY: Self =
        Self { rows: [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]] };

    /// Packs an affine matrix.
    pub fn from_affine(m: &Affine3A) -> Self {
        let (c, t) = (m.matrix3, m.translation);
        Self {
            rows: [
                [c.x_axis.x, c.y_axis.x, c.z_axis.x, t.x],
                [c.x_axis.y, c.y_axis.y, c.z_axis.y, t.y],
                [c.x_axis.z, c.y_axis.z, c.z_axis.z, t.z],
            ],
        }
    }

    /// Unpacks to an affine matrix.
    pub fn to_affine(self) -> Affine3A {
        let [x, y, z] = self.rows;
        Affine3A {
            matrix3: Mat3A::from_cols(
                Vec3A::new(x[0], y[0], z[0]),
                Vec3A::new(x[1], y[1], z[1]),
                Vec3A::new(x[2], y[2], z[2]),
            ),
            translation: Vec3A::new(x[3], y[3], z[3]),
        }
    }

    /// Transforms a point.
    pub fn transform_point(&self, p: Vec3) -> Vec3 {
        let dot = |r: [f32; 4]| r[0] * p.x + r[1] * p.y + r[2] * p.z + r[3];
        Vec3::new(dot(self.rows[0]), dot(self.rows[1]), dot(self.rows[2]))
    }

    /// True when every component is a finite number.
    pub fn is_finite(&self) -> bool {
        self.rows.as_flattened().iter().all(|x| x.is_finite())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packing_and_unpacking_is_exact() {
        let m = Affine3A::from_scale_rotation_translation(
            Vec3::new(1.0, 2.0, 3.0),
            glam::Quat::from_rotation_z(0.4),
            Vec3::new(4.0, 5.0, 6.0),
        );
        assert_eq!(Mat3x4::from_affine(&m).to_affine(), m);
        let p = Vec3::new(0.1, -0.2, 0.3);
        let (a, b) = (Mat3x4::from_affine(&m).transform_point(p), m.transform_point3(p));
        assert!(a.abs_diff_eq(b, 1e-6));
        assert_eq!(size_of::<Mat3x4>(), 48);
    }
}
