//! `throng graph FILE`: what a graph file compiles to, and whether a character has what it names.

mod report;

use super::exit::Failure;
use super::{interrupt, output, playing};
use crate::asset::{self, CharacterAsset, ClipMarker};
use crate::graph::{self, ClipBinding, Compiled, GraphFile, Listing, Target, Watch, builtin_text};
use crate::motion::NotifyNames;
use anyhow::Context;
use report::Report;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// The command's arguments.
#[derive(clap::Args, Clone, Debug, Default)]
pub struct GraphArgs {
    /// A graph file (.ron, or compiled by --cook), the built-in graph `locomotion` or `quadruped`, or a .gltf or .glb,
    /// whose clips are made into a graph to start from
    pub file: PathBuf,
    /// List the instructions
    #[arg(long)]
    pub disasm: bool,
    /// Print the graph file itself: that of a built-in, or the one made of a file's clips
    #[arg(long, conflicts_with_all = ["disasm", "json"])]
    pub ron: bool,
    /// Also write the compiled graph to this file; --graph takes it, and so does this command
    #[arg(long, value_name = "FILE", conflicts_with_all = ["ron", "watch"])]
    pub cook: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long, conflicts_with = "disasm")]
    pub json: bool,
    /// Check that this character (a file, or the name of a built-in) has the clips and bones
    /// [default: the one that a built-in graph was made for, or the .gltf or .glb]
    #[arg(long, value_name = "PATH")]
    pub character: Option<PathBuf>,
    /// Do it again whenever the file is saved, until Ctrl-C
    #[arg(long, conflicts_with = "ron")]
    pub watch: bool,
}

/// A graph, what it is called, and the character that it was made for.
struct Found {
    name: String,
    graph: GraphFile,
    character: Option<PathBuf>,
}

/// How often a watched file is looked at.
const LOOK: Duration = Duration::from_millis(200);

/// Prints what the graph compiles to.
///
/// # Errors
/// A fault of the file, which names its line, or of the character, which names what is missing.
pub fn run(args: &GraphArgs) -> Result<(), Failure> {
    if let Some(to) = &args.cook {
        output::check_file("--cook", to)?;
        if same_file(to, &args.file) {
            let line = format!("--cook {}: this is the graph itself", to.display());
            return Err(Failure::Usage(line));
        }
    }
    let found = find(&args.file)?;
    let character = match args.character.as_ref().or(found.character.as_ref()) {
        Some(path) => Some(load_character(path)?),
        None => None,
    };
    let show = |compiled: &Compiled| shown(args, &found.name, compiled, character.as_ref());
    if args.watch {
        if !args.file.is_file() || is_gltf(&args.file) {
            let line = "--watch needs a graph file (.ron) that can be saved anew";
            return Err(Failure::Usage(line.to_owned()));
        }
        return watch(&args.file, show);
    }
    if let (GraphFile::Compiled(_), true) = (&found.graph, args.cook.is_some() || args.ron) {
        let line = format!("{}: this graph is compiled; its text is elsewhere", found.name);
        return Err(Failure::Usage(line));
    }
    let compiled = found.graph.program(&found.name)?;
    let text = show(&compiled)?;
    if let Some(to) = &args.cook {
        let bytes = compiled.program.get().to_bytes();
        output::write_whole(to, |file| Ok(file.write_all(&bytes)?))?;
    }
    let text = match &found.graph {
        GraphFile::Text(written) if args.ron => written,
        _ => &text,
    };
    Ok(output::print(text)?)
}

/// Whether two paths lead to one file.
fn same_file(a: &Path, b: &Path) -> bool {
    let real = |path: &Path| path.canonicalize().ok();
    real(a).is_some_and(|a| Some(a) == real(b))
}

/// Shows a file now and whenever it is saved, until somebody interrupts.
fn watch(file: &Path, show: impl Fn(&Compiled) -> Result<String, Failure>) -> Result<(), Failure> {
    interrupt::listen()?;
    let mut watch = Watch::new(file);
    let mut loaded = Some(graph::load(file));
    while !interrupt::asked() {
        if let Some(loaded) = loaded.take() {
            match loaded.map_err(Failure::from).and_then(|compiled| show(&compiled)) {
                Ok(text) => output::print(&text)?,
                Err(failure) => output::say(failure),
            }
        }
        std::thread::sleep(LOOK);
        loaded = watch.reload();
    }
    Ok(())
}

/// A compiled graph as the arguments ask for it.
fn shown(
    args: &GraphArgs,
    name: &str,
    compiled: &Compiled,
    character: Option<&CharacterAsset>,
) -> Result<String, Failure> {
    if let Some(character) = character {
        check(compiled, character)?;
    }
    let report = Report::new(name, compiled, character.map(|c| c.name.clone()));
    if args.json {
        return Ok(serde_json::to_string(&report).context("the report")? + "\n");
    }
    if args.disasm {
        compiled.warnings.iter().for_each(output::say);
        return Ok(Listing(&compiled.program).to_string());
    }
    Ok(report.to_string())
}

fn is_gltf(file: &Path) -> bool {
    let extension = file.extension().map(|e| e.to_string_lossy().to_lowercase());
    matches!(extension.as_deref(), Some("gltf" | "glb"))
}

/// The text behind the argument.
fn find(file: &Path) -> Result<Found, Failure> {
    let name = file.to_string_lossy().into_owned();
    if is_gltf(file) {
        let text = playing::starter(&asset::load(file)?.clips);
        let graph = GraphFile::Text(text);
        return Ok(Found { name, graph, character: Some(file.to_owned()) });
    }
    if !file.exists()
        && let Some(text) = builtin_text(&name)
    {
        let made = graph::MADE_FOR.iter().find(|(_, graph)| *graph == name);
        let character = made.map(|(character, _)| PathBuf::from(character));
        let graph = GraphFile::Text(text.to_owned());
        return Ok(Found { name, graph, character });
    }
    if !file.exists() {
        return Err(playing::unknown(file).into());
    }
    let graph = GraphFile::read(file).with_context(|| name.clone())?;
    Ok(Found { name, graph, character: None })
}

fn load_character(path: &Path) -> Result<CharacterAsset, Failure> {
    match path.to_str().filter(|_| !path.exists()).and_then(asset::builtin) {
        Some(asset) => Ok(asset?),
        None => Ok(asset::load(path)?),
    }
}

/// Binds the program to a character.
fn check(compiled: &Compiled, character: &CharacterAsset) -> Result<(), Failure> {
    // As a run makes it ready.
    let rig = character.rig_for(compiled.program.get().scaled_bone().is_some())?;
    let program = Arc::new(compiled.program.clone());
    let of_clip = |markers: &Vec<ClipMarker>| ClipBinding {
        sync_markers: markers.clone(),
        ..ClipBinding::default()
    };
    let clips: Vec<_> = character.sync_markers.iter().map(of_clip).collect();
    let mut names = NotifyNames::default();
    match program.bind(Target { rig: &rig, clips: &clips, names: &mut names }) {
        Ok(_) => Ok(()),
        Err(e) => Err(anyhow::anyhow!(playing::explained(&e, &compiled.places)).into()),
    }
}
