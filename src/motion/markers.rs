//! Sync markers: moments of a clip that have counterparts in the other clips of its group.

/// Why markers can't keep a clip in step.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum MarkersError {
    /// More than [`SyncTrack::MOST`].
    #[error("there are {count} sync markers, and at most {most} can be kept in step", most = SyncTrack::MOST)]
    Count {
        /// How many there are.
        count: usize,
    },
    /// A time outside of the clip, or one that is not after that of the marker before.
    #[error(
        "a sync marker at {seconds} s; they lie within the clip's {length} s, of which end and \
         start are one, each after the one before"
    )]
    Time {
        /// The marker's time.
        seconds: f32,
        /// The clip's length.
        length: f32,
    },
}

/// What a member of a [`SyncGroup`](super::SyncGroup) knows of its clip: how long it is, and where
/// its markers are.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SyncTrack {
    seconds: f32,
    /// Rounds a second.
    rate: f32,
    /// Where each marker is, the first one in the clip's first round and each after the one before,
    /// and at the end the first one in the next round. Empty without markers.
    times: Vec<f32>,
    /// For each marker what the time to the next one is of the clip.
    shares: Vec<f32>,
}

impl SyncTrack {
    /// The most markers of a clip.
    pub const MOST: usize = 8;

    /// A clip of that length without markers.
    pub fn even(seconds: f32) -> Self {
        Self { seconds, rate: 1.0 / seconds, times: Vec::new(), shares: Vec::new() }
    }

    /// A clip of `seconds` with markers, given in the order of the group: ascending times within the
    /// clip, beginning anywhere (the times after the clip's end follow those before it). One at the
    /// clip's end is at its start.
    ///
    /// # Errors
    /// [`MarkersError`]: too many, one outside of the clip, times that do not ascend.
    pub fn new(seconds: f32, markers: &[f32]) -> Result<Self, MarkersError> {
        if markers.len() > Self::MOST {
            return Err(MarkersError::Count { count: markers.len() });
        }
        let mut times: Vec<f32> = Vec::with_capacity(markers.len() + 1);
        for &marker in markers {
            let fault = MarkersError::Time { seconds: marker, length: seconds };
            if !(0.0..=seconds).contains(&marker) {
                return Err(fault);
            }
            let time = if marker < seconds { marker } else { 0.0 };
            let last = times.last().copied();
            let round = if last.is_some_and(|last| time <= last) { seconds } else { 0.0 };
            let end = times.first().map_or(f32::INFINITY, |first| first + seconds);
            let time = time + round;
            if last.is_some_and(|last| time <= last) || time >= end {
                return Err(fault);
            }
            times.push(time);
        }
        if let Some(&first) = times.first() {
            // Not rounded up: a round later the first marker is not after itself.
            let end = first + seconds;
            times.push(if end - seconds > first { end.next_down() } else { end });
        }
        let shares = times.windows(2).map(|pair| (pair[1] - pair[0]) / seconds).collect();
        Ok(Self { seconds, rate: 1.0 / seconds, times, shares })
    }

    /// The clip's length.
    pub fn seconds(&self) -> f32 {
        self.seconds
    }

    /// Rounds a second of the clip at its own speed; infinite without length.
    pub fn rate(&self) -> f32 {
        self.rate
    }

    /// Whether it has any.
    pub fn has_markers(&self) -> bool {
        !self.times.is_empty()
    }

    /// Where each marker is, the first one in the clip's first round and each after the one before,
    /// and at the end the first one in the next round; empty without markers.
    pub(crate) fn times(&self) -> &[f32] {
        &self.times
    }

    /// For each marker what the time to the next one is of the clip, 0..=1; one for all of them
    /// together.
    pub fn shares(&self) -> &[f32] {
        &self.shares
    }

    /// Clip seconds at a phase in 0..1, from the start of the round that the first marker is in: up
    /// to a round after that marker. It never falls as the phase rises.
    #[inline]
    pub(super) fn since_first(&self, phase: f32) -> f32 {
        let count = self.times.len().saturating_sub(1);
        let (piece, part) = piece_at(count, phase);
        match self.times.get(piece..piece + 2) {
            Some(&[begin, end]) => (begin + part * (end - begin)).min(end),
            _ => 0.0,
        }
    }
}

/// In which of `count` equal pieces a phase is, and how far in it (0..=1).
#[inline]
fn piece_at(count: usize, phase: f32) -> (usize, f32) {
    let at = phase * count as f32;
    let piece = (at as usize).min(count.saturating_sub(1));
    (piece, at - piece as f32)
}

/// What of a round's time has passed at a phase, when each piece takes its part of it.
#[inline]
pub(super) fn share_of(pieces: &[f32], phase: f32) -> f32 {
    let (piece, part) = piece_at(pieces.len(), phase);
    let before: f32 = pieces[..piece].iter().sum();
    // Rounded up to one it would be the start of the next round.
    (before + part * pieces[piece]).min(1.0_f32.next_down())
}

/// The phase at which a share of a round's time has passed, 0..1.
#[inline]
pub(super) fn phase_of(pieces: &[f32], share: f32) -> f32 {
    let mut before = 0.0;
    let count = pieces.len() as f32;
    for (piece, takes) in pieces.iter().enumerate() {
        if share < before + takes {
            let part = (share - before) / takes;
            return ((piece as f32 + part) / count).min(1.0_f32.next_down());
        }
        before += takes;
    }
    1.0_f32.next_down()
}

#[cfg(test)]
mod tests {
    use super::super::{Advance, Moment, Notify, NotifyCursor, NotifyId, NotifyTrack, SyncGroup};
    use super::*;
    use proptest::prelude::*;

    /// A member of a group, in double precision.
    #[derive(Clone, Debug)]
    struct Clip {
        seconds: f64,
        /// Of each marker, from the first on.
        pieces: Vec<f64>,
        first: f64,
    }

    impl Clip {
        /// Pieces that are like these numbers, and a first marker at a share of the first piece
        /// before the clip's end or after its start.
        fn new(seconds: f32, parts: &[f32], at: f32) -> (Self, SyncTrack) {
            let sum: f32 = parts.iter().sum();
            let mut times = vec![at * seconds];
            for part in &parts[..parts.len() - 1] {
                times.push((times[times.len() - 1] + part / sum * seconds).rem_euclid(seconds));
            }
            let track = SyncTrack::new(seconds, &times).unwrap();
            let length = f64::from(seconds);
            let after = |i: usize| f64::from(times[(i + 1) % times.len()]) - f64::from(times[i]);
            let piece = |i| match after(i) {
                _ if times.len() == 1 => length,
                piece => piece.rem_euclid(length),
            };
            let pieces = (0..times.len()).map(piece).collect();
            (Self { seconds: length, pieces, first: times[0].into() }, track)
        }

        /// Seconds since the start of the round that the first marker was in, at a phase that counts
        /// rounds.
        fn at(&self, phase: f64) -> f64 {
            let place = phase.rem_euclid(1.0) * self.pieces.len() as f64;
            let piece = (place as usize).min(self.pieces.len() - 1);
            let before: f64 = self.pieces[..piece].iter().sum();
            let inside = before + (place - piece as f64) * self.pieces[piece];
            phase.floor() * self.seconds + self.first + inside
        }
    }

    /// Lets time pass from piece to piece, each at its own pace. The place counts pieces.
    fn run(place: &mut f64, members: &[(Clip, f64)], mut dt: f64) {
        let sum: f64 = members.iter().map(|(_, w)| w).sum();
        let count = members[0].0.pieces.len();
        let rate: f64 = members.iter().map(|(c, w)| w / c.seconds).sum::<f64>() / sum;
        let share =
            |i: usize| members.iter().map(|(c, w)| w * c.pieces[i] / c.seconds).sum::<f64>() / sum;
        while dt != 0.0 {
            // What is on a marker belongs to the piece that it runs into.
            let low = if dt > 0.0 { place.floor() } else { place.ceil() - 1.0 };
            let piece = (low as i64).rem_euclid(count as i64) as usize;
            let pace = rate / share(piece);
            let end = if dt > 0.0 { low + 1.0 } else { low };
            let needs = (end - *place) / pace;
            if needs.abs() >= dt.abs() {
                *place += dt * pace;
                return;
            }
            *place = end;
            dt -= needs;
        }
    }

    /// Seconds of clip that a step passed.
    fn passed(step: &Advance, seconds: f64) -> f64 {
        f64::from(step.wraps) * seconds + f64::from(step.to) - f64::from(step.from)
    }

    fn member() -> impl Strategy<Value = (f32, Vec<f32>, f32)> {
        (0.3f32..3.0, prop::collection::vec(0.05f32..1.0, 8), 0.0f32..0.999)
    }

    proptest! {
        #[test]
        fn members_go_as_the_naive_group_does_from_marker_to_marker(
            clips in prop::collection::vec(member(), 1..4), count in 1usize..=8,
            start in 0.0f32..1.0,
            steps in prop::collection::vec((-0.4f32..1.5, prop::collection::vec(0.0f32..1.0, 3)), 1..40),
        ) {
            let (clips, tracks): (Vec<_>, Vec<_>) =
                clips.iter().map(|(s, parts, at)| Clip::new(*s, &parts[..count], *at)).unzip();
            let mut group = SyncGroup::at(start);
            let mut pieces: Vec<f32> = tracks[0].shares().to_vec();
            let mut place = f64::from(start) * count as f64;
            let mut weights = vec![0.0; clips.len()];
            weights[0] = 1.0;
            let mut sums: Vec<f64> = clips.iter().map(|c| c.at(place / count as f64)).collect();
            let mut arrived: Vec<Option<f32>> = vec![None; clips.len()];
            for (dt, heard) in steps {
                let first_rate = 1.0 / tracks[0].seconds();
                let step = group.advance_by_markers(dt, first_rate, &mut pieces);
                let naive: Vec<_> = clips.iter().cloned().zip(weights.iter().copied()).collect();
                run(&mut place, &naive, dt.into());
                for (at, track) in tracks.iter().enumerate() {
                    let step = step.member_by_markers(track);
                    prop_assert!(arrived[at].is_none_or(|to| to == step.from), "goes on elsewhere");
                    arrived[at] = Some(step.to);
                    let length = clips[at].seconds;
                    let way = passed(&step, length);
                    prop_assert!(if dt < 0.0 { way <= 0.0 } else { way >= 0.0 }, "{way} in {dt}");
                    sums[at] += way;
                    let exact = clips[at].at(place / count as f64);
                    prop_assert!((sums[at] - exact).abs() < 2e-4 * length.max(1.0), "{sums:?} {exact}");
                }
                for (at, track) in tracks.iter().enumerate() {
                    // Not all are heard in every evaluation, nor is anybody in some.
                    let weight = if heard[at] < 0.3 { 0.0 } else { heard[at] };
                    group.weigh_markers(track, weight, &mut pieces);
                }
                if heard[..clips.len()].iter().any(|w| *w >= 0.3) {
                    let weigh = |w: &f32| f64::from(if *w < 0.3 { 0.0 } else { *w });
                    weights = heard[..clips.len()].iter().map(weigh).collect();
                }
            }
        }

        #[test]
        fn whoever_is_alone_runs_at_its_own_speed(
            (seconds, parts, at) in member(), count in 1usize..=8, start in 0.0f32..1.0,
            steps in prop::collection::vec(-0.3f32..2.0, 1..30),
        ) {
            let (_, track) = Clip::new(seconds, &parts[..count], at);
            let mut group = SyncGroup::at(start);
            let mut pieces: Vec<f32> = track.shares().to_vec();
            for dt in steps {
                let step = group.advance_by_markers(dt, 1.0 / seconds, &mut pieces);
                let way = passed(&step.member_by_markers(&track), seconds.into());
                prop_assert!((way - f64::from(dt)).abs() < 2e-5 * f64::from(seconds.max(1.0)), "{way} {dt}");
                group.weigh_markers(&track, 0.7, &mut pieces);
            }
        }

        #[test]
        fn a_notify_fires_once_for_each_time_that_it_is_passed(
            (seconds, parts, at) in member(), (other, theirs, begin) in member(), count in 1usize..=8,
            share in 0.0f32..1.0, on_marker in 0usize..8, dt in 0.002f32..3.0, backward in any::<bool>(),
        ) {
            let (_, track) = Clip::new(seconds, &parts[..count], at);
            let (_, second) = Clip::new(other, &theirs[..count], begin);
            // Also right on a marker, where footsteps are.
            let marker = track.times[on_marker % count].rem_euclid(seconds);
            for moment in [share * seconds, marker] {
                let notify = Notify { id: NotifyId(0), seconds: moment, end: None };
                let notifies = NotifyTrack::new(&[notify], seconds);
                let mut group = SyncGroup::at(share);
                let mut pieces: Vec<f32> = track.shares().to_vec();
                let mut cursor = NotifyCursor::default();
                let (mut fired, mut sum) = (0, 0.0);
                let mut begin = None;
                for i in 0..60 {
                    let still = i == 0 || i % 7 == 3;
                    let dt = if still { 0.0 } else if backward { -dt } else { dt };
                    let step = group.advance_by_markers(dt, 1.0, &mut pieces);
                    let step = step.member_by_markers(&track);
                    let begin = *begin.get_or_insert(f64::from(step.from));
                    let before = begin + sum;
                    sum += passed(&step, seconds.into());
                    if i > 0 {
                        notifies.advance(&step, 1.0, &mut cursor, |f| {
                            fired += i32::from(f.moment == Moment::Point);
                        });
                    } else {
                        notifies.seek(step.to, &mut cursor, |_| ());
                    }
                    let rounds = |x: f64| (x - f64::from(moment)) / f64::from(seconds);
                    let (a, b) = (rounds(begin), rounds(begin + sum));
                    // Where it stands on the moment itself a rounding decides about this sum.
                    let near = |x: f64| (x - x.round()).abs() < 1e-4;
                    let crossed = if backward { a.ceil() - b.ceil() } else { b.floor() - a.floor() };
                    if !near(a) && !near(b) {
                        prop_assert_eq!(fired, crossed as i32, "{} {} {}", before, begin + sum, moment);
                    }
                    let part = (i % 5) as f32 / 4.0;
                    group.weigh_markers(&track, 1.0 - part, &mut pieces);
                    group.weigh_markers(&second, part, &mut pieces);
                }
            }
        }
    }

    #[test]
    fn markers_of_two_clips_meet_though_they_lie_elsewhere() {
        let walk = SyncTrack::new(1.0, &[0.4, 0.9]).unwrap();
        let run = SyncTrack::new(0.6, &[0.3333, 0.0333]).unwrap();
        let mut group = SyncGroup::default();
        let mut pieces: Vec<f32> = walk.shares().to_vec();
        for _ in 0..200 {
            let step = group.advance_by_markers(0.013, 1.0, &mut pieces);
            let [a, b] = [&walk, &run].map(|track| step.member_by_markers(track));
            for (on_walk, on_run) in [(0.4, 0.3333), (0.9, 0.0333)] {
                let near = |a: f32, b: f32, length: f32| (a - b).abs().min(length - (a - b).abs());
                let (off, other) = (near(a.to, on_walk, 1.0), near(b.to, on_run, 0.6) / 0.6);
                assert!((off - other).abs() < 1e-3, "{a:?} {b:?}");
            }
            group.weigh_markers(&walk, 0.5, &mut pieces);
            group.weigh_markers(&run, 0.5, &mut pieces);
        }
    }

    #[test]
    fn a_group_without_markers_is_what_it_was() {
        let even = SyncTrack::even(0.7);
        assert!(!even.has_markers() && even.shares().is_empty());
        let (mut plain, mut group) = (SyncGroup::at(0.3), SyncGroup::at(0.3));
        for i in 0..100 {
            let dt = 0.01 * (i % 9) as f32 - 0.01;
            let (a, b) = (plain.advance(dt, 2.0), group.advance_by_markers(dt, 2.0, &mut []));
            assert_eq!((a, a.member(0.7)), (b, b.member_by_markers(&even)));
            plain.weigh(0.7, 0.1 * i as f32);
            group.weigh_markers(&even, 0.1 * i as f32, &mut []);
        }
    }

    #[test]
    fn the_last_phase_before_a_round_is_over_is_left_again() {
        let track = SyncTrack::new(1.0, &[0.1, 0.3, 0.9]).unwrap();
        let mut pieces: Vec<f32> = track.shares().to_vec();
        let mut group = SyncGroup::at(1.0_f32.next_down());
        let step = group.advance_by_markers(0.01, 1.0, &mut pieces);
        assert_eq!(step.wraps, 1);
        let member = step.member_by_markers(&track);
        assert!((member.to - 0.11).abs() < 1e-5 && member.wraps == 0, "{member:?}");
    }

    #[test]
    fn markers_that_no_clip_can_have_are_refused() {
        let time = |seconds| Err(MarkersError::Time { seconds, length: 1.0 });
        for (markers, at) in [
            (&[1.1][..], 1.1),
            (&[-0.1], -0.1),
            (&[0.2, 0.2], 0.2),
            (&[0.2, 0.5, 0.3], 0.3),
            (&[0.0, 1.0], 1.0),
            (&[0.5, 0.2, 0.1], 0.1),
        ] {
            assert_eq!(SyncTrack::new(1.0, markers), time(at), "{markers:?}");
        }
        assert!(SyncTrack::new(1.0, &[f32::NAN]).is_err());
        let many = [0.1; 9];
        assert_eq!(SyncTrack::new(1.0, &many), Err(MarkersError::Count { count: 9 }));
        let end = SyncTrack::new(1.0, &[0.6, 1.0]).unwrap();
        assert_eq!(end, SyncTrack::new(1.0, &[0.6, 0.0]).unwrap());
        let still = SyncTrack::new(0.0, &[0.0]).unwrap();
        let step = SyncGroup::at(0.5).advance_by_markers(0.3, 1.0, &mut [1.0]);
        assert_eq!(step.member_by_markers(&still).to, 0.0);
    }
}
