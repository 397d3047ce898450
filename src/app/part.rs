//! Files on their way: written beside their destination and put in its place when they are whole.
//!
//! Each is locked while it is written. So one that nobody has locked was left by a process that is
//! gone, and the next run that writes the same destination clears it away.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// What this process has begun and not finished.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

const ENDING: &str = ".part";

/// The path of a file that is being written. It is gone with this, unless it was finished.
#[derive(Debug)]
pub struct Part {
    path: PathBuf,
}

impl Part {
    /// Begins the file that will be `destination`.
    ///
    /// # Errors
    /// Of the file system.
    pub fn create(destination: &Path) -> io::Result<(Self, File)> {
        let mut name = destination.file_name().unwrap_or_default().to_owned();
        name.push(format!(".{}{ENDING}", std::process::id()));
        let path = destination.with_file_name(name);
        loop {
            let file = File::create(&path)?;
            // Where there are no locks nobody clears up either. Whoever does may have taken the
            // file before it was locked; then there has to be another one.
            if file.lock().is_err() || path.exists() {
                unfinished(|all| all.push(path.clone()));
                return Ok((Self { path }, file));
            }
        }
    }

    /// Puts the file in its place.
    ///
    /// # Errors
    /// Of the file system; the file is gone then.
    pub fn finish(self, destination: &Path) -> io::Result<()> {
        fs::rename(&self.path, destination)
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        // After it was finished there is none.
        let _ = fs::remove_file(&self.path);
        unfinished(|all| all.retain(|path| *path != self.path));
    }
}

fn unfinished<T>(with: impl FnOnce(&mut Vec<PathBuf>) -> T) -> T {
    with(&mut UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Removes what this process has begun and will not finish: it is about to end.
pub fn discard_unfinished() {
    unfinished(|all| {
        all.drain(..).for_each(|path| {
            let _ = fs::remove_file(path);
        });
    });
}

/// Removes what processes that are gone have left of `destination`. Gives what it removed.
pub fn clear_up(destination: &Path) -> Vec<PathBuf> {
    let folder = destination.parent().filter(|folder| !folder.as_os_str().is_empty());
    let Ok(entries) = fs::read_dir(folder.unwrap_or(Path::new("."))) else { return Vec::new() };
    let name = destination.file_name().unwrap_or_default().to_string_lossy();
    let is_part = |path: &PathBuf| {
        let of = path.file_name().map(|n| n.to_string_lossy()).unwrap_or_default();
        let id = of.strip_prefix(&*name).and_then(|rest| rest.strip_prefix('.'));
        let id = id.and_then(|rest| rest.strip_suffix(ENDING));
        id.is_some_and(|id| !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let paths = entries.flatten().map(|entry| destination.with_file_name(entry.file_name()));
    let paths = paths.filter(is_part);
    paths.filter(|path| remove_unlocked(path)).collect()
}

/// Removes a file that nobody is writing.
fn remove_unlocked(path: &Path) -> bool {
    let Ok(file) = OpenOptions::new().write(true).open(path) else { return false };
    file.try_lock().is_ok() && fs::remove_file(path).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_left_is_removed_and_what_somebody_writes_stays() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        for name in ["a.rec.1.part", "a.rec.part", "a.rec.x1.part", "b.rec.1.part", "a.rec.1"] {
            fs::write(at(name), "half").unwrap();
        }
        let (mine, file) = Part::create(&at("a.rec")).unwrap();
        assert_eq!(clear_up(&at("a.rec")), [at("a.rec.1.part")]);
        assert!(mine.path.exists() && fs::read_dir(dir.path()).unwrap().count() == 5);
        drop(file);
        let path = mine.path.clone();
        mine.finish(&at("a.rec")).unwrap();
        assert!(at("a.rec").exists() && !path.exists());
        unfinished(|all| assert!(!all.contains(&path)));
        assert!(clear_up(&dir.path().join("no/such/a.rec")).is_empty());
    }

    #[test]
    fn what_is_not_finished_is_gone() {
        let dir = tempfile::tempdir().unwrap();
        let (part, file) = Part::create(&dir.path().join("a.rec")).unwrap();
        drop((part, file));
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
    }
}
