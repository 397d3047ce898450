//! How many frames each clip gets.

use super::super::source::{Interpolation, SourceAnimation, SourceChannel, SourceValues};

/// Multiples of the base rate that are tried when it misses the curves.
const RATE_STEPS: [f64; 4] = [1.0, 2.0, 4.0, 8.0];

/// Local transforms that all clips of a character may hold together: 160 MB.
pub(super) const LOCALS_LIMIT: usize = 4_000_000;

/// Clips shorter than this are stills.
pub(super) const SHORTEST_SECONDS: f64 = 1e-6;

/// The most frame intervals that each clip may have, for `seconds` per clip and so many bones: a
/// level that just fits into [`LOCALS_LIMIT`] when every clip takes what it could use at the highest
/// rate or that level, whichever is less. At least one.
pub(super) fn interval_caps(seconds: &[f64], bones: usize, base_hz: f64) -> Vec<usize> {
    let highest = base_hz * RATE_STEPS[RATE_STEPS.len() - 1];
    let limit = (LOCALS_LIMIT / bones.max(1)) as f64;
    let mut wanted: Vec<f64> = seconds.iter().map(|s| (s * highest).ceil() + 1.0).collect();
    wanted.sort_by(f64::total_cmp);
    let (mut left, mut level) = (limit, f64::INFINITY);
    for (i, want) in wanted.iter().enumerate() {
        let share = left / (wanted.len() - i) as f64;
        if *want > share {
            level = share;
            break;
        }
        left -= want;
    }
    let cap = |s: &f64| ((s * highest).ceil().min(level - 1.0)).max(1.0);
    seconds.iter().map(|s| cap(s) as usize).collect()
}

/// Numbers of frame intervals to try, rising: the base rate, the first multiple of the keys' own
/// rate above it, and doublings, none over `cap`.
pub(super) fn candidates(animation: &SourceAnimation, base_hz: f64, cap: usize) -> Vec<usize> {
    let seconds = f64::from(animation.seconds);
    let mut rates: Vec<f64> = RATE_STEPS.iter().map(|step| base_hz * step).collect();
    if let Some(grid) = key_rate(animation, *rates.last().unwrap_or(&base_hz)) {
        rates.push(grid * (base_hz / grid).ceil());
    }
    let mut intervals: Vec<usize> = rates
        .iter()
        .map(|rate| {
            let exact = seconds * rate;
            let near = exact.round();
            let whole = if (exact - near).abs() < 1e-3 { near } else { exact.ceil() };
            (whole.clamp(1.0, cap as f64)) as usize
        })
        .collect();
    intervals.sort_unstable();
    intervals.dedup();
    intervals
}

/// The lowest whole rate in hertz, up to `highest`, on whose frames all keys lie.
fn key_rate(animation: &SourceAnimation, highest: f64) -> Option<f64> {
    let on_grid = |rate: f64| {
        animation.channels.iter().flat_map(|c| &c.times).all(|&t| {
            let frame = f64::from(t) * rate;
            // A key's time has seven digits.
            (frame - frame.round()).abs() < 1e-3 + frame * 2e-7
        })
    };
    (1..=highest as u32).map(f64::from).find(|&rate| on_grid(rate))
}

/// Every key time that lies inside the clip, rising, without repeats.
pub(super) fn key_times(animation: &SourceAnimation) -> Vec<f64> {
    let times = animation.channels.iter().flat_map(|c| &c.times).map(|&t| f64::from(t));
    let mut times: Vec<f64> =
        times.filter(|&t| t > 0.0 && t < f64::from(animation.seconds)).collect();
    times.sort_by(f64::total_cmp);
    times.dedup();
    times
}

/// Times at which a curve jumps, which no rate can follow: changes of STEP channels, and doubled keys.
pub(super) fn jump_times(animation: &SourceAnimation) -> Vec<f64> {
    let mut jumps: Vec<f64> = animation.channels.iter().flat_map(channel_jumps).collect();
    jumps.sort_by(f64::total_cmp);
    jumps.dedup();
    jumps
}

fn channel_jumps(channel: &SourceChannel) -> Vec<f64> {
    let step = channel.interpolation == Interpolation::Step;
    let changes = |key: usize| match &channel.values {
        SourceValues::Translation(v) | SourceValues::Scale(v) => v[key] != v[key - 1],
        SourceValues::Rotation(v) => v[key] != v[key - 1],
    };
    let times = &channel.times;
    (1..times.len())
        .filter(|&key| times[key] == times[key - 1] || step && changes(key))
        .map(|key| f64::from(times[key]))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::testing;
    use super::*;

    fn keys(times: &[f32]) -> SourceAnimation {
        let values = SourceValues::Translation(vec![[0.0; 3]; times.len()]);
        testing::animation("a", 0, Interpolation::Linear, times, values)
    }

    #[test]
    fn rates_rise_from_the_base_through_the_keys_own_multiple() {
        let film: Vec<f32> = (0..=24).map(|i| i as f32 / 24.0).collect();
        assert_eq!(candidates(&keys(&film), 30.0, 1000), [30, 48, 60, 120, 240]);
        assert_eq!(candidates(&keys(&[0.0, 1.0]), 30.0, 1000), [30, 60, 120, 240]);
        assert_eq!(candidates(&keys(&[0.0, 0.5777]), 30.0, 100), [18, 35, 70, 100]);
        assert_eq!(candidates(&keys(&[0.0, 1e9]), 30.0, 100), [100]);
    }

    #[test]
    fn long_clips_share_what_short_ones_leave() {
        let caps = interval_caps(&[1.0, 1e9, 1e9], 1000, 30.0);
        assert_eq!(caps[0], 240);
        assert_eq!(caps[1], caps[2]);
        let frames: usize = caps.iter().map(|c| c + 1).sum();
        assert!(frames * 1000 <= LOCALS_LIMIT && frames * 1000 > LOCALS_LIMIT * 99 / 100);
        assert_eq!(interval_caps(&[0.0, f64::from(f32::MAX)], 0, 30.0)[0], 1);
        assert_eq!(interval_caps(&[1.0; 3], 10_000_000, 30.0), [1, 1, 1]);
    }

    #[test]
    fn jumps_are_changes_of_steps_and_doubled_keys() {
        let values = SourceValues::Scale(vec![[1.0; 3], [1.0; 3], [2.0; 3], [2.0; 3]]);
        let times = [0.0, 0.5, 1.0, 2.0];
        let mut a = testing::animation("a", 0, Interpolation::Step, &times, values);
        assert_eq!(jump_times(&a), [1.0]);
        a.channels[0].interpolation = Interpolation::Linear;
        assert!(jump_times(&a).is_empty());
        a.channels[0].times[1] = 0.0;
        assert_eq!(jump_times(&a), [0.0]);
        assert_eq!(key_times(&a), [1.0]);
    }
}
