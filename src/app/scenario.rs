//! What `--scenario` does to a crowd once it is placed.

use super::cli::Scenario;
use super::exit::Failure;
use crate::crowd::Crowd;
use crate::crowd::sequence::{Cue, Order, Parking, SequenceConfig, SequenceId, Track};
use crate::index::CharacterId;

/// Members of a cast: a scene in the background, not a choir.
pub const CAST: u32 = 8;
/// Seconds of a loop.
pub const SECONDS: f64 = 12.0;

/// Binds everybody to looping sequences, and has them play.
///
/// # Errors
/// None that a crowd of this program's could have: casts are of its characters and cues of their
/// keys.
pub fn stage(scenario: &Scenario, crowd: &mut Crowd) -> Result<(), Failure> {
    let parking = scenario.park_distance.map(|distance| Parking { distance, ..Parking::default() });
    for id in
        direct(crowd, |config| SequenceConfig { restore: scenario.restore, parking, ..config })?
    {
        crowd.play_sequence(id)?;
    }
    Ok(())
}

/// Adds a looping sequence for every eight characters that are there, `as_told`. Members that graphs play stand and
/// wave one after the other, as far as their graphs can; the others keep to what they play.
///
/// # Errors
/// What `as_told` made wrong.
pub fn direct(
    crowd: &mut Crowd,
    as_told: impl Fn(SequenceConfig) -> SequenceConfig,
) -> Result<Vec<SequenceId>, Failure> {
    let ids: Vec<CharacterId> = crowd.characters().map(|character| character.id()).collect();
    let mut sequences = Vec::with_capacity(ids.len().div_ceil(CAST as usize));
    for (number, cast) in ids.chunks(CAST as usize).enumerate() {
        let tracks = cast.iter().enumerate().flat_map(|(member, id)| part(crowd, *id, member));
        let config = SequenceConfig {
            name: format!("scene {number}"),
            cast: cast.to_vec(),
            seconds: SECONDS,
            looping: true,
            tracks: tracks.collect(),
            ..SequenceConfig::default()
        };
        sequences.push(crowd.add_sequence(as_told(config))?);
    }
    Ok(sequences)
}

/// What one member does, a track for each key that its graph has.
fn part(crowd: &Crowd, id: CharacterId, member: usize) -> Vec<Track> {
    let kind = crowd.character(id).map(|character| character.kind);
    let Some(program) = kind.and_then(|kind| crowd.program(kind)) else { return Vec::new() };
    let program = program.program();
    let turn = SECONDS / f64::from(CAST);
    let (from, to) = (turn * member as f64, turn * (member as f64 + 0.8));
    let cues: [(&str, &[(f64, f32)]); 4] = [
        ("speed", &[(0.0, 0.0)]),
        ("spin", &[(0.0, 0.0)]),
        ("wave", &[(0.0, 0.0), (from, 1.0), (to, 0.0)]),
        ("sit", &[(0.0, 0.0), (from, 1.0), (to, 0.0)]),
    ];
    let tracks = cues.into_iter().filter(|(key, _)| program.key(key).is_some());
    let order = |key: &str, value| Order::Set { key: key.to_owned(), value };
    tracks
        .map(|(key, cues)| {
            let cues =
                cues.iter().map(|&(seconds, value)| Cue { seconds, order: order(key, value) });
            Track { member, cues: cues.collect() }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::bench::dark::hidden_crowd;

    #[test]
    fn everybody_is_in_one_cast_and_has_a_part() {
        let mut crowd = hidden_crowd(21, 1).unwrap();
        let ids = direct(&mut crowd, |config| config).unwrap();
        assert_eq!(ids.len(), 3);
        let members: Vec<_> = crowd.sequences().flat_map(|(_, info)| info.cast.to_vec()).collect();
        assert_eq!(members, (0..21).map(CharacterId).collect::<Vec<_>>());
        for (id, keys) in [(0, 3), (1, 3)] {
            let tracks = part(&crowd, CharacterId(id), id as usize);
            assert!(tracks.len() >= keys, "{tracks:?}");
        }
    }
}
