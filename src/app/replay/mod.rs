//! Recordings on the program's side: the one that a run writes, the one that a run is taken from,
//! and what `throng recording` tells of one.

pub mod info;
mod play;
mod record;
mod settings;
mod wire;

pub use play::Player;
pub use record::{Recording, Written};
pub use settings::{RecordedRun, adopt};

use super::characters::Cast;
use crate::asset::open_file;
use crate::crowd::{Crowd, Playing, RecordedKind, ReplayHeader, ReplayReader};
use anyhow::Context;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;

/// A recording on disk.
type FileReader = ReplayReader<BufReader<File>>;

/// Opens a recording.
///
/// # Errors
/// One line that names the file.
fn open(path: &Path) -> anyhow::Result<FileReader> {
    let name = || path.display().to_string();
    let file = open_file(path).with_context(name)?;
    ReplayReader::new(BufReader::new(file)).with_context(name)
}

/// Of each member's skeleton and clips.
pub fn checksums(cast: &Cast) -> Vec<u64> {
    cast.members.iter().map(|member| member.asset.checksum()).collect()
}

/// What plays the kinds of a recording: the lists of their graphs, or simple playback's.
fn playing(header: &ReplayHeader) -> Vec<Playing> {
    let of = |kind: &RecordedKind| kind.graph.clone().map_or(Playing::Simple, Playing::Recorded);
    header.kinds.iter().map(of).collect()
}

/// Holds the cast against that of a recording.
///
/// # Errors
/// One line with the first character that is another.
fn check_kinds(path: &Path, recorded: &[RecordedKind], cast: &Cast) -> anyhow::Result<()> {
    let path = path.display();
    if cast.members.len() != recorded.len() {
        anyhow::bail!(
            "{path}: it was recorded with {} kinds of character, and {} are here",
            recorded.len(),
            cast.members.len()
        );
    }
    for ((was, is), checksum) in recorded.iter().zip(&cast.members).zip(checksums(cast)) {
        if was.checksum != checksum {
            anyhow::bail!(
                "{path}: it was recorded with another \"{}\": skeleton and clips have the checksum \
                 {:016x}, those of \"{}\" here {checksum:016x}",
                was.name,
                was.checksum,
                is.asset.name,
            );
        }
    }
    Ok(())
}

/// Holds where everybody stands against where they stood.
///
/// # Errors
/// One line, when a mesh of another size, or a change of this program, moved them.
fn check_places(path: &Path, header: &ReplayHeader, crowd: &Crowd) -> anyhow::Result<()> {
    let here = crowd.places_checksum();
    if here != header.places {
        anyhow::bail!(
            "{}: its characters stood elsewhere: their places and sizes have the checksum {:016x}, \
             and {here:016x} here",
            path.display(),
            header.places
        );
    }
    Ok(())
}
