//! Every shared case and every corpus file is read, or refused with a reason that names the fault.

#![allow(clippy::unwrap_used, clippy::panic, reason = "what is missing or wrong fails the test")]

mod support;

use std::fs;
use std::path::Path;
use support::promises::check;
use support::shared;
use throng::asset::gltf;
use throng::asset::source::Source;

fn json(path: &Path) -> serde_json::Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

/// Words that the message of a refused case has to hold.
const NAMED: &[(&str, &[&str])] = &[
    ("accessor_count_huge", &["accessor", "1099511627776"]),
    ("asset_version_1", &["1.0"]),
    ("attribute_counts_differ", &["WEIGHTS_0", "primitive 0"]),
    ("buffer_file_too_short", &["buffer 0", "130", "byteLength", "Git LFS"]),
    ("draco_required", &["KHR_draco_mesh_compression"]),
    ("empty_file", &["empty"]),
    ("ext_required_unknown", &["ACME_teleport"]),
    ("glb_chunk_length_huge", &["chunk 0", "4294967280"]),
    ("glb_truncated_header", &["header", "10"]),
    ("ibm_accessor_wrong_type", &["inverse bind", "VEC4", "MAT4"]),
    ("ibm_too_few", &["inverse bind", "2", "3"]),
    ("inf_key_time", &["key times", "inf"]),
    ("node_two_parents", &["node 2", "two parents"]),
    ("output_count_mismatch", &["2 values", "3"]),
    ("skin_index_out_of_range", &["node 3", "skin is 5"]),
    ("weights_nan", &["WEIGHTS_0", "NaN"]),
];

#[test]
fn every_case_is_read_or_refused_as_its_sidecar_says() {
    let Some(folder) = shared("cases") else { return };
    let mut count = 0;
    for entry in fs::read_dir(&folder).unwrap() {
        let sidecar = entry.unwrap().path();
        if sidecar.extension().is_none_or(|extension| extension != "json") {
            continue;
        }
        let case = json(&sidecar);
        let file = folder.join(case["file"].as_str().unwrap());
        let stem = sidecar.file_stem().unwrap().to_str().unwrap();
        let words = NAMED.iter().find(|(name, _)| *name == stem).map(|(_, words)| *words);
        match (gltf::read(&file), case["expect"].as_str().unwrap()) {
            (Ok(source), "ok" | "ok_or_error") => {
                assert!(words.is_none(), "{stem} was read");
                check(&source);
                check_counts(&source, &case["checks"], stem);
            }
            (Err(error), "error" | "ok_or_error") => {
                let message = error.to_string();
                println!("{message}");
                let words = words.unwrap_or_else(|| panic!("{stem} was refused: {message}"));
                for word in words {
                    assert!(message.contains(word), "{stem}: {word:?} is not in {message}");
                }
            }
            (Ok(_), expect) => panic!("{stem} was read, but expects {expect}"),
            (Err(error), expect) => panic!("{stem} expects {expect}, but: {error}"),
        }
        count += 1;
    }
    assert!(count >= 60, "only {count} cases");
}

/// Clips, skins and vertex counts as far as a sidecar gives them.
fn check_counts(source: &Source, checks: &serde_json::Value, stem: &str) {
    for clip in checks["clips"].as_array().into_iter().flatten() {
        let animation = &source.animations[clip["index"].as_u64().unwrap() as usize];
        let want = clip["duration"].as_f64().unwrap();
        assert!((f64::from(animation.seconds) - want).abs() < 1e-4 * want.max(1.0), "{stem}");
    }
    for mesh in checks["meshes"].as_array().into_iter().flatten() {
        let node = &source.nodes[mesh["node"].as_u64().unwrap() as usize];
        let primitives = &source.meshes[node.mesh.unwrap() as usize].primitives;
        let counts = mesh["vertex_counts"].as_array().unwrap();
        for primitive in primitives {
            let want = counts[primitive.index as usize].as_u64().unwrap();
            assert_eq!(primitive.positions.len() as u64, want, "{stem}");
        }
    }
    for skin in checks["skins"].as_array().into_iter().flatten() {
        let index = skin["index"].as_u64().unwrap() as usize;
        let joints: Vec<u64> =
            source.skins[index].joints.iter().map(|joint| u64::from(joint.0)).collect();
        assert_eq!(joints.len() as u64, skin["joint_count"].as_u64().unwrap(), "{stem}");
        // Long lists end in an ellipsis.
        let want: Vec<u64> =
            skin["joint_nodes"].as_array().unwrap().iter().map_while(|n| n.as_u64()).collect();
        assert_eq!(joints[..want.len()], want, "{stem}");
    }
}

#[test]
fn every_corpus_file_is_read_or_refused_with_its_reason() {
    let Some(folder) = shared("corpus") else { return };
    let mut count = 0;
    for entry in fs::read_dir(&folder).unwrap() {
        let folder = entry.unwrap().path();
        let id = folder.file_name().unwrap().to_str().unwrap().to_owned();
        if !folder.is_dir() || id == "expected" {
            continue;
        }
        for file in fs::read_dir(&folder).unwrap() {
            let file = file.unwrap().path();
            let extension = file.extension().and_then(|e| e.to_str()).unwrap_or_default();
            if !["glb", "gltf", "vrm"].contains(&extension) {
                continue;
            }
            count += 1;
            match gltf::read(&file) {
                Ok(source) => {
                    check(&source);
                    for warning in &source.warnings {
                        println!("{id}: {warning}");
                    }
                }
                Err(error) if id.starts_with("BROKEN") => {
                    assert!(error.to_string().contains("Git LFS"), "{error}");
                }
                Err(error) if id.ends_with("draco") => {
                    assert!(error.to_string().contains("KHR_draco_mesh_compression"), "{error}");
                }
                Err(error) => panic!("{id}: {error}"),
            }
        }
    }
    assert!(count >= 35, "only {count} files");
}
