//! A graph file for a character that has none yet, to start from.

use crate::motion::PlayMode;
use crate::pose::UniformClip;
use std::fmt::Write;

/// A clip as a starter plays it.
#[derive(Clone, Debug, PartialEq)]
pub struct StarterClip {
    /// Its name; unique among the clips.
    pub name: String,
    /// Its length.
    pub seconds: f32,
    /// What its clock does at the end.
    pub mode: PlayMode,
}

impl StarterClip {
    /// A clip that goes round and round, or holds its only frame.
    pub fn of(clip: &UniformClip) -> Self {
        let seconds = clip.seconds();
        let mode = if seconds > 0.0 { PlayMode::Loop } else { PlayMode::Clamp };
        Self { name: clip.name.clone(), seconds, mode }
    }
}

/// The most clips that a starter plays. Every state is recorded in every frame, so a
/// character with very many clips would pay for all of them.
pub const STARTER_CLIPS: usize = 64;
/// Seconds that a clip without an end stays, at least.
const STAY: f32 = 4.0;
/// Seconds of a transition, and how long before a clip's end it begins.
const BLEND: f32 = 0.3;

/// Writes a graph file for a character with these clips: a state machine with a state for each, in
/// their order, that goes from one to the next. Clips that loop stay for whole rounds, others for
/// once. The parameter `clip` picks one by its number; at -1 they take turns.
///
/// Clips without a name, or with control characters in it, can't be asked for and are left out, as
/// are those past
/// [`STARTER_CLIPS`]. Without clips it is a graph that shows the rest pose.
pub fn starter(clips: &[StarterClip]) -> String {
    let named = |clip: &&StarterClip| {
        (1..=NAME).contains(&clip.name.len()) && !clip.name.contains(char::is_control)
    };
    let clips: Vec<&StarterClip> = clips.iter().filter(named).take(STARTER_CLIPS).collect();
    let mut text = String::from("// To start from: the character's clips one after the other.\n");
    // Writing into a string can't fail.
    let _ = write_graph(&mut text, &clips);
    text
}

/// Bytes of a name, at most; longer ones are no names.
const NAME: usize = 200;

fn write_graph(out: &mut String, clips: &[&StarterClip]) -> std::fmt::Result {
    writeln!(out, "Graph(\n    version: 1,")?;
    let count = clips.len();
    if count > 1 {
        writeln!(out, "    parameters: {{")?;
        writeln!(out, "        // The number of the clip to play; -1 plays one after the other.")?;
        writeln!(out, "        \"clip\": Float(default: -1, range: (-1, {})),", count - 1)?;
        writeln!(out, "    }},")?;
    }
    writeln!(out, "    nodes: {{")?;
    for (i, clip) in clips.iter().enumerate() {
        writeln!(out, "        \"clip {i}\": Clip(clip: {:?}, mode: {:?}),", clip.name, clip.mode)?;
    }
    let output = match count {
        0 => {
            writeln!(out, "        \"rest\": Bind,")?;
            "rest"
        }
        1 => "clip 0",
        _ => {
            write_machine(out, clips)?;
            "clips"
        }
    };
    writeln!(out, "    }},\n    output: {output:?},\n)")
}

fn write_machine(out: &mut String, clips: &[&StarterClip]) -> std::fmt::Result {
    writeln!(out, "        \"clips\": StateMachine(")?;
    writeln!(out, "            entry: {:?},", clips[0].name)?;
    writeln!(out, "            states: {{")?;
    for (i, clip) in clips.iter().enumerate() {
        writeln!(out, "                {:?}: (pose: \"clip {i}\"),", clip.name)?;
    }
    writeln!(out, "            }},\n            transitions: [")?;
    for (i, clip) in clips.iter().enumerate() {
        writeln!(out, "                (to: {:?}, when: \"abs(clip - {i}) < 0.5\"),", clip.name)?;
    }
    for (clip, next) in clips.iter().zip(clips.iter().cycle().skip(1)) {
        let until = match clip.mode {
            PlayMode::Once => format!("at_end: {}, before_end: {BLEND}", node_of(clips, clip)),
            PlayMode::Loop | PlayMode::PingPong | PlayMode::Clamp => {
                let round = if clip.seconds > 0.0 { clip.seconds } else { STAY };
                // Whole rounds, less the transition that begins before the last one's end.
                let stay = (STAY / round).ceil() * round;
                format!("after: {:.3}", (stay - BLEND).max(BLEND))
            }
        };
        let (from, to) = (&clip.name, &next.name);
        writeln!(
            out,
            "                (from: {from:?}, to: {to:?}, when: \"clip < -0.5\", {until}),"
        )?;
    }
    writeln!(out, "            ],\n            blend: Inertialize({BLEND}),\n        ),")
}

/// The name of a clip's node, in quotes.
fn node_of(clips: &[&StarterClip], clip: &StarterClip) -> String {
    let at = clips.iter().position(|c| c.name == clip.name).unwrap_or_default();
    format!("\"clip {at}\"")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::compile;
    use proptest::prelude::*;

    fn clip(name: &str, seconds: f32, mode: PlayMode) -> StarterClip {
        StarterClip { name: name.into(), seconds, mode }
    }

    #[test]
    fn many_clips_take_turns_one_plays_alone_and_none_is_the_rest_pose() {
        let clips = [
            clip("idle", 5.0, PlayMode::Loop),
            clip("jump", 1.5, PlayMode::Once),
            clip("pose", 0.0, PlayMode::Clamp),
        ];
        for count in 0..=3 {
            let compiled = compile("made.ron", &starter(&clips[..count])).unwrap();
            assert!(compiled.warnings.is_empty(), "{:?}", compiled.warnings);
            let program = compiled.program.get();
            assert_eq!(program.clips.len(), count);
            assert_eq!(program.machines.len(), usize::from(count > 1));
            assert_eq!(program.params.len(), usize::from(count > 1));
        }
        let text = starter(&clips);
        assert!(text.contains("after: 4.700"), "a whole round of idle: {text}");
        assert!(text.contains("at_end: \"clip 1\", before_end: 0.3"), "{text}");
    }

    #[test]
    fn very_many_clips_are_cut_and_nameless_ones_left_out() {
        let many: Vec<_> = (0..500).map(|i| clip(&format!("c{i}"), 1.0, PlayMode::Loop)).collect();
        let compiled = compile("made.ron", &starter(&many)).unwrap();
        assert_eq!(compiled.program.get().clips.len(), STARTER_CLIPS);
        let odd = [clip("", 1.0, PlayMode::Loop), clip(&"x".repeat(5_000), 1.0, PlayMode::Loop)];
        assert!(compile("made.ron", &starter(&odd)).unwrap().program.get().clips.is_empty());
    }

    proptest! {
        #[test]
        fn any_names_and_lengths_compile(
            names in prop::collection::hash_set("\\PC{1,12}|[\\x00-\\x7f]{1,6}|[\"\\\\{}()]{1,4}", 0..6),
            seconds in prop_oneof![Just(0.0f32), 0.0f32..100.0, Just(1e-20), Just(1e9)],
            once in any::<bool>(),
        ) {
            let mode = if once { PlayMode::Once } else { PlayMode::PingPong };
            let clips: Vec<_> = names.iter().map(|n| clip(n, seconds, mode)).collect();
            let compiled = compile("made.ron", &starter(&clips));
            let program = compiled.map_err(|e| TestCaseError::fail(e.to_string()))?.program;
            let mut found = program.get().clips.clone();
            let named = |name: &String| !name.contains(char::is_control);
            let mut expected: Vec<String> = names.into_iter().filter(named).collect();
            found.sort();
            expected.sort();
            prop_assert_eq!(found, expected);
        }
    }
}
