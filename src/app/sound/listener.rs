//! The sink that notes what fires, and what of it is heard.

use super::cue::{self, Cue, Heard};
use super::voice::Voice;
use crate::crowd::{Crowd, NotifyEvent, NotifySink};
use crate::math::View;
use crate::motion::Moment;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What a crowd has fired since it was last asked.
pub struct Listener {
    heard: Arc<Mutex<Vec<Heard>>>,
}

impl Listener {
    /// Listens to a crowd from its next tick on.
    pub fn of(crowd: &mut Crowd) -> Self {
        let heard = Arc::default();
        crowd.add_notify_sink(Box::new(Ear { heard: Arc::clone(&heard) }));
        Self { heard }
    }

    /// The loudest of what was fired since the last call, as it is heard in a view.
    pub fn cues(&mut self, crowd: &Crowd, view: &View) -> Vec<Cue> {
        let mut heard = held(&self.heard);
        let cues = cue::loudest(&heard, |id| crowd.character(id).map(|c| c.position), view);
        heard.clear();
        cues
    }
}

/// Nothing that holds the lock can leave the list half written.
fn held(heard: &Mutex<Vec<Heard>>) -> MutexGuard<'_, Vec<Heard>> {
    heard.lock().unwrap_or_else(PoisonError::into_inner)
}

#[derive(Debug)]
struct Ear {
    heard: Arc<Mutex<Vec<Heard>>>,
}

impl NotifySink for Ear {
    fn notify(&mut self, name: &str, event: &NotifyEvent) {
        // A span sounds when it begins.
        if matches!(event.fired.moment, Moment::Point | Moment::Begin) {
            let (character, weight) = (event.character, event.fired.weight);
            held(&self.heard).push(Heard { character, voice: Voice::of(name), weight });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::asset::builtin;
    use crate::crowd::{CrowdConfig, CrowdKind, Playing, TickInput};
    use crate::graph;
    use crate::index::CharacterId;
    use crate::motion::{Fired, NotifyId};
    use crate::profile::PhaseTimes;
    use glam::Vec3;

    #[test]
    fn the_ear_notes_points_and_beginnings() {
        let heard: Arc<Mutex<Vec<Heard>>> = Arc::default();
        let mut ear = Ear { heard: Arc::clone(&heard) };
        for (order, moment) in Moment::ALL.into_iter().enumerate() {
            let fired = Fired { id: NotifyId(0), moment, seconds: 0.5, weight: 0.75 };
            ear.notify("footstep_left", &NotifyEvent::new(CharacterId(3), fired, order));
        }
        let step = Heard { character: CharacterId(3), voice: Voice::Step, weight: 0.75 };
        assert_eq!(*held(&heard), [step, step]);
    }

    #[test]
    fn a_crowd_that_walks_by_is_heard_where_it_walks() {
        let asset = builtin("humanoid").unwrap().unwrap();
        let (name, text) = graph::builtin_for("humanoid").unwrap();
        let program = Arc::new(graph::compile(name, text).unwrap().program);
        let kind = CrowdKind {
            notifies: asset.notifies.clone(),
            sync_markers: asset.sync_markers.clone(),
            playing: Playing::Graph(program),
            ..CrowdKind::new("walker", Arc::new(asset.rig().unwrap()), asset.bounds)
        };
        let config = CrowdConfig { count: 30, threads: 1, ..CrowdConfig::default() };
        let mut crowd = Crowd::new(config, vec![kind]).unwrap();
        let mut listener = Listener::of(&mut crowd);
        // From outside, so that all are before the camera.
        let eye = Vec3::new(0.0, 2.0, crowd.half_extent().y + 8.0);
        let view = View::look_at(eye, Vec3::ZERO, 1.0, 1_000.0, (640, 360));
        let mut cues = Vec::new();
        for _ in 0..300 {
            let input = TickInput {
                dt: 1.0 / 60.0,
                played: true,
                view: &view,
                shadow_clip_from_world: None,
                palette_hash: false,
            };
            let fired = crowd.tick(&input, &PhaseTimes::default()).notifies;
            let now = listener.cues(&crowd, &view);
            assert!(now.len() <= fired as usize, "{} cues of {fired} events", now.len());
            cues.extend(now);
        }
        let steps = cues.iter().filter(|cue| cue.voice == Voice::Step).count();
        assert!(steps > 50, "{steps} steps of 30 characters in five seconds");
        assert!(cues.iter().any(|c| c.pan < -0.1) && cues.iter().any(|c| c.pan > 0.1));
        assert_eq!(listener.cues(&crowd, &view), [], "a cue is played once");
    }
}
