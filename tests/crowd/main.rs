//! The crowd as its users see it: what a tick evaluates, draws and says of itself.

#![allow(clippy::unwrap_used, clippy::panic, reason = "what is missing or wrong fails the test")]

mod bounds;
mod budget;
mod churn;
mod falls;
mod follow;
mod getup;
mod graph;
mod ground;
mod interpolate;
mod lod;
mod modes;
mod observe;
mod ragdoll;
mod rates;
mod recorded;
mod reload;
mod replay;
mod rig;
mod sequences;
mod walker;

use glam::{Mat4, Vec3};
use std::collections::{BTreeMap, BTreeSet};
use throng::crowd::{
    Crowd, CrowdConfig, CrowdDraw, CrowdError, CrowdKind, Gates, Layout, TickInput, TickStats,
    UpdateMode,
};
use throng::index::CharacterId;
use throng::math::{Frustum, Mat3x4, View};
use throng::profile::{Phase, PhaseTimes};

const DT: f64 = 1.0 / 60.0;
const LAYOUTS: [Layout; 3] = [Layout::Grid, Layout::Disc, Layout::Street];

fn config(count: u32, layout: Layout) -> CrowdConfig {
    // Cameras are far away, and most tests are about everybody in every frame.
    CrowdConfig { count, layout, threads: 2, gates: Gates::OFF, ..CrowdConfig::default() }
}

fn crowd(config: CrowdConfig) -> Crowd {
    Crowd::new(config, vec![rig::person()]).unwrap()
}

/// From above the middle, turned by `angle`, seeing a part of the crowd.
fn looking(angle: f32) -> View {
    let eye = Vec3::new(0.0, 3.0, 0.0);
    let target = eye + Vec3::new(angle.sin(), -0.2, angle.cos());
    View::look_at(eye, target, 0.7, 60.0, (160, 90))
}

/// Sees everything.
fn overview() -> View {
    View::look_at(Vec3::new(0.1, 900.0, 0.1), Vec3::ZERO, 1.0, 5_000.0, (160, 90))
}

/// Sees nothing.
fn away() -> View {
    View::look_at(Vec3::new(0.0, 50.0, 0.0), Vec3::new(0.0, 100.0, 1.0), 0.5, 100.0, (160, 90))
}

fn shadow_of(center: Vec3, reach: f32) -> Mat4 {
    let eye = center + Vec3::new(20.0, 40.0, 10.0);
    let view = glam::camera::rh::view::look_to_mat4(eye, (center - eye).normalize(), Vec3::Y);
    let depth = Mat4::from_cols_array_2d(&[
        [1.0 / reach, 0.0, 0.0, 0.0],
        [0.0, 1.0 / reach, 0.0, 0.0],
        [0.0, 0.0, -0.01, 0.0],
        [0.0, 0.0, 0.0, 1.0],
    ]);
    depth * view
}

fn tick(crowd: &mut Crowd, view: &View, dt: f64) -> TickStats {
    let input =
        TickInput { dt, view, shadow_clip_from_world: None, played: true, palette_hash: true };
    crowd.tick(&input, &PhaseTimes::default())
}

/// Palette and world matrix of everybody who is drawn, by id.
fn drawn(draw: CrowdDraw<'_>) -> BTreeMap<u32, (Vec<Mat3x4>, Mat3x4)> {
    let mut all = BTreeMap::new();
    for group in draw.groups {
        let page = &draw.pages[group.page as usize];
        for record in &draw.instances
            [group.camera.start as usize..group.shadow.end.max(group.camera.end) as usize]
        {
            let palette = page.palette(record).unwrap().to_whole().into_owned();
            let before = all.insert(record.id, (palette, record.world_from_model));
            assert!(before.is_none(), "character {} is drawn twice", record.id);
        }
    }
    all
}

fn furthest(a: &[Mat3x4], b: &[Mat3x4]) -> f32 {
    let rows = |m: &[Mat3x4]| m.iter().flat_map(|m| m.rows).flatten().collect::<Vec<f32>>();
    rows(a).iter().zip(rows(b)).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max)
}

#[test]
fn no_characters_and_one_character_tick_and_draw() {
    for layout in LAYOUTS {
        let mut nobody = Crowd::new(config(0, layout), Vec::new()).unwrap();
        let stats = tick(&mut nobody, &overview(), DT);
        assert_eq!((stats.count, stats.visible, stats.evaluated), (0, 0, 0));
        assert!(nobody.draw().groups.is_empty() && nobody.draw().instances.is_empty());
        assert_eq!(nobody.character(CharacterId(0)), None);

        let mut one = crowd(config(1, layout));
        for _ in 0..90 {
            let stats = tick(&mut one, &overview(), DT);
            assert_eq!((stats.visible, stats.evaluated, stats.leased), (1, 1, 1));
        }
        let all = drawn(one.draw());
        assert!(all[&0].0.iter().all(Mat3x4::is_finite));
    }
}

#[test]
fn a_kind_without_clips_stands_in_its_reference_pose() {
    for layout in LAYOUTS {
        let kind = rig::kind("statue", &[]);
        let mut crowd = Crowd::new(config(20, layout), vec![kind]).unwrap();
        for _ in 0..5 {
            assert_eq!(tick(&mut crowd, &overview(), 1.0).evaluated, 20);
        }
        let all = drawn(crowd.draw());
        assert_eq!(all.len(), 20);
        for (palette, _) in all.values() {
            assert!(furthest(palette, &[Mat3x4::IDENTITY; 6]) < 1e-6);
        }
    }
}

#[test]
fn one_clip_is_played_and_loops() {
    let kind = rig::kind("waver", &[rig::wave()]);
    let mut crowd = Crowd::new(config(3, Layout::Grid), vec![kind]).unwrap();
    tick(&mut crowd, &overview(), 0.0);
    let start = drawn(crowd.draw());
    let mut moved = 0.0f32;
    for _ in 0..60 {
        tick(&mut crowd, &overview(), DT);
        moved = moved.max(furthest(&drawn(crowd.draw())[&1].0, &start[&1].0));
    }
    assert!(moved > 0.1, "{moved}");
}

#[test]
fn culling_agrees_with_a_test_of_every_character() {
    for layout in LAYOUTS {
        let mut crowd = crowd(config(700, layout));
        for frame in 0..40 {
            // Time passes while the camera looks elsewhere; then it is held to exactly where all are.
            tick(&mut crowd, &looking(frame as f32 * 0.4 + 2.0), 0.3);
            let view = looking(frame as f32 * 0.4);
            let shadow = shadow_of(view.eye + 12.0 * view.forward, 9.0);
            let frusta = [view.frustum(), Frustum::from_clip_from_world(&shadow)];
            let before: Vec<_> =
                (0..700).map(|i| crowd.character(CharacterId(i)).unwrap()).collect();
            let input = TickInput {
                dt: 0.0,
                view: &view,
                shadow_clip_from_world: Some(shadow),
                played: true,
                palette_hash: false,
            };
            let stats = crowd.tick(&input, &PhaseTimes::default());
            let draw = crowd.draw();
            let ids = |range: &dyn Fn(&throng::crowd::DrawGroup) -> std::ops::Range<u32>| {
                let ranges = draw.groups.iter().map(range);
                let records =
                    ranges.flat_map(|r| &draw.instances[r.start as usize..r.end as usize]);
                records.map(|r| r.id).collect::<BTreeSet<u32>>()
            };
            let seen = [ids(&|g| g.camera.clone()), ids(&|g| g.shadow.clone())];
            for (frustum, seen) in frusta.iter().zip(&seen) {
                for (id, state) in before.iter().enumerate() {
                    let sure =
                        |slack| frustum.sphere_may_be_visible(state.center, state.radius + slack);
                    if sure(-1e-3) == sure(1e-3) {
                        assert_eq!(seen.contains(&(id as u32)), sure(0.0), "{layout:?} {id}");
                    }
                }
            }
            assert!(!seen[0].is_empty() && seen[0].len() < 600 && !seen[1].is_empty());
            let either: BTreeSet<u32> = seen[0].union(&seen[1]).copied().collect();
            assert_eq!(stats.visible as usize, either.len());
            assert_eq!(stats.in_camera as usize, seen[0].len());
            assert_eq!(draw.instances.len(), either.len());
            // Both ranges overlap in those that both see.
            for g in draw.groups {
                assert!(g.camera.start <= g.shadow.start && g.camera.end <= g.shadow.end);
            }
        }
    }
}

#[test]
fn whoever_walked_far_unseen_is_seen_where_it_is_by_then() {
    for layout in [Layout::Street, Layout::Disc] {
        let mut crowd = crowd(config(1_200, layout));
        let mut found = 0;
        for round in 0..12 {
            // Some seconds, and some metres, that nobody sees.
            for _ in 0..4 + round {
                tick(&mut crowd, &away(), 0.9);
            }
            let view = looking(round as f32 * 0.53);
            let input = TickInput {
                dt: 0.0,
                view: &view,
                shadow_clip_from_world: None,
                played: true,
                palette_hash: false,
            };
            let before: Vec<_> =
                (0..1_200).map(|i| crowd.character(CharacterId(i)).unwrap()).collect();
            crowd.tick(&input, &PhaseTimes::default());
            let seen: BTreeSet<u32> = crowd.draw().instances.iter().map(|r| r.id).collect();
            for (id, state) in before.iter().enumerate() {
                let frustum = view.frustum();
                let sure =
                    |slack| frustum.sphere_may_be_visible(state.center, state.radius + slack);
                if sure(-1e-3) == sure(1e-3) {
                    let seen = seen.contains(&(id as u32));
                    assert_eq!(seen, sure(0.0), "{layout:?} round {round} character {id}");
                }
            }
            found += seen.len();
        }
        assert!(found > 300, "{layout:?}: {found}");
    }
}

#[test]
fn a_character_keeps_its_own_tint_wherever_it_is_drawn() {
    let mut crowd = crowd(config(400, Layout::Street));
    let mut tints = BTreeMap::new();
    for frame in 0..60 {
        tick(&mut crowd, &looking(frame as f32 * 0.11), 0.2);
        for record in crowd.draw().instances {
            let tint = *tints.entry(record.id).or_insert(record.tint);
            assert_eq!(record.tint, tint, "character {} in frame {frame}", record.id);
        }
    }
    let distinct: BTreeSet<u32> = tints.values().copied().collect();
    assert!(tints.len() > 300 && distinct.len() > 100, "{} of {}", distinct.len(), tints.len());
}

#[test]
fn slots_are_leased_to_who_is_seen_and_given_back_after_the_grace_time() {
    let mut crowd = crowd(config(500, Layout::Grid));
    let seen = tick(&mut crowd, &looking(0.0), DT);
    assert_eq!(
        (seen.entered, seen.evaluated, seen.leased),
        (seen.visible, seen.visible, seen.visible)
    );
    assert!(seen.visible > 20 && seen.visible < 400, "{seen:?}");
    // A quarter of a second is fifteen frames.
    for frame in 1..=15 {
        let stats = tick(&mut crowd, &away(), DT);
        assert_eq!((stats.visible, stats.evaluated), (0, seen.visible), "frame {frame}");
    }
    let mut left = 0;
    for _ in 0..2 {
        left += tick(&mut crowd, &away(), DT).left;
    }
    assert_eq!(left, seen.visible);
    let gone = tick(&mut crowd, &away(), DT);
    assert_eq!((gone.evaluated, gone.leased, gone.tasks.lists), (0, 0, 0));
    assert!(crowd.draw().instances.is_empty() && crowd.draw().groups.is_empty());
    assert!(crowd.draw().pages.iter().all(|p| p.dirty.is_empty()));
}

#[test]
fn churn_of_the_camera_leaves_memory_flat() {
    let mut crowd = crowd(CrowdConfig { page_matrices: 6 * 150, ..config(3_000, Layout::Disc) });
    let mut bytes = 0;
    for frame in 0..1_200 {
        let stats = tick(&mut crowd, &looking(frame as f32 * 0.31), 0.1);
        assert!(stats.leased >= stats.visible && stats.waiting == 0);
        if frame == 200 {
            bytes = stats.palette_bytes;
        } else if frame > 200 {
            assert_eq!(stats.palette_bytes, bytes, "frame {frame}");
        }
    }
}

#[test]
fn what_is_outside_the_dirty_ranges_is_as_it_was_and_inside_is_what_was_evaluated() {
    let mut crowd = crowd(CrowdConfig { page_matrices: 6 * 100, ..config(900, Layout::Street) });
    let mut before: Vec<Vec<Mat3x4>> = Vec::new();
    for frame in 0..120 {
        let stats = tick(&mut crowd, &looking(frame as f32 * 0.17), 0.05);
        let draw = crowd.draw();
        let mut written = 0;
        for (p, page) in draw.pages.iter().enumerate() {
            let mut end = 0;
            assert!(page.matrices.len() <= 600 && page.matrices.len() % 6 == 0);
            let old = before.get(p).map_or(&[][..], Vec::as_slice);
            assert!(old.len() <= page.matrices.len(), "a page shrank");
            for range in &page.dirty {
                assert!(range.start >= end && range.end > range.start, "{:?}", page.dirty);
                assert!(range.start == 0 || range.start > end || end == 0, "adjacent ranges");
                let kept = end as usize..(range.start as usize).min(old.len());
                assert!(kept.is_empty() || old[kept.clone()] == page.matrices[kept]);
                end = range.end;
                written += (range.end - range.start) / 6;
            }
            let tail = (end as usize).min(old.len())..old.len();
            assert_eq!(old[tail.clone()], page.matrices[tail]);
        }
        assert_eq!(written, stats.evaluated);
        for group in draw.groups {
            let page = &draw.pages[group.page as usize];
            for r in &draw.instances[group.camera.start as usize..group.camera.end as usize] {
                let inside = |d: &std::ops::Range<u32>| d.contains(&r.palette_offset);
                assert!(page.dirty.iter().any(inside), "{} shows what was not written", r.id);
            }
        }
        before = draw.pages.iter().map(|p| p.matrices.clone()).collect();
    }
    assert!(before.len() > 1, "several pages");
}

#[test]
fn who_comes_into_view_shows_the_pose_it_would_have_had() {
    for layout in LAYOUTS {
        let mut sparse = crowd(config(400, layout));
        let mut full =
            crowd(CrowdConfig { update_mode: UpdateMode::AlwaysTickPose, ..config(400, layout) });
        let mut compared = 0;
        for frame in 0..240 {
            // Turns in jumps, so that many have been unseen for seconds.
            let view = looking((frame / 40) as f32 * 1.1);
            let stats = tick(&mut sparse, &view, 0.05);
            assert_eq!(tick(&mut full, &view, 0.05).evaluated, 400);
            let (a, b) = (drawn(sparse.draw()), drawn(full.draw()));
            for (id, (palette, _)) in &a {
                let Some((expected, _)) = b.get(id) else { continue };
                let off = furthest(palette, expected);
                assert!(off < 5e-3, "{layout:?}: frame {frame}, character {id} is off by {off}");
                compared += 1;
            }
            assert!(stats.evaluated >= stats.visible);
        }
        assert!(compared > 2_000, "{compared}");
    }
}

#[test]
fn poses_are_many_and_phases_are_spread() {
    let mut crowd = crowd(config(1_000, Layout::Street));
    tick(&mut crowd, &overview(), 4.0);
    let all = drawn(crowd.draw());
    assert_eq!(all.len(), 1_000);
    let distinct: BTreeSet<Vec<u32>> = all
        .values()
        .map(|(palette, _)| {
            palette.iter().flat_map(|m| m.rows).flatten().map(f32::to_bits).collect()
        })
        .collect();
    // A turn's pose is the reference pose, its root being pinned.
    assert!(distinct.len() > 950, "{}", distinct.len());
}

#[test]
fn threads_do_not_change_a_bit_and_seeds_do() {
    for layout in LAYOUTS {
        let run = |threads, seed| {
            let config = CrowdConfig { threads, seed, ..config(600, layout) };
            let mut crowd = Crowd::new(config, vec![rig::person(), rig::stander()]).unwrap();
            (0..90)
                .map(|f| tick(&mut crowd, &looking(f as f32 * 0.05), DT).palette_hash.unwrap())
                .collect::<Vec<_>>()
        };
        let one = run(1, 1);
        assert_eq!(one, run(2, 1));
        assert_eq!(one, run(8, 1));
        assert_ne!(one, run(2, 2));
        assert!(one.windows(2).all(|w| w[0] != w[1]));
    }
}

#[test]
fn pruning_and_stealing_do_not_change_a_bit() {
    let run = |prune, steal| {
        let mut crowd = crowd(CrowdConfig { prune, steal, ..config(300, Layout::Street) });
        let mut stats = TickStats::default();
        for _ in 0..200 {
            stats = tick(&mut crowd, &overview(), DT);
        }
        (stats.palette_hash, stats.tasks.stolen)
    };
    let (hash, stolen) = run(true, true);
    assert_eq!(run(true, false), (hash, 0));
    assert_eq!(run(false, true).0, hash);
    assert!(stolen > 0, "somebody cross-fades");
}

#[test]
fn a_paused_crowd_stands_still() {
    let mut crowd = crowd(config(300, Layout::Street));
    for _ in 0..30 {
        tick(&mut crowd, &overview(), DT);
    }
    let before = drawn(crowd.draw());
    for _ in 0..5 {
        tick(&mut crowd, &overview(), 0.0);
        assert_eq!(drawn(crowd.draw()), before);
    }
    tick(&mut crowd, &overview(), f64::NAN);
    assert_eq!(drawn(crowd.draw()), before);
    assert!((crowd.now() - 0.5).abs() < 1e-12);
}

/// World position of a walker's left foot.
fn foot((palette, world): &(Vec<Mat3x4>, Mat3x4)) -> Vec3 {
    let bind = Vec3::new(0.1, 0.0, 0.0);
    world.transform_point(palette[rig::LEFT_FOOT].transform_point(bind))
}

#[test]
fn standing_feet_of_walkers_stay_where_they_are() {
    for layout in [Layout::Street, Layout::Disc] {
        let mut crowd = crowd(config(2_000, layout));
        let (mut steps, mut walked) = (0, 0);
        let mut backs = BTreeMap::new();
        tick(&mut crowd, &overview(), DT);
        let mut before = drawn(crowd.draw());
        for _ in 0..120 {
            tick(&mut crowd, &overview(), DT);
            let now = drawn(crowd.draw());
            for (id, after) in &now {
                let earlier = &before[id];
                let body =
                    after.1.transform_point(Vec3::ZERO) - earlier.1.transform_point(Vec3::ZERO);
                if body.length() < 0.5 * rig::WALK_SPEED * DT as f32 {
                    continue;
                }
                walked += 1;
                // The foot moves back in the model, evenly, exactly while it stands.
                let model = |p: &Vec<Mat3x4>| p[rig::LEFT_FOOT].transform_point(Vec3::ZERO).z;
                let back = model(&after.0) - model(&earlier.0);
                let even = (back - backs.insert(*id, back).unwrap_or(f32::NAN)).abs() < 1e-4;
                if back < 0.0 && even {
                    let slid = foot(after).distance(foot(earlier));
                    // On a curve the body turns over the foot.
                    let facing =
                        |w: &Mat3x4| w.transform_point(Vec3::Z) - w.transform_point(Vec3::ZERO);
                    let turned = facing(&after.1).angle_between(facing(&earlier.1));
                    let allowed = 0.02 * body.length() + 0.5 * turned;
                    assert!(slid < allowed, "{layout:?} {id}: {slid} of {}", body.length());
                    steps += 1;
                }
            }
            before = now;
        }
        assert!(steps > walked / 3 && walked > 10_000, "{layout:?}: {steps} of {walked}");
    }
}

#[test]
fn who_turns_keeps_its_place_and_its_heading_turns_by_the_clips_total() {
    let kind = CrowdKind { clips: vec![Default::default()], ..rig::kind("turner", &[rig::turn()]) };
    let mut crowd = Crowd::new(config(9, Layout::Grid), vec![kind]).unwrap();
    tick(&mut crowd, &overview(), DT);
    let state = |crowd: &Crowd, i| crowd.character(CharacterId(i)).unwrap();
    let before: Vec<_> = (0..9).map(|i| state(&crowd, i)).collect();
    for _ in 0..600 {
        tick(&mut crowd, &overview(), DT);
    }
    for (i, before) in before.iter().enumerate() {
        let after = state(&crowd, i as u32);
        assert!(after.position.distance(before.position) < 1e-3);
        // Ten seconds at 0.9 to 1.1 of a quarter turn a second; the clip is alone, so it loops.
        let speed = {
            let turned = |k: f32| after.heading - before.heading + k * std::f32::consts::TAU;
            let seconds = |k: f32| turned(k) / std::f32::consts::FRAC_PI_2;
            (0..4).map(|k| seconds(k as f32)).find(|s| (8.9..=11.1).contains(s))
        };
        assert!(speed.is_some(), "{i}: {} to {}", before.heading, after.heading);
    }
}

#[test]
fn walkers_go_around_and_keep_apart_whoever_is_seen() {
    let mut crowd = crowd(config(1_500, Layout::Street));
    for frame in 0..600 {
        tick(&mut crowd, &looking(frame as f32 * 0.01), 0.1);
    }
    let all: Vec<_> = (0..1_500).map(|i| crowd.character(CharacterId(i)).unwrap()).collect();
    for (i, a) in all.iter().enumerate() {
        for b in &all[i + 1..] {
            assert!(a.position.distance(b.position) > 0.5, "{a:?} {b:?}");
        }
    }
}

#[test]
fn next_clip_changes_what_everybody_who_stands_plays() {
    let mut crowd = Crowd::new(config(50, Layout::Grid), vec![rig::stander()]).unwrap();
    tick(&mut crowd, &overview(), DT);
    crowd.next_clip();
    let stats = tick(&mut crowd, &overview(), DT);
    let blends = stats.tasks.executed[throng::task::TaskKind::Blend as usize].count;
    assert_eq!((blends, stats.tasks.recorded), (50, 150));
}

#[test]
fn the_phases_times_reach_the_caller() {
    let mut crowd = crowd(config(400, Layout::Grid));
    let times = PhaseTimes::default();
    let input = TickInput {
        dt: DT,
        view: &overview(),
        shadow_clip_from_world: None,
        played: true,
        palette_hash: false,
    };
    assert_eq!(crowd.tick(&input, &times).palette_hash, None);
    for phase in
        [Phase::Cull, Phase::Gate, Phase::Record, Phase::Execute, Phase::Serial, Phase::Gather]
    {
        assert!(times.main_ns(phase) > 0 && times.worker_ns(phase) > 0, "{phase:?}");
    }
    let before = times.worker_ns(Phase::Execute);
    crowd.tick(&input, &times);
    assert!(times.worker_ns(Phase::Execute) > before);
}

#[test]
fn what_does_not_fit_is_refused_with_the_numbers() {
    let refused = |config, kinds| Crowd::new(config, kinds).unwrap_err();
    let people = || vec![rig::person()];
    let c = CrowdConfig { threads: 0, ..config(1, Layout::Grid) };
    assert!(matches!(refused(c, people()), CrowdError::NoThreads));
    let error = refused(config(3, Layout::Grid), Vec::new());
    assert!(matches!(error, CrowdError::NoKinds { count: 3 }));
    let weightless = CrowdKind { weight: 0.0, ..rig::person() };
    let error = refused(config(3, Layout::Grid), vec![weightless]);
    assert!(matches!(error, CrowdError::NoKinds { count: 3 }));
    let c = CrowdConfig { page_matrices: 5, ..config(1, Layout::Grid) };
    assert!(matches!(refused(c, people()), CrowdError::PageTooSmall { palette: 6, page: 5, .. }));
    let c = CrowdConfig { memory_limit: 1 << 20, ..config(1_000_000, Layout::Grid) };
    let CrowdError::DoesNotFit { needed, limit, fits, .. } = refused(c, people()) else { panic!() };
    assert!(limit == 1 << 20 && needed > 100 << 20 && (1_000..20_000).contains(&fits), "{fits}");
    let c = CrowdConfig { grace: f32::NAN, ..config(1, Layout::Grid) };
    assert!(matches!(refused(c, people()), CrowdError::OutOfRange { .. }));
    let tiny = CrowdKind { scale: 0.0, ..rig::person() };
    assert!(matches!(refused(config(1, Layout::Grid), vec![tiny]), CrowdError::OutOfRange { .. }));
    let infos = CrowdKind { clips: vec![Default::default(); 3], ..rig::person() };
    let error = refused(config(1, Layout::Grid), vec![infos]);
    assert!(matches!(error, CrowdError::ClipInfos { infos: 3, clips: 4, .. }));
}

#[test]
fn palettes_beyond_the_memory_limit_leave_characters_waiting_and_not_drawn() {
    let columns = 2_000 * Crowd::BYTES_PER_CHARACTER as u64;
    let c = CrowdConfig { memory_limit: columns + (200 << 10), ..config(2_000, Layout::Grid) };
    let mut crowd = crowd(c);
    for _ in 0..3 {
        let stats = tick(&mut crowd, &overview(), DT);
        assert_eq!(stats.visible, 2_000);
        assert!(stats.leased > 100 && stats.waiting == 2_000 - stats.leased, "{stats:?}");
        assert!(stats.palette_bytes < 200 << 10);
        assert_eq!(crowd.draw().instances.len(), stats.leased as usize);
    }
}
