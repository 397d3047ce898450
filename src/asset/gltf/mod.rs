//! A glTF 2.0 file, text or binary, into a validated [`Source`].
//!
//! Whatever a file holds, the answer is a [`Source`] that keeps every promise of its documentation
//! or an [`AssetError`] that names the file, the object in it and the number; never a panic, an
//! endless loop or more memory than `limits` allows. Faults that cost nothing but looks (a missing
//! texture, a light, a primitive made of lines) are warnings.

mod accessor;
mod animations;
mod buffers;
mod container;
mod extensions;
#[cfg(test)]
mod fixture;
mod images;
mod influences;
mod json;
mod json_types;
mod limits;
mod materials;
mod meshes;
mod meshopt;
mod nodes;
mod skins;
mod topology;
mod uri;
mod warnings;

use self::accessor::Accessors;
use self::buffers::Buffers;
use self::images::Images;
use self::json::{Asset, AssetOnly, Root};
use self::limits::{Budget, Limits};
use self::materials::Materials;
use self::uri::Folder;
use self::warnings::Warnings;
use super::error::{AssetError, Fault, quoted};
use super::source::Source;
use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

/// Reads a .gltf or .glb file and what it refers to beside it.
///
/// # Errors
/// [`AssetError`] with the path as given, for everything that [`Fault`] lists.
pub fn read(path: impl AsRef<Path>) -> Result<Source, AssetError> {
    let path = path.as_ref();
    let _span = tracing::info_span!("read_gltf", file = %path.display()).entered();
    let folder = path.parent().unwrap_or(Path::new(""));
    in_file(path, |budget| {
        let bytes = read_file(path, budget)?;
        import(&bytes, Folder::At(folder), budget)
    })
}

/// Reads glTF from memory. `name` stands for the path in messages; a file that refers to others
/// beside it is refused.
///
/// # Errors
/// [`AssetError`] for everything that [`Fault`] lists.
pub fn read_bytes(name: &str, bytes: &[u8]) -> Result<Source, AssetError> {
    in_file(Path::new(name), |budget| import(bytes, Folder::Nowhere, budget))
}

fn in_file(
    file: &Path,
    import: impl FnOnce(&Budget) -> Result<Source, Fault>,
) -> Result<Source, AssetError> {
    match import(&Budget::new(Limits::DEFAULT)) {
        Ok(source) => Ok(Source { file: file.to_owned(), ..source }),
        Err(fault) => Err(AssetError { file: file.to_owned(), fault: Box::new(fault) }),
    }
}

fn read_file(path: &Path, budget: &Budget) -> Result<Vec<u8>, Fault> {
    let kind = fs::metadata(path)?;
    // A pipe or a device could block or never end.
    if !kind.is_file() {
        return Err(Fault::NotAFile { what: if kind.is_dir() { "a folder" } else { "a device" } });
    }
    budget.take_input(kind.len().into(), || "it".into())?;
    let mut bytes = Vec::new();
    // The file may grow in between.
    File::open(path)?.take(kind.len()).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn import(bytes: &[u8], folder: Folder, budget: &Budget) -> Result<Source, Fault> {
    if bytes.is_empty() {
        return Err(Fault::Empty);
    }
    let mut warnings = Warnings::default();
    let container = container::split(bytes, &mut warnings)?;
    budget.check_json(container.json.len())?;
    let root = parse(&container.json)?;
    extensions::check_required(&root)?;

    let buffers = Buffers::new(&root, folder, container.bin, budget);
    let accessors = Accessors::new(&root, &buffers);
    let nodes = nodes::read(&root, &nodes::animated(&root), &mut warnings)?;
    let scene_roots = nodes::scene_roots(&root, &nodes)?;
    let skins = skins::read(&root, &accessors, &mut warnings)?;
    let mut materials = Materials::read(&root, Images::new(&root, &buffers), &mut warnings)?;
    let meshes = meshes::read(&root, &accessors, &mut materials, &mut warnings)?;
    let animations = animations::read(&root, &accessors, &mut warnings)?;
    let (materials, images) = materials.into_parts();
    Ok(Source {
        file: Default::default(),
        nodes,
        scene_roots,
        skins,
        meshes,
        animations,
        materials,
        images,
        warnings: warnings.into_list(),
    })
}

/// Parses the JSON. A file of another version, whose JSON looks different, is told about its
/// version rather than about the first difference.
fn parse(json: &str) -> Result<Root, Fault> {
    let parsed: Result<Root, _> = serde_json::from_str(json);
    match parsed {
        Ok(root) => {
            check_version(root.asset.as_ref())?;
            Ok(root)
        }
        Err(error) => {
            if let Ok(AssetOnly { asset: Some(asset) }) = serde_json::from_str(json) {
                check_version(Some(&asset))?;
            }
            Err(Fault::Json { message: error.to_string() })
        }
    }
}

fn check_version(asset: Option<&Asset>) -> Result<(), Fault> {
    let Some(asset) = asset else {
        return Err(Fault::Missing { object: "the file".into(), property: "asset.version" });
    };
    let unsupported = |version: &str| Err(Fault::Version { version: quoted(version) });
    if asset.version.split('.').next() != Some("2") {
        return unsupported(&asset.version);
    }
    match &asset.min_version {
        Some(version) if version != "2.0" => unsupported(version),
        _ => Ok(()),
    }
}
