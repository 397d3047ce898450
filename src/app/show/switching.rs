//! Switches that the user turns while the run goes on.

use super::Show;
use crate::app::cli::RunConfig;
use crate::app::exit::Failure;
use crate::app::switches::Switches;
use crate::math::Lanes;
use crate::task::WorkerOptions;

impl Show {
    /// The present position of every switch.
    pub fn switches(&self) -> Switches {
        Switches::of(&self.config, self.threads)
    }

    /// Turns every switch that is not as `to` has it. One that can't be turned stays as it was, and
    /// the first of them is told of.
    pub(super) fn switch(&mut self, to: &Switches) {
        let before = self.switches();
        let steps = [Self::gates, Self::modes, Self::budget, Self::workers, Self::drawing];
        let outcomes = steps.map(|step| step(self, to));
        if let Some(refusal) = outcomes.into_iter().find_map(Result::err) {
            self.hud.say(refusal.to_string());
        }
        for flag in self.switches().changed(&before) {
            self.note_switched(flag);
        }
    }

    /// A flag is not as the run began any more.
    pub(super) fn note_switched(&mut self, flag: &'static str) {
        if !self.switched.contains(&flag) {
            self.switched.push(flag);
        }
    }

    fn gates(&mut self, to: &Switches) -> Result<(), Failure> {
        let Switches { update_rate, skeleton_lod, .. } = *to;
        let config = RunConfig { update_rate, skeleton_lod, ..self.config.clone() };
        self.crowd.set_gates(config.gates())?;
        self.config = config;
        Ok(())
    }

    fn modes(&mut self, to: &Switches) -> Result<(), Failure> {
        if to.visibility != self.config.visibility {
            self.crowd.set_update_modes(to.visibility.into());
            self.config.visibility = to.visibility;
        }
        Ok(())
    }

    fn budget(&mut self, to: &Switches) -> Result<(), Failure> {
        if to.budget_ms != self.config.budget_ms {
            self.crowd.set_budget(to.budget_ms.map(|ms| ms as f32))?;
            self.config.budget_ms = to.budget_ms;
        }
        Ok(())
    }

    fn workers(&mut self, to: &Switches) -> Result<(), Failure> {
        let Switches { prune, steal, simd, threads, .. } = *to;
        let lanes = Lanes::new(simd)?;
        self.crowd.set_execution(WorkerOptions { prune, steal, lanes });
        self.config = RunConfig { prune, steal, simd, ..self.config.clone() };
        if threads != self.threads {
            self.crowd.set_threads(threads)?;
            self.threads = threads;
            self.config.threads = Some(threads);
        }
        Ok(())
    }

    fn drawing(&mut self, to: &Switches) -> Result<(), Failure> {
        // The window heeds it, if there is one.
        self.config.present = to.present;
        let Switches { interpolate, mesh_lods, shadows, msaa, palette_upload, .. } = *to;
        let drawn = RunConfig {
            interpolate,
            mesh_lods,
            shadows,
            msaa,
            palette_upload,
            ..self.config.clone()
        };
        if interpolate != self.config.interpolate {
            self.crowd.set_interpolation(interpolate)?;
        }
        if let Some(picture) = &mut self.picture
            && let Err(refusal) = picture.draw_as(&drawn)
        {
            if interpolate != self.config.interpolate {
                self.crowd.set_interpolation(self.config.interpolate)?;
            }
            return Err(refusal);
        }
        self.config = drawn;
        Ok(())
    }
}
