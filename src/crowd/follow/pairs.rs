//! Followers for a crowd that nobody has told who follows whom.

use super::{Beside, FollowError};
use crate::crowd::characters::Place;
use crate::crowd::random::Random;
use crate::crowd::world::World;
use crate::index::{CharacterId, CharacterKind};
use glam::Vec2;

/// Metres between neighbours of a party, at least.
const APART: f32 = 0.8;
/// Of the generator that draws followers, beside those of a crowd's places and looks.
const STREAM: u64 = 6 << 32;

/// Who follows whom: `followers` of those characters whose ids are in `order`, drawn from a seed. By turns one is to follow
/// somebody of its own kind and somebody of another; of those who lead it is who is nearest by
/// number, so near in the crowd. Where there is no such leader any other serves. Somebody leads in
/// any case.
fn pairs(
    kinds: &[CharacterKind],
    mut order: Vec<u32>,
    followers: u32,
    seed: u64,
) -> Vec<(CharacterId, CharacterId)> {
    let followers = (followers as usize).min(order.len().saturating_sub(1));
    let mut random = Random::new(seed, STREAM);
    for at in 0..followers {
        let other = at + random.below(order.len() - at);
        order.swap(at, other);
    }
    let (drawn, leaders) = order.split_at_mut(followers);
    leaders.sort_unstable();
    let most = kinds.iter().map(|kind| kind.get() + 1).max().unwrap_or(0);
    // The leaders of each kind, and of all others.
    let of = |is: &dyn Fn(usize) -> bool| -> Vec<u32> {
        leaders.iter().copied().filter(|id| is(kinds[*id as usize].get())).collect()
    };
    let own: Vec<Vec<u32>> = (0..most).map(|kind| of(&|is| is == kind)).collect();
    let others: Vec<Vec<u32>> = (0..most).map(|kind| of(&|is| is != kind)).collect();
    let pair = |(turn, follower): (usize, &u32)| {
        let kind = kinds[*follower as usize].get();
        let (first, second) = (&own[kind], &others[kind]);
        let (first, second) = if turn % 2 == 0 { (first, second) } else { (second, first) };
        let leader = nearest(first, *follower).or(nearest(second, *follower))?;
        Some((CharacterId(*follower), CharacterId(leader)))
    };
    let mut pairs: Vec<_> = drawn.iter().enumerate().filter_map(pair).collect();
    pairs.sort_unstable();
    pairs
}

/// The number of a sorted list that is nearest to another one; the lower of two.
fn nearest(sorted: &[u32], to: u32) -> Option<u32> {
    let above = sorted.partition_point(|id| *id < to);
    let near = [above.checked_sub(1), Some(above)].into_iter().flatten();
    near.filter_map(|at| sorted.get(at).copied()).min_by_key(|id| id.abs_diff(to))
}

impl World {
    /// Has some characters, drawn from a seed, follow others. Gives half the width and depth of the
    /// ground that their ways cover.
    pub(super) fn follow_some(&mut self, followers: u32, seed: u64) -> Result<Vec2, FollowError> {
        let kinds = &self.characters.kinds;
        let ids = (0..kinds.len() as u32).filter(|id| self.characters.is_present(CharacterId(*id)));
        let pairs = pairs(kinds, ids.collect(), followers, seed);
        let mut covered = Vec2::ZERO;
        let mut before: Vec<u32> = vec![0; self.characters.kinds.len()];
        for (follower, leader) in pairs {
            let party = &mut before[leader.get()];
            *party += 1;
            let number = *party;
            let beside = self.beside(follower, leader, number);
            covered = covered.max(self.follow(follower, leader, beside)?);
        }
        Ok(covered)
    }

    /// The place of a party's follower number `n`, counted from one: at either side of who stands,
    /// then in rows behind; in single file behind who walks a lane.
    fn beside(&self, follower: CharacterId, leader: CharacterId, n: u32) -> Beside {
        let reach = |id: CharacterId| {
            let kind = &self.kinds[self.characters.kinds[id.get()].get()];
            let places = &self.characters.places;
            kind.body.stand_reach * places[id.get()].resolve(&self.rides, places).2
        };
        let apart = APART.max(reach(follower) + reach(leader));
        let (column, row) = match self.characters.places[leader.get()] {
            Place::Riding { .. } => (0.0, n as f32),
            _ => ([0.0, 1.0, -1.0][n as usize % 3], (n / 3) as f32),
        };
        Beside { x: column * apart, z: -row * apart, yaw: 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn kinds(count: u32, of: u16) -> Vec<CharacterKind> {
        let mut random = Random::new(3, 3);
        (0..count).map(|_| CharacterKind(random.below(usize::from(of)) as u16)).collect()
    }

    fn all(kinds: &[CharacterKind], followers: u32, seed: u64) -> Vec<(CharacterId, CharacterId)> {
        pairs(kinds, (0..kinds.len() as u32).collect(), followers, seed)
    }

    #[test]
    fn half_follow_their_own_kind_and_half_another_and_nobody_both_leads_and_follows() {
        for (count, followers) in [(100, 50), (1_000, 1), (1_000, 400), (1_000, 999)] {
            let kinds = kinds(count, 2);
            let pairs = all(&kinds, followers, 9);
            let follow: BTreeSet<_> = pairs.iter().map(|(follower, _)| *follower).collect();
            assert_eq!(follow.len(), followers as usize);
            assert!(pairs.iter().all(|(_, leader)| !follow.contains(leader)));
            let same = pairs.iter().filter(|(f, l)| kinds[f.get()] == kinds[l.get()]).count();
            // One leader alone has no choice.
            if followers < count - 2 {
                assert_eq!(same, followers.div_ceil(2) as usize);
                let far = pairs.iter().map(|(f, l)| f.0.abs_diff(l.0)).max().unwrap();
                assert!(far < 64, "followers are near their leaders: {far}");
            }
        }
    }

    #[test]
    fn who_can_not_follow_another_kind_follows_its_own() {
        let pairs_of = all(&kinds(50, 1), 20, 1);
        assert_eq!(pairs_of.len(), 20);
        // Each kind has one character: nobody has its own to follow.
        let ten: Vec<_> = (0..10).map(CharacterKind).collect();
        assert_eq!(all(&ten, 6, 1).len(), 6);
        for (count, followers, get) in [(0, 5, 0), (1, 5, 0), (2, 5, 1), (3, 0, 0)] {
            assert_eq!(all(&kinds(count, 2), followers, 1).len(), get);
        }
    }

    #[test]
    fn a_seed_decides() {
        let kinds = kinds(300, 3);
        assert_eq!(all(&kinds, 100, 1), all(&kinds, 100, 1));
        assert_ne!(all(&kinds, 100, 1), all(&kinds, 100, 2));
    }

    #[test]
    fn the_nearest_number_is_found_from_either_side() {
        let list = [2, 5, 9];
        let found: Vec<_> = (0..12).map(|to| nearest(&list, to).unwrap()).collect();
        assert_eq!(found, [2, 2, 2, 2, 5, 5, 5, 5, 9, 9, 9, 9]);
        assert_eq!(nearest(&[], 3), None);
    }
}
