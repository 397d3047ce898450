//! Who is under the pointer.

use super::Crowd;
use super::drawn::{Drawn, bones};
use super::world::World;
use crate::index::CharacterId;
use glam::Vec3;

/// How thick somebody without a surface is about its bones: a share of its bounding radius.
const THICK: f32 = 0.1;
/// What a sphere around somebody who stands is grown by: it may have been posed a step ahead of it.
const GROWN: f32 = 1.25;

impl Crowd {
    /// The first character that a ray meets, of those that the camera saw in the last tick, as they
    /// are posed and drawn: the first of their triangles, or, of a kind without a
    /// [`surface`](super::CrowdKind::surface), of their bones. `direction` is of any length but zero.
    pub fn pick(&self, origin: Vec3, direction: Vec3) -> Option<CharacterId> {
        let along = direction.try_normalize()?;
        let world = &self.world;
        let mut near: Vec<(f32, Drawn<'_>)> = Vec::new();
        for group in &world.groups {
            let seen = group.camera.start as usize..group.camera.end as usize;
            let records = world.instances.get(seen).unwrap_or_default();
            let drawn = records.iter().filter_map(|record| world.drawn_of(group, record));
            near.extend(
                drawn.filter_map(|drawn| {
                    Some((enters(origin, along, world.around(&drawn))?, drawn))
                }),
            );
        }
        near.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut first: Option<(f32, u32)> = None;
        for (enters, drawn) in near {
            // Nobody whose sphere begins behind what was met is in front of it.
            if first.is_some_and(|(far, _)| far <= enters) {
                break;
            }
            let met = drawn.met(origin, along);
            if let Some(far) = met.filter(|met| first.is_none_or(|(far, _)| *met < far)) {
                first = Some((far, drawn.record.id));
            }
        }
        first.map(|(_, id)| CharacterId(id))
    }
}

impl World {
    /// Centre and radius of a sphere that holds somebody as it is drawn.
    fn around(&self, drawn: &Drawn<'_>) -> (Vec3, f32) {
        let (center, radius) = drawn.sphere();
        let fallen = self.falls.sphere(CharacterId(drawn.record.id));
        fallen.unwrap_or((center, radius * GROWN))
    }
}

impl Drawn<'_> {
    /// How far along a ray of unit direction it is met.
    fn met(&self, origin: Vec3, along: Vec3) -> Option<f32> {
        let palette = self.palette();
        let Some(surface) = &self.kind.surface else { return self.bone_met(origin, along) };
        let model_from_world = self.world_from_model().inverse();
        let origin = model_from_world.transform_point3(origin);
        surface.hit(&palette, origin, model_from_world.transform_vector3(along))
    }

    fn bone_met(&self, origin: Vec3, along: Vec3) -> Option<f32> {
        let palette = self.palette();
        let thick = THICK * self.sphere().1;
        let joints: Vec<Option<Vec3>> = bones(self.kind, &palette, self.world_from_model())
            .map(|bone| bone.map(|bone| bone.translation.into()))
            .collect();
        let parents = self.kind.rig.skeleton().parents();
        let bones = parents.iter().zip(&joints).filter_map(|(parent, joint)| {
            let joint = (*joint)?;
            let from = parent.and_then(|parent| joints[parent.get()]).unwrap_or(joint);
            nearest(origin, along, (from, joint)).filter(|(aside, _)| *aside < thick)
        });
        bones.map(|(_, far)| far).min_by(f32::total_cmp)
    }
}

/// How far along a ray it enters a sphere, zero from within; `None` where it misses it.
fn enters(origin: Vec3, along: Vec3, (center, radius): (Vec3, f32)) -> Option<f32> {
    let to = center - origin;
    let middle = to.dot(along);
    let half = (radius * radius - (to - along * middle).length_squared()).max(-1.0);
    let half = (half >= 0.0).then(|| half.sqrt())?;
    (middle + half >= 0.0).then_some((middle - half).max(0.0))
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
    fn a_ray_enters_a_sphere_ahead_of_it_or_is_in_it() {
        let enters =
            |z: f32, aside: f32| enters(Vec3::ZERO, Vec3::Z, (Vec3::new(aside, 0.0, z), 1.0));
        assert_eq!(enters(5.0, 0.0), Some(4.0));
        assert_eq!(enters(5.0, 1.01), None);
        assert_eq!(enters(0.5, 0.0), Some(0.0));
        assert_eq!(enters(-5.0, 0.0), None);
        assert_eq!(enters(f32::NAN, 0.0), None);
    }

    #[test]
    fn whoever_is_looked_at_is_picked_and_nobody_in_the_sky_is() {
        let mut crowd = crowd(60, 1);
        for _ in 0..3 {
            tick(&mut crowd, CROWD);
        }
        let mut alone = 0;
        for id in (0..60).map(CharacterId) {
            let drawn = crowd.world.drawn(id).unwrap();
            let bone = bones(drawn.kind, &drawn.palette(), drawn.world_from_model()).nth(2);
            let joint: Vec3 = bone.flatten().unwrap().translation.into();
            // From so near that nobody else can be before it.
            let eye = joint + Vec3::new(0.01, 0.02, 0.0);
            let along = (joint - eye).normalize();
            let own = drawn.met(eye, along).unwrap();
            assert!(own < 0.05, "{own}");
            let picked = crowd.pick(eye, along * 3.0).unwrap();
            // Somebody else's arm may be in between.
            let first = crowd.world.drawn(picked).unwrap().met(eye, along).unwrap();
            assert!(first <= own, "{id} {picked}: {first} {own}");
            alone += usize::from(picked == id);
            assert_eq!(crowd.pick(eye + Vec3::Y * 50.0, Vec3::Y), None);
        }
        assert!(alone > 5, "{alone}");
        assert_eq!(crowd.pick(Vec3::ZERO, Vec3::ZERO), None);
    }
}
