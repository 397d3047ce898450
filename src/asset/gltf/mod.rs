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
mod extras;
#[cfg(test)]
mod fixture;
mod images;
mod influences;
mod json;
mod json_types;
mod layout;
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
            // It may quote the file at any length.
            let message = error.to_string().chars().take(300).collect();
            Err(Fault::Json { message })
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

#[cfg(test)]
mod tests {
    use super::*;
    use fixture::Fixture;
    use serde_json::json;

    #[test]
    fn another_version_is_told_before_anything_else() {
        let mut file = Fixture::character();
        file.json["asset"]["version"] = json!("1.0");
        // The lists of version 1 were objects.
        file.json["nodes"] = json!({ "node_1": {} });
        file.refused(&["glTF version \"1.0\"; only 2.x"]);
        let mut file = Fixture::character();
        file.json["asset"] = json!({ "version": "2.7", "generator": "x" });
        file.read().unwrap();
        file.json["asset"]["minVersion"] = json!("2.1");
        file.refused(&["\"2.1\""]);
        file.json["asset"] = json!(null);
        file.refused(&["the file has no asset.version"]);
    }

    #[test]
    fn json_faults_are_told_with_line_and_column() {
        let message = |text: &[u8]| read_bytes("x.gltf", text).unwrap_err().to_string();
        let broken = message(b"{\"asset\": {\"version\": \"2.0\"},\n \"nodes\": [{]}");
        assert!(broken.starts_with("x.gltf: ") && broken.contains("line 2 column"), "{broken}");
        let index = message(br#"{"asset":{"version":"2.0"},"nodes":[{"mesh":-1}]}"#);
        assert!(index.contains("-1"), "{index}");
        let long =
            format!(r#"{{"asset":{{"version":"2.0"}},"nodes":["{}"]}}"#, "x".repeat(100_000));
        assert!(message(long.as_bytes()).len() < 1000);
    }

    #[test]
    fn nesting_of_any_depth_does_not_overflow_the_stack() {
        let deep = "[".repeat(100_000) + &"]".repeat(100_000);
        for key in ["extras", "nodes", "extensions"] {
            let text = format!(r#"{{"asset":{{"version":"2.0"}},"{key}":{deep}}}"#);
            assert_eq!(read_bytes("x", text.as_bytes()).is_err(), key == "nodes");
        }
    }

    #[test]
    fn more_nodes_than_the_limit_are_refused_while_parsing() {
        let nodes = "{},".repeat(json::MAX_NODES) + "{}";
        let text = format!(r#"{{"asset":{{"version":"2.0"}},"nodes":[{nodes}]}}"#);
        let message = read_bytes("x", text.as_bytes()).unwrap_err().to_string();
        assert!(message.contains("at most 262144"), "{message}");
    }

    #[test]
    fn what_is_not_a_file_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let message = |path: &Path| read(path).unwrap_err().to_string();
        assert!(message(folder.path()).contains("is a folder"));
        assert!(message(&folder.path().join("no.glb")).contains("can't be read"));
        let empty = folder.path().join("empty.glb");
        fs::write(&empty, b"").unwrap();
        assert!(message(&empty).ends_with("is empty"));
        #[cfg(unix)]
        assert!(message(Path::new("/dev/zero")).contains("is a device"));
    }

    #[test]
    fn a_file_is_found_with_its_buffer_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let mut file = Fixture::character();
        fs::create_dir(folder.path().join("data")).unwrap();
        fs::write(folder.path().join("data/my bin.bin"), &file.bin).unwrap();
        file.json["buffers"][0]["uri"] = json!("data/my%20bin.bin");
        let path = folder.path().join("a.gltf");
        fs::write(&path, serde_json::to_vec(&file.json).unwrap()).unwrap();
        let source = read(&path).unwrap();
        assert_eq!(source.file, path);
        assert_eq!(source.meshes[0].primitives[0].positions.len(), 4);
        let message = read_bytes("a", &fs::read(&path).unwrap()).unwrap_err().to_string();
        assert!(message.contains("buffer 0") && message.contains("no folder"), "{message}");
    }

    #[test]
    fn a_text_file_from_memory_with_data_uris_needs_no_folder() {
        let mut file = Fixture::character();
        let data = base64::Engine::encode(&base64::prelude::BASE64_STANDARD, &file.bin);
        file.json["buffers"][0]["uri"] = json!(format!("data:;base64,{data}"));
        let text = serde_json::to_string_pretty(&file.json).unwrap();
        let source = read_bytes("memory", text.as_bytes()).unwrap();
        assert_eq!(source.nodes.len(), 3);
    }

    #[test]
    fn a_file_with_nothing_in_it_is_an_empty_source() {
        let source = read_bytes("x", br#"{"asset":{"version":"2.0"}}"#).unwrap();
        assert!(source.nodes.is_empty() && source.scene_roots.is_empty());
    }
}
