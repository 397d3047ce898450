//! Broken files and what is said of them.

use super::*;

/// Broken files: what is changed in the example of docs/GRAPHS.md, and the message.
#[test]
fn a_broken_file_is_told_what_is_wrong_where_and_what_would_be_right() {
    let whole = worked_example();
    let mut wrong = Vec::new();
    for (from, to, expected) in BROKEN {
        assert!(whole.contains(from), "{from}");
        let found = said(&whole.replacen(from, to, 1));
        if found != format!("graph.ron{expected}") {
            wrong.push(format!("{from} -> {to}\n  {found}\n  graph.ron{expected}"));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

const BROKEN: &[(&str, &str, &str)] = &[
    (
        "pose: \"move\"",
        "pose: \"moving\"",
        ":38:33: node `locomotion`: no node `moving`; there are: idle, walk, run, move, \
         jump, locomotion, aim, armed",
    ),
    (
        "\"pace\", points",
        "\"pace +\", points",
        ":30:40: node `move`: in \"pace +\": a number or a name should stand here, not the \
         end",
    ),
    (
        "speed > 0.2\"",
        "sped > 0.2\"",
        ":43:67: node `locomotion`: in \"sped > 0.2\": no parameter or value `sped`; did you \
         mean `speed`? there are: speed, armed, jump, pace, aiming",
    ),
    (
        "\"speed < 0.1\"",
        "\"speed\"",
        ":46:51: node `locomotion`: in \"speed\": this is a number; compare it to say when, \
         as in `speed > 0.5`",
    ),
    (
        "smooth(armed, 0.1)",
        "smooth(armed)",
        ":12:20: value `aiming`: in \"smooth(armed)\": `smooth` takes 2 arguments, not 1",
    ),
    (
        "smooth(armed, 0.1)",
        "smoth(armed, 0.1)",
        ":12:20: value `aiming`: in \"smoth(armed, 0.1)\": no function `smoth`; did you mean \
         `smooth`? there are: abs, atan2, clamp, clip_time, cos, ended, floor, if, lerp, max, \
         min, sin and 3 more",
    ),
    (
        "smooth(speed, 0.1)",
        "aiming * 2",
        ":11:18: value `pace`: in \"aiming * 2\": the value `aiming` stands further down; \
         values use those above",
    ),
    (
        "speed < 0.1",
        "speed && armed",
        ":46:57: node `locomotion`: in \"speed && armed\": `&&` joins conditions; compare \
         the number first",
    ),
    (
        "mask: \"upper_body\"",
        "mask: \"uper_body\"",
        ":52:64: node `armed`: no mask `uper_body`; did you mean `upper_body`? there are: \
         upper_body",
    ),
    (
        "Clip(clip: \"run_fwd\", sync",
        "Clip(clip: \"run_fwd\", mode: Once, sync",
        ":29:57: node `run`: a clip in a sync group has to loop; this one plays Once",
    ),
    (
        "sync: \"gait\"",
        "sync: \"gaits\"",
        ":28:47: node `walk`: no sync group `gaits`; did you mean `gait`? there are: gait",
    ),
    (
        "entry: \"idle\"",
        "entry: \"standing\"",
        ":35:21: node `locomotion`: no state `standing`; there are: idle, move, jump",
    ),
    (
        "to: \"idle\", when",
        "to: \"ide\", when",
        ":46:37: node `locomotion`: no state `ide`; did you mean `idle`? there are: idle, \
         move, jump",
    ),
    (
        "to: \"jump\", when: \"jump\",",
        "to: \"jump\",",
        ":42:23: node `locomotion`: the transition to `jump` says neither `when` nor `after` \
         nor `at_end`, so it would be taken at once",
    ),
    (
        "at_end: \"jump\"",
        "at_end: \"move\"",
        ":43:53: node `locomotion`: no clip node `move`; there are: idle, walk, run, jump, \
         aim",
    ),
    (
        "(1.4, \"walk\"), (3.75",
        "(1.4, \"walk\"), (1.4",
        ":30:10: node `move`: points 1 and 2 are at the same place",
    ),
    (
        "points: [(1.4, \"walk\"), (3.75, \"run\")]",
        "points: []",
        ":30:10: node `move`: a blend space needs a point",
    ),
    (
        "\"idle\": Clip(clip: \"idle\")",
        "\"idle\": Blend(a: \"armed\", b: \"run\", alpha: 0.5)",
        ":26:10: a cycle: `idle` needs `armed` needs `locomotion` needs `idle`",
    ),
    (
        "Clip(clip: \"aim_pose\")",
        "MakeAdditive(source: \"walk\")",
        ":52:10: node `armed`: `locomotion` is a pose and `aim` is a local difference; they \
         can't be blended",
    ),
    (
        "\"pace\": \"smooth",
        "\"the pace\": \"smooth",
        ":11:10: `the pace` can't name a value: a letter first, then letters, digits, `_` \
         and `.`; and dt, true, false mean something already",
    ),
    (
        "Float(default: 0, range: (0, 4))",
        "Float(default: 9, range: (0, 4))",
        ":5:10: parameter `speed`: the default 9 is not in the range (0, 4)",
    ),
    (
        "range: (0, 4)",
        "range: (4, 0)",
        ":5:10: parameter `speed`: the range (4, 0) has its end below its beginning",
    ),
    (
        "Bool()",
        "Bool(key: \"speed\")",
        ":6:29: parameter `armed`: the parameter `speed` has the blackboard's `speed` \
         already",
    ),
    (
        "AtPart(0.5, \"step\")",
        "During(0.5, 0.25, \"trail\")",
        ":22:62: notifies of `walk_fwd`: `trail` ends at 0.25, before it begins at 0.5",
    ),
    (
        "when: \"jump\"",
        "when: \"ended(jump) || state_time(locomotion) > 1\"",
        ":34:10: the transitions of a state machine ask for what runs only after they are \
         decided (`locomotion`, `jump`, `locomotion`); `after` and `at_end` ask for the \
         evaluation before",
    ),
    (
        "when: \"jump\"",
        "when: \"ended(move)\"",
        ":42:43: node `locomotion`: in \"ended(move)\": no clip node `move`; there are: \
         idle, walk, run, jump, aim",
    ),
    (
        "output: \"armed\"",
        "output: \"armd\"",
        ":55:14: output: no node `armd`; did you mean `armed`? there are: idle, walk, run, \
         move, jump, locomotion, aim, armed",
    ),
    (
        "mode: Once)",
        "mode: Once, speed: \"2e3 * 2\")",
        ":32:10: node `jump`: a speed of 4e3; a clip runs 1000 times as fast at most",
    ),
    (
        "3.75, \"run\"",
        "1e20, \"run\"",
        ":30:66: node `move`: 1e20 is beyond 1e9, the largest number",
    ),
    (
        "speed > 0.2\"",
        "speed > 1e38\"",
        ":43:75: node `locomotion`: in \"speed > 1e38\": `1e38` is beyond 1e9, the largest number",
    ),
    (
        "Clip(clip: \"aim_pose\")",
        "LookAt(source: \"idle\", bone: \"head\", target: (0, 1, 2), forward: (0, 0, 0))",
        ":51:10: node `aim`: `forward` is (0, 0, 0), which is no direction",
    ),
    (
        "Clip(clip: \"aim_pose\")",
        "Bind()",
        ":51:20: node `aim`: `Bind` has nothing to say in brackets; it stands without them",
    ),
    (
        "Clip(clip: \"aim_pose\")",
        "Clip(clip: \"aim\\u{1b}[2J\")",
        ":51:37: node `aim`: a control character (U+001B)",
    ),
    (
        "DeadBlend(0.2)",
        "Deadblend(0.2)",
        ":42:51: node `locomotion`: no `Deadblend`; did you mean `DeadBlend`? there are: \
         Cut, Inertialize, DeadBlend",
    ),
];
