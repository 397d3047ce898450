//! What frames are kept in: a header, frames with their lengths and checksums, an end.

use super::ReplayError;
use super::header::{ReplayHeader, cut, damaged};
use std::io::{BufRead, Read, Seek, SeekFrom, Write};
use twox_hash::XxHash3_64;

/// The longest frame, bytes: what a file can make its reader hold. A character takes some hundred.
const MAX_FRAME: u32 = 512 << 20;

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
    /// Of the file system; a header of more than 64 MiB.
    pub fn new(mut to: W, header: &ReplayHeader) -> std::io::Result<Self> {
        let bytes = header.to_bytes()?;
        to.write_all(&bytes)?;
        Ok(Self { to, frames: 0, bytes: bytes.len() as u64 })
    }

    /// Appends a frame. An empty one would be the end, and is left out.
    ///
    /// # Errors
    /// Of the file system; a frame of more than 512 MiB.
    pub fn frame(&mut self, frame: &[u8]) -> std::io::Result<()> {
        let len = u32::try_from(frame.len()).ok().filter(|len| *len <= MAX_FRAME);
        let len = len.ok_or_else(|| {
            let len = frame.len();
            let text = format!("a frame would take {len} bytes, {MAX_FRAME} are the most");
            std::io::Error::other(text)
        })?;
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
            if len > MAX_FRAME {
                let what = format!("frame {frames} has {len} bytes, {MAX_FRAME} are the most");
                return Err(ReplayError::Damaged { what });
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
    use super::super::header::{RecordedKind, VERSION};
    use super::*;
    use crate::task::serial::LIST_VERSION;
    use std::io::Cursor;

    fn header() -> ReplayHeader {
        let kind = RecordedKind { name: "fox".into(), checksum: 0xfeed, graph: None };
        ReplayHeader { count: 7, kinds: vec![kind], places: 9, settings: "{}".into() }
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
                assert!(read(&bytes).is_err(), "byte {at}");
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
        let (lists, file) = (LIST_VERSION, VERSION);
        let both = [format!("version 9.{lists},"), format!("version {file}.{lists};")];
        assert!(both.iter().all(|version| text.contains(version)), "{text}");
    }

    #[test]
    fn a_frame_without_end_does_not_set_memory_aside() {
        let mut bytes = recording(&[b"first"]);
        let at = bytes.len() - 12 - 17;
        bytes[at..at + 4].copy_from_slice(&u32::MAX.to_le_bytes());
        let text = read(&bytes).unwrap_err().to_string();
        assert!(text.contains("frame 0 has 4294967295 bytes"), "{text}");
    }
}
