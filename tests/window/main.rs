//! The window, on a virtual display: it opens, draws, hears keys, changes its size and closes.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "what is missing or wrong fails the test")]

mod display;
mod inputs;

use display::{Display, report, start, until};
use std::time::Duration;

#[test]
fn a_window_draws_the_frames_it_was_asked_for_and_closes() {
    let (display, dir) = (Display::start(), tempfile::tempdir().unwrap());
    let args = ["--frames", "5", "--warmup", "1", "--report", "r.json", "--overlay", "on"];
    let mut run = start(&display, dir.path(), &args);
    assert!(run.0.wait().unwrap().success());
    let r = report(&dir.path().join("r.json"));
    assert_eq!((&r["config"]["mode"], &r["frames"]["measured"]), (&"window".into(), &5.into()));
    assert!(r["render"]["instances"]["max"].as_f64().unwrap() > 0.0);
    assert!(r["palette_hash"].is_null(), "a window runs in real time");
}

#[test]
fn keys_and_a_new_size_reach_the_window() {
    let (display, dir) = (Display::start(), tempfile::tempdir().unwrap());
    let mut run = start(&display, dir.path(), &["--screenshot", "end.png", "--report", "r.json"]);
    until("the window", || display.tool(&["search", "--onlyvisible", "--name", "^Throng$"]));
    let press = |key: &str| {
        display.tool(&["search", "--name", "^Throng$", "windowfocus", "--sync", "key", key])
    };
    let key = |key: &str| assert!(press(key), "{key}");
    // A screenshot by key: in the folder that the program was started in.
    until("a screenshot", || {
        key("F12");
        dir.path().join("throng-001.png").exists()
    });
    for other in ["F1", "F2", "space", "period", "Up", "Left", "Return", "4", "5"] {
        key(other);
    }
    let size = ["search", "--name", "^Throng$", "windowsize", "--sync", "300", "200"];
    assert!(display.tool(&size));
    // It goes on drawing at its new size: a screenshot taken now has it.
    until("a screenshot of the new size", || {
        key("F12");
        std::fs::read_dir(dir.path()).unwrap().any(|entry| {
            let path = entry.unwrap().path();
            path.extension().is_some_and(|e| e == "png")
                && image::image_dimensions(path).is_ok_and(|size| size == (300, 200))
        })
    });
    // The tool's own outcome means nothing: the window may be gone before it has done with it.
    until("the end", || {
        press("Escape");
        run.0.try_wait().unwrap().is_some()
    });
    assert!(run.0.wait().unwrap().success());
    assert_eq!(image::image_dimensions(dir.path().join("end.png")).unwrap(), (300, 200));
    assert!(report(&dir.path().join("r.json"))["frames"]["measured"].as_u64().is_some());
}

/// Somebody is knocked over by Shift and a click, lies, and gets up; nobody falls of a click alone.
#[test]
fn shift_and_a_click_knock_over_whoever_is_under_the_pointer_and_it_gets_up() {
    for (held, falls) in [(Some("Shift_L"), true), (None, false)] {
        let (display, dir) = (Display::start(), tempfile::tempdir().unwrap());
        // One alone.
        let args = ["--count", "1", "--camera", "near", "--report", "r.json", "--overlay", "off"];
        let mut run = start(&display, dir.path(), &args);
        until("the window", || display.tool(&["search", "--onlyvisible", "--name", "^Throng$"]));
        let window = ["search", "--name", "^Throng$"];
        let tool = |args: &[&str]| display.tool(&[&window[..], args].concat());
        until("a first frame, saved", || {
            tool(&["windowfocus", "--sync", "key", "F12"]);
            dir.path().join("throng-001.png").exists()
        });
        // While it stands still: somewhere across the picture it is.
        assert!(tool(&["key", "space"]));
        std::thread::sleep(Duration::from_secs(1));
        for x in (20..140).step_by(4) {
            assert!(tool(&["mousemove", "--window", "%1", &x.to_string(), "36"]));
            assert!(held.is_none_or(|key| tool(&["keydown", key])));
            assert!(display.tool(&["click", "1"]));
            assert!(held.is_none_or(|key| tool(&["keyup", key])));
        }
        // At four times the speed it is up again soon.
        assert!(tool(&["key", "space"]) && tool(&["key", "Up", "Up"]));
        std::thread::sleep(Duration::from_secs(16));
        until("the end", || {
            tool(&["key", "Escape"]);
            run.0.try_wait().unwrap().is_some()
        });
        assert!(run.0.wait().unwrap().success());
        let crowd = &report(&dir.path().join("r.json"))["crowd"];
        let fell = crowd["fallen"]["max"].as_f64().unwrap() > 0.0;
        let rose = crowd["risen"].as_u64().unwrap() > 0;
        assert_eq!((fell, rose), (falls, falls), "{held:?}");
    }
}

#[test]
fn clicks_in_the_overlay_turn_switches_and_knock_nobody_over() {
    let (display, dir) = (Display::start(), tempfile::tempdir().unwrap());
    let args = ["--size", "800x560", "--overlay", "on", "--report", "r.json"];
    let mut run = start(&display, dir.path(), &args);
    until("the window", || display.tool(&["search", "--onlyvisible", "--name", "^Throng$"]));
    let press = |key: &str| {
        display.tool(&["search", "--name", "^Throng$", "windowfocus", "--sync", "key", key])
    };
    until("a first frame, saved", || {
        press("F12");
        dir.path().join("throng-001.png").exists()
    });
    // Down the column that the switches are in; some are hit.
    for y in (260..540).step_by(20) {
        let at =
            ["mousemove", "--window", "%1", "746", &y.to_string(), "sleep", "0.2", "click", "1"];
        let search = ["search", "--name", "^Throng$"];
        assert!(display.tool(&[&search[..], &at[..]].concat()));
        std::thread::sleep(Duration::from_millis(200));
    }
    until("the end", || {
        press("Escape");
        run.0.try_wait().unwrap().is_some()
    });
    assert!(run.0.wait().unwrap().success());
    let report = report(&dir.path().join("r.json"));
    let switched = report["switched"].as_array().map_or(0, Vec::len);
    assert!(switched > 0, "{}", report["config"]);
    assert_eq!(report["crowd"]["fallen"]["max"], 0.0);
}

#[test]
fn a_window_that_somebody_else_destroys_ends_the_run_with_its_report() {
    let (display, dir) = (Display::start(), tempfile::tempdir().unwrap());
    let mut run = start(&display, dir.path(), &["--report", "r.json"]);
    until("the window", || display.tool(&["search", "--onlyvisible", "--name", "^Throng$"]));
    until("a first frame, saved", || {
        display.tool(&["search", "--name", "^Throng$", "windowfocus", "--sync", "key", "F12"]);
        dir.path().join("throng-001.png").exists()
    });
    assert!(display.tool(&["search", "--name", "^Throng$", "windowclose"]));
    assert!(run.0.wait().unwrap().success());
    assert!(report(&dir.path().join("r.json"))["frames"]["measured"].as_u64().is_some());
}

#[test]
fn a_click_picks_somebody_and_escape_lets_go_before_it_ends() {
    let (display, dir) = (Display::start(), tempfile::tempdir().unwrap());
    let args = ["--character", "humanoid", "--camera", "near", "--overlay", "off"];
    let mut run = start(&display, dir.path(), &args);
    until("the window", || display.tool(&["search", "--onlyvisible", "--name", "^Throng$"]));
    let window = |more: &[&str]| {
        let find = ["search", "--name", "^Throng$", "windowfocus", "--sync"];
        display.tool(&[&find[..], more].concat())
    };
    let shots = || {
        let files = std::fs::read_dir(dir.path()).unwrap();
        files.filter(|e| e.as_ref().unwrap().path().extension().is_some_and(|e| e == "png")).count()
    };
    let shot = |count: usize| {
        until("a screenshot", || {
            window(&["key", "F12"]);
            shots() >= count
        });
    };
    shot(1);
    // Rings are drawn under the feet of whoever is picked, of a green that nothing else has.
    let newest = || {
        let name = |i: usize| dir.path().join(format!("throng-{i:03}.png"));
        let last = (1..).take_while(|i| name(*i).exists()).last().unwrap();
        image::open(name(last)).unwrap().to_rgba8()
    };
    let green = |p: &&image::Rgba<u8>| p[1] > 220 && p[0] < 180 && p[2] < 190;
    let lines = || newest().pixels().filter(green).count();
    assert!(lines() < 5, "{}", lines());
    let mut points = ["80", "60", "100", "45", "115", "70"].iter().cycle();
    until("somebody being picked", || {
        window(&["mousemove", "--window", "%1", points.next().unwrap(), "55", "click", "1"]);
        std::thread::sleep(Duration::from_millis(200));
        let before = shots();
        shot(before + 1);
        lines() > 10
    });
    // The first escape lets go, and the run goes on.
    assert!(window(&["key", "Escape"]));
    std::thread::sleep(Duration::from_millis(500));
    let before = shots();
    shot(before + 1);
    assert!(lines() < 5 && run.0.try_wait().unwrap().is_none(), "{}", lines());
    until("the end", || {
        window(&["key", "Escape"]);
        run.0.try_wait().unwrap().is_some()
    });
    assert!(run.0.wait().unwrap().success());
}
