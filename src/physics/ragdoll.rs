//! One character's bodies.

use super::begin::{
    LIFT, MOST_SPEED, MOST_TURN, Stand, collider, half_space, joint_between, near, on, velocity,
};
use super::capsule::Capsule;
use super::convert::{affine, pose as rapier_pose, vec3, vector};
use super::ground::{Ground, Plane};
use super::joints::direction;
use super::parts::Piece;
use super::skeletal::Skeletal;
use super::solver::parameters;
use super::{STATURE, SUBSTEP};
use crate::index::BoneIndex;
use crate::motion::{Fall, Footing, Ragdoll};
use crate::pose::{Pose, Rig};
use glam::{Affine3A, Mat3A, Quat, Vec2, Vec3, Vec3Swizzles};
use rapier3d::prelude::*;
use std::fmt;

/// Metres per second squared.
const GRAVITY: f32 = 9.81;
/// The simulation's units per second squared that the smallest fall with: theirs would be more than
/// its substeps can follow.
const MOST_GRAVITY: f32 = 40.0;
/// Substeps of one frame, at most: what takes longer falls in slow motion.
const MOST_SUBSTEPS: f32 = 12.0;
/// Seconds after which a ragdoll lies still whether or not it would.
const LONGEST: f32 = 6.0;
/// Of a speed, per second, what bodies lose while they fall.
const DAMPING: (f32, f32) = (0.05, 3.0);
/// What they lose besides when a fall is over, as a body that is not a machine does: the less is left
/// of their mean speed, units per second, the more.
const SETTLING: (f32, f32) = (12.0, 24.0);
const SETTLES_BELOW: f32 = 0.8;
/// Seconds until a fall can be over, and from then until it is as over as its speed says: whoever
/// stands still at first has not yet fallen.
const FALLS_FOR: (f32, f32) = (0.8, 0.7);
/// How many times as much they lose with each second that follows.
const MORE: f32 = 3.0;
/// Units per second below which nothing counts as moving, after a second and more with each one that
/// follows, and for how many seconds it has to be.
const STILL: f32 = 0.06;
const STILL_FOR: f32 = 0.3;
/// How far from what all bodies hang on somebody would stand, of the way to where the feet are.
const TO_FEET: f32 = 0.4;
/// Units above its plane from which a capsule's ground is looked up only now and then, and how many
/// substeps apart.
const HIGH: f32 = 0.4;
const SELDOM: u32 = 4;

/// A world with one character's bodies and the ground under it.
pub struct SkeletalRagdoll {
    world: PhysicsWorld,
    bodies: Vec<Body>,
    shapes: Vec<Shape>,
    ground: Ground,
    loose: f32,
    /// Where it would stand: the first body's rotation when it fell, and its forward direction.
    first: (Quat, Vec3),
    joint: Vec3,
    /// Where the ends of legs are: a body, and a point in its frame.
    feet: Vec<(usize, Vec3)>,
    /// Seconds that are not simulated yet.
    left: f32,
    age: f32,
    substeps: u32,
    /// Seconds that nothing has moved.
    still: f32,
    resting: bool,
}

/// A body; lengths in the simulation's units.
#[derive(Clone, Copy, Debug)]
struct Body {
    handle: RigidBodyHandle,
    bone: BoneIndex,
    /// Of its own bone, in the body's own frame.
    capsule: Capsule,
    /// How far from the capsule's segment its skin reaches.
    reach: f32,
    /// What is left of the bone's matrix behind rotation and joint: its scale.
    bone_scale: Mat3A,
    /// The bone's scale in its parent.
    local_scale: Vec3,
}

/// A capsule of a body.
#[derive(Clone, Copy, Debug)]
struct Shape {
    handle: RigidBodyHandle,
    /// In the body's own frame.
    capsule: Capsule,
    /// The plane under it; none where the ground is level.
    plane: Option<(ColliderHandle, Plane)>,
}

impl fmt::Debug for SkeletalRagdoll {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { bodies, ground, age, resting, .. } = self;
        let mut out = f.debug_struct("SkeletalRagdoll");
        out.field("bodies", bodies).field("ground", ground).field("age", age);
        out.field("resting", resting).finish_non_exhaustive()
    }
}

impl SkeletalRagdoll {
    /// Bodies where a pose has its bones, moving as it does. `None` where that is nowhere.
    pub fn new(kind: &Skeletal, fall: &Fall<'_>) -> Option<Self> {
        let place = &fall.world_from_model;
        let size = place.matrix3.determinant().abs().cbrt();
        let metres = size * kind.unit;
        let parts = &kind.parts.parts;
        let model = |pose: &Pose, part: usize| {
            let bone = parts[part].bone;
            fall.rig.model_from_parent(pose, bone) * fall.rig.local(pose, bone).to_affine()
        };
        let middle = place.transform_point3a(model(fall.pose, 0).translation);
        let at = Vec2::new(middle.x, middle.z);
        if !(metres > 0.0 && metres.is_finite() && at.is_finite()) {
            return None;
        }
        let origin = Vec3::new(at.x, fall.terrain.height(at), at.y);
        let ground = Ground { terrain: fall.terrain, origin, metres };
        let to_sim = |place: &Affine3A| ground.sim_from_world() * *place;
        let now = |part: usize| Stand::of(&to_sim(place), &model(fall.pose, part));
        let stands: Vec<Stand> = (0..parts.len()).map(now).collect();
        if !stands.iter().all(Stand::is_finite) {
            return None;
        }
        let mut world = PhysicsWorld::new();
        world.gravity = Vector::Y * -(GRAVITY / metres).min(MOST_GRAVITY);
        world.integration_parameters = parameters();
        let pieces = &kind.parts.pieces;
        let placed = |piece: &Piece| {
            let Stand { joint, rotation } = stands[piece.part];
            piece.capsule.map(|p| joint + rotation * p)
        };
        let own = pieces.iter().map(|piece| {
            let (joint, turn) = kind.rest[piece.part];
            let inverse = turn.conjugate();
            let Capsule { a, b, radius } = piece.capsule.map(|p| inverse * (p - joint) / kind.unit);
            let own = Piece { capsule: Capsule { a, b, radius: radius / kind.unit }, ..*piece };
            // A capsule is not quite its skin: nobody begins inside of the ground.
            let deep = (LIFT - ground.clearance(&placed(&own))).max(0.0);
            let up = stands[piece.part].rotation.conjugate() * (Vec3::Y * deep);
            Piece { capsule: own.capsule.map(|p| p + up), ..own }
        });
        let own: Vec<Piece> = own.collect();
        let mut shapes: Vec<Shape> = Vec::with_capacity(own.len());
        let mut bodies = Vec::with_capacity(parts.len());
        for (k, part) in parts.iter().enumerate() {
            let Stand { joint, rotation } = stands[k];
            let motion = fall.before.and_then(|(pose, place, seconds)| {
                let then = Stand::of(&to_sim(&place), &model(pose, k));
                (then.is_finite() && seconds > 0.0).then(|| velocity(&then, &stands[k], seconds))
            });
            let (linear, angular): (Vec3, Vec3) = motion.unwrap_or_default();
            let mine = || own.iter().enumerate().filter(|(_, piece)| piece.part == k);
            let whole: f32 = mine().map(|(_, piece)| piece.capsule.volume()).sum();
            let share = |piece: &Piece| placed(piece).middle() * piece.capsule.volume() / whole;
            let middle: Vec3 = mine().map(|(_, piece)| share(piece)).sum();
            // Of the centre of mass.
            let pushed = fall.push / metres * (middle.y / STATURE).clamp(0.0, 1.2);
            let linear = linear + angular.cross(middle - joint) + pushed;
            let body = RigidBodyBuilder::dynamic()
                .pose(rapier_pose(joint, rotation))
                .linvel(vector(linear.clamp_length_max(MOST_SPEED)))
                .angvel(vector(angular))
                .linear_damping(DAMPING.0)
                .angular_damping(DAMPING.1);
            let handle = world.bodies.insert(body);
            for (number, piece) in mine() {
                let capsule = placed(piece);
                let apart = |other: &Piece| {
                    !near(parts, k, other.part) && !capsule.touches(&placed(other), 0.01)
                };
                let others = own.iter().enumerate().filter(|(_, other)| apart(other));
                let others = others.fold(0u32, |set, (other, _)| set | 1 << other);
                let collider = collider(&piece.capsule, 1 << number, others);
                world.colliders.insert_with_parent(collider, handle, &mut world.bodies);
                let plane = (!fall.terrain.is_flat()).then(|| {
                    let plane = ground.under(&capsule);
                    (world.colliders.insert(half_space(&plane, 1 << number)), plane)
                });
                shapes.push(Shape { handle, capsule: piece.capsule, plane });
            }
            let Some((_, first)) = mine().next() else { continue };
            let matrix = to_sim(place).matrix3 * model(fall.pose, k).matrix3;
            bodies.push(Body {
                handle,
                bone: part.bone,
                capsule: first.capsule,
                reach: part.reach / kind.unit,
                bone_scale: Mat3A::from_quat(rotation.conjugate()) * matrix,
                local_scale: fall.rig.local(fall.pose, part.bone).scale,
            });
            if let Some(parent) = part.parent {
                let limits = kind.limits[k];
                let joint = joint_between(&stands[parent], &stands[k], &limits);
                world.insert_impulse_joint(bodies[parent].handle, handle, joint);
            }
        }
        if fall.terrain.is_flat() {
            let plane = Plane { point: Vec3::ZERO, normal: Vec3::Y };
            world.colliders.insert(half_space(&plane, u32::MAX));
        }
        let ahead = Vec3::from(place.matrix3.z_axis).normalize_or(Vec3::Z);
        Some(Self {
            world,
            bodies,
            shapes,
            ground,
            loose: kind.loose * size,
            first: (stands[0].rotation, ahead),
            joint: kind.rest[0].0,
            feet: kind.feet.clone(),
            left: 0.0,
            age: 0.0,
            substeps: 0,
            still: 0.0,
            resting: false,
        })
    }

    fn substep(&mut self) {
        let Self { world, shapes, ground, .. } = self;
        for shape in shapes.iter_mut().filter(|shape| shape.plane.is_some()) {
            let capsule = shape.placed(&world.bodies);
            let Some((collider, plane)) = &mut shape.plane else { continue };
            let height = plane.height(capsule.a).min(plane.height(capsule.b)) - capsule.radius;
            if height > HIGH && !self.substeps.is_multiple_of(SELDOM) {
                continue;
            }
            let now = ground.under(&capsule);
            if !plane.serves(&now)
                && let Some(collider) = world.colliders.get_mut(*collider)
            {
                *plane = now;
                collider.set_position(on(&now));
            }
        }
        world.step();
        self.substeps += 1;
        self.age += SUBSTEP;
        self.settle();
        let slow = STILL * self.age.max(1.0);
        let still = self.bodies.iter().all(|body| self.speed(body) < slow);
        self.still = if still { self.still + SUBSTEP } else { 0.0 };
        self.resting = self.age > LONGEST || self.still > STILL_FOR;
    }

    /// Has bodies lose more of their speed the less is left of it, once they have fallen.
    fn settle(&mut self) {
        let mean = self.bodies.iter().map(|body| self.speed(body)).sum::<f32>();
        let mean = mean / self.bodies.len().max(1) as f32;
        let fallen = ((self.age - FALLS_FOR.0) / FALLS_FOR.1).clamp(0.0, 1.0);
        let late = 1.0 + MORE * (self.age - FALLS_FOR.0 - FALLS_FOR.1).max(0.0);
        let calm = late * fallen * (1.0 - mean / SETTLES_BELOW).clamp(0.0, 1.0);
        let damping = [(DAMPING.0, SETTLING.0), (DAMPING.1, SETTLING.1)];
        let [linear, angular] = damping.map(|(always, more)| always + more * calm);
        for body in &self.bodies {
            let Some(body) = self.world.bodies.get_mut(body.handle) else { continue };
            body.set_linear_damping(linear);
            body.set_angular_damping(angular);
            // What a limb between others is thrown to, nobody moves at.
            let (moves, turns) = (vec3(body.linvel()), vec3(body.angvel()));
            if moves.length() > MOST_SPEED || turns.length() > MOST_TURN {
                body.set_linvel(vector(moves.clamp_length_max(MOST_SPEED)), false);
                body.set_angvel(vector(turns.clamp_length_max(MOST_TURN)), false);
            }
        }
    }

    /// How fast any point of a body moves, at most.
    fn speed(&self, body: &Body) -> f32 {
        let Some(rigid) = world_body(&self.world, body) else { return 0.0 };
        let far = 0.5 * body.capsule.a.distance(body.capsule.b) + body.capsule.radius;
        rigid.linvel().length() + rigid.angvel().length() * far
    }
}

impl Ragdoll for SkeletalRagdoll {
    fn step(&mut self, seconds: f32) {
        if seconds > 0.0 {
            self.left = (self.left + seconds).min(MOST_SUBSTEPS * SUBSTEP);
        }
        // A sixtieth is two substeps, whichever way it was rounded.
        while self.left > 0.99 * SUBSTEP && !self.resting {
            self.left -= SUBSTEP;
            self.substep();
        }
    }

    fn at_rest(&self) -> bool {
        self.resting
    }

    fn write(&self, rig: &Rig, model_from_world: &Affine3A, pose: &mut Pose) {
        let model_from_sim = *model_from_world * self.ground.world_from_sim();
        for body in &self.bodies {
            let Some(rigid) = world_body(&self.world, body) else { continue };
            let mut place = affine(rigid.position());
            place.matrix3 *= body.bone_scale;
            let parent = rig.model_from_parent(pose, body.bone);
            let mut matrix = parent.inverse() * (model_from_sim * place);
            let unscaled = Mat3A::from_diagonal(body.local_scale.recip());
            matrix.matrix3 *= unscaled;
            // What is below a bone without volume has no place of its own.
            if matrix.is_finite() {
                let mut local = rig.local(pose, body.bone);
                local.rotation = direction(&matrix);
                local.translation = matrix.translation.into();
                rig.set_local(pose, body.bone, &local);
            }
        }
    }

    fn footing(&self) -> Footing {
        let first = self.body(0).map_or(Affine3A::IDENTITY, |(_, place)| place);
        let turned = direction(&first) * self.first.0.conjugate();
        let (ahead, up) = (turned * self.first.1, turned * Vec3::Y);
        // Who lies on its back has its feet before it, who lies on its face its head.
        let facing = ahead.xz() - up.xz() * ahead.y;
        let middle = Vec3::from(first.translation).xz();
        let world = self.ground.world_from_sim();
        let foot = |(body, at): &(usize, Vec3)| {
            let body = world_body(&self.world, self.bodies.get(*body)?)?;
            let at = affine(body.position()).transform_point3(*at);
            Some(world.transform_point3(at).xz())
        };
        let feet: Vec2 = self.feet.iter().filter_map(foot).sum();
        let position = match self.feet.len() {
            0 => middle,
            // Not far from the hips and not far from the feet.
            n => middle.lerp(feet / n as f32, TO_FEET),
        };
        Footing { position, heading: facing.x.atan2(facing.y), joint: self.joint }
    }

    fn sphere(&self) -> (Vec3, f32) {
        let (mut least, mut most) = (Vec3::INFINITY, Vec3::NEG_INFINITY);
        for body in &self.bodies {
            let Capsule { a, b, .. } = body.placed(&self.world.bodies);
            least = least.min(a.min(b) - body.reach);
            most = most.max(a.max(b) + body.reach);
        }
        let world = self.ground.world_from_sim();
        let center = world.transform_point3((least + most) * 0.5);
        let radius = (most - least).length() * 0.5 * self.ground.metres;
        let first = self.body(0).map_or(center, |(_, place)| place.translation.into());
        (center, radius.max(first.distance(center) + self.loose))
    }

    fn body(&self, number: usize) -> Option<(BoneIndex, Affine3A)> {
        let body = self.bodies.get(number)?;
        let place = affine(world_body(&self.world, body)?.position());
        let joint = self.ground.world_from_sim().transform_point3a(place.translation);
        Some((body.bone, Affine3A { translation: joint, ..place }))
    }

    fn clearance(&self) -> f32 {
        let lowest =
            self.shapes.iter().map(|s| self.ground.clearance(&s.placed(&self.world.bodies)));
        lowest.fold(f32::INFINITY, f32::min) * self.ground.metres
    }

    fn capsule(&self, number: usize) -> Option<(Vec3, Vec3, f32)> {
        let placed = self.bodies.get(number)?.placed(&self.world.bodies);
        let Capsule { a, b, radius } =
            placed.map(|p| self.ground.world_from_sim().transform_point3(p));
        Some((a, b, radius * self.ground.metres))
    }
}

impl Body {
    /// Its capsule where it is.
    fn placed(&self, bodies: &RigidBodySet) -> Capsule {
        placed(&self.capsule, self.handle, bodies)
    }
}

impl Shape {
    /// Its capsule where it is.
    fn placed(&self, bodies: &RigidBodySet) -> Capsule {
        placed(&self.capsule, self.handle, bodies)
    }
}

/// A body's capsule where the body is.
fn placed(capsule: &Capsule, body: RigidBodyHandle, bodies: &RigidBodySet) -> Capsule {
    let place = bodies.get(body).map_or(Affine3A::IDENTITY, |b| affine(b.position()));
    capsule.map(|p| place.transform_point3(p))
}

fn world_body<'a>(world: &'a PhysicsWorld, body: &Body) -> Option<&'a RigidBody> {
    world.bodies.get(body.handle)
}
