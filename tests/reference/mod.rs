//! Values of an independent evaluator, and how a report is held against them.

#[path = "../support/files.rs"]
mod files;

pub use files::shared;

use serde_json::Value;
use std::path::Path;
use throng::app::inspect::{InspectArgs, PoseArg, Report, examine};
use throng::asset::CharacterAsset;

/// Reads a JSON file.
pub fn json(path: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

/// What `inspect` says of a file with a pose for each of the expected samples.
pub fn inspect(
    file: &Path,
    checks: &Value,
    exact: bool,
) -> Result<(CharacterAsset, Report), String> {
    let samples = checks["samples"].as_array();
    let poses = samples.into_iter().flatten().map(|sample| PoseArg {
        clip: sample["clip"].as_u64().map_or("rest".into(), |clip| clip.to_string()),
        seconds: sample["t"].as_f64().unwrap() as f32,
    });
    let args = InspectArgs {
        file: file.to_owned(),
        poses: poses.collect(),
        vertices: true,
        exact,
        json: true,
        ..InspectArgs::default()
    };
    examine(&args).map_err(|failure| failure.to_string())
}

/// Collects what differs.
pub struct Differences {
    file: String,
    exact: bool,
    /// One line each.
    pub found: Vec<String>,
    /// How many numbers were compared.
    pub compared: usize,
}

impl Differences {
    /// None so far.
    pub fn new(file: &Path, exact: bool) -> Self {
        let file = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Self { file, exact, found: Vec::new(), compared: 0 }
    }

    fn add(&mut self, text: String) {
        let how = if self.exact { "exact" } else { "runtime" };
        self.found.push(format!("{} ({how}): {text}", self.file));
    }

    fn same<T: PartialEq + std::fmt::Debug>(&mut self, what: &str, got: T, want: T) {
        self.compared += 1;
        if got != want {
            self.add(format!("{what} is {got:?}, not {want:?}"));
        }
    }

    /// Compares everything that `checks` holds; `tolerance` is for a number of the given size.
    pub fn compare(&mut self, report: &Report, checks: &Value, tolerance: impl Fn(f64) -> f64) {
        for clip in list(&checks["clips"]) {
            let Some(got) = report.clips.get(index(&clip["index"])) else {
                self.add(format!("there is no clip {}", clip["index"]));
                continue;
            };
            if let Some(name) = clip["name"].as_str() {
                // A name that another clip has already is made unique by what follows it.
                let what = format!("{:?} a form of {name:?}", got.name);
                self.same(&what, got.name.starts_with(name), true);
            }
            let want = clip["duration"].as_f64().unwrap();
            let off = (f64::from(got.seconds) - want).abs();
            self.same(
                &format!("clip {} lasts {}", clip["index"], got.seconds),
                off <= 1e-5 * want.max(1.0),
                true,
            );
        }
        if let Some(skins) = checks["skins"].as_array() {
            self.same("the number of skins", report.skins.len(), skins.len());
        }
        for skin in list(&checks["skins"]) {
            let Some(got) = report.skins.get(index(&skin["index"])) else { continue };
            self.same("the number of joints", got.joints.len(), index(&skin["joint_count"]));
            for (got, want) in got.joints.iter().zip(list(&skin["joint_nodes"])) {
                // Long lists are cut off by a text.
                let Some(want) = want.as_u64() else { break };
                self.same("a joint", got.get(), want as usize);
            }
        }
        for mesh in list(&checks["meshes"]) {
            let node = index(&mesh["node"]);
            let Some(got) = report.meshes.iter().find(|m| m.node.get() == node) else {
                self.add(format!("node {node} shows no mesh"));
                continue;
            };
            let want: Vec<_> = list(&mesh["vertex_counts"]).map(index).collect();
            self.same("that there is a primitive", got.primitives.is_empty(), want.is_empty());
            // Points and lines are left out, so an index says which primitive it is.
            for p in &got.primitives {
                let want = want.get(p.index as usize).copied();
                self.same(&format!("the vertices of node {node}"), Some(p.vertices), want);
            }
        }
        for (sample, pose) in list(&checks["samples"]).zip(&report.poses) {
            let clip = sample["clip"].as_u64().map(|clip| clip as usize);
            let error = match clip.filter(|_| !self.exact) {
                Some(clip) => f64::from(report.clips[clip].max_error_m),
                None => 0.0,
            };
            let at = format!("clip {} at {}", sample["clip"], sample["t"]);
            let within = |got: f32, want: f64| {
                (f64::from(got) - want).abs() <= tolerance(want) + error && got.is_finite()
            };
            self.joints(sample, pose, &at, &within);
            self.vertices(sample, pose, &at, &within);
        }
    }

    fn joints(
        &mut self,
        sample: &Value,
        pose: &throng::app::inspect::PoseReport,
        at: &str,
        within: &impl Fn(f32, f64) -> bool,
    ) {
        for joint in list(&sample["joints"]) {
            let node = index(&joint["node"]);
            let Some(bone) = pose.bones.iter().find(|b| b.node.get() == node) else {
                self.add(format!("{at}: joint {node} is no bone"));
                continue;
            };
            let position = numbers(&joint["world_pos"]);
            let columns = numbers(&joint["world_matrix_columns"]);
            let got =
                bone.model[12..15].iter().zip(&position).chain(bone.model.iter().zip(&columns));
            for (got, want) in got {
                self.compared += 1;
                if !within(*got, *want) {
                    self.add(format!("{at}: joint {node} {} has {got}, not {want}", bone.name));
                }
            }
        }
    }

    fn vertices(
        &mut self,
        sample: &Value,
        pose: &throng::app::inspect::PoseReport,
        at: &str,
        within: &impl Fn(f32, f64) -> bool,
    ) {
        let close =
            |got: &[f32; 3], want: &[f64]| got.iter().zip(want).all(|(g, w)| within(*g, *w));
        let posed = pose.vertices.as_deref().unwrap_or_default();
        let find = |node: usize, primitive: usize| {
            posed.iter().find(|v| v.node.get() == node && v.primitive as usize == primitive)
        };
        let mut only_way = true;
        for vertex in list(&sample["vertices"]) {
            let (node, primitive) = (index(&vertex["node"]), index(&vertex["primitive"]));
            let i = index(&vertex["index"]);
            let Some(got) = find(node, primitive).and_then(|v| v.positions.get(i)) else {
                self.add(format!("{at}: no vertex {i} of node {node}, primitive {primitive}"));
                continue;
            };
            self.compared += 1;
            let want = numbers(&vertex["world_pos"]);
            let others: Vec<_> = list(&vertex["also_ok"]).map(numbers).collect();
            only_way &= others.is_empty();
            if !close(got, &want) && !others.iter().any(|other| close(got, other)) {
                self.add(format!("{at}: vertex {i} of node {node} is at {got:?}, not {want:?}"));
            }
        }
        for bounds in list(&sample["bounds"]).filter(|_| only_way) {
            let (node, primitive) = (index(&bounds["node"]), index(&bounds["primitive"]));
            let Some(got) = find(node, primitive) else { continue };
            let fold = |start: f32, pick: fn(f32, f32) -> f32| {
                got.positions
                    .iter()
                    .fold([start; 3], |a, p| std::array::from_fn(|i| pick(a[i], p[i])))
            };
            let (min, max) = (fold(f32::INFINITY, f32::min), fold(f32::NEG_INFINITY, f32::max));
            self.compared += 2;
            if !close(&min, &numbers(&bounds["min"])) || !close(&max, &numbers(&bounds["max"])) {
                self.add(format!("{at}: node {node} lies within {min:?} to {max:?}, not {bounds}"));
            }
        }
    }
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn index(value: &Value) -> usize {
    value.as_u64().unwrap_or_else(|| panic!("{value} is no index")) as usize
}

fn numbers(value: &Value) -> Vec<f64> {
    list(value).map(|v| v.as_f64().unwrap()).collect()
}
