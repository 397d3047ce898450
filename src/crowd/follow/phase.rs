//! Phase 5: palettes of those whose leader is of another kind.

use super::links::Following;
use crate::crowd::characters::{Characters, Place, SlotAddress, bits};
use crate::crowd::crew::{Crew, Scratch};
use crate::crowd::kind::Kind;
use crate::crowd::leases::{Leases, WORD};
use crate::crowd::slots::Slots;
use crate::math::Mat3x4;
use crate::pose::kernels::resolve::{self, BATCH, ResolveScratch};
use crate::pose::{Detail, Pose, PoseMap, Rig};
use crate::profile::{Phase, PhaseTimes};
use rayon::prelude::*;

/// A worker's own: one batch of poses.
#[derive(Debug, Default)]
pub(crate) struct CopyScratch {
    poses: [Pose; BATCH],
    resolve: ResolveScratch,
}

impl CopyScratch {
    /// Makes room for followers of a rig.
    pub fn reserve(&mut self, rig: &Rig) {
        self.poses.iter_mut().for_each(|pose| pose.fit(rig.shape()));
        let mut palette = vec![Mat3x4::IDENTITY; rig.palette_len()];
        // A batch of one needs the most: palettes for the lanes that have nobody.
        let (lanes, reference) = (crate::math::Lanes::best(), &[rig.reference()]);
        let out: &mut [&mut [Mat3x4]] = &mut [&mut palette];
        let all = (rig.bone_count(), Detail::Whole);
        let done = resolve::resolve(lanes, rig, reference, all, &mut self.resolve, out);
        debug_assert_eq!(done, Ok(()));
    }
}

/// What palettes are copied with.
pub(crate) struct Copying<'a> {
    pub kinds: &'a [Kind],
    pub crew: &'a Crew,
    pub characters: &'a Characters,
    pub following: &'a Following,
    pub times: &'a PhaseTimes,
}

impl Copying<'_> {
    /// Writes the palette of everybody whose leader was posed in this frame, and the bind pose of
    /// those who have come into view without one. Gives their number.
    pub fn run(&self, slots: &mut Slots) -> u32 {
        let Slots { leases, pages, .. } = slots;
        for leases in leases.iter_mut().filter(|leases| !leases.follow.is_empty()) {
            leases.write_whole();
        }
        let all = &*leases;
        all.par_iter().zip(pages.par_iter_mut()).for_each(|(leases, page)| {
            let rows = page.matrices.par_chunks_mut((leases.stride() * WORD).max(1));
            leases.follow.par_iter().zip(rows).enumerate().for_each(|(w, (word, rows))| {
                if word.follows != 0 {
                    self.times.worker(Phase::Follow, || self.word(all, leases, w, rows));
                }
            });
        });
        let words = all.iter().flat_map(|leases| &leases.follow);
        words.map(|word| word.follows.count_ones()).sum()
    }

    /// The slots of one word, a batch at a time.
    fn word(&self, all: &[Leases], leases: &Leases, w: usize, mut rows: &mut [Mat3x4]) {
        let kind = &self.kinds[leases.kind.get()];
        let rig = &*kind.rig;
        let mut scratch = self.crew.mine();
        let Scratch { worker, copies: CopyScratch { poses, resolve }, .. } = &mut *scratch;
        let lanes = worker.options().lanes;
        let (stride, len) = (leases.stride(), leases.palette_len);
        let second = leases.words[w].second;
        let mut follows = bits(leases.follow[w].follows);
        let mut passed = 0;
        loop {
            let mut palettes: [&mut [Mat3x4]; BATCH] = Default::default();
            let mut count = 0;
            for slot in follows.by_ref().take(BATCH) {
                let (own, rest) = rows[(slot - passed) * stride..].split_at_mut(stride);
                (rows, passed) = (rest, slot + 1);
                palettes[count] = &mut own[(second >> slot & 1) as usize * len..][..len];
                match self.source(all, leases, w * WORD + slot) {
                    Some((leader, pose, map)) => map.apply(leader, pose, rig, &mut poses[count]),
                    None => {
                        poses[count].fit(rig.shape());
                        poses[count].copy_from(rig.reference(), rig.bone_count());
                    }
                }
                count += 1;
            }
            if count == 0 {
                return;
            }
            let batch: [&Pose; BATCH] = std::array::from_fn(|k| &poses[k]);
            let bones = (rig.bone_count(), Detail::Whole);
            let out = &mut palettes[..count];
            let done = resolve::resolve(lanes, rig, &batch[..count], bones, resolve, out);
            debug_assert_eq!(done, Ok(()), "a slot is as long as its kind's palette");
        }
    }

    /// Whose pose somebody with a slot takes, and how.
    fn source<'a>(
        &'a self,
        all: &'a [Leases],
        leases: &Leases,
        slot: usize,
    ) -> Option<(&'a Rig, &'a Pose, &'a PoseMap)> {
        if leases.follow[slot / WORD].led >> (slot % WORD) & 1 == 0 {
            return None;
        }
        let id = leases.owners[slot].get();
        let Place::Following { leader, .. } = self.characters.places[id] else { return None };
        let SlotAddress { page, slot } = self.characters.slots[leader.get()];
        let of = all.get(page as usize)?;
        let map = self.following.map(of.kind, leases.kind)?;
        Some((&self.kinds[of.kind.get()].rig, of.kept_pose(slot as usize)?, map))
    }
}
