//! Vertices that refer to palette entries: influences, normals and winding.

use super::super::character::{Primitive, Vertex};
use super::super::source::{Source, SourcePrimitive};
use super::bones::{BoneSet, shown_nodes};
use super::error::BuildError;
use super::palette::DraftPalette;
use crate::index::NodeIndex;
use crate::math::Bounds;
use glam::{Affine3A, DAffine3, Vec3, Vec3A};

/// Most vertices that the meshes of one character may have together.
pub(super) const VERTEX_LIMIT: usize = 8 << 20;

/// Most influences of a vertex that is drawn.
const INFLUENCES: usize = 4;

/// The weight from which on a vertex counts as moved by a bone.
const MOVES: f32 = 0.1;

/// What is drawn, with vertices that refer to the draft palette.
pub(super) struct DraftMeshes {
    pub primitives: Vec<Primitive>,
    pub palette: DraftPalette,
    /// For each bone of the set, the area in the rest pose of the skin that follows it.
    pub own_area: Vec<f64>,
    /// For each bone of the set, the box in the rest pose of what it moves by a tenth or more.
    pub own_box: Vec<Option<Bounds>>,
    /// For each draft entry, its matrix in the rest pose.
    model_from_mesh: Vec<Affine3A>,
}

/// Reads every mesh of the shown scene.
///
/// # Errors
/// More vertices or palette entries than the limits.
pub(super) fn draft_meshes(
    source: &Source,
    bones: &BoneSet,
    warnings: &mut Vec<String>,
) -> Result<DraftMeshes, BuildError> {
    let mut draft = DraftMeshes {
        primitives: Vec::new(),
        palette: DraftPalette::new(bones.nodes.len()),
        own_area: vec![0.0; bones.nodes.len()],
        own_box: vec![None; bones.nodes.len()],
        model_from_mesh: Vec::new(),
    };
    let mut dropped = Dropped::default();
    let mut vertices = 0;
    let mut entry_of_joint: Vec<Vec<Option<u16>>> =
        source.skins.iter().map(|s| vec![None; s.joints.len()]).collect();
    for (node, shown) in (0..).map(NodeIndex).zip(shown_nodes(source)) {
        let n = &source.nodes[node.get()];
        let (Some(mesh), true) = (n.mesh, shown) else { continue };
        for p in &source.meshes[mesh as usize].primitives {
            vertices += p.positions.len();
            if vertices > VERTEX_LIMIT {
                return Err(BuildError::TooManyVertices { vertices, limit: VERTEX_LIMIT });
            }
            let skin = n.skin.filter(|_| !p.influences.is_empty());
            let bound = match skin {
                Some(skin) => {
                    let entries = &mut entry_of_joint[skin as usize];
                    bind_to_skin(source, bones, skin, p, entries, &mut draft.palette, &mut dropped)?
                }
                None => {
                    let Some(carrier) = bones.carrier(source, node) else { continue };
                    let entry = draft.palette.entry(carrier.bone, carrier.bone_from_mesh)?;
                    let one = ([entry, 0, 0, 0], [1.0, 0.0, 0.0, 0.0]);
                    Bound { of_vertex: vec![one; p.positions.len()], influences_max: 1 }
                }
            };
            let id = PrimitiveId { node, mesh, index: p.index, skin, material: p.material };
            draft.add(bones, id, p, bound);
        }
    }
    dropped.report(warnings);
    Ok(draft)
}

/// Palette entries and weights of each vertex.
struct Bound {
    of_vertex: Vec<([u16; 4], [f32; 4])>,
    influences_max: u32,
}

struct PrimitiveId {
    node: NodeIndex,
    mesh: u32,
    index: u32,
    skin: Option<u32>,
    material: u32,
}

/// The strongest four influences of each vertex, their weights summing to one.
fn bind_to_skin(
    source: &Source,
    bones: &BoneSet,
    skin: u32,
    p: &SourcePrimitive,
    entries: &mut [Option<u16>],
    palette: &mut DraftPalette,
    dropped: &mut Dropped,
) -> Result<Bound, BuildError> {
    let skin = &source.skins[skin as usize];
    let mut bound = Bound { of_vertex: Vec::with_capacity(p.positions.len()), influences_max: 0 };
    let mut sorted: Vec<(u16, f32)> = Vec::new();
    for influences in &p.influences {
        sorted.clear();
        sorted.extend_from_slice(influences);
        if sorted.is_empty() {
            sorted.push((0, 1.0));
        }
        sorted.sort_by(|a, b| b.1.total_cmp(&a.1));
        let total: f64 = sorted.iter().map(|i| f64::from(i.1)).sum();
        let kept: f64 = sorted.iter().take(INFLUENCES).map(|i| f64::from(i.1)).sum();
        dropped.vertex(sorted.len(), (1.0 - kept / total) as f32);
        let (mut joints, mut weights) = ([0; 4], [0.0; 4]);
        for (k, &(joint, weight)) in sorted.iter().take(INFLUENCES).enumerate() {
            let slot = &mut entries[usize::from(joint)];
            let entry = match *slot {
                Some(entry) => entry,
                None => {
                    let node = skin.joints[usize::from(joint)];
                    let Some(bone) = bones.bone_of_node[node.get()] else { continue };
                    let inverse_bind = skin.inverse_binds[usize::from(joint)].as_dmat4();
                    *slot.insert(palette.entry(bone, DAffine3::from_mat4(inverse_bind))?)
                }
            };
            (joints[k], weights[k]) = (entry, (f64::from(weight) / kept) as f32);
        }
        bound.influences_max = bound.influences_max.max(sorted.len().min(INFLUENCES) as u32);
        bound.of_vertex.push((joints, weights));
    }
    Ok(bound)
}

impl DraftMeshes {
    fn add(&mut self, bones: &BoneSet, id: PrimitiveId, p: &SourcePrimitive, bound: Bound) {
        for (bone, bone_from_mesh) in self.palette.entries.iter().skip(self.model_from_mesh.len()) {
            let model_from_bone = bones.model_from_node[bones.nodes[*bone].get()];
            self.model_from_mesh.push((model_from_bone * *bone_from_mesh).as_affine3a());
        }
        let model_from_mesh = &self.model_from_mesh;
        let posed = |v: usize| -> Vec3A {
            let (joints, weights) = bound.of_vertex[v];
            let at = |k: usize| {
                let m = &model_from_mesh[usize::from(joints[k])];
                weights[k] * m.transform_point3a(Vec3A::from(p.positions[v]))
            };
            (0..INFLUENCES).filter(|&k| weights[k] > 0.0).map(at).sum()
        };
        let positions: Vec<Vec3A> = (0..p.positions.len()).map(posed).collect();
        let area = vertex_areas(&positions, &p.indices);
        // Each corner votes for the handedness that its strongest influence gives it.
        let mut mirrored = 0.0;
        for (v, (&(joints, weights), &area)) in bound.of_vertex.iter().zip(&area).enumerate() {
            let handed = model_from_mesh[usize::from(joints[0])].matrix3.determinant();
            mirrored += if handed < 0.0 { area } else { -area };
            for k in 0..INFLUENCES {
                let (bone, _) = self.palette.entries[usize::from(joints[k])];
                if weights[k] > 0.0 && area.is_finite() {
                    self.own_area[bone] += f64::from(weights[k]) * area;
                }
                if weights[k] >= MOVES {
                    let point = Bounds::of_points(std::iter::once(positions[v].into()));
                    let own = &mut self.own_box[bone];
                    *own = Some(own.map_or(point, |own| own.union(&point)));
                }
            }
        }
        let normals = normals(p);
        let vertices = (0..p.positions.len())
            .map(|v| Vertex {
                position: p.positions[v],
                normal: normals[v],
                uv: p.uvs.get(v).copied().unwrap_or_default(),
                color: p.colors.get(v).copied().unwrap_or([1.0; 4]),
                joints: bound.of_vertex[v].0,
                weights: bound.of_vertex[v].1,
            })
            .collect();
        let mut indices = p.indices.clone();
        if mirrored > 0.0 {
            indices.chunks_exact_mut(3).for_each(|triangle| triangle.swap(1, 2));
        }
        let PrimitiveId { node, mesh, index, skin, material } = id;
        let influences_max = bound.influences_max;
        self.primitives.push(Primitive {
            node,
            mesh,
            index,
            skin,
            vertices,
            indices,
            material,
            influences_max,
        });
    }
}

/// A third of the area of every triangle at each of its corners.
fn vertex_areas(positions: &[Vec3A], indices: &[u32]) -> Vec<f64> {
    let mut areas = vec![0.0; positions.len()];
    for t in indices.chunks_exact(3) {
        let [a, b, c] = [t[0], t[1], t[2]].map(|i| positions[i as usize]);
        let area = f64::from((b - a).cross(c - a).length()) / 6.0;
        for &i in t {
            areas[i as usize] += area;
        }
    }
    areas
}

/// The file's normals at unit length; where there are none, the mean of the adjacent triangles'
/// normals weighted by area (flat for triangles that share no vertex), or +Y on a collapsed one.
fn normals(p: &SourcePrimitive) -> Vec<[f32; 3]> {
    let mut normals: Vec<Vec3> =
        p.normals.iter().map(|&n| Vec3::from(n).normalize_or_zero()).collect();
    if normals.is_empty() || normals.contains(&Vec3::ZERO) {
        let mut sums = vec![Vec3::ZERO; p.positions.len()];
        for t in p.indices.chunks_exact(3) {
            let [a, b, c] = [t[0], t[1], t[2]].map(|i| Vec3::from(p.positions[i as usize]));
            let normal = (b - a).cross(c - a);
            for &i in t {
                sums[i as usize] += normal;
            }
        }
        normals.resize(p.positions.len(), Vec3::ZERO);
        for (normal, sum) in normals.iter_mut().zip(sums) {
            if *normal == Vec3::ZERO {
                *normal = sum.normalize_or(Vec3::Y);
            }
        }
    }
    normals.into_iter().map(Into::into).collect()
}

/// What is not drawn as the file has it.
#[derive(Default)]
struct Dropped {
    seen: usize,
    vertices: usize,
    most_influences: usize,
    worst_weight: f32,
}

impl Dropped {
    fn vertex(&mut self, influences: usize, weight: f32) {
        self.seen += 1;
        if influences > INFLUENCES {
            self.vertices += 1;
            self.most_influences = self.most_influences.max(influences);
            self.worst_weight = self.worst_weight.max(weight);
        }
    }

    fn report(self, warnings: &mut Vec<String>) {
        if self.vertices > 0 {
            warnings.push(format!(
                "{} of {} vertices have more than four influences (up to {}); the strongest four are \
                 kept and renormalized (at most {:.1} % of a vertex's weight lost)",
                self.vertices,
                self.seen,
                self.most_influences,
                self.worst_weight * 100.0
            ));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::source::NodeTransform;
    use super::super::testing::Tree;
    use super::*;
    use crate::math::Trs;

    fn draft(source: &Source) -> (DraftMeshes, Vec<String>) {
        let mut warnings = Vec::new();
        let bones = BoneSet::choose(source, &mut warnings).unwrap();
        (draft_meshes(source, &bones, &mut warnings).unwrap(), warnings)
    }

    #[test]
    fn the_four_strongest_influences_stay_and_sum_to_one() {
        let mut source =
            Tree::chain(6).root().joints(&[0, 1, 2, 3, 4, 5]).ribbon(6, &[1.0]).source();
        source.meshes[0].primitives[0].influences[1] =
            vec![(0, 0.05), (1, 0.3), (2, 0.1), (3, 0.2), (4, 0.15), (5, 0.2)];
        let (draft, warnings) = draft(&source);
        let v = draft.primitives[0].vertices[1];
        let bones = v.joints.map(|j| draft.palette.entries[usize::from(j)].0);
        assert_eq!(bones, [1, 3, 5, 4]);
        assert!((v.weights.iter().sum::<f32>() - 1.0).abs() < 1e-6);
        assert!((v.weights[0] - 0.3 / 0.85).abs() < 1e-6);
        assert!(warnings[0].starts_with("1 of 4 vertices"), "{warnings:?}");
        assert!(
            warnings[0].contains("(up to 6)") && warnings[0].contains("15.0 %"),
            "{warnings:?}"
        );
        assert_eq!(draft.primitives[0].influences_max, 4);
    }

    #[test]
    fn area_is_measured_in_the_rest_pose_and_split_by_weight() {
        let source = Tree::chain(2).root().joints(&[0, 1]).ribbon(2, &[3.0, 1.0]).source();
        let (draft, _) = draft(&source);
        let off = [draft.own_area[0] - 3.0, draft.own_area[1] - 1.0];
        assert!(off.iter().all(|x| x.abs() < 1e-6), "{:?}", draft.own_area);
    }

    #[test]
    fn a_mirrored_ancestor_turns_the_winding_of_skins_and_rigid_meshes() {
        for ribbon in [false, true] {
            let tree = Tree::chain(1).child(0).joints(&[0]);
            let tree = if ribbon { tree.ribbon(1, &[1.0]) } else { tree.mesh(1) };
            let mut source = tree.source();
            let plain = draft(&source).0.primitives[0].indices.clone();
            assert_eq!(plain[..3], [0, 1, 2]);
            source.nodes[0].rest =
                NodeTransform::Trs(Trs { scale: Vec3::new(-1.0, 1.0, 1.0), ..Trs::IDENTITY });
            let mirrored = draft(&source).0.primitives[0].indices.clone();
            assert_eq!(mirrored[..3], [0, 2, 1]);
        }
    }

    #[test]
    fn missing_and_zero_normals_are_computed() {
        let mut source = Tree::chain(1).mesh(0).source();
        assert_eq!(draft(&source).0.primitives[0].vertices[0].normal, [0.0, 0.0, 1.0]);
        source.meshes[0].primitives[0].normals = vec![[0.0, 2.0, 0.0], [0.0; 3], [0.0, 1.0, 0.0]];
        let (draft, _) = draft(&source);
        let normals: Vec<_> = draft.primitives[0].vertices.iter().map(|v| v.normal).collect();
        assert_eq!(normals, [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [0.0, 1.0, 0.0]]);
    }
}
