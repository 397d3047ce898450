//! WGSL: one module per renderer, its parts put together at compile time.

use super::gpu::Gpu;

/// A module's label and source.
#[derive(Clone, Copy, Debug)]
pub struct Shader {
    /// Name of the file in shaders/.
    pub name: &'static str,
    /// The whole module: its parts, in order, each with a line's end behind it.
    pub source: &'static str,
    /// Files in shaders/ that it is put together from, without their extension.
    pub parts: &'static [&'static str],
}

/// A module of the given parts of shaders/, in order.
macro_rules! module {
    ($name:ident = $label:literal: $($part:literal),+) => {
        #[doc = concat!("The module of shaders/", $label, ".wgsl.")]
        pub const $name: Shader = Shader {
            name: $label,
            source: concat!($(
                include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/shaders/", $part, ".wgsl")), "\n"
            ),+),
            parts: &[$($part),+],
        };
    };
}

module!(CHARACTER = "character": "lib/frame", "lib/color", "lib/light", "lib/skin",
    "lib/material", "character");
module!(CHARACTER_SHADOW = "character_shadow": "lib/skin", "lib/material",
    "character_shadow");
module!(GROUND = "ground": "lib/frame", "lib/color", "lib/light", "lib/paving", "ground");
module!(GROUND_UNEVEN = "ground_uneven": "lib/frame", "lib/color", "lib/light", "lib/terrain",
    "lib/paving", "ground_uneven");
module!(SKY = "sky": "lib/frame", "lib/color", "lib/light", "sky");
module!(CONTACT = "contact": "lib/frame", "lib/color", "lib/skin", "lib/terrain", "contact");
module!(MIPS = "mips": "mips");
module!(LINE = "line": "lib/frame", "lib/color", "line");
module!(PALETTE_SCATTER = "palette_scatter": "palette_scatter");

/// Every module, for validation.
pub const ALL: [Shader; 9] =
    [CHARACTER, CHARACTER_SHADOW, GROUND, GROUND_UNEVEN, SKY, CONTACT, LINE, MIPS, PALETTE_SCATTER];

impl Shader {
    /// Compiles the module; a fault goes to the device's error handler.
    pub(super) fn compile(self, gpu: &Gpu) -> wgpu::ShaderModule {
        gpu.device().create_shader_module(wgpu::ShaderModuleDescriptor {
            label: Some(self.name),
            source: wgpu::ShaderSource::Wgsl(gpu.text_of(self).into()),
        })
    }
}
