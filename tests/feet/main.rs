//! Feet, measured from the skinned soles of the built-in characters as their built-in graphs play
//! them: where they stand, when they land, and that they stay.

#![allow(clippy::unwrap_used, clippy::panic, reason = "what is missing or wrong fails the test")]

mod run;
mod slide;
mod soles;
mod stand;
mod step;

use glam::Vec3;
use soles::{Sole, soles};
use std::sync::Arc;
use throng::asset::{CharacterAsset, builtin, skinning};
use throng::crowd::{Crowd, CrowdConfig, CrowdKind, Gates, Layout, Playing, TickInput};
use throng::graph::{self, ValidProgram};
use throng::math::{Mat3x4, View};
use throng::motion::Terrain;
use throng::pose::Rig;
use throng::profile::PhaseTimes;

const DT: f64 = 1.0 / 60.0;
const CHARACTERS: [&str; 2] = ["humanoid", "quadruped"];

/// A built-in character and the graph that was made for it.
struct Actor {
    asset: CharacterAsset,
    rig: Arc<Rig>,
    soles: Vec<Sole>,
    program: Arc<ValidProgram>,
}

impl Actor {
    fn new(name: &str) -> Self {
        let (graph, text) = graph::builtin_for(name).unwrap();
        Self::with(name, graph, text)
    }

    fn with(name: &str, graph: &str, text: &str) -> Self {
        let asset = builtin(name).unwrap().unwrap();
        let rig = Arc::new(asset.rig().unwrap());
        let program = Arc::new(graph::compile(graph, text).unwrap().program);
        Self { soles: soles(&asset, &rig), asset, rig, program }
    }

    /// As the command line has it.
    fn kind(&self) -> CrowdKind {
        CrowdKind {
            ground_offset: -skinning::rest_bounds(&self.asset).min.y,
            notifies: self.asset.notifies.clone(),
            sync_markers: self.asset.sync_markers.clone(),
            playing: Playing::Graph(self.program.clone()),
            ..CrowdKind::new("actor", self.rig.clone(), self.asset.bounds)
        }
    }

    fn crowd(&self, count: u32, terrain: Terrain, seed: u64) -> Crowd {
        let layout = Layout::Grid;
        let config = CrowdConfig {
            count,
            layout,
            terrain,
            seed,
            threads: 2,
            gates: Gates::OFF,
            ..CrowdConfig::default()
        };
        Crowd::new(config, vec![self.kind()]).unwrap()
    }

    /// True for a person who aims, or begins to: waving takes the right hand.
    fn aims(&self, palette: &[Mat3x4]) -> bool {
        let names = self.rig.skeleton().names();
        let hand = names.iter().position(|name| name == "hand_l").unwrap();
        let hand = throng::index::BoneIndex(hand as u16);
        let height = self.rig.model_from_bone(palette, hand).unwrap().translation.y;
        self.soles.len() == 2 && height > 0.9
    }

    fn bone(&self, name: &str) -> usize {
        self.rig.skeleton().names().iter().position(|n| n == name).unwrap()
    }
}

/// Sees everything.
fn overview() -> View {
    View::look_at(Vec3::new(0.1, 900.0, 0.1), Vec3::ZERO, 1.0, 5_000.0, (160, 90))
}

fn tick(crowd: &mut Crowd) {
    let view = overview();
    let input = TickInput {
        dt: DT,
        view: &view,
        shadow_clip_from_world: None,
        played: true,
        palette_hash: false,
    };
    crowd.tick(&input, &PhaseTimes::default());
}

/// Palette and world matrix of everybody who is drawn, with their ids.
fn drawn(crowd: &Crowd) -> Vec<(u32, Vec<Mat3x4>, Mat3x4)> {
    let draw = crowd.draw();
    let mut all = Vec::new();
    for group in draw.groups {
        let page = &draw.pages[group.page as usize];
        let records = group.camera.start as usize..group.camera.end as usize;
        for record in &draw.instances[records] {
            let palette = page.palette(record).unwrap().to_whole().into_owned();
            all.push((record.id, palette, record.world_from_model));
        }
    }
    all
}
