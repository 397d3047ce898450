use super::*;
use crate::app::cli::{Cli, PaletteUploadArg, VisibilityArg};
use crate::app::switches::Switches;
use crate::app::wish::Wish;
use crate::app::{characters, headless};
use crate::math::{Mat3x4, SimdLevel};
use std::ffi::OsString;

/// A show without a window, and what it is drawn into.
fn show(line: &str) -> (Show, Option<Offscreen>) {
    let args = format!("throng --headless {line}");
    let cli = Cli::read(args.split_whitespace().map(OsString::from)).unwrap().unwrap();
    let config = RunConfig::new(&cli.run, Mode::Headless).unwrap();
    let cast = characters::load(&config.characters, &config.build(), config.fit_height, true);
    headless::set_up(config, cast.unwrap()).unwrap()
}

fn frame(show: &mut Show, target: Option<&Offscreen>) -> Sample {
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
            let of = |at: u32| page.matrices[at as usize..][..page.palette_len as usize].to_vec();
            records.iter().map(move |record| (record.id, of(record.palette_offset)))
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
