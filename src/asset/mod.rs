//! Rank 2: files in, characters out.

pub mod character;
pub mod source;

pub use character::{AlphaMode, CharacterAsset, ImageRgba8, Material, Primitive, Vertex};
