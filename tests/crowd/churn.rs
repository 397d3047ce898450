//! Characters come and go while graphs play them, sequences bind them and recordings are made.

use super::walker::walker;
use super::{DT, away, config, drawn, looking, overview, rig, tick};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use throng::asset::ClipNotify;
use throng::crowd::sequence::{Parking, Restore, SequenceConfig, SequenceId, SequenceState};
use throng::crowd::{
    Crowd, CrowdConfig, CrowdKind, FrameReader, Gates, Layout, NotifyEvent, NotifySink, Playing,
    ReplayHeader, Spawning, TickInput, UpdateMode,
};
use throng::index::CharacterId;
use throng::math::View;
use throng::motion::{Moment, Terrain};
use throng::profile::PhaseTimes;

const COUNT: u32 = 90;
const FRAMES: usize = 300;

fn cycling(per_second: f32) -> CrowdConfig {
    let gates = Gates { rate_distances: [4.0, 8.0, 12.0], lod_distance: 6.0, ..Gates::default() };
    CrowdConfig {
        terrain: Terrain::uneven(3),
        grace: 0.1,
        gates,
        spawning: Spawning::Cycle { per_second },
        ..config(COUNT, Layout::Disc)
    }
}

/// One that a graph plays and that walks freely, and one that plays clips and walks along lanes.
fn cast() -> Vec<CrowdKind> {
    vec![walker(), rig::person()]
}

fn view(frame: usize) -> View {
    match frame % 60 {
        0..25 => overview(),
        25..45 => looking(frame as f32 * 0.13),
        _ => away(),
    }
}

fn step(crowd: &mut Crowd, view: &View) -> u64 {
    let input =
        TickInput { dt: DT, played: true, view, shadow_clip_from_world: None, palette_hash: true };
    crowd.tick(&input, &PhaseTimes::default()).palette_hash.unwrap()
}

struct Recorded {
    header: ReplayHeader,
    frames: Vec<Vec<u8>>,
    hashes: Vec<u64>,
    crowd: Crowd,
}

/// Churn by itself, and some more that somebody asks for.
fn recorded(config: CrowdConfig) -> Recorded {
    let mut crowd = Crowd::new(config, cast()).unwrap();
    let header = crowd.replay_header(&[1, 2], "settings".into());
    crowd.record_frames();
    let (mut frames, mut hashes) = (Vec::new(), Vec::new());
    for frame in 0..FRAMES {
        // One by one there are none at first.
        if frame % 7 == 3 && crowd.count() > 60 {
            let who: Vec<_> = crowd.characters().skip(frame % 50).take(3).collect();
            let last = who[2];
            who.iter().for_each(|who| crowd.despawn(*who).unwrap());
            // One comes where one has just gone, and one goes again that has only come.
            let first = crowd.spawn(crowd.kind_of(last.id())).unwrap();
            if frame % 2 == 0 {
                crowd.despawn(first).unwrap();
            }
        }
        hashes.push(step(&mut crowd, &view(frame)));
        frames.push(crowd.recorded_frame().to_vec());
    }
    Recorded { header, frames, hashes, crowd }
}

fn replayed(header: &ReplayHeader, config: CrowdConfig) -> Crowd {
    let kinds = [rig::person(), rig::person()].into_iter().zip(&header.kinds);
    let kinds = kinds.map(|(kind, of)| CrowdKind {
        playing: of.graph.clone().map_or(Playing::Simple, Playing::Recorded),
        ..kind
    });
    let mut crowd = Crowd::new(config, kinds.collect()).unwrap();
    assert_eq!(crowd.places_checksum(), header.places);
    crowd.replay_frames();
    crowd
}

#[test]
fn churn_is_recorded_and_replayed_to_the_same_hashes_places_and_population() {
    for spawning in [
        Spawning::Cycle { per_second: 40.0 },
        Spawning::Gradual { per_second: 25.0 },
        Spawning::Instant,
    ] {
        let config = CrowdConfig { spawning, ..cycling(0.0) };
        let Recorded { header, frames, hashes, crowd: original } = recorded(config.clone());
        assert_eq!(header.count, COUNT);
        for threads in [1, 3] {
            let mut crowd = replayed(&header, CrowdConfig { threads, ..config.clone() });
            for (i, (frame, hash)) in frames.iter().zip(&hashes).enumerate() {
                crowd.load_frame(&mut frame.clone()).unwrap();
                assert_eq!(step(&mut crowd, &away()), *hash, "{spawning:?} frame {i}");
            }
            let here = |crowd: &Crowd| crowd.characters().collect::<Vec<_>>();
            assert_eq!(here(&crowd), here(&original), "the same individuals");
            for who in original.characters() {
                assert_eq!(crowd.character(who.id()), original.character(who.id()));
            }
            assert!(crowd.spawn(None).is_err() && crowd.despawn(here(&crowd)[0]).is_err());
        }
    }
}

#[test]
fn frames_of_churn_that_are_made_up_are_played_or_refused() {
    let Recorded { header, frames, .. } = recorded(cycling(40.0));
    let mut random = 99u32;
    let mut draw = |below: usize| {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (random >> 8) as usize % below
    };
    let (mut played, mut refused) = (0, 0);
    let mut crowd = replayed(&header, cycling(40.0));
    for round in 0..1_500 {
        if round % 60 == 0 {
            crowd = replayed(&header, cycling(40.0));
        }
        let mut frame = frames[round % 60].clone();
        for _ in 0..1 + draw(2) {
            // The beginning is where comings and goings are.
            let at = draw(frame.len().min(24));
            frame[at] = [0, 0xff, 0x7f, 0x80, 4, draw(256) as u8][draw(6)];
        }
        match crowd.load_frame(&mut frame) {
            Ok(()) => played += 1,
            Err(_) => refused += 1,
        }
        step(&mut crowd, &overview());
    }
    assert!(played > 50 && refused > 300, "{played} {refused}");
    let error = |bytes: &[u8], crowd: &mut Crowd| {
        crowd.load_frame(&mut bytes.to_vec()).unwrap_err().to_string()
    };
    let time = DT.to_bits().to_le_bytes();
    let frame = |rest: &[u8]| [&time[..], &[5], rest].concat();
    let mut crowd = replayed(&header, cycling(40.0));
    let here: Vec<u32> = crowd.characters().map(|who| who.id().0).collect();
    let free = (0..crowd.capacity()).find(|id| !here.contains(id)).unwrap() as u8;
    let taken = here[0] as u8;
    let cases = [
        (vec![1, free, 0, 0, 0, 0], "goes and was not there"),
        (vec![0, 1, taken, 0, 0, 0, 0], "comes and was there"),
        (vec![1, taken, 0, 0, 1, taken, 0], "acts and is not there"),
        (vec![0, 0, 0, 1, free, 0], "acts and is not there"),
    ];
    for (bytes, says) in cases {
        let text = error(&frame(&bytes), &mut crowd);
        assert!(text.contains(says), "{text}");
    }
    // Somebody goes and another one of the id comes.
    crowd.load_frame(&mut frame(&[1, taken, 1, taken, 9, 0, 0, 0])).unwrap();
    step(&mut crowd, &away());
    assert_eq!(crowd.handle(CharacterId(taken.into())).unwrap().generation(), 9);
}

#[test]
fn a_frame_names_who_came_and_who_went() {
    let Recorded { frames, crowd, .. } = recorded(cycling(40.0));
    let mut reader = FrameReader::default();
    let (mut came, mut gone) = (0, 0);
    for frame in &frames {
        reader.read(frame, crowd.capacity()).unwrap();
        came += reader.came().len();
        gone += reader.gone().len();
    }
    let population = crowd.population();
    // Who came and went between two frames is in none.
    assert!(came as u64 <= population.spawned && came > 150, "{came} of {population:?}");
    assert_eq!(i64::from(COUNT) + came as i64 - gone as i64, i64::from(crowd.count()));
}

#[derive(Debug, Clone, Default)]
struct Ears(Arc<Mutex<Vec<NotifyEvent>>>);

impl NotifySink for Ears {
    fn notify(&mut self, _: &str, event: &NotifyEvent) {
        self.0.lock().unwrap().push(*event);
    }
}

/// Somebody who is always in the middle of something.
fn breathing(kind: CrowdKind) -> CrowdKind {
    let clips = kind.rig.clip_count();
    let breath = vec![ClipNotify { name: "breath".into(), seconds: 0.0, end: Some(0.9) }];
    CrowdKind { notifies: vec![breath; clips], ..kind }
}

#[test]
fn what_somebody_is_in_the_middle_of_ends_when_it_goes_and_is_told_once() {
    for threads in [1, 3] {
        let mut crowd = Crowd::new(
            CrowdConfig { threads, ..cycling(60.0) },
            vec![breathing(rig::stander()), breathing(walker())],
        )
        .unwrap();
        let ears = Ears::default();
        crowd.add_notify_sink(Box::new(ears.clone()));
        let mut open: BTreeMap<CharacterId, i32> = BTreeMap::new();
        let mut ended = 0;
        for _ in 0..240 {
            let before: Vec<_> = crowd.characters().collect();
            let stats = tick(&mut crowd, &overview(), DT);
            let heard = std::mem::take(&mut *ears.0.lock().unwrap());
            assert_eq!(stats.notifies as usize, heard.len());
            assert!(heard.is_sorted_by_key(|event| event.character));
            for event in heard {
                let count = open.entry(event.character).or_default();
                match event.fired.moment {
                    Moment::Begin => *count += 1,
                    Moment::End => *count -= 1,
                    Moment::Tick | Moment::Point => (),
                }
                assert!((0..=3).contains(count), "{event:?}: {count} are open, {threads}");
            }
            // Whoever is new begins with nothing open: the end of the one before was told first.
            for who in before.iter().filter(|who| !crowd.is_here(**who)) {
                ended += 1;
                if crowd.handle(who.id()).is_none() {
                    assert_eq!(open.get(&who.id()).copied().unwrap_or(0), 0, "{who:?}");
                }
            }
        }
        assert!(ended > 200, "{ended} have gone");
    }
}

const CAST: std::ops::Range<u32> = 10..22;

/// The table of situations again, with a member that goes in the middle of each.
#[test]
fn a_member_that_goes_is_not_evaluated_forced_or_told_in_any_situation() {
    let far = Parking { distance: 0.0, ..Parking::default() };
    type Situation = (&'static str, Option<Parking>, bool, fn(&mut Crowd, SequenceId));
    let run = |crowd: &mut Crowd, frames: usize| -> Vec<u32> {
        (0..frames).map(|_| tick(crowd, &away(), DT).evaluated).collect()
    };
    let situations: [Situation; 6] = [
        ("playing", None, true, |_, _| ()),
        ("paused", None, true, |crowd, id| crowd.pause_sequence(id).unwrap()),
        ("stopped", None, true, |crowd, id| crowd.stop_sequence(id).unwrap()),
        ("unbound", None, true, |crowd, id| crowd.unbind_sequence(id).unwrap()),
        ("finished", None, false, |crowd, _| {
            (0..130).for_each(|_| _ = tick(crowd, &away(), DT));
        }),
        ("parked", Some(far), true, |crowd, _| {
            (0..130).for_each(|_| _ = tick(crowd, &away(), DT));
        }),
    ];
    for restore in [Restore::Always, Restore::Never] {
        for (name, parking, looping, begin) in &situations {
            let mut crowd = Crowd::new(config(100, Layout::Grid), vec![rig::person()]).unwrap();
            let sequence = || SequenceConfig {
                name: "scene".into(),
                cast: CAST.map(CharacterId).collect(),
                seconds: 2.0,
                looping: *looping,
                restore,
                parking: *parking,
                ..SequenceConfig::default()
            };
            let id = crowd.add_sequence(sequence()).unwrap();
            crowd.play_sequence(id).unwrap();
            run(&mut crowd, 3);
            begin(&mut crowd, id);
            let state = |crowd: &Crowd| crowd.sequences().next().unwrap().1.state;
            let before = state(&crowd);
            let evaluated = run(&mut crowd, 1)[0];
            let goes: Vec<_> = [12, 21].map(|id| crowd.handle(CharacterId(id)).unwrap()).into();
            for who in &goes {
                crowd.despawn(*who).unwrap();
            }
            let left = evaluated.saturating_sub(2);
            assert_eq!(run(&mut crowd, 4), [left; 4], "{name}, {restore:?}");
            assert_eq!(state(&crowd), before, "{name}: it is what it was");
            assert_eq!(crowd.forced().len() as u32, left);
            let next = crowd.spawn(None).unwrap();
            assert!(goes.iter().any(|who| who.id() == next.id()));
            assert_eq!(run(&mut crowd, 4), [left; 4], "{name}: whoever comes is free");
            let mode = crowd.update_mode(next.id());
            assert_eq!(mode, Some(UpdateMode::TickWhenRendered));
            assert_eq!(crowd.sequences().next().unwrap().1.cast.len(), 10);
            // Begun anew, it binds those who are left.
            crowd.play_sequence(id).unwrap();
            assert_eq!(run(&mut crowd, 2), [10, 10], "{name}");
            // The last one takes the sequence along.
            for member in CAST.map(CharacterId).filter(|id| *id != next.id()) {
                if let Some(who) = crowd.handle(member) {
                    crowd.despawn(who).unwrap();
                }
            }
            assert_eq!(state(&crowd), SequenceState::Stopped, "{name}");
            assert_eq!((run(&mut crowd, 2), crowd.forced().len()), (vec![0, 0], 0), "{name}");
        }
    }
}

#[test]
fn nobody_is_drawn_with_a_pose_that_is_not_of_this_frame_or_not_its_own() {
    let gates = Gates::OFF;
    let config = CrowdConfig { gates, terrain: Terrain::FLAT, ..cycling(120.0) };
    let mut crowd = Crowd::new(config.clone(), cast()).unwrap();
    let mut came = 0;
    for frame in 0..200 {
        let before: Vec<_> = crowd.characters().collect();
        let view = if frame % 20 < 14 { overview() } else { looking(frame as f32) };
        let stats = tick(&mut crowd, &view, DT);
        let drawn = drawn(crowd.draw());
        for who in crowd.characters().filter(|who| !before.contains(who)) {
            // What it has to look like is known: it came in this frame, from nothing.
            let Some((palette, _)) = drawn.get(&who.id().0) else { continue };
            came += 1;
            assert!(palette.iter().all(throng::math::Mat3x4::is_finite));
            let old = before.iter().find(|old| old.id() == who.id());
            assert!(old.is_none_or(|old| old.generation() < who.generation()));
        }
        assert_eq!(stats.evaluated, stats.leased, "everybody with a slot is of this frame");
        let ids: Vec<u32> = crowd.characters().map(|who| who.id().0).collect();
        assert!(drawn.keys().all(|id| ids.contains(id)), "who has gone is drawn");
    }
    assert!(came > 150, "{came} came into the picture");
}
