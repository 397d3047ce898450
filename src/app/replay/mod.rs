//! Recordings on the program's side: the one that a run writes, the one that a run is taken from,
//! and what `throng recording` tells of one.

pub mod info;
mod play;
mod record;
mod settings;

pub use play::Player;
pub use record::{Recording, Written};
pub use settings::{RecordedRun, adopt};

use super::characters::Cast;
use crate::crowd::{RecordedKind, ReplayReader};
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
    let file = File::open(path).with_context(name)?;
    if !file.metadata().with_context(name)?.is_file() {
        anyhow::bail!("{}: this is not a file", path.display());
    }
    ReplayReader::new(BufReader::new(file)).with_context(name)
}

/// The cast's kinds as they stand in a recording.
fn kinds(cast: &Cast) -> Vec<RecordedKind> {
    let kind = |member: &super::characters::Member| RecordedKind {
        name: member.asset.name.clone(),
        checksum: member.asset.checksum(),
    };
    cast.members.iter().map(kind).collect()
}

/// Holds the cast against that of a recording.
///
/// # Errors
/// One line with the first character that is another.
fn check_kinds(path: &Path, recorded: &[RecordedKind], cast: &Cast) -> anyhow::Result<()> {
    let path = path.display();
    let here = kinds(cast);
    if here.len() != recorded.len() {
        anyhow::bail!(
            "{path}: it was recorded with {} kinds of character, and {} are here",
            recorded.len(),
            here.len()
        );
    }
    match recorded.iter().zip(&here).find(|(was, is)| was.checksum != is.checksum) {
        None => Ok(()),
        Some((was, is)) => Err(anyhow::anyhow!(
            "{path}: it was recorded with another \"{}\": skeleton and clips have the checksum \
             {:016x}, those of \"{}\" here {:016x}",
            was.name,
            was.checksum,
            is.name,
            is.checksum
        )),
    }
}
