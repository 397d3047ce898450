//! What a command line asks for and can't have, or would be none the wiser for.

use super::color::ColorArg;
use super::config::Mode;
use super::options::{PaletteUploadArg, RunOptions};
use super::scenario::Scenario;
use super::spawn::{self, SpawnArg};
use super::values::{CaptureTo, VisibilityArg};
use crate::app::exit::Failure;
use crate::app::{shading, sound};
use crate::crowd::Gates;
use crate::render::GpuRequest;
use std::path::Path;

/// Refuses options that contradict each other, the mode, or how the program was built.
///
/// # Errors
/// [`Failure::Usage`] with one line that says what to drop.
pub fn refuse(options: &RunOptions, mode: Mode) -> Result<(), Failure> {
    let refuse = |line: String| Err(Failure::Usage(line));
    if mode == Mode::NoRender {
        let picture = [
            ("--screenshot", options.screenshot.is_some()),
            ("--frames-out", options.frames_out.is_some()),
            ("--overlay on", options.overlay.is_on()),
            ("--pick", options.pick.is_some()),
        ];
        if let Some((name, _)) = picture.iter().find(|(_, given)| *given) {
            return refuse(format!("{name} needs a picture and --no-render draws none; drop one"));
        }
    }
    if options.sound.is_on() && mode == Mode::Window && !sound::BUILT_IN {
        let line = "--sound on: this program was built without sound; build it with \
                    `cargo build --release --features sound`, which on Linux needs ALSA's headers";
        return refuse(line.to_owned());
    }
    if options.shaders.is_some() && !shading::BUILT_IN {
        let line = "--shaders: this program was built with its own alone; build it with \
                    `cargo build --release --features shader-reload`";
        return refuse(line.to_owned());
    }
    if is_noop(options.adapter.as_deref())
        && (options.screenshot.is_some() || options.frames_out.is_some())
    {
        return refuse("--adapter noop draws nothing, so there is no picture to save".to_owned());
    }
    if options.scenario.scenario.is_some() && options.spawn.spawn == SpawnArg::Gradual {
        let line = "--scenario binds who is there at the start, and with --spawn gradual nobody is; \
                    drop one";
        return refuse(line.to_owned());
    }
    // Who comes and goes by turns has places to spare, which have numbers as well.
    let named = [
        ("--capture", options.capture.as_ref().map(|CaptureTo { character, .. }| *character)),
        ("--pick", options.pick),
    ];
    for (name, id) in named {
        let Some(id) = id.filter(|id| *id >= options.count) else { continue };
        if options.spawn.spawn != SpawnArg::Cycle && options.replay.is_none() {
            return refuse(match options.count.checked_sub(1) {
                None => format!("{name} {id}: with --count 0 there is no character"),
                Some(0) => format!("{name} {id}: the only character is number 0"),
                Some(last) => format!("{name} {id}: characters are numbered from 0 to {last}"),
            });
        }
    }
    if options.followers > 0 && options.spawn.spawn == SpawnArg::Gradual {
        let line = "--followers needs characters from the start, and --spawn gradual begins with none; drop one";
        return refuse(line.to_owned());
    }
    let (count, followers) = (options.count, options.followers);
    if followers > 0 && followers >= count {
        return refuse(match count.saturating_sub(1) {
            0 => format!("--followers {followers}: with --count {count} nobody is left to lead"),
            most => format!(
                "--followers {followers}: of {count} characters {most} follow at most, for one has to lead"
            ),
        });
    }
    let recordings =
        [("--record", options.record.is_some()), ("--replay", options.replay.is_some())];
    if options.ragdoll > 0
        && let Some((name, _)) = recordings.iter().find(|(_, given)| *given)
    {
        let line = format!("{name} and --ragdoll: what bodies do is in no recording; drop one");
        return refuse(line);
    }
    if let Some(path) = &options.screenshot
        && !has_extension(path, &["png"])
    {
        return refuse(format!("--screenshot {}: the name must end in .png", path.display()));
    }
    if let Some(path) = &options.report
        && !has_extension(path, &["json", "csv"])
    {
        return refuse(format!("--report {}: the name must end in .json or .csv", path.display()));
    }
    Ok(())
}

/// Refuses another number of graphs than one for everybody or one for each.
///
/// # Errors
/// [`Failure::Usage`] with both numbers.
pub fn refuse_graphs(graphs: usize, characters: usize) -> Result<(), Failure> {
    if graphs <= 1 || graphs == characters {
        return Ok(());
    }
    Err(Failure::Usage(format!(
        "--graph is given {graphs} times for {characters} character{}; once for all, or one for each \
         in the order of --character",
        if characters == 1 { "" } else { "s" }
    )))
}

/// Options that were given and that this mode does nothing with, one sentence each.
pub fn without_effect(options: &RunOptions, mode: Mode) -> Vec<String> {
    let mut notes = Vec::new();
    if options.present.is_some() && mode != Mode::Window {
        notes.push("--present has no effect without a window".to_owned());
    }
    notes.extend(spawn::without_effect(&options.spawn).map(str::to_owned));
    for option in Scenario::without_effect(&options.scenario) {
        notes.push(format!("{option} has no effect without --scenario"));
    }
    let everywhere = Gates::default();
    if !options.update_rate.is_on() {
        if options.rate_distances != everywhere.rate_distances {
            notes.push("--rate-distances has no effect with --update-rate off".to_owned());
        }
        if options.interpolate.is_on() {
            notes.push("--interpolate has no effect with --update-rate off".to_owned());
        }
    }
    if !options.skeleton_lod.is_on() && options.lod_distance != everywhere.lod_distance {
        notes.push("--lod-distance has no effect with --skeleton-lod off".to_owned());
    }
    if options.sound.is_on() && mode != Mode::Window {
        notes.push("--sound has no effect without a window".to_owned());
    }
    if mode == Mode::NoRender {
        let drawing = [
            ("--adapter", options.adapter.is_some()),
            ("--msaa", options.msaa != RunOptions::MSAA),
            ("--shadows", !options.shadows.is_on()),
            ("--mesh-lods", !options.mesh_lods.is_on()),
            ("--shaders", options.shaders.is_some()),
            ("--color-by", options.color_by != ColorArg::None),
            ("--palette-upload", options.palette_upload != PaletteUploadArg::Scatter),
        ];
        let given = drawing.into_iter().filter(|(_, given)| *given);
        notes.extend(given.map(|(name, _)| format!("{name} has no effect with --no-render")));
    }
    let own = options.scenario.scenario.is_none();
    if own && options.visibility == VisibilityArg::Off && options.grace != RunOptions::GRACE {
        notes.push("--grace has no effect with --visibility off".to_owned());
    }
    notes
}

/// True for the name of the adapter that draws nothing.
pub fn is_noop(adapter: Option<&str>) -> bool {
    adapter.is_some_and(|a| a.eq_ignore_ascii_case(GpuRequest::NOOP))
}

fn has_extension(path: &Path, wanted: &[&str]) -> bool {
    let extension = path.extension().and_then(|e| e.to_str()).unwrap_or_default();
    wanted.iter().any(|w| extension.eq_ignore_ascii_case(w))
}
