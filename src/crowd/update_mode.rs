//! What characters do while nobody sees them.

use super::Crowd;
use super::characters::{BLOCK, Block};
use super::error::CrowdError;
use crate::index::CharacterId;

/// What a character does while nobody sees it. Whoever is seen evaluates in any mode.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum UpdateMode {
    /// Nothing, once the grace time is over; it stays where it is. When it is seen again its clocks
    /// catch up, in bounded steps, and nobody hears what they pass.
    #[default]
    TickWhenRendered,
    /// It evaluates as if it was seen.
    AlwaysTickPose,
    /// Its clocks run: notifies are fired and its root moves it as in
    /// [`UpdateMode::AlwaysTickPose`], but nothing is executed, and it holds no palette slot.
    AlwaysTickClocks,
}

impl UpdateMode {
    /// The name, as in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::TickWhenRendered => "tick_when_rendered",
            Self::AlwaysTickPose => "always_tick_pose",
            Self::AlwaysTickClocks => "always_tick_clocks",
        }
    }
}

impl Block {
    /// The mode of a character of this block.
    pub fn update_mode(&self, i: usize) -> UpdateMode {
        match (self.always >> i & 1, self.clocks >> i & 1) {
            (1, _) => UpdateMode::AlwaysTickPose,
            (_, 1) => UpdateMode::AlwaysTickClocks,
            _ => UpdateMode::TickWhenRendered,
        }
    }

    /// Changes it from the next frame on.
    pub fn set_update_mode(&mut self, i: usize, mode: UpdateMode) {
        let set = |bits: &mut u64, on: bool| *bits = *bits & !(1 << i) | u64::from(on) << i;
        set(&mut self.always, mode == UpdateMode::AlwaysTickPose);
        set(&mut self.clocks, mode == UpdateMode::AlwaysTickClocks);
    }
}

impl Crowd {
    /// What a character does while nobody sees it; `None` for an id that nobody has.
    pub fn update_mode(&self, id: CharacterId) -> Option<UpdateMode> {
        self.world.characters.is_present(id).then_some(())?;
        Some(self.world.characters.blocks[id.get() / BLOCK].update_mode(id.get() % BLOCK))
    }

    /// Changes it from the next tick on; while a sequence forces the character, from when it no
    /// longer does. A replay does what was recorded all the same.
    ///
    /// # Errors
    /// [`CrowdError::NoCharacter`] for an id that the crowd does not have, [`CrowdError::Absent`]
    /// for one that nobody has.
    pub fn set_update_mode(&mut self, id: CharacterId, mode: UpdateMode) -> Result<(), CrowdError> {
        self.world.check_present(id)?;
        if !self.world.sequences.forced.set_own(id, mode) {
            let block = &mut self.world.characters.blocks[id.get() / BLOCK];
            block.set_update_mode(id.get() % BLOCK, mode);
        }
        Ok(())
    }
}
