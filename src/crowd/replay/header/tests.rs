//! Headers that were written, and headers that were made up.

use super::*;

fn graph() -> RecordedGraph {
    let lock = RootLock::Position;
    RecordedGraph {
        name: "locomotion".into(),
        scale: true,
        histories: 3,
        snapshots: 1,
        room: 1.25,
        in_place: vec![InPlaceClip { clip: ClipId(2), root: BoneIndex(0), lock }],
        masks: vec![vec![0.0, 0.5, 1.0], vec![1.0; 3]],
    }
}

fn header(graph: Option<RecordedGraph>) -> ReplayHeader {
    let kind = |graph| RecordedKind { name: "fuchs \u{1f98a}".into(), checksum: 0xfeed, graph };
    let kinds = vec![kind(None), kind(graph.map(Arc::new))];
    ReplayHeader { count: 7, kinds, places: 0x1234, settings: "{}".into() }
}

/// A header whose checksum is right, whatever is in it.
fn sealed(mut bytes: Vec<u8>) -> Vec<u8> {
    bytes.truncate(bytes.len() - 8);
    let checksum = XxHash3_64::oneshot(&bytes);
    bytes.extend(checksum.to_le_bytes());
    bytes
}

fn read(mut bytes: &[u8]) -> Result<ReplayHeader, ReplayError> {
    let header = ReplayHeader::read(&mut bytes)?;
    assert!(bytes.is_empty());
    Ok(header)
}

#[test]
fn a_header_comes_back_as_it_was() {
    for graph in [None, Some(RecordedGraph::default()), Some(graph())] {
        let header = header(graph);
        assert_eq!(read(&header.to_bytes().unwrap()).unwrap(), header);
    }
}

#[test]
fn numbers_that_no_run_has_are_refused_though_their_checksum_is_right() {
    let refused = |change: &dyn Fn(&mut RecordedGraph)| {
        let mut graph = graph();
        change(&mut graph);
        let error = read(&header(Some(graph)).to_bytes().unwrap()).unwrap_err();
        assert!(matches!(error, ReplayError::Damaged { .. }), "{error}");
    };
    for room in [-1.0, 1e9, f32::NAN, f32::INFINITY] {
        refused(&|graph| graph.room = room);
    }
    for weight in [-0.1, 1.5, f32::NAN] {
        refused(&|graph| graph.masks[0][1] = weight);
    }
}

#[test]
fn changed_headers_are_headers_or_errors() {
    let bytes = header(Some(graph())).to_bytes().unwrap();
    for at in 0..bytes.len() - 8 {
        for change in [1, 0x0f, 0x80, 0xff] {
            let mut bytes = bytes.clone();
            bytes[at] ^= change;
            assert!(ReplayHeader::read(&mut &bytes[..]).is_err(), "byte {at}");
            // With the right checksum it may be one.
            let _ = ReplayHeader::read(&mut &sealed(bytes)[..]);
        }
    }
    for len in 8..bytes.len() {
        let error = ReplayHeader::read(&mut &bytes[..len]).unwrap_err();
        assert!(matches!(error, ReplayError::CutShort { frames: 0 }), "{len}: {error}");
    }
}

#[test]
fn lengths_without_end_do_not_set_memory_aside() {
    let bytes = header(None).to_bytes().unwrap();
    // The number of kinds, and the length of the first kind's name.
    for at in [16, 20] {
        let mut bytes = bytes.clone();
        bytes[at..at + 4].copy_from_slice(&u32::MAX.to_le_bytes());
        assert!(read(&bytes).is_err());
    }
    // A file that goes on and on: kinds of nothing but zeros.
    let mut start = bytes[..20].to_vec();
    start[16..20].copy_from_slice(&u32::MAX.to_le_bytes());
    let mut endless = start.chain(std::io::repeat(0));
    let error = ReplayHeader::read(&mut endless).unwrap_err();
    assert!(error.to_string().contains("too long"), "{error}");
    let masks = vec![vec![1.0; 65_535]; 300];
    let graph = RecordedGraph { masks, ..RecordedGraph::default() };
    let error = header(Some(graph)).to_bytes().unwrap_err();
    assert!(error.to_string().contains("67108864"), "{error}");
}
