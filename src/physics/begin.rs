//! What bodies begin as: where bones are and how they move, who may touch whom, and what joins them.

use super::convert::pose as rapier_pose;
use super::ground::Plane;
use super::joints::{Limits, direction};
use super::parts::Part;
use glam::{Affine3A, Quat, Vec3};
use rapier3d::prelude::*;

/// Units and radians per second that a pose moves at, at most.
pub const MOST_SPEED: f32 = 8.0;
const MOST_TURN: f32 = 20.0;
/// How fast joints come to rest by themselves: of a speed, per second.
const STIFFNESS: f32 = 6.0;
/// The group of the ground.
pub const GROUND: u32 = 31;

/// How a part's bone stands.
#[derive(Clone, Copy)]
pub struct Stand {
    pub joint: Vec3,
    pub rotation: Quat,
}

impl Stand {
    pub fn of(sim_from_model: &Affine3A, model: &Affine3A) -> Self {
        let matrix = *sim_from_model * *model;
        Self { joint: matrix.translation.into(), rotation: direction(&matrix) }
    }

    pub fn is_finite(&self) -> bool {
        self.joint.is_finite() && self.rotation.is_finite()
    }
}

/// True for a part and itself, or two that are joined directly or by one part between them: those may
/// overlap.
pub fn near(parts: &[Part], one: usize, other: usize) -> bool {
    let (a, b) = (parts[one].parent, parts[other].parent);
    let up = |part: Option<usize>| part.and_then(|part| parts[part].parent);
    let above = a == Some(other) || b == Some(one) || up(a) == Some(other) || up(b) == Some(one);
    one == other || above || (a.is_some() && a == b)
}

/// Of a bone's joint, and of its rotation, a second.
pub fn velocity(then: &Stand, now: &Stand, seconds: f32) -> (Vec3, Vec3) {
    let turn = now.rotation * then.rotation.conjugate();
    let turn = if turn.w < 0.0 { -turn } else { turn };
    let linear = (now.joint - then.joint) / seconds;
    let angular = turn.normalize().to_scaled_axis() / seconds;
    let limited =
        |v: Vec3, most: f32| if v.is_finite() { v.clamp_length_max(most) } else { Vec3::ZERO };
    (limited(linear, MOST_SPEED), limited(angular, MOST_TURN))
}

pub fn groups(own: u32, others: u32) -> InteractionGroups {
    let set = Group::from_bits_truncate;
    InteractionGroups::new(set(own), set(others), InteractionTestMode::And)
}

/// The ground for the bodies of `groups`.
pub fn half_space(plane: &Plane, bodies: u32) -> ColliderBuilder {
    let place = rapier_pose(plane.point, plane.rotation());
    ColliderBuilder::new(SharedShape::halfspace(Vector::Y))
        .position(place)
        .friction(0.9)
        .collision_groups(groups(1 << GROUND, bodies))
}

/// A joint where two parts meet now.
pub fn joint_between(parent: &Stand, part: &Stand, limits: &Limits) -> GenericJoint {
    let into = parent.rotation.conjugate();
    let Limits { rest, axes, ranges } = limits.with_room_for(into * part.rotation);
    let anchor = into * (part.joint - parent.joint);
    let mut joint = SphericalJointBuilder::new()
        .local_frame1(rapier_pose(anchor, rest * axes))
        .local_frame2(rapier_pose(Vec3::ZERO, axes))
        .contacts_enabled(false);
    for (axis, range) in [JointAxis::AngX, JointAxis::AngY, JointAxis::AngZ].into_iter().zip(ranges)
    {
        joint = joint.limits(axis, range).motor_velocity(axis, 0.0, STIFFNESS);
    }
    joint.build().into()
}
