//! The form for the wire: the same fields, their numbers rounded to steps that no eye sees.
//!
//! A share and a time inside a clip are two bytes of the whole, other numbers are whole
//! multiples of a step, as numbers of variable length. A rotation is its three smallest components
//! at fifteen bits each.

use super::ListError;
use super::coder::Form;
use super::fields::Quantity;
use super::varint::{self, Bytes};
use crate::index::ClipId;
use crate::pose::Rig;
use std::f32::consts::FRAC_1_SQRT_2;

/// What numbers on the wire are multiples of; both ends have the same from the same rig.
#[derive(Clone, Debug, PartialEq)]
pub struct WireScale {
    /// Model units of one step of a length.
    length: f32,
    /// Each clip's length, seconds.
    clips: Vec<f32>,
}

/// Steps of the body's size.
const LENGTH_STEPS: f32 = 4096.0;
/// Radians.
const ANGLE_STEP: f32 = 1.0 / 2048.0;
/// Of factors and of directions' components.
const RATIO_STEP: f32 = 1.0 / 1024.0;
/// Seconds outside of clips.
const SECONDS_STEP: f32 = 1.0 / 8192.0;
const ROTATION_STEPS: f32 = 16_383.0;

impl WireScale {
    /// For the lists of a rig; `size` is the body's extent, model units.
    pub fn new(rig: &Rig, size: f32) -> Self {
        let size = if size > 0.0 && size.is_finite() { size } else { 1.0 };
        let seconds = |clip| rig.clip(ClipId(clip)).map_or(0.0, |c| c.seconds());
        let clips = (0..rig.clip_count()).map(|clip| seconds(clip as u16)).collect();
        Self { length: size / LENGTH_STEPS, clips }
    }

    /// The step of a quantity; `None` where it has another form.
    fn step(&self, quantity: Quantity) -> Option<f32> {
        match quantity {
            Quantity::Length => Some(self.length),
            Quantity::Angle => Some(ANGLE_STEP),
            Quantity::Ratio => Some(RATIO_STEP),
            Quantity::Seconds => Some(SECONDS_STEP),
            Quantity::Weight => None,
            Quantity::ClipSeconds(clip) if self.duration(clip) > 0.0 => None,
            Quantity::ClipSeconds(_) => Some(SECONDS_STEP),
        }
    }

    fn duration(&self, clip: ClipId) -> f32 {
        self.clips.get(clip.get()).copied().unwrap_or(0.0)
    }
}

/// A number of steps as an unsigned one: zero is no number at all, signs alternate.
fn from_steps(value: f32, step: f32) -> u32 {
    let steps = (value / step).round();
    if !value.is_finite() || steps.is_nan() {
        return 0;
    }
    // What is out of range is brought to its end; the sum below stays within 32 bits.
    let steps = steps.clamp(-1_073_741_824.0, 1_073_741_823.0) as i32;
    ((steps << 1) ^ (steps >> 31)) as u32 + 1
}

fn to_steps(code: u32, step: f32) -> f32 {
    let Some(zigzag) = code.checked_sub(1) else { return f32::NAN };
    let steps = (zigzag >> 1) as i32 ^ -((zigzag & 1) as i32);
    steps as f32 * step
}

/// A number in 0..=1 in 65,535ths; not-a-number is zero.
fn share(value: f32) -> u16 {
    (value.clamp(0.0, 1.0) * f32::from(u16::MAX)).round() as u16
}

fn from_share(bytes: [u8; 2]) -> f32 {
    f32::from(u16::from_le_bytes(bytes)) / f32::from(u16::MAX)
}

/// A rotation's largest component and the three others, fifteen bits each.
fn smallest_three(rotation: &[f32; 4]) -> [u8; 6] {
    let length = rotation.iter().map(|v| v * v).sum::<f32>().sqrt();
    let unit = if length > 0.0 && length.is_finite() {
        rotation.map(|v| v / length)
    } else {
        [0.0, 0.0, 0.0, 1.0]
    };
    let largest = (0..4).fold(0, |l, i| if unit[i].abs() > unit[l].abs() { i } else { l });
    let sign = if unit[largest] < 0.0 { -1.0 } else { 1.0 };
    let mut bits = largest as u64;
    for (_, v) in unit.iter().enumerate().filter(|(i, _)| *i != largest) {
        let steps = (sign * v / FRAC_1_SQRT_2 * ROTATION_STEPS).round();
        bits = bits << 15 | (steps.clamp(-ROTATION_STEPS, ROTATION_STEPS) + ROTATION_STEPS) as u64;
    }
    let [a, b, c, d, e, f, ..] = bits.to_le_bytes();
    [a, b, c, d, e, f]
}

fn from_smallest_three(bytes: [u8; 6]) -> [f32; 4] {
    let [a, b, c, d, e, f] = bytes;
    let mut bits = u64::from_le_bytes([a, b, c, d, e, f, 0, 0]);
    let largest = (bits >> 45 & 3) as usize;
    let mut rotation = [0.0; 4];
    let mut squares = 0.0;
    for i in (0..4).rev().filter(|i| *i != largest) {
        let v = ((bits & 0x7fff) as f32 - ROTATION_STEPS) / ROTATION_STEPS * FRAC_1_SQRT_2;
        bits >>= 15;
        rotation[i] = v;
        squares += v * v;
    }
    rotation[largest] = (1.0f32 - squares).max(0.0).sqrt();
    rotation
}

impl Form for &WireScale {
    fn put(&self, value: f32, quantity: Quantity, out: &mut Vec<u8>) {
        match (self.step(quantity), quantity) {
            (Some(step), _) => varint::put(from_steps(value, step), out),
            (None, Quantity::ClipSeconds(clip)) => {
                out.extend_from_slice(&share(value / self.duration(clip)).to_le_bytes());
            }
            (None, _) => out.extend_from_slice(&share(value).to_le_bytes()),
        }
    }

    fn take(&self, quantity: Quantity, bytes: &mut Bytes<'_>) -> Result<f32, ListError> {
        Ok(match (self.step(quantity), quantity) {
            (Some(step), _) => to_steps(bytes.unsigned()?, step),
            (None, Quantity::ClipSeconds(clip)) => from_share(bytes.take()?) * self.duration(clip),
            (None, _) => from_share(bytes.take()?),
        })
    }

    fn put_rotation(&self, value: [f32; 4], out: &mut Vec<u8>) {
        out.extend_from_slice(&smallest_three(&value));
    }

    fn take_rotation(&self, bytes: &mut Bytes<'_>) -> Result<[f32; 4], ListError> {
        Ok(from_smallest_three(bytes.take()?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pose::testing::Random;

    #[test]
    fn steps_round_to_the_nearest_and_keep_what_is_no_number() {
        for step in [1.0 / 1024.0, 0.3] {
            for v in [0.0, 0.3, -0.3, 1.0, -77.7, 12_345.6] {
                let back = to_steps(from_steps(v, step), step);
                assert!((back - v).abs() <= 0.51 * step, "{v} {back}");
            }
            for v in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
                assert!(to_steps(from_steps(v, step), step).is_nan());
            }
            assert!(to_steps(from_steps(f32::MAX, step), step) > 1e5);
            assert!(to_steps(from_steps(f32::MIN, step), step) < -1e5);
        }
        assert_eq!(from_steps(0.0, 0.1), 1, "zero is a byte");
        assert!(to_steps(u32::MAX, 1.0).is_finite());
    }

    #[test]
    fn rotations_come_back_within_a_few_hundred_thousandths_of_a_radian() {
        let r = &mut Random(5);
        for _ in 0..2_000 {
            let q = r.quat(4.0);
            let back = glam::Quat::from_array(from_smallest_three(smallest_three(&q.to_array())));
            assert!(back.is_normalized());
            let (a, b) = (back.as_dquat().normalize(), q.as_dquat().normalize());
            let b = if a.dot(b) < 0.0 { -b } else { b };
            let apart = 2.0 * (a - b).length();
            assert!(apart < 1.2e-4, "{apart}");
        }
        for odd in [[0.0; 4], [f32::NAN; 4], [f32::MAX; 4]] {
            assert_eq!(from_smallest_three(smallest_three(&odd)), [0.0, 0.0, 0.0, 1.0]);
        }
    }

    #[test]
    fn shares_hit_both_ends() {
        let ends = [0.0, -1.0, f32::NAN, 1.0, 7.0].map(share);
        assert_eq!(ends, [0, 0, 0, u16::MAX, u16::MAX]);
        assert_eq!(from_share([0xff; 2]), 1.0);
    }
}
