//! Bytes into JSON text and the binary chunk (glTF 2.0 specification, §4).

use super::warnings::Warnings;
use crate::asset::error::ContainerFault;
use std::borrow::Cow;

const MAGIC: &[u8] = b"glTF";
const HEADER_BYTES: usize = 12;
const CHUNK_HEADER_BYTES: usize = 8;
const JSON_CHUNK: u32 = 0x4E4F_534A;
const BIN_CHUNK: u32 = 0x004E_4942;

/// The two parts of a file.
#[derive(Debug)]
pub(super) struct Container<'a> {
    /// Without byte order mark and padding.
    pub json: Cow<'a, str>,
    /// The first buffer, with its padding.
    pub bin: Option<&'a [u8]>,
}

/// Tells binary glTF from JSON by the first bytes, not by the file's name.
pub(super) fn split<'a>(
    bytes: &'a [u8],
    warnings: &mut Warnings,
) -> Result<Container<'a>, ContainerFault> {
    if bytes.starts_with(MAGIC) {
        return split_binary(bytes, warnings);
    }
    let json = text(bytes, warnings);
    if !json.trim_start().starts_with('{') {
        return Err(ContainerFault::NotGltf { start: json.chars().take(16).collect() });
    }
    Ok(Container { json, bin: None })
}

fn split_binary<'a>(
    bytes: &'a [u8],
    warnings: &mut Warnings,
) -> Result<Container<'a>, ContainerFault> {
    let (Some(version), Some(declared)) = (u32_at(bytes, 4), u32_at(bytes, 8)) else {
        return Err(ContainerFault::Truncated {
            what: "GLB header",
            found: bytes.len(),
            needed: HEADER_BYTES,
        });
    };
    if version != 2 {
        return Err(ContainerFault::Version(version));
    }
    let body = match usize::try_from(declared).ok().and_then(|length| bytes.get(..length)) {
        Some(body) if body.len() >= HEADER_BYTES => body,
        _ => return Err(ContainerFault::Length { declared, found: bytes.len() }),
    };
    if body.len() < bytes.len() {
        warnings.push(format!(
            "{} bytes after the end that the GLB header gives were ignored",
            bytes.len() - body.len()
        ));
    }

    let mut json = None;
    let mut bin = None;
    let mut offset = HEADER_BYTES;
    let mut chunk = 0;
    while let (Some(length), Some(kind)) = (u32_at(body, offset), u32_at(body, offset + 4)) {
        let start = offset + CHUNK_HEADER_BYTES;
        let end = usize::try_from(length).ok().and_then(|length| start.checked_add(length));
        let Some(data) = end.and_then(|end| body.get(start..end)) else {
            let left = body.len() - start;
            return Err(ContainerFault::Chunk { chunk, offset, length, left });
        };
        match (chunk, kind) {
            (0, JSON_CHUNK) => json = Some(data),
            (0, _) => return Err(ContainerFault::NoJson),
            // Chunks of kinds that nobody knows yet are skipped, as the specification asks.
            (_, BIN_CHUNK) if bin.is_none() => bin = Some(data),
            _ => {}
        }
        offset = start + data.len();
        chunk += 1;
    }
    let Some(json) = json else {
        return Err(ContainerFault::Truncated {
            what: "GLB header and its first chunk's header",
            found: body.len(),
            needed: HEADER_BYTES + CHUNK_HEADER_BYTES,
        });
    };
    if offset < body.len() {
        warnings.push(format!("{} bytes after the last chunk were ignored", body.len() - offset));
    }
    Ok(Container { json: text(json, warnings), bin })
}

/// Decodes JSON text. Bytes that aren't UTF-8 occur inside names written by old exporters; they are
/// replaced, which can't change the JSON's structure, since that is ASCII.
fn text<'a>(bytes: &'a [u8], warnings: &mut Warnings) -> Cow<'a, str> {
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    // The specification pads with spaces; some exporters pad with zeros.
    let end = bytes.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
    let text = String::from_utf8_lossy(&bytes[..end]);
    if let Cow::Owned(_) = text {
        warnings.push("the JSON holds bytes that are not UTF-8; they were replaced".into());
    }
    text
}

fn u32_at(bytes: &[u8], offset: usize) -> Option<u32> {
    let end = offset.checked_add(4)?;
    Some(u32::from_le_bytes(bytes.get(offset..end)?.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::asset::gltf::fixture::{chunk, glb};

    fn fault(bytes: &[u8]) -> ContainerFault {
        split(bytes, &mut Warnings::default()).unwrap_err()
    }

    #[test]
    fn a_container_gives_json_and_bin_and_skips_chunks_it_does_not_know() {
        let file = glb(&[
            chunk(JSON_CHUNK, b"{}  "),
            chunk(0x1234, b"?"),
            chunk(BIN_CHUNK, &[1, 2, 3, 4]),
            chunk(BIN_CHUNK, &[9]),
        ]);
        let mut warnings = Warnings::default();
        let container = split(&file, &mut warnings).unwrap();
        assert_eq!(container.json.trim_end(), "{}");
        assert_eq!(container.bin, Some(&[1u8, 2, 3, 4][..]));
        assert!(warnings.is_empty());
    }

    #[test]
    fn what_lies_past_the_declared_length_is_ignored_with_a_warning() {
        let mut file = glb(&[chunk(JSON_CHUNK, b"{}")]);
        file.extend_from_slice(&chunk(BIN_CHUNK, &[7; 8]));
        let mut warnings = Warnings::default();
        assert_eq!(split(&file, &mut warnings).unwrap().bin, None);
        assert!(!warnings.is_empty());
    }

    #[test]
    fn every_truncation_of_a_container_is_refused() {
        let file = glb(&[chunk(JSON_CHUNK, b"{}  "), chunk(BIN_CHUNK, &[1, 2, 3, 4])]);
        for end in 4..file.len() {
            fault(&file[..end]);
        }
    }

    #[test]
    fn lengths_that_reach_past_the_file_are_refused_with_their_numbers() {
        let mut file = glb(&[chunk(JSON_CHUNK, b"{}  ")]);
        file[12..16].copy_from_slice(&0xFFFF_FFF0u32.to_le_bytes());
        assert_eq!(
            fault(&file),
            ContainerFault::Chunk { chunk: 0, offset: 12, length: 0xFFFF_FFF0, left: 4 }
        );
        let mut file = glb(&[]);
        file[8..12].copy_from_slice(&4u32.to_le_bytes());
        assert_eq!(fault(&file), ContainerFault::Length { declared: 4, found: 12 });
        assert!(matches!(fault(&glb(&[])), ContainerFault::Truncated { found: 12, .. }));
    }

    #[test]
    fn another_version_and_a_first_chunk_that_is_not_json_are_refused() {
        let mut file = glb(&[chunk(JSON_CHUNK, b"{}")]);
        file[4] = 1;
        assert_eq!(fault(&file), ContainerFault::Version(1));
        assert_eq!(fault(&glb(&[chunk(BIN_CHUNK, b"{}")])), ContainerFault::NoJson);
    }

    #[test]
    fn text_that_is_not_json_is_shown_by_its_start() {
        let fault = fault(b"version https://git-lfs.github.com/spec/v1");
        assert_eq!(fault, ContainerFault::NotGltf { start: "version https://".into() });
    }

    #[test]
    fn a_byte_order_mark_and_zero_padding_are_taken_off() {
        let mut warnings = Warnings::default();
        let container = split(b"\xEF\xBB\xBF {\"a\":1}\0\0", &mut warnings).unwrap();
        assert_eq!(container.json, " {\"a\":1}");
        assert!(warnings.is_empty());
        split(b"{\"name\":\"\xFF\"}", &mut warnings).unwrap();
        assert!(!warnings.is_empty());
    }
}
