//! Other graphs for a crowd that plays, from one tick to the next.

use super::Crowd;
use super::driver::Driver;
use super::error::CrowdError;
use super::graph::KindGraph;
use super::slots::SlotShape;
use super::world::World;
use crate::graph::{Succession, ValidProgram};
use crate::index::{CharacterId, CharacterKind};
use crate::motion::Fired;
use std::sync::Arc;

impl Crowd {
    /// Has other graphs play some kinds from the next tick on: all of them or, after an error, none.
    /// Characters go on from where they are, as far as the graphs have names in common
    /// ([`Succession`]); transitions that are under way end.
    ///
    /// # Errors
    /// [`CrowdError::Graph`] for a graph that can't play its kind, [`CrowdError::NoGraph`] for a
    /// kind that no graph plays, [`CrowdError::DoesNotFit`] when instances would take more memory
    /// than there is, [`CrowdError::Recorded`] during a recording or a replay.
    pub fn replace_graphs(
        &mut self,
        graphs: &[(CharacterKind, Arc<ValidProgram>)],
    ) -> Result<(), CrowdError> {
        self.world.replace_graphs(graphs)
    }
}

impl World {
    fn replace_graphs(
        &mut self,
        graphs: &[(CharacterKind, Arc<ValidProgram>)],
    ) -> Result<(), CrowdError> {
        if self.replay.records() || self.replay.plays() {
            return Err(CrowdError::Recorded);
        }
        let mut bound = Vec::with_capacity(graphs.len());
        for (id, program) in graphs {
            let kind = self.kinds.get(id.get()).and_then(|kind| Some((kind, kind.graph.as_ref()?)));
            let (kind, graph) = kind.ok_or(CrowdError::NoGraph { kind: id.0 })?;
            bound.push((*id, kind.rebind(graph, program, &mut self.notifies.names)?));
        }
        self.has_room_for(&bound)?;
        self.notifies.count_new_names();
        // Lists and poses of falls are the old programs'.
        let (characters, slots) = (&mut self.characters, &mut self.slots);
        self.falls.end(|_, _| true, (characters, slots, &self.kinds), self.terrain.max_height());
        for (id, graph) in bound {
            self.replace_graph(id, graph);
        }
        let most = self.kinds.iter().map(|kind| kind.most_tasks()).max().unwrap_or(0);
        self.crew.reserve_tasks(most);
        // What was captured has the old program's names.
        self.watcher.forget();
        Ok(())
    }

    fn has_room_for(&self, graphs: &[(CharacterKind, KindGraph)]) -> Result<(), CrowdError> {
        let (mut rows, mut slots) = (0i64, 0i64);
        for (id, graph) in graphs {
            let kind = &self.kinds[id.get()];
            let interpolates = kind.slot.interpolates;
            let shape = SlotShape { interpolates, ..graph.slot(&kind.rig) };
            let count = self.characters.kinds.iter().filter(|kind| *kind == id).count();
            let more = shape.row as i64 - kind.slot.row as i64;
            let rows_of = count + self.slots.ticking_of(*id);
            rows += more * (size_of::<u32>() * rows_of) as i64;
            slots +=
                (shape.bytes() as i64 - kind.slot.bytes() as i64) * self.slots.slots_of(*id) as i64;
        }
        let (held, limit) = self.slots.held_and_limit();
        let needed = held.saturating_add_signed(rows.saturating_add(slots));
        if rows + slots <= 0 || needed <= limit {
            return Ok(());
        }
        let count = self.characters.kinds.len() as u32;
        let fits = (u128::from(limit) * u128::from(count) / u128::from(needed)) as u64;
        Err(CrowdError::DoesNotFit { count, needed, limit, fits })
    }

    fn replace_graph(&mut self, id: CharacterKind, graph: KindGraph) {
        let kind = &mut self.kinds[id.get()];
        let Some(old) = kind.play(graph) else { return };
        let Some(new) = &kind.graph else { return };
        let succession = Succession::new(&old.bound, &new.bound);
        let pass_on = |from: &mut [u32], to: &mut [u32], fire: &mut dyn FnMut(Fired)| {
            let (control, driver) = from.split_at_mut(old.bound.words());
            let (new_control, new_driver) = to.split_at_mut(new.bound.words());
            new_driver.copy_from_slice(driver);
            let phase = Driver::lot(driver);
            let passed = succession.pass_on(control, new_control, phase, fire);
            debug_assert_eq!(passed, Ok(()), "rows are as long as their programs'");
        };
        let notifies = &mut self.notifies;
        let mut tell = |id: CharacterId, fired: Fired| notifies.end(id, fired);
        let (characters, shape) = (&mut self.characters, &kind.slot);
        let of = |at: usize| characters.kinds[at] == id;
        let leased = |at: usize| characters.slots[at] != super::characters::SlotAddress::NONE;
        characters.rows.reshape(of, shape.row, |at, from, to| {
            // The copy of somebody who holds a slot is stale, and tells nothing; of somebody who has
            // gone everything has been told.
            let silent = leased(at);
            let mut fire = |fired| {
                if !silent {
                    tell(CharacterId(at as u32), fired)
                }
            };
            pass_on(from, to, &mut fire);
        });
        self.slots.reshape(id, shape, |owner, from, to| {
            pass_on(from, to, &mut |fired| tell(owner, fired));
        });
    }
}
