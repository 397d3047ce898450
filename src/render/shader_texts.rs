//! Shaders that are read from a folder while the program runs.

use super::shaders::{self, Shader};
use crate::asset::read_text;
use naga::valid::{Capabilities, ValidationFlags, Validator};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Bytes that a file may have, at most.
const MOST: usize = 1 << 20;

/// The text of every module, put together from the files of a folder that is laid out as shaders/.
#[derive(Clone, Debug)]
pub struct ShaderTexts {
    /// In the order of [`shaders::ALL`].
    modules: Vec<String>,
}

/// Why a folder's shaders can't be used.
#[derive(Debug, thiserror::Error)]
pub enum ShaderFault {
    /// A file that can't be read.
    #[error("{}: {reason}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        reason: std::io::Error,
    },
    /// A file that is not what it should be.
    #[error("{}:{line}:{column}: {reason}", path.display())]
    Wrong {
        /// The file.
        path: PathBuf,
        /// From 1.
        line: usize,
        /// From 1, bytes.
        column: usize,
        /// What is wrong.
        reason: String,
    },
    /// A module without something that is called from outside.
    #[error("{}: no entry point `{name}`", path.display())]
    EntryPoint {
        /// The module's own file.
        path: PathBuf,
        /// What is missing.
        name: String,
    },
}

/// A module that is being put together, and where its parts are in it.
struct Assembly<'a> {
    folder: &'a Path,
    parts: &'static [&'static str],
    text: String,
    /// Byte at which each part begins.
    starts: Vec<usize>,
}

impl ShaderTexts {
    /// Reads and checks all of a folder's modules.
    ///
    /// # Errors
    /// [`ShaderFault`] for the first file that is missing or wrong.
    pub fn read(folder: &Path) -> Result<Self, ShaderFault> {
        let module = |shader: &Shader| {
            let assembly = Assembly::read(folder, shader)?;
            assembly.check(shader)?;
            Ok(assembly.text)
        };
        Ok(Self { modules: shaders::ALL.iter().map(module).collect::<Result<_, _>>()? })
    }

    /// Every file that a folder must have.
    pub fn files(folder: &Path) -> Vec<PathBuf> {
        let parts: BTreeSet<_> = shaders::ALL.iter().flat_map(|shader| shader.parts).collect();
        parts.into_iter().map(|part| file(folder, part)).collect()
    }

    pub(super) fn of(&self, shader: Shader) -> Option<&str> {
        let at = shaders::ALL.iter().position(|other| other.name == shader.name)?;
        self.modules.get(at).map(String::as_str)
    }
}

fn file(folder: &Path, part: &str) -> PathBuf {
    folder.join(format!("{part}.wgsl"))
}

impl<'a> Assembly<'a> {
    fn read(folder: &'a Path, shader: &Shader) -> Result<Self, ShaderFault> {
        let (mut text, mut starts) = (String::new(), Vec::new());
        for part in shader.parts {
            let path = file(folder, part);
            starts.push(text.len());
            text += &read_text(&path, MOST).map_err(|reason| ShaderFault::Read { path, reason })?;
            text.push('\n');
        }
        Ok(Self { folder, parts: shader.parts, text, starts })
    }

    /// As wgpu will, and that what is called by name is still there.
    fn check(&self, shader: &Shader) -> Result<(), ShaderFault> {
        let module = naga::front::wgsl::parse_str(&self.text).map_err(|error| {
            let at = error.location(&self.text).map_or(0, |at| at.offset);
            self.wrong(at as usize, error.message().to_owned())
        })?;
        let mut validator = Validator::new(ValidationFlags::all(), Capabilities::default());
        validator.validate(&module).map_err(|error| {
            let at = error.location(&self.text).map_or(0, |at| at.offset);
            self.wrong(at as usize, chain(error.as_inner()))
        })?;
        let names = |text: &str| {
            let module = naga::front::wgsl::parse_str(text).ok();
            let points = module.into_iter().flat_map(|module| module.entry_points);
            points.map(|point| (point.name, point.stage)).collect::<Vec<_>>()
        };
        let there = names(&self.text);
        match names(shader.source).into_iter().find(|wanted| !there.contains(wanted)) {
            None => Ok(()),
            Some((name, _)) => {
                Err(ShaderFault::EntryPoint { path: file(self.folder, shader.name), name })
            }
        }
    }

    fn wrong(&self, offset: usize, reason: String) -> ShaderFault {
        let part = self.starts.partition_point(|start| *start <= offset).saturating_sub(1);
        let start = self.starts[part];
        let before = self.text.get(start..offset).unwrap_or_default();
        let column = before.len() - before.rfind('\n').map_or(0, |end| end + 1) + 1;
        ShaderFault::Wrong {
            path: file(self.folder, self.parts[part]),
            line: before.matches('\n').count() + 1,
            column,
            reason,
        }
    }
}

/// An error with its causes, in one line.
fn chain(error: &dyn std::error::Error) -> String {
    let mut line = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        // Writing into a string can't fail.
        let _ = write!(line, ": {error}");
        cause = error.source();
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    /// A copy of the program's own folder, with one text in one file replaced by another.
    fn copy(part: &str, [from, to]: [&str; 2]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("lib")).unwrap();
        let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("shaders");
        for path in ShaderTexts::files(&own) {
            let mut text = fs::read_to_string(&path).unwrap();
            let name = path.strip_prefix(&own).unwrap();
            if name == Path::new(part) {
                assert!(text.contains(from));
                text = text.replacen(from, to, 1);
            }
            fs::write(dir.path().join(name), text).unwrap();
        }
        dir
    }

    #[test]
    fn the_programs_own_folder_gives_the_programs_own_modules() {
        let texts = ShaderTexts::read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("shaders"));
        let texts = texts.unwrap();
        for shader in shaders::ALL {
            assert_eq!(texts.of(shader), Some(shader.source), "{}", shader.name);
        }
    }

    #[test]
    fn a_fault_is_told_at_its_place_in_its_file() {
        for (part, from, to, end) in [
            // In a part behind others, and in the first.
            ("sky.wgsl", "(radiance, in.clip", "(radiance in.clip", None),
            ("lib/frame.wgsl", "haze_distance: f32,", "haze_distance: what,", None),
            // Types that don't fit are found after the grammar.
            ("lib/light.wgsl", "let d = distance /", "let d: f32 = way /", None),
            ("line.wgsl", "fn fs_main", "fn fs_other", Some("line.wgsl: no entry point `fs_main`")),
        ] {
            let dir = copy(part, [from, to]);
            let path = dir.path().join(part);
            let fault = ShaderTexts::read(dir.path()).map(|_| ()).unwrap_err().to_string();
            match end {
                Some(end) => assert!(fault.ends_with(end), "{fault}"),
                None => {
                    let text = fs::read_to_string(&path).unwrap();
                    let line = text[..text.find(to).unwrap()].matches('\n').count() + 1;
                    let start = format!("{}:{line}:", path.display());
                    assert!(fault.starts_with(&start), "{fault} is not at {start}");
                    assert!(!fault.contains('\n'), "{fault}");
                }
            }
        }
        let dir = copy("sky.wgsl", ["fn", "fn"]);
        fs::remove_file(dir.path().join("sky.wgsl")).unwrap();
        let fault = ShaderTexts::read(dir.path()).map(|_| ()).unwrap_err().to_string();
        assert!(fault.contains("sky.wgsl: "), "{fault}");
    }
}
