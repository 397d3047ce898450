use super::*;
use crate::crowd::sequence::{Cue, Restore};
use std::collections::HashMap;

const DT: f64 = 0.05;
const CAST: [CharacterId; 3] = [CharacterId(5), CharacterId(2), CharacterId(9)];
const ID: SequenceId = SequenceId(0);

/// A world of modes and distances.
#[derive(Default)]
struct Set {
    now: f64,
    drawn_at: f64,
    distance: f32,
    modes: HashMap<CharacterId, UpdateMode>,
    directed: HashMap<CharacterId, bool>,
    told: Vec<(CharacterId, Order)>,
    /// Whose poses come with whose.
    parties: HashMap<CharacterId, Vec<CharacterId>>,
}

impl Set {
    fn far_away() -> Self {
        Self { drawn_at: f64::NEG_INFINITY, distance: 1_000.0, ..Self::default() }
    }

    fn forced(&self) -> usize {
        CAST.iter().filter(|id| self.mode(**id) == UpdateMode::AlwaysTickPose).count()
    }
}

impl Stage for Set {
    fn now(&self) -> f64 {
        self.now
    }
    fn last_drawn(&self, _: CharacterId) -> f64 {
        self.drawn_at
    }
    fn distance(&self, id: CharacterId) -> f32 {
        // One is near, if anybody is.
        if id == CAST[1] { self.distance } else { 1_000.0 }
    }
    fn mode(&self, id: CharacterId) -> UpdateMode {
        self.modes.get(&id).copied().unwrap_or_default()
    }
    fn set_mode(&mut self, id: CharacterId, mode: UpdateMode) {
        self.modes.insert(id, mode);
    }
    fn direct(&mut self, id: CharacterId, directed: bool) {
        self.directed.insert(id, directed);
    }
    fn tell(&mut self, id: CharacterId, order: &Order) {
        self.told.push((id, order.clone()));
    }
    fn party(&self, id: CharacterId, party: &mut Vec<CharacterId>) {
        party.extend(self.parties.get(&id).into_iter().flatten());
    }
}

struct Play {
    sequence: Sequence,
    forced: Forced,
    set: Set,
}

impl Play {
    fn new(config: SequenceConfig) -> Self {
        let mut this = Self {
            sequence: Sequence::new(ID, config),
            forced: Forced::default(),
            set: Set::far_away(),
        };
        this.sequence.play(&mut this.forced, &mut this.set);
        this
    }

    fn run(&mut self, seconds: f64) {
        for _ in 0..(seconds / DT).round() as usize {
            self.set.now += DT;
            self.sequence.step(DT, &mut self.forced, &mut self.set);
        }
    }
}

fn config() -> SequenceConfig {
    let cue = |seconds, value| Cue { seconds, order: Order::Set { key: "x".into(), value } };
    let tracks = vec![Track { member: 1, cues: vec![cue(0.0, 1.0), cue(1.0, 2.0)] }];
    SequenceConfig {
        name: "test".into(),
        cast: CAST.to_vec(),
        seconds: 4.0,
        looping: true,
        tracks,
        ..SequenceConfig::default()
    }
}

#[test]
fn whatever_ends_the_need_gives_the_modes_back() {
    use SequenceState::{Finished, Paused, Stopped, Unbound};
    for restore in [Restore::Always, Restore::Never] {
        for ending in [Paused, Stopped, Unbound, Finished] {
            let looping = ending != Finished;
            let mut play = Play::new(SequenceConfig { restore, looping, ..config() });
            play.run(1.0);
            assert_eq!(play.set.forced(), 3, "playing");
            match ending {
                Paused => play.sequence.pause(&mut play.forced, &mut play.set),
                Finished => play.run(3.5),
                ending => play.sequence.end(ending, &mut play.forced, &mut play.set),
            }
            assert_eq!(play.sequence.state, ending);
            let left = if restore == Restore::Never { 3 } else { 0 };
            assert_eq!(play.set.forced(), left, "{ending:?} {restore:?}");
            assert_eq!(play.forced.iter().len(), left);
            let directed = ending == Paused;
            assert!(play.set.directed.values().all(|d| *d == directed), "{ending:?}");
            let seconds = play.sequence.seconds;
            play.run(1.0);
            assert_eq!(play.sequence.seconds, seconds, "{ending:?} goes on");
            // Playing again needs them again, from where it was or from the beginning.
            play.sequence.play(&mut play.forced, &mut play.set);
            assert_eq!(play.set.forced(), 3);
            assert_eq!(play.sequence.seconds, if ending == Paused { seconds } else { 0.0 });
        }
    }
}

#[test]
fn members_are_told_their_cues_and_a_loop_begins_anew() {
    let mut play = Play::new(config());
    play.run(4.5);
    let values: Vec<f32> = play
        .set
        .told
        .iter()
        .map(|(id, order)| {
            assert_eq!(*id, CAST[1]);
            let Order::Set { value, .. } = order else { panic!("{order:?}") };
            *value
        })
        .collect();
    assert_eq!(values, [1.0, 2.0, 1.0]);
    assert!((play.sequence.seconds - 0.5).abs() < 1e-9, "{}", play.sequence.seconds);
    play.sequence.step(-20.0, &mut play.forced, &mut play.set);
    assert_eq!(play.sequence.seconds, 0.0, "time does not go back before the beginning");
}

#[test]
fn it_parks_when_nobody_saw_its_cast_for_long_and_none_is_near() {
    let mut play = Play::new(SequenceConfig { parking: Some(Parking::default()), ..config() });
    play.run(0.2);
    assert_eq!(play.set.forced(), 3, "until the first look");
    play.run(0.1);
    assert_eq!(play.set.forced(), 0, "from the first look on it plays with its cast's own modes");
    play.run(1.6);
    assert_eq!(play.sequence.state, SequenceState::Playing);
    play.run(0.5);
    assert_eq!(play.sequence.state, SequenceState::Parked);
    let seconds = play.sequence.seconds;
    assert!((2.0..=2.3).contains(&seconds), "parked at {seconds}");
    // Parked time does not accumulate, and near but undrawn resumes the sequence, not the poses.
    play.run(30.0);
    assert_eq!(play.sequence.seconds, seconds);
    play.set.distance = 19.0;
    play.run(0.3);
    assert_eq!((play.sequence.state, play.set.forced()), (SequenceState::Playing, 0));
    assert!(play.sequence.seconds - seconds <= 0.3 + DT);
    // Somebody was near a moment ago: it waits two seconds before it parks again.
    play.set.distance = 21.0;
    play.run(1.5);
    assert_eq!(play.sequence.state, SequenceState::Playing);
    play.run(1.0);
    assert_eq!(play.sequence.state, SequenceState::Parked);
    // Far away and drawn is seen.
    play.set.drawn_at = play.set.now;
    play.run(0.3);
    assert_eq!(play.sequence.state, SequenceState::Playing);
    play.run(0.6);
    assert_eq!(play.sequence.state, SequenceState::Parked, "not drawn for half a second");
}

#[test]
fn only_what_parked_itself_resumes_by_itself() {
    let mut play = Play::new(SequenceConfig { parking: Some(Parking::default()), ..config() });
    play.sequence.pause(&mut play.forced, &mut play.set);
    play.set.distance = 1.0;
    play.run(5.0);
    assert_eq!(play.sequence.state, SequenceState::Paused);
    // Told to wait while it waits, it waits to be told.
    play.set.distance = 1_000.0;
    play.sequence.play(&mut play.forced, &mut play.set);
    play.run(5.0);
    assert_eq!(play.sequence.state, SequenceState::Parked);
    play.sequence.pause(&mut play.forced, &mut play.set);
    play.set.distance = 1.0;
    play.run(5.0);
    assert_eq!(play.sequence.state, SequenceState::Paused);
}

#[test]
fn parking_without_giving_modes_back_saves_the_sequence_and_not_its_cast() {
    let parking = Some(Parking::default());
    let mut play = Play::new(SequenceConfig { parking, restore: Restore::Never, ..config() });
    play.run(5.0);
    assert_eq!((play.sequence.state, play.set.forced()), (SequenceState::Parked, 3));
}
