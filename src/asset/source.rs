//! A glTF file after validation: every index in range, every number finite, no cycles, accessors
//! read, images decoded. Nothing here is resampled or reordered yet.

use super::character::{ClipMarker, ClipNotify, ImageRgba8, Material};
use crate::index::NodeIndex;
use crate::math::Trs;
use glam::Mat4;
use std::path::PathBuf;

/// A validated scene.
#[derive(Clone, Debug, Default)]
pub struct Source {
    /// Where it came from, for messages.
    pub file: PathBuf,
    /// In the file's order. Parents form a forest (checked).
    pub nodes: Vec<SourceNode>,
    /// Roots of the scene that is shown: the default one, or the first, or every parentless node.
    pub scene_roots: Vec<NodeIndex>,
    /// In the file's order.
    pub skins: Vec<SourceSkin>,
    /// In the file's order; primitives that are not triangles are left out with a warning.
    pub meshes: Vec<SourceMesh>,
    /// In the file's order; channels that have no node or animate weights are left out.
    pub animations: Vec<SourceAnimation>,
    /// In the file's order, then a default one if a primitive needs it.
    pub materials: Vec<Material>,
    /// Decoded base-colour images only.
    pub images: Vec<ImageRgba8>,
    /// What was left out or repaired, one sentence each.
    pub warnings: Vec<String>,
}

/// A node.
#[derive(Clone, Debug)]
pub struct SourceNode {
    /// The file's name, or `node_<index>` when it has none.
    pub name: String,
    /// At most one (checked).
    pub parent: Option<NodeIndex>,
    /// In the file's order.
    pub children: Vec<NodeIndex>,
    /// Local transform at rest.
    pub rest: NodeTransform,
    /// Index into [`Source::meshes`].
    pub mesh: Option<u32>,
    /// Index into [`Source::skins`].
    pub skin: Option<u32>,
}

/// A node's local transform as the file wrote it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum NodeTransform {
    /// Separate properties; the only kind that can be animated.
    Trs(Trs),
    /// A matrix, which may hold shear.
    Matrix(Mat4),
}

/// A skin.
#[derive(Clone, Debug)]
pub struct SourceSkin {
    /// The file's name, or empty.
    pub name: String,
    /// Nodes, in the order that JOINTS_n refer to.
    pub joints: Vec<NodeIndex>,
    /// As many as joints; identity where the file has none.
    pub inverse_binds: Vec<Mat4>,
}

/// A mesh.
#[derive(Clone, Debug)]
pub struct SourceMesh {
    /// The file's name, or empty.
    pub name: String,
    /// Triangle primitives.
    pub primitives: Vec<SourcePrimitive>,
}

/// Attributes of one primitive, dequantized, all of one length.
#[derive(Clone, Debug, Default)]
pub struct SourcePrimitive {
    /// Its index in the file's mesh.
    pub index: u32,
    /// Mesh space.
    pub positions: Vec<[f32; 3]>,
    /// Empty when the file has none.
    pub normals: Vec<[f32; 3]>,
    /// Of the base-colour texture's set, KHR_texture_transform applied; empty when unused.
    pub uvs: Vec<[f32; 2]>,
    /// Linear RGBA; empty when the file has none.
    pub colors: Vec<[f32; 4]>,
    /// Influences per vertex across all JOINTS_n/WEIGHTS_n sets: `(joint in skin, weight)` with
    /// weight above zero, joints repeated within a vertex merged, weights summing to one, at least
    /// one per vertex, each joint in the skin of every node that shows the mesh. Empty when the
    /// file has none. Without a skin they mean nothing.
    pub influences: Vec<Vec<(u16, f32)>>,
    /// Three per triangle; strips and fans are unrolled, missing indices made.
    pub indices: Vec<u32>,
    /// Index into [`Source::materials`].
    pub material: u32,
    /// Morph targets that the file has and that are not drawn.
    pub morph_targets: u32,
}

/// An animation.
#[derive(Clone, Debug)]
pub struct SourceAnimation {
    /// The file's name, or `animation_<index>`; made unique.
    pub name: String,
    /// Seconds: the largest sampler input of any channel, also of those left out.
    pub seconds: f32,
    /// Channels on nodes.
    pub channels: Vec<SourceChannel>,
    /// From the extras; times within the animation.
    pub notifies: Vec<ClipNotify>,
    /// From the extras; times within the animation, ascending, at most
    /// [`SourceAnimation::MOST_MARKERS`].
    pub sync_markers: Vec<ClipMarker>,
}

impl SourceAnimation {
    /// The most sync markers that an animation has.
    pub const MOST_MARKERS: usize = 8;
}

/// Which property a channel drives, with its key values.
#[derive(Clone, Debug)]
pub enum SourceValues {
    /// Metres.
    Translation(Vec<[f32; 3]>),
    /// xyzw as in the file (normalized integers decoded); not necessarily unit or hemisphere-aligned.
    Rotation(Vec<[f32; 4]>),
    /// Factors.
    Scale(Vec<[f32; 3]>),
}

/// How values between keys are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interpolation {
    /// The earlier key's value.
    Step,
    /// Linear, or slerp for rotations.
    Linear,
    /// Hermite; values come in threes: in-tangent, value, out-tangent.
    CubicSpline,
}

/// A channel.
#[derive(Clone, Debug)]
pub struct SourceChannel {
    /// The node it drives.
    pub node: NodeIndex,
    /// Between keys.
    pub interpolation: Interpolation,
    /// Seconds, at least one key, not decreasing.
    pub times: Vec<f32>,
    /// One per key, or three per key for a cubic spline.
    pub values: SourceValues,
}
