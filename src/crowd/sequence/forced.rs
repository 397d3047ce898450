//! Who has to evaluate because somebody says so, and how each would evaluate otherwise.

use super::SequenceId;
use crate::crowd::UpdateMode;
use crate::crowd::characters::{BLOCK, Block};
use crate::index::CharacterId;
use std::collections::BTreeMap;

/// Characters whose mode is not their own.
///
/// Several sequences can force one character, begin and end in any order: its own mode comes back
/// with the last of them. What each had before is therefore kept once, not once per sequence.
#[derive(Debug, Default)]
pub(crate) struct Forced {
    by: BTreeMap<CharacterId, Force>,
}

/// Why a character's mode is not its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Force {
    /// The mode that comes back.
    pub own: UpdateMode,
    /// Who forces it, in the order in which they began.
    pub by: Vec<SequenceId>,
}

impl Forced {
    /// A sequence forces a character, whose mode is `now` if nobody does yet. Gives the mode that it
    /// has from now on.
    pub fn force(&mut self, id: CharacterId, by: SequenceId, now: UpdateMode) -> UpdateMode {
        let force = self.by.entry(id).or_insert(Force { own: now, by: Vec::new() });
        if !force.by.contains(&by) {
            force.by.push(by);
        }
        UpdateMode::AlwaysTickPose
    }

    /// A sequence lets go of a character. Gives its own mode when nobody forces it any more.
    pub fn release(&mut self, id: CharacterId, by: SequenceId) -> Option<UpdateMode> {
        let force = self.by.get_mut(&id)?;
        force.by.retain(|sequence| *sequence != by);
        if !force.by.is_empty() {
            return None;
        }
        self.by.remove(&id).map(|force| force.own)
    }

    /// A character goes: nobody forces it any more, and its mode is nobody's.
    pub fn forget(&mut self, id: CharacterId) {
        self.by.remove(&id);
    }

    /// A character's own mode is another one from now on. True when it is forced, and has it later.
    pub fn set_own(&mut self, id: CharacterId, own: UpdateMode) -> bool {
        self.by.get_mut(&id).map(|force| force.own = own).is_some()
    }

    /// Has them all evaluate in this frame, wherever they are.
    pub fn hurry(&self, blocks: &mut [Block]) {
        for id in self.by.keys() {
            blocks[id.get() / BLOCK].rates.hurry(1 << (id.get() % BLOCK));
        }
    }

    /// Why a character's mode is not its own; `None` where it is.
    pub fn of(&self, id: CharacterId) -> Option<&Force> {
        self.by.get(&id)
    }

    /// Everybody who is forced, in the order of ids.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (CharacterId, &Force)> {
        self.by.iter().map(|(id, force)| (*id, force))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: CharacterId = CharacterId(4);
    const A: SequenceId = SequenceId(0);
    const B: SequenceId = SequenceId(1);

    #[test]
    fn the_own_mode_comes_back_with_the_last_whatever_the_order() {
        for (first, second) in [(A, B), (B, A)] {
            let mut forced = Forced::default();
            assert_eq!(
                forced.force(ID, A, UpdateMode::AlwaysTickClocks),
                UpdateMode::AlwaysTickPose
            );
            // By then it ticks because it is forced: that is not its own.
            forced.force(ID, B, UpdateMode::AlwaysTickPose);
            forced.force(ID, B, UpdateMode::AlwaysTickPose);
            assert_eq!(forced.iter().next().unwrap().1.by, [A, B]);
            assert_eq!(forced.release(ID, first), None);
            assert_eq!(forced.release(ID, second), Some(UpdateMode::AlwaysTickClocks));
            assert_eq!(forced.iter().len(), 0);
            assert_eq!(forced.release(ID, second), None);
        }
    }

    #[test]
    fn a_mode_that_is_set_meanwhile_is_what_comes_back() {
        let mut forced = Forced::default();
        assert!(!forced.set_own(ID, UpdateMode::AlwaysTickPose));
        forced.force(ID, A, UpdateMode::TickWhenRendered);
        assert!(forced.set_own(ID, UpdateMode::AlwaysTickClocks));
        assert_eq!(forced.release(ID, A), Some(UpdateMode::AlwaysTickClocks));
    }
}
