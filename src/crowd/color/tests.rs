use super::*;
use crate::asset::builtin;
use crate::crowd::testing::{CROWD, crowd, tick};
use crate::crowd::{CrowdConfig, CrowdKind, Gates, Playing};
use crate::graph;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Each character's tint.
fn tints(crowd: &Crowd) -> BTreeMap<u32, u32> {
    crowd.draw().instances.iter().map(|record| (record.id, record.tint)).collect()
}

fn counts(crowd: &Crowd) -> Vec<u32> {
    crowd.colors().map(|key| key.count).collect()
}

/// How many have each colour, as it is drawn.
fn drawn(crowd: &Crowd) -> Vec<u32> {
    let tints = tints(crowd);
    let of = |color| tints.values().filter(|tint| **tint == color_tint(color)).count() as u32;
    crowd.colors().map(|key| of(key.color)).collect()
}

/// Seen from above, some are near and some are far.
fn gates() -> Gates {
    let d = 400.0 / 2.6;
    Gates { rate_distances: [d, d * 1.002, d * 1.006], lod_distance: d * 1.003, ..Gates::default() }
}

#[test]
fn nobody_s_own_colour_is_lost() {
    let mut crowd = crowd(80, 2);
    tick(&mut crowd, CROWD);
    let own = tints(&crowd);
    assert!(own.values().all(|tint| tint >> 24 == 0xff));
    assert!(counts(&crowd).is_empty());
    crowd.color_by(Some(ColorBy::Rate));
    tick(&mut crowd, CROWD);
    assert!(tints(&crowd).values().all(|tint| tint >> 24 == 0), "they have no other");
    crowd.color_by(None);
    tick(&mut crowd, CROWD);
    assert_eq!(tints(&crowd), own);
}

#[test]
fn colours_are_of_what_the_tick_did() {
    let mut crowd = crowd(300, 2);
    crowd.set_gates(gates()).unwrap();
    for by in [ColorBy::Rate, ColorBy::Evaluated, ColorBy::SkeletonLod] {
        crowd.color_by(Some(by));
        for _ in 0..6 {
            let stats = tick(&mut crowd, CROWD);
            assert_eq!((stats.in_camera, stats.leased), (300, 300));
            let counts = counts(&crowd);
            assert_eq!(counts.iter().sum::<u32>(), 300, "{by:?}");
            assert_eq!(counts, drawn(&crowd), "{by:?}");
            match by {
                ColorBy::Rate => assert_eq!(counts, stats.by_rate),
                ColorBy::Evaluated => assert_eq!(counts[0], stats.evaluated),
                _ => {
                    let blocks = &crowd.world.characters.blocks;
                    let cut: u32 = blocks.iter().map(|block| block.rates.cut.count_ones()).sum();
                    assert_eq!(counts[1], cut);
                }
            }
        }
    }
}

#[test]
fn modes_have_colours_whoever_has_them() {
    let mut crowd = crowd(60, 1);
    let modes = [UpdateMode::TickWhenRendered, UpdateMode::AlwaysTickPose];
    for id in 0..60 {
        crowd.set_update_mode(CharacterId(id), modes[(id % 3 / 2) as usize]).unwrap();
    }
    crowd.color_by(Some(ColorBy::Mode));
    tick(&mut crowd, CROWD);
    assert_eq!(counts(&crowd), [40, 20, 0, 0]);
    let red = color_tint(HEAT[5]);
    assert!(tints(&crowd).iter().all(|(id, tint)| (id % 3 == 2) == (*tint == red)));
}

#[test]
fn costs_are_the_tasks_that_were_executed() {
    let mut crowd = crowd(90, 2);
    crowd.color_by(Some(ColorBy::Cost));
    for _ in 0..60 {
        let stats = tick(&mut crowd, CROWD);
        let colors = crowd.world.colors.as_ref().unwrap();
        let noted = colors.tasks.iter().map(|kept| u64::from(kept.load(Ordering::Relaxed)));
        assert_eq!(noted.sum::<u64>(), stats.tasks.reachable);
        assert_eq!(counts(&crowd).iter().sum::<u32>(), 90);
    }
    // Clips alone are one task, two that are faded three.
    let counts = counts(&crowd);
    assert_eq!(counts[1] + counts[2] + counts[3], 90, "{counts:?}");
}

#[test]
fn states_are_those_of_the_largest_machine() {
    let asset = builtin("humanoid").unwrap().unwrap();
    let (name, text) = graph::builtin_for("humanoid").unwrap();
    let program = Arc::new(graph::compile(name, text).unwrap().program);
    let kind = CrowdKind {
        playing: Playing::Graph(program),
        ..CrowdKind::new("actor", Arc::new(asset.rig().unwrap()), asset.bounds)
    };
    let config = CrowdConfig { count: 120, gates: Gates::OFF, ..CrowdConfig::default() };
    let mut crowd = Crowd::new(config, vec![kind]).unwrap();
    crowd.color_by(Some(ColorBy::State));
    for _ in 0..100 {
        tick(&mut crowd, CROWD);
    }
    let (machine, _) = crowd.world.colors.as_ref().unwrap().states[0].clone().unwrap();
    let colors: BTreeMap<String, u32> =
        crowd.colors().map(|key| (key.name.to_owned(), color_tint(key.color))).collect();
    let mut seen = BTreeMap::new();
    for (id, tint) in tints(&crowd) {
        let state = crowd.state(CharacterId(id), machine).unwrap();
        assert_eq!(colors.get(state), Some(&tint), "{state} of {id}");
        *seen.entry(state.to_owned()).or_insert(0) += 1;
    }
    assert!(seen.len() > 1, "{seen:?}");
    let told = crowd.colors().filter(|key| key.count > 0);
    assert_eq!(told.map(|key| (key.name.to_owned(), key.count)).collect::<BTreeMap<_, _>>(), seen);
}
