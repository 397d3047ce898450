//! The built-in characters in a crowd: nothing of them sticks out of the spheres they are culled by.

use super::{DT, overview};
use std::sync::Arc;
use throng::asset::{BUILTINS, builtin};
use throng::crowd::{Crowd, CrowdConfig, CrowdKind, Layout, TickInput};
use throng::index::CharacterId;
use throng::motion::Terrain;
use throng::profile::PhaseTimes;

#[test]
fn every_drawn_vertex_lies_in_its_characters_sphere() {
    let grounds = [Terrain::FLAT, Terrain::uneven(5)];
    for ((name, _), terrain) in BUILTINS.iter().flat_map(|b| grounds.map(|g| (b, g))) {
        let asset = builtin(name).unwrap().unwrap();
        let rig = Arc::new(asset.rig().unwrap());
        let kind = CrowdKind::new(*name, rig, asset.bounds);
        let layout = Layout::Street;
        let config = CrowdConfig { count: 60, layout, terrain, ..CrowdConfig::default() };
        let mut crowd = Crowd::new(config, vec![kind]).unwrap();
        let view = overview();
        let (mut tightest, mut furthest_out) = (0.0f32, f32::NEG_INFINITY);
        for _ in 0..120 {
            let input = TickInput {
                dt: 8.0 * DT,
                view: &view,
                shadow_clip_from_world: None,
                played: true,
                palette_hash: false,
            };
            crowd.tick(&input, &PhaseTimes::default());
            let draw = crowd.draw();
            for record in draw.instances {
                let state = crowd.character(CharacterId(record.id)).unwrap();
                let palette = draw.pages[0].palette(record).unwrap().to_whole();
                for vertex in asset.primitives.iter().flat_map(|p| p.vertices.iter().step_by(23)) {
                    let mut point = glam::Vec3::ZERO;
                    for (joint, weight) in vertex.joints.iter().zip(vertex.weights) {
                        let posed =
                            palette[usize::from(*joint)].transform_point(vertex.position.into());
                        point += weight * posed;
                    }
                    let world = record.world_from_model.transform_point(point);
                    let reach = world.distance(state.center) / state.radius;
                    tightest = tightest.max(reach);
                    assert!(reach <= 1.0, "{name} {}: {reach} of its radius", record.id);
                    furthest_out = furthest_out.max(record.ground - world.y);
                }
            }
        }
        assert!(tightest > 0.6, "{name}: {tightest}: a sphere far too large culls nothing");
        assert!(furthest_out < 0.05, "{name} sinks {furthest_out} m into the ground");
    }
}
