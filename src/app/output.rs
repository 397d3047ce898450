//! What the program prints, and the files it writes: whole or not at all.

use super::part::{self, Part};
use anyhow::{Context, Result, bail};
use std::borrow::Cow;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// Text as a terminal may show it: what steers one, or turns the direction of writing, is written
/// out as `\u001b`, which is right inside of JSON too. Line ends and tabs stay.
fn printable(text: &str) -> Cow<'_, str> {
    let steers = |c: char| {
        (c.is_control() && !matches!(c, '\n' | '\t'))
            || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    if !text.contains(steers) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if steers(c) {
            // Writing to a string does not fail.
            let _ = write!(shown, "\\u{:04x}", u32::from(c));
        } else {
            shown.push(c);
        }
    }
    Cow::Owned(shown)
}

/// Prints `text` on standard output, what is in it from files made safe to show. A reader that went away (`throng adapters | head -1`) is no
/// fault.
///
/// # Errors
/// Of the system, when what was printed can't be kept: a full disk, for example.
pub fn print(text: &str) -> Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(printable(text).as_bytes()).and_then(|()| out.flush()) {
        Err(e) if e.kind() != io::ErrorKind::BrokenPipe => Err(e).context("standard output"),
        _ => Ok(()),
    }
}

/// Says one line about the run on standard error. Nobody can be told that nobody listens there.
pub fn say(line: impl std::fmt::Display) {
    let line = line.to_string().replace('\n', "\\n");
    let _ = writeln!(io::stderr(), "throng: {}", printable(&line));
}

/// Puts lines on standard error.
pub fn log(lines: &str) {
    let _ = io::stderr().write_all(printable(lines).as_bytes());
}

/// Fails when `path` can't be written: its folder does not exist or is closed, or it is a folder.
///
/// # Errors
/// Names the option and the folder, so that a long run does not end in a surprise.
pub fn check_file(option: &str, path: &Path) -> Result<()> {
    let folder = folder_of(path);
    if !folder.is_dir() {
        bail!("{option} {}: there is no folder {}", path.display(), folder.display());
    }
    if path.is_dir() || !ends_with_a_name(path) {
        bail!("{option} {}: this is a folder, a file name is needed", path.display());
    }
    let path = destination(path).with_context(|| option.to_owned())?;
    for left in part::clear_up(&path) {
        say(format_args!("removed {}, which a run that was killed had left", left.display()));
    }
    // A folder that can't be written to is found out now and not after the work.
    Part::create(&path).with_context(|| format!("{option} {}: cannot write it", path.display()))?;
    Ok(())
}

/// False for `name/`, which can only be a folder, and for what ends in dots.
fn ends_with_a_name(path: &Path) -> bool {
    let bytes = path.as_os_str().as_encoded_bytes();
    path.file_name().is_some_and(|name| bytes.ends_with(name.as_encoded_bytes()))
}

/// Makes the folder if only its last part is missing.
///
/// # Errors
/// When its parent does not exist, when a file is in the way, or when it can't be made.
pub fn check_folder(option: &str, path: &Path) -> Result<()> {
    if path.is_dir() {
        return Ok(());
    }
    if path.exists() {
        bail!("{option} {}: this is a file, a folder is needed", path.display());
    }
    fs::create_dir(path).with_context(|| format!("{option} {}: cannot make it", path.display()))
}

/// Writes a file by way of a temporary one beside it, so that `path` is never half-written.
///
/// # Errors
/// Of the file system or of `write`; the temporary file is gone then.
pub fn write_whole(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> Result<()>,
) -> Result<()> {
    let path = &destination(path)?;
    let begun = Part::create(path).map_err(anyhow::Error::from);
    let result = begun.and_then(|(part, file)| {
        let mut writer = BufWriter::new(file);
        write(&mut writer)?;
        writer.flush()?;
        // Locked until it is in its place, so that nobody clears it away.
        part.finish(path)?;
        Ok(())
    });
    result.with_context(|| format!("cannot write {}", path.display()))
}

/// Writes an 8-bit RGBA picture as PNG, whole or not at all.
///
/// # Errors
/// Of the file system.
pub fn write_png(path: &Path, image: &crate::asset::ImageRgba8) -> Result<()> {
    use image::ImageEncoder;
    write_whole(path, |file| {
        let color = image::ExtendedColorType::Rgba8;
        image::codecs::png::PngEncoder::new(file).write_image(
            &image.pixels,
            image.width,
            image.height,
            color,
        )?;
        Ok(())
    })
}

/// The file that `path` means: where a link leads. Devices and pipes are refused: a file that
/// appears whole takes the place of what stands there.
fn destination(path: &Path) -> Result<PathBuf> {
    match fs::symlink_metadata(path) {
        Err(_) => Ok(path.to_owned()),
        Ok(_) => {
            let file = fs::canonicalize(path)
                .with_context(|| format!("{}: this link leads to nothing", path.display()))?;
            match file.is_file() {
                true => Ok(file),
                false => bail!("{}: this is there and no file", path.display()),
            }
        }
    }
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(p) if !p.as_os_str().is_empty() => p,
        _ => Path::new("."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_from_a_file_steers_a_terminal() {
        let clean = "a table\twith\nlines, höhe, 足";
        assert!(matches!(printable(clean), Cow::Borrowed(text) if text == clean));
        let shown = printable("\u{1b}[2J \r \u{9b}2J \u{7f} \u{0} \u{202e}txet");
        assert_eq!(shown, r"\u001b[2J \u000d \u009b2J \u007f \u0000 \u202etxet");
        let json = serde_json::to_string("\u{9b}2J\u{202e}").unwrap();
        let back: String = serde_json::from_str(&printable(&json)).unwrap();
        assert_eq!(back, "\u{9b}2J\u{202e}");
    }

    #[test]
    fn a_failed_write_leaves_the_old_file_and_nothing_else() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.txt");
        write_whole(&path, |f| Ok(f.write_all(b"old")?)).unwrap();
        let failed = write_whole(&path, |f| {
            f.write_all(b"new")?;
            bail!("disk full")
        });
        let message = format!("{:#}", failed.unwrap_err());
        assert!(message.contains("a.txt") && message.contains("disk full"), "{message}");
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
        write_whole(&path, |f| Ok(f.write_all(b"new")?)).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
    }

    #[cfg(unix)]
    #[test]
    fn links_are_followed_and_what_is_no_file_is_left_alone() {
        use std::os::unix::fs::{FileTypeExt, symlink};
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        fs::write(at("real"), "old").unwrap();
        symlink(at("real"), at("link")).unwrap();
        check_file("--report", &at("link")).unwrap();
        write_whole(&at("link"), |f| Ok(f.write_all(b"new")?)).unwrap();
        assert_eq!(fs::read(at("real")).unwrap(), b"new");
        assert!(fs::symlink_metadata(at("link")).unwrap().is_symlink());

        symlink(at("nothing"), at("dangling")).unwrap();
        let socket = std::os::unix::net::UnixListener::bind(at("socket")).unwrap();
        for name in ["dangling", "socket"] {
            let e = format!("{:#}", check_file("--report", &at(name)).unwrap_err());
            assert!(e.contains("--report") && e.contains(name), "{e}");
            assert!(write_whole(&at(name), |_| Ok(())).is_err(), "{name}");
        }
        assert!(fs::symlink_metadata(at("socket")).unwrap().file_type().is_socket());
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 4);
        drop(socket);
    }

    #[test]
    fn missing_folders_are_named() {
        let dir = tempfile::tempdir().unwrap();
        let missing = dir.path().join("no/such");
        let e = check_file("--report", &missing.join("a.json")).unwrap_err().to_string();
        assert!(e.contains("--report") && e.contains("no/such"), "{e}");
        assert!(check_folder("--frames-out", &missing.join("deep")).is_err());
        assert!(check_file("--report", dir.path()).is_err());
        for folder in ["new/", "new/.", "new/..", "..", "./"] {
            let path = PathBuf::from(format!("{}/{folder}", dir.path().display()));
            let e = check_file("--record", &path).unwrap_err().to_string();
            assert!(e.contains("folder"), "{folder}: {e}");
        }
        assert!(check_file("--report", Path::new("a.json")).is_ok());
        check_folder("--frames-out", &dir.path().join("new")).unwrap();
        assert!(dir.path().join("new").is_dir());
    }

    #[test]
    fn a_picture_comes_back_as_it_was() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.png");
        let pixels = vec![255, 0, 0, 255, 1, 2, 3, 255];
        let image = crate::asset::ImageRgba8 { name: String::new(), width: 2, height: 1, pixels };
        write_png(&path, &image).unwrap();
        let back = image::open(&path).unwrap().to_rgba8();
        assert_eq!((back.width(), back.height(), back.into_raw()), (2, 1, image.pixels));
    }
}
