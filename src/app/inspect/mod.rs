//! `throng inspect FILE`: what is in a file, and where a clip puts its bones and vertices.

mod pose;
mod report;
mod table;

use super::cli::ClipStoreArg;
use super::exit::Failure;
use super::output;
use crate::asset::{self, BuildOptions, CharacterAsset};
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;

pub use pose::PoseArg;
pub use report::{PoseReport, Report};

/// The command's arguments.
#[derive(clap::Args, Clone, Debug, Default)]
pub struct InspectArgs {
    /// A .gltf or .glb file, or the name of a built-in character
    pub file: PathBuf,
    /// Print one JSON object instead of tables
    #[arg(long)]
    pub json: bool,
    /// Pose the character: CLIP (index, name or `rest`) at a time in seconds; may be repeated
    #[arg(long = "pose", value_name = "CLIP@SECONDS")]
    pub poses: Vec<PoseArg>,
    /// List the posed vertices too
    #[arg(long)]
    pub vertices: bool,
    /// Evaluate the file's own keys and curves instead of the runtime clip
    #[arg(long)]
    pub exact: bool,
    /// How clips are kept in memory
    #[arg(long, value_enum, value_name = "STORE", default_value_t = ClipStoreArg::Auto)]
    pub clip_store: ClipStoreArg,
}

/// Prints what is in the file to standard output.
///
/// # Errors
/// A fault of the file (which names it), or a `--pose` that names no clip of it.
pub fn run(args: &InspectArgs) -> Result<(), Failure> {
    if args.poses.is_empty() && (args.vertices || args.exact) {
        output::say("--vertices and --exact have no effect without --pose");
    }
    let (character, report) = examine(args)?;
    let mut out = BufWriter::new(io::stdout().lock());
    let written = if args.json {
        serde_json::to_writer(&mut out, &report)
            .map_err(io::Error::from)
            .and_then(|()| writeln!(out))
    } else {
        table::write(&mut out, &character, &report)
    };
    match written.and_then(|()| out.flush()) {
        // Whoever reads has seen enough.
        Err(e) if e.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => Ok(other?),
    }
}

/// Loads the file and collects what there is to say about it.
///
/// # Errors
/// As for [`run`].
pub fn examine(args: &InspectArgs) -> Result<(CharacterAsset, Report), Failure> {
    let source = match args.file.to_str().and_then(asset::builtin_bytes) {
        Some(bytes) if !args.file.exists() => {
            asset::gltf::read_bytes(&args.file.to_string_lossy(), bytes)?
        }
        _ => asset::gltf::read(&args.file)?,
    };
    let options = BuildOptions { clip_store: args.clip_store.into(), ..BuildOptions::default() };
    let character = asset::build(&source, &options)?;
    let rig = character.rig()?;
    let mut report = Report::new(&args.file, &character, &rig);
    for pose in &args.poses {
        let clip = pose.find(&character.clips).map_err(Failure::Usage)?;
        report.poses.push(pose::evaluate(pose, clip, &source, &character, &rig, args));
    }
    Ok((character, report))
}
