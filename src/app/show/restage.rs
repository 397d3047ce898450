//! Another crowd in the same run: more characters than there are places for, or another kind.

use super::Show;
use crate::app::camera::Scene;
use crate::app::characters::Cast;
use crate::app::cli::RunConfig;
use crate::app::exit::Failure;
use crate::app::picked::Deed;
use crate::app::watch::Inspector;
use crate::app::{placing, scenario};
use crate::crowd::{Crowd, CrowdError, NotifyLog};

impl Show {
    /// Has so many characters be there: some come or go, and where there are not enough places, or so
    /// many that those left would stand apart, all are placed anew, as a run would that begins with
    /// so many.
    pub(super) fn set_count(&mut self, count: u32) -> Result<(), Failure> {
        /// Of its places, a crowd that is worth its ground fills one in so many.
        const SPARSE: u32 = 3;
        let few = count < self.crowd.capacity() / SPARSE;
        let kept = self.recording.is_some() || self.replay.is_some();
        let set = if few && !kept { None } else { Some(self.crowd.set_count(count)) };
        match set {
            Some(Ok(())) => self.config.count = count,
            None | Some(Err(CrowdError::NoVacancy { .. })) => {
                let config = RunConfig { count, ..self.config.clone() };
                self.restage(config, self.cast.clone())?;
            }
            Some(Err(refusal)) => return Err(refusal.into()),
        }
        self.note_switched("--count");
        Ok(())
    }

    /// Places a cast anew, switched as the run is now. The clocks of the characters begin anew;
    /// the run's own, the camera and what was measured go on.
    ///
    /// # Errors
    /// When the crowd can't be had; then the run goes on with the one that it has.
    pub(super) fn restage(&mut self, config: RunConfig, cast: Cast) -> Result<(), Failure> {
        if self.recording.is_some() || self.replay.is_some() {
            return Err(anyhow::anyhow!("a recording is of one crowd: it stays as it is").into());
        }
        let threads = self.threads;
        let mut crowd =
            placing::crowd(&config, cast.clone(), threads, self.picture.as_ref(), None)?;
        if let Some(scenario) = &config.scenario {
            scenario::stage(scenario, &mut crowd)?;
        }
        if let Some(picture) = &mut self.picture {
            picture.draw_cast(&config, &cast)?;
        }
        crowd.add_notify_sink(Box::new(NotifyLog));
        if let Some(sound) = &mut self.sound {
            sound.listen(&mut crowd);
        }
        self.camera.set_scene(scene(&config, &crowd, &cast));
        // Whoever has its number in the other crowd is somebody else.
        self.perform(Deed::Pick(None));
        self.crowd = crowd;
        (self.config, self.cast) = (config, cast);
        self.color_by(self.config.color_by);
        self.inspector = Inspector::new(&self.config);
        self.shot = None;
        Ok(())
    }
}

/// What a camera must know of a crowd.
pub(super) fn scene(config: &RunConfig, crowd: &Crowd, cast: &Cast) -> Scene {
    let extent = crowd.half_extent();
    let round = config.layout == crate::app::cli::LayoutArg::Disc;
    Scene { half_x: extent.x, half_z: extent.y, round, height: cast.typical_stature() }
}
