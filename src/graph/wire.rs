//! How a program is written down: little-endian, one row after the other.
//!
//! | bytes | what |
//! |---|---|
//! | 4 | `THRP` |
//! | 2 | version ([`Program::VERSION`]) |
//! | 2 | zero |
//! | 4 | length of what follows the header |
//! | 8 | XXH3 (64 bit) of what follows the header |
//!
//! Then the program's fields in the order of their declaration. A number is as wide as its type, a
//! text is its length (`u32`) and UTF-8, a table its length (`u32`) and its rows, something that
//! may be left out a byte 0 or 1 before it, a choice a byte.

use super::Program;
use super::operand::*;
use super::program::*;
use crate::motion::PlayMode;
use twox_hash::XxHash3_64;

/// The first bytes of a program.
pub const MAGIC: [u8; 4] = *b"THRP";
/// Bytes before the program's fields.
const HEADER: usize = 20;

/// Why bytes are no program.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// Another kind of file.
    #[error("these bytes are no compiled graph: they do not start with \"THRP\"")]
    Magic,
    /// Made for another build.
    #[error("this compiled graph has version {found}; this build reads version {expected}")]
    Version {
        /// Its version.
        found: u16,
        /// What would be right.
        expected: u16,
    },
    /// Cut off, or with something behind it.
    #[error("a compiled graph of {expected} bytes has {found}")]
    Length {
        /// What its header says.
        expected: usize,
        /// What there is.
        found: usize,
    },
    /// Changed since it was written.
    #[error(
        "a compiled graph is damaged: its checksum is {found:016x} and should be {expected:016x}"
    )]
    Checksum {
        /// What its header says.
        expected: u64,
        /// What its bytes give.
        found: u64,
    },
    /// A row that goes on beyond the end.
    #[error("a compiled graph ends inside of a row at byte {at}")]
    End {
        /// Where, from the end of the header.
        at: usize,
    },
    /// A number that stands for nothing.
    #[error("there is no {what} {value} (byte {at} of a compiled graph)")]
    Unknown {
        /// What it should be.
        what: &'static str,
        /// The number.
        value: u8,
        /// Where, from the end of the header.
        at: usize,
    },
    /// A text that is not UTF-8.
    #[error("a name in a compiled graph is no UTF-8 (byte {at})")]
    Text {
        /// Where, from the end of the header.
        at: usize,
    },
}

/// A program that was written by an older build, whose characters stand in the bind pose.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "a compiled graph has version {found}, this build reads {expected}: it shows the bind pose; compile it again"
)]
pub struct Outdated {
    /// Its version.
    pub found: u16,
    /// What would be right.
    pub expected: u16,
}

impl Program {
    /// The program as bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut body = Vec::new();
        self.put(&mut body);
        let mut bytes = MAGIC.to_vec();
        Self::VERSION.put(&mut bytes);
        0_u16.put(&mut bytes);
        (body.len() as u32).put(&mut bytes);
        bytes.extend(XxHash3_64::oneshot(&body).to_le_bytes());
        bytes.extend(body);
        bytes
    }

    /// The program that bytes hold. It is still to be validated.
    ///
    /// # Errors
    /// [`DecodeError`]: another kind of file, another version, damage.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, DecodeError> {
        let body = checked_body(bytes)?;
        let mut from = Reader { bytes: body, at: 0 };
        let program = Self::take(&mut from)?;
        match from.at == body.len() {
            true => Ok(program),
            false => Err(DecodeError::Length { expected: from.at + HEADER, found: bytes.len() }),
        }
    }

    /// As [`Program::from_bytes`], but an older version is no fault: it gives the program that
    /// shows the bind pose, and what there is to say about it.
    ///
    /// # Errors
    /// [`DecodeError`], also for a newer version.
    pub fn from_bytes_or_bind_pose(
        bytes: &[u8],
        name: &str,
    ) -> Result<(Self, Option<Outdated>), DecodeError> {
        match Self::from_bytes(bytes) {
            Err(DecodeError::Version { found, expected }) if found < expected => {
                Ok((Self::bind_pose(name), Some(Outdated { found, expected })))
            }
            program => Ok((program?, None)),
        }
    }
}

fn checked_body(bytes: &[u8]) -> Result<&[u8], DecodeError> {
    if !bytes.starts_with(&MAGIC) {
        return Err(DecodeError::Magic);
    }
    let mut header = Reader { bytes, at: MAGIC.len() };
    let found = u16::take(&mut header)?;
    if found != Program::VERSION {
        return Err(DecodeError::Version { found, expected: Program::VERSION });
    }
    u16::take(&mut header)?;
    let length = u32::take(&mut header)? as usize;
    let expected = u64::from_le_bytes(header.array()?);
    let body = &bytes[header.at..];
    if body.len() != length {
        let found = bytes.len();
        return Err(DecodeError::Length { expected: length.saturating_add(HEADER), found });
    }
    let found = XxHash3_64::oneshot(body);
    if found != expected {
        return Err(DecodeError::Checksum { expected, found });
    }
    Ok(body)
}

/// Bytes that are read from the front.
#[derive(Debug)]
pub(super) struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    fn array<const N: usize>(&mut self) -> Result<[u8; N], DecodeError> {
        let rest = self.bytes.get(self.at..).unwrap_or(&[]);
        let array = rest.first_chunk::<N>().ok_or(DecodeError::End { at: self.at })?;
        self.at += N;
        Ok(*array)
    }

    /// A length, which can't be more than there are bytes: every row takes one at least.
    fn length(&mut self) -> Result<usize, DecodeError> {
        let at = self.at;
        let length = u32::take(self)? as usize;
        let left = self.bytes.len() - self.at;
        if length <= left { Ok(length) } else { Err(DecodeError::End { at }) }
    }

    pub fn unknown(&self, what: &'static str, value: u8) -> DecodeError {
        DecodeError::Unknown { what, value, at: self.at.saturating_sub(1) }
    }
}

/// Something that is written down and read back.
pub(super) trait Wire: Sized {
    fn put(&self, out: &mut Vec<u8>);
    fn take(from: &mut Reader<'_>) -> Result<Self, DecodeError>;
}

macro_rules! wire_numbers {
    ($($ty:ident)*) => {
        $(impl Wire for $ty {
            fn put(&self, out: &mut Vec<u8>) {
                out.extend(self.to_le_bytes());
            }

            fn take(from: &mut Reader<'_>) -> Result<Self, DecodeError> {
                from.array().map(Self::from_le_bytes)
            }
        })*
    };
}
wire_numbers! { u8 u16 u32 f32 }

macro_rules! wire_indices {
    ($($ty:ident)*) => {
        $(impl Wire for $ty {
            fn put(&self, out: &mut Vec<u8>) {
                self.0.put(out);
            }

            fn take(from: &mut Reader<'_>) -> Result<Self, DecodeError> {
                u16::take(from).map(Self)
            }
        })*
    };
}
wire_indices! {
    ConstId ParamId ClipRef BoneRef MaskRef ClockId GroupId MachineId StateId Space1DId Space2DId
    SmoothId SeamId SnapshotRef Scalar Vector Transform ScalarOut PoseIn PosesIn PoseOut
}

impl Wire for LimbRef {
    fn put(&self, out: &mut Vec<u8>) {
        self.bones().iter().for_each(|bone| bone.put(out));
    }

    fn take(from: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let (root, mid, end) = (Wire::take(from)?, Wire::take(from)?, Wire::take(from)?);
        Ok(Self { root, mid, end })
    }
}

impl Wire for bool {
    fn put(&self, out: &mut Vec<u8>) {
        out.push(u8::from(*self));
    }

    fn take(from: &mut Reader<'_>) -> Result<Self, DecodeError> {
        match u8::take(from)? {
            0 => Ok(false),
            1 => Ok(true),
            other => Err(from.unknown("truth value", other)),
        }
    }
}

impl Wire for String {
    fn put(&self, out: &mut Vec<u8>) {
        (self.len() as u32).put(out);
        out.extend(self.as_bytes());
    }

    fn take(from: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let length = from.length()?;
        let at = from.at;
        let text = std::str::from_utf8(&from.bytes[at..at + length]);
        let text = text.map_err(|_| DecodeError::Text { at })?.to_owned();
        from.at += length;
        Ok(text)
    }
}

impl<T: Wire> Wire for Vec<T> {
    fn put(&self, out: &mut Vec<u8>) {
        (self.len() as u32).put(out);
        self.iter().for_each(|row| row.put(out));
    }

    fn take(from: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let length = from.length()?;
        (0..length).map(|_| T::take(from)).collect()
    }
}

impl<T: Wire> Wire for Option<T> {
    fn put(&self, out: &mut Vec<u8>) {
        self.is_some().put(out);
        if let Some(value) = self {
            value.put(out);
        }
    }

    fn take(from: &mut Reader<'_>) -> Result<Self, DecodeError> {
        bool::take(from)?.then(|| T::take(from)).transpose()
    }
}

impl<T: Wire + Copy + Default, const N: usize> Wire for [T; N] {
    fn put(&self, out: &mut Vec<u8>) {
        self.iter().for_each(|value| value.put(out));
    }

    fn take(from: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let mut array = [T::default(); N];
        for value in &mut array {
            *value = T::take(from)?;
        }
        Ok(array)
    }
}

impl Wire for Moment {
    fn put(&self, out: &mut Vec<u8>) {
        let (unit, value) = match *self {
            Self::Seconds(value) => (0_u8, value),
            Self::Fraction(value) => (1, value),
        };
        unit.put(out);
        value.put(out);
    }

    fn take(from: &mut Reader<'_>) -> Result<Self, DecodeError> {
        match u8::take(from)? {
            0 => f32::take(from).map(Self::Seconds),
            1 => f32::take(from).map(Self::Fraction),
            other => Err(from.unknown("unit of time", other)),
        }
    }
}

/// Structs, field by field.
macro_rules! wire_rows {
    ($($ty:ident { $($field:ident,)* })*) => {
        $(impl Wire for $ty {
            fn put(&self, out: &mut Vec<u8>) {
                let Self { $($field,)* } = self;
                $($field.put(out);)*
            }

            fn take(from: &mut Reader<'_>) -> Result<Self, DecodeError> {
                Ok(Self { $($field: Wire::take(from)?,)* })
            }
        })*
    };
}

wire_rows! {
    Program {
        name, params, keys, consts, scalar_registers, pose_registers, code, clips, bones, masks,
        sync_groups, clocks, notifies, sync_markers, machines, spaces_1d, spaces_2d, smooths, seams, snapshots,
        root,
    }
    Param { name, default, min, max, kind, }
    Key { name, param, }
    MaskDesc { name, others, entries, }
    MaskEntry { bone, weight, subtree, }
    ClockDesc { clip, mode, speed, start, group, }
    NotifyDesc { name, clip, at, until, }
    MarkersDesc { clip, markers, }
    MarkerDesc { name, at, }
    MachineDesc { name, states, initial, transitions, }
    StateDesc { name, pose, clocks, machines, }
    TransitionDesc { from, to, condition, min_time, at_end, interrupts, duration, style, }
    AtEnd { clock, before, }
    Space1D { name, points, }
    Space2D { name, points, triangles, }
    RootDesc { bone, mode, }
}

super::define::ways_of!(ParamKind { Float, Bool, Trigger });
super::define::ways_of!(TransitionStyle { Inertialize, DeadBlend });
super::define::ways_of!(RootMode { Clips, Always, Never });
super::define::ways_of!(PlayMode { Loop, Once, Clamp, PingPong });
