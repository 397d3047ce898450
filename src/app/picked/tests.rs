use super::*;
use crate::asset::{Surface, builtin};
use crate::crowd::{CrowdConfig, CrowdKind, Gates, Playing, TickInput};
use crate::graph::{builtin_for, compile};
use crate::math::{Mat3x4, View};
use crate::profile::PhaseTimes;
use std::sync::Arc;

const WHO: CharacterId = CharacterId(2);

fn crowd(count: u32) -> Crowd {
    let asset = builtin("humanoid").unwrap().unwrap();
    let (graph, text) = builtin_for("humanoid").unwrap();
    let program = compile(graph, text).unwrap().program;
    let kind = CrowdKind {
        surface: Some(Arc::new(Surface::of(&asset))),
        playing: Playing::Graph(Arc::new(program)),
        ..CrowdKind::new("humanoid", Arc::new(asset.rig().unwrap()), asset.bounds)
    };
    let config = CrowdConfig { count, gates: Gates::OFF, ..CrowdConfig::default() };
    Crowd::new(config, vec![kind]).unwrap()
}

fn view() -> View {
    View::look_at(Vec3::new(0.0, 30.0, 1.0), Vec3::ZERO, 1.2, 200.0, (160, 90))
}

/// One frame as a run has it.
fn frame(crowd: &mut Crowd, picked: &mut Picked, dt: f64) {
    picked.settle(crowd);
    crowd.watch_also(picked.who()).unwrap();
    let view = view();
    let input = TickInput {
        dt,
        played: true,
        view: &view,
        shadow_clip_from_world: None,
        palette_hash: false,
    };
    crowd.tick(&input, &PhaseTimes::default());
    picked.look(crowd, view.eye, dt != 0.0);
}

/// What is drawn of it now.
fn drawn(crowd: &Crowd) -> (Mat3x4, Vec<Mat3x4>) {
    let draw = crowd.draw();
    let record = draw.instances.iter().find(|record| record.id == WHO.0).unwrap();
    let page = &draw.pages[draw.groups[0].page as usize];
    let palette = page.palette(record).unwrap().to_whole();
    (record.world_from_model, palette.into_owned())
}

#[test]
fn nobody_picked_keeps_and_draws_nothing() {
    let (mut crowd, mut picked, mut sketch) = (crowd(6), Picked::new(None), Sketch::default());
    for _ in 0..10 {
        frame(&mut crowd, &mut picked, 0.02);
        picked.draw(&crowd, view().eye, &mut sketch);
    }
    assert!(picked.frame().is_none() && picked.history().is_empty());
    assert_eq!((picked.history().bytes(), picked.goal()), (0, None));
    assert!(sketch.lines().is_empty());
    assert_eq!(crowd.captures().count(), 0, "nothing is captured");
}

#[test]
fn the_last_frames_are_kept_and_go_with_whoever_is_picked() {
    let mut crowd = crowd(6);
    let mut picked = Picked::new(Some(WHO));
    for _ in 0..History::LENGTH + 20 {
        frame(&mut crowd, &mut picked, 0.02);
        assert!(picked.history().len() <= History::LENGTH);
    }
    assert_eq!(picked.who(), crowd.handle(WHO));
    let frames: Vec<u64> = picked.history().iter().map(|frame| frame.frame).collect();
    assert_eq!(frames, (20..20 + History::LENGTH as u64).collect::<Vec<_>>());
    let bytes: usize = picked.history().iter().map(CharacterFrame::bytes).sum();
    assert_eq!(picked.history().bytes(), bytes);
    assert!(bytes < 8 << 20, "{bytes}");
    // The world stands still: the newest is renewed.
    for _ in 0..5 {
        frame(&mut crowd, &mut picked, 0.0);
    }
    assert_eq!(picked.history().len(), History::LENGTH);
    assert_eq!(picked.history().last().unwrap().frame, crowd.ticks() - 1);
    // Somebody else.
    crowd.hold_param(picked.who().unwrap(), "speed", 1.0).unwrap();
    let before = picked.who().unwrap();
    let other = crowd.handle(CharacterId(4));
    picked.pick(other, &mut crowd);
    assert_eq!((picked.history().len(), crowd.held_params(before).count()), (0, 0));
    frame(&mut crowd, &mut picked, 0.02);
    assert_eq!(picked.history().len(), 1);
    // Who goes is let go of.
    crowd.despawn(other.unwrap()).unwrap();
    assert_eq!(picked.settle(&mut crowd), Some(CharacterId(4)));
    assert!(picked.who().is_none() && picked.history().is_empty());
}

#[test]
fn a_large_character_has_fewer_frames_and_the_newest_always() {
    let mut crowd = crowd(6);
    let mut picked = Picked::new(Some(WHO));
    frame(&mut crowd, &mut picked, 0.02);
    let mut large = picked.frame().unwrap().clone();
    // Bodies enough for a third of what is kept at most.
    let body = size_of::<(Vec3, Vec3, f32)>();
    large.bodies = vec![(Vec3::ZERO, Vec3::ZERO, 1.0); History::MOST_BYTES / 3 / body];
    let mut history = History::default();
    for number in 0..9 {
        large.frame = number;
        history.push(large.clone());
        assert!(history.bytes() <= History::MOST_BYTES);
    }
    assert_eq!((history.len(), history.last().unwrap().frame), (2, 8));
    large.bodies = vec![(Vec3::ZERO, Vec3::ZERO, 1.0); 2 * History::MOST_BYTES / body];
    history.push(large);
    assert_eq!(history.len(), 1);
}

#[test]
fn frames_that_are_scrubbed_to_are_those_that_were_drawn() {
    let mut crowd = crowd(6);
    let mut picked = Picked::new(Some(WHO));
    let mut kept = Vec::new();
    for _ in 0..50 {
        frame(&mut crowd, &mut picked, 0.02);
        kept.push(drawn(&crowd));
    }
    for at in [10, 49, 0, 31, 1_000] {
        picked.scrub(Some(at));
        let at = at.min(49);
        assert_eq!(picked.scrubbed(), Some(at));
        for _ in 0..3 {
            // The world stands still meanwhile.
            frame(&mut crowd, &mut picked, 0.0);
            assert_eq!(drawn(&crowd), kept[at], "frame {at}, bit by bit");
        }
        let shown = picked.frame().unwrap();
        assert_eq!((shown.frame, picked.history().len()), (at as u64, 50));
    }
    picked.scrub(Some(20));
    assert_eq!(
        (picked.stepped(-3), picked.stepped(500), picked.stepped(-50)),
        (Some(17), Some(49), Some(0))
    );
    // Time that passes ends it.
    frame(&mut crowd, &mut picked, 0.02);
    assert_eq!((picked.scrubbed(), picked.history().len()), (None, 51));
    assert!(drawn(&crowd) != kept[20] && drawn(&crowd) != kept[49]);
    picked.scrub(Some(20));
    picked.scrub(None);
    assert_eq!(picked.frame().unwrap().frame, 50 + 15);
}

#[test]
fn what_is_drawn_is_where_the_character_is_and_as_chosen() {
    let mut crowd = crowd(6);
    let mut picked = Picked::new(Some(WHO));
    for _ in 0..60 {
        frame(&mut crowd, &mut picked, 0.02);
    }
    let state = crowd.character(WHO).unwrap();
    let lines = |picked: &Picked| {
        let mut sketch = Sketch::default();
        picked.draw(&crowd, view().eye, &mut sketch);
        let lines = sketch.lines();
        (lines.tested.to_vec(), lines.x_ray.to_vec())
    };
    let none = Shows {
        bones: None,
        bounds: false,
        targets: false,
        trail: false,
        home: false,
        bodies: false,
    };
    picked.shows = none;
    assert_eq!(lines(&picked), (vec![], vec![]));
    picked.shows = Shows { bones: Some(BoneColor::Detail), ..none };
    let (tested, bones) = lines(&picked);
    let rig = crowd.rig(state.kind).unwrap();
    assert!(tested.is_empty() && bones.len() >= 4 * rig.bone_count().get() - 4);
    let near = |p: [f32; 3]| Vec3::from(p).distance(state.center) < 1.2 * state.radius;
    assert!(bones.iter().all(|line| near(line.start) && near(line.end)));
    // Near: every bone is animated, and some would not be from afar.
    let colors: std::collections::BTreeSet<u32> = bones.iter().map(|line| line.color).collect();
    assert_eq!(colors.len(), 2);
    picked.shows = Shows { bones: Some(BoneColor::Axes), ..none };
    assert!(lines(&picked).1.len() > bones.len() / 4 * 3);
    picked.shows = Shows { bounds: true, ..none };
    let (bounds, _) = lines(&picked);
    assert_eq!(bounds.len(), 3 * 48 + 12, "a sphere and a box");
    picked.shows = Shows { trail: true, ..none };
    assert_eq!(lines(&picked).0.len(), 59);
    picked.shows = Shows { targets: true, ..none };
    assert!(lines(&picked).1.len() >= 2 * 49, "the ground under two feet");
    picked.follows = true;
    assert_eq!(picked.goal(), Some((state.center, state.radius)));
}
