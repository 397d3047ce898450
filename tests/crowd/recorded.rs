//! A crowd that graphs play shows the same again without them.

use super::walker::walker;
use super::{DT, away, config, drawn, looking, overview, rig};
use std::io::Cursor;
use std::sync::Arc;
use throng::crowd::{
    Crowd, CrowdConfig, CrowdError, CrowdKind, FrameReader, Gates, Layout, Playing, RecordedGraph,
    ReplayHeader, ReplayReader, ReplayWriter, TickInput,
};
use throng::index::{CharacterId, CharacterKind};
use throng::math::View;
use throng::motion::Terrain;
use throng::profile::PhaseTimes;
use throng::task::serial;
use throng::task::{Task, TaskIndex, TaskKind, TaskList};

const FRAMES: usize = 240;
const COUNT: u32 = 120;

fn acrobat() -> CrowdKind {
    let compiled = throng::graph::compile("acrobat.ron", include_str!("acrobat.ron")).unwrap();
    assert!(compiled.warnings.is_empty(), "{:?}", compiled.warnings);
    let playing = Playing::Graph(Arc::new(compiled.program));
    CrowdKind {
        playing,
        ..rig::kind("acrobat", &[rig::idle(), rig::wave(), rig::walk(), rig::turn()])
    }
}

/// Two that graphs play, and one that plays its clips.
fn cast() -> Vec<CrowdKind> {
    vec![acrobat(), rig::person(), walker()]
}

/// The same characters, with what a recording says in the place of graphs.
fn recorded_cast(header: &ReplayHeader) -> Vec<CrowdKind> {
    let graphless = [rig::person(), rig::person(), rig::person()];
    let kinds = graphless.into_iter().zip(&header.kinds);
    let kinds = kinds.map(|(kind, of)| CrowdKind {
        name: of.name.clone(),
        playing: of.graph.clone().map_or(Playing::Simple, Playing::Recorded),
        ..kind
    });
    kinds.collect()
}

fn ground() -> CrowdConfig {
    // From above everybody skips frames, from the middle some do.
    let gates = Gates { rate_distances: [4.0, 8.0, 12.0], lod_distance: 6.0, ..Gates::default() };
    CrowdConfig { terrain: Terrain::uneven(7), grace: 0.1, gates, ..config(COUNT, Layout::Disc) }
}

fn step(crowd: &mut Crowd, view: &View, (dt, played): (f64, bool)) -> u64 {
    let input = TickInput { dt, played, view, shadow_clip_from_world: None, palette_hash: true };
    crowd.tick(&input, &PhaseTimes::default()).palette_hash.unwrap()
}

struct Recorded {
    header: ReplayHeader,
    frames: Vec<Vec<u8>>,
    hashes: Vec<u64>,
    crowd: Crowd,
}

/// Everybody is seen, then some, then nobody, again and again; with a pause, a jump and a step
/// back.
fn recorded() -> Recorded {
    let mut crowd = Crowd::new(ground(), cast()).unwrap();
    let header = crowd.replay_header(&[1, 2], "settings".into());
    crowd.record_frames();
    let (mut frames, mut hashes) = (Vec::new(), Vec::new());
    for i in 0..FRAMES {
        let view = match i % 60 {
            0..25 => overview(),
            25..45 => looking(i as f32 * 0.13),
            _ => away(),
        };
        let time = match i {
            20 => (0.0, true),
            70 => (-0.7, false),
            90 => (3.0, false),
            _ => (DT, true),
        };
        hashes.push(step(&mut crowd, &view, time));
        frames.push(crowd.recorded_frame().to_vec());
    }
    Recorded { header, frames, hashes, crowd }
}

fn replayed(header: &ReplayHeader, config: CrowdConfig) -> Crowd {
    let mut crowd = Crowd::new(config, recorded_cast(header)).unwrap();
    assert_eq!(crowd.places_checksum(), header.places);
    crowd.replay_frames();
    crowd
}

#[test]
fn graphs_are_gone_and_every_frame_has_its_hash_and_everybody_its_place() {
    let Recorded { header, frames, hashes, crowd: original } = recorded();
    assert_eq!(header.kinds[0].graph.as_ref().unwrap().masks.len(), 2);
    assert!(header.kinds[1].graph.is_none() && header.kinds[2].graph.is_some());
    let mut moved = 0;
    for (threads, prune, steal) in [(1, true, true), (2, true, false), (2, false, true)] {
        let mut crowd = replayed(&header, CrowdConfig { threads, prune, steal, ..ground() });
        let home: Vec<_> = (0..COUNT).map(|id| crowd.character(CharacterId(id))).collect();
        for (i, (frame, hash)) in frames.iter().zip(&hashes).enumerate() {
            crowd.load_frame(&mut frame.clone()).unwrap();
            // The time that a tick is told does not matter, nor does who looks.
            assert_eq!(step(&mut crowd, &away(), (9.0, true)), *hash, "{threads}, frame {i}");
        }
        assert_eq!(crowd.now(), original.now());
        for (id, home) in (0..COUNT).map(CharacterId).zip(&home) {
            let here = crowd.character(id);
            assert_eq!(here, original.character(id), "character {id}");
            moved += u32::from(here != *home);
        }
        assert_eq!(drawn(crowd.draw()), Default::default(), "nobody looks");
    }
    assert!(moved > 3 * COUNT / 2, "{moved} went somewhere");
}

#[test]
fn the_recorded_lists_are_of_every_kind_and_keep_poses_from_frame_to_frame() {
    let Recorded { frames, header, .. } = recorded();
    let (mut reader, mut list) = (FrameReader::default(), TaskList::default());
    let mut seen = [0; TaskKind::COUNT];
    let mut captured = 0;
    for frame in &frames {
        reader.read(frame, COUNT).unwrap();
        for (_, bytes) in reader.lists(frame) {
            serial::decode(bytes, &mut list).unwrap();
            for task in list.tasks() {
                seen[task.kind() as usize] += 1;
                let transition = match task {
                    Task::Inertialize { transition, .. } => Some(transition),
                    Task::DeadBlend { transition, .. } => Some(transition),
                    _ => None,
                };
                captured += u32::from(transition.is_some_and(|t| t.capture));
            }
        }
    }
    let missing = TaskKind::ALL.iter().zip(seen).filter(|(_, n)| *n == 0).map(|(kind, _)| *kind);
    let missing: Vec<_> = missing.collect();
    assert_eq!(missing, [TaskKind::ReferencePose, TaskKind::TwoBoneIk], "{seen:?}");
    assert!(captured > 60, "{captured} transitions");
    // Without what the lists refer to the poses are others: nothing of it is for show.
    let graph = |change: &dyn Fn(&mut RecordedGraph)| {
        let mut header = header.clone();
        for kind in &mut header.kinds {
            kind.graph = kind.graph.as_deref().map(|graph| {
                let mut graph = graph.clone();
                change(&mut graph);
                Arc::new(graph)
            });
        }
        header
    };
    let Recorded { hashes, .. } = recorded();
    let header = graph(&|graph| graph.masks.iter_mut().flatten().for_each(|w| *w = 1.0 - *w));
    let mut crowd = replayed(&header, ground());
    let differs = frames.iter().zip(&hashes).any(|(frame, hash)| {
        crowd.load_frame(&mut frame.clone()).unwrap();
        step(&mut crowd, &away(), (DT, true)) != *hash
    });
    assert!(differs, "masks turned inside out");
    let refused = |header: &ReplayHeader| {
        let mut crowd = replayed(header, ground());
        let error = frames.iter().find_map(|frame| {
            let error = crowd.load_frame(&mut frame.clone()).err();
            step(&mut crowd, &away(), (DT, true));
            error
        });
        error.unwrap().to_string()
    };
    let text = refused(&graph(&|graph| graph.masks.truncate(1)));
    assert!(text.contains("mask 1, and there are 1"), "{text}");
    let text = refused(&graph(&|graph| graph.histories -= 1));
    assert!(text.contains("history") && text.contains("character"), "{text}");
    let text = refused(&graph(&|graph| graph.snapshots = 0));
    assert!(text.contains("snapshot 0, and there are 0"), "{text}");
}

#[test]
fn a_recording_of_graphs_goes_through_a_file() {
    let Recorded { header, frames, hashes, .. } = recorded();
    let mut writer = ReplayWriter::new(Vec::new(), &header).unwrap();
    frames.iter().for_each(|frame| writer.frame(frame).unwrap());
    let (file, ..) = writer.finish().unwrap();
    let mut reader = ReplayReader::new(Cursor::new(file)).unwrap();
    assert_eq!(*reader.header(), header);
    let mut crowd = replayed(reader.header(), ground());
    let (mut frame, mut hash) = (Vec::new(), 0);
    while reader.frame(&mut frame).unwrap() {
        crowd.load_frame(&mut frame).unwrap();
        hash = step(&mut crowd, &overview(), (DT, true));
    }
    assert_eq!(Some(&hash), hashes.last());
}

#[test]
fn characters_that_are_not_what_they_were_are_refused() {
    let Recorded { header, .. } = recorded();
    let graph = header.kinds[0].graph.as_deref().unwrap();
    let refused = |kind: CrowdKind, graph: RecordedGraph| {
        let kind = CrowdKind { playing: Playing::Recorded(Arc::new(graph)), ..kind };
        let error = Crowd::new(ground(), vec![kind]).unwrap_err();
        assert!(matches!(error, CrowdError::Recording { .. }), "{error}");
        error.to_string()
    };
    let text = refused(rig::stander(), graph.clone());
    assert!(text.contains("\"stander\"") && text.contains("2 clips moved it"), "{text}");
    let mut one_less = graph.clone();
    one_less.masks[1].pop();
    let text = refused(rig::person(), one_less);
    assert!(text.contains("masks of 5 bones, and it has 6"), "{text}");
    let text = refused(rig::person(), RecordedGraph { scale: !graph.scale, ..graph.clone() });
    assert!(text.contains("scale"), "{text}");
    // Poses that can't be kept are not tried.
    let huge = RecordedGraph { histories: u16::MAX, snapshots: u16::MAX, ..graph.clone() };
    let kind = CrowdKind { playing: Playing::Recorded(Arc::new(huge)), ..rig::person() };
    let small = CrowdConfig { memory_limit: 16 << 20, ..ground() };
    let error = Crowd::new(small, vec![kind]).unwrap_err();
    assert!(matches!(error, CrowdError::DoesNotFit { .. }), "{error}");
}

#[test]
fn frames_that_are_made_up_are_played_or_refused() {
    let Recorded { header, frames, .. } = recorded();
    let mut random = 77u32;
    let mut draw = |below: usize| {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (random >> 8) as usize % below
    };
    let (mut played, mut refused) = (0, 0);
    let mut crowd = replayed(&header, ground());
    for round in 0..1_500 {
        if round % 100 == 0 {
            crowd = replayed(&header, ground());
        }
        let mut frame = frames[round % 100].clone();
        for _ in 0..1 + draw(3) {
            let at = draw(frame.len());
            frame[at] = [0, 0xff, 0x7f, 0x80, draw(256) as u8][draw(5)];
        }
        match crowd.load_frame(&mut frame) {
            Ok(()) => played += 1,
            Err(_) => refused += 1,
        }
        step(&mut crowd, &overview(), (DT, true));
    }
    assert!(played > 50 && refused > 300, "{played} {refused}");
}

#[test]
fn a_list_that_names_what_is_not_there_is_refused_by_its_number() {
    let Recorded { header, .. } = recorded();
    let crowd = replayed(&header, ground());
    let context = crowd.list_context(CharacterKind(0)).unwrap();
    let none = TaskIndex::NONE;
    let check = |task: Task| {
        let mut list = TaskList::default();
        list.push(task).unwrap();
        serial::check(&list, &context.extents).map_err(|e| e.to_string())
    };
    let clips = context.extents.clips as u16;
    assert_eq!(clips, 6, "four of its own and two in place");
    let sample = |clip| Task::SampleClip { clip: throng::index::ClipId(clip), seconds: 0.0 };
    assert_eq!(check(sample(clips - 1)), Ok(()));
    assert_eq!(check(sample(clips)).unwrap_err(), "a task names clip 6, and there are 6");
    let masked = |mask| Task::BlendMasked { a: none, b: none, alpha: 1.0, mask };
    assert_eq!(check(masked(throng::task::MaskId::NONE)), Ok(()));
    assert!(check(masked(throng::task::MaskId(2))).unwrap_err().contains("mask 2"));
    let bone = throng::index::BoneIndex(6);
    let mut list = TaskList::default();
    list.set_root_pin(Some(throng::pose::RootPin::Reference(bone)));
    assert!(serial::check(&list, &context.extents).unwrap_err().to_string().contains("bone 6"));
}
