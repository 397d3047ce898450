//! The exact form: floats as their bits, indices as numbers of variable length.

use super::fields::{Code, Quantity};
use super::varint::{self, Bytes};
use super::{ListError, Source};
use crate::task::TaskIndex;
use std::convert::Infallible;

/// Appends to a buffer.
pub(super) struct ExactWriter<'a>(pub &'a mut Vec<u8>);

/// A dependency as the distance back to it; zero is none.
pub(super) fn distance(task: TaskIndex, before: usize) -> u32 {
    task.get().map_or(0, |at| (before - at) as u32)
}

/// And back.
pub(super) fn at_distance(bytes: &mut Bytes<'_>, before: usize) -> Result<TaskIndex, ListError> {
    let back = bytes.unsigned()?;
    match before.checked_sub(back as usize) {
        _ if back == 0 => Ok(TaskIndex::NONE),
        Some(at) => Ok(TaskIndex::new(at).unwrap_or(TaskIndex::NONE)),
        None => {
            let what = "distance to an earlier task";
            Err(ListError::Unknown { what, value: back, at: bytes.at() })
        }
    }
}

/// One of few alternatives.
pub(super) fn choose(bytes: &mut Bytes<'_>, count: u32) -> Result<u32, ListError> {
    let [value] = bytes.take()?;
    let value = u32::from(value);
    let ok = value < count;
    let unknown = ListError::Unknown { what: "alternative", value, at: bytes.at() };
    if ok { Ok(value) } else { Err(unknown) }
}

/// A number of two bytes.
pub(super) fn id(bytes: &mut Bytes<'_>) -> Result<u16, ListError> {
    let value = bytes.unsigned()?;
    let unknown = ListError::Unknown { what: "number of two bytes", value, at: bytes.at() };
    u16::try_from(value).map_err(|_| unknown)
}

impl Code for ExactWriter<'_> {
    type Error = Infallible;

    fn unsigned(&mut self, value: &mut u32) -> Result<(), Infallible> {
        varint::put(*value, self.0);
        Ok(())
    }

    fn choice(&mut self, value: &mut u32, _: u32) -> Result<(), Infallible> {
        self.0.push(*value as u8);
        Ok(())
    }

    fn id(&mut self, value: &mut u16) -> Result<(), Infallible> {
        varint::put(u32::from(*value), self.0);
        Ok(())
    }

    fn dependency(&mut self, value: &mut TaskIndex, before: usize) -> Result<(), Infallible> {
        varint::put(distance(*value, before), self.0);
        Ok(())
    }

    fn float(&mut self, value: &mut f32, _: Quantity) -> Result<(), Infallible> {
        self.0.extend_from_slice(&value.to_bits().to_le_bytes());
        Ok(())
    }
}

/// Reads from a slice.
pub(super) struct ExactReader<'a>(pub Bytes<'a>);

impl Source for ExactReader<'_> {
    fn bytes(&self) -> &Bytes<'_> {
        &self.0
    }
}

impl Code for ExactReader<'_> {
    type Error = ListError;

    fn unsigned(&mut self, value: &mut u32) -> Result<(), ListError> {
        *value = self.0.unsigned()?;
        Ok(())
    }

    fn choice(&mut self, value: &mut u32, count: u32) -> Result<(), ListError> {
        *value = choose(&mut self.0, count)?;
        Ok(())
    }

    fn id(&mut self, value: &mut u16) -> Result<(), ListError> {
        *value = id(&mut self.0)?;
        Ok(())
    }

    fn dependency(&mut self, value: &mut TaskIndex, before: usize) -> Result<(), ListError> {
        *value = at_distance(&mut self.0, before)?;
        Ok(())
    }

    fn float(&mut self, value: &mut f32, _: Quantity) -> Result<(), ListError> {
        *value = f32::from_bits(u32::from_le_bytes(self.0.take()?));
        Ok(())
    }
}
