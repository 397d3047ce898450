//! The one character that the user looks at: its last frames, what is drawn of it, and what the user
//! does with it. While nobody is picked nothing is kept and nothing is drawn.

mod drawing;
mod history;
#[cfg(test)]
mod tests;

pub use drawing::{BoneColor, Shows, draw};
pub use history::History;

use super::sketch::Sketch;
use crate::crowd::{CharacterFrame, CharacterHandle, Crowd};
use crate::index::CharacterId;
use glam::Vec3;

/// Something that the user does with whom they look at.
#[derive(Clone, Debug, PartialEq)]
pub enum Deed {
    /// Looks at somebody, or at nobody.
    Pick(Option<CharacterId>),
    /// Holds a parameter of its graph.
    Hold(String, f32),
    /// Lets a parameter go.
    Release(String),
    /// Lets all of them go.
    ReleaseAll,
    /// Shows one of its last frames, counted from the oldest, while the world stands still; or
    /// goes on.
    Scrub(Option<usize>),
    /// So many frames on from the one that is shown; negative back.
    Step(isize),
    /// The camera goes along with it, or no longer.
    Follow(bool),
    /// Draws other things of it.
    Show(Shows),
}

/// Whom the user looks at, and what is kept of it.
#[derive(Debug, Default)]
pub struct Picked {
    /// Who was asked for and is not there yet.
    wanted: Option<CharacterId>,
    who: Option<CharacterHandle>,
    history: History,
    /// Which of its frames is shown.
    scrubbed: Option<usize>,
    /// What is drawn of it.
    pub shows: Shows,
    /// The camera goes along with it.
    pub follows: bool,
    /// The world stands still for the sake of scrubbing alone.
    pub resumes: bool,
}

impl Picked {
    /// Looks at whoever has an id, as soon as somebody has it.
    pub fn new(wanted: Option<CharacterId>) -> Self {
        Self { wanted, ..Self::default() }
    }

    /// Who it is.
    pub fn who(&self) -> Option<CharacterHandle> {
        self.who
    }

    /// The frame that is shown: one of the last, or the newest.
    pub fn frame(&self) -> Option<&CharacterFrame> {
        self.scrubbed.and_then(|at| self.history.get(at)).or_else(|| self.history.last())
    }

    /// The frame of the list that made what is shown: that one, or one before it where it was not
    /// evaluated in that one.
    pub fn executed(&self) -> Option<&CharacterFrame> {
        let shown = self.frame()?.frame;
        let mut until = self.history.iter().rev().skip_while(|frame| frame.frame > shown);
        until.find(|frame| frame.capture.is_some())
    }

    /// Which of its frames is shown in the place of the newest.
    pub fn scrubbed(&self) -> Option<usize> {
        self.scrubbed
    }

    /// Its last frames.
    pub fn history(&self) -> &History {
        &self.history
    }

    /// Looks at somebody else, or at nobody: what was kept of the last one is gone, and what was
    /// held of it is let go. What is drawn of whoever is picked stays as chosen.
    pub fn pick(&mut self, who: Option<CharacterHandle>, crowd: &mut Crowd) {
        if who == self.who {
            return;
        }
        crowd.release_params();
        let follows = self.follows && who.is_some();
        *self = Self { who, shows: self.shows, follows, ..Self::default() };
    }

    /// Before a tick: whoever is waited for may have come, and whoever was picked may have gone,
    /// which is given.
    pub fn settle(&mut self, crowd: &mut Crowd) -> Option<CharacterId> {
        if let Some(come) = self.wanted.and_then(|id| crowd.handle(id)) {
            self.wanted = None;
            self.pick(Some(come), crowd);
        }
        let gone = self.who.filter(|who| !crowd.is_here(*who))?;
        self.pick(None, crowd);
        Some(gone.id())
    }

    /// Shows one of its frames, or the newest again.
    pub fn scrub(&mut self, at: Option<usize>) {
        let last = self.history.len().checked_sub(1);
        self.scrubbed = at.zip(last).map(|(at, last)| at.min(last));
    }

    /// The frame that is so many after the one that is shown, within those that there are.
    pub fn stepped(&self, frames: isize) -> Option<usize> {
        let last = self.history.len().checked_sub(1)?;
        let at = self.scrubbed.unwrap_or(last);
        Some(at.saturating_add_signed(frames).min(last))
    }

    /// After a tick: keeps what it left of whom is looked at, and has the crowd draw the frame that
    /// is scrubbed to. `eye` is the camera's; `moved` says that time has passed.
    pub fn look(&mut self, crowd: &mut Crowd, eye: Vec3, moved: bool) {
        let Some(who) = self.who else { return };
        if moved {
            (self.scrubbed, self.resumes) = (None, false);
        }
        if let Some(frame) = self.scrubbed.and_then(|at| self.history.get(at)) {
            crowd.show_as(frame);
            return;
        }
        // Who has gone in this tick is found gone before the next one.
        let Ok(frame) = crowd.observe(who, eye) else { return };
        if moved || self.history.is_empty() {
            self.history.push(frame);
        } else {
            self.history.renew(frame);
        }
    }

    /// What a camera that goes along looks at: the middle of it, and its radius.
    pub fn goal(&self) -> Option<(Vec3, f32)> {
        let frame = self.frame().filter(|_| self.follows)?;
        Some((frame.state.center, frame.state.radius))
    }

    /// Draws what is chosen of the frame that is shown, for a camera at `eye` (world metres).
    pub fn draw(&self, crowd: &Crowd, eye: Vec3, sketch: &mut Sketch) {
        let Some(frame) = self.frame() else { return };
        let capture = self.executed().and_then(|frame| frame.capture.as_ref());
        draw(crowd, (frame, capture), &self.history, (&self.shows, eye), sketch);
    }
}
