//! A character's triangles, for whoever asks what a ray meets.

use super::character::CharacterAsset;
use crate::math::{Bounds, Mat3x4};
use glam::Vec3;

/// All primitives of a character as one soup of triangles, whatever their materials.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Surface {
    points: Vec<Point>,
    triangles: Vec<[u32; 3]>,
    /// For each palette entry the corners of a box around the vertices that it moves, mesh space;
    /// `None` for one that moves none.
    reach: Vec<Option<(Vec3, Vec3)>>,
}

/// A vertex, as far as its place is concerned.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Point {
    /// Mesh space.
    position: Vec3,
    joints: [u16; 4],
    /// Sum to one.
    weights: [f32; 4],
}

impl Surface {
    /// The surface of a character. Influences past its palette and triangles past its vertices are
    /// left out.
    pub fn of(asset: &CharacterAsset) -> Self {
        let mut surface =
            Self { reach: vec![None; asset.skeleton.palette_len()], ..Self::default() };
        for primitive in &asset.primitives {
            let first = surface.points.len();
            for vertex in &primitive.vertices {
                surface.add(vertex.position.into(), vertex.joints, vertex.weights);
            }
            let end = surface.points.len();
            let index = |i: u32| {
                let at = first + i as usize;
                u32::try_from(at).ok().filter(|_| at < end)
            };
            let triangle = |corners: &[u32]| {
                Some([index(corners[0])?, index(corners[1])?, index(corners[2])?])
            };
            surface.triangles.extend(primitive.indices.chunks_exact(3).filter_map(triangle));
        }
        surface
    }

    fn add(&mut self, position: Vec3, joints: [u16; 4], weights: [f32; 4]) {
        let mut weights = weights;
        for (joint, weight) in joints.iter().zip(&mut weights) {
            match self.reach.get_mut(usize::from(*joint)) {
                Some(reach) if *weight != 0.0 => {
                    let (min, max) = reach.get_or_insert((position, position));
                    (*min, *max) = (min.min(position), max.max(position));
                }
                Some(_) => {}
                None => *weight = 0.0,
            }
        }
        self.points.push(Point { position, joints, weights });
    }

    /// Number of triangles.
    pub fn triangle_count(&self) -> usize {
        self.triangles.len()
    }

    /// A box in model space that holds every vertex where this palette (one matrix for each entry of
    /// the character's) puts it: around the boxes of what each bone moves. `None` without vertices.
    pub fn posed_box(&self, palette: &[Mat3x4]) -> Option<Bounds> {
        let entries = self.reach.iter().zip(palette);
        let boxes = entries.filter_map(|(reach, matrix)| Some(((*reach)?, matrix)));
        let corners = boxes.flat_map(|((min, max), matrix)| {
            (0..8).map(move |corner| {
                let side = |bit: u8| corner >> bit & 1 == 1;
                let pick = |bit, low, high| if side(bit) { high } else { low };
                let x = pick(0, min.x, max.x);
                let (y, z) = (pick(1, min.y, max.y), pick(2, min.z, max.z));
                matrix.transform_point(Vec3::new(x, y, z))
            })
        });
        corners.clone().next()?;
        Some(Bounds::of_points(corners))
    }

    /// How far along a ray its first triangle is, from either side, where this palette puts it: in
    /// multiples of `direction`. Ray and palette are in model space. `None` where it meets none.
    pub fn hit(&self, palette: &[Mat3x4], origin: Vec3, direction: Vec3) -> Option<f32> {
        let around = self.posed_box(palette)?;
        if !meets_box(&around, origin, direction) {
            return None;
        }
        let posed: Vec<Vec3> = self.points.iter().map(|point| point.posed(palette)).collect();
        let hits = self.triangles.iter().filter_map(|corners| {
            meets_triangle(corners.map(|i| posed[i as usize]), origin, direction)
        });
        hits.min_by(f32::total_cmp)
    }
}

impl Point {
    /// As the vertex shader has it.
    fn posed(&self, palette: &[Mat3x4]) -> Vec3 {
        let mut sum = Vec3::ZERO;
        for (joint, weight) in self.joints.iter().zip(self.weights) {
            if weight != 0.0
                && let Some(matrix) = palette.get(usize::from(*joint))
            {
                sum += matrix.transform_point(self.position) * weight;
            }
        }
        sum
    }
}

/// Whether a ray meets a box that is a hair larger than this one: the slabs of Kay and Kajiya (1986).
fn meets_box(of: &Bounds, origin: Vec3, direction: Vec3) -> bool {
    let slack = Vec3::splat(1e-4 * of.size().max_element());
    let (mut from, mut to) = (0.0f32, f32::INFINITY);
    for axis in 0..3 {
        let near = (of.min[axis] - slack[axis] - origin[axis]) / direction[axis];
        let far = (of.max[axis] + slack[axis] - origin[axis]) / direction[axis];
        // Not-a-number where the ray lies in a side; that is no reason to miss.
        from = from.max(near.min(far));
        to = to.min(near.max(far));
    }
    from <= to
}

/// How far along a ray a triangle is, from either side (Möller and Trumbore 1997).
fn meets_triangle([a, b, c]: [Vec3; 3], origin: Vec3, direction: Vec3) -> Option<f32> {
    let (ab, ac) = (b - a, c - a);
    let across = direction.cross(ac);
    let volume = ab.dot(across);
    let from = origin - a;
    let u = from.dot(across) / volume;
    let up = from.cross(ab);
    let v = direction.dot(up) / volume;
    let far = ac.dot(up) / volume;
    // False for what is not a number: a triangle without area, or one seen edge on.
    (u >= 0.0 && v >= 0.0 && u + v <= 1.0 && far >= 0.0 && far.is_finite()).then_some(far)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::asset::builtin;

    fn identity(surface: &Surface) -> Vec<Mat3x4> {
        vec![Mat3x4::IDENTITY; surface.reach.len()]
    }

    #[test]
    fn a_triangle_is_met_from_both_sides_within_its_corners_and_ahead() {
        let corners = [Vec3::ZERO, Vec3::X, Vec3::Y];
        let at = |x: f32, y: f32, z: f32| Vec3::new(x, y, z);
        assert_eq!(meets_triangle(corners, at(0.2, 0.2, 3.0), at(0.0, 0.0, -2.0)), Some(1.5));
        assert_eq!(meets_triangle(corners, at(0.2, 0.2, -3.0), Vec3::Z), Some(3.0));
        assert_eq!(meets_triangle(corners, at(0.6, 0.6, 3.0), at(0.0, 0.0, -1.0)), None);
        assert_eq!(meets_triangle(corners, at(0.2, 0.2, 3.0), Vec3::Z), None, "behind");
        assert_eq!(meets_triangle([Vec3::ZERO; 3], Vec3::Z, Vec3::NEG_Z), None);
        assert_eq!(meets_triangle(corners, at(0.2, 0.2, 0.0), Vec3::X), None, "edge on");
        assert_eq!(meets_triangle([Vec3::NAN; 3], Vec3::Z, Vec3::NEG_Z), None);
    }

    #[test]
    fn a_box_is_met_where_it_is_and_along_its_sides() {
        let of = Bounds::of_points([Vec3::ZERO, Vec3::ONE].into_iter());
        assert!(meets_box(&of, Vec3::new(0.5, 0.5, 9.0), Vec3::NEG_Z));
        assert!(!meets_box(&of, Vec3::new(0.5, 0.5, 9.0), Vec3::Z));
        assert!(meets_box(&of, Vec3::splat(0.5), Vec3::Y), "from within");
        assert!(meets_box(&of, Vec3::new(1.0, 0.5, 9.0), Vec3::NEG_Z), "along a side");
        assert!(!meets_box(&of, Vec3::new(1.1, 0.5, 9.0), Vec3::NEG_Z));
    }

    #[test]
    fn a_built_in_is_hit_at_rest_and_its_box_holds_all_of_it() {
        let asset = builtin("humanoid").unwrap().unwrap();
        let surface = Surface::of(&asset);
        let skeleton = &asset.skeleton;
        let model = skeleton.model_from_bone(skeleton.rest());
        let entries = skeleton.palette().iter();
        let palette: Vec<Mat3x4> = entries
            .map(|e| Mat3x4::from_affine(&(model[e.bone.get()] * e.bone_from_mesh)))
            .collect();
        let around = surface.posed_box(&palette).unwrap();
        for point in surface.points.iter().map(|p| p.posed(&palette)) {
            assert!(around.contains(point, 1e-4), "{point}");
        }
        let triangles: usize = asset.primitives.iter().map(|p| p.indices.len() / 3).sum();
        assert_eq!(surface.triangle_count(), triangles);
        // At the chest from the front, and past the ear.
        let front = |x: f32, y: f32| surface.hit(&palette, Vec3::new(x, y, 5.0), Vec3::NEG_Z);
        let chest = front(0.0, 1.2).unwrap();
        assert!((4.7..5.0).contains(&chest), "{chest}");
        assert_eq!(front(0.6, 1.75), None);
        let twice = surface.hit(&palette, Vec3::new(0.0, 1.2, 5.0), Vec3::NEG_Z * 2.0).unwrap();
        assert!((twice * 2.0 - chest).abs() < 1e-4, "in multiples of the direction");
    }

    #[test]
    fn what_lies_outside_of_its_tables_is_left_out() {
        let mut asset = builtin("quadruped").unwrap().unwrap();
        let whole = Surface::of(&asset).triangle_count();
        let primitive = &mut asset.primitives[0];
        primitive.indices[0] = u32::MAX;
        primitive.vertices[0].joints = [u16::MAX; 4];
        let surface = Surface::of(&asset);
        assert_eq!(surface.triangle_count(), whole - 1);
        assert!(surface.hit(&identity(&surface), Vec3::NAN, Vec3::NAN).is_none());
        assert!(surface.hit(&[], Vec3::ZERO, Vec3::Z).is_none());
        assert_eq!(Surface::default().posed_box(&[]), None);
    }
}
