//! The sounds themselves, computed when the program starts: none has to be found, decoded or
//! licensed.

use std::f32::consts::TAU;

/// What a notify sounds like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Voice {
    /// A foot put down.
    Step,
    /// A whole body coming down.
    Landing,
    /// Any other notify.
    Chime,
}

/// Samples a second of every voice.
pub const SAMPLE_RATE: u32 = 48_000;

/// How a voice is made: a tone that falls, and noise that a low pass dulls.
struct Recipe {
    seconds: f32,
    /// Hertz at the beginning and at the end.
    tone: (f32, f32),
    /// How fast the tone and the noise fade, 1/s.
    decay: (f32, f32),
    /// Share of the noise; the tone has the rest.
    noise: f32,
    /// Hertz above which noise is dulled.
    dull: f32,
}

impl Voice {
    /// In the order of their numbers.
    pub const ALL: [Self; 3] = [Self::Step, Self::Landing, Self::Chime];

    /// The voice of a notify, by what its name holds.
    pub fn of(name: &str) -> Self {
        let holds = |part: &str| {
            let (name, part) = (name.as_bytes(), part.as_bytes());
            name.windows(part.len()).any(|window| window.eq_ignore_ascii_case(part))
        };
        match () {
            () if holds("land") || holds("impact") => Self::Landing,
            () if holds("foot") || holds("step") || holds("paw") || holds("hoof") => Self::Step,
            () => Self::Chime,
        }
    }

    /// Amplitude at one metre beside the other voices, 0 to 1.
    pub fn loudness(self) -> f32 {
        match self {
            Self::Step => 0.35,
            Self::Landing => 0.8,
            Self::Chime => 0.2,
        }
    }

    fn recipe(self) -> Recipe {
        match self {
            Self::Step => Recipe {
                seconds: 0.12,
                tone: (120.0, 60.0),
                decay: (35.0, 55.0),
                noise: 0.5,
                dull: 1_800.0,
            },
            Self::Landing => Recipe {
                seconds: 0.25,
                tone: (85.0, 40.0),
                decay: (16.0, 30.0),
                noise: 0.4,
                dull: 900.0,
            },
            Self::Chime => Recipe {
                seconds: 0.20,
                tone: (880.0, 880.0),
                decay: (20.0, 20.0),
                noise: 0.0,
                dull: 1_000.0,
            },
        }
    }

    /// The samples, -1 to 1. They begin and end at zero, so that nothing clicks.
    pub fn samples(self) -> Vec<f32> {
        let recipe = self.recipe();
        let count = (recipe.seconds * SAMPLE_RATE as f32) as usize;
        let step = 1.0 / SAMPLE_RATE as f32;
        // One-pole low pass.
        let follow = 1.0 - (-TAU * recipe.dull * step).exp();
        let (mut phase, mut dulled, mut random) = (0.0_f32, 0.0_f32, 0x9e37_79b9_u32);
        let mut samples: Vec<f32> = (0..count)
            .map(|i| {
                let t = i as f32 * step;
                let share = i as f32 / count as f32;
                let (from, to) = recipe.tone;
                phase += TAU * (from + (to - from) * share) * step;
                random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                let white = (random >> 8) as f32 / (1 << 23) as f32 - 1.0;
                dulled += follow * (white - dulled);
                let tone = phase.sin() * (-recipe.decay.0 * t).exp();
                let noise = dulled * (-recipe.decay.1 * t).exp();
                let ramp = (t / ATTACK).min((recipe.seconds - t - step) / RELEASE).clamp(0.0, 1.0);
                ramp * (recipe.noise * noise + (1.0 - recipe.noise) * tone)
            })
            .collect();
        let peak = samples.iter().fold(f32::MIN_POSITIVE, |peak, s| peak.max(s.abs()));
        samples.iter_mut().for_each(|s| *s /= peak);
        samples
    }
}

/// Seconds in which a voice comes up and goes away.
const ATTACK: f32 = 0.002;
const RELEASE: f32 = 0.02;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn voices_are_loud_short_and_without_clicks() {
        for voice in Voice::ALL {
            let samples = voice.samples();
            let peak = samples.iter().fold(0.0_f32, |p, s| p.max(s.abs()));
            assert!((peak - 1.0).abs() < 1e-6, "{voice:?} peaks at {peak}");
            assert_eq!((samples[0], samples[samples.len() - 1]), (0.0, 0.0), "{voice:?}");
            let half = samples.len() / 2;
            let energy = |part: &[f32]| part.iter().map(|s| s * s).sum::<f32>();
            let (early, late) = (energy(&samples[..half]), energy(&samples[half..]));
            assert!(early > 4.0 * late, "{voice:?} does not fade: {early} and {late}");
            assert!(samples.len() < SAMPLE_RATE as usize / 3);
        }
    }

    /// Share of a signal's energy below a frequency, by a naive Fourier transform.
    fn share_below(samples: &[f32], hertz: f32) -> f32 {
        let (mut below, mut all) = (0.0, 0.0);
        for bin in 1..200 {
            let frequency = bin as f32 * 20.0;
            let (mut re, mut im) = (0.0, 0.0);
            for (i, s) in samples.iter().enumerate() {
                let angle = TAU * frequency * i as f32 / SAMPLE_RATE as f32;
                re += s * angle.cos();
                im += s * angle.sin();
            }
            let power = re * re + im * im;
            all += power;
            below += if frequency < hertz { power } else { 0.0 };
        }
        below / all
    }

    #[test]
    fn bodies_are_low_and_chimes_are_high() {
        assert!(share_below(&Voice::Step.samples(), 300.0) > 0.6);
        assert!(share_below(&Voice::Landing.samples(), 200.0) > 0.7);
        assert!(share_below(&Voice::Chime.samples(), 700.0) < 0.1);
    }

    #[test]
    fn names_choose_voices() {
        for name in ["footstep_left", "FootStep", "step", "paw_front"] {
            assert_eq!(Voice::of(name), Voice::Step, "{name}");
        }
        for name in ["land", "Landing", "impact_heavy", "foot_land"] {
            assert_eq!(Voice::of(name), Voice::Landing, "{name}");
        }
        for name in ["wave", "", "st", "Schrittgeräusch"] {
            assert_eq!(Voice::of(name), Voice::Chime, "{name}");
        }
    }
}
