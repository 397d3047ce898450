//! Meshes as the GPU reads them: packed, without duplicates, in an order that its caches like, in
//! several levels of detail.

use super::layout::{SkinVertex, SurfaceVertex};
use super::lod::{LEVELS, Levels, LodVertex};
use super::rest::RestPose;
use super::sorting::KindLevels;
use crate::asset::{CharacterAsset, Primitive, Vertex};
use bytemuck::{Pod, Zeroable};
use std::collections::HashMap;
use std::ops::Range;

/// One primitive's place in its character's buffers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Part {
    /// Added to every index.
    pub(super) base_vertex: i32,
    /// Into [`PackedMesh::indices`], for each level of detail.
    pub(super) indices: [Range<u32>; LEVELS],
    /// Into [`PackedMesh::indices`] too: the same triangles over fewer vertices, for passes that
    /// read positions only.
    pub(super) shadow_indices: [Range<u32>; LEVELS],
    /// Index of the material.
    pub(super) material: usize,
    /// 1, 2 or 4: what the pipeline blends.
    pub(super) influences: u32,
}

/// All of a character's vertices and triangles.
#[derive(Clone, Debug, Default)]
pub(super) struct PackedMesh {
    pub(super) skin: Vec<SkinVertex>,
    pub(super) surface: Vec<SurfaceVertex>,
    pub(super) indices: Vec<u32>,
    pub(super) parts: Vec<Part>,
    /// Of each level of detail, all parts together.
    pub(super) levels: KindLevels,
}

/// Both streams of a vertex, compared as bytes when duplicates are sought.
#[derive(Clone, Copy, Default, Pod, Zeroable)]
#[repr(C)]
struct FullVertex {
    skin: SkinVertex,
    surface: SurfaceVertex,
}

impl PackedMesh {
    /// Packs every primitive of a character. Triangles that a mirrored bone turns inside out at
    /// rest get their winding turned back.
    pub(super) fn of(asset: &CharacterAsset, rest: &RestPose) -> Self {
        let mut mesh = Self::default();
        mesh.levels.radius = rest.radius;
        for primitive in &asset.primitives {
            let material = asset.materials.get(primitive.material as usize);
            let textured = material
                .is_some_and(|m| m.base_color_image.or(m.metallic_roughness_image).is_some());
            mesh.add(primitive, rest, textured);
        }
        mesh
    }

    fn add(&mut self, primitive: &Primitive, rest: &RestPose, textured: bool) {
        let palette_len = rest.palette.len();
        let full: Vec<_> = primitive.vertices.iter().map(|v| pack(v, palette_len)).collect();
        let known = |t: &&[u32]| t.iter().all(|&i| (i as usize) < full.len());
        let mut indices = Vec::with_capacity(primitive.indices.len());
        for triangle in primitive.indices.chunks_exact(3).filter(known) {
            let [a, b, c] = [triangle[0], triangle[1], triangle[2]];
            let turned = |i: &u32| rest.is_mirrored(full[*i as usize].skin.joints[0]);
            let votes = [a, b, c].iter().filter(|i| turned(i)).count();
            indices.extend(if votes >= 2 { [a, c, b] } else { [a, b, c] });
        }
        if indices.is_empty() {
            return;
        }
        let (count, remap) = meshopt::generate_vertex_remap(&full, Some(&indices));
        let mut indices = meshopt::remap_index_buffer(Some(&indices), full.len(), &remap);
        let vertices = meshopt::remap_vertex_buffer(&full, count, &remap);
        meshopt::optimize_vertex_cache_in_place(&mut indices, vertices.len());
        let vertices = meshopt::optimize_vertex_fetch(&mut indices, &vertices);

        let at_rest: Vec<_> = vertices.iter().map(|v| v.at_rest(rest, textured)).collect();
        let levels = Levels::of(&indices, &at_rest, rest.height());
        for (whole, part) in self.levels.errors.iter_mut().zip(levels.errors) {
            *whole = whole.max(part);
        }
        let start = self.indices.len() as u32;
        self.indices.extend(&levels.indices);
        let shadow_start = self.indices.len() as u32;
        let positions = FirstAlike::of(&vertices);
        // Each level's triangles once, where several levels are the same ones.
        let mut shadow_ranges = levels.ranges.clone();
        for level in 0..LEVELS {
            let range = &levels.ranges[level];
            shadow_ranges[level] = if level > 0 && *range == levels.ranges[level - 1] {
                shadow_ranges[level - 1].clone()
            } else {
                let from = self.indices.len() - shadow_start as usize;
                self.indices.extend(positions.triangles(&levels.indices[range.clone()]));
                from..self.indices.len() - shadow_start as usize
            };
        }
        let moved = |ranges: [Range<usize>; LEVELS], by: u32| {
            ranges.map(|r| by + r.start as u32..by + r.end as u32)
        };
        let most = vertices.iter().map(|v| influences(&v.skin)).max().unwrap_or(1);
        self.parts.push(Part {
            base_vertex: self.skin.len() as i32,
            indices: moved(levels.ranges, start),
            shadow_indices: moved(shadow_ranges, shadow_start),
            material: primitive.material as usize,
            influences: if most == 3 { 4 } else { most },
        });
        self.skin.extend(vertices.iter().map(|v| v.skin));
        self.surface.extend(vertices.iter().map(|v| v.surface));
    }
}

impl FullVertex {
    fn at_rest(&self, rest: &RestPose, textured: bool) -> LodVertex {
        let weights = self.skin.weights.map(|w| f32::from(w) / 65_535.0);
        let [x, y, z, _] = self.surface.normal.map(|n| f32::from(n) / 32_767.0);
        let [r, g, b, _] = self.surface.color.map(|c| f32::from(c) / 65_535.0);
        LodVertex {
            position: rest.posed(self.skin.position, self.skin.joints, weights).into(),
            normal: [x, y, z],
            color: [r, g, b],
            uv: if textured { self.surface.uv } else { [0.0; 2] },
        }
    }
}

/// For each vertex, the first one that skins alike.
struct FirstAlike(Vec<u32>);

impl FirstAlike {
    fn of(vertices: &[FullVertex]) -> Self {
        let mut first = HashMap::with_capacity(vertices.len());
        let key = |v: &FullVertex| bytemuck::cast::<_, [u8; size_of::<SkinVertex>()]>(v.skin);
        Self((0u32..).zip(vertices).map(|(i, v)| *first.entry(key(v)).or_insert(i)).collect())
    }

    /// The same triangles over the first vertices only.
    fn triangles(&self, indices: &[u32]) -> Vec<u32> {
        let merged: Vec<u32> = indices.iter().map(|&i| self.0[i as usize]).collect();
        meshopt::optimize_vertex_cache(&merged, self.0.len())
    }
}

/// The highest influence with weight, counted from one.
fn influences(v: &SkinVertex) -> u32 {
    v.weights.iter().rposition(|&w| w > 0).map_or(1, |i| i as u32 + 1)
}

fn pack(v: &Vertex, palette_len: usize) -> FullVertex {
    let last = palette_len.saturating_sub(1) as u16;
    let weights = quantize_weights(v.weights);
    // An influence without weight reads the first one's matrix: one cache line less.
    let first = v.joints[0].min(last);
    let joint = |i: usize| if weights[i] > 0 { v.joints[i].min(last) } else { first };
    let unorm = |x: f32| (x.clamp(0.0, 1.0) * 65_535.0).round() as u16;
    let snorm = |x: f32| (x.clamp(-1.0, 1.0) * 32_767.0).round() as i16;
    let [x, y, z] = v.normal.map(snorm);
    FullVertex {
        skin: SkinVertex {
            // -0.0 and 0.0 are one position.
            position: v.position.map(|x| x + 0.0),
            joints: [joint(0), joint(1), joint(2), joint(3)],
            weights,
        },
        surface: SurfaceVertex {
            normal: [x, y, z, 0],
            uv: v.uv.map(|x| x + 0.0),
            color: v.color.map(unorm),
        },
    }
}

/// Weights over 65,535 that sum to exactly that; the largest takes what rounding left over. All
/// zero (or not finite) means the first influence alone.
pub(super) fn quantize_weights(weights: [f32; 4]) -> [u16; 4] {
    const ONE: i32 = 65_535;
    let sum: f32 = weights.iter().map(|w| w.max(0.0)).sum();
    if !(sum > 0.0 && sum.is_finite()) {
        return [ONE as u16, 0, 0, 0];
    }
    let mut q = weights.map(|w| (w.max(0.0) / sum * ONE as f32).round() as i32);
    let largest = (0..4).fold(0, |best, i| if q[i] > q[best] { i } else { best });
    q[largest] += ONE - q.iter().sum::<i32>();
    q.map(|w| w.clamp(0, ONE) as u16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantized_weights_sum_to_one_exactly() {
        let mut state = 1u32;
        let mut random = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) as f32 / 16_777_216.0
        };
        for _ in 0..10_000 {
            let w = [random(), random().powi(8), random(), random().powi(30)];
            let q = quantize_weights(w);
            assert_eq!(q.iter().map(|&x| u32::from(x)).sum::<u32>(), 65_535, "{w:?} {q:?}");
            let sum: f32 = w.iter().sum();
            for i in 0..4 {
                assert!((f32::from(q[i]) / 65_535.0 - w[i] / sum).abs() < 4.0 / 65_535.0);
            }
        }
    }

    #[test]
    fn weights_that_are_nothing_fall_to_the_first_influence() {
        for w in [[0.0; 4], [f32::NAN; 4], [-1.0, 0.0, 0.0, 0.0], [f32::INFINITY, 1.0, 0.0, 0.0]] {
            assert_eq!(quantize_weights(w), [65_535, 0, 0, 0], "{w:?}");
        }
        assert_eq!(quantize_weights([0.25; 4]), [16_383, 16_384, 16_384, 16_384]);
    }

    #[test]
    fn vertices_that_skin_alike_are_one_in_the_position_stream() {
        let vertex = |x: f32, u: f32| {
            let v = Vertex {
                position: [x, 0.0, 0.0],
                normal: [0.0, 1.0, 0.0],
                uv: [u, 0.0],
                color: [1.0; 4],
                joints: [0; 4],
                weights: [1.0, 0.0, 0.0, 0.0],
            };
            pack(&v, 1)
        };
        // Two triangles that share an edge along a texture seam.
        let vertices = [
            vertex(0.0, 0.0),
            vertex(1.0, 0.0),
            vertex(2.0, 0.0),
            vertex(1.0, 0.5),
            vertex(2.0, 0.5),
            vertex(3.0, 0.0),
        ];
        let shadow = FirstAlike::of(&vertices).triangles(&[0, 1, 2, 3, 5, 4]);
        let mut used = shadow.clone();
        used.sort_unstable();
        used.dedup();
        assert_eq!(used, [0, 1, 2, 5]);
        assert_eq!(shadow.len(), 6);
    }
}
