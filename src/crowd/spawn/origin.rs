//! What a character is made of when it comes.

use crate::crowd::characters::{BLOCK, Block, Characters, Place, SlotAddress};
use crate::crowd::kind::Kind;
use crate::crowd::layout::SCALE_SPREAD;
use crate::crowd::playback::Playback;
use crate::crowd::random::Random;
use crate::crowd::ride::Ride;
use crate::crowd::tint::tint;
use crate::index::CharacterId;
use crate::motion::Terrain;

/// What of a place's beginning is not in [`Place`], where its holder changes it: of one to stand on
/// a heading, of one on a lane a gait. Which it is, the place knows; told apart here it would take
/// twice as much of what everybody holds whom nobody sees.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Origin(u32);

impl Origin {
    /// Whoever comes stands, and faces this heading, radians.
    pub const fn facing(heading: f32) -> Self {
        Self(heading.to_bits())
    }

    /// Whoever comes walks, in this gait of its kind.
    pub const fn gait(gait: u32) -> Self {
        Self(gait)
    }
}

/// Streams of a character's generators; its id is in the lower half.
mod stream {
    pub const PLAYBACK: u64 = 1 << 32;
    pub const TINT: u64 = 2 << 32;
    pub const DRIVER: u64 = 3 << 32;
    pub const SCALE: u64 = 4 << 32;
}

impl Place {
    /// Where a place's holder begins.
    fn begun(self, origin: Origin, scale: Option<f32>) -> Self {
        match self {
            Self::Standing { home, scale: planned, .. } => {
                let heading = f32::from_bits(origin.0);
                let scale = scale.unwrap_or(planned);
                Self::Standing { position: home, heading, home, scale }
            }
            Self::Riding { ride, home_s, home_lateral, scale: planned, .. } => {
                let (s, lateral, yaw) = (home_s, home_lateral, 0.0);
                let scale = scale.unwrap_or(planned);
                Self::Riding { ride, s, home_s, lateral, home_lateral, yaw, scale }
            }
            // Whoever goes follows nobody by then.
            Self::Following { .. } => self,
        }
    }
}

impl Block {
    /// A place's holder has gone, and left nothing of itself; the place is what it was.
    fn vacate(&mut self, i: usize) {
        let keep = !(1u64 << i);
        let Self { camera, shadow, leased, ticking, always, clocks, present, .. } = self;
        for bits in [camera, shadow, leased, ticking, always, clocks, present] {
            *bits &= keep;
        }
        for bits in
            [&mut self.enter, &mut self.leave, &mut self.start, &mut self.stop, &mut self.fresh]
        {
            *bits &= keep;
        }
        self.rates.forget(!keep);
    }
}

impl Characters {
    /// Somebody comes to a free place at a world time. What it is like depends on the seed, the id
    /// and the generation alone; the first one of a place is as the layout planned it.
    pub fn appear(
        &mut self,
        id: CharacterId,
        kinds: &[Kind],
        rides: &[Ride],
        terrain: Terrain,
        now: f64,
    ) {
        let at = id.get();
        let kind = &kinds[self.kinds[at].get()];
        let generation = self.generations[at];
        let seed = self.seed.wrapping_add(u64::from(generation) << 32);
        let random = |stream: u64| Random::new(seed, stream + at as u64);
        let drawn = || random(stream::SCALE).range(SCALE_SPREAD.recip(), SCALE_SPREAD);
        let origin = self.origins[at];
        let place = self.places[at].begun(origin, (generation > 0).then(drawn));
        let (_, _, scale) = place.resolve(rides, &[]);
        let random_playback = random(stream::PLAYBACK);
        let mut playback = match place {
            Place::Riding { ride, .. } => {
                let gait = &kind.body.gaits[origin.0 as usize];
                let speed = gait.playback_speed(rides[ride as usize].speed, scale);
                Playback::keep(kind, gait.clip, speed, random_playback)
            }
            Place::Standing { .. } | Place::Following { .. } => {
                Playback::wander(kind, random_playback)
            }
        };
        playback.now = now;
        self.places[at] = place;
        self.playback[at] = playback;
        self.tints[at] = tint(&mut random(stream::TINT));
        self.last_rendered[at] = f64::NEG_INFINITY;
        if let Some(graph) = &kind.graph {
            graph.start(self.rows.of_mut(at), random(stream::DRIVER));
        }
        let (block, i) = (at / BLOCK, at % BLOCK);
        self.spheres[block].radius[i] = kind.radius * scale + terrain.max_height();
        self.place_sphere(id, kind, rides);
        let mode = self.update_mode;
        let block = &mut self.blocks[block];
        block.set_update_mode(i, mode);
        block.present |= 1 << i;
    }

    /// Whoever is at a place goes, and holds no slot any more. The next one is another generation.
    pub fn disappear(&mut self, id: CharacterId) {
        let (at, i) = (id.get(), id.get() % BLOCK);
        debug_assert_eq!(self.slots[at], SlotAddress::NONE, "its slot was given back");
        self.blocks[at / BLOCK].vacate(i);
        self.spheres[at / BLOCK].radius[i] = f32::NEG_INFINITY;
        self.generations[at] = self.generations[at].wrapping_add(1);
    }

    /// Somebody who was there in the last frame, drawn by lot: whoever is next in the order of ids,
    /// from any place on.
    pub fn draw_settled(&self, random: &mut Random) -> Option<CharacterId> {
        let start = random.below(self.kinds.len());
        let (first, i) = (start / BLOCK, start % BLOCK);
        let count = self.blocks.len();
        let from = u64::MAX << i;
        // The first block twice: from the place on, and at the end what is before it.
        (0..=count).find_map(|step| {
            let b = (first + step) % count.max(1);
            let within = match step {
                0 => from,
                _ if step == count => !from,
                _ => u64::MAX,
            };
            let Block { present, came, .. } = self.blocks.get(b)?;
            let here = present & !came & within;
            (here != 0).then(|| CharacterId((b * BLOCK) as u32 + here.trailing_zeros()))
        })
    }
}
