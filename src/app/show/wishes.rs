//! What the user asks for happens here, whether it was a key or something in the overlay.

use super::Show;
use crate::app::cli::named;
use crate::app::exit::Failure;
use crate::app::wish::Wish;

impl Show {
    /// Does what the user asks for.
    pub fn grant(&mut self, wish: Wish) {
        match wish {
            Wish::Pause => self.clock.toggle_pause(),
            Wish::Step => self.clock.step(),
            Wish::Faster => {
                self.clock.faster();
                self.tell_speed();
            }
            Wish::Slower => {
                self.clock.slower();
                self.tell_speed();
            }
            Wish::Speed(speed) => self.clock.set_speed(speed),
            Wish::Seek(seconds) => self.clock.seek(seconds),
            Wish::NextClip => self.crowd.next_clip(),
            Wish::Freeze(on) => self.freeze(on),
            Wish::Count(count) => {
                let outcome = self.set_count(count);
                self.tell_refusal(outcome);
            }
            Wish::ColorBy(mode) => self.color_by(mode),
            Wish::NextColor => {
                self.color_by(self.config.color_by.next());
                let mode = self.config.color_by;
                self.hud.say(format!("--color-by {}: {}", named(&mode), mode.tells()));
            }
            Wish::Join(path) => self.join(path),
            Wish::Switch(switches) => self.switch(&switches),
            Wish::Camera(kind) => {
                self.picked.follows = false;
                self.camera.set_kind(kind);
            }
            Wish::Picked(deed) => self.perform(deed),
        }
    }

    /// What was asked for in the overlay since the last frame.
    pub(super) fn grant_all(&mut self) {
        for wish in self.hud.take_wishes() {
            self.grant(wish);
        }
    }

    fn tell_refusal(&mut self, outcome: Result<(), Failure>) {
        if let Err(refusal) = outcome {
            self.hud.say(refusal.to_string());
        }
    }

    fn tell_speed(&mut self) {
        self.hud.say(format!("{}x speed", self.clock.speed()));
    }
}
