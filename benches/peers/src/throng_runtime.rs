//! Throng: task lists, their executor, the best level that the processor has.

use crate::runtime::Runtime;
use anyhow::Context;
use throng::app::bench::passes::{Passes, Rigs, Workload};
use throng::app::bench::workload::{BONES, Part};
use throng::index::ClipId;
use throng::math::Mat3x4;
use throng::task::{Worker, WorkerOptions};

/// What of the work is timed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timed {
    /// Recording the task lists and executing them.
    All,
    /// Executing them, as `throng bench pose` does.
    Execution,
}

/// Throng's executor on one thread.
pub struct Throng<'a> {
    rigs: &'a Rigs,
    passes: Passes<'a>,
    worker: Worker,
    workload: Workload,
    timed: Timed,
    last: usize,
}

impl<'a> Throng<'a> {
    /// `characters` that do `workload`.
    pub fn new(rigs: &'a Rigs, workload: Workload, characters: usize, timed: Timed) -> Self {
        Self {
            rigs,
            passes: Passes::new(rigs, characters),
            worker: Worker::new(WorkerOptions::default()),
            workload,
            timed,
            last: 0,
        }
    }
}

impl Runtime for Throng<'_> {
    fn frame(&mut self, frame: usize) -> anyhow::Result<f64> {
        self.last = frame;
        let time = self.passes.ours(self.workload, &mut self.worker, frame)?;
        Ok(match self.timed {
            Timed::All => time.record_ns + time.execute_ns,
            Timed::Execution => time.execute_ns,
        })
    }

    fn matrices(&mut self, character: usize) -> anyhow::Result<Vec<Mat3x4>> {
        if self.workload == Workload::Sample {
            let part = Part::of(character, self.rigs.additives.len());
            return Ok(self
                .rigs
                .rig
                .sample_palette(ClipId(part.clips[0] as u16), part.seconds(self.last)));
        }
        let row = self.passes.palettes().chunks_exact(BONES).nth(character);
        Ok(row.context("a character that is not there")?.to_vec())
    }
}
