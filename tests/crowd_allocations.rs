//! From culling to gathering a warm crowd makes no heap allocation, on any thread.

#![allow(clippy::unwrap_used, reason = "what is missing or wrong fails the test")]

#[path = "crowd/rig.rs"]
mod rig;

use glam::Vec3;
use std::alloc::{GlobalAlloc, Layout as Memory, System};
use std::sync::atomic::{AtomicU64, Ordering};
use throng::crowd::{Crowd, CrowdConfig, Layout, TickInput};
use throng::math::View;
use throng::profile::PhaseTimes;

struct Counting;

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

// SAFETY: every call goes to the system's allocator unchanged; counting touches no memory of it.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Memory) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller's contract is the system allocator's.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, ptr: *mut u8, layout: Memory) {
        // SAFETY: the caller's contract is the system allocator's.
        unsafe { System.dealloc(ptr, layout) }
    }

    unsafe fn realloc(&self, ptr: *mut u8, layout: Memory, new_size: usize) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller's contract is the system allocator's.
        unsafe { System.realloc(ptr, layout, new_size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// A camera that turns around once in 300 frames, so that characters come into view and leave it.
fn view(frame: u32) -> View {
    let angle = frame as f32 / 300.0 * std::f32::consts::TAU;
    let eye = Vec3::new(0.0, 3.0, 0.0);
    let target = eye + Vec3::new(angle.sin(), -0.2, angle.cos());
    View::look_at(eye, target, 0.9, 80.0, (160, 90))
}

// One test, because another one's allocations would be counted with it.
#[test]
fn a_warm_crowd_does_not_allocate() {
    for (layout, count) in [(Layout::Street, 5_000), (Layout::Grid, 3_000), (Layout::Disc, 1)] {
        let config = CrowdConfig { count, layout, threads: 3, ..CrowdConfig::default() };
        let mut crowd = Crowd::new(config, vec![rig::person(), rig::stander()]).unwrap();
        let times = PhaseTimes::default();
        let mut run = |frames: std::ops::Range<u32>| {
            let before = ALLOCATIONS.load(Ordering::Relaxed);
            let mut evaluated = 0;
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
                evaluated += crowd.tick(&input, &times).evaluated;
            }
            (ALLOCATIONS.load(Ordering::Relaxed) - before, evaluated)
        };
        let (warming, _) = run(0..1_200);
        assert!(warming > 0, "the counter counts");
        let (allocations, evaluated) = run(1_200..1_800);
        assert_eq!(allocations, 0, "{layout:?}, {count} characters");
        assert!(evaluated > 0);
    }
}
