//! The command line: what can be asked, and one line for whatever was asked wrongly.

pub mod color;
mod config;
mod contradiction;
mod fault;
pub mod options;
pub mod scenario;
pub mod spawn;
pub mod values;

pub use color::ColorArg;
pub use config::{CharacterRef, Mode, RunConfig};
pub use contradiction::without_effect;
pub use options::{
    CameraArg, GroundArg, LayoutArg, PaletteUploadArg, PlaybackArg, PresentArg, RunOptions,
    ZonesArg,
};
pub use scenario::{Scenario, ScenarioOptions};
pub use spawn::{Spawn, SpawnArg};
pub use values::{
    CaptureTo, ClipStoreArg, FitHeight, RateDistances, Size, TimeStep, VisibilityArg, every, named,
};

use super::bench::BenchCommand;
use super::exit::Failure;
use super::graph::GraphArgs;
use super::inspect::InspectArgs;
use super::replay::info::RecordingArgs;
use clap::error::ErrorKind;
use clap::{Parser, Subcommand};
use std::ffi::OsString;

const EXAMPLES: &str = "\
Examples:
  throng                                          5,000 built-in characters in a window
  throng --count 20000 --camera path              more of them, seen from a flight
  throng --character fox.glb --count 1000         a crowd of your own
  throng --headless --screenshot crowd.png --report crowd.json
                                                  300 frames into files, no display needed
  throng --no-render --count 20000 --threads 1    what animation alone costs on one thread
  throng --capture 7 --visibility off             what the executor did for character 7
  throng inspect fox.glb                          what is in a file
  throng graph walk.ron --character fox.glb       whether a graph is right, and fits a character

Keys in the window: F1 shows them.
Exit status: 0 done, 1 a fault of a file or of the GPU, 2 a wrong command line,
3 slower than --max-frame-ms, 4 a pose that --validate-tasks found wrong, 5 somebody who waited
longer than --audit allows.
RUST_LOG sets what is logged (RUST_LOG=debug); WGPU_BACKEND and wgpu's other variables work.";

/// Thousands of glTF characters on screen, and what each of them costs.
#[derive(Parser, Debug)]
#[command(name = "throng", version, after_help = EXAMPLES, max_term_width = 100)]
#[command(args_conflicts_with_subcommands = true, disable_help_subcommand = true)]
pub struct Cli {
    /// Without a command: a run.
    #[command(flatten)]
    pub run: RunOptions,
    /// Something else than a run.
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// What else the program can do.
#[derive(Subcommand, Debug)]
pub enum Command {
    /// Show what is in a glTF file, and where a clip puts its bones and vertices
    Inspect(InspectArgs),
    /// Compile a graph file and show what becomes of it
    Graph(GraphArgs),
    /// Show what a file of --record holds, and what its lists would take on a wire
    Recording(RecordingArgs),
    /// List the GPUs that --adapter can name
    Adapters,
    /// Measure kernels, the executor, graphs, crowds of every size and whole frames
    #[command(subcommand, arg_required_else_help = false)]
    Bench(BenchCommand),
}

impl Cli {
    /// Reads the command line. Help and version are printed and end in `Ok(None)`.
    ///
    /// # Errors
    /// [`Failure::Usage`] with one line.
    pub fn read(args: impl IntoIterator<Item = OsString>) -> Result<Option<Self>, Failure> {
        match Self::try_parse_from(args) {
            Ok(cli) => Ok(Some(cli)),
            Err(e) if matches!(e.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) => {
                // A reader that went away (`throng --help | head`) is no fault.
                let _ = e.print();
                Ok(None)
            }
            Err(e) => Err(Failure::Usage(fault::one_line(&e))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    fn read(args: &[&str]) -> Result<Option<Cli>, String> {
        let args = std::iter::once("throng").chain(args.iter().copied()).map(OsString::from);
        Cli::read(args).map_err(|f| f.to_string())
    }

    #[test]
    fn the_definition_is_consistent_and_every_option_explains_itself() {
        let command = Cli::command();
        command.clone().debug_assert();
        for arg in command.get_arguments() {
            assert!(arg.get_help().is_some(), "{} has no help", arg.get_id());
        }
    }

    #[test]
    fn faults_are_one_line_that_names_what_would_be_right() {
        let cases: &[(&[&str], &[&str])] = &[
            (&["--cuont", "3"], &["--cuont", "--count"]),
            (&["--count", "many"], &["many", "--count"]),
            (&["--count", "-1"], &["-1"]),
            (&["--layout", "ring"], &["ring", "grid", "disc", "street"]),
            (&["--msaa", "3"], &["3", "1 (off) or 4"]),
            (&["--size", "wide"], &["wide", "1920x1080"]),
            (&["--clip-store", "f16"], &["f16", "auto", "f32", "i16"]),
            (&["inspect", "a.glb", "--clip-store", "i8"], &["i8", "auto", "f32", "i16"]),
            (&["--threads", "0"], &["0", "1 to 1024"]),
            (&["--fixed-dt", "-2"], &["seconds"]),
            (&["--simd", "mmx"], &["mmx", "avx2"]),
            (&["--report"], &["--report"]),
            (&["--capture", "x"], &["x", "--capture", "7=seven.json"]),
            (&["--capture", "-1"], &["-1"]),
            (&["--dump-tasks=0"], &["0", "1 to"]),
            (&["--dump-tasks=often"], &["often"]),
            (&["--headless", "--headless"], &["--headless"]),
            (&["wander"], &["wander"]),
        ];
        for (args, words) in cases {
            let line = read(args).expect_err(&format!("{args:?} passed"));
            assert!(!line.contains('\n'), "{line}");
            for word in *words {
                assert!(line.contains(word), "{args:?}: {line:?} lacks {word:?}");
            }
        }
    }

    #[test]
    fn options_and_commands_are_read() {
        let cli = read(&["--count", "7", "--camera", "far", "--size", "64x32"]).unwrap().unwrap();
        assert_eq!((cli.run.count, cli.run.camera), (7, CameraArg::Far));
        assert!(cli.command.is_none());
        let cli = read(&["adapters"]).unwrap().unwrap();
        assert!(matches!(cli.command, Some(Command::Adapters)));
    }
}
