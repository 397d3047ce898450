//! Meshes as the GPU reads them: packed, without duplicates, in an order that its caches like.

use super::layout::{ContactVertex, SkinVertex, SurfaceVertex};
use crate::asset::{CharacterAsset, Primitive, Vertex};
use crate::math::Mat3x4;
use bytemuck::{Pod, Zeroable};
use glam::{Affine3A, Vec2, Vec3};
use std::collections::HashMap;
use std::ops::Range;

/// One primitive's place in its character's buffers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Part {
    /// Added to every index.
    pub(super) base_vertex: i32,
    /// Into [`PackedMesh::indices`].
    pub(super) indices: Range<u32>,
    /// Into [`PackedMesh::indices`] too: the same triangles over fewer vertices, for passes that
    /// read positions only.
    pub(super) shadow_indices: Range<u32>,
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
    pub(super) fn of(asset: &CharacterAsset) -> Self {
        let rest = rest_palette(asset);
        let mirrored: Vec<bool> =
            rest.iter().map(|m| m.to_affine().matrix3.determinant() < 0.0).collect();
        let mut mesh = Self::default();
        for primitive in &asset.primitives {
            mesh.add(primitive, &mirrored);
        }
        mesh
    }

    fn add(&mut self, primitive: &Primitive, mirrored: &[bool]) {
        let full: Vec<_> = primitive.vertices.iter().map(|v| pack(v, mirrored.len())).collect();
        let known = |t: &&[u32]| t.iter().all(|&i| (i as usize) < full.len());
        let mut indices = Vec::with_capacity(primitive.indices.len());
        for triangle in primitive.indices.chunks_exact(3).filter(known) {
            let turned = |i: u32| {
                let joint = full[i as usize].skin.joints[0] as usize;
                mirrored.get(joint).copied().unwrap_or(false)
            };
            let [a, b, c] = [triangle[0], triangle[1], triangle[2]];
            let votes = [a, b, c].into_iter().filter(|&i| turned(i)).count();
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

        let base = self.skin.len();
        let shadow = position_indices(&indices, &vertices);
        let start = self.indices.len() as u32;
        self.indices.extend(&indices);
        let middle = self.indices.len() as u32;
        self.indices.extend(&shadow);
        self.skin.extend(vertices.iter().map(|v| v.skin));
        self.surface.extend(vertices.iter().map(|v| v.surface));
        let most = vertices.iter().map(|v| influences(&v.skin)).max().unwrap_or(1);
        self.parts.push(Part {
            base_vertex: base as i32,
            indices: start..middle,
            shadow_indices: middle..self.indices.len() as u32,
            material: primitive.material as usize,
            influences: if most == 3 { 4 } else { most },
        });
    }
}

/// The same triangles, every corner replaced by the first vertex that skins alike.
fn position_indices(indices: &[u32], vertices: &[FullVertex]) -> Vec<u32> {
    let mut first = HashMap::with_capacity(vertices.len());
    let same: Vec<u32> = (0u32..)
        .zip(vertices)
        .map(|(i, v)| *first.entry(bytemuck::cast::<_, [u8; 28]>(v.skin)).or_insert(i))
        .collect();
    let merged: Vec<u32> = indices.iter().map(|&i| same[i as usize]).collect();
    meshopt::optimize_vertex_cache(&merged, vertices.len())
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

/// The palette of the rest pose.
fn rest_palette(asset: &CharacterAsset) -> Vec<Mat3x4> {
    let skeleton = &asset.skeleton;
    let model = skeleton.model_from_bone(skeleton.rest());
    let entry = |e: &crate::pose::skeleton::PaletteEntry| {
        Mat3x4::from_affine(&(model[e.bone.get()] * e.bone_from_mesh))
    };
    skeleton.palette().iter().map(entry).collect()
}

/// The quad under a character that holds its contact shade: around what is near the ground at
/// rest, and wider by its softness. `None` without vertices.
pub(super) fn contact_quad(asset: &CharacterAsset) -> Option<[ContactVertex; 4]> {
    let palette = rest_palette(asset);
    let posed = |v: &Vertex| {
        let mut p = Vec3::ZERO;
        for (&joint, &weight) in v.joints.iter().zip(&v.weights) {
            if weight > 0.0
                && let Some(m) = palette.get(joint as usize)
            {
                p += m.transform_point(Vec3::from(v.position)) * weight;
            }
        }
        p
    };
    let points: Vec<Vec3> = asset
        .primitives
        .iter()
        .flat_map(|p| &p.vertices)
        .map(posed)
        .filter(|p| p.is_finite())
        .collect();
    let floor = points.iter().map(|p| p.y).reduce(f32::min)?;
    let height = points.iter().map(|p| p.y).reduce(f32::max)? - floor;
    let low = points.iter().filter(|p| p.y - floor <= height * 0.3).map(|p| Vec2::new(p.x, p.z));
    let min = low.clone().reduce(Vec2::min)?;
    let max = low.reduce(Vec2::max)?;
    let (center, half) = ((min + max) * 0.5, (max - min) * 0.5);
    let half = half * 1.25 + Vec2::splat(height * 0.14);
    let middle = Vec3::new(center.x, floor + height * 0.5, center.y);
    let first = palette.first()?.to_affine();
    // A matrix without inverse leaves the shade where it is at rest.
    let singular = first.matrix3.determinant().abs() < 1e-12;
    let mesh_from_model = if singular { Affine3A::IDENTITY } else { first.inverse() };
    let corner = |x: f32, z: f32| ContactVertex {
        position: [center.x + half.x * x, floor, center.y + half.y * z],
        corner: [x, z],
        middle: middle.into(),
        middle_in_mesh: mesh_from_model.transform_point3(middle).into(),
    };
    Some([corner(-1.0, -1.0), corner(-1.0, 1.0), corner(1.0, -1.0), corner(1.0, 1.0)])
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
        let shadow = position_indices(&[0, 1, 2, 3, 5, 4], &vertices);
        let mut used = shadow.clone();
        used.sort_unstable();
        used.dedup();
        assert_eq!(used, [0, 1, 2, 5]);
        assert_eq!(shadow.len(), 6);
    }
}
