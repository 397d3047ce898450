//! What the crowd hands to a renderer each frame: plain slices, nothing to call back into.

use crate::index::CharacterKind;
use crate::math::Mat3x4;
use crate::pose::{CutRows, PaletteView};
use bytemuck::{Pod, Zeroable};
use std::ops::Range;
use std::sync::Arc;

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
    /// Which of its palettes have [`CutRows`]: [`Self::CUT`] and [`Self::BEFORE_CUT`].
    pub cut: u32,
}

impl InstanceRecord {
    /// The palette has the rows of its page's [`CutRows`] alone.
    pub const CUT: u32 = 1;
    /// So has the palette before that one.
    pub const BEFORE_CUT: u32 = 2;
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
    /// What a cut palette has of these, at its beginning; `None` where none is cut.
    pub cut: Option<Arc<CutRows>>,
    /// What was written this frame, ascending and not overlapping, in matrices: whole palettes, and
    /// the rows of cut ones, each a range of its own.
    pub dirty: Vec<Range<u32>>,
}

impl Page {
    /// Rows of a cut palette; as many as there are matrices where none is cut.
    pub fn cut_len(&self) -> u32 {
        self.cut.as_ref().map_or(self.palette_len, |cut| cut.count() as u32)
    }

    /// True for a range that is the rows of a cut palette.
    pub fn is_cut(&self, range: &Range<u32>) -> bool {
        let len = self.cut_len();
        let begins = range.start.checked_rem(self.palette_len) == Some(0);
        begins && len < self.palette_len && range.end == range.start.saturating_add(len)
    }

    /// True when each range begins where palettes do, and ends there or is a cut one's rows.
    pub fn is_palettes(&self, ranges: &[Range<u32>]) -> bool {
        let whole = |at: u32| at.checked_rem(self.palette_len) == Some(0);
        ranges.iter().all(|r| whole(r.start) && whole(r.end) || self.is_cut(r))
    }

    /// The palette that a record is drawn with; `None` for a record of another page.
    pub fn palette(&self, record: &InstanceRecord) -> Option<PaletteView<'_>> {
        self.view(record.palette_offset, record.cut & InstanceRecord::CUT != 0)
    }

    /// The one before that, which it is mixed with.
    pub fn palette_before(&self, record: &InstanceRecord) -> Option<PaletteView<'_>> {
        self.view(record.before_offset, record.cut & InstanceRecord::BEFORE_CUT != 0)
    }

    fn view(&self, offset: u32, is_cut: bool) -> Option<PaletteView<'_>> {
        let matrices = self.matrices.get(offset as usize..)?.get(..self.palette_len as usize)?;
        Some(match self.cut.as_deref().filter(|_| is_cut) {
            Some(cut) => PaletteView::cut(matrices, cut),
            None => PaletteView::whole(matrices),
        })
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
