//! One character as the last tick left it to be drawn.

use super::characters::{Place, SlotAddress};
use super::draw::{DrawGroup, InstanceRecord};
use super::kind::Kind;
use super::world::World;
use crate::index::{BoneIndex, CharacterId};
use crate::math::Mat3x4;
use crate::pose::PaletteView;
use glam::{Affine3A, Vec3};
use std::borrow::Cow;

/// Somebody's instance record, and what that refers to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Drawn<'a> {
    pub kind: &'a Kind,
    pub record: &'a InstanceRecord,
    /// The palette, and the one before where they are mixed; else the same one.
    pub newer: PaletteView<'a>,
    pub older: PaletteView<'a>,
}

impl Drawn<'_> {
    /// The palette that the vertex shader sees, every matrix of it.
    pub fn palette(&self) -> Cow<'_, [Mat3x4]> {
        let share = self.record.weight;
        if self.record.before_offset == self.record.palette_offset || share == 1.0 {
            return self.newer.to_whole();
        }
        let mix = |(older, newer): (&Mat3x4, &Mat3x4)| {
            let mut mixed = *older;
            let pairs = mixed.rows.as_flattened_mut().iter_mut().zip(newer.rows.as_flattened());
            pairs.for_each(|(a, b)| *a += (b - *a) * share);
            mixed
        };
        let (older, newer) = (self.older.to_whole(), self.newer.to_whole());
        older.iter().zip(newer.iter()).map(mix).collect()
    }

    /// Model space to world metres.
    pub fn world_from_model(&self) -> Affine3A {
        self.record.world_from_model.to_affine()
    }

    /// Centre and radius, world metres, of a sphere around whoever stands there.
    pub fn sphere(&self) -> (Vec3, f32) {
        let Kind { center, pivot, scale, radius, .. } = self.kind;
        // Of a rotation and a uniform scale all rows are as long.
        let [row, ..] = self.record.world_from_model.rows;
        let size = Vec3::new(row[0], row[1], row[2]).length();
        let middle = self.record.world_from_model.transform_point(*center / *scale + *pivot);
        (middle, radius / scale * size)
    }
}

/// Where each bone of a palette is, in the space that `place` leads to. `None` for a bone that its
/// palette matrix does not tell.
pub(crate) fn bones(
    kind: &Kind,
    palette: &[Mat3x4],
    place: Affine3A,
) -> impl Iterator<Item = Option<Affine3A>> {
    let count = kind.rig.bone_count().0;
    (0..count).map(move |bone| Some(place * kind.rig.model_from_bone(palette, BoneIndex(bone))?))
}

impl World {
    /// What a record of a group refers to. `None` for one that refers to nothing.
    pub fn drawn_of<'a>(
        &'a self,
        group: &DrawGroup,
        record: &'a InstanceRecord,
    ) -> Option<Drawn<'a>> {
        let kind = self.kinds.get(group.kind.get())?;
        let page = self.slots.pages.get(group.page as usize)?;
        let (newer, older) = (page.palette(record)?, page.palette_before(record)?);
        Some(Drawn { kind, record, newer, older })
    }

    /// Who holds the slot of a character's palette: itself, or its leader.
    pub fn holder(&self, id: CharacterId) -> CharacterId {
        match self.characters.places.get(id.get()) {
            Some(Place::Following { leader, .. })
                if self.characters.slots.get(id.get()) == Some(&SlotAddress::NONE) =>
            {
                *leader
            }
            _ => id,
        }
    }

    /// A character as it is drawn; `None` for one that neither camera nor shadow map sees.
    pub fn drawn(&self, id: CharacterId) -> Option<Drawn<'_>> {
        let at = self.characters.slots.get(self.holder(id).get())?;
        let (group, record) = self.record(at.page, id)?;
        self.drawn_of(group, &self.instances[record])
    }

    /// Where the record of a character is whose palette lies in a page.
    pub fn record(&self, page: u32, id: CharacterId) -> Option<(&DrawGroup, usize)> {
        self.groups.iter().filter(|group| group.page == page).find_map(|group| {
            let (camera, shadow) = (&group.camera, &group.shadow);
            let all = camera.start.min(shadow.start) as usize..camera.end.max(shadow.end) as usize;
            let records = self.instances.get(all.clone())?;
            let at = records.iter().position(|record| record.id == id.0)?;
            Some((group, all.start + at))
        })
    }
}
