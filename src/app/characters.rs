//! The characters of a run: read in parallel, and fitted to a human's world.

use super::cli::{CharacterRef, FitHeight};
use super::exit::Failure;
use super::output;
use crate::asset::{self, BuildOptions, CharacterAsset};
use crate::math::Bounds;
use anyhow::Context;
use rayon::prelude::*;
use std::sync::Arc;

/// One character of the cast.
#[derive(Clone, Debug)]
pub struct Member {
    /// What the file or the built-in holds.
    pub asset: Arc<CharacterAsset>,
    /// At rest, model units.
    pub rest: Bounds,
    /// World metres per unit of the character's own space.
    pub scale: f32,
}

impl Member {
    /// How large it looks in the world, metres; above zero: its height, or more if it is broad.
    pub fn stature(&self) -> f32 {
        let broad = self.rest.size().max_element() * 0.6;
        (natural_height(&self.rest).max(broad) * self.scale).max(1e-3)
    }

    /// What is added to the model's y so that it stands on the ground, model units.
    ///
    /// The soles at rest decide: a clip that lies down or jumps must not lift those that stand.
    pub fn ground_offset(&self) -> f32 {
        -self.rest.min.y
    }
}

/// Everyone in a run, and what has to be said about them.
#[derive(Clone, Debug, Default)]
pub struct Cast {
    /// In the order of the command line.
    pub members: Vec<Member>,
    /// One sentence each, beginning with the character's name.
    pub notes: Vec<String>,
}

/// Sentences that are told of one character; `inspect` tells them all.
const NOTES: usize = 6;

impl Cast {
    /// Says on standard error what there is to say about them, each sentence once.
    pub fn announce(&self) {
        for (i, note) in self.notes.iter().enumerate() {
            if !self.notes[..i].contains(note) {
                output::say(note);
            }
        }
    }

    /// Mean stature, metres; above zero.
    pub fn typical_stature(&self) -> f32 {
        let sum: f32 = self.members.iter().map(Member::stature).sum();
        if self.members.is_empty() { USUAL } else { sum / self.members.len() as f32 }
    }
}

/// Reads all of them, several at a time.
///
/// # Errors
/// The first file, in the order given, that can't be read or has no skin. With `drawn`, also one
/// that has no mesh.
pub fn load(
    refs: &[CharacterRef],
    options: &BuildOptions,
    fit: FitHeight,
    drawn: bool,
) -> Result<Cast, Failure> {
    let _span = tracing::info_span!("load characters").entered();
    let load = |character: &CharacterRef| load_one(character, options);
    let loaded: Vec<anyhow::Result<CharacterAsset>> = refs.par_iter().map(load).collect();
    let mut cast = Cast::default();
    for (loaded, reference) in loaded.into_iter().zip(refs) {
        let asset = loaded?;
        let name = asset.name.clone();
        let what = if asset.skins.is_empty() {
            Some("holds no character: it has no skin (`throng inspect` shows what it has)")
        } else if asset.skeleton.bone_count().0 == 0 || (drawn && asset.primitives.is_empty()) {
            Some("holds no character: it has no skinned mesh and no mesh carried by a joint")
        } else {
            None
        };
        if let Some(what) = what {
            let file = match reference {
                CharacterRef::BuiltIn(name) => name.clone(),
                CharacterRef::File(path) => path.display().to_string(),
            };
            return Err(anyhow::anyhow!("{file}: {what}").into());
        }
        let warnings = &asset.warnings;
        cast.notes.extend(warnings.iter().take(NOTES).map(|w| format!("{name}: {w}")));
        if warnings.len() > NOTES {
            let more = warnings.len() - NOTES;
            cast.notes.push(format!("{name}: {more} more; `throng inspect` lists them"));
        }
        let rest = asset::skinning::rest_bounds(&asset);
        let (scale, note) = fit_scale(&rest, fit);
        cast.notes.extend(note.map(|n| format!("{name} {n}")));
        cast.members.push(Member { asset: Arc::new(asset), rest, scale });
    }
    Ok(cast)
}

fn load_one(character: &CharacterRef, options: &BuildOptions) -> anyhow::Result<CharacterAsset> {
    match character {
        CharacterRef::BuiltIn(name) => {
            let _span = tracing::info_span!("load", name).entered();
            asset::builtin_with(name, options)
                .with_context(|| format!("there is no built-in {name}"))?
        }
        CharacterRef::File(path) => {
            let _span = tracing::info_span!("load", file = %path.display()).entered();
            asset::gltf::read(path).and_then(|source| asset::build(&source, options))
        }
    }
    .map_err(anyhow::Error::from)
}

/// Below this a character of natural size would be hard to find, metres.
const SMALLEST: f32 = 0.2;
/// Above this it would hide the others, metres.
const TALLEST: f32 = 12.0;
/// What such a character is scaled to, metres.
const USUAL: f32 = 1.8;

/// Height of the box, or its largest side where the height says little (a snake, a fish).
fn natural_height(bounds: &Bounds) -> f32 {
    let size = bounds.size();
    if size.y >= size.max_element() * 0.1 { size.y } else { size.max_element() }
}

/// A number with as many decimals as it takes to see it.
fn brief(number: f32) -> String {
    let decimals = (2 - number.abs().max(1e-6).log10().floor() as i32).clamp(0, 8) as usize;
    let text = format!("{number:.decimals$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').into() } else { text }
}

/// The scale of a character, and a sentence when nobody asked for it.
fn fit_scale(bounds: &Bounds, fit: FitHeight) -> (f32, Option<String>) {
    let height = natural_height(bounds);
    let to = |metres: f32| {
        let scale = metres / height;
        if scale.is_finite() && scale > 0.0 { scale } else { 1.0 }
    };
    match fit {
        FitHeight::Off => (1.0, None),
        FitHeight::Metres(metres) => (to(metres), None),
        FitHeight::Auto if (SMALLEST..=TALLEST).contains(&height) || height <= 0.0 => (1.0, None),
        FitHeight::Auto => {
            let note = format!(
                "is {} m tall and is shown {USUAL} m tall (--fit-height off keeps its size)",
                brief(height)
            );
            (to(USUAL), Some(note))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::Vec3;

    fn tall(height: f32) -> Bounds {
        Bounds::of_points([Vec3::ZERO, Vec3::new(height * 0.4, height, 0.1 * height)].into_iter())
    }

    #[test]
    fn only_the_absurd_is_scaled_unasked() {
        assert_eq!(fit_scale(&tall(1.7), FitHeight::Auto), (1.0, None));
        let (scale, note) = fit_scale(&tall(170.0), FitHeight::Auto);
        assert!((scale * 170.0 - USUAL).abs() < 1e-4);
        assert!(note.is_some_and(|n| n.contains("170") && n.contains("--fit-height off")));
        assert_eq!(fit_scale(&tall(170.0), FitHeight::Off), (1.0, None));
        let (scale, note) = fit_scale(&tall(0.5), FitHeight::Metres(3.0));
        assert!((scale - 6.0).abs() < 1e-5 && note.is_none());
    }

    #[test]
    fn numbers_are_as_long_as_they_must_be() {
        for (number, text) in [(200.0, "200"), (79.029, "79"), (0.0102, "0.0102"), (1.5, "1.5")] {
            assert_eq!(brief(number), text);
        }
    }

    #[test]
    fn a_character_without_extent_keeps_its_scale() {
        for fit in [FitHeight::Auto, FitHeight::Off, FitHeight::Metres(2.0)] {
            assert_eq!(fit_scale(&Bounds::EMPTY, fit), (1.0, None), "{fit:?}");
        }
    }

    #[test]
    fn what_lies_down_is_measured_along() {
        let snake = Bounds::of_points([Vec3::ZERO, Vec3::new(0.1, 0.05, 2.0)].into_iter());
        assert_eq!(natural_height(&snake), 2.0);
    }

    #[test]
    fn those_at_rest_stand_on_the_ground_whatever_their_clips_do() {
        let refs = ["humanoid", "quadruped"].map(|n| CharacterRef::BuiltIn(n.into()));
        let cast = load(&refs, &BuildOptions::default(), FitHeight::Auto, true).unwrap();
        for member in &cast.members {
            let (name, rest) = (&member.asset.name, member.rest);
            assert!((rest.min.y + member.ground_offset()).abs() < 1e-6, "{name}: {rest:?}");
            assert!(member.stature() < member.asset.bounds.size().y, "{name} jumps and waves");
        }
        assert!((cast.members[0].stature() - 1.75).abs() < 0.02, "{}", cast.members[0].stature());
    }
}
