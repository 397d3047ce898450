//! How many of those who evaluate are how far away, in bins fine enough to plan with.

use super::rate::Gates;
use std::sync::atomic::{AtomicU32, Ordering};

/// Bins to a doubling of the distance.
const PER_OCTAVE: usize = 8;
/// Exponent of the squared distance over radius at which the first bin begins; all that is nearer
/// is in it, and all that is farther than the last one's in that.
const FIRST: i32 = -6;
const BINS: usize = 192;
/// Bits of a number's fraction that tell bins of one exponent apart.
const FRACTION_BITS: u32 = 2;

/// Counts by distance over radius, filled by many workers at once.
#[derive(Debug)]
pub(crate) struct Census {
    bins: [AtomicU32; BINS],
}

impl Default for Census {
    fn default() -> Self {
        Self { bins: [const { AtomicU32::new(0) }; BINS] }
    }
}

impl Census {
    /// Adds some characters of a block, whose squared distances over radius are given.
    pub fn add(&self, ratios: &[f32], who: u64) {
        for i in super::characters::bits(who) {
            self.bins[bin(ratios[i])].fetch_add(1, Ordering::Relaxed);
        }
    }

    /// What was counted since the last call.
    pub fn take(&mut self) -> Counted {
        Counted(self.bins.each_mut().map(|bin| std::mem::take(bin.get_mut())))
    }
}

/// The bin of a squared distance over radius. Not-a-number is the nearest.
fn bin(square: f32) -> usize {
    // The bits of a positive number are in its order: its exponent, then its fraction.
    let place = (square.to_bits() >> (f32::MANTISSA_DIGITS - 1 - FRACTION_BITS)) as i32;
    let first = (FIRST + 127) << FRACTION_BITS;
    if square > 0.0 { (place - first).clamp(0, BINS as i32 - 1) as usize } else { 0 }
}

/// Where a bin begins, as a distance over radius.
fn begin(bin: usize) -> f32 {
    let first = ((FIRST + 127) as u32) << FRACTION_BITS;
    f32::from_bits((first + bin as u32) << (f32::MANTISSA_DIGITS - 1 - FRACTION_BITS)).sqrt()
}

/// A census that is complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Counted([u32; BINS]);

impl Counted {
    /// Everybody.
    pub fn total(&self) -> u32 {
        self.0.iter().sum()
    }

    /// The distance over radius that at least this share of everybody is nearer than.
    pub fn quantile(&self, share: f32) -> f32 {
        let wanted = (self.total() as f32 * share).ceil() as u32;
        let mut counted = 0;
        for (bin, count) in self.0.iter().enumerate() {
            counted += count;
            if counted >= wanted {
                return begin(bin + 1);
            }
        }
        f32::INFINITY
    }

    /// Evaluations a frame with these distances, in the mean.
    pub fn evaluations(&self, gates: &Gates) -> f32 {
        self.sum(|distance| 1.0 / interval(gates, distance) as f32)
    }

    /// How many are evaluated less often with these distances than with those, and of how many more
    /// the first bones alone.
    pub fn downgraded(&self, gates: &Gates, from: &Gates) -> (u32, u32) {
        let slower = |d| f32::from(u8::from(interval(gates, d) > interval(from, d)));
        let shorter = |d| f32::from(u8::from(cut(gates, d) && !cut(from, d)));
        (self.sum(slower) as u32, self.sum(shorter) as u32)
    }

    fn sum(&self, each: impl Fn(f32) -> f32) -> f32 {
        let bins = self.0.iter().enumerate().filter(|(_, count)| **count > 0);
        bins.map(|(bin, count)| *count as f32 * each(middle(bin))).sum()
    }
}

fn middle(bin: usize) -> f32 {
    0.5 * (begin(bin) + begin(bin + 1))
}

/// Frames from one evaluation to the next at a distance over radius.
fn interval(gates: &Gates, distance: f32) -> usize {
    let past = gates.rate_distances.iter().filter(|far| distance > **far).count();
    if gates.update_rate { 1 + past } else { 1 }
}

fn cut(gates: &Gates, distance: f32) -> bool {
    gates.skeleton_lod && distance > gates.lod_distance
}

const _: () = assert!(1 << (FRACTION_BITS + 1) == PER_OCTAVE, "bins are of squares");

#[cfg(test)]
mod tests {
    use super::*;

    fn census(distances: &[f32]) -> Counted {
        let mut census = Census::default();
        for distances in distances.chunks(64) {
            let squares: Vec<f32> = distances.iter().map(|d| d * d).collect();
            census.add(&squares, u64::MAX >> (64 - squares.len()));
        }
        census.take()
    }

    #[test]
    fn bins_are_an_eighth_of_an_octave_wide_and_in_order() {
        for distance in [0.2, 1.0, 1.05, 7.3, 30.0, 60.0, 119.9, 4_000.0] {
            let bin = bin(distance * distance);
            let (from, to) = (begin(bin), begin(bin + 1));
            assert!(from <= distance && distance < to, "{distance} is not in {from}..{to}");
            assert!(to / from < 1.12 && to / from > 1.05, "{from}..{to}");
        }
        for odd in [0.0, -1.0, f32::NAN, f32::MIN_POSITIVE] {
            assert_eq!(bin(odd), 0, "{odd}");
        }
        assert_eq!([bin(f32::MAX), bin(f32::INFINITY)], [BINS - 1; 2]);
    }

    #[test]
    fn everybody_is_counted_once_and_a_share_is_nearer_than_its_quantile() {
        let distances: Vec<f32> = (1..=1_000).map(|i| i as f32 * 0.2).collect();
        let counted = census(&distances);
        assert_eq!(counted.total(), 1_000);
        for share in [0.1, 0.5, 0.9] {
            let at = counted.quantile(share);
            let nearer = distances.iter().filter(|d| **d < at).count() as f32 / 1_000.0;
            assert!(nearer >= share && nearer < share + 0.1, "{share}: {nearer}");
        }
        assert_eq!(census(&[]).quantile(0.1), begin(1));
        let mut census = Census::default();
        census.add(&[1.0; 64], 0b101);
        assert_eq!((census.take().total(), census.take().total()), (2, 0));
    }

    #[test]
    fn evaluations_are_those_of_the_rates() {
        let distances: Vec<f32> = (1..=1_000).map(|i| i as f32 * 0.2).collect();
        let counted = census(&distances);
        // 150 up to 30, 150 up to 60, 300 up to 120, 400 beyond.
        let wanted = 150.0 + 150.0 / 2.0 + 300.0 / 3.0 + 400.0 / 4.0;
        let evaluations = counted.evaluations(&Gates::default());
        assert!((evaluations / wanted - 1.0).abs() < 0.03, "{evaluations} of {wanted}");
        assert_eq!(counted.evaluations(&Gates::OFF), 1_000.0);
        let near =
            Gates { rate_distances: [20.0, 40.0, 80.0], lod_distance: 40.0, ..Gates::default() };
        let (slower, shorter) = counted.downgraded(&near, &Gates::default());
        // 20 to 30, 40 to 60, 80 to 120; and 40 to 60.
        assert!(slower.abs_diff(350) < 25, "{slower}");
        assert!(shorter.abs_diff(100) < 15, "{shorter}");
        assert_eq!(counted.downgraded(&Gates::default(), &near), (0, 0));
    }
}
