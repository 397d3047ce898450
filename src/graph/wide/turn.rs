//! Rows, which lie word after word, and lanes, which lie instance beside instance.

use super::{LANES, Values, Wide};
use crate::graph::control::BLOCK;
use crate::pose::kernels::transpose::square;
use fearless_simd::Simd;
use fearless_simd::prelude::*;

/// The rows of the lanes that are taken, block by block.
#[derive(Debug, Default)]
pub(in crate::graph) struct Rows<'a>([Option<&'a mut [[f32; BLOCK]]>; LANES]);

impl<'a> Rows<'a> {
    /// Puts the row of a lane in.
    pub fn put(&mut self, lane: super::Lane, row: &'a mut [u32]) {
        let row: &mut [f32] = bytemuck::cast_slice_mut(row);
        self.0[lane.get()] = Some(row.as_chunks_mut().0);
    }
}

/// Eight lanes that begin at a certain one.
#[inline(always)]
fn half(wide: &Wide, first: usize) -> &[f32; BLOCK] {
    &wide.0.as_chunks().0[first / BLOCK]
}

/// Words of rows, lane by lane, become lanes, word by word.
#[inline(always)]
pub(super) fn turn_in<S: Simd>(simd: S, values: &mut Values, Rows(rows): &Rows<'_>) {
    // Lanes that are not taken do as the first.
    let first = rows[0].as_deref().unwrap_or_default();
    let rows: [&[[f32; BLOCK]]; LANES] =
        std::array::from_fn(|lane| rows[lane].as_deref().unwrap_or(first));
    for (block, words) in values.words.chunks_exact_mut(BLOCK).enumerate() {
        for first in (0..LANES).step_by(BLOCK) {
            let turned = square(simd, std::array::from_fn(|lane| &rows[first + lane][block]));
            for (word, turned) in words.iter_mut().zip(turned) {
                turned.store_slice(&mut word.0[first..first + BLOCK]);
            }
        }
    }
}

/// And back.
#[inline(always)]
pub(super) fn turn_out<S: Simd>(simd: S, values: &Values, Rows(rows): &mut Rows<'_>) {
    for (block, words) in values.words.chunks_exact(BLOCK).enumerate() {
        for first in (0..LANES).step_by(BLOCK) {
            let turned = square(simd, std::array::from_fn(|word| half(&words[word], first)));
            for (row, turned) in rows[first..first + BLOCK].iter_mut().zip(turned) {
                if let Some(row) = row {
                    turned.store_slice(&mut row[block]);
                }
            }
        }
    }
}

/// The twin, of one lane.
pub(super) fn lane_in(values: &mut Values, Rows(rows): &Rows<'_>, lane: usize) {
    let row = rows[lane].as_deref().unwrap_or_default().as_flattened();
    values.words.iter_mut().zip(row).for_each(|(word, value)| word.0[lane] = *value);
}

/// And back.
pub(super) fn lane_out(values: &Values, Rows(rows): &mut Rows<'_>, lane: usize) {
    let row = rows[lane].as_deref_mut().unwrap_or_default().as_flattened_mut();
    row.iter_mut().zip(&values.words).for_each(|(value, word)| *value = word.0[lane]);
}
