//! What following means for the slots of one page, 64 at a time.

use super::links::Following;
use crate::crowd::characters::{BLOCK, Characters, Place, bits};
use crate::crowd::leases::{Leases, WORD};
use crate::index::CharacterId;
use crate::pose::{Pose, Rig};
use crate::profile::{Phase, PhaseTimes};
use rayon::prelude::*;

/// Slot words that one job takes.
const WORDS_PER_JOB: usize = 16;

/// One bit per slot for 64 slots, on a cache line of its own, because workers write it.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
pub(crate) struct FollowWord {
    /// Its holder leads somebody of another kind.
    pub leading: u64,
    /// So it does, and evaluates this frame: its pose is kept.
    pub keeps: u64,
    /// Its palette is written in this frame's follow phase,
    pub follows: u64,
    /// from a pose that its leader keeps in this frame, and not as the bind pose.
    pub led: u64,
    /// Its holder follows nobody any more, and stays in the bind pose.
    pub left: u64,
    /// Its holder leads somebody who shares its palette and is in view.
    pub shared: u64,
    /// How many those are: whom only the camera sees, whom both see, whom only the shadow map sees.
    pub doubles: [u32; 3],
    /// Poses that the page keeps in the words before this one.
    pub kept_before: u32,
}

/// Who follows whom, and who evaluates.
pub(crate) struct Scene<'a> {
    pub characters: &'a Characters,
    pub following: &'a Following,
}

impl Scene<'_> {
    /// Brings what following means into the order of a page's slots.
    pub fn look_up(&self, leases: &mut Leases, rig: &Rig, times: &PhaseTimes) {
        let nobody = self.following.is_empty() || leases.ticking;
        let words = if nobody { 0 } else { leases.words.len() };
        leases.follow.resize(words, FollowWord::default());
        let jobs = leases.follow.par_chunks_mut(WORDS_PER_JOB);
        let owners = leases.owners.par_chunks(WORDS_PER_JOB * WORD);
        jobs.zip(leases.words.par_chunks(WORDS_PER_JOB)).zip(owners).for_each(
            |((follow, words), owners)| {
                times.worker(Phase::Gate, || {
                    let rows = words.iter().zip(owners.chunks(WORD));
                    for (follow, (word, owners)) in follow.iter_mut().zip(rows) {
                        *follow = self.word(word.leased, owners);
                    }
                });
            },
        );
        let (mut kept, mut leading) = (0, 0);
        for word in &mut leases.follow {
            word.kept_before = kept;
            kept += word.keeps.count_ones();
            leading += word.leading.count_ones() as usize;
        }
        // Room for all at once: who evaluates changes from frame to frame.
        if leading > leases.kept.len() {
            let mut pose = Pose::default();
            pose.fit(rig.shape());
            leases.kept.resize(leading.max(leases.kept.len() * 5 / 4), pose);
        }
    }

    fn word(&self, leased: u64, owners: &[CharacterId]) -> FollowWord {
        let mut word = FollowWord::default();
        for slot in bits(leased) {
            let id = owners[slot];
            let block = &self.characters.blocks[id.get() / BLOCK];
            let masks = self.characters.mask(id.get() / BLOCK);
            let is = |mask: u64| mask >> (id.get() % BLOCK) & 1 == 1;
            if is(masks.follows) {
                let led = match self.characters.places[id.get()] {
                    Place::Following { leader, .. } => self.evaluates(leader),
                    _ => {
                        word.left |= 1 << slot;
                        false
                    }
                };
                word.led |= u64::from(led) << slot;
                word.follows |= u64::from(led || is(block.enter)) << slot;
            } else if is(masks.leads) {
                self.lead(id, slot, &mut word);
                let due = u64::from(is(block.rates.due)) << slot;
                word.keeps |= word.leading & due;
            }
        }
        word
    }

    /// Whether somebody is posed in this frame.
    fn evaluates(&self, leader: CharacterId) -> bool {
        let block = &self.characters.blocks[leader.get() / BLOCK];
        (block.leased & block.rates.due) >> (leader.get() % BLOCK) & 1 == 1
    }

    /// Looks at the followers of somebody who holds a slot.
    fn lead(&self, leader: CharacterId, slot: usize, word: &mut FollowWord) {
        for link in self.following.of(leader) {
            if !link.shares {
                word.leading |= 1 << slot;
                continue;
            }
            let id = link.follower.get();
            let (block, i) = (&self.characters.blocks[id / BLOCK], id % BLOCK);
            let seen = [block.camera & !block.shadow, block.camera & block.shadow, block.shadow];
            // The first that holds: who is seen by both is not seen by the shadow map alone.
            if let Some(by) = seen.iter().position(|mask| mask >> i & 1 == 1) {
                word.doubles[by] += 1;
                word.shared |= 1 << slot;
            }
        }
    }
}

impl Leases {
    /// The slots of a word whose palettes are written in this frame, in execute or in follow.
    pub fn written(&self, word: usize) -> u64 {
        self.words[word].due | self.follow.get(word).map_or(0, |follow| follow.follows)
    }

    /// Notes that the palettes which follow in this frame are written whole.
    pub fn write_whole(&mut self) {
        for ((cut, word), follow) in self.cut.iter_mut().zip(&self.words).zip(&self.follow) {
            let follows = follow.follows;
            cut[0] &= !(follows & !word.second);
            cut[1] &= !(follows & word.second);
        }
    }

    /// The pose that a slot's holder was executed to in this frame, if it is kept.
    pub fn kept_pose(&self, slot: usize) -> Option<&Pose> {
        let word = self.follow.get(slot / WORD)?;
        self.kept.get(word.kept_before as usize + word.rank(slot % WORD)?)
    }

    /// The same, to be written.
    pub fn kept_pose_mut(&mut self, slot: usize) -> Option<&mut Pose> {
        let word = self.follow.get(slot / WORD)?;
        self.kept.get_mut(word.kept_before as usize + word.rank(slot % WORD)?)
    }
}

impl FollowWord {
    /// How many poses are kept of the slots of this word before one whose pose is kept.
    pub fn rank(&self, slot: usize) -> Option<usize> {
        let kept = self.keeps >> slot & 1 == 1;
        kept.then(|| (self.keeps & ((1 << slot) - 1)).count_ones() as usize)
    }
}
