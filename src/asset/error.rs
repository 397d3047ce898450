//! Why a file didn't become a character: the file, the object in it, and the number.

pub use super::fault::{AccessorFault, ContainerFault, UriFault};
pub use super::text::{counted, object, quoted, word};
use std::io;
use std::path::PathBuf;

/// A fault and the file that it was found in.
#[derive(Debug, thiserror::Error)]
#[error("{}: {fault}", file.display())]
pub struct AssetError {
    /// As the caller named it.
    pub file: PathBuf,
    /// What is wrong with it.
    pub fault: Box<Fault>,
}

/// What is wrong with a file.
///
/// `object` fields hold a phrase such as `node 5 "arm"`, made by [`object`].
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    /// The operating system didn't give the bytes.
    #[error("can't be read: {0}")]
    Io(#[from] io::Error),
    /// A folder, a pipe or a device.
    #[error("is {what}, not a file; name a .gltf or .glb file")]
    NotAFile {
        /// "a folder", for example.
        what: &'static str,
    },
    /// No bytes at all.
    #[error("is empty")]
    Empty,
    /// A size that the importer refuses, so that no file can exhaust the memory.
    #[error("{what} takes {bytes} bytes; the importer's limit is {limit}")]
    TooLarge {
        /// What was to be read or made.
        what: String,
        /// Bytes that it would take.
        bytes: u128,
        /// Bytes that are allowed.
        limit: u64,
    },
    /// More objects of a kind than the importer takes.
    #[error("has {count} {kind}; the importer's limit is {limit}")]
    TooMany {
        /// "nodes", for example.
        kind: &'static str,
        /// How many there are.
        count: usize,
        /// How many are allowed.
        limit: usize,
    },
    /// The binary container is damaged.
    #[error("{0}")]
    Container(#[from] ContainerFault),
    /// The file is valid, but no character can be made of it.
    #[error(transparent)]
    Build(#[from] super::build::error::BuildError),
    /// The JSON text is not what glTF asks for.
    #[error("is not valid glTF JSON: {message}")]
    Json {
        /// The parser's message with line and column.
        message: String,
    },
    /// Another major version of glTF.
    #[error("has glTF version {version}; only 2.x can be read")]
    Version {
        /// The text of `asset.version` or `asset.minVersion`, quoted.
        version: String,
    },
    /// The file can't be shown without an extension that isn't supported.
    #[error("requires the extension {name}, which is not supported{advice}")]
    RequiredExtension {
        /// The extension's name.
        name: String,
        /// What to do about it, or empty.
        advice: &'static str,
    },
    /// A reference to an object that doesn't exist.
    #[error("{object}: {property} is {index}, but the file's list of {kind} has {count}")]
    Index {
        /// Who refers.
        object: String,
        /// The JSON property.
        property: &'static str,
        /// The index given.
        index: u64,
        /// "nodes", for example.
        kind: &'static str,
        /// How many there are.
        count: usize,
    },
    /// A property that has to be there.
    #[error("{object} has no {property}")]
    Missing {
        /// Who lacks it.
        object: String,
        /// The JSON property.
        property: &'static str,
    },
    /// A property with a value that glTF doesn't know.
    #[error("{object}: {property} is {value}, which is not one of {allowed}")]
    Unknown {
        /// Whose property.
        object: String,
        /// The JSON property.
        property: &'static str,
        /// Its value.
        value: String,
        /// The values that glTF knows.
        allowed: &'static str,
    },
    /// A number that is infinite or not a number, outside an accessor.
    #[error("{object}: {property} holds {value}")]
    NotFinite {
        /// Whose number.
        object: String,
        /// The JSON property.
        property: &'static str,
        /// What it is.
        value: f32,
    },
    /// Bytes outside the file, or embedded in a URI, that can't be had.
    #[error("{object}: {problem}")]
    Uri {
        /// The buffer.
        object: String,
        /// Why its bytes can't be had.
        problem: UriFault,
    },
    /// A buffer that ends too early.
    #[error("{object} holds {found} bytes, but its byteLength is {expected}{hint}")]
    BufferTooShort {
        /// The buffer.
        object: String,
        /// Bytes that are there.
        found: u64,
        /// Bytes that should be there.
        expected: u64,
        /// A likely cause, or empty.
        hint: &'static str,
    },
    /// A view that ends after its buffer.
    #[error("bufferView {view} ends at byte {end}, but buffer {buffer} has {length}")]
    ViewOverrun {
        /// The view.
        view: u64,
        /// One past its last byte.
        end: u128,
        /// The buffer.
        buffer: u64,
        /// Bytes in the buffer.
        length: u64,
    },
    /// A compressed view that can't be expanded.
    #[error("bufferView {view} ({extension}): {problem}")]
    Meshopt {
        /// The view.
        view: u64,
        /// The extension that compressed it.
        extension: &'static str,
        /// What is wrong.
        problem: String,
    },
    /// An accessor that can't be read.
    #[error("accessor {accessor} ({used_as}): {problem}")]
    Accessor {
        /// The accessor.
        accessor: u64,
        /// What it was read for.
        used_as: String,
        /// What is wrong.
        problem: AccessorFault,
    },
    /// Two things that have to be as many aren't.
    #[error("{object} has {found} {kind}, but {expected} are needed{why}")]
    Count {
        /// Whose.
        object: String,
        /// "inverse bind matrices", for example.
        kind: &'static str,
        /// How many there are.
        found: usize,
        /// How many there should be.
        expected: usize,
        /// Why, or empty.
        why: String,
    },
    /// Attributes of one primitive that aren't equally many.
    #[error("{object}: {semantic} has {found} elements, but POSITION has {vertices}")]
    AttributeCount {
        /// The primitive.
        object: String,
        /// The attribute.
        semantic: String,
        /// How many elements it has.
        found: u64,
        /// How many it should have.
        vertices: u64,
    },
    /// The nodes aren't a forest: a node is listed as a child twice.
    #[error("{object} has two parents: node {first} and node {second}")]
    TwoParents {
        /// The child.
        object: String,
        /// One parent.
        first: usize,
        /// The other (the same one, if it lists the child twice).
        second: usize,
    },
    /// The nodes aren't a forest: a node is its own ancestor.
    #[error("{object} is its own ancestor")]
    NodeCycle {
        /// A node on the cycle.
        object: String,
    },
    /// A triangle corner that isn't a vertex.
    #[error("{object}: index {position} is {value}, but there are {vertices} vertices")]
    VertexIndex {
        /// The primitive.
        object: String,
        /// Where in the index list.
        position: usize,
        /// The index.
        value: u32,
        /// How many vertices there are.
        vertices: usize,
    },
    /// A vertex moved by a joint that the skin doesn't have.
    #[error(
        "{object}: vertex {vertex} is moved by joint {joint}, but skin {skin} has {joints} joints"
    )]
    Joint {
        /// The primitive.
        object: String,
        /// The vertex.
        vertex: usize,
        /// Its joint.
        joint: u32,
        /// The skin that a node shows the mesh with.
        skin: usize,
        /// How many joints that skin has.
        joints: usize,
    },
    /// Key times that go backwards.
    #[error("{object}: key {key} is at {time} s, before key {previous} at {previous_time} s", previous = key - 1)]
    KeyOrder {
        /// The sampler.
        object: String,
        /// The key that is too early.
        key: usize,
        /// Its time.
        time: f32,
        /// The time of the key before it.
        previous_time: f32,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_names_file_object_and_number() {
        let error = AssetError {
            file: "a/b.glb".into(),
            fault: Box::new(Fault::Index {
                object: object("node", 3, None),
                property: "skin",
                index: 5,
                kind: "skins",
                count: 1,
            }),
        };
        assert_eq!(
            error.to_string(),
            "a/b.glb: node 3: skin is 5, but the file's list of skins has 1"
        );
    }
}
