//! Sync markers of programs: which ones hold, which are refused, what becomes of them in another
//! program.

use super::motions::thing;
use super::*;
use crate::asset::ClipMarker;
use crate::motion::PlayMode;
use crate::task::Task;

/// `walk` (1.2 s) and `run` (0.8 s) by halves, with something between the groups and the nodes.
fn text(between: &str) -> String {
    format!(
        r#"(version: 1, sync_groups: ["gait"], {between}
        nodes: {{
            "walk": Clip(clip: "walk", sync: "gait"),
            "run": Clip(clip: "run", sync: "gait"),
            "move": Blend(a: "walk", b: "run", alpha: 0.5),
        }}, output: "move")"#
    )
}

const LEFT_RIGHT: &str = r#"sync_markers: {
    "walk": [At(0.3, "left"), AtPart(0.75, "right")],
    "run": [AtPart(0.9, "left"), At(0.2, "right")],
},"#;

/// A character whose clips bring markers along.
fn marked(walk: &[(&str, f32)], run: &[(&str, f32)]) -> Character {
    let mut c = thing();
    for (at, of) in [(1, walk), (2, run)] {
        let marker =
            |(name, seconds): &(&str, f32)| ClipMarker { name: (*name).into(), seconds: *seconds };
        c.clip_bindings[at].sync_markers = of.iter().map(marker).collect();
    }
    c
}

fn compiled(text: &str) -> Program {
    compile("graph.ron", text).unwrap_or_else(|e| panic!("{e}")).program.into_inner()
}

fn refused(text: &str, c: &Character) -> String {
    let names = &mut NotifyNames::default();
    let target = Target { rig: &c.rig, clips: &c.clip_bindings, names };
    Arc::new(compiled(text).validate().unwrap()).bind(target).unwrap_err().to_string()
}

/// Seconds of both clips over a second and a half.
fn played(bound: &BoundProgram, c: &Character) -> Vec<[f32; 2]> {
    let mut p = Player::new(bound, c);
    let step = |p: &mut Player| {
        p.record(0.01);
        let seconds = |task: &Task| match task {
            Task::SampleClip { seconds, .. } => Some(*seconds),
            _ => None,
        };
        let both: Vec<f32> = p.list.tasks().iter().filter_map(seconds).collect();
        [both[0], both[1]]
    };
    (0..150).map(|_| step(&mut p)).collect()
}

/// The largest distance, as a share of the clip, between the one clip and where markers have it
/// while the other is at its own.
fn apart(played: &[[f32; 2]], [walk, run]: [f32; 2]) -> f32 {
    let past = |seconds: f32, marker: f32, length: f32| (seconds - marker).rem_euclid(length);
    let comes_by = |pair: &&[[f32; 2]]| past(pair[1][0], walk, 1.2) < past(pair[0][0], walk, 1.2);
    let off = played.windows(2).filter(comes_by).map(|pair| {
        let off = past(pair[1][1], run, 0.8) / 0.8;
        off.min(1.0 - off)
    });
    off.fold(0.0, f32::max)
}

#[test]
fn clips_come_by_their_markers_together() {
    let of_file = bind(compiled(&text(LEFT_RIGHT)), &thing());
    let c = marked(&[("left", 0.3), ("right", 0.9)], &[("right", 0.2), ("left", 0.72)]);
    let of_clips = bind(compiled(&text("")), &c);
    let [of_file, of_clips] = [&of_file, &of_clips].map(|bound| played(bound, &c));
    for (a, b) in of_file.iter().zip(&of_clips) {
        assert!((a[0] - b[0]).abs() < 1e-5 && (a[1] - b[1]).abs() < 1e-5, "{a:?} {b:?}");
    }
    for markers in [[0.3, 0.72], [0.9, 0.2]] {
        assert!(apart(&of_file, markers) < 0.02, "{}", apart(&of_file, markers));
    }
    let none = r#"sync_markers: {"walk": [], "run": []},"#;
    let without = played(&bind(compiled(&text(none)), &c), &c);
    assert!(apart(&without, [0.3, 0.72]) > 0.2, "the file's word is the last");
    assert_eq!(without, played(&bind(compiled(&text("")), &thing()), &c));
}

#[test]
fn clips_of_a_group_with_other_markers_are_refused_and_both_are_named() {
    let walk = [("left", 0.3), ("right", 0.9)];
    let line = |run: &str| {
        format!(
            "graph \"graph\": clips of the sync group `gait` need the same sync markers in the same \
             order; `walk` has `left`, `right`, `run` has {run}"
        )
    };
    for (run, said) in [
        (&[][..], "none"),
        (&[("left", 0.3)], "`left`"),
        (&[("left", 0.3), ("middle", 0.5)], "`left`, `middle`"),
        (
            &[("left", 0.1), ("right", 0.3), ("left", 0.5), ("right", 0.7)],
            "`left`, `right`, `left`, `right`",
        ),
    ] {
        assert_eq!(refused(&text(""), &marked(&walk, run)), line(said));
    }
    // Three come round in two orders.
    let three = |names: [&'static str; 3]| [(names[0], 0.1), (names[1], 0.3), (names[2], 0.6)];
    let c = marked(&three(["a", "b", "c"]), &three(["a", "c", "b"]));
    assert!(refused(&text(""), &c).ends_with("`walk` has `a`, `b`, `c`, `run` has `a`, `c`, `b`"));
    bind(compiled(&text("")), &marked(&three(["a", "b", "c"]), &three(["c", "a", "b"])));
    // A clip that is one pose keeps step with everybody.
    let mut a = super::assembler::Assembler::new("still");
    a.0.sync_groups.push("gait".into());
    let [still, walk] =
        ["clip0", "clip1"].map(|clip| a.clock(clip, PlayMode::Loop, Some(GroupId(0))));
    let [still, walk] = [still, walk].map(|clock| a.play(clock));
    let half = a.constant(0.5);
    let pose = a.blend(still, walk, half);
    let mut c = character(Shape::plain(3), &["clip0", "clip1"], 1);
    c.clip_bindings[1].sync_markers = vec![ClipMarker { name: "left".into(), seconds: 0.01 }];
    bind(a.output(pose), &c);
}

#[test]
fn markers_that_a_clip_can_not_have_are_refused() {
    let with = |walk: &str| {
        let markers = format!(r#"sync_markers: {{"walk": [{walk}], "run": []}},"#);
        refused(&text(&markers), &thing())
    };
    let line = |at: &str| {
        format!(
            "graph \"graph\": clip `walk`: a sync marker at {at} s; they lie within the clip's 1.2 s, \
             of which end and start are one, each after the one before"
        )
    };
    let one = |walk: &str| {
        let markers = format!(r#"sync_markers: {{"walk": [{walk}], "run": [{walk}]}},"#);
        refused(&text(&markers), &thing())
    };
    assert_eq!(one(r#"At(1.3, "left")"#), line("1.3"));
    assert_eq!(one(r#"At(0.5, "left"), At(0.5, "right")"#), line("0.5"));
    assert_eq!(one(r#"AtPart(0, "left"), AtPart(1, "right")"#), line("1.2"));
    assert!(with(r#"At(0.5, "left")"#).contains("`walk` has `left`, `run` has none"));
    let nine = [r#"At(0.5, "step")"#; 9].join(", ");
    let file = text(&format!(r#"sync_markers: {{"walk": [{nine}]}},"#));
    let error = compile("graph.ron", &file).unwrap_err().to_string();
    assert!(error.ends_with("`walk` has 9 sync markers; 8 is the most"), "{error}");
    let mut program = compiled(&text(LEFT_RIGHT));
    let again = program.sync_markers[0].clone();
    program.sync_markers.push(again);
    let error = program.validate().unwrap_err().to_string();
    assert!(error.contains("sync markers 2") && error.contains("walk"), "{error}");
}

#[test]
fn markers_of_clips_that_nobody_plays_are_warned_about() {
    let file = text(r#"sync_markers: {"skip": [At(0.5, "left")]},"#);
    let warnings = compile("graph.ron", &file).unwrap().warnings;
    let lines: Vec<String> = warnings.iter().map(ToString::to_string).collect();
    let line = "no node plays the clip `skip`, so its markers keep nobody in step";
    assert!(lines.iter().any(|l| l.ends_with(line)), "{lines:?}");
}

#[test]
fn a_phase_lives_on_where_it_is_cut_by_the_same_markers() {
    let c = thing();
    let [old, same, other] = [
        text(LEFT_RIGHT),
        text(LEFT_RIGHT).replace("alpha: 0.5", "alpha: 0.25"),
        text(&LEFT_RIGHT.replace("right", "second")),
    ]
    .map(|text| bind(compiled(&text), &c));
    assert!(old.words() > bind(compiled(&text("")), &c).words(), "pieces have room");
    assert!(old.words() <= Arc::new(compiled(&text(LEFT_RIGHT)).validate().unwrap()).most_words());
    for (new, goes_on) in [(&same, true), (&other, false)] {
        let mut p = Player::new(&old, &c);
        (0..40).for_each(|_| {
            p.record(0.013);
        });
        let seconds = |p: &Player| {
            let Task::SampleClip { seconds, .. } = p.list.tasks()[0] else { panic!() };
            seconds
        };
        let before = seconds(&p);
        let mut q = Player::new(new, &c);
        Succession::new(&old, new).pass_on(&mut p.row, &mut q.row, 0.0, |_| ()).unwrap();
        q.record(0.0);
        let after = seconds(&q);
        assert_eq!(before == after, goes_on, "{before} {after}");
        // At the first marker.
        assert!(goes_on || (after - 0.3).abs() < 1e-6);
    }
}
