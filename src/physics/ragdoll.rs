//! One character's bodies.

use super::begin::{GROUND, MOST_SPEED, Stand, groups, half_space, joint_between, near, velocity};
use super::capsule::Capsule;
use super::convert::{affine, pose as rapier_pose, vector};
use super::ground::{Ground, Plane};
use super::joints::direction;
use super::skeletal::Skeletal;
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
/// Seconds after which bodies are slowed: what is left by then creeps. Of a speed, per second, before
/// and after.
const SETTLES: f32 = 1.5;
const DAMPING: [(f32, f32); 2] = [(0.05, 0.5), (4.0, 8.0)];
/// Units per second below which nothing counts as moving, after a second and more with each one that
/// follows, and for how many seconds it has to be.
const STILL: f32 = 0.06;
const STILL_FOR: f32 = 0.3;
/// Units ahead of a fast body in which what it will hit is looked for: no substep ends in the ground.
const AHEAD: f32 = 0.2;
/// Iterations of the solver in a substep: with fewer, joints give way when a body lands.
const ITERATIONS: usize = 6;

/// A world with one character's bodies and the ground under it.
pub struct SkeletalRagdoll {
    world: PhysicsWorld,
    bodies: Vec<Body>,
    ground: Ground,
    loose: f32,
    /// Where it would stand: the first body's rotation when it fell, and its forward direction.
    first: (Quat, Vec3),
    joint: Vec3,
    /// Seconds that are not simulated yet.
    left: f32,
    age: f32,
    /// Seconds that nothing has moved.
    still: f32,
    resting: bool,
}

/// A body; lengths in the simulation's units.
#[derive(Clone, Copy, Debug)]
struct Body {
    handle: RigidBodyHandle,
    bone: BoneIndex,
    /// In the body's own frame.
    capsule: Capsule,
    /// How far from the capsule's segment its skin reaches.
    reach: f32,
    /// What is left of the bone's matrix behind rotation and joint: its scale.
    bone_scale: Mat3A,
    /// The bone's scale in its parent.
    local_scale: Vec3,
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
        let to_sim = |place: &Affine3A| sim_from_world(&ground) * *place;
        let now = |part: usize| Stand::of(&to_sim(place), &model(fall.pose, part));
        let stands: Vec<Stand> = (0..parts.len()).map(now).collect();
        if !stands.iter().all(Stand::is_finite) {
            return None;
        }
        let mut world = PhysicsWorld::new();
        world.gravity = Vector::Y * -(GRAVITY / metres).min(MOST_GRAVITY);
        world.integration_parameters.dt = SUBSTEP;
        world.integration_parameters.warmstart_joints = true;
        world.integration_parameters.num_solver_iterations = ITERATIONS;
        let own: Vec<Capsule> = parts
            .iter()
            .zip(&kind.rest)
            .map(|(part, (joint, turn))| {
                let inverse = turn.conjugate();
                let Capsule { a, b, radius } =
                    part.capsule.map(|p| inverse * (p - *joint) / kind.unit);
                Capsule { a, b, radius: radius / kind.unit }
            })
            .collect();
        let placed =
            |k: usize, own: &Capsule| own.map(|p| stands[k].joint + stands[k].rotation * p);
        // A capsule is not quite its skin: nobody begins inside of the ground.
        let own: Vec<Capsule> = own
            .iter()
            .enumerate()
            .map(|(k, capsule)| {
                let deep = (-ground.clearance(&placed(k, capsule))).max(0.0);
                let up = stands[k].rotation.conjugate() * (Vec3::Y * deep);
                capsule.map(|p| p + up)
            })
            .collect();
        let placed = |k: usize| placed(k, &own[k]);
        let mut bodies = Vec::with_capacity(parts.len());
        for (k, part) in parts.iter().enumerate() {
            let Stand { joint, rotation } = stands[k];
            let motion = fall.before.and_then(|(pose, place, seconds)| {
                let then = Stand::of(&to_sim(&place), &model(pose, k));
                (then.is_finite() && seconds > 0.0).then(|| velocity(&then, &stands[k], seconds))
            });
            let (linear, angular): (Vec3, Vec3) = motion.unwrap_or_default();
            let capsule = placed(k);
            // Of the centre of mass, which is the capsule's middle.
            let pushed = fall.push / metres * (capsule.middle().y / STATURE).clamp(0.0, 1.2);
            let linear = linear + angular.cross(capsule.middle() - joint) + pushed;
            let body = RigidBodyBuilder::dynamic()
                .pose(rapier_pose(joint, rotation))
                .linvel(vector(linear.clamp_length_max(MOST_SPEED)))
                .angvel(vector(angular))
                .soft_ccd_prediction(AHEAD)
                .linear_damping(DAMPING[0].0)
                .angular_damping(DAMPING[0].1);
            let apart =
                |other: &usize| !near(parts, k, *other) && !capsule.touches(&placed(*other), 0.01);
            let others = (0..parts.len()).filter(apart).fold(0u32, |set, other| set | 1 << other);
            let Capsule { a, b, radius } = own[k];
            let collider = ColliderBuilder::capsule_from_endpoints(vector(a), vector(b), radius)
                .density(1000.0)
                .friction(0.8)
                .collision_groups(groups(1 << k, others | 1 << GROUND));
            let (handle, _) = world.insert(body, collider);
            let plane = (!fall.terrain.is_flat()).then(|| {
                let plane = ground.under(&capsule);
                (world.colliders.insert(half_space(&plane, 1 << k)), plane)
            });
            let matrix = to_sim(place).matrix3 * model(fall.pose, k).matrix3;
            bodies.push(Body {
                handle,
                bone: part.bone,
                capsule: own[k],
                reach: part.reach / kind.unit,
                bone_scale: Mat3A::from_quat(rotation.conjugate()) * matrix,
                local_scale: fall.rig.local(fall.pose, part.bone).scale,
                plane,
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
            ground,
            loose: kind.loose * size,
            first: (stands[0].rotation, ahead),
            joint: kind.rest[0].0,
            left: 0.0,
            age: 0.0,
            still: 0.0,
            resting: false,
        })
    }

    fn substep(&mut self) {
        let Self { world, bodies, ground, .. } = self;
        for body in bodies {
            let capsule = body.placed(&world.bodies);
            let Some((collider, plane)) = &mut body.plane else { continue };
            let now = ground.under(&capsule);
            if !plane.serves(&now)
                && let Some(collider) = world.colliders.get_mut(*collider)
            {
                *plane = now;
                collider.set_position(rapier_pose(now.point, now.rotation()));
            }
        }
        world.step();
        let settled = self.age >= SETTLES;
        self.age += SUBSTEP;
        if self.age >= SETTLES && !settled {
            for body in &self.bodies {
                if let Some(body) = self.world.bodies.get_mut(body.handle) {
                    body.set_linear_damping(DAMPING[1].0);
                    body.set_angular_damping(DAMPING[1].1);
                }
            }
        }
        let slow = STILL * self.age.max(1.0);
        let still = self.bodies.iter().all(|body| self.speed(body) < slow);
        self.still = if still { self.still + SUBSTEP } else { 0.0 };
        self.resting = self.age > LONGEST || self.still > STILL_FOR;
    }

    /// How fast any point of a body moves, at most.
    fn speed(&self, body: &Body) -> f32 {
        let Some(rigid) = world_body(&self.world, body) else { return 0.0 };
        let far = 0.5 * body.capsule.a.distance(body.capsule.b) + body.capsule.radius;
        rigid.linvel().length() + rigid.angvel().length() * far
    }

    fn world_from_sim(&self) -> Affine3A {
        let Ground { origin, metres, .. } = self.ground;
        Affine3A::from_scale_rotation_translation(Vec3::splat(metres), Quat::IDENTITY, origin)
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
        let model_from_sim = *model_from_world * self.world_from_sim();
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
        let position = Vec3::from(first.translation).xz();
        Footing { position, heading: facing.x.atan2(facing.y), joint: self.joint }
    }

    fn sphere(&self) -> (Vec3, f32) {
        let (mut least, mut most) = (Vec3::INFINITY, Vec3::NEG_INFINITY);
        for body in &self.bodies {
            let Capsule { a, b, .. } = body.placed(&self.world.bodies);
            least = least.min(a.min(b) - body.reach);
            most = most.max(a.max(b) + body.reach);
        }
        let world = self.world_from_sim();
        let center = world.transform_point3((least + most) * 0.5);
        let radius = (most - least).length() * 0.5 * self.ground.metres;
        let first = self.body(0).map_or(center, |(_, place)| place.translation.into());
        (center, radius.max(first.distance(center) + self.loose))
    }

    fn body(&self, number: usize) -> Option<(BoneIndex, Affine3A)> {
        let body = self.bodies.get(number)?;
        let place = affine(world_body(&self.world, body)?.position());
        let joint = self.world_from_sim().transform_point3a(place.translation);
        Some((body.bone, Affine3A { translation: joint, ..place }))
    }

    fn clearance(&self) -> f32 {
        let lowest =
            self.bodies.iter().map(|b| self.ground.clearance(&b.placed(&self.world.bodies)));
        lowest.fold(f32::INFINITY, f32::min) * self.ground.metres
    }

    fn capsule(&self, number: usize) -> Option<(Vec3, Vec3, f32)> {
        let placed = self.bodies.get(number)?.placed(&self.world.bodies);
        let Capsule { a, b, radius } = placed.map(|p| self.world_from_sim().transform_point3(p));
        Some((a, b, radius * self.ground.metres))
    }
}

impl Body {
    /// Its capsule where it is.
    fn placed(&self, bodies: &RigidBodySet) -> Capsule {
        let place = bodies.get(self.handle).map_or(Affine3A::IDENTITY, |b| affine(b.position()));
        self.capsule.map(|p| place.transform_point3(p))
    }
}

fn world_body<'a>(world: &'a PhysicsWorld, body: &Body) -> Option<&'a RigidBody> {
    world.bodies.get(body.handle)
}

fn sim_from_world(ground: &Ground) -> Affine3A {
    let to = 1.0 / ground.metres;
    let origin = ground.origin * -to;
    Affine3A::from_scale_rotation_translation(Vec3::splat(to), Quat::IDENTITY, origin)
}
