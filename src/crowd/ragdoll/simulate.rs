//! The physics phase: bodies are stepped, and the second halves of lists executed, many at once.

use super::fall::Surface;
use super::{Falls, own};
use crate::crowd::crew::Crew;
use crate::crowd::watch::Watcher;
use crate::profile::{Phase, PhaseTimes};
use crate::task::Context;
use rayon::prelude::*;

/// Falls of one job: as many as the resolve kernel takes at once.
const JOB: usize = 8;

/// What it is done with.
pub(crate) struct Simulation<'a> {
    pub surface: Surface<'a>,
    pub crew: &'a Crew,
    pub watched: Option<&'a Watcher>,
    pub times: &'a PhaseTimes,
    /// World seconds of this frame that were played.
    pub seconds: f32,
}

impl Simulation<'_> {
    /// Everybody whose list waits for its bodies, and whoever is to get up or is about it.
    pub fn run(&self, falls: &mut Falls) {
        let options = self.crew.options();
        falls.falls.par_chunks_mut(JOB).for_each(|job| {
            self.times.worker(Phase::Physics, || {
                for fall in job.iter_mut().map(own) {
                    if fall.is_staged() {
                        fall.simulate(self.seconds, &self.surface);
                    } else if fall.rises() {
                        fall.plan(options, &self.surface);
                        fall.hold(&self.surface);
                    }
                }
            });
            self.times.worker(Phase::Execute, || {
                let mut scratch = self.crew.mine();
                let mut batch = scratch.worker.batch();
                for fall in job.iter_mut().map(own).filter(|fall| fall.list.is_staged()) {
                    let kind = &self.surface.kinds[fall.kind.get()];
                    let mut watched = self.watched.and_then(|w| w.capture(fall.id));
                    let capture = watched.as_deref_mut();
                    let (state, kept) = (&mut fall.state, fall.kept.as_mut());
                    let mut context = Context { masks: kind.masks(), state, capture, kept };
                    let (list, palette) = (&mut fall.list, &mut fall.palette[..]);
                    let executed =
                        batch.execute_after_physics(&kind.rig, list, &mut context, palette);
                    debug_assert_eq!(executed, Ok(()), "a fall's palette is its kind's");
                }
                batch.finish();
            });
        });
    }
}
