//! Phase 1: who is inside the camera's and the shadow map's frustum, and how far away.

use super::census::Census;
use super::characters::{
    BLOCK, Block, Characters, FollowMasks, Place, SlotAddress, Spheres, bits, sphere_center,
};
use super::kind::Kind;
use super::rate::Distances;
use super::ride::Ride;
use crate::index::CharacterKind;
use crate::math::Frustum;
use crate::profile::{Phase, PhaseTimes};
use glam::Vec4;
use rayon::prelude::*;

/// Blocks that one job takes.
pub(crate) const BLOCKS_PER_JOB: usize = 16;

#[derive(Debug)]
/// What to cull against.
pub(crate) struct Frusta {
    pub camera: Frustum,
    /// `None`: nothing casts a shadow.
    pub shadow: Option<Frustum>,
}

/// Everything that culling only reads.
pub(crate) struct Cull<'a> {
    pub kinds: &'a [Kind],
    pub rides: &'a [Ride],
    pub frusta: &'a Frusta,
    pub distances: Distances,
    /// Where to count how far away those are who evaluate.
    pub census: Option<&'a Census>,
    /// Metres that the fastest lane moved since the last frame.
    pub moved: f32,
    pub times: &'a PhaseTimes,
}

/// Metres that the spheres of riders whom nobody sees may stay behind before they are carried on.
pub(crate) const MAX_DRIFT: f32 = 6.0;

impl Cull<'_> {
    /// Sets the bits of the visible and of the distant.
    pub fn run(&self, characters: &mut Characters) {
        const CHARACTERS: usize = BLOCKS_PER_JOB * BLOCK;
        let Characters { blocks, spheres, places, kinds, slots, masks, .. } = characters;
        let (everybody, masks) = ((&places[..], &slots[..]), &masks[..]);
        (blocks.par_chunks_mut(BLOCKS_PER_JOB), spheres.par_chunks_mut(BLOCKS_PER_JOB))
            .into_par_iter()
            .zip((places.par_chunks(CHARACTERS), kinds.par_chunks(CHARACTERS)))
            .enumerate()
            .for_each(|(job, ((blocks, spheres), (places, kinds)))| {
                self.times.worker(Phase::Cull, || {
                    let rows = places.chunks(BLOCK).zip(kinds.chunks(BLOCK));
                    let blocks = blocks.iter_mut().zip(spheres).zip(job * BLOCKS_PER_JOB..);
                    for (((block, spheres), number), rows) in blocks.zip(rows) {
                        let masks = masks.get(number).copied().unwrap_or_default();
                        self.follow(masks.follows, spheres, rows, everybody);
                        self.block(block, masks, spheres, rows, everybody.0);
                    }
                });
            });
    }

    /// Brings the spheres of those along whose leaders may have moved by themselves. What lanes
    /// carry is carried as if it rode.
    fn follow(
        &self,
        follows: u64,
        spheres: &mut Spheres,
        (places, kinds): (&[Place], &[CharacterKind]),
        (everybody, slots): (&[Place], &[SlotAddress]),
    ) {
        for i in bits(follows) {
            let Place::Following { leader, .. } = places[i] else { continue };
            if slots[leader.get()] != SlotAddress::NONE {
                let place = places[i].resolve(self.rides, everybody);
                let center = sphere_center(&self.kinds[kinds[i].get()], place, 0.0);
                (spheres.x[i], spheres.z[i]) = (center.x, center.z);
            }
        }
    }

    fn block(
        &self,
        block: &mut Block,
        FollowMasks { follows, shares, .. }: FollowMasks,
        spheres: &mut Spheres,
        (places, kinds): (&[Place], &[CharacterKind]),
        everybody: &[Place],
    ) {
        if block.riders != 0 {
            block.drift += self.moved;
            let seen = (block.camera | block.shadow) & block.riders != 0;
            if seen
                || block.drift > MAX_DRIFT
                || self.reach(spheres, block.drift) & block.riders != 0
            {
                for i in bits(block.riders) {
                    let kind = &self.kinds[kinds[i].get()];
                    let center = sphere_center(kind, places[i].resolve(self.rides, everybody), 0.0);
                    (spheres.x[i], spheres.z[i]) = (center.x, center.z);
                }
                block.drift = 0.0;
            } else if block.riders == u64::MAX {
                // Nobody is near a frustum, wherever on its lane it is by now.
                (block.camera, block.shadow) = (0, 0);
                return;
            }
        }
        let Frusta { camera, shadow } = self.frusta;
        block.camera = inside(camera.planes(), spheres, 0.0);
        block.shadow = shadow.map_or(0, |f| inside(f.planes(), spheres, 0.0));
        // Nobody asks how far those are who are not evaluated.
        if block.camera | block.shadow | block.leased | block.always | block.clocks != 0 {
            let ratios = self.distances.ratios(spheres);
            let holders = block.leased | block.ticking | shares;
            block.rates.measure(&ratios, &self.distances, holders);
            if let Some(census) = self.census {
                let evaluate = block.camera | block.shadow | block.leased | block.always;
                census.add(&ratios, evaluate & !follows);
            }
        }
    }

    /// Who might be in either frustum, being up to `slack` metres from its sphere.
    fn reach(&self, spheres: &Spheres, slack: f32) -> u64 {
        let Frusta { camera, shadow } = self.frusta;
        let shadow = shadow.map_or(0, |f| inside(f.planes(), spheres, slack));
        shadow | inside(camera.planes(), spheres, slack)
    }
}

/// The spheres, grown by `slack`, that no plane has wholly outside:
/// [`Frustum::sphere_may_be_visible`] for a block.
fn inside(planes: &[Vec4; 6], s: &Spheres, slack: f32) -> u64 {
    // How deep inside the shallowest plane's half space the sphere reaches.
    let mut depth = [f32::INFINITY; BLOCK];
    for p in planes {
        let w = p.w + slack;
        let rows = s.x.iter().zip(&s.y).zip(&s.z).zip(&s.radius);
        for (depth, (((x, y), z), radius)) in depth.iter_mut().zip(rows) {
            let distance = p.x * x + p.y * y + p.z * z + w;
            *depth = depth.min(distance + radius);
        }
    }
    depth.iter().enumerate().fold(0, |mask, (i, d)| mask | u64::from(*d >= 0.0) << i)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::crowd::random::Random;
    use crate::math::View;
    use glam::Vec3;

    #[test]
    fn a_block_agrees_with_the_frustums_own_test() {
        let mut random = Random::new(5, 0);
        for _ in 0..200 {
            let mut point =
                |reach: f32| Vec3::from_array([0; 3].map(|_| random.range(-reach, reach)));
            let frustum = View::look_at(point(30.0), point(10.0), 0.9, 60.0, (160, 90)).frustum();
            let centers: [Vec3; BLOCK] = std::array::from_fn(|_| point(60.0));
            let mut spheres = Spheres {
                x: centers.map(|c| c.x),
                y: centers.map(|c| c.y),
                z: centers.map(|c| c.z),
                radius: std::array::from_fn(|i| 0.1 * i as f32),
            };
            spheres.radius[63] = f32::NEG_INFINITY;
            let mask = inside(frustum.planes(), &spheres, 0.0);
            for (i, center) in centers.into_iter().enumerate() {
                let radius = spheres.radius[i];
                let expected = frustum.sphere_may_be_visible(center, radius);
                // Two roundings of the same sum may differ right at the edge.
                let clear = |slack: f32| frustum.sphere_may_be_visible(center, radius + slack);
                if clear(1e-3) == clear(-1e-3) {
                    assert_eq!(mask >> i & 1 == 1, expected, "{center} {radius}");
                }
            }
            assert_eq!(mask >> 63, 0, "a place that nobody has");
        }
    }
}
