//! Recordings: what every character was told to do, frame by frame, so that the same poses can be
//! executed again without whatever told them (clocks, graphs, drivers). docs/REPLAY.md has the
//! tables of the format.
//!
//! A frame holds who came and who went since the one before, who was given a palette slot and who gave
//! one back, and of everybody who evaluated the ground that the root covered and the task list, exact
//! to the bit. Workers record into spools of their own; the serial phase puts these into the order of
//! ids.
//! `header.rs` has what lists refer to without the graphs that recorded them, `file.rs` is what
//! frames are kept in.

mod crowd;
pub mod file;
mod frame;
mod graph;
pub mod header;
mod spool;

pub use crowd::ListContext;
pub use file::{ReplayReader, ReplayWriter};
pub use header::{InPlaceClip, RecordedGraph, RecordedKind, ReplayHeader};
pub(crate) use spool::Spool;

use super::characters::{BLOCK, Block, Characters, Place};
use crate::index::CharacterId;
use crate::motion::GroundMotion;
use crate::task::TaskList;
use crate::task::serial::{self, Extents, ListError};
use frame::{Frame, Parts};

/// What can't be replayed.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// The file system.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// Another kind of file.
    #[error("it is no recording of Throng")]
    Magic,
    /// A recording of another version.
    #[error(
        "it is a recording of version {found}, and this program reads version {wanted}; record it anew"
    )]
    Version {
        /// The file's.
        found: String,
        /// The program's.
        wanted: String,
    },
    /// The end is missing.
    #[error("the recording is cut short after {frames} whole frames; record it anew")]
    CutShort {
        /// Whole frames before the cut.
        frames: u64,
    },
    /// Bytes that are not what was written.
    #[error("the recording is damaged: {what}")]
    Damaged {
        /// Where.
        what: String,
    },
    /// A frame that is not one of this crowd.
    #[error("frame {frame} of the recording: {what}")]
    Frame {
        /// Its number, from zero.
        frame: u64,
        /// What is wrong.
        what: String,
    },
}

/// Looks into recorded frames, one after the other.
#[derive(Debug, Default)]
pub struct FrameReader {
    frame: Frame,
    number: u64,
}

impl FrameReader {
    /// Finds everything in the bytes of the next frame of a crowd with `count` places
    /// ([`Crowd::capacity`](super::Crowd::capacity)). Gives its world seconds.
    ///
    /// # Errors
    /// [`ReplayError::Frame`] for bytes that are none.
    pub fn read(&mut self, bytes: &[u8], count: u32) -> Result<f64, ReplayError> {
        let frame = self.number;
        self.number += 1;
        self.frame.clear();
        let read = self.frame.read(bytes, count);
        read.map_err(|what| ReplayError::Frame { frame, what })?;
        Ok(self.frame.dt)
    }

    /// Who had come since the frame before, in the order of ids.
    pub fn came(&self) -> impl ExactSizeIterator<Item = CharacterId> {
        self.frame.came.iter().map(|(id, _)| *id)
    }

    /// Who had gone since then, in the order of ids. One that is in both lists has gone first.
    pub fn gone(&self) -> &[CharacterId] {
        &self.frame.gone
    }

    /// Who was given a palette slot in that frame, and kept no pose, in the order of ids.
    pub fn entered(&self) -> &[CharacterId] {
        &self.frame.entered
    }

    /// The list of everybody who was posed, in the exact form ([`serial::decode`]) and in the order
    /// of ids; `bytes` are those that were read.
    pub fn lists<'a>(
        &'a self,
        bytes: &'a [u8],
    ) -> impl Iterator<Item = (CharacterId, &'a [u8])> + 'a {
        let list = |id: &CharacterId| {
            let list = bytes.get(self.frame.entry(*id)?.list)?;
            (!list.is_empty()).then_some((*id, list))
        };
        self.frame.evaluated.iter().filter_map(list)
    }
}

/// What the crowd does with recordings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Mode {
    /// Nothing.
    #[default]
    Off,
    /// Every frame is recorded.
    Record,
    /// Every frame is played.
    Play,
}

/// The frame that was recorded last, or is to be played next.
#[derive(Debug, Default)]
pub(crate) struct Replay {
    mode: Mode,
    bytes: Vec<u8>,
    frame: Frame,
    /// In which frame, for messages.
    number: u64,
    desk: spool::Desk,
    /// What lists may name, by kind.
    extents: Vec<Extents>,
    scratch: TaskList,
}

impl Replay {
    /// Records every frame from now on.
    pub fn record(&mut self, characters: usize) {
        self.mode = Mode::Record;
        self.bytes.reserve(spool::room(characters));
        self.desk.reserve(characters);
    }

    /// From now on plays what is loaded, and nothing while nothing is. `extents` are what the lists
    /// of each kind may name.
    pub fn play(&mut self, extents: Vec<Extents>) {
        self.mode = Mode::Play;
        self.extents = extents;
    }

    /// True when frames are recorded.
    pub fn records(&self) -> bool {
        self.mode == Mode::Record
    }

    /// True when frames are played.
    pub fn plays(&self) -> bool {
        self.mode == Mode::Play
    }

    /// The frame that was recorded last.
    pub fn recorded(&self) -> &[u8] {
        &self.bytes
    }

    /// World seconds of the frame that is played, and whether they were played when they were
    /// recorded (or jumped over); no time where none is loaded.
    pub fn time(&self) -> (f64, bool) {
        (self.frame.dt, self.frame.played)
    }

    /// Who goes before the frame that is played.
    pub fn goings(&self) -> &[CharacterId] {
        &self.frame.gone
    }

    /// Who comes before the frame that is played, and of which generation.
    pub fn comings(&self) -> impl Iterator<Item = (CharacterId, u32)> {
        self.frame.came.iter().copied()
    }

    /// Puts a frame together from what the workers recorded and who came and went.
    pub fn assemble<'a>(
        &mut self,
        time: (f64, bool),
        characters: &Characters,
        spools: impl Iterator<Item = &'a mut Spool>,
    ) {
        self.bytes.clear();
        let blocks = &characters.blocks[..];
        let ticks = blocks.iter().any(|block| block.start | block.stop != 0);
        let turnover = blocks.iter().any(|block| block.gone | block.came != 0);
        frame::write_time(time, Parts { ticks, turnover }, &mut self.bytes);
        let count = |of: fn(&Block) -> u64| blocks.iter().map(|b| of(b).count_ones()).sum();
        if turnover {
            frame::write_ids(count(|b| b.gone), ids(blocks, |b| b.gone), &mut self.bytes);
            let came = ids(blocks, |b| b.came).map(|id| (id, characters.generations[id.get()]));
            frame::write_comings(count(|b| b.came), came, &mut self.bytes);
        }
        let hands: [fn(&Block) -> u64; 4] = [|b| b.leave, |b| b.enter, |b| b.start, |b| b.stop];
        let lists = if ticks { 4 } else { 2 };
        for of in hands.into_iter().take(lists) {
            frame::write_ids(count(of), ids(blocks, of), &mut self.bytes);
        }
        spool::merge(spools, &mut self.desk, &mut self.bytes);
    }

    /// Takes a frame to be played; the buffer of the one before comes back in its place. The
    /// whole frame is checked: its ids against the crowd's, its lists as lists of their kinds.
    ///
    /// # Errors
    /// [`ReplayError::Frame`]; nothing is loaded then.
    pub fn load(
        &mut self,
        bytes: &mut Vec<u8>,
        characters: &Characters,
    ) -> Result<(), ReplayError> {
        let number = self.number;
        self.frame.clear();
        std::mem::swap(&mut self.bytes, bytes);
        let read = self.frame.read(&self.bytes, characters.kinds.len() as u32);
        let loaded = read.and_then(|()| self.check(characters));
        self.number += 1;
        loaded.map_err(|what| {
            self.frame.clear();
            ReplayError::Frame { frame: number, what }
        })
    }

    /// Who has gone was there, and who has come was not. Of those who are there: who comes holds no
    /// slot, who goes holds one, who has a list has one in between; every list is one, and names what
    /// there is.
    fn check(&mut self, characters: &Characters) -> Result<(), String> {
        let Characters { blocks, kinds, places, .. } = characters;
        let none = Extents::default();
        let is = |id: CharacterId, of: fn(&Block) -> u64| {
            of(&blocks[id.get() / BLOCK]) >> (id.get() % BLOCK) & 1 == 1
        };
        let frame = &self.frame;
        let among = |ids: &[CharacterId], id: CharacterId| ids.binary_search(&id).is_ok();
        // Who has gone took its slot along, and a leader that has gone those of its followers.
        let stays = |id: CharacterId| !among(&frame.gone, id);
        let led = |id: CharacterId| match places[id.get()] {
            Place::Following { leader, .. } => stays(leader),
            _ => true,
        };
        let leased = |id: CharacterId| is(id, |block| block.leased) && stays(id) && led(id);
        let ticking = |id: CharacterId| is(id, |block| block.ticking) && stays(id);
        let was_there = |id: CharacterId| is(id, |block| block.present);
        let came = |id: CharacterId| frame.came.binary_search_by_key(&id, |(id, _)| *id).is_ok();
        let is_there = |id: CharacterId| was_there(id) && stays(id) || came(id);
        if let Some(id) = frame.gone.iter().find(|id| !was_there(**id)) {
            return Err(format!("character {id} goes and was not there"));
        }
        if let Some((id, _)) = frame.came.iter().find(|(id, _)| was_there(*id) && stays(*id)) {
            return Err(format!("character {id} comes and was there"));
        }
        let other = |ids: &[CharacterId], has: &dyn Fn(CharacterId) -> bool, expected: bool| {
            ids.iter().copied().find(|id| has(*id) != expected)
        };
        let gives = other(&frame.left, &leased, true).or(other(&frame.stopped, &ticking, true));
        if let Some(id) = gives {
            return Err(format!("character {id} gives back a slot that it has not"));
        }
        let mut acts = [&frame.entered, &frame.started, &frame.evaluated].into_iter().flatten();
        if let Some(id) = acts.find(|id| !is_there(**id)) {
            return Err(format!("character {id} acts and is not there"));
        }
        let posed =
            |id: CharacterId| leased(id) && !among(&frame.left, id) || among(&frame.entered, id);
        let ticks = |id: CharacterId| ticking(id) && !among(&frame.stopped, id);
        let follows = |id: CharacterId| characters.follows(id) && stays(id);
        let shares = |id: CharacterId| {
            let shares = characters.mask(id.get() / BLOCK).shares >> (id.get() % BLOCK) & 1 == 1;
            shares && follows(id) && led(id)
        };
        let by_itself = other(&frame.evaluated, &follows, false);
        let by_itself = by_itself.or(other(&frame.started, &follows, false));
        if let Some(id) = by_itself.or(other(&frame.entered, &shares, false)) {
            return Err(format!("character {id} does by itself what its leader does for it"));
        }
        let second = other(&frame.entered, &|id| leased(id) || ticks(id), false).or(other(
            &frame.started,
            &|id| posed(id) || ticking(id),
            false,
        ));
        if let Some(id) = second {
            return Err(format!("character {id} is given a second slot"));
        }
        for id in &frame.evaluated {
            if let Some(entry) = frame.entry(*id) {
                // Of those whose clocks alone ran, what their roots did is all there is.
                let ticks = ticks(*id) || among(&frame.started, *id);
                match entry.list.is_empty() {
                    true if ticks => continue,
                    _ if posed(*id) => {}
                    _ => return Err(format!("character {id} evaluates without a slot")),
                }
                let extents = self.extents.get(kinds[id.get()].get()).unwrap_or(&none);
                serial::decode(&self.bytes[entry.list.clone()], &mut self.scratch)
                    .and_then(|()| serial::check(&self.scratch, extents))
                    .map_err(|e: ListError| format!("character {id}: {e}"))?;
            }
        }
        Ok(())
    }

    /// Tells the gate who comes, who goes and who evaluates in the frame that is played.
    pub fn change_hands(&self, blocks: &mut [Block]) {
        for block in blocks.iter_mut() {
            (block.enter, block.leave, block.start, block.stop) = (0, 0, 0, 0);
            block.rates.due = 0;
        }
        type Hand = fn(&mut Block) -> &mut u64;
        let Frame { evaluated, left, entered, started, stopped, .. } = &self.frame;
        let hands: [(&[CharacterId], Hand); 5] = [
            (evaluated, |block| &mut block.rates.due),
            (left, |block| &mut block.leave),
            (entered, |block| &mut block.enter),
            (started, |block| &mut block.start),
            (stopped, |block| &mut block.stop),
        ];
        for (ids, hand) in hands {
            for id in ids {
                *hand(&mut blocks[id.get() / BLOCK]) |= 1 << (id.get() % BLOCK);
            }
        }
    }

    /// A character's list and the ground that its root covered in the frame that is played. `None`
    /// for who does not evaluate.
    pub fn take(&self, id: CharacterId, list: &mut TaskList) -> Option<GroundMotion> {
        let entry = self.frame.entry(id)?;
        if entry.list.is_empty() {
            list.clear();
            return Some(entry.motion);
        }
        let decoded = serial::decode(&self.bytes[entry.list], list);
        debug_assert_eq!(decoded, Ok(()), "the list was checked when it was loaded");
        Some(entry.motion)
    }

    /// A frame that was played is over.
    pub fn done(&mut self) {
        if self.plays() {
            self.frame.clear();
        }
    }
}

fn ids(blocks: &[Block], of: fn(&Block) -> u64) -> impl Iterator<Item = CharacterId> {
    let bits = move |(b, block): (usize, &Block)| {
        super::characters::bits(of(block)).map(move |i| CharacterId((b * BLOCK + i) as u32))
    };
    blocks.iter().enumerate().filter(move |(_, block)| of(block) != 0).flat_map(bits)
}
