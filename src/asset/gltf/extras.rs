//! Notifies and sync markers in the `extras` of an animation.
//!
//! `extras` belong to whoever wrote the file, so nothing in them is an error: what has another form
//! is passed over, and told where it is called `notifies` or `sync` all the same.

use super::warnings::Warnings;
use crate::asset::character::{ClipMarker, ClipNotify};
use crate::asset::source::SourceAnimation;
use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::fmt;

/// The most notifies of one animation.
const MAX_NOTIFIES: usize = 1_024;
/// The longest name, bytes.
const MAX_NAME: usize = 64;

/// What is read of an animation's extras.
#[derive(Debug, Default)]
pub(super) struct AnimationExtras {
    notifies: Moments,
    sync: Moments,
}

/// A list of moments with names.
#[derive(Debug, Default)]
struct Moments {
    read: Vec<ClipNotify>,
    /// Elements of another form.
    passed_over: usize,
}

impl AnimationExtras {
    /// The notifies inside an animation of `seconds`, in the file's order.
    pub(super) fn notifies(
        &self,
        seconds: f32,
        animation: &dyn Fn() -> String,
        warnings: &mut Warnings,
    ) -> Vec<ClipNotify> {
        let inside = |n: &&ClipNotify| {
            (0.0..=seconds).contains(&n.seconds)
                && n.end.is_none_or(|end| end > n.seconds && end <= seconds)
        };
        let Moments { read, passed_over } = &self.notifies;
        let kept: Vec<ClipNotify> = read.iter().filter(inside).cloned().collect();
        let left_out = passed_over + read.len() - kept.len();
        if left_out > 0 {
            warnings.push(format!(
                "{}: {left_out} of its notifies left out; one has a name of 1 to {MAX_NAME} bytes \
                 without control characters and a time (of a span also an end after it) within the animation's {seconds} s, \
                 and there are at most {MAX_NOTIFIES}",
                animation()
            ));
        }
        kept
    }

    /// The sync markers of an animation of `seconds`, in the order of time. All of them or none:
    /// with one missing, others would be taken for it.
    pub(super) fn sync_markers(
        &self,
        seconds: f32,
        animation: &dyn Fn() -> String,
        warnings: &mut Warnings,
    ) -> Vec<ClipMarker> {
        const MOST: usize = SourceAnimation::MOST_MARKERS;
        let Moments { read, passed_over } = &self.sync;
        let marker = |n: &ClipNotify| ClipMarker { name: n.name.clone(), seconds: n.seconds };
        let mut markers: Vec<ClipMarker> = read.iter().map(marker).collect();
        markers.sort_by(|a, b| a.seconds.total_cmp(&b.seconds));
        let apart = markers.windows(2).all(|pair| pair[0].seconds < pair[1].seconds);
        let inside = markers.iter().all(|m| (0.0..=seconds).contains(&m.seconds));
        // A loop's end is its start.
        let round = match &markers[..] {
            [first, .., last] => last.seconds - first.seconds < seconds,
            _ => true,
        };
        if *passed_over == 0 && markers.len() <= MOST && apart && inside && round {
            return markers;
        }
        warnings.push(format!(
            "{}: its sync markers left out; each has a name of 1 to {MAX_NAME} bytes without \
             control characters and a time of its own within the animation's {seconds} s, of which end and start are one, and there \
             are at most {MOST}",
            animation()
        ));
        Vec::new()
    }
}

/// Any value: a text, a number, or something that is passed over.
enum Loose {
    Text(String),
    Number(f64),
    Other,
}

/// An object with the keys of a notify, or anything else.
struct LooseNotify(Option<ClipNotify>);

/// A list of notifies, or anything else.
struct LooseNotifies(Moments);

/// Visits any value; each method that isn't replaced passes its value over.
macro_rules! pass_over {
    ($other:expr; $($method:ident($kind:ty)),*) => {
        fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
            f.write_str("anything")
        }
        $(fn $method<E>(self, _: $kind) -> Result<Self::Value, E> {
            Ok($other)
        })*
        fn visit_unit<E>(self) -> Result<Self::Value, E> {
            Ok($other)
        }
    };
}

fn drain_list<'de, A: SeqAccess<'de>>(mut list: A) -> Result<(), A::Error> {
    while list.next_element::<IgnoredAny>()?.is_some() {}
    Ok(())
}

fn drain_object<'de, A: MapAccess<'de>>(mut object: A) -> Result<(), A::Error> {
    while object.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
    Ok(())
}

impl<'de> Deserialize<'de> for Loose {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;
        impl<'de> Visitor<'de> for Any {
            type Value = Loose;
            pass_over!(Loose::Other; visit_bool(bool));

            fn visit_str<E>(self, text: &str) -> Result<Loose, E> {
                // Names are printed one to a line.
                let is_name = text.len() <= MAX_NAME && !text.contains(char::is_control);
                Ok(if is_name { Loose::Text(text.into()) } else { Loose::Other })
            }

            fn visit_u64<E>(self, number: u64) -> Result<Loose, E> {
                Ok(Loose::Number(number as f64))
            }

            fn visit_i64<E>(self, number: i64) -> Result<Loose, E> {
                Ok(Loose::Number(number as f64))
            }

            fn visit_f64<E>(self, number: f64) -> Result<Loose, E> {
                Ok(Loose::Number(number))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Loose, A::Error> {
                drain_list(list).map(|()| Loose::Other)
            }

            fn visit_map<A: MapAccess<'de>>(self, object: A) -> Result<Loose, A::Error> {
                drain_object(object).map(|()| Loose::Other)
            }
        }
        deserializer.deserialize_any(Any)
    }
}

impl<'de> Deserialize<'de> for LooseNotify {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;
        impl<'de> Visitor<'de> for Any {
            type Value = LooseNotify;
            pass_over!(LooseNotify(None);
                visit_bool(bool), visit_u64(u64), visit_i64(i64), visit_f64(f64), visit_str(&str));

            fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<LooseNotify, A::Error> {
                drain_list(list).map(|()| LooseNotify(None))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<LooseNotify, A::Error> {
                let (mut name, mut time, mut end) = (Loose::Other, Loose::Other, None);
                while let Some(key) = object.next_key::<String>()? {
                    match key.as_str() {
                        "name" => name = object.next_value()?,
                        "time" => time = object.next_value()?,
                        "end" => end = Some(object.next_value()?),
                        _ => drop(object.next_value::<IgnoredAny>()?),
                    }
                }
                let (Loose::Text(name), Loose::Number(time)) = (name, time) else {
                    return Ok(LooseNotify(None));
                };
                let end = match end {
                    None => None,
                    Some(Loose::Number(end)) => Some(end as f32),
                    Some(_) => return Ok(LooseNotify(None)),
                };
                let name = (!name.is_empty()).then_some(name);
                let seconds = time as f32;
                Ok(LooseNotify(name.map(|name| ClipNotify { name, seconds, end })))
            }
        }
        deserializer.deserialize_any(Any)
    }
}

impl<'de> Deserialize<'de> for LooseNotifies {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;
        impl<'de> Visitor<'de> for Any {
            type Value = LooseNotifies;
            pass_over!(LooseNotifies(Moments { passed_over: 1, ..Default::default() });
                visit_bool(bool), visit_u64(u64), visit_i64(i64), visit_f64(f64), visit_str(&str));

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<LooseNotifies, A::Error> {
                let mut moments = Moments::default();
                while let Some(LooseNotify(notify)) = list.next_element()? {
                    match notify {
                        Some(n) if moments.read.len() < MAX_NOTIFIES => moments.read.push(n),
                        _ => moments.passed_over += 1,
                    }
                }
                Ok(LooseNotifies(moments))
            }

            fn visit_map<A: MapAccess<'de>>(self, object: A) -> Result<LooseNotifies, A::Error> {
                drain_object(object)?;
                self.visit_bool(false)
            }
        }
        deserializer.deserialize_any(Any)
    }
}

impl<'de> Deserialize<'de> for AnimationExtras {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;
        impl<'de> Visitor<'de> for Any {
            type Value = AnimationExtras;
            pass_over!(AnimationExtras::default();
                visit_bool(bool), visit_u64(u64), visit_i64(i64), visit_f64(f64), visit_str(&str));

            fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<AnimationExtras, A::Error> {
                drain_list(list).map(|()| AnimationExtras::default())
            }

            fn visit_map<A: MapAccess<'de>>(
                self,
                mut object: A,
            ) -> Result<AnimationExtras, A::Error> {
                let mut extras = AnimationExtras::default();
                while let Some(key) = object.next_key::<String>()? {
                    match key.as_str() {
                        "notifies" => extras.notifies = object.next_value::<LooseNotifies>()?.0,
                        "sync" => extras.sync = object.next_value::<LooseNotifies>()?.0,
                        _ => drop(object.next_value::<IgnoredAny>()?),
                    }
                }
                Ok(extras)
            }
        }
        deserializer.deserialize_any(Any)
    }
}

#[cfg(test)]
mod tests {
    use super::AnimationExtras;
    use crate::asset::gltf::fixture::Fixture;
    use crate::asset::{BUILTINS, ClipMarker, ClipNotify, builtin};
    use serde_json::{Value, json};

    fn with(extras: Value) -> Fixture {
        let mut file = Fixture::character();
        file.json["animations"][0]["extras"] = extras;
        file
    }

    #[test]
    fn moments_and_spans_keep_name_and_times_in_the_files_order() {
        let source = with(json!({ "speed": 1.4, "notifies": [
            { "name": "late", "time": 1 }, { "name": "trail", "time": 0.25, "end": 0.5, "by": [1] },
        ] }))
        .read()
        .unwrap();
        let late = ClipNotify { name: "late".into(), seconds: 1.0, end: None };
        let trail = ClipNotify { name: "trail".into(), seconds: 0.25, end: Some(0.5) };
        assert_eq!(source.animations[0].notifies, [late, trail]);
        assert!(source.warnings.is_empty(), "{:?}", source.warnings);
    }

    #[test]
    fn extras_of_any_other_form_are_no_fault() {
        for extras in [
            json!(null),
            json!(7),
            json!(-1.5),
            json!("notifies"),
            json!([{ "notifies": 1 }]),
            json!({ "events": [{ "name": "x", "time": 0.1 }] }),
            json!({ "notifies": [] }),
        ] {
            let source = with(extras.clone()).read().unwrap();
            assert!(source.animations[0].notifies.is_empty(), "{extras}");
            assert!(source.warnings.is_empty(), "{extras}: {:?}", source.warnings);
        }
    }

    #[test]
    fn notifies_of_another_form_are_left_out_with_their_number() {
        for bad in [
            json!(null),
            json!(3),
            json!("step"),
            json!([0.5]),
            json!({ "name": "step" }),
            json!({ "time": 0.5 }),
            json!({ "name": "", "time": 0.5 }),
            json!({ "name": "x".repeat(65), "time": 0.5 }),
            json!({ "name": "two\nlines", "time": 0.5 }),
            json!({ "name": "\u{1b}[2J", "time": 0.5 }),
            json!({ "name": "step", "time": "soon" }),
            json!({ "name": "step", "time": -0.1 }),
            json!({ "name": "step", "time": 1.01 }),
            json!({ "name": "step", "time": 1e300 }),
            json!({ "name": "step", "time": 0.5, "end": 0.5 }),
            json!({ "name": "step", "time": 0.5, "end": 1.5 }),
            json!({ "name": "step", "time": 0.5, "end": {} }),
        ] {
            let good = json!({ "name": "step", "time": 0.5 });
            let file = with(json!({ "notifies": [bad, good] }));
            let source = file.warned(&["animation 0 \"wave\": 1 of its notifies left out"]);
            assert_eq!(source.animations[0].notifies.len(), 1, "{bad}");
        }
        with(json!({ "notifies": { "name": "step", "time": 0.5 } })).warned(&["1 of its notifies"]);
        let many = vec![json!({ "name": "step", "time": 0.5 }); 1_030];
        let source = with(json!({ "notifies": many })).warned(&["6 of its notifies"]);
        assert_eq!(source.animations[0].notifies.len(), 1_024);
    }

    #[test]
    fn sync_markers_are_read_in_the_order_of_time() {
        let file = with(json!({ "sync": [
            { "name": "right", "time": 0.5, "by": 2 }, { "name": "left", "time": 0 },
        ] }));
        let source = file.read().unwrap();
        let marker = |name: &str, seconds| ClipMarker { name: name.into(), seconds };
        assert_eq!(source.animations[0].sync_markers, [marker("left", 0.0), marker("right", 0.5)]);
        assert!(source.warnings.is_empty(), "{:?}", source.warnings);
    }

    #[test]
    fn sync_markers_of_which_one_is_wrong_are_all_left_out() {
        let good = json!({ "name": "left", "time": 0.25 });
        for bad in [
            json!(null),
            json!({ "name": "", "time": 0.5 }),
            json!({ "name": "right", "time": 1.01 }),
            json!({ "name": "right", "time": -0.1 }),
            json!({ "name": "right", "time": 0.25 }),
        ] {
            let file = with(json!({ "sync": [good, bad] }));
            let source = file.warned(&["animation 0 \"wave\": its sync markers left out"]);
            assert!(source.animations[0].sync_markers.is_empty(), "{bad}");
        }
        let both_ends = json!([{ "name": "a", "time": 0 }, { "name": "b", "time": 1 }]);
        with(json!({ "sync": both_ends })).warned(&["its sync markers left out"]);
        with(json!({ "sync": good })).warned(&["its sync markers left out"]);
        let of = |count: u32| {
            let at = |i| json!({ "name": "step", "time": f64::from(i) / 16.0 });
            with(json!({ "sync": (0..count).map(at).collect::<Vec<_>>() }))
        };
        assert_eq!(of(8).read().unwrap().animations[0].sync_markers.len(), 8);
        of(9).warned(&["there are at most 8"]);
    }

    #[test]
    fn nesting_of_any_depth_is_passed_over() {
        let deep = "[".repeat(100_000) + &"]".repeat(100_000);
        for text in [
            deep.clone(),
            format!(r#"{{"a":{deep}}}"#),
            format!(r#"{{"notifies":{deep}}}"#),
            format!(r#"{{"sync":{deep}}}"#),
            format!(r#"{{"notifies":[{{"name":{deep},"time":0}}]}}"#),
        ] {
            let extras: AnimationExtras = serde_json::from_str(&text).unwrap();
            assert!(extras.notifies.read.is_empty());
        }
    }

    #[test]
    fn the_built_in_characters_say_when_their_feet_come_down() {
        for (name, _) in BUILTINS {
            let asset = builtin(name).unwrap().unwrap();
            assert_eq!(asset.notifies.len(), asset.clips.len());
            for (clip, notifies) in asset.clips.iter().zip(&asset.notifies) {
                let steps = notifies.iter().filter(|n| n.name.starts_with("footstep")).count();
                let feet = if name == "humanoid" { 2 } else { 4 };
                if clip.name.starts_with("walk") || clip.name.starts_with("run") {
                    assert_eq!(steps, feet, "{name} {}", clip.name);
                }
                assert!(notifies.iter().all(|n| n.seconds <= clip.seconds()));
            }
            for (clip, markers) in asset.clips.iter().zip(&asset.sync_markers) {
                let gait = clip.name.starts_with("walk") || clip.name.starts_with("run");
                assert_eq!(markers.len(), if gait { 2 } else { 0 }, "{name} {}", clip.name);
            }
        }
    }
}
