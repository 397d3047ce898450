//! The largest crowd whose frames take no more than a sixtieth of a second.

use std::time::{Duration, Instant};

/// Milliseconds of a frame at sixty a second.
pub(super) const FRAME_MS: f64 = 1e3 / 60.0;
/// Two counts as near as this are one.
const NEAR: f64 = 1.02;
/// How far beyond what has been measured a guess may go.
const REACH: f64 = 4.0;

/// What a search saw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Found {
    /// The largest crowd that held; 0 for none.
    pub held: u32,
    /// The smallest that did not, larger than that.
    pub missed: Option<u32>,
}

/// Looks for the largest crowd that holds sixty frames a second. `known` is a count and what its frame
/// takes, milliseconds; `measure` tells that of other counts, and `None` of a count that can't be had.
/// Ends when the bounds are near one another, or when `patience` is over, but not before a count beside
/// the known one has been measured.
pub(super) fn largest<E>(
    known: (u32, f64),
    patience: Duration,
    mut measure: impl FnMut(u32) -> Result<Option<f64>, E>,
) -> Result<Found, E> {
    let start = Instant::now();
    let (mut held, mut missed) = (None::<(u32, f64)>, None::<(u32, f64)>);
    let (mut count, mut ms) = (known.0, Some(known.1));
    loop {
        match ms {
            Some(ms) if ms <= FRAME_MS => held = Some((count, ms)),
            // What can't be had is beyond the limit by an unknown amount.
            _ => missed = Some((count, ms.unwrap_or(f64::INFINITY))),
        }
        let Some(next) = guess(held, missed) else { break };
        if count != known.0 && start.elapsed() >= patience {
            break;
        }
        count = next;
        ms = measure(count)?;
    }
    Ok(Found { held: held.map_or(0, |h| h.0), missed: missed.map(|m| m.0) })
}

/// The next count to be measured; `None` when what is known is near enough.
fn guess(held: Option<(u32, f64)>, missed: Option<(u32, f64)>) -> Option<u32> {
    let (low, high) = (held.map_or(0.0, |h| f64::from(h.0)), missed.map(|m| f64::from(m.0)));
    if high.is_some_and(|high| high <= (low * NEAR).max(low + 1.0)) {
        return None;
    }
    let wanted = match (held, missed) {
        (Some((a, a_ms)), Some((b, b_ms))) if b_ms.is_finite() => {
            let (a, b) = (f64::from(a), f64::from(b));
            a + (b - a) * (FRAME_MS - a_ms) / (b_ms - a_ms)
        }
        (Some((a, _)), Some((b, _))) => f64::from(a).midpoint(f64::from(b)),
        // As if a frame grew with the crowd.
        (Some((count, ms)), None) => f64::from(count) * FRAME_MS / ms.max(1e-6),
        (None, Some((count, ms))) if ms.is_finite() => f64::from(count) * FRAME_MS / ms,
        (None, Some((count, _))) => 0.5 * f64::from(count),
        (None, None) => return None,
    };
    // Not so near a bound that it teaches nothing, and not out of sight.
    let least = (low * NEAR.sqrt()).max(low + 1.0);
    let most = match high {
        Some(high) => (high / NEAR.sqrt()).min(high - 1.0),
        None => (low * REACH).min(f64::from(u32::MAX)),
    };
    Some(wanted.min(most).max(least).round() as u32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;

    fn search(known: u32, patience: Duration, ms: impl Fn(f64) -> Option<f64>) -> (Found, u32) {
        let mut asked = 0;
        let found = largest((known, ms(f64::from(known)).unwrap()), patience, |count| {
            asked += 1;
            Ok::<_, Infallible>(ms(f64::from(count)))
        });
        (found.unwrap(), asked)
    }

    const FOREVER: Duration = Duration::from_secs(3_600);

    #[test]
    fn the_largest_is_found_whatever_the_cost_grows_like() {
        let costs: [fn(f64) -> f64; 4] = [
            |n| n * 1e-3,
            |n| 5.0 + n * 2e-4,
            |n| n.powf(1.2) * 1e-4,
            // Leaves a cache on its way.
            |n| if n < 9_000.0 { n * 4e-4 } else { n * 9e-4 },
        ];
        for (i, cost) in costs.into_iter().enumerate() {
            for known in [10, 5_000, 400_000] {
                let (found, asked) = search(known, FOREVER, |n| Some(cost(n)));
                let (held, missed) = (f64::from(found.held), f64::from(found.missed.unwrap()));
                assert!(cost(held) <= FRAME_MS && cost(missed) > FRAME_MS, "{i} {found:?}");
                assert!(missed <= held * NEAR + 1.0, "{i}: {found:?}");
                assert!(asked < 24, "{i} from {known}: {asked}");
            }
        }
    }

    #[test]
    fn what_does_not_fit_is_a_bound_and_nothing_may_hold() {
        let (found, _) = search(100, FOREVER, |n| (n <= 3_000.0).then_some(n * 1e-3));
        assert!(found.held <= 3_000 && found.held > 2_900, "{found:?}");
        assert!(found.missed.is_some_and(|missed| missed > 3_000));
        let (found, _) = search(100, FOREVER, |_| Some(20.0));
        assert_eq!((found.held, found.missed), (0, Some(1)));
    }

    #[test]
    fn impatience_ends_with_what_was_seen() {
        let (found, asked) = search(1_000, Duration::ZERO, |n| Some(n * 1e-3));
        assert_eq!(asked, 1);
        assert!(found.held >= 1_000);
    }
}
