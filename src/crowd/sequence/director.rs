//! One sequence: what it is up to, whom it forces, and when it parks.

use super::forced::Forced;
use super::score::{Order, Told, Track};
use super::{Parking, Restore, SequenceConfig, SequenceId};
use crate::crowd::UpdateMode;
use crate::index::CharacterId;

/// What a sequence is up to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SequenceState {
    /// It has no hold on its cast.
    Unbound,
    /// Its time goes on.
    Playing,
    /// Told to wait where it is.
    Paused,
    /// Waiting of its own accord, because nobody could see its cast.
    Parked,
    /// Told to end; it would begin anew.
    Stopped,
    /// Arrived at its end.
    Finished,
}

impl SequenceState {
    /// The name, as in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Unbound => "unbound",
            Self::Playing => "playing",
            Self::Paused => "paused",
            Self::Parked => "parked",
            Self::Stopped => "stopped",
            Self::Finished => "finished",
        }
    }
}

/// What a sequence can see of its cast, and do to it.
pub(super) trait Stage {
    /// World time, seconds.
    fn now(&self) -> f64;
    /// World time at which somebody was last drawn.
    fn last_drawn(&self, id: CharacterId) -> f64;
    /// Metres from the camera.
    fn distance(&self, id: CharacterId) -> f32;
    /// How somebody ticks.
    fn mode(&self, id: CharacterId) -> UpdateMode;
    fn set_mode(&mut self, id: CharacterId, mode: UpdateMode);
    /// Takes somebody from its own ideas, or gives it back to them.
    fn direct(&mut self, id: CharacterId, directed: bool);
    fn tell(&mut self, id: CharacterId, order: &Order);
    /// Adds those to `party` whose poses come with somebody's: its leader, and its followers.
    fn party(&self, id: CharacterId, party: &mut Vec<CharacterId>);
}

/// A sequence and where it is.
#[derive(Debug)]
pub(super) struct Sequence {
    pub name: String,
    pub cast: Vec<CharacterId>,
    /// Who is forced with them, because their poses come together: leaders and followers.
    party: Vec<CharacterId>,
    pub state: SequenceState,
    /// Seconds from its beginning.
    pub seconds: f64,
    id: SequenceId,
    length: f64,
    looping: bool,
    restore: Restore,
    parking: Option<Parking>,
    tracks: Vec<(Track, Told)>,
    round: u64,
    /// World time of the next look at whether anybody can see its cast.
    next_check: f64,
    /// World time at which somebody of its cast was last near.
    last_near: f64,
}

impl Sequence {
    pub fn new(id: SequenceId, config: SequenceConfig) -> Self {
        Self {
            name: config.name,
            cast: config.cast,
            party: Vec::new(),
            state: SequenceState::Unbound,
            seconds: 0.0,
            id,
            length: config.seconds,
            looping: config.looping,
            restore: config.restore,
            parking: config.parking,
            tracks: config.tracks.into_iter().map(|track| (track, Told::default())).collect(),
            round: 0,
            next_check: f64::NEG_INFINITY,
            last_near: f64::NEG_INFINITY,
        }
    }

    /// Binds its cast, if it has not, and plays on; from the beginning if it had ended.
    pub fn play(&mut self, forced: &mut Forced, stage: &mut impl Stage) {
        use SequenceState::{Finished, Paused, Stopped, Unbound};
        if matches!(self.state, Unbound | Stopped | Finished) {
            (self.seconds, self.round) = (0.0, 0);
            self.tracks.iter_mut().for_each(|(_, told)| *told = Told::default());
        }
        if !matches!(self.state, Paused) {
            // Somebody who has just begun does not park at once.
            self.last_near = stage.now();
        }
        self.state = SequenceState::Playing;
        let interval = self.parking.map_or(0.0, |parking| parking.every);
        self.next_check = stage.now() + interval;
        for &id in &self.cast {
            stage.direct(id, true);
            stage.party(id, &mut self.party);
        }
        self.party.sort_unstable();
        self.party.dedup();
        for &id in self.cast.iter().chain(&self.party) {
            let mode = forced.force(id, self.id, stage.mode(id));
            stage.set_mode(id, mode);
        }
    }

    /// Waits where it is.
    pub fn pause(&mut self, forced: &mut Forced, stage: &mut impl Stage) {
        if matches!(self.state, SequenceState::Playing | SequenceState::Parked) {
            self.state = SequenceState::Paused;
            self.restore(forced, stage);
        }
    }

    /// Ends where it is, and lets its cast go their own ways.
    pub fn end(&mut self, state: SequenceState, forced: &mut Forced, stage: &mut impl Stage) {
        if self.state == SequenceState::Unbound {
            return;
        }
        self.state = state;
        self.restore(forced, stage);
        self.cast.iter().for_each(|id| stage.direct(*id, false));
    }

    /// Goes on without somebody who is not there any more; stops when that was the last one.
    pub fn lose(&mut self, id: CharacterId) {
        self.party.retain(|of_party| *of_party != id);
        let Some(place) = self.cast.iter().position(|member| *member == id) else { return };
        self.cast.remove(place);
        self.tracks.retain(|(track, _)| track.member != place);
        for (track, _) in self.tracks.iter_mut().filter(|(track, _)| track.member > place) {
            track.member -= 1;
        }
        if self.cast.is_empty() && self.state != SequenceState::Unbound {
            self.state = SequenceState::Stopped;
        }
    }

    /// Gives everybody's own mode back, unless it is one that forgets to.
    fn restore(&mut self, forced: &mut Forced, stage: &mut impl Stage) {
        if self.restore == Restore::Never {
            return;
        }
        for id in self.cast.iter().copied().chain(self.party.drain(..)) {
            if let Some(own) = forced.release(id, self.id) {
                stage.set_mode(id, own);
            }
        }
    }

    /// One frame of `dt` world seconds.
    pub fn step(&mut self, dt: f64, forced: &mut Forced, stage: &mut impl Stage) {
        if let Some(parking) = self.parking
            && matches!(self.state, SequenceState::Playing | SequenceState::Parked)
            && stage.now() >= self.next_check
        {
            self.next_check = stage.now() + parking.every;
            self.check(parking, forced, stage);
        }
        if self.state == SequenceState::Playing {
            self.advance(dt, forced, stage);
        }
    }

    /// Looks whether anybody can see the cast. Modes are given back at every look, parked or not:
    /// whoever is bound anew is forced anew.
    fn check(&mut self, parking: Parking, forced: &mut Forced, stage: &mut impl Stage) {
        self.restore(forced, stage);
        let now = stage.now();
        let drawn = self.cast.iter().any(|id| now - stage.last_drawn(*id) <= parking.unseen);
        if self.cast.iter().any(|id| stage.distance(*id) <= parking.distance) {
            self.last_near = now;
        }
        let near = now - self.last_near <= parking.away;
        match self.state {
            SequenceState::Playing if !drawn && !near => self.state = SequenceState::Parked,
            // Near is near now: having been near is a reason to wait, not to begin.
            SequenceState::Parked if drawn || self.last_near == now => {
                self.state = SequenceState::Playing;
            }
            _ => {}
        }
    }

    fn advance(&mut self, dt: f64, forced: &mut Forced, stage: &mut impl Stage) {
        let total = self.round as f64 * self.length + self.seconds + dt;
        let ends = !self.looping && total >= self.length;
        if ends {
            self.seconds = self.length;
        } else {
            // Time that goes back ends at the beginning.
            let total = total.max(0.0);
            self.round = (total / self.length) as u64;
            self.seconds = (total - self.round as f64 * self.length).clamp(0.0, self.length);
        }
        for (track, told) in &mut self.tracks {
            if let Some(order) = track.due(told, self.round, self.seconds) {
                stage.tell(self.cast[track.member], order);
            }
        }
        if ends {
            self.end(SequenceState::Finished, forced, stage);
        }
    }
}

#[cfg(test)]
mod tests;
