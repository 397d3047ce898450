//! What somebody who wrote a wrong name may have meant.

use std::fmt;

/// How many names a message lists.
const LISTED: usize = 12;
/// Bytes of names that are compared; the time that it takes grows with their square.
const COMPARED: usize = 80;
/// How alike two names must be to be taken for each other, in 0..=1.
const ALIKE: f64 = 0.6;

/// The names that would have been right, the nearest first.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Known {
    /// Who has them.
    owner: &'static str,
    /// One that is much like the wrong one.
    near: Option<String>,
    /// The first of them, in their own order.
    listed: Vec<String>,
    /// How many more.
    more: usize,
}

impl Known {
    /// From a wrong name and the right ones.
    pub fn new<'a>(name: &str, right: impl IntoIterator<Item = &'a str>) -> Self {
        let mut known = Self { owner: "there are", ..Self::default() };
        let wrong = name.to_lowercase();
        let mut best = ALIKE;
        for candidate in right {
            if known.listed.len() < LISTED {
                known.listed.push(candidate.to_owned());
            } else {
                known.more += 1;
            }
            let other = candidate.to_lowercase();
            if wrong.len().max(other.len()) > COMPARED {
                continue;
            }
            let alike = strsim::normalized_damerau_levenshtein(&wrong, &other)
                .max(if contains(&wrong, &other) { ALIKE + 0.05 } else { 0.0 });
            if alike > best {
                (best, known.near) = (alike, Some(candidate.to_owned()));
            }
        }
        known
    }

    /// The same, with who has the names, as "the character has".
    #[must_use]
    pub fn of(self, owner: &'static str) -> Self {
        Self { owner, ..self }
    }
}

/// One name is a part of the other, as `walk` is of `walk_fwd`.
fn contains(a: &str, b: &str) -> bool {
    a.len().min(b.len()) >= 3 && (a.contains(b) || b.contains(a))
}

impl fmt::Display for Known {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(near) = &self.near {
            write!(f, "; did you mean `{near}`?")?;
        }
        let owner = self.owner;
        let separator = if self.near.is_some() { "" } else { ";" };
        if self.listed.is_empty() {
            return write!(f, "{separator} {owner} none");
        }
        write!(f, "{separator} {owner}: {}", self.listed.join(", "))?;
        match self.more {
            0 => Ok(()),
            more => write!(f, " and {more} more"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(name: &str, right: &[&str]) -> String {
        Known::new(name, right.iter().copied()).to_string()
    }

    #[test]
    fn the_nearest_name_is_offered_and_all_are_listed() {
        let clips = ["idle", "walk_forward", "run"];
        let line = said("walk_fwd", &clips);
        assert_eq!(line, "; did you mean `walk_forward`? there are: idle, walk_forward, run");
        assert_eq!(said("swim", &clips), "; there are: idle, walk_forward, run");
        assert!(said("IDLE", &clips).contains("did you mean `idle`"), "case is no difference");
        assert!(said("wakl_forward", &clips).contains("did you mean `walk_forward`"));
    }

    #[test]
    fn no_names_and_very_many_names() {
        assert_eq!(said("idle", &[]), "; there are none");
        let many: Vec<String> = (0..500).map(|i| format!("bone{i}")).collect();
        let line = said("arm", &many.iter().map(String::as_str).collect::<Vec<_>>());
        assert!(line.ends_with("bone11 and 488 more"), "{line}");
    }
}
