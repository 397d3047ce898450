//! Animations: key times checked, values as many as their keys ask for.

use super::accessor::Accessors;
use super::json::{Animation, AnimationSampler, Root};
use super::json_types::Index;
use super::nodes;
use super::warnings::Warnings;
use crate::asset::error::{Fault, object};
use crate::asset::source::{Interpolation, SourceAnimation, SourceChannel, SourceValues};
use crate::index::NodeIndex;
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
    for (at, (json, name)) in root.animations.iter().zip(names).enumerate() {
        animations.push(read_one(root, at, json, name, accessors, warnings)?);
    }
    Ok(animations)
}

fn read_one(
    root: &Root,
    at: usize,
    json: &Animation,
    name: String,
    accessors: &Accessors,
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
    let mut skipped = Skipped::default();
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
        let read = SourceChannel {
            node: NodeIndex(node as u32),
            interpolation: interpolation(keys, &object)?,
            times: times[sampler].clone(),
            values: values(keys, path, times[sampler].len(), accessors, &object)?,
        };
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
    skipped.warn(&user, warnings);
    Ok(SourceAnimation { name, seconds, channels })
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
                value: crate::asset::error::quoted(other),
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

    fn warn(self, user: &dyn Fn() -> String, warnings: &mut Warnings) {
        for (path, count) in self.counts {
            let what = match path.as_str() {
                "weights" => "drive morph targets".to_owned(),
                "pointer" => "use KHR_animation_pointer".to_owned(),
                "no node" => "have no node".to_owned(),
                other => format!("drive {other:?}"),
            };
            warnings.push(format!("{}: {count} channels that {what} were left out", user()));
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
