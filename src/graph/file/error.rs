//! What can be wrong with a graph file: where, in which node, what, and what would be right.

use super::near::Known;
use super::source::{Place, Source};
use std::fmt;

/// A fault of a graph file, on one line: file, line, column, node, fault.
#[derive(Clone, Debug, PartialEq)]
pub struct GraphError {
    /// The file.
    pub file: String,
    /// Where in it.
    pub place: Option<Place>,
    /// In which of its parts, like "node `walk`".
    pub part: Option<String>,
    /// What is wrong.
    pub fault: Box<FileFault>,
}

impl std::error::Error for GraphError {}

impl fmt::Display for GraphError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        if let Some(place) = self.place {
            write!(f, ":{place}")?;
        }
        if let Some(part) = &self.part {
            write!(f, ": {part}")?;
        }
        write!(f, ": {}", self.fault)
    }
}

impl GraphError {
    /// A fault of a source as a whole.
    pub fn whole(source: &Source<'_>, fault: FileFault) -> Self {
        Self { file: source.name.into(), place: None, part: None, fault: Box::new(fault) }
    }

    /// A fault at a string that was borrowed from the source.
    pub fn at(source: &Source<'_>, at: &str, fault: FileFault) -> Self {
        Self { place: source.place_of(at), ..Self::whole(source, fault) }
    }

    /// The same fault, in a part of the file. A part that was named before is the nearer one.
    #[must_use]
    pub fn within(self, part: impl FnOnce() -> String) -> Self {
        let part = self.part.or_else(|| Some(part()));
        Self { part, ..self }
    }

    /// The same fault, at a string of the source where no place is known yet.
    #[must_use]
    pub fn near(self, source: &Source<'_>, at: &str) -> Self {
        let place = self.place.or_else(|| source.place_of(at));
        Self { place, ..self }
    }
}

/// What is wrong.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum FileFault {
    /// Not RON, or not what a graph file says.
    #[error("{0}")]
    Syntax(String),
    /// A file over the limit.
    #[error("{bytes} bytes are more than a graph file may have ({limit})")]
    Size {
        /// Its length.
        bytes: usize,
        /// The limit.
        limit: usize,
    },
    /// A file of another version of the format.
    #[error("written for version {found} of the format; this program reads version {reads}")]
    Version {
        /// The file's.
        found: u32,
        /// What would be right.
        reads: u32,
    },
    /// A name that stands for nothing.
    #[error("no {what} `{name}`{known}")]
    Unknown {
        /// What should have had the name.
        what: &'static str,
        /// The name.
        name: String,
        /// What there is.
        known: Known,
    },
    /// An expression that can't be read.
    #[error("in \"{expression}\": {message}")]
    Expression {
        /// As written.
        expression: String,
        /// What is wrong with it.
        message: String,
    },
    /// More of something than a graph may have.
    #[error("{count} {what} are more than there may be ({limit})")]
    TooMany {
        /// Of what.
        what: &'static str,
        /// How many there are.
        count: usize,
        /// The limit.
        limit: usize,
    },
    /// Nodes that need each other.
    #[error("a cycle: {}", path.iter().map(|n| format!("`{n}`")).collect::<Vec<_>>().join(" needs "))]
    Cycle {
        /// From a node through those it needs back to itself.
        path: Vec<String>,
    },
    /// Something that does not make sense, in words.
    #[error("{0}")]
    Meaning(String),
}
