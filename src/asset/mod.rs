//! Rank 2: files in, characters out.

pub mod build;
pub mod builtin;
pub mod character;
mod checksum;
pub mod error;
pub mod exact;
pub mod fault;
pub mod gltf;
mod regular;
pub mod skinning;
pub mod source;
pub mod surface;
pub mod text;

pub use build::{BuildOptions, StoreChoice};
pub use builtin::{BUILTINS, builtin, builtin_bytes, builtin_with};
pub use character::{
    AlphaMode, CharacterAsset, ClipMarker, ClipNotify, ImageRgba8, KeptClip, Material, Primitive,
    Vertex,
};
pub use error::{AssetError, Fault};
pub use regular::{open_file, read_text};
pub use surface::Surface;

use source::Source;
use std::path::Path;

/// Makes a character of a validated source.
///
/// # Errors
/// A limit that the character is over, or numbers that overflow: see [`build::error::BuildError`].
pub fn build(source: &Source, options: &BuildOptions) -> Result<CharacterAsset, AssetError> {
    build::character(source, options)
        .map_err(|fault| AssetError { file: source.file.clone(), fault: Box::new(fault.into()) })
}

/// Reads a .gltf or .glb file and makes a character of it, with default options.
///
/// # Errors
/// Names the file, the object in it and the number: see [`Fault`].
pub fn load(path: &Path) -> Result<CharacterAsset, AssetError> {
    build(&gltf::read(path)?, &BuildOptions::default())
}
