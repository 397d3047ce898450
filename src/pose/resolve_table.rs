//! What resolve knows of a rig: one flat record per bone, in the order of the palette.

use super::Skeleton;
use super::basis::{Basis, PoseTrs, Start};
use crate::index::{BoneCount, BoneIndex};
use crate::math::Mat3x4;
use glam::DAffine3;

/// No slot, no product.
pub(crate) const NONE: u16 = u16::MAX;

/// One bone's step of the walk.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BoneOp {
    /// Where the parent's matrix (or what a root starts from) was kept.
    pub parent_slot: u16,
    /// Where to keep this bone's matrix; [`NONE`] when nobody reads it.
    pub keep_slot: u16,
    /// Index of the matrix that follows in the palette; [`NONE`] for the identity.
    pub product: u16,
    /// Minus the position of the bone's bind frame.
    pub minus_origin: [f32; 3],
    /// Scale of the root's start, which the whole walk keeps (bind-relative class).
    pub scale: f32,
    /// Pose-space translation of the reference pose.
    pub rest: [f32; 3],
}

/// What a root's walk starts from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RootOp {
    /// Where to keep it.
    pub slot: u16,
    pub matrix: Mat3x4,
    /// Rotation of the matrix, xyzw (bind-relative class).
    pub rotation: [f32; 4],
}

/// A palette entry beyond the bones'.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ExtraOp {
    /// Where the bone's matrix was kept.
    pub slot: u16,
    /// As in [`BoneOp`].
    pub product: u16,
}

/// The walk of one rig. Matrices that a later bone reads are kept in slots, which are reused when
/// their last reader is done, so that the ones in use stay in the first-level cache.
#[derive(Clone, Debug, Default)]
pub(crate) struct ResolveTable {
    pub bones: Vec<BoneOp>,
    pub extras: Vec<ExtraOp>,
    /// Slots to fill before the walk.
    pub roots: Vec<RootOp>,
    /// Matrices that follow the walked ones.
    pub products: Vec<Mat3x4>,
    /// Number of slots.
    pub slots: usize,
}

/// What a palette matrix beyond those of the walked bones is made of.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Extra {
    pub on: Carrier,
    /// What follows there; `None` for the identity.
    pub product: Option<DAffine3>,
}

/// What carries a bone that the walk does not reach, or an extra matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Carrier {
    /// A bone that is walked.
    Bone(BoneIndex),
    /// What a root that is not walked starts from.
    Root(BoneIndex),
}

impl ResolveTable {
    /// The walk down the whole skeleton.
    pub fn new(skeleton: &Skeleton, basis: &Basis, reference: &[PoseTrs]) -> Self {
        let bones = skeleton.bone_count();
        let entries = skeleton.palette().iter().zip(&basis.products).skip(bones.get());
        let extras: Vec<_> = entries
            .map(|(entry, product)| Extra { on: Carrier::Bone(entry.bone), product: *product })
            .collect();
        Self::first(bones, &extras, skeleton, basis, reference)
    }

    /// The walk down the first bones, with the matrices that hang on these or on roots.
    pub fn first(
        bones: BoneCount,
        extras: &[Extra],
        skeleton: &Skeleton,
        basis: &Basis,
        reference: &[PoseTrs],
    ) -> Self {
        let parents = &skeleton.parents()[..bones.get()];
        let mut last_reader: Vec<Option<usize>> = vec![None; parents.len()];
        for (bone, parent) in parents.iter().enumerate() {
            if let Some(parent) = parent {
                last_reader[parent.get()] = Some(bone);
            }
        }
        for extra in extras {
            if let Carrier::Bone(bone) = extra.on {
                last_reader[bone.get()] = Some(usize::MAX);
            }
        }

        let mut table = Self::default();
        let mut free: Vec<u16> = Vec::new();
        let mut slot_of: Vec<u16> = Vec::with_capacity(parents.len());
        for (bone, parent) in parents.iter().enumerate() {
            let parent_slot = match parent {
                Some(parent) => slot_of[parent.get()],
                None => table.root_slot(&basis.walk_from_root[bone]),
            };
            let keep_slot = match last_reader[bone] {
                Some(_) => free.pop().unwrap_or_else(|| table.new_slot()),
                None => NONE,
            };
            slot_of.push(keep_slot);
            if let Some(parent) = parent
                && last_reader[parent.get()] == Some(bone)
            {
                free.push(parent_slot);
            }
            let product = table.product(basis.products[bone]);
            table.bones.push(BoneOp {
                parent_slot,
                keep_slot,
                product,
                minus_origin: (-basis.bones[bone].origin).as_vec3().to_array(),
                scale: basis.walk_from_root[bone].scale as f32,
                rest: reference[bone].translation.as_vec3().to_array(),
            });
        }
        for extra in extras {
            let slot = match extra.on {
                Carrier::Bone(bone) => slot_of[bone.get()],
                Carrier::Root(root) => table.root_slot(&basis.walk_from_root[root.get()]),
            };
            let product = table.product(extra.product);
            table.extras.push(ExtraOp { slot, product });
        }
        table
    }

    fn new_slot(&mut self) -> u16 {
        self.slots += 1;
        (self.slots - 1) as u16
    }

    fn root_slot(&mut self, start: &Start) -> u16 {
        let matrix = Mat3x4::from_affine(&start.matrix.as_affine3a());
        if let Some(root) = self.roots.iter().find(|r| r.matrix == matrix) {
            return root.slot;
        }
        let slot = self.new_slot();
        self.roots.push(RootOp { slot, matrix, rotation: start.rotation.as_quat().to_array() });
        slot
    }

    fn product(&mut self, matrix: Option<DAffine3>) -> u16 {
        let Some(matrix) = matrix else { return NONE };
        self.products.push(Mat3x4::from_affine(&matrix.as_affine3a()));
        (self.products.len() - 1) as u16
    }

    /// Number of palette matrices.
    pub fn palette_len(&self) -> usize {
        self.bones.len() + self.extras.len()
    }
}
