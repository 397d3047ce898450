//! What the crowd hands to a renderer each frame: plain slices, nothing to call back into.

use crate::index::CharacterKind;
use crate::math::Mat3x4;
use bytemuck::{Pod, Zeroable};
use std::ops::Range;

/// One visible character, as the vertex shader reads it.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C, align(16))]
pub struct InstanceRecord {
    /// Places the character's model space in the world; rotation, uniform scale, translation.
    pub world_from_model: Mat3x4,
    /// First palette matrix of this character, counted in matrices from the start of its page.
    pub palette_offset: u32,
    /// Multiplies the base colour: RGBA, 8 bits each, red lowest, linear. Alpha is the share of the
    /// materials' own look that is left: full for a tint of what is to be tinted, 0 for a colour
    /// that replaces all but textures ([`color_tint`](super::color_tint)).
    pub tint: u32,
    /// The character's id, for colour modes and picking.
    pub id: u32,
    /// World y of the ground that it stands on, metres.
    pub ground: f32,
    /// First matrix of the palette before that one, which the drawn one is mixed with; the same
    /// where nothing is interpolated.
    pub before_offset: u32,
    /// Share of the newer palette, `0..=1`.
    pub weight: f32,
    /// Share of the coarser of two meshes, `0..=1`, while one gives way to the other. The renderer
    /// writes it; zero here.
    pub fade: f32,
    /// Fills the record up; zero.
    pub unused: u32,
}

/// Instances of one kind whose palettes lie in one page.
///
/// Within a group those that only the camera sees come first, then those that both see, then those
/// that only the shadow map sees: so each view's instances are one range.
#[derive(Clone, Debug, PartialEq)]
pub struct DrawGroup {
    /// Which meshes.
    pub kind: CharacterKind,
    /// Index into [`CrowdDraw::pages`].
    pub page: u32,
    /// Into [`CrowdDraw::instances`]: in the camera's frustum.
    pub camera: Range<u32>,
    /// Into [`CrowdDraw::instances`]: in the shadow map's frustum.
    pub shadow: Range<u32>,
}

/// One page of palette memory. Pages never shrink and never exceed the size that the renderer
/// named; a page's rows outside `dirty` are as they were last frame.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Page {
    /// Palette matrices; may be longer than last frame, never shorter.
    pub matrices: Vec<Mat3x4>,
    /// Matrices of one palette.
    pub palette_len: u32,
    /// What was written this frame, ascending and not overlapping, in matrices: whole palettes.
    pub dirty: Vec<Range<u32>>,
}

impl Page {
    /// True when ranges begin and end where palettes do.
    pub fn is_whole_palettes(&self, ranges: &[Range<u32>]) -> bool {
        let whole = |at: u32| at.checked_rem(self.palette_len) == Some(0);
        ranges.iter().all(|r| whole(r.start) && whole(r.end))
    }
}

/// All of the crowd that one frame draws.
#[derive(Clone, Copy, Debug)]
pub struct CrowdDraw<'a> {
    /// Every visible instance, group by group.
    pub instances: &'a [InstanceRecord],
    /// One per (kind, page) with anything visible.
    pub groups: &'a [DrawGroup],
    /// All palette pages.
    pub pages: &'a [Page],
}
