//! Whoever skips frames is drawn on its way from pose to pose.

use super::rates::every;
use super::{DT, config, looking, overview, rig, tick, walker};
use glam::Vec3;
use std::collections::BTreeMap;
use throng::crowd::{Crowd, CrowdConfig, CrowdKind, Gates, InstanceRecord, Layout, Page};
use throng::math::Mat3x4;

const COUNT: u32 = 60;
/// The bone that is looked at.
const HAND: usize = 3;
/// Where that is in the mesh.
const AT_REST: Vec3 = Vec3::new(0.35, 1.1, 0.0);

fn crowd(interpolate: bool, gates: Gates, threads: usize, kinds: Vec<CrowdKind>) -> Crowd {
    let config = CrowdConfig { interpolate, gates, threads, ..config(COUNT, Layout::Disc) };
    Crowd::new(config, kinds).unwrap()
}

/// Every record, and the page that it is in.
fn records(crowd: &Crowd) -> Vec<(&InstanceRecord, &Page)> {
    let draw = crowd.draw();
    let of = |group: &throng::crowd::DrawGroup| {
        let page = &draw.pages[group.page as usize];
        draw.instances[group.camera.start as usize..group.camera.end as usize]
            .iter()
            .map(move |record| (record, page))
    };
    draw.groups.iter().flat_map(of).collect()
}

/// Where each one's hand is seen, world metres: as the shader mixes it.
fn hands(crowd: &Crowd) -> BTreeMap<u32, Vec3> {
    let hand = |(record, page): (&InstanceRecord, &Page)| {
        let [older, newer] = [page.palette_before(record), page.palette(record)]
            .map(|palette| palette.unwrap().get(HAND).unwrap().transform_point(AT_REST));
        let mixed = older.lerp(newer, record.weight);
        (record.id, record.world_from_model.transform_point(mixed))
    };
    records(crowd).into_iter().map(hand).collect()
}

/// Mean over the characters of the mean and of the variance of what a hand moves from frame to
/// frame.
fn displacements(interpolate: bool, gates: Gates) -> (f32, f32) {
    let mut crowd = crowd(interpolate, gates, 2, vec![rig::person()]);
    let mut moved: BTreeMap<u32, Vec<f32>> = BTreeMap::new();
    let mut before = BTreeMap::new();
    for frame in 0..252 {
        tick(&mut crowd, &overview(), DT);
        let now = hands(&crowd);
        if frame >= 12 {
            for (id, at) in &now {
                moved.entry(*id).or_default().push(at.distance(before[id]));
            }
        }
        before = now;
    }
    let (mut mean, mut variance) = (0.0, 0.0);
    for of_one in moved.values() {
        let n = of_one.len() as f32;
        let mid = of_one.iter().sum::<f32>() / n;
        mean += mid / COUNT as f32;
        variance += of_one.iter().map(|d| (d - mid) * (d - mid)).sum::<f32>() / n / COUNT as f32;
    }
    (mean, variance)
}

#[test]
fn a_distant_characters_bones_move_more_evenly_from_frame_to_frame() {
    let whole = displacements(false, Gates::OFF);
    for frames in [2, 3, 4] {
        let (jumpy, smooth) =
            (displacements(false, every(frames)), displacements(true, every(frames)));
        assert!(smooth.1 < 0.5 * jumpy.1, "every {frames}: {smooth:?} {jumpy:?}");
        // They still go where they went, by chords instead of arcs.
        let ratio = smooth.0 / whole.0;
        assert!((0.8..1.05).contains(&ratio), "every {frames}: {smooth:?} {whole:?}");
    }
    let same = displacements(true, Gates::OFF);
    assert_eq!(same, whole, "nobody skips a frame, nothing is mixed");
}

#[test]
fn the_palette_before_is_the_one_that_was_shown_and_the_newer_is_reached_in_time() {
    let mut crowd = crowd(true, every(4), 3, vec![rig::person(), rig::stander()]);
    let mut newest: BTreeMap<u32, Vec<Mat3x4>> = BTreeMap::new();
    let mut pages: Vec<Page> = Vec::new();
    let mut reached = 0;
    for frame in 0..60 {
        tick(&mut crowd, &overview(), DT);
        for (record, page) in records(&crowd) {
            let newer = &page.palette(record).unwrap().to_whole()[..];
            let known = newest.entry(record.id).or_insert_with(|| newer.to_vec());
            if newer != &known[..] {
                let before = page.palette_before(record).unwrap().to_whole();
                assert_eq!(before[..], known[..], "frame {frame}");
                // Whoever has just come waits for its turn.
                assert!(frame < 8 || record.weight == 0.25, "frame {frame}: {}", record.weight);
                *known = newer.to_vec();
            }
            assert!(record.weight > 0.0 && record.weight <= 1.0);
            reached += u32::from(frame >= 12 && record.weight == 1.0);
        }
        // What is outside of the dirty ranges is as it was.
        for (page, before) in crowd.draw().pages.iter().zip(&pages) {
            let mut copy = before.matrices.clone();
            copy.resize(page.matrices.len(), Mat3x4::IDENTITY);
            for range in &page.dirty {
                let range = range.start as usize..range.end as usize;
                copy[range.clone()].copy_from_slice(&page.matrices[range]);
            }
            assert!(before.matrices.len() < page.matrices.len() || copy == page.matrices);
        }
        pages = crowd.draw().pages.to_vec();
    }
    assert_eq!(reached, 48 / 4 * COUNT, "every fourth frame shows the newer pose alone");
}

#[test]
fn what_is_evaluated_is_what_it_is_without() {
    let gates = Gates { rate_distances: [4.0, 8.0, 12.0], lod_distance: 6.0, ..Gates::default() };
    let run = |interpolate, threads| {
        let kinds = vec![rig::person(), walker::walker()];
        let mut crowd = crowd(interpolate, gates, threads, kinds);
        let hashes = (0..120).map(|frame| {
            let view = looking(frame as f32 * 0.05);
            tick(&mut crowd, &view, DT).palette_hash
        });
        hashes.collect::<Vec<_>>()
    };
    let expected = run(false, 1);
    assert_eq!(run(true, 1), expected);
    assert_eq!(run(true, 4), expected);
}
