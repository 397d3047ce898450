//! Buffers and views: loaded when they are first asked for, checked against their real length.

use super::json::Root;
use super::json_types::Index;
use super::limits::Budget;
use super::meshopt;
use super::uri::{self, Folder};
use crate::asset::error::{Fault, object};
use std::borrow::Cow;
use std::cell::OnceCell;

/// The bytes of a file's buffers.
pub(super) struct Buffers<'a> {
    root: &'a Root,
    folder: Folder<'a>,
    bin: Option<&'a [u8]>,
    budget: &'a Budget,
    loaded: Vec<OnceCell<Cow<'a, [u8]>>>,
    expanded: Vec<OnceCell<Vec<u8>>>,
}

/// A view's bytes, expanded if they were compressed.
#[derive(Clone, Copy, Debug)]
pub(super) struct View<'a> {
    pub bytes: &'a [u8],
    /// `None` when elements follow each other without gaps.
    pub stride: Option<u64>,
}

impl<'a> Buffers<'a> {
    pub(super) fn new(
        root: &'a Root,
        folder: Folder<'a>,
        bin: Option<&'a [u8]>,
        budget: &'a Budget,
    ) -> Self {
        Self {
            root,
            folder,
            bin,
            budget,
            loaded: root.buffers.iter().map(|_| OnceCell::new()).collect(),
            expanded: root.buffer_views.iter().map(|_| OnceCell::new()).collect(),
        }
    }

    /// What decoded data is charged to.
    pub(super) fn budget(&self) -> &'a Budget {
        self.budget
    }

    /// Where relative URIs are looked up.
    pub(super) fn folder(&self) -> Folder<'a> {
        self.folder
    }

    /// The bytes of a view. `user` names who refers to it, by which property.
    pub(super) fn view(
        &self,
        index: Index,
        user: &dyn Fn() -> String,
        property: &'static str,
    ) -> Result<View<'_>, Fault> {
        let (at, view) = index.of(&self.root.buffer_views, "bufferViews", user, property)?;
        let extensions = &view.extensions;
        let compressed = match (&extensions.ext_meshopt, &extensions.khr_meshopt) {
            (Some(meshopt), _) => Some(("EXT_meshopt_compression", meshopt)),
            (_, Some(meshopt)) => Some(("KHR_meshopt_compression", meshopt)),
            _ => None,
        };
        if let Some((extension, meshopt)) = compressed {
            let stride = Some(meshopt.byte_stride.0);
            if let Some(bytes) = self.expanded[at].get() {
                return Ok(View { bytes, stride });
            }
            let encoded =
                self.range(index.0, meshopt.buffer, meshopt.byte_offset.0, meshopt.byte_length.0)?;
            let bytes = meshopt::expand(index.0, extension, meshopt, encoded, self.budget)?;
            return Ok(View { bytes: self.expanded[at].get_or_init(|| bytes), stride });
        }
        let bytes = self.range(index.0, view.buffer, view.byte_offset.0, view.byte_length.0)?;
        // Zero is not allowed; exporters that write it mean that there is none.
        let stride = view.byte_stride.map(|stride| stride.0).filter(|&stride| stride > 0);
        Ok(View { bytes, stride })
    }

    /// Bytes of a buffer that a view refers to.
    fn range(&self, view: u64, buffer: Index, offset: u64, length: u64) -> Result<&[u8], Fault> {
        let user = || object("bufferView", view, None);
        let (at, _) = buffer.of(&self.root.buffers, "buffers", &user, "buffer")?;
        let bytes = self.buffer(at)?;
        let end = u128::from(offset) + u128::from(length);
        let range = usize::try_from(end).ok().and_then(|end| bytes.get(offset as usize..end));
        range.ok_or(Fault::ViewOverrun { view, end, buffer: buffer.0, length: bytes.len() as u64 })
    }

    /// A buffer's bytes, as many as its `byteLength` says.
    fn buffer(&self, at: usize) -> Result<&[u8], Fault> {
        if let Some(bytes) = self.loaded[at].get() {
            return Ok(bytes);
        }
        let json = &self.root.buffers[at];
        let name = || object("buffer", at, json.name.as_deref());
        let (bytes, found) = match (&json.uri, self.bin) {
            (Some(uri), _) => {
                let (bytes, found) =
                    uri::read(uri, self.folder, json.byte_length.0, self.budget, &name)?;
                (Cow::Owned(bytes), found)
            }
            (None, Some(bin)) if at == 0 => (Cow::Borrowed(bin), bin.len() as u64),
            (None, _) => {
                let property = if at == 0 { "uri, and there is no BIN chunk" } else { "uri" };
                return Err(Fault::Missing { object: name(), property });
            }
        };
        let expected = json.byte_length.0;
        if found < expected {
            let hint = if bytes.starts_with(b"version https://git-lfs") {
                "; it is a Git LFS pointer, not the data (fetch it with `git lfs pull`)"
            } else {
                ""
            };
            return Err(Fault::BufferTooShort { object: name(), found, expected, hint });
        }
        // A BIN chunk is padded, and a file may be longer: what is past the length isn't data.
        let length = usize::try_from(expected).unwrap_or(bytes.len()).min(bytes.len());
        let bytes = match bytes {
            Cow::Borrowed(bytes) => Cow::Borrowed(&bytes[..length]),
            Cow::Owned(mut bytes) => {
                bytes.truncate(length);
                Cow::Owned(bytes)
            }
        };
        Ok(self.loaded[at].get_or_init(|| bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::asset::gltf::limits::Limits;
    use serde_json::json;

    fn with_views<T>(
        document: serde_json::Value,
        bin: Option<&[u8]>,
        test: impl FnOnce(&Buffers) -> T,
    ) -> T {
        let root: Root = serde_json::from_value(document).unwrap();
        let budget = Budget::new(Limits::DEFAULT);
        test(&Buffers::new(&root, Folder::Nowhere, bin, &budget))
    }

    fn get(buffers: &Buffers, index: u64) -> Result<Vec<u8>, String> {
        buffers
            .view(Index(index), &|| "accessor 0".into(), "bufferView")
            .map(|view| view.bytes.to_vec())
            .map_err(|fault| fault.to_string())
    }

    #[test]
    fn a_view_is_a_part_of_its_buffer_up_to_the_last_byte() {
        let document = json!({
            "buffers": [{ "byteLength": 4 }],
            "bufferViews": [
                { "buffer": 0, "byteOffset": 1, "byteLength": 3, "byteStride": 0 },
                { "buffer": 0, "byteOffset": 1, "byteLength": 4 },
                { "buffer": 0, "byteOffset": u64::MAX, "byteLength": u64::MAX },
                { "buffer": 1, "byteLength": 1 },
                { "buffer": 0, "byteOffset": 4, "byteLength": 0 },
            ],
        });
        with_views(document, Some(&[1, 2, 3, 4, 0, 0]), |buffers| {
            assert_eq!(get(buffers, 0).unwrap(), [2, 3, 4]);
            let message = get(buffers, 1).unwrap_err();
            assert_eq!(message, "bufferView 1 ends at byte 5, but buffer 0 has 4");
            assert!(get(buffers, 2).unwrap_err().contains("36893488147419103230"));
            assert_eq!(
                get(buffers, 3).unwrap_err(),
                "bufferView 3: buffer is 1, but the file's list of buffers has 1"
            );
            assert!(get(buffers, 4).unwrap().is_empty());
            assert!(get(buffers, 5).unwrap_err().contains("accessor 0: bufferView is 5"));
        });
    }

    #[test]
    fn a_compressed_view_reads_its_own_buffer_and_not_the_fallback() {
        let numbers: Vec<[u32; 1]> = (0..40).map(|i| [i]).collect();
        let encoded = ::meshopt::encode_vertex_buffer(&numbers).unwrap();
        let compressed = json!({
            "buffer": 0, "byteLength": encoded.len(), "byteStride": 4, "count": 40,
            "mode": "ATTRIBUTES",
        });
        let document = |extension: &str| {
            json!({
                "buffers": [
                    { "byteLength": encoded.len() },
                    { "byteLength": 160, "extensions": { extension: { "fallback": true } } },
                ],
                "bufferViews": [{
                    "buffer": 1, "byteLength": 160, "extensions": { extension: compressed },
                }],
            })
        };
        for extension in ["EXT_meshopt_compression", "KHR_meshopt_compression"] {
            with_views(document(extension), Some(&encoded), |buffers| {
                for _ in 0..2 {
                    assert_eq!(get(buffers, 0).unwrap(), bytemuck::cast_slice::<_, u8>(&numbers));
                }
            });
        }
    }

    #[test]
    fn a_buffer_shorter_than_its_length_is_refused_and_a_missing_one_named() {
        let document = json!({
            "buffers": [
                { "byteLength": 5, "uri": "data:,hell" },
                { "byteLength": 1, "name": "other" },
                { "byteLength": 300, "uri": "data:,version https://git-lfs.github.com/spec/v1" },
            ],
            "bufferViews": [
                { "buffer": 0, "byteLength": 1 },
                { "buffer": 1, "byteLength": 1 },
                { "buffer": 2, "byteLength": 1 },
            ],
        });
        with_views(document, Some(&[1]), |buffers| {
            assert_eq!(
                get(buffers, 0).unwrap_err(),
                "buffer 0 holds 4 bytes, but its byteLength is 5"
            );
            assert_eq!(get(buffers, 1).unwrap_err(), "buffer 1 \"other\" has no uri");
            assert!(get(buffers, 2).unwrap_err().contains("Git LFS"));
        });
        let document = json!({
            "buffers": [{ "byteLength": 1 }],
            "bufferViews": [{ "buffer": 0, "byteLength": 1 }],
        });
        with_views(document, None, |buffers| {
            assert!(get(buffers, 0).unwrap_err().contains("no BIN chunk"));
        });
    }
}
