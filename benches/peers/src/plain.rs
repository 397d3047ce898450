//! Plain glam: the baseline of `throng bench pose`.

use crate::runtime::Runtime;
use anyhow::Context;
use throng::app::bench::passes::{Passes, Rigs, Workload};
use throng::app::bench::workload::{BONES, Part};
use throng::math::Mat3x4;

/// An array of transforms per frame, uniform frames, nlerp, one character after the other.
pub struct Plain<'a> {
    rigs: &'a Rigs,
    passes: Passes<'a>,
    workload: Workload,
    last: usize,
}

impl<'a> Plain<'a> {
    /// `characters` that do `workload`.
    pub fn new(rigs: &'a Rigs, workload: Workload, characters: usize) -> Self {
        Self { rigs, passes: Passes::new(rigs, characters), workload, last: 0 }
    }
}

impl Runtime for Plain<'_> {
    fn frame(&mut self, frame: usize) -> anyhow::Result<f64> {
        self.last = frame;
        Ok(self.passes.plain(self.workload, frame))
    }

    fn matrices(&mut self, character: usize) -> anyhow::Result<Vec<Mat3x4>> {
        if self.workload == Workload::Sample {
            let part = Part::of(character, self.rigs.additives.len());
            let mut scratch = self.rigs.plain.scratch();
            let mut palette = vec![Mat3x4::IDENTITY; BONES];
            self.rigs.plain.sample(part.clips[0], part.seconds(self.last), &mut scratch);
            self.rigs.plain.resolve(&mut scratch, &mut palette);
            return Ok(palette);
        }
        let row = self.passes.palettes().chunks_exact(BONES).nth(character);
        Ok(row.context("a character that is not there")?.to_vec())
    }
}
