//! Another number of characters, as far as there are places.

use crate::crowd::Crowd;
use crate::crowd::error::CrowdError;
use crate::crowd::layout::shares;
use crate::index::{CharacterId, CharacterKind};

impl Crowd {
    /// Has so many characters be there from the next tick on, each kind with its share: some come to
    /// free places, or some go, the latest ids first.
    ///
    /// # Errors
    /// [`CrowdError::NoVacancy`] where a kind has fewer places than its share, and
    /// [`CrowdError::Recorded`] in a replay; then nobody comes or goes.
    pub fn set_count(&mut self, count: u32) -> Result<(), CrowdError> {
        if self.world.replay.plays() {
            return Err(CrowdError::Recorded);
        }
        let weights: Vec<f32> = self.world.kinds.iter().map(|kind| kind.body.weight).collect();
        let wanted = shares(&weights, count);
        for (kind, wanted) in wanted.iter().enumerate() {
            let places = self.world.characters.kinds.iter();
            let places = places.filter(|of| of.get() == kind).count();
            if (*wanted as usize) > places {
                let kind = Some(self.world.kinds[kind].name.clone());
                return Err(CrowdError::NoVacancy { kind, places: places as u32 });
            }
        }
        for (kind, wanted) in wanted.iter().enumerate() {
            let kind = CharacterKind(kind as u16);
            let here = self.count_of(kind);
            if here > *wanted {
                self.dismiss(kind, (here - wanted) as usize);
            }
            for _ in here..*wanted {
                self.spawn(Some(kind))?;
            }
        }
        self.world.population.ask_for(wanted);
        Ok(())
    }

    /// The last of a kind go.
    fn dismiss(&mut self, kind: CharacterKind, count: usize) {
        let characters = &self.world.characters;
        let of_kind = (0..self.capacity())
            .rev()
            .map(CharacterId)
            .filter(|id| characters.kinds[id.get()] == kind && characters.is_present(*id));
        let go: Vec<CharacterId> = of_kind.take(count).collect();
        for id in go {
            self.world.turnover().despawn(id);
        }
    }
}
