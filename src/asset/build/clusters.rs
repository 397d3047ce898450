//! Vertices in small groups that follow the same bones, so that whole groups can be ruled out.

use super::super::character::Primitive;
use super::super::skinning::blend;
use super::rig::LocalBox;
use glam::{Affine3A, Vec3A};

/// Vertices in a group.
const SIZE: usize = 64;

/// The vertices of all primitives, regrouped.
pub(super) struct Clusters {
    vertices: Vec<Skinned>,
    pub groups: Vec<Cluster>,
}

/// What posing needs of a vertex.
#[derive(Clone, Copy, PartialEq)]
pub(super) struct Skinned {
    pub position: Vec3A,
    pub joints: [u16; 4],
    pub weights: [f32; 4],
}

impl Skinned {
    /// Model space.
    #[inline]
    pub fn posed(&self, palette: &[Affine3A]) -> Vec3A {
        blend(self.position, &self.joints, &self.weights, palette)
    }
}

/// A run of vertices.
pub(super) struct Cluster {
    start: usize,
    end: usize,
    /// For each palette entry that moves some of them, the box of those, in mesh space.
    influence: Vec<(u16, LocalBox)>,
}

impl Clusters {
    /// Vertices that are equal in all that matters here are kept once.
    pub fn new(primitives: &[Primitive]) -> Self {
        let mut vertices: Vec<Skinned> = primitives
            .iter()
            .flat_map(|p| &p.vertices)
            .map(|v| Skinned { position: v.position.into(), joints: v.joints, weights: v.weights })
            .collect();
        let key = |v: &Skinned| (v.joints, v.position.to_array().map(f32::to_bits));
        vertices.sort_unstable_by_key(key);
        vertices.dedup();
        let groups = vertices
            .chunk_by(|a, b| a.joints[0] == b.joints[0])
            .scan(0, |start, run| {
                let first = *start;
                *start += run.len();
                Some(
                    (0..run.len())
                        .step_by(SIZE)
                        .map(move |i| first + i)
                        .map(move |i| (i, (i + SIZE).min(first + run.len()))),
                )
            })
            .flatten()
            .map(|(start, end)| Cluster {
                start,
                end,
                influence: influence_of(&vertices[start..end]),
            })
            .collect();
        Self { vertices, groups }
    }

    /// The vertices of a group.
    pub fn vertices(&self, group: &Cluster) -> &[Skinned] {
        &self.vertices[group.start..group.end]
    }

    /// Boxes to transform when every group is looked at once.
    pub fn influence_count(&self) -> usize {
        self.groups.iter().map(|g| g.influence.len()).sum()
    }
}

fn influence_of(vertices: &[Skinned]) -> Vec<(u16, LocalBox)> {
    let mut pairs: Vec<(u16, Vec3A)> = Vec::new();
    for v in vertices {
        let used = v.joints.iter().zip(v.weights).filter(|(_, w)| *w > 0.0);
        pairs.extend(used.map(|(&joint, _)| (joint, v.position)));
    }
    pairs.sort_by_key(|p| p.0);
    let group =
        |run: &[(u16, Vec3A)]| LocalBox::of_points(run.iter().map(|p| p.1)).map(|b| (run[0].0, b));
    pairs.chunk_by(|a, b| a.0 == b.0).filter_map(group).collect()
}

impl Cluster {
    /// A model-space box that holds all of the group's posed vertices: each is a weighted mean of its
    /// images under single matrices.
    pub fn hull(&self, palette: &[Affine3A]) -> LocalBox {
        let start = (Vec3A::INFINITY, Vec3A::NEG_INFINITY);
        let (min, max) = self.influence.iter().fold(start, |(min, max), (joint, local)| {
            let moved = local.transformed(&palette[usize::from(*joint)]);
            (min.min(moved.center - moved.half), max.max(moved.center + moved.half))
        });
        LocalBox { center: (min + max) * 0.5, half: (max - min) * 0.5 }
    }

    /// True when some vertex follows an entry of `entries`.
    pub fn follows(&self, entries: impl Fn(u16) -> bool) -> bool {
        self.influence.iter().any(|(joint, _)| entries(*joint))
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::character::Vertex;
    use super::*;
    use glam::{Quat, Vec3};

    #[test]
    fn every_vertex_is_in_one_group_and_inside_its_hull() {
        let vertex = |i: u32| {
            let r = |k: u32| ((i * 7919 + k * 104_729) % 1000) as f32 / 1000.0;
            let w = 0.5 + r(3) * 0.5;
            Vertex {
                position: [r(0), r(1), r(2)],
                normal: [0.0, 1.0, 0.0],
                uv: [0.0; 2],
                color: [1.0; 4],
                joints: [(i % 5) as u16, ((i / 5) % 7) as u16, 0, 0],
                weights: [w, 1.0 - w, 0.0, 0.0],
            }
        };
        let vertices: Vec<Vertex> = (0..1000).map(vertex).collect();
        let primitive = Primitive {
            node: Default::default(),
            mesh: 0,
            index: 0,
            skin: None,
            vertices: vertices.clone(),
            indices: vec![],
            material: 0,
            influences_max: 2,
        };
        let clusters = Clusters::new(&[primitive.clone(), primitive]);
        assert_eq!(clusters.groups.iter().map(|g| clusters.vertices(g).len()).sum::<usize>(), 1000);
        let palette: Vec<Affine3A> = (0..7)
            .map(|i| {
                let q = Quat::from_euler(glam::EulerRot::XYZ, i as f32, 0.3 * i as f32, 1.0);
                Affine3A::from_scale_rotation_translation(
                    Vec3::new(1.0, -2.0, 0.5),
                    q,
                    Vec3::splat(i as f32),
                )
            })
            .collect();
        for group in &clusters.groups {
            let hull = group.hull(&palette);
            for v in clusters.vertices(group) {
                let off = (v.posed(&palette) - hull.center).abs() - hull.half;
                assert!(off.max_element() < 1e-5, "{off}");
            }
        }
    }
}
