//! Which vector instructions the kernels use, picked when the program starts.

use fearless_simd::Level;
use std::fmt;
use std::str::FromStr;

/// A set of vector instructions that the kernels are compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SimdLevel {
    /// One number at a time: the twin that every vector kernel is held against.
    Scalar,
    /// SSE2, the baseline of x86-64: four lanes.
    Sse,
    /// AVX2 with FMA: eight lanes.
    Avx2,
    /// AVX-512 as of Ice Lake and Zen 4: sixteen lanes where a kernel profits.
    Avx512,
    /// The baseline of 64-bit ARM: four lanes.
    Neon,
}

/// A level that can't be had.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SimdError {
    /// The processor (or its architecture) lacks the instructions.
    #[error("this processor has no {level}; it has {available}")]
    Absent {
        /// What was asked for.
        level: SimdLevel,
        /// Names of what there is, separated by commas.
        available: String,
    },
    /// Not the name of a level.
    #[error("\"{name}\" is no SIMD level; expected one of scalar, sse, avx2, avx512, neon")]
    Unknown {
        /// The text.
        name: String,
    },
}

impl SimdLevel {
    /// Every level, the weakest first.
    pub const ALL: [Self; 5] = [Self::Scalar, Self::Sse, Self::Avx2, Self::Avx512, Self::Neon];

    /// Lower-case name, as on the command line and in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Scalar => "scalar",
            Self::Sse => "sse",
            Self::Avx2 => "avx2",
            Self::Avx512 => "avx512",
            Self::Neon => "neon",
        }
    }

    /// The levels that this processor has, the weakest first.
    pub fn available() -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().filter(|level| level.detect().is_some())
    }

    /// The strongest level that this processor has.
    pub fn best() -> Self {
        Self::available().last().unwrap_or(Self::Scalar)
    }

    fn detect(self) -> Option<Width> {
        match self {
            Self::Scalar => Some(Width::Scalar),
            #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
            Self::Sse => Level::new().as_sse2().map(|t| Width::Vector(Level::Sse2(t))),
            #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
            Self::Avx2 => Level::new().as_avx2().map(|t| Width::Vector(Level::Avx2(t))),
            #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
            Self::Avx512 => Level::new().as_avx512().map(|t| Width::Vector(Level::Avx512(t))),
            #[cfg(target_arch = "aarch64")]
            Self::Neon => Level::new().as_neon().map(|t| Width::Vector(Level::Neon(t))),
            // The levels of other architectures.
            _ => None,
        }
    }
}

impl fmt::Display for SimdLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for SimdLevel {
    type Err = SimdError;

    fn from_str(name: &str) -> Result<Self, SimdError> {
        let found = Self::ALL.into_iter().find(|level| level.name() == name);
        found.ok_or_else(|| SimdError::Unknown { name: name.to_owned() })
    }
}

/// How a kernel is entered: the plain twin, or the vector source at one level.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Width {
    /// Plain `f32` code.
    Scalar,
    /// The generic vector source.
    Vector(Level),
}

/// Proof that the processor has a level; every kernel takes one.
#[derive(Clone, Copy, Debug)]
pub struct Lanes {
    level: SimdLevel,
    width: Width,
}

impl Lanes {
    /// The strongest level that this processor has.
    pub fn best() -> Self {
        let level = SimdLevel::best();
        Self { level, width: level.detect().unwrap_or(Width::Scalar) }
    }

    /// Exactly this level.
    ///
    /// # Errors
    /// [`SimdError::Absent`] when the processor lacks it.
    pub fn new(level: SimdLevel) -> Result<Self, SimdError> {
        level.detect().map(|width| Self { level, width }).ok_or_else(|| {
            let names: Vec<_> = SimdLevel::available().map(SimdLevel::name).collect();
            SimdError::Absent { level, available: names.join(", ") }
        })
    }

    /// Every level that this processor has, the weakest first.
    pub fn all() -> impl Iterator<Item = Self> {
        SimdLevel::available().filter_map(|level| Self::new(level).ok())
    }

    /// The level.
    pub fn level(self) -> SimdLevel {
        self.level
    }

    /// How to enter a kernel.
    #[inline(always)]
    pub(crate) fn width(self) -> Width {
        self.width
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scalar_is_always_there_and_a_level_of_another_architecture_never() {
        assert!(Lanes::new(SimdLevel::Scalar).is_ok());
        let foreign = if cfg!(target_arch = "aarch64") { SimdLevel::Avx2 } else { SimdLevel::Neon };
        let error = Lanes::new(foreign).unwrap_err();
        assert!(error.to_string().contains("scalar"), "{error}");
        assert_eq!(Lanes::best().level(), SimdLevel::available().last().unwrap());
    }

    #[test]
    fn names_round_trip_and_others_are_refused() {
        for level in SimdLevel::ALL {
            assert_eq!(level.name().parse(), Ok(level));
        }
        assert!("avx".parse::<SimdLevel>().is_err());
    }
}
