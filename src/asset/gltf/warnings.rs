//! Sentences about what was left out or repaired.

use std::collections::HashSet;

/// Warnings in the order they came up, each once, and not endlessly many.
#[derive(Debug, Default)]
pub(super) struct Warnings {
    list: Vec<String>,
    seen: HashSet<String>,
    unlisted: usize,
}

impl Warnings {
    /// More than this many are only counted.
    const MOST: usize = 100;

    pub(super) fn push(&mut self, warning: String) {
        if self.list.len() == Self::MOST {
            if !self.seen.contains(&warning) {
                self.unlisted += 1;
            }
        } else if self.seen.insert(warning.clone()) {
            self.list.push(warning);
        }
    }

    #[cfg(test)]
    pub(super) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    pub(super) fn into_list(self) -> Vec<String> {
        let mut list = self.list;
        if self.unlisted > 0 {
            list.push(format!("{} more warnings are not listed", self.unlisted));
        }
        list
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_of_warnings_is_cut_and_counted() {
        let mut warnings = Warnings::default();
        for i in 0..250 {
            warnings.push(format!("warning {i}"));
            warnings.push("warning 0".into());
        }
        let list = warnings.into_list();
        assert_eq!(list.len(), 101);
        assert_eq!(list[100], "150 more warnings are not listed");
    }
}
