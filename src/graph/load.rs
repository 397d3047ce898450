//! Graph files on disk: as people write them, or compiled.

use super::Program;
use super::compile::{Compiled, Places, Warning, compile};
use super::fault::ProgramError;
use super::file::{GraphError, text_of};
use super::wire::{DecodeError, MAGIC};
use crate::asset::open_file;
use std::io::{self, Read};
use std::path::Path;

/// Bytes of a compiled graph, at most: far more than the largest file compiles to.
const COMPILED: usize = 64 << 20;

/// Why a graph file gives no program.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// It can't be read.
    #[error("{file}: {error}")]
    Read {
        /// The file.
        file: String,
        /// The system's words.
        error: io::Error,
    },
    /// It can't be compiled.
    #[error(transparent)]
    Graph(#[from] GraphError),
    /// It is a compiled graph, of a newer build or damaged.
    #[error("{file}: {error}")]
    Decode {
        /// The file.
        file: String,
        /// What is wrong with its bytes.
        error: DecodeError,
    },
    /// It is a compiled graph that no compiler has made.
    #[error("{file}: {error}")]
    Program {
        /// The file.
        file: String,
        /// What is wrong with the program.
        error: Box<ProgramError>,
    },
}

/// What a graph file holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GraphFile {
    /// What somebody wrote.
    Text(String),
    /// What [`Program::to_bytes`] wrote.
    Compiled(Vec<u8>),
}

impl GraphFile {
    /// Reads a file; its first bytes tell which it is. No more than such a file may have is read.
    ///
    /// # Errors
    /// Of the file system; a file that is too long, or neither compiled nor UTF-8.
    pub fn read(path: &Path) -> io::Result<Self> {
        let mut file = open_file(path)?;
        let mut bytes = Vec::new();
        file.by_ref().take(MAGIC.len() as u64).read_to_end(&mut bytes)?;
        if bytes != MAGIC {
            return text_of(bytes, file).map(Self::Text);
        }
        file.take(COMPILED as u64).read_to_end(&mut bytes)?;
        if bytes.len() > COMPILED {
            let line = format!("more than a compiled graph may have ({COMPILED} bytes)");
            return Err(io::Error::new(io::ErrorKind::InvalidData, line));
        }
        Ok(Self::Compiled(bytes))
    }

    /// Its program; `name` is the file's, for messages. A graph that an older build compiled is one
    /// that shows the bind pose, and a warning.
    ///
    /// # Errors
    /// See [`LoadError`].
    pub fn program(&self, name: &str) -> Result<Compiled, LoadError> {
        match self {
            Self::Text(text) => Ok(compile(name, text)?),
            Self::Compiled(bytes) => compiled(name, bytes),
        }
    }
}

fn compiled(name: &str, bytes: &[u8]) -> Result<Compiled, LoadError> {
    let file = name.to_owned();
    let stem = Path::new(name).file_stem().map(|stem| stem.to_string_lossy());
    let (program, outdated) =
        Program::from_bytes_or_bind_pose(bytes, stem.as_deref().unwrap_or(name))
            .map_err(|error| LoadError::Decode { file: file.clone(), error })?;
    let program = program
        .validate()
        .map_err(|error| LoadError::Program { file: file.clone(), error: Box::new(error) })?;
    let warning = |line: String| Warning { file: file.clone(), place: None, line };
    let warnings = outdated.map(|outdated| warning(outdated.to_string())).into_iter().collect();
    Ok(Compiled { program, warnings, places: Places::of_file(name) })
}

/// Reads a graph file and compiles it, unless it is compiled.
///
/// # Errors
/// See [`LoadError`].
pub fn load(path: &Path) -> Result<Compiled, LoadError> {
    let file = path.display().to_string();
    match GraphFile::read(path) {
        Ok(graph) => graph.program(&file),
        Err(error) => Err(LoadError::Read { file, error }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::BUILTINS;
    use std::fs;

    #[test]
    fn a_compiled_file_gives_the_program_that_its_text_gives() {
        let dir = tempfile::tempdir().unwrap();
        for (name, text) in BUILTINS {
            let written = dir.path().join(name).with_extension("ron");
            let cooked = dir.path().join(name).with_extension("graph");
            fs::write(&written, text).unwrap();
            let from_text = load(&written).unwrap().program;
            fs::write(&cooked, from_text.get().to_bytes()).unwrap();
            let loaded = load(&cooked).unwrap();
            assert!(loaded.program.get() == from_text.get());
            assert_eq!(loaded.warnings, []);
            assert!(loaded.places.of_bone("head").ends_with(".graph"));
        }
    }

    #[test]
    fn an_older_one_shows_the_bind_pose_and_warns_and_a_newer_or_broken_one_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("walk.graph");
        let loaded = |bytes: &[u8]| {
            fs::write(&path, bytes).unwrap();
            load(&path)
        };
        let text = "(version: 1, nodes: {\"a\": Clip(clip: \"walk\")}, output: \"a\")";
        let bytes = compile("walk.ron", text).unwrap().program.get().to_bytes();
        let version = |version: u16| {
            let mut bytes = bytes.clone();
            bytes[4..6].copy_from_slice(&version.to_le_bytes());
            bytes
        };
        let old = loaded(&version(Program::VERSION - 1)).unwrap();
        assert!(*old.program.get() == Program::bind_pose("walk"));
        let said = old.warnings[0].to_string();
        assert!(said.contains("walk.graph: ") && said.contains("shows the bind pose"), "{said}");
        let said = |bytes: &[u8]| loaded(bytes).unwrap_err().to_string();
        assert!(said(&version(Program::VERSION + 1)).contains("walk.graph: this compiled graph"));
        assert!(said(&bytes[..bytes.len() - 1]).contains("a compiled graph of"));
        let mut damaged = bytes.clone();
        let last = damaged.len() - 1;
        damaged[last] ^= 1;
        assert!(said(&damaged).contains("damaged"));
        let mut unsound = compile("walk.ron", text).unwrap().program.into_inner();
        unsound.clips.clear();
        assert!(said(&unsound.to_bytes()).contains("there is no clip 0"));
        assert!(said(b"THRQ").contains("walk.graph:1:"), "no magic, so a text: {}", said(b"THRQ"));
        assert!(said(&[0xff; 9]).contains("walk.graph: "));
    }

    #[test]
    fn a_file_that_can_not_be_read_is_named() {
        let error = load(Path::new("no/such.ron")).unwrap_err().to_string();
        assert!(error.starts_with("no/such.ron: "), "{error}");
    }
}
