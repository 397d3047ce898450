//! What `inspect --json` prints. All positions and matrices are in the glTF scene's own space.

use super::super::camera::presets::FOV_Y;
use crate::asset::{CharacterAsset, Primitive};
use crate::index::{BoneCount, BoneIndex, ClipId, NodeIndex};
use crate::pose::{ClipStore, Rig};
use serde::Serialize;
use std::path::Path;

/// Distance over radius past which characters keep the low-detail bones only.
const LOD_DISTANCE: f32 = 60.0;

/// Rows of the picture that errors in pixels are given for.
const PICTURE_HEIGHT: f32 = 1080.0;

/// The whole answer.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// As given.
    pub file: String,
    /// Bones in the runtime's order.
    pub skeleton: SkeletonReport,
    /// In the file's order.
    pub skins: Vec<SkinReport>,
    /// In the file's order.
    pub clips: Vec<ClipReport>,
    /// One per node that shows a mesh.
    pub meshes: Vec<MeshReport>,
    /// Over all clips and the rest pose.
    pub bounds: BoundsReport,
    /// What playing the character takes.
    pub memory: MemoryReport,
    /// What was left out or repaired.
    pub warnings: Vec<String>,
    /// One per `--pose`.
    pub poses: Vec<PoseReport>,
}

/// Bones.
#[derive(Clone, Debug, Serialize)]
pub struct SkeletonReport {
    /// Parents first.
    pub bones: Vec<BoneReport>,
    /// How many stay animated at a distance.
    pub low_detail_bone_count: BoneCount,
    /// Mean distance that this puts between vertices, over all clips, in the scene's units.
    pub low_detail_error_m: f32,
    /// The same in pixels at the distance where it begins, in a picture of 1080 rows.
    pub low_detail_error_px: f32,
    /// Matrices of a posed character.
    pub palette_matrices: usize,
}

/// A bone.
#[derive(Clone, Debug, Serialize)]
pub struct BoneReport {
    /// In the runtime's order.
    pub index: BoneIndex,
    /// Of its node.
    pub name: String,
    /// Its parent's index.
    pub parent: Option<BoneIndex>,
    /// The glTF node.
    pub node: NodeIndex,
}

/// A skin.
#[derive(Clone, Debug, Serialize)]
pub struct SkinReport {
    /// In the file's order.
    pub index: usize,
    /// glTF nodes in the order that vertices refer to.
    pub joints: Vec<NodeIndex>,
}

/// A clip.
#[derive(Clone, Debug, Serialize)]
pub struct ClipReport {
    /// In the file's order.
    pub index: usize,
    /// Unique.
    pub name: String,
    /// Length; zero for a still.
    pub seconds: f32,
    /// Frames a second that the runtime keeps.
    pub rate_hz: f32,
    /// Largest difference between the clip as it is played and the file's own curves, in the scene's
    /// units.
    pub max_error_m: f32,
    /// What of that the uniform rate is answerable for.
    pub resampling_error_m: f32,
    /// Largest distance that frames of 16-bit numbers put, or would put, a bone's tip off, in the
    /// scene's units; `null` where `--clip-store f32` spared the measurement.
    pub i16_error_m: Option<f32>,
    /// What the frames are stored as.
    pub store: ClipStore,
}

/// A node that shows a mesh.
#[derive(Clone, Debug, Serialize)]
pub struct MeshReport {
    /// The glTF node.
    pub node: NodeIndex,
    /// The glTF mesh.
    pub mesh: u32,
    /// Its lists of triangles.
    pub primitives: Vec<PrimitiveReport>,
}

/// A list of triangles.
#[derive(Clone, Debug, Serialize)]
pub struct PrimitiveReport {
    /// In the file's mesh.
    pub index: u32,
    /// How many vertices.
    pub vertices: usize,
    /// How many triangles.
    pub triangles: usize,
    /// The most influences of a vertex.
    pub influences_max: u32,
    /// The skin; `null` when a bone carries it rigidly.
    pub skin: Option<u32>,
}

/// A sphere around everything, and the box inside which it lies too.
#[derive(Clone, Debug, Serialize)]
pub struct BoundsReport {
    /// Of box and sphere.
    pub center: [f32; 3],
    /// Of the sphere.
    pub radius: f32,
    /// Smallest corner of the box.
    pub min: [f32; 3],
    /// Largest corner of the box.
    pub max: [f32; 3],
}

/// Bytes.
#[derive(Clone, Debug, Serialize)]
pub struct MemoryReport {
    /// Runtime clips, all together.
    pub clip_bytes: usize,
    /// Vertices and indices.
    pub mesh_bytes: usize,
    /// Decoded images.
    pub image_bytes: usize,
    /// One posed character's matrices.
    pub palette_bytes: usize,
}

/// A pose.
#[derive(Clone, Debug, Serialize)]
pub struct PoseReport {
    /// The clip's index; `null` for the rest pose.
    pub clip: Option<ClipId>,
    /// As asked for; the pose is that of the nearest time in the clip.
    pub seconds: f32,
    /// In the skeleton's order; every joint is among them.
    pub bones: Vec<PosedBone>,
    /// Of every primitive, with `--vertices`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vertices: Option<Vec<PosedVertices>>,
}

/// Where a bone is.
#[derive(Clone, Debug, Serialize)]
pub struct PosedBone {
    /// The glTF node.
    pub node: NodeIndex,
    /// Its name.
    pub name: String,
    /// `model_from_bone`, column-major.
    pub model: [f32; 16],
}

/// Where a primitive's vertices are.
#[derive(Clone, Debug, Serialize)]
pub struct PosedVertices {
    /// The glTF node that shows the mesh.
    pub node: NodeIndex,
    /// The primitive's index in the mesh.
    pub primitive: u32,
    /// In the file's own vertex order.
    pub positions: Vec<[f32; 3]>,
}

impl Report {
    /// Everything but the poses.
    pub(super) fn new(file: &Path, character: &CharacterAsset, rig: &Rig) -> Self {
        let bounds = &character.bounds;
        Self {
            file: file.display().to_string(),
            skeleton: skeleton(character),
            skins: character
                .skins
                .iter()
                .enumerate()
                .map(|(index, joints)| SkinReport { index, joints: joints.clone() })
                .collect(),
            clips: character
                .clips
                .iter()
                .zip(&character.kept)
                .enumerate()
                .map(|(index, (clip, kept))| ClipReport {
                    index,
                    name: clip.name.clone(),
                    seconds: clip.seconds(),
                    rate_hz: clip.rate_hz,
                    max_error_m: clip.max_error_m,
                    resampling_error_m: kept.resampling_error_m,
                    i16_error_m: kept.i16_error_m,
                    store: kept.store,
                })
                .collect(),
            meshes: character.primitives.chunk_by(|a, b| a.node == b.node).map(mesh).collect(),
            bounds: BoundsReport {
                center: bounds.center().to_array(),
                radius: bounds.radius,
                min: bounds.min.to_array(),
                max: bounds.max.to_array(),
            },
            memory: MemoryReport {
                clip_bytes: rig.clip_bytes(),
                mesh_bytes: character.primitives.iter().map(primitive_bytes).sum(),
                image_bytes: character.images.iter().map(|i| i.pixels.len()).sum(),
                palette_bytes: rig.palette_len() * size_of::<crate::math::Mat3x4>(),
            },
            warnings: character.warnings.clone(),
            poses: Vec::new(),
        }
    }
}

fn skeleton(character: &CharacterAsset) -> SkeletonReport {
    let skeleton = &character.skeleton;
    let bones = skeleton.bone_count().bones().zip(skeleton.names()).map(|(index, name)| {
        let (parent, node) = (skeleton.parents()[index.get()], character.bone_nodes[index.get()]);
        BoneReport { index, name: name.clone(), parent, node }
    });
    let error = character.low_detail_error_m;
    SkeletonReport {
        bones: bones.collect(),
        low_detail_bone_count: skeleton.low_detail_bone_count(),
        low_detail_error_m: error,
        low_detail_error_px: error * pixels_per_metre(character.bounds.radius),
        palette_matrices: skeleton.palette_len(),
    }
}

/// Pixels that a metre takes at the distance where a character of that radius goes to low detail.
fn pixels_per_metre(radius: f32) -> f32 {
    let rows_at_one_metre = PICTURE_HEIGHT / (2.0 * (FOV_Y * 0.5).tan());
    if radius > 0.0 { rows_at_one_metre / (LOD_DISTANCE * radius) } else { 0.0 }
}

fn mesh(primitives: &[Primitive]) -> MeshReport {
    let describe = |p: &Primitive| PrimitiveReport {
        index: p.index,
        vertices: p.vertices.len(),
        triangles: p.indices.len() / 3,
        influences_max: p.influences_max,
        skin: p.skin,
    };
    MeshReport {
        node: primitives[0].node,
        mesh: primitives[0].mesh,
        primitives: primitives.iter().map(describe).collect(),
    }
}

fn primitive_bytes(p: &Primitive) -> usize {
    size_of_val(p.vertices.as_slice()) + size_of_val(p.indices.as_slice())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_metre_is_as_tall_as_the_picture_when_it_fills_the_view() {
        // At the distance where the view is one metre tall, a metre is all rows.
        let distance = 0.5 / (FOV_Y * 0.5).tan();
        let pixels = pixels_per_metre(distance / LOD_DISTANCE);
        assert!((pixels - PICTURE_HEIGHT).abs() < 0.1, "{pixels}");
        assert_eq!(pixels_per_metre(0.0), 0.0);
    }
}
