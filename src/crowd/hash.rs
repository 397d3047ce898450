//! The palette hash: whether two runs put the same bits on screen.

use super::characters::{BLOCK, Block, FollowMasks, SlotAddress, bits};
use super::leases::WORD;
use super::slots::Slots;
use rayon::prelude::*;
use std::sync::atomic::{AtomicU64, Ordering};
use twox_hash::XxHash3_64;

/// Chains the palettes of this frame's evaluated characters to the hash of the frames before:
/// XXH3 of each palette's bytes (of a cut one, of its rows') with the character's id as the seed, and of these in the order of
/// ids with the chain so far as the seed. Which thread or slot a palette came from has no part.
///
/// `each` holds one number per character, so that workers can leave theirs in any order.
pub(crate) fn chain(
    before: u64,
    blocks: &[Block],
    slots: &Slots,
    (masks, addresses): (&[FollowMasks], &[SlotAddress]),
    each: &[AtomicU64],
) -> u64 {
    for (leases, page) in slots.leases.iter().zip(&slots.pages) {
        let stride = leases.stride();
        let rows = page.matrices.par_chunks(stride * WORD);
        let owners = leases.owners.par_chunks(WORD);
        leases.words.par_iter().zip(owners).zip(rows).enumerate().for_each(|(w, row)| {
            let ((word, owners), rows) = row;
            for slot in bits(leases.written(w)) {
                let id = owners[slot];
                let second = (word.second >> slot & 1) as usize;
                let at = slot * stride + second * leases.palette_len;
                let len = leases.rows(w * WORD + slot);
                let bytes = bytemuck::cast_slice(&rows[at..][..len]);
                let hash = XxHash3_64::oneshot_with_seed(u64::from(id.0), bytes);
                each[id.get()].store(hash, Ordering::Relaxed);
            }
        });
    }
    let mut hash = before;
    let written = |id: usize| {
        let at = addresses.get(id)?;
        let words = &slots.leases.get(at.page as usize)?.follow;
        Some(words.get(at.slot as usize / WORD)?.follows >> (at.slot as usize % WORD) & 1)
    };
    for (b, block) in blocks.iter().enumerate().filter(|(_, block)| block.leased != 0) {
        let follow = bits(block.leased & masks.get(b).map_or(0, |masks| masks.follows));
        let follow = follow.fold(0, |m, i| m | written(b * BLOCK + i).unwrap_or(0) << i);
        let due = block.leased & block.rates.due | follow;
        if due == 0 {
            continue;
        }
        let mut hashes = [0; BLOCK];
        let mut count = 0;
        for i in bits(due) {
            hashes[count] = each[b * BLOCK + i].load(Ordering::Relaxed);
            count += 1;
        }
        hash = XxHash3_64::oneshot_with_seed(hash, bytemuck::cast_slice(&hashes[..count]));
    }
    hash
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::crowd::playback::Playback;
    use crate::crowd::slots::SlotShape;
    use crate::index::{CharacterId, CharacterKind};
    use crate::math::Mat3x4;

    const CHARACTERS: u32 = 200;
    const BONES: usize = 3;

    /// Characters in slots of two kinds, leased in the order of `ids`, all evaluated; each one's
    /// matrices are its own wherever they lie.
    fn crowd(ids: &[u32], page_matrices: u32) -> (Vec<Block>, Slots) {
        let mut slots = Slots::new(page_matrices, u64::MAX);
        let mut blocks = vec![Block::default(); (CHARACTERS as usize).div_ceil(BLOCK)];
        for &id in ids {
            let kind = CharacterKind((id % 2) as u16);
            let shape = SlotShape {
                palette_len: BONES,
                cut: None,
                row: 0,
                poses: None,
                interpolates: false,
            };
            let state = (&Playback::IDLE, &[][..]);
            let at = slots.lease(kind, &shape, CharacterId(id), state).unwrap();
            let (page, slot) = (at.page as usize, at.slot as usize);
            slots.leases[page].words[slot / WORD].due |= 1 << (slot % WORD);
            let block = &mut blocks[id as usize / BLOCK];
            block.leased |= 1 << (id as usize % BLOCK);
            block.rates.due = block.leased;
            for bone in 0..BONES {
                let matrix = &mut slots.pages[page].matrices[slot * BONES + bone];
                let number = |i: usize| (id as f32 + 1.0) * 0.37 + bone as f32 + i as f32 * 0.01;
                *matrix = Mat3x4 {
                    rows: std::array::from_fn(|r| std::array::from_fn(|c| number(r * 4 + c))),
                };
            }
        }
        (blocks, slots)
    }

    fn hash((blocks, slots): &(Vec<Block>, Slots), before: u64) -> u64 {
        let each: Vec<_> = (0..CHARACTERS).map(|_| AtomicU64::new(u64::from(u32::MAX))).collect();
        chain(before, blocks, slots, (&[], &[]), &each)
    }

    #[test]
    fn one_ulp_in_one_bone_of_one_character_changes_the_hash() {
        let ids: Vec<u32> = (0..CHARACTERS).collect();
        let mut crowd = crowd(&ids, 180);
        let expected = hash(&crowd, 7);
        assert_eq!(hash(&crowd, 7), expected);
        assert_ne!(hash(&crowd, 8), expected, "the frames before count");
        assert!(crowd.1.pages.len() > 3);
        for page in 0..crowd.1.pages.len() {
            for matrix in (0..crowd.1.leases[page].owners.len() * BONES).step_by(7) {
                let words = &crowd.1.leases[page].words;
                let slot = matrix / BONES;
                if words[slot / WORD].due >> (slot % WORD) & 1 == 0 {
                    continue;
                }
                for (row, column) in [(0, 0), (1, 3), (2, 2)] {
                    let number = &mut crowd.1.pages[page].matrices[matrix].rows[row][column];
                    let right = *number;
                    *number = f32::from_bits(right.to_bits() ^ 1);
                    let wrong = hash(&crowd, 7);
                    assert_ne!(wrong, expected, "page {page} matrix {matrix} {row} {column}");
                    crowd.1.pages[page].matrices[matrix].rows[row][column] = right;
                }
            }
        }
        assert_eq!(hash(&crowd, 7), expected);
    }

    #[test]
    fn slots_and_pages_have_no_part_in_the_hash_and_ids_have() {
        let ids: Vec<u32> = (0..CHARACTERS).collect();
        let expected = hash(&crowd(&ids, 180), 7);
        let backwards: Vec<u32> = ids.iter().rev().copied().collect();
        assert_eq!(hash(&crowd(&backwards, 180), 7), expected, "other slots");
        assert_eq!(hash(&crowd(&ids, 60_000), 7), expected, "other pages");
        assert_ne!(hash(&crowd(&ids[1..], 180), 7), expected, "one fewer");
        // Two characters whose poses change places.
        let mut swapped = crowd(&ids, 60_000);
        let matrices = &mut swapped.1.pages[0].matrices;
        (0..BONES).for_each(|bone| matrices.swap(bone, 5 * BONES + bone));
        assert_ne!(hash(&swapped, 7), expected);
    }

    #[test]
    fn the_same_poses_of_other_characters_are_another_hash() {
        let some: Vec<u32> = (0..CHARACTERS - 1).collect();
        let others: Vec<u32> = (1..CHARACTERS).collect();
        let same_poses = |ids: &[u32]| {
            let (blocks, mut slots) = crowd(ids, 60_000);
            slots.pages.iter_mut().for_each(|p| p.matrices.fill(Mat3x4::IDENTITY));
            // All in one block each, so that only the ids tell them apart.
            let mut one = vec![Block::default(); blocks.len()];
            one[1] = blocks[1];
            (one, slots)
        };
        // Block 1 is full either way.
        let (a, b) = (same_poses(&some), same_poses(&others));
        assert_eq!(hash(&a, 7), hash(&b, 7), "the same ids");
        let (mut blocks, slots) = b;
        blocks.swap(1, 2);
        assert_ne!(hash(&a, 7), hash(&(blocks, slots), 7), "as many others");
    }

    #[test]
    fn who_was_not_evaluated_is_no_part_of_what_is_read() {
        let ids: Vec<u32> = (0..CHARACTERS).collect();
        let mut crowd = crowd(&ids, 60_000);
        let all = hash(&crowd, 7);
        crowd.1.leases[0].words[0].due &= !1;
        let first = crowd.1.leases[0].owners[0].get();
        crowd.0[first / BLOCK].rates.due &= !(1 << (first % BLOCK));
        let before = hash(&crowd, 7);
        assert_ne!(before, all, "one fewer");
        crowd.1.pages[0].matrices[0].rows[0][0] += 1.0;
        assert_eq!(hash(&crowd, 7), before);
    }
}
