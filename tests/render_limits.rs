//! Drawing at its edges: sizes, empty and contradictory crowds, lost devices, other adapters.
#![allow(clippy::unwrap_used, clippy::panic, reason = "what is missing or wrong fails the test")]

mod scene;

use scene::{Scene, bender, camera, focus};
use throng::crowd::CrowdDraw;
use throng::index::CharacterKind;
use throng::math::Mat3x4;
use throng::profile::{Phase, PhaseTimes};
use throng::render::{
    FrameInput, Gpu, GpuFault, GpuRequest, Offscreen, Overlay, PaletteUpload, RenderConfig,
    RenderError, RenderStats, Renderer,
};

fn adapter(name: &str) -> Gpu {
    let request = GpuRequest { adapter: Some(name.into()) };
    Gpu::new(&request).unwrap_or_else(|e| panic!("{e}"))
}

fn software() -> Gpu {
    adapter("llvmpipe")
}

fn small(gpu: &Gpu) -> RenderConfig {
    RenderConfig { shadow_size: Some(256), ..RenderConfig::new(gpu.offscreen_formats()) }
}

/// Draws one frame of a crowd of nine to a target of `size`.
fn frame(
    gpu: &Gpu,
    renderer: &mut Renderer,
    crowd: CrowdDraw<'_>,
    size: (u32, u32),
) -> Result<(RenderStats, Offscreen), RenderError> {
    let view = camera(3, size);
    let target = Offscreen::new(gpu, renderer.config().formats, size)?;
    let shadow_clip_from_world = renderer.shadow_clip_from_world(&view, &focus(3));
    let input = FrameInput { shadow_clip_from_world, ..FrameInput::of(&view, crowd) };
    let stats = renderer.render(gpu, target.target(), input, &PhaseTimes::default())?;
    Ok((stats, target))
}

#[test]
fn pictures_from_one_pixel_to_4k_are_drawn_by_one_renderer() {
    let gpu = software();
    let asset = bender();
    let mut renderer = Renderer::new(&gpu, &small(&gpu), &[&asset]).unwrap();
    let crowd = Scene::crowd(&asset, 3, 1);
    for size in [(1, 1), (7, 300), (3840, 2160), (64, 64)] {
        let (_, target) = frame(&gpu, &mut renderer, crowd.draw(), size).unwrap();
        let image = target.read(&gpu).unwrap();
        assert_eq!((image.width, image.height), size);
        assert_eq!(image.pixels.len(), size.0 as usize * size.1 as usize * 4);
        assert!(image.pixels.chunks_exact(4).all(|p| p[3] == 255 && p[..3] != [0, 0, 0]));
    }
    let formats = renderer.config().formats;
    for size in [(0, 5), (5, 0), (1 << 20, 1)] {
        assert!(matches!(Offscreen::new(&gpu, formats, size), Err(RenderError::Size { .. })));
    }
    gpu.check().unwrap();
}

#[test]
fn nobody_at_all_is_a_picture_of_ground_and_sky() {
    let gpu = software();
    let mut renderer = Renderer::new(&gpu, &small(&gpu), &[]).unwrap();
    let (stats, target) = frame(&gpu, &mut renderer, Scene::empty().draw(), (32, 32)).unwrap();
    assert_eq!((stats.draws, stats.instances), (2, 0));
    target.read(&gpu).unwrap();
}

#[test]
fn a_character_without_meshes_is_nothing_to_draw() {
    let gpu = software();
    let mut asset = bender();
    let crowd = Scene::crowd(&asset, 3, 1);
    asset.primitives.clear();
    let mut renderer = Renderer::new(&gpu, &small(&gpu), &[&asset]).unwrap();
    let (stats, _) = frame(&gpu, &mut renderer, crowd.draw(), (32, 32)).unwrap();
    assert_eq!(stats.draws, 2);
}

#[test]
fn groups_that_name_what_is_not_there_are_errors() {
    let gpu = software();
    let asset = bender();
    let mut renderer = Renderer::new(&gpu, &small(&gpu), &[&asset]).unwrap();
    let mut try_with = |change: &dyn Fn(&mut Scene)| {
        let mut crowd = Scene::crowd(&asset, 3, 1);
        change(&mut crowd);
        frame(&gpu, &mut renderer, crowd.draw(), (16, 16)).map(|_| ())
    };
    try_with(&|_| ()).unwrap();
    let faults: [&dyn Fn(&mut Scene); 4] = [
        &|c| c.groups[0].kind = CharacterKind(1),
        &|c| c.groups[0].page = 1,
        &|c| c.groups[0].camera.end = 10,
        &|c| c.groups[0].shadow.end = 10,
    ];
    for (i, fault) in faults.iter().enumerate() {
        let result = try_with(fault);
        assert!(matches!(result, Err(RenderError::Group { .. })), "fault {i}: {result:?}");
    }
    try_with(&|_| ()).unwrap();
}

#[test]
fn a_page_beyond_the_limit_is_an_error_and_one_at_the_limit_is_drawn() {
    let gpu = software();
    let asset = bender();
    let config = RenderConfig { max_page_bytes: Some(4800), ..small(&gpu) };
    let mut renderer = Renderer::new(&gpu, &config, &[&asset]).unwrap();
    assert_eq!(renderer.max_page_matrices(), 100);
    let mut crowd = Scene::crowd(&asset, 3, 1);
    crowd.pages[0].matrices.resize(100, Mat3x4::IDENTITY);
    frame(&gpu, &mut renderer, crowd.draw(), (16, 16)).unwrap();
    crowd.pages[0].matrices.push(Mat3x4::IDENTITY);
    let result = frame(&gpu, &mut renderer, crowd.draw(), (16, 16));
    assert!(matches!(result, Err(RenderError::PageTooLong { len: 101, limit: 100, .. })));
}

#[test]
fn a_number_of_samples_that_cannot_be_is_an_error() {
    let gpu = software();
    for samples in [0, 3, 64] {
        let config = RenderConfig { msaa: samples, ..small(&gpu) };
        let result = Renderer::new(&gpu, &config, &[]);
        assert!(matches!(result, Err(RenderError::Samples { .. })), "{samples}");
    }
}

#[test]
fn a_lost_device_is_an_error_and_never_a_panic() {
    let gpu = software();
    let asset = bender();
    let mut renderer = Renderer::new(&gpu, &small(&gpu), &[&asset]).unwrap();
    let crowd = Scene::crowd(&asset, 3, 1);
    let (_, target) = frame(&gpu, &mut renderer, crowd.draw(), (16, 16)).unwrap();
    gpu.device().destroy();
    let result = frame(&gpu, &mut renderer, crowd.draw(), (32, 32));
    assert!(matches!(result, Err(RenderError::Fault(_))), "{result:?}");
    assert!(target.read(&gpu).is_err());
    assert!(frame(&gpu, &mut renderer, crowd.draw(), (16, 16)).is_err());
    assert!(matches!(gpu.check(), Err(GpuFault::Lost(_) | GpuFault::Refused(_))));
    renderer.finish(&gpu);
}

#[test]
fn the_adapter_that_draws_nothing_takes_the_same_calls() {
    let gpu = adapter("noop");
    let asset = bender();
    let mut renderer = Renderer::new(&gpu, &small(&gpu), &[&asset]).unwrap();
    let crowd = Scene::crowd(&asset, 3, 2);
    let mut bytes = Vec::new();
    for _ in 0..5 {
        let (stats, _) = frame(&gpu, &mut renderer, crowd.draw(), (640, 360)).unwrap();
        assert!(stats.gpu_passes.is_empty());
        assert_eq!(stats.instances, 9);
        bytes.push(stats.upload_bytes);
    }
    assert_eq!(bytes[1..], [bytes[0]; 4]);
    assert!(renderer.finish(&gpu).is_empty());
}

#[test]
fn only_what_changed_is_uploaded() {
    let gpu = adapter("noop");
    let asset = bender();
    for palette_upload in [PaletteUpload::Copy, PaletteUpload::Scatter] {
        let config = RenderConfig { palette_upload, ..small(&gpu) };
        let mut renderer = Renderer::new(&gpu, &config, &[&asset]).unwrap();
        let mut crowd = Scene::crowd(&asset, 20, 1);
        let (first, _) = frame(&gpu, &mut renderer, crowd.draw(), (16, 16)).unwrap();
        crowd.pages[0].dirty.clear();
        let (second, _) = frame(&gpu, &mut renderer, crowd.draw(), (16, 16)).unwrap();
        let rows = crowd.pages[0].matrices.len() as u64 * 48;
        let moved = first.upload_bytes - second.upload_bytes;
        match palette_upload {
            PaletteUpload::Copy => assert_eq!(moved, rows),
            // Where each palette goes to comes on top, and one block of uniforms.
            PaletteUpload::Scatter => {
                assert!(
                    (rows + 4 * 400 + 16..=rows + rows / 20).contains(&moved),
                    "{moved} {rows}"
                );
            }
        }
    }
}

#[test]
fn passes_are_timed_where_the_adapter_can() {
    let gpu = software();
    let asset = bender();
    let mut renderer = Renderer::new(&gpu, &small(&gpu), &[&asset]).unwrap();
    let crowd = Scene::crowd(&asset, 3, 1);
    let mut timed = Vec::new();
    for _ in 0..6 {
        timed.extend(frame(&gpu, &mut renderer, crowd.draw(), (64, 64)).unwrap().0.gpu_passes);
    }
    timed.extend(renderer.finish(&gpu));
    assert!(gpu.summary().timestamps);
    let frames: Vec<_> = timed.iter().map(|t| t.frame).collect();
    assert!(frames.is_sorted() && frames.last() == Some(&5), "{frames:?}");
    for times in &timed {
        assert_eq!(
            times.passes.iter().map(|p| p.name).collect::<Vec<_>>(),
            ["palettes", "shadow", "main"]
        );
        assert!(times.passes.iter().all(|p| p.ns > 0));
        assert_eq!(times.total_ns(), times.passes.iter().map(|p| p.ns).sum::<u64>());
    }
}

/// Notes in which order it is called.
struct Blot {
    prepared: bool,
}

impl Overlay for Blot {
    fn prepare(&mut self, _: &Gpu, _: &mut wgpu::CommandEncoder) {
        self.prepared = true;
    }

    fn paint(&mut self, pass: &mut wgpu::RenderPass<'static>) {
        assert!(self.prepared);
        pass.insert_debug_marker("blot");
    }
}

#[test]
fn the_overlay_is_prepared_and_then_painted_in_a_pass_of_its_own() {
    let gpu = software();
    let mut renderer = Renderer::new(&gpu, &small(&gpu), &[]).unwrap();
    let view = camera(3, (16, 16));
    let target = Offscreen::new(&gpu, renderer.config().formats, (16, 16)).unwrap();
    let mut blot = Blot { prepared: false };
    let crowd = Scene::empty();
    let input = FrameInput { overlay: Some(&mut blot), ..FrameInput::of(&view, crowd.draw()) };
    let times = PhaseTimes::default();
    renderer.render(&gpu, target.target(), input, &times).unwrap();
    assert!(times.main_ns(Phase::Upload) > 0 && times.main_ns(Phase::Submit) > 0);
    assert!(blot.prepared);
    let passes = renderer.finish(&gpu).pop().unwrap().passes;
    assert_eq!(passes.iter().map(|p| p.name).collect::<Vec<_>>(), ["main", "overlay"]);
}
