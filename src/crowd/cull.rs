//! Phase 1: who is inside the camera's and the shadow map's frustum.

use super::characters::{BLOCK, Block, Characters, Place, Spheres, bits, sphere_center};
use super::kind::Kind;
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

/// Carries the riders' spheres along with their lanes and sets the bits of the visible.
pub(crate) fn cull(
    characters: &mut Characters,
    kinds: &[Kind],
    rides: &[Ride],
    frusta: &Frusta,
    times: &PhaseTimes,
) {
    const CHARACTERS: usize = BLOCKS_PER_JOB * BLOCK;
    let Characters { blocks, spheres, places, kinds: kind_of, .. } = characters;
    (blocks.par_chunks_mut(BLOCKS_PER_JOB), spheres.par_chunks_mut(BLOCKS_PER_JOB))
        .into_par_iter()
        .zip((places.par_chunks(CHARACTERS), kind_of.par_chunks(CHARACTERS)))
        .for_each(|((blocks, spheres), (places, kind_of))| {
            times.worker(Phase::Cull, || {
                let rows = places.chunks(BLOCK).zip(kind_of.chunks(BLOCK));
                for ((block, spheres), rows) in blocks.iter_mut().zip(spheres).zip(rows) {
                    carry(block, spheres, rows, kinds, rides);
                    block.camera = inside(frusta.camera.planes(), spheres);
                    block.shadow = frusta.shadow.map_or(0, |f| inside(f.planes(), spheres));
                }
            });
        });
}

fn carry(
    block: &Block,
    spheres: &mut Spheres,
    (places, kind_of): (&[Place], &[CharacterKind]),
    kinds: &[Kind],
    rides: &[Ride],
) {
    for i in bits(block.riders) {
        let center = sphere_center(&kinds[kind_of[i].get()], places[i].resolve(rides));
        (spheres.x[i], spheres.z[i]) = (center.x, center.z);
    }
}

/// The spheres that no plane has wholly outside: [`Frustum::sphere_may_be_visible`] for a block.
fn inside(planes: &[Vec4; 6], s: &Spheres) -> u64 {
    // How deep inside the shallowest plane's half space the sphere reaches.
    let mut depth = [f32::INFINITY; BLOCK];
    for p in planes {
        let rows = s.x.iter().zip(&s.y).zip(&s.z).zip(&s.radius);
        for (depth, (((x, y), z), radius)) in depth.iter_mut().zip(rows) {
            let distance = p.x * x + p.y * y + p.z * z + p.w;
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
            let mask = inside(frustum.planes(), &spheres);
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
