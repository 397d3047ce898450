//! What is refused of a sequence before it plays.

use super::score::{Order, Track};
use super::{Parking, SequenceConfig};
use crate::crowd::error::CrowdError;
use crate::crowd::kind::Kind;
use crate::crowd::world::World;
use crate::index::CharacterId;

/// Refuses a sequence that a world can't play.
pub(super) fn check(config: &SequenceConfig, world: &World) -> Result<(), CrowdError> {
    let refuse = |what: String| Err(CrowdError::Sequence { name: config.name.clone(), what });
    let length = config.seconds;
    if !length.is_finite() || length <= 0.0 {
        return refuse(format!("it is {length} s long; that must be finite and above 0"));
    }
    let places = world.characters.kinds.len();
    if let Some(CharacterId(id)) = config.cast.iter().find(|id| id.get() >= places) {
        return refuse(format!("its cast has character {id}; {places} are numbered from 0"));
    }
    if let Some(id) = config.cast.iter().find(|id| !world.characters.is_present(**id)) {
        return refuse(format!("its cast has character {id}, which is not there"));
    }
    for (at, id) in config.cast.iter().enumerate() {
        if config.cast[..at].contains(id) {
            return refuse(format!("character {id} is twice in its cast"));
        }
    }
    if let Some(Parking { distance, unseen, away, every }) = config.parking {
        for (what, value) in [
            ("distance", f64::from(distance)),
            ("time unseen", unseen),
            ("time away", away),
            ("time from look to look", every),
        ] {
            if value.is_nan() || value < 0.0 {
                return refuse(format!(
                    "its parking has a {what} of {value}; at least 0 is needed"
                ));
            }
        }
    }
    for track in &config.tracks {
        let members = config.cast.len();
        let Some(id) = config.cast.get(track.member) else {
            let member = track.member;
            return refuse(format!("a track is for member {member}; {members} are from 0"));
        };
        let kind = &world.kinds[world.characters.kinds[id.get()].get()];
        if let Err(what) = check_track(track, length, kind) {
            return refuse(format!("character {id}: {what}"));
        }
    }
    Ok(())
}

fn check_track(track: &Track, length: f64, kind: &Kind) -> Result<(), String> {
    let mut last = 0.0;
    for cue in &track.cues {
        let seconds = cue.seconds;
        if !(last..length).contains(&seconds) {
            return Err(format!(
                "a cue at {seconds} s; each is at or after the one before it, here {last} s, and \
                 before the end at {length} s"
            ));
        }
        last = seconds;
        match (&cue.order, &kind.graph) {
            (Order::Set { key, .. }, Some(graph)) => {
                let program = graph.bound.program();
                if program.key(key).is_none() {
                    let keys: Vec<_> = program.keys.iter().map(|key| key.name.as_str()).collect();
                    return Err(format!("no key \"{key}\"; its graph has: {}", keys.join(", ")));
                }
            }
            (Order::Play { clip }, None) => {
                if kind.clip(clip).is_none() {
                    return Err(format!("no clip \"{clip}\""));
                }
            }
            (Order::Set { key, .. }, None) => {
                return Err(format!("key \"{key}\" is of a graph, and it plays clips"));
            }
            (Order::Play { clip }, Some(_)) => {
                return Err(format!("clip \"{clip}\" is told, and a graph plays it"));
            }
        }
    }
    Ok(())
}
