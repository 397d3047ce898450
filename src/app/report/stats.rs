//! A series of numbers, one per frame, and what is told of it.

use serde::{Serialize, Serializer};

/// What a report says of a series. Written with six decimals: of milliseconds, the nanosecond.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// The median.
    #[serde(serialize_with = "six_decimals")]
    pub p50: f64,
    /// 95 % are at most this.
    #[serde(serialize_with = "six_decimals")]
    pub p95: f64,
    /// 99 % are at most this.
    #[serde(serialize_with = "six_decimals")]
    pub p99: f64,
    /// The largest.
    #[serde(serialize_with = "six_decimals")]
    pub max: f64,
    /// The sum over the count.
    #[serde(serialize_with = "six_decimals")]
    pub mean: f64,
}

fn six_decimals<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64((value * 1e6).round() / 1e6)
}

/// The last [`Series::LIMIT`] values of something measured each frame.
#[derive(Clone, Debug, Default)]
pub struct Series {
    values: Vec<f64>,
    next: usize,
}

impl Series {
    /// Five hours at sixty frames a second; older values make room, so that a window left open
    /// does not eat the machine's memory.
    pub const LIMIT: usize = 1 << 20;

    /// Adds a frame's value.
    pub fn push(&mut self, value: f64) {
        if self.values.len() < Self::LIMIT {
            self.values.push(value);
        } else {
            self.values[self.next] = value;
            self.next = (self.next + 1) % Self::LIMIT;
        }
    }

    /// Number of values held.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// True before the first value.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Percentiles by nearest rank (the value itself, never one between two); `None` when empty.
    pub fn summary(&self) -> Option<Summary> {
        summarize(&mut self.values.clone())
    }

    /// The arithmetic mean; `None` when empty.
    pub fn mean(&self) -> Option<f64> {
        let n = self.values.len() as f64;
        (!self.values.is_empty()).then(|| self.values.iter().sum::<f64>() / n)
    }

    /// The largest value; `None` when empty.
    pub fn max(&self) -> Option<f64> {
        self.values.iter().copied().reduce(f64::max)
    }
}

/// [`Series::summary`] of values that may be reordered.
pub fn summarize(values: &mut [f64]) -> Option<Summary> {
    values.sort_by(f64::total_cmp);
    let n = values.len();
    let max = *values.last()?;
    let rank = |p: f64| values[((p * n as f64).ceil() as usize).clamp(1, n) - 1];
    let mean = values.iter().sum::<f64>() / n as f64;
    Some(Summary { p50: rank(0.5), p95: rank(0.95), p99: rank(0.99), max, mean })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_the_nearest_ranks() {
        let mut series = Series::default();
        assert!(series.summary().is_none() && series.mean().is_none() && series.is_empty());
        (1..=200).rev().for_each(|i| series.push(f64::from(i)));
        let s = series.summary().unwrap();
        assert_eq!((s.p50, s.p95, s.p99, s.max, s.mean), (100.0, 190.0, 198.0, 200.0, 100.5));
        let mut one = Series::default();
        one.push(4.0);
        let s = one.summary().unwrap();
        assert_eq!((s.p50, s.p99, s.max, s.mean), (4.0, 4.0, 4.0, 4.0));
    }

    #[test]
    fn old_values_make_room() {
        let mut series = Series::default();
        (0..Series::LIMIT).for_each(|_| series.push(0.0));
        series.push(7.0);
        assert_eq!((series.len(), series.max()), (Series::LIMIT, Some(7.0)));
    }
}
