//! Animations: key times checked, values as many as their keys ask for.

use super::accessor::Accessors;
use super::json::{Animation, AnimationSampler, Root};
use super::json_types::Index;
use super::nodes;
use super::warnings::Warnings;
use crate::asset::error::{Fault, counted, object, quoted};
use crate::asset::source::{Interpolation, SourceAnimation, SourceChannel, SourceValues};
use crate::index::NodeIndex;
use glam::DVec4;
use std::collections::{HashMap, HashSet};

/// Reads all animations.
///
/// # Errors
/// References out of range, key times that are not finite or go backwards, another number of
/// values than the keys ask for, numbers that are not finite.
pub(super) fn read(
    root: &Root,
    accessors: &Accessors,
    warnings: &mut Warnings,
) -> Result<Vec<SourceAnimation>, Fault> {
    let names = unique_names(root);
    let mut animations = Vec::with_capacity(root.animations.len());
    let mut skipped = Skipped::default();
    for (at, (json, name)) in root.animations.iter().zip(names).enumerate() {
        animations.push(read_one(root, at, json, name, accessors, &mut skipped, warnings)?);
    }
    skipped.warn(warnings);
    Ok(animations)
}

fn read_one(
    root: &Root,
    at: usize,
    json: &Animation,
    name: String,
    accessors: &Accessors,
    skipped: &mut Skipped,
    warnings: &mut Warnings,
) -> Result<SourceAnimation, Fault> {
    let user = || object("animation", at, json.name.as_deref());
    // Samplers without a channel count too: they are part of how long the animation is.
    let mut times = Vec::with_capacity(json.samplers.len());
    for (sampler, keys) in json.samplers.iter().enumerate() {
        let object = || format!("{} sampler {sampler}", user());
        times.push(key_times(keys.input, accessors, &object)?);
    }
    let last = |times: &Vec<f32>| times.last().copied();
    let seconds = times.iter().filter_map(last).fold(0.0, f32::max);

    let mut channels: Vec<SourceChannel> = Vec::new();
    let mut placed: HashMap<(usize, &str), usize> = HashMap::new();
    for (channel, target) in json.channels.iter().enumerate() {
        let object = || format!("{} channel {channel}", user());
        let (sampler, keys) = target.sampler.of(&json.samplers, "samplers", &object, "sampler")?;
        let path = target.target.path.as_str();
        let Some(node) = target.target.node else {
            skipped.count(if path == "pointer" { "pointer" } else { "no node" });
            continue;
        };
        let (node, _) = node.of(&root.nodes, "nodes", &object, "target.node")?;
        if !matches!(path, "translation" | "rotation" | "scale") {
            skipped.count(path);
            continue;
        }
        let object =
            || format!("{} sampler {sampler} ({path} of {})", user(), nodes::name(root, node));
        if times[sampler].is_empty() {
            return Err(Fault::Missing { object: object(), property: "keys" });
        }
        let mut read = SourceChannel {
            node: NodeIndex(node as u32),
            interpolation: interpolation(keys, &object)?,
            times: times[sampler].clone(),
            values: values(keys, path, times[sampler].len(), accessors, &object)?,
        };
        if repair_rotations(&mut read) {
            warnings.push(format!("{}: rotations of length zero were dropped", object()));
        }
        match placed.get(&(node, path)) {
            Some(&first) => {
                warnings.push(format!(
                    "{} drives the {path} of {} twice; the last channel is used",
                    user(),
                    nodes::name(root, node)
                ));
                channels[first] = read;
            }
            None => {
                placed.insert((node, path), channels.len());
                channels.push(read);
            }
        }
    }
    let notifies = json.extras.notifies(seconds, &user, warnings);
    let sync_markers = json.extras.sync_markers(seconds, &user, warnings);
    Ok(SourceAnimation { name, seconds, channels, notifies, sync_markers })
}

/// Seconds, never decreasing. Equal times are met in files that want an instant jump.
fn key_times(
    input: Index,
    accessors: &Accessors,
    object: &dyn Fn() -> String,
) -> Result<Vec<f32>, Fault> {
    let times =
        accessors.floats::<1>(input, "SCALAR of f32", format_args!("key times of {}", object()))?;
    let times = times.into_flattened();
    for (key, pair) in times.windows(2).enumerate() {
        if pair[1] < pair[0] {
            return Err(Fault::KeyOrder {
                object: object(),
                key: key + 1,
                time: pair[1],
                previous_time: pair[0],
            });
        }
    }
    Ok(times)
}

fn interpolation(
    keys: &AnimationSampler,
    object: &dyn Fn() -> String,
) -> Result<Interpolation, Fault> {
    Ok(match keys.interpolation.as_deref() {
        None | Some("LINEAR") => Interpolation::Linear,
        Some("STEP") => Interpolation::Step,
        Some("CUBICSPLINE") => Interpolation::CubicSpline,
        Some(other) => {
            return Err(Fault::Unknown {
                object: object(),
                property: "interpolation",
                value: quoted(other),
                allowed: "LINEAR, STEP, CUBICSPLINE",
            });
        }
    })
}

fn values(
    keys: &AnimationSampler,
    path: &str,
    key_count: usize,
    accessors: &Accessors,
    object: &dyn Fn() -> String,
) -> Result<SourceValues, Fault> {
    let used_as = format_args!("values of {}", object());
    let vectors =
        |accessors: &Accessors| accessors.floats::<3>(keys.output, "VEC3 of f32", used_as);
    let (values, found) = match path {
        "rotation" => {
            let values = accessors.floats::<4>(
                keys.output,
                "VEC4 of f32 or normalized integers",
                used_as,
            )?;
            let found = values.len();
            (SourceValues::Rotation(values), found)
        }
        "scale" => {
            let values = vectors(accessors)?;
            let found = values.len();
            (SourceValues::Scale(values), found)
        }
        _ => {
            let values = vectors(accessors)?;
            let found = values.len();
            (SourceValues::Translation(values), found)
        }
    };
    let cubic = keys.interpolation.as_deref() == Some("CUBICSPLINE");
    let expected = if cubic { key_count.saturating_mul(3) } else { key_count };
    if found != expected {
        let per_key = if cubic { "three" } else { "one" };
        let why = format!(", {per_key} for each of its {key_count} keys");
        return Err(Fault::Count { object: object(), kind: "values", found, expected, why });
    }
    Ok(values)
}

/// Keys between which is interpolated on the sphere may have any length; they are brought to unit
/// length where theirs is so far off that its square would be no number. One without a direction
/// becomes the identity, which is told. Splines interpolate the numbers as they are, and stay so.
fn repair_rotations(channel: &mut SourceChannel) -> bool {
    let mut repaired = false;
    let spline = channel.interpolation == Interpolation::CubicSpline;
    if let SourceValues::Rotation(values) = &mut channel.values {
        // A spline's key is the middle one of three.
        let (first, step) = if spline { (1, 3) } else { (0, 1) };
        let keys = values.iter_mut().skip(first).step_by(step);
        for value in keys {
            let length = DVec4::from(value.map(f64::from)).length();
            if length < 1e-12 {
                *value = [0.0, 0.0, 0.0, 1.0];
                repaired = true;
            } else if !spline && !(1e-6..=1e6).contains(&length) {
                *value = value.map(|component| (f64::from(component) / length) as f32);
            }
        }
    }
    repaired
}

/// Channels that aren't played, by what they drive.
#[derive(Default)]
struct Skipped {
    counts: Vec<(String, usize)>,
}

impl Skipped {
    /// More than this many kinds of unknown paths are lumped together.
    const KINDS: usize = 8;

    fn count(&mut self, path: &str) {
        let path: String = path.chars().take(40).collect();
        match self.counts.iter().position(|(known, _)| *known == path) {
            Some(at) => self.counts[at].1 += 1,
            None if self.counts.len() < Self::KINDS => self.counts.push((path, 1)),
            None => self.counts[Self::KINDS - 1].1 += 1,
        }
    }

    fn warn(self, warnings: &mut Warnings) {
        for (path, count) in self.counts {
            let what = match path.as_str() {
                "weights" => "of morph targets".to_owned(),
                "pointer" => "of KHR_animation_pointer".to_owned(),
                "no node" => "without a node".to_owned(),
                other => format!("of the path {other:?}"),
            };
            let channels = counted(count, "animation channel");
            warnings.push(format!("{channels} {what} not played"));
        }
    }
}

/// The animations' names, in order; an unnamed one is called `animation_<index>`, and one whose
/// name was taken before gets a number after it.
fn unique_names(root: &Root) -> Vec<String> {
    let wanted: Vec<String> = root
        .animations
        .iter()
        .enumerate()
        .map(|(at, json)| match json.name.as_deref() {
            Some(name) if !name.is_empty() => name.to_owned(),
            _ => format!("animation_{at}"),
        })
        .collect();
    let originals: HashSet<&str> = wanted.iter().map(String::as_str).collect();
    let mut taken = HashSet::new();
    let mut next: HashMap<&str, usize> = HashMap::new();
    let mut names = Vec::with_capacity(wanted.len());
    for name in &wanted {
        let mut unique = name.clone();
        while !taken.insert(unique.clone()) {
            let number = next.entry(name).or_insert(1);
            loop {
                *number += 1;
                unique = format!("{name} ({number})");
                if !originals.contains(unique.as_str()) {
                    break;
                }
            }
        }
        names.push(unique);
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::asset::gltf::fixture::{F32, Fixture};
    use serde_json::{Value, json};

    #[test]
    fn channels_keep_their_keys_and_interpolations() {
        let source = Fixture::character().read().unwrap();
        let wave = &source.animations[0];
        assert_eq!((wave.name.as_str(), wave.seconds), ("wave", 1.0));
        let kinds: Vec<_> = wave.channels.iter().map(|c| (c.node.0, c.interpolation)).collect();
        let want =
            [(1, Interpolation::Linear), (2, Interpolation::Step), (2, Interpolation::CubicSpline)];
        assert_eq!(kinds, want);
        let SourceValues::Translation(curve) = &wave.channels[2].values else {
            panic!("not a translation")
        };
        assert_eq!(curve.len(), 6);
    }

    fn with_times(times: &[f32], values: usize) -> Fixture {
        let mut file = Fixture::character();
        let input = file.accessor(times, F32, "SCALAR");
        let output = file.accessor(&vec![0.0f32; values * 3], F32, "VEC3");
        file.json["animations"][0]["samplers"][1] = json!({ "input": input, "output": output });
        file
    }

    #[test]
    fn key_times_may_repeat_and_be_negative_but_not_go_back() {
        for times in [[0.0f32, 0.5, 0.5], [-1.0, 0.0, 2.5], [3.0, 3.0, 3.0]] {
            let source = with_times(&times, 3).read().unwrap();
            assert_eq!(source.animations[0].channels[1].times, times);
            assert_eq!(source.animations[0].seconds, times[2].max(1.0));
        }
        with_times(&[0.0, 0.5, 0.25], 3)
            .refused(&["sampler 1", "key 2 is at 0.25 s, before key 1 at 0.5 s"]);
        with_times(&[0.0, f32::NAN, 1.0], 3).refused(&["key times", "element 1 holds NaN"]);
        with_times(&[0.0, f32::INFINITY, 1.0], 3).refused(&["element 1 holds inf"]);
        with_times(&[], 0).refused(&["scale of node 2 \"head\"", "no keys"]);
    }

    #[test]
    fn values_have_to_be_as_many_as_keys_or_three_times_that() {
        with_times(&[0.0, 1.0, 2.0], 2).refused(&["has 2 values, but 3 are needed"]);
        with_times(&[0.0, 1.0], 3).refused(&["has 3 values, but 2 are needed"]);
        let mut file = with_times(&[0.0, 1.0], 2);
        file.json["animations"][0]["samplers"][1]["interpolation"] = json!("CUBICSPLINE");
        file.refused(&["has 2 values, but 6 are needed, three for each of its 2 keys"]);
        file.json["animations"][0]["samplers"][1]["interpolation"] = json!("BEZIER");
        file.refused(&["interpolation is \"BEZIER\"", "CUBICSPLINE"]);
    }

    #[test]
    fn samplers_that_no_channel_plays_count_for_the_length() {
        let mut file = with_times(&[0.0, 7.0], 2);
        file.json["animations"][0]["channels"].as_array_mut().unwrap().remove(1);
        assert_eq!(file.read().unwrap().animations[0].seconds, 7.0);
    }

    #[test]
    fn channels_that_can_not_be_played_are_left_out_with_a_count() {
        let mut file = Fixture::character();
        let channels = file.json["animations"][0]["channels"].as_array_mut().unwrap();
        let pointer = json!({ "pointer": "/nodes/0/extras" });
        channels.extend([
            json!({ "sampler": 0, "target": { "path": "rotation" } }),
            json!({ "sampler": 0, "target": { "node": 0, "path": "weights" } }),
            json!({ "sampler": 0, "target": { "node": 0, "path": "weights" } }),
            json!({ "sampler": 0, "target": { "path": "pointer",
                "extensions": { "KHR_animation_pointer": pointer } } }),
            json!({ "sampler": 0, "target": { "node": 0, "path": "colour\u{1b}" } }),
        ]);
        file.warned(&["1 animation channel without a node"]);
        file.warned(&["2 animation channels of morph targets"]);
        file.warned(&["1 animation channel of KHR_animation_pointer"]);
        let source = file.warned(&["colour\\u{1b}"]);
        assert_eq!(source.animations[0].channels.len(), 3);
    }

    #[test]
    fn references_out_of_range_are_refused() {
        let refused = |channel: Value, words: &[&str]| {
            let mut file = Fixture::character();
            file.json["animations"][0]["channels"][0] = channel;
            file.refused(words);
        };
        refused(
            json!({ "sampler": 3, "target": { "node": 0, "path": "scale" } }),
            &["animation 0 \"wave\" channel 0: sampler is 3"],
        );
        refused(
            json!({ "sampler": 0, "target": { "node": 3, "path": "rotation" } }),
            &["channel 0: target.node is 3"],
        );
        refused(
            json!({ "sampler": 0, "target": { "node": 1, "path": "scale" } }),
            &["is VEC4 of f32, but has to be VEC3"],
        );
    }

    #[test]
    fn the_last_of_two_channels_for_one_property_is_played() {
        let mut file = Fixture::character();
        let rotation = json!({ "sampler": 0, "target": { "node": 2, "path": "scale" } });
        let output = file.accessor(&[3.0f32; 6], F32, "VEC3");
        file.json["animations"][0]["samplers"][0]["output"] = json!(output);
        file.json["animations"][0]["channels"][0] = rotation;
        file.json["animations"][0]["channels"].as_array_mut().unwrap().swap(0, 1);
        let source = file.warned(&["drives the scale of node 2 \"head\" twice"]);
        let SourceValues::Scale(values) = &source.animations[0].channels[0].values else {
            panic!("not a scale")
        };
        assert_eq!(values[0], [3.0; 3]);
        assert_eq!(source.animations[0].channels.len(), 2);
    }

    #[test]
    fn rotations_without_a_length_become_identities_and_huge_ones_units() {
        let mut file = Fixture::character();
        let rotations = [0.0f32, 0.0, 0.0, 0.0, 3e38, 0.0, 0.0, 3e38];
        let output = file.accessor(&rotations, F32, "VEC4");
        file.json["animations"][0]["samplers"][0]["output"] = json!(output);
        let source = file.warned(&["rotations of length zero"]);
        let SourceValues::Rotation(values) = &source.animations[0].channels[0].values else {
            panic!("not a rotation")
        };
        assert_eq!(values[0], [0.0, 0.0, 0.0, 1.0]);
        assert!((values[1][3] - std::f32::consts::FRAC_1_SQRT_2).abs() < 1e-6);
    }

    #[test]
    fn names_are_made_unique_even_against_names_that_look_made() {
        let mut file = Fixture::empty();
        let names = [Some("a"), Some("a"), None, Some("a (2)"), Some(""), Some("a"), Some("a (2)")];
        file.json["animations"] =
            names.iter().map(|name| json!({ "name": name })).collect::<Vec<_>>().into();
        let source = file.read().unwrap();
        let got: Vec<_> = source.animations.iter().map(|a| a.name.as_str()).collect();
        let want = ["a", "a (3)", "animation_2", "a (2)", "animation_4", "a (4)", "a (2) (2)"];
        assert_eq!(got, want);
    }
}
