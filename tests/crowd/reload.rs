//! Graphs that take another one's place while it plays.

use super::walker::{STATES, program, walker};
use super::*;
use std::sync::{Arc, Mutex};
use throng::crowd::{NotifyEvent, NotifySink, UpdateMode};
use throng::graph::{MachineId, ValidProgram, compile};
use throng::index::CharacterKind;
use throng::motion::Moment;

const WALKER: CharacterKind = CharacterKind(0);

fn compiled(text: &str) -> Arc<ValidProgram> {
    Arc::new(compile("new.ron", text).unwrap().program)
}

/// The walker's graph as a file: its states in another order, without the one that waves.
const CALMER: &str = r#"(
    version: 1,
    parameters: {"speed": Float(range: (-5, 5)), "more": Float(default: 0.5)},
    nodes: {
        "stand": Clip(clip: "idle"),
        "walk": Clip(clip: "walk_fwd"),
        "gait": StateMachine(
            entry: "idle",
            states: {"walk_fwd": (pose: "walk"), "idle": (pose: "stand")},
            transitions: [
                (from: "idle", to: "walk_fwd", when: "speed > 0.1"),
                (from: "walk_fwd", to: "idle", when: "speed <= 0.1"),
            ],
        ),
    },
    output: "gait",
)"#;

fn states(crowd: &Crowd) -> Vec<String> {
    let state = |id| crowd.state(CharacterId(id), MachineId(0)).unwrap().to_owned();
    (0..crowd.count()).map(state).collect()
}

/// A crowd half of which is seen, after `ticks` of them.
fn after(ticks: u32) -> Crowd {
    let mut crowd = Crowd::new(config(150, Layout::Grid), vec![walker()]).unwrap();
    for at in 0..ticks {
        tick(&mut crowd, &looking(at as f32 * 0.01), DT);
    }
    crowd
}

/// Everything that shows, but for histories.
fn looks(crowd: &Crowd) -> (Vec<String>, Vec<String>) {
    let place = |id| format!("{:?}", crowd.character(CharacterId(id)));
    ((0..crowd.count()).map(place).collect(), states(crowd))
}

fn matrices(crowd: &Crowd) -> Vec<Vec<Mat3x4>> {
    crowd.draw().pages.iter().map(|page| page.matrices.clone()).collect()
}

#[test]
fn the_same_graph_once_more_changes_nothing_but_transitions_that_are_under_way() {
    let (mut left_alone, mut reloaded) = (after(300), after(300));
    reloaded.replace_graphs(&[(WALKER, program())]).unwrap();
    assert_eq!(looks(&left_alone), looks(&reloaded));
    let mut differed = false;
    for at in 0..200 {
        let view = looking(3.0 + at as f32 * 0.01);
        tick(&mut left_alone, &view, DT);
        tick(&mut reloaded, &view, DT);
        assert_eq!(looks(&left_alone), looks(&reloaded), "tick {at}");
        differed |= matrices(&left_alone) != matrices(&reloaded);
        // A transition lasts a quarter of a second, and one needs two frames of history.
        let settled = at > 30;
        assert!(!settled || matrices(&left_alone) == matrices(&reloaded), "tick {at}");
    }
    assert!(differed, "nobody was in a transition, so nothing was tried");
}

#[test]
fn states_and_drivers_live_on_by_name_and_the_rest_begins_anew() {
    let mut crowd = after(400);
    let before = states(&crowd);
    let count = |states: &[String], name: &str| states.iter().filter(|s| *s == name).count();
    assert!(STATES.iter().all(|name| count(&before, name) > 3), "{before:?}");
    crowd.replace_graphs(&[(WALKER, compiled(CALMER))]).unwrap();
    for (before, now) in before.iter().zip(states(&crowd)) {
        assert_eq!(if before == "wave" { "idle" } else { before }, now);
    }
    // Drivers go on: who walks still goes somewhere, and others begin to.
    let home: Vec<_> = (0..150).map(|id| crowd.character(CharacterId(id)).unwrap()).collect();
    for _ in 0..300 {
        tick(&mut crowd, &overview(), DT);
    }
    let moved = |id: u32| {
        crowd.character(CharacterId(id)).unwrap().position.distance(home[id as usize].position)
    };
    assert!((0..150).filter(|id| moved(*id) > 0.2).count() > 50);
    assert!(
        matrices(&crowd).iter().flatten().all(|m| m
            .rows
            .as_flattened()
            .iter()
            .all(|v| v.is_finite()))
    );
}

#[test]
fn what_can_not_take_its_place_leaves_everything_as_it_is() {
    let (mut left_alone, mut crowd) = (after(60), after(60));
    let stranger = compiled(&CALMER.replace("walk_fwd\")", "crawl\")"));
    let error = crowd.replace_graphs(&[(WALKER, stranger)]).unwrap_err().to_string();
    assert!(error.contains("no clip `crawl`") && error.contains("walk_fwd"), "{error}");
    let nobody = [(WALKER, compiled(CALMER)), (CharacterKind(1), compiled(CALMER))];
    let error = crowd.replace_graphs(&nobody).unwrap_err();
    assert!(matches!(error, CrowdError::NoGraph { kind: 1 }), "{error}");
    for _ in 0..60 {
        let hashes = [&mut left_alone, &mut crowd].map(|c| tick(c, &overview(), DT).palette_hash);
        assert!(hashes[0].is_some() && hashes[0] == hashes[1]);
    }
    crowd.record_frames();
    let error = crowd.replace_graphs(&[(WALKER, compiled(CALMER))]).unwrap_err();
    assert!(matches!(error, CrowdError::Recorded), "{error}");
}

#[test]
fn more_poses_than_memory_holds_are_refused_with_the_numbers() {
    let kinds = || vec![walker()];
    let roomy =
        CrowdConfig { update_mode: UpdateMode::AlwaysTickPose, ..config(200, Layout::Grid) };
    let needed = Crowd::estimate(&roomy, &kinds()).needed;
    let mut crowd = Crowd::new(CrowdConfig { memory_limit: needed * 3, ..roomy }, kinds()).unwrap();
    tick(&mut crowd, &overview(), DT);
    let keeps = |n: usize| {
        let node = |i: usize| match i {
            0 => "\"n0\": Clip(clip: \"idle\")".to_owned(),
            i => format!("\"n{i}\": SaveSnapshot(source: \"n{}\", snapshot: \"s{i}\")", i - 1),
        };
        let nodes: Vec<_> = (0..=n).map(node).collect();
        let nodes = nodes.join(",\n");
        compiled(&format!("(version: 1, nodes: {{{nodes}}}, output: \"n{n}\")"))
    };
    let error = crowd.replace_graphs(&[(WALKER, keeps(400))]).unwrap_err();
    let CrowdError::DoesNotFit { count: 200, needed, limit, fits } = error else {
        panic!("{error}")
    };
    assert!(needed > limit && fits < 200, "{needed} {limit} {fits}");
    crowd.replace_graphs(&[(WALKER, keeps(1))]).unwrap();
    assert_eq!(tick(&mut crowd, &overview(), DT).evaluated, 200);
}

/// Begins and ends of spans.
#[derive(Clone, Debug, Default)]
struct Spans(Arc<Mutex<Vec<(u32, Moment)>>>);

impl NotifySink for Spans {
    fn notify(&mut self, _: &str, event: &NotifyEvent) {
        self.0.lock().unwrap().push((event.character.0, event.fired.moment));
    }
}

#[test]
fn spans_that_are_open_end() {
    let heard = Spans::default();
    let mut crowd = Crowd::new(config(40, Layout::Grid), vec![walker()]).unwrap();
    let spans = "notifies: {\"idle\": [DuringPart(0, 0.9, \"breath\")]}, nodes: {";
    crowd.replace_graphs(&[(WALKER, compiled(&CALMER.replacen("nodes: {", spans, 1)))]).unwrap();
    crowd.add_notify_sink(Box::new(heard.clone()));
    let balance = || {
        let heard = heard.0.lock().unwrap();
        let of = |moment| heard.iter().filter(|(_, m)| *m == moment).count();
        (of(Moment::Begin), of(Moment::End))
    };
    for _ in 0..30 {
        tick(&mut crowd, &overview(), DT);
    }
    let (begun, ended) = balance();
    assert!(begun > ended + 5, "{begun} {ended}");
    crowd.replace_graphs(&[(WALKER, compiled(CALMER))]).unwrap();
    tick(&mut crowd, &overview(), DT);
    let (begun, ended) = balance();
    assert_eq!(begun, ended);
    let breath = crowd.notify_names().iter().find(|(_, name)| *name == "breath").unwrap().0;
    assert_eq!(crowd.notify_counts().of(breath, Moment::End) as usize, ended);
}
