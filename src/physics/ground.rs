//! What bodies fall on: for each of them the plane that the ground is like under it.
//!
//! A half space has no other side that a fast body could come out of, and costs one contact. Over
//! the length of a capsule uneven ground is a plane to a few millimetres; its plane follows each
//! body as it moves.

use super::capsule::Capsule;
use crate::motion::Terrain;
use glam::{Affine3A, Quat, Vec2, Vec3, Vec3Swizzles};

/// A plane is left alone while the ground under its body differs from it by less: units, and the
/// cosine of an angle.
const SAME: f32 = 2e-4;
const SAME_WAY: f32 = 1.0 - 1e-6;

/// The ground in the simulation's units around an origin.
#[derive(Clone, Copy, Debug)]
pub struct Ground {
    pub terrain: Terrain,
    /// World metres.
    pub origin: Vec3,
    /// World metres of one unit.
    pub metres: f32,
}

/// A plane, by a point of it and its normal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plane {
    pub point: Vec3,
    pub normal: Vec3,
}

impl Plane {
    /// What takes +Y to the normal.
    pub fn rotation(&self) -> Quat {
        Quat::from_rotation_arc(Vec3::Y, self.normal)
    }

    /// How far above it a point is.
    pub fn height(&self, point: Vec3) -> f32 {
        (point - self.point).dot(self.normal)
    }

    /// True where another plane is the same for a body at a place.
    pub fn serves(&self, other: &Self) -> bool {
        self.height(other.point).abs() < SAME && self.normal.dot(other.normal) > SAME_WAY
    }
}

impl Ground {
    /// From the simulation's units to world metres.
    pub fn world_from_sim(&self) -> Affine3A {
        let Self { origin, metres, .. } = *self;
        Affine3A::from_scale_rotation_translation(Vec3::splat(metres), Quat::IDENTITY, origin)
    }

    /// The other way round.
    pub fn sim_from_world(&self) -> Affine3A {
        let to = 1.0 / self.metres;
        let origin = self.origin * -to;
        Affine3A::from_scale_rotation_translation(Vec3::splat(to), Quat::IDENTITY, origin)
    }

    /// Height over the origin, units.
    pub fn height(&self, at: Vec2) -> f32 {
        let world = at * self.metres + self.origin.xz();
        (self.terrain.height(world) - self.origin.y) / self.metres
    }

    /// The plane under a capsule: through the ground below both ends, sloping across them as the
    /// ground does below its middle, and not below that.
    pub fn under(&self, capsule: &Capsule) -> Plane {
        let middle = capsule.middle().xz();
        let here = self.terrain.point(middle * self.metres + self.origin.xz());
        let height = (here.height - self.origin.y) / self.metres;
        let point = Vec3::new(middle.x, height, middle.y);
        let way = (capsule.b - capsule.a).xz();
        let length = way.length();
        // A capsule on its end stands on a point.
        if length < capsule.radius {
            return Plane { point, normal: here.normal() };
        }
        let along = way / length;
        let across = Vec2::new(along.y, -along.x);
        let (a, b) = (self.height(capsule.a.xz()), self.height(capsule.b.xz()));
        let steep = along * ((b - a) / length) + across * here.gradient.dot(across);
        let normal = Vec3::new(-steep.x, 1.0, -steep.y).normalize();
        Plane { point: point.with_y(height.max(0.5 * (a + b))), normal }
    }

    /// How far the lowest point of a capsule is above the ground, units.
    pub fn clearance(&self, capsule: &Capsule) -> f32 {
        let steps = 8;
        let at = |i: i32| capsule.a.lerp(capsule.b, i as f32 / steps as f32);
        let above = |point: Vec3| point.y - self.height(point.xz()) - capsule.radius;
        (0..=steps).map(|i| above(at(i))).fold(f32::INFINITY, f32::min)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_plane_under_a_lying_capsule_is_the_ground_to_some_millimetres() {
        let terrain = Terrain::uneven(7);
        for i in 0..400 {
            let at = Vec2::new(i as f32 * 1.7 - 300.0, i as f32 * 0.9 - 150.0);
            let origin = Vec3::new(at.x, terrain.height(at), at.y);
            let ground = Ground { terrain, origin, metres: 1.0 };
            let (sin, cos) = (i as f32).sin_cos();
            let half = Vec3::new(cos, 0.0, sin) * 0.2;
            let plane = ground.under(&Capsule { a: -half, b: half, radius: 0.07 });
            for share in [-1.0, -0.5, 0.0, 0.5, 1.0] {
                let p = half * share;
                let off = plane.height(p.with_y(ground.height(p.xz())));
                assert!((-0.006..0.001).contains(&off), "{i} {share}: {off}");
            }
            assert!(plane.serves(&plane));
            assert!(!plane.serves(&Plane { point: plane.point + Vec3::Y * 1e-3, ..plane }));
        }
    }

    #[test]
    fn level_ground_is_level_and_scaled_like_the_bodies_on_it() {
        let ground =
            Ground { terrain: Terrain::FLAT, origin: Vec3::new(5.0, 0.0, 1.0), metres: 0.1 };
        let capsule = Capsule { a: Vec3::Y, b: Vec3::new(1.0, 1.2, 0.0), radius: 0.25 };
        let plane = ground.under(&capsule);
        assert_eq!((plane.normal, plane.point.y), (Vec3::Y, 0.0));
        assert_eq!(plane.rotation(), Quat::IDENTITY);
        assert_eq!(ground.clearance(&capsule), 0.75);
        let terrain = Terrain::uneven(3);
        let uneven = Ground { terrain, ..ground };
        let expected = terrain.height(Vec2::new(5.2, 1.1)) / 0.1;
        assert!((uneven.height(Vec2::new(2.0, 1.0)) - expected).abs() < 1e-5);
    }
}
