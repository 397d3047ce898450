//! Extensions that a file says it can't be shown without.

use super::json::Root;
use crate::asset::error::{Fault, word};

/// Extensions that are read, or that change nothing in what is drawn here.
const HARMLESS: &[&str] = &[
    // Read.
    "EXT_meshopt_compression",
    "EXT_texture_webp",
    "KHR_materials_emissive_strength",
    "KHR_materials_pbrSpecularGlossiness",
    "KHR_materials_unlit",
    "KHR_mesh_quantization",
    "KHR_meshopt_compression",
    "KHR_texture_transform",
    // Channels of it are left out with a warning.
    "KHR_animation_pointer",
    // Lights, sounds and words beside the character.
    "EXT_lights_ies",
    "EXT_lights_image_based",
    "KHR_lights",
    "KHR_lights_punctual",
    "KHR_xmp",
    "KHR_xmp_json_ld",
    // Finer points of materials; the base colour stands for them.
    "KHR_materials_anisotropy",
    "KHR_materials_clearcoat",
    "KHR_materials_diffuse_transmission",
    "KHR_materials_dispersion",
    "KHR_materials_ior",
    "KHR_materials_iridescence",
    "KHR_materials_sheen",
    "KHR_materials_specular",
    "KHR_materials_transmission",
    "KHR_materials_variants",
    "KHR_materials_volume",
    "KHR_materials_volume_scatter",
    // How a mesh was made; its triangles are all there.
    "FB_ngon_encoding",
];

/// What to do about extensions that are often met.
const ADVICE: &[(&str, &str)] = &[
    (DRACO, "; save the file without Draco compression (gltf-transform can undo it)"),
    ("KHR_texture_basisu", "; save its textures as PNG or JPEG"),
    ("MSFT_texture_dds", "; save its textures as PNG or JPEG"),
    ("EXT_texture_avif", "; save its textures as PNG or JPEG"),
    ("EXT_mesh_gpu_instancing", "; save the file with its instances as nodes"),
];

const DRACO: &str = "KHR_draco_mesh_compression";

/// Refuses the first required extension that is not supported, by name.
pub(super) fn check_required(root: &Root) -> Result<(), Fault> {
    match root.extensions_required.iter().find(|name| !HARMLESS.contains(&name.as_str())) {
        Some(name) => Err(unsupported(name)),
        None => Ok(()),
    }
}

/// A mesh whose only bytes are Draco's, in a file that doesn't list it as required.
pub(super) fn draco() -> Fault {
    unsupported(DRACO)
}

fn unsupported(name: &str) -> Fault {
    let known = ADVICE.iter().find(|(known, _)| *known == name);
    let advice = known.map_or("", |(_, advice)| advice);
    Fault::RequiredExtension { name: word(name), advice }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(required: &[&str]) -> Result<(), String> {
        let root = serde_json::json!({ "extensionsRequired": required });
        let root: Root = serde_json::from_value(root).unwrap();
        check_required(&root).map_err(|fault| fault.to_string())
    }

    #[test]
    fn an_unknown_required_extension_is_named() {
        check(&[]).unwrap();
        check(&["KHR_lights_punctual", "KHR_mesh_quantization"]).unwrap();
        let message = check(&["KHR_materials_unlit", "ACME_teleport"]).unwrap_err();
        assert!(message.contains("ACME_teleport"), "{message}");
        for (name, advice) in ADVICE {
            let message = check(&[name]).unwrap_err();
            assert!(message.contains(name) && message.ends_with(advice), "{message}");
        }
    }
}
