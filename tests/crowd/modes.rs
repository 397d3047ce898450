//! What characters do while nobody sees them.

use super::rates::{person, times_told};
use super::{DT, away, config, drawn, furthest, looking, overview, rig, tick, walker};
use std::collections::BTreeMap;
use std::sync::Arc;
use throng::crowd::{
    Crowd, CrowdConfig, CrowdError, CrowdKind, Gates, Layout, Playing, TickInput, TickStats,
    UpdateMode,
};
use throng::index::CharacterId;
use throng::profile::PhaseTimes;

const COUNT: u32 = 60;
use UpdateMode::{AlwaysTickClocks, AlwaysTickPose, TickWhenRendered};

fn crowd(update_mode: UpdateMode, layout: Layout, gates: Gates, kinds: Vec<CrowdKind>) -> Crowd {
    let config = CrowdConfig { update_mode, gates, ..config(COUNT, layout) };
    Crowd::new(config, kinds).unwrap()
}

/// Where everybody is.
fn places(crowd: &Crowd) -> Vec<(glam::Vec3, f32)> {
    let place = |id| crowd.character(CharacterId(id)).unwrap();
    (0..crowd.count()).map(|id| (place(id).position, place(id).heading)).collect()
}

/// Every notify's name, and how often it was heard.
fn heard(crowd: &Crowd) -> BTreeMap<String, u64> {
    let names = crowd.notify_names().iter();
    names.map(|(_, name)| (name.to_owned(), times_told(crowd, name))).collect()
}

/// A built-in character whose graph puts its feet on the ground.
fn builtin(name: &str) -> CrowdKind {
    let asset = throng::asset::builtin(name).unwrap().unwrap();
    let rig = Arc::new(asset.rig().unwrap());
    let (graph, text) = throng::graph::builtin_for(name).unwrap();
    let program = throng::graph::compile(graph, text).unwrap().program;
    CrowdKind {
        notifies: asset.notifies,
        sync_markers: asset.sync_markers,
        playing: Playing::Graph(Arc::new(program)),
        ..CrowdKind::new(name, rig, asset.bounds)
    }
}

#[test]
fn clocks_alone_tell_and_move_as_poses_do_and_nothing_is_executed() {
    let cases = [
        (Layout::Grid, Gates::OFF, vec![person()]),
        (Layout::Disc, Gates::default(), vec![person()]),
        (Layout::Grid, Gates::default(), vec![walker::walker(), person()]),
        // They turn about their feet where they are seen.
        (Layout::Disc, Gates::default(), vec![builtin("humanoid"), builtin("quadruped")]),
    ];
    for (layout, gates, kinds) in cases {
        let run = |mode| crowd(mode, layout, gates, kinds.clone());
        let (mut posed, mut ticked) = (run(AlwaysTickPose), run(AlwaysTickClocks));
        let mut sum = TickStats::default();
        for frame in 0..1_200 {
            // They are seen now and then.
            let view = if frame % 400 < 300 { away() } else { looking(frame as f32 * 0.05) };
            let all = tick(&mut posed, &view, DT);
            let stats = tick(&mut ticked, &view, DT);
            assert_eq!(all.ticked, 0);
            assert_eq!(stats.evaluated + stats.ticked, all.evaluated, "frame {frame}");
            assert!(stats.longest_gap <= 4, "frame {frame}: {}", stats.longest_gap);
            sum.ticked += stats.ticked;
            if (100..300).contains(&(frame % 400)) {
                assert_eq!((stats.evaluated, stats.leased), (0, 0), "frame {frame}");
                assert_eq!((stats.tasks.recorded, stats.tasks.executed_total()), (0, 0));
            }
            sum.evaluated += stats.evaluated;
            assert_eq!(places(&posed), places(&ticked), "frame {frame}");
        }
        assert!(sum.ticked > 5_000 && sum.evaluated > 1_000, "{sum:?}");
        let told = heard(&posed);
        assert!(told.values().sum::<u64>() > 200, "{told:?}");
        assert_eq!(heard(&ticked), told);
    }
}

#[test]
fn whose_clocks_ran_shows_the_pose_of_who_never_stopped() {
    let run = |mode| crowd(mode, Layout::Disc, Gates::OFF, vec![person()]);
    let (mut posed, mut ticked) = (run(AlwaysTickPose), run(AlwaysTickClocks));
    let mut compared = 0;
    for frame in 0..600 {
        let view = if frame % 60 < 50 { away() } else { overview() };
        tick(&mut posed, &view, DT);
        tick(&mut ticked, &view, DT);
        let (all, some) = (drawn(posed.draw()), drawn(ticked.draw()));
        assert_eq!(all.len(), some.len());
        compared += all.len();
        assert!(all == some, "frame {frame}");
    }
    assert_eq!(compared, 10 * 10 * COUNT as usize);
}

#[test]
fn a_simply_played_clip_is_after_a_minute_out_of_sight_where_it_would_have_been() {
    let run = |mode| crowd(mode, Layout::Grid, Gates::OFF, vec![rig::stander()]);
    let (mut posed, mut rested) = (run(AlwaysTickPose), run(TickWhenRendered));
    let mut apart = 0.0f32;
    for frame in 0..3_720 {
        let hidden = (60..3_660).contains(&frame);
        let view = if hidden { away() } else { overview() };
        let stats = tick(&mut rested, &view, DT);
        tick(&mut posed, &view, DT);
        assert!(frame < 80 || !hidden || stats.evaluated == 0, "frame {frame}");
        let back = drawn(rested.draw());
        for (id, (palette, _)) in drawn(posed.draw()) {
            apart = apart.max(furthest(&palette, &back[&id].0));
        }
    }
    // What the fastest bone moves in a millisecond.
    assert!(apart < 5e-3, "{apart}");
}

#[test]
fn a_mode_is_a_characters_own_and_what_is_given_back_costs_nothing() {
    let mut crowd = crowd(TickWhenRendered, Layout::Grid, Gates::OFF, vec![rig::stander()]);
    for _ in 0..30 {
        assert_eq!(tick(&mut crowd, &away(), DT).evaluated, 0);
    }
    let set = |crowd: &mut Crowd, id, mode| crowd.set_update_mode(CharacterId(id), mode).unwrap();
    for id in 0..10 {
        set(&mut crowd, id, AlwaysTickPose);
        set(&mut crowd, 50 + id, AlwaysTickClocks);
    }
    for _ in 0..30 {
        let stats = tick(&mut crowd, &away(), DT);
        assert_eq!((stats.evaluated, stats.ticked, stats.leased), (10, 10, 10));
    }
    // From one to the other, and back to what they were.
    for id in 0..5 {
        set(&mut crowd, id, AlwaysTickClocks);
        set(&mut crowd, 50 + id, AlwaysTickPose);
        set(&mut crowd, 5 + id, TickWhenRendered);
        set(&mut crowd, 55 + id, TickWhenRendered);
    }
    let stats = (0..30).map(|_| tick(&mut crowd, &away(), DT)).last().unwrap();
    assert_eq!((stats.evaluated, stats.ticked, stats.leased), (5, 5, 5));
    assert_eq!(crowd.update_mode(CharacterId(3)), Some(AlwaysTickClocks));
    assert_eq!(crowd.update_mode(CharacterId(53)), Some(AlwaysTickPose));
    for id in 0..COUNT {
        set(&mut crowd, id, TickWhenRendered);
    }
    let stats = (0..30).map(|_| tick(&mut crowd, &away(), DT)).last().unwrap();
    assert_eq!((stats.evaluated, stats.ticked, stats.leased), (0, 0, 0));
    assert_eq!(crowd.update_mode(CharacterId(COUNT)), None);
    let error = crowd.set_update_mode(CharacterId(COUNT), AlwaysTickPose).unwrap_err();
    assert!(matches!(error, CrowdError::NoCharacter { id: COUNT, count: COUNT }), "{error}");
}

#[test]
fn clocks_alone_do_not_depend_on_threads_and_are_replayed() {
    let crowd = |threads, kinds| {
        let gates = Gates { rate_distances: [4.0, 8.0, 12.0], ..Gates::default() };
        let update_mode = AlwaysTickClocks;
        let config = CrowdConfig { threads, update_mode, gates, ..config(COUNT, Layout::Disc) };
        Crowd::new(config, kinds).unwrap()
    };
    for kinds in [vec![person()], vec![walker::walker()]] {
        let run = |threads, each: &mut dyn FnMut(&Crowd, u64)| {
            let mut crowd = crowd(threads, kinds.clone());
            crowd.record_frames();
            for frame in 0..300 {
                if frame == 200 {
                    for id in 0..30 {
                        crowd.set_update_mode(CharacterId(id), TickWhenRendered).unwrap();
                    }
                }
                let stats = tick(&mut crowd, &looking(frame as f32 * 0.03), DT);
                each(&crowd, stats.palette_hash.unwrap());
            }
            (places(&crowd), heard(&crowd))
        };
        let mut frames = Vec::new();
        let expected = run(1, &mut |crowd: &Crowd, hash| {
            frames.push((crowd.recorded_frame().to_vec(), hash));
        });
        let mut hashes = Vec::new();
        let also = run(8, &mut |_, hash| hashes.push(hash));
        assert_eq!(also, expected);
        assert!(hashes.iter().eq(frames.iter().map(|(_, hash)| hash)));

        if matches!(kinds[0].playing, Playing::Simple) {
            let mut replay = crowd(2, kinds.clone());
            replay.replay_frames();
            for (number, (bytes, hash)) in frames.iter().enumerate() {
                replay.load_frame(&mut bytes.clone()).unwrap();
                let input = TickInput {
                    dt: 9.0,
                    view: &overview(),
                    shadow_clip_from_world: None,
                    played: true,
                    palette_hash: true,
                };
                let stats = replay.tick(&input, &PhaseTimes::default());
                assert_eq!(stats.palette_hash, Some(*hash), "frame {number}");
            }
            assert_eq!(places(&replay), expected.0);
        }
    }
}

#[test]
fn whom_nobody_sees_takes_at_most_512_bytes() {
    for name in ["humanoid", "quadruped"] {
        let simple = CrowdKind { playing: Playing::Simple, ..builtin(name) };
        for (kind, most) in [(simple, 160), (builtin(name), 512)] {
            let config = CrowdConfig { count: 64_000, ..config(1, Layout::Grid) };
            let estimate = Crowd::estimate(&config, std::slice::from_ref(&kind)).characters;
            let mut crowd = Crowd::new(config, vec![kind]).unwrap();
            let held = tick(&mut crowd, &away(), DT).character_bytes;
            assert!(held <= 64_000 * most, "{name}: {} bytes", held / 64_000);
            assert!(held <= estimate, "{name}: {held} bytes, {estimate} estimated");
        }
    }
}
