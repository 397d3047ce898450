//! Options of `--scenario`.

use crate::crowd::sequence::{Parking, Restore};
use clap::{Args, ValueEnum};
use serde::Serialize;
use std::str::FromStr;

/// A situation that is worth a look.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ScenarioArg {
    /// Everybody is in the cast of a looping sequence, eight to each. A sequence that can park looks
    /// four times a second whether anybody sees its cast, gives modes back at each look, and waits
    /// where nobody does; one that can't (--park-distance off) has its cast tick for ever.
    Dark,
}

/// Whether members' own modes come back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum RestoreArg {
    /// With whatever ends a sequence's need for its cast.
    Always,
    /// Not at all: the fault that the scenario is about.
    Never,
}

/// Metres within which a cast is near, or no parking.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ParkDistance(Option<f32>);

impl FromStr for ParkDistance {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.parse::<f32>() {
            Err(_) if text == "off" => Ok(Self(None)),
            Ok(metres) if (0.0..=1e6).contains(&metres) => Ok(Self(Some(metres))),
            _ => Err("a distance is in metres, 0 to 1000000, such as 20, or off".into()),
        }
    }
}

/// What a run can be told of scenarios.
#[derive(Args, Clone, Debug)]
pub struct ScenarioOptions {
    /// A situation to look into
    #[arg(
        long,
        value_enum,
        value_name = "NAME",
        conflicts_with = "replay",
        help_heading = "Scenario"
    )]
    pub scenario: Option<ScenarioArg>,
    /// Metres within which the cast of a sequence keeps it from parking, or off: it never parks
    /// [default: 20]
    #[arg(
        long,
        value_name = "METRES|off",
        allow_negative_numbers = true,
        help_heading = "Scenario"
    )]
    pub park_distance: Option<ParkDistance>,
    /// Whether characters get their own modes back when a sequence does not need them
    /// [default: always]
    #[arg(long, value_enum, help_heading = "Scenario")]
    pub restore: Option<RestoreArg>,
}

/// A scenario, decided.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Scenario {
    /// Which.
    pub name: ScenarioArg,
    /// Metres within which a cast is near; `None` does not park.
    pub park_distance: Option<f32>,
    /// What becomes of members' own modes.
    pub restore: Restore,
}

impl Scenario {
    /// What the options mean; `None` without a scenario.
    pub fn new(options: &ScenarioOptions) -> Option<Self> {
        let parking =
            options.park_distance.unwrap_or(ParkDistance(Some(Parking::default().distance)));
        let restore = match options.restore {
            None | Some(RestoreArg::Always) => Restore::Always,
            Some(RestoreArg::Never) => Restore::Never,
        };
        options.scenario.map(|name| Self { name, park_distance: parking.0, restore })
    }

    /// Options that were given and mean nothing without a scenario.
    pub fn without_effect(options: &ScenarioOptions) -> impl Iterator<Item = &'static str> {
        let given = [
            ("--park-distance", options.park_distance.is_some()),
            ("--restore", options.restore.is_some()),
        ];
        let alone = options.scenario.is_none();
        given.into_iter().filter_map(move |(name, given)| (alone && given).then_some(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_are_metres_or_off() {
        assert_eq!("off".parse(), Ok(ParkDistance(None)));
        assert_eq!("0".parse(), Ok(ParkDistance(Some(0.0))));
        assert_eq!("12.5".parse(), Ok(ParkDistance(Some(12.5))));
        for bad in ["", "-1", "NaN", "inf", "near", "1e7"] {
            assert!(bad.parse::<ParkDistance>().unwrap_err().contains("such as 20"), "{bad}");
        }
    }
}
