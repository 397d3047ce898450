//! Words for messages: what a file calls its objects, made safe to print.

use std::fmt;

/// Names an object of a file for a message: `node 5 "arm"`.
pub fn object(kind: &str, index: impl fmt::Display, name: Option<&str>) -> String {
    match name {
        Some(name) if !name.is_empty() => format!("{kind} {index} {}", quoted(name)),
        _ => format!("{kind} {index}"),
    }
}

/// Text from a file for a message: quoted, without control characters, and not endless.
pub fn quoted(text: &str) -> String {
    const LONGEST: usize = 80;
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{:?}", format!("{}…", &text[..end])),
        None => format!("{text:?}"),
    }
}

/// A word from a file that should be one of the format's own (an extension, an attribute) for a
/// message: as it is when it looks like one, else quoted.
pub fn word(text: &str) -> String {
    let plain = text.len() <= 80 && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if plain && !text.is_empty() { text.to_owned() } else { quoted(text) }
}

/// `1 channel`, `2 channels`.
pub fn counted(count: usize, singular: &str) -> String {
    format!("{count} {singular}{}", if count == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_is_named_by_kind_index_and_name() {
        assert_eq!(object("node", 5, Some("arm")), "node 5 \"arm\"");
        assert_eq!(object("node", 5, Some("")), "node 5");
        assert_eq!(object("node", 5, None), "node 5");
    }

    #[test]
    fn names_from_a_file_can_neither_flood_nor_steer_a_terminal() {
        assert_eq!(quoted("a\u{1b}[2J\n"), r#""a\u{1b}[2J\n""#);
        assert_eq!(quoted(&"é".repeat(1000)).chars().count(), 83);
        assert_eq!(word("TEXCOORD_0"), "TEXCOORD_0");
        assert_eq!(word("a b"), "\"a b\"");
    }
}
