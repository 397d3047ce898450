//! Characters whose files are dropped on the window.

use super::Show;
use crate::app::characters::{self, Cast};
use crate::app::cli::{CharacterRef, RunConfig};
use crate::app::exit::Failure;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender, channel};

/// A file that was read, or why it was not.
type Arrival = (PathBuf, Result<Cast, Failure>);

/// Files that are being read.
#[derive(Debug)]
pub(super) struct Arrivals {
    sender: Sender<Arrival>,
    arrived: Receiver<Arrival>,
    /// Not yet arrived.
    expected: usize,
}

impl Default for Arrivals {
    fn default() -> Self {
        let (sender, arrived) = channel();
        Self { sender, arrived, expected: 0 }
    }
}

#[cfg(test)]
impl Arrivals {
    pub fn expected(&self) -> usize {
        self.expected
    }
}

impl Show {
    /// Reads a file while the run goes on; its character joins when that is done.
    pub(super) fn join(&mut self, path: PathBuf) {
        let (sender, build, fit) =
            (self.arrivals.sender.clone(), self.config.build(), self.config.fit_height);
        self.hud.say(format!("reading {}", path.display()));
        let read = move || {
            let cast = characters::load(&[CharacterRef::File(path.clone())], &build, fit, true);
            // Whoever waited for it may be gone.
            let _ = sender.send((path, cast));
        };
        match std::thread::Builder::new().name("read a character".to_owned()).spawn(read) {
            Ok(_) => self.arrivals.expected += 1,
            Err(error) => self.hud.say(format!("no thread to read it in: {error}")),
        }
    }

    /// Lets those join whose files have been read.
    pub(super) fn take_arrivals(&mut self) {
        if self.arrivals.expected == 0 {
            return;
        }
        while let Ok((path, cast)) = self.arrivals.arrived.try_recv() {
            self.arrivals.expected -= 1;
            let outcome = cast.and_then(|cast| self.welcome(path, cast));
            self.hud.say(match outcome {
                Ok(line) => line,
                Err(refusal) => refusal.to_string(),
            });
        }
    }

    /// A kind of its own, with as many characters as another kind has on average.
    fn welcome(&mut self, path: PathBuf, newcomers: Cast) -> Result<String, Failure> {
        let kinds = self.cast.members.len().max(1);
        let more = (self.config.count / kinds as u32).max(1);
        let weight = self.config.weights.iter().sum::<f32>() / kinds as f32;
        let mut cast = self.cast.clone();
        let name = newcomers.members.first().map(|member| member.asset.name.clone());
        cast.members.extend(newcomers.members);
        let mut config = self.config.clone();
        config.characters.push(CharacterRef::File(path));
        config.weights.push(if weight > 0.0 { weight } else { 1.0 });
        let config = RunConfig { count: config.count.saturating_add(more), ..config };
        self.restage(config, cast)?;
        self.note_switched("--character");
        let note =
            newcomers.notes.into_iter().next().map_or(String::new(), |note| format!(" ({note})"));
        Ok(format!("{} joined, {more} of them{note}", name.unwrap_or_default()))
    }
}
