//! The overlay with all that it shows, and characters in each mode of colour.

use crate::{SIZE, assert_golden, config, draw_crowd, gpu};
use glam::Vec3;
use std::sync::Arc;
use std::time::Duration;
use throng::app::characters;
use throng::app::cli::{Cli, ColorArg, Mode, RunConfig};
use throng::app::overlay::{Facts, FrameLanes, Hud};
use throng::app::picked::Picked;
use throng::app::sample::Sample;
use throng::asset::{ImageRgba8, builtin};
use throng::crowd::{
    ColorBy, Crowd, CrowdConfig, CrowdKind, Gates, HEAT, Layout, Playing, TickInput, TickStats,
    color_tint,
};
use throng::graph;
use throng::math::{SimdLevel, View};
use throng::profile::{Lane, Phase, PhaseTimes, Span};
use throng::render::{
    AdapterSummary, FrameInput, GpuMemory, GpuPass, GpuTimes, MESH_LEVELS, Offscreen, RenderConfig,
    RenderStats, Renderer,
};
use throng::task::Work;

/// People whom a graph plays, in rows.
fn people(count: u32) -> Crowd {
    let asset = builtin("humanoid").unwrap().unwrap();
    let (name, text) = graph::builtin_for("humanoid").unwrap();
    let program = Arc::new(graph::compile(name, text).unwrap().program);
    let kind = CrowdKind {
        playing: Playing::Graph(program),
        ..CrowdKind::new("humanoid", Arc::new(asset.rig().unwrap()), asset.bounds)
    };
    // Each tier has some rows of them.
    let gates = Gates { rate_distances: [9.0, 13.0, 19.0], lod_distance: 13.0, ..Gates::default() };
    let layout = Layout::Grid;
    Crowd::new(CrowdConfig { count, gates, layout, ..CrowdConfig::default() }, vec![kind]).unwrap()
}

fn before_them() -> View {
    let (eye, target) = (Vec3::new(0.0, 4.5, 12.0), Vec3::new(0.0, 0.4, 2.5));
    View::look_at(eye, target, 0.75, 1_000.0, SIZE)
}

fn ticks(crowd: &mut Crowd, view: &View, count: u32) {
    let input = TickInput {
        dt: 1.0 / 60.0,
        played: true,
        view,
        shadow_clip_from_world: None,
        palette_hash: false,
    };
    let times = PhaseTimes::default();
    for _ in 0..count {
        crowd.tick(&input, &times);
    }
}

#[test]
fn each_mode_of_colour_looks_as_it_did() {
    let asset = builtin("humanoid").unwrap().unwrap();
    let (mut crowd, view) = (people(49), before_them());
    for (name, by) in [
        ("rate", ColorBy::Rate),
        ("lod", ColorBy::SkeletonLod),
        ("state", ColorBy::State),
        ("mode", ColorBy::Mode),
        ("evaluated", ColorBy::Evaluated),
        ("cost", ColorBy::Cost),
    ] {
        crowd.color_by(Some(by));
        // Costs are of lists that were recorded since.
        ticks(&mut crowd, &view, if name == "rate" { 90 } else { 8 });
        assert_golden(
            &format!("colors_{name}"),
            &draw_crowd(&view, &config(), &asset, crowd.draw()).0,
        );
    }
    crowd.color_by(None);
    ticks(&mut crowd, &view, 1);
    let own = draw_crowd(&view, &config(), &asset, crowd.draw()).0;
    assert_golden("colors_none", &own);
}

#[test]
fn levels_of_meshes_have_colours() {
    let asset = builtin("humanoid").unwrap().unwrap();
    let (mut crowd, view) = (people(49), before_them());
    ticks(&mut crowd, &view, 30);
    let config = config();
    let mut renderer = Renderer::new(gpu(), &config, &[&asset]).unwrap();
    let target = Offscreen::new(gpu(), config.formats, SIZE).unwrap();
    let colors = [HEAT[5], HEAT[4], HEAT[3], HEAT[1], HEAT[0]];
    let level_tints = Some(colors.map(color_tint));
    let input = FrameInput { level_tints, ..FrameInput::of(&view, crowd.draw()) };
    let stats = renderer.render(gpu(), target.target(), input, &PhaseTimes::default()).unwrap();
    assert_golden("colors_mesh", &target.read(gpu()).unwrap());
    assert_eq!(stats.by_level.iter().map(|n| u64::from(*n)).sum::<u64>(), stats.instances);
    assert!(stats.by_level.iter().filter(|n| **n > 0).count() > 1, "{:?}", stats.by_level);
}

/// A frame of fixed numbers.
fn sample(number: u64) -> Sample {
    let wave = 1.0 + 0.2 * (number as f64 * 0.3).sin();
    let main = [0.06, 0.09, 0.71, 1.32, 0.0, 0.0, 0.05, 0.11, 0.84, 0.42].map(|ms| ms * wave);
    let mut worker = main.map(|ms| 1.9 * ms);
    worker[Phase::Submit as usize] = 0.0;
    let mut tick = TickStats {
        count: 5_000,
        visible: 3_120,
        in_camera: 2_874,
        evaluated: 1_437,
        by_rate: [702, 951, 840, 627],
        skipped: 1_683,
        longest_gap: 4,
        lod_cut: 655,
        notifies: 41,
        leased: 3_120,
        pose_pool_bytes: 1 << 20,
        palette_bytes: 12 << 20,
        character_bytes: 1_890_000,
        ..TickStats::default()
    };
    (tick.tasks.recorded, tick.tasks.reachable, tick.tasks.stolen) = (9_214, 9_214, 5_012);
    (tick.tasks.copied_bytes, tick.tasks.buffers_peak) = (0, 3);
    for (kind, count, ns) in [(1, 5_480, 61), (2, 3_020, 38), (6, 714, 150)] {
        tick.tasks.executed[kind] = Work { count, timed: 100, timed_ns: 100 * ns };
    }
    tick.tasks.resolved = Work { count: 1_437, timed: 20, timed_ns: 20 * 210 };
    let gpu_passes = vec![GpuTimes {
        frame: number,
        passes: [("palettes", 210_000), ("shadow", 640_000), ("main", 2_900_000)]
            .map(|(name, ns)| GpuPass { name, ns })
            .to_vec(),
    }];
    Sample {
        frame_ms: 16.6,
        display_ms: 11.2,
        main_ms: main,
        worker_ms: worker,
        tick,
        render: Some(RenderStats {
            draws: 34,
            triangles: 7_412_000,
            instances: 2_874,
            by_level: [0; MESH_LEVELS],
            upload_bytes: 5_300_000,
            memory: GpuMemory { palettes: 14 << 20, meshes: 3 << 20, ..GpuMemory::default() },
            wait_ns: 300_000,
            gpu_passes,
        }),
        allocations: Some(0),
    }
}

/// Two workers' stretches, as fixed as the numbers.
fn lanes() -> FrameLanes {
    let span = |phase, begin: u64, end: u64| Span {
        phase,
        beside: None,
        begin_ns: begin * 1_000,
        end_ns: end * 1_000,
    };
    let both = Span { beside: Some(Phase::Execute), ..span(Phase::Record, 160, 1_200) };
    let frame = vec![
        span(Phase::Cull, 20, 80),
        span(Phase::Gate, 80, 160),
        both,
        span(Phase::Serial, 1_200, 1_260),
        span(Phase::Gather, 1_260, 1_380),
        span(Phase::Upload, 1_400, 2_200),
        span(Phase::Submit, 2_200, 2_620),
    ];
    let worker = |shift: u64| {
        let chunks = (0..6).flat_map(|i| {
            let at = 165 + shift + i * 165;
            [span(Phase::Record, at, at + 60), span(Phase::Execute, at + 60, at + 155)]
        });
        chunks.chain([span(Phase::Gather, 1_262 + shift, 1_370)]).collect()
    };
    let lane = |spans| Lane { spans, lost: 0 };
    FrameLanes { lanes: vec![lane(frame), lane(worker(0)), lane(worker(8))], frame_ns: 2_700_000 }
}

/// The overlay of a run in a window, over its crowd, after the same frames each time.
fn overlay(size: (u32, u32), scale: f32) -> ImageRgba8 {
    let cli = Cli::read(["throng".into(), "--color-by".into(), "rate".into()]).unwrap().unwrap();
    let run =
        RunConfig { simd: SimdLevel::Avx2, ..RunConfig::new(&cli.run, Mode::Window).unwrap() };
    assert_eq!(run.color_by, ColorArg::Rate);
    let cast = characters::load(&run.characters[..1], &run.build(), run.fit_height, true).unwrap();
    let mut crowd = people(49);
    crowd.color_by(Some(ColorBy::Rate));
    let view = View { width: size.0, height: size.1, ..before_them() };
    ticks(&mut crowd, &view, 30);
    let colors = crowd.colors().map(|key| (key.name.to_owned(), key.color, key.count)).collect();
    let config = RenderConfig { shadow_size: None, ..config() };
    let mut hud = Hud::new(true, Some((gpu(), config.formats.overlay)));
    (0..200).for_each(|number| hud.add(&sample(number)));
    hud.show_lanes(lanes());
    let name = "a GPU".to_owned();
    let adapter = AdapterSummary { name, device_type: "discrete", ..gpu().summary().clone() };
    let picked = Picked::default();
    let facts = Facts {
        adapter: Some(&adapter),
        config: &run,
        flags: "--simd avx2".to_owned(),
        threads: 2,
        camera: run.camera,
        paused: false,
        speed: 1.0,
        frozen: false,
        colors,
        members: &cast.members,
        resident_bytes: || Some(187 << 20),
        picked: &picked,
        crowd: &crowd,
    };
    for frame in 0..4 {
        let mut input = egui::RawInput { time: Some(f64::from(frame)), ..Default::default() };
        let viewport = input.viewports.entry(input.viewport_id).or_default();
        viewport.native_pixels_per_point = Some(scale);
        hud.lay_out(size, input, &facts);
        std::thread::sleep(Duration::from_millis(1));
    }
    let asset = builtin("humanoid").unwrap().unwrap();
    let mut renderer = Renderer::new(gpu(), &config, &[&asset]).unwrap();
    let target = Offscreen::new(gpu(), config.formats, size).unwrap();
    let input = FrameInput { overlay: hud.painter(), ..FrameInput::of(&view, crowd.draw()) };
    renderer.render(gpu(), target.target(), input, &PhaseTimes::default()).unwrap();
    target.read(gpu()).unwrap()
}

#[test]
fn the_overlay_looks_as_it_did() {
    assert_golden("overlay_open", &overlay((1_280, 720), 1.0));
}

#[test]
fn the_overlay_of_a_small_picture_and_of_a_dense_display_look_as_they_did() {
    assert_golden("overlay_small", &overlay((420, 320), 1.0));
    assert_golden("overlay_dense", &overlay((1_000, 700), 1.5));
}
