//! What one worker records of a frame.

use super::frame::write_motion;
use crate::index::CharacterId;
use crate::motion::GroundMotion;
use crate::task::TaskList;
use crate::task::serial::{self, varint};

/// A worker's share of a frame: characters in the order in which they were evaluated.
#[derive(Debug, Default)]
pub(crate) struct Spool {
    bytes: Vec<u8>,
    entries: Vec<Entry>,
}

/// Where a character's bytes are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    id: CharacterId,
    motion: GroundMotion,
    /// Where the list begins and ends.
    list: usize,
    end: usize,
}

impl Spool {
    /// Makes room for so many characters, so that frames need not: any worker may take nearly all.
    pub fn reserve(&mut self, characters: usize) {
        self.bytes.reserve(room(characters));
        self.entries.reserve(characters);
    }

    /// Adds a character whose clocks alone ran.
    pub fn push_ticked(&mut self, id: CharacterId, motion: GroundMotion) {
        let at = self.bytes.len();
        self.entries.push(Entry { id, motion, list: at, end: at });
    }

    /// Adds a character that is about to be executed.
    pub fn push(&mut self, id: CharacterId, motion: GroundMotion, list: &TaskList) {
        let at = self.bytes.len();
        serial::encode(list, &mut self.bytes);
        self.entries.push(Entry { id, motion, list: at, end: self.bytes.len() });
    }
}

/// What spools are put together in.
#[derive(Debug, Default)]
pub(super) struct Desk {
    bytes: Vec<u8>,
    order: Vec<Entry>,
}

impl Desk {
    /// Makes room for so many characters.
    pub fn reserve(&mut self, characters: usize) {
        self.bytes.reserve(room(characters));
        self.order.reserve(characters);
    }
}

/// Bytes that the lists of so many characters hardly exceed.
pub(super) fn room(characters: usize) -> usize {
    /// A list of the built-in graphs takes some 210.
    const OF_ONE: usize = 256;
    const LEAST: usize = 1 << 18;
    const MOST: usize = 1 << 26;
    (characters * OF_ONE).clamp(LEAST, MOST)
}

/// Appends everybody to a frame in the order of ids, and leaves the spools empty.
pub(super) fn merge<'a>(
    spools: impl Iterator<Item = &'a mut Spool>,
    Desk { bytes, order }: &mut Desk,
    out: &mut Vec<u8>,
) {
    bytes.clear();
    order.clear();
    for spool in spools {
        let base = bytes.len();
        bytes.append(&mut spool.bytes);
        order.extend(spool.entries.drain(..).map(|e| Entry {
            list: base + e.list,
            end: base + e.end,
            ..e
        }));
    }
    order.sort_unstable_by_key(|entry| entry.id);
    varint::put(order.len() as u32, out);
    let mut next = 0;
    for Entry { id, motion, list, end } in order.iter() {
        varint::put(id.0 - next, out);
        next = id.0 + 1;
        write_motion(*motion, out);
        varint::put((end - list) as u32, out);
        out.extend_from_slice(&bytes[*list..*end]);
    }
}
