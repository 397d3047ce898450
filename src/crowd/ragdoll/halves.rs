//! Where evaluation leaves off for the physics step.

use super::Fall;
use crate::crowd::evaluate::Evaluation;
use crate::crowd::kind::Kind;
use crate::crowd::leases::{SlotWord, WORD};
use crate::index::CharacterId;
use crate::task::{Batch, Context, TaskList};
use std::sync::MutexGuard;

impl Evaluation<'_> {
    /// What becomes of somebody who falls, lies or gets up.
    pub fn fall(
        &self,
        word: &SlotWord,
        slot: usize,
        id: CharacterId,
    ) -> Option<MutexGuard<'_, Fall>> {
        let fallen = word.fallen >> (slot % WORD) & 1 == 1;
        if fallen { self.falls.of(id) } else { None }
    }

    /// Executes what comes before the physics step of a list, and leaves the list to it.
    pub fn suspend<'k>(
        &self,
        kind: &'k Kind,
        id: CharacterId,
        list: &mut TaskList,
        batch: &mut Batch<'_, 'k>,
    ) {
        let Some(mut fall) = self.falls.of(id) else { return };
        let mut watched = self.watched.and_then(|w| w.capture(id));
        let (state, capture) = (&mut fall.state, watched.as_deref_mut());
        let mut context = Context { masks: kind.masks(), state, capture, kept: None };
        batch.execute_before_physics(&kind.rig, list, &mut context);
        fall.list.clear();
        std::mem::swap(&mut fall.list, list);
    }
}
