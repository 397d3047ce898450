//! Sync groups: a phase that runs from marker to marker.

use super::*;

/// A group of an instance.
#[derive(Clone, Default)]
pub(super) struct Group {
    /// Markers that it has come by, from the first one, with a part of the way to the next.
    place: f64,
    /// The same before this evaluation.
    before: f64,
    /// Rounds a second, and what of a round the way from each marker to the next takes; once it was
    /// heard.
    pace: Option<(f64, Vec<f64>)>,
    /// Times as fast as that, once it was said.
    pub(super) speed: Option<f64>,
}

impl Group {
    /// What starts over has come by nothing.
    pub(super) fn restart(&mut self) {
        (self.place, self.before) = (0.0, 0.0);
    }
}

impl Naive<'_> {
    pub(super) fn members(&self, group: usize) -> Vec<usize> {
        let of = |clock: &usize| self.p.clocks[*clock].group.is_some_and(|g| g.get() == group);
        (0..self.clocks.len()).filter(of).collect()
    }

    fn with_length(&self, group: usize) -> Vec<usize> {
        let mut members = self.members(group);
        members.retain(|clock| self.length(*clock) > 0.0);
        members
    }

    /// Names and seconds of a clock's markers, in the order of time.
    fn markers(&self, clock: usize) -> Vec<(&str, f64)> {
        let clip = self.p.clocks[clock].clip;
        let Some(desc) = self.p.sync_markers.iter().find(|m| m.clip == clip) else { return vec![] };
        let seconds = |at| match at {
            program::Moment::Seconds(seconds) => f64::from(seconds),
            program::Moment::Fraction(share) => f64::from(share) * self.length(clock),
        };
        let mut markers: Vec<_> =
            desc.markers.iter().map(|m| (m.name.as_str(), seconds(m.at))).collect();
        markers.sort_by(|a, b| a.1.total_cmp(&b.1));
        markers
    }

    /// Where the first marker of a group is in a clock's clip, and the seconds from each to the
    /// next. Without markers a clip is one piece.
    fn pieces(&self, clock: usize, group: usize) -> (f64, Vec<f64>) {
        let length = self.length(clock);
        let leader = self.with_length(group)[0];
        let first = self.markers(leader).first().map(|(name, _)| *name);
        let own = self.markers(clock);
        let Some(start) = own.iter().position(|(name, _)| Some(*name) == first) else {
            return (0.0, vec![length]);
        };
        let at = |i: usize| own[i % own.len()].1 + length * (i / own.len()) as f64;
        let ways = (start..start + own.len()).map(|i| at(i + 1) - at(i));
        (own[start].1, ways.collect())
    }

    pub(super) fn run_group(&mut self, group: usize, dt: f64) {
        let members = self.with_length(group);
        if members.is_empty() {
            return;
        }
        if self.groups[group].pace.is_none() {
            // A group keeps the pace that it had, also one that it had by itself.
            let everybody: Vec<_> = members.iter().map(|clock| (*clock, 1.0)).collect();
            self.groups[group].pace = Some(self.mean(group, &everybody));
        }
        let state = &mut self.groups[group];
        state.before = state.place;
        let Some((rate, shares)) = &state.pace else { unreachable!() };
        let mut left = dt * state.speed.unwrap_or(1.0);
        while left > 0.0 {
            let piece = state.place.floor();
            // Pieces a second.
            let speed = rate / shares[piece as usize % shares.len()];
            let needs = (piece + 1.0 - state.place) / speed;
            if needs > left {
                state.place += left * speed;
                return;
            }
            state.place = piece + 1.0;
            left -= needs;
        }
    }

    /// Rounds a second, and shares of the pieces.
    fn mean(&self, group: usize, weights: &[(usize, f64)]) -> (f64, Vec<f64>) {
        let sum: f64 = weights.iter().map(|(_, w)| w).sum();
        let rates: f64 = weights.iter().map(|(clock, w)| w / self.length(*clock)).sum();
        let count = self.pieces(weights[0].0, group).1.len();
        let share = |i: usize| {
            let of = |(clock, w): &(usize, f64)| {
                w * self.pieces(*clock, group).1[i] / self.length(*clock)
            };
            weights.iter().map(of).sum::<f64>() / sum
        };
        (rates / sum, (0..count).map(share).collect())
    }

    pub(super) fn weigh_group(&mut self, group: usize, heard: &[f64]) {
        let members = self.with_length(group).into_iter();
        let weights: Vec<_> = members.map(|c| (c, heard[c])).filter(|(_, w)| *w > 0.0).collect();
        if !weights.is_empty() {
            self.groups[group].pace = Some(self.mean(group, &weights));
        }
    }

    /// What a clock of a group shows, and whether it came by its clip's end in this evaluation.
    pub(super) fn in_group(&self, clock: usize, group: usize) -> (f64, bool) {
        let length = self.length(clock);
        if length == 0.0 {
            return (0.0, false);
        }
        let (first, ways) = self.pieces(clock, group);
        let seconds = |place: f64| {
            let (round, piece) = ((place / ways.len() as f64).floor(), place as usize % ways.len());
            let inside = ways[..piece].iter().sum::<f64>() + place.fract() * ways[piece];
            round * length + first + inside
        };
        let [now, before] = [self.groups[group].place, self.groups[group].before].map(seconds);
        (now.rem_euclid(length), (now / length).floor() != (before / length).floor())
    }
}
