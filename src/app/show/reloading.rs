//! Files that somebody saves while a run goes on: graphs and shaders.

use super::Show;
use crate::app::playing::Reloaded;
use std::time::Instant;

impl Show {
    /// Looks whether something was saved, and tells what came of it.
    pub(super) fn reload(&mut self, now: Instant) {
        if let Some(shading) = &mut self.shading
            && let Some(picture) = &mut self.picture
            && let Some(reloaded) = shading.look(picture, now)
        {
            self.tell(reloaded);
        }
        if let Some(reload) = &mut self.reload
            && let Some(reloaded) = reload.look(&mut self.crowd, now)
        {
            if let Reloaded::Done(_) = reloaded {
                // States have other names.
                self.color_by(self.config.color_by);
            }
            self.tell(reloaded);
        }
    }

    fn tell(&mut self, reloaded: Reloaded) {
        let (Reloaded::Done(note) | Reloaded::Kept(note)) = &reloaded;
        self.notes.push(note.clone());
        match reloaded {
            Reloaded::Done(note) => {
                self.hud.warn(None);
                self.hud.say(note);
            }
            Reloaded::Kept(fault) => self.hud.warn(Some(fault)),
        }
    }
}
