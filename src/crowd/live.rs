//! What can be changed while a crowd runs: from the next tick on it is as if it had been made so,
//! and everybody goes on from where they are.

use super::characters::{BLOCK, SlotAddress, bits};
use super::crew::Crew;
use super::error::CrowdError;
use super::kind::Kind;
use super::lend::Lender;
use super::world::World;
use super::{Budget, Crowd, Gates, UpdateMode};
use crate::index::CharacterId;
use crate::profile::Timeline;
use crate::task::WorkerOptions;
use std::sync::Arc;

impl Crowd {
    /// How distant characters are spared. In a replay it is as recorded all the same.
    ///
    /// # Errors
    /// [`CrowdError::OutOfRange`] with a distance that is not finite, positive and above the one
    /// before it; then nothing is changed.
    pub fn set_gates(&mut self, gates: Gates) -> Result<(), CrowdError> {
        gates.check()?;
        self.world.gates = gates;
        Ok(())
    }

    /// Milliseconds that evaluation may take of a frame; `None` is without limit. A new limit is
    /// learnt anew.
    ///
    /// # Errors
    /// [`CrowdError::OutOfRange`] for a number that is not finite and above 0.
    pub fn set_budget(&mut self, ms: Option<f32>) -> Result<(), CrowdError> {
        if let Some(ms) = ms {
            Budget::check(ms)?;
        }
        self.world.budget = ms.map(Budget::new);
        self.world.census.take();
        Ok(())
    }

    /// What everybody does while nobody sees them, also those who have yet to come. Whom a sequence
    /// forces has it when it no longer does.
    pub fn set_update_modes(&mut self, mode: UpdateMode) {
        let World { characters, sequences, .. } = &mut self.world;
        characters.update_mode = mode;
        for (b, block) in characters.blocks.iter_mut().enumerate() {
            for i in bits(block.present) {
                let id = CharacterId((b * BLOCK + i) as u32);
                if !sequences.forced.set_own(id, mode) {
                    block.set_update_mode(i, mode);
                }
            }
        }
    }

    /// Notes what each thread does from the next tick on, or no longer.
    pub fn trace(&mut self, timeline: Option<Arc<Timeline>>) {
        self.world.times.trace(timeline);
    }

    /// Switches the executor's pruning and stealing, and the instructions that it uses.
    pub fn set_execution(&mut self, options: WorkerOptions) {
        self.world.crew.set_options(options);
    }

    /// How the executor works.
    pub fn execution(&self) -> WorkerOptions {
        self.world.crew.options()
    }

    /// Goes on with so many worker threads.
    ///
    /// # Errors
    /// [`CrowdError::NoThreads`] for none, [`CrowdError::Threads`] when the system refuses them; it
    /// goes on with those that it has.
    pub fn set_threads(&mut self, threads: usize) -> Result<(), CrowdError> {
        if threads == 0 {
            return Err(CrowdError::NoThreads);
        }
        self.workers = Lender::new(threads, World::step)
            .map_err(|reason| CrowdError::Threads { threads, reason })?;
        self.world.crew = self.world.crew_of(threads, self.execution());
        Ok(())
    }

    /// Whether whoever skips frames is drawn on its way. Everybody gives its palette slot back and
    /// is given another one in the next tick, as if it had just come into view: who falls stands
    /// again, and a transition that goes on at this moment snaps.
    ///
    /// # Errors
    /// [`CrowdError::PageTooSmall`] where a page does not hold two palettes of a kind, and
    /// [`CrowdError::Recorded`] while ticks are recorded or replayed; then nothing is changed.
    pub fn set_interpolation(&mut self, on: bool) -> Result<(), CrowdError> {
        if self.world.replay.plays() || self.world.replay.records() {
            return Err(CrowdError::Recorded);
        }
        let page = self.world.slots.page_matrices() >> u32::from(on);
        self.world.kinds.iter().try_for_each(|kind| kind.check_page(page))?;
        self.world.give_back_slots();
        self.world.kinds.iter_mut().for_each(|kind| kind.slot.interpolates = on);
        Ok(())
    }
}

impl World {
    /// Workers' memory for what there is to do.
    pub fn crew_of(&self, threads: usize, options: WorkerOptions) -> Crew {
        let most_tasks = self.kinds.iter().map(Kind::most_tasks).max().unwrap_or(0);
        let mut crew = Crew::new(threads, options, most_tasks);
        self.kinds.iter().for_each(|kind| crew.reserve_poses(&kind.rig));
        if self.replay.records() {
            crew.reserve_spools(self.characters.kinds.len());
        }
        crew
    }

    /// Takes every palette slot back, and the pages with them.
    fn give_back_slots(&mut self) {
        let (characters, slots) = (&mut self.characters, &mut self.slots);
        // Poses of falls lie in slots.
        let top = self.terrain.max_height();
        self.falls.end(|_, _| true, (&mut *characters, &mut *slots, &self.kinds[..]), top);
        for b in 0..characters.blocks.len() {
            let leased = std::mem::take(&mut characters.blocks[b].leased);
            for id in bits(leased).map(|i| b * BLOCK + i) {
                let row = characters.rows.of_mut(id);
                characters.playback[id] = slots.release(characters.slots[id], row);
                characters.slots[id] = SlotAddress::NONE;
            }
        }
        slots.drop_pages();
        // What is drawn before the next tick is drawn without them.
        self.instances.clear();
        self.groups.clear();
    }
}

#[cfg(test)]
mod tests;
