//! One character looked at: what is told of it, what is held of it, and earlier frames in its place.

use super::{DT, away, config, overview, tick};
use glam::Vec3;
use std::sync::Arc;
use throng::asset::{Surface, builtin, skinning};
use throng::crowd::{
    Crowd, CrowdConfig, CrowdDraw, CrowdError, CrowdKind, FallStep, Gates, Idle, Layout, Playing,
    SlotKind, UpdateMode, Watch,
};
use throng::graph::{builtin_for, compile};
use throng::index::CharacterId;
use throng::math::{Mat3x4, View};

const WHO: CharacterId = CharacterId(3);

fn kind(name: &str) -> CrowdKind {
    let asset = builtin(name).unwrap().unwrap();
    let rig = Arc::new(asset.rig().unwrap());
    let (graph, text) = builtin_for(name).unwrap();
    let program = compile(graph, text).unwrap().program;
    CrowdKind {
        ground_offset: -skinning::rest_bounds(&asset).min.y,
        surface: Some(Arc::new(Surface::of(&asset))),
        playing: Playing::Graph(Arc::new(program)),
        ..CrowdKind::new(name, rig, asset.bounds)
    }
}

fn crowd_of(count: u32, configure: impl FnOnce(&mut CrowdConfig)) -> Crowd {
    let mut config = config(count, Layout::Grid);
    configure(&mut config);
    Crowd::new(config, vec![kind("humanoid"), kind("quadruped")]).unwrap()
}

/// Its record and the palette that this refers to.
fn palette_of(crowd: &CrowdDraw<'_>, id: CharacterId) -> Option<(Vec<Mat3x4>, Mat3x4)> {
    let (group, record) = crowd.groups.iter().find_map(|group| {
        let all =
            group.camera.start.min(group.shadow.start)..group.camera.end.max(group.shadow.end);
        let records = &crowd.instances[all.start as usize..all.end as usize];
        Some((group, records.iter().find(|r| r.id == id.0)?))
    })?;
    let page = &crowd.pages[group.page as usize];
    let palette = page.palette(record).unwrap().to_whole().into_owned();
    Some((palette, record.world_from_model))
}

#[test]
fn a_held_parameter_reaches_the_graph_and_is_let_go_again() {
    let mut crowd = crowd_of(8, |_| {});
    let who = crowd.handle(WHO).unwrap();
    let program = |crowd: &Crowd| {
        let kind = crowd.character(WHO).unwrap().kind;
        crowd.program(kind).unwrap().program().clone()
    };
    let speed = program(&crowd).param("speed").unwrap();
    let limits = program(&crowd).params[speed.get()].clone();
    let value = |crowd: &Crowd| {
        let frame = crowd.observe(who, Vec3::ZERO).unwrap();
        crowd.look(&frame).unwrap().1.params[speed.get()]
    };
    for _ in 0..10 {
        tick(&mut crowd, &overview(), DT);
    }
    let mut untouched = crowd_of(8, |_| {});
    for _ in 0..10 {
        tick(&mut untouched, &overview(), DT);
    }
    assert!(crowd.hold_param(who, "speed", 2.5).unwrap());
    assert!(!crowd.hold_param(who, "no such thing", 1.0).unwrap());
    for _ in 0..600 {
        tick(&mut crowd, &overview(), DT);
        assert_eq!(value(&crowd), 2.5, "whatever its driver wants");
    }
    assert_eq!(crowd.held_params(who).collect::<Vec<_>>(), [("speed", 2.5)]);
    // Within the file's range.
    assert!(crowd.hold_param(who, "speed", 1e9).unwrap());
    tick(&mut crowd, &overview(), DT);
    assert_eq!(value(&crowd), limits.max);
    crowd.release_param("speed");
    assert_eq!(crowd.held_params(who).count(), 0);
    let mut others = 0;
    for _ in 0..600 {
        tick(&mut crowd, &overview(), DT);
        others += u32::from(value(&crowd) != limits.max);
    }
    assert!(others > 550, "its driver has it back: {others}");
    // Nobody else noticed.
    let other = CharacterId(4);
    for _ in 0..1_201 {
        tick(&mut untouched, &overview(), DT);
    }
    assert_eq!(crowd.character(other), untouched.character(other));
    assert_ne!(crowd.character(WHO), untouched.character(WHO));
}

#[test]
fn what_others_write_while_a_parameter_is_held_is_what_comes_back() {
    let mut crowd = crowd_of(6, |_| {});
    let mut twin = crowd_of(6, |_| {});
    let who = crowd.handle(WHO).unwrap();
    // Held for no time at all: nothing has changed.
    crowd.hold_param(who, "speed", 3.0).unwrap();
    crowd.hold_param(who, "speed", 1.0).unwrap();
    crowd.release_params();
    let mut hashes = [None; 2];
    for _ in 0..120 {
        hashes = [&mut crowd, &mut twin].map(|c| tick(c, &overview(), DT).palette_hash);
    }
    assert!(hashes[0].is_some() && hashes[0] == hashes[1]);
    // Somebody else is held: the first one is released.
    let other = crowd.handle(CharacterId(0)).unwrap();
    crowd.hold_param(who, "speed", 3.0).unwrap();
    crowd.hold_param(other, "speed", 3.0).unwrap();
    assert_eq!((crowd.held_params(who).count(), crowd.held_params(other).count()), (0, 1));
    crowd.despawn(other).unwrap();
    tick(&mut crowd, &overview(), DT);
    assert_eq!(crowd.held_params(other).count(), 0, "it is gone");
    let gone = crowd.hold_param(other, "speed", 1.0);
    assert!(matches!(gone, Err(CrowdError::Gone { .. })), "{gone:?}");
}

#[test]
fn an_earlier_frame_is_drawn_bit_by_bit_and_changes_nothing() {
    for interpolate in [false, true] {
        let gates = |c: &mut CrowdConfig| {
            (c.interpolate, c.gates) = (interpolate, Gates::default());
        };
        let (mut crowd, mut twin) = (crowd_of(30, gates), crowd_of(30, gates));
        let who = crowd.handle(WHO).unwrap();
        // Far enough for every second frame.
        let view = View::look_at(Vec3::new(0.0, 30.0, 40.0), Vec3::ZERO, 0.8, 500.0, (160, 90));
        let mut kept = Vec::new();
        for frame in 0..60 {
            tick(&mut crowd, &view, DT);
            tick(&mut twin, &view, DT);
            let seen = crowd.observe(who, view.eye).unwrap();
            let drawn = palette_of(&crowd.draw(), WHO).unwrap();
            assert_eq!(seen.frame, frame);
            assert_eq!(seen.drawn().unwrap().1[..drawn.0.len()], drawn.0);
            kept.push((seen, drawn));
        }
        assert!(kept[5].1 != kept[50].1);
        for (frame, (palette, place)) in kept.iter().rev().step_by(7) {
            assert!(crowd.show_as(frame));
            // Once more between two ticks.
            assert!(crowd.show_as(frame));
            let draw = crowd.draw();
            assert_eq!(palette_of(&draw, WHO).unwrap(), (palette.clone(), *place));
            let shown = crowd.drawn_weight(WHO);
            assert_eq!(shown, frame.drawn().unwrap().0.weight);
            // What was written is told to the renderer, as whole palettes in order.
            for page in draw.pages {
                assert!(page.is_palettes(&page.dirty));
                assert!(page.dirty.is_sorted_by(|a, b| a.end <= b.start), "{:?}", page.dirty);
            }
            let hashes = [&mut crowd, &mut twin].map(|c| tick(c, &view, DT).palette_hash);
            assert!(hashes[0].is_some() && hashes[0] == hashes[1], "the tick saw nothing of it");
            let [own, expected] = [&crowd, &twin].map(|c| palette_of(&c.draw(), WHO));
            assert_eq!(own, expected);
            let at = crowd.draw();
            assert!(at.pages.iter().all(|p| p.is_palettes(&p.dirty)));
        }
    }
}

trait Weight {
    fn drawn_weight(&self, id: CharacterId) -> f32;
}

impl Weight for Crowd {
    fn drawn_weight(&self, id: CharacterId) -> f32 {
        self.draw().instances.iter().find(|record| record.id == id.0).unwrap().weight
    }
}

#[test]
fn somebody_out_of_the_picture_can_be_shown_where_it_was() {
    let mut crowd = crowd_of(12, |_| {});
    let who = crowd.handle(WHO).unwrap();
    tick(&mut crowd, &overview(), DT);
    let seen = crowd.observe(who, Vec3::ZERO).unwrap();
    // One frame later the camera has turned away; its slot is still its own.
    tick(&mut crowd, &away(), DT);
    assert!(crowd.draw().instances.is_empty());
    assert!(crowd.show_as(&seen));
    let draw = crowd.draw();
    assert_eq!((draw.instances.len(), draw.groups.len()), (1, 1));
    assert_eq!(draw.groups[0].camera, 0..1);
    assert_eq!(
        Some(&draw.instances[0].world_from_model),
        seen.drawn().map(|d| &d.0.world_from_model)
    );
    for _ in 0..60 {
        tick(&mut crowd, &away(), DT);
    }
    assert!(!crowd.show_as(&seen), "it holds no palette any more");
    let hidden = crowd.observe(who, Vec3::ZERO).unwrap();
    assert!(hidden.drawn().is_none() && crowd.bones(&hidden).is_none());
    assert!(!crowd.show_as(&hidden));
    assert_eq!(
        crowd.bones(&seen).unwrap().len(),
        crowd.rig(seen.kind()).unwrap().bone_count().get()
    );
}

#[test]
fn a_capture_of_the_picked_is_what_a_watch_of_the_captured_gives() {
    let mut crowd = crowd_of(9, |_| {});
    let who = crowd.handle(WHO).unwrap();
    for frame in 0..90 {
        let (character, also) = match frame % 3 {
            0 => (None, Some(who)),
            1 => (Some(who), None),
            _ => (Some(who), Some(who)),
        };
        crowd.watch(Watch { character, ..Watch::default() }).unwrap();
        crowd.watch_also(also).unwrap();
        tick(&mut crowd, &overview(), DT);
        let seen = crowd.observe(who, Vec3::ZERO).unwrap();
        let names = crowd.names(seen.kind()).unwrap();
        let own = serde_json::to_value(seen.capture.as_ref().unwrap().named(names)).unwrap();
        let captured: Vec<_> = crowd.captures().collect();
        assert_eq!((captured.len(), captured[0].id, captured[0].frame), (1, WHO, frame));
        assert_eq!(own, serde_json::to_value(captured[0].list).unwrap());
        assert!(own["executed"].as_u64().unwrap() > 0 && seen.record_ns > 0);
    }
    crowd.watch(Watch::default()).unwrap();
    crowd.watch_also(None).unwrap();
    tick(&mut crowd, &overview(), DT);
    assert!(crowd.observe(who, Vec3::ZERO).unwrap().capture.is_none(), "nobody looks");
}

#[test]
fn whoever_is_not_evaluated_says_why() {
    let mut crowd = crowd_of(20, |c| c.gates = Gates::default());
    let who = crowd.handle(WHO).unwrap();
    let idle = |crowd: &Crowd| crowd.observe(who, Vec3::ZERO).unwrap().decisions.idle();
    tick(&mut crowd, &away(), DT);
    let Some(Idle::Unseen { seconds, grace }) = idle(&crowd) else { panic!("{:?}", idle(&crowd)) };
    assert!(seconds.is_infinite() && grace == 0.25);
    assert!(idle(&crowd).unwrap().to_string().contains("yet"));
    let near = View::look_at(Vec3::new(0.0, 12.0, 20.0), Vec3::ZERO, 1.4, 500.0, (160, 90));
    tick(&mut crowd, &near, DT);
    assert_eq!(idle(&crowd), None);
    // From so far away that it waits its turns.
    let mut waits = 0;
    for _ in 0..24 {
        tick(&mut crowd, &overview(), DT);
        let decisions = crowd.observe(who, overview().eye).unwrap().decisions;
        assert_eq!(decisions.every, 4);
        assert!(decisions.radii > 120.0 && decisions.cut && decisions.countdown < 4);
        match decisions.idle() {
            Some(Idle::Waits { every: 4, .. }) => waits += 1,
            other => assert_eq!(other, None),
        }
    }
    // One of its first turns was from nearer by.
    assert!((17..=18).contains(&waits), "{waits}");
    for _ in 0..60 {
        tick(&mut crowd, &away(), DT);
    }
    let Some(Idle::Unseen { seconds, .. }) = idle(&crowd) else { panic!("{:?}", idle(&crowd)) };
    assert!((0.9..1.1).contains(&seconds), "{seconds}");
    crowd.set_update_mode(WHO, UpdateMode::AlwaysTickClocks).unwrap();
    tick(&mut crowd, &away(), DT);
    assert_eq!(idle(&crowd), Some(Idle::ClocksAlone));
    let decisions = crowd.observe(who, Vec3::ZERO).unwrap().decisions;
    assert!(matches!(decisions.slot, SlotKind::Clocks { .. }));
    let leader = CharacterId(7);
    crowd.follow(WHO, leader, throng::crowd::Beside::default()).unwrap();
    tick(&mut crowd, &near, DT);
    assert_eq!(idle(&crowd), Some(Idle::Follows(leader)));
    let own = crowd.observe(who, Vec3::ZERO).unwrap();
    assert!(own.home.is_none() && own.decisions.fall.is_none());
    assert_ne!(FallStep::Down.name(), FallStep::Rises.name());
}

#[test]
fn what_is_told_of_a_graph_is_what_it_is_at() {
    let mut crowd = crowd_of(10, |_| {});
    let who = crowd.handle(WHO).unwrap();
    let mut transitions = 0;
    for _ in 0..900 {
        tick(&mut crowd, &overview(), DT);
        let seen = crowd.observe(who, Vec3::ZERO).unwrap();
        let (bound, look) = crowd.look(&seen).unwrap();
        let program = bound.program();
        assert_eq!(look.machines.len(), program.machines.len());
        assert_eq!(
            (look.params.len(), look.keys.len()),
            (program.params.len(), program.keys.len())
        );
        for (at, machine) in look.machines.iter().enumerate() {
            let name = &program.machines[at].states[machine.state.get()].name;
            let id = program.machine(&program.machines[at].name).unwrap();
            assert_eq!(crowd.state(WHO, id), Some(name.as_str()));
            if let Some(transition) = machine.transition {
                transitions += 1;
                assert!((0.0..=1.0).contains(&transition.progress()));
            }
        }
        let shows = |c: &throng::graph::ClockLook| c.seconds >= 0.0 && c.seconds <= c.length;
        assert!(look.clocks.iter().all(shows), "{:?}", look.clocks);
        assert!(look.clocks.iter().all(|c| (0.0..=1.0).contains(&c.normalized())));
        assert!(look.clocks.iter().any(|c| c.heard) || seen.capture.is_none());
    }
    assert!(transitions > 20, "{transitions}");
    assert!(crowd.layers(&crowd.observe(who, Vec3::ZERO).unwrap()).is_empty());
}

#[test]
fn a_posed_box_holds_its_bones_and_moves_with_it() {
    let mut crowd = crowd_of(10, |_| {});
    tick(&mut crowd, &overview(), DT);
    for id in (0..10).map(CharacterId) {
        let seen = crowd.observe(crowd.handle(id).unwrap(), Vec3::ZERO).unwrap();
        let (around, place) = (crowd.posed_box(&seen).unwrap(), seen.world_from_model().unwrap());
        let model = place.inverse();
        let bones = crowd.bones(&seen).unwrap();
        let inside = bones
            .iter()
            .flatten()
            .filter(|bone| around.contains(model.transform_point3(bone.translation.into()), 0.02));
        assert!(inside.count() * 10 >= bones.len() * 9, "{id}");
        assert!(around.size().max_element() < 2.0 * seen.state.radius + 0.5);
    }
}
