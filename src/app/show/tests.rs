use super::*;
use crate::app::cli::{CameraArg, Cli, ColorArg, PaletteUploadArg, VisibilityArg, every};
use crate::app::picked::Deed;
use crate::app::switches::Switches;
use crate::app::wish::Wish;
use crate::app::{characters, headless};
use crate::index::CharacterKind;
use crate::math::{Mat3x4, SimdLevel};
use crate::profile::Phase;
use crate::render::Offscreen;
use std::ffi::OsString;

/// A show without a window, and what it is drawn into.
pub(super) fn show(line: &str) -> (Show, Option<Offscreen>) {
    let args = format!("throng --headless {line}");
    let cli = Cli::read(args.split_whitespace().map(OsString::from)).unwrap().unwrap();
    let config = RunConfig::new(&cli.run, Mode::Headless).unwrap();
    let cast = characters::load(&config.characters, &config.build(), config.fit_height, true);
    headless::set_up(config, cast.unwrap()).unwrap()
}

pub(super) fn frame(show: &mut Show, target: Option<&Offscreen>) -> Sample {
    let input = headless::input(show.config(), show.frame);
    show.frame(target.map(Offscreen::target), &Steering::default(), input).unwrap();
    show.hud.last().unwrap().clone()
}

/// The last of some frames.
fn frames(show: &mut Show, target: Option<&Offscreen>, count: u32) -> Sample {
    (0..count).map(|_| frame(show, target)).last().unwrap()
}

/// The newest palette of everybody who is drawn, in the order of ids.
fn palettes(show: &Show) -> Vec<(u32, Vec<Mat3x4>)> {
    let draw = show.crowd.draw();
    let mut all: Vec<_> = draw
        .groups
        .iter()
        .flat_map(|group| {
            let page = &draw.pages[group.page as usize];
            let records = &draw.instances[group.camera.start as usize..group.camera.end as usize];
            let whole = |record| page.palette(record).unwrap().to_whole().into_owned();
            records.iter().map(move |record| (record.id, whole(record)))
        })
        .collect();
    all.sort_by_key(|(id, _)| *id);
    all
}

/// Turns a switch, and holds what it does to a frame, and the poses some frames later against those
/// of a show that is switched no more.
fn turn(
    still: &mut (Show, Option<Offscreen>),
    (show, target): &mut (Show, Option<Offscreen>),
    change: impl Fn(&mut Switches),
    acts: impl Fn(&Sample, &Sample) -> bool,
) {
    let before = frame(show, target.as_ref());
    frame(&mut still.0, still.1.as_ref());
    let mut to = show.switches();
    change(&mut to);
    show.grant(Wish::Switch(to.clone()));
    assert_eq!(show.switches(), to, "it was turned");
    let after = frames(show, target.as_ref(), 4);
    frames(&mut still.0, still.1.as_ref(), 4);
    assert!(acts(&before, &after), "{to:?}: {before:?} {after:?}");
    let (one, other) = (palettes(&still.0), palettes(show));
    assert_eq!(one.len(), other.len());
    for ((id, p), (_, q)) in one.iter().zip(&other) {
        for (m, n) in p.iter().zip(q) {
            let mut pairs = m.rows.as_flattened().iter().zip(n.rows.as_flattened());
            assert!(pairs.all(|(m, n)| (m - n).abs() < 5e-3), "{id} after {to:?}");
        }
    }
}

/// Near enough to be evaluated whole and always, so that two of them have the same poses.
const NEAR: &str = "--adapter noop --count 60 --layout grid --camera near --threads 2 \
                    --update-rate off --skeleton-lod off --size 320x180";

#[test]
fn every_switch_acts_while_the_run_goes_on_and_poses_stay_right() {
    let (mut still, mut show) = (self::show(NEAR), self::show(NEAR));
    let mut turn = |change: fn(&mut Switches), acts: fn(&Sample, &Sample) -> bool| {
        self::turn(&mut still, &mut show, change, acts);
    };
    fn draws(sample: &Sample) -> u64 {
        sample.render.as_ref().unwrap().draws
    }
    turn(|to| to.prune = false, |a, b| b.tick.tasks.recorded > a.tick.tasks.recorded);
    turn(|to| to.prune = true, |a, b| b.tick.tasks.recorded < a.tick.tasks.recorded);
    turn(|to| to.steal = false, |a, b| a.tick.tasks.stolen > 0 && b.tick.tasks.stolen == 0);
    turn(|to| to.steal = true, |_, b| b.tick.tasks.stolen > 0);
    turn(|to| to.threads = 1, |_, b| b.tick.evaluated > 0);
    turn(|to| to.simd = SimdLevel::Scalar, |_, b| b.tick.evaluated > 0);
    turn(|to| to.shadows = false, |a, b| draws(b) < draws(a));
    turn(|to| to.shadows = true, |a, b| draws(b) > draws(a));
    turn(|to| to.msaa = 1, |a, b| draws(b) == draws(a));
    turn(|to| to.palette_upload = PaletteUploadArg::Copy, |_, b| b.render.is_some());
    turn(|to| to.visibility = VisibilityArg::Off, |_, b| b.tick.evaluated == 60);
    turn(|to| to.visibility = VisibilityArg::Clocks, |_, b| b.tick.evaluated > 0);
    let report = show.0.report();
    // What was turned and turned back was switched all the same.
    let switched = ["--prune", "--steal", "--threads", "--simd", "--shadows", "--msaa"];
    assert_eq!(report.switched, [&switched[..], &["--palette-upload", "--visibility"]].concat());
    assert_eq!(report.palette_hash, None, "no other run is like this one");
}

#[test]
fn interpolation_is_switched_without_anybody_s_pose() {
    // A graph's transitions snap, clips go on.
    let line = format!("{NEAR} --playback simple");
    let (mut still, mut show) = (self::show(&line), self::show(&line));
    for on in [true, false, true] {
        turn(
            &mut still,
            &mut show,
            |to| to.interpolate = on,
            |a, b| {
                let (a, b) = (a.tick.palette_bytes, b.tick.palette_bytes);
                if on { b > a } else { b < a }
            },
        );
    }
}

#[test]
fn what_spares_the_distant_is_switched_from_afar() {
    let (mut show, target) =
        show("--adapter noop --count 400 --camera far --layout grid --size 320x180");
    let target = target.as_ref();
    let mut turn = |change: &dyn Fn(&mut Switches)| {
        let mut to = show.switches();
        change(&mut to);
        show.grant(Wish::Switch(to));
        frames(&mut show, target, 12).tick
    };
    let as_usual = turn(&|_| ());
    assert!(as_usual.evaluated < as_usual.leased && as_usual.by_rate[0] < as_usual.leased);
    let often = turn(&|to| to.update_rate = false);
    assert_eq!((often.evaluated, often.by_rate[0]), (often.leased, often.leased));
    let whole = turn(&|to| to.skeleton_lod = false);
    assert!(whole.lod_cut == 0 && often.lod_cut > 0, "{}", often.lod_cut);
    let limited = turn(&|to| to.budget_ms = Some(1e-4));
    assert_eq!(limited.budget.map(|budget| budget.limit_ms), Some(1e-4));
    assert_eq!(turn(&|to| to.budget_ms = None).budget, None);
    let triangles = |show: &mut Show| frames(show, target, 2).render.unwrap().triangles;
    let reduced = triangles(&mut show);
    let to = Switches { mesh_lods: false, ..show.switches() };
    show.grant(Wish::Switch(to));
    assert!(triangles(&mut show) > 2 * reduced, "{reduced}");
}

#[test]
fn what_can_not_be_switched_is_told_and_stays() {
    let (mut show, target) = show("--adapter noop --count 3 --size 64x64");
    frame(&mut show, target.as_ref());
    let before = show.switches();
    show.grant(Wish::Switch(Switches { msaa: 3, threads: 0, ..before.clone() }));
    assert_eq!(show.switches(), before);
    assert!(show.report().switched.is_empty());
    assert_eq!(frame(&mut show, target.as_ref()).tick.evaluated, 3);
}

#[test]
fn the_count_changes_by_comings_and_goings_and_beyond_its_places_with_another_crowd() {
    let line = "--adapter noop --count 40 --size 64x64 --threads 1 --color-by rate --prune off";
    let (mut show, target) = show(line);
    let mut ask = |count: u32| {
        show.grant(Wish::Count(count));
        let sample = frame(&mut show, target.as_ref());
        assert_eq!(show.legend().len(), 4, "colours go on");
        let tasks = &sample.tick.tasks;
        assert!(count == 0 || tasks.recorded > tasks.reachable, "so do switches");
        (sample.tick.count, show.crowd.capacity(), show.crowd.count_of(CharacterKind(0)))
    };
    assert_eq!(ask(20), (20, 40, 10));
    assert_eq!(ask(31), (31, 40, 16));
    // Too few for the ground that forty were placed on.
    assert_eq!(ask(10), (10, 10, 5));
    assert_eq!(ask(90), (90, 90, 45));
    assert_eq!(ask(30), (30, 90, 15));
    assert_eq!(ask(0), (0, 0, 0));
    assert_eq!(ask(90), (90, 90, 45));
    assert_eq!(show.report().switched, ["--count"]);
    assert_eq!(show.report().config.count, 90);
}

#[test]
fn another_crowd_has_nobody_picked() {
    let (mut show, target) = show("--adapter noop --count 20 --size 64x64 --visibility off");
    let first = show.crowd.characters().next().unwrap().id();
    show.perform(Deed::Pick(Some(first)));
    frames(&mut show, target.as_ref(), 10);
    assert!(show.picked.who().is_some() && show.picked.frame().is_some());
    show.grant(Wish::Count(30));
    frames(&mut show, target.as_ref(), 2);
    assert_eq!((show.crowd.capacity(), show.picked.who()), (30, None));
    assert!(show.picked.frame().is_none());
}

#[test]
fn a_view_that_is_frozen_is_what_the_crowd_is_culled_for() {
    let (mut show, target) = show("--adapter noop --count 300 --camera near --size 320x180");
    let target = target.as_ref();
    frames(&mut show, target, 3);
    // Nobody walks out of it meanwhile.
    show.grant(Wish::Pause);
    let near = frames(&mut show, target, 2).tick;
    show.grant(Wish::Freeze(true));
    show.grant(Wish::Camera(CameraArg::Far));
    let kept = frames(&mut show, target, 3);
    assert_eq!((kept.tick.in_camera, kept.tick.visible), (near.in_camera, near.visible));
    assert_eq!(kept.render.unwrap().instances, u64::from(near.in_camera));
    let (view, culled) = show.shot.as_ref().map(|shot| (shot.view, shot.culled)).unwrap();
    assert!(view.eye.distance(culled.eye) > 5.0, "the picture is the other camera's");
    assert_eq!(show.sketch.lines().tested.len(), 12, "its edges are drawn");
    show.grant(Wish::Freeze(false));
    assert_eq!(frames(&mut show, target, 3).tick.in_camera, 300);
}

#[test]
fn the_timeline_is_noted_while_it_shows() {
    let (mut show, target) = show("--adapter noop --count 80 --threads 2 --overlay on");
    let target = target.as_ref();
    frame(&mut show, target);
    frames(&mut show, target, 2);
    let shown = show.hud.lanes().clone();
    assert_eq!(shown.lanes.len(), 3);
    let phases = |lane: usize| shown.lanes[lane].spans.iter().map(|span| span.phase);
    for phase in [Phase::Cull, Phase::Gate, Phase::Record, Phase::Gather, Phase::Upload] {
        assert!(phases(0).any(|p| p == phase), "{phase:?}");
    }
    assert!((1..3).flat_map(phases).any(|phase| phase == Phase::Execute));
    let spans = shown.lanes.iter().flat_map(|lane| &lane.spans);
    assert!(spans.clone().all(|s| s.begin_ns <= s.end_ns && s.end_ns <= shown.frame_ns));
    show.hud.toggle();
    frames(&mut show, target, 2);
    assert!(show.timeline.is_none(), "nobody looks");
    assert_eq!(show.hud.lanes().frame_ns, shown.frame_ns);
}

#[test]
fn a_file_that_is_dropped_joins_the_crowd_or_is_told_of() {
    let (mut show, target) = show("--adapter noop --count 20 --size 64x64 --character quadruped");
    let mut drop_file = |path: &str| {
        show.grant(Wish::Join(path.into()));
        let start = Instant::now();
        while show.arrivals.expected() > 0 {
            frame(&mut show, target.as_ref());
            assert!(start.elapsed() < Duration::from_secs(120), "it is never read");
            std::thread::sleep(Duration::from_millis(5));
        }
        let sample = frame(&mut show, target.as_ref());
        (sample.tick.count, show.crowd.kinds().count(), show.hud.told().unwrap().to_owned())
    };
    let (count, kinds, line) = drop_file("/there/is/no/such.glb");
    assert_eq!((count, kinds), (20, 1));
    assert!(line.contains("such.glb") && line.lines().count() == 1, "{line}");
    let (count, kinds, line) = drop_file(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"));
    assert_eq!((count, kinds), (20, 1), "{line}");
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/assets/humanoid.glb");
    let (count, kinds, line) = drop_file(file);
    assert_eq!((count, kinds), (40, 2), "{line}");
    assert!(line.contains("joined"), "{line}");
    assert_eq!(show.crowd.count_of(CharacterKind(1)), 20);
    assert_eq!(show.report().switched, ["--character"]);
}

#[test]
fn colours_go_round_and_are_told_by_the_crowd_or_the_renderer() {
    let (mut show, target) = show("--adapter noop --count 60 --size 320x180");
    for mode in every::<ColorArg>().into_iter().map(|(mode, _)| mode).cycle().skip(1).take(8) {
        show.grant(Wish::NextColor);
        frames(&mut show, target.as_ref(), 3);
        assert_eq!(show.config.color_by, mode);
        let counted: u32 = show.legend().iter().map(|(_, _, count)| count).sum();
        let seen = show.hud.last().unwrap().tick.in_camera;
        assert_eq!(counted, if mode == ColorArg::None { 0 } else { seen }, "{mode:?}");
    }
}
