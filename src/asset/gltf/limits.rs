//! How much a file may take, so that no file can exhaust the memory.

use crate::asset::error::Fault;
use std::cell::Cell;

const MIB: u64 = 1 << 20;

/// Sizes that the importer refuses to exceed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// Bytes of JSON, data URIs in it included. Parsed JSON takes up to ten times as much.
    pub json_bytes: u64,
    /// Bytes read from files and data URIs, all together.
    pub input_bytes: u64,
    /// Bytes of decoded accessors, expanded views and image pixels, all together.
    pub decoded_bytes: u64,
    /// Bytes of accessors that no bytes of the file stand behind (all zeros), all together.
    pub zero_bytes: u64,
}

impl Limits {
    /// Room for ten million vertices and far more than any character takes.
    pub(super) const DEFAULT: Self = Self {
        json_bytes: 256 * MIB,
        input_bytes: 1024 * MIB,
        decoded_bytes: 2048 * MIB,
        zero_bytes: 16 * MIB,
    };
}

/// What is left of the limits while one file is read.
pub(super) struct Budget {
    limits: Limits,
    input: Cell<u64>,
    decoded: Cell<u64>,
    zeros: Cell<u64>,
}

impl Budget {
    pub(super) fn new(limits: Limits) -> Self {
        Self { limits, input: Cell::new(0), decoded: Cell::new(0), zeros: Cell::new(0) }
    }

    /// Asks for bytes from files and data URIs before they are read.
    pub(super) fn take_input(
        &self,
        bytes: u128,
        what: impl FnOnce() -> String,
    ) -> Result<(), Fault> {
        take(&self.input, self.limits.input_bytes, bytes, what)
    }

    /// Asks for memory of decoded data before it is allocated.
    pub(super) fn take_decoded(
        &self,
        bytes: u128,
        what: impl FnOnce() -> String,
    ) -> Result<(), Fault> {
        take(&self.decoded, self.limits.decoded_bytes, bytes, what)
    }

    /// Asks for memory of zeros that the file holds no bytes for, before it is allocated.
    pub(super) fn take_zeros(
        &self,
        bytes: u128,
        what: impl FnOnce() -> String,
    ) -> Result<(), Fault> {
        take(&self.zeros, self.limits.zero_bytes, bytes, what)
    }

    /// How much decoded data still fits.
    pub(super) fn decoded_left(&self) -> u64 {
        self.limits.decoded_bytes - self.decoded.get()
    }

    /// Refuses JSON that is too long.
    pub(super) fn check_json(&self, bytes: usize) -> Result<(), Fault> {
        let limit = self.limits.json_bytes;
        if bytes as u64 > limit {
            return Err(Fault::TooLarge { what: "the JSON".into(), bytes: bytes as u128, limit });
        }
        Ok(())
    }
}

fn take(
    used: &Cell<u64>,
    limit: u64,
    bytes: u128,
    what: impl FnOnce() -> String,
) -> Result<(), Fault> {
    let total = u128::from(used.get()) + bytes;
    match u64::try_from(total) {
        Ok(total) if total <= limit => {
            used.set(total);
            Ok(())
        }
        _ if used.get() == 0 || bytes > u128::from(limit) => {
            Err(Fault::TooLarge { what: what(), bytes, limit })
        }
        _ => Err(Fault::TooLarge {
            what: format!("{}, after what was read before it,", what()),
            bytes: total,
            limit,
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_counts_what_was_taken_and_survives_the_largest_numbers() {
        let limits = Limits { decoded_bytes: 100, ..Limits::DEFAULT };
        let budget = Budget::new(limits);
        let take = |bytes| budget.take_decoded(bytes, || "accessor 3".into());
        assert!(take(60).is_ok());
        let message = take(41).unwrap_err().to_string();
        assert!(message.contains("accessor 3") && message.contains("101"), "{message}");
        assert!(take(40).is_ok());
        assert!(take(1).is_err());
        assert!(take(u128::from(u64::MAX) * u128::from(u64::MAX)).is_err());
        assert_eq!(budget.decoded_left(), 0);
    }
}
