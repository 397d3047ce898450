//! Options made whole: defaults filled in, contradictions refused.

use super::color::ColorArg;
use super::contradiction;
use super::options::{
    CameraArg, GroundArg, LayoutArg, PaletteUploadArg, PlaybackArg, PresentArg, RunOptions,
    ZonesArg,
};
use super::scenario::Scenario;
use super::spawn::{self, Spawn};
use super::values::{
    CaptureTo, ClipStoreArg, FitHeight, RateDistances, Size, TimeStep, VisibilityArg,
};
use crate::app::exit::Failure;
use crate::asset::{self, BuildOptions};
use crate::crowd::Gates;
use crate::math::SimdLevel;
use crate::motion::Terrain;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// What a run draws into.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// A window.
    Window,
    /// A texture.
    Headless,
    /// Nothing: no GPU is touched.
    NoRender,
}

/// A character by name or by file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CharacterRef {
    /// Embedded in the binary.
    BuiltIn(String),
    /// A glTF file.
    File(PathBuf),
}

impl CharacterRef {
    fn built_ins() -> impl Iterator<Item = &'static str> {
        asset::BUILTINS.iter().map(|(name, _)| *name)
    }

    /// What a path of the command line means.
    pub fn new(path: &Path) -> Self {
        match path.to_str() {
            Some(name) if Self::built_ins().any(|n| n == name) => Self::BuiltIn(name.to_owned()),
            _ => Self::File(path.to_owned()),
        }
    }
}

/// A run, decided: what [`RunOptions`] mean in one [`Mode`].
#[derive(Clone, Debug, Serialize)]
pub struct RunConfig {
    /// What is drawn into.
    pub mode: Mode,
    /// Which characters, at least one.
    pub characters: Vec<CharacterRef>,
    /// Their shares of the crowd, one for each.
    pub weights: Vec<f32>,
    /// How many.
    pub count: u32,
    /// How they come, and whether they go.
    pub spawn: Spawn,
    /// How many of them follow another one.
    pub followers: u32,
    /// How they stand.
    pub layout: LayoutArg,
    /// What they stand on.
    pub ground: GroundArg,
    /// What everything random is drawn from.
    pub seed: u64,
    /// Whether they are scaled.
    pub fit_height: FitHeight,
    /// Measured frames; `None` has no end.
    pub frames: Option<u64>,
    /// Frames before those.
    pub warmup: u64,
    /// Where the time step comes from.
    pub time_step: TimeStep,
    /// Of the picture.
    pub size: Size,
    /// Where the camera is.
    pub camera: CameraArg,
    /// Samples per pixel.
    pub msaa: u32,
    /// Shadows are drawn.
    pub shadows: bool,
    /// Distant characters have fewer triangles.
    pub mesh_lods: bool,
    /// How palettes reach the GPU, where it can.
    pub palette_upload: PaletteUploadArg,
    /// How frames reach the screen.
    pub present: PresentArg,
    /// Index or part of a name.
    pub adapter: Option<String>,
    /// What the characters' colours tell.
    pub color_by: ColorArg,
    /// The overlay is painted from the start.
    pub overlay: bool,
    /// Folder that shaders are read from; `None` draws with the program's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shaders: Option<PathBuf>,
    /// Notifies are heard.
    pub sound: bool,
    /// PNG of the last frame.
    pub screenshot: Option<PathBuf>,
    /// Folder of one PNG per frame.
    pub frames_out: Option<PathBuf>,
    /// Report file.
    pub report: Option<PathBuf>,
    /// Recording that is written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub record: Option<PathBuf>,
    /// Recording that the run is taken from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replay: Option<PathBuf>,
    /// Limit on the 95th percentile of the frame time, milliseconds.
    pub max_frame_ms: Option<f64>,
    /// Worker threads; `None` is as many as the machine runs at once.
    pub threads: Option<usize>,
    /// Vector instructions.
    pub simd: SimdLevel,
    /// How clips are kept.
    pub clip_store: ClipStoreArg,
    /// What plays the characters.
    pub playback: PlaybackArg,
    /// The graph file that plays all characters, or one for each.
    pub graph: Vec<PathBuf>,
    /// What becomes of characters that nobody sees.
    pub visibility: VisibilityArg,
    /// How many fall now and then.
    pub ragdoll: u32,
    /// Seconds.
    pub grace: f32,
    /// Distant characters are animated less often.
    pub update_rate: bool,
    /// Past which distances over radius.
    pub rate_distances: RateDistances,
    /// Whoever skips frames is drawn on the way from one pose to the next.
    pub interpolate: bool,
    /// Of distant characters only the first bones are animated.
    pub skeleton_lod: bool,
    /// Past which distance over radius.
    pub lod_distance: f32,
    /// Milliseconds that evaluation may take.
    pub budget_ms: Option<f64>,
    /// Unreachable tasks are left out.
    pub prune: bool,
    /// Buffers are taken over by their last reader.
    pub steal: bool,
    /// What is done to the crowd.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scenario: Option<Scenario>,
    /// The end says who was forced and who waited.
    pub audit: bool,
    /// Who is looked at from the start.
    pub pick: Option<u32>,
    /// Whose list is captured, and where to.
    pub capture: Option<CaptureTo>,
    /// Frames from one dump of task lists to the next.
    pub dump_tasks: Option<u32>,
    /// Poses of a single clip are evaluated twice.
    pub validate_tasks: bool,
    /// What Tracy is shown.
    pub zones: ZonesArg,
    /// Starts only with a viewer.
    pub wait_tracy: bool,
}

impl GroundArg {
    /// The ground that a seed makes.
    pub fn terrain(self, seed: u64) -> Terrain {
        match self {
            Self::Flat => Terrain::FLAT,
            // Both halves count, so that seeds apart by 2^32 have grounds of their own.
            Self::Uneven => Terrain::uneven((seed ^ seed >> 32) as u32),
        }
    }
}

impl RunConfig {
    /// Measured frames of a run without a window that was told no number.
    pub const HEADLESS_FRAMES: u64 = 300;
    const HEADLESS_STEP: f64 = 1.0 / 60.0;
    const DEFAULT_SIZE: Size = Size { width: 1280, height: 720 };

    /// What the options ask to be drawn into.
    pub fn mode_asked(options: &RunOptions) -> Mode {
        match (options.no_render, options.headless || options.frames_out.is_some()) {
            (true, _) => Mode::NoRender,
            (false, true) => Mode::Headless,
            (false, false) => Mode::Window,
        }
    }

    /// Fills in what depends on the mode.
    ///
    /// # Errors
    /// [`Failure::Usage`] for options that contradict each other.
    pub fn new(options: &RunOptions, mode: Mode) -> Result<Self, Failure> {
        contradiction::refuse(options, mode)?;
        let windowed = mode == Mode::Window;
        let frames = options.frames.or((!windowed).then_some(Self::HEADLESS_FRAMES));
        let default_warmup = frames.map_or(30, |f| (f / 10).min(30));
        let default_step =
            if windowed { TimeStep::Real } else { TimeStep::Fixed(Self::HEADLESS_STEP) };
        let characters: Vec<_> = match options.character.as_slice() {
            [] => CharacterRef::built_ins().map(|n| CharacterRef::BuiltIn(n.into())).collect(),
            named => named.iter().map(|p| CharacterRef::new(p)).collect(),
        };
        contradiction::refuse_graphs(options.graph.len(), characters.len())?;
        let weights = spawn::weights(&options.spawn.weights, characters.len())?;
        Ok(Self {
            mode,
            characters,
            weights,
            count: options.count,
            spawn: Spawn::new(&options.spawn, options.count),
            followers: options.followers,
            layout: options.layout,
            ground: options.ground,
            seed: options.seed,
            fit_height: options.fit_height,
            frames,
            warmup: options.warmup.unwrap_or(default_warmup),
            time_step: options.fixed_dt.unwrap_or(default_step),
            size: options.size.unwrap_or(Self::DEFAULT_SIZE),
            camera: options.camera,
            msaa: options.msaa,
            shadows: options.shadows.is_on(),
            mesh_lods: options.mesh_lods.is_on(),
            palette_upload: options.palette_upload,
            present: options.present.unwrap_or(PresentArg::Fifo),
            adapter: options.adapter.clone(),
            color_by: options.color_by,
            overlay: options.overlay.is_on(),
            shaders: options.shaders.clone(),
            sound: options.sound.is_on() && windowed,
            screenshot: options.screenshot.clone(),
            frames_out: options.frames_out.clone(),
            report: options.report.clone(),
            record: options.record.clone(),
            replay: options.replay.clone(),
            max_frame_ms: options.max_frame_ms,
            threads: options.threads,
            simd: options.simd.level(),
            clip_store: options.clip_store,
            playback: options.playback,
            graph: options.graph.clone(),
            visibility: options.visibility,
            ragdoll: options.ragdoll,
            grace: options.grace,
            update_rate: options.update_rate.is_on(),
            rate_distances: options.rate_distances,
            interpolate: options.interpolate.is_on(),
            skeleton_lod: options.skeleton_lod.is_on(),
            lod_distance: options.lod_distance,
            budget_ms: options.budget_ms,
            prune: options.prune.is_on(),
            steal: options.steal.is_on(),
            scenario: Scenario::new(&options.scenario),
            audit: options.audit,
            pick: options.pick,
            capture: options.capture.clone(),
            dump_tasks: options.dump_tasks,
            validate_tasks: options.validate_tasks,
            zones: options.zones,
            wait_tracy: options.wait_tracy,
        })
    }

    /// The ground that the seed makes.
    pub fn terrain(&self) -> Terrain {
        self.ground.terrain(self.seed)
    }

    /// How distant characters are spared.
    pub fn gates(&self) -> Gates {
        Gates {
            update_rate: self.update_rate,
            rate_distances: self.rate_distances,
            skeleton_lod: self.skeleton_lod,
            lod_distance: self.lod_distance,
        }
    }

    /// What cameras advance by. Frames of a recording have the world's time; in a window they are
    /// seen in real time, elsewhere by the steps that they had if these were all alike.
    pub fn camera_step(&self) -> TimeStep {
        match (&self.replay, self.mode, self.time_step) {
            (None, _, step) => step,
            (Some(_), Mode::Window, _) => TimeStep::Real,
            (Some(_), _, TimeStep::Real) => TimeStep::Fixed(Self::HEADLESS_STEP),
            (Some(_), _, fixed) => fixed,
        }
    }

    /// How characters are made.
    pub fn build(&self) -> BuildOptions {
        BuildOptions { clip_store: self.clip_store.into(), ..BuildOptions::default() }
    }

    /// True for the adapter that does all of the processor's work and draws nothing.
    pub fn draws_nothing(&self) -> bool {
        contradiction::is_noop(self.adapter.as_deref())
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Cli, Command};
    use super::*;
    use crate::app::{shading, sound};
    use std::ffi::OsString;

    fn options(args: &[&str]) -> RunOptions {
        let args = std::iter::once("throng").chain(args.iter().copied()).map(OsString::from);
        let cli = Cli::read(args).unwrap().unwrap();
        assert!(!matches!(cli.command, Some(Command::Adapters)));
        cli.run
    }

    fn config(args: &[&str]) -> Result<RunConfig, Failure> {
        let options = options(args);
        RunConfig::new(&options, RunConfig::mode_asked(&options))
    }

    #[test]
    fn without_a_window_a_run_is_300_steps_of_a_sixtieth() {
        let c = config(&["--headless"]).unwrap();
        assert_eq!((c.mode, c.frames, c.warmup), (Mode::Headless, Some(300), 30));
        assert_eq!(c.time_step, TimeStep::Fixed(1.0 / 60.0));
        let c = config(&[]).unwrap();
        assert_eq!((c.mode, c.frames, c.time_step), (Mode::Window, None, TimeStep::Real));
        let c = config(&["--headless", "--frames", "3", "--fixed-dt", "off"]).unwrap();
        assert_eq!((c.frames, c.warmup, c.time_step), (Some(3), 0, TimeStep::Real));
    }

    #[test]
    fn characters_are_built_in_by_exact_name_only() {
        let c = config(&[]).unwrap();
        assert_eq!(c.characters.len(), 2);
        let c = config(&["--character", "humanoid", "--character", "./humanoid"]).unwrap();
        assert_eq!(
            c.characters,
            [CharacterRef::BuiltIn("humanoid".into()), CharacterRef::File("./humanoid".into())]
        );
    }

    #[test]
    fn the_ground_is_level_unless_asked_and_another_one_for_each_seed() {
        let terrain = |args: &[&str]| config(args).unwrap().terrain();
        assert!(terrain(&[]).is_flat() && terrain(&["--seed", "7"]).is_flat());
        let seeds = ["0", "1", "4294967296", "18446744073709551615"];
        let grounds = seeds.map(|s| terrain(&["--ground", "uneven", "--seed", s]));
        assert!(grounds.iter().all(|g| !g.is_flat()));
        assert!(grounds[0] != grounds[1] && grounds[0] != grounds[2]);
    }

    #[test]
    fn contradictions_and_wrong_endings_are_refused() {
        for bad in [
            &["--no-render", "--screenshot", "a.png"][..],
            &["--no-render", "--frames-out", "x"],
            &["--no-render", "--overlay", "on"],
            &["--adapter", "noop", "--screenshot", "a.png"],
            &["--screenshot", "a.jpg"],
            &["--screenshot", "png"],
            &["--report", "a.txt"],
            &["--capture", "5000"],
            &["--count", "1", "--capture", "1"],
            &["--count", "0", "--capture", "0"],
            &["--pick", "5000"],
            &["--no-render", "--pick", "0"],
            &["--weights", "1,2,3"],
            &["--weights", "1"],
            &["--character", "humanoid", "--weights", "1,2"],
            &["--spawn", "gradual", "--scenario", "dark"],
            &["--graph", "a", "--graph", "b", "--graph", "c"],
            &["--graph", "a", "--graph", "b", "--character", "humanoid"],
            &["--count", "10", "--followers", "10"],
            &["--count", "0", "--followers", "1"],
            &["--spawn", "gradual", "--followers", "1"],
            &["--ragdoll", "1", "--record", "a.throng"],
            &["--ragdoll", "1", "--replay", "a.throng"],
        ] {
            assert!(matches!(config(bad), Err(Failure::Usage(_))), "{bad:?} passed");
        }
        assert!(config(&["--no-render", "--report", "a.CSV"]).is_ok());
        assert_eq!(config(&["--sound", "on"]).is_ok(), sound::BUILT_IN);
        assert_eq!(config(&["--shaders", "a"]).is_ok(), shading::BUILT_IN);
    }

    #[test]
    fn options_that_do_nothing_here_are_named() {
        let o = options(&["--headless", "--present", "mailbox", "--sound", "on"]);
        let notes = |args: &[&str]| contradiction::without_effect(&options(args), Mode::Headless);
        assert_eq!(contradiction::without_effect(&o, Mode::Headless).len(), 2);
        for (given, count) in [
            (["--update-rate", "off", "--rate-distances", "10,20,40"], 1),
            (["--update-rate", "on", "--rate-distances", "10,20,40"], 0),
            (["--update-rate", "off", "--interpolate", "on"], 1),
            (["--skeleton-lod", "off", "--lod-distance", "10"], 1),
            (["--skeleton-lod", "on", "--lod-distance", "10"], 0),
        ] {
            assert_eq!(notes(&given).len(), count, "{given:?}");
        }
        let undrawn = ["--no-render", "--msaa", "1", "--shadows", "off", "--mesh-lods", "off"];
        let undrawn = [&undrawn[..], &["--palette-upload", "copy", "--adapter", "x"]].concat();
        let named = contradiction::without_effect(&options(&undrawn), Mode::NoRender);
        assert!(named.len() == 5 && named[4].starts_with("--palette-upload"), "{named:?}");
        assert_eq!(notes(&undrawn), [""; 0]);
        assert_eq!(notes(&["--visibility", "off", "--grace", "1"]).len(), 1);
        assert_eq!(notes(&["--visibility", "clocks", "--grace", "1"]), [""; 0]);
        let idle = options(&["--spawn-rate", "7"]);
        let notes = contradiction::without_effect(&idle, Mode::Window);
        assert!(notes.len() == 1 && notes[0].contains("--spawn instant"), "{notes:?}");
        let busy = options(&["--spawn-rate", "7", "--spawn", "cycle"]);
        assert!(contradiction::without_effect(&busy, Mode::Window).is_empty());
        assert!(!RunConfig::new(&o, Mode::Headless).unwrap().sound);
        assert!(contradiction::without_effect(&o, Mode::Window).is_empty());
    }
}
