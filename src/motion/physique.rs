//! What a skeleton is to somebody who lies and wants to stand: which bones bear it, which are arms,
//! and how thick it is.

use crate::index::BoneIndex;
use crate::pose::kernels::ik::two_bone::Limb;
use glam::Vec3;

/// A body as whoever gets up has it.
#[derive(Clone, Debug, Default)]
pub struct Physique {
    /// What all legs hang on.
    pub hips: BoneIndex,
    /// What bends when its owner does: from what hangs on the hips up to what the head hangs on. Of
    /// two-legged bodies alone.
    pub spine: Vec<BoneIndex>,
    /// What is held up above the spine.
    pub head: Option<BoneIndex>,
    /// What it stands on; two at least, or none.
    pub legs: Vec<Extremity>,
    /// What it leans on when it gets up and has two legs to stand on.
    pub arms: Vec<Extremity>,
    /// What is about its bones.
    pub hull: Vec<Shell>,
    /// The larger of its height and its breadth, model units.
    pub size: f32,
}

/// A leg or an arm.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Extremity {
    /// Its bones.
    pub limb: Limb,
    /// Unit vector of model space that its middle joint bends towards; zero where nothing tells.
    pub bend: Vec3,
    /// How high the end's joint is above the ground when its sole is on it, model units.
    pub height: f32,
    /// How far what hangs on the end reaches from its joint, model units.
    pub tip: f32,
}

/// All points within a radius of a segment that a bone carries.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shell {
    /// The bone.
    pub bone: BoneIndex,
    /// The segment's ends, in the space that the bone's palette matrix starts from.
    pub ends: [Vec3; 2],
    /// Model units.
    pub radius: f32,
}
