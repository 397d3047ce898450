//! Strings, numbers and tables of a graph file, as serde reads them.

use super::limits;
use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use std::borrow::{Borrow, Cow};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fmt;
use std::marker::PhantomData;

/// A string of the file, a name unless it is an [`expression`]. It borrows from the file's text wherever it is written without escapes,
/// which is how its place is found again.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Text<'a>(pub Cow<'a, str>);

impl Text<'_> {
    /// The string.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Borrow<str> for Text<'_> {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(TextVisitor(Line::One, PhantomData))
    }
}

/// An expression, which may go over several lines.
pub fn expression<'de: 'a, 'a, D>(deserializer: D) -> Result<Option<Text<'a>>, D::Error>
where
    D: Deserializer<'de>,
{
    struct Expression<'a>(Text<'a>);
    impl<'de: 'a, 'a> Deserialize<'de> for Expression<'a> {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            deserializer.deserialize_str(TextVisitor(Line::Several, PhantomData)).map(Self)
        }
    }
    Option::<Expression<'a>>::deserialize(deserializer).map(|text| text.map(|text| text.0))
}

/// Whether a string may have line ends in it, and tabs.
#[derive(Clone, Copy)]
enum Line {
    One,
    Several,
}

struct TextVisitor<'a>(Line, PhantomData<&'a str>);

impl<'de: 'a, 'a> Visitor<'de> for TextVisitor<'a> {
    type Value = Text<'a>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_borrowed_str<E: de::Error>(self, text: &'de str) -> Result<Text<'a>, E> {
        checked(self.0, text).map(|text| Text(Cow::Borrowed(text)))
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Text<'a>, E> {
        checked(self.0, text).map(|text| Text(Cow::Owned(text.to_owned())))
    }
}

fn checked<E: de::Error>(lines: Line, text: &str) -> Result<&str, E> {
    if text.is_empty() {
        return Err(E::custom("a string with nothing in it"));
    }
    if text.len() > limits::STRING {
        let (len, limit) = (text.len(), limits::STRING);
        return Err(E::custom(format_args!("a string of {len} bytes; {limit} are the most")));
    }
    // What steers a terminal, or ends a line of a table, has no place in a name.
    let allowed: &[char] = if let Line::Several = lines { &['\n', '\r', '\t'] } else { &[] };
    match text.chars().find(|c| c.is_control() && !allowed.contains(c)) {
        Some(c) => Err(E::custom(format_args!("a control character (U+{:04X})", u32::from(c)))),
        None => Ok(text),
    }
}

/// A table `{"name": value}` in the file's order; names are unique.
#[derive(Clone, Debug)]
pub struct Table<'a, T>(pub Vec<(Text<'a>, T)>, HashMap<Text<'a>, usize>);

impl<T> Default for Table<'_, T> {
    fn default() -> Self {
        Self(Vec::new(), HashMap::new())
    }
}

impl<'a, T> Table<'a, T> {
    /// Adds an entry; false when the name is taken.
    pub fn insert(&mut self, name: Text<'a>, value: T) -> bool {
        match self.1.entry(name) {
            Entry::Occupied(_) => false,
            Entry::Vacant(entry) => {
                self.0.push((entry.key().clone(), value));
                entry.insert(self.0.len() - 1);
                true
            }
        }
    }

    /// The position of a name.
    pub fn position(&self, name: &str) -> Option<usize> {
        self.1.get(name).copied()
    }

    /// The names in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(name, _)| name.as_str())
    }

    /// Names with their values.
    pub fn iter(&self) -> std::slice::Iter<'_, (Text<'a>, T)> {
        self.0.iter()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// True without entries.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<'de: 'a, 'a, T: Deserialize<'de>> Deserialize<'de> for Table<'a, T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TableVisitor<'a, T>(PhantomData<(&'a str, T)>);

        impl<'de: 'a, 'a, T: Deserialize<'de>> Visitor<'de> for TableVisitor<'a, T> {
            type Value = Table<'a, T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a table like {\"name\": value}")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut table = Table::default();
                while let Some(name) = map.next_key::<Text<'a>>()? {
                    if table.position(name.as_str()).is_some() {
                        return Err(de::Error::custom(format_args!("`{name}` is there twice")));
                    }
                    if table.len() == limits::TABLE {
                        let limit = limits::TABLE;
                        return Err(de::Error::custom(format_args!("more than {limit} entries")));
                    }
                    let value = map.next_value()?;
                    table.insert(name, value);
                }
                Ok(table)
            }
        }

        deserializer.deserialize_map(TableVisitor(PhantomData))
    }
}

/// A finite number.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Default)]
pub struct Number(pub f32);

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        finite(f32::deserialize(deserializer)?).map(Self)
    }
}

/// Seconds, finite and not negative.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Default)]
pub struct Seconds(pub f32);

impl<'de> Deserialize<'de> for Seconds {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let seconds = finite(f32::deserialize(deserializer)?)?;
        if seconds < 0.0 {
            let line = format_args!("{seconds} seconds: a time here can't be negative");
            return Err(de::Error::custom(line));
        }
        Ok(Self(seconds))
    }
}

/// A number in 0..=1.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Default)]
pub struct Share(pub f32);

impl<'de> Deserialize<'de> for Share {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let share = finite(f32::deserialize(deserializer)?)?;
        if !(0.0..=1.0).contains(&share) {
            return Err(de::Error::custom(format_args!("{share} is not in 0..=1")));
        }
        Ok(Self(share))
    }
}

fn finite<E: de::Error>(number: f32) -> Result<f32, E> {
    if number.is_nan() {
        return Err(E::custom(format_args!("{number} is no number to compute with")));
    }
    if number.abs() > limits::NUMBER {
        let limit = limits::NUMBER;
        return Err(E::custom(format_args!("{number:e} is beyond {limit:e}, the largest number")));
    }
    Ok(number)
}

/// A number, or an expression that gives one.
#[derive(Clone, Debug, PartialEq)]
pub enum Scalar<'a> {
    /// A number (1 and 0 for `true` and `false`).
    Number(f32),
    /// An expression, as written.
    Expression(Text<'a>),
}

impl Default for Scalar<'_> {
    fn default() -> Self {
        Self::Number(0.0)
    }
}

impl Scalar<'_> {
    /// The number one, for fields that default to it.
    pub fn one() -> Self {
        Self::Number(1.0)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Scalar<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ScalarVisitor<'a>(PhantomData<&'a str>);

        impl<'de: 'a, 'a> Visitor<'de> for ScalarVisitor<'a> {
            type Value = Scalar<'a>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number, or an expression in quotes")
            }

            fn visit_bool<E: de::Error>(self, truth: bool) -> Result<Self::Value, E> {
                Ok(Scalar::Number(f32::from(truth)))
            }

            fn visit_i64<E: de::Error>(self, number: i64) -> Result<Self::Value, E> {
                finite(number as f32).map(Scalar::Number)
            }

            fn visit_u64<E: de::Error>(self, number: u64) -> Result<Self::Value, E> {
                finite(number as f32).map(Scalar::Number)
            }

            fn visit_f64<E: de::Error>(self, number: f64) -> Result<Self::Value, E> {
                finite(number as f32).map(Scalar::Number)
            }

            fn visit_borrowed_str<E: de::Error>(self, text: &'de str) -> Result<Self::Value, E> {
                let visitor = TextVisitor(Line::Several, PhantomData);
                visitor.visit_borrowed_str(text).map(Scalar::Expression)
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
                let visitor = TextVisitor(Line::Several, PhantomData);
                visitor.visit_str(text).map(Scalar::Expression)
            }
        }

        deserializer.deserialize_any(ScalarVisitor(PhantomData))
    }
}

/// One name, or a list of names.
#[derive(Clone, Debug, PartialEq)]
pub struct Names<'a>(pub Vec<Text<'a>>);

impl<'de: 'a, 'a> Deserialize<'de> for Names<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NamesVisitor<'a>(PhantomData<&'a str>);

        impl<'de: 'a, 'a> Visitor<'de> for NamesVisitor<'a> {
            type Value = Names<'a>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a name, or a list of names like [\"a\", \"b\"]")
            }

            fn visit_borrowed_str<E: de::Error>(self, text: &'de str) -> Result<Self::Value, E> {
                let visitor = TextVisitor(Line::One, PhantomData);
                visitor.visit_borrowed_str(text).map(|name| Names(vec![name]))
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
                let visitor = TextVisitor(Line::One, PhantomData);
                visitor.visit_str(text).map(|name| Names(vec![name]))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
                let mut names = Vec::new();
                while let Some(name) = seq.next_element()? {
                    if names.len() == limits::TABLE {
                        let limit = limits::TABLE;
                        return Err(de::Error::custom(format_args!("more than {limit} names")));
                    }
                    names.push(name);
                }
                Ok(Names(names))
            }
        }

        deserializer.deserialize_any(NamesVisitor(PhantomData))
    }
}
