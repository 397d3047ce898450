//! Who is to be placed: bodies, and how many of each kind are left.

use super::SCALE_SPREAD;
use crate::crowd::random::Random;
use crate::index::{CharacterKind, ClipId};

/// What a layout needs to know of a kind; lengths in the world's metres at individual scale 1.
#[derive(Clone, Debug)]
pub(crate) struct Body {
    /// Share of the crowd, against the other kinds' weights.
    pub weight: f32,
    /// How far any part gets from the vertical axis while it stands.
    pub stand_reach: f32,
    /// It has something to play (or nothing at all) without walking off.
    pub can_stand: bool,
    /// Clips that move it steadily; the slowest forward one first.
    pub gaits: Vec<Gait>,
}

/// A clip that moves a character steadily.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Gait {
    pub clip: ClipId,
    /// Mean metres a second at playback speed 1.
    pub speed: f32,
    /// Heading of the motion relative to where the body faces, radians.
    pub course: f32,
    /// How far any part gets from the vertical axis, world metres.
    pub reach: f32,
}

impl Gait {
    /// Playback speed at which somebody of an individual scale is as fast as a lane, metres a
    /// second.
    pub fn playback_speed(&self, lane: f32, scale: f32) -> f32 {
        lane / (self.speed * scale)
    }
}

/// The characters that wait to be placed.
pub(crate) struct Cast {
    pub bodies: Vec<Body>,
    /// Not yet placed, per kind.
    left: Vec<u32>,
    pub random: Random,
}

/// Divides `count` by weights: whole shares first, then one more to the largest remainders, the
/// first of equals (Hamilton's method). Without a weight above zero nobody gets any.
pub(crate) fn shares(weights: &[f32], count: u32) -> Vec<u32> {
    let weights = || weights.iter().map(|w| f64::from(*w).max(0.0));
    let sum: f64 = weights().sum();
    let exact = |weight: f64| if sum > 0.0 { f64::from(count) * weight / sum } else { 0.0 };
    let exact: Vec<f64> = weights().map(exact).collect();
    let mut shares: Vec<u32> = exact.iter().map(|e| e.floor() as u32).collect();
    let mut order: Vec<usize> = (0..shares.len()).filter(|&k| exact[k] > 0.0).collect();
    order.sort_by(|&a, &b| exact[b].fract().total_cmp(&exact[a].fract()).then(a.cmp(&b)));
    let missing = if order.is_empty() { 0 } else { count.saturating_sub(shares.iter().sum()) };
    for &kind in order.iter().cycle().take(missing as usize) {
        shares[kind] += 1;
    }
    shares
}

/// Some characters of one kind and gait that share lanes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Walkers {
    pub kind: CharacterKind,
    pub gait: u32,
    pub count: u32,
    /// Metres a second.
    pub speed: f32,
    /// Least distance along a lane between two of them, metres.
    pub least_gap: f32,
    /// Distance at which they like to follow one another, metres.
    pub gap: f32,
    /// Width of a lane, metres.
    pub width: f32,
}

impl Walkers {
    /// Metres that a walker may be off its lane, either way.
    pub const LATERAL: f32 = 0.08;
}

impl Cast {
    /// So many of each kind, in the order of `bodies`.
    pub fn new(bodies: Vec<Body>, left: Vec<u32>, seed: u64) -> Self {
        Self { bodies, left, random: Random::new(seed, 0x1a40_0000) }
    }

    /// Characters that wait.
    pub fn waiting(&self) -> u32 {
        self.left.iter().sum()
    }

    /// Characters that wait and can stand.
    pub fn standers(&self) -> u32 {
        let can = self.left.iter().zip(&self.bodies).filter(|(_, b)| b.can_stand);
        can.map(|(left, _)| left).sum()
    }

    /// One that can stand, drawn at random.
    pub fn draw_stander(&mut self) -> Option<CharacterKind> {
        let Self { bodies, left, random } = self;
        let weights = left.iter().zip(bodies.iter());
        let weights = weights.map(|(&n, b)| if b.can_stand { n as f32 } else { 0.0 });
        let kind = random.weighted(weights)?;
        left[kind] -= 1;
        Some(CharacterKind(kind as u16))
    }

    /// Any one, drawn at random.
    pub fn draw(&mut self) -> Option<CharacterKind> {
        let kind = self.random.weighted(self.left.iter().map(|&n| n as f32))?;
        self.left[kind] -= 1;
        Some(CharacterKind(kind as u16))
    }

    /// Takes those who are to walk: `share` of the kinds that can also stand, all of the others.
    /// Four in five use a kind's first gait, the others share the rest of its forward ones.
    pub fn take_walkers(&mut self, share: f32) -> Vec<Walkers> {
        let mut all = Vec::new();
        for (kind, body) in self.bodies.iter().enumerate().filter(|(_, b)| !b.gaits.is_empty()) {
            let left = self.left[kind];
            let walking =
                if body.can_stand { (left as f32 * share).round() as u32 } else { left }.min(left);
            self.left[kind] -= walking;
            let same_way = |g: &&Gait| (g.course - body.gaits[0].course).abs() < 0.5;
            let gaits = body.gaits.iter().filter(same_way).count();
            let others = if gaits > 1 { walking / 5 / (gaits - 1) as u32 } else { 0 };
            for (gait, g) in body.gaits.iter().enumerate().filter(|(_, g)| same_way(g)) {
                let first = gait == 0;
                let count = if first { walking - others * (gaits - 1) as u32 } else { others };
                if count > 0 {
                    all.push(walkers(CharacterKind(kind as u16), gait as u32, g, count));
                }
            }
        }
        all
    }

    /// An individual's scale.
    pub fn scale(&mut self) -> f32 {
        self.random.range(SCALE_SPREAD.recip(), SCALE_SPREAD)
    }

    /// The largest reach of anybody who stands, at the largest scale.
    pub fn stand_reach(&self) -> f32 {
        let standing = self.bodies.iter().filter(|b| b.can_stand && b.weight > 0.0);
        standing.map(|b| b.stand_reach).fold(0.05, f32::max) * SCALE_SPREAD
    }

    /// The largest reach of anybody, at the largest scale.
    pub fn reach(&self) -> f32 {
        let reach = self
            .bodies
            .iter()
            .map(|b| b.gaits.iter().map(|g| g.reach).fold(b.stand_reach, f32::max));
        reach.fold(0.05, f32::max) * SCALE_SPREAD
    }
}

fn walkers(kind: CharacterKind, gait: u32, g: &Gait, count: u32) -> Walkers {
    let reach = g.reach * SCALE_SPREAD;
    // Half circles bring neighbours nearer than their distance along the lane: a tenth more.
    let least_gap = 2.2 * reach + 0.05;
    Walkers {
        kind,
        gait,
        count,
        speed: g.speed,
        least_gap,
        gap: least_gap + 0.25 + 0.75 * g.speed,
        width: 2.0 * (reach + Walkers::LATERAL),
    }
}
