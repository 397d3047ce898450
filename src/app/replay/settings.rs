//! What a recording needs to know of the run that it is of.

use super::open;
use crate::app::cli::{
    CharacterRef, ClipStoreArg, FitHeight, GroundArg, LayoutArg, RunConfig, TimeStep,
};
use crate::asset::BuildOptions;
use anyhow::Context;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The part of a run's configuration that decides who stands where.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RecordedRun {
    /// Where the characters came from; files as they were named then.
    pub characters: Vec<CharacterRef>,
    /// How many.
    pub count: u32,
    /// How they stand.
    pub layout: LayoutArg,
    /// What they stand on.
    pub ground: GroundArg,
    /// What everything random is drawn from.
    pub seed: u64,
    /// Whether they are scaled.
    pub fit_height: FitHeight,
    /// How clips are kept.
    pub clip_store: ClipStoreArg,
    /// Frames before those that were measured.
    pub warmup: u64,
    /// Each frame was a fixed step, and the run's palette hash can be compared.
    pub fixed: bool,
}

impl RecordedRun {
    /// Of a run.
    pub fn of(config: &RunConfig) -> Self {
        Self {
            characters: config.characters.clone(),
            count: config.count,
            layout: config.layout,
            ground: config.ground,
            seed: config.seed,
            fit_height: config.fit_height,
            clip_store: config.clip_store,
            warmup: config.warmup,
            fixed: matches!(config.time_step, TimeStep::Fixed(_)),
        }
    }

    /// How its characters are made.
    pub fn build(&self) -> BuildOptions {
        BuildOptions { clip_store: self.clip_store.into(), ..BuildOptions::default() }
    }

    /// Reads what [`RecordedRun::to_text`] wrote.
    ///
    /// # Errors
    /// One line that names the file.
    pub fn from_text(path: &Path, text: &str) -> anyhow::Result<Self> {
        serde_json::from_str(text)
            .with_context(|| format!("{}: the recording's settings", path.display()))
    }

    /// As JSON.
    ///
    /// # Errors
    /// When a file's name is no text.
    pub fn to_text(&self) -> anyhow::Result<String> {
        Ok(serde_json::to_string(self)?)
    }
}

/// Has a run that replays a recording take over its crowd and its number of frames. Characters
/// that the command line names stay: files may have moved.
///
/// # Errors
/// When the file can't be read as a recording.
pub fn adopt(config: &mut RunConfig, named: bool) -> anyhow::Result<()> {
    let Some(path) = config.replay.clone() else { return Ok(()) };
    let reader = open(&path)?;
    let run = RecordedRun::from_text(&path, &reader.header().settings)?;
    if !named {
        config.characters = run.characters;
    }
    (config.count, config.layout, config.ground) = (run.count, run.layout, run.ground);
    (config.seed, config.fit_height) = (run.seed, run.fit_height);
    config.clip_store = run.clip_store;
    config.warmup = run.warmup.min(reader.frames());
    config.frames = Some(reader.frames() - config.warmup);
    Ok(())
}
