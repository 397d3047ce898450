//! Palette entries: one matrix for every distinct (bone, place of a mesh on it) that is used.

use crate::index::BoneIndex;
use crate::pose::Skeleton;
use crate::pose::skeleton::{PaletteEntry, SkeletonError};
use glam::DAffine3;

/// Entries collected while meshes are read; bones are positions in the unordered bone set.
pub(super) struct DraftPalette {
    /// `(bone, bone_from_mesh)`.
    pub entries: Vec<(usize, DAffine3)>,
    by_bone: Vec<Vec<u16>>,
}

/// The palette in its final order, and where each draft entry went.
pub(super) struct FinalPalette {
    /// One per bone first, then the extras.
    pub entries: Vec<PaletteEntry>,
    /// Indexed by draft entry.
    pub final_of_draft: Vec<u16>,
}

impl DraftPalette {
    /// Nothing used yet.
    pub fn new(bones: usize) -> Self {
        Self { entries: Vec::new(), by_bone: vec![Vec::new(); bones] }
    }

    /// The entry for a mesh at `bone_from_mesh` on `bone`, shared with an equal one.
    ///
    /// # Errors
    /// When there are more distinct ones than a palette may hold.
    pub fn entry(&mut self, bone: usize, bone_from_mesh: DAffine3) -> Result<u16, SkeletonError> {
        let same = |&&e: &&u16| nearly_equal(&self.entries[usize::from(e)].1, &bone_from_mesh);
        if let Some(&entry) = self.by_bone[bone].iter().find(same) {
            return Ok(entry);
        }
        let index = self.entries.len();
        if index >= Skeleton::MAX {
            let bones = self.by_bone.len();
            return Err(SkeletonError::TooMany { bones, palette: index + 1, limit: Skeleton::MAX });
        }
        self.entries.push((bone, bone_from_mesh));
        self.by_bone[bone].push(index as u16);
        Ok(index as u16)
    }

    /// Orders the entries for bones in the order `order` (positions in the bone set). A bone's first
    /// entry is the first that was asked for, or `bone_from_model(bone)` when none was.
    pub fn finish(
        &self,
        order: &[usize],
        bone_from_model: impl Fn(usize) -> DAffine3,
    ) -> FinalPalette {
        let mut entries = Vec::with_capacity(order.len().max(self.entries.len()));
        let mut final_of_draft = vec![0; self.entries.len()];
        let packed = |bone: usize, m: &DAffine3| PaletteEntry {
            bone: BoneIndex(bone as u16),
            bone_from_mesh: m.as_affine3a(),
        };
        for (new, &old) in order.iter().enumerate() {
            match self.by_bone[old].first() {
                Some(&draft) => {
                    final_of_draft[usize::from(draft)] = new as u16;
                    entries.push(packed(new, &self.entries[usize::from(draft)].1));
                }
                None => entries.push(packed(new, &bone_from_model(old))),
            }
        }
        for (new, &old) in order.iter().enumerate() {
            for &draft in self.by_bone[old].iter().skip(1) {
                final_of_draft[usize::from(draft)] = entries.len() as u16;
                entries.push(packed(new, &self.entries[usize::from(draft)].1));
            }
        }
        FinalPalette { entries, final_of_draft }
    }
}

/// Equal but for what a float's rounding does to an exporter's matrices.
fn nearly_equal(a: &DAffine3, b: &DAffine3) -> bool {
    let (a, b) = (a.to_cols_array(), b.to_cols_array());
    let close = |part: std::ops::Range<usize>| {
        let size = part.clone().fold(0.0_f64, |m, i| m.max(a[i].abs()));
        part.into_iter().all(|i| (a[i] - b[i]).abs() <= 1e-6 * size)
    };
    close(0..9) && close(9..12)
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::DVec3;

    fn at(x: f64) -> DAffine3 {
        DAffine3::from_translation(DVec3::new(x, 1.0, 0.0))
    }

    #[test]
    fn equal_places_share_an_entry_and_extras_follow_the_bones() {
        let mut draft = DraftPalette::new(3);
        let a = draft.entry(2, at(1.0)).unwrap();
        let b = draft.entry(2, at(2.0)).unwrap();
        let c = draft.entry(0, at(1.0)).unwrap();
        assert_eq!(draft.entry(2, at(1.0 + 1e-8)).unwrap(), a);
        let palette = draft.finish(&[2, 1, 0], |bone| at(-(bone as f64)));
        let bones: Vec<u16> = palette.entries.iter().map(|e| e.bone.0).collect();
        assert_eq!(bones, [0, 1, 2, 0]);
        assert_eq!(palette.entries[1].bone_from_mesh.translation.x, -1.0);
        let place = |draft: u16| palette.final_of_draft[usize::from(draft)];
        assert_eq!((place(a), place(b), place(c)), (0, 3, 2));
    }

    #[test]
    fn too_many_places_are_refused_with_their_number() {
        let mut draft = DraftPalette::new(1);
        let e = (0..=Skeleton::MAX).find_map(|i| draft.entry(0, at(i as f64 * 10.0)).err());
        assert_eq!(e, Some(SkeletonError::TooMany { bones: 1, palette: 8193, limit: 8192 }));
    }
}
