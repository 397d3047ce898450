use super::*;
use crate::crowd::testing::{CROWD, SKY, crowd, crowd_with, tick};
use crate::math::{Lanes, Mat3x4, SimdLevel};
use std::collections::BTreeMap;

/// The newest palette of everybody who is drawn.
fn palettes(crowd: &Crowd) -> BTreeMap<u32, Vec<Mat3x4>> {
    let draw = crowd.draw();
    let mut all = BTreeMap::new();
    for group in draw.groups {
        let page = &draw.pages[group.page as usize];
        let records = group.camera.start.min(group.shadow.start)..group.camera.end;
        for record in &draw.instances[records.start as usize..records.end as usize] {
            all.insert(record.id, page.palette(record).unwrap().to_whole().into_owned());
        }
    }
    all
}

/// Two crowds that nobody interpolates are posed alike.
fn assert_alike(a: &Crowd, b: &Crowd) {
    let (a, b) = (palettes(a), palettes(b));
    assert!(!a.is_empty());
    assert_eq!(a.keys().collect::<Vec<_>>(), b.keys().collect::<Vec<_>>());
    for (id, one) in &a {
        for (m, n) in one
            .iter()
            .flat_map(|m| m.rows)
            .flatten()
            .zip(b[id].iter().flat_map(|m| m.rows).flatten())
        {
            assert!((m - n).abs() < 2e-3, "character {id}: {m} and {n}");
        }
    }
}

/// Where everybody is far enough for rates and cuts.
fn far_gates() -> Gates {
    Gates { rate_distances: [1.0, 2.0, 3.0], lod_distance: 1.0, ..Gates::default() }
}

#[test]
fn each_way_to_execute_poses_them_alike() {
    let (mut still, mut switched) = (crowd(90, 2), crowd(90, 2));
    let mut levels = SimdLevel::ALL.into_iter().filter_map(|level| Lanes::new(level).ok()).cycle();
    let mut recorded = [0, 0];
    for frame in 0..24 {
        let lanes = levels.next().unwrap();
        let (prune, steal) = (frame % 2 == 0, frame % 3 == 0);
        switched.set_execution(WorkerOptions { prune, steal, lanes });
        if frame % 5 == 0 {
            switched.set_threads(1 + frame % 4).unwrap();
        }
        let now = switched.execution();
        assert_eq!((now.prune, now.steal, now.lanes.level()), (prune, steal, lanes.level()));
        recorded[0] += tick(&mut still, CROWD).evaluated;
        recorded[1] += tick(&mut switched, CROWD).evaluated;
        assert_alike(&still, &switched);
    }
    assert_eq!(recorded, [24 * 90; 2]);
    assert!(matches!(switched.set_threads(0), Err(CrowdError::NoThreads)));
    assert_eq!(tick(&mut switched, CROWD).evaluated, 90);
}

#[test]
fn stealing_and_threads_change_not_a_bit() {
    let (mut still, mut switched) = (crowd(90, 2), crowd(90, 2));
    let mut stolen = [0, 0];
    for frame in 0..60 {
        let options = still.execution();
        switched.set_execution(WorkerOptions { steal: frame % 2 == 0, ..options });
        if frame % 4 == 0 {
            switched.set_threads(1 + frame % 3).unwrap();
        }
        let (a, b) = (tick(&mut still, CROWD), tick(&mut switched, CROWD));
        assert_eq!((a.palette_hash, frame), (b.palette_hash, frame));
        stolen = [stolen[0] + a.tasks.stolen, stolen[1] + b.tasks.stolen];
    }
    assert!(stolen[0] > stolen[1] && stolen[1] > 0, "{stolen:?}");
}

#[test]
fn gates_act_at_once_and_leave_nobody_behind() {
    let (mut still, mut switched) = (crowd(120, 2), crowd(120, 2));
    let mut run = |gates: Gates, frames: u32| {
        switched.set_gates(gates).unwrap();
        let mut sums = [0, 0];
        for _ in 0..frames {
            tick(&mut still, CROWD);
            let stats = tick(&mut switched, CROWD);
            sums = [sums[0] + stats.evaluated, sums[1] + stats.lod_cut];
        }
        sums
    };
    assert_eq!(run(Gates::OFF, 12), [120 * 12, 0]);
    let [evaluated, cut] = run(far_gates(), 12);
    assert!(evaluated < 120 * 5 && cut <= evaluated, "{evaluated} {cut}");
    let [evaluated, cut] = run(Gates { update_rate: false, ..far_gates() }, 12);
    assert_eq!(evaluated, 120 * 12);
    assert!(cut <= evaluated);
    // Whole and in each frame again: the time that was skipped has been made up for.
    assert_eq!(run(Gates::OFF, 2), [120 * 2, 0]);
    assert_alike(&still, &switched);
    let wrong = Gates { lod_distance: f32::NAN, ..Gates::OFF };
    assert!(matches!(switched.set_gates(wrong), Err(CrowdError::OutOfRange { .. })));
    assert_eq!(switched.world.gates, Gates::OFF);
}

#[test]
fn a_budget_comes_and_goes() {
    let mut crowd = crowd(200, 1);
    let mut run = |ms: Option<f32>| {
        crowd.set_budget(ms).unwrap();
        let stats = (0..80).map(|_| tick(&mut crowd, CROWD)).last().unwrap();
        (stats.evaluated, stats.budget.is_some())
    };
    assert_eq!(run(None), (200, false));
    let (evaluated, planned) = run(Some(1e-4));
    assert!(evaluated < 200 && planned, "{evaluated}");
    assert_eq!(run(None), (200, false));
    for wrong in [0.0, -1.0, f32::NAN, f32::INFINITY] {
        let refused = crowd.set_budget(Some(wrong));
        assert!(matches!(refused, Err(CrowdError::OutOfRange { .. })), "{wrong}");
    }
}

#[test]
fn what_nobody_sees_does_as_everybody_is_told() {
    let mut crowd = crowd_with(70, 2, |config| config.grace = 0.1);
    let mut run = |mode: UpdateMode| {
        crowd.set_update_modes(mode);
        let stats = (0..12).map(|_| tick(&mut crowd, SKY)).last().unwrap();
        (stats.evaluated, stats.ticked)
    };
    assert_eq!(run(UpdateMode::TickWhenRendered), (0, 0));
    assert_eq!(run(UpdateMode::AlwaysTickPose), (70, 0));
    assert_eq!(run(UpdateMode::AlwaysTickClocks), (0, 70));
    assert_eq!(run(UpdateMode::TickWhenRendered), (0, 0));
    crowd.set_update_modes(UpdateMode::AlwaysTickPose);
    let who = crowd.characters().next().unwrap();
    crowd.despawn(who).unwrap();
    let other = crowd.spawn(None).unwrap();
    assert_eq!(crowd.update_mode(other.id()), Some(UpdateMode::AlwaysTickPose), "who comes too");
}

#[test]
fn two_palettes_for_each_and_one_again() {
    let (mut still, mut switched) = (crowd(120, 2), crowd(120, 2));
    still.set_gates(far_gates()).unwrap();
    switched.set_gates(far_gates()).unwrap();
    let apart = |crowd: &Crowd| {
        let records = crowd.draw().instances.iter();
        records.filter(|r| r.before_offset != r.palette_offset || r.weight != 1.0).count()
    };
    for on in [true, false, true, false] {
        switched.set_interpolation(on).unwrap();
        let mut between = 0;
        for _ in 0..12 {
            let count = tick(&mut still, CROWD).leased;
            assert_eq!(tick(&mut switched, CROWD).leased, count);
            between = between.max(apart(&switched));
        }
        assert_eq!(between > 0, on);
        let (one, other) = (&still.world.slots, &switched.world.slots);
        let (bytes, twice) = (one.palette_bytes(), other.palette_bytes());
        assert!(if on { twice > bytes } else { twice == bytes }, "{on}: {twice} of {bytes}");
        if !on {
            assert_eq!(one.held_and_limit(), other.held_and_limit());
        }
    }
    for crowd in [&mut still, &mut switched] {
        crowd.set_gates(Gates::OFF).unwrap();
        tick(crowd, CROWD);
        tick(crowd, CROWD);
    }
    assert_alike(&still, &switched);
    let mut recorded = crowd(3, 1);
    recorded.record_frames();
    assert!(matches!(recorded.set_interpolation(true), Err(CrowdError::Recorded)));
}
