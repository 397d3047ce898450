//! Frames from a recording.

use super::{FileReader, RecordedRun, check_kinds, open};
use crate::app::characters::Cast;
use crate::crowd::Crowd;
use anyhow::Context;
use std::path::{Path, PathBuf};

/// Hands a recording's frames to a crowd.
#[derive(Debug)]
pub struct Player {
    path: PathBuf,
    reader: FileReader,
    frame: Vec<u8>,
    fixed: bool,
}

impl Player {
    /// Opens a recording for a cast.
    ///
    /// # Errors
    /// When the file can't be read, or is of other characters.
    pub fn new(path: &Path, cast: &Cast) -> anyhow::Result<Self> {
        let reader = open(path)?;
        let header = reader.header();
        check_kinds(path, &header.kinds, cast)?;
        let run = RecordedRun::of_recording(path, header)?;
        Ok(Self { path: path.to_owned(), reader, frame: Vec::new(), fixed: run.fixed })
    }

    /// True when each recorded frame was a fixed step.
    pub fn fixed(&self) -> bool {
        self.fixed
    }

    /// Gives the crowd its next frame; none at the end.
    ///
    /// # Errors
    /// When the frame is damaged.
    pub fn next(&mut self, crowd: &mut Crowd) -> anyhow::Result<()> {
        let name = || self.path.display().to_string();
        if self.reader.frame(&mut self.frame).with_context(name)? {
            crowd.load_frame(&mut self.frame).with_context(name)?;
        }
        Ok(())
    }
}
