//! Graph files: RON as people write it, read so that every name knows its place.
//!
//! Reading happens twice over: the file as a whole, whose nodes stay unread, and then node by node,
//! so that whatever is wrong inside a node can say which.

mod error;
mod limits;
mod names;
mod near;
mod node;
mod schema;
mod source;
#[cfg(test)]
mod tests;

pub use error::{FileFault, GraphError};
pub use near::Known;
pub use source::{Place, Source};

pub(super) use limits::{DEPTH, NUMBER, POINTS, TERMS};
pub(super) use names::{Names, Scalar, Seconds, Share, Table, Text};
pub(super) use node::{Node, Vector};
pub(super) use schema::{
    BoneFrame, Change, Graph, Marker, MaskLine, Mode, Notify, OnEntry, Parameter, Passage, RootUse,
    Space, State, Transition,
};

use ron::Options;
use ron::error::{Position, SpannedError};
use ron::extensions::Extensions;
use ron::value::RawValue;
use schema::RootMotion;
use serde::Deserialize;
use std::io::Read;

/// The version of the format that this program reads.
pub const FORMAT: u32 = 1;

/// The file with its nodes unread.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename = "Graph")]
struct Outline<'a> {
    version: u32,
    #[serde(borrow, default)]
    parameters: Table<'a, Parameter<'a>>,
    #[serde(default)]
    values: Table<'a, Scalar<'a>>,
    #[serde(default)]
    masks: Table<'a, Vec<MaskLine<'a>>>,
    #[serde(default)]
    sync_groups: Option<Names<'a>>,
    #[serde(default)]
    sync_speeds: Table<'a, Scalar<'a>>,
    #[serde(default)]
    notifies: Table<'a, Vec<Notify<'a>>>,
    #[serde(default)]
    sync_markers: Table<'a, Vec<Marker<'a>>>,
    nodes: Table<'a, &'a RawValue>,
    output: Text<'a>,
    #[serde(default)]
    root_motion: RootMotion<'a>,
}

/// A graph file's text: its first bytes, and the rest from a reader. No more than a graph file may
/// have is read.
///
/// # Errors
/// Of the file system; a file that is too long or not UTF-8.
pub(super) fn text_of(first: Vec<u8>, rest: impl Read) -> std::io::Result<String> {
    let invalid = |line: String| std::io::Error::new(std::io::ErrorKind::InvalidData, line);
    let mut bytes = first;
    rest.take(limits::FILE as u64).read_to_end(&mut bytes)?;
    if bytes.len() > limits::FILE {
        let line = format!("more than a graph file may have ({} bytes)", limits::FILE);
        return Err(invalid(line));
    }
    String::from_utf8(bytes).map_err(|_| invalid("this is no text (UTF-8)".into()))
}

/// Reads a graph file's text; what its names stand for is not looked at yet.
///
/// # Errors
/// The first place where the text is not RON or not what a graph file says.
pub(super) fn read<'a>(source: &Source<'a>) -> Result<Graph<'a>, GraphError> {
    let (bytes, limit) = (source.text.len(), limits::FILE);
    if bytes > limit {
        return Err(GraphError::whole(source, FileFault::Size { bytes, limit }));
    }
    let options = options();
    let outline: Outline<'a> =
        options.from_str(source.text).map_err(|e| syntax(source, source.text, &e))?;
    let (found, reads) = (outline.version, FORMAT);
    if found != reads {
        return Err(GraphError::whole(source, FileFault::Version { found, reads }));
    }
    let mut nodes = Table::default();
    for (name, raw) in outline.nodes.0 {
        let text = raw.get_ron();
        let node: Node<'a> = options
            .from_str(text)
            .map_err(|e| syntax(source, text, &e).within(|| format!("node `{name}`")))?;
        nodes.insert(name, node);
    }
    Ok(Graph {
        parameters: outline.parameters,
        values: outline.values,
        masks: outline.masks,
        sync_groups: outline.sync_groups.map_or_else(Vec::new, |names| names.0),
        sync_speeds: outline.sync_speeds,
        notifies: outline.notifies,
        sync_markers: outline.sync_markers,
        nodes,
        output: outline.output,
        root_motion: outline.root_motion,
    })
}

fn options() -> Options {
    let extensions = Extensions::IMPLICIT_SOME | Extensions::UNWRAP_VARIANT_NEWTYPES;
    Options::default().with_default_extension(extensions).with_recursion_limit(limits::DEPTH)
}

/// What RON has to say about a part of the source, in the source's own lines.
fn syntax(source: &Source<'_>, part: &str, error: &SpannedError) -> GraphError {
    let place = source.offset_of(part).map(|offset| {
        let start = source.place_at(offset);
        let Position { line, col } = error.span.start;
        let (line, column) = (line.max(1) as u32, col.max(1) as u32);
        match line {
            1 => Place { line: start.line, column: start.column + column - 1 },
            _ => Place { line: start.line + line - 1, column },
        }
    });
    let line = match &error.code {
        ron::Error::TrailingCharacters if part.trim_start().starts_with("Bind") => {
            "`Bind` has nothing to say in brackets; it stands without them".into()
        }
        code => explained(code),
    };
    let fault = FileFault::Syntax(line);
    GraphError { place, ..GraphError::whole(source, fault) }
}

/// The parser's words, with what would have been right where there are few possibilities.
fn explained(error: &ron::Error) -> String {
    use ron::Error as E;
    let of =
        |outer: &Option<String>| outer.as_ref().map_or(String::new(), |o| format!(" of `{o}`"));
    match error {
        E::NoSuchStructField { expected, found, outer } => {
            format!(
                "no field `{found}`{}{}",
                of(outer),
                Known::new(found, expected.iter().copied())
            )
        }
        E::NoSuchEnumVariant { expected, found, .. } => {
            format!("no `{found}`{}", Known::new(found, expected.iter().copied()))
        }
        E::MissingStructField { field, outer } => {
            format!("the field `{field}`{} is missing", of(outer))
        }
        E::DuplicateStructField { field, outer } => {
            format!("the field `{field}`{} is there twice", of(outer))
        }
        E::ExpectedFloat | E::ExpectedInteger => "a number should stand here".into(),
        E::TrailingCharacters => "there is something behind the end of this".into(),
        E::ExceededRecursionLimit => format!("nested more than {} deep", limits::DEPTH),
        E::Message(message) => message.clone(),
        other => {
            let message = other.to_string();
            let mut chars = message.chars();
            let first = chars.next().map(|c| c.to_lowercase().to_string());
            first.unwrap_or_default() + chars.as_str()
        }
    }
}
