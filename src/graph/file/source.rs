//! The text of a graph file, and where in it something stands.

use std::fmt;

/// A line and a column of a text, both counted from 1; columns in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// Line.
    pub line: u32,
    /// Column.
    pub column: u32,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// A text and the name it is known by.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// A path, or what else tells the reader which text is meant.
    pub name: &'a str,
    /// All of it.
    pub text: &'a str,
}

impl Source<'_> {
    /// Where a part of the text begins; `None` for a string that was not borrowed from it.
    pub fn place_of(&self, part: &str) -> Option<Place> {
        self.offset_of(part).map(|offset| self.place_at(offset))
    }

    /// The byte at which a part of the text begins; `None` for a string that was not borrowed from
    /// it.
    pub fn offset_of(&self, part: &str) -> Option<usize> {
        let offset = part.as_ptr().addr().checked_sub(self.text.as_ptr().addr())?;
        (offset + part.len() <= self.text.len()).then_some(offset)
    }

    /// The place of a byte; the end of the text for bytes past it.
    pub fn place_at(&self, offset: usize) -> Place {
        let mut place = Place { line: 1, column: 1 };
        for (_, c) in self.text.char_indices().take_while(|(at, _)| *at < offset) {
            if c == '\n' {
                place = Place { line: place.line + 1, column: 1 };
            } else {
                place.column += 1;
            }
        }
        place
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_count_lines_and_characters_from_one() {
        let text = "one\nzwölf drei\n";
        let source = Source { name: "a.ron", text };
        let at = |word: &str| source.place_of(&text[text.find(word).unwrap()..][..word.len()]);
        assert_eq!(at("one"), Some(Place { line: 1, column: 1 }));
        assert_eq!(at("drei"), Some(Place { line: 2, column: 7 }), "characters, not bytes");
        assert_eq!(source.place_at(999), Place { line: 3, column: 1 });
    }

    #[test]
    fn a_string_from_elsewhere_has_no_place() {
        let source = Source { name: "a.ron", text: "one two" };
        assert_eq!(source.place_of(&String::from("one")), None);
    }
}
