//! Sequences: who evaluates because of them, and who no longer does when they end.

use super::walker::{self, walker};
use super::{DT, away, config, overview, rig, tick};
use throng::crowd::sequence::{
    Cue, Order, Parking, Restore, SequenceConfig, SequenceId, SequenceState, Track,
};
use throng::crowd::{Crowd, CrowdConfig, Gates, Layout, UpdateMode};
use throng::graph::MachineId;
use throng::index::CharacterId;

const CAST: std::ops::Range<u32> = 10..22;

fn crowd(kind: throng::crowd::CrowdKind) -> Crowd {
    Crowd::new(config(100, Layout::Grid), vec![kind]).unwrap()
}

fn sequence() -> SequenceConfig {
    SequenceConfig {
        name: "scene".into(),
        cast: CAST.map(CharacterId).collect(),
        seconds: 2.0,
        looping: true,
        ..SequenceConfig::default()
    }
}

fn begin(crowd: &mut Crowd, config: SequenceConfig) -> SequenceId {
    let id = crowd.add_sequence(config).unwrap();
    crowd.play_sequence(id).unwrap();
    id
}

/// How many are evaluated in each of some frames that nobody sees.
fn evaluated(crowd: &mut Crowd, frames: usize) -> Vec<u32> {
    (0..frames).map(|_| tick(crowd, &away(), DT).evaluated).collect()
}

fn state(crowd: &Crowd, id: SequenceId) -> SequenceState {
    crowd.sequences().nth(id.get()).unwrap().1.state
}

/// The table of situations: what a cast that nobody sees costs in each, with modes that come back
/// and with modes that are forgotten.
#[test]
fn a_cast_that_nobody_sees_is_evaluated_while_its_sequence_plays_and_not_one_frame_longer() {
    let cast = CAST.len() as u32;
    let far = Parking { distance: 0.0, ..Parking::default() };
    for restore in [Restore::Always, Restore::Never] {
        let left = if restore == Restore::Never { cast } else { 0 };
        type Ending = (&'static str, Option<Parking>, bool, fn(&mut Crowd, SequenceId));
        let endings: [Ending; 5] = [
            ("paused", None, true, |crowd, id| crowd.pause_sequence(id).unwrap()),
            ("stopped", None, true, |crowd, id| crowd.stop_sequence(id).unwrap()),
            ("unbound", None, true, |crowd, id| crowd.unbind_sequence(id).unwrap()),
            ("finished", None, false, |crowd, _| drop(evaluated(crowd, 110))),
            ("parked", Some(far), true, |crowd, _| drop(evaluated(crowd, 130))),
        ];
        for (name, parking, looping, end) in endings {
            let mut crowd = crowd(rig::person());
            assert_eq!(evaluated(&mut crowd, 3), [0, 0, 0]);
            let config = SequenceConfig { restore, parking, looping, ..sequence() };
            let id = begin(&mut crowd, config);
            assert_eq!(evaluated(&mut crowd, 12), [cast; 12], "playing");
            end(&mut crowd, id);
            assert_ne!(state(&crowd, id), SequenceState::Playing, "{name}");
            assert_eq!(evaluated(&mut crowd, 30), [left; 30], "{name}, {restore:?}");
            let forced: Vec<_> = crowd.forced().collect();
            assert_eq!(forced.len() as u32, left, "{name}");
            for (character, force) in forced {
                assert!(CAST.contains(&character.0));
                assert_eq!((force.own, &force.by[..]), (UpdateMode::TickWhenRendered, &[id][..]));
            }
        }
    }
}

#[test]
fn who_is_forced_is_evaluated_in_every_frame_however_far_away() {
    let gates = Gates { rate_distances: [1e-3, 2e-3, 3e-3], ..Gates::default() };
    let config = CrowdConfig { gates, ..config(100, Layout::Grid) };
    let mut crowd = Crowd::new(config, vec![rig::person()]).unwrap();
    let all: Vec<u32> = (0..12).map(|_| tick(&mut crowd, &overview(), DT).evaluated).collect();
    begin(&mut crowd, sequence());
    for before in &all[4..] {
        let stats = tick(&mut crowd, &overview(), DT);
        assert_eq!(stats.forced, CAST.len() as u32);
        // A quarter of the 88 others, and all of the cast.
        assert_eq!((*before, stats.evaluated), (25, 22 + 12));
    }
}

#[test]
fn several_sequences_share_a_cast_and_end_in_any_order() {
    for first in [0, 1] {
        let mut crowd = crowd(rig::person());
        crowd.set_update_mode(CharacterId(15), UpdateMode::AlwaysTickPose).unwrap();
        let ids = [begin(&mut crowd, sequence()), begin(&mut crowd, sequence())];
        crowd.set_update_mode(CharacterId(16), UpdateMode::AlwaysTickPose).unwrap();
        crowd.pause_sequence(ids[first]).unwrap();
        assert_eq!(evaluated(&mut crowd, 2), [12, 12]);
        crowd.unbind_sequence(ids[1 - first]).unwrap();
        // One always ticked, and one was told meanwhile to always tick.
        assert_eq!(evaluated(&mut crowd, 2), [2, 2]);
        let modes = [14, 15, 16].map(|id| crowd.update_mode(CharacterId(id)).unwrap());
        assert_eq!(
            modes,
            [UpdateMode::TickWhenRendered, UpdateMode::AlwaysTickPose, UpdateMode::AlwaysTickPose]
        );
    }
}

#[test]
fn a_cast_does_what_it_is_told_and_then_as_it_likes() {
    let set = |key: &str, value| Order::Set { key: key.into(), value };
    let tracks = (0..CAST.len()).map(|member| Track {
        member,
        cues: vec![
            Cue { seconds: 0.0, order: set("speed", 0.0) },
            Cue { seconds: 1.0, order: set("speed", 1.4) },
        ],
    });
    let waves = (0..CAST.len())
        .map(|member| Track { member, cues: vec![Cue { seconds: 0.0, order: set("wave", 0.0) }] });
    let mut crowd = crowd(walker());
    let config =
        SequenceConfig { tracks: tracks.chain(waves).collect(), seconds: 4.0, ..sequence() };
    let id = begin(&mut crowd, config);
    let mut walked = 0;
    for round in 0..3 {
        for frame in 0..240 {
            tick(&mut crowd, &away(), DT);
            let states: Vec<_> = CAST
                .map(|id| crowd.state(CharacterId(id), MachineId(0)).unwrap().to_owned())
                .collect();
            // A frame until they hear, and a tenth of a second in a state at least.
            let wanted = match frame {
                20..59 => walker::STATES[0],
                80..239 => walker::STATES[1],
                _ => continue,
            };
            // The first idle may come out of a wave, which lasts a second.
            if round > 0 || frame >= 80 {
                assert!(states.iter().all(|s| s == wanted), "{round}, {frame}: {states:?}");
                walked += usize::from(frame >= 80);
            }
        }
    }
    assert!(walked > 300);
    crowd.stop_sequence(id).unwrap();
    let mut seen = std::collections::BTreeSet::new();
    for _ in 0..1_200 {
        tick(&mut crowd, &overview(), DT);
        seen.extend(CAST.map(|id| crowd.state(CharacterId(id), MachineId(0)).unwrap().to_owned()));
    }
    assert_eq!(seen.len(), 3, "their drivers have ideas again: {seen:?}");
}

#[test]
fn a_sequence_goes_on_from_where_it_parked_when_somebody_looks() {
    let mut crowd = crowd(rig::person());
    let parking = Some(Parking { distance: 0.0, ..Parking::default() });
    let id = begin(&mut crowd, SequenceConfig { parking, seconds: 1e6, ..sequence() });
    evaluated(&mut crowd, 200);
    let at = crowd.sequences().next().unwrap().1;
    assert_eq!(at.state, SequenceState::Parked);
    let seconds = at.seconds;
    assert!((1.9..2.6).contains(&seconds), "{seconds}");
    evaluated(&mut crowd, 300);
    assert_eq!(crowd.sequences().next().unwrap().1.seconds, seconds);
    for _ in 0..30 {
        let stats = tick(&mut crowd, &overview(), DT);
        assert_eq!((stats.evaluated, stats.forced), (100, 0), "who is seen needs no order");
    }
    let info = crowd.sequences().next().unwrap().1;
    assert_eq!((info.state, info.cast.len()), (SequenceState::Playing, CAST.len()));
    assert!((info.seconds - seconds - 0.25).abs() < 0.27, "{} after {seconds}", info.seconds);
    assert_eq!(state(&crowd, id), SequenceState::Playing);
}

#[test]
fn what_cannot_be_played_is_refused_with_names_and_numbers() {
    let set = |key: &str| Order::Set { key: key.into(), value: 1.0 };
    let track = |member, seconds: &[f64], order: Order| {
        let cue = |s: &f64| Cue { seconds: *s, order: order.clone() };
        vec![Track { member, cues: seconds.iter().map(cue).collect() }]
    };
    let with = |tracks| SequenceConfig { tracks, ..sequence() };
    let parking = Some(Parking { unseen: f64::NAN, ..Parking::default() });
    for (config, says) in [
        (SequenceConfig { seconds: 0.0, ..sequence() }, "it is 0 s long"),
        (SequenceConfig { seconds: f64::NAN, ..sequence() }, "it is NaN s long"),
        (SequenceConfig { cast: vec![CharacterId(100)], ..sequence() }, "character 100; 100 are"),
        (SequenceConfig { cast: vec![CharacterId(7); 2], ..sequence() }, "character 7 is twice"),
        (SequenceConfig { parking, ..sequence() }, "a time unseen of NaN"),
        (with(track(12, &[0.0], set("speed"))), "for member 12; 12 are from 0"),
        (with(track(0, &[1.0, 0.5], set("speed"))), "character 10: a cue at 0.5 s"),
        (with(track(0, &[2.0], set("speed"))), "before the end at 2 s"),
        (with(track(0, &[0.0], set("sped"))), "no key \"sped\"; its graph has: speed, wave"),
        (with(track(0, &[0.0], Order::Play { clip: "idle".into() })), "a graph plays it"),
    ] {
        let error = crowd(walker()).add_sequence(config).unwrap_err().to_string();
        assert!(error.starts_with("sequence \"scene\": ") && error.contains(says), "{error}");
    }
    let mut simple = crowd(rig::person());
    let error = |order| simple.add_sequence(with(track(0, &[0.0], order))).unwrap_err().to_string();
    let mut error = error;
    assert!(error(set("speed")).contains("it plays clips"));
    assert!(error(Order::Play { clip: "dance".into() }).contains("no clip \"dance\""));
    let nobody = simple.play_sequence(SequenceId(3)).unwrap_err().to_string();
    assert_eq!(nobody, "there is no sequence 3: 0 are numbered from 0");
    let error = simple.set_update_mode(CharacterId(100), UpdateMode::AlwaysTickPose).unwrap_err();
    assert_eq!(error.to_string(), "there is no character 100: 100 are numbered from 0");
}

#[test]
fn sequences_are_the_same_on_any_number_of_threads() {
    let hash = |threads| {
        let config = CrowdConfig { threads, ..config(300, Layout::Grid) };
        let mut crowd = Crowd::new(config, vec![walker()]).unwrap();
        let order = |key: &str, value| Order::Set { key: key.into(), value };
        let cues = vec![
            Cue { seconds: 0.2, order: order("wave", 1.0) },
            Cue { seconds: 1.5, order: order("wave", 0.0) },
        ];
        let tracks = (0..CAST.len()).map(|member| Track { member, cues: cues.clone() }).collect();
        begin(&mut crowd, SequenceConfig { tracks, ..sequence() });
        let mut hash = None;
        for frame in 0..150 {
            let view = if frame % 50 < 25 { overview() } else { away() };
            hash = tick(&mut crowd, &view, DT).palette_hash;
        }
        hash.unwrap()
    };
    assert_eq!([hash(2), hash(8)], [hash(1); 2]);
}

/// Whose clocks alone run keeps them elsewhere than those who are posed.
#[test]
fn a_cast_whose_clocks_run_alone_is_told_as_well() {
    let config =
        CrowdConfig { update_mode: UpdateMode::AlwaysTickClocks, ..config(100, Layout::Grid) };
    let mut crowd = Crowd::new(config, vec![walker(), rig::person()]).unwrap();
    let kinds: Vec<_> = crowd.kinds().collect();
    let tracks = CAST.enumerate().map(|(member, id)| {
        let walks = crowd.character(CharacterId(id)).unwrap().kind == kinds[0];
        let order = match walks {
            true => Order::Set { key: "wave".into(), value: 1.0 },
            false => Order::Play { clip: "wave".into() },
        };
        Track { member, cues: vec![Cue { seconds: 1.0, order }] }
    });
    let tracks: Vec<Track> = tracks.collect();
    let parking = Some(Parking { distance: f32::INFINITY, ..Parking::default() });
    begin(&mut crowd, SequenceConfig { tracks, parking, ..sequence() });
    for _ in 0..100 {
        tick(&mut crowd, &away(), DT);
    }
    // Modes came back at the first look, and their clocks are what they run by themselves.
    assert_eq!(crowd.forced().len(), 0);
    let walkers = CAST.map(CharacterId).filter(|id| crowd.character(*id).unwrap().kind == kinds[0]);
    let states: Vec<_> = walkers.map(|id| crowd.state(id, MachineId(0)).unwrap()).collect();
    assert!(!states.is_empty() && states.iter().all(|s| *s == walker::STATES[2]), "{states:?}");
}
