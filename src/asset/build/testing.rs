//! Small sources made by hand, for the tests of this folder.

use super::super::source::{
    Interpolation, NodeTransform, Source, SourceAnimation, SourceChannel, SourceMesh, SourceNode,
    SourcePrimitive, SourceSkin, SourceValues,
};
use crate::index::NodeIndex;
use crate::math::Trs;
use glam::{Mat4, Quat, Vec3};

/// Builds a node hierarchy, every node one metre above its parent.
pub struct Tree(Source);

impl Tree {
    /// `n` nodes, each the child of the one before.
    pub fn chain(n: u32) -> Self {
        let mut tree = Self(Source::default()).root();
        for i in 1..n {
            tree = tree.child(i - 1);
        }
        tree
    }

    fn push(&mut self, parent: Option<NodeIndex>) {
        let index = self.0.nodes.len();
        self.0.nodes.push(SourceNode {
            name: format!("node_{index}"),
            parent,
            children: vec![],
            rest: NodeTransform::Trs(Trs { translation: Vec3::Y, ..Trs::IDENTITY }),
            mesh: None,
            skin: None,
        });
    }

    /// Adds a node to the scene.
    pub fn root(mut self) -> Self {
        self.0.scene_roots.push(NodeIndex(self.0.nodes.len() as u32));
        self.push(None);
        self
    }

    /// Adds a node under another.
    pub fn child(mut self, parent: u32) -> Self {
        let index = NodeIndex(self.0.nodes.len() as u32);
        self.0.nodes[parent as usize].children.push(index);
        self.push(Some(NodeIndex(parent)));
        self
    }

    /// Adds a skin whose bind pose is the rest pose (of translations only).
    pub fn joints(mut self, nodes: &[u32]) -> Self {
        let depth = |mut n: u32| {
            let mut y = 1.0;
            while let Some(p) = self.0.nodes[n as usize].parent {
                (n, y) = (p.0, y + 1.0);
            }
            y
        };
        let inverse_binds =
            nodes.iter().map(|&n| Mat4::from_translation(Vec3::new(0.0, -depth(n), 0.0))).collect();
        let joints = nodes.iter().copied().map(NodeIndex).collect();
        self.0.skins.push(SourceSkin { name: String::new(), joints, inverse_binds });
        self
    }

    /// Gives a node a mesh of one rigid triangle.
    pub fn mesh(mut self, node: u32) -> Self {
        let positions = vec![[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
        self.0.nodes[node as usize].mesh = Some(self.0.meshes.len() as u32);
        let primitive = SourcePrimitive { positions, indices: vec![0, 1, 2], ..Default::default() };
        self.0.meshes.push(SourceMesh { name: String::new(), primitives: vec![primitive] });
        self
    }

    /// A ribbon in the xy plane worn by node `node` with skin 0: one quad per joint of the skin,
    /// each from one metre to the next and `widths[i]` wide, whole on its joint.
    pub fn ribbon(mut self, node: u32, widths: &[f32]) -> Self {
        let mut p = SourcePrimitive::default();
        for (i, &w) in widths.iter().enumerate() {
            let (y, first) = (i as f32 + 1.0, p.positions.len() as u32);
            p.positions.extend([
                [0.0, y, 0.0],
                [w, y, 0.0],
                [w, y + 1.0, 0.0],
                [0.0, y + 1.0, 0.0],
            ]);
            p.influences.extend(vec![vec![(i as u16, 1.0)]; 4]);
            p.indices.extend([0, 1, 2, 0, 2, 3].map(|k| first + k));
        }
        self.0.nodes[node as usize].mesh = Some(self.0.meshes.len() as u32);
        self.0.nodes[node as usize].skin = Some(0);
        self.0.meshes.push(SourceMesh { name: String::new(), primitives: vec![p] });
        self
    }

    /// The finished source.
    pub fn source(self) -> Source {
        self.0
    }
}

/// A clip of one second that moves a node by one metre along x.
pub fn slide(node: u32) -> SourceAnimation {
    let values = SourceValues::Translation(vec![[0.0, 1.0, 0.0], [1.0, 1.0, 0.0]]);
    animation("slide", node, Interpolation::Linear, &[0.0, 1.0], values)
}

/// Keys of a rotation about z, by angle in radians.
pub fn turns(angles: &[f32]) -> SourceValues {
    SourceValues::Rotation(angles.iter().map(|&a| Quat::from_rotation_z(a).to_array()).collect())
}

/// Four bones in a chain that wear a ribbon, and a clip that bends them all.
pub fn bending(name: &str, interpolation: Interpolation, times: &[f32], angles: &[f32]) -> Source {
    let mut source = Tree::chain(4).root().joints(&[0, 1, 2, 3]).ribbon(4, &[1.0; 4]).source();
    let mut clip = animation(name, 0, interpolation, times, turns(angles));
    for node in 1..4 {
        clip.channels.push(SourceChannel { node: NodeIndex(node), ..clip.channels[0].clone() });
    }
    source.animations.push(clip);
    source
}

/// A clip of one channel.
pub fn animation(
    name: &str,
    node: u32,
    interpolation: Interpolation,
    times: &[f32],
    values: SourceValues,
) -> SourceAnimation {
    let channel =
        SourceChannel { node: NodeIndex(node), interpolation, times: times.to_vec(), values };
    let seconds = times[times.len() - 1];
    let (notifies, sync_markers) = (Vec::new(), Vec::new());
    SourceAnimation { name: name.into(), seconds, channels: vec![channel], notifies, sync_markers }
}
