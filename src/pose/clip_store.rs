//! How the frames of clips are stored: as they are, or in half the space.
//!
//! A 16-bit number stands for `middle + step * number`. Middle and step belong to one component of
//! one bone, the same in every clip of a rig, so that the table of them stays in the nearest cache
//! while the frames of many clips pass through; and because a bone turns far less than a rotation
//! can, the steps are several times finer than those of a fixed range.
//!
//! Two frames are interpolated as whole numbers, by `Parts` of 32,767, which processors do in one
//! step for a pair of neighbours (`pmaddwd`, `smlal`); so the table has the 32,767th of each step.

use super::basis::PoseTrs;
use super::streams::{GROUP, LINE, Line, QuatBlock, Vec3Group, blocks_for, groups_for};
use glam::{DQuat, DVec3};

/// The largest number that a value is stored as; the smallest is its negative.
const LARGEST: f64 = i16::MAX as f64;

/// What the frames of a clip are stored as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Hash, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ClipStore {
    /// 32-bit floating point.
    #[default]
    F32,
    /// 16-bit whole numbers in ranges that the clips of a rig share: half the memory. Wrong by half
    /// a step at most, a 131,068th of the distance between the largest and the smallest value that
    /// any of those clips gives the same component of the same bone; and between frames by up to a
    /// 65,534th of the way to the next.
    I16,
}

impl ClipStore {
    /// Both, the larger first.
    pub const ALL: [Self; 2] = [Self::F32, Self::I16];

    /// Lower-case name, as on the command line and in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::F32 => "f32",
            Self::I16 => "i16",
        }
    }
}

/// What the numbers stand for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Range<T> {
    pub middle: T,
    /// A 32,767th of the step: what one unit of an interpolated number stands for.
    pub unit: T,
}

/// Shares of two frames in what lies between them, in 32,767ths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Parts {
    pub first: i16,
    pub second: i16,
}

impl Parts {
    /// `weight` is the second frame's, in 0..=1.
    #[inline(always)]
    pub fn of(weight: f32) -> Self {
        // By way of i32, which a processor converts in one step.
        let second = ((weight * LARGEST as f32 + 0.5) as i32).clamp(0, i16::MAX.into()) as i16;
        Self { first: i16::MAX - second, second }
    }
}

/// The ranges of every bone: rotations by blocks, translations and scales by groups of the pose.
#[derive(Clone, Debug)]
pub(crate) struct Ranges {
    pub rotations: Vec<Range<QuatBlock>>,
    pub translations: Vec<Range<Vec3Group>>,
    pub scales: Vec<Range<Vec3Group>>,
}

impl Ranges {
    /// Bytes of heap memory.
    pub fn heap_bytes(&self) -> usize {
        self.rotations.capacity() * size_of::<Range<QuatBlock>>()
            + (self.translations.capacity() + self.scales.capacity())
                * size_of::<Range<Vec3Group>>()
    }
}

/// The least and the most that bones' values reach.
#[derive(Clone, Debug)]
pub(crate) struct Extent {
    least: Vec<PoseTrs>,
    most: Vec<PoseTrs>,
}

impl Extent {
    /// Nothing yet, of so many bones.
    pub fn new(bones: usize) -> Self {
        let all = |value: f64| PoseTrs {
            rotation: DQuat::from_array([value; 4]),
            translation: DVec3::splat(value),
            scale: DVec3::splat(value),
        };
        Self { least: vec![all(f64::INFINITY); bones], most: vec![all(f64::NEG_INFINITY); bones] }
    }

    /// Takes in frames, one after the other, of every bone.
    pub fn add(&mut self, values: &[PoseTrs]) {
        for frame in values.chunks_exact(self.least.len().max(1)) {
            for ((least, most), value) in self.least.iter_mut().zip(&mut self.most).zip(frame) {
                *least = each(least, value, f64::min);
                *most = each(most, value, f64::max);
            }
        }
    }

    /// The ranges between least and most; of scales only for rigs that have them.
    pub fn ranges(&self, has_scale: bool) -> Ranges {
        let bones = self.least.len();
        let values: Vec<Range<PoseTrs>> = self
            .least
            .iter()
            .zip(&self.most)
            .map(|(least, most)| Range {
                middle: each(least, most, |a, b| if a <= b { (a + b) / 2.0 } else { 0.0 }),
                unit: each(least, most, |a, b| ((b - a) / 2.0 / LARGEST / LARGEST).max(0.0)),
            })
            .collect();
        let block = |block: usize| {
            let unit = QuatBlock([Line::ZERO; 4]);
            let mut range = Range { middle: QuatBlock::IDENTITY, unit };
            for (lane, of) in values.iter().skip(block * LINE).take(LINE).enumerate() {
                range.middle.set(lane, of.middle.rotation.as_quat().to_array());
                range.unit.set(lane, of.unit.rotation.as_quat().to_array());
            }
            range
        };
        let group = |group: usize, middle: Vec3Group, value: fn(&PoseTrs) -> DVec3| {
            let mut range = Range { middle, unit: Vec3Group::ZERO };
            for (lane, of) in values.iter().skip(group * GROUP).take(GROUP).enumerate() {
                range.middle.set(lane, value(&of.middle).as_vec3().to_array());
                range.unit.set(lane, value(&of.unit).as_vec3().to_array());
            }
            range
        };
        let groups = 0..groups_for(bones);
        Ranges {
            rotations: (0..blocks_for(bones)).map(block).collect(),
            translations: groups
                .clone()
                .map(|g| group(g, Vec3Group::ZERO, |v| v.translation))
                .collect(),
            scales: groups
                .filter(|_| has_scale)
                .map(|g| group(g, Vec3Group::ONE, |v| v.scale))
                .collect(),
        }
    }
}

fn each(a: &PoseTrs, b: &PoseTrs, of: impl Fn(f64, f64) -> f64) -> PoseTrs {
    let (p, q) = (a.rotation.to_array(), b.rotation.to_array());
    let vector = |a: DVec3, b: DVec3| DVec3::new(of(a.x, b.x), of(a.y, b.y), of(a.z, b.z));
    PoseTrs {
        rotation: DQuat::from_array(std::array::from_fn(|i| of(p[i], q[i]))),
        translation: vector(a.translation, b.translation),
        scale: vector(a.scale, b.scale),
    }
}

/// The number that stands nearest to a value.
pub(crate) fn nearest(value: f64, middle: f32, unit: f32) -> i16 {
    let number = (value - f64::from(middle)) / (f64::from(unit) * LARGEST);
    // A value that stands still has no step, and every number stands for it.
    if number.is_finite() { number.round().clamp(-LARGEST, LARGEST) as i16 } else { 0 }
}
