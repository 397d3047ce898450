//! Who evaluates in which frame, and how much of the skeleton: the nearer somebody is, the more.
//!
//! Everything is kept as one bit per character for a block of 64, so that a block's turn is a few
//! operations on words, whoever of it evaluates.

use super::characters::{BLOCK, Spheres};
use super::error::CrowdError;
use glam::Vec3;

/// Rules that keep distant characters from being evaluated, or from being evaluated whole.
/// Distances are the camera's distance over a character's bounding radius.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gates {
    /// Distant characters are not evaluated in every frame.
    pub update_rate: bool,
    /// Past which distance a character is evaluated every 2, 3 and 4 frames; positive, ascending.
    pub rate_distances: [f32; Self::RATES],
    /// Only the first bones of distant characters are animated, those that
    /// [`low_detail_bone_count`](crate::pose::Skeleton::low_detail_bone_count) says; the others
    /// keep to their parents as in the bind pose.
    pub skeleton_lod: bool,
    /// Past which distance; positive.
    pub lod_distance: f32,
}

impl Gates {
    /// Rates beside every frame.
    pub const RATES: usize = 3;
    /// Everybody is evaluated whole in every frame.
    pub const OFF: Self = Self { update_rate: false, skeleton_lod: false, ..Self::ON };
    const ON: Self = Self {
        update_rate: true,
        rate_distances: [30.0, 60.0, 120.0],
        skeleton_lod: true,
        lod_distance: 60.0,
    };

    /// # Errors
    /// [`CrowdError::OutOfRange`] with the number that is not positive, not finite or not above the
    /// one before it.
    pub(crate) fn check(&self) -> Result<(), CrowdError> {
        let mut least = 0.0;
        for value in self.rate_distances {
            if !(value.is_finite() && value > least) {
                let what = "a distance of the update rate".to_owned();
                let range = "finite, positive and above the one before it";
                return Err(CrowdError::OutOfRange { what, value, range });
            }
            least = value;
        }
        if !(self.lod_distance.is_finite() && self.lod_distance > 0.0) {
            let what = "the distance of the skeletons' level of detail".to_owned();
            let (value, range) = (self.lod_distance, "finite and positive");
            return Err(CrowdError::OutOfRange { what, value, range });
        }
        Ok(())
    }
}

impl Default for Gates {
    fn default() -> Self {
        Self::ON
    }
}

/// A character that comes nearer than this share of a distance is no longer past it. It is not when
/// it is only nearer than the distance, so that nobody changes to and fro.
const NEARER: f32 = 0.9;

/// What distances are measured with, in one frame.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Distances {
    pub eye: Vec3,
    /// How much larger spheres are than their characters, metres.
    pub lift: f32,
    /// Squares.
    far: [f32; Gates::RATES],
    /// Square.
    cut: f32,
}

impl Distances {
    pub fn new(gates: &Gates, eye: Vec3, lift: f32) -> Self {
        let never = f32::INFINITY;
        let far = if gates.update_rate { gates.rate_distances } else { [never; Gates::RATES] };
        let cut = if gates.skeleton_lod { gates.lod_distance } else { never };
        Self { eye, lift, far: far.map(|d| d * d), cut: cut * cut }
    }

    /// Squared distance over radius of everybody in a block; zero for a place that nobody has.
    pub fn ratios(&self, s: &Spheres) -> [f32; BLOCK] {
        let mut ratios = [0.0; BLOCK];
        let rows = s.x.iter().zip(&s.y).zip(&s.z).zip(&s.radius);
        for (ratio, (((x, y), z), radius)) in ratios.iter_mut().zip(rows) {
            let (x, y, z) = (x - self.eye.x, y - self.eye.y, z - self.eye.z);
            let radius = radius - self.lift;
            *ratio = (x * x + y * y + z * z) / (radius * radius);
        }
        ratios
    }
}

/// How often each character of a block is evaluated, and when it is next.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(64))]
pub(crate) struct Rates {
    /// Evaluates this frame.
    pub due: u64,
    /// Was in a frustum in the frame before this one.
    pub seen: u64,
    /// Past the distance for 2, 3 and 4 frames; who is past one is past those before it.
    pub far: [u64; Gates::RATES],
    /// Frames until the next evaluation, 0 to 3: the lower and the upper bits.
    countdown: [u64; 2],
    /// Past the distance of the skeletons' level of detail.
    pub cut: u64,
}

const _: () = assert!(size_of::<Rates>() == 64, "one cache line");

/// Which turn it is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Turn {
    /// Frames of this world so far.
    pub frame: u64,
    /// Everybody evaluates, whatever their countdowns say.
    pub all: bool,
}

impl Rates {
    /// Finds out who is how far away. Whoever holds no slot has no past that it could cling to.
    pub fn measure(&mut self, ratios: &[f32; BLOCK], distances: &Distances, leased: u64) {
        let least = ratios.iter().copied().fold(f32::INFINITY, f32::min);
        let most = ratios.iter().copied().fold(0.0, f32::max);
        // Blocks are mostly near or far as a whole.
        let past = |square: f32| match square {
            // Not-a-number, a point that the camera is in, is neither least nor most, and near.
            _ if most <= square => 0,
            _ if least > square => u64::MAX,
            _ => ratios.iter().enumerate().fold(0, |m, (i, r)| m | u64::from(*r > square) << i),
        };
        let cling =
            |was: u64, square: f32| past(square) | (was & leased & past(square * NEARER * NEARER));
        for (far, square) in self.far.iter_mut().zip(distances.far) {
            *far = cling(*far, square);
        }
        self.cut = cling(self.cut, distances.cut);
    }

    /// Decides who of those with a slot is due, in block number `block`. Who comes into view always
    /// is, and keeps its turn.
    pub fn decide(
        &mut self,
        (holders, visible, enters): (u64, u64, u64),
        block: usize,
        turn: Turn,
    ) {
        let [two, three, four] = self.far;
        let every = [two & !three, three & !four, four];
        let [low, high] = self.countdown;
        // Who has come nearer waits no longer than it would there.
        let low = (every[0] & (low | high)) | (every[1] & low & !high) | (every[2] & low);
        let high = (every[1] | every[2]) & high;
        let turns = !(low | high);
        // One frame less for those who wait.
        let mut next = [!low & !turns, high & low];
        let at = (turn.frame.wrapping_add(block as u64 * BLOCK as u64) % 12) as usize;
        for (who, every) in every.into_iter().zip(2..) {
            let who = who & turns;
            for wait in 1..every {
                let who = who & turns_of(every, at + 1 + wait);
                next[0] |= if wait & 1 == 1 { who } else { 0 };
                next[1] |= if wait & 2 == 2 { who } else { 0 };
            }
        }
        self.countdown = next;
        let forced = if turn.all { u64::MAX } else { enters | (visible & !self.seen) };
        self.due = holders & (turns | forced);
        self.seen = visible;
    }

    /// Some have no past: whoever has their ids from now on is somebody else.
    pub fn forget(&mut self, who: u64) {
        let Self { due, seen, far, countdown, cut } = self;
        let bits = [due, seen, cut].into_iter().chain(far).chain(countdown);
        bits.for_each(|bits| *bits &= !who);
    }

    /// Some are asked for as often, and as whole, as those who are not past these distances.
    pub fn bring_near(&mut self, near: [u64; Gates::RATES], whole: u64) {
        self.far.iter_mut().zip(near).for_each(|(far, near)| *far &= !near);
        self.cut &= !whole;
    }

    /// Some have waited long enough.
    pub fn hurry(&mut self, who: u64) {
        self.countdown.iter_mut().for_each(|bits| *bits &= !who);
    }

    /// Frames from one evaluation of a character to the next.
    pub fn every(&self, i: usize) -> u8 {
        self.far.iter().map(|far| (far >> i & 1) as u8).sum::<u8>() + 1
    }

    /// Frames until the next one, as the last decision left it.
    pub fn countdown(&self, i: usize) -> u8 {
        let [low, high] = self.countdown.map(|bits| (bits >> i & 1) as u8);
        2 * high + low
    }

    /// How many of some characters are evaluated every 1, 2, 3 and 4 frames.
    pub fn counts(&self, of: u64) -> [u32; Gates::RATES + 1] {
        let [two, three, four] = self.far;
        [!two, two & !three, three & !four, four].map(|who| (who & of).count_ones())
    }
}

/// Whose turn it is of those who are evaluated every so many frames: ids `i` of a block with
/// `i + at` a multiple. Each has a turn of its own by its id, to which it comes back whatever its
/// rate was meanwhile; so neighbours take turns, and a crowd that changes its rate all at once is
/// spread over the frames again after one interval.
fn turns_of(every: usize, at: usize) -> u64 {
    const fn pattern(every: usize, at: usize) -> u64 {
        let (mut mask, mut i) = (0, 0);
        while i < BLOCK {
            if (i + at).is_multiple_of(every) {
                mask |= 1 << i;
            }
            i += 1;
        }
        mask
    }
    const TWO: [u64; 2] = [pattern(2, 0), pattern(2, 1)];
    const THREE: [u64; 3] = [pattern(3, 0), pattern(3, 1), pattern(3, 2)];
    const FOUR: [u64; 4] = [pattern(4, 0), pattern(4, 1), pattern(4, 2), pattern(4, 3)];
    match every {
        2 => TWO[at % 2],
        3 => THREE[at % 3],
        _ => FOUR[at % 4],
    }
}

#[cfg(test)]
mod tests;
