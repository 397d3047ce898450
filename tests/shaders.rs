//! Every shader is valid WGSL, as the version of naga that wgpu uses sees it.
#![allow(clippy::unwrap_used, clippy::panic, reason = "what is missing or wrong fails the test")]

use naga::valid::{Capabilities, ValidationFlags, Validator};
use throng::render::shaders;

#[test]
fn every_module_is_valid() {
    for shader in shaders::ALL {
        let module = naga::front::wgsl::parse_str(shader.source)
            .unwrap_or_else(|e| panic!("{}: {}", shader.name, e.emit_to_string(shader.source)));
        Validator::new(ValidationFlags::all(), Capabilities::default())
            .validate(&module)
            .unwrap_or_else(|e| panic!("{}: {}", shader.name, e.emit_to_string(shader.source)));
        assert!(!module.entry_points.is_empty(), "{} has no entry point", shader.name);
    }
}

#[test]
fn every_file_of_the_folder_is_part_of_a_module() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("shaders");
    let mut files = 0;
    for folder in [folder.clone(), folder.join("lib")] {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|e| e == "wgsl") {
                let text = std::fs::read_to_string(&path).unwrap();
                let used = shaders::ALL.iter().any(|s| s.source.contains(&text));
                assert!(used, "{} is part of no module", path.display());
                files += 1;
            }
        }
    }
    assert!(files >= shaders::ALL.len());
}

#[test]
fn a_faulty_module_is_refused() {
    let broken = shaders::SKY.source.replace("sky_radiance(normalize", "sky_radiance(length");
    let module = naga::front::wgsl::parse_str(&broken);
    let valid = module.is_ok_and(|m| {
        Validator::new(ValidationFlags::all(), Capabilities::default()).validate(&m).is_ok()
    });
    assert!(!valid);
}
