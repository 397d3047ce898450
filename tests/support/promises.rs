//! What a source promises, whatever file it came from.

use throng::asset::source::{Interpolation, NodeTransform, Source, SourceValues};

/// Holds a source to what its documentation promises.
pub fn check(source: &Source) {
    let nodes = source.nodes.len();
    for (at, node) in source.nodes.iter().enumerate() {
        for child in &node.children {
            assert_eq!(source.nodes[child.get()].parent.map(|p| p.get()), Some(at));
        }
        assert!(node.mesh.is_none_or(|mesh| (mesh as usize) < source.meshes.len()));
        assert!(node.skin.is_none_or(|skin| (skin as usize) < source.skins.len()));
        match node.rest {
            NodeTransform::Trs(trs) => {
                assert!(trs.is_finite() && (trs.rotation.length() - 1.0).abs() < 1e-5);
            }
            NodeTransform::Matrix(matrix) => {
                assert!(matrix.is_finite());
                assert_eq!(matrix.row(3).to_array(), [0.0, 0.0, 0.0, 1.0]);
            }
        }
        let mut steps = 0;
        let mut up = node.parent;
        while let Some(parent) = up {
            up = source.nodes[parent.get()].parent;
            steps += 1;
            assert!(steps <= nodes, "node {at} is on a cycle");
        }
    }
    for root in &source.scene_roots {
        assert!(root.get() < nodes);
    }
    for skin in &source.skins {
        assert_eq!(skin.joints.len(), skin.inverse_binds.len());
        assert!(skin.joints.iter().all(|joint| joint.get() < nodes));
        assert!(skin.inverse_binds.iter().all(|bind| bind.is_finite()));
    }
    for primitive in source.meshes.iter().flat_map(|mesh| &mesh.primitives) {
        let vertices = primitive.positions.len();
        let fits = |length: usize| length == 0 || length == vertices;
        assert!(vertices > 0 && primitive.indices.len().is_multiple_of(3));
        assert!(primitive.indices.iter().all(|&index| (index as usize) < vertices));
        assert!(fits(primitive.normals.len()) && fits(primitive.uvs.len()));
        assert!(fits(primitive.colors.len()) && fits(primitive.influences.len()));
        assert!((primitive.material as usize) < source.materials.len());
        let floats = [
            primitive.positions.as_flattened(),
            primitive.normals.as_flattened(),
            primitive.uvs.as_flattened(),
            primitive.colors.as_flattened(),
        ];
        assert!(floats.iter().all(|list| list.iter().all(|x| x.is_finite())));
        for influences in &primitive.influences {
            let sum: f32 = influences.iter().map(|&(_, weight)| weight).sum();
            assert!((sum - 1.0).abs() < 1e-4, "{influences:?}");
            assert!(influences.iter().all(|&(_, weight)| weight > 0.0));
            let mut joints: Vec<_> = influences.iter().map(|&(joint, _)| joint).collect();
            joints.sort_unstable();
            joints.dedup();
            assert_eq!(joints.len(), influences.len());
        }
    }
    for node in &source.nodes {
        if let (Some(mesh), Some(skin)) = (node.mesh, node.skin) {
            let joints = source.skins[skin as usize].joints.len();
            for primitive in &source.meshes[mesh as usize].primitives {
                let all = primitive.influences.iter().flatten();
                assert!(all.into_iter().all(|&(joint, _)| (joint as usize) < joints));
            }
        }
    }
    for material in &source.materials {
        for image in [material.base_color_image, material.metallic_roughness_image] {
            assert!(image.is_none_or(|image| (image as usize) < source.images.len()));
        }
    }
    for image in &source.images {
        assert_eq!(image.pixels.len(), (image.width * image.height * 4) as usize);
    }
    let mut names: Vec<_> = source.animations.iter().map(|a| &a.name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), source.animations.len());
    for animation in &source.animations {
        assert!(animation.seconds.is_finite() && animation.seconds >= 0.0);
        for channel in &animation.channels {
            assert!(channel.node.get() < nodes && !channel.times.is_empty());
            assert!(channel.times.windows(2).all(|pair| pair[0] <= pair[1]));
            assert!(channel.times.iter().all(|&time| time <= animation.seconds));
            let (values, finite) = match &channel.values {
                SourceValues::Translation(v) | SourceValues::Scale(v) => {
                    (v.len(), v.as_flattened().iter().all(|x| x.is_finite()))
                }
                SourceValues::Rotation(v) => {
                    (v.len(), v.as_flattened().iter().all(|x| x.is_finite()))
                }
            };
            assert!(finite);
            let per_key = match channel.interpolation {
                Interpolation::CubicSpline => 3,
                _ => 1,
            };
            assert_eq!(values, channel.times.len() * per_key);
        }
    }
}
