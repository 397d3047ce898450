//! Streams of floats padded to whole cache lines, and sets of bone groups.

use bytemuck::{Pod, Zeroable};

/// Floats in a [`Line`]: every stream is padded to a multiple of it.
pub const LINE: usize = 16;
/// Bones in a group: translations and scales are present or absent a group at a time.
pub const GROUP: usize = 8;

/// One cache line of floats: one component of sixteen bones.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C, align(64))]
pub struct Line(pub [f32; LINE]);

impl Line {
    /// All zero.
    pub const ZERO: Self = Self([0.0; LINE]);

    /// The floats of one of the two groups of bones in this line.
    #[inline(always)]
    pub fn group(&self, group: usize) -> &[f32; GROUP] {
        let (halves, _) = self.0.as_chunks::<GROUP>();
        &halves[group % 2]
    }

    /// The floats of one of the two groups of bones in this line.
    #[inline(always)]
    pub fn group_mut(&mut self, group: usize) -> &mut [f32; GROUP] {
        let (halves, _) = self.0.as_chunks_mut::<GROUP>();
        &mut halves[group % 2]
    }
}

/// Lines that hold one component of `bones` bones.
pub const fn lines_for(bones: usize) -> usize {
    bones.div_ceil(LINE)
}

/// Groups that hold `bones` bones.
pub const fn groups_for(bones: usize) -> usize {
    bones.div_ceil(GROUP)
}

const WORDS: usize = super::Skeleton::MAX / GROUP / 64;

/// A set of groups of bones of one skeleton.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct GroupSet {
    words: [u64; WORDS],
}

impl GroupSet {
    /// No group.
    pub const EMPTY: Self = Self { words: [0; WORDS] };

    /// True when the set has the group; a group beyond every skeleton's is in no set.
    #[inline(always)]
    pub fn contains(&self, group: usize) -> bool {
        self.words.get(group / 64).is_some_and(|w| w >> (group % 64) & 1 == 1)
    }

    /// Adds a group; one beyond every skeleton's is not added.
    #[inline(always)]
    pub fn insert(&mut self, group: usize) {
        if let Some(word) = self.words.get_mut(group / 64) {
            *word |= 1 << (group % 64);
        }
    }

    /// The groups of either set.
    #[inline]
    pub fn union(&self, other: &Self) -> Self {
        let mut words = self.words;
        for (a, b) in words.iter_mut().zip(&other.words) {
            *a |= b;
        }
        Self { words }
    }

    /// The groups below `end`, ascending.
    #[inline]
    pub fn below(&self, end: usize) -> impl Iterator<Item = usize> + use<> {
        let words = self.words;
        (0..end.div_ceil(64).min(WORDS)).flat_map(move |at| {
            let mut word = words[at];
            std::iter::from_fn(move || {
                let bit = word.trailing_zeros() as usize;
                word &= word.wrapping_sub(1);
                let group = at * 64 + bit;
                (bit < 64 && group < end).then_some(group)
            })
        })
    }

    /// True when no group is in the set.
    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|&w| w == 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_gives_back_its_groups_in_order_and_stops_at_the_end() {
        let mut set = GroupSet::EMPTY;
        for g in [1023, 0, 63, 64, 200] {
            set.insert(g);
        }
        set.insert(1024);
        assert_eq!(set.below(1024).collect::<Vec<_>>(), [0, 63, 64, 200, 1023]);
        assert_eq!(set.below(64).collect::<Vec<_>>(), [0, 63]);
        assert!(set.contains(200) && !set.contains(201) && !set.contains(5000));
        assert!(GroupSet::EMPTY.is_empty() && GroupSet::EMPTY.below(1024).next().is_none());
    }
}
