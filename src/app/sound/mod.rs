//! What notifies sound like: the steps and landings of whoever is near the camera.
//!
//! A sink only notes who fired what, because it is told in the serial phase; once the frame's
//! places are final, the loudest few become cues, and those are played. Only the feature `sound`
//! brings a device to play them on; tests play into memory.

#[cfg(any(test, feature = "sound"))]
mod cue;
#[cfg(any(test, feature = "sound"))]
mod listener;
#[cfg(any(test, feature = "sound"))]
mod player;
#[cfg(any(test, feature = "sound"))]
mod voice;

#[cfg(feature = "sound")]
pub use audible::Sound;
#[cfg(not(feature = "sound"))]
pub use silent::Sound;

/// Whether the program was built with sound.
pub const BUILT_IN: bool = cfg!(feature = "sound");

#[cfg(feature = "sound")]
mod audible {
    use super::listener::Listener;
    use super::player::Player;
    use crate::app::output;
    use crate::crowd::Crowd;
    use crate::math::View;
    use kira::DefaultBackend;

    /// Plays a crowd's notifies on the system's sound output.
    pub struct Sound {
        listener: Listener,
        player: Player<DefaultBackend>,
    }

    impl Sound {
        /// Opens the system's output and listens to a crowd. `None` when there is no output; a line
        /// says why.
        pub fn open(crowd: &mut Crowd) -> Option<Self> {
            let complain = |reason| output::say(format_args!("no sound: {reason}"));
            let player = Player::new(Default::default()).map_err(complain).ok()?;
            Some(Self { listener: Listener::of(crowd), player })
        }

        /// Listens to another crowd.
        pub fn listen(&mut self, crowd: &mut Crowd) {
            self.listener = Listener::of(crowd);
        }

        /// Plays what the last tick fired, as it sounds from where the picture is seen.
        pub fn play(&mut self, crowd: &Crowd, view: &View) {
            for cue in self.listener.cues(crowd, view) {
                self.player.play(&cue);
            }
        }
    }
}

#[cfg(not(feature = "sound"))]
mod silent {
    use crate::crowd::Crowd;
    use crate::math::View;

    /// There is none: the program was built without.
    pub enum Sound {}

    impl Sound {
        /// Nothing that could be heard.
        pub fn open(_: &mut Crowd) -> Option<Self> {
            None
        }

        /// Never called, because nobody has a `Sound`.
        pub fn listen(&mut self, _: &mut Crowd) {
            match *self {}
        }

        /// Never called, because nobody has a `Sound`.
        pub fn play(&mut self, _: &Crowd, _: &View) {
            match *self {}
        }
    }
}
