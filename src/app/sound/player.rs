//! Cues into the mixer of `kira`.

use super::cue::Cue;
use super::voice::{SAMPLE_RATE, Voice};
use kira::backend::Backend;
use kira::sound::static_sound::{StaticSoundData, StaticSoundSettings};
use kira::{AudioManager, AudioManagerSettings, Decibels, Frame};

/// The voices and what mixes them.
pub struct Player<B: Backend> {
    mixer: AudioManager<B>,
    sounds: [StaticSoundData; Voice::ALL.len()],
}

impl<B: Backend> Player<B> {
    /// Starts the output.
    ///
    /// # Errors
    /// The backend's: there is no output, or it can't be used.
    pub fn new(settings: AudioManagerSettings<B>) -> Result<Self, B::Error> {
        let sounds = Voice::ALL.map(|voice| StaticSoundData {
            sample_rate: SAMPLE_RATE,
            frames: voice.samples().into_iter().map(Frame::from_mono).collect(),
            settings: StaticSoundSettings::new(),
            slice: None,
        });
        Ok(Self { mixer: AudioManager::new(settings)?, sounds })
    }

    /// Starts a sound.
    pub fn play(&mut self, cue: &Cue) {
        let sound = self.sounds[cue.voice as usize]
            .volume(Decibels(20.0 * cue.gain.log10()))
            .panning(cue.pan)
            .playback_rate(f64::from(cue.rate));
        // Refused where too many sound at once already: one more would not be heard.
        let _ = self.mixer.play(sound);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kira::backend::Renderer;
    use std::sync::{Arc, Mutex};

    /// An output into memory.
    struct Memory(Arc<Mutex<Option<Renderer>>>);

    impl Backend for Memory {
        type Settings = Arc<Mutex<Option<Renderer>>>;
        type Error = ();

        fn setup(settings: Self::Settings, _: usize) -> Result<(Self, u32), ()> {
            Ok((Self(settings), SAMPLE_RATE))
        }

        fn start(&mut self, renderer: Renderer) -> Result<(), ()> {
            *self.0.lock().unwrap() = Some(renderer);
            Ok(())
        }
    }

    /// What comes out of the left and the right after these cues, loudest sample of each.
    fn peaks(cues: &[Cue]) -> (f32, f32) {
        let output = Arc::default();
        let settings = AudioManagerSettings::<Memory> {
            capacities: Default::default(),
            main_track_builder: Default::default(),
            internal_buffer_size: 128,
            backend_settings: Arc::clone(&output),
        };
        let mut player = Player::new(settings).unwrap();
        cues.iter().for_each(|cue| player.play(cue));
        let mut renderer = output.lock().unwrap().take().unwrap();
        let mut samples = vec![0.0; SAMPLE_RATE as usize];
        for block in samples.chunks_mut(256) {
            renderer.on_start_processing();
            renderer.process(block, 2);
        }
        let peak =
            |side: usize| samples.iter().skip(side).step_by(2).fold(0.0_f32, |p, s| p.max(s.abs()));
        (peak(0), peak(1))
    }

    const CUE: Cue = Cue { voice: Voice::Step, gain: 0.25, pan: 0.0, rate: 1.0 };

    #[test]
    fn a_cue_is_heard_as_loud_as_it_says_and_on_its_side() {
        assert_eq!(peaks(&[]), (0.0, 0.0));
        let (left, right) = peaks(&[CUE]);
        assert!((left - right).abs() < 1e-4 && left > 0.15 && left < 0.27, "{left} {right}");
        let (louder, _) = peaks(&[Cue { gain: 0.5, ..CUE }]);
        assert!((louder / left - 2.0).abs() < 0.02, "{louder} beside {left}");
        let (left, right) = peaks(&[Cue { pan: -1.0, ..CUE }]);
        assert!(left > 0.15 && right < 1e-4, "{left} {right}");
        let (left, right) = peaks(&[Cue { pan: 0.8, voice: Voice::Chime, ..CUE }]);
        assert!(right > 1.5 * left && left > 0.0, "{left} {right}");
    }

    #[test]
    fn a_thousand_at_once_are_survived() {
        let (left, _) = peaks(&vec![Cue { gain: 0.01, ..CUE }; 1_000]);
        assert!(left.is_finite() && left > 0.05, "{left}");
    }
}
