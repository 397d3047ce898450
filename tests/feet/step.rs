//! Clips that are mixed set their feet down together.

use super::run::{LANDED, LIFTED};
use super::slide::Solo;
use super::*;
use std::collections::BTreeMap;
use throng::index::ClipId;

/// Seconds of the mix that a foot may land earlier in one clip than in another. A sole counts as
/// landed a little above the ground, and how fast it comes down differs.
const TOGETHER: f32 = 0.04;

/// What one foot does in one clip of a mix: in the air, and the frames in which it landed.
#[derive(Default)]
struct Foot {
    airborne: bool,
    landed: Vec<f32>,
}

/// Plays a speed for some seconds and looks at each clip of the mix by itself, where the mix has it:
/// how much later, at most, a foot lands in one clip than in the other. With the names of the clips.
fn apart(actor: &Actor, speed: f32) -> (f32, [String; 2]) {
    let mut solo = Solo::new(actor);
    solo.set("speed", speed);
    (0..90).for_each(|_| drop(solo.step()));
    let mut feet: BTreeMap<(u16, usize), Foot> = BTreeMap::new();
    for frame in 0..300 {
        solo.step();
        for (clip, seconds) in solo.heard() {
            let locals = solo.rig().sample_locals(clip, seconds);
            for (at, sole) in actor.soles.iter().enumerate() {
                let height = sole.height(&actor.asset, &locals);
                let foot = feet.entry((clip.0, at)).or_default();
                if foot.airborne && height < LANDED {
                    foot.airborne = false;
                    foot.landed.push(frame as f32 * DT as f32);
                }
                foot.airborne |= height > LIFTED;
            }
        }
    }
    let clips: Vec<u16> = feet.keys().filter(|key| key.1 == 0).map(|key| key.0).collect();
    assert_eq!(clips.len(), 2, "{speed} is mixed from two");
    let mut worst = 0.0_f32;
    for foot in 0..actor.soles.len() {
        let [a, b] = [clips[0], clips[1]].map(|clip| &feet[&(clip, foot)].landed);
        assert!(a.len() > 4 && b.len() > 4, "{a:?} {b:?}");
        // The first and the last may have their counterparts outside.
        for landed in &a[1..a.len() - 1] {
            let near = b.iter().map(|other| (landed - other).abs()).fold(f32::MAX, f32::min);
            worst = worst.max(near);
        }
    }
    let name = |clip: u16| solo.rig().clip(ClipId(clip)).unwrap().name().to_owned();
    (worst, [name(clips[0]), name(clips[1])])
}

#[test]
fn gaits_that_are_mixed_set_their_feet_down_together() {
    let actor = Actor::new("humanoid");
    for speed in [-1.9, 2.6] {
        let (seconds, clips) = apart(&actor, speed);
        assert!(seconds < TOGETHER, "{clips:?} at {speed}: {seconds} s");
    }
}

#[test]
fn without_markers_the_backward_gaits_do_not() {
    let (graph, text) = graph::builtin_for("humanoid").unwrap();
    let clips = ["walk_fwd", "walk_back", "run_fwd", "run_back"];
    let none: Vec<String> = clips.iter().map(|clip| format!("\"{clip}\": []")).collect();
    let markers = format!("sync_markers: {{ {} }},\n\n    nodes: {{", none.join(", "));
    let text = text.replace("nodes: {", &markers);
    let (seconds, clips) = apart(&Actor::with("humanoid", graph, &text), -1.9);
    assert!(seconds > 2.0 * TOGETHER, "{clips:?}: {seconds} s");
}
