//! How poses and clips lie in memory: blocks and groups of bones, one component after the other.

use bytemuck::{Pod, Zeroable};

/// Floats in a [`Line`]: rotations are kept for this many bones at a time.
pub const LINE: usize = 16;
/// Bones in a group: translations and scales are present or absent a group at a time.
pub const GROUP: usize = 8;

/// One cache line of floats.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C, align(64))]
pub struct Line(pub [f32; LINE]);

/// Rotations of sixteen bones, `[x | y | z | w]`.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C, align(64))]
pub struct QuatBlock(pub [Line; 4]);

/// Translations or scales of eight bones, `[x | y | z]`.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C, align(32))]
pub struct Vec3Group(pub [[f32; GROUP]; 3]);

impl Line {
    /// All zero.
    pub const ZERO: Self = Self([0.0; LINE]);

    /// The two groups of bones in this line.
    #[inline(always)]
    pub fn groups(&self) -> &[[f32; GROUP]; 2] {
        bytemuck::cast_ref(&self.0)
    }
}

impl QuatBlock {
    /// No rotation.
    pub const IDENTITY: Self = Self([Line::ZERO, Line::ZERO, Line::ZERO, Line([1.0; LINE])]);

    /// One bone's rotation.
    #[inline(always)]
    pub fn get(&self, lane: usize) -> [f32; 4] {
        self.0.each_ref().map(|line| line.0[lane % LINE])
    }

    /// Stores one bone's rotation.
    #[inline(always)]
    pub fn set(&mut self, lane: usize, rotation: [f32; 4]) {
        for (line, value) in self.0.iter_mut().zip(rotation) {
            line.0[lane % LINE] = value;
        }
    }
}

impl Vec3Group {
    /// All zero.
    pub const ZERO: Self = Self([[0.0; GROUP]; 3]);
    /// All one.
    pub const ONE: Self = Self([[1.0; GROUP]; 3]);

    /// One bone's vector.
    #[inline(always)]
    pub fn get(&self, lane: usize) -> [f32; 3] {
        self.0.map(|component| component[lane % GROUP])
    }

    /// Stores one bone's vector.
    #[inline(always)]
    pub fn set(&mut self, lane: usize, vector: [f32; 3]) {
        for (component, value) in self.0.iter_mut().zip(vector) {
            component[lane % GROUP] = value;
        }
    }
}

/// Blocks that hold the rotations of `bones` bones.
pub const fn blocks_for(bones: usize) -> usize {
    bones.div_ceil(LINE)
}

/// Groups that hold the translations of `bones` bones.
pub const fn groups_for(bones: usize) -> usize {
    bones.div_ceil(GROUP)
}

const WORDS: usize = super::Skeleton::MAX / GROUP / 64;

/// A set of groups of bones of one skeleton. Sets of one skeleton are combined word by word, and
/// only as many words as the skeleton needs.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct GroupSet {
    used: usize,
    words: [u64; WORDS],
}

impl GroupSet {
    /// No group, of a skeleton with `bones` bones.
    pub const fn new(bones: usize) -> Self {
        let used = groups_for(bones).div_ceil(64);
        Self { used: if used < WORDS { used } else { WORDS }, words: [0; WORDS] }
    }

    /// These groups of a skeleton with `bones` bones.
    pub fn of<'a>(bones: usize, groups: impl IntoIterator<Item = &'a usize>) -> Self {
        let mut set = Self::new(bones);
        groups.into_iter().for_each(|&group| set.insert(group));
        set
    }

    /// True when the set has the group; a group beyond the skeleton's is in no set.
    #[inline(always)]
    pub fn contains(&self, group: usize) -> bool {
        self.words.get(group / 64).is_some_and(|w| w >> (group % 64) & 1 == 1)
    }

    /// Adds a group; one beyond the skeleton's is not added.
    #[inline(always)]
    pub fn insert(&mut self, group: usize) {
        if let Some(word) = self.words[..self.used].get_mut(group / 64) {
            *word |= 1 << (group % 64);
        }
    }

    /// Removes every group.
    #[inline(always)]
    pub fn clear(&mut self) {
        self.words[..self.used].fill(0);
    }

    /// Becomes a copy of another set of the same skeleton.
    #[inline(always)]
    pub fn assign(&mut self, other: &Self) {
        self.used = other.used;
        for at in 0..self.used.min(WORDS) {
            self.words[at] = other.words[at];
        }
    }

    /// Adds the groups of another set of the same skeleton.
    #[inline(always)]
    pub fn insert_all(&mut self, other: &Self) {
        for at in 0..self.used.min(WORDS) {
            self.words[at] |= other.words[at];
        }
    }

    /// Calls `visit` with the groups below `end` that either set has, ascending.
    #[inline(always)]
    pub fn each_of_either(&self, other: &Self, end: usize, mut visit: impl FnMut(usize)) {
        for at in 0..self.used.min(WORDS) {
            let mut word = self.words[at] | other.words[at];
            while word != 0 {
                let group = at * 64 + word.trailing_zeros() as usize;
                if group >= end {
                    return;
                }
                visit(group);
                word &= word - 1;
            }
        }
    }

    /// Calls `visit` with the groups below `end`, ascending.
    #[inline(always)]
    pub fn each_below(&self, end: usize, visit: impl FnMut(usize)) {
        self.each_of_either(self, end, visit);
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
        let mut set = GroupSet::new(8192);
        for g in [1023, 0, 63, 64, 200] {
            set.insert(g);
        }
        set.insert(1024);
        let mut small = GroupSet::new(64);
        small.insert(64);
        assert!(small.is_empty(), "eight groups have one word");
        let below = |end| {
            let mut seen = Vec::new();
            set.each_below(end, |g| seen.push(g));
            seen
        };
        assert_eq!(below(1024), [0, 63, 64, 200, 1023]);
        assert_eq!((below(64), below(63)), (vec![0, 63], vec![0]));
        assert!(set.contains(200) && !set.contains(201) && !set.contains(5000));
        assert!(!set.is_empty());
    }
}
