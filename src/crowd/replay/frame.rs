//! One frame's bytes.

use crate::index::CharacterId;
use crate::motion::GroundMotion;
use crate::task::serial::ListError;
use crate::task::serial::varint::{self, Bytes};
use std::ops::Range;

/// The root covered ground.
const MOVED: u8 = 1;
const PLAYED: u8 = 1;
/// Two more lists of ids: whose clocks were given a slot of their own, and whose gave it back.
const TICKS: u8 = 2;
/// Before those, two lists of who went and of who came before the frame.
const TURNOVER: u8 = 4;
const NOBODY: u32 = u32::MAX;

/// What a frame has beside what every frame has.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Parts {
    /// Clocks came and went.
    pub ticks: bool,
    /// Characters came and went.
    pub turnover: bool,
}

/// Appends seconds, whether they were played, and what there is of the frame.
pub(super) fn write_time((dt, played): (f64, bool), parts: Parts, out: &mut Vec<u8>) {
    out.extend_from_slice(&dt.to_bits().to_le_bytes());
    let flags = [(played, PLAYED), (parts.ticks, TICKS), (parts.turnover, TURNOVER)];
    out.push(flags.into_iter().fold(0, |all, (on, flag)| if on { all | flag } else { all }));
}

/// Appends `count` ids, which ascend, each with its generation.
pub(super) fn write_comings(
    count: u32,
    comings: impl Iterator<Item = (CharacterId, u32)>,
    out: &mut Vec<u8>,
) {
    varint::put(count, out);
    let mut next = 0;
    for (id, generation) in comings {
        varint::put(id.0 - next, out);
        varint::put(generation, out);
        next = id.0 + 1;
    }
}

/// Appends `count` ids, which ascend: how many, and the gap before each.
pub(super) fn write_ids(count: u32, ids: impl Iterator<Item = CharacterId>, out: &mut Vec<u8>) {
    varint::put(count, out);
    let mut next = 0;
    for id in ids {
        varint::put(id.0 - next, out);
        next = id.0 + 1;
    }
}

/// Appends what a root covered, if it covered anything.
pub(super) fn write_motion(motion: GroundMotion, out: &mut Vec<u8>) {
    if motion == GroundMotion::IDENTITY {
        return out.push(0);
    }
    out.push(MOVED);
    for v in [motion.x, motion.z, motion.yaw] {
        out.extend_from_slice(&v.to_bits().to_le_bytes());
    }
}

/// `None` for what moves by no number.
fn read_motion(from: &mut Bytes<'_>) -> Result<Option<GroundMotion>, ListError> {
    let [flags] = from.take()?;
    if flags == 0 {
        return Ok(Some(GroundMotion::IDENTITY));
    }
    let mut float = || from.take().map(f32::from_le_bytes);
    let motion = GroundMotion { x: float()?, z: float()?, yaw: float()? };
    let finite = motion.x.is_finite() && motion.z.is_finite() && motion.yaw.is_finite();
    Ok(Some(motion).filter(|_| finite && flags == MOVED))
}

/// Where things are in a frame's bytes.
#[derive(Debug, Default)]
pub(super) struct Frame {
    /// World seconds; zero when nothing is loaded.
    pub dt: f64,
    pub played: bool,
    /// Who had gone since the frame before, ascending.
    pub gone: Vec<CharacterId>,
    /// Who had come, ascending, and of which generation.
    pub came: Vec<(CharacterId, u32)>,
    /// Who gave a palette slot back, ascending.
    pub left: Vec<CharacterId>,
    /// Who was given a palette slot, ascending.
    pub entered: Vec<CharacterId>,
    /// Who was given a slot without matrices, ascending.
    pub started: Vec<CharacterId>,
    /// Who gave that back, ascending.
    pub stopped: Vec<CharacterId>,
    /// Who evaluated, ascending.
    pub evaluated: Vec<CharacterId>,
    /// Of each of these.
    entries: Vec<Entry>,
    /// By id: which of them, or nobody.
    places: Vec<u32>,
}

/// What is recorded of a character that evaluated.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub motion: GroundMotion,
    /// Its list's bytes; none for who ran its clocks alone.
    pub list: Range<usize>,
}

impl Frame {
    /// Nothing is loaded.
    pub fn clear(&mut self) {
        for id in self.evaluated.drain(..) {
            self.places[id.get()] = NOBODY;
        }
        self.entries.clear();
        self.came.clear();
        let Self { gone, left, entered, started, stopped, .. } = self;
        [gone, left, entered, started, stopped].into_iter().for_each(Vec::clear);
        (self.dt, self.played) = (0.0, true);
    }

    /// Finds everything in the bytes of a frame of a crowd with `count` places. An error says what is wrong;
    /// what was found so far is there then.
    pub fn read(&mut self, bytes: &[u8], count: u32) -> Result<(), String> {
        self.places.resize(count as usize, NOBODY);
        let mut from = Bytes::new(bytes);
        self.dt = f64::from_le_bytes(from.take().map_err(cut)?);
        if !self.dt.is_finite() {
            return Err("its time is no number".to_owned());
        }
        let [flags] = from.take().map_err(cut)?;
        if flags & !(PLAYED | TICKS | TURNOVER) != 0 {
            return Err(format!("its flags are {flags}"));
        }
        self.played = flags & PLAYED != 0;
        if flags & TURNOVER != 0 {
            read_ids(&mut from, count, &mut self.gone)?;
            let n = from.unsigned().map_err(cut)?;
            let mut next = 0;
            for _ in 0..n {
                let id = id_after(&mut next, from.unsigned().map_err(cut)?, count)?;
                self.came.push((id, from.unsigned().map_err(cut)?));
            }
        }
        let lists = if flags & TICKS == 0 { 2 } else { 4 };
        let lists_of = [&mut self.left, &mut self.entered, &mut self.started, &mut self.stopped];
        for ids in lists_of.into_iter().take(lists) {
            read_ids(&mut from, count, ids)?;
        }
        let n = from.unsigned().map_err(cut)?;
        let mut next = 0;
        for _ in 0..n {
            let id = id_after(&mut next, from.unsigned().map_err(cut)?, count)?;
            let motion = read_motion(&mut from).map_err(cut)?;
            let motion = motion.ok_or_else(|| format!("character {id} moves by no number"))?;
            let len = from.unsigned().map_err(cut)? as usize;
            let list = from.at()..from.at().saturating_add(len);
            from.skip(len).map_err(cut)?;
            self.places[id.get()] = self.entries.len() as u32;
            self.evaluated.push(id);
            self.entries.push(Entry { motion, list });
        }
        match from.left() {
            0 => Ok(()),
            extra => Err(format!("{extra} bytes follow it")),
        }
    }

    /// `None` for who did not evaluate.
    pub fn entry(&self, id: CharacterId) -> Option<Entry> {
        let place = *self.places.get(id.get())?;
        self.entries.get(place as usize).cloned()
    }
}

fn cut(_: ListError) -> String {
    "its bytes end too early or are no numbers".to_owned()
}

/// Ids of a crowd with `count` places.
fn read_ids(from: &mut Bytes<'_>, count: u32, ids: &mut Vec<CharacterId>) -> Result<(), String> {
    let n = from.unsigned().map_err(cut)?;
    let mut next = 0;
    for _ in 0..n {
        ids.push(id_after(&mut next, from.unsigned().map_err(cut)?, count)?);
    }
    Ok(())
}

/// The id that comes `gap` after those before `next`, which moves on.
fn id_after(next: &mut u32, gap: u32, count: u32) -> Result<CharacterId, String> {
    let id = next.checked_add(gap).filter(|id| *id < count);
    let id = id.ok_or_else(|| format!("it names a character past the crowd's {count}"))?;
    *next = id + 1;
    Ok(CharacterId(id))
}

#[cfg(test)]
mod tests {
    use super::super::Spool;
    use super::super::spool::{Desk, merge};
    use super::*;
    use crate::task::{Task, TaskList};
    use proptest::prelude::*;

    fn ids(ids: &[u32]) -> impl Iterator<Item = CharacterId> {
        ids.iter().map(|id| CharacterId(*id))
    }

    fn list() -> TaskList {
        let mut list = TaskList::default();
        let task = list.push(Task::ReferencePose).unwrap();
        list.set_output(task).unwrap();
        list
    }

    fn frame() -> Vec<u8> {
        let mut out = Vec::new();
        write_time((0.25, true), Parts { turnover: true, ..Parts::default() }, &mut out);
        write_ids(2, ids(&[0, 9]), &mut out);
        write_comings(2, [(CharacterId(0), 7), (CharacterId(700), 300)].into_iter(), &mut out);
        write_ids(1, ids(&[3]), &mut out);
        write_ids(3, ids(&[0, 1, 700]), &mut out);
        let mut spools = [Spool::default(), Spool::default()];
        let motion = GroundMotion { x: 1.0, z: -2.0, yaw: 0.5 };
        spools[1].push(CharacterId(1), GroundMotion::IDENTITY, &list());
        spools[0].push(CharacterId(700), motion, &list());
        spools[0].push(CharacterId(0), GroundMotion::IDENTITY, &TaskList::default());
        merge(spools.iter_mut(), &mut Desk::default(), &mut out);
        out
    }

    #[test]
    fn a_frame_comes_back_in_the_order_of_ids() {
        let mut frame_read = Frame::default();
        frame_read.read(&frame(), 701).unwrap();
        assert_eq!((frame_read.dt, frame_read.played), (0.25, true));
        assert_eq!(frame_read.gone, ids(&[0, 9]).collect::<Vec<_>>());
        assert_eq!(frame_read.came, [(CharacterId(0), 7), (CharacterId(700), 300)]);
        assert_eq!(frame_read.left, ids(&[3]).collect::<Vec<_>>());
        assert_eq!(frame_read.entered, ids(&[0, 1, 700]).collect::<Vec<_>>());
        assert_eq!(frame_read.evaluated, ids(&[0, 1, 700]).collect::<Vec<_>>());
        let entry = frame_read.entry(CharacterId(700)).unwrap();
        assert_eq!(entry.motion, GroundMotion { x: 1.0, z: -2.0, yaw: 0.5 });
        assert_eq!(frame_read.entry(CharacterId(1)).unwrap().motion, GroundMotion::IDENTITY);
        let mut back = TaskList::default();
        crate::task::serial::decode(&frame()[entry.list], &mut back).unwrap();
        assert_eq!(back.tasks(), list().tasks());
        assert!(frame_read.entry(CharacterId(2)).is_none());
        frame_read.clear();
        assert!(frame_read.gone.is_empty() && frame_read.came.is_empty());
        assert!(frame_read.entry(CharacterId(1)).is_none());
    }

    #[test]
    fn a_cut_frame_and_ids_past_the_crowd_are_refused() {
        let bytes = frame();
        for len in 0..bytes.len() {
            let mut read = Frame::default();
            assert!(read.read(&bytes[..len], 701).is_err(), "{len}");
        }
        let mut read = Frame::default();
        assert!(read.read(&bytes, 700).unwrap_err().contains("700"));
        let longer = [&bytes[..], &[0]].concat();
        assert!(Frame::default().read(&longer, 701).unwrap_err().contains("1 bytes"));
    }

    proptest! {
        #[test]
        fn random_bytes_are_a_frame_or_an_error(
            bytes in prop::collection::vec(any::<u8>(), 0..200), count in 0u32..500,
        ) {
            let mut read = Frame::default();
            let result = read.read(&bytes, count);
            prop_assert!(read.entries.len() <= bytes.len());
            if result.is_ok() {
                prop_assert!(read.evaluated.is_sorted() && read.entered.is_sorted());
            }
            read.clear();
            prop_assert!(read.places.iter().all(|p| *p == NOBODY));
        }
    }
}
