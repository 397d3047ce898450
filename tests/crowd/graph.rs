//! Characters that a graph plays.

use super::walker::{STATES, program, walker};
use super::*;
use std::sync::{Arc, Mutex};
use throng::crowd::{NotifyEvent, NotifySink, Playing};
use throng::graph::MachineId;

fn walkers(config: CrowdConfig) -> Crowd {
    Crowd::new(config, vec![walker()]).unwrap()
}

/// Keeps what it is told.
#[derive(Clone, Debug, Default)]
struct Heard(Arc<Mutex<Vec<(NotifyEvent, String)>>>);

impl NotifySink for Heard {
    fn notify(&mut self, name: &str, event: &NotifyEvent) {
        self.0.lock().unwrap().push((*event, name.to_owned()));
    }
}

impl Heard {
    fn of(crowd: &mut Crowd) -> Self {
        let heard = Self::default();
        crowd.add_notify_sink(Box::new(heard.clone()));
        heard
    }

    fn take(&self) -> Vec<(NotifyEvent, String)> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }
}

fn state(crowd: &Crowd, id: u32) -> String {
    crowd.state(CharacterId(id), MachineId(0)).unwrap().to_owned()
}

#[test]
fn drivers_take_a_crowd_through_every_state_and_near_home() {
    let mut crowd = walkers(config(100, Layout::Grid));
    let home: Vec<_> = (0..100).map(|id| crowd.character(CharacterId(id)).unwrap()).collect();
    let mut visited: BTreeMap<String, u32> = BTreeMap::new();
    let (mut moved, mut furthest) = (0.0_f32, 0.0_f32);
    for _ in 0..1_200 {
        tick(&mut crowd, &overview(), DT);
        for id in 0..100 {
            *visited.entry(state(&crowd, id)).or_default() += 1;
            let now = crowd.character(CharacterId(id)).unwrap().position;
            furthest = furthest.max(now.distance(home[id as usize].position));
            moved = moved.max(furthest);
        }
    }
    assert!(STATES.iter().all(|s| visited[*s] > 1_000), "{visited:?}");
    // It is let go for a while before it turns back.
    assert!(moved > 1.0 && furthest < 4.5, "{furthest}");
}

#[test]
fn steps_are_heard_from_those_who_walk_and_in_order() {
    let mut crowd = walkers(config(60, Layout::Grid));
    let (ears, mut heard) = (Heard::of(&mut crowd), 0);
    for _ in 0..600 {
        let before: Vec<_> = (0..60).map(|id| state(&crowd, id)).collect();
        let stats = tick(&mut crowd, &overview(), DT);
        let notifies = ears.take();
        assert_eq!(stats.notifies as usize, notifies.len());
        assert!(notifies.is_sorted_by_key(|(n, _)| n.character));
        for (n, name) in &notifies {
            assert_eq!(name, "step");
            let walks = |s: &str| s == "walk_fwd";
            let id = n.character.0;
            assert!(walks(&state(&crowd, id)) || walks(&before[id as usize]));
        }
        heard += notifies.len();
    }
    assert!(heard > 200, "{heard} steps");
}

#[test]
fn any_number_of_threads_gives_the_same_bits_and_notifies() {
    let run = |threads, prune, steal| {
        let config = CrowdConfig { threads, prune, steal, ..config(300, Layout::Disc) };
        let mut crowd = walkers(config);
        let ears = Heard::of(&mut crowd);
        let mut hash = None;
        for frame in 0..150 {
            hash = tick(&mut crowd, &looking(frame as f32 * 0.05), DT).palette_hash;
        }
        let told = ears.take().into_iter().map(|(n, name)| (n.character, n.fired, name));
        (hash, told.collect::<Vec<_>>())
    };
    let one = run(1, true, true);
    assert!(one.1.len() > 10);
    assert_eq!(run(2, true, true), one);
    assert_eq!(run(3, true, false), one);
    assert_eq!(run(2, false, true), one);
}

#[test]
fn who_was_out_of_sight_is_where_it_was_and_goes_on() {
    let mut crowd = walkers(CrowdConfig { grace: 0.1, ..config(80, Layout::Grid) });
    for _ in 0..200 {
        tick(&mut crowd, &overview(), DT);
    }
    let place = |crowd: &Crowd, id| crowd.character(CharacterId(id)).unwrap().position;
    (0..12).for_each(|_| {
        tick(&mut crowd, &away(), DT);
    });
    let before: Vec<_> = (0..80).map(|id| (place(&crowd, id), state(&crowd, id))).collect();
    for _ in 0..300 {
        let stats = tick(&mut crowd, &away(), DT);
        assert_eq!((stats.evaluated, stats.notifies), (0, 0));
    }
    for (id, (position, state_then)) in before.iter().enumerate() {
        assert_eq!((place(&crowd, id as u32), &state(&crowd, id as u32)), (*position, state_then));
    }
    let stats = tick(&mut crowd, &overview(), DT);
    assert_eq!((stats.evaluated, stats.entered), (80, 80));
    for (id, (position, _)) in before.iter().enumerate() {
        assert_eq!(place(&crowd, id as u32), *position, "nobody jumps");
    }
    (0..60).for_each(|_| {
        tick(&mut crowd, &overview(), DT);
    });
    let moved = before.iter().enumerate().filter(|(id, (p, _))| place(&crowd, *id as u32) != *p);
    assert!(moved.count() > 10);
}

#[test]
fn a_foot_on_the_ground_stays_where_it_is_while_somebody_walks_straight_on() {
    let mut crowd = walkers(config(40, Layout::Grid));
    let kind = walker();
    let skeleton = kind.rig.skeleton();
    let joint = skeleton.model_from_bone(skeleton.rest())[rig::LEFT_FOOT].translation;
    let mut before: BTreeMap<u32, (Vec3, f32)> = BTreeMap::new();
    let mut walking: BTreeMap<u32, u32> = BTreeMap::new();
    let (mut planted, mut moving) = (0, 0);
    for _ in 0..900 {
        tick(&mut crowd, &overview(), DT);
        for (id, (palette, world)) in drawn(crowd.draw()) {
            let model = palette[rig::LEFT_FOOT].to_affine().transform_point3(joint.into());
            let foot = world.to_affine().transform_point3(model);
            let heading = crowd.character(CharacterId(id)).unwrap().heading;
            let frames = walking.entry(id).or_default();
            *frames = if state(&crowd, id) == "walk_fwd" { *frames + 1 } else { 0 };
            let Some((was, faced)) = before.insert(id, (foot, heading)) else { continue };
            // Transitions last a quarter of a second.
            let turned = (heading - faced).abs();
            if *frames > 20 && turned < 0.01 {
                let slid = was.distance(foot);
                // A foot that is lifted goes twice as fast as the body, and a turn carries it
                // along, less than half a metre from where it stands.
                let body = rig::WALK_SPEED * DT as f32;
                planted += u32::from(slid < 0.001 + 0.5 * turned);
                moving += u32::from(slid > body);
            }
        }
    }
    // Half of each step, but for the frames in which the foot is set down or lifted.
    assert!(planted > 1_000 && planted > moving * 4 / 5, "{planted} {moving}");
}

#[test]
fn a_graph_that_asks_for_more_than_there_is_is_refused() {
    let kind =
        CrowdKind { playing: Playing::Graph(program()), ..rig::kind("statue", &[rig::idle()]) };
    let error = Crowd::new(config(1, Layout::Grid), vec![kind]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "kind \"statue\": graph \"walker\": no clip `walk_fwd`; the character has: idle"
    );
}

#[test]
fn a_hidden_character_of_a_graph_is_small_too() {
    let kinds = [walker()];
    let estimate = Crowd::estimate(&config(1_000, Layout::Grid), &kinds);
    assert!(estimate.characters <= 512_000, "{estimate:?}");
    assert!(estimate.characters > 1_000 * Crowd::BYTES_PER_CHARACTER as u64);
    let mut crowd = walkers(config(1_000, Layout::Grid));
    let held = tick(&mut crowd, &away(), DT).character_bytes;
    assert!(held.abs_diff(estimate.characters) < 8_000, "{held} {estimate:?}");
}

#[test]
fn everybody_gets_other_ideas_when_told_to_go_on() {
    let mut crowd = walkers(config(100, Layout::Grid));
    for _ in 0..10 {
        tick(&mut crowd, &overview(), DT);
    }
    let states = |crowd: &Crowd| (0..100).map(|id| state(crowd, id)).collect::<Vec<_>>();
    let changed = |crowd: &mut Crowd, hurry: bool| {
        let before = states(crowd);
        if hurry {
            crowd.next_clip();
        }
        for _ in 0..10 {
            tick(crowd, &overview(), DT);
        }
        before.iter().zip(states(crowd)).filter(|(a, b)| **a != *b).count()
    };
    let (left_alone, hurried) = (changed(&mut crowd, false), changed(&mut crowd, true));
    assert!(left_alone < 15 && hurried > 30, "{left_alone} {hurried}");
}
