//! From culling to gathering a warm crowd makes no heap allocation, on any thread.

#![allow(clippy::unwrap_used, reason = "what is missing or wrong fails the test")]

#[path = "crowd/rig.rs"]
mod rig;
#[path = "crowd/walker.rs"]
mod walker;

use glam::Vec3;
use throng::app::alloc::{CountingAllocator, allocations};
use throng::crowd::{Crowd, CrowdConfig, Layout, Spawning, TickInput, TickStats};
use throng::math::View;
use throng::profile::PhaseTimes;
use throng::task::TaskKind;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

/// A camera that turns around once in 300 frames, so that characters come into view and leave it;
/// every other minute it is far above and sees everybody.
fn view(frame: u32) -> View {
    if frame / 300 % 2 == 1 {
        let eye = Vec3::new(0.1, 900.0, 0.1);
        return View::look_at(eye, Vec3::ZERO, 1.0, 5_000.0, (160, 90));
    }
    let angle = frame as f32 / 300.0 * std::f32::consts::TAU;
    let eye = Vec3::new(0.0, 3.0, 0.0);
    let target = eye + Vec3::new(angle.sin(), -0.2, angle.cos());
    View::look_at(eye, target, 0.9, 80.0, (160, 90))
}

fn counted() -> u64 {
    allocations().unwrap_or(0)
}

// One test, because another one's allocations would be counted with it.
#[test]
fn a_warm_crowd_does_not_allocate_whoever_comes_goes_and_cross_fades() {
    let simple = vec![rig::person(), rig::stander()];
    let walkers = vec![walker::walker(), rig::stander()];
    let instant = Spawning::Instant;
    let cycle = Spawning::Cycle { per_second: 400.0 };
    for (layout, count, spawning, kinds, followers) in [
        (Layout::Street, 5_000, instant, simple.clone(), 0),
        (Layout::Grid, 5_000, instant, simple.clone(), 0),
        (Layout::Street, 5_000, instant, simple.clone(), 2_000),
        (Layout::Disc, 1, instant, simple.clone(), 0),
        (Layout::Grid, 2_000, instant, walkers.clone(), 0),
        (Layout::Grid, 2_000, instant, walkers.clone(), 1_000),
        (Layout::Street, 2_000, cycle, simple.clone(), 0),
        (Layout::Street, 2_000, cycle, simple, 900),
        (Layout::Grid, 2_000, cycle, walkers, 0),
    ] {
        let config = CrowdConfig { count, layout, spawning, threads: 3, ..CrowdConfig::default() };
        let mut crowd = Crowd::new(config, kinds).unwrap();
        crowd.follow_some(followers, 3).unwrap();
        let times = PhaseTimes::default();
        // Recording what everybody is told does not allocate either.
        if layout == Layout::Grid {
            crowd.record_frames();
        }
        let mut run = |frames: std::ops::Range<u32>| {
            let before = counted();
            let (mut sum, mut most) = (TickStats::default(), 0);
            for frame in frames {
                let view = view(frame);
                let shadow_clip_from_world = Some(view.clip_from_world());
                let input = TickInput {
                    dt: 1.0 / 60.0,
                    view: &view,
                    shadow_clip_from_world,
                    played: true,
                    palette_hash: true,
                };
                let stats = crowd.tick(&input, &times);
                most = most.max(stats.evaluated);
                sum.entered += stats.entered;
                sum.left += stats.left;
                sum.spawned += stats.spawned;
                sum.tasks.add(&stats.tasks);
            }
            (counted() - before, sum, most)
        };
        let (warming, ..) = run(0..1_200);
        assert!(warming > 0, "the counter counts");
        let (allocations, sum, most) = run(1_200..1_800);
        assert_eq!(allocations, 0, "{layout:?}, {count} characters, {spawning:?}");
        assert_eq!(sum.spawned, 600 / 60 * spawning.per_second() as u32);
        // Who is far away has turns of its own.
        assert!(
            10 * most >= 9 * (count - followers),
            "{most} of {count} were evaluated in one frame"
        );
        if count > 1 {
            let fades = sum.tasks.executed[TaskKind::Blend as usize].count;
            assert!(sum.entered > 1_000 && sum.left > 1_000 && fades > 1_000, "{sum:?}");
        }
    }
}
