//! Whole numbers and lists as they are met in glTF's JSON.

use crate::asset::error::Fault;
use serde::de::{Deserialize, Deserializer, Error, SeqAccess, Unexpected, Visitor};
use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;

/// A whole number that isn't negative; `24.0` counts as one, since some exporters write that.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Int(pub u64);

impl Int {
    /// As an index into a list; a number that is too large for one can't be inside it.
    pub(super) fn index(self) -> usize {
        usize::try_from(self.0).unwrap_or(usize::MAX)
    }
}

impl<'de> Deserialize<'de> for Int {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct IntVisitor;
        impl Visitor<'_> for IntVisitor {
            type Value = Int;

            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("a whole number that is not negative")
            }

            fn visit_u64<E: Error>(self, value: u64) -> Result<Int, E> {
                Ok(Int(value))
            }

            fn visit_i64<E: Error>(self, value: i64) -> Result<Int, E> {
                u64::try_from(value)
                    .map(Int)
                    .map_err(|_| E::invalid_value(Unexpected::Signed(value), &self))
            }

            fn visit_f64<E: Error>(self, value: f64) -> Result<Int, E> {
                // Up to 2^53 every whole number is exact in f64.
                if value >= 0.0 && value <= (1u64 << 53) as f64 && value.fract() == 0.0 {
                    Ok(Int(value as u64))
                } else {
                    Err(E::invalid_value(Unexpected::Float(value), &self))
                }
            }
        }
        deserializer.deserialize_any(IntVisitor)
    }
}

/// A reference into one of the document's lists.
pub(super) use Int as Index;

impl Index {
    /// The object that this refers to, and its position.
    ///
    /// # Errors
    /// [`Fault::Index`] when there is none; `user` names who refers, `property` by what.
    pub(super) fn of<'a, T>(
        self,
        list: &'a [T],
        kind: &'static str,
        user: &dyn Fn() -> String,
        property: &'static str,
    ) -> Result<(usize, &'a T), Fault> {
        let at = self.index();
        match list.get(at) {
            Some(item) => Ok((at, item)),
            None => Err(Fault::Index {
                object: user(),
                property,
                index: self.0,
                kind,
                count: list.len(),
            }),
        }
    }
}

/// A list that stops being parsed when it is longer than `MAX`, for objects that take more memory
/// than their text: `{},` is three bytes.
#[derive(Debug)]
pub(super) struct List<T, const MAX: usize>(Vec<T>);

impl<T, const MAX: usize> Default for List<T, MAX> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T, const MAX: usize> Deref for List<T, MAX> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<'de, T: Deserialize<'de>, const MAX: usize> Deserialize<'de> for List<T, MAX> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ListVisitor<T, const MAX: usize>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>, const MAX: usize> Visitor<'de> for ListVisitor<T, MAX> {
            type Value = List<T, MAX>;

            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                write!(f, "a list of at most {MAX} objects")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
                let mut list = Vec::new();
                while let Some(item) = seq.next_element()? {
                    if list.len() == MAX {
                        return Err(A::Error::invalid_length(MAX + 1, &self));
                    }
                    list.push(item);
                }
                Ok(List(list))
            }
        }
        deserializer.deserialize_seq(ListVisitor(PhantomData))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_may_be_written_as_floats_but_not_be_negative_or_broken() {
        let parse = |text| serde_json::from_str::<Int>(text).map(|i| i.0);
        assert_eq!(parse("24").unwrap(), 24);
        assert_eq!(parse("24.0").unwrap(), 24);
        assert_eq!(parse("1e3").unwrap(), 1000);
        assert_eq!(parse("18446744073709551615").unwrap(), u64::MAX);
        for text in ["-1", "2.5", "-0.5", "1e300", "\"3\"", "null", "18446744073709551616"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_list_longer_than_its_limit_is_refused_with_the_limit() {
        let error = serde_json::from_str::<List<u8, 3>>("[1,2,3,4]").unwrap_err().to_string();
        assert!(error.contains('3') && error.contains('4'), "{error}");
        assert_eq!(serde_json::from_str::<List<u8, 3>>("[1,2,3]").unwrap().len(), 3);
    }
}
