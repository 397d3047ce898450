//! Characters that skip frames arrive where they would have been.

use super::{DT, drawn, furthest, overview, rig, walker};
use glam::{Vec2, Vec3, Vec3Swizzles};
use std::collections::BTreeMap;
use std::sync::Arc;
use throng::asset::ClipNotify;
use throng::crowd::{
    CharacterState, Crowd, CrowdConfig, CrowdKind, FrameReader, Gates, Layout, Playing, TickInput,
    TickStats, UpdateMode,
};
use throng::index::{CharacterId, ClipId};
use throng::math::View;
use throng::motion::Moment;
use throng::profile::PhaseTimes;
use throng::task::{Task, TaskList, serial};

/// Rates at which everybody is evaluated every so many frames, wherever the camera is.
pub fn every(frames: usize) -> Gates {
    let rate_distances = match frames {
        2 => [1e-3, 1e7, 1e8],
        3 => [1e-3, 2e-3, 1e8],
        _ => [1e-3, 2e-3, 3e-3],
    };
    Gates { update_rate: frames > 1, rate_distances, ..Gates::OFF }
}

fn config(count: u32, layout: Layout, gates: Gates) -> CrowdConfig {
    CrowdConfig { count, layout, gates, threads: 2, ..CrowdConfig::default() }
}

fn tick(crowd: &mut Crowd, view: &View, (dt, played): (f64, bool)) -> TickStats {
    let input = TickInput { dt, view, shadow_clip_from_world: None, played, palette_hash: true };
    crowd.tick(&input, &PhaseTimes::default())
}

/// The person of the tests, who can be heard.
pub fn person() -> CrowdKind {
    let at = |name: &str, seconds| ClipNotify { name: name.into(), seconds, end: None };
    let notifies = vec![
        vec![at("sway", 0.7)],
        vec![at("wave", 0.3)],
        vec![at("step", 0.25), at("step", 0.75)],
        vec![at("turn", 0.5)],
    ];
    CrowdKind { notifies, ..rig::person() }
}

/// Plays two clips at once and never changes its mind.
fn steady() -> CrowdKind {
    let text = r#"Graph(
        version: 1,
        nodes: {
            "walk": Clip(clip: "walk_fwd", speed: 0.9),
            "idle": Clip(clip: "idle"),
            "strolls": Blend(a: "idle", b: "walk", alpha: 0.6),
        },
        output: "strolls",
    )"#;
    let program = throng::graph::compile("steady.ron", text).unwrap().program;
    CrowdKind { playing: Playing::Graph(Arc::new(program)), ..rig::person() }
}

/// What is to be the same at every rate.
struct Ran {
    samples: Vec<Vec<(ClipId, f32)>>,
    states: Vec<CharacterState>,
    /// Metres that each one went.
    paths: Vec<f32>,
    told: BTreeMap<String, u64>,
    evaluated: u32,
}

const SECONDS: usize = 60;

fn run(kind: CrowdKind, layout: Layout, gates: Gates) -> Ran {
    const COUNT: u32 = 24;
    let mut crowd = Crowd::new(config(COUNT, layout, gates), vec![kind]).unwrap();
    let state = |crowd: &Crowd, id| crowd.character(CharacterId(id)).unwrap();
    let mut paths = vec![0.0; COUNT as usize];
    let mut evaluated = 0;
    for frame in 0..=SECONDS * 60 {
        let before: Vec<_> = (0..COUNT).map(|id| state(&crowd, id).position).collect();
        let last = frame == SECONDS * 60;
        if last {
            crowd.record_frames();
        }
        // A jump by nothing brings everybody to the present.
        let time = if last { (0.0, false) } else { (DT, true) };
        let stats = tick(&mut crowd, &overview(), time);
        evaluated += if last { 0 } else { stats.evaluated };
        for ((id, path), before) in (0..COUNT).zip(&mut paths).zip(before) {
            *path += state(&crowd, id).position.distance(before);
        }
    }
    let mut reader = FrameReader::default();
    let bytes = crowd.recorded_frame();
    reader.read(bytes, COUNT).unwrap();
    let samples = reader.lists(bytes).map(|(_, list)| {
        let mut decoded = TaskList::default();
        serial::decode(list, &mut decoded).unwrap();
        let sample = |task: &Task| match *task {
            Task::SampleClip { clip, seconds } => Some((clip, seconds)),
            _ => None,
        };
        decoded.tasks().iter().filter_map(sample).collect()
    });
    let names = ["sway", "wave", "step", "turn"];
    let of = |name: &str| times_told(&crowd, name);
    Ran {
        samples: samples.collect(),
        states: (0..COUNT).map(|id| state(&crowd, id)).collect(),
        paths,
        told: names.iter().map(|name| ((*name).to_owned(), of(name))).collect(),
        evaluated,
    }
}

/// How often a notify was heard.
pub fn times_told(crowd: &Crowd, name: &str) -> u64 {
    let named = crowd.notify_names().iter().find(|(_, known)| *known == name);
    named.map_or(0, |(id, _)| crowd.notify_counts().of(id, Moment::Point))
}

/// After a minute clocks are within a millisecond.
#[track_caller]
fn same_clocks(full: &Ran, rare: &Ran, what: &str) {
    assert_eq!(full.samples.len(), rare.samples.len());
    for (id, (a, b)) in full.samples.iter().zip(&rare.samples).enumerate() {
        assert_eq!(a.len(), b.len(), "{what}, character {id}: {a:?} {b:?}");
        for ((clip, a), (same, b)) in a.iter().zip(b) {
            let seconds = if clip.0 == 0 { 2.0 } else { 1.0 };
            let apart = (a - b).abs();
            assert_eq!(clip, same, "{what}, character {id}");
            assert!(apart.min(seconds - apart) < 1e-3, "{what}, character {id}: {a} {b}");
        }
    }
}

#[test]
fn a_minute_of_clips_is_the_same_minute_at_every_rate() {
    for layout in [Layout::Grid, Layout::Disc] {
        let full = run(person(), layout, Gates::OFF);
        assert!(full.told.values().filter(|n| **n > 50).count() >= 3, "{:?}", full.told);
        for frames in [2, 3, 4] {
            let rare = run(person(), layout, every(frames));
            let what = format!("{layout:?} every {frames} frames");
            let share = f64::from(full.evaluated) / f64::from(rare.evaluated);
            assert!((share - frames as f64).abs() < 0.01, "{what}: {share}");
            same_clocks(&full, &rare, &what);
            assert_eq!(full.told, rare.told, "{what}");
            for (id, (a, b)) in full.states.iter().zip(&rare.states).enumerate() {
                let apart = a.position.distance(b.position);
                assert!(apart < 0.01, "{what}: character {id} is {apart} m away");
                let turned = (a.heading - b.heading + 1.0).rem_euclid(std::f32::consts::TAU) - 1.0;
                assert!(turned.abs() < 0.01, "{what}: character {id} is turned by {turned}");
            }
        }
    }
}

#[test]
fn a_minute_of_a_graph_is_the_same_minute_at_every_rate() {
    let full = run(steady(), Layout::Grid, Gates::OFF);
    assert!(full.paths.iter().all(|path| *path > 30.0), "{:?}", full.paths);
    for frames in [2, 3, 4] {
        let rare = run(steady(), Layout::Grid, every(frames));
        same_clocks(&full, &rare, &format!("every {frames} frames"));
        // Drivers steer when they are asked, so only how far they went is the same.
        for (a, b) in full.paths.iter().zip(&rare.paths) {
            assert!((a - b).abs() < 0.01, "every {frames} frames: {a} m and {b} m");
        }
    }
}

#[test]
fn who_skips_a_frame_is_drawn_as_it_was_and_goes_on_along_its_lane() {
    let config = config(60, Layout::Disc, every(4));
    let mut crowd = Crowd::new(config, vec![rig::person()]).unwrap();
    let positions = |crowd: &Crowd| -> Vec<(Vec2, f32)> {
        let at = |id| crowd.character(CharacterId(id)).unwrap();
        (0..60).map(|id| (at(id).position.xz(), at(id).heading)).collect()
    };
    tick(&mut crowd, &overview(), (DT, true));
    let (mut shown, mut before) = (drawn(crowd.draw()), positions(&crowd));
    let mut steps = [0; 60];
    for frame in 1..240 {
        let stats = tick(&mut crowd, &overview(), (DT, true));
        assert_eq!((stats.evaluated, stats.leased), (15, 60), "frame {frame}");
        assert_eq!(stats.by_rate, [0, 0, 0, 60]);
        let now = drawn(crowd.draw());
        assert_eq!(now.len(), 60);
        let posed = |id: &u32| furthest(&now[id].0, &shown[id].0) > 0.0;
        assert!(now.keys().filter(|id| posed(id)).count() <= 15);
        let at = positions(&crowd);
        for (((a, _), (b, heading)), steps) in before.iter().zip(&at).zip(&mut steps) {
            let ahead = (*b - *a).dot(Vec2::new(heading.sin(), heading.cos()));
            let most = 2.0 * rig::WALK_SPEED * DT as f32;
            assert!((-1e-3..most).contains(&ahead), "frame {frame}: {ahead} m in one frame");
            *steps += i32::from(ahead > 0.25 * most);
        }
        (shown, before) = (now, at);
    }
    let (riders, others): (Vec<i32>, Vec<i32>) = steps.iter().partition(|steps| **steps > 200);
    assert!(riders.len() > 8 && riders.iter().all(|steps| *steps == 239), "{riders:?}");
    assert!(others.iter().all(|steps| *steps < 61), "{others:?}: by their turns")
}

#[test]
fn evaluations_are_spread_evenly_and_nobody_waits_longer_than_four_frames() {
    const COUNT: u32 = 20_000;
    const FRAMES: usize = 1_000;
    let config = CrowdConfig {
        update_mode: UpdateMode::AlwaysTickPose,
        ..config(COUNT, Layout::Grid, Gates::default())
    };
    let mut crowd = Crowd::new(config, vec![rig::stander()]).unwrap();
    crowd.record_frames();
    let mut reader = FrameReader::default();
    let mut last = vec![0; COUNT as usize];
    let mut counts = Vec::new();
    for frame in 0..FRAMES {
        // A camera on the move, so that some change their rate all the time.
        let eye = Vec3::new(80.0 * (0.004 * frame as f32).sin(), 4.0, 0.0);
        let view = View::look_at(eye, eye + Vec3::new(0.0, -1.0, 0.1), 0.5, 500.0, (160, 90));
        let input = TickInput {
            dt: DT,
            view: &view,
            shadow_clip_from_world: None,
            played: true,
            palette_hash: false,
        };
        let stats = crowd.tick(&input, &PhaseTimes::default());
        assert!(stats.by_rate.iter().all(|n| *n > 200), "{:?}", stats.by_rate);
        assert_eq!(stats.by_rate.iter().sum::<u32>(), COUNT);
        let bytes = crowd.recorded_frame();
        reader.read(bytes, COUNT).unwrap();
        for (id, _) in reader.lists(bytes) {
            last[id.0 as usize] = frame;
        }
        assert!(last.iter().all(|last| frame - last < 4), "frame {frame}");
        assert_eq!(stats.longest_gap as usize, frame.min(4), "frame {frame}");
        assert_eq!(stats.evaluated + stats.skipped, COUNT);
        if frame >= 4 {
            counts.push(stats.evaluated);
        }
    }
    let mean = f64::from(counts.iter().sum::<u32>()) / counts.len() as f64;
    let peak = f64::from(*counts.iter().max().unwrap());
    assert!(peak / mean <= 1.05, "{peak} at most, {mean} on average");
    assert!(mean < 0.5 * f64::from(COUNT), "{mean}");
}

#[test]
fn two_worlds_ticked_in_turn_both_stay_fresh() {
    let world = || Crowd::new(config(40, Layout::Grid, every(4)), vec![rig::stander()]).unwrap();
    let (mut a, mut b, mut alone) = (world(), world(), world());
    for frame in 0..40 {
        let hash = |crowd: &mut Crowd| {
            let stats = tick(crowd, &overview(), (DT, true));
            assert_eq!(stats.evaluated, if frame == 0 { 40 } else { 10 });
            stats.palette_hash
        };
        let expected = hash(&mut alone);
        assert_eq!([hash(&mut a), hash(&mut b)], [expected; 2], "frame {frame}");
    }
}

#[test]
fn rates_do_not_depend_on_threads() {
    let hash = |threads| {
        let gates = Gates { rate_distances: [4.0, 8.0, 12.0], ..Gates::default() };
        let config = CrowdConfig { threads, ..config(300, Layout::Disc, gates) };
        let mut crowd = Crowd::new(config, vec![rig::person(), walker::walker()]).unwrap();
        let mut sum = TickStats::default();
        for frame in 0..90 {
            let view = super::looking(frame as f32 * 0.05);
            let stats = tick(&mut crowd, &view, (DT, true));
            sum.leased += stats.leased;
            sum.evaluated += stats.evaluated;
            sum.palette_hash = stats.palette_hash;
        }
        assert!(sum.evaluated * 3 < sum.leased * 2, "{sum:?}");
        sum.palette_hash
    };
    let expected = hash(1);
    assert_eq!([hash(2), hash(8)], [expected; 2]);
}

#[test]
fn what_was_skipped_before_a_jump_is_told_and_the_jump_is_not() {
    let told = |gates| {
        let mut crowd = Crowd::new(config(30, Layout::Grid, gates), vec![person()]).unwrap();
        for frame in 0..400 {
            let time = if frame % 50 == 49 { (5.3, false) } else { (DT, true) };
            tick(&mut crowd, &overview(), time);
        }
        tick(&mut crowd, &overview(), (0.0, false));
        ["sway", "wave", "step", "turn"].map(|name| times_told(&crowd, name))
    };
    let expected = told(Gates::OFF);
    assert!(expected.iter().sum::<u64>() > 60, "{expected:?}");
    assert_eq!(told(every(3)), expected);
    assert_eq!(told(every(4)), expected);
}
