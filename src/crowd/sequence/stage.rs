//! The world as a sequence sees it.

use super::director::Stage;
use super::score::Order;
use crate::crowd::UpdateMode;
use crate::crowd::characters::{BLOCK, Characters, Place, SlotAddress};
use crate::crowd::follow::Following;
use crate::crowd::kind::Kind;
use crate::crowd::playback::Playback;
use crate::crowd::ride::Ride;
use crate::crowd::slots::Slots;
use crate::index::CharacterId;
use glam::{Vec3, Vec3Swizzles};

/// The parts of a world that sequences read and write.
pub(crate) struct OnStage<'a> {
    pub characters: &'a mut Characters,
    pub slots: &'a mut Slots,
    pub kinds: &'a [Kind],
    pub rides: &'a [Ride],
    pub following: &'a Following,
    pub now: f64,
    /// The camera.
    pub eye: Vec3,
}

impl<'a> OnStage<'a> {
    fn kind(&self, id: CharacterId) -> &'a Kind {
        &self.kinds[self.characters.kinds[id.get()].get()]
    }

    /// A character's clocks, wherever they are now.
    fn playback(&mut self, id: CharacterId) -> &mut Playback {
        match self.characters.slots[id.get()] {
            SlotAddress::NONE => &mut self.characters.playback[id.get()],
            at => &mut self.slots.at_mut(at).playback[at.slot as usize],
        }
    }

    /// A character's row, wherever it lies now.
    fn row(&mut self, id: CharacterId) -> &mut [u32] {
        match self.characters.slots[id.get()] {
            SlotAddress::NONE => self.characters.rows.of_mut(id.get()),
            at => self.slots.at_mut(at).row_mut(at.slot as usize),
        }
    }
}

impl Stage for OnStage<'_> {
    fn now(&self) -> f64 {
        self.now
    }

    fn last_drawn(&self, id: CharacterId) -> f64 {
        self.characters.last_rendered[id.get()]
    }

    fn distance(&self, id: CharacterId) -> f32 {
        // Over the ground: a camera high above a street is not in it, but a lift of its eye should
        // not decide who plays.
        let (position, ..) =
            self.characters.places[id.get()].resolve(self.rides, &self.characters.places);
        position.distance(self.eye.xz())
    }

    fn mode(&self, id: CharacterId) -> UpdateMode {
        self.characters.blocks[id.get() / BLOCK].update_mode(id.get() % BLOCK)
    }

    fn set_mode(&mut self, id: CharacterId, mode: UpdateMode) {
        let block = &mut self.characters.blocks[id.get() / BLOCK];
        block.set_update_mode(id.get() % BLOCK, mode);
    }

    fn direct(&mut self, id: CharacterId, directed: bool) {
        let kind = self.kind(id);
        match &kind.graph {
            Some(graph) => graph.direct(self.row(id), directed),
            None => self.playback(id).direct(directed),
        }
    }

    fn tell(&mut self, id: CharacterId, order: &Order) {
        let kind = self.kind(id);
        match (order, &kind.graph) {
            (Order::Set { key, value }, Some(graph)) => graph.set(self.row(id), key, *value),
            (Order::Play { clip }, None) => {
                if let Some(clip) = kind.clip(clip) {
                    self.playback(id).play(kind, clip);
                }
            }
            // Refused when the sequence was added.
            _ => {}
        }
    }

    fn party(&self, id: CharacterId, party: &mut Vec<CharacterId>) {
        if let Place::Following { leader, .. } = self.characters.places[id.get()] {
            party.push(leader);
        }
        party.extend(self.following.followers(id));
    }
}
