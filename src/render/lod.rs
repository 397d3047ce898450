//! Levels of detail: the same mesh with fewer triangles, and which of them a distance calls for.

use crate::math::View;
use bytemuck::{Pod, Zeroable};
use glam::Vec3;
use meshopt::{SimplifyOptions, VertexDataAdapter, simplify_with_attributes_and_locks};
use std::ops::Range;

/// Levels of a mesh, the full one included.
pub const LEVELS: usize = 5;
/// How far each step from one level to the next may move a surface, as a share of the mesh's
/// height at rest.
const STEPS: [f32; LEVELS - 1] = [0.0025, 0.006, 0.018, 0.05];
/// A level must have this share of the triangles of the one before it, or less, to be worth
/// another draw.
const WORTH: f32 = 0.75;
/// How far a surface may move on the picture, pixels.
const TOLERANCE: f32 = 0.7;
/// Over how much of the distance at which a level begins it takes the place of the one before.
const FADE: f32 = 0.06;
/// How far it may move on the shadow map, texels.
const SHADOW_TOLERANCE: f32 = 0.5;

/// What simplification looks at: a vertex at rest.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub(super) struct LodVertex {
    /// Model space.
    pub(super) position: [f32; 3],
    /// Unit length.
    pub(super) normal: [f32; 3],
    /// Linear RGB.
    pub(super) color: [f32; 3],
    /// Zero where nothing is looked up with it.
    pub(super) uv: [f32; 2],
}

impl LodVertex {
    /// What a difference in each attribute weighs against a distance as large as the mesh.
    const WEIGHTS: [f32; 8] = [0.3, 0.3, 0.3, 0.6, 0.6, 0.6, 0.5, 0.5];
}

/// Triangles of every level, one after the other, over the vertices they were made from. A level
/// that would save too little is the level before it.
#[derive(Clone, Debug, Default)]
pub(super) struct Levels {
    pub(super) indices: Vec<u32>,
    pub(super) ranges: [Range<usize>; LEVELS],
    /// How far each level's surface lies from the full one's at most, metres of model space.
    pub(super) errors: [f32; LEVELS],
}

impl Levels {
    /// Simplifies step by step, each level from the one before. `height` is that of the whole
    /// character, metres.
    pub(super) fn of(indices: &[u32], vertices: &[LodVertex], height: f32) -> Self {
        let mut levels = Self { indices: indices.to_vec(), ..Self::default() };
        levels.ranges[0] = 0..indices.len();
        for level in 1..LEVELS {
            let before = levels.ranges[level - 1].clone();
            levels.ranges[level] = before.clone();
            levels.errors[level] = levels.errors[level - 1];
            let step = STEPS[level - 1] * height;
            let (fewer, error) = simplified(&levels.indices[before.clone()], vertices, step);
            if fewer.len() as f32 <= before.len() as f32 * WORTH {
                let start = levels.indices.len();
                levels.indices.extend(meshopt::optimize_vertex_cache(&fewer, vertices.len()));
                levels.ranges[level] = start..levels.indices.len();
                levels.errors[level] += error;
            }
        }
        levels
    }
}

/// The triangles that are left when no surface may move further than `limit` metres, and how far
/// one did.
fn simplified(indices: &[u32], vertices: &[LodVertex], limit: f32) -> (Vec<u32>, f32) {
    const STRIDE: usize = size_of::<LodVertex>();
    let Ok(positions) = VertexDataAdapter::new(bytemuck::cast_slice(vertices), STRIDE, 0) else {
        return (indices.to_vec(), 0.0);
    };
    let floats: &[f32] = bytemuck::cast_slice(vertices);
    let attributes = floats.get(3..).unwrap_or_default();
    let mut error = 0.0;
    let fewer = simplify_with_attributes_and_locks(
        indices,
        &positions,
        attributes,
        &LodVertex::WEIGHTS,
        STRIDE,
        &vec![false; vertices.len()],
        0,
        limit,
        SimplifyOptions::ErrorAbsolute,
        Some(&mut error),
    );
    (fewer, error)
}

/// The level of one character.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Picked {
    pub(super) level: usize,
    /// Share of this level in the picture; the rest is [`finer`]'s. A function of the distance
    /// alone: nothing flickers about a border, and nothing has to be remembered.
    pub(super) fade: f32,
}

/// The level that `level` takes the place of: the one before that has triangles of its own.
pub(super) fn finer(errors: &[f32; LEVELS], level: usize) -> usize {
    (0..level).rev().find(|&before| errors[before] < errors[level]).unwrap_or(level)
}

/// Tells which level of a kind is fine enough.
#[derive(Clone, Copy, Debug)]
pub(super) struct LevelPicker {
    /// Metres of distance per metre of error: where an error is as large as the tolerance.
    reach: f32,
    eye: Vec3,
}

impl LevelPicker {
    /// For a picture as high as the view says.
    pub(super) fn new(view: &View) -> Self {
        let focal = view.clip_from_view.y_axis.y * view.height as f32 * 0.5;
        Self { reach: focal / TOLERANCE, eye: view.eye }
    }

    /// The coarsest level whose error is below the tolerance on the picture, for a character at
    /// `place` of that radius and scale, and how far it has taken the place of the one before.
    pub(super) fn pick(
        &self,
        errors: &[f32; LEVELS],
        place: Vec3,
        radius: f32,
        scale: f32,
    ) -> Picked {
        let distance = (place.distance(self.eye) - radius * scale).max(View::NEAR);
        let begins = |level: usize| errors[level] * scale * self.reach;
        let fine = |&level: &usize| begins(level) <= distance;
        let level = (1..LEVELS).rev().find(fine).unwrap_or(0);
        let share = (distance / begins(level) - 1.0) / FADE;
        Picked { level, fade: if level > 0 && share < 1.0 { share } else { 1.0 } }
    }
}

/// The coarsest level whose error is small on a shadow map with texels of that size.
pub(super) fn shadow_level(errors: &[f32; LEVELS], texel_m: f32) -> usize {
    let fine = |&level: &usize| errors[level] <= SHADOW_TOLERANCE * texel_m;
    (1..LEVELS).rev().find(fine).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A grid of `n` times `n` quads over a hill.
    fn hill(n: u32) -> (Vec<u32>, Vec<LodVertex>) {
        let mut vertices = Vec::new();
        for i in 0..(n + 1) * (n + 1) {
            let at = |k: u32| k as f32 / n as f32 * 2.0 - 1.0;
            let (x, z) = (at(i % (n + 1)), at(i / (n + 1)));
            let y = (-(x * x + z * z) * 2.0).exp();
            let normal = Vec3::new(4.0 * x * y, 1.0, 4.0 * z * y).normalize();
            let color = [1.0; 3];
            vertices.push(LodVertex {
                position: [x, y, z],
                normal: normal.into(),
                color,
                uv: [0.0; 2],
            });
        }
        let mut indices = Vec::new();
        for quad in 0..n * n {
            let a = quad / n * (n + 1) + quad % n;
            let (b, c, d) = (a + 1, a + n + 1, a + n + 2);
            indices.extend([a, c, b, b, c, d]);
        }
        (indices, vertices)
    }

    #[test]
    fn each_level_has_fewer_triangles_and_a_larger_error() {
        let (indices, vertices) = hill(40);
        let levels = Levels::of(&indices, &vertices, 1.0);
        assert_eq!(levels.indices[levels.ranges[0].clone()], indices);
        for level in 1..LEVELS {
            let (a, b) = (&levels.ranges[level - 1], &levels.ranges[level]);
            assert!(b == a || b.len() as f32 <= a.len() as f32 * WORTH);
            assert!(levels.errors[level] >= levels.errors[level - 1]);
            assert!(levels.errors[level] <= STEPS[..level].iter().sum::<f32>() * 1.001);
        }
        let last = &levels.ranges[LEVELS - 1];
        assert!(last.len() < indices.len() / 8, "{} of {}", last.len(), indices.len());
        assert!(levels.indices.iter().all(|&i| (i as usize) < vertices.len()));
    }

    #[test]
    fn nothing_simplifies_to_nothing() {
        let levels = Levels::of(&[], &[], 1.0);
        assert!(levels.ranges.iter().all(|r| r.is_empty()));
        let levels = Levels::of(&[0, 1, 2], &[LodVertex::default(); 3], 0.0);
        assert!(levels.errors.iter().all(|e| e.is_finite()));
    }

    #[test]
    fn a_level_is_taken_where_its_error_is_below_the_tolerance() {
        let errors = [0.0, 0.01, 0.02, 0.04, 0.08];
        let view = View::look_at(Vec3::ZERO, Vec3::Z, 1.0, 1000.0, (800, 600));
        let picker = LevelPicker::new(&view);
        let picked = |d: f32, scale: f32| picker.pick(&errors, Vec3::Z * d, 1.0, scale);
        let at = |d, scale| picked(d, scale).level;
        // Pixels of one metre at distance d.
        let pixels = |d: f32| 300.0 / 0.5_f32.tan() / d;
        for step in 0..400 {
            let d = 1.5 + step as f32 * 0.5;
            let level = at(d, 1.0);
            assert!(errors[level] * pixels(d - 1.0) <= TOLERANCE * 1.001, "{level} at {d}");
            if level + 1 < LEVELS {
                assert!(errors[level + 1] * pixels(d - 1.0) > TOLERANCE * 0.999, "{level} at {d}");
            }
        }
        assert_eq!((at(0.5, 1.0), at(1e6, 1.0)), (0, 4));
        // From where a level begins it takes over little by little, and all of it in the end.
        let begins = 1.0 + errors[1] * pixels(1.0) / TOLERANCE;
        let fade = |share: f32| picked(1.0 + (begins - 1.0) * (1.0 + share * FADE), 1.0).fade;
        assert_eq!((at(begins * 0.999, 1.0), at(begins * 1.001, 1.0)), (0, 1));
        assert_eq!((picked(begins * 0.999, 1.0).fade, fade(1.01)), (1.0, 1.0));
        for share in [0.01, 0.3, 0.99] {
            assert!((fade(share) - share).abs() < 1e-3, "{share}: {}", fade(share));
        }
        // Twice as large is as good as half as far.
        assert_eq!(at(40.0, 2.0), at(20.0, 1.0));
    }

    #[test]
    fn shadows_take_a_level_that_their_texels_can_not_tell() {
        let errors = [0.0, 0.01, 0.02, 0.04, 0.08];
        assert_eq!(shadow_level(&errors, 0.01), 0);
        assert_eq!(shadow_level(&errors, 0.05), 2);
        assert_eq!(shadow_level(&errors, 1.0), 4);
    }
}
