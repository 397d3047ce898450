//! Every character's columns: what each phase touches lies together.

use super::cull::MAX_DRIFT;
use super::follow::Beside;
use super::graph::Rows;
use super::kind::Kind;
use super::layout::{Plan, Role};
use super::playback::Playback;
use super::rate::Rates;
use super::ride::Ride;
use super::spawn::Origin;
use super::update_mode::UpdateMode;
use crate::index::{CharacterId, CharacterKind};
use crate::math::Mat3x4;
use crate::motion::GroundMotion;
use crate::motion::ground::rotate;
use glam::{Affine3A, Quat, Vec2, Vec3};

/// Characters whose bits share a word.
pub(crate) const BLOCK: usize = 64;

/// One bit per character for 64 characters, on cache lines of its own, because workers write it: one
/// of what it is, one of what changes hands, one of how often it evaluates.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(64))]
pub(crate) struct Block {
    /// In the camera's frustum.
    pub camera: u64,
    /// In the shadow map's frustum.
    pub shadow: u64,
    /// Holds a palette slot.
    pub leased: u64,
    /// Holds a slot without matrices, in which its clocks run.
    pub ticking: u64,
    /// Evaluates whether or not anybody looks.
    pub always: u64,
    /// Runs its clocks whether or not anybody looks.
    pub clocks: u64,
    /// Rides a lane.
    pub riders: u64,
    /// Metres that the riders may be away from where their spheres are, at most.
    pub drift: f32,
    /// Was given a palette slot this frame, or waits for one.
    pub enter: u64,
    /// Gives its palette slot back this frame.
    pub leave: u64,
    /// Is given a slot without matrices this frame.
    pub start: u64,
    /// Gives that back this frame.
    pub stop: u64,
    /// Held no slot of either sort until this frame.
    pub fresh: u64,
    /// Is there; a place whose bit is zero waits for somebody.
    pub present: u64,
    /// Was there when the last frame ended and has gone since.
    pub gone: u64,
    /// Has come since the last frame ended.
    pub came: u64,
    /// Who evaluates how often, and who this frame.
    pub rates: Rates,
}

const _: () = assert!(size_of::<Block>() == 192, "a block is three cache lines");

/// Bounding spheres of a block, world space, component by component so that a plane is tested
/// against several at once. The radius of a place that nobody has is negative infinity.
///
/// They lie as if the ground were level and hold their character wherever uneven ground would lift
/// it, so that nobody's height is looked up to find that nobody sees it.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub(crate) struct Spheres {
    pub x: [f32; BLOCK],
    pub y: [f32; BLOCK],
    pub z: [f32; BLOCK],
    pub radius: [f32; BLOCK],
}

/// One bit per character for 64 characters: who follows whom is another table's.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FollowMasks {
    /// Takes its pose from somebody else.
    pub follows: u64,
    /// Takes its leader's palette as it is, and never holds a slot.
    pub shares: u64,
    /// Somebody takes its pose.
    pub leads: u64,
}

/// Where a character is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Place {
    /// On the ground.
    Standing {
        /// World (x, z), metres.
        position: Vec2,
        /// Radians about +Y; 0 faces +Z.
        heading: f32,
        /// Where it belongs.
        home: Vec2,
        /// Individual scale.
        scale: f32,
    },
    /// On a lane, which carries it.
    Riding {
        /// Index of the lane.
        ride: u32,
        /// Metres along the lane.
        s: f32,
        /// Where along it belongs.
        home_s: f32,
        /// Metres outward from the lane.
        lateral: f32,
        /// Where across it belongs.
        home_lateral: f32,
        /// Radians off the lane's direction.
        yaw: f32,
        /// Individual scale.
        scale: f32,
    },
    /// Beside its leader, who follows nobody.
    Following {
        leader: CharacterId,
        beside: Beside,
        /// Individual scale.
        scale: f32,
    },
}

const _: () = assert!(size_of::<Place>() == 32);

impl Place {
    /// Of nobody.
    pub const NOWHERE: Self =
        Self::Standing { position: Vec2::ZERO, heading: 0.0, home: Vec2::ZERO, scale: 1.0 };

    /// On the way from another place of the same character to this one; `share` is this one's.
    pub fn after(&self, before: &Self, share: f32) -> Self {
        let turn = |from: f32, to: f32| from + wrapped(to - from) * share;
        let mix = |from: f32, to: f32| from + (to - from) * share;
        match (*before, *self) {
            (
                Self::Standing { position: from, heading: turned, .. },
                Self::Standing { position, heading, home, scale },
            ) => Self::Standing {
                position: from.lerp(position, share),
                heading: turn(turned, heading),
                home,
                scale,
            },
            (
                Self::Riding {
                    ride: lane, s: from_s, lateral: from_lateral, yaw: from_yaw, ..
                },
                Self::Riding { ride, s, home_s, lateral, home_lateral, yaw, scale },
            ) if lane == ride => Self::Riding {
                ride,
                s: mix(from_s, s),
                home_s,
                lateral: mix(from_lateral, lateral),
                home_lateral,
                yaw: mix(from_yaw, yaw),
                scale,
            },
            _ => *self,
        }
    }

    /// World position (x, z), heading and individual scale; `places` are everybody's.
    pub fn resolve(&self, rides: &[Ride], places: &[Self]) -> (Vec2, f32, f32) {
        match *self {
            Self::Standing { position, heading, scale, .. } => (position, heading, scale),
            Self::Riding { ride, s, lateral, yaw, scale, .. } => {
                let (position, heading) = rides[ride as usize].place(s, lateral);
                (position, heading + yaw, scale)
            }
            Self::Following { leader, beside, scale } => {
                let leader = places.get(leader.get()).unwrap_or(&Self::NOWHERE);
                beside.of(leader.resolve(rides, &[]), scale)
            }
        }
    }
}

/// An angle in radians, in -pi..pi.
pub(crate) fn wrapped(angle: f32) -> f32 {
    use std::f32::consts::{PI, TAU};
    (angle + PI).rem_euclid(TAU) - PI
}

/// Centre of a character's bounding sphere, world space, on ground of this height.
pub(crate) fn sphere_center(
    kind: &Kind,
    (position, heading, scale): (Vec2, f32, f32),
    ground: f32,
) -> Vec3 {
    let c = kind.center * scale;
    let flat = Vec2::new(c.x, c.z);
    let flat = if flat == Vec2::ZERO { flat } else { rotate(flat, heading) };
    Vec3::new(position.x + flat.x, ground + c.y, position.y + flat.y)
}

/// The matrix that puts a character's model into the world, on ground of this height.
pub(crate) fn world_from_model(
    kind: &Kind,
    (position, heading, scale): (Vec2, f32, f32),
    ground: f32,
) -> Mat3x4 {
    let size = kind.scale * scale;
    let linear = Affine3A::from_scale_rotation_translation(
        Vec3::splat(size),
        Quat::from_rotation_y(heading),
        Vec3::new(position.x, ground, position.y),
    );
    Mat3x4::from_affine(&(linear * Affine3A::from_translation(-kind.pivot)))
}

/// Where somebody who stands at a position (world x and z, metres) and faces a heading gets by a
/// motion in world metres.
pub(crate) fn walked((position, heading): (Vec2, f32), step: GroundMotion) -> (Vec2, f32) {
    let heading_now = (heading + step.yaw).rem_euclid(std::f32::consts::TAU);
    (position + rotate(step.translation(), heading), heading_now)
}

/// The slot that a character holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SlotAddress {
    pub page: u32,
    pub slot: u32,
}

impl SlotAddress {
    /// No slot.
    pub const NONE: Self = Self { page: u32::MAX, slot: u32::MAX };
    /// Set in the page of a slot without matrices.
    pub const TICKING: u32 = 1 << 31;
}

/// The columns, one row per character.
#[derive(Debug, Default)]
pub(crate) struct Characters {
    pub blocks: Vec<Block>,
    pub spheres: Vec<Spheres>,
    /// One per block. Empty while nobody has ever followed.
    pub masks: Vec<FollowMasks>,
    pub kinds: Vec<CharacterKind>,
    pub places: Vec<Place>,
    /// Stale while the character holds a slot, which then has the true one.
    pub playback: Vec<Playback>,
    pub slots: Vec<SlotAddress>,
    /// World time at which it was last in a frustum.
    pub last_rendered: Vec<f64>,
    pub tints: Vec<u32>,
    /// How many have had this id and gone.
    pub generations: Vec<u32>,
    /// What whoever comes to a place begins with.
    pub origins: Vec<Origin>,
    /// What graphs and drivers keep.
    pub rows: Rows,
    /// What everybody's own generators are drawn from.
    pub seed: u64,
    /// How whoever comes ticks.
    pub update_mode: UpdateMode,
}

impl Characters {
    /// Bytes that one character holds, whether or not anybody sees it, beside its graph's row.
    pub const BYTES: usize = (size_of::<Block>() + size_of::<Spheres>()) / BLOCK
        + size_of::<CharacterKind>()
        + size_of::<Place>()
        + size_of::<Playback>()
        + size_of::<SlotAddress>()
        + size_of::<f64>()
        + 2 * size_of::<u32>()
        + size_of::<Origin>();

    /// A plan's places, where nobody is yet.
    pub fn new(plan: &Plan, kinds: &[Kind], seed: u64, update_mode: UpdateMode) -> Self {
        let count = plan.spots.len();
        let blocks = count.div_ceil(BLOCK);
        let nobody = Spheres {
            x: [0.0; BLOCK],
            y: [0.0; BLOCK],
            z: [0.0; BLOCK],
            radius: [f32::NEG_INFINITY; BLOCK],
        };
        let mut this = Self {
            blocks: vec![Block::default(); blocks],
            spheres: vec![nobody; blocks],
            masks: Vec::new(),
            kinds: plan.spots.iter().map(|s| s.kind).collect(),
            places: Vec::with_capacity(count),
            playback: vec![Playback::IDLE; count],
            slots: vec![SlotAddress::NONE; count],
            last_rendered: vec![f64::NEG_INFINITY; count],
            tints: vec![0; count],
            generations: vec![0; count],
            origins: Vec::with_capacity(count),
            rows: Rows::default(),
            seed,
            update_mode,
        };
        this.rows = Rows::new(kinds, &this.kinds);
        for (b, block) in this.blocks.iter_mut().enumerate() {
            // Spread over the golden ratio's multiples: not all are carried on in the same frame.
            block.drift = MAX_DRIFT * (b as f32 * 0.618_034).fract();
        }
        for (id, spot) in plan.spots.iter().enumerate() {
            let scale = spot.scale;
            let (place, origin) = match spot.role {
                Role::Stand { position, heading } => (
                    Place::Standing { position, heading, home: position, scale },
                    Origin::facing(heading),
                ),
                Role::Ride { ride, s, lateral, gait } => {
                    // A lane's places are a lane's whoever is there.
                    this.blocks[id / BLOCK].riders |= 1 << (id % BLOCK);
                    let (home_s, home_lateral) = (s, lateral);
                    (
                        Place::Riding { ride, s, home_s, lateral, home_lateral, yaw: 0.0, scale },
                        Origin::gait(gait),
                    )
                }
            };
            this.places.push(place);
            this.origins.push(origin);
        }
        this
    }

    /// Whether somebody has an id.
    pub fn is_present(&self, id: CharacterId) -> bool {
        let block = self.blocks.get(id.get() / BLOCK);
        block.is_some_and(|block| block.present >> (id.get() % BLOCK) & 1 == 1)
    }

    /// Who of a block follows and leads.
    pub fn mask(&self, block: usize) -> FollowMasks {
        self.masks.get(block).copied().unwrap_or_default()
    }

    /// Whether somebody follows.
    pub fn follows(&self, id: CharacterId) -> bool {
        self.mask(id.get() / BLOCK).follows >> (id.get() % BLOCK) & 1 == 1
    }

    /// Whether somebody leads.
    pub fn leads(&self, id: CharacterId) -> bool {
        self.mask(id.get() / BLOCK).leads >> (id.get() % BLOCK) & 1 == 1
    }

    /// Brings a character's bounding sphere to where it is.
    pub fn place_sphere(&mut self, id: CharacterId, kind: &Kind, rides: &[Ride]) {
        let place = self.places[id.get()].resolve(rides, &self.places);
        let center = sphere_center(kind, place, 0.0);
        let spheres = &mut self.spheres[id.get() / BLOCK];
        let i = id.get() % BLOCK;
        (spheres.x[i], spheres.y[i], spheres.z[i]) = (center.x, center.y, center.z);
    }
}

const _: () = assert!(Characters::BYTES <= 512, "a hidden character is small");

/// The positions of the set bits, lowest first.
#[inline]
pub(crate) fn bits(mut word: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        (word != 0).then(|| {
            let bit = word.trailing_zeros() as usize;
            word &= word - 1;
            bit
        })
    })
}
