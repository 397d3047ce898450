//! The same numbers from two readers: ours and the `gltf` crate's, which shares no code with it.

#![allow(clippy::unwrap_used, clippy::panic, reason = "what is missing or wrong fails the test")]

mod support;

use base64::Engine;
use gltf::animation::util::ReadOutputs;
use gltf::mesh::Mode;
use gltf::{Gltf, buffer};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use support::promises::check;
use support::shared;
use throng::asset::source::{
    NodeTransform, Source, SourceChannel, SourcePrimitive, SourceSkin, SourceValues,
};

/// Files that the crate can't read though they are valid, or that ask for what it doesn't know.
const UNREADABLE: &[(&str, &str)] = &[
    ("24_animation_pointer.gltf", "a channel without a node"),
    ("animation_pointer_ignored.glb", "a channel without a node"),
    ("derived_gltfpack_meshopt_Knight", "compressed views"),
    ("json_bad_utf8.glb", "bytes in a name that are not UTF-8"),
];

/// The bytes of a file's buffers, or `None` when one isn't there.
fn buffers(document: &Gltf, folder: &Path) -> Option<Vec<Vec<u8>>> {
    document
        .buffers()
        .map(|buffer| match buffer.source() {
            buffer::Source::Bin => document.blob.clone(),
            buffer::Source::Uri(uri) => match uri.split_once(";base64,") {
                Some((_, data)) => base64::prelude::BASE64_STANDARD.decode(data).ok(),
                None => {
                    let name = percent_encoding::percent_decode_str(uri).decode_utf8().unwrap();
                    std::fs::read(folder.join(&*name)).ok()
                }
            },
        })
        .collect()
}

fn compare(source: &Source, document: &Gltf, data: &[Vec<u8>]) {
    let bytes = |buffer: gltf::Buffer| data.get(buffer.index()).map(Vec::as_slice);
    for (ours, theirs) in source.nodes.iter().zip(document.nodes()) {
        assert_eq!(ours.mesh, theirs.mesh().map(|mesh| mesh.index() as u32));
        assert_eq!(ours.skin, theirs.skin().map(|skin| skin.index() as u32));
        let children: Vec<_> = theirs.children().map(|child| child.index()).collect();
        assert_eq!(ours.children.iter().map(|child| child.get()).collect::<Vec<_>>(), children);
        match ours.rest {
            NodeTransform::Trs(trs) => {
                let (translation, rotation, scale) = theirs.transform().decomposed();
                assert_eq!(trs.translation.to_array(), translation);
                close(&trs.rotation.to_array(), &rotation, "rotation");
                close(&trs.scale.to_array(), &scale, "scale");
            }
            NodeTransform::Matrix(matrix) => {
                assert_eq!(matrix.to_cols_array_2d(), theirs.transform().matrix());
            }
        }
    }
    for (ours, theirs) in source.skins.iter().zip(document.skins()) {
        compare_skin(ours, &theirs, bytes);
    }
    for (ours, theirs) in source.meshes.iter().zip(document.meshes()) {
        for primitive in &ours.primitives {
            let theirs = theirs.primitives().nth(primitive.index as usize).unwrap();
            compare_primitive(primitive, &theirs, bytes);
        }
    }
    for (ours, theirs) in source.animations.iter().zip(document.animations()) {
        let mut seconds = 0f32;
        for sampler in theirs.samplers() {
            let accessor = sampler.input();
            let times = gltf::accessor::Iter::<f32>::new(accessor, bytes).unwrap();
            seconds = times.fold(seconds, f32::max);
        }
        assert_eq!(ours.seconds, seconds);
        let channels: Vec<_> = theirs
            .channels()
            .filter(|c| c.target().property() != gltf::animation::Property::MorphTargetWeights)
            .collect();
        assert_eq!(ours.channels.len(), channels.len());
        for (ours, theirs) in ours.channels.iter().zip(&channels) {
            compare_channel(ours, theirs, bytes);
        }
    }
}

fn compare_skin<'a, 's>(
    ours: &SourceSkin,
    theirs: &'a gltf::Skin<'a>,
    bytes: impl Clone + Fn(gltf::Buffer<'a>) -> Option<&'s [u8]>,
) {
    let joints: Vec<_> = theirs.joints().map(|joint| joint.index()).collect();
    assert_eq!(ours.joints.iter().map(|joint| joint.get()).collect::<Vec<_>>(), joints);
    if let Some(matrices) = theirs.reader(bytes).read_inverse_bind_matrices() {
        for (ours, theirs) in ours.inverse_binds.iter().zip(matrices) {
            close(&ours.to_cols_array(), theirs.as_flattened(), "inverse bind");
        }
    }
}

fn compare_primitive<'a, 's>(
    ours: &SourcePrimitive,
    theirs: &'a gltf::Primitive<'a>,
    bytes: impl Clone + Fn(gltf::Buffer<'a>) -> Option<&'s [u8]>,
) {
    // Its readers take floats only where KHR_mesh_quantization allows more.
    let float = |semantic: gltf::Semantic| {
        theirs.get(&semantic).is_some_and(|a| a.data_type() == gltf::accessor::DataType::F32)
    };
    let reader = theirs.reader(bytes);
    if float(gltf::Semantic::Positions) {
        let positions: Vec<_> = reader.read_positions().unwrap().collect();
        assert_eq!(ours.positions, positions);
    }
    if float(gltf::Semantic::Normals) {
        assert_eq!(ours.normals, reader.read_normals().unwrap().collect::<Vec<_>>());
    }
    if let Some(colors) = reader.read_colors(0) {
        for (ours, theirs) in ours.colors.iter().zip(colors.into_rgba_f32()) {
            close(ours, &theirs, "colour");
        }
    }
    if let Some(indices) = reader.read_indices()
        && theirs.mode() == Mode::Triangles
    {
        assert_eq!(ours.indices, indices.into_u32().collect::<Vec<_>>());
    }
    let mut vertices: Vec<BTreeMap<u16, f64>> = vec![BTreeMap::new(); ours.influences.len()];
    for set in 0.. {
        let (Some(joints), Some(weights)) = (reader.read_joints(set), reader.read_weights(set))
        else {
            break;
        };
        let sets = joints.into_u16().zip(weights.into_f32());
        for (vertex, (joints, weights)) in vertices.iter_mut().zip(sets) {
            for (joint, weight) in joints.into_iter().zip(weights) {
                *vertex.entry(joint).or_default() += f64::from(weight);
            }
        }
    }
    for (ours, theirs) in ours.influences.iter().zip(&vertices) {
        let sum: f64 = theirs.values().sum();
        if sum < 1e-6 {
            continue;
        }
        let moving = theirs.iter().filter(|&(_, &weight)| weight > 0.0);
        assert_eq!(ours.len(), moving.count());
        for &(joint, weight) in ours {
            let want = theirs[&joint] / sum;
            assert!((f64::from(weight) - want).abs() < 1e-6, "joint {joint}: {weight}, {want}");
        }
    }
}

fn compare_channel<'a, 's>(
    ours: &SourceChannel,
    theirs: &gltf::animation::Channel<'a>,
    bytes: impl Clone + Fn(gltf::Buffer<'a>) -> Option<&'s [u8]>,
) {
    assert_eq!(ours.node.get(), theirs.target().node().index());
    let reader = theirs.reader(bytes);
    assert_eq!(ours.times, reader.read_inputs().unwrap().collect::<Vec<_>>());
    match (&ours.values, reader.read_outputs().unwrap()) {
        (SourceValues::Translation(ours), ReadOutputs::Translations(theirs)) => {
            assert_eq!(*ours, theirs.collect::<Vec<_>>());
        }
        (SourceValues::Scale(ours), ReadOutputs::Scales(theirs)) => {
            assert_eq!(*ours, theirs.collect::<Vec<_>>());
        }
        (SourceValues::Rotation(ours), ReadOutputs::Rotations(theirs)) => {
            let theirs: Vec<_> = theirs.into_f32().collect();
            assert_eq!(ours.len(), theirs.len());
            for (ours, theirs) in ours.iter().zip(&theirs) {
                close(ours, theirs, "rotation");
            }
        }
        _ => panic!("the channels drive different properties"),
    }
}

/// Equal to rounding: both may divide and multiply in another order.
#[track_caller]
fn close(ours: &[f32], theirs: &[f32], what: &str) {
    for (ours, theirs) in ours.iter().zip(theirs) {
        let difference = (ours - theirs).abs();
        assert!(difference <= 1e-5 * theirs.abs().max(1.0), "{what}: {ours}, {theirs}");
    }
}

/// glTF files of a folder and of the folders in it.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let extension = path.extension().and_then(|e| e.to_str()).unwrap_or_default();
        if path.is_dir() {
            found.extend(files(&path));
        } else if ["glb", "gltf", "vrm"].contains(&extension) {
            found.push(path);
        }
    }
    found.sort_unstable();
    found
}

#[test]
fn both_readers_give_the_same_numbers() {
    let mut all = files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("assets"));
    assert!(!all.is_empty());
    for folder in ["corpus", "cases"] {
        all.extend(shared(folder).iter().flat_map(|folder| files(folder)));
    }
    let total = all.len();
    let mut compared = 0;
    for file in all {
        let name = file.display().to_string();
        if UNREADABLE.iter().any(|(part, _)| name.contains(part)) {
            continue;
        }
        let Ok(source) = throng::asset::gltf::read(&file) else { continue };
        let bytes = std::fs::read(&file).unwrap();
        let document = match Gltf::from_slice_without_validation(&bytes) {
            Ok(document) => document,
            Err(error) => panic!("{name}: {error}"),
        };
        let Some(data) = buffers(&document, file.parent().unwrap()) else { continue };
        println!("{name}");
        check(&source);
        compare(&source, &document, &data);
        compared += 1;
    }
    println!("{compared} of {total} files compared");
    assert!(compared * 10 >= total * 7, "only {compared} of {total}");
}
