//! What a character that falls asks of whoever simulates bodies.
//!
//! The crowd knows when somebody falls, lies and gets up, and which poses that begins and ends
//! with; it does not know what a body is. A simulation knows nothing of crowds. They meet here.

use super::{Physique, Terrain};
use crate::index::BoneIndex;
use crate::pose::{Pose, Rig};
use glam::{Affine3A, Vec2, Vec3};
use std::fmt::Debug;

/// A pose that is about to be left to gravity.
#[derive(Clone, Copy, Debug)]
pub struct Fall<'a> {
    /// Whose bones.
    pub rig: &'a Rig,
    /// How it stands now, whole.
    pub pose: &'a Pose,
    /// Where it stands now, world metres.
    pub world_from_model: Affine3A,
    /// How it stood and where, so many seconds ago: what it is moving like. `None`: it stands still.
    pub before: Option<(&'a Pose, Affine3A, f32)>,
    /// Metres a second that its top is pushed by; its foot is not.
    pub push: Vec3,
    /// What it falls on.
    pub terrain: Terrain,
}

/// Where somebody would stand who got up from where it lies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Footing {
    /// World (x, z), metres, for what all its bodies hang on.
    pub position: Vec2,
    /// Radians about +Y that it would face; 0 faces +Z.
    pub heading: f32,
    /// Model units, at rest: the place of what all its bodies hang on.
    pub joint: Vec3,
}

/// The bodies of one kind of character.
pub trait Bodies: Debug + Send + Sync {
    /// A character begins to fall. `None` where it has no body: a pose that is not finite, a model
    /// without size.
    fn fall(&self, fall: &Fall<'_>) -> Option<Box<dyn Ragdoll>>;

    /// What it has to get up with.
    fn physique(&self) -> &Physique;
}

/// The bodies of one character. It is a world of its own: nobody else's bodies are in it, so what
/// becomes of it depends on its fall alone.
pub trait Ragdoll: Debug + Send + Sync {
    /// Lets so many seconds pass, in whole substeps; what is left of them is kept for the next time.
    /// Nothing happens to one that is at rest.
    fn step(&mut self, seconds: f32);

    /// True when nothing moves any more, nor will.
    fn at_rest(&self) -> bool;

    /// Brings the bones that have bodies to where these are. `pose` is the one that it began to fall
    /// in, or a later one of the same ragdoll; bones that have none ride with what they hang on.
    fn write(&self, rig: &Rig, model_from_world: &Affine3A, pose: &mut Pose);

    /// Where it would get up.
    fn footing(&self) -> Footing;

    /// The centre and the radius, world metres, of a sphere that holds its skin.
    fn sphere(&self) -> (Vec3, f32);

    /// A bone with a body, and where that is: its joint and its axes, world metres. In no order that
    /// means anything; `None` past the last one.
    fn body(&self, number: usize) -> Option<(BoneIndex, Affine3A)>;

    /// All that a body is: points within a radius of a segment, whose ends are given first; world
    /// metres. `None` past the last one.
    fn capsule(&self, number: usize) -> Option<(Vec3, Vec3, f32)>;

    /// How far its lowest point is above the ground, world metres; negative below.
    fn clearance(&self) -> f32;
}
