//! Who follows whom, in an order in which leaders find their followers.

use super::Followers;
use super::bit;
use crate::crowd::characters::{BLOCK, Block, Place};
use crate::crowd::rate::Gates;
use crate::index::{CharacterId, CharacterKind};
use crate::pose::PoseMap;
use crate::profile::{Phase, PhaseTimes};
use rayon::prelude::*;

/// Nobody.
pub(super) const NOBODY: CharacterId = CharacterId(u32::MAX);
/// Blocks with leaders that one job takes.
const LEADS_PER_JOB: usize = 16;

/// One follower and its leader.
#[derive(Clone, Copy, Debug)]
pub(super) struct Link {
    /// [`NOBODY`] when it is gone.
    pub leader: CharacterId,
    pub follower: CharacterId,
    /// Of its leader's kind.
    pub shares: bool,
    /// Where it was before it followed anybody.
    pub former: Place,
    /// No longer so; dropped before the next tick.
    pub gone: bool,
}

/// What the followers of a block's characters ask of their leaders: a bit for each leader.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Led {
    /// A follower is in a frustum.
    pub seen: u64,
    /// A follower evaluates whether or not anybody looks.
    pub always: u64,
    /// A follower is to be posed now.
    pub wake: u64,
    /// A follower is not past the distance for 2, 3 and 4 frames.
    pub near: [u64; Gates::RATES],
    /// A follower is not past the distance of the skeletons' level of detail.
    pub whole: u64,
}

/// A block with leaders in it.
#[derive(Clone, Copy, Debug)]
struct Leads {
    block: u32,
    /// Its links.
    from: u32,
    to: u32,
    led: Led,
}

/// All followers of a crowd.
#[derive(Debug, Default)]
pub(crate) struct Following {
    /// In the order of leaders and then of followers, unless it is stale.
    pub(super) links: Vec<Link>,
    /// By character: the first link of a leader. Empty while nobody has ever followed.
    first: Vec<u32>,
    /// In the order of blocks.
    leads: Vec<Leads>,
    /// From the poses of one kind to those of another.
    pub(super) maps: Vec<((CharacterKind, CharacterKind), PoseMap)>,
    /// Links were added or dropped since they were put in order.
    pub(super) stale: bool,
    /// How many there were when they were put in order.
    pub settled: Followers,
}

impl Following {
    /// True when nobody follows.
    pub fn is_empty(&self) -> bool {
        self.links.is_empty()
    }

    /// How many follow.
    pub fn count(&self) -> Followers {
        let mut count = Followers::default();
        for link in self.links.iter().filter(|link| !link.gone) {
            match (link.leader == NOBODY, link.shares) {
                (true, _) => count.left_behind += 1,
                (_, true) => count.shared += 1,
                _ => count.mapped += 1,
            }
        }
        count
    }

    /// Bytes that links take.
    pub fn heap_bytes(&self) -> u64 {
        (size_of_val(self.links.as_slice())
            + size_of_val(self.first.as_slice())
            + size_of_val(self.leads.as_slice())) as u64
    }

    /// One who follows somebody, whether or not links are in order.
    pub(super) fn any_of(&self, leader: CharacterId) -> Option<CharacterId> {
        let mut links = self.links.iter();
        links.find(|link| link.leader == leader && !link.gone).map(|link| link.follower)
    }

    /// Puts links in order after a change.
    pub fn settle(&mut self, characters: usize) {
        if !std::mem::take(&mut self.stale) {
            return;
        }
        self.links.retain(|link| !link.gone);
        self.links.sort_unstable_by_key(|link| (link.leader, link.follower));
        self.settled = self.count();
        self.first.clear();
        self.first.resize(characters, u32::MAX);
        self.leads.clear();
        for (at, link) in (0u32..).zip(&self.links) {
            let Some(first) = self.first.get_mut(link.leader.get()) else { break };
            *first = at.min(*first);
            let block = (link.leader.get() / BLOCK) as u32;
            match self.leads.last_mut() {
                Some(last) if last.block == block => last.to = at + 1,
                _ => self.leads.push(Leads { block, from: at, to: at + 1, led: Led::default() }),
            }
        }
    }

    /// The links of a leader, in the order of its followers' ids.
    pub(super) fn of(&self, leader: CharacterId) -> impl Iterator<Item = &Link> {
        let first = self.first.get(leader.get()).copied().unwrap_or(u32::MAX) as usize;
        let links = self.links.get(first..).unwrap_or(&[]);
        links.iter().take_while(move |link| link.leader == leader)
    }

    /// The followers that share a leader's palette, in the order of their ids.
    pub fn doubles(&self, leader: CharacterId) -> impl Iterator<Item = CharacterId> {
        self.of(leader).filter(|link| link.shares).map(|link| link.follower)
    }

    /// Everybody who follows somebody, in the order of their ids.
    pub fn followers(&self, leader: CharacterId) -> impl Iterator<Item = CharacterId> {
        self.of(leader).map(|link| link.follower)
    }

    /// From the poses of a leader's kind to those of a follower's.
    pub fn map(&self, leader: CharacterKind, follower: CharacterKind) -> Option<&PoseMap> {
        self.maps.iter().find(|(kinds, _)| *kinds == (leader, follower)).map(|(_, map)| map)
    }

    /// Looks what followers ask of their leaders, once it is known who is in view and how far away.
    pub fn look(&mut self, blocks: &[Block], times: &PhaseTimes) {
        let links = &self.links;
        self.leads.par_chunks_mut(LEADS_PER_JOB).for_each(|leads| {
            times.worker(Phase::Gate, || {
                for Leads { from, to, led, .. } in leads {
                    *led = look(&links[*from as usize..*to as usize], blocks);
                }
            });
        });
    }

    /// What the followers of one block's characters ask of them.
    pub fn led(&self, block: usize) -> Led {
        let at = self.leads.binary_search_by_key(&block, |leads| leads.block as usize);
        at.map_or(Led::default(), |at| self.leads[at].led)
    }
}

/// What some followers ask of their leaders, who share a block.
fn look(links: &[Link], blocks: &[Block]) -> Led {
    let mut led = Led::default();
    for link in links {
        let (_, leader) = bit(link.leader);
        let (block, own) = bit(link.follower);
        let block = &blocks[block];
        let is = |mask: u64| mask & own != 0;
        let visible = is(block.camera | block.shadow);
        if !visible && !is(block.always) {
            continue;
        }
        led.seen |= if visible { leader } else { 0 };
        led.always |= if is(block.always) { leader } else { 0 };
        // Whoever holds a slot was posed when it was given it.
        let enters = !link.shares && !is(block.leased);
        led.wake |= if enters || visible && !is(block.rates.seen) { leader } else { 0 };
        for (near, far) in led.near.iter_mut().zip(block.rates.far) {
            *near |= if is(far) { 0 } else { leader };
        }
        led.whole |= if is(block.rates.cut) { 0 } else { leader };
    }
    led
}
