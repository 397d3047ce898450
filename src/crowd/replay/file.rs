//! What frames are kept in: a header, frames with their lengths and checksums, an end.

use super::ReplayError;
use crate::task::serial::LIST_VERSION;
use std::io::{BufRead, Read, Seek, SeekFrom, Write};
use twox_hash::XxHash3_64;

const MAGIC: [u8; 8] = *b"THRNGREC";
/// Of everything but the lists, which have a version of their own.
const VERSION: u16 = 1;
/// The longest name of a kind, bytes.
const MAX_NAME: usize = 1 << 10;
/// The longest settings, bytes.
const MAX_SETTINGS: usize = 1 << 20;

/// A kind of character that was there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedKind {
    /// For messages.
    pub name: String,
    /// Of skeleton and clips.
    pub checksum: u64,
}

/// What a recording is of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplayHeader {
    /// Characters in the world.
    pub count: u32,
    /// In the order of the crowd's kinds.
    pub kinds: Vec<RecordedKind>,
    /// What the program needs to set the same scene, in a language of its own.
    pub settings: String,
}

impl ReplayHeader {
    /// Appends the header and its checksum.
    fn write(&self, out: &mut Vec<u8>) {
        out.extend(MAGIC);
        out.extend(VERSION.to_le_bytes());
        out.extend([LIST_VERSION, 0]);
        out.extend(self.count.to_le_bytes());
        out.extend((self.kinds.len() as u32).to_le_bytes());
        for kind in &self.kinds {
            text(&kind.name, MAX_NAME, out);
            out.extend(kind.checksum.to_le_bytes());
        }
        text(&self.settings, MAX_SETTINGS, out);
        out.extend(XxHash3_64::oneshot(out).to_le_bytes());
    }

    fn read(from: &mut impl Read) -> Result<Self, ReplayError> {
        let mut from = Checked { from, read: Vec::new() };
        if from.take::<8>().ok() != Some(MAGIC) {
            return Err(ReplayError::Magic);
        }
        let version = u16::from_le_bytes(from.take()?);
        let [lists, _] = from.take()?;
        if (version, lists) != (VERSION, LIST_VERSION) {
            return Err(ReplayError::Version {
                found: format!("{version}.{lists}"),
                wanted: format!("{VERSION}.{LIST_VERSION}"),
            });
        }
        let count = u32::from_le_bytes(from.take()?);
        let kinds = u32::from_le_bytes(from.take()?);
        let mut all = Vec::new();
        for _ in 0..kinds {
            let name = from.text(MAX_NAME)?;
            let checksum = u64::from_le_bytes(from.take()?);
            all.push(RecordedKind { name, checksum });
        }
        let settings = from.text(MAX_SETTINGS)?;
        let checksum = XxHash3_64::oneshot(&from.read);
        match u64::from_le_bytes(from.take()?) == checksum {
            true => Ok(Self { count, kinds: all, settings }),
            false => Err(damaged("its header has another checksum")),
        }
    }
}

fn damaged(what: &str) -> ReplayError {
    ReplayError::Damaged { what: what.to_owned() }
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
        self.read.resize(at + len, 0);
        self.from.read_exact(&mut self.read[at..]).map_err(|e| cut(e, 0))?;
        Ok(&self.read[at..])
    }

    fn take<const N: usize>(&mut self) -> Result<[u8; N], ReplayError> {
        let mut array = [0; N];
        array.copy_from_slice(self.bytes(N)?);
        Ok(array)
    }

    fn text(&mut self, most: usize) -> Result<String, ReplayError> {
        let len = u32::from_le_bytes(self.take()?) as usize;
        if len > most {
            return Err(damaged("a text of its header is too long"));
        }
        let bytes = self.bytes(len)?.to_vec();
        String::from_utf8(bytes).map_err(|_| damaged("a text of its header is none"))
    }
}

/// An end of the file where none should be, told as what it is.
fn cut(error: std::io::Error, frames: u64) -> ReplayError {
    match error.kind() {
        std::io::ErrorKind::UnexpectedEof => ReplayError::CutShort { frames },
        _ => ReplayError::Io(error),
    }
}

/// A frame's checksum; frames that were exchanged are noticed too.
fn checksum(frame: &[u8], number: u64) -> u64 {
    XxHash3_64::oneshot_with_seed(number, frame)
}

/// Writes a recording.
#[derive(Debug)]
pub struct ReplayWriter<W> {
    to: W,
    frames: u64,
    bytes: u64,
}

impl<W: Write> ReplayWriter<W> {
    /// Begins a recording.
    ///
    /// # Errors
    /// Of the file system.
    pub fn new(mut to: W, header: &ReplayHeader) -> std::io::Result<Self> {
        let mut bytes = Vec::new();
        header.write(&mut bytes);
        to.write_all(&bytes)?;
        Ok(Self { to, frames: 0, bytes: bytes.len() as u64 })
    }

    /// Appends a frame. An empty one would be the end, and is left out.
    ///
    /// # Errors
    /// Of the file system; a frame of 4 GiB or more.
    pub fn frame(&mut self, frame: &[u8]) -> std::io::Result<()> {
        let len = u32::try_from(frame.len()).map_err(std::io::Error::other)?;
        if len > 0 {
            self.to.write_all(&len.to_le_bytes())?;
            self.to.write_all(frame)?;
            self.to.write_all(&checksum(frame, self.frames).to_le_bytes())?;
            self.frames += 1;
            self.bytes += u64::from(len) + 12;
        }
        Ok(())
    }

    /// Writes the end. Gives what was written to, the number of frames and of bytes.
    ///
    /// # Errors
    /// Of the file system.
    pub fn finish(mut self) -> std::io::Result<(W, u64, u64)> {
        self.to.write_all(&0u32.to_le_bytes())?;
        self.to.write_all(&self.frames.to_le_bytes())?;
        self.to.flush()?;
        Ok((self.to, self.frames, self.bytes + 12))
    }
}

/// Reads a recording, of which the end is known to be there.
#[derive(Debug)]
pub struct ReplayReader<R> {
    from: R,
    header: ReplayHeader,
    frames: u64,
    next: u64,
}

impl<R: BufRead + Seek> ReplayReader<R> {
    /// Reads the header and looks for the end.
    ///
    /// # Errors
    /// [`ReplayError`], but for what is inside of frames.
    pub fn new(mut from: R) -> Result<Self, ReplayError> {
        let header = ReplayHeader::read(&mut from)?;
        let start = from.stream_position()?;
        let size = from.seek(SeekFrom::End(0))?;
        from.seek(SeekFrom::Start(start))?;
        let mut frames = 0;
        let mut at = start;
        loop {
            let len = u32::from_le_bytes(take(&mut from, frames)?);
            at += 4;
            if len == 0 {
                break;
            }
            at += u64::from(len) + 8;
            if at > size {
                return Err(ReplayError::CutShort { frames });
            }
            from.seek_relative(i64::from(len) + 8)?;
            frames += 1;
        }
        if u64::from_le_bytes(take(&mut from, frames)?) != frames {
            return Err(damaged("its end names another number of frames"));
        }
        if at + 8 != size {
            return Err(damaged("bytes follow its end"));
        }
        from.seek(SeekFrom::Start(start))?;
        Ok(Self { from, header, frames, next: 0 })
    }

    /// What it is of.
    pub fn header(&self) -> &ReplayHeader {
        &self.header
    }

    /// How many frames it has.
    pub fn frames(&self) -> u64 {
        self.frames
    }

    /// Reads the next frame into a buffer that is kept. False at the end.
    ///
    /// # Errors
    /// [`ReplayError::Damaged`] when the checksum is another.
    pub fn frame(&mut self, frame: &mut Vec<u8>) -> Result<bool, ReplayError> {
        frame.clear();
        if self.next == self.frames {
            return Ok(false);
        }
        let number = self.next;
        let len = u32::from_le_bytes(take(&mut self.from, number)?);
        frame.resize(len as usize, 0);
        self.from.read_exact(frame).map_err(|e| cut(e, number))?;
        if u64::from_le_bytes(take(&mut self.from, number)?) != checksum(frame, number) {
            return Err(ReplayError::Damaged {
                what: format!("frame {number} has another checksum"),
            });
        }
        self.next += 1;
        Ok(true)
    }
}

fn take<const N: usize>(from: &mut impl Read, frames: u64) -> Result<[u8; N], ReplayError> {
    let mut array = [0; N];
    from.read_exact(&mut array).map_err(|e| cut(e, frames))?;
    Ok(array)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    fn header() -> ReplayHeader {
        ReplayHeader {
            count: 7,
            kinds: vec![RecordedKind { name: "fuchs \u{1f98a}".into(), checksum: 0xfeed }],
            settings: "{}".into(),
        }
    }

    fn recording(frames: &[&[u8]]) -> Vec<u8> {
        let mut writer = ReplayWriter::new(Vec::new(), &header()).unwrap();
        frames.iter().for_each(|frame| writer.frame(frame).unwrap());
        let (bytes, count, len) = writer.finish().unwrap();
        assert_eq!((count, len), (frames.len() as u64, bytes.len() as u64));
        bytes
    }

    fn read(bytes: &[u8]) -> Result<Vec<Vec<u8>>, ReplayError> {
        let mut reader = ReplayReader::new(Cursor::new(bytes))?;
        assert_eq!(*reader.header(), header());
        let (mut frames, mut frame) = (Vec::new(), Vec::new());
        while reader.frame(&mut frame)? {
            frames.push(frame.clone());
        }
        assert_eq!(frames.len() as u64, reader.frames());
        Ok(frames)
    }

    #[test]
    fn frames_come_back_in_order() {
        let frames: [&[u8]; 3] = [b"one", b"two", &[0; 100_000]];
        assert_eq!(read(&recording(&frames)).unwrap(), frames);
        assert!(read(&recording(&[])).unwrap().is_empty());
    }

    #[test]
    fn a_recording_cut_anywhere_is_refused_with_the_frames_it_has() {
        let bytes = recording(&[b"first", b"second"]);
        let end = bytes.len();
        for len in 0..end {
            let error = read(&bytes[..len]).unwrap_err();
            match error {
                ReplayError::Magic => assert!(len < 8),
                ReplayError::CutShort { frames } => {
                    // Lengths, frames and checksums, from the end: 12 bytes of end.
                    let whole = u64::from(len >= end - 12 - 18) + u64::from(len >= end - 12);
                    assert_eq!(frames, whole, "cut at {len} of {end}");
                }
                other => panic!("cut at {len}: {other}"),
            }
        }
    }

    #[test]
    fn every_changed_byte_is_noticed() {
        let bytes = recording(&[b"first", b"second"]);
        for at in 0..bytes.len() {
            for change in [1, 0x80] {
                let mut bytes = bytes.clone();
                bytes[at] ^= change;
                // One byte of the version's line is not used.
                let noticed = read(&bytes).is_err();
                assert!(noticed, "byte {at}");
            }
        }
        let longer = [&bytes[..], &[0]].concat();
        assert!(read(&longer).unwrap_err().to_string().contains("follow its end"));
    }

    #[test]
    fn other_files_and_other_versions_say_what_they_are() {
        let message = |bytes: &[u8]| read(bytes).unwrap_err().to_string();
        assert_eq!(message(b"glTF and so on"), "it is no recording of Throng");
        let mut newer = recording(&[]);
        newer[8] = 9;
        let text = message(&newer);
        let lists = LIST_VERSION;
        let both = [format!("version 9.{lists},"), format!("version {VERSION}.{lists};")];
        assert!(both.iter().all(|version| text.contains(version)), "{text}");
    }

    #[test]
    fn names_and_settings_without_end_do_not_set_memory_aside() {
        let mut bytes = recording(&[]);
        // The length of the first kind's name.
        bytes[20..24].copy_from_slice(&u32::MAX.to_le_bytes());
        assert!(matches!(read(&bytes), Err(ReplayError::Damaged { .. })));
        // The number of kinds.
        let mut bytes = recording(&[]);
        bytes[16..20].copy_from_slice(&u32::MAX.to_le_bytes());
        assert!(read(&bytes).is_err());
    }
}
