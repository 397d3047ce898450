//! What a show does with its GPU outside its frames, and what when that is lost.

use super::Show;
use crate::app::cli::Mode;
use crate::app::exit::Failure;
use crate::app::picture::Picture;
use crate::asset::ImageRgba8;
use crate::profile::PhaseTimes;
use crate::render::{FrameTarget, Gpu, Offscreen, TargetFormats};

impl Show {
    /// True when the GPU is lost: the show goes on, but nothing is drawn until [`Show::revive`].
    pub fn is_blind(&self) -> bool {
        self.revival.due()
    }

    /// What came of something that needs the GPU; `None` when that is lost.
    ///
    /// # Errors
    /// Any other fault, and a GPU that is lost again and again.
    pub fn heed<T>(
        &mut self,
        outcome: Result<T, impl Into<Failure>>,
    ) -> Result<Option<T>, Failure> {
        self.revival.heed(outcome.map_err(Into::into))
    }

    /// Lets go of all that belongs to the lost GPU, which may be in the way of what replaces it.
    pub fn abandon_picture(&mut self) {
        self.picture = None;
        self.hud.paint_with(None);
    }

    /// Draws with another GPU from now on. Whoever is in view is uploaded whole by the next draw.
    ///
    /// # Errors
    /// When that GPU can't draw the characters.
    pub fn revive(&mut self, gpu: Gpu, formats: TargetFormats) -> Result<(), Failure> {
        self.abandon_picture();
        let adapter = gpu.summary().name.clone();
        let picture = Picture::new(gpu, formats, &self.config, &self.cast)?;
        self.hud.paint_with(Some((&picture.gpu, formats.overlay)));
        self.picture = Some(picture);
        self.color_by(self.config.color_by);
        let note = self.revival.done(&adapter);
        // Pictures that nobody watches tell no news.
        if self.config.mode == Mode::Window {
            self.hud.say(note.clone());
        }
        self.notes.push(note);
        Ok(())
    }

    /// The picture as it is now, drawn once more at `size` pixels; `None` before the first frame
    /// and without a GPU.
    ///
    /// # Errors
    /// Of the GPU.
    pub fn capture(&mut self, size: (u32, u32)) -> Result<Option<ImageRgba8>, Failure> {
        let Some(picture) = self.picture.as_ref().filter(|_| self.shot.is_some()) else {
            return Ok(None);
        };
        let target = Offscreen::new(&picture.gpu, picture.formats(), size)?;
        self.redraw(target.target())?;
        Ok(self.picture.as_ref().map(|picture| target.read(&picture.gpu)).transpose()?)
    }

    /// Draws the last frame once more; `false` when the GPU is lost.
    ///
    /// # Errors
    /// Of the GPU.
    pub fn redraw(&mut self, target: FrameTarget<'_>) -> Result<bool, Failure> {
        let (Some(picture), Some(shot)) = (&mut self.picture, &self.shot) else {
            return Ok(false);
        };
        // Not a frame of the run: its times are nobody's.
        let times = PhaseTimes::default();
        let overlay = self.hud.painter();
        let crowd = (self.crowd.draw(), self.crowd.spare_workers());
        let drawn = picture.draw(target, shot, crowd, self.sketch.lines(), overlay, &times);
        Ok(self.heed(drawn)?.is_some())
    }
}
