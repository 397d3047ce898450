//! The pose on the way: the hips low above the feet, and for who has two of them the trunk bent
//! over and the hands on the ground.

use super::curve::Curve;
use super::{Path, Sole, Stations};
use crate::math::Trs;
use crate::motion::{Extremity, Physique};
use crate::pose::kernels::bone::{BoneMode, BoneSpace};
use crate::pose::kernels::ik::two_bone::{Limb, Reach};
use crate::task::{Task, TaskError, TaskIndex, TaskList};
use glam::{Affine3A, Quat, Vec3};

/// By how much of the height that a leg begins above its foot the hips come down: of two legs, and of
/// more.
const LOW: (f32, f32) = (0.46, 0.5);
/// How far the hips go back, of that height, to be above the feet with the trunk before them.
const BACK: f32 = 0.14;
/// Radians that the hips lean forward, that the spine bends besides, and that the head is raised.
const LEANS: f32 = 0.55;
const BENDS: f32 = 0.6;
const LOOKS_UP: f32 = 0.6;
/// How far before a shoulder its hand is put down, of its arm's length.
const AHEAD: f32 = 0.25;

/// How a character stands that crouches.
pub struct Crouch<'a> {
    pub physique: &'a Physique,
    /// Where bones are when it stands; model space.
    pub stands: &'a dyn Fn(crate::index::BoneIndex) -> Affine3A,
    /// Where each foot is put down.
    pub feet: &'a [Vec3],
}

impl Crouch<'_> {
    fn joint(&self, bone: crate::index::BoneIndex) -> Vec3 {
        (self.stands)(bone).translation.into()
    }

    /// Unit vector of the ground that it faces: the way that its knees bend, if it has two.
    pub fn ahead(&self) -> Vec3 {
        let legs = &self.physique.legs;
        let sum: Vec3 = legs.iter().map(|leg| leg.bend).sum();
        let level = sum.with_y(0.0);
        if legs.len() == 2 && level.length() > 0.5 { level.normalize() } else { Vec3::Z }
    }

    /// The way that a leg's knee is to be bent.
    pub fn bend(&self, leg: &Extremity) -> Vec3 {
        if leg.bend == Vec3::ZERO { self.ahead() } else { leg.bend }
    }

    /// Records it. `hands` are where arms end; without them they hang.
    pub fn record(
        &self,
        stations: Stations,
        hands: &[Vec3],
        list: &mut TaskList,
    ) -> Result<(), TaskError> {
        list.clear();
        let Physique { hips, spine, head, legs, arms, .. } = self.physique;
        let mut at = list.push(Task::LoadPoseSnapshot { snapshot: stations.stands })?;
        let heights =
            legs.iter().zip(self.feet).map(|(leg, foot)| self.joint(leg.limb.root).y - foot.y);
        let height = heights.fold(f32::INFINITY, f32::min).max(0.0);
        let biped = legs.len() == 2;
        if biped {
            let share = BENDS / spine.len().max(1) as f32;
            let bends = spine.iter().map(|bone| (*bone, share));
            let raised = head.map(|bone| (bone, -LOOKS_UP));
            for (bone, angle) in std::iter::once((*hips, LEANS)).chain(bends).chain(raised) {
                at = self.lean(bone, angle, at, list)?;
            }
        }
        let down = height * if biped { LOW.0 } else { LOW.1 };
        let back = if biped { self.ahead() * (BACK * height) } else { Vec3::ZERO };
        let offset = (Vec3::Y * -down - back).to_array();
        let (bone, space) = (*hips, BoneSpace::Component);
        at = list.push(Task::TranslateBone { source: at, bone, space, alpha: 1.0, offset })?;
        for (leg, foot) in legs.iter().zip(self.feet) {
            at = self.foot(leg, *foot).record(1.0, at, list)?;
        }
        for (arm, hand) in arms.iter().zip(hands) {
            let reach = Reach { target: *hand, pole: Vec3::NAN, soften: 0.1, alpha: 1.0 };
            at = list.push(Task::TwoBoneIk { source: at, limb: arm.limb, reach })?;
        }
        let snapshot = stations.crouches;
        let saved = list.push(Task::SavePoseSnapshot { source: at, snapshot })?;
        list.set_output(saved)?;
        list.sweep();
        Ok(())
    }

    /// A foot that stays where it was put down.
    fn foot(&self, leg: &Extremity, at: Vec3) -> Path {
        let (ends, bends) = (Curve::still(at), Curve::still(self.bend(leg)));
        let stands = (self.stands)(leg.limb.end);
        let sole = Some(Sole::new([&stands; 2], (0.0, 1.0)));
        Path { limb: leg.limb, ends, bends, sole }
    }

    /// Turns a bone forward about its joint. What hangs on it turns with it, about the same axis.
    fn lean(
        &self,
        bone: crate::index::BoneIndex,
        angle: f32,
        source: TaskIndex,
        list: &mut TaskList,
    ) -> Result<TaskIndex, TaskError> {
        let own = Trs::from_affine(&(self.stands)(bone)).rotation;
        let axis = Vec3::Y.cross(self.ahead());
        let turn = own.conjugate() * Quat::from_axis_angle(axis, angle) * own;
        list.push(Task::BoneTransform {
            source,
            bone,
            space: BoneSpace::Local,
            mode: BoneMode::Additive,
            alpha: 1.0,
            translation: [0.0; 3],
            rotation: turn.to_array(),
            scale: [1.0; 3],
        })
    }

    /// Where an arm's hand is put down whose shoulder is at a place: `ground` above the level.
    pub fn hand(&self, arm: &Extremity, shoulder: Vec3, ground: impl Fn(Vec3) -> f32) -> Vec3 {
        let Limb { root, mid, end } = arm.limb;
        let [a, b, c] = [root, mid, end].map(|bone| self.joint(bone));
        let at = shoulder + self.ahead() * (AHEAD * (a.distance(b) + b.distance(c)));
        at.with_y(ground(at) + arm.tip)
    }
}
