//! Pictures against committed ones, on the software adapter.
//!
//! `THRONG_BLESS=1` writes the goldens instead. A missing golden fails, and so does a missing
//! adapter: nothing here passes without having drawn.
#![allow(clippy::unwrap_used, clippy::panic, reason = "what is missing or wrong fails the test")]

#[path = "golden/overlay.rs"]
mod overlay;
mod scene;
#[path = "golden/views.rs"]
mod views;

use glam::Vec3;
use scene::{Scene, bender, camera, ellipsoid, focus};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use throng::app::picked::Picked;
use throng::app::sketch::Sketch;
use throng::asset::{BUILTINS, CharacterAsset, ImageRgba8, Surface, builtin};
use throng::crowd::{Crowd, CrowdConfig, CrowdDraw, CrowdKind, Gates, Playing, TickInput};
use throng::index::CharacterId;
use throng::math::View;
use throng::motion::Terrain;
use throng::profile::PhaseTimes;
use throng::render::{
    FrameInput, Gpu, GpuRequest, LineRecord, Lines, Offscreen, RenderConfig, RenderStats, Renderer,
    TargetFormats,
};

/// The adapter of every golden: Mesa's lavapipe.
const ADAPTER: &str = "llvmpipe";
const SIZE: (u32, u32) = (256, 256);
const SIDE: u32 = 4;

fn gpu() -> &'static Gpu {
    static GPU: OnceLock<Gpu> = OnceLock::new();
    GPU.get_or_init(|| {
        let request = GpuRequest { adapter: Some(ADAPTER.into()) };
        Gpu::new(&request).unwrap_or_else(|e| panic!("goldens need Mesa's lavapipe: {e}"))
    })
}

fn config() -> RenderConfig {
    RenderConfig { shadow_size: Some(1024), ..RenderConfig::new(gpu().offscreen_formats()) }
}

fn draw(config: &RenderConfig, asset: &CharacterAsset, crowd: &Scene) -> (ImageRgba8, RenderStats) {
    draw_from(&camera(SIDE, SIZE), config, asset, crowd)
}

fn draw_from(
    view: &View,
    config: &RenderConfig,
    asset: &CharacterAsset,
    crowd: &Scene,
) -> (ImageRgba8, RenderStats) {
    draw_crowd(view, config, asset, crowd.draw())
}

/// What a crowd's last tick left to draw.
fn draw_crowd(
    view: &View,
    config: &RenderConfig,
    asset: &CharacterAsset,
    crowd: CrowdDraw<'_>,
) -> (ImageRgba8, RenderStats) {
    draw_lines(view, config, asset, crowd, Lines::default())
}

fn draw_lines(
    view: &View,
    config: &RenderConfig,
    asset: &CharacterAsset,
    crowd: CrowdDraw<'_>,
    lines: Lines<'_>,
) -> (ImageRgba8, RenderStats) {
    let mut renderer = Renderer::new(gpu(), config, &[asset]).unwrap();
    let size = (view.width, view.height);
    let target = Offscreen::new(gpu(), config.formats, size).unwrap();
    let shadow_clip_from_world = renderer.shadow_clip_from_world(view, &focus(SIDE));
    let input = FrameInput { shadow_clip_from_world, lines, ..FrameInput::of(view, crowd) };
    let stats = renderer.render(gpu(), target.target(), input, &PhaseTimes::default()).unwrap();
    (target.read(gpu()).unwrap(), stats)
}

/// How two pictures differ.
#[derive(Debug)]
struct Difference {
    /// Largest mean of the signed difference of one channel, in 8-bit steps: moves with the light.
    shift: f64,
    /// Mean of what one channel differs by, in 8-bit steps, of the channel that does most.
    mean: f64,
    /// Share of pixels of which some channel differs by more than 12 steps: moves with shapes.
    strays: f64,
}

impl Difference {
    fn of(a: &ImageRgba8, b: &ImageRgba8) -> Self {
        assert_eq!((a.width, a.height), (b.width, b.height), "sizes differ");
        let pairs = || a.pixels.chunks_exact(4).zip(b.pixels.chunks_exact(4));
        let count = f64::from(a.width) * f64::from(a.height);
        let step = |p: &[u8], q: &[u8], c: usize| i32::from(p[c]) - i32::from(q[c]);
        let mean = |c: usize| pairs().map(|(p, q)| f64::from(step(p, q, c))).sum::<f64>() / count;
        let stray = |(p, q): &(&[u8], &[u8])| (0..3).any(|c| step(p, q, c).abs() > 12);
        Self {
            shift: (0..3).map(|c| mean(c).abs()).fold(0.0, f64::max),
            mean: (0..3)
                .map(|c| pairs().map(|(p, q)| f64::from(step(p, q, c).abs())).sum::<f64>() / count)
                .fold(0.0, f64::max),
            strays: pairs().filter(stray).count() as f64 / count,
        }
    }

    /// Room for another version of the software adapter, not for a change of ours.
    fn is_small(&self) -> bool {
        self.shift < 0.1 && self.strays < 0.002
    }
}

fn golden_path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(format!("{name}.png"))
}

fn load(path: &Path) -> ImageRgba8 {
    let image = image::open(path)
        .unwrap_or_else(|e| panic!("golden {} is missing or broken: {e}", path.display()))
        .to_rgba8();
    let (width, height) = image.dimensions();
    ImageRgba8 { name: String::new(), width, height, pixels: image.into_raw() }
}

fn save(path: &Path, image: &ImageRgba8) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    let color = image::ColorType::Rgba8;
    image::save_buffer(path, &image.pixels, image.width, image.height, color).unwrap();
}

fn assert_golden(name: &str, image: &ImageRgba8) {
    let path = golden_path(name);
    if std::env::var_os("THRONG_BLESS").is_some() {
        save(&path, image);
        return;
    }
    let difference = Difference::of(image, &load(&path));
    if !difference.is_small() {
        let actual = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.png"));
        save(&actual, image);
        panic!("{} differs from {}: {difference:?}", actual.display(), path.display());
    }
}

#[test]
fn a_small_crowd_looks_as_it_did() {
    let asset = bender();
    let (image, stats) = draw(&config(), &asset, &Scene::crowd(&asset, SIDE, 1));
    assert_golden("bender_crowd", &image);
    assert_eq!(stats.instances, u64::from(SIDE * SIDE));
}

#[test]
fn one_sample_and_no_shadows_look_as_they_did() {
    let asset = bender();
    let config = RenderConfig { msaa: 1, shadow_size: None, mesh_lods: false, ..config() };
    let (image, stats) = draw(&config, &asset, &Scene::crowd(&asset, SIDE, 1));
    assert_golden("bender_plain", &image);
    // Five parts, one of them blended and so drawn twice; shade, ground, sky.
    assert_eq!(stats.draws, 6 + 3);
    let with_shadows = RenderConfig { shadow_size: Some(64), ..config };
    let (_, stats) = draw(&with_shadows, &asset, &Scene::crowd(&asset, SIDE, 1));
    assert_eq!(stats.draws, 6 + 3 + 5);
}

#[test]
fn every_built_in_character_looks_as_it_did() {
    for (name, _) in BUILTINS {
        let asset = builtin(name).unwrap().unwrap();
        let (image, _) = draw(&config(), &asset, &Scene::animated(&asset, SIDE));
        assert_golden(&format!("{name}_crowd"), &image);
    }
}

/// Before the first row, as high as its knees.
fn at_their_feet() -> View {
    let (eye, target) = (Vec3::new(0.9, 0.62, 5.0), Vec3::new(-0.2, 0.3, 0.0));
    View::look_at(eye, target, 0.62, 1000.0, (480, 320))
}

#[test]
fn feet_on_uneven_ground_look_as_they_did() {
    let asset = builtin("humanoid").unwrap().unwrap();
    let terrain = Terrain::uneven(3);
    let config = RenderConfig { terrain, ..config() };
    let crowd = Scene::animated(&asset, SIDE).on(terrain);
    let (image, _) = draw_from(&at_their_feet(), &config, &asset, &crowd);
    assert_golden("uneven_feet", &image);
    // Others stand on other ground than is drawn.
    let astray = Scene::animated(&asset, SIDE).on(Terrain::uneven(4));
    let (wrong, _) = draw_from(&at_their_feet(), &config, &asset, &astray);
    assert!(!Difference::of(&image, &wrong).is_small());
}

/// A crowd of people of whom somebody in front is picked, and the lines that are drawn of it.
#[test]
fn somebody_picked_looks_as_it_did() {
    let asset = builtin("humanoid").unwrap().unwrap();
    let (graph, text) = throng::graph::builtin_for("humanoid").unwrap();
    let program = throng::graph::compile(graph, text).unwrap().program;
    let kind = CrowdKind {
        surface: Some(Arc::new(Surface::of(&asset))),
        playing: Playing::Graph(Arc::new(program)),
        ..CrowdKind::new("humanoid", Arc::new(asset.rig().unwrap()), asset.bounds)
    };
    let config = CrowdConfig { count: 9, gates: Gates::OFF, ..CrowdConfig::default() };
    let mut crowd = Crowd::new(config, vec![kind]).unwrap();
    let eye = Vec3::new(1.0, 2.1, 8.0);
    let view = View::look_at(eye, Vec3::new(-0.4, 0.75, 0.0), 0.7, 500.0, (384, 288));
    let (mut picked, times) = (Picked::new(Some(CharacterId(7))), PhaseTimes::default());
    for _ in 0..90 {
        picked.settle(&mut crowd);
        crowd.watch_also(picked.who()).unwrap();
        let input = TickInput {
            dt: 1.0 / 60.0,
            played: true,
            view: &view,
            shadow_clip_from_world: None,
            palette_hash: false,
        };
        crowd.tick(&input, &times);
        picked.look(&mut crowd, view.eye, true);
    }
    let mut sketch = Sketch::default();
    picked.draw(&crowd, view.eye, &mut sketch);
    let picture = |msaa, lines| {
        let config = RenderConfig { msaa, ..self::config() };
        draw_lines(&view, &config, &asset, crowd.draw(), lines)
    };
    let (image, with) = picture(4, sketch.lines());
    assert_golden("picked", &image);
    let (without, plain) = picture(4, Lines::default());
    assert_eq!(with.draws, plain.draws + 2);
    assert!(!Difference::of(&image, &without).is_small());
    // Without samples the same lines are in the same places, with harder edges.
    let ((hard, _), (bare, _)) = (picture(1, sketch.lines()), picture(1, Lines::default()));
    let [many, one] = [(&image, &without), (&hard, &bare)].map(|(a, b)| Difference::of(a, b));
    assert!((many.shift / one.shift - 1.0).abs() < 0.05, "{many:?} {one:?}");
}

#[test]
fn a_line_is_hidden_by_what_is_nearer_unless_it_is_seen_through_it() {
    let asset = bender();
    let crowd = Scene::crowd(&asset, SIDE, 1);
    let line = |z: f32| LineRecord {
        start: [-3.0, 0.5, z],
        width: 4.0,
        end: [3.0, 0.5, z],
        color: u32::from_le_bytes([255, 0, 255, 255]),
    };
    let pink = |lines| {
        let view = camera(SIDE, SIZE);
        let (image, _) = draw_lines(&view, &config(), &asset, crowd.draw(), lines);
        let is = |p: &&[u8]| p[0] > 240 && p[1] < 30 && p[2] > 240;
        image.pixels.chunks_exact(4).filter(is).count()
    };
    let behind = [line(-2.25)];
    let tested = pink(Lines { tested: &behind, x_ray: &[] });
    let x_ray = pink(Lines { tested: &[], x_ray: &behind });
    assert!(tested > 40 && x_ray > tested + 40, "{tested} {x_ray}");
    // From behind the eye to far ahead of it, and wholly behind it.
    let through = [LineRecord { start: [0.3, 1.0, 40.0], end: [0.3, 1.0, -4.0], ..line(0.0) }];
    assert!(pink(Lines { tested: &[], x_ray: &through }) > 40);
    let back = [LineRecord { start: [0.0, 1.0, 40.0], end: [9.0, 1.0, 60.0], ..line(0.0) }];
    assert_eq!(pink(Lines { tested: &back, x_ray: &back }), 0);
}

#[test]
fn levels_of_detail_spare_triangles_and_hardly_change_the_picture() {
    let asset = builtin("humanoid").unwrap().unwrap();
    let crowd = Scene::animated(&asset, SIDE);
    let (full, all) = draw(&RenderConfig { mesh_lods: false, ..config() }, &asset, &crowd);
    let (reduced, fewer) = draw(&config(), &asset, &crowd);
    // Some are in between, and drawn with two meshes.
    assert!(fewer.triangles * 5 < all.triangles * 3, "{} of {}", fewer.triangles, all.triangles);
    let difference = Difference::of(&full, &reduced);
    assert!(difference.shift < 0.5 && difference.strays < 0.04, "{difference:?}");
}

/// Somebody walks away, in steps shorter than one mesh takes to give way to another.
#[test]
fn where_one_mesh_gives_way_to_another_nothing_is_missing() {
    let asset = builtin("humanoid").unwrap().unwrap();
    let crowd = Scene::animated(&asset, 1);
    let full = RenderConfig { mesh_lods: false, ..config() };
    let mut renderers = [&full, &config()].map(|c| Renderer::new(gpu(), c, &[&asset]).unwrap());
    let target = Offscreen::new(gpu(), full.formats, SIZE).unwrap();
    let middle = Vec3::new(0.0, 0.9, 0.0);
    let mut draws = Vec::new();
    for step in 0..70 {
        let eye = middle + Vec3::new(0.3, 0.2, 1.0).normalize() * 5.0 * 1.02_f32.powi(step);
        let view = View::look_at(eye, middle, 0.6, 1000.0, SIZE);
        let [whole, faded] = renderers.each_mut().map(|renderer| {
            let shadow_clip_from_world = renderer.shadow_clip_from_world(&view, &focus(1));
            let seen = FrameInput::of(&view, crowd.draw());
            let input = FrameInput { shadow_clip_from_world, ..seen };
            let times = PhaseTimes::default();
            let stats = renderer.render(gpu(), target.target(), input, &times).unwrap();
            draws.push(stats.draws);
            target.read(gpu()).unwrap()
        });
        let difference = Difference::of(&whole, &faded);
        assert!(difference.shift < 0.1 && difference.strays < 0.008, "{step}: {difference:?}");
    }
    let (alone, both) = (draws.iter().min().unwrap(), draws.iter().max().unwrap());
    let fading = draws.iter().filter(|d| *d == both).count();
    assert!(both > alone && (3..35).contains(&fading), "{fading} with {both}, else {alone}");
}

#[test]
fn skeletons_of_distant_characters_lose_bones_and_hardly_change_the_picture() {
    // The fox has no bone to spare.
    let asset = builtin("humanoid").unwrap().unwrap();
    let rig = Arc::new(asset.rig().unwrap());
    let picture = |skeleton_lod| {
        let gates = Gates { skeleton_lod, ..Gates::OFF };
        let kind = CrowdKind::new("humanoid", Arc::clone(&rig), asset.bounds);
        let config = CrowdConfig { count: 64, gates, ..CrowdConfig::default() };
        let mut crowd = Crowd::new(config, vec![kind]).unwrap();
        // Where skeletons are cut, through a lens that the crowd fills all the same.
        let wide = 2.0 * crowd.half_extent().length();
        let away = 62.0 * crowd.largest_radius() + wide;
        let eye = Vec3::new(0.3, 0.2, 1.0).normalize() * away;
        let fov = 2.0 * (0.6 * wide / away).atan();
        let view = View::look_at(eye, Vec3::new(0.0, 0.8, 0.0), fov, 1000.0, SIZE);
        let times = PhaseTimes::default();
        for _ in 0..30 {
            let input = TickInput {
                dt: 0.1,
                played: true,
                view: &view,
                shadow_clip_from_world: None,
                palette_hash: false,
            };
            let stats = crowd.tick(&input, &times);
            assert_eq!(stats.evaluated, 64);
            assert_eq!(stats.lod_cut, if skeleton_lod { 64 } else { 0 });
        }
        draw_crowd(&view, &self::config(), &asset, crowd.draw()).0
    };
    let (whole, cut) = (picture(false), picture(true));
    let difference = Difference::of(&whole, &cut);
    assert!(whole.pixels != cut.pixels, "some bones are gone");
    assert!(difference.shift < 0.05 && difference.strays < 0.003, "{difference:?}");
}

/// The same crowd with a whole palette of its own for every record, and for the one before.
fn with_whole_palettes(crowd: &CrowdDraw<'_>) -> Scene {
    let mut scene = Scene {
        instances: crowd.instances.to_vec(),
        groups: crowd.groups.to_vec(),
        pages: crowd.pages.to_vec(),
    };
    scene.pages.iter_mut().for_each(|page| (page.cut, page.matrices) = (None, Vec::new()));
    for group in crowd.groups {
        let (from, page) =
            (&crowd.pages[group.page as usize], &mut scene.pages[group.page as usize]);
        for record in &mut scene.instances[group.camera.start as usize..group.camera.end as usize] {
            let [newer, before] = [from.palette(record), from.palette_before(record)];
            for (at, palette) in
                [(&mut record.palette_offset, newer), (&mut record.before_offset, before)]
            {
                *at = page.matrices.len() as u32;
                page.matrices.extend_from_slice(&palette.unwrap().to_whole());
            }
            record.cut = 0;
        }
    }
    scene
}

#[test]
fn cut_palettes_are_drawn_as_whole_ones_with_their_matrices() {
    let asset = builtin("humanoid").unwrap().unwrap();
    let rig = Arc::new(asset.rig().unwrap());
    let mut seen = [0; 4];
    for interpolate in [false, true] {
        // Every second frame, and cut where the camera is now near and now far.
        let gates =
            Gates { rate_distances: [1.0, 900.0, 901.0], lod_distance: 5.0, ..Gates::default() };
        let kind = CrowdKind::new("humanoid", Arc::clone(&rig), asset.bounds);
        let config = CrowdConfig { count: 16, gates, interpolate, ..CrowdConfig::default() };
        let mut crowd = Crowd::new(config, vec![kind]).unwrap();
        let view = camera(SIDE, SIZE);
        for frame in 0..12 {
            let mut view = view;
            view.eye *= if frame == 9 || frame == 10 { 2.0 } else { 1.0 };
            let input = TickInput {
                dt: 0.1,
                played: true,
                view: &view,
                shadow_clip_from_world: None,
                palette_hash: false,
            };
            crowd.tick(&input, &PhaseTimes::default());
        }
        let cut = crowd.draw();
        cut.instances.iter().for_each(|record| seen[record.cut as usize] += 1);
        let mut groups = cut.groups.to_vec();
        groups.iter_mut().for_each(|group| group.shadow = group.camera.clone());
        let cut = CrowdDraw { groups: &groups, ..cut };
        let whole = with_whole_palettes(&cut);
        let config = RenderConfig { interpolate, ..self::config() };
        let [cut, whole] =
            [cut, whole.draw()].map(|crowd| draw_crowd(&view, &config, &asset, crowd).0);
        assert!(cut.pixels == whole.pixels, "{:?}", Difference::of(&cut, &whole));
    }
    assert!(seen.iter().all(|n| *n > 0), "{seen:?}");
}

#[test]
fn what_is_between_two_palettes_is_drawn_there() {
    let asset = builtin("humanoid").unwrap().unwrap();
    let (older, newer) = (Scene::animated(&asset, SIDE), Scene::animated_from(&asset, SIDE, 3));
    let share = 0.3;
    let (mut mixed, mut both) = (Scene::animated(&asset, SIDE), Scene::animated(&asset, SIDE));
    let pairs = mixed.pages[0].matrices.iter_mut().zip(&newer.pages[0].matrices);
    for (matrix, newer) in pairs {
        for (a, b) in matrix.rows.iter_mut().flatten().zip(newer.rows.iter().flatten()) {
            *a += (b - *a) * share;
        }
    }
    let page = &mut both.pages[0];
    let count = page.matrices.len() as u32;
    page.matrices.extend_from_slice(&newer.pages[0].matrices);
    page.dirty = std::iter::once(0..2 * count).collect();
    for record in &mut both.instances {
        record.palette_offset += count;
        record.weight = share;
    }
    let interpolating = RenderConfig { interpolate: true, ..config() };
    let picture = |config: &RenderConfig, scene: &Scene| draw(config, &asset, scene).0;
    let expected = picture(&config(), &mixed);
    assert!(Difference::of(&picture(&interpolating, &both), &expected).is_small());
    assert!(Difference::of(&picture(&interpolating, &mixed), &expected).is_small());
    for (config, scene) in [(config(), &both), (interpolating, &older)] {
        assert!(!Difference::of(&picture(&config, scene), &expected).is_small());
    }
}

#[test]
fn normals_and_winding_are_right_under_uneven_and_mirroring_scale() {
    let full = RenderConfig { mesh_lods: false, ..config() };
    for scale in [Vec3::new(0.5, 1.4, 1.0), Vec3::new(-0.5, 1.4, 1.0), Vec3::new(1.0, 0.3, -1.2)] {
        let draw = |baked| {
            let asset = ellipsoid(scale, baked);
            draw(&full, &asset, &Scene::crowd(&asset, SIDE, 1)).0
        };
        let difference = Difference::of(&draw(false), &draw(true));
        assert!(difference.is_small(), "{scale}: {difference:?}");
    }
}

#[test]
fn a_metallic_roughness_texture_multiplies_the_factors() {
    let full = RenderConfig { mesh_lods: false, ..config() };
    let picture = |asset: &CharacterAsset| draw(&full, asset, &Scene::crowd(asset, SIDE, 1)).0;
    let plain = bender();
    let [mut by_factor, mut by_texture] = [bender(), bender()];
    for material in &mut by_factor.materials {
        (material.metallic, material.roughness) = (0.6, 102.0 / 255.0);
    }
    let pixels = vec![77, 102, 153, 255];
    let image = ImageRgba8 { name: "surface".into(), width: 1, height: 1, pixels };
    let index = by_texture.images.len() as u32;
    by_texture.images.push(image);
    for material in &mut by_texture.materials {
        (material.metallic, material.roughness) = (1.0, 1.0);
        material.metallic_roughness_image = Some(index);
    }
    let factor = picture(&by_factor);
    let difference = Difference::of(&factor, &picture(&by_texture));
    assert!(difference.is_small(), "{difference:?}");
    assert!(!Difference::of(&factor, &picture(&plain)).is_small());
}

#[test]
fn a_target_without_srgb_gets_the_same_picture_from_the_shader() {
    let asset = bender();
    let crowd = Scene::crowd(&asset, SIDE, 1);
    let formats = TargetFormats::of(wgpu::TextureFormat::Bgra8Unorm, false);
    // One sample: with more, edges are averaged as encoded values and differ.
    let plain = RenderConfig { msaa: 1, ..config() };
    let (srgb, _) = draw(&plain, &asset, &crowd);
    let (encoded, _) = draw(&RenderConfig { formats, ..plain }, &asset, &crowd);
    let difference = Difference::of(&srgb, &encoded);
    assert!(difference.shift < 0.3 && difference.strays < 0.01, "{difference:?}");
}

#[test]
fn one_percent_more_light_is_noticed() {
    let asset = bender();
    let crowd = Scene::crowd(&asset, SIDE, 1);
    let mut brighter = config();
    brighter.lighting.sun_color *= 1.01;
    let (plain, _) = draw(&config(), &asset, &crowd);
    let (bright, _) = draw(&brighter, &asset, &crowd);
    let difference = Difference::of(&plain, &bright);
    assert!(!difference.is_small(), "{difference:?}");
}

#[test]
fn swapped_bones_are_noticed() {
    let asset = bender();
    let crowd = Scene::crowd(&asset, SIDE, 1);
    let mut swapped = asset.clone();
    for vertex in &mut swapped.primitives[0].vertices {
        vertex.joints.swap(0, 1);
    }
    let (plain, _) = draw(&config(), &asset, &crowd);
    let (wrong, _) = draw(&config(), &swapped, &crowd);
    let difference = Difference::of(&plain, &wrong);
    assert!(!difference.is_small(), "{difference:?}");
}

#[test]
fn pages_and_instance_buffers_make_no_difference_to_the_picture() {
    let asset = bender();
    let (one, _) = draw(&config(), &asset, &Scene::crowd(&asset, SIDE, 1));
    let palette = asset.skeleton.palette_len() as u64 * 48;
    let split = RenderConfig {
        // A page holds four characters, an instance buffer three.
        max_page_bytes: Some(4 * palette),
        max_buffer_instances: Some(3),
        ..config()
    };
    let (many, stats) = draw(&split, &asset, &Scene::crowd(&asset, SIDE, 4));
    let difference = Difference::of(&one, &many);
    assert!(difference.is_small(), "{difference:?}");
    assert!(stats.draws > 4 * 11, "{} draws", stats.draws);
}
