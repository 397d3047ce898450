//! Between the program's vectors and those of rapier, which are of another version of the same crate.

use glam::{Affine3A, Quat, Vec3};
use rapier3d::math::{Pose, Rotation, Vector};

pub fn vector(v: Vec3) -> Vector {
    Vector::from_array(v.to_array())
}

pub fn vec3(v: Vector) -> Vec3 {
    Vec3::from_array(v.to_array())
}

pub fn rotation(q: Quat) -> Rotation {
    Rotation::from_array(q.to_array())
}

pub fn quat(q: Rotation) -> Quat {
    Quat::from_array(q.to_array())
}

pub fn pose(translation: Vec3, q: Quat) -> Pose {
    Pose::from_parts(vector(translation), rotation(q))
}

pub fn affine(pose: &Pose) -> Affine3A {
    Affine3A::from_rotation_translation(quat(pose.rotation), vec3(pose.translation))
}
