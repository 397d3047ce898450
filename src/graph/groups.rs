//! Sync groups of a program that is bound: whose clips keep step, and by which markers.

use super::Op;
use super::bind::{BindError, BoundClip, ClipBinding};
use super::operand::*;
use super::program::*;
use crate::motion::{Advance, GroupStep, PlayMode, SyncGroup, SyncTrack};
use std::ops::Range;

/// What the instances of a program share about its sync groups.
#[derive(Clone, Debug, Default)]
pub(super) struct Groups {
    rows: Vec<GroupRow>,
    /// By clock, what it is to its group; without markers for one that is in none.
    tracks: Vec<SyncTrack>,
    /// What an instance begins with: for each group with markers the pieces of its round.
    first_pieces: Vec<f32>,
}

/// One of them.
#[derive(Clone, Debug)]
pub(super) struct GroupRow {
    /// What it runs at before it was ever heard, rounds a second.
    pub first_rate: f32,
    /// Where its pieces are among those of all groups.
    pub pieces: Range<usize>,
    /// The program says how fast it runs.
    paced: bool,
    /// Its markers, in the order in which they come.
    names: Vec<String>,
}

/// The markers of one clip, ascending.
type Markers = Vec<(String, f32)>;

impl Groups {
    /// # Errors
    /// [`BindError`]: clips of one group with other markers, and markers that no clip can have.
    pub fn bind(
        program: &Program,
        clips: &[BoundClip],
        given: &[&ClipBinding],
    ) -> Result<Self, BindError> {
        let rows = program.clips.iter().zip(clips).zip(given).enumerate();
        let markers: Vec<Markers> =
            rows.map(|(row, ((_, clip), given))| markers(program, row, clip, given)).collect();
        let mut bound =
            Self { tracks: vec![SyncTrack::default(); program.clocks.len()], ..Self::default() };
        for (at, group) in program.sync_groups.iter().enumerate() {
            // A clip without length keeps step with everybody.
            let of_group = |(_, desc): &(usize, &ClockDesc)| {
                let ours = desc.mode == PlayMode::Loop && desc.group.is_some_and(|g| g.get() == at);
                ours && clips[desc.clip.get()].seconds > 0.0
            };
            let clocks = program.clocks.iter().enumerate().filter(of_group);
            let members: Vec<(usize, usize)> =
                clocks.map(|(clock, desc)| (clock, desc.clip.get())).collect();
            let names = |clip: usize| markers[clip].iter().map(|(name, _)| name);
            let first = members.first().map(|(_, clip)| *clip);
            let order: Vec<String> =
                first.map_or_else(Vec::new, |clip| names(clip).cloned().collect());
            for &(clock, clip) in &members {
                let own = &markers[clip];
                let start = in_order(own, &order).ok_or_else(|| {
                    let of = |clip: usize| (program.clips[clip].clone(), listed(names(clip)));
                    BindError::Markers {
                        program: program.name.clone(),
                        group: group.clone(),
                        clips: Box::new([of(first.unwrap_or(clip)), of(clip)]),
                    }
                })?;
                let (after, before) = own.split_at(start);
                let times: Vec<f32> = before.iter().chain(after).map(|(_, at)| *at).collect();
                let track = SyncTrack::new(clips[clip].seconds, &times);
                bound.tracks[clock] = track.map_err(|error| BindError::MarkerTimes {
                    program: program.name.clone(),
                    clip: program.clips[clip].clone(),
                    error,
                })?;
            }
            let paces = |op: &Op| matches!(op, Op::PaceGroup { group, .. } if group.get() == at);
            let paced = program.code.iter().any(paces);
            bound.begin(members.iter().map(|(clock, _)| *clock), order, paced);
        }
        Ok(bound)
    }

    /// Adds a group as it is before anybody has heard of it: the mean of its members.
    fn begin(&mut self, members: impl Iterator<Item = usize>, names: Vec<String>, paced: bool) {
        let begin = self.first_pieces.len();
        self.first_pieces.resize(begin + names.len(), 0.0);
        let (mut rates, mut count) = (0.0, 0.0);
        for track in members.map(|clock| &self.tracks[clock]) {
            rates += 1.0 / track.seconds();
            count += 1.0;
            let pieces = self.first_pieces[begin..].iter_mut();
            pieces.zip(track.shares()).for_each(|(piece, share)| *piece += share);
        }
        let first_rate = if count > 0.0 { rates / count } else { 0.0 };
        let pieces = begin..self.first_pieces.len();
        self.rows.push(GroupRow { first_rate, pieces, paced, names });
    }

    /// What the pieces of all groups are at the beginning of an instance.
    pub fn first_pieces(&self) -> &[f32] {
        &self.first_pieces
    }

    /// Where the pieces of a group are, and what its markers are called.
    pub fn markers(&self, group: usize) -> (Range<usize>, &[String]) {
        self.rows.get(group).map_or((0..0, &[]), |row| (row.pieces.clone(), &row.names))
    }

    /// A group.
    pub fn row(&self, group: usize) -> &GroupRow {
        &self.rows[group]
    }

    /// Whether the program says how fast a group runs.
    pub fn is_paced(&self, group: usize) -> bool {
        self.rows.get(group).is_some_and(|row| row.paced)
    }

    /// What a clock is to its group.
    pub fn track(&self, clock: ClockId) -> &SyncTrack {
        &self.tracks[clock.get()]
    }

    /// What a step of its group is in a clock's clip.
    pub fn member(&self, clock: ClockId, step: &GroupStep) -> Advance {
        step.member_by_markers(&self.tracks[clock.get()])
    }

    /// Counts a clock of a group for its next pace.
    pub fn weigh(
        &self,
        (clock, group): (ClockId, GroupId),
        state: &mut SyncGroup,
        pieces: &mut [f32],
        weight: f32,
    ) {
        let pieces = &mut pieces[self.rows[group.get()].pieces.clone()];
        state.weigh_markers(&self.tracks[clock.get()], weight, pieces);
    }
}

/// The markers of a clip: those that the program has for it, or else its own.
fn markers(program: &Program, row: usize, clip: &BoundClip, given: &ClipBinding) -> Markers {
    let seconds = clip.seconds;
    let own = || {
        let own = given.sync_markers.iter();
        // The clip was resampled: its end may have moved by a rounding.
        own.map(|m| (m.name.clone(), m.seconds.min(seconds))).collect()
    };
    let theirs = |desc: &MarkersDesc| {
        let time = |at| match at {
            Moment::Seconds(seconds) => seconds,
            Moment::Fraction(share) => share * seconds,
        };
        desc.markers.iter().map(|m| (m.name.clone(), time(m.at))).collect()
    };
    let desc = program.sync_markers.iter().find(|desc| desc.clip.get() == row);
    let mut markers: Markers = desc.map_or_else(own, theirs);
    markers.sort_by(|a, b| a.1.total_cmp(&b.1));
    markers
}

/// With which marker of a clip to begin so that they come in an order; `None` when they don't.
fn in_order(markers: &Markers, order: &[String]) -> Option<usize> {
    let count = markers.len();
    let from = |start: &usize| {
        order.iter().enumerate().all(|(i, name)| markers[(start + i) % count].0 == *name)
    };
    (count == order.len()).then(|| (0..count.max(1)).find(from)).flatten()
}

fn listed<'n>(names: impl Iterator<Item = &'n String>) -> String {
    let names: Vec<String> = names.map(|name| format!("`{name}`")).collect();
    if names.is_empty() { "none".into() } else { names.join(", ") }
}
