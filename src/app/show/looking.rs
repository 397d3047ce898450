//! Ways to look at what a frame does: colours, the timeline, a view that stays behind.

use super::Show;
use crate::app::cli::ColorArg;
use crate::app::overlay::{FrameLanes, LegendRow};
use crate::app::picture::LEVEL_COLORS;
use crate::app::sketch::Stroke;
use crate::profile::Timeline;
use std::sync::Arc;
use std::time::Duration;

impl Show {
    /// Colours characters by something, or leaves them as they are.
    pub(super) fn color_by(&mut self, mode: ColorArg) {
        self.crowd.color_by(mode.of_crowd());
        if let Some(picture) = &mut self.picture {
            picture.color_by_level(mode == ColorArg::Mesh);
        }
        self.config.color_by = mode;
    }

    /// What the colours of the last frame tell.
    pub(super) fn legend(&self) -> Vec<LegendRow> {
        if self.config.color_by != ColorArg::Mesh {
            let keys = self.crowd.colors();
            return keys.map(|key| (key.name.to_owned(), key.color, key.count)).collect();
        }
        let name = |level: usize| match level {
            0 => "all triangles".to_owned(),
            level => format!("level {level}"),
        };
        let rows = LEVEL_COLORS.into_iter().zip(self.levels).enumerate();
        rows.map(|(level, (color, count))| (name(level), color, count)).collect()
    }

    /// The crowd is culled for where the camera is now, wherever it goes, or for where it is.
    pub(super) fn freeze(&mut self, on: bool) {
        self.frozen = self.shot.as_ref().filter(|_| on).map(|shot| shot.culled);
    }

    /// Draws what a view that was left behind sees, as far as the crowd goes.
    pub(super) fn sketch_frozen(&mut self) {
        const EDGE: Stroke = Stroke::new(2.0, [255, 214, 80, 255]);
        if let Some(frozen) = &self.frozen {
            let depth = (2.0 * self.crowd.half_extent().length()).max(10.0);
            self.sketch.frustum(frozen, depth, EDGE);
        }
    }

    /// Has threads note what they do in the frame that begins, if somebody looks.
    pub(super) fn arm_timeline(&mut self) {
        if !self.hud.wants_lanes() {
            if self.timeline.take().is_some() {
                self.crowd.trace(None);
                self.times.trace(None);
            }
            return;
        }
        let fits = self.timeline.take().filter(|timeline| timeline.workers() == self.threads);
        let timeline = fits.unwrap_or_else(|| Arc::new(Timeline::new(self.threads)));
        timeline.begin();
        self.crowd.trace(Some(Arc::clone(&timeline)));
        self.times.trace(Some(Arc::clone(&timeline)));
        self.timeline = Some(timeline);
    }

    /// Shows what they noted.
    pub(super) fn show_timeline(&mut self, work: Duration) {
        if let Some(timeline) = &self.timeline {
            let frame_ns = work.as_nanos() as u64;
            self.hud.show_lanes(FrameLanes { lanes: timeline.lanes(), frame_ns });
        }
    }
}
