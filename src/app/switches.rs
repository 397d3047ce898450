//! What can be switched while a run goes on, under the names of the command line.

use super::cli::{PaletteUploadArg, PresentArg, RunConfig, RunOptions, VisibilityArg, named};
use crate::math::{Lanes, SimdLevel};

/// One position of every switch.
#[derive(Clone, Debug, PartialEq)]
pub struct Switches {
    /// What becomes of characters that nobody sees.
    pub visibility: VisibilityArg,
    /// Distant characters are animated less often.
    pub update_rate: bool,
    /// Of distant characters only the first bones are animated.
    pub skeleton_lod: bool,
    /// Whoever skips frames is drawn on its way.
    pub interpolate: bool,
    /// Milliseconds that evaluation may take.
    pub budget_ms: Option<f64>,
    /// Unreachable tasks are left out.
    pub prune: bool,
    /// Buffers are taken over by their last reader.
    pub steal: bool,
    /// Vector instructions.
    pub simd: SimdLevel,
    /// Worker threads.
    pub threads: usize,
    /// Distant characters have fewer triangles.
    pub mesh_lods: bool,
    /// Shadows are drawn.
    pub shadows: bool,
    /// Samples per pixel.
    pub msaa: u32,
    /// How palettes reach the GPU.
    pub palette_upload: PaletteUploadArg,
    /// How frames reach the screen.
    pub present: PresentArg,
}

impl Switches {
    /// As a run has them that uses so many threads.
    pub fn of(config: &RunConfig, threads: usize) -> Self {
        Self {
            visibility: config.visibility,
            update_rate: config.update_rate,
            skeleton_lod: config.skeleton_lod,
            interpolate: config.interpolate,
            budget_ms: config.budget_ms,
            prune: config.prune,
            steal: config.steal,
            simd: config.simd,
            threads,
            mesh_lods: config.mesh_lods,
            shadows: config.shadows,
            msaa: config.msaa,
            palette_upload: config.palette_upload,
            present: config.present,
        }
    }

    /// As a run has them that is told nothing.
    fn usual() -> Self {
        Self {
            visibility: VisibilityArg::On,
            update_rate: true,
            skeleton_lod: true,
            interpolate: false,
            budget_ms: None,
            prune: true,
            steal: true,
            simd: Lanes::best().level(),
            threads: super::cpu::threads(),
            mesh_lods: true,
            shadows: true,
            msaa: RunOptions::MSAA,
            palette_upload: PaletteUploadArg::Scatter,
            present: PresentArg::Fifo,
        }
    }

    /// Each switch's flag and what is said with it.
    fn words(&self) -> [(&'static str, String); 14] {
        let Self {
            visibility,
            update_rate,
            skeleton_lod,
            interpolate,
            budget_ms,
            prune,
            steal,
            simd,
            threads,
            mesh_lods,
            shadows,
            msaa,
            palette_upload,
            present,
        } = self;
        let on = |on: &bool| if *on { "on" } else { "off" }.to_owned();
        [
            ("--visibility", named(visibility)),
            ("--update-rate", on(update_rate)),
            ("--skeleton-lod", on(skeleton_lod)),
            ("--interpolate", on(interpolate)),
            ("--budget-ms", budget_ms.map_or_else(String::new, |ms| ms.to_string())),
            ("--prune", on(prune)),
            ("--steal", on(steal)),
            ("--simd", simd.to_string()),
            ("--threads", threads.to_string()),
            ("--mesh-lods", on(mesh_lods)),
            ("--shadows", on(shadows)),
            ("--msaa", msaa.to_string()),
            ("--palette-upload", named(palette_upload)),
            ("--present", named(present)),
        ]
    }

    /// The flags of those switches that are not as another one has them.
    pub fn changed(&self, from: &Self) -> Vec<&'static str> {
        let pairs = self.words().into_iter().zip(from.words());
        pairs.filter(|(now, before)| now != before).map(|((flag, _), _)| flag).collect()
    }

    /// What to add to a command line for a run like this one; empty for one that is as usual.
    pub fn flags(&self) -> String {
        let unusual = self.words().into_iter().zip(Self::usual().words());
        let unusual = unusual.filter(|(now, usual)| now != usual).map(|(now, _)| now);
        unusual.map(|(flag, word)| format!("{flag} {word}")).collect::<Vec<_>>().join(" ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::cli::{Cli, Mode};
    use std::ffi::OsString;

    fn read(line: &str) -> RunConfig {
        let args = std::iter::once("throng").chain(line.split_whitespace()).map(OsString::from);
        RunConfig::new(&Cli::read(args).unwrap().unwrap().run, Mode::Window).unwrap()
    }

    fn of(config: &RunConfig) -> Switches {
        Switches::of(config, config.threads.unwrap_or_else(crate::app::cpu::threads))
    }

    #[test]
    fn the_command_line_reads_what_is_written_for_it() {
        assert_eq!(of(&read("")), Switches::usual());
        assert_eq!(Switches::usual().flags(), "");
        let all = Switches {
            visibility: VisibilityArg::Clocks,
            update_rate: false,
            skeleton_lod: false,
            interpolate: true,
            budget_ms: Some(2.5),
            prune: false,
            steal: false,
            simd: SimdLevel::Scalar,
            threads: Switches::usual().threads + 1,
            mesh_lods: false,
            shadows: false,
            msaa: 1,
            palette_upload: PaletteUploadArg::Copy,
            present: PresentArg::Mailbox,
        };
        assert_eq!(of(&read(&all.flags())), all, "{}", all.flags());
        assert_eq!(all.changed(&Switches::usual()).len(), all.words().len());
        let one = Switches { steal: false, ..Switches::usual() };
        assert_eq!(one.changed(&Switches::usual()), ["--steal"]);
        assert_eq!(one.flags(), "--steal off");
    }
}
