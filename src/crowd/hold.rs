//! Parameters of one character's graph that somebody holds at values of their own: whatever its
//! driver or a sequence writes, each evaluation reads what is held, until it is let go.

use super::Crowd;
use super::characters::{Characters, SlotAddress};
use super::error::CrowdError;
use super::kind::Kind;
use super::slots::Slots;
use super::spawn::CharacterHandle;
use super::world::World;
use crate::graph::{BoundProgram, KeyId, ParamId, ParamKind};

/// What is held, of whom. Names, because another graph may take the place of the present one.
#[derive(Debug, Default)]
pub(crate) struct Holds {
    who: Option<CharacterHandle>,
    held: Vec<Held>,
}

/// One parameter.
#[derive(Debug)]
struct Held {
    param: String,
    value: f32,
    /// What it was before.
    kept: f32,
    keys: Vec<HeldKey>,
}

/// A blackboard key that refills it.
#[derive(Debug)]
struct HeldKey {
    key: String,
    /// What others wrote last.
    kept: f32,
}

impl Held {
    /// Writes the value where the next evaluation reads it.
    fn write(&mut self, bound: &BoundProgram, row: &mut [u32]) {
        let Some(param) = bound.program().param(&self.param) else { return };
        // Not what was asked for but what a parameter can be: that is how it is found again.
        let value = bound.program().params[param.get()].limited(self.value);
        for (key, name) in keys_of(bound, param) {
            let now = bound.key(row, key).unwrap_or(f32::NAN);
            match self.keys.iter_mut().find(|held| held.key == name) {
                Some(held) if now.to_bits() != value.to_bits() => held.kept = now,
                Some(_) => {}
                None => self.keys.push(HeldKey { key: name.to_owned(), kept: now }),
            }
            bound.set_key(row, key, value);
        }
        bound.set_param(row, param, value);
        self.value = value;
    }

    /// Holds it at another value.
    fn change(&mut self, value: f32, bound: &BoundProgram, row: &mut [u32]) {
        // What others wrote meanwhile is theirs; what lies there then is the value so far.
        self.write(bound, row);
        let kept: Vec<f32> = self.keys.iter().map(|held| held.kept).collect();
        self.value = value;
        self.write(bound, row);
        self.keys.iter_mut().zip(kept).for_each(|(held, kept)| held.kept = kept);
    }

    /// Puts back what it was before, but for what others have written since.
    fn release(&self, bound: &BoundProgram, row: &mut [u32]) {
        for HeldKey { key, kept } in &self.keys {
            let Some(key) = bound.program().key(key) else { continue };
            let own = |now: f32| now.to_bits() == self.value.to_bits();
            if bound.key(row, key).is_some_and(own) {
                bound.set_key(row, key, *kept);
            }
        }
        if let Some(param) = bound.program().param(&self.param) {
            bound.set_param(row, param, self.kept);
        }
    }
}

fn keys_of(bound: &BoundProgram, param: ParamId) -> impl Iterator<Item = (KeyId, &str)> {
    let keys = (0u16..).map(KeyId).zip(&bound.program().keys);
    keys.filter(move |(_, key)| key.param == param).map(|(id, key)| (id, key.name.as_str()))
}

impl Holds {
    /// Nothing is held.
    pub fn is_empty(&self) -> bool {
        self.held.is_empty()
    }

    /// Before a tick: writes what is held over what others wrote.
    pub fn write(&mut self, characters: &mut Characters, slots: &mut Slots, kinds: &[Kind]) {
        let Some(who) = self.who else { return };
        let Some((bound, row)) = row(who, characters, slots, kinds) else {
            // It has gone, and took what was held along.
            return *self = Self::default();
        };
        self.held.iter_mut().for_each(|held| held.write(bound, row));
    }
}

/// The program and the row of somebody who is there and whom a graph plays.
fn row<'a>(
    who: CharacterHandle,
    characters: &'a mut Characters,
    slots: &'a mut Slots,
    kinds: &'a [Kind],
) -> Option<(&'a BoundProgram, &'a mut [u32])> {
    let id = who.id();
    let here = characters.generations.get(id.get()) == Some(&who.generation());
    (here && characters.is_present(id)).then_some(())?;
    let bound = &kinds[characters.kinds[id.get()].get()].graph.as_ref()?.bound;
    let row = match characters.slots[id.get()] {
        SlotAddress::NONE => characters.rows.of_mut(id.get()),
        at => slots.at_mut(at).row_mut(at.slot as usize),
    };
    Some((bound, row.get_mut(..bound.words())?))
}

impl World {
    fn row_of(&mut self, who: CharacterHandle) -> Option<(&BoundProgram, &mut [u32])> {
        row(who, &mut self.characters, &mut self.slots, &self.kinds)
    }
}

impl Crowd {
    /// Holds a parameter of a character's graph at a value, limited to the parameter's range, from
    /// the next tick on: neither its driver nor a sequence changes it until it is released. A
    /// trigger is set once and not held. Of one character at a time: whoever was held before is
    /// released. False for somebody without a graph, and for a parameter that this one does not
    /// have.
    ///
    /// # Errors
    /// [`CrowdError::Gone`], [`CrowdError::NoCharacter`], and [`CrowdError::Recorded`] in a replay.
    pub fn hold_param(
        &mut self,
        who: CharacterHandle,
        param: &str,
        value: f32,
    ) -> Result<bool, CrowdError> {
        self.world.resolve(who)?;
        if self.world.replay.plays() {
            return Err(CrowdError::Recorded);
        }
        if self.world.holds.who != Some(who) {
            self.release_params();
        }
        let mut holds = std::mem::take(&mut self.world.holds);
        let held = self.world.row_of(who).and_then(|(bound, row)| {
            let id = bound.program().param(param)?;
            if bound.program().params[id.get()].kind == ParamKind::Trigger {
                keys_of(bound, id).for_each(|(key, _)| bound.set_key(row, key, value));
                bound.set_param(row, id, value);
                return Some(());
            }
            holds.who = Some(who);
            match holds.held.iter_mut().find(|held| held.param == param) {
                Some(held) => held.change(value, bound, row),
                None => {
                    let kept = bound.param(row, id).unwrap_or_default();
                    let mut held = Held { param: param.to_owned(), value, kept, keys: Vec::new() };
                    held.write(bound, row);
                    holds.held.push(held);
                }
            }
            Some(())
        });
        self.world.holds = holds;
        Ok(held.is_some())
    }

    /// Lets a held parameter go: it is what its driver wrote last. Nothing for one that is not held.
    pub fn release_param(&mut self, param: &str) {
        let mut holds = std::mem::take(&mut self.world.holds);
        if let Some(at) = holds.held.iter().position(|held| held.param == param)
            && let Some(who) = holds.who
        {
            let held = holds.held.remove(at);
            if let Some((bound, row)) = self.world.row_of(who) {
                held.release(bound, row);
            }
        }
        self.world.holds = holds;
    }

    /// Lets all held parameters go.
    pub fn release_params(&mut self) {
        while let Some(param) = self.world.holds.held.first().map(|held| held.param.clone()) {
            self.release_param(&param);
        }
        self.world.holds = Holds::default();
    }

    /// The parameters of a character that are held, and at which values.
    pub fn held_params(&self, who: CharacterHandle) -> impl Iterator<Item = (&str, f32)> {
        let held = self.world.holds.held.iter();
        let of = self.world.holds.who == Some(who);
        held.filter(move |_| of).map(|held| (held.param.as_str(), held.value))
    }
}
