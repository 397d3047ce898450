//! The bodies of one kind of character.

use super::STATURE;
use super::joints::{self, Limits};
use super::limbs::Measured;
use super::parts::Parts;
use super::ragdoll::SkeletalRagdoll;
use super::skin::Skin;
use crate::asset::CharacterAsset;
use crate::math::Bounds;
use crate::motion::{Bodies, Extremity, Fall, Physique, Ragdoll};
use crate::pose::Rig;
use glam::{Quat, Vec3};

/// A kind's bones as bodies.
///
/// A bone whose skin is at least a quarter of a percent of the whole has a capsule along it, as long
/// and as thick as that skin; others ride with the bone above, so a hand is one body and its fingers
/// keep their pose. Masses follow from volumes. Joints turn about the axes that the character's clips
/// turn them about, as far as these do and a little more. Any skeleton will do; one without skin has no
/// bodies.
#[derive(Clone, Debug)]
pub struct Skeletal {
    pub(super) parts: Parts,
    /// One for each part.
    pub(super) limits: Vec<Limits>,
    /// Of each part at rest, model space.
    pub(super) rest: Vec<(Vec3, Quat)>,
    /// Model units of one of the simulation's.
    pub(super) unit: f32,
    /// How far skin that no body carries is from the first part's joint, model units.
    pub(super) loose: f32,
    pub(super) physique: Physique,
    /// Where its legs end: a part, and a point in the frame of its body.
    pub(super) feet: Vec<(usize, Vec3)>,
}

impl Skeletal {
    /// Works out the bodies of a character; `rig` is made of the same asset. `None` where there is no
    /// skin, or none of any size.
    pub fn new(asset: &CharacterAsset, rig: &Rig) -> Option<Self> {
        let skeleton = rig.skeleton();
        let model = joints::rest_model(skeleton);
        let skin = Skin::of(asset, &model);
        let bounds = Bounds::of_points(skin.own.iter().flatten().map(|(p, _)| *p));
        let size = bounds.size().max_element();
        if !(size > 0.0 && size.is_finite()) {
            return None;
        }
        let parts = Parts::choose(skeleton, &skin, &model, size)?;
        let limits = Limits::of(rig, &parts);
        let floor = bounds.min.y;
        let physique =
            Measured { rig, parts: &parts, skin: &skin, model: &model, floor, size }.physique();
        let place =
            |bone: usize| (Vec3::from(model[bone].translation), joints::direction(&model[bone]));
        let rest: Vec<_> = parts.parts.iter().map(|part| place(part.bone.get())).collect();
        let first = rest.first()?.0;
        let loose =
            parts.carriers.iter().zip(&skin.touched).filter(|(carrier, _)| carrier.is_none());
        let loose = loose.flat_map(|(_, points)| points).map(|p| p.distance(first));
        let loose = loose.fold(0.0, f32::max);
        let unit = size / STATURE;
        let foot = |leg: &Extremity| {
            let end = leg.limb.end.get();
            let part = usize::from(parts.carriers[end]?);
            let (joint, turn) = rest[part];
            Some((part, turn.conjugate() * (place(end).0 - joint) / unit))
        };
        let feet = physique.legs.iter().filter_map(foot).collect();
        let finite = rest.iter().all(|(at, turn)| at.is_finite() && turn.is_finite());
        finite.then_some(Self { parts, limits, rest, unit, loose, physique, feet })
    }

    /// Number of bodies.
    pub fn body_count(&self) -> usize {
        self.parts.parts.len()
    }
}

impl Bodies for Skeletal {
    fn fall(&self, fall: &Fall<'_>) -> Option<Box<dyn Ragdoll>> {
        Some(Box::new(SkeletalRagdoll::new(self, fall)?))
    }

    fn physique(&self) -> &Physique {
        &self.physique
    }
}
