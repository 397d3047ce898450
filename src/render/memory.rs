//! What the renderer holds of the GPU's memory.

use super::error::RenderError;
use super::health::GpuFault;
use crate::crowd::Bytes;
use std::fmt;

/// Bytes of GPU memory by what they are for: what was asked for, without what a driver adds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct GpuMemory {
    /// Palette pages.
    pub palettes: u64,
    /// Instance records.
    pub instances: u64,
    /// Mapped memory that uploads pass through.
    pub uploads: u64,
    /// Vertices and indices of all characters.
    pub meshes: u64,
    /// Their images, all levels.
    pub textures: u64,
    /// The sun's shadow map.
    pub shadow_map: u64,
    /// Depth, and colour with several samples.
    pub attachments: u64,
    /// The picture itself.
    pub picture: u64,
}

impl GpuMemory {
    /// Each part with its name.
    pub fn parts(&self) -> [(&'static str, u64); 8] {
        [
            ("palettes", self.palettes),
            ("instances", self.instances),
            ("uploads", self.uploads),
            ("meshes", self.meshes),
            ("textures", self.textures),
            ("shadow map", self.shadow_map),
            ("depth and samples", self.attachments),
            ("picture", self.picture),
        ]
    }

    /// All of it, bytes.
    pub fn total(&self) -> u64 {
        self.parts().iter().map(|(_, bytes)| bytes).sum()
    }
}

impl fmt::Display for GpuMemory {
    /// The total, then what takes the most first; parts without a byte are left out.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", Bytes(self.total()))?;
        let mut parts = self.parts();
        parts.sort_by_key(|(_, bytes)| std::cmp::Reverse(*bytes));
        for (i, (name, bytes)) in parts.iter().filter(|(_, bytes)| *bytes > 0).enumerate() {
            write!(f, "{}{name} {}", if i == 0 { " (" } else { ", " }, Bytes(*bytes))?;
        }
        if self.total() > 0 { f.write_str(")") } else { Ok(()) }
    }
}

/// What becomes of a fault: one of memory is told with what was asked for.
pub(super) fn told_with(held: impl FnOnce() -> GpuMemory) -> impl FnOnce(GpuFault) -> RenderError {
    move |fault| match fault {
        GpuFault::OutOfMemory(reason) => RenderError::OutOfMemory { reason, held: held() },
        fault => RenderError::Fault(fault),
    }
}

/// Bytes of a texture's texels, all levels and samples.
pub(super) fn texture_bytes(texture: &wgpu::Texture) -> u64 {
    let texel = u64::from(texture.format().block_copy_size(None).unwrap_or(4));
    let level = |level: u32| {
        let side = |length: u32| u64::from((length >> level).max(1));
        side(texture.width()) * side(texture.height())
    };
    let texels: u64 = (0..texture.mip_level_count()).map(level).sum();
    texels * u64::from(texture.depth_or_array_layers()) * u64::from(texture.sample_count()) * texel
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_takes_the_most_comes_first_and_nothing_is_left_out() {
        let none = GpuMemory::default();
        assert_eq!(none.to_string(), "0 bytes");
        let some = GpuMemory { palettes: 3 << 20, attachments: 40 << 20, ..none };
        let text = "43.0 MiB (depth and samples 40.0 MiB, palettes 3.0 MiB)";
        assert_eq!(some.to_string(), text);
        let all = GpuMemory {
            palettes: 1,
            instances: 10,
            uploads: 100,
            meshes: 1_000,
            textures: 10_000,
            shadow_map: 100_000,
            attachments: 1_000_000,
            picture: 10_000_000,
        };
        assert_eq!(all.total(), 11_111_111);
    }
}
