//! From a graph file to a program.
//!
//! 1. `resolve` looks up every name and reads every expression; equal scalar terms become one, and
//!    what is known is computed (`scalars`).
//! 2. `kinds` tells poses from differences, `limits` what would be dear to run.
//! 3. `schedule` orders what the output depends on; the rest is dead.
//! 4. `emit` writes instructions; registers are taken back when they were read last (`lives`).
//! 5. The program is validated like any other.

mod checks;
mod emit;
mod emit_pose;
mod ir;
mod kinds;
mod limits;
mod lives;
mod machines;
mod nodes;
mod order;
mod places;
mod registers;
mod resolve;
mod scalars;
mod schedule;
mod spaces;
mod tables;
mod terms;
#[cfg(test)]
mod tests;
#[cfg(test)]
pub(super) use tests::EXAMPLE;

pub use places::Places;

use super::file::{self, FileFault, Graph, GraphError, Place, Source};
use super::validate::ValidProgram;
use ir::NodeId;
use schedule::{Insides, Item, Tangle};
use std::fmt;
use tables::Tables;

/// Something that is allowed and hardly meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// The file.
    pub file: String,
    /// Where in it.
    pub place: Option<Place>,
    /// What, in words.
    pub line: String,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        if let Some(place) = self.place {
            write!(f, ":{place}")?;
        }
        write!(f, ": {}", self.line)
    }
}

/// What the compiler makes of a file.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// The program.
    pub program: ValidProgram,
    /// What is hardly meant, in the order of the file.
    pub warnings: Vec<Warning>,
    /// Where the file names which clip and which bone.
    pub places: Places,
}

/// Compiles a graph file's text. `name` is the file's, for messages; the program gets its stem.
///
/// # Errors
/// The first thing that is wrong: [`GraphError`] says where, in which node, and what would be
/// right.
pub fn compile(name: &str, text: &str) -> Result<Compiled, GraphError> {
    let source = Source { name, text };
    let graph = file::read(&source)?;
    let (ir, mut warnings) = resolve::resolve(&source, &graph)?;
    let spaces = kinds::check(&source, &graph, &ir)?;
    let insides = Insides::new(&ir);
    limits::check(&source, &graph, &ir, &insides)?;
    let schedule = schedule::schedule(&ir, &insides).map_err(|t| tangle(&source, &graph, &t))?;
    let stem = std::path::Path::new(name).file_stem().map(|stem| stem.to_string_lossy());
    let tables = Tables::new(stem.as_deref().unwrap_or(name), &graph, &insides);
    let (program, unheard) = emit::emit(&ir, &schedule, &spaces, tables).map_err(|full| {
        let limit = emit::LIMIT;
        let fault = FileFault::TooMany { what: full.what, count: full.count, limit };
        GraphError::whole(&source, fault)
    })?;

    let warning = |name: &file::Text<'_>, line: String| Warning {
        file: source.name.into(),
        place: source.place_of(name.as_str()),
        line,
    };
    warnings.extend(unheard.notifies.into_iter().map(|at| {
        let clip = &graph.notifies.0[at].0;
        warning(clip, format!("no node plays the clip `{clip}`, so its notifies are never heard"))
    }));
    warnings.extend(unheard.markers.into_iter().map(|at| {
        let clip = &graph.sync_markers.0[at].0;
        warning(
            clip,
            format!("no node plays the clip `{clip}`, so its markers keep nobody in step"),
        )
    }));
    warnings.sort_by_key(|w| w.place);

    let places = Places::new(&source, &graph);
    let program = program.validate().map_err(|e| {
        let line =
            format!("this file compiles to a program that is not valid, a fault of ours: {e}");
        GraphError::whole(&source, FileFault::Meaning(line))
    })?;
    Ok(Compiled { program, warnings, places })
}

/// Conditions and clocks that wait for each other, in words.
fn tangle(source: &Source<'_>, graph: &Graph<'_>, tangle: &Tangle) -> GraphError {
    let name = |node: &NodeId| &graph.nodes.0[node.get()].0;
    let nodes = tangle.0.iter().filter_map(|item| match item {
        Item::Scalar(_) | Item::Pace(_) => None,
        Item::Advance(node) | Item::Select(node) | Item::Pose(node) => Some(node),
    });
    let mut path: Vec<String> = nodes.clone().map(|node| name(node).to_string()).collect();
    path.dedup();
    let listed = path.iter().map(|n| format!("`{n}`")).collect::<Vec<_>>().join(", ");
    let line = format!(
        "the transitions of a state machine ask for what runs only after they are decided ({listed}); \
         `after` and `at_end` ask for the evaluation before"
    );
    match nodes.clone().next() {
        Some(node) => GraphError::at(source, name(node).as_str(), FileFault::Meaning(line)),
        None => GraphError::whole(source, FileFault::Meaning(line)),
    }
}
