//! Which graph plays a character.

use super::cli::{CharacterRef, PlaybackArg, RunConfig};
use super::exit::Failure;
use super::output;
use crate::asset::CharacterAsset;
use crate::crowd::Playing;
use crate::graph::{self, Compiled, StarterClip};
use anyhow::Error;
use std::sync::Arc;

/// What plays a character: the file of `--graph` if there is one, else what `--playback` says.
///
/// # Errors
/// A graph file that can't be read or compiled.
pub fn of(
    config: &RunConfig,
    of: &CharacterRef,
    asset: &CharacterAsset,
) -> Result<Playing, Failure> {
    let compiled = match (&config.graph, config.playback) {
        (Some(path), _) => graph::load(path).map_err(Error::from)?,
        (None, PlaybackArg::Simple) => return Ok(Playing::Simple),
        (None, PlaybackArg::Graph) => own(of, asset).map_err(Error::from)?,
    };
    for warning in &compiled.warnings {
        output::say(warning);
    }
    Ok(Playing::Graph(Arc::new(compiled.program)))
}

/// The graph that was made for a built-in character, or one made from a character's clips.
fn own(of: &CharacterRef, asset: &CharacterAsset) -> Result<Compiled, graph::GraphError> {
    let builtin = match of {
        CharacterRef::BuiltIn(name) => graph::builtin_for(name),
        CharacterRef::File(_) => None,
    };
    if let Some((name, text)) = builtin {
        return graph::compile(name, text);
    }
    let clips: Vec<_> = asset.clips.iter().map(StarterClip::of).collect();
    graph::compile(&asset.name, &graph::starter(&clips))
}
