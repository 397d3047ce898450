//! Which graph plays whom, and what happens when somebody saves it.

use super::characters::Cast;
use super::cli::{CharacterRef, PlaybackArg, RunConfig};
use super::exit::Failure;
use super::output;
use crate::asset::{self, CharacterAsset};
use crate::crowd::{Crowd, CrowdError, Playing};
use crate::graph::{self, BindError, Compiled, GraphError, LoadError, Places, StarterClip, Watch};
use crate::index::CharacterKind;
use crate::pose::UniformClip;
use anyhow::Error;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// What plays each member of a cast, and where the files of `--graph` name what they need.
#[derive(Debug, Default)]
pub struct Parts {
    /// In the order of the cast.
    pub playing: Vec<Playing>,
    /// None without a file; one for everybody, or one for each.
    places: Vec<Places>,
}

impl Parts {
    /// The graph of `--graph` if there is one, or one for each, else what `--playback` says.
    ///
    /// # Errors
    /// A graph file that can't be read or compiled.
    pub fn new(config: &RunConfig, cast: &Cast) -> Result<Self, Failure> {
        if !config.graph.is_empty() {
            let compiled = config.graph.iter().map(|path| named(path));
            let compiled = compiled.collect::<Result<Vec<_>, Failure>>()?;
            let places = compiled.iter().map(|graph| graph.places.clone()).collect();
            let mut playing: Vec<_> = compiled.into_iter().map(playing).collect();
            if let [everybody] = &playing[..] {
                playing = vec![everybody.clone(); cast.members.len()];
            }
            return Ok(Self { playing, places });
        }
        let of = cast.members.iter().zip(&config.characters);
        let own = |asset: &CharacterAsset, of: &CharacterRef| match config.playback {
            PlaybackArg::Simple => Ok(Playing::Simple),
            PlaybackArg::Graph => own(of, asset).map(playing).map_err(Failure::from),
        };
        let playing: Result<_, Failure> = of.map(|(member, of)| own(&member.asset, of)).collect();
        Ok(Self { playing: playing?, places: Vec::new() })
    }

    /// A crowd's refusal, with the place of the graph file that it is about. `cast` names all the
    /// kinds.
    pub fn explain(places: &[Places], cast: &[String], error: CrowdError) -> Error {
        let CrowdError::Graph { kind, error } = error else { return error.into() };
        let at = cast.iter().position(|name| *name == kind).unwrap_or(0);
        match places {
            [] => CrowdError::Graph { kind, error }.into(),
            [everybodys] => {
                let fault = explained(&error, everybodys);
                anyhow::anyhow!("{fault} (kind {kind:?}){}", without(cast, &kind))
            }
            each => {
                let fault = explained(&error, &each[at.min(each.len() - 1)]);
                anyhow::anyhow!("{fault} (kind {kind:?})")
            }
        }
    }

    /// What plays whom, and where the graph files name clips and bones.
    pub fn into_parts(self) -> (Vec<Playing>, Vec<Places>) {
        (self.playing, self.places)
    }
}

impl From<Vec<Playing>> for Parts {
    fn from(playing: Vec<Playing>) -> Self {
        Self { playing, places: Vec::new() }
    }
}

/// What to do about a graph that fits only some of a cast: nothing where there is one kind.
fn without(cast: &[String], misfit: &str) -> String {
    match cast.iter().find(|name| *name != misfit) {
        Some(other) if asset::BUILTINS.iter().any(|(name, _)| name == other) => {
            format!("; --character {other} leaves that kind out")
        }
        Some(_) => "; --character names the kinds that play".to_owned(),
        None => String::new(),
    }
}

fn playing(compiled: Compiled) -> Playing {
    compiled.warnings.iter().for_each(output::say);
    Playing::Graph(Arc::new(compiled.program))
}

/// A graph by its file or, where there is no such file, by the name of a built-in.
fn named(path: &Path) -> Result<Compiled, Failure> {
    let builtin = path.to_str().filter(|_| !path.exists()).and_then(graph::builtin_text);
    match builtin {
        Some(text) => Ok(graph::compile(&path.to_string_lossy(), text)?),
        None => graph::load(path).map_err(|error| match error {
            LoadError::Read { .. } if !path.exists() => unknown(path).into(),
            other => other.into(),
        }),
    }
}

/// There is neither a file nor a built-in graph of that name.
pub fn unknown(path: &Path) -> Error {
    let names: Vec<_> = graph::BUILTINS.iter().map(|(name, _)| *name).collect();
    let path = path.display();
    anyhow::anyhow!("{path}: no such file, and no built-in graph ({})", names.join(", "))
}

/// The graph that was made for a built-in character, or one made from a character's clips.
fn own(of: &CharacterRef, asset: &CharacterAsset) -> Result<Compiled, GraphError> {
    let builtin = match of {
        CharacterRef::BuiltIn(name) => graph::builtin_for(name),
        CharacterRef::File(_) => None,
    };
    match builtin {
        Some((name, text)) => graph::compile(name, text),
        None => graph::compile(&asset.name, &starter(&asset.clips)),
    }
}

/// A graph file that plays these clips one after the other.
pub fn starter(clips: &[UniformClip]) -> String {
    graph::starter(&clips.iter().map(StarterClip::of).collect::<Vec<_>>())
}

/// A fault of binding, at the place of the file that names what is missing.
pub fn explained(error: &BindError, places: &Places) -> String {
    match error {
        BindError::Missing { what, name, known, .. } => {
            let place = match *what {
                "clip" => places.of_clip(name),
                _ => places.of_bone(name),
            };
            format!("{place}: no {what} `{name}`{known}")
        }
        BindError::Chain { upper, lower, .. } => {
            let place = places.of_limb(upper, lower);
            format!("{place}: `{lower}` does not hang below `{upper}` in the character's skeleton")
        }
        BindError::MarkerTimes { clip, error, .. } => {
            format!("{}: clip `{clip}`: {error}", places.of_clip(clip))
        }
        BindError::Markers { group, clips, .. } => {
            let [(a, of_a), (b, of_b)] = &**clips;
            format!(
                "{}: clips of the sync group `{group}` need the same sync markers in the same order; \
                 `{a}` has {of_a}, `{b}` has {of_b}; `sync_markers` says which are to hold",
                places.of_clip(b)
            )
        }
        other => other.to_string(),
    }
}

/// Puts a graph file's new program in the place of the old one whenever the file is saved.
#[derive(Debug)]
pub struct Reload {
    /// Each file, and whom it plays: everybody, or one kind.
    files: Vec<(Watch, Option<CharacterKind>)>,
    looked: Instant,
    replaced: bool,
}

/// What came of a file that was saved.
#[derive(Debug, PartialEq, Eq)]
pub enum Reloaded {
    /// Whoever plays the file plays the new program.
    Done(String),
    /// They go on playing the old one, and why.
    Kept(String),
}

/// How often the file is looked at.
pub(super) const LOOK: Duration = Duration::from_millis(200);

impl Reload {
    /// Watches the files of `--graph`. Runs that are recorded, or play a recording, keep the graphs
    /// that they began with.
    pub fn new(config: &RunConfig) -> Option<Self> {
        let everybodys = config.graph.len() == 1;
        let files = config.graph.iter().zip(0..).filter(|(path, _)| path.is_file());
        let files = files
            .map(|(path, kind)| (Watch::new(path), (!everybodys).then_some(CharacterKind(kind))));
        let files: Vec<_> = files.collect();
        let recorded = config.record.is_some() || config.replay.is_some();
        let watches = !recorded && !files.is_empty();
        watches.then(|| Self { files, looked: Instant::now(), replaced: false })
    }

    /// Whether a file was ever saved, so that this run is like no other.
    pub fn replaced(&self) -> bool {
        self.replaced
    }

    /// Between two ticks: looks at the files, if it is time to. Of several that were saved the others
    /// are found at the next look.
    pub fn look(&mut self, crowd: &mut Crowd, now: Instant) -> Option<Reloaded> {
        if now.saturating_duration_since(self.looked) < LOOK {
            return None;
        }
        self.looked = now;
        let (loaded, file, kind) = self.files.iter_mut().find_map(|(watch, kind)| {
            let loaded = watch.reload()?;
            Some((loaded, watch.path().display().to_string(), *kind))
        })?;
        let name = kind.and_then(|kind| crowd.kind_name(kind)).unwrap_or("everybody").to_owned();
        Some(match loaded.map_err(Error::from).and_then(|graph| replace(graph, kind, crowd)) {
            Ok(()) => {
                self.replaced = true;
                Reloaded::Done(format!("{file} was saved: {name} plays it now"))
            }
            Err(error) => {
                Reloaded::Kept(format!("{error:#}; {name} goes on with the last good graph"))
            }
        })
    }
}

/// Has a kind, or everybody, play another graph.
fn replace(
    compiled: Compiled,
    kind: Option<CharacterKind>,
    crowd: &mut Crowd,
) -> Result<(), Error> {
    let program = Arc::new(compiled.program);
    let players = crowd.kinds().filter(|id| kind.is_none_or(|kind| kind == *id));
    let all: Vec<_> = players.map(|kind| (kind, Arc::clone(&program))).collect();
    let places = std::slice::from_ref(&compiled.places);
    crowd.replace_graphs(&all).map_err(|error| Parts::explain(places, &[], error))?;
    compiled.warnings.iter().for_each(output::say);
    Ok(())
}
