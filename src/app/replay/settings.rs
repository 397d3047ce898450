//! What a recording needs to know of the run that it is of.

use super::open;
use crate::app::cli::{
    CharacterRef, ClipStoreArg, FitHeight, GroundArg, LayoutArg, PlaybackArg, RateDistances,
    RunConfig, Spawn, TimeStep, VisibilityArg, spawn,
};
use crate::asset::BuildOptions;
use crate::crowd::{Gates, ReplayHeader};
use anyhow::Context;
use serde::{Deserialize, Deserializer, Serialize};
use std::path::{Path, PathBuf};

/// The part of a run's configuration that decides who stands where, and what a report is to say of
/// the rest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RecordedRun {
    /// Where the characters came from; files as they were named then.
    pub characters: Vec<CharacterRef>,
    /// Their shares of the crowd, one for each.
    pub weights: Vec<f32>,
    /// How many.
    pub count: u32,
    /// How they came, and whether they went.
    pub spawn: Spawn,
    /// How many of them followed another one; nobody did before there was such a thing.
    #[serde(default)]
    pub followers: u32,
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
    /// Where its time steps came from. Only fixed ones have a palette hash to compare.
    pub time_step: TimeStep,
    /// What played the characters.
    pub playback: PlaybackArg,
    /// The graph files that did, as they were named then; nobody needs them any more.
    pub graph: Vec<PathBuf>,
    /// What became of who was not seen.
    #[serde(deserialize_with = "visibility")]
    pub visibility: VisibilityArg,
    /// Seconds that they went on.
    pub grace: f32,
    /// Distant ones were animated less often; not so before there was such a thing.
    #[serde(default)]
    pub update_rate: bool,
    /// Past which distances over radius.
    #[serde(default = "rate_distances")]
    pub rate_distances: RateDistances,
    /// Of distant ones only the first bones were animated; not so before there was such a thing.
    #[serde(default)]
    pub skeleton_lod: bool,
    /// Past which distance over radius.
    #[serde(default = "lod_distance")]
    pub lod_distance: f32,
}

fn lod_distance() -> f32 {
    Gates::default().lod_distance
}

/// On or off was a switch once.
fn visibility<'de, D: Deserializer<'de>>(from: D) -> Result<VisibilityArg, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Either {
        Switch(bool),
        Name(VisibilityArg),
    }
    Ok(match Either::deserialize(from)? {
        Either::Switch(true) => VisibilityArg::On,
        Either::Switch(false) => VisibilityArg::Off,
        Either::Name(name) => name,
    })
}

fn rate_distances() -> RateDistances {
    Gates::default().rate_distances
}

impl RecordedRun {
    /// Of a run.
    pub fn of(config: &RunConfig) -> Self {
        Self {
            characters: config.characters.clone(),
            weights: config.weights.clone(),
            count: config.count,
            spawn: config.spawn,
            followers: config.followers,
            layout: config.layout,
            ground: config.ground,
            seed: config.seed,
            fit_height: config.fit_height,
            clip_store: config.clip_store,
            warmup: config.warmup,
            time_step: config.time_step,
            playback: config.playback,
            graph: config.graph.clone(),
            visibility: config.visibility,
            grace: config.grace,
            update_rate: config.update_rate,
            rate_distances: config.rate_distances,
            skeleton_lod: config.skeleton_lod,
            lod_distance: config.lod_distance,
        }
    }

    /// How its characters are made.
    pub fn build(&self) -> BuildOptions {
        BuildOptions { clip_store: self.clip_store.into(), ..BuildOptions::default() }
    }

    /// Reads what [`RecordedRun::to_text`] wrote, and holds it against the rest of the header and
    /// against what an option would have taken.
    ///
    /// # Errors
    /// One line that names the file.
    pub fn of_recording(path: &Path, header: &ReplayHeader) -> anyhow::Result<Self> {
        let name = path.display();
        let run: Self = serde_json::from_str(&header.settings)
            .with_context(|| format!("{name}: the recording's settings"))?;
        if run.count != header.count {
            anyhow::bail!("{name}: the recording names two numbers of characters");
        }
        if run.weights.len() != run.characters.len()
            || run.weights.iter().any(|weight| !spawn::is_weight(*weight))
        {
            anyhow::bail!("{name}: the recording's characters have the weights {:?}", run.weights);
        }
        if !run.spawn.is_possible() {
            let rate = run.spawn.per_second;
            anyhow::bail!("{name}: {rate} characters come a second in the recording");
        }
        match (run.fit_height, run.time_step) {
            (FitHeight::Metres(m), _) if !FitHeight::METRES.contains(&m) => {
                anyhow::bail!("{name}: the recording's characters are fitted to {m} m")
            }
            (_, TimeStep::Fixed(s)) if !TimeStep::SECONDS.contains(&s) => {
                anyhow::bail!("{name}: the recording's frames are steps of {s} s")
            }
            _ => Ok(run),
        }
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
    let run = RecordedRun::of_recording(&path, reader.header())?;
    if !named {
        config.characters = run.characters;
    }
    (config.count, config.layout, config.ground) = (run.count, run.layout, run.ground);
    (config.weights, config.spawn) = (run.weights, run.spawn);
    config.followers = run.followers;
    (config.seed, config.fit_height) = (run.seed, run.fit_height);
    (config.clip_store, config.time_step) = (run.clip_store, run.time_step);
    (config.playback, config.graph) = (run.playback, run.graph);
    (config.visibility, config.grace) = (run.visibility, run.grace);
    (config.update_rate, config.rate_distances) = (run.update_rate, run.rate_distances);
    (config.skeleton_lod, config.lod_distance) = (run.skeleton_lod, run.lod_distance);
    config.warmup = run.warmup.min(reader.frames());
    config.frames = Some(reader.frames() - config.warmup);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::cli::SpawnArg;

    #[test]
    fn settings_that_no_run_could_have_had_are_refused() {
        let run = RecordedRun {
            characters: vec![CharacterRef::BuiltIn("humanoid".into())],
            weights: vec![2.5],
            count: 40,
            spawn: Spawn { mode: SpawnArg::Cycle, per_second: 3.0 },
            followers: 3,
            layout: LayoutArg::Grid,
            ground: GroundArg::Flat,
            seed: 1,
            fit_height: FitHeight::Metres(1.8),
            clip_store: ClipStoreArg::Auto,
            warmup: 0,
            time_step: TimeStep::Fixed(0.25),
            playback: PlaybackArg::Graph,
            graph: vec!["gone.ron".into()],
            visibility: VisibilityArg::Clocks,
            grace: 0.25,
            update_rate: true,
            rate_distances: [1.0, 2.0, 3.0],
            skeleton_lod: true,
            lod_distance: 5.0,
        };
        let read = |run: &RecordedRun, count| {
            let settings = run.to_text().unwrap();
            let header = ReplayHeader { count, kinds: Vec::new(), places: 0, settings };
            RecordedRun::of_recording(Path::new("a.rec"), &header)
        };
        assert_eq!(read(&run, 40).unwrap(), run);
        // One from before there were update rates.
        let settings = run.to_text().unwrap();
        let mut old: serde_json::Value = serde_json::from_str(&settings).unwrap();
        for added in ["followers", "update_rate", "rate_distances", "skeleton_lod", "lod_distance"]
        {
            assert!(old.as_object_mut().unwrap().remove(added).is_some(), "{added}");
        }
        old["visibility"] = false.into();
        let old: RecordedRun = serde_json::from_value(old).unwrap();
        assert_eq!(old.visibility, VisibilityArg::Off);
        assert!(!old.update_rate && old.rate_distances == Gates::default().rate_distances);
        assert_eq!(old.followers, 0);
        assert!(!old.skeleton_lod && old.lod_distance == Gates::default().lod_distance);
        let e = read(&run, 4_294_967_295).unwrap_err().to_string();
        assert!(e.contains("a.rec") && e.contains("two numbers"), "{e}");
        for metres in [-1.0, 1e30] {
            let run = RecordedRun { fit_height: FitHeight::Metres(metres), ..run.clone() };
            assert!(read(&run, 40).unwrap_err().to_string().contains("fitted"), "{metres}");
        }
        for weights in [vec![], vec![0.0], vec![-1.0], vec![1.0, 1.0]] {
            let run = RecordedRun { weights, ..run.clone() };
            assert!(read(&run, 40).unwrap_err().to_string().contains("weights"), "{run:?}");
        }
        for per_second in [-1.0, 1e30] {
            let spawn = Spawn { per_second, ..run.spawn };
            let run = RecordedRun { spawn, ..run.clone() };
            assert!(read(&run, 40).unwrap_err().to_string().contains("a second"), "{run:?}");
        }
        for seconds in [-1.0, 0.0, 1e30] {
            let run = RecordedRun { time_step: TimeStep::Fixed(seconds), ..run.clone() };
            assert!(read(&run, 40).unwrap_err().to_string().contains("steps"), "{seconds}");
        }
    }
}
