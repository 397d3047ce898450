//! A recorded crowd shows the same again, whatever camera and threads.

use super::{DT, LAYOUTS, away, config, drawn, looking, overview, rig};
use std::io::Cursor;
use throng::crowd::{
    Crowd, CrowdConfig, CrowdKind, FrameReader, Gates, Layout, ReplayError, ReplayHeader,
    ReplayReader, ReplayWriter, TickInput,
};
use throng::math::View;
use throng::profile::PhaseTimes;

const FRAMES: usize = 90;

fn kinds() -> Vec<CrowdKind> {
    vec![rig::person(), rig::stander()]
}

fn step(crowd: &mut Crowd, view: &View, dt: f64, played: bool) -> u64 {
    let input = TickInput { dt, played, view, shadow_clip_from_world: None, palette_hash: true };
    crowd.tick(&input, &PhaseTimes::default()).palette_hash.unwrap()
}

/// A run with a turning camera, a pause, a jump and a step back.
fn recorded(layout: Layout) -> (Vec<Vec<u8>>, Vec<u64>, Crowd) {
    // Most are far enough to skip frames.
    let gates = Gates { rate_distances: [4.0, 8.0, 12.0], lod_distance: 6.0, ..Gates::default() };
    let mut crowd = Crowd::new(CrowdConfig { gates, ..config(300, layout) }, kinds()).unwrap();
    crowd.record_frames();
    let (mut frames, mut hashes) = (Vec::new(), Vec::new());
    for i in 0..FRAMES {
        let view = if i % 40 == 39 { away() } else { looking(i as f32 * 0.13) };
        let (dt, played) = match i {
            20 => (0.0, true),
            30 => (-0.7, false),
            50 => (3.0, false),
            _ => (DT, true),
        };
        hashes.push(step(&mut crowd, &view, dt, played));
        frames.push(crowd.recorded_frame().to_vec());
    }
    (frames, hashes, crowd)
}

#[test]
fn a_replay_has_the_same_hash_in_every_frame_and_the_same_places_in_the_end() {
    for layout in LAYOUTS {
        let (frames, hashes, original) = recorded(layout);
        for threads in [1, 3] {
            let config = CrowdConfig { threads, steal: false, ..config(300, layout) };
            let mut crowd = Crowd::new(config, kinds()).unwrap();
            crowd.replay_frames();
            let mut buffer = Vec::new();
            for (frame, hash) in frames.iter().zip(&hashes) {
                buffer.clear();
                buffer.extend_from_slice(frame);
                crowd.load_frame(&mut buffer).unwrap();
                // The time that a tick is told does not matter, nor does who looks.
                assert_eq!(step(&mut crowd, &overview(), 99.0, true), *hash, "{layout:?}");
            }
            assert_eq!(crowd.now(), original.now());
            let (now, then) = (drawn(crowd.draw()), drawn(original.draw()));
            assert!(!then.is_empty());
            for (id, shown) in then {
                assert_eq!(now[&id], shown, "{layout:?} character {id}");
            }
        }
    }
}

#[test]
fn a_replay_without_a_frame_does_nothing() {
    let (frames, hashes, _) = recorded(Layout::Disc);
    let mut crowd = Crowd::new(config(300, Layout::Disc), kinds()).unwrap();
    crowd.replay_frames();
    for (frame, hash) in frames.iter().zip(&hashes) {
        let before = crowd.now();
        let input = TickInput {
            dt: 1.0,
            played: true,
            view: &overview(),
            shadow_clip_from_world: None,
            palette_hash: false,
        };
        let stats = crowd.tick(&input, &PhaseTimes::default());
        assert_eq!((stats.evaluated, stats.entered, stats.left), (0, 0, 0));
        assert_eq!(crowd.now(), before);
        crowd.load_frame(&mut frame.clone()).unwrap();
        assert_eq!(step(&mut crowd, &away(), 0.0, true), *hash);
    }
}

#[test]
fn frames_that_are_not_this_crowds_are_refused_and_the_crowd_goes_on() {
    let (frames, hashes, _) = recorded(Layout::Grid);
    let mut small = Crowd::new(config(3, Layout::Grid), kinds()).unwrap();
    small.replay_frames();
    let error = small.load_frame(&mut frames[0].clone()).unwrap_err();
    assert!(matches!(error, ReplayError::Frame { frame: 0, .. }), "{error}");
    assert!(error.to_string().contains("past the crowd's 3"), "{error}");

    let mut crowd = Crowd::new(config(300, Layout::Grid), kinds()).unwrap();
    crowd.replay_frames();
    crowd.load_frame(&mut frames[0].clone()).unwrap();
    assert_eq!(step(&mut crowd, &away(), 0.0, true), hashes[0]);
    // Everybody who came in the first frame would come again.
    let error = crowd.load_frame(&mut frames[0].clone()).unwrap_err().to_string();
    assert!(error.contains("frame 1") && error.contains("second slot"), "{error}");
    // Bytes that are cut or changed are a frame or an error.
    for at in 0..frames[1].len() {
        let mut cut = frames[1][..at].to_vec();
        assert!(crowd.load_frame(&mut cut).is_err(), "cut at {at}");
    }
    for at in (0..frames[1].len()).step_by(7) {
        let mut changed = frames[1].clone();
        changed[at] ^= 0x41;
        if crowd.load_frame(&mut changed).is_ok() {
            let mut other = Crowd::new(config(300, Layout::Grid), kinds()).unwrap();
            other.replay_frames();
            other.load_frame(&mut frames[0].clone()).unwrap();
            step(&mut other, &away(), 0.0, true);
            let mut changed = frames[1].clone();
            changed[at] ^= 0x41;
            other.load_frame(&mut changed).unwrap();
            step(&mut other, &away(), 0.0, true);
        }
    }
    crowd.load_frame(&mut frames[1].clone()).unwrap();
    assert_eq!(step(&mut crowd, &away(), 0.0, true), hashes[1]);
}

#[test]
fn one_bit_of_one_list_changes_the_hash() {
    let (frames, hashes, _) = recorded(Layout::Disc);
    let mut crowd = Crowd::new(config(300, Layout::Disc), kinds()).unwrap();
    crowd.replay_frames();
    let mut frame = frames[0].clone();
    // The last list ends with its output, before that with the time of a sample or a weight.
    let mut reader = FrameReader::default();
    reader.read(&frames[0], 300).unwrap();
    let (_, list) = reader.lists(&frames[0]).last().unwrap();
    let start = list.as_ptr() as usize - frames[0].as_ptr() as usize;
    // Flags, number, kind, clip, then four bytes of seconds.
    frame[start + 4] ^= 0x10;
    crowd.load_frame(&mut frame).unwrap();
    assert_ne!(step(&mut crowd, &away(), 0.0, true), hashes[0]);
}

#[test]
fn a_recording_goes_through_a_file() {
    let (frames, hashes, _) = recorded(Layout::Street);
    let header = ReplayHeader { count: 300, kinds: Vec::new(), places: 0, settings: "x".into() };
    let mut writer = ReplayWriter::new(Vec::new(), &header).unwrap();
    frames.iter().for_each(|frame| writer.frame(frame).unwrap());
    let (file, count, _) = writer.finish().unwrap();
    assert_eq!(count, FRAMES as u64);
    let mut reader = ReplayReader::new(Cursor::new(file)).unwrap();
    let mut crowd = Crowd::new(config(300, Layout::Street), kinds()).unwrap();
    crowd.replay_frames();
    let (mut frame, mut hash) = (Vec::new(), 0);
    while reader.frame(&mut frame).unwrap() {
        crowd.load_frame(&mut frame).unwrap();
        hash = step(&mut crowd, &away(), 0.0, true);
    }
    assert_eq!(Some(&hash), hashes.last());
}
