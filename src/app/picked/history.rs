//! The last frames of the character that is looked at.

use crate::crowd::CharacterFrame;
use std::collections::VecDeque;

/// Frames, oldest first: as many as [`History::LENGTH`], and fewer where they are larger than
/// [`History::MOST_BYTES`] together. The newest is always kept.
#[derive(Debug, Default)]
pub struct History {
    frames: VecDeque<CharacterFrame>,
    bytes: usize,
}

impl History {
    /// Five seconds at 60 Hz.
    pub const LENGTH: usize = 300;
    /// Of a character with thousands of bones not all of them are kept.
    pub const MOST_BYTES: usize = 64 << 20;

    /// Adds a frame and forgets the oldest.
    pub fn push(&mut self, frame: CharacterFrame) {
        self.bytes += frame.bytes();
        self.frames.push_back(frame);
        while self.frames.len() > 1
            && (self.frames.len() > Self::LENGTH || self.bytes > Self::MOST_BYTES)
        {
            if let Some(oldest) = self.frames.pop_front() {
                self.bytes -= oldest.bytes();
            }
        }
    }

    /// Puts a frame in the place of the newest: no time has passed between the two.
    pub fn renew(&mut self, frame: CharacterFrame) {
        if let Some(last) = self.frames.pop_back() {
            self.bytes -= last.bytes();
        }
        self.push(frame);
    }

    /// One of them, counted from the oldest.
    pub fn get(&self, at: usize) -> Option<&CharacterFrame> {
        self.frames.get(at)
    }

    /// The newest.
    pub fn last(&self) -> Option<&CharacterFrame> {
        self.frames.back()
    }

    /// All of them, oldest first.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &CharacterFrame> + ExactSizeIterator {
        self.frames.iter()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.frames.len()
    }

    /// There are none.
    pub fn is_empty(&self) -> bool {
        self.frames.is_empty()
    }

    /// Bytes that they take.
    pub fn bytes(&self) -> usize {
        self.bytes
    }
}
