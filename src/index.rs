//! Typed indices and counts: a bone index can't be taken for a bone count or a clip.

/// Defines a typed index (or count) over an unsigned integer.
macro_rules! typed_index {
    ($(#[$doc:meta])* $name:ident($int:ty)) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
        #[derive(bytemuck::Pod, bytemuck::Zeroable, serde::Serialize)]
        #[repr(transparent)]
        #[serde(transparent)]
        pub struct $name(pub $int);

        impl $name {
            /// The value as a slice index.
            #[inline(always)]
            pub const fn get(self) -> usize {
                self.0 as usize
            }
        }

        impl ::std::fmt::Debug for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), self.0)
            }
        }

        impl ::std::fmt::Display for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                self.0.fmt(f)
            }
        }

        impl TryFrom<usize> for $name {
            type Error = std::num::TryFromIntError;
            fn try_from(value: usize) -> Result<Self, Self::Error> {
                <$int>::try_from(value).map(Self)
            }
        }
    };
}

pub(crate) use typed_index;

typed_index!(
    /// A bone of a skeleton, in the skeleton's own order (parents first).
    BoneIndex(u16)
);
typed_index!(
    /// How many bones: of a skeleton, or of the prefix that is evaluated.
    BoneCount(u16)
);
typed_index!(
    /// A row triple (one 3x4 matrix) of a character's palette, counted from the palette's start.
    PaletteIndex(u16)
);
typed_index!(
    /// A clip of a character.
    ClipId(u16)
);
typed_index!(
    /// A node of a glTF file, in the file's own order.
    NodeIndex(u32)
);
typed_index!(
    /// A kind of character: one imported file.
    CharacterKind(u16)
);
typed_index!(
    /// One character of the crowd.
    CharacterId(u32)
);
typed_index!(
    /// A palette slot leased to a character.
    SlotIndex(u32)
);

impl BoneCount {
    /// The bones of this prefix, parents first.
    pub fn bones(self) -> impl DoubleEndedIterator<Item = BoneIndex> + ExactSizeIterator {
        (0..self.0).map(BoneIndex)
    }

    /// True when `bone` lies inside this prefix.
    #[inline(always)]
    pub const fn contains(self, bone: BoneIndex) -> bool {
        bone.0 < self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefix_contains_the_bones_below_its_count() {
        let count = BoneCount(3);
        assert_eq!(count.bones().map(|b| b.0).collect::<Vec<_>>(), [0, 1, 2]);
        assert!(count.contains(BoneIndex(2)));
        assert!(!count.contains(BoneIndex(3)));
        assert!(!BoneCount(0).contains(BoneIndex(0)));
    }

    #[test]
    fn a_value_that_does_not_fit_is_an_error() {
        assert!(BoneIndex::try_from(65_536).is_err());
        assert_eq!(BoneIndex::try_from(65_535), Ok(BoneIndex(65_535)));
    }
}
