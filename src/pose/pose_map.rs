//! One skeleton's pose on another skeleton: bones of one name turn alike.
//!
//! Write `M_j` for a bone's model rotation and `H_j` for its model rotation at home, the pose in
//! which the two skeletons are held to stand alike. `D_j = M_j * H_j^-1` is how far a bone has
//! turned, about the axes of model space, so it does not depend on which way a file's bone axes
//! point. A bone of the follower turns as far as the leader's bone of its name; one whose name the
//! leader does not have keeps its place on its parent. With `P_j` the home rotation of a bone's
//! parent and `h_j`, `q_j` its local rotations at home and posed, `D_j = D_parent * d_j` and
//! `d_j = P_j * q_j * h_j^-1 * P_j^-1`. What a follower's bone turns on top of its nearest ancestor
//! with a name in common is therefore the product of `d_j` along the leader's bones from the one to
//! the other, and both ends of each factor are constants: a mapped rotation is a product of the
//! leader's stored rotations with constants between them. Where bones correspond one to one and
//! poses are kept relative to the bind pose the constants are the identity, and rotations are copied.
//!
//! Lengths stay the follower's own: a bone is moved by what the leader's is away from home, in the
//! follower's size.

mod build;

use super::rig::Rig;
use super::streams::GROUP;
use super::{Pose, PoseShape};
use crate::index::BoneIndex;
use crate::math::Trs;
use glam::{Mat3, Quat, Vec3};

/// From the poses of one rig to poses of another.
#[derive(Clone, Debug)]
pub struct PoseMap {
    bones: Vec<MappedBone>,
    steps: Vec<Step>,
    /// The follower at home: what bones without a counterpart keep to.
    home: Pose,
    scales: bool,
    stances: bool,
}

/// A bone of the follower that the leader has too.
#[derive(Clone, Copy, Debug)]
struct MappedBone {
    bone: BoneIndex,
    /// The leader's bone of its name.
    from: BoneIndex,
    /// On the left of the first step's rotation.
    before: Quat,
    /// Steps of the map, from and to.
    steps: (u32, u32),
    /// The rotation is the leader's to the bit.
    copied: bool,
    /// Where it is at home, pose space.
    home: Vec3,
    /// Its scale at home over the leader's.
    scale: Vec3,
}

/// One bone of the leader on the way to a mapped one.
#[derive(Clone, Copy, Debug)]
struct Step {
    from: BoneIndex,
    /// It leads up, not down.
    inverse: bool,
    /// On the right of its rotation.
    after: Quat,
    /// The follower's pose space from the leader's, for what a bone is away from home.
    shift: Mat3,
    /// `shift` is the identity.
    unit: bool,
    /// Where the leader's bone is at home, pose space.
    home: Vec3,
}

impl PoseMap {
    /// Maps bones by name; of several bones of one name the first counts.
    ///
    /// Home is the skeletons' rest where both stand alike in it: where no bone between two names
    /// that they share points elsewhere by more than half a radian. Where one does (a biped and a
    /// quadruped, say) home is `stances`, if there are any: a local transform per bone, of the
    /// leader and of the follower. Stances of another length are none.
    pub fn new(leader: &Rig, follower: &Rig, stances: Option<(&[Trs], &[Trs])>) -> Self {
        build::build(leader, follower, stances)
    }

    /// Bones that follow.
    pub fn mapped(&self) -> usize {
        self.bones.len()
    }

    /// True when the skeletons do not stand alike at rest, so that home is their stances.
    pub fn uses_stances(&self) -> bool {
        self.stances
    }

    /// Gives `out` the follower's pose that goes with a pose of the leader, which holds all of its
    /// bones. The rigs must be those that the map was made for. Allocates only when `out` grows.
    pub fn apply(&self, leader: &Rig, pose: &Pose, follower: &Rig, out: &mut Pose) {
        let shape: PoseShape = follower.shape();
        out.fit(shape);
        out.copy_from(&self.home, shape.bones);
        for mapped in &self.bones {
            let steps = &self.steps[mapped.steps.0 as usize..mapped.steps.1 as usize];
            out.set_rotation(mapped.bone, mapped.rotation(steps, pose));
            let at = mapped.position(steps, leader, pose);
            follower.set_pose_translation(out, mapped.bone, at);
            if self.scales && (pose.scaled.contains(mapped.from.get() / GROUP) || self.stances) {
                let scale = leader.pose_scale(pose, mapped.from) * mapped.scale;
                out.hold_scale(follower.rest(), mapped.bone);
                out.set_scale(mapped.bone, scale.to_array());
            }
        }
    }
}

impl MappedBone {
    fn rotation(&self, steps: &[Step], pose: &Pose) -> [f32; 4] {
        if self.copied {
            return pose.rotation(self.from);
        }
        let mut turned = self.before;
        for step in steps {
            let q = Quat::from_array(pose.rotation(step.from));
            let q = if step.inverse { q.conjugate() } else { q };
            turned = turned * q * step.after;
        }
        // Stored rotations are only near unit length, and a chain of them would drift.
        let length = turned.length();
        let sound = length.is_finite() && length > 1e-12;
        if sound { (turned / length).to_array() } else { Quat::IDENTITY.to_array() }
    }

    fn position(&self, steps: &[Step], leader: &Rig, pose: &Pose) -> Vec3 {
        if let [Step { home, unit: true, .. }] = steps
            && *home == self.home
        {
            return leader.pose_translation(pose, self.from);
        }
        let away = steps.iter().filter(|step| !step.inverse);
        away.fold(self.home, |at, step| {
            let away = leader.pose_translation(pose, step.from) - step.home;
            if away == Vec3::ZERO { at } else { at + step.shift * away }
        })
    }
}

#[cfg(test)]
mod tests;
