//! Small crowds for tests.

use super::{Crowd, CrowdConfig, CrowdKind, Gates, Layout, TickInput, TickStats};
use crate::math::{Bounds, View};
use crate::pose::Rig;
use crate::pose::testing::{Shape, character};
use crate::profile::PhaseTimes;
use glam::Vec3;
use std::sync::Arc;

/// Where the camera sees everybody, and where nobody.
pub(crate) const CROWD: Vec3 = Vec3::ZERO;
pub(crate) const SKY: Vec3 = Vec3::new(0.0, 900.0, 0.0);
/// Seconds of a tick.
pub(crate) const DT: f64 = 0.05;

pub(crate) fn kind(name: &str, seed: u64) -> CrowdKind {
    let (skeleton, clips) = character(Shape::all(13)[1], 4, seed);
    let rig = Arc::new(Rig::new(skeleton, &clips).unwrap());
    let bounds = Bounds::of_points([Vec3::NEG_ONE, Vec3::ONE].into_iter());
    CrowdKind { scale: 1.5, ..CrowdKind::new(name, rig, bounds) }
}

/// Two kinds, "one" and "other".
pub(crate) fn crowd(count: u32, threads: usize) -> Crowd {
    crowd_with(count, threads, |_| ())
}

/// The same, configured otherwise.
pub(crate) fn crowd_with(
    count: u32,
    threads: usize,
    configure: impl FnOnce(&mut CrowdConfig),
) -> Crowd {
    let mut config = CrowdConfig {
        count,
        threads,
        layout: Layout::Grid,
        gates: Gates::OFF,
        ..CrowdConfig::default()
    };
    configure(&mut config);
    Crowd::new(config, vec![kind("one", 1), kind("other", 2)]).unwrap()
}

/// A tick with the camera looking at a point from high above.
pub(crate) fn tick(crowd: &mut Crowd, target: Vec3) -> TickStats {
    let view = View::look_at(Vec3::new(0.0, 400.0, 1.0), target, 1.2, 2_000.0, (160, 90));
    let input = TickInput {
        dt: DT,
        played: true,
        view: &view,
        shadow_clip_from_world: None,
        palette_hash: true,
    };
    crowd.tick(&input, &PhaseTimes::default())
}
