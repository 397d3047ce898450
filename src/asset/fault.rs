//! The faults of a file's parts: its container, its references to other files, its accessors.

use std::io;
use std::path::PathBuf;

/// What is wrong with a binary glTF container.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum ContainerFault {
    /// The header or a chunk's header is cut off.
    #[error("is cut off: {found} bytes, too few for the {what} of {needed}")]
    Truncated {
        /// "GLB header", for example.
        what: &'static str,
        /// Bytes that are there.
        found: usize,
        /// Bytes that it takes.
        needed: usize,
    },
    /// Another version of the container.
    #[error("is a binary glTF container of version {0}; only version 2 can be read")]
    Version(u32),
    /// The file is shorter than its header says.
    #[error("is cut off: its header says {declared} bytes, but there are {found}")]
    Length {
        /// The header's length.
        declared: u32,
        /// The file's length.
        found: usize,
    },
    /// A chunk reaches past the end.
    #[error("chunk {chunk} at byte {offset} says {length} bytes, but {left} are left")]
    Chunk {
        /// Which chunk.
        chunk: usize,
        /// Where its header starts.
        offset: usize,
        /// Its length field.
        length: u32,
        /// Bytes after its header.
        left: usize,
    },
    /// The first chunk has to be JSON.
    #[error("has no JSON chunk at its start")]
    NoJson,
    /// Neither binary nor JSON.
    #[error("is neither binary glTF nor JSON: it starts with {start:?}")]
    NotGltf {
        /// The first characters.
        start: String,
    },
}

/// Why the bytes behind a URI can't be had.
#[derive(Debug, thiserror::Error)]
pub enum UriFault {
    /// A data URI without a comma.
    #[error("its data URI has no comma before the data")]
    NoComma,
    /// A data URI with broken base64.
    #[error("its data URI isn't base64: {0}")]
    Base64(String),
    /// A file on another machine, or of another scheme.
    #[error("{uri:?} is not a file beside this one; only relative paths and data URIs are read")]
    Remote {
        /// The URI.
        uri: String,
    },
    /// A path out of the file's folder.
    #[error("{uri:?} lies outside the folder of this file")]
    Outside {
        /// The URI.
        uri: String,
    },
    /// An external file, but this file itself came from memory.
    #[error("{uri:?} can't be read, because this file has no folder")]
    NoFolder {
        /// The URI.
        uri: String,
    },
    /// No such file.
    #[error("{path:?} doesn't exist")]
    NotFound {
        /// Where it was looked for.
        path: PathBuf,
    },
    /// A folder, a pipe or a device.
    #[error("{path:?} is not a file")]
    NotAFile {
        /// Where it was looked for.
        path: PathBuf,
    },
    /// The operating system didn't give the bytes.
    #[error("{path:?} can't be read: {error}")]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
}

/// What is wrong with an accessor.
#[derive(Debug, thiserror::Error, PartialEq)]
pub enum AccessorFault {
    /// Another shape or number format than its use asks for.
    #[error("is {found}, but has to be {expected}")]
    Type {
        /// "VEC4 of f32", for example.
        found: String,
        /// What its use allows.
        expected: &'static str,
    },
    /// A component type that glTF doesn't know.
    #[error("componentType is {0}, which is not one of 5120, 5121, 5122, 5123, 5125, 5126")]
    ComponentType(u64),
    /// A type that glTF doesn't know.
    #[error("type is {0:?}, which is not one of SCALAR, VEC2, VEC3, VEC4, MAT2, MAT3, MAT4")]
    Kind(String),
    /// Elements that would overlap.
    #[error("its bufferView's byteStride is {stride}, less than an element's {element} bytes")]
    Stride {
        /// The stride.
        stride: u64,
        /// An element's size.
        element: usize,
    },
    /// It reaches past its view.
    #[error("{count} elements end at byte {end}, but bufferView {view} has {length}")]
    Overrun {
        /// How many elements.
        count: u64,
        /// One past the last byte.
        end: u128,
        /// The view.
        view: u64,
        /// Bytes in the view.
        length: u64,
    },
    /// A sparse replacement for an element that doesn't exist.
    #[error("sparse index {position} is {value}, but there are {count} elements")]
    SparseIndex {
        /// Where in the list of replacements.
        position: usize,
        /// The index.
        value: u32,
        /// How many elements there are.
        count: u64,
    },
    /// A number that is infinite or not a number.
    #[error("element {element} holds {value}")]
    NotFinite {
        /// Which element.
        element: usize,
        /// What it holds.
        value: f32,
    },
}
