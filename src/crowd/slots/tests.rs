//! Leases in pages, at random and at the limits.

use super::*;
use crate::crowd::random::Random;
use std::collections::HashMap;

const A: CharacterKind = CharacterKind(0);
const B: CharacterKind = CharacterKind(1);

/// Kind B keeps rows and poses.
fn shape(kind: CharacterKind) -> SlotShape {
    match kind {
        A => SlotShape { palette_len: 3, cut: None, row: 0, poses: None, interpolates: false },
        _ => SlotShape {
            palette_len: 5,
            cut: None,
            row: 2,
            poses: Some(PoseState::new(1, 1)),
            interpolates: false,
        },
    }
}

fn row_of(kind: CharacterKind) -> usize {
    shape(kind).row
}

fn lease(slots: &mut Slots, kind: CharacterKind, id: u32) -> Option<SlotAddress> {
    let mut playback = Playback::IDLE;
    playback.now = f64::from(id);
    slots.lease(kind, &shape(kind), CharacterId(id), (&playback, &[id, id + 1][..row_of(kind)]))
}

#[test]
fn the_lowest_free_slot_is_given_and_a_full_page_is_followed_by_another() {
    // Pages of 100 slots of kind A and 60 of kind B.
    let mut slots = Slots::new(300, u64::MAX);
    for id in 0..250 {
        let at = lease(&mut slots, A, id).unwrap();
        assert_eq!((at.page, at.slot), (id / 100, id % 100));
    }
    assert_eq!(lease(&mut slots, B, 900).unwrap(), SlotAddress { page: 3, slot: 0 });
    assert_eq!(slots.used(), 251);
    for (page, slot) in [(1, 70), (0, 99), (1, 3)] {
        let playback = slots.release(SlotAddress { page, slot }, &mut []);
        assert_eq!(playback.now, f64::from(page * 100 + slot), "the clocks come back");
    }
    let next: Vec<_> = (0..4).map(|i| lease(&mut slots, A, i).unwrap()).collect();
    let next: Vec<_> = next.iter().map(|at| (at.page, at.slot)).collect();
    assert_eq!(next, [(0, 99), (1, 3), (1, 70), (2, 50)]);
    for (page, leases) in slots.pages.iter().zip(&slots.leases) {
        assert!(page.matrices.len() <= 300 && page.matrices.len() % leases.palette_len == 0);
    }
}

#[test]
fn random_leases_and_releases_never_share_a_slot_and_memory_stays_flat() {
    let mut slots = Slots::new(400, u64::MAX);
    let mut random = Random::new(9, 0);
    let mut held: HashMap<u32, (CharacterKind, SlotAddress)> = HashMap::new();
    let mut bytes = 0;
    for round in 0..200 {
        for id in 0..600u32 {
            let wants = random.unit() < 0.5;
            match held.get(&id).copied() {
                None if wants => {
                    let kind = if id % 3 == 0 { B } else { A };
                    held.insert(id, (kind, lease(&mut slots, kind, id).unwrap()));
                }
                Some((kind, at)) if !wants => {
                    let row = &mut [0, 0][..row_of(kind)];
                    assert_eq!(slots.release(at, row).now, f64::from(id));
                    assert_eq!(row, &[id, id + 1][..row.len()], "the row comes back");
                    held.remove(&id);
                }
                _ => {}
            }
        }
        let mut taken: Vec<_> = held.values().map(|(_, at)| (at.page, at.slot)).collect();
        taken.sort_unstable();
        taken.dedup();
        assert_eq!(taken.len(), held.len());
        assert_eq!(slots.used(), held.len());
        for (id, (kind, at)) in &held {
            let leases = &slots.leases[at.page as usize];
            assert_eq!((leases.kind, leases.owners[at.slot as usize].0), (*kind, *id));
        }
        match round {
            20 => bytes = slots.palette_bytes(),
            21.. => assert!(slots.palette_bytes() <= bytes * 5 / 4),
            _ => {}
        }
    }
}

#[test]
fn room_is_reserved_over_several_pages_at_once() {
    let mut slots = Slots::new(300, u64::MAX);
    lease(&mut slots, A, 0).unwrap();
    slots.reserve(A, &shape(A), 230);
    let words: Vec<_> = slots.leases.iter().map(|l| l.words.len()).collect();
    assert_eq!(words, [2, 2, 1], "100, 100 and 31 slots");
    let before = slots.palette_bytes();
    (1..=230).for_each(|id| assert!(lease(&mut slots, A, id).is_some()));
    assert_eq!(slots.palette_bytes(), before);
}

#[test]
fn the_memory_limit_ends_in_no_slot() {
    let limit = 70 * Slots::bytes_per_slot(3, false) as u64;
    let mut slots = Slots::new(30_000, limit);
    slots.reserve(A, &shape(A), 5_000);
    let given = (0..5_000).filter(|&id| lease(&mut slots, A, id).is_some()).count();
    assert_eq!(given, 64, "one word of slots is within the limit, two are not");
    assert!(slots.palette_bytes() <= limit);
}
