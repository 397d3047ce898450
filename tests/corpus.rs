//! Real characters against the values of an independent evaluator, and against their own bounds.

#![allow(clippy::unwrap_used, clippy::panic, reason = "what is missing or wrong fails the test")]

mod reference;

use reference::{Differences, inspect, json, shared};
use serde_json::Value;
use std::path::{Path, PathBuf};
use throng::asset::{self, AssetError, BUILTINS, CharacterAsset};
use throng::index::ClipId;
use throng::math::Mat3x4;

/// The characters of the corpus, by the name of their folder.
fn files(folder: &Path) -> Vec<(String, PathBuf)> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()) {
        let is_model = |path: &PathBuf| {
            path.extension().is_some_and(|e| e == "glb" || e == "gltf" || e == "vrm")
        };
        let inside = std::fs::read_dir(&entry).into_iter().flatten().map(|e| e.unwrap().path());
        let id = entry.file_name().unwrap().to_string_lossy().into_owned();
        files.extend(inside.filter(is_model).map(|path| (id.clone(), path)));
    }
    files.sort();
    files
}

/// Largest extent of what the first sample says of the rest pose; one when it says nothing.
fn size(checks: &Value) -> f64 {
    let bounds = checks["samples"][0]["bounds"].as_array();
    let extent =
        |b: &Value, i: usize| b["max"][i].as_f64().unwrap() - b["min"][i].as_f64().unwrap();
    let extents = bounds.into_iter().flatten().flat_map(|b| (0..3).map(move |i| extent(b, i)));
    let size = extents.fold(0.0, f64::max);
    if size > 0.0 { size } else { 1.0 }
}

#[test]
fn every_character_agrees_with_its_expected_values() {
    let Some(folder) = shared("corpus") else { return };
    let (mut wrong, mut compared, mut checked) = (Vec::new(), 0, 0);
    for (id, file) in files(&folder) {
        let expected = folder.join("expected").join(format!("{id}.json"));
        if !expected.is_file() {
            continue;
        }
        let expected = json(&expected);
        let (checks, relative) = (&expected["checks"], expected["tolerance_rel"].as_f64().unwrap());
        let size = size(checks);
        for exact in [true, false] {
            match inspect(&file, checks, exact) {
                Err(error) => wrong.push(format!("{id}: refused: {error}")),
                Ok((_, report)) => {
                    let mut differences = Differences::new(&file, exact);
                    differences.compare(&report, checks, |_| relative * size);
                    compared += differences.compared;
                    wrong.extend(differences.found);
                }
            }
        }
        checked += 1;
    }
    println!("{compared} values of {checked} characters compared");
    assert!(checked >= 36 && compared > 10_000, "{checked} characters, {compared} values");
    assert!(wrong.is_empty(), "{} differences:\n{}", wrong.len(), wrong.join("\n"));
}

/// Every character there is: built-in, then the corpus'.
fn characters() -> Vec<(String, Result<CharacterAsset, AssetError>)> {
    let builtin = |(name, _): &(&str, _)| Some((name.to_string(), asset::builtin(name)?));
    let mut characters: Vec<_> = BUILTINS.iter().filter_map(builtin).collect();
    if let Some(folder) = shared("corpus") {
        let loaded = files(&folder).into_iter().map(|(id, path)| (id, asset::load(&path)));
        characters.extend(loaded);
    }
    characters
}

#[test]
fn no_vertex_leaves_the_bounds_at_any_time_of_any_clip() {
    let mut random = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = move || {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        (random >> 40) as f32 / (1 << 24) as f32
    };
    let mut looked = 0;
    for (id, character) in characters() {
        let Ok(character) = character else { continue };
        let rig = character.rig().unwrap();
        let looks = (400 / character.clips.len().max(1)).clamp(6, 100);
        let mut reached = character.bounds.min.min(character.bounds.max);
        let mut reached_max = reached;
        let mut first = true;
        let mut look = |palette: &[Mat3x4], what: &str| {
            let palette: Vec<_> = palette.iter().map(|m| m.to_affine()).collect();
            for primitive in &character.primitives {
                for vertex in asset::skinning::skin_primitive(primitive, &palette) {
                    assert!(
                        character.bounds.contains(vertex.into(), 0.0),
                        "{id}, {what}: a vertex is at {vertex}, outside {:?}",
                        character.bounds
                    );
                    if std::mem::take(&mut first) {
                        (reached, reached_max) = (vertex.into(), vertex.into());
                    }
                    reached = reached.min(vertex.into());
                    reached_max = reached_max.max(vertex.into());
                    looked += 1;
                }
            }
        };
        // A rig gives its rest pose for a clip that it does not have.
        look(&rig.sample_palette(ClipId(u16::MAX), 0.0), "rest");
        for (index, clip) in character.clips.iter().enumerate() {
            for _ in 0..looks {
                let seconds = next() * clip.seconds();
                let palette = rig.sample_palette(ClipId(index as u16), seconds);
                look(&palette, &format!("{} at {seconds}", clip.name));
            }
        }
        // Bounds that hold everything by being huge would hold nothing worth knowing.
        let (got, most) = (reached_max - reached, character.bounds.size());
        let loose = (most - got * 1.15).max_element() / most.max_element().max(1e-9);
        assert!(loose < 0.05, "{id}: bounds of {most} around vertices within {got}");
    }
    println!("{looked} posed vertices were inside their bounds");
    assert!(looked > 0);
}
