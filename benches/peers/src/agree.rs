//! Whether the runtimes compute the same thing.

use crate::contestants::Contestant;
use crate::runtime::Runtime;
use throng::app::bench::passes::{Rigs, Workload};
use throng::math::Mat3x4;
use throng::pose::UniformClip;

/// Most by which an element of a skinning matrix may differ from Throng's: parts of a unit vector in
/// the rotation, metres in the translation. Rotations are blended along the chord here and along the
/// arc by others, which down twelve levels of bones comes to half of this; another clip, time or
/// weight comes to more.
pub const TOLERANCE: f32 = 0.01;
/// Characters that are tried before anything is timed: every clip, first and last of a batch.
const TRIED: usize = 43;
/// Frames that are looked at: the start, two sixtieths of a second apart, and past the clips' end.
const FRAMES: [usize; 4] = [0, 2, 57, 131];

/// The largest difference between elements; infinite where one is not a number.
pub fn difference(a: &[Mat3x4], b: &[Mat3x4]) -> f32 {
    if a.len() != b.len() {
        return f32::INFINITY;
    }
    let elements = |m: &[Mat3x4]| m.iter().flat_map(|m| m.rows.concat()).collect::<Vec<f32>>();
    let differences = elements(a).into_iter().zip(elements(b)).map(|(a, b)| (a - b).abs());
    differences.map(|d| if d.is_nan() { f32::INFINITY } else { d }).fold(0.0, f32::max)
}

/// Holds characters of a runtime against another's, both as of their last frame.
///
/// # Errors
/// A difference above [`TOLERANCE`].
pub fn compare(
    what: &str,
    characters: impl Iterator<Item = usize>,
    expected: &mut dyn Runtime,
    actual: &mut dyn Runtime,
) -> anyhow::Result<f32> {
    let mut largest = 0.0_f32;
    for character in characters {
        let apart = difference(&expected.matrices(character)?, &actual.matrices(character)?);
        anyhow::ensure!(
            apart <= TOLERANCE,
            "{what}: matrices of character {character} are {apart} from Throng's, {TOLERANCE} may be"
        );
        largest = largest.max(apart);
    }
    Ok(largest)
}

/// Runs a small crowd of `contestant` beside Throng's. Gives the largest difference.
///
/// # Errors
/// A difference above [`TOLERANCE`], or what a runtime refuses.
pub fn try_out(
    contestant: Contestant,
    rigs: &Rigs,
    sources: &[UniformClip],
    workload: Workload,
) -> anyhow::Result<f32> {
    let mut expected = Contestant::Throng.prepare(rigs, sources, workload, TRIED)?;
    let mut actual = contestant.prepare(rigs, sources, workload, TRIED)?;
    let mut largest = 0.0_f32;
    for frame in 0..=FRAMES[FRAMES.len() - 1] {
        expected.frame(frame)?;
        actual.frame(frame)?;
        if FRAMES.contains(&frame) {
            let what = format!("{} {}, frame {frame}", contestant.name(), workload.name());
            largest = largest.max(compare(&what, 0..TRIED, &mut *expected, &mut *actual)?);
        }
    }
    Ok(largest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use throng::app::bench::workload::character;

    /// A runtime that is `frames` early.
    struct Early<'a> {
        inner: Box<dyn Runtime + 'a>,
        frames: usize,
    }

    impl Runtime for Early<'_> {
        fn frame(&mut self, frame: usize) -> anyhow::Result<f64> {
            self.inner.frame(frame + self.frames)
        }

        fn matrices(&mut self, character: usize) -> anyhow::Result<Vec<Mat3x4>> {
            self.inner.matrices(character)
        }
    }

    #[test]
    fn everyone_agrees_with_throng_on_what_they_can_do() {
        let rigs = Rigs::new(8).unwrap();
        let (_, sources) = character(8).unwrap();
        for workload in Workload::ALL {
            for contestant in Contestant::ALL {
                if contestant.lacks(workload).is_none() {
                    try_out(contestant, &rigs, &sources, workload).unwrap();
                }
            }
        }
    }

    #[test]
    fn another_time_and_another_clip_are_refused() {
        let rigs = Rigs::new(8).unwrap();
        let (_, sources) = character(8).unwrap();
        let throng = |frames| {
            let workload = Workload::Blend2AddResolve;
            let inner = Contestant::Throng.prepare(&rigs, &sources, workload, TRIED).unwrap();
            let mut early = Early { inner, frames };
            early.frame(0).unwrap();
            early
        };
        let (mut now, mut later) = (throng(0), throng(3));
        compare("itself", 0..TRIED, &mut now, &mut throng(0)).unwrap();
        compare("three frames early", 0..TRIED, &mut now, &mut later).unwrap_err();
        let mut bevy = Contestant::Bevy.prepare(&rigs, &sources[..7], Workload::Sample, 9).unwrap();
        let mut other = Contestant::Throng.prepare(&rigs, &sources, Workload::Sample, 9).unwrap();
        bevy.frame(0).unwrap();
        other.frame(0).unwrap();
        // The eighth character plays the eighth clip, of which this Bevy knows nothing.
        compare("the same clips", 0..7, &mut *other, &mut *bevy).unwrap();
        compare("another clip", 7..8, &mut *other, &mut *bevy).unwrap_err();
    }

    #[test]
    fn what_is_not_a_number_differs() {
        let mut nan = Mat3x4::IDENTITY;
        nan.rows[2][3] = f32::NAN;
        assert_eq!(difference(&[nan], &[Mat3x4::IDENTITY]), f32::INFINITY);
        assert_eq!(difference(&[], &[Mat3x4::IDENTITY]), f32::INFINITY);
    }
}
