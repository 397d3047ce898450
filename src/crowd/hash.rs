//! The palette hash: whether two runs put the same bits on screen.

use super::characters::{BLOCK, Block, bits};
use super::slots::{Slots, WORD};
use rayon::prelude::*;
use std::sync::atomic::{AtomicU64, Ordering};
use twox_hash::XxHash3_64;

/// Chains the palettes of this frame's evaluated characters to the hash of the frames before:
/// XXH3 of each palette's bytes with the character's id as the seed, and of these in the order of
/// ids with the chain so far as the seed. Which thread or slot a palette came from has no part.
///
/// `each` holds one number per character, so that workers can leave theirs in any order.
pub(crate) fn chain(before: u64, blocks: &[Block], slots: &Slots, each: &[AtomicU64]) -> u64 {
    for (leases, page) in slots.leases.iter().zip(&slots.pages) {
        let len = leases.palette_len;
        let rows = page.matrices.par_chunks(len * WORD);
        let owners = leases.owners.par_chunks(WORD);
        leases.words.par_iter().zip(owners).zip(rows).for_each(|((word, owners), rows)| {
            for slot in bits(word.due) {
                let id = owners[slot];
                let bytes = bytemuck::cast_slice(&rows[slot * len..][..len]);
                let hash = XxHash3_64::oneshot_with_seed(u64::from(id.0), bytes);
                each[id.get()].store(hash, Ordering::Relaxed);
            }
        });
    }
    let mut hash = before;
    for (b, block) in blocks.iter().enumerate().filter(|(_, block)| block.leased != 0) {
        let mut hashes = [0; BLOCK];
        let mut count = 0;
        for i in bits(block.leased) {
            hashes[count] = each[b * BLOCK + i].load(Ordering::Relaxed);
            count += 1;
        }
        hash = XxHash3_64::oneshot_with_seed(hash, bytemuck::cast_slice(&hashes[..count]));
    }
    hash
}
