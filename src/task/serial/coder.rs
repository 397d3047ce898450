//! What both forms share: whole numbers, indices and alternatives; a form adds its floats.

use super::ListError;
use super::fields::{Code, Index, Quantity};
use super::varint::{self, Bytes};
use crate::task::TaskIndex;
use std::convert::Infallible;

/// How a form writes numbers that are not whole.
pub(super) trait Form {
    fn put(&self, value: f32, quantity: Quantity, out: &mut Vec<u8>);
    fn take(&self, quantity: Quantity, bytes: &mut Bytes<'_>) -> Result<f32, ListError>;
    /// A rotation, xyzw.
    fn put_rotation(&self, value: [f32; 4], out: &mut Vec<u8>);
    fn take_rotation(&self, bytes: &mut Bytes<'_>) -> Result<[f32; 4], ListError>;
}

/// Appends to a buffer.
pub(super) struct Writer<'a, F> {
    pub form: F,
    pub out: &'a mut Vec<u8>,
}

impl<F: Form> Code for Writer<'_, F> {
    type Error = Infallible;

    fn unsigned(&mut self, value: &mut u32) -> Result<(), Infallible> {
        varint::put(*value, self.out);
        Ok(())
    }

    fn choice(&mut self, value: &mut u32, _: u32) -> Result<(), Infallible> {
        self.out.push(*value as u8);
        Ok(())
    }

    fn index(&mut self, value: &mut u16, _: Index) -> Result<(), Infallible> {
        varint::put(u32::from(*value), self.out);
        Ok(())
    }

    /// As the distance back to it; zero is none.
    fn dependency(&mut self, value: &mut TaskIndex, before: usize) -> Result<(), Infallible> {
        varint::put(value.get().map_or(0, |at| (before - at) as u32), self.out);
        Ok(())
    }

    fn float(&mut self, value: &mut f32, quantity: Quantity) -> Result<(), Infallible> {
        self.form.put(*value, quantity, self.out);
        Ok(())
    }

    fn rotation(&mut self, value: &mut [f32; 4]) -> Result<(), Infallible> {
        self.form.put_rotation(*value, self.out);
        Ok(())
    }
}

/// Reads from a slice.
pub(super) struct Reader<'a, F> {
    pub form: F,
    pub bytes: Bytes<'a>,
}

impl<F> Reader<'_, F> {
    /// What was read last is no such thing.
    pub fn unknown(&self, what: &'static str, value: u32) -> ListError {
        ListError::Unknown { what, value, at: self.bytes.at() }
    }

    /// A number of two bytes.
    pub fn short(&mut self) -> Result<u16, ListError> {
        let value = self.bytes.unsigned()?;
        u16::try_from(value).map_err(|_| self.unknown("number of two bytes", value))
    }
}

impl<F: Form> Code for Reader<'_, F> {
    type Error = ListError;

    fn unsigned(&mut self, value: &mut u32) -> Result<(), ListError> {
        *value = self.bytes.unsigned()?;
        Ok(())
    }

    fn choice(&mut self, value: &mut u32, count: u32) -> Result<(), ListError> {
        let [number] = self.bytes.take()?;
        *value = u32::from(number);
        if *value < count { Ok(()) } else { Err(self.unknown("alternative", *value)) }
    }

    fn index(&mut self, value: &mut u16, _: Index) -> Result<(), ListError> {
        *value = self.short()?;
        Ok(())
    }

    fn dependency(&mut self, value: &mut TaskIndex, before: usize) -> Result<(), ListError> {
        let back = self.bytes.unsigned()?;
        *value = match before.checked_sub(back as usize) {
            _ if back == 0 => TaskIndex::NONE,
            Some(at) => TaskIndex::new(at).unwrap_or(TaskIndex::NONE),
            None => return Err(self.unknown("distance to an earlier task", back)),
        };
        Ok(())
    }

    fn float(&mut self, value: &mut f32, quantity: Quantity) -> Result<(), ListError> {
        *value = self.form.take(quantity, &mut self.bytes)?;
        Ok(())
    }

    fn rotation(&mut self, value: &mut [f32; 4]) -> Result<(), ListError> {
        *value = self.form.take_rotation(&mut self.bytes)?;
        Ok(())
    }
}
