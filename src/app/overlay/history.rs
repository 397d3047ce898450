//! The last few seconds of frames, for the graph and the percentiles beside it.

use crate::app::report::stats::{Summary, summarize};
use crate::app::sample::milliseconds;
use crate::profile::Phase;
use crate::render::GpuTimes;
use std::collections::VecDeque;

/// One frame's times in milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FrameRow {
    /// From one frame's start to the next.
    pub frame: f32,
    /// Of it, waiting for the GPU.
    pub wait: f32,
    /// Of it, waiting for the display.
    pub display: f32,
    /// Per phase on the main thread.
    pub main: [f32; Phase::COUNT],
    /// Per phase summed over the workers.
    pub worker: [f32; Phase::COUNT],
}

/// The last [`History::LENGTH`] frames.
#[derive(Clone, Debug, Default)]
pub struct History {
    rows: VecDeque<FrameRow>,
    /// Milliseconds of each pass on the GPU.
    passes: Vec<(&'static str, VecDeque<f64>)>,
}

impl History {
    /// Frames that are remembered: as many as the graph shows.
    pub const LENGTH: usize = 240;

    /// Adds a frame and forgets the oldest.
    pub fn push(&mut self, row: FrameRow) {
        if self.rows.len() == Self::LENGTH {
            self.rows.pop_front();
        }
        self.rows.push_back(row);
    }

    /// Adds the GPU's times, which arrive some frames late.
    pub fn push_gpu(&mut self, times: &[GpuTimes]) {
        for pass in times.iter().flat_map(|t| &t.passes) {
            let known = self.passes.iter().position(|(name, _)| *name == pass.name);
            let at = known.unwrap_or_else(|| {
                self.passes.push((pass.name, VecDeque::new()));
                self.passes.len() - 1
            });
            let values = &mut self.passes[at].1;
            if values.len() == Self::LENGTH {
                values.pop_front();
            }
            values.push_back(milliseconds(pass.ns));
        }
    }

    /// Percentiles of each pass on the GPU.
    pub fn pass_summaries(&self) -> Vec<(&'static str, Summary)> {
        let summary =
            |values: &VecDeque<f64>| summarize(&mut values.iter().copied().collect::<Vec<_>>());
        self.passes.iter().filter_map(|(name, v)| Some((*name, summary(v)?))).collect()
    }

    /// Oldest first.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = &FrameRow> + DoubleEndedIterator {
        self.rows.iter()
    }

    /// Percentiles of one column; `None` before the first frame.
    pub fn summary(&self, column: impl Fn(&FrameRow) -> f32) -> Option<Summary> {
        let mut values: Vec<f64> = self.rows.iter().map(|r| f64::from(column(r))).collect();
        summarize(&mut values)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_frame_goes_first() {
        let mut history = History::default();
        assert!(history.summary(|r| r.frame).is_none());
        for i in 0..History::LENGTH + 3 {
            history.push(FrameRow { frame: i as f32, ..FrameRow::default() });
        }
        assert_eq!(history.rows().len(), History::LENGTH);
        assert_eq!(history.rows().next().map(|r| r.frame), Some(3.0));
        let top = (History::LENGTH + 2) as f64;
        assert_eq!(history.summary(|r| r.frame).map(|s| s.max), Some(top));
    }
}
