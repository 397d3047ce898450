//! Whole numbers of variable length (LEB128): seven bits to a byte, the lowest first.

use super::ListError;

/// Appends a number.
pub(crate) fn put(mut value: u32, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Bytes that are read one after the other.
pub(crate) struct Bytes<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Bytes<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// How many have been read.
    pub fn at(&self) -> usize {
        self.at
    }

    /// How many have not.
    pub fn left(&self) -> usize {
        self.bytes.len() - self.at
    }

    /// The next `N` of them.
    pub fn take<const N: usize>(&mut self) -> Result<[u8; N], ListError> {
        let next = self.bytes[self.at..].first_chunk::<N>();
        let next = *next.ok_or(ListError::Truncated { len: self.bytes.len() })?;
        self.at += N;
        Ok(next)
    }

    /// Leaves out the next `len`.
    pub fn skip(&mut self, len: usize) -> Result<(), ListError> {
        if len > self.left() {
            return Err(ListError::Truncated { len: self.bytes.len() });
        }
        self.at += len;
        Ok(())
    }

    /// A number. One that is longer than it has to be is none.
    pub fn unsigned(&mut self) -> Result<u32, ListError> {
        let mut value = 0u64;
        for shift in (0..35).step_by(7) {
            let [byte] = self.take()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                let padded = byte == 0 && shift > 0;
                let number = u32::try_from(value).ok().filter(|_| !padded);
                return number.ok_or_else(|| self.unknown(byte));
            }
        }
        Err(self.unknown(0x80))
    }

    fn unknown(&self, byte: u8) -> ListError {
        ListError::Unknown { what: "end of a number", value: byte.into(), at: self.at }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_take_a_byte_for_seven_bits_and_come_back() {
        for (value, len) in
            [(0, 1), (127, 1), (128, 2), (16_383, 2), (16_384, 3), (1 << 21, 4), (u32::MAX, 5)]
        {
            let mut out = Vec::new();
            put(value, &mut out);
            assert_eq!(out.len(), len, "{value}");
            let mut bytes = Bytes::new(&out);
            assert_eq!((bytes.unsigned(), bytes.left()), (Ok(value), 0));
        }
    }

    #[test]
    fn numbers_that_are_cut_padded_or_too_large_are_refused() {
        assert_eq!(Bytes::new(&[0x80]).unsigned(), Err(ListError::Truncated { len: 1 }));
        for bad in [&[0x80, 0][..], &[0xff, 0xff, 0xff, 0xff, 0x10], &[0x80; 6]] {
            assert!(
                matches!(Bytes::new(bad).unsigned(), Err(ListError::Unknown { .. })),
                "{bad:?}"
            );
        }
        assert!(Bytes::new(&[1, 2]).take::<3>().is_err());
    }
}
