//! The exact form: floats as their bits.

use super::ListError;
use super::coder::Form;
use super::fields::Quantity;
use super::varint::Bytes;

/// Keeps every bit, also of what is no number.
pub(super) struct Exact;

impl Form for Exact {
    fn put(&self, value: f32, _: Quantity, out: &mut Vec<u8>) {
        out.extend_from_slice(&value.to_bits().to_le_bytes());
    }

    fn take(&self, _: Quantity, bytes: &mut Bytes<'_>) -> Result<f32, ListError> {
        Ok(f32::from_bits(u32::from_le_bytes(bytes.take()?)))
    }

    fn put_rotation(&self, value: [f32; 4], out: &mut Vec<u8>) {
        value.into_iter().for_each(|v| self.put(v, Quantity::Ratio, out));
    }

    fn take_rotation(&self, bytes: &mut Bytes<'_>) -> Result<[f32; 4], ListError> {
        let mut value = [0.0; 4];
        for v in &mut value {
            *v = self.take(Quantity::Ratio, bytes)?;
        }
        Ok(value)
    }
}
