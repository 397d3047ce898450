//! A small seeded generator whose whole state is one number, so that every character owns one.

/// SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(transparent)]
pub(crate) struct Random(u64);

const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

const fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

impl Random {
    /// The generator number `stream` of a seed; streams of one seed are unrelated.
    pub const fn new(seed: u64, stream: u64) -> Self {
        Self(mix(seed.wrapping_add(GOLDEN)) ^ mix(stream.wrapping_mul(GOLDEN) ^ 0x5851_f42d))
    }

    /// Uniform over all 64 bits.
    #[inline]
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(GOLDEN);
        mix(self.0)
    }

    /// Uniform in `0.0..1.0`.
    #[inline]
    pub fn unit(&mut self) -> f32 {
        (self.next() >> 40) as f32 * (1.0 / (1u32 << 24) as f32)
    }

    /// Uniform in `low..high`.
    #[inline]
    pub fn range(&mut self, low: f32, high: f32) -> f32 {
        low + (high - low) * self.unit()
    }

    /// Uniform in `0..n`; zero when `n` is.
    pub fn below(&mut self, n: usize) -> usize {
        // The high half of a 128-bit product: no division, bias below 2^-40 for any n here.
        ((u128::from(self.next()) * n as u128) >> 64) as usize
    }

    /// An index drawn in proportion to its weight; `None` when all weights are zero or less.
    pub fn weighted(&mut self, weights: impl Iterator<Item = f32> + Clone) -> Option<usize> {
        let sum: f32 = weights.clone().filter(|w| *w > 0.0).sum();
        let mut left = self.unit() * sum;
        let mut last = None;
        for (i, weight) in weights.enumerate().filter(|(_, w)| *w > 0.0) {
            last = Some(i);
            if left < weight {
                break;
            }
            left -= weight;
        }
        last
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_of_a_seed_differ_and_repeat() {
        let draw = |seed, stream| {
            let mut r = Random::new(seed, stream);
            [r.next(), r.next(), r.next()]
        };
        assert_eq!(draw(1, 2), draw(1, 2));
        assert_ne!(draw(1, 2), draw(1, 3));
        assert_ne!(draw(1, 2), draw(2, 2));
        assert_ne!(draw(0, 0)[0], 0);
    }

    #[test]
    fn draws_are_uniform_and_weights_are_honoured() {
        let mut r = Random::new(7, 0);
        let mut halves = [0u32; 2];
        let mut picks = [0u32; 3];
        for _ in 0..10_000 {
            let u = r.unit();
            assert!((0.0..1.0).contains(&u));
            halves[(u >= 0.5) as usize] += 1;
            picks[r.weighted([1.0, 0.0, 3.0].into_iter()).unwrap()] += 1;
            assert!(r.below(5) < 5);
        }
        assert!(halves[0].abs_diff(5_000) < 250, "{halves:?}");
        assert_eq!(picks[1], 0);
        assert!(picks[2].abs_diff(7_500) < 250, "{picks:?}");
        assert_eq!(r.weighted([0.0, -1.0].into_iter()), None);
        assert_eq!(r.below(0), 0);
    }
}
