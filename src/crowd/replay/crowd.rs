//! What a crowd can be asked to do with recordings.

use super::{RecordedKind, ReplayError, ReplayHeader};
use crate::crowd::Crowd;
use crate::crowd::characters::{Place, world_from_model};
use crate::crowd::kind::Kind;
use crate::crowd::world::World;
use crate::index::CharacterKind;
use crate::pose::Rig;
use crate::task::serial::Extents;
use crate::task::{Masks, PoseState};
use std::hash::Hasher;
use std::sync::Arc;
use twox_hash::XxHash3_64;

/// What a kind's lists are executed with.
#[derive(Clone, Copy, Debug)]
pub struct ListContext<'a> {
    /// Skeleton and clips.
    pub rig: &'a Arc<Rig>,
    /// What masks are.
    pub masks: &'a Masks,
    /// What the indices of its lists may name.
    pub extents: Extents,
    kind: &'a Kind,
}

impl ListContext<'_> {
    /// What a character keeps that has just been given a palette slot.
    pub fn blank_state(&self) -> PoseState {
        self.kind.slot.poses.as_ref().map(PoseState::twin).unwrap_or_default()
    }

    /// Bytes of such a state.
    pub fn state_bytes(&self) -> usize {
        self.kind.slot.poses.as_ref().map_or(0, PoseState::heap_bytes)
    }
}

impl Crowd {
    /// Records every tick from now on: [`Crowd::recorded_frame`].
    pub fn record_frames(&mut self) {
        let characters = self.capacity() as usize;
        self.world.replay.record(characters);
        self.world.crew.reserve_spools(characters);
    }

    /// The bytes of the last tick, when ticks are recorded.
    pub fn recorded_frame(&self) -> &[u8] {
        self.world.replay.recorded()
    }

    /// What a recording says of this crowd before it has ticked. `checksums` are of each kind's
    /// skeleton and clips; where one is missing it is zero.
    pub fn replay_header(&self, checksums: &[u64], settings: String) -> ReplayHeader {
        let checksums = checksums.iter().copied().chain(std::iter::repeat(0));
        let kind = |(kind, checksum): (&Kind, u64)| RecordedKind {
            name: kind.name.clone(),
            checksum,
            graph: kind.recorded_graph().map(Arc::new),
        };
        let kinds = self.world.kinds.iter().zip(checksums).map(kind).collect();
        let count = self.world.population.asked();
        ReplayHeader { count, kinds, places: self.places_checksum(), settings }
    }

    /// XXH3 of every place, of which kind and how large whoever has it is, to the bit, and of who is
    /// there: two crowds that differ in it can't show one recording.
    pub fn places_checksum(&self) -> u64 {
        let World { characters, kinds, rides, terrain, .. } = &self.world;
        let mut hash = XxHash3_64::new();
        for (kind, place) in characters.kinds.iter().zip(&characters.places) {
            let of = &kinds[kind.get()];
            let at = place.resolve(rides, &characters.places);
            let world = world_from_model(of, at, terrain.height(at.0));
            hash.write(&kind.0.to_le_bytes());
            hash.write(bytemuck::bytes_of(&world));
            hash.write(&(of.radius * at.2).to_le_bytes());
            if let Place::Riding { s, lateral, .. } = place {
                hash.write(&s.to_le_bytes());
                hash.write(&lateral.to_le_bytes());
            }
            if let Place::Following { leader, .. } = place {
                hash.write(&leader.0.to_le_bytes());
            }
        }
        characters.blocks.iter().for_each(|block| hash.write(&block.present.to_le_bytes()));
        hash.finish()
    }

    /// Plays recorded frames from now on: a tick takes time, who comes and who goes, task lists and
    /// motion from the frame that was loaded before it, and does nothing without one. Clocks
    /// stand still and notifies are not fired; they are not recorded.
    pub fn replay_frames(&mut self) {
        let extents = self.world.kinds.iter().map(Kind::extents).collect();
        self.world.replay.play(extents);
        self.world.population.close();
    }

    /// Loads the frame that the next tick plays; the buffer of an earlier one comes back.
    ///
    /// # Errors
    /// [`ReplayError::Frame`] for one that this crowd, as it is now, can't have recorded.
    pub fn load_frame(&mut self, frame: &mut Vec<u8>) -> Result<(), ReplayError> {
        let World { replay, characters, .. } = &mut self.world;
        replay.load(frame, characters)
    }

    /// What the lists of a kind are executed with.
    pub fn list_context(&self, kind: CharacterKind) -> Option<ListContext<'_>> {
        let kind = self.world.kinds.get(kind.get())?;
        Some(ListContext { rig: &kind.rig, masks: kind.masks(), extents: kind.extents(), kind })
    }
}
