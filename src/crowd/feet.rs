//! What the feet of those whom a graph plays have to do with the ground.

use super::kind::Kind;
use crate::graph::BoundProgram;
use crate::index::BoneIndex;
use crate::motion::ground::rotate;
use crate::motion::{GroundMotion, Terrain};
use crate::pose::{GroundPatch, PaletteView, Rig};
use glam::{Vec2, Vec3, Vec3Swizzles};

/// The feet of a kind: those that its graph puts on the ground.
#[derive(Clone, Debug, Default)]
pub(crate) struct Feet(Vec<Foot>);

#[derive(Clone, Copy, Debug)]
struct Foot {
    bone: BoneIndex,
    /// Its joint in the space that palette matrices start from.
    joint: Vec3,
}

impl Feet {
    pub fn of(bound: &BoundProgram, rig: &Rig) -> Self {
        let foot = |bone: &BoneIndex| {
            let mesh_from_bone = rig.skeleton().palette().get(bone.get())?.bone_from_mesh.inverse();
            let joint = Vec3::from(mesh_from_bone.translation);
            joint.is_finite().then_some(Foot { bone: *bone, joint })
        };
        Self(bound.feet().iter().filter_map(foot).collect())
    }

    /// True for nobody's.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The point of the ground, as seen from the kind's pivot, that the lowest foot of a pose is
    /// over.
    fn foothold(&self, kind: &Kind, palette: PaletteView<'_>) -> Option<Vec2> {
        let place = |foot: &Foot| Some(palette.get(foot.bone.get())?.transform_point(foot.joint));
        let lowest = self.0.iter().filter_map(place).min_by(|a, b| a.y.total_cmp(&b.y))?;
        Some((lowest - kind.pivot).xz())
    }

    /// A step of somebody who also turns, by `turn` radians to the left. It turns about the foot
    /// that it stands on in the pose before the step, because any other foot would slide.
    pub fn turned(
        &self,
        step: GroundMotion,
        turn: f32,
        kind: &Kind,
        before: PaletteView<'_>,
    ) -> GroundMotion {
        let Some(foothold) = self.foothold(kind, before).filter(|f| f.is_finite()) else {
            return GroundMotion { yaw: step.yaw + turn, ..step };
        };
        // Where that is when the step is done.
        let foothold = rotate(foothold - step.translation(), -step.yaw);
        step.then(GroundMotion::new(foothold - rotate(foothold, turn), turn))
    }
}

/// The ground around a character that stands on a place of the world (position, heading and
/// individual scale), in its model's space.
pub(crate) fn ground_patch(
    kind: &Kind,
    terrain: Terrain,
    (position, heading, scale): (Vec2, f32, f32),
) -> GroundPatch {
    /// Of the bounding sphere's radius: about half a step.
    const REACH: f32 = 0.25;
    let size = kind.scale * scale;
    let base = terrain.height(position);
    GroundPatch::fit(kind.pivot, REACH * kind.radius / kind.scale, |offset| {
        let at = position + rotate(size * offset, heading);
        (terrain.height(at) - base) / size
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::crowd::testing::crowd;
    use crate::math::Mat3x4;
    use glam::{Affine3A, Quat};

    #[test]
    fn the_lowest_foot_stays_where_it_is_while_its_owner_turns() {
        let crowd = crowd(1, 1);
        let kind = &crowd.world.kinds[0];
        let joint = Vec3::new(0.1, 0.1, 0.0);
        let feet = Feet([0, 1].map(|b| Foot { bone: BoneIndex(b), joint }).to_vec());
        let low = Vec3::new(0.2, -0.05, 0.3);
        let palette = [Vec3::new(-0.3, 0.2, 0.0), low].map(|at| {
            Mat3x4::from_affine(&Affine3A::from_rotation_translation(Quat::IDENTITY, at))
        });
        let before = (low + joint - kind.pivot).xz();
        let walks = GroundMotion { x: 0.01, z: 0.4, yaw: 0.1 };
        for turn in [0.0, 0.3, -1.0] {
            let step = feet.turned(walks, turn, kind, PaletteView::whole(&palette));
            assert!((step.yaw - 0.1 - turn).abs() < 1e-6);
            // The pose does not know of the turn: it has the foot where the walk alone leaves it.
            let after = rotate(before - walks.translation(), -walks.yaw);
            let there = step.translation() + rotate(after, step.yaw);
            assert!(there.distance(before) < 1e-6, "{turn}: {there} {before}");
        }
        let none = Feet::default().turned(walks, 0.2, kind, PaletteView::whole(&palette));
        assert_eq!(none, GroundMotion { yaw: walks.yaw + 0.2, ..walks });
    }
}
