//! What a recording is of: characters, what their lists refer to beside skeleton and clips, and the
//! settings of the run.

use super::ReplayError;
use crate::index::{BoneIndex, ClipId};
use crate::motion::RootLock;
use crate::task::serial::LIST_VERSION;
use std::io::Read;
use std::sync::Arc;
use twox_hash::XxHash3_64;

const MAGIC: [u8; 8] = *b"THRNGREC";
/// Of everything but the lists, which have a version of their own.
pub(super) const VERSION: u16 = 3;
/// The longest name, bytes.
const MAX_NAME: usize = 1 << 10;
/// The longest settings, bytes.
const MAX_SETTINGS: usize = 1 << 20;
/// The longest header, bytes: what a file can make its reader hold.
const MAX_HEADER: usize = 64 << 20;
/// Metres of room that anybody may have.
const MAX_ROOM: f32 = 1_000.0;
const LOCKS: [RootLock; 4] = [RootLock::None, RootLock::Position, RootLock::Planar, RootLock::Full];

/// A kind of character that was there.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordedKind {
    /// For messages.
    pub name: String,
    /// Of skeleton and clips.
    pub checksum: u64,
    /// What its lists refer to, when a graph played it.
    pub graph: Option<Arc<RecordedGraph>>,
}

/// What a graph gave to the lists that it recorded: all that is needed of it to execute them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RecordedGraph {
    /// The program's, for messages.
    pub name: String,
    /// Poses hold scale.
    pub scale: bool,
    /// Histories that each character keeps while it evaluates.
    pub histories: u16,
    /// Snapshots that each keeps.
    pub snapshots: u16,
    /// Metres of room around a character, beyond what it reaches, when it is placed; 0..=1000.
    pub room: f32,
    /// Clips that were kept in place behind the rig's own, in their order.
    pub in_place: Vec<InPlaceClip>,
    /// A weight in 0..=1 for each bone of each mask.
    pub masks: Vec<Vec<f32>>,
}

/// What a clip in place was made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InPlaceClip {
    /// The clip with the motion.
    pub clip: ClipId,
    /// The bone that was held.
    pub root: BoneIndex,
    /// How much of its motion was taken.
    pub lock: RootLock,
}

/// What a recording is of.
#[derive(Clone, Debug, PartialEq)]
pub struct ReplayHeader {
    /// Characters that the world was made for; those who were there from the start, unless they came
    /// one by one.
    pub count: u32,
    /// In the order of the crowd's kinds.
    pub kinds: Vec<RecordedKind>,
    /// Of where everybody stood at first: [`Crowd::places_checksum`](crate::crowd::Crowd).
    pub places: u64,
    /// What the program needs to set the same scene, in a language of its own.
    pub settings: String,
}

impl ReplayHeader {
    /// The header's bytes and their checksum.
    ///
    /// # Errors
    /// When it is longer than a reader would take.
    pub(super) fn to_bytes(&self) -> std::io::Result<Vec<u8>> {
        let mut out = Vec::new();
        out.extend(MAGIC);
        out.extend(VERSION.to_le_bytes());
        out.extend([LIST_VERSION, 0]);
        out.extend(self.count.to_le_bytes());
        out.extend((self.kinds.len() as u32).to_le_bytes());
        for kind in &self.kinds {
            text(&kind.name, MAX_NAME, &mut out);
            out.extend(kind.checksum.to_le_bytes());
            out.push(u8::from(kind.graph.is_some()));
            if let Some(graph) = &kind.graph {
                graph.write(&mut out);
            }
        }
        out.extend(self.places.to_le_bytes());
        text(&self.settings, MAX_SETTINGS, &mut out);
        out.extend(XxHash3_64::oneshot(&out).to_le_bytes());
        if out.len() > MAX_HEADER {
            let (len, most) = (out.len(), MAX_HEADER);
            let text = format!("the header would take {len} bytes, {most} are the most");
            return Err(std::io::Error::other(text));
        }
        Ok(out)
    }

    pub(super) fn read(from: &mut impl Read) -> Result<Self, ReplayError> {
        let mut from = Checked { from, read: Vec::new() };
        if from.take::<8>().ok() != Some(MAGIC) {
            return Err(ReplayError::Magic);
        }
        let version = from.u16()?;
        let [lists, unused] = from.take()?;
        if (version, lists) != (VERSION, LIST_VERSION) {
            return Err(ReplayError::Version {
                found: format!("{version}.{lists}"),
                wanted: format!("{VERSION}.{LIST_VERSION}"),
            });
        }
        if unused != 0 {
            return Err(damaged("its header's unused byte is used"));
        }
        let count = from.u32()?;
        let mut kinds = Vec::new();
        for _ in 0..from.u32()? {
            let name = from.text(MAX_NAME)?;
            let checksum = from.u64()?;
            let graph = match from.u8()? {
                0 => None,
                1 => Some(Arc::new(RecordedGraph::read(&mut from)?)),
                _ => return Err(damaged("a kind of its header is played by nothing")),
            };
            kinds.push(RecordedKind { name, checksum, graph });
        }
        let places = from.u64()?;
        let settings = from.text(MAX_SETTINGS)?;
        let checksum = XxHash3_64::oneshot(&from.read);
        match from.u64()? == checksum {
            true => Ok(Self { count, kinds, places, settings }),
            false => Err(damaged("its header has another checksum")),
        }
    }
}

impl RecordedGraph {
    fn write(&self, out: &mut Vec<u8>) {
        text(&self.name, MAX_NAME, out);
        out.push(u8::from(self.scale));
        out.extend(self.histories.to_le_bytes());
        out.extend(self.snapshots.to_le_bytes());
        out.extend(self.room.to_le_bytes());
        out.extend((self.in_place.len() as u16).to_le_bytes());
        for InPlaceClip { clip, root, lock } in &self.in_place {
            out.extend(clip.0.to_le_bytes());
            out.extend(root.0.to_le_bytes());
            out.push(*lock as u8);
        }
        out.extend((self.masks.len() as u16).to_le_bytes());
        for mask in &self.masks {
            out.extend((mask.len() as u16).to_le_bytes());
            mask.iter().for_each(|weight| out.extend(weight.to_le_bytes()));
        }
    }

    fn read<R: Read>(from: &mut Checked<'_, R>) -> Result<Self, ReplayError> {
        let name = from.text(MAX_NAME)?;
        let scale = match from.u8()? {
            0 => false,
            1 => true,
            _ => return Err(damaged("a kind of its header has half a scale")),
        };
        let (histories, snapshots) = (from.u16()?, from.u16()?);
        let room = f32::from_le_bytes(from.take()?);
        if !(0.0..=MAX_ROOM).contains(&room) {
            return Err(damaged("characters of its header have more room than the world"));
        }
        let mut in_place = Vec::new();
        for _ in 0..from.u16()? {
            let (clip, root) = (ClipId(from.u16()?), BoneIndex(from.u16()?));
            let lock = LOCKS.get(usize::from(from.u8()?)).copied();
            let lock = lock.ok_or_else(|| damaged("a clip of its header has an unknown lock"))?;
            in_place.push(InPlaceClip { clip, root, lock });
        }
        let mut masks = Vec::new();
        for _ in 0..from.u16()? {
            let bones = from.u16()?;
            let (weights, _) = from.bytes(usize::from(bones) * 4)?.as_chunks::<4>();
            let weights: Vec<_> = weights.iter().map(|w| f32::from_le_bytes(*w)).collect();
            if weights.iter().any(|w| !(0.0..=1.0).contains(w)) {
                return Err(damaged("a weight of its header's masks is not in 0..1"));
            }
            masks.push(weights);
        }
        Ok(Self { name, scale, histories, snapshots, room, in_place, masks })
    }
}

pub(super) fn damaged(what: &str) -> ReplayError {
    ReplayError::Damaged { what: what.to_owned() }
}

/// An end of the file where none should be, told as what it is.
pub(super) fn cut(error: std::io::Error, frames: u64) -> ReplayError {
    match error.kind() {
        std::io::ErrorKind::UnexpectedEof => ReplayError::CutShort { frames },
        _ => ReplayError::Io(error),
    }
}

/// Appends a text with its length; what is too long is cut.
fn text(text: &str, most: usize, out: &mut Vec<u8>) {
    let text = &text[..text.floor_char_boundary(most)];
    out.extend((text.len() as u32).to_le_bytes());
    out.extend(text.as_bytes());
}

/// Reads and remembers.
struct Checked<'a, R> {
    from: &'a mut R,
    read: Vec<u8>,
}

impl<R: Read> Checked<'_, R> {
    fn bytes(&mut self, len: usize) -> Result<&[u8], ReplayError> {
        let at = self.read.len();
        if at + len > MAX_HEADER {
            return Err(damaged("its header is too long"));
        }
        self.read.resize(at + len, 0);
        self.from.read_exact(&mut self.read[at..]).map_err(|e| cut(e, 0))?;
        Ok(&self.read[at..])
    }

    fn take<const N: usize>(&mut self) -> Result<[u8; N], ReplayError> {
        let mut array = [0; N];
        array.copy_from_slice(self.bytes(N)?);
        Ok(array)
    }

    fn u8(&mut self) -> Result<u8, ReplayError> {
        self.take().map(u8::from_le_bytes)
    }

    fn u16(&mut self) -> Result<u16, ReplayError> {
        self.take().map(u16::from_le_bytes)
    }

    fn u32(&mut self) -> Result<u32, ReplayError> {
        self.take().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Result<u64, ReplayError> {
        self.take().map(u64::from_le_bytes)
    }

    fn text(&mut self, most: usize) -> Result<String, ReplayError> {
        let len = self.u32()? as usize;
        if len > most {
            return Err(damaged("a text of its header is too long"));
        }
        let bytes = self.bytes(len)?.to_vec();
        String::from_utf8(bytes).map_err(|_| damaged("a text of its header is none"))
    }
}

#[cfg(test)]
mod tests;
