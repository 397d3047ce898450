//! Task lists as bytes, and back: one form that is exact to the bit, for recordings, and a smaller
//! one for the wire, whose error is known. docs/REPLAY.md has the tables.
//!
//! What a task consists of is written down once (`fields`); each form is a pair of codes that
//! visit it. Reading trusts nothing: every index is checked as it is when tasks are recorded, every
//! task takes at least a byte, and a list is never longer than its bytes.

mod check;
mod coder;
mod exact;
mod fields;
pub(crate) mod varint;
mod wire;

pub use check::{Extents, check};
pub use wire::WireScale;

use super::task::Stage;
use super::{TaskError, TaskIndex, TaskKind, TaskList};
use crate::index::{BoneCount, BoneIndex};
use crate::pose::{GroundPatch, RootPin};
use coder::{Form, Reader, Writer};
use exact::Exact;
use fields::{Code, Index, Quantity};
use glam::{Vec2, Vec3};
use varint::Bytes;

/// Version of both forms. Another version is another language: there is no reading of old ones.
pub const LIST_VERSION: u8 = 2;

/// What is no task list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ListError {
    /// The bytes end inside the list.
    #[error("a task list ends after {len} bytes, in the middle of something")]
    Truncated {
        /// Number of bytes.
        len: usize,
    },
    /// Bytes follow the list.
    #[error("{extra} bytes follow a task list of {len} bytes")]
    Trailing {
        /// Bytes of the list.
        len: usize,
        /// Bytes after it.
        extra: usize,
    },
    /// A number that nothing is encoded as.
    #[error("byte {at} of a task list is {value}, which is no {what}")]
    Unknown {
        /// What should be there.
        what: &'static str,
        /// Its number.
        value: u32,
        /// Position of the byte after it.
        at: usize,
    },
    /// An index that names nothing.
    #[error("a task names {what} {index}, and there are {count}")]
    Index {
        /// What it counts.
        what: &'static str,
        /// The index.
        index: u16,
        /// How many there are.
        count: usize,
    },
    /// A list that could not have been recorded.
    #[error(transparent)]
    Task(#[from] TaskError),
}

const HAS_CUT: u32 = 1;
const HAS_OUTPUT: u32 = 2;
const PIN_REFERENCE: u32 = 4;
const PIN_MOTION: u32 = 8;
const HAS_GROUND: u32 = 16;
const FLAGS: u32 = 31;
/// Added to a kind's number for a task of the second half.
const LATE: u32 = 0x80;

/// Appends a list in the exact form.
pub fn encode(list: &TaskList, out: &mut Vec<u8>) {
    write(list, Writer { form: Exact, out });
}

/// Reads a list in the exact form, into one whose memory is kept. All bytes have to belong to it.
///
/// # Errors
/// [`ListError`]; the list is empty then.
pub fn decode(bytes: &[u8], list: &mut TaskList) -> Result<(), ListError> {
    read_whole(list, Reader { form: Exact, bytes: Bytes::new(bytes) })
}

/// Appends a list in the form for the wire.
pub fn encode_wire(list: &TaskList, scale: &WireScale, out: &mut Vec<u8>) {
    write(list, Writer { form: scale, out });
}

/// Reads a list in the form for the wire; `scale` has to be the one that it was written with.
///
/// # Errors
/// [`ListError`]; the list is empty then.
pub fn decode_wire(bytes: &[u8], scale: &WireScale, list: &mut TaskList) -> Result<(), ListError> {
    read_whole(list, Reader { form: scale, bytes: Bytes::new(bytes) })
}

fn write<F: Form>(list: &TaskList, mut code: Writer<'_, F>) {
    let Ok(()) = write_with(list, &mut code);
}

fn write_with<C: Code>(list: &TaskList, code: &mut C) -> Result<(), C::Error> {
    let bones = BoneCount(u16::MAX);
    let cut = list.cut();
    let mut flags = u32::from(cut.is_some()) * HAS_CUT
        + u32::from(list.output() != TaskIndex::NONE) * HAS_OUTPUT;
    flags += u32::from(list.ground().is_some()) * HAS_GROUND;
    flags += match list.root_pin() {
        None => 0,
        Some(RootPin::Reference(_)) => PIN_REFERENCE,
        Some(RootPin::Motion { .. }) => PIN_MOTION,
    };
    code.unsigned(&mut flags)?;
    code.unsigned(&mut (list.len() as u32))?;
    for (at, task) in list.tasks().iter().enumerate() {
        let late = list.is_late(at);
        code.unsigned(&mut (task.kind() as u32 + u32::from(late) * LATE))?;
        let mut task = *task;
        fields::visit(&mut task, at, code)?;
    }
    if let Some(cut) = cut {
        code.unsigned(&mut u32::from(cut.min(bones).0))?;
    }
    if list.output() != TaskIndex::NONE {
        code.dependency(&mut list.output(), list.len())?;
    }
    if let Some(mut pin) = list.root_pin() {
        visit_pin(&mut pin, code)?;
    }
    if let Some(mut ground) = list.ground() {
        visit_ground(&mut ground, code)?;
    }
    Ok(())
}

fn visit_ground<C: Code>(ground: &mut GroundPatch, code: &mut C) -> Result<(), C::Error> {
    let GroundPatch { origin, slope, bend } = ground;
    code.vec3(origin, Quantity::Length)?;
    code.float(&mut slope.x, Quantity::Ratio)?;
    code.float(&mut slope.y, Quantity::Ratio)?;
    code.vec3(bend, Quantity::Ratio)
}

fn visit_pin<C: Code>(pin: &mut RootPin, code: &mut C) -> Result<(), C::Error> {
    match pin {
        RootPin::Reference(bone) => code.index(&mut bone.0, Index::Bone),
        RootPin::Motion { bone, x, z, yaw } => {
            code.index(&mut bone.0, Index::Bone)?;
            code.float(x, Quantity::Length)?;
            code.float(z, Quantity::Length)?;
            code.float(yaw, Quantity::Angle)
        }
    }
}

fn read_whole<F: Form>(list: &mut TaskList, mut code: Reader<'_, F>) -> Result<(), ListError> {
    list.clear();
    let result = read(list, &mut code).and_then(|()| {
        let (len, extra) = (code.bytes.at(), code.bytes.left());
        if extra == 0 { Ok(()) } else { Err(ListError::Trailing { len, extra }) }
    });
    if result.is_err() {
        list.clear();
    }
    result
}

fn read<F: Form>(list: &mut TaskList, code: &mut Reader<'_, F>) -> Result<(), ListError> {
    let (mut flags, mut count) = (0, 0);
    code.unsigned(&mut flags)?;
    if flags & !FLAGS != 0 || flags & PIN_REFERENCE != 0 && flags & PIN_MOTION != 0 {
        return Err(code.unknown("flags", flags));
    }
    code.unsigned(&mut count)?;
    for at in 0..count as usize {
        let mut kind = 0;
        code.unsigned(&mut kind)?;
        let found = TaskKind::ALL.get((kind & !LATE) as usize);
        let Some(found) = found else { return Err(code.unknown("kind of task", kind)) };
        let mut task = fields::blank(*found);
        fields::visit(&mut task, at, code)?;
        let stage = if kind & LATE == 0 { Stage::Any } else { Stage::PostPhysics };
        list.push_staged(task, stage)?;
    }
    if flags & HAS_CUT != 0 {
        list.set_cut(Some(BoneCount(code.short()?)));
    }
    if flags & HAS_OUTPUT != 0 {
        let mut output = TaskIndex::NONE;
        code.dependency(&mut output, list.len())?;
        list.set_output(output)?;
    }
    let bone = BoneIndex(0);
    let blank = match flags & (PIN_REFERENCE | PIN_MOTION) {
        0 => None,
        PIN_REFERENCE => Some(RootPin::Reference(bone)),
        _ => Some(RootPin::Motion { bone, x: 0.0, z: 0.0, yaw: 0.0 }),
    };
    if let Some(mut pin) = blank {
        visit_pin(&mut pin, code)?;
        list.set_root_pin(Some(pin));
    }
    if flags & HAS_GROUND != 0 {
        let mut ground = GroundPatch { origin: Vec3::ZERO, slope: Vec2::ZERO, bend: Vec3::ZERO };
        visit_ground(&mut ground, code)?;
        list.set_ground(Some(ground));
    }
    Ok(())
}
