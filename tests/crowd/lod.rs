//! Distant characters are posed by their first bones.

use super::{DT, config, drawn, furthest, looking, overview, rig, tick, walker};
use glam::Vec3;
use std::collections::BTreeMap;
use throng::crowd::{Crowd, CrowdConfig, Gates, InstanceRecord, Layout};
use throng::math::Mat3x4;

/// Bones that are animated from afar, of [`rig`].
const CUT: usize = 3;
/// The parent of each bone after these.
const PARENTS: [usize; 3] = [2, 1, 1];

fn past(lod_distance: f32) -> Gates {
    Gates { skeleton_lod: true, lod_distance, ..Gates::OFF }
}

/// The tail keeps to its parents as in the bind pose, and all else is as without a cut.
#[track_caller]
fn is_cut(palette: &[Mat3x4], whole: &[Mat3x4]) {
    assert_eq!(palette[..CUT], whole[..CUT], "bones before the cut");
    for (bone, parent) in (CUT..).zip(PARENTS) {
        let apart = furthest(&palette[bone..=bone], &palette[parent..=parent]);
        assert!(apart < 1e-5, "bone {bone} is {apart} off its parent");
    }
}

#[test]
fn who_is_far_away_is_posed_by_the_first_bones_and_the_rest_follow() {
    let crowd = |gates| {
        let config = CrowdConfig { gates, ..config(90, Layout::Grid) };
        Crowd::new(config, vec![rig::stander(), rig::person()]).unwrap()
    };
    let (mut whole, mut cut) = (crowd(Gates::OFF), crowd(past(60.0)));
    let mut waved = 0;
    for _ in 0..120 {
        assert_eq!(tick(&mut whole, &overview(), DT).lod_cut, 0);
        assert_eq!(tick(&mut cut, &overview(), DT).lod_cut, 90);
        let (whole, cut) = (drawn(whole.draw()), drawn(cut.draw()));
        for (id, (palette, place)) in &cut {
            is_cut(palette, &whole[id].0);
            assert_eq!(*place, whole[id].1, "roots move as they do whole");
            waved += usize::from(furthest(&whole[id].0, palette) > 0.1);
        }
    }
    assert!(waved > 1_000, "{waved}: hands and feet would have moved");
}

#[test]
fn near_and_far_stand_side_by_side_each_as_it_would_alone() {
    let run = |gates, threads| {
        let config = CrowdConfig { threads, gates, ..config(400, Layout::Grid) };
        Crowd::new(config, vec![rig::stander(), rig::person()]).unwrap()
    };
    let (mut whole, mut some) = (run(Gates::OFF, 1), run(past(6.0), 3));
    let (mut near, mut far) = (0, 0);
    for frame in 0..40 {
        let view = looking(frame as f32 * 0.1);
        tick(&mut whole, &view, DT);
        let stats = tick(&mut some, &view, DT);
        assert!(stats.lod_cut > 0 && stats.lod_cut < stats.evaluated, "{stats:?}");
        // Of cut ones the first rows are written, and told to be.
        let pages = some.draw().pages.iter();
        let dirty = pages.flat_map(|page| page.dirty.iter().map(move |range| (page, range)));
        let cut = dirty.clone().filter(|(page, range)| page.is_cut(range)).count() as u32;
        assert_eq!(cut, stats.lod_cut);
        let rows: usize = dirty.map(|(_, range)| range.len()).sum();
        let of_whole = (stats.evaluated - stats.lod_cut) as usize * (CUT + PARENTS.len());
        assert_eq!(rows, of_whole + stats.lod_cut as usize * CUT);
        let whole = drawn(whole.draw());
        for (id, (palette, _)) in drawn(some.draw()) {
            let whole = &whole[&id].0;
            if palette == *whole {
                near += 1;
            } else {
                is_cut(&palette, whole);
                far += 1;
            }
        }
    }
    assert!(near > 100 && far > 100, "{near} {far}");
}

#[test]
fn between_two_palettes_each_is_whole_or_cut_as_it_was_written() {
    let run = |gates| {
        let config = CrowdConfig { interpolate: true, gates, ..config(200, Layout::Grid) };
        Crowd::new(config, vec![rig::stander(), rig::person()]).unwrap()
    };
    let rates = Gates { update_rate: true, rate_distances: [0.1, 900.0, 901.0], ..Gates::OFF };
    let (mut whole, mut some) =
        (run(rates), run(Gates { skeleton_lod: true, lod_distance: 5.0, ..rates }));
    let mut newest: BTreeMap<u32, Vec<Mat3x4>> = BTreeMap::new();
    let mut seen = [0; 4];
    for frame in 0..60 {
        let mut view = overview();
        view.eye = Vec3::new(0.0, 3.0 + 12.0 * (0.15 * frame as f32).sin().abs(), 0.0);
        tick(&mut whole, &view, DT);
        tick(&mut some, &view, DT);
        let whole = drawn(whole.draw());
        let draw = some.draw();
        for (group, record) in draw.groups.iter().flat_map(|group| {
            let records = &draw.instances[group.camera.start as usize..group.camera.end as usize];
            records.iter().map(move |record| (group, record))
        }) {
            let page = &draw.pages[group.page as usize];
            let newer = page.palette(record).unwrap().to_whole().into_owned();
            let before = page.palette_before(record).unwrap().to_whole();
            if record.cut & InstanceRecord::CUT == 0 {
                assert_eq!(newer, whole[&record.id].0, "{frame}: {}", record.id);
            } else {
                is_cut(&newer, &whole[&record.id].0);
            }
            if let Some(known) = newest.insert(record.id, newer.clone())
                && known != newer
            {
                assert_eq!(before[..], known[..], "{frame}: {}", record.id);
                seen[record.cut as usize] += 1;
            }
        }
    }
    assert!(seen.iter().all(|n| *n > 20), "{seen:?}");
}

#[test]
fn graphs_go_on_when_bones_come_and_go() {
    let run = |threads| {
        let config = CrowdConfig { threads, gates: past(6.0), ..config(200, Layout::Grid) };
        let mut crowd = Crowd::new(config, vec![walker::walker()]).unwrap();
        let (mut hash, mut changes, mut before) = (None, 0, 0);
        for frame in 0..120 {
            // To and fro over the threshold, and a turn.
            let mut view = looking(frame as f32 * 0.02);
            view.eye.y += 6.0 * (0.2 * frame as f32).sin().abs();
            let stats = tick(&mut crowd, &view, DT);
            changes += usize::from(stats.lod_cut != before);
            (before, hash) = (stats.lod_cut, stats.palette_hash);
            assert!(drawn(crowd.draw()).values().all(|(p, _)| p.iter().all(Mat3x4::is_finite)));
        }
        assert!(changes > 30, "{changes}");
        hash
    };
    let alone = run(1);
    assert_eq!([2, 4, 8].map(run), [alone; 3]);
}
