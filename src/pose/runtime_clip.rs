//! The clip as the sampling kernel reads it.

use super::clip_layout::Channels;
use super::clip_store::{ClipStore, Ranges};
use super::streams::{GROUP, GroupSet, LINE, Line, QuatBlock};
use std::sync::Arc;

/// Numbers in a block of rotations.
pub(crate) const BLOCK_NUMBERS: usize = 4 * LINE;
/// Numbers in a group of translations or scales.
pub(crate) const GROUP_NUMBERS: usize = 3 * GROUP;

/// Frames, one after the other, of rotations of sixteen bones a block and of translations and
/// scales of eight bones a group. Only blocks and groups that move are in the frames; those that
/// stand still are stored once, and groups that stand where the reference pose has them are not
/// stored at all.
#[derive(Clone, Debug)]
pub struct RuntimeClip {
    pub(crate) name: String,
    pub(crate) rate_hz: f32,
    pub(crate) frame_count: usize,
    pub(crate) moving: Channels,
    pub(crate) frames: Frames,
    pub(crate) still: Channels,
    pub(crate) still_frame: Vec<Line>,
    /// The frames are differences to another pose.
    pub(crate) is_additive: bool,
    /// Groups whose translations, and groups whose scales, a sample holds.
    pub(crate) held: (GroupSet, GroupSet),
}

/// Where the frames of a clip lie, among those of other clips.
#[derive(Clone, Debug)]
pub(crate) struct Frames {
    pub arena: Arc<Vec<Line>>,
    /// First line in the arena.
    pub first: usize,
    /// From one frame to the next: lines, or 16-bit numbers where there are ranges.
    pub stride: usize,
    /// What 16-bit numbers stand for; `None` where the frames are floats.
    pub ranges: Option<Arc<Ranges>>,
}

/// One frame of floats.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame<'a> {
    pub rotations: &'a [QuatBlock],
    /// Translations, then scales.
    pub groups: &'a [[[f32; GROUP]; 3]],
}

impl<'a> Frame<'a> {
    #[inline(always)]
    fn new(lines: &'a [Line], channels: &Channels) -> Self {
        let (rotations, groups) = lines.split_at(channels.blocks * 4);
        let components: &[[f32; GROUP]] = bytemuck::cast_slice(groups);
        Self { rotations: bytemuck::cast_slice(rotations), groups: components.as_chunks().0 }
    }
}

/// One frame of 16-bit numbers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ShortFrame<'a> {
    pub rotations: &'a [[i16; BLOCK_NUMBERS]],
    /// Translations, then scales.
    pub groups: &'a [[i16; GROUP_NUMBERS]],
}

impl<'a> ShortFrame<'a> {
    #[inline(always)]
    fn new(numbers: &'a [i16], channels: &Channels) -> Self {
        let (rotations, groups) = numbers.split_at(channels.blocks * BLOCK_NUMBERS);
        Self { rotations: rotations.as_chunks().0, groups: groups.as_chunks().0 }
    }
}

/// The two frames of a cursor, as they are stored.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Neighbours<'a> {
    F32(Frame<'a>, Frame<'a>),
    I16(&'a Ranges, ShortFrame<'a>, ShortFrame<'a>),
}

/// Where in a clip to sample: two frames and the weight of the second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Cursor {
    pub first: usize,
    pub second: usize,
    pub weight: f32,
}

impl Cursor {
    /// Exactly on a frame.
    pub const fn on(frame: usize) -> Self {
        Self { first: frame, second: frame, weight: 0.0 }
    }
}

impl RuntimeClip {
    /// Name, unique within its character.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Length in seconds; zero for a still.
    pub fn seconds(&self) -> f32 {
        (self.frame_count - 1) as f32 / self.rate_hz
    }

    /// Frames a second.
    pub fn rate_hz(&self) -> f32 {
        self.rate_hz
    }

    /// How the frames are stored.
    pub fn store(&self) -> ClipStore {
        if self.frames.ranges.is_some() { ClipStore::I16 } else { ClipStore::F32 }
    }

    /// Bytes of memory that the frames take.
    pub fn heap_bytes(&self) -> usize {
        let size = if self.frames.ranges.is_some() { size_of::<i16>() } else { size_of::<Line>() };
        self.frame_count * self.frames.stride * size
            + self.still_frame.capacity() * size_of::<Line>()
    }

    /// The frames around a time, which is clamped to the clip; not-a-number is its start.
    #[inline]
    pub(crate) fn cursor(&self, seconds: f32) -> Cursor {
        let last = self.frame_count - 1;
        let at = (seconds * self.rate_hz).max(0.0).min(last as f32);
        // By way of i32, which a processor converts in one step.
        let first = (at as i32 as usize).min(last.saturating_sub(1));
        Cursor { first, second: (first + 1).min(last), weight: at - first as f32 }
    }

    /// What moves, in the two frames of a cursor.
    #[inline(always)]
    pub(crate) fn neighbours(&self, at: Cursor) -> Neighbours<'_> {
        let Frames { arena, first, stride, ranges } = &self.frames;
        let lines = &arena[*first..];
        match ranges {
            None => {
                let frame =
                    |frame: usize| Frame::new(&lines[frame * stride..][..*stride], &self.moving);
                Neighbours::F32(frame(at.first), frame(at.second))
            }
            Some(ranges) => {
                let numbers: &[i16] = bytemuck::cast_slice(lines);
                let frame = |frame: usize| {
                    ShortFrame::new(&numbers[frame * stride..][..*stride], &self.moving)
                };
                Neighbours::I16(ranges, frame(at.first), frame(at.second))
            }
        }
    }

    /// What stands still.
    #[inline(always)]
    pub(crate) fn still_frame(&self) -> Frame<'_> {
        Frame::new(&self.still_frame, &self.still)
    }
}
