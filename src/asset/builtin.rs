//! The characters that the program carries inside itself.

use super::{AssetError, BuildOptions, CharacterAsset, build, gltf};

/// Name and file of each built-in character.
pub const BUILTINS: [(&str, &[u8]); 2] = [
    ("humanoid", include_bytes!("../../assets/humanoid.glb")),
    ("quadruped", include_bytes!("../../assets/quadruped.glb")),
];

/// The file of the built-in character of that name; `None` for a name that is not in [`BUILTINS`].
pub fn builtin_bytes(name: &str) -> Option<&'static [u8]> {
    BUILTINS.iter().find(|(n, _)| *n == name).map(|(_, bytes)| *bytes)
}

/// Makes the built-in character of that name with default options; `None` for a name that is not in
/// [`BUILTINS`].
///
/// # Errors
/// Those of [`super::load`], were the embedded file broken.
pub fn builtin(name: &str) -> Option<Result<CharacterAsset, AssetError>> {
    builtin_with(name, &BuildOptions::default())
}

/// As [`builtin`], with options.
///
/// # Errors
/// As for [`builtin`].
pub fn builtin_with(
    name: &str,
    options: &BuildOptions,
) -> Option<Result<CharacterAsset, AssetError>> {
    let bytes = builtin_bytes(name)?;
    Some(gltf::read_bytes(name, bytes).and_then(|source| build(&source, options)))
}
