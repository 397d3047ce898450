//! Phase 2: who evaluates, and with which slot.

use super::characters::{BLOCK, Block, Characters, FollowMasks, SlotAddress, bits};
use super::cull::BLOCKS_PER_JOB;
use super::follow::{FollowWord, Following, Led, Scene};
use super::kind::Kind;
use super::leases::{SlotWord, WORD};
use super::rate::{Gates, Turn};
use super::replay::Replay;
use super::slots::Slots;
use crate::index::{CharacterId, CharacterKind};
use crate::profile::{Phase, PhaseTimes};
use rayon::prelude::*;

/// Slot words that one job takes.
pub(crate) const WORDS_PER_JOB: usize = 16;

/// What changed hands in one frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Changes {
    /// Inside a frustum.
    pub visible: u32,
    /// Inside the camera's.
    pub in_camera: u32,
    /// Were given a slot.
    pub entered: u32,
    /// Gave theirs back.
    pub left: u32,
    /// Want a slot and can't have one: the memory limit is reached.
    pub waiting: u32,
    /// Slots whose holders are evaluated every 1, 2, 3 and 4 frames.
    pub by_rate: [u32; Gates::RATES + 1],
    /// Slots whose holders follow somebody.
    pub following: u32,
    /// Frames since the last evaluation of whoever has waited longest, and who that is.
    pub longest_gap: (u32, CharacterId),
}

/// What decides who evaluates, beside the characters themselves.
pub(crate) struct Rules<'a> {
    pub clock: Clock,
    pub replay: &'a Replay,
    pub following: &'a Following,
    pub times: &'a PhaseTimes,
}

/// What time it is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    /// World time, seconds.
    pub now: f64,
    /// Seconds that a slot is kept unseen.
    pub grace: f64,
    pub turn: Turn,
}

/// Visible characters are stamped, those unseen for more than the grace time are let go, those who
/// come into view are taken in, and of those with a slot some are due.
pub(crate) fn gate(
    characters: &mut Characters,
    slots: &mut Slots,
    kinds: &[Kind],
    wanted: &mut [usize],
    Rules { clock, replay, following, times }: Rules<'_>,
) -> Changes {
    const CHARACTERS: usize = BLOCKS_PER_JOB * BLOCK;
    let Characters { blocks, last_rendered, masks, .. } = characters;
    let masks = &masks[..];
    let jobs = blocks.par_chunks_mut(BLOCKS_PER_JOB).zip(last_rendered.par_chunks_mut(CHARACTERS));
    jobs.enumerate().for_each(|(job, (blocks, stamps))| {
        times.worker(Phase::Gate, || {
            let blocks = blocks.iter_mut().zip(stamps.chunks_mut(BLOCK));
            for ((block, stamps), number) in blocks.zip(job * BLOCKS_PER_JOB..) {
                let masks = masks.get(number).copied().unwrap_or_default();
                let led = following.led(number);
                decide(block, masks, stamps, number, &clock, led);
            }
        });
    });
    if replay.plays() {
        replay.change_hands(&mut characters.blocks);
    }
    let mut changes = change_hands(characters, slots, kinds, wanted, replay.plays());
    let blocks = &characters.blocks;
    let scene = Scene { characters, following };
    let frame = clock.turn.frame as u32;
    for leases in slots.all() {
        scene.look_up(leases, &kinds[leases.kind.get()].rig, times);
        const SLOTS: usize = WORDS_PER_JOB * WORD;
        let last = leases.evaluated_at.par_chunks_mut(SLOTS).zip(leases.gaps.par_chunks_mut(SLOTS));
        let rows = leases.owners.par_chunks(SLOTS).zip(last);
        let by_turns = if leases.interpolates { u64::MAX } else { 0 };
        let follow = &leases.follow;
        let jobs = leases.words.par_chunks_mut(WORDS_PER_JOB).zip(rows).enumerate();
        let longest = jobs.map(|(job, (words, (owners, (evaluated_at, gaps))))| {
            times.worker(Phase::Gate, || {
                let last = evaluated_at.chunks_mut(WORD).zip(gaps.chunks_mut(WORD));
                let rows = owners.chunks(WORD).zip(last);
                let words = words.iter_mut().zip(rows).zip(job * WORDS_PER_JOB..);
                let waited = words.map(|((word, row), number)| {
                    let follow = follow.get(number).copied().unwrap_or_default();
                    let waited = look_up(word, row, blocks, frame, &follow);
                    word.second ^= (word.due | follow.follows) & by_turns;
                    waited
                });
                waited.max().unwrap_or_default()
            })
        });
        changes.longest_gap = changes.longest_gap.max(longest.max().unwrap_or_default());
    }
    changes
}

fn decide(
    block: &mut Block,
    FollowMasks { follows, shares, .. }: FollowMasks,
    stamps: &mut [f64],
    number: usize,
    clock: &Clock,
    led: Led,
) {
    // Whoever's follower is in view counts as visible.
    let visible = block.camera | block.shadow | led.seen;
    for i in bits(visible) {
        stamps[i] = clock.now;
    }
    block.rates.bring_near(led.near, led.whole);
    block.rates.hurry(led.wake);
    let wants = (visible | block.always | led.always) & !shares;
    block.enter = wants & !block.leased;
    block.leave = bits(block.leased & !wants)
        .filter(|&i| clock.now - stamps[i] > clock.grace)
        .fold(0, |leave, i| leave | 1 << i);
    let posed = (block.leased & !block.leave) | block.enter;
    block.start = block.clocks & !posed & !block.ticking & !follows;
    block.stop = block.ticking & (block.enter | !block.clocks);
    let holders = (posed | (block.ticking & !block.stop) | block.start) & !follows;
    if holders | follows != 0 {
        // Whoever has only just been given up goes on at its turns.
        let enters = block.enter | (block.start & !block.leased);
        block.rates.decide((holders, visible, enters), number, clock.turn);
    }
}

/// The serial part: slots are given back, then given out, both in the order of ids.
fn change_hands(
    characters: &mut Characters,
    slots: &mut Slots,
    kinds: &[Kind],
    wanted: &mut [usize],
    replayed: bool,
) -> Changes {
    let mut changes = Changes::default();
    let mut starts = 0;
    wanted.fill(0);
    for b in 0..characters.blocks.len() {
        let Block { camera, shadow, leased, ticking, enter, leave, start, stop, .. } =
            characters.blocks[b];
        changes.visible += (camera | shadow).count_ones();
        changes.in_camera += camera.count_ones();
        for id in bits(leave | stop).map(|i| b * BLOCK + i) {
            let row = characters.rows.of_mut(id);
            characters.playback[id] = slots.release(characters.slots[id], row);
            characters.slots[id] = SlotAddress::NONE;
        }
        let block = &mut characters.blocks[b];
        block.fresh = (enter | start) & !(leased | ticking);
        (block.leased, block.ticking) = (leased & !leave, ticking & !stop);
        starts |= start;
        changes.left += leave.count_ones();
        bits(enter).for_each(|i| wanted[characters.kinds[b * BLOCK + i].get()] += 1);
    }
    for (k, &more) in wanted.iter().enumerate().filter(|(_, n)| **n > 0) {
        slots.reserve(CharacterKind(k as u16), &kinds[k].slot, more);
    }
    if wanted.iter().any(|&n| n > 0) {
        take_in(characters, slots, kinds, &mut changes);
    }
    if starts != 0 {
        start_clocks(characters, slots, kinds);
    }
    let masks = characters.blocks.iter().zip(&characters.masks);
    let followers = masks.map(|(block, masks)| block.leased & masks.follows);
    changes.following = followers.map(u64::count_ones).sum();
    if replayed {
        return changes;
    }
    let blocks = characters.blocks.iter().enumerate();
    for (b, block) in blocks.filter(|(_, block)| block.leased != 0) {
        let counts = block.rates.counts(block.leased & !characters.mask(b).follows);
        changes.by_rate.iter_mut().zip(counts).for_each(|(sum, n)| *sum += n);
    }
    changes
}

/// Gives slots to those who come.
fn take_in(characters: &mut Characters, slots: &mut Slots, kinds: &[Kind], changes: &mut Changes) {
    for b in 0..characters.blocks.len() {
        let mut entered = 0u64;
        for i in bits(characters.blocks[b].enter) {
            let id = b * BLOCK + i;
            let kind = characters.kinds[id];
            let shape = &kinds[kind.get()].slot;
            let owner = CharacterId(id as u32);
            let state = (&characters.playback[id], characters.rows.of(id));
            match slots.lease(kind, shape, owner, state) {
                Some(slot) => {
                    characters.slots[id] = slot;
                    entered |= 1 << i;
                }
                None => changes.waiting += 1,
            }
        }
        changes.entered += entered.count_ones();
        characters.blocks[b].leased |= entered;
        characters.blocks[b].enter = entered;
    }
}

/// Gives slots without matrices to those whose clocks go on.
fn start_clocks(characters: &mut Characters, slots: &mut Slots, kinds: &[Kind]) {
    for b in 0..characters.blocks.len() {
        let mut started = 0u64;
        for i in bits(characters.blocks[b].start) {
            let id = b * BLOCK + i;
            let kind = characters.kinds[id];
            let state = (&characters.playback[id], characters.rows.of(id));
            let owner = CharacterId(id as u32);
            if let Some(slot) = slots.tick(kind, &kinds[kind.get()].slot, owner, state) {
                characters.slots[id] = slot;
                started |= 1 << i;
            }
        }
        characters.blocks[b].ticking |= started;
        characters.blocks[b].start = started;
    }
}

/// Brings the holders' bits into the order of the slots. Gives the frames since the last evaluation
/// of whoever has waited longest, up to this one, and who that is.
fn look_up(
    word: &mut SlotWord,
    (owners, (evaluated_at, gaps)): (&[CharacterId], (&mut [u32], &mut [u8])),
    blocks: &[Block],
    frame: u32,
    follow: &FollowWord,
) -> (u32, CharacterId) {
    let mut longest = (0, CharacterId::default());
    let (leased, second) = (word.leased, word.second);
    let mut next = SlotWord { leased, second, ..SlotWord::default() };
    for slot in bits(word.leased) {
        let id = owners[slot].get();
        let (block, i) = (&blocks[id / BLOCK], id % BLOCK);
        let bit = |mask: u64| (mask >> i & 1) << slot;
        next.due |= bit(block.rates.due);
        next.entered |= bit(block.fresh);
        next.camera |= bit(block.camera);
        next.shadow |= bit(block.shadow);
        next.cut |= bit(block.rates.cut);
        let moved_in = bit(block.enter | block.start) != 0;
        let gap = if moved_in { 1 } else { frame.wrapping_sub(evaluated_at[slot]) };
        if !moved_in && follow.left >> slot & 1 == 0 {
            longest = longest.max((gap, owners[slot]));
        }
        if moved_in || (next.due | follow.follows) >> slot & 1 == 1 {
            (evaluated_at[slot], gaps[slot]) = (frame, gap.clamp(1, u8::MAX.into()) as u8);
        }
    }
    *word = next;
    longest
}

#[cfg(test)]
mod tests {
    use crate::crowd::testing::{CROWD, DT, SKY, crowd, tick};

    #[test]
    fn whoever_is_let_go_takes_its_clocks_along_as_they_were() {
        let mut crowd = crowd(100, 2);
        for _ in 0..40 {
            tick(&mut crowd, CROWD);
        }
        let mut last = Vec::new();
        while tick(&mut crowd, SKY).leased > 0 {
            let leases = &crowd.world.slots.leases;
            let slots = leases.iter().flat_map(|l| l.owners.iter().zip(&l.playback));
            last = slots.map(|(id, playback)| (id.get(), *playback)).collect();
        }
        last.retain(|(id, _)| *id < 100);
        assert_eq!(last.len(), 100, "all left at once");
        for (id, leased) in last {
            let kept = &crowd.world.characters.playback[id];
            assert_eq!(kept.now, leased.now);
            assert_eq!(format!("{kept:?}"), format!("{leased:?}"));
            assert!(kept.now > 40.0 * DT, "it had played while it was seen");
        }
    }
}
