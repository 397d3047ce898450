//! What characters are coloured by.

use crate::crowd::ColorBy;
use clap::ValueEnum;
use serde::Serialize;

/// What the colour of a character tells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ColorArg {
    /// Nothing: they look as they are.
    #[default]
    None,
    /// How often each is evaluated.
    Rate,
    /// With how many of its bones each is evaluated.
    Lod,
    /// With how many triangles each is drawn.
    Mesh,
    /// In which state the largest machine of its graph is.
    State,
    /// What each does while nobody sees it.
    Mode,
    /// Who was evaluated in this frame.
    Evaluated,
    /// How many tasks each takes a frame.
    Cost,
}

impl ColorArg {
    /// What is counted, for the head of a legend.
    pub fn tells(self) -> &'static str {
        match self {
            Self::None => "characters look as they are",
            Self::Rate => "how often each is evaluated; in view",
            Self::Lod => "with how many of its bones; in view",
            Self::Mesh => "with how many triangles each is drawn; in view",
            Self::State => "the state of its graph's largest machine; in view",
            Self::Mode => "what each does while nobody sees it; in view",
            Self::Evaluated => "who was evaluated in this frame; in view",
            Self::Cost => "tasks a frame of each; in view",
        }
    }

    /// The next one, after the last the first.
    pub fn next(self) -> Self {
        let all = Self::value_variants();
        let after = all.iter().skip_while(|other| **other != self).nth(1);
        after.copied().unwrap_or_default()
    }

    /// What the crowd has to say for it; `None` where it is not the crowd's to say.
    pub fn of_crowd(self) -> Option<ColorBy> {
        Some(match self {
            Self::None | Self::Mesh => return None,
            Self::Rate => ColorBy::Rate,
            Self::Lod => ColorBy::SkeletonLod,
            Self::State => ColorBy::State,
            Self::Mode => ColorBy::Mode,
            Self::Evaluated => ColorBy::Evaluated,
            Self::Cost => ColorBy::Cost,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_goes_through_all_of_them() {
        let all = ColorArg::value_variants();
        let mut seen = vec![ColorArg::default()];
        while seen.len() < all.len() {
            seen.push(seen[seen.len() - 1].next());
        }
        assert_eq!(seen, all);
        assert_eq!(seen[all.len() - 1].next(), ColorArg::None);
    }
}
