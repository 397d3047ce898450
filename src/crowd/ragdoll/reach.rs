//! The spheres of those who follow somebody who is down.

use super::{Falls, own};
use crate::crowd::characters::{BLOCK, Characters};
use crate::crowd::follow::Following;
use crate::crowd::ragdoll::Surface;
use crate::index::CharacterId;

/// Metres that a follower may be from where its leader's bodies would have it: of another size, it
/// has their pose and not their places.
const SLACK: f32 = 0.2;

impl Falls {
    /// Has the spheres of followers reach as far, for their size, as what their leaders have become,
    /// and those of the others be their own again. At the end of a tick.
    pub fn spread(
        &mut self,
        characters: &mut Characters,
        following: &Following,
        surface: &Surface<'_>,
    ) {
        let lift = surface.terrain.max_height();
        let standing = |characters: &Characters, id: CharacterId| {
            let kind = &surface.kinds[characters.kinds[id.get()].get()];
            kind.radius * characters.places[id.get()].scale()
        };
        let Self { ids, falls, spread, .. } = self;
        for (id, _) in spread.drain(..) {
            // Whoever has begun to fall itself has a sphere of its bodies.
            if ids.binary_search(&id).is_err() {
                let radius = standing(characters, id);
                characters.set_radius(id, radius + lift);
            }
        }
        for fall in falls.iter_mut().map(own) {
            if !characters.leads(fall.id) {
                continue;
            }
            let reach = fall.reach(surface);
            for follower in following.followers(fall.id) {
                let radius = standing(characters, follower) * reach + SLACK;
                characters.set_radius(follower, radius + lift);
                spread.push((follower, radius));
            }
        }
        spread.sort_unstable_by_key(|(id, _)| *id);
    }

    /// How far a follower of somebody who is down reaches, metres.
    pub fn reach(&self, follower: CharacterId) -> Option<f32> {
        let at = self.spread.binary_search_by_key(&follower, |(id, _)| *id).ok()?;
        Some(self.spread[at].1)
    }
}

impl Characters {
    /// Sets the radius of somebody's sphere.
    pub fn set_radius(&mut self, id: CharacterId, radius: f32) {
        self.spheres[id.get() / BLOCK].radius[id.get() % BLOCK] = radius;
    }
}
