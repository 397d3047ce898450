//! A graph file that somebody edits while its graph is running.

use super::compile::Compiled;
use super::load::{LoadError, load};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Looks again and again whether a file was saved. Nothing is asked of the system but the file's
/// time and length, so that every file system and every way of saving will do.
#[derive(Clone, Debug)]
pub struct Watch {
    path: PathBuf,
    /// What was read last.
    read: Option<Stamp>,
    /// What was there at the last look, if it was not what was read.
    seen: Option<Stamp>,
}

type Stamp = (SystemTime, u64);

impl Watch {
    /// Watches a file from its present state on.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        let path = path.into();
        Self { read: stamp(&path), seen: None, path }
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether it was saved since it was read, and is at rest: the same at two looks, so that no
    /// half-written file is taken for a broken one. A file that is gone was not saved; many
    /// programs save by putting another one in its place. Says so once for each time it was saved.
    pub fn saved(&mut self) -> bool {
        let now = stamp(&self.path);
        if now.is_none() || now == self.read {
            self.seen = None;
            return false;
        }
        if now != self.seen {
            self.seen = now;
            return false;
        }
        (self.read, self.seen) = (now, None);
        true
    }

    /// The program of a file that was saved: what takes the place of the one before, or why the one
    /// before has to stay.
    pub fn reload(&mut self) -> Option<Result<Compiled, LoadError>> {
        self.saved().then(|| load(&self.path))
    }
}

fn stamp(path: &Path) -> Option<Stamp> {
    let metadata = std::fs::metadata(path).ok()?;
    Some((metadata.modified().ok()?, metadata.len()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    const GOOD: &str = "(version: 1, nodes: {\"a\": Bind}, output: \"a\")";

    /// Looks twice, as somebody does who looks often.
    fn looked(watch: &mut Watch) -> Option<Result<Compiled, LoadError>> {
        let first = watch.reload();
        assert!(first.is_none(), "a file that may still be written to");
        watch.reload()
    }

    #[test]
    fn a_saved_file_is_read_once_and_a_broken_one_says_why() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.ron");
        fs::write(&path, GOOD).unwrap();
        let mut watch = Watch::new(&path);
        assert!(looked(&mut watch).is_none(), "nothing has changed");
        fs::write(&path, GOOD.replace("Bind", "Clip(clip: \"idle\")")).unwrap();
        let compiled = looked(&mut watch).unwrap().unwrap();
        assert_eq!(compiled.program.get().clips, ["idle"]);
        assert!(looked(&mut watch).is_none(), "and only once");
        fs::write(&path, GOOD.replace("output: \"a\"", "output: \"none\"")).unwrap();
        let error = looked(&mut watch).unwrap().unwrap_err().to_string();
        assert!(error.ends_with(":1:43: output: no node `none`; there are: a"), "{error}");
        fs::write(&path, GOOD).unwrap();
        assert!(looked(&mut watch).unwrap().is_ok());
    }

    #[test]
    fn a_file_that_another_takes_the_place_of_is_read_and_one_that_is_gone_is_not() {
        let dir = tempfile::tempdir().unwrap();
        let (path, other) = (dir.path().join("a.ron"), dir.path().join("b.ron"));
        fs::write(&path, GOOD).unwrap();
        let mut watch = Watch::new(&path);
        fs::remove_file(&path).unwrap();
        assert!(looked(&mut watch).is_none() && looked(&mut watch).is_none());
        fs::write(&other, format!("{GOOD}\n")).unwrap();
        fs::rename(&other, &path).unwrap();
        assert!(looked(&mut watch).unwrap().is_ok());
        assert_eq!(watch.path(), path);
    }

    #[test]
    fn a_file_that_grows_while_it_is_written_is_waited_for() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.ron");
        fs::write(&path, GOOD).unwrap();
        let mut watch = Watch::new(&path);
        for length in [10, 20, 30] {
            fs::write(&path, &GOOD[..length]).unwrap();
            assert!(watch.reload().is_none(), "{length}");
        }
        fs::write(&path, GOOD.to_owned() + " ").unwrap();
        assert!(looked(&mut watch).unwrap().is_ok());
    }
}
