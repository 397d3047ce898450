//! Uneven ground: everybody stands on it, upright, and is found by culling wherever it lifts them.

use super::{DT, LAYOUTS, config, crowd, looking, overview};
use glam::{Vec2, Vec3};
use std::collections::BTreeSet;
use throng::crowd::{CrowdConfig, Layout, TickInput};
use throng::index::CharacterId;
use throng::motion::Terrain;
use throng::profile::PhaseTimes;

const UNEVEN: Terrain = Terrain::uneven(5);

fn on(terrain: Terrain, count: u32, layout: Layout) -> CrowdConfig {
    CrowdConfig { terrain, ..config(count, layout) }
}

#[test]
fn everybody_stands_on_the_ground_and_nothing_else_changes() {
    for layout in LAYOUTS {
        let [mut level, mut uneven] =
            [Terrain::FLAT, UNEVEN].map(|terrain| crowd(on(terrain, 500, layout)));
        let mut highest = 0.0f32;
        for _ in 0..60 {
            let view = overview();
            let hash = |crowd: &mut throng::crowd::Crowd| {
                let input = TickInput {
                    dt: 4.0 * DT,
                    view: &view,
                    shadow_clip_from_world: None,
                    played: true,
                    palette_hash: true,
                };
                crowd.tick(&input, &PhaseTimes::default()).palette_hash
            };
            assert_eq!(hash(&mut level), hash(&mut uneven), "poses do not know of the ground");
            let (a, b) = (level.draw(), uneven.draw());
            assert_eq!((a.instances.len(), b.instances.len()), (500, 500));
            for (a, b) in a.instances.iter().zip(b.instances) {
                let at = |p| b.world_from_model.transform_point(p);
                let lifted = at(Vec3::ZERO) - a.world_from_model.transform_point(Vec3::ZERO);
                let state = uneven.character(CharacterId(b.id)).unwrap();
                let under = Vec2::new(state.position.x, state.position.z);
                let height = UNEVEN.height(under);
                assert_eq!((a.id, a.ground, b.ground), (b.id, 0.0, height));
                assert_eq!(state.position.y, height);
                assert!(lifted.distance(Vec3::Y * height) < 1e-5, "{lifted}");
                let up = at(Vec3::Y) - at(Vec3::ZERO);
                assert!(up.normalize().dot(Vec3::Y) > 1.0 - 1e-6, "upright");
                let level_state = level.character(CharacterId(b.id)).unwrap();
                let sphere = state.center - level_state.center;
                assert!(
                    sphere.distance(Vec3::Y * height) < 1e-5 && state.radius == level_state.radius
                );
                highest = highest.max(height.abs());
            }
        }
        assert!(highest > 0.12, "{layout:?} stands on {highest} m at most");
    }
}

#[test]
fn nobody_is_lost_to_a_camera_that_sees_them() {
    for layout in LAYOUTS {
        let mut crowd = crowd(on(UNEVEN, 700, layout));
        let (mut found, mut extra) = (0, 0);
        for frame in 0..60 {
            let view = looking(frame as f32 * 0.37);
            let states: Vec<_> =
                (0..700).map(|i| crowd.character(CharacterId(i)).unwrap()).collect();
            let input = TickInput {
                dt: 0.0,
                view: &view,
                shadow_clip_from_world: None,
                played: true,
                palette_hash: false,
            };
            crowd.tick(&input, &PhaseTimes::default());
            let drawn: BTreeSet<u32> = crowd.draw().instances.iter().map(|r| r.id).collect();
            let frustum = view.frustum();
            for (id, state) in states.iter().enumerate() {
                let seen = frustum.sphere_may_be_visible(state.center, state.radius - 1e-3);
                let got = drawn.contains(&(id as u32));
                assert!(got || !seen, "{layout:?} {id} at {}", state.position);
                found += usize::from(seen);
                extra += usize::from(got && !seen);
            }
            // Time passes while everybody is out of sight, too.
            let away = looking(frame as f32 * 0.37 + 2.0);
            crowd.tick(&TickInput { dt: 0.7, view: &away, ..input }, &PhaseTimes::default());
        }
        assert!(found > 1_000 && extra < found / 5, "{layout:?}: {extra} beside {found}");
    }
}
