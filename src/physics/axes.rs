//! Principal directions of some vectors.

use glam::{Mat3, Quat, Vec3};

/// Multiplications after which a direction is near enough; where two are about as good, either is.
const ROUNDS: usize = 24;

/// The direction in which vectors, or their negatives, point most: of unit length. Power iteration.
pub fn principal(vectors: impl Iterator<Item = Vec3> + Clone) -> Vec3 {
    // Along none of the axes that anybody models along, and so orthogonal to none.
    let mut axis = Vec3::new(0.76, 0.52, 0.39).normalize();
    for _ in 0..ROUNDS {
        let next = vectors.clone().map(|v| v * v.dot(axis)).sum::<Vec3>();
        axis = next.normalize_or(axis);
    }
    axis
}

/// The rotation that takes +X to the principal direction, and +Y to the principal one of what lies
/// across it.
pub fn frame(vectors: impl Iterator<Item = Vec3> + Clone) -> Quat {
    let x = principal(vectors.clone());
    let y = principal(vectors.map(|v| v.reject_from_normalized(x))).reject_from_normalized(x);
    let y = y.try_normalize().unwrap_or_else(|| x.any_orthonormal_vector());
    Quat::from_mat3(&Mat3::from_cols(x, y, x.cross(y))).normalize()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_frame_of_a_flat_ellipse_is_its_axes() {
        let turned = Quat::from_euler(glam::EulerRot::XYZ, 0.4, -1.0, 0.3);
        let points = (0..100).map(|i| {
            let (sin, cos) = (i as f32 * 0.63).sin_cos();
            turned * Vec3::new(0.5 * sin, 0.0, 2.0 * cos)
        });
        let frame = frame(points);
        assert!((frame * Vec3::X).dot(turned * Vec3::Z).abs() > 0.999);
        assert!((frame * Vec3::Y).dot(turned * Vec3::X).abs() > 0.999);
    }

    #[test]
    fn no_vectors_and_vectors_along_one_line_have_a_frame_too() {
        for points in [vec![], vec![Vec3::ZERO; 3], vec![Vec3::Y, -Vec3::Y]] {
            let frame = frame(points.into_iter());
            assert!(frame.is_finite() && (frame.length() - 1.0).abs() < 1e-5, "{frame}");
        }
    }
}
