//! Opening what somebody named, where only a file will do.

use std::fs::{self, File};
use std::io::{Error, ErrorKind, Read, Result};
use std::path::Path;

/// Opens a file for reading.
///
/// # Errors
/// Of the file system, and for whatever is no file: to open a pipe waits until somebody writes into
/// it, and a device may never end.
pub fn open_file(path: &Path) -> Result<File> {
    let kind = fs::metadata(path)?;
    if kind.is_file() {
        return File::open(path);
    }
    let what = if kind.is_dir() { "a folder" } else { "a device" };
    Err(Error::new(ErrorKind::InvalidInput, format!("this is {what}, not a file")))
}

/// Reads a file of UTF-8 text that may have `most` bytes.
///
/// # Errors
/// Those of [`open_file`]; a file that is longer, or no text.
pub fn read_text(path: &Path, most: usize) -> Result<String> {
    let mut bytes = Vec::new();
    open_file(path)?.take(most as u64 + 1).read_to_end(&mut bytes)?;
    let invalid = |line: String| Error::new(ErrorKind::InvalidData, line);
    if bytes.len() > most {
        return Err(invalid(format!("more than {most} bytes")));
    }
    String::from_utf8(bytes).map_err(|fault| invalid(fault.utf8_error().to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_read_up_to_their_limit_and_nothing_else_is() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a");
        fs::write(&path, "abcd").unwrap();
        assert_eq!(read_text(&path, 4).unwrap(), "abcd");
        assert_eq!(read_text(&path, 3).unwrap_err().to_string(), "more than 3 bytes");
        fs::write(&path, [0xff, 0xfe]).unwrap();
        assert!(read_text(&path, 4).is_err());
        let folder = read_text(dir.path(), 4).unwrap_err();
        assert_eq!(folder.to_string(), "this is a folder, not a file");
    }

    #[cfg(unix)]
    #[test]
    fn a_pipe_that_nobody_writes_into_is_no_file() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&path).status().unwrap();
        assert!(made.success());
        assert_eq!(open_file(&path).unwrap_err().to_string(), "this is a device, not a file");
        assert!(open_file(Path::new("/dev/zero")).is_err());
    }
}
