//! Options of who comes and goes, and of which kind.

use crate::app::exit::Failure;
use crate::crowd::Spawning;
use clap::{Args, ValueEnum};
use serde::{Deserialize, Serialize};

/// How characters come to be there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize, Default)]
#[serde(rename_all = "snake_case")]
pub enum SpawnArg {
    /// All at the start
    #[default]
    Instant,
    /// One after the other, until all have
    Gradual,
    /// All at the start; then some go and as many come, for ever
    Cycle,
}

/// What a run can be told of who comes and goes.
#[derive(Args, Clone, Debug)]
pub struct SpawnOptions {
    /// How characters come, and whether they go
    #[arg(long, value_enum, value_name = "MODE", default_value_t = SpawnArg::Instant,
          help_heading = "Crowd")]
    pub spawn: SpawnArg,
    /// How many come a second, and go with cycle [default: a tenth of --count, at least 1]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = per_second,
          help_heading = "Crowd")]
    pub spawn_rate: Option<f32>,
    /// Shares of the characters in the crowd, one for each, in the order of --character; largest
    /// remainders make them whole numbers [default: equal shares]
    #[arg(long, value_name = "A,B,...", allow_hyphen_values = true, value_delimiter = ',',
          value_parser = weight, help_heading = "Crowd")]
    pub weights: Vec<f32>,
}

/// Who comes and goes, decided.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, Default)]
pub struct Spawn {
    /// How.
    pub mode: SpawnArg,
    /// Characters a second; 0 where nobody comes later.
    pub per_second: f32,
}

impl Spawn {
    /// What the options mean for so many characters.
    pub fn new(options: &SpawnOptions, count: u32) -> Self {
        let usual = (count as f32 / 10.0).max(1.0);
        let per_second = match options.spawn {
            SpawnArg::Instant => 0.0,
            SpawnArg::Gradual | SpawnArg::Cycle => options.spawn_rate.unwrap_or(usual),
        };
        Self { mode: options.spawn, per_second }
    }

    /// True when a crowd can be asked for it.
    pub fn is_possible(self) -> bool {
        (0.0..=MOST).contains(&self.per_second)
    }
}

impl From<Spawn> for Spawning {
    fn from(Spawn { mode, per_second }: Spawn) -> Self {
        match mode {
            SpawnArg::Instant => Self::Instant,
            SpawnArg::Gradual => Self::Gradual { per_second },
            SpawnArg::Cycle => Self::Cycle { per_second },
        }
    }
}

/// The weights that a crowd can have.
pub fn is_weight(weight: f32) -> bool {
    (f32::MIN_POSITIVE..=MOST).contains(&weight)
}

/// One weight for each of `kinds` characters, all alike where none were given.
///
/// # Errors
/// [`Failure::Usage`] for another number of them.
pub fn weights(given: &[f32], kinds: usize) -> Result<Vec<f32>, Failure> {
    match given.len() {
        0 => Ok(vec![1.0; kinds]),
        n if n == kinds => Ok(given.to_vec()),
        n => {
            let (weights, characters) = (plural(n, "weight"), plural(kinds, "character"));
            Err(Failure::Usage(format!(
                "--weights has {weights} for {characters}; one for each is needed, in the order of \
                 --character"
            )))
        }
    }
}

fn plural(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

/// The largest rate and the largest weight.
const MOST: f32 = 1e6;

fn weight(text: &str) -> Result<f32, String> {
    text.trim().parse().ok().filter(|weight| is_weight(*weight)).ok_or_else(|| {
        "a weight is a number above 0 and at most 1000000, such as 3; several are 3,1".into()
    })
}

fn per_second(text: &str) -> Result<f32, String> {
    let rate = text.parse().ok().filter(|rate| (f32::MIN_POSITIVE..=MOST).contains(rate));
    rate.ok_or_else(|| {
        "a rate is in characters a second, above 0 and at most 1000000, such as 500".into()
    })
}

/// Options that were given and that a mode does nothing with.
pub fn without_effect(options: &SpawnOptions) -> Option<&'static str> {
    let idle = options.spawn == SpawnArg::Instant && options.spawn_rate.is_some();
    idle.then_some("--spawn-rate has no effect with --spawn instant")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_and_rates_are_above_zero_and_finite() {
        assert_eq!((weight("3"), weight(" 0.5")), (Ok(3.0), Ok(0.5)));
        for bad in ["", "0", "-0", "-1", "NaN", "inf", "1e9", "three", "1e-60"] {
            assert!(weight(bad).unwrap_err().contains("3,1"), "{bad}");
            assert!(per_second(bad).unwrap_err().contains("such as 500"), "{bad}");
        }
        assert_eq!(per_second("2.5"), Ok(2.5));
    }

    #[test]
    fn there_is_a_weight_for_each_character_or_none_at_all() {
        assert_eq!(weights(&[], 2).unwrap(), [1.0, 1.0]);
        assert_eq!(weights(&[3.0, 1.0], 2).unwrap(), [3.0, 1.0]);
        for given in [&[3.0][..], &[1.0, 2.0, 3.0]] {
            let line = weights(given, 2).unwrap_err().to_string();
            assert!(line.contains(&plural(given.len(), "weight")), "{line}");
            assert!(line.contains("for 2 characters"), "{line}");
        }
    }

    #[test]
    fn without_a_rate_a_tenth_comes_in_a_second() {
        let spawn = |spawn, spawn_rate, count| {
            Spawn::new(&SpawnOptions { spawn, spawn_rate, weights: Vec::new() }, count).per_second
        };
        assert_eq!(spawn(SpawnArg::Cycle, None, 5_000), 500.0);
        assert_eq!(spawn(SpawnArg::Gradual, None, 3), 1.0);
        assert_eq!(spawn(SpawnArg::Gradual, Some(7.5), 3), 7.5);
        assert_eq!(spawn(SpawnArg::Instant, Some(7.5), 3), 0.0);
    }
}
