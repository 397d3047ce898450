//! The `inspect` command as a user runs it: output, exit status, and the one line for a fault.

#![allow(clippy::unwrap_used, clippy::panic, reason = "what is missing or wrong fails the test")]

use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};

fn throng(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_throng")).args(args).output().unwrap()
}

fn built_in(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets").join(name);
    path.to_string_lossy().into_owned()
}

/// Nothing on standard output, one line on standard error that holds all of `words`.
fn assert_refused(output: &Output, status: i32, words: &[&str]) {
    let line = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(status), "{line}");
    assert!(output.stdout.is_empty() && line.trim_end().lines().count() == 1, "{line}");
    for word in words {
        assert!(line.contains(word), "{line:?} lacks {word:?}");
    }
}

#[test]
fn a_broken_file_is_one_line_and_status_1() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        path.to_string_lossy().into_owned()
    };
    let whole = std::fs::read(built_in("humanoid.glb")).unwrap();
    let cut = write("cut.glb", &whole[..whole.len() / 2]);
    assert_refused(&throng(&["inspect", &cut]), 1, &["cut.glb", "cut off"]);
    let text = write("notes.glb", b"not a model\nat all\n");
    assert_refused(&throng(&["inspect", &text, "--json"]), 1, &["notes.glb"]);
    let empty = write("empty.glb", b"");
    assert_refused(&throng(&["inspect", &empty]), 1, &["empty.glb", "empty"]);
    let here = folder.path().to_string_lossy();
    assert_refused(&throng(&["inspect", &here]), 1, &["folder"]);
    assert_refused(&throng(&["inspect", "no/such.glb"]), 1, &["no/such.glb"]);
}

#[test]
fn a_wrong_command_line_is_one_line_and_status_2() {
    let file = built_in("humanoid.glb");
    assert_refused(&throng(&["inspect"]), 2, &["FILE"]);
    assert_refused(&throng(&["inspect", &file, "--pose", "walk_fwd"]), 2, &["CLIP@SECONDS"]);
    let missing = throng(&["inspect", &file, "--pose", "moonwalk@1"]);
    assert_refused(&missing, 2, &["moonwalk", "walk_fwd"]);
}

#[test]
fn the_json_has_what_is_documented_and_clamps_time() {
    let file = built_in("humanoid.glb");
    let args = [
        "inspect",
        &file,
        "--json",
        "--vertices",
        "--pose",
        "walk_fwd@0.4",
        "--pose",
        "rest@0",
        "--pose",
        "1@1e6",
        "--pose",
        "walk_fwd@-3",
        "--pose",
        "walk_fwd@0",
    ];
    let output = throng(&args);
    assert!(output.status.success() && output.stderr.is_empty());
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let bones = report["skeleton"]["bones"].as_array().unwrap();
    assert!(bones.len() > 50);
    for key in ["index", "name", "parent", "node"] {
        assert!(bones[1].get(key).is_some(), "bones lack {key}");
    }
    assert!(report["skeleton"]["low_detail_bone_count"].as_u64().unwrap() < bones.len() as u64);
    assert_eq!(report["skins"][0]["joints"].as_array().unwrap().len(), bones.len());
    for key in [
        "index",
        "name",
        "seconds",
        "rate_hz",
        "max_error_m",
        "resampling_error_m",
        "i16_error_m",
        "store",
    ] {
        assert!(report["clips"][0].get(key).is_some(), "clips lack {key}");
    }
    let primitive = &report["meshes"][0]["primitives"][0];
    for key in ["index", "vertices", "triangles", "influences_max", "skin"] {
        assert!(primitive.get(key).is_some(), "primitives lack {key}");
    }
    assert!(report["bounds"]["radius"].as_f64().unwrap() > 0.5);
    assert_eq!(report["bounds"]["center"].as_array().unwrap().len(), 3);
    assert!(report["warnings"].is_array());

    let poses = report["poses"].as_array().unwrap();
    assert_eq!((poses.len(), &poses[1]["clip"]), (5, &Value::Null));
    assert_eq!(poses[0]["bones"][3]["model"].as_array().unwrap().len(), 16);
    let positions = poses[0]["vertices"][0]["positions"].as_array().unwrap();
    assert_eq!(positions.len() as u64, primitive["vertices"].as_u64().unwrap());
    assert_ne!(poses[0]["bones"], poses[1]["bones"]);
    assert_ne!(poses[2]["bones"], poses[4]["bones"], "the end of a walk is not its start");
    assert_eq!(poses[3]["bones"], poses[4]["bones"], "time is clamped");
}

#[test]
fn exact_poses_differ_from_played_ones_by_no_more_than_is_said() {
    let file = built_in("quadruped.glb");
    let poses = ["0@0.37", "1@0.21", "2@0.11", "3@0.3"];
    let mut args = vec!["inspect", &file, "--json", "--vertices"];
    args.extend(poses.iter().flat_map(|pose| ["--pose", pose]));
    let read = |args: &[&str]| -> Value { serde_json::from_slice(&throng(args).stdout).unwrap() };
    let played = read(&args);
    args.push("--exact");
    let exact = read(&args);
    let mut differs = false;
    for (index, (played_pose, exact_pose)) in played["poses"]
        .as_array()
        .unwrap()
        .iter()
        .zip(exact["poses"].as_array().unwrap())
        .enumerate()
    {
        let said = played["clips"][index]["max_error_m"].as_f64().unwrap();
        let (a, b) = (&played_pose["vertices"][0], &exact_pose["vertices"][0]);
        for (a, b) in
            a["positions"].as_array().unwrap().iter().zip(b["positions"].as_array().unwrap())
        {
            let off: f64 =
                (0..3).map(|i| (a[i].as_f64().unwrap() - b[i].as_f64().unwrap()).powi(2)).sum();
            differs |= off > 0.0;
            assert!(off.sqrt() <= said, "clip {index}: {} off, {said} said", off.sqrt());
        }
    }
    assert!(differs, "exact poses came from the same evaluation");
}

#[test]
fn clips_are_kept_as_asked_for_and_short_ones_take_half_the_memory() {
    let read = |store: &str| -> Value {
        let args =
            ["inspect", "humanoid", "--json", "--pose", "walk_fwd@0.33", "--clip-store", store];
        serde_json::from_slice(&throng(&args).stdout).unwrap()
    };
    let (auto, short, long) = (read("auto"), read("i16"), read("f32"));
    for (clips, store) in [(&auto, "i16"), (&short, "i16"), (&long, "f32")] {
        for clip in clips["clips"].as_array().unwrap() {
            assert_eq!(clip["store"], store);
            match clip["i16_error_m"].as_f64() {
                Some(error) => assert!(store == "i16" && error > 0.0 && error < 1e-4, "{clip}"),
                None => {
                    assert!(store == "f32" && clip["max_error_m"] == clip["resampling_error_m"])
                }
            }
        }
    }
    let bytes = |report: &Value| report["memory"]["clip_bytes"].as_u64().unwrap();
    assert!(bytes(&short) * 100 < bytes(&long) * 51, "{} of {}", bytes(&short), bytes(&long));
    assert_eq!(auto["poses"], short["poses"]);
    let mut apart = 0.0_f64;
    let bones = |report: &Value| report["poses"][0]["bones"].as_array().unwrap().clone();
    for (a, b) in bones(&short).iter().zip(&bones(&long)) {
        for at in 12..15 {
            let off = a["model"][at].as_f64().unwrap() - b["model"][at].as_f64().unwrap();
            apart = apart.max(off.abs());
        }
    }
    assert!(apart > 0.0 && apart < 1e-4, "bones are {apart} m apart");
}

#[test]
fn tables_are_printed_without_json() {
    let output = throng(&["inspect", "humanoid"]);
    let text = String::from_utf8(output.stdout).unwrap();
    for word in
        ["humanoid", "low detail", "px", "Bones", "Clips", "walk_fwd", "Meshes", "Materials"]
    {
        assert!(text.contains(word), "no {word} in:\n{text}");
    }
}
