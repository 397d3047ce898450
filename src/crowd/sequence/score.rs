//! What a sequence tells its cast, and when.

/// Something that a member of the cast is told.
#[derive(Clone, Debug, PartialEq)]
pub enum Order {
    /// A key of its graph's blackboard gets a value; flags are 0 or 1, triggers 1.
    Set {
        /// The key.
        key: String,
        /// Its value.
        value: f32,
    },
    /// A clip is faded in, for a character that plays clips.
    Play {
        /// The clip's name.
        clip: String,
    },
}

/// An order at a time.
#[derive(Clone, Debug, PartialEq)]
pub struct Cue {
    /// Seconds from the beginning of the sequence.
    pub seconds: f64,
    /// What is told then.
    pub order: Order,
}

/// The cues of one member. Each holds until the next one of its track.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Track {
    /// Place of the member in the cast.
    pub member: usize,
    /// In the order of their times.
    pub cues: Vec<Cue>,
}

/// The cue that a track told last, and in which round of the loop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Told(Option<(u64, usize)>);

impl Track {
    /// What is to be told at `seconds` of a round, if that has not been told yet. However far time
    /// jumped, and whichever way, it is the one order that holds now.
    pub(super) fn due(&self, told: &mut Told, round: u64, seconds: f64) -> Option<&Order> {
        let begun = self.cues.partition_point(|cue| cue.seconds <= seconds);
        let now = match (begun.checked_sub(1), round.checked_sub(1)) {
            (Some(cue), _) => Some((round, cue)),
            // Before its first cue the last one of the round before still holds.
            (None, Some(before)) => Some((before, self.cues.len().checked_sub(1)?)),
            (None, None) => None,
        };
        if told.0 == now {
            return None;
        }
        told.0 = now;
        now.map(|(_, cue)| &self.cues[cue].order)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn track(times: &[f64]) -> Track {
        let order = |key: usize| Order::Set { key: key.to_string(), value: 1.0 };
        let cues = times.iter().enumerate();
        Track { member: 0, cues: cues.map(|(i, t)| Cue { seconds: *t, order: order(i) }).collect() }
    }

    /// Keys of what is told at each of these rounds and times.
    fn told(track: &Track, at: &[(u64, f64)]) -> Vec<Option<String>> {
        let mut told = Told::default();
        let key = |order: &Order| match order {
            Order::Set { key, .. } => key.clone(),
            Order::Play { .. } => unreachable!(),
        };
        at.iter().map(|(round, t)| track.due(&mut told, *round, *t).map(key)).collect()
    }

    #[test]
    fn each_cue_is_told_once_a_round_and_a_jump_tells_what_holds() {
        let track = track(&[0.5, 1.0, 2.0]);
        let key = |k: &str| Some(k.to_owned());
        let steps = [(0, 0.0), (0, 0.5), (0, 0.7), (0, 2.5), (1, 0.2), (1, 0.6), (1, 0.6)];
        assert_eq!(told(&track, &steps), [None, key("0"), None, key("2"), None, key("0"), None]);
        // Back, over the beginning of the round, and over whole rounds.
        assert_eq!(told(&track, &[(0, 1.5), (0, 0.6)]), [key("1"), key("0")]);
        assert_eq!(told(&track, &[(1, 0.6), (1, 0.1)]), [key("0"), key("2")]);
        assert_eq!(told(&track, &[(0, 0.6), (7, 0.6)]), [key("0"), key("0")]);
    }

    #[test]
    fn a_trigger_alone_in_its_track_is_told_in_every_round() {
        let steps = [(0, 0.4), (0, 0.5), (0, 0.9), (1, 0.4), (1, 0.5)];
        let told = told(&track(&[0.5]), &steps);
        assert_eq!(
            told.iter().map(Option::is_some).collect::<Vec<_>>(),
            [false, true, false, false, true]
        );
        assert_eq!(track(&[]).due(&mut Told::default(), 3, 1.0), None);
    }
}
