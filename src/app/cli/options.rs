//! The options of a run, as clap reads them.

use super::color::ColorArg;
use super::scenario::ScenarioOptions;
use super::spawn::SpawnOptions;
use super::values::{
    self, CaptureTo, ClipStoreArg, FitHeight, OnOff, RateDistances, Size, TimeStep, VisibilityArg,
};
use crate::crowd::Layout;
use crate::math::Lanes;
use crate::render::PaletteUpload;
use clap::{Args, ValueEnum};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// How the crowd stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LayoutArg {
    /// Rows and columns.
    Grid,
    /// A round crowd.
    Disc,
    /// A long street.
    Street,
}

impl From<LayoutArg> for Layout {
    fn from(layout: LayoutArg) -> Self {
        match layout {
            LayoutArg::Grid => Self::Grid,
            LayoutArg::Disc => Self::Disc,
            LayoutArg::Street => Self::Street,
        }
    }
}

/// What the crowd stands on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GroundArg {
    /// A plane.
    Flat,
    /// Gentle bumps and hollows, another ground for each seed.
    Uneven,
}

/// Where the camera is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CameraArg {
    /// Circles the crowd slowly.
    Orbit,
    /// Yours to steer: WASD and the mouse.
    Fly,
    /// At eye level before the first row; a lone character is followed.
    Near,
    /// High and away, all of the crowd in view.
    Far,
    /// A flight over and through the crowd, the same every time.
    Path,
}

/// How finished frames reach the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PresentArg {
    /// Waits for the display, never tears.
    Fifo,
    /// Never waits, never tears, where the system has it.
    Mailbox,
    /// Never waits, may tear, where the system has it.
    Immediate,
}

/// How palettes reach the GPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PaletteUploadArg {
    /// Written by all threads, moved by a compute pass; copied where the GPU can't.
    Scatter,
    /// Written by one thread, copied run by run.
    Copy,
}

impl From<PaletteUploadArg> for PaletteUpload {
    fn from(arg: PaletteUploadArg) -> Self {
        match arg {
            PaletteUploadArg::Scatter => Self::Scatter,
            PaletteUploadArg::Copy => Self::Copy,
        }
    }
}

/// What plays the characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlaybackArg {
    /// One clip after the other; walkers go along lanes.
    Simple,
    /// An animation graph, and a driver that decides what each character does.
    Graph,
}

/// Which zones Tracy gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ZonesArg {
    /// None.
    Off,
    /// Phases of the frame.
    Phases,
    /// Phases, characters and tasks.
    Tasks,
}

/// More than anyone waits for: centuries.
const MAX_FRAMES: u64 = 1_000_000_000_000;

/// Everything that a run can be told.
#[derive(Args, Clone, Debug)]
pub struct RunOptions {
    /// A glTF file (.gltf or .glb), or the built-in `humanoid` or `quadruped`; repeat it to mix
    /// [default: both built-ins]
    #[arg(long, value_name = "PATH", help_heading = "Crowd")]
    pub character: Vec<PathBuf>,
    /// How many characters
    #[arg(long, short = 'n', value_name = "N", allow_negative_numbers = true, default_value_t = 5000,
          value_parser = values::whole("a count", 0..=10_000_000_u32, 5000), help_heading = "Crowd")]
    pub count: u32,
    /// Who comes and goes.
    #[command(flatten)]
    pub spawn: SpawnOptions,
    /// How many of them follow another one: by turns one of their own kind, whose palette they share,
    /// and, with several characters, one of another, whose pose goes to their bones by name
    #[arg(long, value_name = "N", allow_negative_numbers = true, default_value_t = 0,
          value_parser = values::whole("a number of followers", 0..=10_000_000_u32, 500),
          help_heading = "Crowd")]
    pub followers: u32,
    /// How they stand
    #[arg(long, value_enum, default_value_t = LayoutArg::Disc, help_heading = "Crowd")]
    pub layout: LayoutArg,
    /// What they stand on
    #[arg(long, value_enum, default_value_t = GroundArg::Flat, help_heading = "Crowd")]
    pub ground: GroundArg,
    /// What places, clips, speeds, tints and uneven ground are drawn from
    #[arg(
        long,
        value_name = "N",
        allow_negative_numbers = true,
        default_value_t = 1,
        value_parser = values::whole("a seed", 0..=u64::MAX, 1),
        help_heading = "Crowd"
    )]
    pub seed: u64,
    /// Scale characters to this height: metres, off, or auto (only the absurdly small or tall)
    #[arg(
        long,
        value_name = "METRES|off",
        allow_negative_numbers = true,
        default_value = "auto",
        help_heading = "Crowd"
    )]
    pub fit_height: FitHeight,

    /// A situation to look into.
    #[command(flatten)]
    pub scenario: ScenarioOptions,

    /// Measured frames, then the end [default: 300 headless, no end in a window]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = values::whole("a number of frames", 1..=MAX_FRAMES, 300),
          help_heading = "Run")]
    pub frames: Option<u64>,
    /// Frames before measuring starts [default: a tenth of the measured, at most 30]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = values::whole("a number of frames", 0..=1_000_000_u64, 30),
          help_heading = "Run")]
    pub warmup: Option<u64>,
    /// Draw into memory, without a window
    #[arg(long, help_heading = "Run")]
    pub headless: bool,
    /// Animate only: no GPU is touched
    #[arg(long, help_heading = "Run")]
    pub no_render: bool,
    /// Seconds that each frame advances the world, or off for the real clock
    /// [default: 1/60 headless, off in a window]
    #[arg(long, value_name = "SECONDS|off", allow_negative_numbers = true, help_heading = "Run")]
    pub fixed_dt: Option<TimeStep>,
    /// Execute a recording again: its crowd, frames and poses; camera, picture and threads are free
    #[arg(long, value_name = "FILE", help_heading = "Run",
          conflicts_with_all = ["count", "followers", "spawn", "spawn_rate", "weights", "layout", "ground", "seed", "fit_height", "frames",
                                "warmup", "fixed_dt", "clip_store", "visibility", "grace",
                                "update_rate", "rate_distances", "skeleton_lod", "lod_distance",
                                "record", "playback", "graph"])]
    pub replay: Option<PathBuf>,

    /// Size of the picture [default: 1280x720]
    #[arg(long, value_name = "WxH", help_heading = "Picture")]
    pub size: Option<Size>,
    /// Where the camera is
    #[arg(long, value_enum, default_value_t = CameraArg::Orbit, help_heading = "Picture")]
    pub camera: CameraArg,
    /// Samples per pixel: 1 or 4
    #[arg(long, value_name = "1|4", default_value_t = RunOptions::MSAA, value_parser = values::samples,
          help_heading = "Picture")]
    pub msaa: u32,
    /// Shadows of the sun
    #[arg(long, value_enum, value_name = "on|off", hide_possible_values = true,
          default_value_t = OnOff::On, help_heading = "Picture")]
    pub shadows: OnOff,
    /// Draw distant characters with fewer triangles
    #[arg(long, value_enum, value_name = "on|off", hide_possible_values = true,
          default_value_t = OnOff::On, help_heading = "Picture")]
    pub mesh_lods: OnOff,
    /// How palettes reach the GPU
    #[arg(long, value_enum, default_value_t = PaletteUploadArg::Scatter, help_heading = "Picture")]
    pub palette_upload: PaletteUploadArg,
    /// How frames reach the screen of a window [default: fifo]
    #[arg(long, value_enum, help_heading = "Picture")]
    pub present: Option<PresentArg>,
    /// Which GPU: an index or a part of a name from `throng adapters`; `noop` draws nothing
    /// but does all of the processor's work
    #[arg(long, value_name = "NAME", help_heading = "Picture")]
    pub adapter: Option<String>,
    /// What the characters' colours tell: F2 goes through them, the overlay has a legend
    #[arg(long, value_enum, default_value_t = ColorArg::None, help_heading = "Picture")]
    pub color_by: ColorArg,
    /// Paint the overlay from the start; F1 toggles it in a window
    #[arg(long, value_enum, value_name = "on|off", hide_possible_values = true,
          default_value_t = OnOff::Off, help_heading = "Picture")]
    pub overlay: OnOff,

    /// Draw with the shaders of this folder, laid out as shaders/, and anew whenever one is saved; with
    /// the feature `shader-reload`
    #[arg(long, value_name = "DIR", help_heading = "Picture")]
    pub shaders: Option<PathBuf>,

    /// Play what notifies sound like, nearby footsteps above all; in a window, with the feature
    /// `sound`
    #[arg(long, value_enum, value_name = "on|off", hide_possible_values = true,
          default_value_t = OnOff::Off, help_heading = "Output")]
    pub sound: OnOff,
    /// Write the last frame as PNG
    #[arg(long, value_name = "PATH", help_heading = "Output")]
    pub screenshot: Option<PathBuf>,
    /// Write every measured frame as a numbered PNG into this folder
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    pub frames_out: Option<PathBuf>,
    /// Write what was measured, as .json or .csv
    #[arg(long, value_name = "PATH", help_heading = "Output")]
    pub report: Option<PathBuf>,
    /// Record what every character is told to do in every frame, to be replayed
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub record: Option<PathBuf>,
    /// End with status 3 when the 95th percentile of the frame time is over this
    #[arg(long, value_name = "X", allow_negative_numbers = true, value_parser = values::milliseconds, help_heading = "Output")]
    pub max_frame_ms: Option<f64>,

    /// Worker threads [default: as many as the machine runs at once]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = values::whole("a number of workers", 1..=1024_usize, 8),
          help_heading = "Animation")]
    pub threads: Option<usize>,
    /// Vector instructions of the kernels: auto, scalar, sse, avx2, avx512, neon
    #[arg(long, value_name = "LEVEL", default_value = "auto", value_parser = values::lanes,
          help_heading = "Animation")]
    pub simd: Lanes,
    /// How clips are kept in memory
    #[arg(long, value_enum, value_name = "STORE", default_value_t = ClipStoreArg::Auto,
          help_heading = "Animation")]
    pub clip_store: ClipStoreArg,
    /// What plays the characters
    #[arg(long, value_enum, default_value_t = PlaybackArg::Graph, help_heading = "Animation")]
    pub playback: PlaybackArg,
    /// The graph file, or the name of a built-in graph, that plays all characters, whatever
    /// --playback says; or one for each, in the order of --character; played anew whenever it is
    /// saved [default: the built-in characters' own, else one made from a character's clips]
    #[arg(long, value_name = "PATH", help_heading = "Animation")]
    pub graph: Vec<PathBuf>,
    /// What becomes of characters that nobody sees
    #[arg(long, value_enum, default_value_t = VisibilityArg::On, help_heading = "Animation")]
    pub visibility: VisibilityArg,
    /// How many characters fall down now and then, and get up
    #[arg(long, value_name = "N", allow_negative_numbers = true, default_value_t = 0,
          value_parser = values::whole("a number of characters", 0..=10_000_000_u32, 20),
          help_heading = "Animation")]
    pub ragdoll: u32,
    /// Seconds that a character keeps animating after it was last seen
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true, default_value_t = RunOptions::GRACE, value_parser = values::seconds,
          help_heading = "Animation")]
    pub grace: f32,
    /// Animate distant characters every 2, 3 or 4 frames, whole steps at a time
    #[arg(long, value_enum, value_name = "on|off", hide_possible_values = true,
          default_value_t = OnOff::On, help_heading = "Animation")]
    pub update_rate: OnOff,
    /// Past how far they are animated every 2, 3 and 4 frames: the camera's distance over the
    /// character's bounding radius
    #[arg(long, value_name = "A,B,C", allow_negative_numbers = true, default_value = "30,60,120", value_parser = values::rate_distances,
          help_heading = "Animation")]
    pub rate_distances: RateDistances,
    /// Animate only the first bones of distant characters, those that move most of the skin
    #[arg(long, value_enum, value_name = "on|off", hide_possible_values = true,
          default_value_t = OnOff::On, help_heading = "Animation")]
    pub skeleton_lod: OnOff,
    /// Past how far: the camera's distance over the character's bounding radius
    #[arg(long, value_name = "D", allow_negative_numbers = true, default_value = "60", value_parser = values::distance,
          help_heading = "Animation")]
    pub lod_distance: f32,
    /// Draw whoever skips frames on the way from one pose to the next
    #[arg(long, value_enum, value_name = "on|off", hide_possible_values = true,
          default_value_t = OnOff::Off, help_heading = "Animation")]
    pub interpolate: OnOff,
    /// Milliseconds that evaluation may take of a frame: where it is over, distant characters are
    /// evaluated less often and by fewer bones than the options above say
    #[arg(long, value_name = "X", allow_negative_numbers = true, value_parser = values::milliseconds,
          conflicts_with = "replay", help_heading = "Animation")]
    pub budget_ms: Option<f64>,
    /// Leave out tasks that the result does not depend on
    #[arg(long, value_enum, value_name = "on|off", hide_possible_values = true,
          default_value_t = OnOff::On, help_heading = "Animation")]
    pub prune: OnOff,
    /// Let a task write into the buffer that it is the last to read
    #[arg(long, value_enum, value_name = "on|off", hide_possible_values = true,
          default_value_t = OnOff::On, help_heading = "Animation")]
    pub steal: OnOff,

    /// At the end, say who ticks because a sequence says so, and how evenly evaluations were spread;
    /// end with status 5 when anybody waited longer than the slowest update rate
    #[arg(long, help_heading = "Tasks")]
    pub audit: bool,
    /// Write what the executor did with this character's task list when it was last evaluated, as
    /// JSON [default file: capture-ID.json]
    #[arg(long, value_name = "ID[=FILE]", allow_negative_numbers = true, help_heading = "Tasks")]
    pub capture: Option<CaptureTo>,
    /// Look at this character from the start, as a click on it does: with its skeleton, bounds and
    /// targets drawn, and with --overlay on its panel
    #[arg(long, value_name = "ID", allow_negative_numbers = true,
          value_parser = values::whole("a character", 0..=10_000_000_u32, 17), help_heading = "Tasks")]
    pub pick: Option<u32>,
    /// Log task lists every so many frames (60 without a number): of the captured character, or of
    /// the first of each kind that is evaluated
    #[arg(long, value_name = "FRAMES", num_args = 0..=1, require_equals = true,
          default_missing_value = "60", value_parser = values::whole("a number of frames", 1..=u32::MAX, 60), help_heading = "Tasks")]
    pub dump_tasks: Option<u32>,
    /// Evaluate every pose of a single clip a second time, the direct way, and end with status 4
    /// when one differs; slow
    #[arg(long, help_heading = "Tasks")]
    pub validate_tasks: bool,

    /// What Tracy is shown while a viewer is connected
    #[arg(long, value_enum, default_value_t = ZonesArg::Phases, help_heading = "Profiling")]
    pub zones: ZonesArg,
    /// Start only when a Tracy viewer has connected
    #[arg(long, help_heading = "Profiling")]
    pub wait_tracy: bool,
}

impl RunOptions {
    /// Samples per pixel unless told.
    pub const MSAA: u32 = 4;
    /// Seconds of grace unless told.
    pub const GRACE: f32 = 0.25;
}
