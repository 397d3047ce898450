//! The runtime skeleton: hierarchy, rest pose and what each palette matrix is made of.

use crate::index::{BoneCount, BoneIndex, PaletteIndex};
use crate::math::Trs;
use glam::Affine3A;

/// What can be wrong with the parts of a skeleton.
#[derive(Debug, thiserror::Error, PartialEq)]
pub enum SkeletonError {
    /// Columns of unequal length.
    #[error(
        "skeleton columns differ in length: {names} names, {parents} parents, {rest} rest transforms, {roots} root transforms"
    )]
    Lengths {
        /// Number of names.
        names: usize,
        /// Number of parents.
        parents: usize,
        /// Number of rest transforms.
        rest: usize,
        /// Number of root transforms.
        roots: usize,
    },
    /// More bones or palette entries than an index can name.
    #[error(
        "a skeleton of {bones} bones and {palette} palette matrices is over the limit of {limit}"
    )]
    TooMany {
        /// Number of bones.
        bones: usize,
        /// Number of palette entries.
        palette: usize,
        /// The limit on either.
        limit: usize,
    },
    /// A bone whose parent does not come before it.
    #[error("bone {bone} has parent {parent}, which does not come before it")]
    ParentOrder {
        /// The bone.
        bone: usize,
        /// Its parent.
        parent: usize,
    },
    /// The palette does not begin with one entry per bone, in bone order.
    #[error(
        "palette entry {entry} belongs to bone {bone}; the first {bones} entries must be the bones in order"
    )]
    PaletteOrder {
        /// The entry.
        entry: usize,
        /// The bone it names.
        bone: usize,
        /// Number of bones.
        bones: usize,
    },
    /// A number that is not finite.
    #[error("bone {bone} ({name}) has a {what} that is not a finite number")]
    NotFinite {
        /// The bone.
        bone: usize,
        /// Its name.
        name: String,
        /// Which transform.
        what: &'static str,
    },
    /// A level-of-detail cut beyond the skeleton.
    #[error("the low-detail cut of {cut} bones is over the skeleton's {bones}")]
    Cut {
        /// The cut.
        cut: usize,
        /// Number of bones.
        bones: usize,
    },
}

/// One matrix of a character's palette: `model_from_bone * bone_from_mesh`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PaletteEntry {
    /// The bone that carries it.
    pub bone: BoneIndex,
    /// The inverse bind matrix for a skin, the mesh's place on its bone for a rigid mesh.
    pub bone_from_mesh: Affine3A,
}

/// A hierarchy of bones, parents first and ordered by how much skin they move.
///
/// Model space is the glTF scene's own space. Transforms above the skeleton that nothing animates
/// are folded into [`Skeleton::model_from_root_parent`].
///
/// The palette's entry `i` belongs to bone `i` for every bone; further entries follow for bones
/// that carry a second inverse bind matrix or a rigid mesh.
#[derive(Clone, Debug)]
pub struct Skeleton {
    names: Vec<String>,
    parents: Vec<Option<BoneIndex>>,
    first_children: Vec<Option<BoneIndex>>,
    rest: Vec<Trs>,
    model_from_root_parent: Vec<Affine3A>,
    palette: Vec<PaletteEntry>,
    low_detail_bone_count: BoneCount,
}

/// The columns a [`Skeleton`] is made of; see there for what each means.
#[derive(Clone, Debug, Default)]
pub struct SkeletonParts {
    /// One per bone; need not be unique.
    pub names: Vec<String>,
    /// One per bone; `None` for a root, else lower than the bone's own index.
    pub parents: Vec<Option<BoneIndex>>,
    /// One per bone: the rest pose, relative to the parent.
    pub rest: Vec<Trs>,
    /// One per bone: what lies above a root; ignored (identity) for bones with a parent.
    pub model_from_root_parent: Vec<Affine3A>,
    /// At least one per bone, the first ones in bone order.
    pub palette: Vec<PaletteEntry>,
    /// Bones that stay animated in low detail.
    pub low_detail_bone_count: BoneCount,
}

impl Skeleton {
    /// The most bones, and the most palette entries, one skeleton may have.
    pub const MAX: usize = 8192;

    /// Checks the parts and puts them together.
    ///
    /// # Errors
    /// See [`SkeletonError`]; each names the offending bone and number.
    pub fn new(parts: SkeletonParts) -> Result<Self, SkeletonError> {
        let SkeletonParts { names, parents, rest, model_from_root_parent, palette, .. } = &parts;
        let bones = parents.len();
        if names.len() != bones || rest.len() != bones || model_from_root_parent.len() != bones {
            return Err(SkeletonError::Lengths {
                names: names.len(),
                parents: bones,
                rest: rest.len(),
                roots: model_from_root_parent.len(),
            });
        }
        if bones > Self::MAX || palette.len() > Self::MAX {
            let palette = palette.len();
            return Err(SkeletonError::TooMany { bones, palette, limit: Self::MAX });
        }
        for bone in 0..bones {
            if let Some(parent) = parents[bone]
                && parent.get() >= bone
            {
                return Err(SkeletonError::ParentOrder { bone, parent: parent.get() });
            }
            let finite = |what, ok: bool| {
                let name = names[bone].clone();
                if ok { Ok(()) } else { Err(SkeletonError::NotFinite { bone, name, what }) }
            };
            finite("rest transform", rest[bone].is_finite())?;
            finite("transform above its root", model_from_root_parent[bone].is_finite())?;
        }
        if palette.len() < bones {
            let entry = palette.len();
            return Err(SkeletonError::PaletteOrder { entry, bone: entry, bones });
        }
        for (entry, p) in palette.iter().enumerate() {
            let bone = p.bone.get();
            if bone >= bones || (entry < bones && bone != entry) {
                return Err(SkeletonError::PaletteOrder { entry, bone, bones });
            }
            if !p.bone_from_mesh.is_finite() {
                let name = names[bone].clone();
                return Err(SkeletonError::NotFinite { bone, name, what: "inverse bind matrix" });
            }
        }
        let cut = parts.low_detail_bone_count.get();
        if cut > bones {
            return Err(SkeletonError::Cut { cut, bones });
        }
        let mut first_children = vec![None; bones];
        for (parent, bone) in parents.iter().zip(BoneCount(bones as u16).bones()).rev() {
            if let Some(parent) = parent {
                first_children[parent.get()] = Some(bone);
            }
        }
        Ok(Self {
            names: parts.names,
            parents: parts.parents,
            first_children,
            rest: parts.rest,
            model_from_root_parent: parts.model_from_root_parent,
            palette: parts.palette,
            low_detail_bone_count: parts.low_detail_bone_count,
        })
    }

    /// Number of bones.
    pub fn bone_count(&self) -> BoneCount {
        BoneCount(self.parents.len() as u16)
    }

    /// Number of matrices a posed character writes: at least one per bone.
    pub fn palette_len(&self) -> usize {
        self.palette.len()
    }

    /// Bones that stay animated past the level-of-detail distance.
    pub fn low_detail_bone_count(&self) -> BoneCount {
        self.low_detail_bone_count
    }

    /// Names, one per bone.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Parents, one per bone, each lower than its child.
    pub fn parents(&self) -> &[Option<BoneIndex>] {
        &self.parents
    }

    /// The lowest of the bones that hang on a bone; `None` for a leaf, and for no bone of these.
    pub fn first_child(&self, bone: BoneIndex) -> Option<BoneIndex> {
        self.first_children.get(bone.get()).copied().flatten()
    }

    /// The rest pose, one local transform per bone.
    pub fn rest(&self) -> &[Trs] {
        &self.rest
    }

    /// What lies above a root bone; identity for bones with a parent.
    pub fn model_from_root_parent(&self, bone: BoneIndex) -> Affine3A {
        match self.parents[bone.get()] {
            None => self.model_from_root_parent[bone.get()],
            Some(_) => Affine3A::IDENTITY,
        }
    }

    /// What each palette matrix is made of; the first [`Skeleton::bone_count`] are the bones'.
    pub fn palette(&self) -> &[PaletteEntry] {
        &self.palette
    }

    /// One palette matrix's parts.
    pub fn palette_entry(&self, index: PaletteIndex) -> Option<&PaletteEntry> {
        self.palette.get(index.get())
    }

    /// The first bone of that name.
    pub fn bone_named(&self, name: &str) -> Option<BoneIndex> {
        self.names.iter().position(|n| n == name).map(|i| BoneIndex(i as u16))
    }

    /// Model-space matrices of a pose given as local transforms, one per bone.
    ///
    /// The plain way, for import, tests and tools; a frame's poses go through the kernels.
    pub fn model_from_bone(&self, locals: &[Trs]) -> Vec<Affine3A> {
        let mut model = Vec::with_capacity(locals.len());
        for (bone, local) in locals.iter().enumerate().take(self.parents.len()) {
            let parent = match self.parents[bone] {
                Some(parent) => model[parent.get()],
                None => self.model_from_root_parent[bone],
            };
            model.push(parent * local.to_affine());
        }
        model
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::Vec3;

    fn two_bones() -> SkeletonParts {
        let up = Trs { translation: Vec3::Y, ..Trs::IDENTITY };
        let entry = |b| PaletteEntry { bone: BoneIndex(b), bone_from_mesh: Affine3A::IDENTITY };
        SkeletonParts {
            names: vec!["root".into(), "tip".into()],
            parents: vec![None, Some(BoneIndex(0))],
            rest: vec![up, up],
            model_from_root_parent: vec![Affine3A::from_scale(Vec3::splat(2.0)); 2],
            palette: vec![entry(0), entry(1), entry(0)],
            low_detail_bone_count: BoneCount(1),
        }
    }

    #[test]
    fn model_matrices_start_from_what_lies_above_the_root() {
        let s = Skeleton::new(two_bones()).unwrap();
        let m = s.model_from_bone(s.rest());
        assert_eq!(m[1].translation, glam::Vec3A::new(0.0, 4.0, 0.0));
        assert_eq!((s.palette_len(), s.bone_named("tip")), (3, Some(BoneIndex(1))));
    }

    #[test]
    fn the_first_child_is_the_lowest_bone_that_hangs_on_a_bone() {
        let entry = |b| PaletteEntry { bone: BoneIndex(b), bone_from_mesh: Affine3A::IDENTITY };
        let parents = [None, Some(0), None, Some(0), Some(2), Some(3)];
        let skeleton = Skeleton::new(SkeletonParts {
            names: vec![String::new(); 6],
            parents: parents.map(|p| p.map(BoneIndex)).to_vec(),
            rest: vec![Trs::IDENTITY; 6],
            model_from_root_parent: vec![Affine3A::IDENTITY; 6],
            palette: (0..6).map(entry).collect(),
            low_detail_bone_count: BoneCount(6),
        });
        let skeleton = skeleton.unwrap();
        let children: Vec<_> = (0..8).map(|b| skeleton.first_child(BoneIndex(b))).collect();
        let expected = [Some(1), None, Some(4), Some(5), None, None, None, None];
        assert_eq!(children, expected.map(|b| b.map(BoneIndex)));
    }

    #[test]
    fn a_parent_after_its_child_is_refused() {
        let mut parts = two_bones();
        parts.parents = vec![Some(BoneIndex(1)), None];
        assert_eq!(
            Skeleton::new(parts).unwrap_err(),
            SkeletonError::ParentOrder { bone: 0, parent: 1 }
        );
    }

    #[test]
    fn a_palette_out_of_order_a_nan_and_a_wild_cut_are_refused() {
        let mut parts = two_bones();
        parts.palette.swap(0, 1);
        assert!(matches!(Skeleton::new(parts), Err(SkeletonError::PaletteOrder { entry: 0, .. })));
        let mut parts = two_bones();
        parts.rest[1].translation.x = f32::NAN;
        assert!(matches!(Skeleton::new(parts), Err(SkeletonError::NotFinite { bone: 1, .. })));
        let mut parts = two_bones();
        parts.low_detail_bone_count = BoneCount(3);
        assert_eq!(Skeleton::new(parts).unwrap_err(), SkeletonError::Cut { cut: 3, bones: 2 });
    }
}
