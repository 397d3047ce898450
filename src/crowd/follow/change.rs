//! Beginning and ceasing to follow, between ticks.

use super::links::{Following, Link, NOBODY};
use super::{Beside, FollowError, bit};
use crate::crowd::characters::{Characters, FollowMasks, Place, SlotAddress};
use crate::crowd::kind::Kind;
use crate::crowd::ride::Ride;
use crate::crowd::slots::Slots;
use crate::crowd::world::World;
use crate::index::{CharacterId, CharacterKind};
use crate::math::Trs;
use crate::pose::PoseMap;
use glam::Vec2;

/// The parts of a world that change with who follows whom.
pub(crate) struct Change<'a> {
    pub following: &'a mut Following,
    pub characters: &'a mut Characters,
    pub slots: &'a mut Slots,
    pub kinds: &'a [Kind],
    pub rides: &'a [Ride],
}

impl World {
    fn change(&mut self) -> Change<'_> {
        let Self { following, characters, slots, kinds, rides, .. } = self;
        Change { following, characters, slots, kinds, rides }
    }

    /// Gives half the width and depth of the ground around the origin that the follower's way covers.
    pub(super) fn follow(
        &mut self,
        follower: CharacterId,
        leader: CharacterId,
        beside: Beside,
    ) -> Result<Vec2, FollowError> {
        self.check(follower, leader, beside)?;
        let kinds = [leader, follower].map(|id| self.characters.kinds[id.get()]);
        self.map_pair(kinds[0], kinds[1]);
        if let Place::Riding { ride, .. } = self.characters.places[leader.get()] {
            let reach = beside.x.abs() + beside.z.abs();
            self.fastest = self.fastest.max(self.rides[ride as usize].fastest_beside(reach));
        }
        Ok(self.change().begin(follower, leader, beside))
    }

    fn check(
        &self,
        follower: CharacterId,
        leader: CharacterId,
        beside: Beside,
    ) -> Result<(), FollowError> {
        self.may_change(follower)?;
        self.may_change(leader)?;
        let (f, l) = (follower.0, leader.0);
        if follower == leader {
            return Err(FollowError::Itself { id: f });
        }
        let not = [beside.x, beside.z, beside.yaw].into_iter().find(|n| !n.is_finite());
        if let Some(value) = not {
            return Err(FollowError::NoPlace { follower: f, value });
        }
        if self.characters.follows(leader) {
            let of = match self.characters.places[leader.get()] {
                Place::Following { leader, .. } => leader.0,
                _ => l,
            };
            return Err(FollowError::LeaderFollows { follower: f, leader: l, of });
        }
        // To look for its follower among all is for those who have one.
        let leads = self.characters.leads(follower);
        match leads.then(|| self.following.any_of(follower)).flatten() {
            Some(led) => Err(FollowError::FollowerLeads { follower: f, led: led.0, leader: l }),
            None => Ok(()),
        }
    }

    /// Refuses ids that nobody has, and changes that a recording would not show.
    fn may_change(&self, id: CharacterId) -> Result<(), FollowError> {
        let count = self.characters.kinds.len() as u32;
        if id.0 >= count {
            return Err(FollowError::NoCharacter { id: id.0, count });
        }
        if !self.characters.is_present(id) {
            return Err(FollowError::Absent { id: id.0 });
        }
        let recorded = self.replay.records() || self.replay.plays();
        if recorded { Err(FollowError::Recorded) } else { Ok(()) }
    }

    pub(super) fn unfollow(&mut self, follower: CharacterId) -> Result<(), FollowError> {
        self.may_change(follower)?;
        self.change().end(follower);
        Ok(())
    }

    pub(super) fn leave_behind(&mut self, leader: CharacterId) -> Result<(), FollowError> {
        self.may_change(leader)?;
        self.change().leave_behind(leader);
        Ok(())
    }

    /// Makes the map of a pair of kinds, and room on every worker, if it is the first of its sort.
    fn map_pair(&mut self, leader: CharacterKind, follower: CharacterKind) {
        if leader == follower || self.following.map(leader, follower).is_some() {
            return;
        }
        let [from, to] = [leader, follower].map(|kind| &self.kinds[kind.get()]);
        let stances = [stance(from), stance(to)];
        let stances = match &stances {
            [Some(from), Some(to)] => Some((&from[..], &to[..])),
            _ => None,
        };
        let map = PoseMap::new(&from.rig, &to.rig, stances);
        let rig = &to.rig;
        self.crew.all().for_each(|scratch| scratch.copies.reserve(rig));
        self.following.maps.push(((leader, follower), map));
    }
}

impl Change<'_> {
    fn begin(&mut self, follower: CharacterId, leader: CharacterId, beside: Beside) -> Vec2 {
        let characters = &mut *self.characters;
        characters.masks.resize(characters.blocks.len(), FollowMasks::default());
        let scale = self.scale(follower);
        let former = match self.unlink(follower) {
            Some(link) => link.former,
            None => self.characters.places[follower.get()],
        };
        self.let_go(follower);
        let [shares, of_leader] = [follower, leader].map(|id| self.characters.kinds[id.get()]);
        let shares = shares == of_leader;
        self.mark(follower, |masks| &mut masks.follows, true);
        self.mark(follower, |masks| &mut masks.shares, shares);
        self.mark(leader, |masks| &mut masks.leads, true);
        let at = self.characters.places[leader.get()];
        self.put(follower, Place::Following { leader, beside, scale }, is_riding(&at));
        self.following.links.push(Link { leader, follower, shares, former, gone: false });
        self.following.stale = true;
        let radius = self.kind(follower).radius * scale;
        let reach = Vec2::new(beside.x, beside.z).length() + radius;
        let middle = match at {
            Place::Riding { ride, .. } => self.rides[ride as usize].half_extent(),
            place => place.resolve(self.rides, &[]).0.abs(),
        };
        middle + reach
    }

    /// Lets somebody go its own way, if it follows.
    fn end(&mut self, follower: CharacterId) {
        let here = self.standing(follower);
        let Some(link) = self.unlink(follower) else { return };
        self.let_go(follower);
        self.forget(follower);
        let place = match (link.former, here) {
            (Place::Riding { .. }, _) => link.former,
            // Who is steered walks home, who is not would slide there.
            (Place::Standing { home, .. }, Place::Standing { position, heading, scale, .. })
                if self.kind(follower).graph.is_some() =>
            {
                Place::Standing { position, heading, home, scale }
            }
            _ => here,
        };
        self.put(follower, place, is_riding(&link.former));
    }

    fn leave_behind(&mut self, leader: CharacterId) {
        for at in 0..self.following.links.len() {
            let link = &mut self.following.links[at];
            if link.leader != leader || link.gone {
                continue;
            }
            // Whoever shared a palette needs one of its own now.
            (link.leader, link.shares) = (NOBODY, false);
            let follower = link.follower;
            self.following.stale = true;
            self.let_go(follower);
            let place = self.standing(follower);
            self.mark(follower, |masks| &mut masks.shares, false);
            self.put(follower, place, false);
        }
        self.mark(leader, |masks| &mut masks.leads, false);
    }

    /// Somebody goes: nobody follows it any more, it follows nobody, and its place is as it was.
    pub fn lose(&mut self, id: CharacterId) {
        if self.characters.leads(id) {
            self.leave_behind(id);
        }
        if let Some(link) = self.unlink(id) {
            self.let_go(id);
            self.forget(id);
            self.put(id, link.former, is_riding(&link.former));
        }
    }

    /// Ends a link, if there is one.
    fn unlink(&mut self, follower: CharacterId) -> Option<Link> {
        if !self.characters.follows(follower) {
            return None;
        }
        let links = &mut self.following.links;
        let link = links.iter_mut().find(|link| link.follower == follower && !link.gone)?;
        link.gone = true;
        let ended = *link;
        self.following.stale = true;
        if ended.leader != NOBODY && self.following.any_of(ended.leader).is_none() {
            self.mark(ended.leader, |masks| &mut masks.leads, false);
        }
        Some(ended)
    }

    /// Takes somebody's slot back, and its clocks out of it.
    fn let_go(&mut self, id: CharacterId) {
        let at = std::mem::replace(&mut self.characters.slots[id.get()], SlotAddress::NONE);
        if at != SlotAddress::NONE {
            let row = self.characters.rows.of_mut(id.get());
            self.characters.playback[id.get()] = self.slots.release(at, row);
            let (block, own) = bit(id);
            let block = &mut self.characters.blocks[block];
            (block.leased, block.ticking) = (block.leased & !own, block.ticking & !own);
        }
    }

    /// Somebody does not follow.
    fn forget(&mut self, follower: CharacterId) {
        self.mark(follower, |masks| &mut masks.follows, false);
        self.mark(follower, |masks| &mut masks.shares, false);
    }

    fn mark(&mut self, id: CharacterId, mask: fn(&mut FollowMasks) -> &mut u64, on: bool) {
        let (block, own) = bit(id);
        if let Some(masks) = self.characters.masks.get_mut(block) {
            let mask = mask(masks);
            *mask = if on { *mask | own } else { *mask & !own };
        }
    }

    /// Where somebody is now, as the place where it belongs.
    fn standing(&self, id: CharacterId) -> Place {
        let place = self.characters.places[id.get()];
        let (position, heading, scale) = place.resolve(self.rides, &self.characters.places);
        Place::Standing { position, heading, home: position, scale }
    }

    fn scale(&self, id: CharacterId) -> f32 {
        self.characters.places[id.get()].resolve(self.rides, &self.characters.places).2
    }

    fn put(&mut self, id: CharacterId, place: Place, rides: bool) {
        self.characters.places[id.get()] = place;
        let (block, own) = bit(id);
        let riders = &mut self.characters.blocks[block].riders;
        *riders = if rides { *riders | own } else { *riders & !own };
        let kind = &self.kinds[self.characters.kinds[id.get()].get()];
        self.characters.place_sphere(id, kind, self.rides);
    }

    fn kind(&self, id: CharacterId) -> &Kind {
        &self.kinds[self.characters.kinds[id.get()].get()]
    }
}

fn is_riding(place: &Place) -> bool {
    matches!(place, Place::Riding { .. })
}

/// How somebody of a kind stands: where the clip begins that it plays most while it does.
fn stance(kind: &Kind) -> Option<Vec<Trs>> {
    let most = kind.standing.iter().max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0)));
    most.map(|(clip, _)| kind.rig.sample_locals(*clip, 0.0))
}
