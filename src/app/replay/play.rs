//! Frames from a recording.

use super::{FileReader, check_kinds, check_places, open, playing};
use crate::app::characters::Cast;
use crate::crowd::{Crowd, Playing, TickStats};
use anyhow::Context;
use std::path::{Path, PathBuf};

/// Hands a recording's frames to a crowd.
#[derive(Debug)]
pub struct Player {
    path: PathBuf,
    reader: FileReader,
    frame: Vec<u8>,
}

impl Player {
    /// Opens a recording for a cast.
    ///
    /// # Errors
    /// When the file can't be read, or is of other characters.
    pub fn new(path: &Path, cast: &Cast) -> anyhow::Result<Self> {
        let reader = open(path)?;
        check_kinds(path, &reader.header().kinds, cast)?;
        Ok(Self { path: path.to_owned(), reader, frame: Vec::new() })
    }

    /// What plays each member of the cast.
    pub fn playing(&self) -> Vec<Playing> {
        playing(self.reader.header())
    }

    /// Has a crowd wait for frames.
    ///
    /// # Errors
    /// When its characters do not stand where the recorded ones stood.
    pub fn begin(&self, crowd: &mut Crowd) -> anyhow::Result<()> {
        check_places(&self.path, self.reader.header(), crowd)?;
        crowd.replay_frames();
        Ok(())
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

    /// Holds a frame that was played against the recorded one.
    ///
    /// # Errors
    /// When somebody who should be seen has no room for its palette.
    pub fn judge(&self, tick: &TickStats) -> anyhow::Result<()> {
        if tick.waiting > 0 {
            let path = self.path.display();
            anyhow::bail!("{path}: memory ends before the palettes of {} characters", tick.waiting);
        }
        Ok(())
    }
}
