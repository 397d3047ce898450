//! What the program shows by itself from its named cameras.

use crate::{Difference, assert_golden};
use std::ffi::OsString;
use std::sync::Arc;
use throng::app::camera::Steering;
use throng::app::characters;
use throng::app::cli::{Cli, Mode, RunConfig};
use throng::app::headless;
use throng::app::show::Show;
use throng::asset::{CharacterAsset, ImageRgba8};
use throng::math::View;
use throng::profile::PhaseTimes;
use throng::render::{FrameInput, Offscreen, RenderConfig, RenderStats, Renderer};

const SIZE: (u32, u32) = (480, 270);

/// A run, its cast, what it is drawn into, and where it has come to after a while.
struct Seen {
    show: Show,
    assets: Vec<Arc<CharacterAsset>>,
    target: Offscreen,
}

impl Seen {
    /// `frames` frames of the run that the words ask for.
    fn after(frames: u64, words: &str) -> Self {
        let fixed = ["throng", "--headless", "--adapter", crate::ADAPTER, "--size", "480x270"];
        let words = fixed.into_iter().chain(words.split(' ')).map(OsString::from);
        let cli = Cli::read(words).unwrap().unwrap();
        let config = RunConfig::new(&cli.run, Mode::Headless).unwrap();
        let (build, fit) = (config.build(), config.fit_height);
        let cast = characters::load(&config.characters, &build, fit, true).unwrap();
        let assets = cast.members.iter().map(|member| Arc::clone(&member.asset)).collect();
        let (mut show, target) = headless::set_up(config, cast).unwrap();
        let target = target.unwrap();
        for frame in 0..frames {
            let input = headless::input(show.config(), frame);
            show.frame(Some(target.target()), &Steering::default(), input).unwrap();
        }
        Self { show, assets, target }
    }

    /// The program's own picture.
    fn image(&self) -> ImageRgba8 {
        self.target.read(&self.show.picture().unwrap().gpu).unwrap()
    }

    /// The same frame from another renderer, of these meshes.
    fn drawn(
        &self,
        config: &RenderConfig,
        assets: &[&CharacterAsset],
        size: (u32, u32),
    ) -> (ImageRgba8, RenderStats) {
        let picture = self.show.picture().unwrap();
        let mut renderer = Renderer::new(&picture.gpu, config, assets).unwrap();
        let shot = self.show.shot().unwrap();
        let target = Offscreen::new(&picture.gpu, config.formats, size).unwrap();
        let view = View { width: size.0, height: size.1, ..shot.view };
        let seen = FrameInput::of(&view, self.show.crowd().draw());
        let input = FrameInput { shadow_clip_from_world: shot.shadow, ..seen };
        let times = PhaseTimes::default();
        let stats = renderer.render(&picture.gpu, target.target(), input, &times).unwrap();
        (target.read(&picture.gpu).unwrap(), stats)
    }

    fn config(&self) -> RenderConfig {
        self.show.picture().unwrap().render_config().clone()
    }

    fn assets(&self) -> Vec<&CharacterAsset> {
        self.assets.iter().map(Arc::as_ref).collect()
    }
}

/// Vertices that hang on their first bone hang on their second, and the other way round.
fn with_swapped_bones(asset: &CharacterAsset) -> CharacterAsset {
    let mut swapped = asset.clone();
    let vertices = swapped.primitives.iter_mut().flat_map(|part| &mut part.vertices);
    vertices.for_each(|vertex| vertex.joints.swap(0, 1));
    swapped
}

/// Each view looks as it did, and would not if a light were one hundredth brighter or two bone
/// indices changed places.
#[test]
fn each_named_view_looks_as_it_did_and_shows_the_smallest_fault() {
    for (name, words) in [
        ("near", "--camera near --count 200"),
        ("crowd", "--camera orbit --count 800"),
        ("far", "--camera far --count 600 --layout street"),
    ] {
        let seen = Seen::after(90, words);
        let image = seen.image();
        assert_golden(&format!("view_{name}"), &image);

        let (config, assets) = (seen.config(), seen.assets());
        let differs = |config: &RenderConfig, assets: &[&CharacterAsset]| {
            let difference = Difference::of(&image, &seen.drawn(config, assets, SIZE).0);
            (!difference.is_small(), difference)
        };
        let (same, difference) = differs(&config, &assets);
        assert!(!same, "{name}: {difference:?}");
        let mut brighter = config.clone();
        brighter.lighting.sun_color *= 1.01;
        let (noticed, difference) = differs(&brighter, &assets);
        assert!(noticed, "{name}, more sun: {difference:?}");
        let mut brighter = config.clone();
        brighter.lighting.ambient *= 1.01;
        let (noticed, difference) = differs(&brighter, &assets);
        assert!(noticed, "{name}, more sky: {difference:?}");
        let swapped: Vec<_> = assets.iter().map(|asset| with_swapped_bones(asset)).collect();
        let (noticed, difference) = differs(&config, &swapped.iter().collect::<Vec<_>>());
        assert!(noticed, "{name}, swapped bones: {difference:?}");
    }
}

/// Twenty thousand people in view: few draws, few triangles, and hardly another picture.
#[test]
fn twenty_thousand_people_in_view_take_few_draws_and_triangles() {
    let seen = Seen::after(1, "--camera far --count 20000 --character humanoid");
    let (config, assets, size) = (seen.config(), seen.assets(), (1280, 720));
    let (reduced, few) = seen.drawn(&config, &assets, size);
    let (full, all) = seen.drawn(&RenderConfig { mesh_lods: false, ..config }, &assets, size);
    assert_eq!((few.instances, all.instances), (20_000, 20_000));
    assert!(few.draws < 40 && few.triangles < 12_000_000, "{few:?}");
    assert!(few.triangles * 10 < all.triangles, "{} of {}", few.triangles, all.triangles);
    // Every matrix once, and what else a frame needs.
    let matrices = 20_000 * assets[0].skeleton.palette_len() as u64;
    assert!((48 * matrices..50 * matrices).contains(&few.upload_bytes), "{few:?}");
    let difference = Difference::of(&full, &reduced);
    // Of 255 steps.
    assert!(difference.mean < 1.5 && difference.shift < 0.2, "{difference:?}");
}
