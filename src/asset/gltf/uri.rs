//! Bytes behind a URI: data URIs, and files in the folder of the glTF file.

use super::limits::Budget;
use crate::asset::error::{Fault, UriFault, quoted};
use base64::Engine;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use percent_encoding::percent_decode_str;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Component, Path, PathBuf};

/// Exporters disagree on padding; the bytes are the same.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true),
);

/// Where relative URIs are looked up.
#[derive(Clone, Copy, Debug)]
pub(super) enum Folder<'a> {
    /// The folder that holds the glTF file.
    At(&'a Path),
    /// The file came from memory: there is nothing beside it.
    Nowhere,
}

/// Reads what a URI stands for, but no more than `most` bytes of it.
///
/// A second result tells how many bytes there were, so that a short buffer can be told from a
/// long one. `object` names who refers to it.
pub(super) fn read(
    uri: &str,
    folder: Folder,
    most: u64,
    budget: &Budget,
    object: &dyn Fn() -> String,
) -> Result<(Vec<u8>, u64), Fault> {
    let fail = |problem| Fault::Uri { object: object(), problem };
    if let Some(data) = strip_scheme(uri, "data") {
        // Three bytes from four characters; percent-encoding only gets shorter.
        budget.take_input(data.len() as u128, object)?;
        let mut bytes = decode_data(data).map_err(fail)?;
        let length = bytes.len() as u64;
        bytes.truncate(usize::try_from(most).unwrap_or(usize::MAX));
        return Ok((bytes, length));
    }
    let path = find(uri, folder).map_err(fail)?;
    let io = |error| Fault::Uri {
        object: object(),
        problem: UriFault::Io { path: path.clone(), error },
    };
    let length = fs::metadata(&path).map_err(io)?.len();
    let wanted = length.min(most);
    budget.take_input(wanted.into(), object)?;
    let mut bytes = Vec::new();
    File::open(&path).map_err(io)?.take(wanted).read_to_end(&mut bytes).map_err(io)?;
    // The file may have changed in between.
    let length = if (bytes.len() as u64) < wanted { bytes.len() as u64 } else { length };
    Ok((bytes, length))
}

/// The part after `scheme:`, which is written in any case.
fn strip_scheme<'a>(uri: &'a str, scheme: &str) -> Option<&'a str> {
    let (start, rest) = uri.split_once(':')?;
    start.trim_start().eq_ignore_ascii_case(scheme).then_some(rest)
}

/// Decodes the part of a data URI after `data:` (RFC 2397). The media type is not looked at:
/// exporters write anything there, and the bytes tell what they are.
fn decode_data(data: &str) -> Result<Vec<u8>, UriFault> {
    let (head, body) = data.split_once(',').ok_or(UriFault::NoComma)?;
    let is_base64 =
        head.rsplit(';').next().is_some_and(|last| last.trim().eq_ignore_ascii_case("base64"));
    if !is_base64 {
        return Ok(percent_decode_str(body).collect());
    }
    // Padding may be percent-encoded, and line breaks occur.
    let plain = body.bytes().all(|b| b != b'%' && !b.is_ascii_whitespace());
    let decoded = if plain {
        BASE64.decode(body)
    } else {
        let text: Vec<u8> =
            percent_decode_str(body).filter(|byte| !byte.is_ascii_whitespace()).collect();
        BASE64.decode(text)
    };
    decoded.map_err(|error| UriFault::Base64(error.to_string()))
}

/// Finds the file that a relative URI stands for.
fn find(uri: &str, folder: Folder) -> Result<PathBuf, UriFault> {
    let name = || quoted_uri(uri);
    let decoded = percent_decode_str(uri).decode_utf8_lossy();
    let candidates = [decoded.to_string(), uri.to_owned(), decoded.replace('\\', "/")];
    if has_scheme(uri) {
        return Err(UriFault::Remote { uri: name() });
    }
    let Folder::At(folder) = folder else {
        return Err(UriFault::NoFolder { uri: name() });
    };
    let mut first = None;
    // A URI is percent-encoded with forward slashes; some exporters do neither.
    for candidate in candidates {
        if !stays_inside(Path::new(&candidate)) {
            return Err(UriFault::Outside { uri: name() });
        }
        let path = folder.join(&candidate);
        match fs::metadata(&path) {
            Ok(meta) if meta.is_file() => return Ok(path),
            // Opening a pipe or a device could block or never end.
            Ok(_) => return Err(UriFault::NotAFile { path }),
            Err(_) => {
                first.get_or_insert(path);
            }
        }
    }
    Err(UriFault::NotFound { path: first.unwrap_or_default() })
}

/// A scheme is a letter and letters, digits, `+`, `-`, `.` before a colon (RFC 3986, §3.1); a
/// drive letter looks like one and is no relative path either.
fn has_scheme(uri: &str) -> bool {
    uri.split_once(':').is_some_and(|(scheme, _)| {
        scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
    })
}

/// True when a relative path never climbs above where it starts.
fn stays_inside(path: &Path) -> bool {
    let mut depth = 0i32;
    for component in path.components() {
        depth += match component {
            Component::Normal(_) => 1,
            Component::CurDir => 0,
            Component::ParentDir => -1,
            Component::RootDir | Component::Prefix(_) => return false,
        };
        if depth < 0 {
            return false;
        }
    }
    depth > 0
}

/// A URI short enough for a message.
fn quoted_uri(uri: &str) -> String {
    uri.chars().take(200).collect()
}

/// What to call the source of some bytes in a message.
pub(super) fn describe(uri: &str) -> String {
    if is_data(uri) { "a data URI".into() } else { quoted(uri) }
}

/// True when the bytes are in the URI itself.
pub(super) fn is_data(uri: &str) -> bool {
    strip_scheme(uri, "data").is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::asset::gltf::limits::Limits;

    fn get(uri: &str, folder: Folder) -> Result<Vec<u8>, String> {
        read(uri, folder, u64::MAX, &Budget::new(Limits::DEFAULT), &|| "buffer 0".into())
            .map(|(bytes, _)| bytes)
            .map_err(|fault| fault.to_string())
    }

    #[test]
    fn data_uris_of_any_type_are_decoded() {
        let data = |uri| get(uri, Folder::Nowhere);
        for uri in [
            "data:application/octet-stream;base64,aGk=",
            "data:text/plain;charset=utf-8;base64,aGk=",
            "data:;base64,aGk",
            "DATA:x/y;BASE64,aG k%3D",
            "data:,hi",
            "data:text/plain,%68i",
        ] {
            assert_eq!(data(uri).unwrap(), b"hi", "{uri}");
        }
        assert_eq!(data("data:;base64,").unwrap(), b"");
        assert!(data("data:;base64").unwrap_err().contains("comma"));
        assert!(data("data:;base64,!!").unwrap_err().contains("base64"));
    }

    #[test]
    fn files_are_found_by_decoded_and_by_literal_name_and_in_folders() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("sub")).unwrap();
        fs::write(folder.path().join("a ü#.bin"), b"1").unwrap();
        fs::write(folder.path().join("100%25.bin"), b"2").unwrap();
        fs::write(folder.path().join("sub/b.bin"), b"3").unwrap();
        let at = Folder::At(folder.path());
        assert_eq!(get("a%20%C3%BC%23.bin", at).unwrap(), b"1");
        assert_eq!(get("a ü#.bin", at).unwrap(), b"1");
        assert_eq!(get("100%25.bin", at).unwrap(), b"2");
        for uri in ["sub/b.bin", "./sub/b.bin", "sub\\b.bin", "sub/../sub/b.bin"] {
            assert_eq!(get(uri, at).unwrap(), b"3", "{uri}");
        }
        assert!(get("sub", at).unwrap_err().contains("not a file"));
        assert!(get("c.bin", at).unwrap_err().contains("doesn't exist"));
    }

    #[test]
    fn nothing_outside_the_folder_is_read() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("secret"), b"x").unwrap();
        let inner = folder.path().join("inner");
        fs::create_dir(&inner).unwrap();
        let at = Folder::At(&inner);
        let absolute = folder.path().join("secret").display().to_string();
        for uri in ["../secret", "%2e%2e/secret", "a/../../secret", "..\\secret", &absolute, ""] {
            assert!(get(uri, at).is_err(), "{uri}");
        }
        assert!(get("../secret", at).unwrap_err().contains("outside"));
        for uri in ["http://a/b.bin", "file:///etc/passwd", "C:\\a.bin"] {
            assert!(get(uri, at).unwrap_err().contains("not a file beside"), "{uri}");
        }
        assert!(get("a.bin", Folder::Nowhere).unwrap_err().contains("no folder"));
    }

    #[test]
    fn no_more_is_read_than_asked_for_and_the_length_is_told() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("a.bin"), [0; 100]).unwrap();
        let limits = Limits { input_bytes: 50, ..Limits::DEFAULT };
        let budget = Budget::new(limits);
        let get = |most| read("a.bin", Folder::At(folder.path()), most, &budget, &|| "it".into());
        let (bytes, length) = get(30).unwrap();
        assert_eq!((bytes.len(), length), (30, 100));
        assert!(get(30).unwrap_err().to_string().contains("limit is 50"));
    }
}
