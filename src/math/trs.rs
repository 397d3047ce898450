//! Translation, rotation and scale, and the one decomposition of an affine matrix into them.

use glam::{Affine3A, Mat3A, Quat, Vec3};

/// A local transform: scale, then rotation, then translation (glTF's order).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Trs {
    /// Metres (or the file's own unit), in the parent's space.
    pub translation: Vec3,
    /// Unit length, xyzw.
    pub rotation: Quat,
    /// Per axis; negative where the transform mirrors.
    pub scale: Vec3,
}

impl Trs {
    /// The transform that changes nothing.
    pub const IDENTITY: Self =
        Self { translation: Vec3::ZERO, rotation: Quat::IDENTITY, scale: Vec3::ONE };

    /// The matrix `parent_from_local`.
    pub fn to_affine(self) -> Affine3A {
        Affine3A::from_scale_rotation_translation(self.scale, self.rotation, self.translation)
    }

    /// Splits an affine matrix. Shear can't be represented and is dropped; a mirrored matrix gets
    /// its negative sign on x. A zero axis keeps a zero scale and leaves the rotation finite.
    ///
    /// Every decomposition in the program goes through here, so that two call sites agree to the bit.
    pub fn from_affine(matrix: &Affine3A) -> Self {
        let m = matrix.matrix3;
        let mut scale = Vec3::new(m.x_axis.length(), m.y_axis.length(), m.z_axis.length());
        if m.determinant() < 0.0 {
            scale.x = -scale.x;
        }
        let axis = |v: glam::Vec3A, s: f32| if s == 0.0 { glam::Vec3A::ZERO } else { v / s };
        let rotation =
            rotation_of(axis(m.x_axis, scale.x), axis(m.y_axis, scale.y), axis(m.z_axis, scale.z));
        Self { translation: matrix.translation.into(), rotation, scale }
    }

    /// True when every component is a finite number.
    pub fn is_finite(self) -> bool {
        self.translation.is_finite() && self.rotation.is_finite() && self.scale.is_finite()
    }
}

/// The rotation nearest to three unit axes, completing those that are zero (a collapsed axis).
fn rotation_of(x: glam::Vec3A, y: glam::Vec3A, z: glam::Vec3A) -> Quat {
    let missing = |v: glam::Vec3A| v.length_squared() < 0.5;
    let (x, y, z) = match (missing(x), missing(y), missing(z)) {
        (false, false, false) => (x, y, z),
        (true, false, false) => (y.cross(z).normalize_or(glam::Vec3A::X), y, z),
        (false, true, false) => (x, z.cross(x).normalize_or(glam::Vec3A::Y), z),
        (false, false, true) => (x, y, x.cross(y).normalize_or(glam::Vec3A::Z)),
        (false, true, true) => {
            let (y, z) = x.any_orthonormal_pair();
            (x, y, z)
        }
        (true, false, true) => {
            let (z, x) = y.any_orthonormal_pair();
            (x, y, z)
        }
        (true, true, false) => {
            let (x, y) = z.any_orthonormal_pair();
            (x, y, z)
        }
        (true, true, true) => return Quat::IDENTITY,
    };
    Quat::from_mat3a(&Mat3A::from_cols(x, y, z)).normalize()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mirrored_matrix_survives_the_round_trip() {
        let q = Quat::from_euler(glam::EulerRot::XYZ, 0.3, -1.1, 2.0);
        let m = Affine3A::from_scale_rotation_translation(
            Vec3::new(2.0, -3.0, 0.5),
            q,
            Vec3::new(1.0, 2.0, 3.0),
        );
        let back = Trs::from_affine(&m).to_affine();
        assert!(m.abs_diff_eq(back, 1e-5), "{m:?} {back:?}");
    }

    #[test]
    fn collapsed_axes_keep_the_rotation_finite() {
        for bits in 0..8 {
            let scale = Vec3::new((bits & 1) as f32, (bits >> 1 & 1) as f32, (bits >> 2) as f32);
            let q = Quat::from_rotation_y(0.7);
            let m = Affine3A::from_scale_rotation_translation(scale, q, Vec3::ONE);
            let trs = Trs::from_affine(&m);
            assert!(trs.is_finite());
            assert!((trs.rotation.length() - 1.0).abs() < 1e-5);
            assert!(m.abs_diff_eq(trs.to_affine(), 1e-5), "scale {scale}: {m:?} {trs:?}");
        }
    }
}
