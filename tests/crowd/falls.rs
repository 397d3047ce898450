//! Falls among what else a crowd does: sequences, followers, coming and going, and time.

use super::ragdoll::{Cast, GROUNDS, bones, config, near, tick};
use super::{DT, away, overview};
use glam::{Affine3A, Vec3};
use std::collections::BTreeMap;
use throng::crowd::sequence::{Cue, Order, SequenceConfig, SequenceState, Track};
use throng::crowd::{Beside, Crowd, CrowdConfig, Layout, Spawning};
use throng::index::CharacterId;
use throng::math::View;
use throng::motion::Terrain;

fn ticks(crowd: &mut Crowd, frames: u32, view: &View) {
    for _ in 0..frames {
        tick(crowd, view, DT);
    }
}

/// Frames until somebody who was knocked down stands again; it has to lie in between.
fn until_it_stands(crowd: &mut Crowd, id: CharacterId, mut each: impl FnMut(&mut Crowd)) -> u32 {
    let (mut lay, mut frames) = (false, 0);
    loop {
        each(crowd);
        frames += 1;
        let fallen = crowd.fallen(id);
        lay |= fallen.as_ref().is_some_and(|fallen| fallen.at_rest);
        if lay && fallen.is_none() {
            return frames;
        }
        assert!(frames < 900, "{id} never gets up");
    }
}

#[test]
fn a_cast_member_falls_whether_or_not_anybody_looks_and_then_does_as_it_is_told() {
    let cast = Cast::new();
    let mut crowd = cast.crowd(true, config(20, 0, GROUNDS[1]));
    let id = crowd
        .characters()
        .map(|c| c.id())
        .find(|id| crowd.kind_name(crowd.kind_of(*id).unwrap()) == Some("humanoid"));
    let id = id.unwrap();
    let cues = |key: &str, value| {
        let order = Order::Set { key: key.into(), value };
        Track { member: 0, cues: vec![Cue { seconds: 0.0, order }] }
    };
    let sequence = SequenceConfig {
        name: "scene".into(),
        cast: vec![id],
        seconds: 2.0,
        looping: true,
        tracks: vec![cues("speed", 1.4)],
        ..SequenceConfig::default()
    };
    let sequence = crowd.add_sequence(sequence).unwrap();
    crowd.play_sequence(sequence).unwrap();
    let position = |crowd: &Crowd| crowd.character(id).unwrap().position;
    let walks = |crowd: &mut Crowd| {
        let from = position(crowd);
        ticks(crowd, 120, &away());
        position(crowd).distance(from)
    };
    ticks(&mut crowd, 60, &away());
    assert!(walks(&mut crowd) > 1.5, "it walks as it is told");
    assert!(
        crowd.knock_down(id, Vec3::X * 1.5).unwrap(),
        "nobody sees it, its sequence has it pose"
    );
    until_it_stands(&mut crowd, id, |crowd| {
        tick(crowd, &away(), DT);
        let (_, playing) = crowd.sequences().next().unwrap();
        assert_eq!(playing.state, SequenceState::Playing);
        assert!(crowd.forced().any(|(forced, _)| forced == id), "its sequence has it all along");
    });
    // Getting up takes two seconds.
    ticks(&mut crowd, 180, &away());
    assert!(walks(&mut crowd) > 1.5, "it walks on");
    crowd.stop_sequence(sequence).unwrap();
    assert!(crowd.knock_down(id, Vec3::X).is_ok());
    // Unbound, it gives its slot back, and its fall ends with that.
    let down = (0..60).map(|_| tick(&mut crowd, &away(), DT).fallen).last();
    assert_eq!((down, crowd.fallen(id).is_none()), (Some(0), true));
}

#[test]
fn followers_of_somebody_who_falls_are_culled_by_where_their_bones_are() {
    let cast = Cast::new();
    for terrain in GROUNDS {
        let mut crowd = cast.crowd(false, config(24, 0, terrain));
        let all: Vec<_> = crowd.characters().map(|c| c.id()).collect();
        let kind = |id: &CharacterId| crowd.kind_of(*id).unwrap();
        let leader = all[5];
        let same = all.iter().copied().find(|id| *id != leader && kind(id) == kind(&leader));
        let other = all.iter().copied().find(|id| kind(id) != kind(&leader));
        let followers = [same.unwrap(), other.unwrap()];
        for (at, follower) in followers.into_iter().enumerate() {
            let beside = Beside { x: 2.0 + at as f32, z: -1.0, yaw: 0.4 };
            crowd.follow(follower, leader, beside).unwrap();
        }
        tick(&mut crowd, &near(), DT);
        let standing = followers.map(|id| crowd.character(id).unwrap().radius);
        assert!(crowd.knock_down(leader, Vec3::X * 2.0).unwrap());
        let mut grew = false;
        until_it_stands(&mut crowd, leader, |crowd| {
            tick(crowd, &near(), DT);
            let drawn = bones(crowd, &cast);
            for (at, id) in followers.into_iter().enumerate() {
                let state = crowd.character(id).unwrap();
                grew |= state.radius > 1.2 * standing[at];
                // What is above all bodies stands where its owner will.
                for bone in drawn[&id.0].iter().skip(2) {
                    let reach = Vec3::from(bone.translation).distance(state.center);
                    assert!(reach <= state.radius, "{id}: {reach} of {}", state.radius);
                }
            }
        });
        assert!(grew, "a lying follower reaches further than a standing one");
        // Getting up takes two seconds.
        ticks(&mut crowd, 125, &near());
        assert_eq!(followers.map(|id| crowd.character(id).unwrap().radius), standing);
        // One that no longer follows stands at once.
        assert!(crowd.knock_down(leader, Vec3::X * 2.0).unwrap());
        ticks(&mut crowd, 50, &near());
        crowd.unfollow(followers[0]).unwrap();
        tick(&mut crowd, &near(), DT);
        assert_eq!(crowd.character(followers[0]).unwrap().radius, standing[0]);
        assert!(!crowd.knock_down(followers[1], Vec3::X).unwrap(), "who follows doesn't fall");
    }
}

#[test]
fn who_goes_while_it_falls_takes_its_fall_along() {
    let cast = Cast::new();
    for graphs in [true, false] {
        let mut crowd = cast.crowd(graphs, config(12, 0, Terrain::FLAT));
        tick(&mut crowd, &near(), DT);
        let handles: Vec<_> = crowd.characters().collect();
        for (at, handle) in handles.iter().enumerate() {
            assert!(crowd.knock_down(handle.id(), Vec3::X).unwrap());
            // Each goes at another point of its fall, the first before it has begun.
            for _ in 0..at * 7 {
                tick(&mut crowd, &near(), DT);
            }
            crowd.despawn(*handle).unwrap();
            assert!(crowd.fallen(handle.id()).is_none());
            assert_eq!(tick(&mut crowd, &near(), DT).fallen, 0);
            // Whoever comes after it, even by its id, stands.
            let new = crowd.spawn(None).unwrap();
            let stats = tick(&mut crowd, &near(), DT);
            assert_eq!((stats.fallen, crowd.fallen(new.id()).is_none()), (0, true));
        }
        let stats = tick(&mut crowd, &near(), DT);
        assert_eq!((crowd.characters().count(), stats.fallen), (12, 0));
        assert!(bones(&crowd, &cast).values().flatten().all(Affine3A::is_finite));
    }
}

#[test]
fn some_fall_while_others_come_and_go() {
    let cast = Cast::new();
    let run = |threads: usize, graphs: bool| {
        let spawning = Spawning::Cycle { per_second: 12.0 };
        let config = CrowdConfig { spawning, threads, ..config(40, 40, GROUNDS[1]) };
        let mut crowd = cast.crowd(graphs, config);
        let (mut most, mut hash, mut deep) = (0, None, 0.0f32);
        for frame in 0..600 {
            let stats = tick(&mut crowd, &near(), DT);
            (most, hash) = (most.max(stats.fallen), stats.palette_hash);
            if frame % 10 == 0 {
                let drawn = bones(&crowd, &cast);
                assert!(drawn.values().flatten().all(Affine3A::is_finite), "frame {frame}");
            }
            for character in crowd.characters() {
                if let Some(fallen) = crowd.fallen(character.id()) {
                    deep = deep.max(-fallen.clearance);
                }
            }
        }
        assert!(most > 3, "{most} are down at most");
        assert!(deep < 0.002, "somebody is {deep} m in the ground");
        hash
    };
    for graphs in [true, false] {
        let expected = run(1, graphs);
        assert_eq!(run(3, graphs), expected);
    }
}

#[test]
fn whoever_falls_again_and_again_stays_about_where_it_belongs() {
    let cast = Cast::new();
    let config = CrowdConfig { layout: Layout::Grid, ..config(9, 9, Terrain::FLAT) };
    let mut crowd = cast.crowd(false, config);
    let places = |crowd: &Crowd| -> BTreeMap<u32, Vec3> {
        let all = crowd.characters().map(|c| c.id());
        all.map(|id| (id.0, crowd.character(id).unwrap().position)).collect()
    };
    tick(&mut crowd, &overview(), DT);
    let first = places(&crowd);
    let (mut falls, mut furthest) = (0, 0.0f32);
    let mut down = [false; 9];
    for _ in 0..12_000 {
        tick(&mut crowd, &overview(), 2.0 * DT);
        for (id, place) in places(&crowd) {
            furthest = furthest.max(place.distance(first[&id]));
            let is_down = crowd.fallen(CharacterId(id)).is_some();
            let was_down = std::mem::replace(&mut down[id as usize], is_down);
            falls += u32::from(is_down && !was_down);
        }
    }
    eprintln!("{falls} falls, {furthest} m from where it stood");
    assert!(falls > 120, "{falls}");
    // A person falls by its own length, clips walk it about, and it falls back again.
    assert!(furthest < 4.0, "somebody has come {furthest} m away");
}

/// Slots that falls lie in are taken back with all others, whoever looks on.
#[test]
fn whoever_falls_stands_when_slots_are_given_back() {
    let cast = Cast::new();
    for (view, on) in [(away(), true), (overview(), true), (away(), false), (overview(), false)] {
        let mut crowd = cast.crowd(true, config(60, 0, GROUNDS[0]));
        crowd.set_interpolation(!on).unwrap();
        ticks(&mut crowd, 3, &overview());
        let ids: Vec<_> = crowd.characters().map(|c| c.id()).step_by(7).collect();
        let fell = ids.iter().filter(|id| crowd.knock_down(**id, Vec3::X).unwrap_or(false)).count();
        assert!(fell > 0);
        ticks(&mut crowd, 5, &overview());
        assert!(ids.iter().any(|id| crowd.fallen(*id).is_some()));
        crowd.set_interpolation(on).unwrap();
        assert!(ids.iter().all(|id| crowd.fallen(*id).is_none()));
        ticks(&mut crowd, 20, &view);
        assert!(ids.iter().all(|id| crowd.fallen(*id).is_none()));
    }
}
