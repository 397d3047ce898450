//! What bodies begin as: where bones are and how they move, who may touch whom, and what joins them.

use super::capsule::Capsule;
use super::convert::{pose as rapier_pose, vector};
use super::ground::Plane;
use super::joints::{Limits, direction};
use super::parts::Part;
use glam::{Affine3A, Quat, Vec3};
use rapier3d::prelude::*;

/// Units and radians per second that a pose moves at, at most.
pub const MOST_SPEED: f32 = 8.0;
pub const MOST_TURN: f32 = 20.0;
/// How many times harder a capsule is to turn than it would be: thin limbs between heavy ones would
/// turn too fast for a step.
const INERTIA: f32 = 3.0;
/// Units that the ground of bodies is above what is drawn: as far as a landing presses them in.
pub const LIFT: f32 = 0.005;
/// The group of the ground.
const GROUND: u32 = 31;

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

fn groups(own: u32, others: u32) -> InteractionGroups {
    let set = Group::from_bits_truncate;
    InteractionGroups::new(set(own), set(others), InteractionTestMode::And)
}

/// Where a plane's half space is.
pub fn on(plane: &Plane) -> Pose {
    rapier_pose(plane.point + plane.normal * LIFT, plane.rotation())
}

/// What collides of a capsule, by the groups that it may meet.
pub fn collider(capsule: &Capsule, own: u32, others: u32) -> ColliderBuilder {
    let shape = SharedShape::capsule(vector(capsule.a), vector(capsule.b), capsule.radius);
    let mut mass = shape.mass_properties(1000.0);
    mass.inv_principal_inertia /= INERTIA;
    let groups = groups(own, others | 1 << GROUND);
    ColliderBuilder::new(shape).mass_properties(mass).friction(0.8).collision_groups(groups)
}

/// The ground for the bodies of `groups`.
pub fn half_space(plane: &Plane, bodies: u32) -> ColliderBuilder {
    ColliderBuilder::new(SharedShape::halfspace(Vector::Y))
        .position(on(plane))
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
        joint = joint.limits(axis, range);
    }
    joint.build().into()
}
