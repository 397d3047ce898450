//! Rank 2: files in, characters out.

pub mod character;
pub mod error;
pub mod gltf;
pub mod source;

pub use character::{AlphaMode, CharacterAsset, ImageRgba8, Material, Primitive, Vertex};
pub use error::{AssetError, Fault};
