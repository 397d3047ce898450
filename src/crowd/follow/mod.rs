//! Followers: characters that take their pose from another one, their leader.
//!
//! A follower of its leader's kind shares its leader's palette: no slot, no copy, an instance record
//! and nothing else. One of another kind holds a slot of its own, and in every frame in which its
//! leader evaluates, its palette is written in the follow phase from the pose that its leader's
//! execution kept, bone for bone by name ([`PoseMap`]). Neither records or executes anything. A
//! leader counts as visible while one of its followers is, evaluates in the very frame in which one
//! comes into view, and as often and as whole as the nearest of them asks for. A leader that is gone
//! leaves its followers in the bind pose.

mod change;
mod links;
mod pairs;
mod phase;
mod word;

pub(crate) use change::Change;
pub(crate) use links::{Following, Led};
pub(crate) use phase::{CopyScratch, Copying};
pub(crate) use word::{FollowWord, Scene};

use super::Crowd;
use super::characters::{BLOCK, Place};
use crate::index::CharacterId;
use crate::motion::ground::rotate;
use glam::Vec2;

#[cfg(doc)]
use crate::pose::PoseMap;

/// Where a follower stands, seen from its leader, who faces +Z with +X at its left. World metres,
/// whatever the two measure.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Beside {
    /// To the left.
    pub x: f32,
    /// Ahead.
    pub z: f32,
    /// Radians about +Y that it is turned against its leader.
    pub yaw: f32,
}

impl Beside {
    /// World position (x, z), heading and scale of a follower whose leader stands somewhere.
    pub(crate) fn of(
        &self,
        (position, heading, _): (Vec2, f32, f32),
        scale: f32,
    ) -> (Vec2, f32, f32) {
        (position + rotate(Vec2::new(self.x, self.z), heading), heading + self.yaw, scale)
    }
}

/// Why somebody can't follow somebody.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum FollowError {
    /// An id that the crowd does not have.
    #[error("there is no character {id}: {count} are numbered from 0")]
    NoCharacter {
        /// The id.
        id: u32,
        /// How many there are.
        count: u32,
    },
    /// An id that nobody has now.
    #[error("there is no character {id} any more, or not yet")]
    Absent {
        /// The id.
        id: u32,
    },
    /// A character and itself.
    #[error("character {id} can't follow itself")]
    Itself {
        /// The character.
        id: u32,
    },
    /// A leader that follows somebody itself.
    #[error(
        "character {follower} can't follow {leader}, which follows {of}: followers do not lead"
    )]
    LeaderFollows {
        /// Who was to follow.
        follower: u32,
        /// Whom.
        leader: u32,
        /// Whom that one follows; itself when its leader is gone.
        of: u32,
    },
    /// A follower that leads somebody itself.
    #[error(
        "character {follower}, which leads {led}, can't follow {leader}: leaders do not follow"
    )]
    FollowerLeads {
        /// Who was to follow.
        follower: u32,
        /// One of those that follow it.
        led: u32,
        /// Whom it was to follow.
        leader: u32,
    },
    /// A place that is none.
    #[error("character {follower} can't stand {value} beside its leader: that is no finite number")]
    NoPlace {
        /// Who was to follow.
        follower: u32,
        /// The number.
        value: f32,
    },
    /// In the middle of a recording.
    #[error("followers stay as they are while a run is recorded or played from a recording")]
    Recorded,
}

/// How many follow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Followers {
    /// Sharing their leader's palette.
    pub shared: u32,
    /// With a palette mapped from their leader's pose.
    pub mapped: u32,
    /// In the bind pose, because their leader is gone.
    pub left_behind: u32,
}

impl Crowd {
    /// Has a character follow another one from the next tick on, or another one than before: it
    /// stands beside its leader and takes its pose. Of its leader's kind it shares the palette; of
    /// another kind bones are mapped by name, once for each pair of kinds. Its own clocks stand
    /// still, its driver is not asked, its own [`UpdateMode`](super::UpdateMode) decides whether its
    /// leader ticks unseen.
    ///
    /// # Errors
    /// [`FollowError`], with the ids: nobody of an id, somebody and itself, chains, a place that is
    /// none, and while a run is recorded or replayed.
    pub fn follow(
        &mut self,
        follower: CharacterId,
        leader: CharacterId,
        beside: Beside,
    ) -> Result<(), FollowError> {
        let covered = self.world.follow(follower, leader, beside)?;
        self.half_extent = self.half_extent.max(covered);
        Ok(())
    }

    /// Lets a follower go its own way from the next tick on: it stands where it is, and walks home if
    /// a graph steers it, or it is back on the lane that it came from; its clocks catch up as those of somebody who was hidden. Who
    /// follows nobody goes on.
    ///
    /// # Errors
    /// [`FollowError::NoCharacter`], [`FollowError::Absent`], [`FollowError::Recorded`].
    pub fn unfollow(&mut self, follower: CharacterId) -> Result<(), FollowError> {
        self.world.unfollow(follower)
    }

    /// Has so many characters, drawn from a seed, follow others: by turns somebody of their own kind,
    /// whose palette they share, and somebody of another, where there are several. Who stands has its
    /// followers beside and behind it, who walks a lane has them behind it.
    ///
    /// # Errors
    /// [`FollowError::Recorded`], and where somebody follows already.
    pub fn follow_some(&mut self, followers: u32, seed: u64) -> Result<(), FollowError> {
        let covered = self.world.follow_some(followers, seed)?;
        self.half_extent = self.half_extent.max(covered);
        Ok(())
    }

    /// Takes its followers from a leader, as if it were gone: each stands where it is, in the bind
    /// pose, until it follows somebody else or goes its own way.
    ///
    /// # Errors
    /// [`FollowError::NoCharacter`], [`FollowError::Absent`], [`FollowError::Recorded`].
    pub fn leave_behind(&mut self, leader: CharacterId) -> Result<(), FollowError> {
        self.world.leave_behind(leader)
    }

    /// Whom a character follows.
    pub fn leader(&self, id: CharacterId) -> Option<CharacterId> {
        match self.world.characters.places.get(id.get())? {
            Place::Following { leader, .. } => Some(*leader),
            _ => None,
        }
    }

    /// How many follow.
    pub fn followers(&self) -> Followers {
        self.world.following.count()
    }
}

/// A character's bit in a mask of its block.
fn bit(id: CharacterId) -> (usize, u64) {
    (id.get() / BLOCK, 1 << (id.get() % BLOCK))
}

#[cfg(test)]
mod tests;
