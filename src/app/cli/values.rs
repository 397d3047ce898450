//! Values of the command line that are not plain numbers, each with a message that says what
//! would have been right.

use crate::asset::StoreChoice;
use crate::crowd::{Gates, UpdateMode};
use crate::math::{Lanes, SimdError, SimdLevel};
use clap::ValueEnum;
use serde::{Deserialize, Serialize};
use std::fmt::Display;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::str::FromStr;

/// A switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum OnOff {
    /// Enabled.
    On,
    /// Disabled.
    Off,
}

impl OnOff {
    /// As a `bool`.
    pub fn is_on(self) -> bool {
        self == Self::On
    }
}

/// A value as the command line names it.
pub fn named(value: &impl ValueEnum) -> String {
    value.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
}

/// Every value, with its name.
pub fn every<T: ValueEnum>() -> Vec<(T, String)> {
    T::value_variants().iter().map(|value| (value.clone(), named(value))).collect()
}

/// What becomes of characters that nobody sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize, Default)]
#[serde(rename_all = "lowercase")]
pub enum VisibilityArg {
    /// They rest, and catch up when they are seen
    #[default]
    On,
    /// They are animated all the same
    Off,
    /// Their clocks run, so that they move and are heard, but they have no pose
    Clocks,
}

impl From<VisibilityArg> for UpdateMode {
    fn from(arg: VisibilityArg) -> Self {
        match arg {
            VisibilityArg::On => Self::TickWhenRendered,
            VisibilityArg::Off => Self::AlwaysTickPose,
            VisibilityArg::Clocks => Self::AlwaysTickClocks,
        }
    }
}

/// How clips are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize, Default)]
#[serde(rename_all = "lowercase")]
pub enum ClipStoreArg {
    /// 16-bit numbers where bones stay within a tenth of a millimetre (of 1.8 m)
    #[default]
    Auto,
    /// 32-bit numbers
    F32,
    /// 16-bit numbers, whatever that costs
    I16,
}

impl From<ClipStoreArg> for StoreChoice {
    fn from(arg: ClipStoreArg) -> Self {
        match arg {
            ClipStoreArg::Auto => Self::Auto,
            ClipStoreArg::F32 => Self::F32,
            ClipStoreArg::I16 => Self::I16,
        }
    }
}

/// Size of the picture in pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Size {
    /// 1..=[`Size::MAX`].
    pub width: u32,
    /// 1..=[`Size::MAX`].
    pub height: u32,
}

impl Size {
    /// The largest extent that is accepted; adapters may have a lower limit of their own.
    pub const MAX: u32 = 16_384;
}

impl FromStr for Size {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wanted =
            || format!("a size is WIDTHxHEIGHT in pixels, 1 to {}, such as 1920x1080", Self::MAX);
        let (width, height) = text.split_once(['x', 'X']).ok_or_else(wanted)?;
        let side = |s: &str| match s.parse::<u32>() {
            Ok(n) if (1..=Self::MAX).contains(&n) => Ok(n),
            _ => Err(wanted()),
        };
        Ok(Self { width: side(width)?, height: side(height)? })
    }
}

/// Whether characters are scaled to a height.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, Default)]
#[serde(rename_all = "snake_case")]
pub enum FitHeight {
    /// Only characters that are absurdly small or tall are scaled, and a message says so.
    #[default]
    Auto,
    /// Every character keeps the size it was authored in.
    Off,
    /// Every character is scaled to this height.
    Metres(f32),
}

impl FitHeight {
    /// Heights that can be asked for, metres.
    pub const METRES: RangeInclusive<f32> = 0.01..=1000.0;
}

impl FromStr for FitHeight {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "off" => Ok(Self::Off),
            "auto" => Ok(Self::Auto),
            _ => match text.parse::<f32>() {
                Ok(m) if Self::METRES.contains(&m) => Ok(Self::Metres(m)),
                _ => {
                    Err("a height is in metres, 0.01 to 1000, or off, or auto, such as 1.8".into())
                }
            },
        }
    }
}

/// Where a frame's time step comes from.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TimeStep {
    /// The wall clock.
    Real,
    /// Always this many seconds.
    Fixed(f64),
}

impl TimeStep {
    /// Seconds that a fixed step may take.
    pub const SECONDS: RangeInclusive<f64> = f64::MIN_POSITIVE..=1.0;
}

impl FromStr for TimeStep {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.parse::<f64>() {
            _ if text == "off" => Ok(Self::Real),
            Ok(s) if Self::SECONDS.contains(&s) => Ok(Self::Fixed(s)),
            _ => Err("a step is in seconds, above 0 and at most 1, or off for the real clock, \
                      such as 0.016"
                .into()),
        }
    }
}

/// Whose list is captured, and where to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CaptureTo {
    /// The character's id.
    pub character: u32,
    /// A .json file.
    pub path: PathBuf,
}

impl FromStr for CaptureTo {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (id, path) = match text.split_once('=') {
            Some((id, path)) => (id, Some(PathBuf::from(path))),
            None => (text, None),
        };
        let wanted = "a capture is the number of a character, with a .json file if you like, \
                      such as 7 or 7=seven.json";
        let character = id.parse().map_err(|_| wanted.to_owned())?;
        let path = path.unwrap_or_else(|| PathBuf::from(format!("capture-{character}.json")));
        match path.extension() {
            Some(extension) if extension.eq_ignore_ascii_case("json") => {
                Ok(Self { character, path })
            }
            _ => Err(wanted.to_owned()),
        }
    }
}

/// Reads a whole number within a range. A refusal says what such a number is (`of`: "a count") and
/// gives an example.
pub fn whole<T>(
    of: &'static str,
    range: RangeInclusive<T>,
    example: T,
) -> impl Fn(&str) -> Result<T, String> + Clone + Send + Sync + 'static
where
    T: FromStr + PartialOrd + Display + Clone + Send + Sync + 'static,
{
    move |text| match text.parse() {
        Ok(number) if range.contains(&number) => Ok(number),
        _ => {
            let (first, last) = (range.start(), range.end());
            Err(format!("{of} is a whole number from {first} to {last}, such as {example}"))
        }
    }
}

/// A duration in seconds, zero allowed.
pub fn seconds(text: &str) -> Result<f32, String> {
    match text.parse::<f32>() {
        Ok(s) if (0.0..=3600.0).contains(&s) => Ok(s),
        _ => Err("a duration is in seconds, 0 to 3600, such as 0.25".into()),
    }
}

/// Where the three slower update rates begin.
pub type RateDistances = [f32; Gates::RATES];

/// The farthest that a distance over radius may be.
const FARTHEST: f32 = 1e6;

/// A distance over radius.
pub fn distance(text: &str) -> Result<f32, String> {
    let distance = text.parse().ok().filter(|d| (f32::MIN_POSITIVE..=FARTHEST).contains(d));
    distance.ok_or_else(|| {
        "a distance over radius is a number above 0 and at most 1000000, such as 60".into()
    })
}

/// Distances over radius, ascending.
pub fn rate_distances(text: &str) -> Result<RateDistances, String> {
    let distances: Vec<f32> = text.split(',').filter_map(|d| d.trim().parse().ok()).collect();
    let ascends = |d: &RateDistances| d[0] > 0.0 && d[0] < d[1] && d[1] < d[2] && d[2] <= FARTHEST;
    let count = text.split(',').count();
    distances.try_into().ok().filter(|d| count == Gates::RATES && ascends(d)).ok_or_else(|| {
        "distances are three ascending numbers, above 0 and at most 1000000, such as 30,60,120"
            .into()
    })
}

/// A duration in milliseconds, above zero.
pub fn milliseconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(ms) if ms > 0.0 && ms <= 3.6e6 => Ok(ms),
        _ => Err("a limit is in milliseconds, above 0 and at most 3600000, such as 16.6".into()),
    }
}

/// A level of vector instructions that this processor has.
pub fn lanes(text: &str) -> Result<Lanes, String> {
    match text {
        "auto" => Ok(Lanes::best()),
        name => {
            let level: SimdLevel = name.parse().map_err(|e: SimdError| e.to_string())?;
            Lanes::new(level).map_err(|e| e.to_string())
        }
    }
}

/// Samples per pixel.
pub fn samples(text: &str) -> Result<u32, String> {
    match text {
        "1" => Ok(1),
        "4" => Ok(4),
        _ => Err("samples per pixel are 1 (off) or 4".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rate_distances_are_three_and_ascend() {
        assert_eq!(rate_distances("30, 60,120.5"), Ok([30.0, 60.0, 120.5]));
        for bad in ["", "30", "30,60", "30,60,120,240", "30,x,60,120", "60,30,120", "0,1,2"] {
            assert!(rate_distances(bad).unwrap_err().contains("30,60,120"), "{bad}");
        }
        for bad in ["", "x", "0", "-1", "NaN", "1e7"] {
            assert!(distance(bad).unwrap_err().contains("such as 60"), "{bad}");
        }
        assert_eq!(distance("59.5"), Ok(59.5));
        assert!(rate_distances("1,2,inf").is_err() && rate_distances("NaN,2,3").is_err());
    }

    #[test]
    fn sizes_need_two_sides_within_the_limit() {
        assert_eq!("640x360".parse(), Ok(Size { width: 640, height: 360 }));
        assert_eq!("1X16384".parse(), Ok(Size { width: 1, height: 16_384 }));
        for bad in ["", "640", "x", "0x10", "10x0", "16385x1", "-1x5", "640x360x3", "a x b"] {
            assert!(bad.parse::<Size>().is_err(), "{bad}");
        }
    }

    #[test]
    fn a_capture_is_a_character_and_perhaps_a_file() {
        let to = |character, path: &str| CaptureTo { character, path: path.into() };
        assert_eq!("7".parse(), Ok(to(7, "capture-7.json")));
        assert_eq!("0=a/b=c.JSON".parse(), Ok(to(0, "a/b=c.JSON")));
        for bad in ["", "x", "-1", "7=", "7=.json", "7=seven", "7=seven.csv", "=a.json", "1e3"] {
            assert!(bad.parse::<CaptureTo>().is_err(), "{bad}");
        }
    }

    #[test]
    fn heights_steps_and_limits_refuse_what_is_not_a_sensible_number() {
        assert_eq!("off".parse(), Ok(FitHeight::Off));
        assert_eq!("1.8".parse(), Ok(FitHeight::Metres(1.8)));
        assert_eq!("off".parse(), Ok(TimeStep::Real));
        assert_eq!("0.5".parse(), Ok(TimeStep::Fixed(0.5)));
        for bad in ["NaN", "inf", "-1", "0", "", "1e9", "tall"] {
            assert!(bad.parse::<FitHeight>().is_err(), "{bad}");
            assert!(bad.parse::<TimeStep>().is_err(), "{bad}");
            assert!(milliseconds(bad).is_err(), "{bad}");
        }
        assert_eq!((seconds("0"), samples("4")), (Ok(0.0), Ok(4)));
        assert!(seconds("NaN").is_err() && samples("2").is_err());
    }

    #[test]
    fn whole_numbers_are_within_their_range_and_whole() {
        let read = whole("a size", 2..=9_u8, 4);
        assert_eq!((read("2"), read("9"), read("05")), (Ok(2), Ok(9), Ok(5)));
        for bad in ["", "1", "10", "-3", "3.0", "3e0", "three", "256", " 4"] {
            let line = "a size is a whole number from 2 to 9, such as 4";
            assert_eq!(read(bad), Err(line.to_owned()), "{bad}");
        }
    }
}
