//! The test files that several checkouts share.

use std::path::{Path, PathBuf};

/// The folder of shared test files, or `None` (with a note) when it isn't there.
pub fn shared(folder: &str) -> Option<PathBuf> {
    let root = match std::env::var_os("THRONG_SHARED") {
        Some(path) => PathBuf::from(path),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared"),
    };
    let path = root.join(folder);
    if path.is_dir() {
        return Some(path);
    }
    eprintln!("skipped: {} is not there", path.display());
    None
}
