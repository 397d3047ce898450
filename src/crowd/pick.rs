//! Who is under the pointer.

use super::Crowd;
use super::characters::{BLOCK, SlotAddress, bits, world_from_model};
use super::world::World;
use crate::index::CharacterId;
use glam::Vec3;

/// How thick somebody is about its bones: a share of its bounding radius.
const THICK: f32 = 0.1;

impl Crowd {
    /// The first character that a ray meets, of those that the camera saw in the last tick: a bone of
    /// it, as it is posed, is near the ray. `direction` is of any length but zero.
    pub fn pick(&self, origin: Vec3, direction: Vec3) -> Option<CharacterId> {
        let along = direction.try_normalize()?;
        let characters = &self.world.characters;
        let blocks = characters.blocks.iter().enumerate();
        let seen = blocks.flat_map(|(b, block)| bits(block.camera).map(move |i| b * BLOCK + i));
        let near = seen.filter(|id| {
            let (spheres, i) = (&characters.spheres[id / BLOCK], id % BLOCK);
            let center = Vec3::new(spheres.x[i], spheres.y[i], spheres.z[i]);
            let to = center - origin;
            let beside = (to - along * to.dot(along).max(0.0)).length();
            beside <= spheres.radius[i]
        });
        let met = near.filter_map(|id| Some((self.world.met(id, origin, along)?, id)));
        let first = met.min_by(|a, b| a.0.total_cmp(&b.0))?;
        Some(CharacterId(first.1 as u32))
    }
}

impl World {
    /// Where the joints of a character are, world metres; `None` for one that has no pose.
    fn joints(&self, id: usize) -> Option<Vec<Vec3>> {
        let Self { characters, kinds, slots, rides, terrain, .. } = self;
        let kind = &kinds[characters.kinds[id].get()];
        let at = characters.slots[id];
        if at == SlotAddress::NONE || at.page & SlotAddress::TICKING != 0 {
            return None;
        }
        let place = characters.places[id].resolve(rides, &characters.places);
        let world = world_from_model(kind, place, terrain.height(place.0));
        let first = slots.leases[at.page as usize].palette_at(at.slot as usize);
        let palette = slots.pages[at.page as usize].matrices.get(first..)?;
        let entries = kind.rig.skeleton().palette().iter().zip(palette);
        let joints = entries.take(kind.rig.bone_count().get()).map(|(entry, matrix)| {
            let bone = entry.bone_from_mesh.inverse().translation;
            world.transform_point(matrix.transform_point(bone.into()))
        });
        Some(joints.collect())
    }

    /// How far along a ray it comes near a bone of a character.
    fn met(&self, id: usize, origin: Vec3, along: Vec3) -> Option<f32> {
        let joints = self.joints(id)?;
        let kind = &self.kinds[self.characters.kinds[id].get()];
        let scale = self.characters.places[id].scale();
        let thick = THICK * kind.radius * scale;
        let parents = kind.rig.skeleton().parents();
        let bones = parents.iter().zip(&joints).filter_map(|(parent, joint)| {
            let from = parent.map_or(*joint, |parent| joints[parent.get()]);
            nearest(origin, along, (from, *joint)).filter(|(aside, _)| *aside < thick)
        });
        bones.map(|(_, far)| far).min_by(f32::total_cmp)
    }
}

/// How near a ray comes to a segment, and how far along it that is. `None` where that is no number.
fn nearest(origin: Vec3, along: Vec3, (a, b): (Vec3, Vec3)) -> Option<(f32, f32)> {
    let (way, from) = (b - a, a - origin);
    // Of the two lines' nearest points, the segment's first.
    let (length, slant) = (way.length_squared(), way.dot(along));
    let across = length - slant * slant;
    let share = (from.dot(along) * slant - from.dot(way)) / across;
    let share = if across > 1e-9 * length { share.clamp(0.0, 1.0) } else { 0.0 };
    let point = from + way * share;
    let far = point.dot(along).max(0.0);
    let aside = (point - along * far).length();
    (aside.is_finite() && far.is_finite()).then_some((aside, far))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::crowd::testing::{CROWD, crowd, tick};

    #[test]
    fn a_ray_and_a_segment_are_as_near_as_their_nearest_points() {
        let near =
            |a: [f32; 3], b: [f32; 3]| nearest(Vec3::ZERO, Vec3::Z, (a.into(), b.into())).unwrap();
        assert_eq!(near([-1.0, 0.5, 4.0], [1.0, 0.5, 4.0]), (0.5, 4.0));
        assert_eq!(near([3.0, 0.0, 2.0], [5.0, 0.0, 2.0]), (3.0, 2.0));
        assert_eq!(near([0.0, 2.0, 1.0], [0.0, 2.0, 9.0]).0, 2.0, "beside one another");
        assert_eq!(near([0.0, 1.0, -4.0], [0.0, 1.0, -4.0]), (17f32.sqrt(), 0.0), "behind it");
        assert_eq!(nearest(Vec3::ZERO, Vec3::Z, (Vec3::NAN, Vec3::ONE)), None);
    }

    #[test]
    fn whoever_is_looked_at_is_picked_and_nobody_in_the_sky_is() {
        let mut crowd = crowd(60, 1);
        for _ in 0..3 {
            tick(&mut crowd, CROWD);
        }
        let mut alone = 0;
        for id in 0..60 {
            let joints = crowd.world.joints(id).unwrap();
            // From so near that nobody else can be before it.
            let eye = joints[2] + Vec3::new(0.01, 0.02, 0.0);
            let along = (joints[2] - eye).normalize();
            let own = crowd.world.met(id, eye, along).unwrap();
            assert!(own < 0.05, "{own}");
            let picked = crowd.pick(eye, along * 3.0).unwrap();
            // Somebody else's arm may be in between.
            let first = crowd.world.met(picked.get(), eye, along).unwrap();
            assert!(first <= own, "{id} {picked}: {first} {own}");
            alone += usize::from(picked.get() == id);
            assert_eq!(crowd.pick(eye + Vec3::Y * 50.0, Vec3::Y), None);
        }
        assert!(alone > 5, "{alone}");
        assert_eq!(crowd.pick(Vec3::ZERO, Vec3::ZERO), None);
    }
}
