//! Which of a frame's notifies are heard, how loud and from which side.

use super::voice::Voice;
use crate::index::CharacterId;
use crate::math::View;
use glam::Vec3;

/// A notify that makes a sound.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Heard {
    /// Who.
    pub character: CharacterId,
    /// What it sounds like.
    pub voice: Voice,
    /// Share of its clip in the pose, 0 to 1.
    pub weight: f32,
}

/// A sound to be played now.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cue {
    /// Which.
    pub voice: Voice,
    /// Amplitude, 0 to 1.
    pub gain: f32,
    /// -1 left to 1 right.
    pub pan: f32,
    /// Speed, 1 as it was made.
    pub rate: f32,
}

/// Cues of a frame, at most: more are one noise, and each voice has to be mixed.
pub const PER_FRAME: usize = 6;
/// Amplitudes below are not heard: 46 dB under a voice at one metre.
const INAUDIBLE: f32 = 0.005;
/// Metres within which nothing gets louder, and within which sides blur.
const NEAR: f32 = 1.0;

/// The loudest cues, the loudest first. `place` is where a character stands, in world metres;
/// `None` for one that has gone.
pub fn loudest(
    heard: &[Heard],
    place: impl Fn(CharacterId) -> Option<Vec3>,
    view: &View,
) -> Vec<Cue> {
    let right = view.view_from_world.row(0).truncate();
    let mut cues: Vec<Cue> = heard
        .iter()
        .filter_map(|heard| {
            let offset = place(heard.character)? - view.eye;
            let distance = offset.length();
            // Pressure falls with distance, the inverse distance law of a point source.
            let gain = heard.voice.loudness() * heard.weight * NEAR / distance.max(NEAR);
            let pan = offset.dot(right) / distance.max(NEAR);
            let cue = Cue { voice: heard.voice, gain, pan, rate: rate(heard.character) };
            (gain > INAUDIBLE && pan.is_finite()).then_some(cue)
        })
        .collect();
    // Stable, so that equals stay in the order of ids.
    cues.sort_by(|a, b| b.gain.total_cmp(&a.gain));
    cues.truncate(PER_FRAME);
    cues
}

/// Everybody's feet sound a little higher or lower, or equal sounds at nearly equal times would
/// ring like a tube.
fn rate(character: CharacterId) -> f32 {
    0.9 + 0.2 * (character.0 as f32 * 0.618_034).fract()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn view() -> View {
        View::look_at(Vec3::new(0.0, 1.0, 10.0), Vec3::new(0.0, 1.0, 0.0), 1.0, 100.0, (64, 64))
    }

    fn step(character: u32) -> Heard {
        Heard { character: CharacterId(character), voice: Voice::Step, weight: 1.0 }
    }

    #[test]
    fn the_nearest_are_heard_and_from_their_side() {
        let place = |id: CharacterId| {
            let x = if id.0.is_multiple_of(2) { -3.0 } else { 3.0 };
            (id.0 < 90).then(|| Vec3::new(x, 0.0, 9.0 - id.0 as f32 * 0.1))
        };
        let heard: Vec<_> = (0..100).rev().map(step).collect();
        let cues = loudest(&heard, place, &view());
        assert_eq!(cues.len(), PER_FRAME);
        assert!(cues.is_sorted_by(|a, b| a.gain >= b.gain));
        let gain = Voice::Step.loudness() / place(CharacterId(0)).unwrap().distance(view().eye);
        assert!((cues[0].gain - gain).abs() < 1e-6);
        let sides: Vec<_> = cues.iter().map(|c| c.pan.signum()).collect();
        assert_eq!(sides, [-1.0, 1.0, -1.0, 1.0, -1.0, 1.0]);
        assert!(cues.iter().all(|c| c.pan.abs() <= 1.0 && (0.9..1.1).contains(&c.rate)));
    }

    #[test]
    fn who_is_far_or_gone_or_hardly_plays_is_not_heard() {
        let at = |z: f32| move |_: CharacterId| Some(Vec3::new(0.0, 1.0, z));
        assert_eq!(loudest(&[step(0)], at(-500.0), &view()), []);
        assert_eq!(loudest(&[step(0)], |_| None, &view()), []);
        assert_eq!(loudest(&[Heard { weight: 0.001, ..step(0) }], at(5.0), &view()), []);
        assert_eq!(loudest(&[Heard { weight: f32::NAN, ..step(0) }], at(5.0), &view()), []);
        let inside = loudest(&[step(0)], at(10.0), &view());
        assert_eq!((inside[0].gain, inside[0].pan), (Voice::Step.loudness(), 0.0));
    }
}
