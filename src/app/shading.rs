//! Shaders that somebody edits while they draw. Only the feature `shader-reload` brings them in.

/// Whether the program was built with them.
pub const BUILT_IN: bool = cfg!(any(test, feature = "shader-reload"));

#[cfg(any(test, feature = "shader-reload"))]
pub use live::{Shading, dress};
#[cfg(not(any(test, feature = "shader-reload")))]
pub use still::{Shading, dress};

#[cfg(any(test, feature = "shader-reload"))]
mod live {
    use crate::app::cli::RunConfig;
    use crate::app::exit::Failure;
    use crate::app::picture::Picture;
    use crate::app::playing::{LOOK, Reloaded};
    use crate::graph::Watch;
    use crate::render::{Gpu, ShaderFault, ShaderTexts};
    use std::path::PathBuf;
    use std::time::Instant;

    /// Has a device compile the shaders of the run's folder, if it names one.
    ///
    /// # Errors
    /// Of the folder's files.
    pub fn dress(gpu: &mut Gpu, config: &RunConfig) -> Result<(), ShaderFault> {
        let texts = config.shaders.as_deref().map(ShaderTexts::read).transpose()?;
        gpu.set_shader_texts(texts);
        Ok(())
    }

    /// Draws with a folder's shaders anew whenever one of them is saved.
    #[derive(Debug)]
    pub struct Shading {
        folder: PathBuf,
        files: Vec<Watch>,
        looked: Instant,
        /// Looks, one after the other, at which some file was not there.
        missed: u32,
    }

    /// Looks at which a file has to be missing to be gone: many programs save by putting another one
    /// in its place.
    const PATIENCE: u32 = 4;

    impl Shading {
        /// Watches the folder of `--shaders`.
        pub fn new(config: &RunConfig) -> Option<Self> {
            let folder = config.shaders.clone()?;
            let files = ShaderTexts::files(&folder).into_iter().map(Watch::new).collect();
            Some(Self { folder, files, looked: Instant::now(), missed: 0 })
        }

        /// Between two frames: looks at the files, if it is time to.
        pub fn look(&mut self, picture: &mut Picture, now: Instant) -> Option<Reloaded> {
            if now.saturating_duration_since(self.looked) < LOOK {
                return None;
            }
            self.looked = now;
            let gone = self.files.iter().map(Watch::path).find(|path| !path.exists());
            if let Some(path) = gone {
                self.missed += 1;
                let gone = || format!("{}: gone; the last good shaders stay", path.display());
                return (self.missed == PATIENCE).then(|| Reloaded::Kept(gone()));
            }
            // Each is asked, so that each knows what was read.
            let saved = self.files.iter_mut().filter_map(|file| file.saved().then_some(())).count();
            let back = std::mem::take(&mut self.missed) >= PATIENCE;
            (back || saved > 0).then(|| match self.draw_anew(picture) {
                Ok(()) => Reloaded::Done(format!("{}: shaders drawn with", self.folder.display())),
                Err(fault) => Reloaded::Kept(format!("{fault}; the last good shaders stay")),
            })
        }

        fn draw_anew(&self, picture: &mut Picture) -> Result<(), Failure> {
            picture.shade(ShaderTexts::read(&self.folder)?)
        }
    }
}

#[cfg(not(any(test, feature = "shader-reload")))]
mod still {
    use crate::app::cli::RunConfig;
    use crate::app::picture::Picture;
    use crate::app::playing::Reloaded;
    use crate::render::Gpu;
    use std::convert::Infallible;
    use std::time::Instant;

    /// Leaves the device with the program's own shaders.
    ///
    /// # Errors
    /// None.
    pub fn dress(_: &mut Gpu, _: &RunConfig) -> Result<(), Infallible> {
        Ok(())
    }

    /// There is none: the program was built without.
    #[derive(Debug)]
    pub enum Shading {}

    impl Shading {
        /// Nothing that could be watched.
        pub fn new(_: &RunConfig) -> Option<Self> {
            None
        }

        /// Never called, because nobody has a `Shading`.
        pub fn look(&mut self, _: &mut Picture, _: Instant) -> Option<Reloaded> {
            match *self {}
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::app::camera::Steering;
    use crate::app::cli::{Cli, Mode, RunConfig};
    use crate::app::show::Show;
    use crate::app::{characters, headless};
    use crate::asset::ImageRgba8;
    use crate::render::{Offscreen, ShaderTexts};
    use std::ffi::OsString;
    use std::fs;
    use std::path::Path;
    use std::time::{Duration, SystemTime};

    const OWN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/shaders");

    fn copied() -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("lib")).unwrap();
        for path in ShaderTexts::files(Path::new(OWN)) {
            fs::copy(&path, dir.path().join(path.strip_prefix(OWN).unwrap())).unwrap();
        }
        dir
    }

    fn show_with(shaders: &Path) -> Result<(Show, Offscreen), String> {
        let words = ["throng", "--headless", "--count", "9", "--size", "160x90", "--shaders"];
        let words = words.map(OsString::from).into_iter().chain([shaders.into()]);
        let cli = Cli::read(words).unwrap().unwrap();
        let config = RunConfig::new(&cli.run, Mode::Headless).unwrap();
        let (build, fit) = (config.build(), config.fit_height);
        let cast = characters::load(&config.characters, &build, fit, true).unwrap();
        let (show, target) = headless::set_up(config, cast).map_err(|fault| fault.to_string())?;
        Ok((show, target.unwrap()))
    }

    /// Frames for as long as the folder is looked at twice; what was said, and the last picture.
    fn seen(show: &mut Show, target: &Offscreen) -> (Vec<String>, ImageRgba8) {
        for frame in 0..3 {
            std::thread::sleep(Duration::from_millis(220));
            let input = headless::input(show.config(), frame);
            show.frame(Some(target.target()), &Steering::default(), input).unwrap();
        }
        (show.take_notes(), target.read(&show.picture().unwrap().gpu).unwrap())
    }

    /// Mean of red over the upper left corner, where the sky is.
    fn red_sky(image: &ImageRgba8) -> u32 {
        image.pixels.chunks_exact(4).take(160).map(|pixel| u32::from(pixel[0])).sum::<u32>() / 160
    }

    fn save(path: &Path, text: &str) {
        fs::write(path, text).unwrap();
        // Faster than some file systems count.
        let later = SystemTime::now() + Duration::from_secs(2);
        fs::File::options().write(true).open(path).unwrap().set_modified(later).unwrap();
    }

    #[test]
    fn a_shader_that_is_saved_is_drawn_with_and_a_broken_one_is_not() {
        let dir = copied();
        let path = dir.path().join("sky.wgsl");
        let (mut show, target) = show_with(dir.path()).unwrap();
        let (notes, own) = seen(&mut show, &target);
        assert!(notes.is_empty() && red_sky(&own) < 230, "{notes:?} {}", red_sky(&own));

        let text = fs::read_to_string(&path).unwrap();
        save(&path, &text.replace("radiance, in.clip", "vec3(9.0, 0.0, 0.0), in.clip"));
        let (notes, red) = seen(&mut show, &target);
        assert!(notes.len() == 1 && notes[0].ends_with("shaders drawn with"), "{notes:?}");
        assert!(red_sky(&red) > 230, "{}", red_sky(&red));

        // Broken for the compiler, and for the pipeline alone.
        let other = "@group(3) @binding(7) var<uniform> other: vec4<f32>;\n";
        let bound = format!("{other}{}", text.replace("radiance, in.clip", "other.rgb, in.clip"));
        for broken in [text.replace("let radiance =", "let radiance"), bound] {
            save(&path, &broken);
            let (notes, kept) = seen(&mut show, &target);
            assert!(notes.len() == 1 && notes[0].ends_with("good shaders stay"), "{notes:?}");
            assert!(red_sky(&kept) > 230, "{}", red_sky(&kept));
        }
        // Gone, and back as it was.
        let away = dir.path().join("away");
        fs::rename(&path, &away).unwrap();
        let mut notes = Vec::new();
        for _ in 0..2 {
            notes.extend(seen(&mut show, &target).0);
        }
        assert!(notes.len() == 1 && notes[0].contains("sky.wgsl: gone"), "{notes:?}");
        fs::rename(&away, &path).unwrap();
        save(&path, &text);
        let (notes, mended) = seen(&mut show, &target);
        assert!(notes.iter().all(|note| note.ends_with("shaders drawn with")), "{notes:?}");
        assert!(!notes.is_empty() && red_sky(&mended) == red_sky(&own), "{notes:?}");
    }

    #[test]
    fn a_run_does_not_begin_with_broken_shaders() {
        let dir = copied();
        let path = dir.path().join("lib/light.wgsl");
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, text.replacen("fn ", "func ", 1)).unwrap();
        let fault = show_with(dir.path()).map(|_| ()).unwrap_err();
        assert!(fault.starts_with(&format!("{}:", path.display())), "{fault}");
    }
}
