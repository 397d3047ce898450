//! Palettes of characters of which only the first bones are animated.
//!
//! The others stand at rest with respect to the last animated bone above them. One that stands there
//! as it is bound has that bone's matrix, to the bit: what its inverse bind matrix undoes is what the
//! way down to it does. So a cut palette has a row for each animated bone, further rows for what
//! stands otherwise (binds that are not the rest pose, meshes without a skin), and the rest of the
//! matrices are rows that are there already.

use super::Skeleton;
use super::basis::{Basis, PoseTrs};
use super::resolve_table::{Carrier, Extra, ResolveTable};
use crate::index::BoneIndex;
use crate::math::Mat3x4;
use glam::{DAffine3, DVec3};
use std::borrow::Cow;
use std::sync::Arc;

/// How far two matrices may put a skin apart that share a row, of the skeleton's extent. From where
/// bones are cut that is a hundredth of a pixel; exporters leave noise of a hundredth of it.
const TOLERANCE: f64 = 1e-4;

/// Which of a character's matrices a palette holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Detail {
    /// All.
    #[default]
    Whole,
    /// Those of [`CutRows`].
    Cut,
}

/// The rows of a cut palette, and which of them each matrix of a whole one is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CutRows {
    row_of: Vec<u16>,
    count: usize,
}

impl CutRows {
    /// Number of rows, lower than that of a whole palette.
    pub fn count(&self) -> usize {
        self.count
    }

    /// For each matrix of a whole palette its row.
    pub fn row_of(&self) -> &[u16] {
        &self.row_of
    }
}

/// A palette to be read, whole or cut.
#[derive(Clone, Copy, Debug, Default)]
pub struct PaletteView<'a> {
    matrices: &'a [Mat3x4],
    rows: Option<&'a CutRows>,
}

impl<'a> PaletteView<'a> {
    /// One that has every matrix.
    pub fn whole(matrices: &'a [Mat3x4]) -> Self {
        Self { matrices, rows: None }
    }

    /// One that has rows.
    pub fn cut(matrices: &'a [Mat3x4], rows: &'a CutRows) -> Self {
        Self { matrices, rows: Some(rows) }
    }

    /// The matrix of a palette entry; `None` for one that the palette does not have.
    pub fn get(&self, entry: usize) -> Option<&'a Mat3x4> {
        match self.rows {
            None => self.matrices.get(entry),
            Some(rows) => self.matrices.get(usize::from(*rows.row_of.get(entry)?)),
        }
    }

    /// Every matrix.
    pub fn to_whole(self) -> Cow<'a, [Mat3x4]> {
        match self.rows {
            None => Cow::Borrowed(self.matrices),
            Some(rows) => {
                (0..rows.row_of.len()).filter_map(|entry| self.get(entry)).copied().collect()
            }
        }
    }
}

/// What resolve knows of a rig of which only the first bones are animated.
#[derive(Clone, Debug)]
pub(crate) struct LowDetail {
    pub table: ResolveTable,
    pub rows: Arc<CutRows>,
}

impl LowDetail {
    /// `None` where a cut palette is as long as a whole one.
    pub fn new(skeleton: &Skeleton, basis: &Basis, reference: &[PoseTrs]) -> Option<Self> {
        let low = skeleton.low_detail_bone_count();
        let (bones, entries) = (skeleton.bone_count(), skeleton.palette());
        let at_rest = AtRest::of(skeleton);
        let mut carried: Vec<(Carrier, DAffine3)> = Vec::with_capacity(bones.get());
        for bone in bones.bones() {
            let parent = skeleton.parents()[bone.get()];
            carried.push(match parent {
                _ if low.contains(bone) => (Carrier::Bone(bone), DAffine3::IDENTITY),
                Some(parent) => {
                    let (carrier, from) = carried[parent.get()];
                    (carrier, from * basis.step(bone, &reference[bone.get()]))
                }
                None => (Carrier::Root(bone), basis.step(bone, &reference[bone.get()])),
            });
        }
        // Of each row, an entry that it was made for.
        let mut rows: Vec<usize> = low.bones().map(BoneIndex::get).collect();
        let mut row_of: Vec<u16> = low.bones().map(|bone| bone.0).collect();
        let mut extras = Vec::new();
        for (entry, of) in entries.iter().enumerate().skip(low.get()) {
            let (on, from) = carried[of.bone.get()];
            let same = |row: &usize| {
                carried[entries[*row].bone.get()].0 == on && at_rest.are_alike(*row, entry)
            };
            let row = rows.iter().position(same).unwrap_or_else(|| {
                let product = from * basis.products[entry].unwrap_or(DAffine3::IDENTITY);
                extras.push(Extra { on, product: Some(product) });
                rows.push(entry);
                rows.len() - 1
            });
            row_of.push(row as u16);
        }
        (rows.len() < entries.len()).then(|| Self {
            table: ResolveTable::first(low, &extras, skeleton, basis, reference),
            rows: Arc::new(CutRows { row_of, count: rows.len() }),
        })
    }
}

/// The rest pose. Matrices that one bone carries and that are alike here are alike in every pose,
/// unless the bone flattens what it carries.
struct AtRest {
    /// Of each palette entry, with its inverse if it has one.
    palette: Vec<(DAffine3, Option<DAffine3>)>,
    /// Where the bone of each entry is.
    joints: Vec<DVec3>,
    /// Of all bones, model units.
    extent: f64,
}

impl AtRest {
    fn of(skeleton: &Skeleton) -> Self {
        let mut model: Vec<DAffine3> = Vec::with_capacity(skeleton.parents().len());
        for (bone, local) in skeleton.bone_count().bones().zip(skeleton.rest()) {
            let above = match skeleton.parents()[bone.get()] {
                Some(parent) => model[parent.get()],
                None => skeleton.model_from_root_parent(bone).as_daffine3(),
            };
            let rotation = local.rotation.as_dquat().normalize();
            let (scale, translation) = (local.scale.as_dvec3(), local.translation.as_dvec3());
            let local = DAffine3::from_scale_rotation_translation(scale, rotation, translation);
            model.push(above * local);
        }
        let first = model.first().map_or(DVec3::ZERO, |m| m.translation);
        let distances = model.iter().map(|m| m.translation.distance(first));
        let extent = distances.fold(0.0, f64::max);
        let entries = skeleton.palette().iter();
        let matrix = |of: &super::PaletteEntry| {
            let matrix = model[of.bone.get()] * of.bone_from_mesh.as_daffine3();
            let inverse = matrix.inverse();
            (matrix, inverse.is_finite().then_some(inverse))
        };
        Self {
            palette: entries.clone().map(matrix).collect(),
            joints: entries.map(|of| model[of.bone.get()].translation).collect(),
            extent,
        }
    }

    /// Whether one entry's matrix puts what hangs on another one's bone where that one's does.
    fn are_alike(&self, one: usize, other: usize) -> bool {
        let (matrix, (_, Some(inverse))) = (self.palette[one].0, self.palette[other]) else {
            return false;
        };
        let (joint, away) = (self.joints[other], self.extent);
        // Joints that all coincide leave no length to compare by.
        if away == 0.0 {
            return false;
        }
        let points = [DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z].map(|axis| joint + axis * away);
        let moved = points.map(|p| (matrix * inverse).transform_point3(p).distance(p));
        moved.iter().all(|moved| *moved <= TOLERANCE * self.extent)
    }
}

#[cfg(test)]
mod tests;
