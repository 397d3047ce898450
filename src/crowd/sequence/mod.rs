//! Sequences: each binds a cast, tells its members what to do, and needs them to tick.
//!
//! A member whose own mode is to tick while it is seen would stop in the middle of its part, so a
//! sequence that plays forces its cast to evaluate in every frame. That order has to be taken back
//! by whatever ends the need for it: pausing, stopping, the sequence's end, unbinding, parking.
//! [`Restore::Never`] forgets to, as an engine has been seen to, so that its cost can be measured.
//!
//! A member that is despawned leaves every cast that it is in, with its tracks, and whoever has its
//! id next is bound by nothing. The sequence goes on with the others; without any it stops, and its
//! cast stays empty.

mod check;
mod director;
mod forced;
mod score;
mod stage;

pub use director::SequenceState;
pub use forced::Force;
use forced::Forced;
pub use score::{Cue, Order, Track};

use super::Crowd;
use super::error::CrowdError;
use super::world::World;
use crate::index::{CharacterId, typed_index};
use director::Sequence;
pub(crate) use stage::OnStage;
use std::time::Instant;

typed_index!(
    /// A sequence of a crowd.
    SequenceId(u32)
);

/// What becomes of its members' own modes when a sequence does not need them to tick any more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Restore {
    /// They come back.
    #[default]
    Always,
    /// They are forgotten, and everybody ticks for ever. A fault, kept to show what it costs.
    Never,
}

/// When a sequence that nobody can see waits. At every look its cast's own modes come back, parked or
/// not: who is seen ticks by itself.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parking {
    /// Metres within which the cast is near.
    pub distance: f32,
    /// Seconds since the last of the cast was drawn.
    pub unseen: f64,
    /// Seconds since the last of the cast was near.
    pub away: f64,
    /// Seconds from one look to the next.
    pub every: f64,
}

impl Default for Parking {
    fn default() -> Self {
        Self { distance: 20.0, unseen: 0.5, away: 2.0, every: 0.25 }
    }
}

/// A sequence, before a crowd has it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SequenceConfig {
    /// For people.
    pub name: String,
    /// Its members, who are there; any may be in other sequences too.
    pub cast: Vec<CharacterId>,
    /// Seconds from its beginning to its end, above 0.
    pub seconds: f64,
    /// Begins anew at its end.
    pub looping: bool,
    /// What it tells whom. A member without a track keeps to what it does.
    pub tracks: Vec<Track>,
    /// What becomes of its members' modes.
    pub restore: Restore,
    /// `None`: never waits of its own accord.
    pub parking: Option<Parking>,
}

/// Where a sequence is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SequenceInfo<'a> {
    /// Its name.
    pub name: &'a str,
    /// What it is up to.
    pub state: SequenceState,
    /// Seconds from its beginning.
    pub seconds: f64,
    /// Its members, but for those who have gone.
    pub cast: &'a [CharacterId],
}

/// All sequences of a crowd.
#[derive(Debug, Default)]
pub(crate) struct Sequences {
    all: Vec<Sequence>,
    pub forced: Forced,
}

impl Sequences {
    /// A character goes: no sequence has it in its cast or forces it any more.
    pub fn lose(&mut self, id: CharacterId) {
        self.forced.forget(id);
        self.all.iter_mut().for_each(|sequence| sequence.lose(id));
    }

    /// One frame of all of them, `dt` world seconds long. Gives the nanoseconds that it took.
    pub fn step(&mut self, dt: f64, mut stage: OnStage<'_>) -> u64 {
        if self.all.is_empty() {
            return 0;
        }
        let start = Instant::now();
        for sequence in &mut self.all {
            sequence.step(dt, &mut self.forced, &mut stage);
        }
        start.elapsed().as_nanos() as u64
    }
}

impl World {
    fn command(
        &mut self,
        id: SequenceId,
        command: impl FnOnce(&mut Sequence, &mut Forced, &mut OnStage<'_>),
    ) -> Result<(), CrowdError> {
        let count = self.sequences.all.len() as u32;
        let Sequences { all, forced } = &mut self.sequences;
        let sequence = all.get_mut(id.get());
        let sequence = sequence.ok_or(CrowdError::NoSequence { id: id.0, count })?;
        let Self { characters, slots, kinds, rides, following, now, .. } = self;
        following.settle(characters.kinds.len());
        // Nobody looks: commands come between frames.
        let (now, eye) = (*now, glam::Vec3::NAN);
        let mut stage = OnStage { characters, slots, kinds, rides, following, now, eye };
        command(sequence, forced, &mut stage);
        Ok(())
    }
}

impl Crowd {
    /// Adds a sequence; [`play_sequence`](Self::play_sequence) binds its cast.
    ///
    /// # Errors
    /// [`CrowdError::Sequence`], with the numbers: nobody of that id, a length that is none, tracks
    /// of nobody, cues out of order, or a key or clip that a member does not have.
    pub fn add_sequence(&mut self, config: SequenceConfig) -> Result<SequenceId, CrowdError> {
        check::check(&config, &self.world)?;
        let sequences = &mut self.world.sequences.all;
        let id = SequenceId(sequences.len() as u32);
        sequences.push(Sequence::new(id, config));
        Ok(id)
    }

    /// Binds a sequence's cast, if it has not, and plays on; from its beginning if it had ended.
    ///
    /// # Errors
    /// [`CrowdError::NoSequence`].
    pub fn play_sequence(&mut self, id: SequenceId) -> Result<(), CrowdError> {
        self.world.command(id, |sequence, forced, stage| sequence.play(forced, stage))
    }

    /// Has a sequence wait where it is, until it is told to play.
    ///
    /// # Errors
    /// [`CrowdError::NoSequence`].
    pub fn pause_sequence(&mut self, id: SequenceId) -> Result<(), CrowdError> {
        self.world.command(id, |sequence, forced, stage| sequence.pause(forced, stage))
    }

    /// Ends a sequence. Its cast stays bound, which costs nothing, and does as it likes.
    ///
    /// # Errors
    /// [`CrowdError::NoSequence`].
    pub fn stop_sequence(&mut self, id: SequenceId) -> Result<(), CrowdError> {
        let state = SequenceState::Stopped;
        self.world.command(id, |sequence, forced, stage| sequence.end(state, forced, stage))
    }

    /// Ends a sequence and lets go of its cast.
    ///
    /// # Errors
    /// [`CrowdError::NoSequence`].
    pub fn unbind_sequence(&mut self, id: SequenceId) -> Result<(), CrowdError> {
        let state = SequenceState::Unbound;
        self.world.command(id, |sequence, forced, stage| sequence.end(state, forced, stage))
    }

    /// All sequences, in the order of their ids.
    pub fn sequences(&self) -> impl ExactSizeIterator<Item = (SequenceId, SequenceInfo<'_>)> {
        self.world.sequences.all.iter().enumerate().map(|(id, sequence)| {
            let Sequence { name, state, seconds, cast, .. } = sequence;
            let info = SequenceInfo { name, state: *state, seconds: *seconds, cast };
            (SequenceId(id as u32), info)
        })
    }

    /// Everybody whose mode is not its own, in the order of ids, and who forces it.
    pub fn forced(&self) -> impl ExactSizeIterator<Item = (CharacterId, &Force)> {
        self.world.sequences.forced.iter()
    }
}
