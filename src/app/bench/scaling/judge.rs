//! What the figures of crowds of many sizes have to be.

use super::{Row, name};
use crate::app::cli::PlaybackArg;
use serde::Serialize;
use std::fmt;

/// Nanoseconds a frame that a character may cost whom nobody sees.
const BAR_HIDDEN_NS: f64 = 20.0;
/// Bytes that such a character may hold.
const BAR_BYTES: f64 = 512.0;
/// What a crowd may cost against one that is all in view, with as many in view.
const BAR_BEHIND: f64 = 1.6;
/// The two crowds that this is said of.
const BEHIND: [u32; 2] = [5_000, 100_000];
/// The exponent of a cost that is linear.
const BAR_EXPONENT: f64 = 1.0;

/// A figure and what it must not exceed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Check {
    playback: PlaybackArg,
    pub what: String,
    pub value: f64,
    pub bar: f64,
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { playback, what, value, bar } = self;
        write!(f, "{:7} {what}: {value:.2} (bar {bar})", name(*playback))
    }
}

/// Holds the rows of one playback, ascending, against the bars that they can be held against.
pub(super) fn judge(playback: PlaybackArg, rows: &[Row]) -> Vec<Check> {
    let mut checks = Vec::new();
    let mut check = |what: String, value: f64, bar: f64| {
        checks.push(Check { playback, what, value, bar });
    };
    if let Some(last) = rows.last() {
        let of = format!("of {}", last.count);
        let hidden = last.ns_per_hidden_character;
        check(format!("ns a frame for each hidden character {of}"), hidden, BAR_HIDDEN_NS);
        check(format!("bytes for each hidden character {of}"), last.bytes_per_character, BAR_BYTES);
    }
    let crowd = |count: u32| rows.iter().find(|row| row.count == count);
    if let [Some(few), Some(many)] = BEHIND.map(crowd) {
        let what = format!(
            "{} spawned with {:.0} in view against {} spawned with {:.0} in view",
            many.count, many.visible, few.count, few.visible
        );
        check(what, many.ms / few.ms, BAR_BEHIND);
    }
    if rows.len() > 2 {
        let what = "exponent of the frame's growth with the crowd".to_owned();
        check(what, exponent(rows.iter().map(|row| (row.count, row.ms))), BAR_EXPONENT);
    }
    checks
}

/// The exponent of a power of the count that fits the times best: least squares over logarithms, in
/// which a cost that is linear has slope 1.
fn exponent(times: impl Iterator<Item = (u32, f64)> + Clone) -> f64 {
    let points = times.map(|(count, ms)| (f64::from(count).ln(), ms.max(1e-9).ln()));
    let n = points.clone().count() as f64;
    let (x, y) = points.clone().fold((0.0, 0.0), |(x, y), p| (x + p.0 / n, y + p.1 / n));
    let (above, below) = points.fold((0.0, 0.0), |(above, below), p| {
        (above + (p.0 - x) * (p.1 - y), below + (p.0 - x).powi(2))
    });
    above / below
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::report::Rows;

    fn row(count: u32, ms: f64) -> Row {
        Row {
            playback: PlaybackArg::Simple,
            count,
            visible: 5_000.0,
            evaluated: 5_000.0,
            ms,
            hidden_ms: 0.0,
            ns_per_evaluated_character: 0.0,
            ns_per_hidden_character: 7.0,
            bytes_per_character: 135.0,
            resident_bytes_per_character: None,
            main_ms: Rows::default(),
            worker_ms: Rows::default(),
        }
    }

    #[test]
    fn a_power_of_the_count_is_told_by_its_exponent() {
        for power in [0.0, 0.5, 1.0, 2.0] {
            let of = |count: u32| (count, 0.003 * f64::from(count).powf(power));
            let found = exponent([1_000, 5_000, 20_000, 1_000_000].into_iter().map(of));
            assert!((found - power).abs() < 1e-9, "{power}: {found}");
        }
    }

    #[test]
    fn checks_are_made_where_there_are_the_crowds_for_them() {
        let rows = [row(1_000, 1.0), row(5_000, 2.0), row(100_000, 3.0)];
        let checks = judge(PlaybackArg::Simple, &rows);
        let values: Vec<_> = checks.iter().map(|c| (c.value, c.bar)).collect();
        assert_eq!(values[..3], [(7.0, 20.0), (135.0, 512.0), (1.5, 1.6)]);
        assert!(values[3].0 > 0.2 && values[3].0 < 0.3, "{values:?}");
        assert_eq!(judge(PlaybackArg::Simple, &rows[..2]).len(), 2);
        assert!(judge(PlaybackArg::Simple, &[]).is_empty());
    }
}
