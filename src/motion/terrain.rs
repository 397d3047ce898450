//! The ground under everybody: how high it is and which way it slopes.

use glam::{IVec2, Vec2, Vec3};

/// The ground's height over the world's plane, y = height(x, z) in metres.
///
/// Uneven ground is value noise: numbers hashed from the integer points of a lattice and
/// interpolated by the quintic `6t^5 - 15t^4 + 10t^3`, whose first two derivatives vanish at both
/// ends (Perlin, "Improving noise", 2002). Three lattices of different mesh, turned against one
/// another so that none of them shows, are summed: undulation, bumps, and what a sole feels.
///
/// There is no transcendental function in it, so a height is the same to the bit on every machine,
/// and shaders/lib/terrain.wgsl computes it to within a millimetre.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Terrain {
    seed: Option<u32>,
}

/// The ground at one point.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct GroundPoint {
    /// World y, metres.
    pub height: f32,
    /// Metres of height per metre along world x and z.
    pub gradient: Vec2,
}

impl GroundPoint {
    /// Unit vector away from the ground.
    pub fn normal(self) -> Vec3 {
        Vec3::new(-self.gradient.x, 1.0, -self.gradient.y).normalize()
    }
}

/// One lattice of the sum.
#[derive(Clone, Copy, Debug)]
struct Octave {
    /// Lattice points per metre. A factor, because a GPU's division is less exact.
    per_metre: f32,
    /// Largest height, metres, either way.
    amplitude: f32,
    /// Cosine and sine of its turn against world x and z. Of Pythagorean triples: exact enough to
    /// be the same number in every language.
    turn: Vec2,
    /// Tells its hash from the others'.
    salt: u32,
}

const OCTAVES: [Octave; 3] = [
    Octave { per_metre: 0.2, amplitude: 0.18, turn: Vec2::new(0.96, 0.28), salt: 0x3c6e_f372 },
    Octave { per_metre: 0.525, amplitude: 0.05, turn: Vec2::new(0.6, 0.8), salt: 0xa54f_f53a },
    Octave { per_metre: 1.25, amplitude: 0.012, turn: Vec2::new(-0.28, 0.96), salt: 0x510e_527f },
];

/// The steepest that value noise between -1 and 1 gets: the quintic's steepest, 15/8, times the
/// largest difference of two neighbours.
const STEEPEST: f32 = 2.0 * 15.0 / 8.0;

/// What rounding may add to a bound.
const ROUNDED_UP: f32 = 1.0 + 4.0 * f32::EPSILON;

impl Terrain {
    /// The plane y = 0.
    pub const FLAT: Self = Self { seed: None };

    /// How far from the origin, metres along x and along z, the ground is uneven. What lies beyond
    /// has the height of the nearest point within, because there `f32` runs out of places for the
    /// bumps.
    pub const REACH: f32 = 131_072.0;

    /// Uneven ground, another one for each seed.
    pub const fn uneven(seed: u32) -> Self {
        Self { seed: Some(seed) }
    }

    /// What uneven ground was made of; `None` when flat.
    pub const fn seed(self) -> Option<u32> {
        self.seed
    }

    /// True for [`Terrain::FLAT`].
    pub const fn is_flat(self) -> bool {
        self.seed.is_none()
    }

    /// No height is larger than this, nor less than its negative; metres.
    pub const fn max_height(self) -> f32 {
        let [a, b, c] = OCTAVES;
        let sum = a.amplitude + b.amplitude + c.amplitude;
        if self.is_flat() { 0.0 } else { sum * ROUNDED_UP }
    }

    /// No gradient is longer than this; metres per metre.
    pub const fn max_slope(self) -> f32 {
        let [a, b, c] = OCTAVES;
        let sum = a.max_slope() + b.max_slope() + c.max_slope();
        if self.is_flat() { 0.0 } else { sum * ROUNDED_UP }
    }

    /// World y of the ground at a point (x, z), metres. Zero where a coordinate is no finite number.
    #[inline]
    pub fn height(self, at: Vec2) -> f32 {
        self.point(at).height
    }

    /// Height and gradient at a point (x, z), metres. Level and at zero where a coordinate is no
    /// finite number.
    #[inline]
    pub fn point(self, at: Vec2) -> GroundPoint {
        match self.seed {
            Some(seed) if at.is_finite() => uneven(seed, at),
            _ => GroundPoint::default(),
        }
    }
}

fn uneven(seed: u32, at: Vec2) -> GroundPoint {
    let reach = Vec2::splat(Terrain::REACH);
    let within = at.clamp(-reach, reach);
    let mut sum = GroundPoint::default();
    for octave in &OCTAVES {
        let one = octave.point(seed, within);
        sum.height += one.height;
        sum.gradient += one.gradient;
    }
    // Beyond the reach nothing changes along that axis.
    let inside = within.cmpeq(at);
    sum.gradient = Vec2::select(inside, sum.gradient, Vec2::ZERO);
    sum
}

impl Octave {
    const fn max_slope(self) -> f32 {
        STEEPEST * self.amplitude * self.per_metre
    }

    #[inline]
    fn point(&self, seed: u32, at: Vec2) -> GroundPoint {
        let (cos, sin) = (self.turn.x, self.turn.y);
        let turned = Vec2::new(cos * at.x - sin * at.y, sin * at.x + cos * at.y) * self.per_metre;
        let corner = IVec2::new(floor(turned.x), floor(turned.y));
        let t = turned - corner.as_vec2();
        let (x, z) = (corner.x as u32, corner.y as u32);
        let key = seed ^ self.salt;
        let value = |dx: u32, dz: u32| lattice(x.wrapping_add(dx), z.wrapping_add(dz), key);
        let (a, b, c, d) = (value(0, 0), value(1, 0), value(0, 1), value(1, 1));

        let s = t * t * t * (t * (t * 6.0 - 15.0) + 10.0);
        let slope = 30.0 * t * t * (t * (t - 2.0) + 1.0);
        let (along_x, along_z, twist) = (b - a, c - a, a - b - c + d);
        let value = a + along_x * s.x + along_z * s.y + twist * s.x * s.y;
        let (dx, dz) = (slope.x * (along_x + twist * s.y), slope.y * (along_z + twist * s.x));
        let steep = self.amplitude * self.per_metre;
        GroundPoint {
            height: self.amplitude * value,
            gradient: steep * Vec2::new(cos * dx + sin * dz, cos * dz - sin * dx),
        }
    }
}

/// The largest whole number that is no larger; for numbers of fewer than 24 bits, as coordinates
/// within the reach are. Without SSE4.1, which not every processor has, `f32::floor` is a call.
#[inline]
fn floor(x: f32) -> i32 {
    let towards_zero = x as i32;
    towards_zero - i32::from(x < towards_zero as f32)
}

/// A number in -1.0..1.0 for a point of a lattice: a hash of the point, finished by Wellons'
/// "lowbias32" (2018), of which the 24 highest bits make a float without rounding.
#[inline]
fn lattice(x: u32, z: u32, key: u32) -> f32 {
    let mut h = x.wrapping_mul(0x9e37_79b1) ^ z.wrapping_mul(0x85eb_ca77) ^ key;
    h = (h ^ (h >> 16)).wrapping_mul(0x7feb_352d);
    h = (h ^ (h >> 15)).wrapping_mul(0x846c_a68b);
    h ^= h >> 16;
    (h >> 8) as f32 * (2.0 / 16_777_216.0) - 1.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The definition, spelt out in f64: each corner's value times its two weights.
    fn by_definition(seed: u32, x: f64, z: f64) -> f64 {
        // Points per metre, amplitude, cosine and sine, salt.
        let octaves: [(f64, f64, f64, f64, u64); 3] = [
            (0.2, 0.18, 0.96, 0.28, 0x3c6e_f372),
            (0.525, 0.05, 0.6, 0.8, 0xa54f_f53a),
            (1.25, 0.012, -0.28, 0.96, 0x510e_527f),
        ];
        let hash = |x: i64, z: i64, key: u64| {
            const WORD: i64 = 1 << 32;
            let low = |v: i64| v.rem_euclid(WORD) as u64;
            let mut h = (low(x) * 0x9e37_79b1 % (1 << 32)) ^ (low(z) * 0x85eb_ca77 % (1 << 32));
            h ^= key;
            h ^= h >> 16;
            h = h * 0x7feb_352d % (1 << 32);
            h ^= h >> 15;
            h = h * 0x846c_a68b % (1 << 32);
            h ^= h >> 16;
            (h / 256) as f64 / f64::from(1 << 23) - 1.0
        };
        let quintic = |t: f64| 6.0 * t.powi(5) - 15.0 * t.powi(4) + 10.0 * t.powi(3);
        let (x, z) = (x.clamp(-131_072.0, 131_072.0), z.clamp(-131_072.0, 131_072.0));
        let one = |(per_metre, amplitude, cos, sin, salt): (f64, f64, f64, f64, u64)| {
            let (u, v) = ((cos * x - sin * z) * per_metre, (sin * x + cos * z) * per_metre);
            let (i, j) = (u.floor(), v.floor());
            let (su, sv) = (quintic(u - i), quintic(v - j));
            let mut sum = 0.0;
            for (di, wu) in [(0, 1.0 - su), (1, su)] {
                for (dj, wv) in [(0, 1.0 - sv), (1, sv)] {
                    sum += hash(i as i64 + di, j as i64 + dj, u64::from(seed) ^ salt) * wu * wv;
                }
            }
            amplitude * sum
        };
        octaves.map(one).iter().sum()
    }

    /// A few thousand points that follow no lattice, within `reach` metres of the origin.
    fn points(reach: f32) -> impl Iterator<Item = Vec2> {
        (0..4_000).map(move |i| {
            let i = i as f32;
            Vec2::new((i * 0.618_034).fract() - 0.5, (i * 0.754_877_7).fract() - 0.5) * 2.0 * reach
        })
    }

    #[test]
    fn it_is_the_sum_that_its_definition_says() {
        for (reach, tolerance) in [(50.0, 2e-6), (2_000.0, 6e-5), (131_072.0, 4e-3)] {
            for seed in [0, 1, u32::MAX] {
                let terrain = Terrain::uneven(seed);
                for p in points(reach) {
                    let expected = by_definition(seed, f64::from(p.x), f64::from(p.y));
                    let off = (f64::from(terrain.height(p)) - expected).abs();
                    assert!(off < tolerance, "{p} within {reach} m: off by {off}");
                }
            }
        }
    }

    #[test]
    fn the_gradient_is_that_of_the_height() {
        let step = 1e-3;
        for p in points(300.0) {
            let along = |d: Vec2| {
                let (a, b) = (p - d, p + d);
                let at = |p: Vec2| by_definition(7, f64::from(p.x), f64::from(p.y));
                (at(b) - at(a)) / f64::from((b - a).length())
            };
            let expected = [along(Vec2::X * step), along(Vec2::Y * step)];
            let got = Terrain::uneven(7).point(p).gradient;
            for (got, expected) in got.to_array().into_iter().zip(expected) {
                assert!((f64::from(got) - expected).abs() < 2e-3, "{p}: {got} {expected}");
            }
        }
    }

    #[test]
    fn whole_numbers_below_are_those_of_floor() {
        let reach = 1.5 * Terrain::REACH;
        for x in points(reach).map(|p| p.x).chain([0.0, -0.0, 1.0, -1.0, -1e-30, 1e-45, -1e-45]) {
            for x in [x, x.trunc(), x.trunc().next_down(), x.trunc().next_up()] {
                assert_eq!(floor(x) as f32, x.floor(), "{x}");
            }
        }
    }

    #[test]
    fn heights_are_these_to_the_bit() {
        let at = [(0.0, 0.0), (12.5, -7.25), (-1_000.3, 0.1), (8e4, 1e5), (1e9, 3.0)];
        let bits = at.map(|(x, z)| Terrain::uneven(1).height(Vec2::new(x, z)).to_bits());
        assert_eq!(bits, [0xbd62_48af, 0x3d20_d7f0, 0x3d9c_2d02, 0xbc91_17aa, 0x3cd6_22be]);
    }

    #[test]
    fn it_is_natural_to_walk_on() {
        let terrain = Terrain::uneven(1);
        let (mut steep, mut low, mut high, mut heights) = (0.0f32, 0.0f32, 0.0f32, 0.0);
        let mut gentle = 0;
        for p in points(500.0) {
            let here = terrain.point(p);
            assert!(here.height.abs() <= terrain.max_height());
            assert!(here.gradient.length() <= terrain.max_slope());
            steep = steep.max(here.gradient.length());
            gentle += usize::from(here.gradient.length() < 8f32.to_radians().tan());
            (low, high) = (low.min(here.height), high.max(here.height));
            heights += here.height;
        }
        assert!(steep.atan().to_degrees() < 12.0, "{}", steep.atan().to_degrees());
        assert!(gentle > 3_800, "{gentle}");
        assert!(low < -0.13 && high > 0.13 && high - low < 0.45, "{low} {high}");
        assert!((heights / 4_000.0).abs() < 0.01, "{heights}");
    }

    #[test]
    fn the_bounds_are_reached_by_the_worst_lattice_and_not_passed() {
        // Corners at their extremes, between which no cell of any seed is steeper.
        let steepest = |t: f32| 30.0 * t * t * (t * (t - 2.0) + 1.0);
        let worst = (0..=1_000).map(|i| steepest(i as f32 * 1e-3) * 2.0).fold(0.0, f32::max);
        assert_eq!(worst, STEEPEST);
        let flat = Terrain::FLAT;
        assert_eq!((flat.max_height(), flat.max_slope()), (0.0, 0.0));
    }

    #[test]
    fn seeds_differ_and_nothing_repeats() {
        let [a, b] = [1, 2].map(Terrain::uneven);
        let apart = |shift: Vec2| {
            let differs = |p: &Vec2| (a.height(*p) - a.height(*p + shift)).abs() > 1e-3;
            points(40.0).filter(differs).count()
        };
        assert!(
            points(40.0).filter(|p| (a.height(*p) - b.height(*p)).abs() > 1e-3).count() > 3_900
        );
        for shift in [5.0, 19.0, 80.0, 256.0, 1_280.0, 65_536.0] {
            for shift in [Vec2::X, Vec2::Y, Vec2::ONE].map(|d| d * shift) {
                assert!(apart(shift) > 3_900, "{shift}");
            }
        }
    }

    #[test]
    fn flat_ground_is_zero_and_so_is_what_has_no_place() {
        for p in points(1e6) {
            assert_eq!(Terrain::FLAT.point(p), GroundPoint::default());
        }
        for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            for p in [Vec2::new(bad, 1.0), Vec2::new(1.0, bad), Vec2::splat(bad)] {
                assert_eq!(Terrain::uneven(1).point(p), GroundPoint::default(), "{p}");
            }
        }
        assert_eq!(GroundPoint::default().normal(), Vec3::Y);
    }

    #[test]
    fn beyond_its_reach_it_goes_on_level() {
        let terrain = Terrain::uneven(1);
        let edge = terrain.point(Vec2::new(Terrain::REACH, 40.0));
        for x in [Terrain::REACH * 1.5, 1e9, f32::MAX] {
            let far = terrain.point(Vec2::new(x, 40.0));
            assert_eq!((far.height, far.gradient.x), (edge.height, 0.0));
            assert_eq!(far.gradient.y, edge.gradient.y);
            let corner = terrain.point(Vec2::new(-x, f32::MIN));
            assert_eq!(corner.gradient, Vec2::ZERO);
            assert!(corner.height.abs() <= terrain.max_height());
        }
    }

    proptest! {
        #[test]
        fn it_is_bounded_and_smooth_wherever_a_point_may_be(
            x in any::<f32>(), z in any::<f32>(), seed in any::<u32>(), step in -0.01f32..0.01,
        ) {
            let terrain = Terrain::uneven(seed);
            let (a, b) = (Vec2::new(x, z), Vec2::new(x + step, z));
            let here = terrain.point(a);
            prop_assert!(here.height.abs() <= terrain.max_height());
            prop_assert!(here.gradient.length() <= terrain.max_slope() * 1.001);
            prop_assert!((here.normal().length() - 1.0).abs() < 1e-6);
            // Rounding moves a point by a part in 2^23 of its coordinates.
            let rounded = x.abs().max(z.abs()).min(Terrain::REACH) * 4.0 * f32::EPSILON;
            if a.is_finite() {
                let apart = (terrain.height(b) - here.height).abs();
                prop_assert!(apart <= terrain.max_slope() * (step.abs() + rounded) + 1e-6);
            }
        }
    }
}
